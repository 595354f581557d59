//! Writes what a decision came to: the scale, the status, the events. Nothing is decided here.
//!
//! Source: pkg/controller/podautoscaler/horizontal.go (reconcileAutoscaler, updateStatus), v1.37.2.
//! Differs from upstream: the wait between attempts on a conflict has no jitter.

use std::sync::Arc;
use std::time::Duration;

use flyball_api::autoscaling::v2::{HorizontalPodAutoscaler, HorizontalPodAutoscalerStatus, KIND};
use flyball_clock::Clock;
use flyball_core::message;
use flyball_core::outcome::{Effect, OnFailure, Outcome, WriteResult};
use http::Method;
use serde::Deserialize;

use crate::api_client::{ApiClient, Call};
use crate::api_error::{ApiError, Asked};
use crate::config::{Kind, Mode};
use crate::event::{Event, EventType, Regarding};
use crate::event_sink::EventRecorder;
use crate::gather::FoundScale;
use crate::hpa_cache::{Records, key_of};
use crate::path;
use crate::report::SyncReport;
use crate::scale_client::{ScaleClient, ScaleTarget};

/// Attempts to write a scale that others change too, and the wait between them (client-go retry.DefaultRetry).
const SCALE_ATTEMPTS: u32 = 5;
const CONFLICT_WAIT: Duration = Duration::from_millis(10);

/// The writers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Actor {
    /// Scales.
    pub scales: ScaleClient,
    /// Statuses.
    pub statuses: ApiClient,
    /// Events.
    pub recorder: EventRecorder,
    /// Remembers status writes.
    pub records: Records,
    /// Waits between attempts.
    pub clock: Clock,
    /// Whether anything is written at all.
    pub mode: Mode,
    /// Which API the HPAs belong to.
    pub kind: Kind,
}

impl Actor {
    /// Writes the wanted size. Only a conflict is tried again, on the scale as it is by then.
    pub async fn set_scale(
        &self,
        hpa: &HorizontalPodAutoscaler,
        found: FoundScale,
        replicas: i32,
        report: &mut SyncReport,
    ) -> WriteResult {
        if self.mode == Mode::Shadow {
            return WriteResult::Written;
        }
        let FoundScale { mapping, mut scale } = found;
        let reference = &hpa.spec.scale_target_ref;
        let namespace = &hpa.metadata.namespace;
        let target = ScaleTarget {
            mapping: &mapping,
            namespace,
            name: &reference.name,
        };
        let mut attempt = 1;
        loop {
            scale.spec.replicas = replicas;
            report.scale_puts += 1;
            let Err(error) = self.scales.put(target, &scale).await else {
                report.replicas_after = Some(replicas);
                return WriteResult::Written;
            };
            match self.scales.get(target).await {
                Ok(latest) => scale = latest,
                Err(error) => report.errors.push(format!(
                    "error getting latest scale for {}/{namespace}/{} during conflict retry: {error}",
                    reference.kind, reference.name
                )),
            }
            if attempt == SCALE_ATTEMPTS || !error.is_conflict() {
                return WriteResult::Failed(error.to_string().into());
            }
            attempt += 1;
            self.clock.sleep(CONFLICT_WAIT).await;
        }
    }

    /// Carries out the effects of an outcome in order; returns what the sync ends with if a status write failed
    /// that has to succeed.
    pub async fn perform(
        &self,
        hpa: &Arc<HorizontalPodAutoscaler>,
        outcome: &Outcome,
        report: &mut SyncReport,
    ) -> Result<(), String> {
        for effect in &outcome.effects {
            match effect {
                Effect::Emit(event) => self.emit(hpa, lower_event(event), report),
                Effect::PatchStatus(on_failure) => {
                    match (self.write_status(hpa, outcome, report).await, on_failure) {
                        (Ok(()), _) => {}
                        (Err(error), OnFailure::Report) => report.errors.push(error),
                        (Err(error), OnFailure::Return) => return Err(error),
                    }
                }
            }
        }
        Ok(())
    }

    fn emit(&self, hpa: &HorizontalPodAutoscaler, event: Event, report: &mut SyncReport) {
        if self.mode == Mode::Act {
            self.recorder.record(&self.regarding(hpa), event.clone());
        }
        report.events.push(event);
    }

    /// Writes the next status, unless it equals the stored one by value.
    async fn write_status(
        &self,
        hpa: &HorizontalPodAutoscaler,
        outcome: &Outcome,
        report: &mut SyncReport,
    ) -> Result<(), String> {
        let status = flyball_bridge::raise::status(&outcome.status, &hpa.spec, &hpa.status);
        if status == hpa.status || self.mode == Mode::Shadow {
            return Ok(());
        }
        match self.put_status(hpa, &status).await {
            Ok(written) => {
                let Meta {
                    uid,
                    resource_version,
                } = written.metadata;
                self.records
                    .consistency()
                    .wrote(&key_of(hpa), &uid, &resource_version);
                tracing::debug!(hpa = %key_of(hpa), "Successfully updated status");
                report.status_written = Some(status);
                Ok(())
            }
            Err(error) => {
                let message = error.to_string();
                let reason = message::Reason::FailedUpdateStatus.name().to_owned();
                let event = Event {
                    event_type: EventType::Warning,
                    reason,
                    message,
                };
                self.emit(hpa, event, report);
                Err(format!(
                    "failed to update status for {}: {error}",
                    hpa.metadata.name
                ))
            }
        }
    }

    async fn put_status(
        &self,
        hpa: &HorizontalPodAutoscaler,
        status: &HorizontalPodAutoscalerStatus,
    ) -> Result<Written, ApiError> {
        let object = HorizontalPodAutoscaler {
            api_version: self.kind.api_version().to_owned(),
            kind: KIND.to_owned(),
            status: status.clone(),
            ..hpa.clone()
        };
        let metadata = &hpa.metadata;
        let resource = "horizontalpodautoscalers";
        let all = path::collection(self.kind.group(), "v2", &metadata.namespace, resource);
        let path = format!("{all}/{}/status", path::segment(&metadata.name));
        let resource = format!("{resource}.{}", self.kind.group());
        let asked = Asked {
            resource: &resource,
            name: &metadata.name,
        };
        // An object that was read can be written: its fields are numbers, text and JSON.
        let body = Some((
            "application/json",
            serde_json::to_vec(&object).unwrap_or_default(),
        ));
        self.statuses
            .object(Call {
                method: Method::PUT,
                path: &path,
                asked,
                body,
            })
            .await
    }

    fn regarding(&self, hpa: &HorizontalPodAutoscaler) -> Regarding {
        let metadata = &hpa.metadata;
        Regarding {
            api_version: self.kind.api_version().to_owned(),
            kind: KIND.to_owned(),
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
            uid: metadata.uid.clone(),
            resource_version: metadata.resource_version.clone(),
        }
    }
}

fn lower_event(event: &message::Event) -> Event {
    let event_type = match event.kind {
        message::EventKind::Normal => EventType::Normal,
        message::EventKind::Warning => EventType::Warning,
    };
    let (reason, message) = (event.reason.name().to_owned(), event.message.to_string());
    Event {
        event_type,
        reason,
        message,
    }
}

/// What is read of the answer to a status write.
#[derive(Deserialize)]
struct Written {
    metadata: Meta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    #[serde(default)]
    uid: String,
    #[serde(default)]
    resource_version: String,
}
