//! `strategy`: what the API server does to an object between request and storage.

use flyball_api::Quantity;
use flyball_api::autoscaling::v2::{HorizontalPodAutoscaler, HpaScalingRules};
use flyball_api::strategy::{
    Gates, prepare_create, prepare_status_update, prepare_update, validation_options,
};
use flyball_api::validation::Options;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::List;
use super::manifest::{GateCase, of_spec, written};
use crate::report::{Verdict, checked};
use crate::vectors::Outcome;

pub(super) const LISTS: &[List] = &[
    List {
        key: "dropDisabledFieldsCases",
        check: check_dropped,
    },
    List {
        key: "validationOptionsCases",
        check: check_options,
    },
    List {
        key: "minReplicasLowerBoundCases",
        check: check_lower_bound,
    },
    List {
        key: "specStatusSeparationCases",
        check: check_separation,
    },
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DroppedCase {
    #[serde(default)]
    feature_gates: GateCase,
    manifest: HorizontalPodAutoscaler,
    old_manifest: Option<HorizontalPodAutoscaler>,
    expected: Map<String, Value>,
}

fn check_dropped(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: DroppedCase| {
        let mut object = case.manifest;
        let gates = case.feature_gates.gates();
        match &case.old_manifest {
            Some(old) => prepare_update(&mut object, old, gates),
            None => prepare_create(&mut object, gates),
        }
        let behavior = object.spec.behavior.unwrap_or_default();
        let mut actual = Map::new();
        for key in case.expected.keys() {
            let rules = if key == "scaleUpTolerance" {
                &behavior.scale_up
            } else {
                &behavior.scale_down
            };
            actual.insert(key.clone(), tolerance(rules.as_ref()));
        }
        let canonical = |value: &Value| match value.as_str().map(Quantity::parse) {
            Some(Ok(quantity)) => json!(quantity.to_string()),
            _ => value.clone(),
        };
        let expected: Map<_, _> = case
            .expected
            .iter()
            .map(|(key, value)| (key.clone(), canonical(value)))
            .collect();
        Verdict::equal(&json!(expected), &json!(actual))
    })
    .into()
}

/// The canonical text of a tolerance. Quantities are equal by value; one that was read keeps its text.
fn tolerance(rules: Option<&HpaScalingRules>) -> Value {
    let tolerance = rules.and_then(|rules| rules.tolerance.as_ref());
    json!(tolerance.map(|quantity| {
        Quantity::from_milli(quantity.milli_value(), quantity.format()).to_string()
    }))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OptionsCase {
    #[serde(default)]
    feature_gates: GateCase,
    spec: Value,
    old_spec: Option<Value>,
    expected: Value,
}

impl OptionsCase {
    fn options(&self) -> serde_json::Result<Options> {
        let old = self.old_spec.as_ref().map(of_spec).transpose()?;
        Ok(validation_options(
            &of_spec(&self.spec)?,
            old.as_ref(),
            self.feature_gates.gates(),
        ))
    }
}

fn check_options(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: OptionsCase| match case.options() {
        Ok(options) => Verdict::equal(&case.expected, &written(options)),
        Err(error) => Verdict::unreadable(error),
    })
    .into()
}

fn check_lower_bound(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: OptionsCase| match case.options() {
        Ok(options) => {
            let bound = options.min_replicas_lower_bound;
            Verdict::equal(&case.expected, &json!({"minReplicasLowerBound": bound}))
        }
        Err(error) => Verdict::unreadable(error),
    })
    .into()
}

#[derive(Deserialize)]
struct SeparationCase {
    operation: String,
    expected: Value,
}

/// The old object is the one with ones in both halves, the new one that with twos.
fn check_separation(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: SeparationCase| {
        let object = |count: i32| {
            let mut object = HorizontalPodAutoscaler::default();
            object.spec.max_replicas = count;
            object.status.desired_replicas = count;
            object
        };
        let (old, mut new) = (object(1), object(2));
        match case.operation.as_str() {
            "create" => prepare_create(&mut new, Gates::default()),
            "update" => prepare_update(&mut new, &old, Gates::default()),
            _ => prepare_status_update(&mut new, &old),
        }
        let origin = |count: i32| match count {
            0 => "empty",
            1 => "old",
            _ => "new",
        };
        let actual = json!({
            "specFrom": origin(new.spec.max_replicas),
            "statusFrom": origin(new.status.desired_replicas),
        });
        Verdict::equal(&case.expected, &actual)
    })
    .into()
}
