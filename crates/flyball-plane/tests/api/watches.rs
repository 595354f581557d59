//! WATCH: what a watcher sees, in which order, and when it is told that it has missed something.

use bytes::Bytes;
use flyball_plane::respond::Body;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use crate::world::{CONFIG_MAPS, MERGE, PODS, World, config_map, request};

struct Watch(Body);

impl Watch {
    async fn open(world: &World, query: &str) -> Self {
        Self::of(world, CONFIG_MAPS, query).await
    }

    async fn of(world: &World, resource: &str, query: &str) -> Self {
        let path = format!("{resource}?watch=true&{query}");
        let response = world.start(request("GET", &path, "", "")).await;
        assert_eq!(response.status(), 200);
        Self(response.into_body())
    }

    async fn next(&mut self) -> Option<Value> {
        let frame = self.0.frame().await?.expect("the stream does not fail");
        let frame: Bytes = frame.into_data().expect("there are no trailers");
        assert!(frame.ends_with(b"\n"), "each event is a line");
        Some(serde_json::from_slice(&frame).expect("each line is JSON"))
    }

    /// Type and name of the next event, and its object's revision.
    async fn told(&mut self) -> (String, String) {
        let event = self.next().await.expect("the watch goes on");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (
            text(&event["type"]),
            text(&event["object"]["metadata"]["name"]),
        )
    }
}

