//! Whole-process tests of the `flyball` binary with stock kubectl; all of them are in `tests`. Nothing is in here, because
//! nothing else may use it.
