//! `cargo xtask tidy`: the rules of the source that no compiler checks. Each rule is a function
//! that lists what breaks it. Function sizes are clippy's (`clippy.toml`).

mod edges;
mod rows;
mod source;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};

use crate::project;

pub(crate) fn run() -> Result<ExitCode> {
    check()?;
    println!("tidy: nothing to complain about");
    Ok(ExitCode::SUCCESS)
}

/// Every rule; the error lists every finding.
pub(crate) fn check() -> Result<()> {
    let files = Files::read(&project::root())?;
    let mut findings = edges::check(&project::metadata()?)?;
    findings.extend(edges::core_stands_alone()?);
    findings.extend(source::check(&files));
    findings.extend(rows::check(&files));
    ensure!(
        findings.is_empty(),
        "{} findings\n{}",
        findings.len(),
        findings.join("\n")
    );
    Ok(())
}

/// The project's text files by path relative to the root, in order.
pub(crate) struct Files(Vec<(PathBuf, String)>);

/// What is built, fetched or generated is nobody's source. `fixtures` is data.
const SKIPPED: [&str; 6] = [
    ".git",
    "target",
    "node_modules",
    "dist",
    "fixtures",
    "Cargo.lock",
];

impl Files {
    fn read(root: &Path) -> Result<Self> {
        let mut files = Vec::new();
        read_folder(root, Path::new(""), &mut files)?;
        files.sort();
        Ok(Self(files))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.0
            .iter()
            .map(|(path, text)| (path.as_path(), text.as_str()))
    }
}

fn read_folder(root: &Path, folder: &Path, files: &mut Vec<(PathBuf, String)>) -> Result<()> {
    let here = root.join(folder);
    for entry in here
        .read_dir()
        .with_context(|| format!("cannot read {}", here.display()))?
    {
        let entry = entry?;
        let name = entry.file_name();
        if SKIPPED.iter().any(|skipped| name == *skipped) {
            continue;
        }
        let path = folder.join(&name);
        if entry.file_type()?.is_dir() {
            read_folder(root, &path, files)?;
        } else if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
            files.push((path, text));
        }
    }
    Ok(())
}
