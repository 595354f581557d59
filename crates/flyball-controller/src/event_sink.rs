//! Writes events in the background, in order, so that no reconciliation waits for them.
//! Not here: what is worth writing ([`crate::event_correlator`]).
//!
//! Source: client-go tools/record/event.go, v0.37.2: a full buffer drops events, a refusal drops the event, and
//! only a server that cannot be reached is tried again.

use std::time::Duration;

use flyball_clock::{Clock, UnixMs};
use http::Method;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::api_client::{ApiClient, Call};
use crate::api_error::{ApiError, Asked};
use crate::event::{Event, Regarding, StoredEvent};
use crate::event_correlator::{Correlated, EventCorrelator};
use crate::path;

/// Events waiting to be written (maxQueuedEvents); more are dropped.
const BUFFER: usize = 1000;
/// Attempts for an event while the server cannot be reached (maxTriesPerEvent).
const ATTEMPTS: u32 = 12;
/// Wait between attempts (defaultSleepDuration).
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// Where events are handed in. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EventRecorder {
    sender: mpsc::Sender<(Regarding, Event, UnixMs)>,
    clock: Clock,
}

/// The task that writes them.
#[derive(Debug)]
pub struct EventSink {
    receiver: mpsc::Receiver<(Regarding, Event, UnixMs)>,
    client: ApiClient,
    clock: Clock,
    correlator: EventCorrelator,
}

/// A recorder and the sink that it feeds.
pub fn channel(client: ApiClient, clock: Clock) -> (EventRecorder, EventSink) {
    let (sender, receiver) = mpsc::channel(BUFFER);
    let recorder = EventRecorder {
        sender,
        clock: clock.clone(),
    };
    (
        recorder,
        EventSink {
            receiver,
            client,
            clock,
            correlator: EventCorrelator::default(),
        },
    )
}

impl EventRecorder {
    /// Hands an event in; it is stamped now.
    pub fn record(&self, regarding: &Regarding, event: Event) {
        tracing::info!(
            object = %format_args!("{}/{}", regarding.namespace, regarding.name),
            r#type = event.event_type.as_str(),
            reason = event.reason,
            message = event.message,
            "Event occurred"
        );
        if self
            .sender
            .try_send((regarding.clone(), event, self.clock.now_ms()))
            .is_err()
        {
            tracing::warn!(bound = BUFFER, "event dropped, too many wait to be written");
        }
    }
}

