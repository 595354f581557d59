//! The whole store, with its thread, under four writers and four watchers at once while its disk fails now and then, and the
//! size of its file after many overwrites. Not here: restarts (`trial`), which need one thread to be repeatable.

use std::collections::BTreeMap;

use serde_json::json;
use tokio::task::JoinSet;

use super::disk::{Fault, FaultyDisk};
use super::random::Random;
use crate::store::state::{Action, Change, Compacted, Event, Revision};
use crate::store::{CommitError, Key, ResourceName, Store};

const WRITERS: u64 = 4;
const WATCHERS: usize = 4;
/// Acknowledged changes of each writer.
const CHANGES: u64 = 40;

fn change(name: &str, expected: Option<Revision>, version: u64, bytes: usize) -> Change {
    let pods: ResourceName = "pods".into();
    Change {
        key: Key::new(&pods, "default", name),
        expected,
        object: json!({"metadata": {"name": name}, "version": version, "filler": "x".repeat(bytes)}),
        action: Action::Put,
    }
}

/// Writes one object again and again, breaks the disk now and then, and returns each acknowledged version.
async fn write(store: Store, disk: FaultyDisk, mut random: Random) -> BTreeMap<Revision, String> {
    let name = format!("writer-{}", random.0);
    let mut acknowledged = BTreeMap::new();
    let mut version = 0;
    while acknowledged.len() < CHANGES as usize {
        version += 1;
        if random.below(8) == 0 {
            let faults = [Fault::Error, Fault::Torn, Fault::Full, Fault::Unsynced];
            disk.arm(random.below(30), random.of(&faults), random.next());
        }
        let expected = acknowledged.last_key_value().map(|(revision, _)| *revision);
        match store.commit(change(&name, expected, version, 500)).await {
            Ok(event) => {
                acknowledged.insert(event.revision, content(&event));
            }
            Err(CommitError::Doubtful(_) | CommitError::Suspended(_)) => {
                disk.make_room();
            }
            Err(other) => panic!("{other}"),
        }
    }
    acknowledged
}

fn content(event: &Event) -> String {
    format!("{} {}", event.key, event.object["version"])
}

/// Follows all changes up to `last`, and returns what it was told.
async fn follow(store: Store, last: Revision) -> Result<BTreeMap<Revision, String>, Compacted> {
    let mut changed = store.subscribe_all();
    let mut told = BTreeMap::new();
    let mut cursor = 0;
    while cursor < last {
        changed.mark_unchanged();
        let events = store.read().all_events_after(cursor, 16)?;
        for event in &events {
            assert_eq!(event.revision, cursor + 1, "there is no gap");
            cursor = event.revision;
            told.insert(cursor, content(event));
        }
        if events.is_empty() {
            changed.changed().await.expect("the store lives");
        }
    }
    Ok(told)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn watchers_beside_a_failing_disk_are_told_each_acknowledged_change_and_no_other() {
    for seed in 0..20 {
        let disk = FaultyDisk::default();
        let store = Store::open_on(disk.clone(), 1024).unwrap();
        let mut watchers = JoinSet::new();
        for _ in 0..WATCHERS {
            watchers.spawn(follow(store.clone(), WRITERS * CHANGES));
        }
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let random = Random(seed * WRITERS + writer);
            writers.spawn(write(store.clone(), disk.clone(), random));
        }
        let acknowledged: BTreeMap<Revision, String> =
            writers.join_all().await.into_iter().flatten().collect();
        for told in watchers.join_all().await {
            assert_eq!(
                told.expect("the history is long enough"),
                acknowledged,
                "seed {seed}"
            );
        }
    }
}

#[tokio::test]
async fn the_file_stays_within_three_times_what_it_holds_after_a_hundred_overwrites_of_each_object()
{
    const OBJECTS: usize = 200;
    const BYTES: usize = 4000;
    const HISTORY: usize = 100;
    let disk = FaultyDisk::default();
    let store = Store::open_on(disk.clone(), HISTORY).unwrap();
    let mut seen = vec![None; OBJECTS];
    for version in 0..100 {
        let commits = seen.iter().enumerate().map(|(index, expected)| {
            store.commit(change(&format!("pod-{index}"), *expected, version, BYTES))
        });
        let events = futures::future::try_join_all(commits).await.unwrap();
        seen = events.iter().map(|event| Some(event.revision)).collect();
    }
    // Each change in the history may keep the object that it has superseded.
    let held = (OBJECTS + 2 * HISTORY) * BYTES;
    assert!(
        disk.bytes() <= 3 * held,
        "{} bytes for {held}",
        disk.bytes()
    );
}
