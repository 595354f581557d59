//! One line of a table for an autoscaler, as `kubectl get hpa` shows it. Not the table around it.
//!
//! Upstream: kubernetes v1.37.2 pkg/printers/internalversion/printers.go `printHorizontalPodAutoscaler`, `formatHPAMetrics`.

use serde_json::Value;

use crate::autoscaling::v2::{
    HorizontalPodAutoscaler, MetricSpec, MetricStatus, MetricTarget, MetricValueStatus,
};
use crate::duration;
use crate::quantity::Quantity;
use crate::time::Time;

/// Metrics that are shown before the rest is counted.
const METRICS_MAX: usize = 2;

/// The cells of one autoscaler at the instant `now`, in upstream's order: name, reference, targets, least and most pods,
/// replicas, age. `MaxPods` and `Replicas` are numbers, the others texts.
pub fn cells(hpa: &HorizontalPodAutoscaler, now: Time) -> Vec<Value> {
    let (spec, target) = (&hpa.spec, &hpa.spec.scale_target_ref);
    let min_pods = spec
        .min_replicas
        .map_or_else(|| "<unset>".to_owned(), |min| min.to_string());
    let age = hpa.metadata.creation_timestamp.map_or_else(
        || "<unknown>".to_owned(),
        |created| duration::human(now.millis() - created.millis()),
    );
    vec![
        hpa.metadata.name.as_str().into(),
        format!("{}/{}", target.kind, target.name).into(),
        targets(&spec.metrics, &hpa.status.current_metrics).into(),
        min_pods.into(),
        spec.max_replicas.into(),
        hpa.status.current_replicas.into(),
        age.into(),
    ]
}

/// Readings over targets: `cpu: 50%/80%, 100m/200m + 2 more...`.
///
/// Note: a reading counts only if the status holds the same source at the same index.
fn targets(metrics: &[MetricSpec], readings: &[MetricStatus]) -> String {
    if metrics.is_empty() {
        return "<none>".to_owned();
    }
    let shown = metrics.iter().take(METRICS_MAX).enumerate();
    let pieces: Vec<String> = shown
        .map(|(i, metric)| piece(metric, readings.get(i)))
        .collect();
    let more = match metrics.len().saturating_sub(METRICS_MAX) {
        0 => String::new(),
        count => format!(" + {count} more..."),
    };
    pieces.join(", ") + &more
}

/// One metric. A source that is missing behind a known type, which an API server does not store, reads as an unknown type.
fn piece(metric: &MetricSpec, reading: Option<&MetricStatus>) -> String {
    let shown = match metric.r#type.as_str() {
        "External" => metric.external.as_ref().map(|source| {
            let current = reading
                .and_then(|r| r.external.as_ref())
                .map(|r| &r.current);
            value(&source.target, current)
        }),
        "Object" => metric.object.as_ref().map(|source| {
            let current = reading.and_then(|r| r.object.as_ref()).map(|r| &r.current);
            value(&source.target, current)
        }),
        "Pods" => metric.pods.as_ref().map(|source| {
            let current = reading.and_then(|r| r.pods.as_ref()).map(|r| &r.current);
            average(&source.target, current)
        }),
        "Resource" => metric.resource.as_ref().map(|source| {
            let current = reading
                .and_then(|r| r.resource.as_ref())
                .map(|r| &r.current);
            format!("{}: {}", source.name, resource(&source.target, current))
        }),
        "ContainerResource" => metric.container_resource.as_ref().map(|source| {
            let current = reading
                .and_then(|r| r.container_resource.as_ref())
                .map(|r| &r.current);
            format!("{}: {}", source.name, resource(&source.target, current))
        }),
        _ => None,
    };
    shown.unwrap_or_else(|| "<unknown type>".to_owned())
}

fn value(target: &MetricTarget, current: Option<&MetricValueStatus>) -> String {
    if let Some(wanted) = &target.average_value {
        let current = current.and_then(|current| current.average_value.as_ref());
        return format!(
            "{}/{wanted} (avg)",
            current.map_or_else(unknown, Quantity::to_string)
        );
    }
    let current = current.map_or_else(unknown, |current| text(current.value.as_ref()));
    format!("{current}/{}", text(target.value.as_ref()))
}

fn average(target: &MetricTarget, current: Option<&MetricValueStatus>) -> String {
    let current = current.map_or_else(unknown, |current| text(current.average_value.as_ref()));
    format!("{current}/{}", text(target.average_value.as_ref()))
}

