//! One sync: gather, decide, act, report. The order of things, and nothing else.
//!
//! Source: pkg/controller/podautoscaler/horizontal.go (reconcileKey, reconcileAutoscaler), v1.37.2.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flyball_api::autoscaling::v2::HorizontalPodAutoscaler;
use flyball_clock::Clock;
use flyball_core::failure::ComputeError;
use flyball_core::outcome::{Action, Fault, Outcome, WriteResult};
use flyball_core::policy::Settings;
use flyball_core::snapshot::Previous;
use flyball_core::step::Steps;
use flyball_core::time::Instant;
use flyball_core::{
    Decider, Decision, History, Needs, Policy, ScaleView, Snapshot, conclude, decide, decide_with,
    needs,
};
use flyball_trace::DecisionRecord;

use crate::act::Actor;
use crate::config::{Detail, Kind, Mode};
use crate::gates::{Gate, Gates};
use crate::gather::{FoundScale, Gatherer, TimedReading};
use crate::hpa_cache::{HpaCache, Records};
use crate::key::ObjectKey;
use crate::monitor::Monitor;
use crate::ownership::{ForeignStatus, Ownership, foreign_status};
use crate::report::{Course, Observer, SyncReport};
use crate::workqueue::Next;

/// Everything a sync works with.
pub struct Reconciler {
    /// The HPAs.
    pub cache: HpaCache,
    /// Selectors and status writes.
    pub records: Records,
    /// Reads.
    pub gatherer: Gatherer,
    /// Writes.
    pub actor: Actor,
    /// What a decision reads of the configuration.
    pub settings: Settings,
    /// Whether objects of another owner are left alone.
    pub ownership: Ownership,
    /// How much a report tells.
    pub detail: Detail,
    /// The gate of the stale-cache check matters here.
    pub gates: Gates,
    /// Counts.
    pub monitor: Monitor,
    /// Time.
    pub clock: Clock,
    /// Where reports go.
    pub observer: Arc<dyn Observer>,
    /// What earlier syncs recommended and did. **Bound:** one history per HPA, dropped by the first sync that finds it
    /// gone.
    pub histories: Mutex<BTreeMap<ObjectKey, History>>,
}

/// What one sync observed, decided and did.
struct Pass {
    at: Instant,
    steps: Option<Steps>,
    outcome: Outcome,
    readings: Vec<TimedReading>,
}

impl Reconciler {
    /// Runs one sync and reports it; says whether another one follows.
    pub async fn sync(&self, key: &ObjectKey) -> Next {
        let started_ms = self.clock.now_ms();
        if let Err(stale) = self.check_cache(key) {
            self.monitor.observe_stale_skip();
            let mut report = SyncReport::new(key.clone(), started_ms, Course::Stale);
            report.errors.push(stale);
            self.publish(report);
            return Next::AfterInterval;
        }
        let Some(hpa) = self.cache.get(key) else {
            tracing::info!(hpa = %key, "Horizontal Pod Autoscaler has been deleted");
            self.records.consistency().clear_any(key);
            self.histories().remove(key);
            self.publish(SyncReport::new(key.clone(), started_ms, Course::Gone));
            return Next::Nothing;
        };
        if let Some(foreign) = self.foreign(&hpa) {
            let mut report = SyncReport::new(key.clone(), started_ms, Course::Foreign);
            report.errors.push(foreign.to_string());
            self.publish(report);
            return Next::AfterInterval;
        }
        let report = SyncReport::new(key.clone(), started_ms, Course::Reconciled);
        let report = self.reconcile(&hpa, report).await;
        self.publish(report);
        Next::AfterInterval
    }

    async fn reconcile(
        &self,
        hpa: &Arc<HorizontalPodAutoscaler>,
        mut report: SyncReport,
    ) -> SyncReport {
        let started = self.clock.elapsed();
        let policy = flyball_bridge::lower::policy(hpa, &self.settings);
        let previous = flyball_bridge::lower::previous(&hpa.status);
        let history = self
            .histories()
            .get(&report.hpa)
            .cloned()
            .unwrap_or_default();
        let Pass {
            at,
            steps,
            outcome,
            readings,
        } = self
            .pass(hpa, (&policy, &previous, &history), &mut report)
            .await;
        self.histories()
            .insert(report.hpa.clone(), outcome.history.clone());
        let result = self.actor.perform(hpa, &outcome, &mut report).await;
        let fault = match (&result, &outcome.error) {
            (Ok(()), None) => Fault::None,
            (Ok(()), Some(error)) if error.is_spec_error() => Fault::Spec,
            _ => Fault::Internal,
        };
        let error = result
            .err()
            .or_else(|| outcome.error.as_ref().map(ToString::to_string));
        report.errors.extend(error);
        let took = self.clock.elapsed().saturating_sub(started);
        self.monitor
            .observe_reconciliation(outcome.action, fault, took);
        self.count(&report.hpa, &policy, (&outcome, &readings));
        report.record = steps.map(|steps| DecisionRecord {
            error: report.errors.last().cloned(),
            ..flyball_trace::convert::record(&policy, at, &outcome, &steps)
        });
        report.outcome = Some(outcome);
        report
    }

