//! The controller: watches HorizontalPodAutoscalers, gathers what a decision needs, lets the core decide, and acts.
//! Not here: the decision (`flyball-core`), the meaning of API objects (`flyball-bridge`), flags and process
//! set-up (the binary).

pub mod api_client;
pub mod api_error;
pub mod consistency;
pub mod event;
pub mod event_correlator;
pub mod event_sink;
pub mod gates;
pub mod key;
pub mod lru;
pub mod monitor;
pub mod path;
pub mod queue;
pub mod queue_metrics;
pub mod token_bucket;
pub mod transport;
pub mod workqueue;
