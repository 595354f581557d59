//! Compares the stored form of every autoscaler in the recorded timelines with what defaulting and preparation make of its
//! manifest. `fixtures/oracle` says what the lines hold.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use flyball_api::autoscaling::v2::HorizontalPodAutoscaler;
use flyball_api::defaults;
use flyball_api::field::FieldError;
use flyball_api::strategy::{Gates, check_create, check_update, prepare_create, prepare_update};
use serde_json::{Value, json};

fn gates(scenario: &Value) -> Gates {
    let gate = |name: &str| scenario["gates"][name].as_bool().unwrap_or(true);
    Gates {
        scale_to_zero: gate("HPAScaleToZero"),
        configurable_tolerance: gate("HPAConfigurableTolerance"),
        generation: gate("HPAGeneration"),
    }
}

/// The spec that a user wrote for this entry; null if the step gives none.
fn written(scenario: &Value, step: u64, autoscaler: u64) -> &Value {
    match (step, autoscaler) {
        (0, 0) => &scenario["spec"],
        (0, other) => &scenario["others"][other as usize - 1]["spec"],
        _ => &scenario["steps"][step as usize]["spec"],
    }
}

/// Stores each form of one scenario in turn; answers the names of entries that came out otherwise, and the count of all.
fn replay(line: &Value) -> (Vec<String>, usize) {
    let scenario = &line["sc"];
    let gates = gates(scenario);
    let mut stored: BTreeMap<u64, HorizontalPodAutoscaler> = BTreeMap::new();
    let mut differences = Vec::new();
    let entries = line["out"]["def"]
        .as_array()
        .expect("a line lists the stored forms");
    for entry in entries {
        let step = entry["k"].as_u64().unwrap_or_default();
        let autoscaler = entry["h"].as_u64().unwrap_or_default();
        let old = stored.get(&autoscaler);
        let spec = match (written(scenario, step, autoscaler), old) {
            (Value::Null, Some(old)) => json!(old.spec),
            (spec, _) => spec.clone(),
        };
        let metadata = json!({"name": "web", "namespace": "default", "resourceVersion": "1"});
        let mut new: HorizontalPodAutoscaler =
            serde_json::from_value(json!({"metadata": metadata, "spec": spec}))
                .expect("well typed");
        if scenario["raw"] != true {
            defaults::apply(&mut new);
        }
        let is_new = step == 0 || scenario["steps"][step as usize]["create"] == true;
        let problems = if let Some(old) = old.filter(|_| !is_new) {
            prepare_update(&mut new, old, gates);
            check_update(&new, old, gates)
        } else {
            prepare_create(&mut new, gates);
            check_create(&new, gates)
        };
        let problems: Vec<String> = problems.iter().map(FieldError::to_string).collect();
        let invalid: Vec<String> =
            serde_json::from_value(entry.get("invalid").cloned().unwrap_or_else(|| json!([])))
                .expect("problems are texts");
        let generation = entry["gen"].as_i64().unwrap_or_default();
        let same = json!(new.spec) == entry["spec"]
            && new.metadata.generation == generation
            && (scenario["raw"] == true || problems == invalid);
        if !same {
            differences.push(format!(
                "{} step {step}: {problems:?} {}",
                scenario["name"],
                json!(new)
            ));
        }
        stored.insert(autoscaler, new);
    }
    (differences, entries.len())
}

#[test]
fn stored_forms_are_those_of_the_genuine_server() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/oracle");
    let mut differences = Vec::new();
    let mut count = 0;
    for file in fs::read_dir(&folder).expect("the timelines are there") {
        let path = file.expect("the folder can be read").path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        for line in fs::read_to_string(&path)
            .expect("a file of timelines")
            .lines()
        {
            let (found, entries) = replay(&serde_json::from_str(line).expect("a line is JSON"));
            differences.extend(found);
            count += entries;
        }
    }
    assert!(
        count > 0,
        "there are no stored forms in {}",
        folder.display()
    );
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
