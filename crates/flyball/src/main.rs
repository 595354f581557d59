//! The flyball command.
fn main() {}
