//! Label selectors: requirements, matching, printing. The text grammar is in `parse`, the object form in `object`.

mod object;
mod parse;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;
use thiserror::Error;

pub use self::object::{LabelSelector, LabelSelectorRequirement, describe};
use crate::field::{FieldError, FieldPath, aggregate};
use crate::name;

/// How a requirement compares a label. Upstream: apimachinery selection/operator.go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `k in (a,b)`
    In,
    /// `k notin (a,b)`
    NotIn,
    /// `k=a`
    Equals,
    /// `k==a`, the same with another text
    DoubleEquals,
    /// `k!=a`
    NotEquals,
    /// `k`
    Exists,
    /// `!k`
    DoesNotExist,
    /// `k>1`
    GreaterThan,
    /// `k<1`
    LessThan,
}

/// One condition on one label. Upstream: apimachinery labels/selector.go `Requirement`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

impl Requirement {
    /// A checked requirement, or every problem of it under `path`. Upstream: labels/selector.go `NewRequirement`.
    pub fn try_new(
        path: &FieldPath,
        key: &str,
        operator: Operator,
        values: Vec<String>,
    ) -> Result<Self, Vec<FieldError>> {
        let mut problems = check_key(key, &path.child("key"));
        let values_path = path.child("values");
        problems.extend(check_count(operator, &values, &values_path));
        for (index, value) in values.iter().enumerate() {
            let found = name::label_value(value);
            if !found.is_empty() {
                let path = values_path.index(index).key(key);
                problems.push(FieldError::invalid(&path, value.as_str(), found.join("; ")));
            }
        }
        if problems.is_empty() {
            Ok(Self {
                key: key.to_owned(),
                operator,
                values,
            })
        } else {
            Err(problems)
        }
    }

    /// The label's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The comparison.
    pub const fn operator(&self) -> Operator {
        self.operator
    }

    /// The values to compare with, in the order given.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Whether a label of this value, or its absence, meets the requirement. Upstream: `Requirement.Matches`.
    pub fn matches(&self, label: Option<&str>) -> bool {
        let is_listed = |label| self.values.iter().any(|value| value == label);
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => {
                label.is_some_and(is_listed)
            }
            Operator::NotIn | Operator::NotEquals => !label.is_some_and(is_listed),
            Operator::Exists => label.is_some(),
            Operator::DoesNotExist => label.is_none(),
            Operator::GreaterThan => self
                .numbers(label)
                .is_some_and(|(label, bound)| label > bound),
            Operator::LessThan => self
                .numbers(label)
                .is_some_and(|(label, bound)| label < bound),
        }
    }

    fn numbers(&self, label: Option<&str>) -> Option<(i64, i64)> {
        Some((label?.parse().ok()?, self.values.first()?.parse().ok()?))
    }
}

fn check_key(key: &str, path: &FieldPath) -> Vec<FieldError> {
    let problems = name::label_key(key);
    let error = (!problems.is_empty()).then(|| FieldError::invalid(path, key, problems.join("; ")));
    error.into_iter().collect()
}

fn check_count(operator: Operator, values: &[String], path: &FieldPath) -> Vec<FieldError> {
    // Upstream shows an absent list, which is what an empty one has become here.
    let shown = || {
        if values.is_empty() {
            Value::Null
        } else {
            Value::from(values)
        }
    };
    let wrong = |detail: &str| vec![FieldError::invalid(path, shown(), detail)];
    match operator {
        Operator::In | Operator::NotIn if values.is_empty() => {
            wrong("for 'in', 'notin' operators, values set can't be empty")
        }
        Operator::Equals | Operator::DoubleEquals | Operator::NotEquals if values.len() != 1 => {
            wrong("exact-match compatibility requires one single value")
        }
        Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
            wrong("values set must be empty for exists and does not exist")
        }
        Operator::GreaterThan | Operator::LessThan => {
            let mut problems = Vec::new();
            if values.len() != 1 {
                problems.extend(wrong(
                    "for 'Gt', 'Lt' operators, exactly one value is required",
                ));
            }
            let words = "for 'Gt', 'Lt' operators, the value must be an integer";
            let texts = values
                .iter()
                .enumerate()
                .filter(|(_, value)| value.parse::<i64>().is_err());
            let texts =
                texts.map(|(i, text)| FieldError::invalid(&path.index(i), text.as_str(), words));
            problems.extend(texts);
            problems
        }
        _ => Vec::new(),
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut values = self.values.clone();
        values.sort_unstable();
        let (key, values) = (&self.key, values.join(","));
        match self.operator {
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
        }
    }
}

/// A text or object that is no selector, in upstream's words.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct SelectorError(String);

impl SelectorError {
    fn of_fields(problems: &[FieldError]) -> Self {
        Self(aggregate(problems))
    }
}

/// Which sets of labels are meant. Upstream: apimachinery labels/selector.go `Selector`.
///
/// Invariant: requirements are sorted by key; equal keys keep the order in which they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// None means that nothing matches.
    requirements: Option<Vec<Requirement>>,
}

impl Selector {
    /// Reads `app=web,tier in (a,b),!debug`; an empty text matches everything. Upstream: labels/selector.go `Parse`.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        parse::parse(text).map(Self::from)
    }

    /// Matches every set of labels.
    pub const fn everything() -> Self {
        Self {
            requirements: Some(Vec::new()),
        }
    }

    /// Matches no set of labels.
    pub const fn nothing() -> Self {
        Self { requirements: None }
    }

    /// Matches labels that hold all of `labels`, unchecked. Upstream: labels/selector.go `SelectorFromSet`.
    pub fn of_labels(labels: &BTreeMap<String, String>) -> Self {
        let requirements = labels.iter().map(|(key, value)| Requirement {
            key: key.clone(),
            operator: Operator::Equals,
            values: vec![value.clone()],
        });
        Self::from(requirements.collect::<Vec<_>>())
    }

    /// Whether every set of labels matches.
    pub fn is_everything(&self) -> bool {
        self.requirements.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether no set of labels matches, as far as that shows without comparing requirements.
    pub const fn is_nothing(&self) -> bool {
        self.requirements.is_none()
    }

    /// The conditions, all of which must hold; none for both extremes.
    pub fn requirements(&self) -> &[Requirement] {
        self.requirements.as_deref().unwrap_or_default()
    }

    /// Whether these labels match.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.matches_with(|key| labels.get(key).map(String::as_str))
    }

    /// Whether labels that are looked up by `label` match.
    pub fn matches_with<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        let all = |rs: &Vec<Requirement>| rs.iter().all(|r| r.matches(label(&r.key)));
        self.requirements.as_ref().is_some_and(all)
    }
}

impl From<Vec<Requirement>> for Selector {
    fn from(mut requirements: Vec<Requirement>) -> Self {
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Self {
            requirements: Some(requirements),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, requirement) in self.requirements().iter().enumerate() {
            write!(f, "{}{requirement}", if i > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
