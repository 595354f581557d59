//! The group `autoscaling`, by version. Version 2 is the one to compute with; other versions convert to it.

pub mod annotations;
pub mod v2;
