//! The plane through its service, in process and in virtual time.

mod autoscalers;
mod client;
mod content;
mod deletion;
mod discovery;
mod objects;
mod scale;
mod watches;
mod workloads;
mod world;
