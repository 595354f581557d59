//! Runs a folder of vectors: every file names its suite, every suite is a table of lists and checks.
//! Cases are data: neither their names nor their order mean anything here.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::report::{Tally, Verdict};
use crate::suite::{self, List};

/// Runs every `*.json` in `folder` and writes a line a suite, differences first.
pub fn run(folder: &Path, out: &mut dyn Write) -> Result<Tally> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
    paths.sort();
    let mut all = Tally::default();
    for path in &paths {
        let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let file = serde_json::from_slice(&text)
            .with_context(|| format!("{} is not JSON", path.display()))?;
        all.add(run_file(&file, out)?);
    }
    Ok(all)
}

fn run_file(file: &Value, out: &mut dyn Write) -> Result<Tally> {
    let name = file["suite"].as_str().unwrap_or("(a file without a suite)");
    let mut tally = Tally::default();
    let Some(lists) = suite::lists(name) else {
        writeln!(out, "{name}: skipped, not a suite that is supported")?;
        return Ok(tally);
    };
    for (key, cases) in file.as_object().into_iter().flatten() {
        let Some(cases) = cases
            .as_array()
            .filter(|cases| cases.iter().all(Value::is_object))
        else {
            continue;
        };
        let Some(List { check, .. }) = lists.iter().find(|list| list.key == key) else {
            writeln!(out, "{name}: {} {key} skipped, not supported", cases.len())?;
            continue;
        };
        for case in cases {
            match check(file, case) {
                Outcome::Skipped(why) => writeln!(out, "{name}: {} skipped, {why}", label(case))?,
                Outcome::Ran(verdict) => {
                    tally.count(&verdict);
                    if let Verdict::Failed(difference) = verdict {
                        writeln!(
                            out,
                            "{name}: {key}: {} differs (- expected, + actual)",
                            label(case)
                        )?;
                        writeln!(out, "{difference}")?;
                    }
                }
            }
        }
    }
    writeln!(out, "{name}: {tally}")?;
    Ok(tally)
}

/// What became of one case.
pub enum Outcome {
    /// It was run.
    Ran(Verdict),
    /// It asks for something that is not there yet.
    Skipped(&'static str),
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        Self::Ran(verdict)
    }
}

fn label(case: &Value) -> &str {
    case["name"]
        .as_str()
        .or_else(|| case["input"].as_str())
        .unwrap_or("(a case without a name)")
}