fn told(kind: &str, name: &str) -> (String, String) {
    (kind.to_owned(), name.to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_watch_without_a_revision_begins_with_what_is_there() {
    let world = World::new().await;
    world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let mut watch = Watch::open(&world, "").await;
    assert_eq!(watch.told().await, told("ADDED", "a"));
    world.post(CONFIG_MAPS, &config_map("b")).await.ok();
    assert_eq!(watch.told().await, told("ADDED", "b"));
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_revision_tells_every_later_change_once_and_in_order() {
    let world = World::new().await;
    let first = world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let from = first["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = Watch::open(&world, &format!("resourceVersion={from}")).await;
    world
        .patch(
            &format!("{CONFIG_MAPS}/a"),
            MERGE,
            &json!({"data": {"a": "2"}}),
        )
        .await
        .ok();
    world.post(CONFIG_MAPS, &config_map("b")).await.ok();
    world
        .delete(&format!("{CONFIG_MAPS}/a"), &Value::Null)
        .await
        .ok();
    let mut revisions = Vec::new();
    for expected in ["MODIFIED", "ADDED", "DELETED"] {
        let event = watch.next().await.unwrap();
        assert_eq!(event["type"], expected);
        assert_eq!(
            event["object"]["kind"], "ConfigMap",
            "events carry the kind"
        );
        revisions.push(
            event["object"]["metadata"]["resourceVersion"]
                .as_str()
                .unwrap()
                .parse::<u64>()
                .unwrap(),
        );
    }
    assert!(
        revisions.is_sorted() && revisions[0] > from.parse().unwrap(),
        "{revisions:?}"
    );
    assert!(
        revisions[2] > revisions[1],
        "a deletion has a revision of its own"
    );
}

#[tokio::test(start_paused = true)]
async fn an_object_enters_and_leaves_the_selection_of_a_watch() {
    let world = World::new().await;
    let path = format!("{CONFIG_MAPS}/a");
    world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let mut watch = Watch::open(&world, "labelSelector=x%3Dy").await;
    let label = |value: &str| json!({"metadata": {"labels": {"x": value}}});
    for (value, expected) in [
        ("y", Some("ADDED")),
        ("y", None),
        ("z", Some("DELETED")),
        ("w", None),
    ] {
        world.patch(&path, MERGE, &label(value)).await.ok();
        if let Some(expected) = expected {
            assert_eq!(watch.told().await, told(expected, "a"), "{value}");
        }
    }
    world.patch(&path, MERGE, &label("y")).await.ok();
    assert_eq!(
        watch.told().await,
        told("ADDED", "a"),
        "nothing was told in between"
    );
}

#[tokio::test(start_paused = true)]
async fn one_object_is_watched_by_its_name() {
    let world = World::new().await;
    let mut watch = Watch::open(&world, "fieldSelector=metadata.name%3Db").await;
    world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    world.post(CONFIG_MAPS, &config_map("b")).await.ok();
    assert_eq!(watch.told().await, told("ADDED", "b"));
}

#[tokio::test(start_paused = true)]
async fn bookmarks_come_every_minute_to_those_who_want_them_and_the_watch_ends_in_time() {
    let world = World::new().await;
    let newest = world.get(CONFIG_MAPS).await.ok()["metadata"]["resourceVersion"].clone();
    let mut watch = Watch::open(&world, "allowWatchBookmarks=true&timeoutSeconds=130").await;
    // The first one marks the end of the initial events, of which there are none.
    for minute in [0, 1, 2] {
        let event = watch.next().await.unwrap();
        assert_eq!(
            (event["type"].clone(), event["object"]["kind"].clone()),
            ("BOOKMARK".into(), "ConfigMap".into())
        );
        assert_eq!(event["object"]["metadata"]["resourceVersion"], newest);
        assert_eq!(world.clock.elapsed().as_secs(), minute * 60);
    }
    assert_eq!(watch.next().await, None);
    assert_eq!(world.clock.elapsed().as_secs(), 130);
    let mut silent = Watch::open(&world, "timeoutSeconds=130").await;
    assert_eq!(silent.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_initial_events_is_marked() {
    let world = World::new().await;
    world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    for query in [
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
        "allowWatchBookmarks=true",
        "allowWatchBookmarks=true&resourceVersion=0",
    ] {
        let mut watch = Watch::open(&world, query).await;
        assert_eq!(watch.told().await, told("ADDED", "a"), "{query}");
        let mark = watch.next().await.unwrap();
        assert_eq!(mark["type"], "BOOKMARK", "{query}");
        let annotations = &mark["object"]["metadata"]["annotations"];
        assert_eq!(annotations["k8s.io/initial-events-end"], "true", "{query}");
    }
    let reply = world
        .get(&format!("{CONFIG_MAPS}?watch=1&sendInitialEvents=true"))
        .await;
    assert_eq!(reply.code, 422);
}

#[tokio::test(start_paused = true)]
async fn a_watch_below_the_history_is_told_that_it_has_expired() {
    let world = World::new().await;
    world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let slow = Watch::open(&world, "resourceVersion=1").await;
    for n in 0..8_200 {
        let patch = json!({"data": {"a": n.to_string()}});
        world
            .patch(&format!("{CONFIG_MAPS}/a"), MERGE, &patch)
            .await
            .ok();
    }
    let late = Watch::open(&world, "resourceVersion=1").await;
    for mut watch in [late, slow] {
        let event = watch.next().await.unwrap();
        assert_eq!(
            (
                event["type"].clone(),
                event["object"]["code"].clone(),
                event["object"]["reason"].clone()
            ),
            ("ERROR".into(), 410.into(), "Expired".into())
        );
        assert!(
            event["object"]["message"]
                .as_str()
                .unwrap()
                .starts_with("too old resource version: 1 (")
        );
        assert_eq!(watch.next().await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn watches_are_bounded_and_a_closed_one_makes_room() {
    let world = World::new().await;
    let mut open = Vec::new();
    for _ in 0..1024 {
        open.push(Watch::open(&world, "").await);
    }
    let path = format!("{CONFIG_MAPS}?watch=true");
    let reply = world.get(&path).await;
    assert_eq!(
        (
            reply.code,
            reply.refusal().1,
            reply.headers["retry-after"].clone()
        ),
        (429, "TooManyRequests", "1".parse().unwrap())
    );
    open.pop();
    open.push(Watch::open(&world, "").await);
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_watches() {
    let world = World::new().await;
    let mut watch = Watch::open(&world, "").await;
    world.plane.shutdown().await;
    assert_eq!(watch.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_given_no_grace_is_shown_once_more_before_it_is_gone() {
    let world = World::new().await;
    let spec = json!({"containers": [{"name": "a", "image": "a:1"}]});
    let pod = json!({"metadata": {"name": "p"}, "spec": spec});
    world.post(PODS, &pod).await.ok();
    world.pass(5).await;
    let path = format!("{PODS}/p");
    let running = world.get(&path).await.ok();
    let from = running["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = Watch::of(&world, PODS, &format!("resourceVersion={from}")).await;
    world
        .delete(&path, &json!({"gracePeriodSeconds": 0}))
        .await
        .ok();
    for expected in ["MODIFIED", "DELETED"] {
        let event = watch.next().await.unwrap();
        assert_eq!(event["type"], expected);
        let metadata = &event["object"]["metadata"];
        assert_eq!(metadata["deletionTimestamp"], "2026-01-01T00:00:05Z");
        assert_eq!(metadata["deletionGracePeriodSeconds"], 0);
    }
}
