//! Request scripts: the files under `conformance/plane/scripts`, read and checked. Not here: running them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One file of scripts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// What the scripts are about, one sentence.
    pub about: String,
    /// The scripts, each in a namespace of its own.
    pub scripts: Vec<Script>,
}

/// A list of requests that belong together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// What it shows, one sentence.
    pub name: String,
    /// The requests, in order.
    pub steps: Vec<Step>,
}

/// One request.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Method and path with query.
    #[serde(rename = "do", skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Path of a watch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<String>,
    /// How many events of a watch are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<usize>,
    /// A mapping or list is sent as JSON, a text as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// Content-Type; an explicit null sends none.
    #[serde(
        rename = "as",
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub content_type: Option<Option<String>>,
    /// Accept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept: Option<String>,
    /// More headers; null takes one away.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, Option<String>>,
    /// Names for values of the answer, as JSON pointers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keep: BTreeMap<String, String>,
    /// The status both must answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub want: Option<u16>,
}

/// Tells an explicit null from a field that is not there.
#[expect(
    clippy::option_option,
    reason = "a script takes the header away by an explicit null"
)]
fn given<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// A script and the file it stands in.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The file, below the folder that was read.
    pub file: PathBuf,
    /// The script.
    pub script: Script,
}

/// Every script below `folder`, ordered by file.
///
/// # Errors
/// A file that cannot be read, with its path, line and column, and a step that is not one request.
pub fn read_all(folder: &Path) -> Result<Vec<Placed>> {
    let mut files = Vec::new();
    walk(folder, &mut files)?;
    files.sort();
    let mut scripts = Vec::new();
    for path in files {
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let file = parse(&text).with_context(|| path.display().to_string())?;
        let place = path.strip_prefix(folder).unwrap_or(&path).to_owned();
        scripts.extend(file.scripts.into_iter().map(|script| Placed {
            file: place.clone(),
            script,
        }));
    }
    Ok(scripts)
}

/// One file's text.
///
/// # Errors
/// As [`read_all`].
pub fn parse(text: &str) -> Result<File> {
    let file: File = serde_saphyr::from_str(text)?;
    file.scripts.iter().try_for_each(check)?;
    Ok(file)
}

/// Refuses a script with a step that is not one request.
pub(crate) fn check(script: &Script) -> Result<()> {
    for (index, step) in script.steps.iter().enumerate() {
        if step.request.is_some() == step.watch.is_some() {
            bail!(
                "script {:?}, step {}: give one of `do` and `watch`",
                script.name,
                index + 1
            );
        }
    }
    Ok(())
}

/// Adds every YAML file below `folder` to `files`.
pub(crate) fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|end| end == "yaml") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_type_may_be_taken_away() {
        let file =
            parse("about: a\nscripts: [{name: n, steps: [{do: GET /, as: ~}, {do: GET /}]}]")
                .unwrap();
        let steps = &file.scripts[0].steps;
        assert_eq!(steps[0].content_type, Some(None));
        assert_eq!(steps[1].content_type, None);
    }

    #[test]
    fn what_is_written_of_a_step_is_read_as_the_same_step() {
        let steps = r#"{"do":"GET /","as":null,"keep":{"a":"/b"}}"#;
        let file = parse(&format!(
            "about: a\nscripts: [{{name: n, steps: [{steps}]}}]"
        ))
        .unwrap();
        let written = serde_json::to_string(&file.scripts[0].steps[0]).unwrap();
        let value = |text| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(value(&written), value(steps));
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        let error =
            parse("about: a\nscripts:\n- name: n\n  steps:\n  - {doo: GET /}\n").unwrap_err();
        assert!(error.to_string().contains("line 5"), "{error}");
        let error = parse("about: a\nscripts: [{name: n, steps: [{want: 200}]}]").unwrap_err();
        assert!(error.to_string().contains("step 1"), "{error}");
    }
}
