//! The JSONPath that printer columns use: fields, indices, `[*]`, and a filter for equality. Not the whole language:
//! no ranges, unions or recursive descent.

use serde_json::Value;

/// A path that was read.
#[derive(Debug)]
pub(super) struct Path(Vec<Step>);

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    Index(usize),
    Every,
    /// `[?(@.type=="Ready")]`
    Where(String, String),
}

impl Path {
    /// Reads `.spec.replicas`, `.status.conditions[?(@.type=="Ready")].status`, `.metadata.labels.a\.b`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (step, after) = if let Some(inner) = rest.strip_prefix('[') {
                let end = closing(inner)?;
                (bracket(&inner[..end])?, &inner[end + 1..])
            } else {
                field(rest.strip_prefix('.')?)?
            };
            steps.push(step);
            rest = after;
        }
        Some(Self(steps))
    }

    /// The first value the path leads to.
    pub(super) fn first<'a>(&self, root: &'a Value) -> Option<&'a Value> {
        let mut found = vec![root];
        for step in &self.0 {
            found = found
                .into_iter()
                .flat_map(|value| step.follow(value))
                .collect();
        }
        found.into_iter().next()
    }
}

impl Step {
    fn follow<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        match self {
            Self::Field(name) => value.get(name).into_iter().collect(),
            Self::Index(index) => value.get(index).into_iter().collect(),
            Self::Every => elements(value).collect(),
            Self::Where(field, wanted) => elements(value)
                .filter(|one| one.get(field).is_some_and(|found| found == wanted.as_str()))
                .collect(),
        }
    }
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A field name up to the next dot or bracket; `\.` is a dot of the name.
fn field(text: &str) -> Option<(Step, &str)> {
    let mut name = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '.' | '[' if name.is_empty() => return None,
            '.' | '[' => return Some((Step::Field(name), &text[at..])),
            '\\' => name.push(letters.next()?.1),
            _ => name.push(letter),
        }
    }
    (!name.is_empty()).then_some((Step::Field(name), ""))
}

fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (None, ']') => return Some(at),
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
    }
    None
}

fn bracket(inner: &str) -> Option<Step> {
    if inner == "*" {
        return Some(Step::Every);
    }
    if let Some(name) = unquoted(inner) {
        return Some(Step::Field(name.into()));
    }
    if let Ok(index) = inner.parse() {
        return Some(Step::Index(index));
    }
    let filter = inner.strip_prefix("?(@.")?.strip_suffix(')')?;
    let (name, wanted) = filter.split_once("==")?;
    Some(Step::Where(
        name.trim().into(),
        unquoted(wanted.trim())?.into(),
    ))
}

fn unquoted(text: &str) -> Option<&str> {
    ['\'', '"']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_lead_to_the_first_value() {
        let object = json!({
            "spec": {"replicas": 3, "args": ["a", "b"]},
            "metadata": {"labels": {"a.b/c": "x"}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "No"}]},
        });
        for (path, wanted) in [
            (".spec.replicas", Some(json!(3))),
            (".spec.args[1]", Some(json!("b"))),
            (".spec.args[*]", Some(json!("a"))),
            (".metadata.labels['a.b/c']", Some(json!("x"))),
            (r".metadata.labels.a\.b/c", Some(json!("x"))),
            (
                r#".status.conditions[?(@.type=="Other")].status"#,
                Some(json!("No")),
            ),
            (".status.conditions[?(@.type=='Gone')].status", None),
            (".spec.nothing", None),
        ] {
            let parsed = Path::parse(path).expect(path);
            assert_eq!(parsed.first(&object), wanted.as_ref(), "{path}");
        }
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in ["spec", "..spec", ".spec[", ".spec[?]", "."] {
            assert!(Path::parse(text).is_none(), "{text}");
        }
    }
}
