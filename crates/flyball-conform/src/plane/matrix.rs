//! Which verb of which kind has been asked with which outcome, and which cells have a reason instead. Not here: asking.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

/// The outcomes that are told apart; any success is `2xx`.
pub const OUTCOMES: [&str; 10] = [
    "2xx", "400", "401", "404", "405", "406", "409", "410", "415", "422",
];

/// The verbs on objects and collections.
const VERBS: [&str; 8] = [
    "create",
    "get",
    "list",
    "watch",
    "update",
    "patch",
    "delete",
    "deletecollection",
];
/// The verbs on subresources.
const SUB_VERBS: [&str; 3] = ["get", "update", "patch"];

/// One cell of the matrix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// `deployments.apps`, `deployments.apps/scale`.
    pub resource: String,
    /// `get`.
    pub verb: &'static str,
    /// One of [`OUTCOMES`].
    pub outcome: &'static str,
}

/// Why some cells have no request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The sentence.
    pub reason: String,
    /// Outcomes it is about.
    pub outcomes: Vec<String>,
    /// Verbs it is about; none means all.
    #[serde(default)]
    pub verbs: Vec<String>,
    /// Ends of resource names it is about; none means all.
    #[serde(default)]
    pub resources: Vec<String>,
}

/// The requests of a run, counted by cell.
#[derive(Debug, Default)]
pub struct Matrix {
    counts: BTreeMap<Cell, usize>,
    reasons: Vec<Reason>,
}

impl Cell {
    /// The cell of a request, `None` for paths that name no resource and outcomes that are not told apart.
    pub fn of(method: &str, target: &str, status: u64) -> Option<Self> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let group = match *parts.first()? {
            "api" => {
                parts.drain(..2.min(parts.len()));
                ""
            }
            "apis" if parts.len() > 3 => {
                let group = parts[1];
                parts.drain(..3);
                group
            }
            _ => return None,
        };
        if parts.first() == Some(&"namespaces") && parts.len() > 2 && parts[2] != "status" {
            parts.drain(..2);
        }
        let resource = match group {
            "" => (*parts.first()?).to_owned(),
            group => format!("{}.{group}", parts.first()?),
        };
        let (resource, named) = match parts.as_slice() {
            [_] => (resource, false),
            [_, _] => (resource, true),
            [_, _, sub @ ("status" | "scale")] => (format!("{resource}/{sub}"), true),
            _ => return None,
        };
        let watches = query.contains("watch=true");
        let verb = match (method, named) {
            ("POST", _) => "create",
            ("GET", false) if watches => "watch",
            ("GET", false) => "list",
            ("GET", true) => "get",
            ("PUT", _) => "update",
            ("PATCH", _) => "patch",
            ("DELETE", true) => "delete",
            ("DELETE", false) => "deletecollection",
            _ => return None,
        };
        let outcome = match status {
            200..=299 => "2xx",
            _ => OUTCOMES
                .iter()
                .find(|outcome| outcome.parse() == Ok(status))?,
        };
        Some(Self {
            resource,
            verb,
            outcome,
        })
    }
}

impl Reason {
    fn covers(&self, cell: &Cell) -> bool {
        let has =
            |list: &[String], text: &str| list.is_empty() || list.iter().any(|one| one == text);
        has(&self.outcomes, cell.outcome)
            && has(&self.verbs, cell.verb)
            && (self.resources.is_empty()
                || self
                    .resources
                    .iter()
                    .any(|end| cell.resource.ends_with(end.as_str())))
    }
}

impl Matrix {
    /// An empty matrix with the reasons of a file.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn with_reasons(path: &Path) -> Result<Self> {
        let place = || path.display().to_string();
        let text = fs::read_to_string(path).with_context(place)?;
        Ok(Self {
            counts: BTreeMap::new(),
            reasons: serde_saphyr::from_str(&text).with_context(place)?,
        })
    }

    /// Counts one request.
    pub fn count(&mut self, method: &str, target: &str, status: u64) {
        if let Some(cell) = Cell::of(method, target, status) {
            *self.counts.entry(cell).or_default() += 1;
        }
    }

    /// The verbs of a resource that was asked for with success at all.
    fn rows(&self) -> Vec<(&str, &'static str)> {
        let served: BTreeSet<&str> = self
            .counts
            .keys()
            .filter(|cell| cell.outcome == "2xx")
            .map(|cell| cell.resource.as_str())
            .collect();
        served
            .into_iter()
            .flat_map(|resource| {
                let verbs: &[&'static str] = if resource.contains('/') {
                    &SUB_VERBS
                } else {
                    &VERBS
                };
                verbs.iter().map(move |verb| (resource, *verb))
            })
            .collect()
    }

    /// The cells without a request and without a reason.
    pub fn holes(&self) -> Vec<Cell> {
        let cells = self.rows().into_iter().flat_map(|(resource, verb)| {
            OUTCOMES.iter().map(move |outcome| Cell {
                resource: resource.to_owned(),
                verb,
                outcome,
            })
        });
        cells
            .filter(|cell| !self.counts.contains_key(cell))
            .filter(|cell| !self.reasons.iter().any(|reason| reason.covers(cell)))
            .collect()
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:44} {:16}", "resource", "verb")?;
        for outcome in OUTCOMES {
            write!(f, "{outcome:>5}")?;
        }
        writeln!(f)?;
        for (resource, verb) in self.rows() {
            write!(f, "{resource:44} {verb:16}")?;
            for outcome in OUTCOMES {
                let cell = Cell {
                    resource: resource.to_owned(),
                    verb,
                    outcome,
                };
                match self.counts.get(&cell) {
                    Some(count) => write!(f, "{count:5}")?,
                    None if self.reasons.iter().any(|reason| reason.covers(&cell)) => {
                        write!(f, "{:>5}", "-")?;
                    }
                    None => write!(f, "{:>5}", "?")?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_fall_into_their_cells() {
        let table = [
            (
                "GET",
                "/api/v1/namespaces/a/pods?watch=true",
                200,
                "pods watch 2xx",
            ),
            ("GET", "/api/v1/namespaces/a", 404, "namespaces get 404"),
            (
                "GET",
                "/api/v1/namespaces/a/status",
                200,
                "namespaces/status get 2xx",
            ),
            ("POST", "/api/v1/namespaces", 409, "namespaces create 409"),
            (
                "PUT",
                "/apis/apps/v1/namespaces/a/deployments/b/scale",
                422,
                "deployments.apps/scale update 422",
            ),
            (
                "DELETE",
                "/apis/apps/v1/namespaces/a/deployments",
                200,
                "deployments.apps deletecollection 2xx",
            ),
        ];
        for (method, target, status, expected) in table {
            let Cell {
                resource,
                verb,
                outcome,
            } = Cell::of(method, target, status).unwrap();
            assert_eq!(format!("{resource} {verb} {outcome}"), expected);
        }
        assert!(Cell::of("GET", "/version", 200).is_none());
    }

    #[test]
    fn a_cell_without_request_and_reason_is_a_hole() {
        let mut matrix = Matrix::default();
        matrix.count("GET", "/api/v1/pods", 200);
        assert!(!matrix.holes().is_empty());
        matrix.reasons.push(Reason {
            reason: String::new(),
            outcomes: Vec::new(),
            verbs: Vec::new(),
            resources: vec!["pods".to_owned()],
        });
        assert!(matrix.holes().is_empty());
    }
}
