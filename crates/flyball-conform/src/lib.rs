//! Conformance: puts recorded facts about the genuine controller to this one and tells every difference.
//!
//! Two kinds of facts. *Vectors* (`vectors`, `suite`) are single calls with their results; *timelines*
//! (`timeline`) are whole runs of the controller against a scripted cluster in virtual time.
//! Development only: nothing of the product depends on this crate, and no expectation is made here.

pub mod plane;
pub mod report;
pub mod suite;
pub mod timeline;
pub mod vectors;