    /// Observes, decides, and writes the size.
    async fn pass(
        &self,
        hpa: &HorizontalPodAutoscaler,
        (policy, previous, history): (&Policy, &Previous, &History),
        report: &mut SyncReport,
    ) -> Pass {
        let (scale, found) = match self.gatherer.scale(hpa).await {
            Ok(found) => (Ok(view(&found)), Some(found)),
            Err(problem) => (Err(problem), None),
        };
        report.replicas_before = scale.as_ref().ok().map(|scale| scale.spec);
        report.replicas_after = report.replicas_before;
        let metrics_needed = scale
            .as_ref()
            .is_ok_and(|scale| needs(policy, scale, previous) == Needs::Metrics);
        let (selection, readings) = match &found {
            Some(found) if metrics_needed => self.metrics(hpa, policy, found).await,
            _ => (Ok(()), Vec::new()),
        };
        let references: Vec<_> = readings
            .iter()
            .map(|timed| timed.gathered.as_reading())
            .collect();
        let at = self.now();
        let snapshot = Snapshot {
            now: at,
            scale,
            previous,
            generation: hpa.metadata.generation,
            selection,
            readings: &references,
        };
        let (decision, steps) = self.decide(policy, &snapshot, history);
        let written = match (decision.scale_to, found) {
            (Some(replicas), Some(found)) => {
                self.actor.set_scale(hpa, found, replicas, report).await
            }
            _ => WriteResult::NotAsked,
        };
        let outcome = conclude(decision, &written, self.now());
        Pass {
            at,
            steps,
            outcome,
            readings,
        }
    }

    fn decide(
        &self,
        policy: &Policy,
        snapshot: &Snapshot<'_>,
        history: &History,
    ) -> (Decision, Option<Steps>) {
        match self.detail {
            Detail::Outcome => (decide(policy, snapshot, history), None),
            Detail::Steps => {
                let (mut decider, mut steps) = (Decider::default(), Steps::default());
                let decision = decide_with(&mut decider, &mut steps, policy, snapshot, history);
                (decision, Some(steps))
            }
        }
    }

    async fn metrics(
        &self,
        hpa: &HorizontalPodAutoscaler,
        policy: &Policy,
        found: &FoundScale,
    ) -> (Result<(), ComputeError>, Vec<TimedReading>) {
        match self.gatherer.selector(hpa, &found.scale.status.selector) {
            Ok(selector) => (Ok(()), self.gatherer.readings(hpa, policy, &selector).await),
            Err(error) => (Err(error), Vec::new()),
        }
    }

    /// Another owner of the status that must be left alone. A shadow writes nothing, and the twin has no other.
    fn foreign(&self, hpa: &HorizontalPodAutoscaler) -> Option<ForeignStatus> {
        let minds = self.ownership == Ownership::Respect
            && self.actor.mode == Mode::Act
            && self.actor.kind == Kind::Native;
        minds.then(|| foreign_status(&hpa.metadata)).flatten()
    }

    fn check_cache(&self, key: &ObjectKey) -> Result<(), String> {
        if !self.gates.enabled(Gate::StaleCacheCheck) {
            return Ok(());
        }
        let read = self.cache.version();
        self.records
            .consistency()
            .check(key, &read)
            .map_err(|stale| stale.to_string())
    }

    fn count(
        &self,
        key: &ObjectKey,
        policy: &Policy,
        (outcome, readings): (&Outcome, &[TimedReading]),
    ) {
        for computation in &outcome.computations {
            let metric = policy.metrics.get(computation.metric);
            let type_name = metric.map_or("", |metric| metric.type_name());
            let took = readings
                .get(computation.metric)
                .map(|timed| timed.took)
                .unwrap_or_default();
            let result = (computation.action, computation.fault);
            self.monitor.observe_computation(type_name, result, took);
        }
        if outcome.settled {
            self.monitor
                .observe_desired_replicas(key, outcome.status.desired);
        }
    }

    fn publish(&self, report: SyncReport) {
        for error in &report.errors {
            tracing::error!(hpa = %report.hpa, error);
        }
        log_decision(&report);
        self.observer.synced(report);
    }

    fn now(&self) -> Instant {
        Instant(self.clock.now_ms())
    }

    fn histories(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, History>> {
        self.histories
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn view(found: &FoundScale) -> ScaleView {
    ScaleView {
        spec: found.scale.spec.replicas,
        status: found.scale.status.replicas,
    }
}

/// The decision in the words of upstream's log.
fn log_decision(report: &SyncReport) {
    let Some(outcome) = &report.outcome else {
        return;
    };
    let (hpa, desired) = (&report.hpa, outcome.status.desired);
    if let Some((proposed, metric)) = report.proposal() {
        tracing::debug!(%hpa, proposed, metric, "Proposing desired replicas");
    }
    match outcome.action {
        Action::None => tracing::debug!(%hpa, desired, "Decided not to scale"),
        Action::ScaleUp | Action::ScaleDown => {
            tracing::info!(%hpa, current = outcome.status.current, desired, "Successfully rescaled");
        }
    }
}
