//! The record as others read it: it survives its line of JSON, its document names everything in it, and its printers say
//! what was decided. Not here: whether the decisions are right (`flyball-core`).

mod document;
mod printers;
mod round_trip;
mod sample;
