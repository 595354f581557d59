//! Which crate may use which: the table of ARCHITECTURE.md, checked against cargo's resolved graph.
//! Only normal edges count; tests may look anywhere.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::project;

/// One crate: what of ours it may use, and what of others it must not reach, however far.
struct Rule {
    name: &'static str,
    may: &'static [&'static str],
    never: &'static [&'static str],
}

const NO_CLUSTER: &[&str] = &[
    "kube",
    "kube-client",
    "tokio",
    "hyper",
    "tower",
    "prometheus",
];
const ALL: &[&str] = &[
    "flyball-core",
    "flyball-api",
    "flyball-clock",
    "flyball-bridge",
    "flyball-trace",
    "flyball-plane",
    "flyball-controller",
];

/// In the order of the levels: a crate may only name crates that stand before it.
const RULES: &[Rule] = &[
    Rule {
        name: "flyball-core",
        may: &[],
        never: &[],
    },
    Rule {
        name: "flyball-clock",
        may: &[],
        never: &["kube", "k8s-openapi", "hyper"],
    },
    Rule {
        name: "flyball-api",
        may: &[],
        never: NO_CLUSTER,
    },
    Rule {
        name: "flyball-bridge",
        may: &["flyball-core", "flyball-api"],
        never: NO_CLUSTER,
    },
    Rule {
        name: "flyball-trace",
        may: &["flyball-core"],
        never: NO_CLUSTER,
    },
    Rule {
        name: "flyball-plane",
        may: &["flyball-api", "flyball-clock"],
        never: &["kube", "kube-client"],
    },
    Rule {
        name: "flyball-controller",
        may: &[
            "flyball-core",
            "flyball-api",
            "flyball-bridge",
            "flyball-trace",
            "flyball-clock",
        ],
        never: &["redb", "clap"],
    },
    Rule {
        name: "flyball",
        may: ALL,
        never: &[],
    },
    Rule {
        name: "flyball-conform",
        may: ALL,
        never: &[],
    },
    Rule {
        name: "flyball-testkit",
        may: ALL,
        never: &[],
    },
    Rule {
        name: "flyball-e2e",
        may: &["flyball-testkit"],
        never: &[],
    },
    Rule {
        name: "xtask",
        may: &[],
        never: NO_CLUSTER,
    },
];

/// Compares the graph in the form of `cargo metadata` with the table.
pub(super) fn check(metadata: &Value) -> Result<Vec<String>> {
    let graph = Graph::read(metadata)?;
    let mut findings = Vec::new();
    for name in &graph.members {
        match RULES.iter().find(|rule| rule.name == name) {
            Some(rule) => findings.extend(graph.breaches(rule)),
            None => findings.push(format!(
                "{name}: a new crate needs a row in the table of crate edges"
            )),
        }
    }
    Ok(findings)
}

/// `cargo tree` of the core prints the core and nothing else.
pub(super) fn core_stands_alone() -> Result<Option<String>> {
    let mut tree = project::cargo(&["tree", "--package", "flyball-core", "--edges", "normal"]);
    let lines = project::stdout(&mut tree)?.lines().count();
    Ok((lines != 1)
        .then(|| format!("flyball-core: depends on std only, its tree has {lines} lines")))
}

struct Graph {
    members: BTreeSet<String>,
    uses: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    fn read(metadata: &Value) -> Result<Self> {
        let mut names = BTreeMap::new();
        for package in list(&metadata["packages"])? {
            names.insert(text(&package["id"])?, text(&package["name"])?);
        }
        let name_of = |id: &Value| -> Result<String> {
            let id = text(id)?;
            names
                .get(id)
                .map(ToString::to_string)
                .with_context(|| format!("unknown package {id}"))
        };
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in list(&metadata["resolve"]["nodes"])? {
            let of_node = uses.entry(name_of(&node["id"])?).or_default();
            for edge in list(&node["deps"])? {
                // Cargo writes a normal edge as the kind null.
                if list(&edge["dep_kinds"])?
                    .iter()
                    .any(|kind| kind["kind"].is_null())
                {
                    of_node.insert(name_of(&edge["pkg"])?);
                }
            }
        }
        let members = list(&metadata["workspace_members"])?
            .iter()
            .map(name_of)
            .collect::<Result<_>>()?;
        Ok(Self { members, uses })
    }

    fn breaches(&self, rule: &Rule) -> Vec<String> {
        let direct = self.uses.get(rule.name).into_iter().flatten();
        let mut findings: Vec<String> = direct
            .filter(|used| self.members.contains(*used) && !rule.may.contains(&used.as_str()))
            .map(|used| format!("{}: must not depend on {used}", rule.name))
            .collect();
        let reached = self.reached(rule.name);
        let forbidden = rule.never.iter().filter(|name| reached.contains(**name));
        findings.extend(forbidden.map(|name| format!("{}: must not reach {name}", rule.name)));
        findings
    }

    fn reached(&self, from: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(name) = open.pop() {
            for used in self.uses.get(name).into_iter().flatten() {
                if reached.insert(used.as_str()) {
                    open.push(used);
                }
            }
        }
        reached
    }
}

fn list(value: &Value) -> Result<&Vec<Value>> {
    value
        .as_array()
        .context("cargo metadata: a list is missing")
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().context("cargo metadata: a text is missing")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Findings for a workspace of the given crates and edges `(from, to, kind)`.
    fn findings(members: &[&str], edges: &[(&str, &str, Option<&str>)]) -> Vec<String> {
        let mut names: BTreeSet<&str> = members.iter().copied().collect();
        names.extend(edges.iter().map(|(_, to, _)| *to));
        let nodes: Vec<Value> = names
            .iter()
            .map(|name| {
                let deps: Vec<Value> = edges
                    .iter()
                    .filter(|(from, _, _)| from == name)
                    .map(|(_, to, kind)| json!({"pkg": to, "dep_kinds": [{"kind": kind}]}))
                    .collect();
                json!({"id": name, "deps": deps})
            })
            .collect();
        let packages: Vec<Value> = names.iter().map(|n| json!({"id": n, "name": n})).collect();
        let all = json!({"packages": packages, "workspace_members": members, "resolve": {"nodes": nodes}});
        check(&all).unwrap()
    }

    #[test]
    fn an_edge_that_points_up_is_found() {
        let members = ["flyball-plane", "flyball-controller"];
        let found = findings(&members, &[("flyball-plane", "flyball-controller", None)]);
        assert_eq!(
            found,
            ["flyball-plane: must not depend on flyball-controller"]
        );
    }

    #[test]
    fn a_forbidden_crate_is_found_behind_another() {
        let edges = [
            ("flyball-api", "k8s-openapi", None),
            ("k8s-openapi", "tokio", None),
        ];
        assert_eq!(
            findings(&["flyball-api"], &edges),
            ["flyball-api: must not reach tokio"]
        );
    }

    #[test]
    fn tests_may_look_anywhere() {
        let members = ["flyball-plane", "flyball-core"];
        assert!(findings(&members, &[("flyball-plane", "flyball-core", Some("dev"))]).is_empty());
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        let found = findings(&["flyball-other"], &[]);
        assert_eq!(
            found,
            ["flyball-other: a new crate needs a row in the table of crate edges"]
        );
    }
}
