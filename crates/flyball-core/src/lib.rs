//! The autoscaling decision, pure: policy, snapshot and history in; outcome and explanation out.
//!
//! ```text
//! needs ──► decide ──────────────────────────────────────► (write) ──► conclude
//!           readings ─► proposals ─► recommendation ─► windows ─► policies, bounds
//! ```
//!
//! Not here: Kubernetes types, JSON, clocks, randomness, logging, I/O. Time is an argument, text comes ready-made
//! where it is somebody else's, and the same inputs give the same result on every machine.
//!
//! **Invariant:** nothing panics and nothing fails; missing data is a value and the outcome explains it.
//! **Invariant:** the default [`policy::Settings`] equal Kubernetes 1.37.2 on amd64, number for number.
//! **Invariant:** [`groups::Groups`] equals the fold of its members.
//!
//! ```
//! use flyball_core::{History, ScaleView, Snapshot, WriteResult, conclude, decide};
//! use flyball_core::{policy, snapshot::Previous, time::Instant};
//!
//! let target = policy::TargetRef {
//!     kind: "Deployment".into(),
//!     namespace: "default".into(),
//!     name: "web".into(),
//!     autoscaler: "web".into(),
//! };
//! let policy = policy::Policy {
//!     target,
//!     replicas_min: Some(2),
//!     replicas_max: 10,
//!     metrics: Vec::new(),
//!     behavior: None,
//!     settings: policy::Settings::default(),
//! };
//! let snapshot = Snapshot {
//!     now: Instant(0),
//!     scale: Ok(ScaleView { spec: 12, status: 12 }),
//!     previous: &Previous::default(),
//!     generation: 1,
//!     selection: Ok(()),
//!     readings: &[],
//! };
//! let decision = decide(&policy, &snapshot, &History::default());
//! assert_eq!(decision.scale_to, Some(10));
//! let outcome = conclude(decision, &WriteResult::Written, Instant(5));
//! assert_eq!(outcome.status.desired, 10);
//! ```

#![cfg_attr(
    flyball_recorder_removed,
    allow(
        unused,
        reason = "what only a step reads is unused in the build without steps"
    )
)]

pub mod behavior;
mod compute;
pub mod conclude;
pub mod condition;
pub mod decide;
pub mod failure;
pub mod go_amd64;
pub mod groups;
pub mod history;
pub mod message;
pub mod metric;
pub mod needs;
pub mod outcome;
pub mod pod;
pub mod policy;
pub mod ratio;
pub mod request;
pub mod snapshot;
pub mod step;
pub mod time;

pub use conclude::conclude;
pub use decide::{Decider, Decision, decide, decide_with};
pub use history::History;
pub use needs::{Needs, needs};
pub use outcome::{Outcome, WriteResult};
pub use policy::Policy;
pub use snapshot::{ScaleView, Snapshot};
