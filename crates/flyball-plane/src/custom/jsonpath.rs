//! The small part of JSONPath that columns, scales and selectable fields use: names, indices, `[*]` and
//! `[?(@.name=="text")]`. Source: client-go util/jsonpath.

use serde_json::Value;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    Index(i64),
    All,
    Filter {
        path: Vec<String>,
        equals: String,
        negated: Negation,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Negation {
    Equal,
    Unequal,
}

/// A path that leads to values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonPath(Vec<Step>);

impl JsonPath {
    /// Reads `.spec.names[0].kind`; `None` for what is no path, or has steps beyond the ones above.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text.strip_prefix('$').unwrap_or(text);
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('.') {
                let (name, tail) = field(after)?;
                steps.push(if name == "*" {
                    Step::All
                } else {
                    Step::Field(name)
                });
                rest = tail;
            } else if let Some(after) = rest.strip_prefix('[') {
                let (inner, tail) = bracket(after)?;
                steps.push(step(inner)?);
                rest = tail;
            } else {
                return None;
            }
        }
        Some(Self(steps))
    }

    /// The values the path leads to.
    pub(crate) fn find<'a>(&self, root: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![root];
        for step in &self.0 {
            found = found
                .into_iter()
                .flat_map(|value| step.follow(value))
                .collect();
        }
        found
    }
}

impl Step {
    fn follow<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        match self {
            Self::Field(name) => value.get(name).into_iter().collect(),
            Self::Index(index) => {
                let Some(items) = value.as_array() else {
                    return Vec::new();
                };
                let place = if *index < 0 {
                    items
                        .len()
                        .checked_sub(usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX))
                } else {
                    usize::try_from(*index).ok()
                };
                place
                    .and_then(|place| items.get(place))
                    .into_iter()
                    .collect()
            }
            Self::All => match value {
                Value::Array(items) => items.iter().collect(),
                Value::Object(fields) => fields.values().collect(),
                _ => Vec::new(),
            },
            Self::Filter {
                path,
                equals,
                negated,
            } => {
                let items = value.as_array().into_iter().flatten();
                items
                    .filter(|item| {
                        let found = path.iter().try_fold(*item, |at, name| at.get(name));
                        let Some(found) = found else {
                            return false;
                        };
                        let text = found
                            .as_str()
                            .map_or_else(|| found.to_string(), str::to_owned);
                        (text == *equals) == (*negated == Negation::Equal)
                    })
                    .collect()
            }
        }
    }
}

/// A name up to the next step; a backslash takes the next letter as it is.
fn field(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut letters = text.char_indices();
    let mut end = text.len();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => name.push(letters.next()?.1),
            '.' | '[' => {
                end = at;
                break;
            }
            ' ' | ']' | '{' | '}' | '(' | ')' => return None,
            other => name.push(other),
        }
    }
    (!name.is_empty()).then(|| (name, &text[end..]))
}

/// What stands before the closing bracket, quotes heeded.
fn bracket(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, ']') => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}

fn step(inner: &str) -> Option<Step> {
    if inner == "*" {
        return Some(Step::All);
    }
    if let Some(name) = quoted(inner) {
        return Some(Step::Field(name.to_owned()));
    }
    if let Some(condition) = inner
        .strip_prefix("?(")
        .and_then(|text| text.strip_suffix(')'))
    {
        let (left, right, negated) = if let Some((left, right)) = condition.split_once("==") {
            (left, right, Negation::Equal)
        } else {
            let (left, right) = condition.split_once("!=")?;
            (left, right, Negation::Unequal)
        };
        let path = left.trim().strip_prefix("@.")?;
        let right = right.trim();
        return Some(Step::Filter {
            path: path.split('.').map(str::to_owned).collect(),
            equals: quoted(right).unwrap_or(right).to_owned(),
            negated,
        });
    }
    inner.parse().ok().map(Step::Index)
}

fn quoted(text: &str) -> Option<&str> {
    let stripped = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    stripped('\'').or_else(|| stripped('"'))
}
