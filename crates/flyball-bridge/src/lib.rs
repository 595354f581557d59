//! The border between the API and the decision: API objects become core inputs ("lower"), a core outcome becomes the
//! status to write ("raise"). Not here: rules, I/O, time.
//!
//! **Invariant:** no Kubernetes type passes towards the core, and no number is computed here that a rule depends on.

pub mod lower;
pub mod pod;
pub mod raise;
