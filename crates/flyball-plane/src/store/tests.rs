//! The store's contract, on disk and in memory.

use serde_json::json;

use super::log::Log;
use super::*;
use crate::object;

fn pods() -> ResourceName {
    "pods".into()
}

fn put(name: &str, expected: Option<Revision>) -> Change {
    Change {
        key: Key::new(&pods(), "default", name),
        expected,
        object: json!({"metadata": {"namespace": "default", "name": name}}),
        action: Action::Put,
    }
}

fn remove(name: &str, expected: Revision) -> Change {
    Change {
        action: Action::Remove,
        ..put(name, Some(expected))
    }
}

fn on_disk(folder: &std::path::Path, history_max: usize) -> Store {
    Store::open(&Storage::Folder(folder.to_owned()), history_max).unwrap()
}

fn names(store: &Store) -> Vec<String> {
    store
        .read()
        .range(&pods(), None, None)
        .map(|(key, _)| key.name.to_string())
        .collect()
}

#[tokio::test]
async fn a_commit_is_checked_against_what_the_writer_has_seen() {
    let store = Store::open(&Storage::Memory, 16).unwrap();
    let first = store.commit(put("a", None)).await.unwrap();
    assert_eq!(object::meta(&first.object, "resourceVersion"), "1");
    assert!(matches!(
        store.commit(put("a", None)).await,
        Err(CommitError::Conflict { found: Some(1), .. })
    ));
    store.commit(put("a", Some(1))).await.unwrap();
    assert!(matches!(
        store.commit(put("a", Some(1))).await,
        Err(CommitError::Conflict { found: Some(2), .. })
    ));
    assert!(matches!(
        store.commit(remove("b", 1)).await,
        Err(CommitError::Conflict { found: None, .. })
    ));
    assert_eq!(
        store.read().revision(),
        2,
        "refused changes take no revision"
    );
}

#[tokio::test]
async fn objects_history_and_revision_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    {
        let store = on_disk(dir.path(), 16);
        store.commit(put("a", None)).await.unwrap();
        store.commit(put("b", None)).await.unwrap();
        store.commit(put("a", Some(1))).await.unwrap();
        store.commit(remove("b", 2)).await.unwrap();
    }
    let store = on_disk(dir.path(), 16);
    assert_eq!(names(&store), ["a"]);
    assert_eq!(store.read().revision(), 4);
    let events = store.read().events_after(&pods(), 2, 10).unwrap();
    let seen: Vec<_> = events
        .iter()
        .map(|e| {
            (
                e.revision,
                e.action,
                e.previous.as_ref().map(|p| p.revision),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [(3, Action::Put, Some(1)), (4, Action::Remove, Some(2))]
    );
}

#[tokio::test]
async fn compaction_bounds_the_log_and_is_remembered() {
    let dir = tempfile::tempdir().unwrap();
    {
        let store = on_disk(dir.path(), 8);
        let mut seen = None;
        for _ in 0..100 {
            seen = Some(store.commit(put("a", seen)).await.unwrap().revision);
        }
        store.commit(put("b", None)).await.unwrap();
        store.commit(remove("b", 101)).await.unwrap();
        for _ in 0..20 {
            seen = Some(store.commit(put("a", seen)).await.unwrap().revision);
        }
        let old = store.read().events_after(&pods(), 5, 10);
        assert_eq!(
            old.unwrap_err(),
            Compacted {
                revision: 5,
                oldest: 114
            }
        );
    }
    let mut state = State::new(8);
    let log = Log::open(FolderDisk::open(dir.path()).unwrap(), &mut state).unwrap();
    assert!(
        log.records() <= 9,
        "8 of history and one predecessor, not {}",
        log.records()
    );
    assert!(
        state.events_after(&pods(), 113, 10).is_err(),
        "compaction survives a restart"
    );
    assert_eq!(state.events_after(&pods(), 114, 10).unwrap().len(), 8);
    assert_eq!((state.revision(), state.len()), (122, 1));
}

#[tokio::test]
async fn a_quiet_resource_is_not_expired_by_a_busy_one() {
    let store = Store::open(&Storage::Memory, 4).unwrap();
    let services: ResourceName = "services".into();
    store.subscribe(&services);
    let mut seen = None;
    for _ in 0..20 {
        seen = Some(store.commit(put("a", seen)).await.unwrap().revision);
    }
    assert!(
        store
            .read()
            .events_after(&services, 1, 10)
            .unwrap()
            .is_empty()
    );
    assert!(store.read().events_after(&pods(), 1, 10).is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_writers_share_transactions_and_each_gets_its_own_revision() {
    let dir = tempfile::tempdir().unwrap();
    let store = on_disk(dir.path(), 4096);
    let tasks: Vec<_> = (0..200)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                store
                    .commit(put(&format!("p{n:03}"), None))
                    .await
                    .unwrap()
                    .revision
            })
        })
        .collect();
    let mut revisions = Vec::new();
    for task in tasks {
        revisions.push(task.await.unwrap());
    }
    revisions.sort_unstable();
    assert_eq!(revisions, (1..=200).collect::<Vec<_>>());
    assert_eq!(names(&store).len(), 200);
}

