//! Rules for one file at a time: its name, its opening, its length, its words.

use std::path::Path;

use super::Files;

/// Lines of a file before its tests. Longer files hold two subjects.
const LINES_MAX: usize = 500;

/// Files that may be longer, each with its reason. Empty is the aim.
const LONG_FILES: &[(&str, &str)] = &[];

/// Names that say nothing about what is inside.
const BANNED_NAMES: [&str; 9] = [
    "utils", "util", "helpers", "helper", "common", "misc", "types", "imp", "stuff",
];

/// Words that do not belong into the project: hosts it must not name, and the places it was built
/// in. Each is written in two pieces, so that this file passes its own rule.
const BANNED_WORDS: [&str; 16] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("proxy.golang", ".org"),
    concat!("docker", ".io"),
    concat!("registry.k8s", ".io"),
    concat!("ghcr", ".io"),
    concat!("gcr", ".io"),
    concat!("quay", ".io"),
    concat!("deb.debian", ".org"),
    concat!("farm", "-studio"),
    concat!("/wo", "rk/"),
    concat!("../sha", "red"),
    concat!("FIX", "ME"),
];

/// Every finding in every file.
pub(super) fn check(files: &Files) -> Vec<String> {
    files
        .iter()
        .flat_map(|(path, text)| check_file(path, text))
        .collect()
}

fn check_file(path: &Path, text: &str) -> Vec<String> {
    let mut findings: Vec<String> = BANNED_WORDS
        .iter()
        .filter(|word| text.contains(**word))
        .map(|word| format!("{}: names {word}", path.display()))
        .collect();
    if path.extension().is_some_and(|end| end == "rs") {
        findings.extend(check_rust(path, text).map(|what| format!("{}: {what}", path.display())));
    }
    findings
}

fn check_rust(path: &Path, text: &str) -> impl Iterator<Item = String> {
    let named = path
        .components()
        .filter_map(|part| part.as_os_str().to_str())
        .map(|part| part.trim_end_matches(".rs"))
        .find(|part| BANNED_NAMES.contains(part))
        .map(|part| format!("{part} says nothing about what is inside"));
    let opening = (!text.starts_with("//!"))
        .then(|| "does not open with `//!`: what it is, what it is not".to_owned());
    let lines = lines_before_tests(path, text);
    let excused = LONG_FILES.iter().any(|(file, _)| Path::new(file) == path);
    let long = (lines > LINES_MAX && !excused)
        .then(|| format!("{lines} lines before its tests, more than {LINES_MAX}"));
    named.into_iter().chain(opening).chain(long)
}

/// Lines before the first test module; none in a file that holds tests only.
fn lines_before_tests(path: &Path, text: &str) -> usize {
    let only_tests =
        path.ends_with("tests.rs") || path.components().any(|part| part.as_os_str() == "tests");
    if only_tests {
        return 0;
    }
    let end = text.lines().position(|line| line == "#[cfg(test)]");
    end.unwrap_or_else(|| text.lines().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, wanted: &[&str]) {
        assert_eq!(check_file(Path::new(path), text), wanted);
    }

    #[test]
    fn a_plain_file_passes() {
        check("crates/a/src/queue.rs", "//! A queue.\n", &[]);
    }

    #[test]
    fn a_file_must_say_what_it_is() {
        let wanted = "src/a.rs: does not open with `//!`: what it is, what it is not";
        check("src/a.rs", "fn main() {}\n", &[wanted]);
    }

    #[test]
    fn a_name_that_says_nothing_is_found_in_file_and_folder() {
        for path in ["src/utils.rs", "src/utils/a.rs"] {
            check(
                path,
                "//! x\n",
                &[&format!("{path}: utils says nothing about what is inside")],
            );
        }
    }

    #[test]
    fn lines_after_the_tests_begin_do_not_count() {
        let body = "//! x\n".to_owned() + &"a\n".repeat(499);
        check(
            "src/a.rs",
            &(body.clone() + "#[cfg(test)]\nmore\nmore\n"),
            &[],
        );
        check(
            "src/a.rs",
            &(body + "a\n"),
            &["src/a.rs: 501 lines before its tests, more than 500"],
        );
    }

    #[test]
    fn a_host_is_found_in_any_text() {
        let host = concat!("see npmjs", ".org");
        check(
            "docs/a.md",
            host,
            &[concat!("docs/a.md: names npmjs", ".org")],
        );
    }
}
