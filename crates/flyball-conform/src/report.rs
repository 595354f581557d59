//! Verdicts and their sum. A verdict says whether a case agrees and, if not, shows the difference.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::de::DeserializeOwned;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

/// Unchanged lines shown around a difference.
const CONTEXT_LINES: usize = 3;

/// How a case ended.
#[derive(Debug)]
pub enum Verdict {
    /// What came out is what was expected.
    Passed,
    /// It is not; the text shows the difference.
    Failed(String),
}

impl Verdict {
    /// Passes when the two values are equal.
    pub fn equal(expected: &Value, actual: &Value) -> Self {
        if expected == actual {
            return Self::Passed;
        }
        let pretty = |value: &Value| format!("{value:#}\n");
        Self::Failed(difference(&pretty(expected), &pretty(actual)))
    }

    /// A case that could not be read or run.
    pub fn unreadable(error: impl Display) -> Self {
        Self::Failed(format!("the case cannot be run: {error}\n"))
    }
}

/// Runs `check` on a case; one that cannot be read fails, and so does one that panics.
pub fn checked<T: DeserializeOwned>(case: &Value, check: impl FnOnce(T) -> Verdict) -> Verdict {
    match T::deserialize(case) {
        Err(error) => Verdict::unreadable(error),
        Ok(case) => catch_unwind(AssertUnwindSafe(|| check(case)))
            .unwrap_or_else(|_| Verdict::Failed("the code panicked\n".to_owned())),
    }
}

/// The lines that differ, `-` expected, `+` actual, with some lines around them.
pub fn difference(expected: &str, actual: &str) -> String {
    let mut text = String::new();
    let diff = TextDiff::from_lines(expected, actual);
    for group in diff.grouped_ops(CONTEXT_LINES) {
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => "-",
                ChangeTag::Insert => "+",
                ChangeTag::Equal => " ",
            };
            text.push_str(sign);
            text.push_str(change.value());
        }
    }
    text
}

/// How many cases passed and how many did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cases that agree.
    pub passed: usize,
    /// Cases that do not.
    pub failed: usize,
}

impl Tally {
    /// Counts one verdict.
    pub fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Failed(_) => self.failed += 1,
        }
    }

    /// Adds another sum to this one.
    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_difference_shows_both_sides() {
        let Verdict::Failed(text) = Verdict::equal(&json!({"a": 1}), &json!({"a": 2})) else {
            panic!("1 is not 2");
        };
        assert_eq!(text, " {\n-  \"a\": 1\n+  \"a\": 2\n }\n");
    }

    #[test]
    fn a_case_that_panics_fails_alone() {
        let verdict = checked::<i32>(&json!(1), |_| panic!("no"));
        assert!(matches!(verdict, Verdict::Failed(_)));
    }
}
