//! HorizontalPodAutoscalers in their `autoscaling/v2` form.

use flyball_clock::UnixMs;
use serde_json::Value;

use super::builtin::name;
use super::column::Column;
use super::{age, list, number, text};
use crate::schema::Gvk;

const AUTOSCALER: Gvk<'static> = Gvk::new("autoscaling", "v2", "HorizontalPodAutoscaler");

pub(super) static COLUMNS: [Column; 7] = [
    Column::NAME,
    Column::text("Reference").field(AUTOSCALER, &["spec", "scaleTargetRef"]),
    Column::text("Targets").field(AUTOSCALER, &["spec", "metrics"]),
    Column::text("MinPods").field(AUTOSCALER, &["spec", "minReplicas"]),
    Column::text("MaxPods").field(AUTOSCALER, &["spec", "maxReplicas"]),
    Column::text("Replicas").field(AUTOSCALER, &["status", "currentReplicas"]),
    Column::AGE,
];

/// Metrics whose figures are shown; the others are counted.
const SHOWN_MAX: usize = 2;
const UNKNOWN: &str = "<unknown>";

pub(super) fn cells(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let target = &object["spec"]["scaleTargetRef"];
    let reference = format!("{}/{}", text(target, &["kind"]), text(target, &["name"]));
    let min = object["spec"]["minReplicas"].as_i64();
    let min = min.map_or_else(|| "<unset>".into(), |min| min.to_string());
    vec![
        name(object),
        reference.into(),
        targets(object).into(),
        min.into(),
        number(object, &["spec", "maxReplicas"]).into(),
        number(object, &["status", "currentReplicas"]).into(),
        age::of(object, now_ms),
    ]
}

/// Upstream: `formatHPAMetrics`.
fn targets(object: &Value) -> String {
    let metrics = list(object, &["spec", "metrics"]);
    let statuses = list(object, &["status", "currentMetrics"]);
    if metrics.is_empty() {
        return "<none>".into();
    }
    let pieces = metrics.iter().enumerate();
    let pieces = pieces.map(|(index, metric)| piece(metric, statuses.get(index)));
    let shown: Vec<String> = pieces.take(SHOWN_MAX).collect();
    let shown = shown.join(", ");
    match metrics.len().saturating_sub(SHOWN_MAX) {
        0 => shown,
        more => format!("{shown} + {more} more..."),
    }
}

fn piece(metric: &Value, status: Option<&Value>) -> String {
    let source = match text(metric, &["type"]) {
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        "Pods" => "pods",
        "Object" => "object",
        "External" => "external",
        _ => return "<unknown type>".into(),
    };
    let status = status.map(|status| &status[source]);
    let current = status
        .filter(|one| one.is_object())
        .map(|one| &one["current"]);
    let metric = &metric[source];
    let target = &metric["target"];
    let average = target["averageValue"].is_string();
    match source {
        "pods" => format!(
            "{}/{}",
            shown(current, "averageValue"),
            quantity(target, "averageValue")
        ),
        "object" | "external" if average => {
            let current = current.filter(|one| one["averageValue"].is_string());
            let target = quantity(target, "averageValue");
            format!("{}/{target} (avg)", shown(current, "averageValue"))
        }
        "object" | "external" => {
            format!("{}/{}", shown(current, "value"), quantity(target, "value"))
        }
        _ => {
            let figures = if average {
                let target = quantity(target, "averageValue");
                format!("{}/{target}", shown(current, "averageValue"))
            } else {
                utilization(current, target)
            };
            format!("{}: {figures}", text(metric, &["name"]))
        }
    }
}

fn utilization(current: Option<&Value>, target: &Value) -> String {
    let percent = |value: &Value| {
        value["averageUtilization"]
            .as_i64()
            .map(|p| format!("{p}%"))
    };
    let current = current.and_then(percent).unwrap_or_else(|| UNKNOWN.into());
    let target = percent(target).unwrap_or_else(|| "<auto>".into());
    format!("{current}/{target}")
}

fn shown<'a>(current: Option<&'a Value>, field: &str) -> &'a str {
    current.map_or(UNKNOWN, |current| quantity(current, field))
}

/// A quantity's text; a nil one prints as Go prints a nil pointer.
fn quantity<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or("<nil>")
}
