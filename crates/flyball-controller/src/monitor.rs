//! The controller's own Prometheus metrics, under upstream's names, help texts and buckets.
//! Not here: metrics of the queue ([`crate::queue_metrics`]) and of the API client ([`crate::api_client`]).
//!
//! Source: pkg/controller/podautoscaler/monitor/metrics.go and monitor.go, v1.37.2; the texts carry the stability
//! level that component-base puts in front.

use std::time::Duration;

use prometheus::{
    HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    exponential_buckets,
};

pub use flyball_core::outcome::{Action, Fault};

use crate::key::ObjectKey;

/// The metrics. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Monitor {
    reconciliations: IntCounterVec,
    reconciliation_seconds: HistogramVec,
    computations: IntCounterVec,
    computation_seconds: HistogramVec,
    objects: IntGauge,
    desired_replicas: IntGaugeVec,
    stale_skips: IntCounterVec,
}

const SUBSYSTEM: &str = "horizontal_pod_autoscaler_controller";
const RECONCILIATION_LABELS: &[&str] = &["action", "error"];
const COMPUTATION_LABELS: &[&str] = &["action", "error", "metric_type"];

impl Monitor {
    /// Registers the metrics.
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        let monitor = Self {
            reconciliations: IntCounterVec::new(
                options(
                    "reconciliations_total",
                    "[BETA] Number of reconciliations of HPA controller. The label 'action' should be either \
                     'scale_down', 'scale_up', or 'none'. Also, the label 'error' should be either 'spec', \
                     'internal', or 'none'. Note that if both spec and internal errors happen during a \
                     reconciliation, the first one to occur is reported in `error` label.",
                ),
                RECONCILIATION_LABELS,
            )?,
            reconciliation_seconds: histogram(
                "reconciliation_duration_seconds",
                "[BETA] The time(seconds) that the HPA controller takes to reconcile once. The label 'action' \
                 should be either 'scale_down', 'scale_up', or 'none'. Also, the label 'error' should be either \
                 'spec', 'internal', or 'none'. Note that if both spec and internal errors happen during a \
                 reconciliation, the first one to occur is reported in `error` label.",
                RECONCILIATION_LABELS,
            )?,
            computations: IntCounterVec::new(
                options(
                    "metric_computation_total",
                    "[BETA] Number of metric computations. The label 'action' should be either 'scale_down', \
                     'scale_up', or 'none'. Also, the label 'error' should be either 'spec', 'internal', or \
                     'none'. The label 'metric_type' corresponds to HPA.spec.metrics[*].type",
                ),
                COMPUTATION_LABELS,
            )?,
            computation_seconds: histogram(
                "metric_computation_duration_seconds",
                "[BETA] The time(seconds) that the HPA controller takes to calculate one metric. The label \
                 'action' should be either 'scale_down', 'scale_up', or 'none'. The label 'error' should be \
                 either 'spec', 'internal', or 'none'. The label 'metric_type' corresponds to \
                 HPA.spec.metrics[*].type",
                COMPUTATION_LABELS,
            )?,
            objects: IntGauge::with_opts(options(
                "num_horizontal_pod_autoscalers",
                "[ALPHA] Current number of controlled HPA objects.",
            ))?,
            desired_replicas: IntGaugeVec::new(
                options(
                    "desired_replicas",
                    "[ALPHA] Current desired replica count for HPA objects.",
                ),
                &["namespace", "hpa_name"],
            )?,
            stale_skips: IntCounterVec::new(
                options(
                    "stale_sync_skips_total",
                    "[ALPHA] Total number of HPA syncs skipped due to a stale watch cache.",
                ),
                &["group", "resource"],
            )?,
        };
        monitor.register_all(registry)?;
        Ok(monitor)
    }

    /// Counts one reconciliation.
    pub fn observe_reconciliation(&self, action: Action, fault: Fault, took: Duration) {
        let labels = [action.name(), fault.name()];
        self.reconciliations.with_label_values(&labels).inc();
        self.reconciliation_seconds
            .with_label_values(&labels)
            .observe(took.as_secs_f64());
    }

    /// Counts one metric of a pass; `metric_type` is `spec.metrics[*].type` as written.
    pub fn observe_computation(&self, metric_type: &str, outcome: (Action, Fault), took: Duration) {
        let labels = [outcome.0.name(), outcome.1.name(), metric_type];
        self.computations.with_label_values(&labels).inc();
        self.computation_seconds
            .with_label_values(&labels)
            .observe(took.as_secs_f64());
    }

    /// Counts an HPA that appeared.
    pub fn observe_addition(&self) {
        self.objects.inc();
    }

    /// Counts an HPA that went away.
    pub fn observe_deletion(&self) {
        self.objects.dec();
    }

    /// Shows the desired size of an HPA. The series is never deleted, as upstream.
    pub fn observe_desired_replicas(&self, hpa: &ObjectKey, replicas: i32) {
        let labels = [hpa.namespace.as_str(), hpa.name.as_str()];
        self.desired_replicas
            .with_label_values(&labels)
            .set(i64::from(replicas));
    }

    /// Counts a sync skipped because the cache was older than the last write.
    pub fn observe_stale_skip(&self) {
        self.stale_skips
            .with_label_values(&["autoscaling", "horizontalpodautoscalers"])
            .inc();
    }

    fn register_all(&self, registry: &Registry) -> prometheus::Result<()> {
        registry.register(Box::new(self.reconciliations.clone()))?;
        registry.register(Box::new(self.reconciliation_seconds.clone()))?;
        registry.register(Box::new(self.computations.clone()))?;
        registry.register(Box::new(self.computation_seconds.clone()))?;
        registry.register(Box::new(self.objects.clone()))?;
        registry.register(Box::new(self.desired_replicas.clone()))?;
        registry.register(Box::new(self.stale_skips.clone()))
    }
}

