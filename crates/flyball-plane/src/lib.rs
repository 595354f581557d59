//! See the crate's description; contents follow.

mod api;
mod auth;
pub mod body;
mod certs;
mod discovery;
pub mod entropy;
pub mod field;
pub mod kind;
pub mod kinds;
mod kubeconfig;
mod listen;
mod metadata;
pub mod metrics_api;
mod negotiation;
pub mod object;
pub mod patch;
mod plane;
mod protobuf;
pub mod refusal;
pub mod registry;
pub mod request;
pub mod respond;
pub mod schema;
mod secret;
mod service;
mod snapshot;
pub mod store;
pub mod table;
mod time;
mod verbs;
pub mod workload;
mod workloads;

pub use plane::{Config, Exposure, Plane, PlaneError};
pub use service::Service;
