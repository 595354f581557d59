//! Jobs. Source: printers/internalversion `printJob`.

use flyball_api::duration;
use flyball_clock::UnixMs;
use serde_json::Value;

use super::builtin::name;
use super::column::Column;
use super::{age, list, number, text, workload};
use crate::schema::Gvk;
use crate::time;

const JOB: Gvk<'static> = Gvk::new("batch", "v1", "Job");

pub(super) static COLUMNS: [Column; 8] = [
    Column::NAME,
    Column::text("Status").meaning("Status of the job."),
    Column::text("Completions").field(JOB, &["status", "succeeded"]),
    Column::text("Duration").meaning("Time required to complete the job."),
    Column::AGE,
    Column::CONTAINERS,
    Column::IMAGES,
    Column::text("Selector")
        .field(JOB, &["spec", "selector"])
        .wide(),
];

pub(super) fn cells(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let [names, images] = workload::containers(&object["spec"]["template"]);
    vec![
        name(object),
        status(object).into(),
        completions(object).into(),
        duration(object, now_ms).into(),
        age::of(object, now_ms),
        names,
        images,
        workload::selector(object)
            .unwrap_or_else(|| "<invalid>".into())
            .into(),
    ]
}

fn status(object: &Value) -> &'static str {
    let has = |kind: &str| {
        list(object, &["status", "conditions"])
            .iter()
            .any(|one| text(one, &["type"]) == kind && text(one, &["status"]) == "True")
    };
    if has("Complete") {
        "Complete"
    } else if has("Failed") {
        "Failed"
    } else if !text(object, &["metadata", "deletionTimestamp"]).is_empty() {
        "Terminating"
    } else if has("Suspended") {
        "Suspended"
    } else if has("FailureTarget") {
        "FailureTarget"
    } else if has("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

fn completions(object: &Value) -> String {
    let done = number(object, &["status", "succeeded"]);
    if let Some(wanted) = object["spec"]["completions"].as_i64() {
        return format!("{done}/{wanted}");
    }
    match number(object, &["spec", "parallelism"]) {
        parallel if parallel > 1 => format!("{done}/1 of {parallel}"),
        _ => format!("{done}/1"),
    }
}

fn duration(object: &Value, now_ms: UnixMs) -> String {
    let instant = |field: &str| time::parse(text(object, &["status", field]));
    match (instant("startTime"), instant("completionTime")) {
        (None, _) => String::new(),
        (Some(start), end) => duration::human(end.unwrap_or(now_ms).saturating_sub(start)),
    }
}
