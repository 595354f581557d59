//! The controller's handler of changes with an empty cache and queue, fed by hand.

use std::sync::{Arc, Mutex};

use flyball_clock::Clock;
use flyball_controller::config::Config;
use flyball_controller::hpa_cache::{HpaCache, HpaHandler, Records};
use flyball_controller::monitor::Monitor;
use flyball_controller::queue_metrics::QueueMetrics;
use flyball_controller::selector_store::{Search, SelectorStore};
use flyball_controller::workqueue::WorkQueue;
use prometheus::Registry;

/// A handler that knows nothing yet.
pub(super) fn handler(
    config: &Config,
    clock: &Clock,
    registry: &Registry,
) -> prometheus::Result<HpaHandler> {
    let queue_metrics = QueueMetrics::register(registry)?;
    Ok(HpaHandler {
        cache: HpaCache::default(),
        records: Records {
            selectors: Arc::new(Mutex::new(SelectorStore::new(Search::Limited))),
            consistency: Arc::default(),
        },
        queue: WorkQueue::new(config.sync_period, clock.clone(), queue_metrics),
        monitor: Monitor::register(registry)?,
        gates: config.gates.clone(),
    })
}
