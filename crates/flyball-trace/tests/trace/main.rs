//! The record as others read it: it survives its line of JSON, its document names everything in it, and its printers say
//! what was decided. Not here: whether the decisions are right (`flyball-core`).
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by ending"
)]

mod document;
mod printers;
mod round_trip;
mod sample;
