//! What is meant to differ between the two servers: `conformance/plane/differences.yaml`, each entry with its reason.
//! An entry takes something out of both answers before they are compared. Not here: what any two servers may differ in
//! (`normalise`).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

/// More would mean that the plane is another product.
const ENTRIES_MAX: usize = 20;

/// One thing that is meant to differ.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Its name.
    pub id: String,
    /// Why, one sentence.
    pub reason: String,
    /// Texts of which one stands in the request's method and path; none means every request.
    #[serde(default)]
    pub requests: Vec<String>,
    /// A text of the genuine server's answer without which the entry does not apply.
    #[serde(default)]
    pub having: String,
    /// What is taken out.
    #[serde(flatten)]
    pub out: Out,
}

/// What is taken out of both answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Out {
    /// Fields of this name, wherever they are.
    Field(String),
    /// What follows this text within any text.
    After(String),
    /// The whole answer, when both refuse.
    Refusal(bool),
    /// The whole answer.
    Answer(bool),
}

/// All entries, and how often each was needed.
#[derive(Debug, Default)]
pub struct Differences {
    entries: Vec<Difference>,
    uses: Mutex<BTreeMap<String, usize>>,
}

impl Differences {
    /// The entries of a file.
    ///
    /// # Errors
    /// A file that cannot be read, or that has too many entries.
    pub fn read(path: &Path) -> Result<Self> {
        let place = || path.display().to_string();
        let text = fs::read_to_string(path).with_context(place)?;
        let entries: Vec<Difference> = serde_saphyr::from_str(&text).with_context(place)?;
        ensure!(
            entries.len() <= ENTRIES_MAX,
            "{} entries in {}: at most {ENTRIES_MAX} are allowed",
            entries.len(),
            path.display()
        );
        Ok(Self {
            entries,
            uses: Mutex::default(),
        })
    }

    /// Takes out of both answers what is meant to differ, if they differ.
    ///
    /// # Panics
    /// Never: nobody panics while counting.
    pub fn take_out(&self, request: &str, expected: &mut Value, actual: &mut Value) {
        for entry in &self.entries {
            if expected == actual {
                return;
            }
            let applies = entry.requests.is_empty()
                || entry.requests.iter().any(|text| request.contains(text));
            if !applies || !expected.to_string().contains(&entry.having) {
                continue;
            }
            let before = (expected.clone(), actual.clone());
            entry.out.apply(expected, actual);
            if before != (expected.clone(), actual.clone()) {
                let mut uses = self.uses.lock().expect("no holder of this lock panics");
                *uses.entry(entry.id.clone()).or_default() += 1;
            }
        }
    }

    /// The entries, each with how many answers it was needed for.
    ///
    /// # Panics
    /// Never: nobody panics while counting.
    pub fn used(&self) -> Vec<(Difference, usize)> {
        let uses = self.uses.lock().expect("no holder of this lock panics");
        self.entries
            .iter()
            .map(|entry| (entry.clone(), uses.get(&entry.id).copied().unwrap_or(0)))
            .collect()
    }
}

impl Out {
    fn apply(&self, expected: &mut Value, actual: &mut Value) {
        let refused = |answer: &Value| answer["status"].as_u64().is_some_and(|code| code >= 400);
        match self {
            Self::Refusal(_) if !(refused(expected) && refused(actual)) => {}
            Self::Refusal(_) | Self::Answer(_) => {
                *expected = Value::Null;
                *actual = Value::Null;
            }
            Self::Field(_) | Self::After(_) => {
                self.prune(expected);
                self.prune(actual);
            }
        }
    }

    fn prune(&self, value: &mut Value) {
        match (self, value) {
            (Self::After(text), Value::String(found)) => {
                if let Some((head, _)) = found.split_once(text.as_str()) {
                    *found = format!("{head}{text}");
                }
            }
            (_, Value::Array(items)) => items.iter_mut().for_each(|item| self.prune(item)),
            (_, Value::Object(fields)) => {
                if let Self::Field(name) = self {
                    fields.remove(name);
                }
                fields.values_mut().for_each(|value| self.prune(value));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(out: Out) -> Differences {
        let entry = Difference {
            id: "d".to_owned(),
            reason: String::new(),
            having: String::new(),
            requests: vec!["/pods".to_owned()],
            out,
        };
        Differences {
            entries: vec![entry],
            uses: Mutex::default(),
        }
    }

    #[test]
    fn only_what_is_named_is_taken_out_and_only_where() {
        let differences = one(Out::After("may not change".to_owned()));
        let answers = || (json!(["may not change: a"]), json!(["may not change: b"]));
        let (mut expected, mut actual) = answers();
        differences.take_out("PUT /api/v1/nodes", &mut expected, &mut actual);
        assert_ne!(expected, actual);
        differences.take_out("PUT /api/v1/pods", &mut expected, &mut actual);
        assert_eq!(expected, actual);
        assert_eq!(differences.used()[0].1, 1);
    }

    #[test]
    fn a_refusal_does_not_hide_that_only_one_refuses() {
        let differences = one(Out::Refusal(true));
        let (mut expected, mut actual) = (json!({"status": 422}), json!({"status": 200}));
        differences.take_out("PUT /pods", &mut expected, &mut actual);
        assert_ne!(expected, actual);
    }
}
