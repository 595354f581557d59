//! What each request may change, and how the answer of an API server differs from the hand-written rules.

use serde_json::{Value, json};

use super::*;

fn hpa(json: Value) -> HorizontalPodAutoscaler {
    serde_json::from_value(json).expect("the object of a test is an autoscaler")
}

fn sound(generation: i64, spec: &Value) -> HorizontalPodAutoscaler {
    let mut object = hpa(json!({
        "metadata": {"name": "web", "namespace": "default", "resourceVersion": "1", "generation": generation},
        "spec": {
            "scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"},
            "minReplicas": 1,
            "maxReplicas": 10,
        },
        "status": {"desiredReplicas": 3},
    }));
    let mut merged = serde_json::to_value(&object.spec).expect("serialises");
    for (field, value) in spec.as_object().expect("changes are an object") {
        merged[field] = value.clone();
    }
    object.spec = serde_json::from_value(merged).expect("a well-typed spec");
    object
}

fn texts(problems: &[FieldError]) -> Vec<String> {
    problems.iter().map(FieldError::to_string).collect()
}

#[test]
fn generations_count_changes_of_the_spec_by_meaning() {
    let old = sound(4, &json!({"behavior": {"scaleUp": {"tolerance": "100m"}}}));
    let rows = [
        (
            json!({"behavior": {"scaleUp": {"tolerance": "0.1", "policies": []}}}),
            4,
        ),
        (json!({"behavior": {"scaleUp": {"tolerance": "0.2"}}}), 5),
        (json!({"maxReplicas": 11}), 5),
    ];
    for (spec, generation) in rows {
        let mut new = sound(9, &spec);
        prepare_update(&mut new, &old, Gates::default());
        assert_eq!(new.metadata.generation, generation, "{spec}");
        let mut new = sound(9, &spec);
        prepare_update(
            &mut new,
            &old,
            Gates {
                generation: false,
                ..Gates::default()
            },
        );
        assert_eq!(new.metadata.generation, 4, "{spec} without the gate");
    }
}

#[test]
fn a_new_object_starts_at_generation_one_without_a_status() {
    let mut new = sound(7, &json!({}));
    prepare_create(&mut new, Gates::default());
    assert_eq!(
        (new.metadata.generation, &new.status),
        (1, &HorizontalPodAutoscalerStatus::default())
    );
    let mut new = sound(7, &json!({}));
    prepare_create(
        &mut new,
        Gates {
            generation: false,
            ..Gates::default()
        },
    );
    assert_eq!(new.metadata.generation, 7);
}

#[test]
fn a_status_update_leaves_spec_and_generation_alone() {
    let old = sound(4, &json!({}));
    let mut new = sound(9, &json!({"maxReplicas": 11}));
    new.status.desired_replicas = 5;
    prepare_status_update(&mut new, &old);
    assert_eq!((new.metadata.generation, &new.spec), (4, &old.spec));
    assert_eq!(new.status.desired_replicas, 5);
}

#[test]
fn tolerances_stay_if_either_direction_had_one() {
    let off = Gates {
        configurable_tolerance: false,
        ..Gates::default()
    };
    let wanted =
        json!({"behavior": {"scaleUp": {"tolerance": "1"}, "scaleDown": {"tolerance": "1"}}});
    let rows = [
        (json!({}), false),
        (json!({"behavior": {"scaleUp": {}}}), false),
        (json!({"behavior": {"scaleDown": {"tolerance": "0"}}}), true),
    ];
    for (spec, kept) in rows {
        let mut new = sound(1, &wanted);
        prepare_update(&mut new, &sound(1, &spec), off);
        let behavior = new.spec.behavior.expect("the behaviour stays");
        for rules in [behavior.scale_up, behavior.scale_down] {
            assert_eq!(
                rules.expect("the rules stay").tolerance.is_some(),
                kept,
                "{spec}"
            );
        }
    }
}

#[test]
fn the_answer_holds_declarative_errors_last_and_each_text_once() {
    let spec = json!({"minReplicas": -1, "maxReplicas": 0, "metrics": [{"type": "x"}]});
    let new = sound(1, &spec);
    let types =
        "supported values: \"ContainerResource\", \"External\", \"Object\", \"Pods\", \"Resource\"";
    assert_eq!(
        texts(&check_create(&new, Gates::default())),
        [
            format!("spec.metrics[0].type: Unsupported value: \"x\": {types}"),
            "spec.minReplicas: Invalid value: -1: must be greater than or equal to 0".to_owned(),
            "spec.maxReplicas: Required value".to_owned(),
        ]
    );
}

#[test]
fn what_an_update_leaves_alone_keeps_its_hand_written_error() {
    let old = sound(1, &json!({"maxReplicas": 0}));
    let unchanged = "spec.maxReplicas: Required value: must be set and greater than 0";
    let relation =
        "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`";
    assert_eq!(
        texts(&check_update(&old, &old, Gates::default())),
        [unchanged, relation]
    );
    let new = sound(1, &json!({"maxReplicas": -1}));
    assert_eq!(
        texts(&check_update(&new, &old, Gates::default())),
        [
            "spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`",
            "spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1",
        ]
    );
}

#[test]
fn zero_stays_allowed_for_an_object_that_has_it() {
    let off = Gates {
        scale_to_zero: false,
        ..Gates::default()
    };
    let external = json!({"type": "External", "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}}});
    let zero = sound(1, &json!({"minReplicas": 0, "metrics": [external]}));
    assert_eq!(texts(&check_update(&zero, &zero, off)), [""; 0]);
    let refused = "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1";
    assert_eq!(texts(&check_create(&zero, off)), [refused]);
    let one = sound(1, &json!({}));
    assert_eq!(texts(&check_update(&zero, &one, off)), [refused]);
}

#[test]
fn a_bad_version_that_was_there_may_stay() {
    let bad = sound(
        1,
        &json!({"scaleTargetRef": {"kind": "K", "name": "a", "apiVersion": "v1"}}),
    );
    let moved = sound(
        1,
        &json!({"scaleTargetRef": {"kind": "K", "name": "b", "apiVersion": "v1"}}),
    );
    let other = sound(
        1,
        &json!({"scaleTargetRef": {"kind": "L", "name": "a", "apiVersion": "v1"}}),
    );
    assert_eq!(
        texts(&check_update(&moved, &bad, Gates::default())),
        [""; 0]
    );
    let refused =
        "spec.scaleTargetRef.apiVersion: Invalid value: \"v1\": apiVersion must specify API group";
    assert_eq!(
        texts(&check_update(&other, &bad, Gates::default())),
        [refused]
    );
    let core = sound(
        1,
        &json!({"scaleTargetRef": {"kind": "ReplicationController", "name": "a"}}),
    );
    assert_eq!(texts(&check_create(&core, Gates::default())), [""; 0]);
}

#[test]
fn updates_check_what_every_kind_must_obey_first() {
    let old = sound(1, &json!({}));
    let mut new = sound(1, &json!({}));
    new.metadata.name = "a/b".to_owned();
    new.metadata.resource_version = String::new();
    new.status.current_replicas = -1;
    let expected = [
        "metadata.name: Invalid value: \"a/b\": may not contain '/'",
        "metadata.resourceVersion: Invalid value: \"\": must be specified for an update",
        "metadata.name: Invalid value: \"a/b\": field is immutable",
    ];
    assert_eq!(texts(&check_update(&new, &old, Gates::default())), expected);
    let status = check_status_update(&new, &old);
    assert_eq!(texts(&status)[..3], expected);
    assert_eq!(status[3].field, "status.currentReplicas");
}
