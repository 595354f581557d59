//! The embedded control plane: an API server in one process that stock kubectl and unchanged kube-rs take for Kubernetes 1.37,
//! with the workload controllers and metrics APIs that make a small cluster of it. It stores autoscalers like any other object and acts
//! on none: it is the referee, not a player.
//!
//! # Shape
//!
//! ```text
//! listen (TLS) -> auth (token) -> service -> verbs ----> registry -> store -> log (redb, synced)
//!                                    |         |            |          |
//!                       discovery, openapi   table,       kinds     history -> watches, workloads
//!                       metrics_api          patch        (rules)
//! ```
//!
//! - [`store`]: objects in memory, ordered by (resource, namespace, name). On disk a log of changes; a change is synced before
//!   anybody sees it. One writer thread commits waiting changes together. In memory there is no thread at all.
//! - `registry`: create, update and delete of any kind, in upstream's order of steps and in its words.
//! - `kind`, `kinds`: what differs between kinds, one file each: names, defaults, rules.
//! - `custom`, `cel`: kinds of CustomResourceDefinitions, compiled from their schemas. `definitions` makes definitions take
//!   effect, with or without workload controllers; `serving` is what is served at a moment, made anew when one has.
//! - `verbs`, `request`, [`respond`], `negotiation`, `body`: HTTP in front of it. [`Service`] is the whole as one
//!   `tower::Service`, in process and trusted; [`Plane::serve`] puts TLS and the token around it.
//! - `schema`, `patch`, `table`, `protobuf`: the types, and what is done to and with them.
//! - [`workload`], `metrics_api`: controllers as pure steps and metrics as pure answers; `workloads` drives the steps from the
//!   store's changes and the clock, so that all of it runs in virtual time.
//!
//! # Who may come in
//!
//! The listener binds loopback addresses unless [`Exposure::EverybodyOnTheNetwork`] says otherwise. Every request needs the bearer
//! token of the kubeconfig but `/healthz`, `/livez`, `/readyz` and `/version`, which upstream leaves open as well. There is one user
//! and no authorization: whoever has the token may do everything. Web pages are kept out whether they have it or not: a request
//! whose `Host` is a name other than `localhost` or `kubernetes.default.svc` is answered 421, one with the `Origin` of another
//! page 403. [`Service`], in process, asks for none of this. Certificates, token and port stay the same over restarts.
//!
//! # Bounds
//!
//! | what | bound | beyond it |
//! |---|---|---|
//! | body of a request | 3 MiB (`body::BYTES_MAX`) | 413 |
//! | operations of a JSON patch | 10,000 | 413 |
//! | requests at once, watches apart | 600 | 429, `Retry-After: 1` |
//! | watches at once | 1024 | 429, `Retry-After: 1` |
//! | connections at once | 512, with 250 HTTP/2 streams each | they wait in the kernel |
//! | handshake, first request, head of a request | 32 s | the connection is closed |
//! | head of a request | 64 KiB | 431, or the stream is refused |
//! | a request, watches apart | 60 s | 504 |
//! | rest between requests | 32 s, with HTTP/2 90 s | the connection is closed |
//! | events made once for all watchers | 8 MiB | the oldest are made anew |
//! | changes kept for watchers, pages and lists of the past | 8192 ([`store::HISTORY_MAX`]) | 410 Expired, for a watcher as the last event |
//! | changes waiting for the disk | 1024, 256 in one transaction | their senders wait |
//! | tries to store a change | 2, the log written anew between | 500, then 503 until the disk works ([`store`]) |
//! | tries against faster writers | 64 | 409 |
//! | tries for a generated name | 8 | 409 |
//! | kinds of CustomResourceDefinitions | 1000 (`serving::CUSTOM_KINDS_MAX`) | they are stored and not served |
//! | nesting of a custom resource | 100 levels (`custom::DEPTH_MAX`) | 400 |
//! | age of Events | one hour | they are deleted |
//!
//! # What is not kept or served
//!
//! managedFields (so no server-side apply: 415 says what to send instead), OpenAPI v2, protobuf answers, admission webhooks, `exec`, `log`,
//! lists of revisions that the history no longer reaches (410), OpenMetrics forms of `/metrics`, compressed or indented answers,
//! `autoscaling/v1`, `binding` and `eviction` of pods. DaemonSets, Jobs, disruption budgets, ingresses, quotas and API services are
//! stored and checked, and nothing acts on them. Conversion
//! webhooks are stored and not called, and what CEL rules cost is not estimated.

mod api;
mod auth;
mod body;
mod cel;
mod certs;
mod custom;
mod definitions;
mod discovery;
mod entropy;
mod field;
mod kind;
mod kinds;
mod kubeconfig;
mod listen;
mod metadata;
mod metrics_api;
mod negotiation;
mod object;
mod patch;
mod plane;
mod protobuf;
mod refusal;
mod registry;
mod request;
pub mod respond;
mod schema;
mod secret;
mod service;
mod serving;
mod snapshot;
pub mod store;
mod table;
mod telemetry;
mod time;
mod verbs;
pub mod workload;
mod workloads;

pub use listen::ListenError;
pub use plane::{Config, Controllers, Exposure, Plane, PlaneError};
pub use service::Service;
