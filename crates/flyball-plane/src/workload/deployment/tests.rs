//! Rollouts of a Deployment in virtual time: sequences of sizes, conditions, revisions, and the bounds that always hold.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::object::{annotation, condition, count, is_active, is_ready, items, name, text};
use super::super::testing::{World, set_image, workload};
use super::super::view::{Kind, Propagation, View};
use super::sets::Bounds;

const WEB: &str = "web";

fn deployment(replicas: i64, surge: impl Into<Value>, unavailable: impl Into<Value>) -> Value {
    let (surge, unavailable): (Value, Value) = (surge.into(), unavailable.into());
    let mut object = workload("Deployment", WEB, replicas);
    object["spec"]["strategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}});
    object["spec"]["progressDeadlineSeconds"] = json!(600);
    object["spec"]["revisionHistoryLimit"] = json!(10);
    object
}

fn settled(object: Value) -> World {
    let mut world = World::new();
    world.create(object);
    world.settle();
    world
}

fn stored(world: &World) -> Value {
    Value::clone(&world.object(&Kind::DEPLOYMENT, WEB))
}

/// Sizes of the ReplicaSets, by image.
fn sizes(world: &World) -> Vec<(String, i64)> {
    let mut sizes: Vec<(String, i64)> = world
        .all(&Kind::REPLICA_SET)
        .iter()
        .map(|set| {
            (
                text(set, "/spec/template/spec/containers/0/image").to_owned(),
                count(set, "/spec/replicas"),
            )
        })
        .collect();
    sizes.sort();
    sizes
}

fn sizes_are(world: &World, expected: &[(&str, i64)]) {
    let expected: Vec<(String, i64)> = expected
        .iter()
        .map(|(image, size)| ((*image).to_owned(), *size))
        .collect();
    assert_eq!(sizes(world), expected);
}

fn reason(world: &World, kind: &str) -> String {
    condition(&stored(world), kind)
        .map(|entry| text(entry, "/reason").to_owned())
        .unwrap_or_default()
}

#[test]
fn a_new_deployment_makes_one_replica_set_and_reports_it() {
    let world = settled(deployment(3, "25%", "25%"));
    let status = stored(&world)["status"].clone();
    let sets = world.all(&Kind::REPLICA_SET);
    let set = name(&sets[0]);
    let counters = [
        ("observedGeneration", 1),
        ("replicas", 3),
        ("updatedReplicas", 3),
        ("readyReplicas", 3),
        ("availableReplicas", 3),
        ("unavailableReplicas", 0),
        ("terminatingReplicas", 0),
    ];
    for (field, expected) in counters {
        assert_eq!(count(&status, &format!("/{field}")), expected, "{field}");
    }
    let told: Vec<(&str, &str, &str)> = items(&status, "/conditions")
        .iter()
        .map(|entry| {
            (
                text(entry, "/type"),
                text(entry, "/status"),
                text(entry, "/reason"),
            )
        })
        .collect();
    let expected = [
        ("Available", "True", "MinimumReplicasAvailable"),
        ("Progressing", "True", "NewReplicaSetAvailable"),
    ];
    assert_eq!(told, expected);
    assert_eq!(
        status["conditions"][0]["message"],
        "Deployment has minimum availability."
    );
    let progressed = format!("ReplicaSet \"{set}\" has successfully progressed.");
    assert_eq!(status["conditions"][1]["message"], json!(progressed));
    assert_eq!(
        world.events()[0],
        format!("ScalingReplicaSet Scaled up replica set {set} from 0 to 3")
    );
    let hash = set.strip_prefix("web-").unwrap();
    assert_eq!(
        text(&sets[0], "/spec/selector/matchLabels/pod-template-hash"),
        hash
    );
    assert!(
        world
            .all(&Kind::POD)
            .iter()
            .all(|pod| text(pod, "/metadata/labels/pod-template-hash") == hash)
    );
    assert_eq!(
        annotation(&stored(&world), "deployment.kubernetes.io/revision"),
        Some("1")
    );
    assert_eq!(
        annotation(&sets[0], "deployment.kubernetes.io/max-replicas"),
        Some("4")
    );
}

/// The sizes the events tell, old set `a` and new set `b`, from the moment the image changes.
fn rollout_of(replicas: i64, surge: Value, unavailable: Value) -> String {
    let mut world = settled(deployment(replicas, surge, unavailable));
    let old = name(&world.all(&Kind::REPLICA_SET)[0]).to_owned();
    world.log.clear();
    set_image(&mut world, &Kind::DEPLOYMENT, WEB, "v2");
    world.settle();
    let new = world
        .all(&Kind::REPLICA_SET)
        .iter()
        .map(|set| name(set).to_owned())
        .find(|set| *set != old)
        .unwrap();
    let changes = world.log.iter().filter(|line| line.contains('>'));
    changes
        .map(|line| line.replace(&old, "a").replace(&new, "b"))
        .collect::<Vec<_>>()
        .join(", ")
}

#[test]
fn a_rolling_update_steps_within_its_fences() {
    let rows = [
        (
            3,
            json!(1),
            json!(0),
            "b 0>1, a 3>2, b 1>2, a 2>1, b 2>3, a 1>0",
        ),
        (2, json!(0), json!(1), "b 0>0, a 2>1, b 0>1, a 1>0, b 1>2"),
        (
            4,
            json!("25%"),
            json!("25%"),
            "b 0>1, a 4>3, b 1>2, a 3>1, b 2>4, a 1>0",
        ),
        (4, json!("100%"), json!(0), "b 0>4, a 4>0"),
        (1, json!(0), json!("1%"), "b 0>0, a 1>0, b 0>1"),
    ];
    for (replicas, surge, unavailable, expected) in rows {
        let told = rollout_of(replicas, surge.clone(), unavailable.clone());
        assert_eq!(
            told, expected,
            "{replicas} replicas, surge {surge}, unavailable {unavailable}"
        );
    }
}

#[test]
fn recreate_waits_for_every_old_pod_to_be_gone() {
    let mut object = workload("Deployment", WEB, 2);
    object["spec"]["strategy"] = json!({"type": "Recreate"});
    let mut world = settled(object);
    world.invariant = Some(|world| {
        let mut images: Vec<String> = world
            .all(&Kind::POD)
            .iter()
            .map(|pod| text(pod, "/spec/containers/0/image").to_owned())
            .collect();
        images.dedup();
        images.sort();
        images.dedup();
        assert!(
            images.len() < 2,
            "old and new pods at once: {:?}",
            world.log
        );
    });
    set_image(&mut world, &Kind::DEPLOYMENT, WEB, "v2");
    world.settle();
    sizes_are(&world, &[("v1", 0), ("v2", 2)]);
    assert_eq!(world.all(&Kind::POD).len(), 2);
}

#[test]
fn a_bad_template_stops_at_the_fences_and_is_reported_late() {
    let mut world = settled(deployment(10, 3, 2));
    world.change(&Kind::DEPLOYMENT, WEB, |object| {
        let template = &mut object["spec"]["template"];
        template["spec"]["containers"][0]["image"] = json!("bad");
        template["metadata"]["annotations"] = json!({"flyball.dev/ready-seconds": "1000000"});
    });
    world.run_for(590_000);
    sizes_are(&world, &[("bad", 5), ("v1", 8)]);
    assert_eq!(reason(&world, "Progressing"), "ReplicaSetUpdated");
    world.run_for(30_000);
    assert_eq!(reason(&world, "Progressing"), "ProgressDeadlineExceeded");
    assert_eq!(reason(&world, "Available"), "MinimumReplicasAvailable");
    // Back to the good template: the bad pods go first.
    set_image(&mut world, &Kind::DEPLOYMENT, WEB, "v1");
    world.change(&Kind::DEPLOYMENT, WEB, |object| {
        object["spec"]["template"]["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("annotations");
    });
    world.settle();
    assert_eq!(
        sizes(&world).iter().filter(|(_, size)| *size > 0).count(),
        1
    );
    assert_eq!(reason(&world, "Progressing"), "NewReplicaSetAvailable");
}

#[test]
fn a_resize_in_the_middle_of_a_rollout_is_shared_by_size() {
    let mut world = settled(deployment(10, 3, 2));
    world.change(&Kind::DEPLOYMENT, WEB, |object| {
        let template = &mut object["spec"]["template"];
        template["spec"]["containers"][0]["image"] = json!("stuck");
        template["metadata"]["annotations"] = json!({"flyball.dev/ready-seconds": "1000000"});
    });
    world.run_for(60_000);
    sizes_are(&world, &[("stuck", 5), ("v1", 8)]);
    // The example of the Kubernetes documentation: 10 to 15 adds 5, three to the old set and two to the new one.
    world.change(&Kind::DEPLOYMENT, WEB, |object| {
        object["spec"]["replicas"] = json!(15);
    });
    world.run_for(60_000);
    sizes_are(&world, &[("stuck", 7), ("v1", 11)]);
}

#[test]
fn a_paused_deployment_scales_but_does_not_roll() {
    let mut world = settled(deployment(2, 1, 0));
    world.change(&Kind::DEPLOYMENT, WEB, |object| {
        object["spec"]["paused"] = json!(true);
    });
    world.settle();
    assert_eq!(reason(&world, "Progressing"), "DeploymentPaused");
    set_image(&mut world, &Kind::DEPLOYMENT, WEB, "v2");
    world.change(&Kind::DEPLOYMENT, WEB, |object| {
        object["spec"]["replicas"] = json!(3);
    });
    world.settle();
    sizes_are(&world, &[("v1", 3)]);
    world.change(&Kind::DEPLOYMENT, WEB, |object| {
        object["spec"]["paused"] = json!(false);
    });
    world.settle();
    sizes_are(&world, &[("v1", 0), ("v2", 3)]);
}

#[test]
fn going_back_reuses_the_old_set_with_a_new_revision() {
    let mut world = settled(deployment(1, 1, 0));
    for image in ["v2", "v1"] {
        set_image(&mut world, &Kind::DEPLOYMENT, WEB, image);
        world.settle();
    }
    sizes_are(&world, &[("v1", 1), ("v2", 0)]);
    let sets = world.all(&Kind::REPLICA_SET);
    let old = sets
        .iter()
        .find(|set| count(set, "/spec/replicas") == 1)
        .unwrap();
    assert_eq!(
        annotation(old, "deployment.kubernetes.io/revision"),
        Some("3")
    );
    assert_eq!(
        annotation(old, "deployment.kubernetes.io/revision-history"),
        Some("1")
    );
    assert_eq!(
        annotation(&stored(&world), "deployment.kubernetes.io/revision"),
        Some("3")
    );
}

#[test]
fn old_sets_beyond_the_history_limit_go() {
    let mut object = deployment(1, 1, 0);
    object["spec"]["revisionHistoryLimit"] = json!(1);
    let mut world = settled(object);
    for image in ["v2", "v3", "v4"] {
        set_image(&mut world, &Kind::DEPLOYMENT, WEB, image);
        world.settle();
    }
    sizes_are(&world, &[("v3", 0), ("v4", 1)]);
}

#[test]
fn a_taken_name_raises_the_collision_count() {
    let plain = settled(deployment(1, 1, 0));
    let taken = name(&plain.all(&Kind::REPLICA_SET)[0]).to_owned();
    let mut world = World::new();
    let mut squatter = workload("ReplicaSet", &taken, 0);
    squatter["spec"]["selector"] = json!({"matchLabels": {"app": "squatter"}});
    world.create(squatter);
    world.create(deployment(1, 1, 0));
    world.settle();
    assert_eq!(count(&stored(&world), "/status/collisionCount"), 1);
    assert_eq!(world.all(&Kind::REPLICA_SET).len(), 2);
    assert_eq!(world.all(&Kind::POD).len(), 1);
}

#[test]
fn a_set_the_store_refuses_is_told() {
    let mut world = World::new();
    world.refused = Some((Kind::REPLICA_SET, "no"));
    world.create(deployment(1, 1, 0));
    world.run_for(100);
    assert_eq!(reason(&world, "Progressing"), "ReplicaSetCreateError");
    assert!(
        world.events()[0]
            .starts_with("ReplicaSetCreateError Failed to create new replica set \"web-")
    );
}

#[test]
fn a_deleted_deployment_takes_its_sets_and_pods_along() {
    for propagation in [Propagation::Background, Propagation::Foreground] {
        let mut world = settled(deployment(2, 1, 0));
        world.delete(&Kind::DEPLOYMENT, WEB, propagation);
        if propagation == Propagation::Foreground {
            assert!(
                world.get(&Kind::DEPLOYMENT, "default", WEB).is_some(),
                "it waits for its pods"
            );
        }
        world.settle();
        for kind in [Kind::DEPLOYMENT, Kind::REPLICA_SET, Kind::POD] {
            assert_eq!(world.all(&kind).len(), 0, "{kind} after {propagation:?}");
        }
    }
}

/// Ready pods never fall below the minimum, and sizes never exceed the maximum.
fn fences_hold(world: &World) {
    let object = stored(world);
    let bounds = Bounds::of(&object);
    let pods = world.all(&Kind::POD);
    let ready = pods
        .iter()
        .filter(|pod| is_ready(pod) && is_active(pod))
        .count() as i64;
    let live = pods.iter().filter(|pod| is_active(pod)).count() as i64;
    assert!(
        ready >= bounds.min_available(),
        "{ready} ready, {bounds:?}: {:?}",
        world.log
    );
    assert!(
        live <= bounds.max_total(),
        "{live} pods, {bounds:?}: {:?}",
        world.log
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_rollout_keeps_its_fences_and_ends(
        replicas in 1_i64..9,
        surge in 0_i64..120,
        unavailable in 0_i64..120,
        ready_seconds in 0_i64..4,
        min_ready in 0_i64..3,
        interval_ms in 0_i64..6_000,
    ) {
        let mut object = deployment(replicas, json!(format!("{surge}%")), json!(format!("{unavailable}%")));
        object["spec"]["minReadySeconds"] = json!(min_ready);
        object["metadata"]["annotations"] = json!({"flyball.dev/ready-seconds": ready_seconds.to_string()});
        let mut world = settled(object);
        world.invariant = Some(fences_hold);
        for image in ["v2", "v3"] {
            set_image(&mut world, &Kind::DEPLOYMENT, WEB, image);
            world.run_for(interval_ms);
        }
        world.settle();
        let expected = [("v3".to_owned(), replicas)];
        let live: Vec<_> = sizes(&world).into_iter().filter(|(_, size)| *size > 0).collect();
        prop_assert_eq!(live, expected);
        prop_assert_eq!(reason(&world, "Progressing"), "NewReplicaSetAvailable");
        prop_assert_eq!(world.all(&Kind::POD).len() as i64, replicas);
    }
}