#[tokio::test]
async fn a_second_process_is_told_that_the_folder_is_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let _store = on_disk(dir.path(), 16);
    let second = Store::open(&Storage::Folder(dir.path().to_owned()), 16);
    assert!(matches!(second, Err(OpenError::InUse(_))));
}

#[tokio::test]
async fn owners_are_found_by_index_and_forgotten_with_the_object() {
    let store = Store::open(&Storage::Memory, 16).unwrap();
    let mut change = put("a", None);
    change.object["metadata"]["ownerReferences"] = json!([{"uid": "u1"}]);
    store.commit(change).await.unwrap();
    assert_eq!(store.read().owned_by("u1").count(), 1);
    store.commit(put("a", Some(1))).await.unwrap();
    assert_eq!(store.read().owned_by("u1").count(), 0);
}

#[tokio::test]
async fn ranges_keep_to_their_namespace_and_resume_at_a_key() {
    let store = Store::open(&Storage::Memory, 16).unwrap();
    for (namespace, name) in [("a", "x"), ("b", "x"), ("b", "y"), ("ba", "x")] {
        let mut change = put(name, None);
        change.key = Key::new(&pods(), namespace, name);
        store.commit(change).await.unwrap();
    }
    let state = store.read();
    let of = |namespace, from: Option<&Key>| {
        state
            .range(&pods(), namespace, from)
            .map(|(k, _)| format!("{}/{}", k.namespace, k.name))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(Some("b"), None), ["b/x", "b/y"]);
    assert_eq!(of(Some("b"), Some(&Key::new(&pods(), "b", "x\0"))), ["b/y"]);
    assert_eq!(of(None, None), ["a/x", "b/x", "b/y", "ba/x"]);
}

#[tokio::test]
async fn the_past_is_the_present_with_the_history_undone() {
    let store = Store::open(&Storage::Memory, 4).unwrap();
    for name in ["a", "b", "c"] {
        store.commit(put(name, None)).await.unwrap();
    }
    store.commit(put("b", Some(2))).await.unwrap();
    store.commit(remove("c", 3)).await.unwrap();
    store.commit(put("aa", None)).await.unwrap();
    let state = store.read();
    let at = |revision| {
        let past = Past::of(&state, &pods(), revision).ok()?;
        let found = past.range(&state, &pods(), None, None);
        let told = found.map(|(key, entry)| format!("{}:{}", key.name, entry.revision));
        Some(told.collect::<Vec<_>>().join(" "))
    };
    let table = [
        (1, None),
        (2, Some("a:1 b:2")),
        (3, Some("a:1 b:2 c:3")),
        (4, Some("a:1 b:4 c:3")),
        (5, Some("a:1 b:4")),
        (6, Some("a:1 aa:6 b:4")),
    ];
    for (revision, expected) in table {
        assert_eq!(at(revision).as_deref(), expected, "at {revision}");
    }
}