impl EventSink {
    /// Writes events until `stop`; those still waiting then are lost, as upstream.
    pub async fn run(mut self, stop: CancellationToken) {
        loop {
            let next = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                next = self.receiver.recv() => next,
            };
            let Some((regarding, event, at_ms)) = next else {
                return;
            };
            let correlated = self.correlator.correlate(&regarding, event, at_ms);
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = self.write(&correlated) => {}
            }
        }
    }

    async fn write(&self, correlated: &Correlated) {
        for _ in 0..ATTEMPTS {
            let result = match correlated {
                Correlated::Drop => return,
                Correlated::Create(stored) => self.create(stored).await,
                Correlated::Repeat(stored) => match self.patch(stored).await {
                    // The object may have expired since.
                    Err(error) if error.is_not_found() => self.create(stored).await,
                    result => result,
                },
            };
            match result {
                Ok(()) => return,
                Err(error) if error.is_transient() => {
                    tracing::error!(%error, "unable to write event, will retry");
                    self.clock.sleep(RETRY_AFTER).await;
                }
                Err(error) => {
                    tracing::error!(%error, "server rejected event");
                    return;
                }
            }
        }
        tracing::error!(attempts = ATTEMPTS, "event given up");
    }

    async fn create(&self, stored: &StoredEvent) -> Result<(), ApiError> {
        let path = path::collection("", "v1", &stored.regarding.namespace, "events");
        let body = Some((
            "application/json",
            stored.to_object().to_string().into_bytes(),
        ));
        let asked = Asked {
            resource: "events",
            name: "",
        };
        self.client
            .call(Call {
                method: Method::POST,
                path: &path,
                asked,
                body,
            })
            .await
            .map(drop)
    }

    async fn patch(&self, stored: &StoredEvent) -> Result<(), ApiError> {
        let events = path::collection("", "v1", &stored.regarding.namespace, "events");
        let path = format!("{events}/{}", path::segment(&stored.name));
        let change = stored.to_patch().to_string().into_bytes();
        let body = Some(("application/strategic-merge-patch+json", change));
        let asked = Asked {
            resource: "events",
            name: &stored.name,
        };
        self.client
            .call(Call {
                method: Method::PATCH,
                path: &path,
                asked,
                body,
            })
            .await
            .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventType;
    use crate::scripted::{Scripted, failure};
    use serde_json::json;

    const ALL: &str = "/api/v1/namespaces/shop/events";

    /// Where events are made at the Unix epoch: the name of the first.
    const FIRST: &str = "/api/v1/namespaces/shop/events/web.1";

    struct Fixture {
        server: Scripted,
        clock: Clock,
        recorder: EventRecorder,
        _stop: tokio_util::sync::DropGuard,
    }

    impl Fixture {
        fn new() -> Self {
            let (server, clock) = (Scripted::default(), Clock::starting_at(0));
            let (recorder, sink) = channel(server.client(&clock), clock.clone());
            let stop = CancellationToken::new();
            tokio::spawn(sink.run(stop.clone()));
            server.serve(&format!("POST {ALL}"), json!({}));
            server.serve(&format!("PATCH {FIRST}"), json!({}));
            Self {
                server,
                clock,
                recorder,
                _stop: stop.drop_guard(),
            }
        }

        /// Records an event, lets `time` pass, and returns the requests made meanwhile.
        async fn record(&self, message: &str, time: Duration) -> Vec<String> {
            let regarding = Regarding {
                api_version: "autoscaling/v2".to_owned(),
                kind: "HorizontalPodAutoscaler".to_owned(),
                namespace: "shop".to_owned(),
                name: "web".to_owned(),
                uid: "u".to_owned(),
                resource_version: "1".to_owned(),
            };
            let reason = "FailedGetScale".to_owned();
            let event = Event {
                event_type: EventType::Warning,
                reason,
                message: message.to_owned(),
            };
            self.recorder.record(&regarding, event);
            self.clock.sleep(time).await;
            self.server.requests()
        }
    }

    const SOON: Duration = Duration::from_millis(1);

    #[tokio::test(start_paused = true)]
    async fn a_first_occurrence_is_created_and_the_next_patches_it() {
        let fixture = Fixture::new();
        assert_eq!(fixture.record("gone", SOON).await, [format!("POST {ALL}")]);
        assert_eq!(
            fixture.record("gone", SOON).await,
            [format!("PATCH {FIRST}")]
        );
        let bodies = fixture.server.bodies();
        assert_eq!(bodies[0]["metadata"]["name"], "web.1");
        let patch = json!({"count": 2, "lastTimestamp": "1970-01-01T00:00:00Z", "message": "gone"});
        assert_eq!(bodies[1], patch);
    }

    #[tokio::test(start_paused = true)]
    async fn an_expired_object_is_created_again() {
        let fixture = Fixture::new();
        fixture.record("gone", SOON).await;
        let expired = failure(404, "NotFound", "events \"web.1\" not found");
        fixture
            .server
            .answer(&format!("PATCH {FIRST}"), 404, expired);
        let expected = [format!("PATCH {FIRST}"), format!("POST {ALL}")];
        assert_eq!(fixture.record("gone", SOON).await, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_event_is_dropped() {
        let fixture = Fixture::new();
        let refused = failure(403, "Forbidden", "namespace is being terminated");
        fixture.server.answer(&format!("POST {ALL}"), 403, refused);
        assert_eq!(
            fixture.record("gone", Duration::from_mins(10)).await.len(),
            1
        );
    }

    #[tokio::test(start_paused = true)]
    async fn an_unreachable_server_is_tried_twelve_times() {
        let fixture = Fixture::new();
        fixture.server.refuse(&format!("POST {ALL}"));
        assert_eq!(
            fixture.record("gone", Duration::from_secs(25)).await.len(),
            3
        );
        fixture.clock.sleep(Duration::from_mins(10)).await;
        assert_eq!(fixture.server.requests().len(), 9);
    }
}
