//! Every reason, hold and kind of condition of the core has a row in the table of its outcomes.
//! The core's own test checks that the rows come true; this checks that none is forgotten.

use std::path::Path;

use super::Files;

const TABLE: &str = "crates/flyball-core/tests/core/outcomes.rs";

/// An enum, the file it is declared in, the line that opens the list of its variants, and how a row
/// spells a variant.
struct Listed {
    file: &'static str,
    opening: &'static str,
    spelling: fn(&str) -> String,
}

const LISTED: &[Listed] = &[
    Listed {
        file: "crates/flyball-core/src/message.rs",
        opening: "reasons! {",
        spelling: str::to_owned,
    },
    Listed {
        file: "crates/flyball-core/src/step.rs",
        opening: "pub enum Hold {",
        spelling: |name| format!("Hold::{name}"),
    },
    Listed {
        file: "crates/flyball-core/src/condition.rs",
        opening: "pub enum ConditionKind {",
        spelling: str::to_owned,
    },
];

/// Names without a row. A list that cannot be found is a finding too.
pub(super) fn check(files: &Files) -> Vec<String> {
    let table = files.text(TABLE).unwrap_or_default();
    let mut findings = Vec::new();
    for listed in LISTED {
        let names = files
            .text(listed.file)
            .map_or_else(Vec::new, |text| variants(text, listed.opening));
        if names.is_empty() {
            findings.push(format!(
                "{}: no list after `{}`",
                listed.file, listed.opening
            ));
        }
        let spelled = names.into_iter().map(listed.spelling);
        let missing = spelled.filter(|name| !has_word(table, name));
        findings.extend(missing.map(|name| format!("{TABLE}: no row for {name}")));
    }
    findings
}

/// Names of the variants between the opening line and the closing brace at its depth.
fn variants<'a>(text: &'a str, opening: &str) -> Vec<&'a str> {
    let body = text.lines().skip_while(|line| *line != opening).skip(1);
    let inside = body.take_while(|line| *line != "}").map(str::trim);
    let names = inside.filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()));
    names
        .map(|line| line.trim_end_matches(',').split('(').next().unwrap_or(line))
        .collect()
}

fn has_word(text: &str, word: &str) -> bool {
    let part_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(part_of_word) && !after.is_some_and(part_of_word)
    })
}

impl Files {
    fn text(&self, path: &str) -> Option<&str> {
        self.iter()
            .find(|(found, _)| *found == Path::new(path))
            .map(|(_, text)| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(hold_rows: &str) -> Vec<String> {
        let file = |path: &str, text: &str| (path.into(), text.to_owned());
        check(&Files(vec![
            file(TABLE, hold_rows),
            file(
                LISTED[0].file,
                "reasons! {\n    /// Why.\n    ScaleUpLimit,\n}\n",
            ),
            file(
                LISTED[1].file,
                "pub enum Hold {\n    /// Why.\n    Paused,\n    Selector,\n}\n",
            ),
            file(
                LISTED[2].file,
                "pub enum ConditionKind {\n    AbleToScale,\n}\n",
            ),
        ]))
    }

    #[test]
    fn a_name_without_a_row_is_found() {
        let rows = "AbleToScale=True ScaleUpLimit Hold::Paused";
        assert_eq!(
            findings(rows),
            [format!("{TABLE}: no row for Hold::Selector")]
        );
    }

    #[test]
    fn part_of_a_longer_name_is_no_row() {
        let rows = "AbleToScale=True ScaleUpLimits Hold::Paused Hold::Selector";
        assert_eq!(
            findings(rows),
            [format!("{TABLE}: no row for ScaleUpLimit")]
        );
    }

    #[test]
    fn a_list_that_moved_is_found() {
        assert_eq!(check(&Files(Vec::new())).len(), LISTED.len());
    }
}
