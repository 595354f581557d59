//! What every request shares: the objects, the bounds, the signal to stop. Not here: what a request does.

use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::registry::Registry;
use crate::telemetry::Telemetry;
use crate::verbs::Frames;
use crate::workload::load::ledger::Ledger;

/// Requests at work at once, watches not counted; more are answered 429. Upstream: `--max-requests-inflight` 400 and
/// `--max-mutating-requests-inflight` 200, here in one.
pub(crate) const REQUESTS_MAX: usize = 600;
/// Watches open at once; more are answered 429. A controller opens one a kind, so this is some fifty clients.
pub(crate) const WATCHES_MAX: usize = 1024;

/// The shared parts of the API.
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) registry: Registry,
    /// The past of the loads, written by the driver of the controllers. Locked after the store, never across an await.
    pub(crate) ledger: Mutex<Ledger>,
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) requests: Semaphore,
    pub(crate) watches: Arc<Semaphore>,
    /// What watchers have in common.
    pub(crate) frames: Frames,
    /// Ends watches and loops.
    pub(crate) stopping: CancellationToken,
}

impl Api {
    pub(crate) fn new(registry: Registry) -> Arc<Self> {
        Arc::new(Self {
            telemetry: Telemetry::new(registry.clock.clone()),
            registry,
            ledger: Mutex::default(),
            requests: Semaphore::new(REQUESTS_MAX),
            watches: Arc::new(Semaphore::new(WATCHES_MAX)),
            frames: Frames::default(),
            stopping: CancellationToken::new(),
        })
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().expect("no holder of this lock panics")
    }
}
