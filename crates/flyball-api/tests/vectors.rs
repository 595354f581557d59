//! Puts the shared vectors for quantities, defaults, validation and strategy to the public API.
//! The cases are data: neither their names nor their order matter, and every failing one is told.

use std::fs;
use std::path::Path;

use flyball_api::Quantity;
use flyball_api::autoscaling::annotations;
use flyball_api::autoscaling::v2::{HorizontalPodAutoscaler, HpaScalingRules};
use flyball_api::defaults;
use flyball_api::field::{FieldError, FieldErrorKind};
use flyball_api::strategy::{
    Gates, prepare_create, prepare_status_update, prepare_update, validation_options,
};
use flyball_api::validation::{
    Options, ReferenceOptions, validate_create, validate_scale, validate_update,
};
use serde_json::{Value, json};

/// Runs `check` on each case of a list; an error is what is wrong with the case.
fn run(file: &str, list: &str, check: impl Fn(&Value, &Value) -> Result<(), String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/vectors")
        .join(file);
    let text = fs::read_to_string(&path).expect("the vectors are there");
    let suite: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    let cases = suite[list].as_array().expect("the list of cases is there");
    assert!(!cases.is_empty(), "{file} {list} has no cases");
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let label = case.get("name").or_else(|| case.get("input"));
            check(&suite, case)
                .err()
                .map(|why| format!("{label:?}: {why}"))
        })
        .collect();
    assert!(
        failures.is_empty(),
        "{file} {list}:\n{}",
        failures.join("\n")
    );
}

fn same<T: PartialEq + std::fmt::Debug>(seen: &T, expected: &T) -> Result<(), String> {
    if seen == expected {
        return Ok(());
    }
    Err(format!("expected {expected:?}, seen {seen:?}"))
}

fn read<T: serde::de::DeserializeOwned>(json: &Value) -> T {
    serde_json::from_value(json.clone()).expect("the manifest of a case is well typed")
}

fn of_spec(spec: &Value) -> HorizontalPodAutoscaler {
    read(&json!({"spec": spec}))
}

fn gates(case: &Value) -> Gates {
    let gate = |name: &str, default| case["featureGates"][name].as_bool().unwrap_or(default);
    let usual = Gates::default();
    Gates {
        scale_to_zero: gate("HPAScaleToZero", usual.scale_to_zero),
        configurable_tolerance: gate("HPAConfigurableTolerance", usual.configurable_tolerance),
        generation: gate("HPAGeneration", usual.generation),
    }
}

#[test]
fn quantities() {
    run("quantity.json", "cases", |_, case| {
        let text = case["input"].as_str().expect("a case has an input");
        let seen = Quantity::parse(text);
        if case["error"] == true {
            return seen.map_or(Ok(()), |q| Err(format!("expected an error, seen {q}")));
        }
        let q = seen.map_err(|error| error.to_string())?;
        let seen = json!({
            "string": q.to_string(),
            "milliValue": q.milli_value(),
            "value": q.value(),
            "format": q.format().name(),
        });
        let expected = |field: &str| (field.to_owned(), case[field].clone());
        let fields = ["string", "milliValue", "value", "format"];
        same(&seen, &fields.map(expected).into_iter().collect())
    });
}

/// Whether `seen` holds every field of `expected`; a null stands for an absent field.
fn holds(seen: &Value, expected: &Value) -> Result<(), String> {
    let Value::Object(fields) = expected else {
        return same(seen, expected);
    };
    let each = fields.iter().map(|(field, expected)| {
        holds(&seen[field], expected).map_err(|why| format!("{field}: {why}"))
    });
    each.collect()
}

#[test]
fn defaults_of_objects() {
    run("defaults.json", "objectCases", |_, case| {
        if case["version"] != "v2" {
            return Ok(());
        }
        let mut hpa = of_spec(&case["spec"]);
        defaults::apply(&mut hpa);
        holds(&json!(hpa.spec), &case["expected"])
    });
}

#[test]
fn defaults_of_rules() {
    run("defaults.json", "ruleCases", |_, case| {
        let given: Option<HpaScalingRules> = read(&case["rules"]);
        let filled = match case["direction"].as_str() {
            Some("up") => defaults::scale_up_rules(given),
            _ => defaults::scale_down_rules(given),
        };
        let mut seen = json!(filled);
        // An empty list is left out on the wire, and here it is what was asked for.
        seen["policies"] = json!(filled.policies);
        holds(&seen, &case["expected"])
    });
}

#[test]
fn annotations_of_other_versions_do_not_survive() {
    run("defaults.json", "annotationCases", |_, case| {
        let mut hpa: HorizontalPodAutoscaler =
            read(&json!({"metadata": {"annotations": case["annotations"]}}));
        annotations::drop_round_trip(&mut hpa.metadata);
        same(
            &json!(hpa.metadata.annotations),
            &case["expected"]["annotations"],
        )
    });
}

