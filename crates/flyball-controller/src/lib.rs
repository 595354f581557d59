//! The controller: watches HorizontalPodAutoscalers, gathers what a decision needs, lets the core decide, and acts.
//! Not here: the decision (`flyball-core`), the meaning of API objects (`flyball-bridge`), flags and process
//! set-up (the binary).

pub mod queue;
pub mod queue_metrics;
pub mod workqueue;
