//! `defaults`: what the API server fills in, and the annotations of other versions it takes away.

use flyball_api::autoscaling::annotations;
use flyball_api::autoscaling::v2::{HorizontalPodAutoscaler, HpaScalingRules};
use flyball_api::defaults;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::List;
use super::manifest::of_spec;
use crate::report::{Verdict, checked};
use crate::vectors::Outcome;

pub(super) const LISTS: &[List] = &[
    List {
        key: "objectCases",
        check: check_object,
    },
    List {
        key: "ruleCases",
        check: check_rules,
    },
    List {
        key: "annotationCases",
        check: check_annotations,
    },
];

#[derive(Deserialize)]
struct ObjectCase {
    spec: Value,
    expected: Value,
}

fn check_object(_: &Value, case: &Value) -> Outcome {
    if case["version"] != "v2" {
        return Outcome::Skipped("autoscaling/v1 is not served yet");
    }
    checked(case, |case: ObjectCase| match of_spec(&case.spec) {
        Err(error) => Verdict::unreadable(error),
        Ok(mut object) => {
            defaults::apply(&mut object);
            Verdict::equal(&case.expected, &listed(&json!(object.spec), &case.expected))
        }
    })
    .into()
}

#[derive(Deserialize)]
struct RuleCase {
    direction: String,
    rules: Option<HpaScalingRules>,
    expected: Value,
}

fn check_rules(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: RuleCase| {
        let filled = match case.direction.as_str() {
            "up" => defaults::scale_up_rules(case.rules),
            _ => defaults::scale_down_rules(case.rules),
        };
        let mut actual = json!(filled);
        // An empty list is left out on the wire, and here it is what was asked for.
        actual["policies"] = json!(filled.policies);
        Verdict::equal(&case.expected, &listed(&actual, &case.expected))
    })
    .into()
}

/// The fields of `value` that `expected` lists, at every depth; an absent one is null.
fn listed(value: &Value, expected: &Value) -> Value {
    match expected {
        Value::Object(fields) => {
            let field =
                |(key, expected): (&String, &Value)| (key.clone(), listed(&value[key], expected));
            Value::Object(fields.iter().map(field).collect::<Map<_, _>>())
        }
        _ => value.clone(),
    }
}

#[derive(Deserialize)]
struct AnnotationCase {
    annotations: Value,
    expected: AnnotationExpected,
}

#[derive(Deserialize)]
struct AnnotationExpected {
    annotations: Value,
}

fn check_annotations(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: AnnotationCase| {
        let metadata = json!({"metadata": {"annotations": case.annotations}});
        match HorizontalPodAutoscaler::deserialize(metadata) {
            Err(error) => Verdict::unreadable(error),
            Ok(mut object) => {
                annotations::drop_round_trip(&mut object.metadata);
                Verdict::equal(
                    &case.expected.annotations,
                    &json!(object.metadata.annotations),
                )
            }
        }
    })
    .into()
}
