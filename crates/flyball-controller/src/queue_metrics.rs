//! Metrics of the work queue under client-go's names, and KEP-6003's delay ratio.
//! Not here: the queue itself.
//!
//! Source: component-base/metrics/prometheus/workqueue/metrics.go, v0.37.2.

use prometheus::{
    Gauge, Histogram, HistogramOpts, HistogramVec, IntCounter, IntGauge, Opts, Registry,
    exponential_buckets,
};

use crate::queue::DelaySample;

/// Name of the queue in every metric, as the built-in controller's.
const QUEUE_NAME: &str = "horizontalpodautoscaler";

/// The seven workqueue metrics and the delay ratio.
#[derive(Clone, Debug)]
pub struct QueueMetrics {
    /// Keys ready to run.
    pub depth: IntGauge,
    /// Keys made ready.
    pub adds: IntCounter,
    /// Delayed adds asked for.
    pub retries: IntCounter,
    /// Seconds from ready to started.
    pub queue_seconds: Histogram,
    /// Seconds of a run.
    pub work_seconds: Histogram,
    /// Seconds of work in progress.
    pub unfinished_seconds: Gauge,
    /// Age of the longest run in progress.
    pub longest_seconds: Gauge,
    delay_ratio: HistogramVec,
}

impl QueueMetrics {
    /// Registers the metrics.
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        // 10 ns to 10 s, as component-base.
        let buckets = exponential_buckets(10e-9, 10.0, 10)?;
        let histogram = |name: &str, help: &str| -> prometheus::Result<Histogram> {
            let options = HistogramOpts::new(name, help).const_label("name", QUEUE_NAME);
            Histogram::with_opts(options.buckets(buckets.clone()))
        };
        let options =
            |name: &str, help: &str| Opts::new(name, help).const_label("name", QUEUE_NAME);
        let metrics = Self {
            depth: IntGauge::with_opts(options("workqueue_depth", "[ALPHA] Current depth of workqueue"))?,
            adds: IntCounter::with_opts(options(
                "workqueue_adds_total",
                "[ALPHA] Total number of adds handled by workqueue",
            ))?,
            retries: IntCounter::with_opts(options(
                "workqueue_retries_total",
                "[ALPHA] Total number of retries handled by workqueue",
            ))?,
            queue_seconds: histogram(
                "workqueue_queue_duration_seconds",
                "[ALPHA] How long in seconds an item stays in workqueue before being requested.",
            )?,
            work_seconds: histogram(
                "workqueue_work_duration_seconds",
                "[ALPHA] How long in seconds processing an item from workqueue takes.",
            )?,
            unfinished_seconds: Gauge::with_opts(options(
                "workqueue_unfinished_work_seconds",
                "[ALPHA] How many seconds of work has done that is in progress and hasn't been observed by \
                 work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads \
                 by observing the rate at which this increases.",
            ))?,
            longest_seconds: Gauge::with_opts(options(
                "workqueue_longest_running_processor_seconds",
                "[ALPHA] How many seconds has the longest running processor for workqueue been running.",
            ))?,
            delay_ratio: HistogramVec::new(
                HistogramOpts::new(
                    "horizontal_pod_autoscaler_controller_reconciliation_delay_ratio",
                    "[ALPHA] Ratio of the observed to the requested delay between the end of one reconciliation \
                     of an HPA and the start of its next periodic one.",
                )
                .buckets(vec![1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0]),
                &["period_source"],
            )?,
        };
        metrics.register_all(registry)?;
        Ok(metrics)
    }

    /// Counts one start against its asked-for delay.
    pub fn observe_delay(&self, sample: &DelaySample) {
        if sample.asked_ms > 0 {
            let ratio = sample.observed_ms as f64 / sample.asked_ms as f64;
            self.delay_ratio
                .with_label_values(&[sample.source.label()])
                .observe(ratio);
        }
    }

    fn register_all(&self, registry: &Registry) -> prometheus::Result<()> {
        registry.register(Box::new(self.depth.clone()))?;
        registry.register(Box::new(self.adds.clone()))?;
        registry.register(Box::new(self.retries.clone()))?;
        registry.register(Box::new(self.queue_seconds.clone()))?;
        registry.register(Box::new(self.work_seconds.clone()))?;
        registry.register(Box::new(self.unfinished_seconds.clone()))?;
        registry.register(Box::new(self.longest_seconds.clone()))?;
        registry.register(Box::new(self.delay_ratio.clone()))
    }
}
