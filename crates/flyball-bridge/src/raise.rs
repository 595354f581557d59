//! A core outcome as the status to write. Texts and quantities are printed here, and nowhere before.

use flyball_api::Quantity;
use flyball_api::autoscaling::v2::{
    ContainerResourceMetricStatus, ExternalMetricStatus, HorizontalPodAutoscalerCondition,
    HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerStatus, MetricSpec, MetricStatus,
    MetricValueStatus, ObjectMetricStatus, PodsMetricStatus, ResourceMetricStatus,
};
use flyball_api::quantity::Format;
use flyball_api::time::Time;
use flyball_core::condition::Condition;
use flyball_core::outcome::{Metrics, Slot, Status};
use flyball_core::time::Instant;

/// The next status. Fields of the stored status that nobody here knows stay as they are.
/// Upstream: horizontal.go `setStatus`, 1.37.2.
pub fn status(
    next: &Status,
    spec: &HorizontalPodAutoscalerSpec,
    stored: &HorizontalPodAutoscalerStatus,
) -> HorizontalPodAutoscalerStatus {
    HorizontalPodAutoscalerStatus {
        observed_generation: next.observed_generation,
        last_scale_time: next.last_scale.map(time),
        current_replicas: next.current,
        desired_replicas: next.desired,
        current_metrics: match &next.metrics {
            Metrics::Kept => stored.current_metrics.clone(),
            Metrics::None => Vec::new(),
            Metrics::Slots(slots) => spec
                .metrics
                .iter()
                .zip(slots)
                .map(|(spec, slot)| metric(spec, *slot))
                .collect(),
        },
        conditions: next
            .conditions
            .iter()
            .map(|c| condition(c, stored))
            .collect(),
        rest: stored.rest.clone(),
    }
}

const fn time(instant: Instant) -> Time {
    Time::from_millis(instant.0)
}

fn condition(
    condition: &Condition,
    stored: &HorizontalPodAutoscalerStatus,
) -> HorizontalPodAutoscalerCondition {
    let old = stored
        .conditions
        .iter()
        .find(|c| c.r#type == condition.kind.name());
    HorizontalPodAutoscalerCondition {
        r#type: condition.kind.name().to_owned(),
        status: condition.state.name().to_owned(),
        last_transition_time: condition.since.map(time),
        reason: condition.reason.to_string(),
        message: condition.message.to_string(),
        observed_generation: old.and_then(|c| c.observed_generation),
        rest: old.map(|c| c.rest.clone()).unwrap_or_default(),
    }
}

/// The current figures of one metric; a failed one is a default value.
/// Upstream: horizontal.go `computeStatusFor*Metric`, 1.37.2.
pub fn metric(spec: &MetricSpec, slot: Slot) -> MetricStatus {
    if slot == Slot::Empty {
        return MetricStatus::default();
    }
    let current = current(slot, resource(spec));
    let mut status = MetricStatus {
        r#type: spec.r#type.clone(),
        ..MetricStatus::default()
    };
    match spec.r#type.as_str() {
        "Object" => {
            status.object = spec.object.as_ref().map(|source| ObjectMetricStatus {
                metric: source.metric.clone(),
                described_object: source.described_object.clone(),
                current,
                ..ObjectMetricStatus::default()
            });
        }
        "Pods" => {
            status.pods = spec.pods.as_ref().map(|source| PodsMetricStatus {
                metric: source.metric.clone(),
                current,
                ..PodsMetricStatus::default()
            });
        }
        "Resource" => {
            status.resource = spec.resource.as_ref().map(|source| ResourceMetricStatus {
                name: source.name.clone(),
                current,
                ..ResourceMetricStatus::default()
            });
        }
        "ContainerResource" => {
            status.container_resource =
                spec.container_resource
                    .as_ref()
                    .map(|source| ContainerResourceMetricStatus {
                        name: source.name.clone(),
                        container: source.container.clone(),
                        current,
                        ..ContainerResourceMetricStatus::default()
                    });
        }
        _ => {
            status.external = spec.external.as_ref().map(|source| ExternalMetricStatus {
                metric: source.metric.clone(),
                current,
                ..ExternalMetricStatus::default()
            });
        }
    }
    status
}

/// The resource a metric measures; empty for other sources.
fn resource(spec: &MetricSpec) -> &str {
    match (&spec.resource, &spec.container_resource) {
        (Some(whole), _) => &whole.name,
        (None, Some(container)) => &container.name,
        (None, None) => "",
    }
}

fn current(slot: Slot, resource: &str) -> MetricValueStatus {
    let mut current = MetricValueStatus::default();
    match slot {
        Slot::Empty => {}
        Slot::Utilization { percent, average } => {
            current.average_utilization = Some(percent);
            current.average_value = Some(quantity(average, resource));
        }
        Slot::Average(average) => current.average_value = Some(quantity(average, resource)),
        Slot::Value(value) => current.value = Some(quantity(value, resource)),
    }
    current
}

/// Thousandths as a quantity; memory counts in binary multiples.
/// Upstream: horizontal.go `buildQuantity`, 1.37.2.
pub fn quantity(milli: i64, resource: &str) -> Quantity {
    let format = if resource == "memory" {
        Format::BinarySI
    } else {
        Format::DecimalSI
    };
    Quantity::from_milli(milli, format)
}
