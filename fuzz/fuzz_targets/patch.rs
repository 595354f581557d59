//! Fuzzes `entry::patch`, which the tests of flyball-plane run as well, with random and mutated seeds.

#![no_main]

#[path = "../../crates/flyball-plane/tests/untrusted/entry.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entry::patch(bytes));
