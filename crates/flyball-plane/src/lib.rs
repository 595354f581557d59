//! See the crate's description; contents follow.

<<<<<<< Updated upstream
pub mod object;
pub mod store;
=======
pub mod patch;
pub mod schema;
>>>>>>> Stashed changes
pub mod workload;
