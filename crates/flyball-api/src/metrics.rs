//! The three metrics APIs: resources of pods, metrics of Kubernetes objects, metrics from outside. Types alone, no client.

pub mod custom;
pub mod external;
pub mod resource;
