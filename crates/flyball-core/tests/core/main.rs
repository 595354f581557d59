//! The core through its public calls: rows of outcomes, and properties over arbitrary input.

mod outcomes;
mod panel;
mod properties;
mod support;