fn options(name: &str, help: &str) -> Opts {
    Opts::new(name, help).subsystem(SUBSYSTEM)
}

fn histogram(name: &str, help: &str, labels: &[&str]) -> prometheus::Result<HistogramVec> {
    // 1 ms doubling to 16.384 s.
    let buckets = exponential_buckets(0.001, 2.0, 15)?;
    HistogramVec::new(
        HistogramOpts::new(name, help)
            .subsystem(SUBSYSTEM)
            .buckets(buckets),
        labels,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus::TextEncoder;

    /// What the registry prints after `observe`.
    fn printed(observe: impl FnOnce(&Monitor)) -> String {
        let registry = Registry::new();
        observe(&Monitor::register(&registry).expect("a fresh registry"));
        TextEncoder::new()
            .encode_to_string(&registry.gather())
            .expect("printable")
    }

    /// Every line of `expected` is printed, with the prefix that all names share.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        for line in expected {
            let line = format!("{SUBSYSTEM}_{line}");
            assert!(
                text.lines().any(|printed| printed == line),
                "no line {line} in\n{text}"
            );
        }
    }

    #[test]
    fn a_reconciliation_is_counted_and_timed() {
        let text = printed(|monitor| {
            let took = Duration::from_millis(150);
            monitor.observe_reconciliation(Action::ScaleDown, Fault::Internal, took);
        });
        check(
            &text,
            &[
                "reconciliations_total{action=\"scale_down\",error=\"internal\"} 1",
                "reconciliation_duration_seconds_bucket{action=\"scale_down\",error=\"internal\",le=\"0.001\"} 0",
                "reconciliation_duration_seconds_bucket{action=\"scale_down\",error=\"internal\",le=\"0.128\"} 0",
                "reconciliation_duration_seconds_bucket{action=\"scale_down\",error=\"internal\",le=\"0.256\"} 1",
                "reconciliation_duration_seconds_bucket{action=\"scale_down\",error=\"internal\",le=\"16.384\"} 1",
                "reconciliation_duration_seconds_sum{action=\"scale_down\",error=\"internal\"} 0.15",
            ],
        );
    }

    #[test]
    fn a_metric_computation_is_counted_and_timed() {
        let text = printed(|monitor| {
            let outcome = (Action::ScaleUp, Fault::None);
            monitor.observe_computation("Pods", outcome, Duration::from_millis(25));
            monitor.observe_computation("Rain", (Action::None, Fault::Spec), Duration::ZERO);
        });
        check(
            &text,
            &[
                "metric_computation_total{action=\"scale_up\",error=\"none\",metric_type=\"Pods\"} 1",
                "metric_computation_total{action=\"none\",error=\"spec\",metric_type=\"Rain\"} 1",
                "metric_computation_duration_seconds_bucket{action=\"scale_up\",error=\"none\",metric_type=\"Pods\",le=\"0.016\"} 0",
                "metric_computation_duration_seconds_bucket{action=\"scale_up\",error=\"none\",metric_type=\"Pods\",le=\"0.032\"} 1",
            ],
        );
    }

    #[test]
    fn gauges_follow_objects_and_sizes() {
        let text = printed(|monitor| {
            monitor.observe_addition();
            monitor.observe_addition();
            monitor.observe_deletion();
            monitor.observe_desired_replicas(&ObjectKey::new("kube-system", "dns"), 10);
            monitor.observe_stale_skip();
        });
        check(
            &text,
            &[
                "num_horizontal_pod_autoscalers 1",
                "desired_replicas{hpa_name=\"dns\",namespace=\"kube-system\"} 10",
                "stale_sync_skips_total{group=\"autoscaling\",resource=\"horizontalpodautoscalers\"} 1",
            ],
        );
    }
}