fn reference_options(json: &Value) -> ReferenceOptions {
    ReferenceOptions {
        allow_invalid_api_version: json["allowInvalidAPIVersion"] == true,
        allow_empty_api_group: json["allowEmptyAPIGroup"] == true,
    }
}

fn options(json: &Value) -> Options {
    let bound = json["minReplicasLowerBound"]
        .as_i64()
        .expect("the options name a bound");
    Options {
        min_replicas_lower_bound: bound as i32,
        scale_target_ref: reference_options(&json["scaleTargetRef"]),
        object_metrics: reference_options(&json["objectMetrics"]),
    }
}

fn kind(error: &FieldError) -> &'static str {
    match error.kind {
        FieldErrorKind::Required => "Required",
        FieldErrorKind::Invalid => "Invalid",
        FieldErrorKind::NotSupported => "NotSupported",
        FieldErrorKind::Forbidden => "Forbidden",
        other => other.words(),
    }
}

fn same_errors(seen: &[FieldError], expected: &Value) -> Result<(), String> {
    let seen = seen
        .iter()
        .map(|error| json!({"field": error.field, "type": kind(error)}))
        .collect();
    let expected = if expected["accept"] == true {
        json!([])
    } else {
        expected["errors"].clone()
    };
    same(&seen, &expected)
}

#[test]
fn validation() {
    run("validation.json", "cases", |suite, case| {
        let options = options(
            case.get("options")
                .unwrap_or_else(|| &suite["defaultOptions"]),
        );
        let new: HorizontalPodAutoscaler = read(&case["manifest"]);
        let old: Option<HorizontalPodAutoscaler> = read(&case["oldManifest"]);
        let errors = match &old {
            Some(old) => validate_update(&new, old, &options),
            None => validate_create(&new, &options),
        };
        same_errors(&errors, &case["expected"])
    });
}

#[test]
fn validation_of_scales() {
    run("validation.json", "scaleCases", |_, case| {
        same_errors(&validate_scale(&read(&case["manifest"])), &case["expected"])
    });
}

#[test]
fn disabled_fields_are_dropped() {
    run("strategy.json", "dropDisabledFieldsCases", |_, case| {
        let mut new: HorizontalPodAutoscaler = read(&case["manifest"]);
        match read::<Option<HorizontalPodAutoscaler>>(&case["oldManifest"]) {
            Some(old) => prepare_update(&mut new, &old, gates(case)),
            None => prepare_create(&mut new, gates(case)),
        }
        let behavior = new.spec.behavior.unwrap_or_default();
        let tolerance = |rules: Option<HpaScalingRules>| json!(rules.unwrap_or_default().tolerance);
        let seen = json!({
            "scaleUpTolerance": tolerance(behavior.scale_up),
            "scaleDownTolerance": tolerance(behavior.scale_down),
        });
        for (direction, expected) in case["expected"].as_object().into_iter().flatten() {
            let quantity = |json: &Value| read::<Option<Quantity>>(json);
            same(&quantity(&seen[direction]), &quantity(expected))?;
        }
        Ok(())
    });
}

#[test]
fn validation_options_follow_gates_and_old_objects() {
    run("strategy.json", "validationOptionsCases", |_, case| {
        let old = (!case["oldSpec"].is_null()).then(|| of_spec(&case["oldSpec"]));
        let seen = validation_options(&of_spec(&case["spec"]), old.as_ref(), gates(case));
        same(&seen, &options(&case["expected"]))
    });
}

#[test]
fn the_lower_bound_follows_gates_and_old_objects() {
    run("strategy.json", "minReplicasLowerBoundCases", |_, case| {
        let old = (!case["oldSpec"].is_null()).then(|| of_spec(&case["oldSpec"]));
        let seen = validation_options(&of_spec(&case["spec"]), old.as_ref(), gates(case));
        same(
            &json!(seen.min_replicas_lower_bound),
            &case["expected"]["minReplicasLowerBound"],
        )
    });
}

#[test]
fn each_request_changes_its_half_of_the_object() {
    run("strategy.json", "specStatusSeparationCases", |_, case| {
        let object = |replicas: i32| -> HorizontalPodAutoscaler {
            read(
                &json!({"spec": {"maxReplicas": replicas}, "status": {"desiredReplicas": replicas}}),
            )
        };
        let (mut new, old) = (object(2), object(1));
        match case["operation"].as_str() {
            Some("create") => prepare_create(&mut new, Gates::default()),
            Some("update") => prepare_update(&mut new, &old, Gates::default()),
            _ => prepare_status_update(&mut new, &old),
        }
        let source = |count: i32| ["empty", "old", "new"][count as usize];
        let seen = json!({
            "specFrom": source(new.spec.max_replicas),
            "statusFrom": source(new.status.desired_replicas),
        });
        same(&seen, &case["expected"])
    });
}
