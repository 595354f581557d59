//! What one sync did, as a value: the one stream that logs, records and tests print.
//! Not here: printing.

use flyball_api::autoscaling::v2::HorizontalPodAutoscalerStatus;
use flyball_clock::UnixMs;
use flyball_core::outcome::Outcome;
use flyball_trace::DecisionRecord;

use crate::event::Event;
use crate::key::ObjectKey;

/// One sync.
#[derive(Clone, Debug)]
pub struct SyncReport {
    /// The HPA.
    pub hpa: ObjectKey,
    /// When the sync started, in milliseconds since the Unix epoch.
    pub started_ms: UnixMs,
    /// What became of it.
    pub course: Course,
    /// `spec.replicas` of the target when it was read; absent if it was not.
    pub replicas_before: Option<i32>,
    /// `spec.replicas` of the target as this sync left it; absent if it was not read.
    pub replicas_after: Option<i32>,
    /// Number of attempts to write the scale.
    pub scale_puts: u32,
    /// The status that was written; absent if none was.
    pub status_written: Option<HorizontalPodAutoscalerStatus>,
    /// Events in the order they were emitted, before any are grouped or dropped.
    pub events: Vec<Event>,
    /// Error texts in the order they were reported.
    pub errors: Vec<String>,
    /// The decision and what it was concluded to; absent unless the sync came that far.
    pub outcome: Option<Outcome>,
    /// The same with every step, where the configuration asks for it.
    pub record: Option<DecisionRecord>,
}

/// How far a sync came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// To its end.
    Reconciled,
    /// Not begun: the cache was older than the last status write.
    Stale,
    /// Not begun: another controller owns the HPA's status.
    Foreign,
    /// Not begun: the HPA does not exist any more.
    Gone,
}

impl SyncReport {
    /// An empty report.
    pub fn new(hpa: ObjectKey, started_ms: UnixMs, course: Course) -> Self {
        Self {
            hpa,
            started_ms,
            course,
            replicas_before: None,
            replicas_after: None,
            scale_puts: 0,
            status_written: None,
            events: Vec::new(),
            errors: Vec::new(),
            outcome: None,
            record: None,
        }
    }

    /// The largest proposal before windows, policies and bounds, and the name of its metric (empty without one);
    /// absent when no metric pass succeeded.
    pub fn proposal(&self) -> Option<(i32, String)> {
        let best = self.outcome.as_ref()?.recommendation.as_ref()?;
        let named = best
            .metric
            .as_ref()
            .map(|metric| flyball_core::metric::Named(metric).to_string());
        Some((best.replicas, named.unwrap_or_default()))
    }
}

/// Where reports go.
pub trait Observer: Send + Sync {
    /// Takes the report of a sync that has just ended.
    fn synced(&self, report: SyncReport);
}

/// Takes reports and drops them.
#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn synced(&self, _report: SyncReport) {}
}
