//! The patch types together: rows of upstream behaviour, and properties of patches as kubectl makes them.

mod apply;
mod json;
mod merge;
mod strategic;
mod upstream;
