//! The plane against the genuine kube-apiserver: the same requests to both, the same answers from both.
//! The format of the scripts is settled in `conformance/plane/FORMAT.md`. No expectation is made here: the genuine
//! server's answer is the expectation.

pub mod dice;
pub mod difference;
pub mod matrix;
pub mod mutation;
pub mod normalise;
pub mod random;
pub mod run;
pub mod script;
pub mod search;
pub mod server;
pub mod template;
