//! The controller: watches HorizontalPodAutoscalers, gathers what a decision needs, lets the core decide, and acts.
//! Not here: the decision (`flyball-core`), the meaning of API objects (`flyball-bridge`), flags and process
//! set-up (the binary).

pub mod act;
pub mod admin;
pub mod api_client;
pub mod api_error;
pub mod config;
pub mod consistency;
pub mod event;
pub mod event_correlator;
pub mod event_sink;
pub mod gates;
pub mod gather;
pub mod hpa_cache;
pub mod key;
pub mod lease;
pub mod lru;
pub mod metrics_client;
pub mod monitor;
pub mod ownership;
pub mod path;
pub mod pod_index;
pub mod queue;
pub mod queue_metrics;
pub mod reconcile;
pub mod report;
pub mod rest_mapper;
pub mod run;
pub mod scale_client;
pub mod selector_store;
pub mod source;
pub mod token_bucket;
pub mod transport;
pub mod workqueue;

mod metrics_wire;
#[cfg(test)]
mod scripted;