fn resource(target: &MetricTarget, current: Option<&MetricValueStatus>) -> String {
    if target.average_value.is_some() {
        return average(target, current);
    }
    let percent = |percent: i32| format!("{percent}%");
    let current = current.and_then(|current| current.average_utilization);
    let wanted = target
        .average_utilization
        .map_or_else(|| "<auto>".to_owned(), percent);
    format!("{}/{wanted}", current.map_or_else(unknown, percent))
}

fn unknown() -> String {
    "<unknown>".to_owned()
}

/// A quantity behind a pointer, as Go prints it.
fn text(quantity: Option<&Quantity>) -> String {
    quantity.map_or_else(|| "<nil>".to_owned(), Quantity::to_string)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(metrics: &Value, readings: &Value, text: &str) {
        let metrics: Vec<MetricSpec> = serde_json::from_value(metrics.clone()).expect("well typed");
        let readings: Vec<MetricStatus> =
            serde_json::from_value(readings.clone()).expect("well typed");
        assert_eq!(targets(&metrics, &readings), text);
    }

    #[test]
    fn resources_show_percentages_or_amounts() {
        let cpu = json!({"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}});
        let bare = json!({"type": "Resource", "resource": {"name": "cpu", "target": {}}});
        let memory = json!({"type": "ContainerResource", "containerResource": {"name": "memory", "target": {"averageValue": "100Mi"}}});
        let used = json!({"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 50, "averageValue": "1"}}});
        let held = json!({"type": "ContainerResource", "containerResource": {"name": "memory", "current": {"averageValue": "104Mi"}}});
        check(&json!([]), &json!([used]), "<none>");
        check(
            &json!([cpu, memory]),
            &json!([used, held]),
            "cpu: 50%/80%, memory: 104Mi/100Mi",
        );
        check(
            &json!([cpu, memory]),
            &json!([held, used]),
            "cpu: <unknown>/80%, memory: <unknown>/100Mi",
        );
        check(&json!([bare]), &json!([]), "cpu: <unknown>/<auto>");
        check(
            &json!([memory]),
            &json!([{"containerResource": {}}]),
            "memory: <nil>/100Mi",
        );
    }

    #[test]
    fn other_metrics_show_quantities() {
        let pods = json!({"type": "Pods", "pods": {"target": {"averageValue": "200m"}}});
        let object = json!({"type": "Object", "object": {"target": {"value": "10"}}});
        let external = json!({"type": "External", "external": {"target": {"averageValue": "10"}}});
        let current = json!({"value": "1", "averageValue": "12500m"});
        check(
            &json!([pods]),
            &json!([{"pods": {"current": current}}]),
            "12500m/200m",
        );
        check(
            &json!([object]),
            &json!([{"object": {"current": current}}]),
            "1/10",
        );
        check(&json!([object]), &json!([{"object": {}}]), "<nil>/10");
        check(
            &json!([external]),
            &json!([{"external": {"current": current}}]),
            "12500m/10 (avg)",
        );
        check(
            &json!([external]),
            &json!([{"external": {}}]),
            "<unknown>/10 (avg)",
        );
        check(
            &json!([{"type": "x"}, {"type": "Pods"}]),
            &json!([]),
            "<unknown type>, <unknown type>",
        );
        check(
            &json!([pods, object, external]),
            &json!([]),
            "<unknown>/200m, <unknown>/10 + 1 more...",
        );
    }

    #[test]
    fn a_line_has_a_cell_for_each_column() {
        let mut hpa: HorizontalPodAutoscaler = serde_json::from_value(json!({
            "metadata": {"name": "web"},
            "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "app"}, "maxReplicas": 10},
            "status": {"currentReplicas": 3},
        }))
        .expect("a well-typed autoscaler");
        let now = Time::from_millis(90_000);
        let line = json!([
            "web",
            "Deployment/app",
            "<none>",
            "<unset>",
            10,
            3,
            "<unknown>"
        ]);
        assert_eq!(json!(cells(&hpa, now)), line);
        hpa.spec.min_replicas = Some(0);
        hpa.metadata.creation_timestamp = Some(Time::from_millis(0));
        let line = json!(["web", "Deployment/app", "<none>", "0", 10, 3, "90s"]);
        assert_eq!(json!(cells(&hpa, now)), line);
    }
}
