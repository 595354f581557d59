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
pub mod metrics_client;
mod metrics_wire;
pub mod monitor;
pub mod path;
pub mod pod_index;
pub mod queue;
pub mod queue_metrics;
pub mod rest_mapper;
pub mod scale_client;
#[cfg(test)]
mod scripted;
pub mod selector_store;
pub mod source;
pub mod token_bucket;
pub mod transport;
pub mod workqueue;
