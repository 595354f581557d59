//! Transcripts: commands of stock kubectl with the answers the plane gives. A file holds lines that begin with `$ kubectl`,
//! each followed by its golden output: stdout, then stderr, then the exit code if it is not 0. `UPDATE_EXPECT=1` takes the
//! output anew; read the difference in review.
//!
//! After a command, `| sort` sorts its lines and `| last` keeps the last one, where kubectl's own order or number of lines
//! depends on the second. Lines that begin with `#` are for the reader.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::kubectl::Cluster;
use crate::redaction::redact;

#[track_caller]
fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/e2e/transcripts")
        .join(name);
    let golden = std::fs::read_to_string(&path).unwrap();
    let cluster = Cluster::plane();
    let mut taken = String::new();
    for line in golden.lines() {
        if line.starts_with('#') {
            writeln!(taken, "{line}").unwrap();
        } else if let Some(command) = line.strip_prefix("$ kubectl ") {
            write!(taken, "{line}\n{}\n", answer(&cluster, command)).unwrap();
        }
    }
    compare(&path, &golden, &taken);
}

fn answer(cluster: &Cluster, command: &str) -> String {
    let (command, filter) = command.split_once(" | ").unwrap_or((command, ""));
    let (code, out, err) = cluster.run(command);
    // Documentation speaks of periods, and they are no ages.
    let out = if command.starts_with("explain") {
        out
    } else {
        redact(&out)
    };
    let mut lines: Vec<String> = out.lines().map(str::to_owned).collect();
    match filter {
        "" => {}
        "sort" => lines.sort(),
        "last" => drop(lines.drain(..lines.len().saturating_sub(1))),
        other => panic!("no filter is called {other:?}"),
    }
    lines.extend(redact(&err).lines().map(str::to_owned));
    if code != Some(0) {
        lines.push(format!("(exit code {})", code.unwrap_or(-1)));
    }
    let mut text = String::new();
    for line in lines {
        writeln!(text, "{}", line.trim_end()).unwrap();
    }
    text
}

#[track_caller]
fn compare(path: &PathBuf, golden: &str, taken: &str) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, taken).unwrap();
        return;
    }
    let pairs = golden.lines().zip(taken.lines());
    let same = pairs.take_while(|(wanted, found)| wanted == found).count();
    let after = |text: &str| {
        text.lines()
            .skip(same)
            .take(8)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(
        golden == taken,
        "{} differs from line {} on; UPDATE_EXPECT=1 takes it anew\nwanted:\n{}\nfound:\n{}",
        path.display(),
        same + 1,
        after(golden),
        after(taken)
    );
}

#[test]
fn objects_are_applied_created_and_deleted() {
    check("apply.txt");
}

#[test]
fn objects_are_printed_in_every_form() {
    check("get.txt");
}

#[test]
fn objects_are_described() {
    check("describe.txt");
}

#[test]
fn objects_are_changed_by_every_verb() {
    check("change.txt");
}

#[test]
fn a_cluster_tells_what_it_serves_and_what_happened() {
    check("look.txt");
}
