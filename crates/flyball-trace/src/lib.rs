//! A decision as a versioned record: one JSON object a line, and the text printers that read nothing else.
//! Log, panel, explanation and recording all speak it. `docs/reference/trace-schema.md` describes every field.
//!
//! Not here: decisions (`flyball-core`), files, clocks. No printer computes: what a text says stands in the record.

pub mod convert;
pub mod real;
pub mod record;
pub mod step;
pub mod text;

pub use real::Real;
pub use record::{DecisionRecord, ReadError, SCHEMA};
pub use step::Step;
