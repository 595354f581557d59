//! StatefulSets in virtual time: the order in which pods come and go.

use serde_json::{Value, json};

use super::super::object::{count, label, text};
use super::super::testing::{World, images, set_image, workload};
use super::super::view::{Kind, Propagation};

const DB: &str = "db";

fn world(replicas: i64, change: impl FnOnce(&mut Value)) -> World {
    let mut set = workload("StatefulSet", DB, replicas);
    set["spec"]["updateStrategy"] =
        json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    change(&mut set);
    let mut world = World::new();
    world.create(set);
    world.settle();
    world
}

fn scale(world: &mut World, to: i64) {
    world.log.clear();
    world.change(&Kind::STATEFUL_SET, DB, |set| {
        set["spec"]["replicas"] = json!(to);
    });
    world.settle();
}

fn status(world: &World, field: &str) -> i64 {
    count(
        &world.object(&Kind::STATEFUL_SET, DB),
        &format!("/status/{field}"),
    )
}

#[test]
fn pods_come_in_order_and_go_in_reverse_one_at_a_time() {
    let mut world = world(0, |_| ());
    scale(&mut world, 3);
    assert_eq!(world.log, ["+db-0", "+db-1", "+db-2"]);
    assert_eq!(
        world.events()[0],
        "SuccessfulCreate Create Pod db-0 in StatefulSet db successful"
    );
    scale(&mut world, 1);
    assert_eq!(world.log, ["~db-2", "-db-2", "~db-1", "-db-1"]);
    assert_eq!(
        [
            status(&world, "replicas"),
            status(&world, "currentReplicas")
        ],
        [1, 1]
    );
}

#[test]
fn the_next_pod_waits_until_the_one_before_is_available() {
    let mut set = workload("StatefulSet", DB, 2);
    set["spec"]["minReadySeconds"] = json!(10);
    let mut world = World::new();
    world.create(set);
    world.run_for(11_999);
    assert_eq!(world.log, ["+db-0"]);
    world.run_for(1);
    assert_eq!(world.log, ["+db-0", "+db-1"]);
}

#[test]
fn parallel_pods_do_not_wait() {
    let mut world = world(0, |set| {
        set["spec"]["podManagementPolicy"] = json!("Parallel");
    });
    scale(&mut world, 3);
    assert_eq!(world.log, ["+db-0", "+db-1", "+db-2"]);
    scale(&mut world, 0);
    assert_eq!(
        world.log,
        ["~db-2", "~db-1", "~db-0", "-db-0", "-db-1", "-db-2"]
    );
}

#[test]
fn an_update_goes_from_the_highest_ordinal_down_to_the_partition() {
    let mut world = world(3, |set| {
        set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = json!(1);
    });
    world.log.clear();
    set_image(&mut world, &Kind::STATEFUL_SET, DB, "v2");
    world.settle();
    assert_eq!(
        world.log,
        ["~db-2", "-db-2", "+db-2", "~db-1", "-db-1", "+db-1"]
    );
    assert_eq!(images(&world), ["db-0[v1]", "db-1[v2]", "db-2[v2]"]);
    let set = world.object(&Kind::STATEFUL_SET, DB);
    assert_ne!(
        text(&set, "/status/currentRevision"),
        text(&set, "/status/updateRevision")
    );
    assert_eq!(
        [
            status(&world, "currentReplicas"),
            status(&world, "updatedReplicas")
        ],
        [1, 2]
    );
    // A pod below the partition that is lost comes back as it was.
    world.delete(&Kind::POD, "db-0", Propagation::Background);
    world.settle();
    assert_eq!(images(&world)[0], "db-0[v1]");
    world.change(&Kind::STATEFUL_SET, DB, |set| {
        set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = json!(0);
    });
    world.settle();
    assert_eq!(images(&world), ["db-0[v2]", "db-1[v2]", "db-2[v2]"]);
    let set = world.object(&Kind::STATEFUL_SET, DB);
    assert_eq!(
        text(&set, "/status/currentRevision"),
        text(&set, "/status/updateRevision")
    );
    let pod = world.object(&Kind::POD, "db-0");
    assert_eq!(
        label(&pod, "controller-revision-hash"),
        Some(text(&set, "/status/updateRevision"))
    );
    assert_eq!(label(&pod, "apps.kubernetes.io/pod-index"), Some("0"));
}

#[test]
fn an_update_may_take_as_many_pods_as_may_be_missing() {
    let mut world = world(4, |set| {
        set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = json!("50%");
    });
    world.log.clear();
    set_image(&mut world, &Kind::STATEFUL_SET, DB, "v2");
    world.settle();
    assert_eq!(world.log[..2], ["~db-3", "~db-2"]);
    assert!(images(&world).iter().all(|pod| pod.ends_with("[v2]")));
}

#[test]
fn on_delete_leaves_old_pods_until_they_are_deleted() {
    let mut world = world(2, |set| {
        set["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
    });
    set_image(&mut world, &Kind::STATEFUL_SET, DB, "v2");
    world.settle();
    assert_eq!(images(&world), ["db-0[v1]", "db-1[v1]"]);
    world.delete(&Kind::POD, "db-0", Propagation::Background);
    world.settle();
    assert_eq!(images(&world), ["db-0[v2]", "db-1[v1]"]);
}

#[test]
fn going_back_reuses_the_revision_and_old_ones_go_beyond_the_limit() {
    let mut world = world(1, |set| set["spec"]["revisionHistoryLimit"] = json!(1));
    let first = text(
        &world.object(&Kind::STATEFUL_SET, DB),
        "/status/updateRevision",
    )
    .to_owned();
    for image in ["v2", "v1"] {
        set_image(&mut world, &Kind::STATEFUL_SET, DB, image);
        world.settle();
    }
    assert_eq!(
        text(
            &world.object(&Kind::STATEFUL_SET, DB),
            "/status/updateRevision"
        ),
        first
    );
    assert_eq!(world.all(&Kind::CONTROLLER_REVISION).len(), 2);
    set_image(&mut world, &Kind::STATEFUL_SET, DB, "v3");
    world.settle();
    assert_eq!(world.all(&Kind::CONTROLLER_REVISION).len(), 2);
}

#[test]
fn ordinals_may_start_above_zero_and_a_failed_pod_is_replaced() {
    let mut world = world(1, |set| {
        set["spec"]["ordinals"] = json!({"start": 5});
        set["spec"]["template"]["metadata"]["annotations"] =
            json!({"flyball.dev/pending-seconds": "1"});
    });
    assert_eq!(images(&world), ["db-5[v1]"]);
    world.log.clear();
    let mut pod = Value::clone(&world.object(&Kind::POD, "db-5"));
    pod["status"]["phase"] = json!("Failed");
    world.set_status(&pod);
    world.settle();
    assert_eq!(world.log.last().map(String::as_str), Some("+db-5"));
}
