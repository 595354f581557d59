//! What one decoding remembers: where it is, what it found, and the error that decides it.

use std::collections::BTreeSet;

use flyball_api::go_text::quote;
use serde_json::Value;

use super::{DecodeError, Decoded, Origin};

/// Strict problems kept (upstream: `saveStrictError`).
const PROBLEMS_MAX: usize = 100;

pub(super) struct State<'s> {
    pub(super) origin: Origin,
    /// Path for strict problems: `spec.containers[0].image`.
    path: String,
    /// Names of the struct fields on the way here: type errors name these alone.
    fields: Vec<&'s str>,
    /// The struct whose field is being read.
    owner: Option<&'s str>,
    problems: Vec<String>,
    seen: BTreeSet<String>,
    /// The first wrong type. Reading goes on, because a value that cannot be parsed outranks it.
    mismatch: Option<String>,
    /// A value its own type could not read; reading stopped there.
    fatal: Option<String>,
}

/// Where a state was before it stepped down.
pub(super) struct Mark<'s> {
    path: usize,
    fields: usize,
    owner: Option<&'s str>,
}

impl<'s> State<'s> {
    pub(super) fn new(origin: Origin) -> Self {
        Self {
            origin,
            path: String::new(),
            fields: Vec::new(),
            owner: None,
            problems: Vec::new(),
            seen: BTreeSet::new(),
            mismatch: None,
            fatal: None,
        }
    }

    pub(super) fn finish(
        self,
        read: Result<Value, serde_json::Error>,
    ) -> Result<Decoded, DecodeError> {
        if let Some(text) = self.fatal {
            return Err(DecodeError::Mismatch(text));
        }
        let object = read.map_err(|error| DecodeError::Syntax(error.to_string()))?;
        match self.mismatch {
            Some(text) => Err(DecodeError::Mismatch(text)),
            None => Ok(Decoded {
                object,
                strict: self.problems,
            }),
        }
    }

    pub(super) fn mark(&self) -> Mark<'s> {
        Mark {
            path: self.path.len(),
            fields: self.fields.len(),
            owner: self.owner,
        }
    }

    pub(super) fn back_to(&mut self, mark: &Mark<'s>) {
        self.path.truncate(mark.path);
        self.fields.truncate(mark.fields);
        self.owner = mark.owner;
    }

    /// Steps into a field of the struct `owner`.
    pub(super) fn enter_field(&mut self, owner: &'s str, name: &'s str) {
        self.enter_key(name);
        self.fields.push(name);
        self.owner = Some(owner);
    }

    /// Steps to a key of a map.
    pub(super) fn enter_key(&mut self, key: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(key);
    }

    pub(super) fn enter_index(&mut self, index: usize) {
        self.path.push('[');
        self.path.push_str(&index.to_string());
        self.path.push(']');
    }

    pub(super) fn unknown(&mut self, field: &str) {
        self.problem("unknown", field);
    }

    pub(super) fn duplicate(&mut self, field: &str) {
        self.problem("duplicate", field);
    }

    fn problem(&mut self, what: &str, field: &str) {
        let dot = if self.path.is_empty() { "" } else { "." };
        let path = format!("{}{dot}{field}", self.path);
        let text = format!("{what} field {}", quote(&path));
        if self.problems.len() < PROBLEMS_MAX && self.seen.insert(text.clone()) {
            self.problems.push(text);
        }
    }

    /// Notes a value that cannot be stored in a Go value of type `wanted`. `shape` is `string` or `number 1.5`.
    pub(super) fn mismatch(&mut self, shape: &str, wanted: &str) {
        if self.mismatch.is_none() {
            self.mismatch = Some(self.unmarshal_error(shape, wanted));
        }
    }

    /// Notes the conversion error of a strategic merge's result.
    pub(super) fn inconvertible(&mut self, text: String) {
        self.mismatch.get_or_insert(text);
    }

    /// Stops at a value whose type reads itself, as quantities and times do.
    pub(super) fn fail<E: serde::de::Error>(&mut self, text: String) -> E {
        self.fatal = Some(text);
        E::custom("stopped at a value that cannot be read")
    }

    /// Upstream `UnmarshalTypeError.Error`.
    pub(super) fn unmarshal_error(&self, shape: &str, wanted: &str) -> String {
        match self.owner {
            Some(owner) => {
                let field = self.fields.join(".");
                format!(
                    "json: cannot unmarshal {shape} into Go struct field {owner}.{field} of type {wanted}"
                )
            }
            None => format!("json: cannot unmarshal {shape} into Go value of type {wanted}"),
        }
    }
}
