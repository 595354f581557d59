//! The subcommands, one file each: its flags, and a `run`.

pub(crate) mod controller;
pub(crate) mod load;
pub(crate) mod plane;
pub(crate) mod up;
pub(crate) mod version;
