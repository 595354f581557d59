//! `kill -9` loses nothing acknowledged: two hundred kills at random instants under four writers, and after each one every
//! version that was acknowledged is read back. The process that is killed is this test, started again as a writer.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use flyball_plane::store::{Action, Change, Key, ResourceName, Storage, Store};
use serde_json::{Value, json};

const KILLS: u64 = 200;
const WRITERS: u64 = 4;
/// The writers' folder; set only in the process that is to be killed.
const FOLDER: &str = "FLYBALL_PLANE_KILL_FOLDER";
/// Small, so that compaction is at work in every run.
const HISTORY: usize = 512;

fn key(writer: u64) -> Key {
    let resource: ResourceName = "configmaps".into();
    Key::new(&resource, "default", &format!("writer-{writer}"))
}

fn version(object: &Value) -> u64 {
    object["data"]["version"].as_u64().unwrap_or(0)
}

/// Raises one object's version for ever, telling each acknowledged one.
async fn write(store: Store, writer: u64) {
    let found = store.read().get(&key(writer)).cloned();
    let mut expected = found.as_ref().map(|entry| entry.revision);
    let mut next = found.map_or(0, |entry| version(&entry.object)) + 1;
    loop {
        let object =
            json!({"metadata": {"name": format!("writer-{writer}")}, "data": {"version": next}});
        let change = Change {
            key: key(writer),
            expected,
            object,
            action: Action::Put,
        };
        let event = store
            .commit(change)
            .await
            .expect("nobody else writes this object");
        expected = Some(event.revision);
        let line = format!("ack {writer} {next} {}\n", event.revision);
        std::io::stdout()
            .write_all(line.as_bytes())
            .expect("the parent reads");
        next += 1;
    }
}

/// Not a test of its own: what the killed process does. Without the folder it has nothing to do.
#[test]
fn the_writers_run_when_they_are_told_where() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = Store::open(&Storage::Folder(folder.into()), HISTORY).unwrap();
        let writers: Vec<_> = (0..WRITERS)
            .map(|n| tokio::spawn(write(store.clone(), n)))
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
    });
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this test has a file"))
        .args([
            "--exact",
            "the_writers_run_when_they_are_told_where",
            "--nocapture",
        ])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this test can be started again")
}

/// Kills the process after `acks` acknowledgements and a little more, and returns the newest version and revision that each
/// writer has told of.
fn kill(mut child: Child, acks: u64, more: Duration) -> BTreeMap<u64, (u64, u64)> {
    let mut lines = BufReader::new(child.stdout.take().expect("it was piped")).lines();
    let mut newest = BTreeMap::new();
    let mut read = |line: &str| {
        let numbers: Vec<u64> = line
            .split(' ')
            .skip(1)
            .filter_map(|word| word.parse().ok())
            .collect();
        // A line that was cut off by the kill was not told.
        if let (true, [writer, version, revision]) = (line.starts_with("ack "), numbers.as_slice())
        {
            newest.insert(*writer, (*version, *revision));
        }
    };
    for _ in 0..acks {
        read(
            &lines
                .next()
                .expect("the writers go on")
                .expect("they write text"),
        );
    }
    // The instant of the kill is anywhere in a transaction.
    std::thread::sleep(more);
    child.kill().expect("it was running");
    child.wait().expect("it was started");
    let mut rest: Vec<String> = lines.map_while(Result::ok).collect();
    // Only whole lines count: the last one may have lost its end.
    rest.pop();
    for line in &rest {
        read(line);
    }
    newest
}

#[test]
fn every_acknowledged_version_survives_two_hundred_kills() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("data");
    let mut random = 1_u64;
    let mut told: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for round in 0..KILLS {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (acks, micros) = (1 + (random >> 33) % 40, (random >> 45) % 3000);
        told.extend(kill(start(&folder), acks, Duration::from_micros(micros)));
        let store = Store::open(&Storage::Folder(folder.clone()), HISTORY).unwrap();
        let state = store.read();
        for (writer, (version_told, revision_told)) in &told {
            let entry = state
                .get(&key(*writer))
                .expect("an acknowledged object is there");
            let found = (version(&entry.object), entry.revision);
            assert!(
                found >= (*version_told, *revision_told),
                "round {round}: writer {writer} was told {version_told}, found {found:?}"
            );
            assert!(state.revision() >= *revision_told);
        }
    }
    assert_eq!(told.len() as u64, WRITERS);
}
