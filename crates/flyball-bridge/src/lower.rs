//! An autoscaler object as the policy and the previous status of the core.
//! What the API would refuse is lowered all the same: the controller can meet it, stored by an older server.

use std::sync::Arc;

use flyball_api::autoscaling::v2::{
    HorizontalPodAutoscaler, HorizontalPodAutoscalerBehavior, HorizontalPodAutoscalerCondition,
    HorizontalPodAutoscalerStatus, HpaScalingPolicy, HpaScalingRules, MetricIdentifier, MetricSpec,
    MetricTarget,
};
use flyball_api::selector::describe;
use flyball_core::Policy;
use flyball_core::condition::{Condition, ConditionKind, ConditionState, Phrase};
use flyball_core::metric::{Metric, Source, Target, TargetKind};
use flyball_core::policy::{
    Behavior, PolicyKind, Rules, ScalingPolicy, SelectPolicy, Settings, TargetRef, Text,
};
use flyball_core::snapshot::Previous;
use flyball_core::time::{Instant, Span};

/// What one autoscaler wants, under the controller's settings.
pub fn policy(hpa: &HorizontalPodAutoscaler, settings: &Settings) -> Policy {
    let spec = &hpa.spec;
    Policy {
        target: TargetRef {
            kind: text(&spec.scale_target_ref.kind),
            namespace: text(&hpa.metadata.namespace),
            name: text(&spec.scale_target_ref.name),
            autoscaler: text(&hpa.metadata.name),
        },
        replicas_min: spec.min_replicas,
        replicas_max: spec.max_replicas,
        metrics: spec.metrics.iter().map(|m| Arc::new(metric(m))).collect(),
        behavior: spec.behavior.as_ref().map(behavior),
        settings: settings.clone(),
    }
}

/// The status the last sync left.
pub fn previous(status: &HorizontalPodAutoscalerStatus) -> Previous {
    Previous {
        current: status.current_replicas,
        desired: status.desired_replicas,
        last_scale: status.last_scale_time.map(|t| Instant(t.millis())),
        observed_generation: status.observed_generation,
        conditions: status.conditions.iter().map(condition).collect(),
    }
}

fn condition(condition: &HorizontalPodAutoscalerCondition) -> Condition {
    Condition {
        kind: ConditionKind::parse(&condition.r#type),
        state: ConditionState::parse(&condition.status),
        reason: Phrase::Kept(text(&condition.reason)),
        message: Phrase::Kept(text(&condition.message)),
        since: condition.last_transition_time.map(|t| Instant(t.millis())),
    }
}

/// One entry of `spec.metrics`.
///
/// Differs from upstream: an entry whose source is missing, which the API refuses, counts as one of unknown type; upstream crashes.
pub fn metric(spec: &MetricSpec) -> Metric {
    let unknown = || Metric {
        source: Source::Unknown {
            kind: text(&spec.r#type),
        },
        target: target(&MetricTarget::default()),
    };
    match spec.r#type.as_str() {
        "Object" => spec.object.as_ref().map(|object| Metric {
            source: Source::Object {
                kind: text(&object.described_object.kind),
                object: text(&object.described_object.name),
                name: text(&object.metric.name),
                selector: selector(&object.metric),
            },
            target: target(&object.target),
        }),
        "Pods" => spec.pods.as_ref().map(|pods| Metric {
            source: Source::Pods {
                name: text(&pods.metric.name),
            },
            target: target(&pods.target),
        }),
        "Resource" => spec.resource.as_ref().map(|resource| Metric {
            source: Source::Resource {
                resource: text(&resource.name),
            },
            target: target(&resource.target),
        }),
        "ContainerResource" => spec.container_resource.as_ref().map(|resource| Metric {
            source: Source::ContainerResource {
                resource: text(&resource.name),
                container: text(&resource.container),
            },
            target: target(&resource.target),
        }),
        "External" => spec.external.as_ref().map(|external| Metric {
            source: Source::External {
                name: text(&external.metric.name),
                selector: selector(&external.metric),
            },
            target: target(&external.target),
        }),
        _ => None,
    }
    .unwrap_or_else(unknown)
}

fn selector(metric: &MetricIdentifier) -> Text {
    describe(metric.selector.as_ref()).into()
}

fn target(target: &MetricTarget) -> Target {
    Target {
        kind: match target.r#type.as_str() {
            "Utilization" => TargetKind::Utilization,
            "Value" => TargetKind::Value,
            "AverageValue" => TargetKind::AverageValue,
            _ => TargetKind::Other,
        },
        value: target
            .value
            .as_ref()
            .map(flyball_api::Quantity::milli_value),
        average_value: target
            .average_value
            .as_ref()
            .map(flyball_api::Quantity::milli_value),
        average_utilization: target.average_utilization,
    }
}

/// `spec.behavior`. A direction or pointer that is missing, which defaulting rules out, gets its default.
pub fn behavior(behavior: &HorizontalPodAutoscalerBehavior) -> Behavior {
    Behavior {
        up: rules(behavior.scale_up.as_ref(), Rules::default_up),
        down: rules(behavior.scale_down.as_ref(), Rules::default_down),
    }
}

fn rules(rules: Option<&HpaScalingRules>, default: fn() -> Rules) -> Rules {
    let Some(rules) = rules else { return default() };
    let window = rules
        .stabilization_window_seconds
        .map(|s| Span::seconds(i64::from(s)));
    Rules {
        window: window.or_else(|| default().window),
        select: match rules.select_policy.as_deref() {
            Some("Min") => SelectPolicy::Min,
            Some("Disabled") => SelectPolicy::Disabled,
            _ => SelectPolicy::Max,
        },
        policies: rules
            .policies
            .iter()
            .flatten()
            .map(scaling_policy)
            .collect(),
        tolerance: rules
            .tolerance
            .as_ref()
            .map(flyball_api::Quantity::approximate_f64),
    }
}

fn scaling_policy(policy: &HpaScalingPolicy) -> ScalingPolicy {
    ScalingPolicy {
        kind: match policy.r#type.as_str() {
            "Pods" => PolicyKind::Pods,
            "Percent" => PolicyKind::Percent,
            _ => PolicyKind::Unknown,
        },
        value: policy.value,
        period_seconds: policy.period_seconds,
    }
}

fn text(text: &str) -> Text {
    text.into()
}
