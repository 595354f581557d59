//! Field selectors, `metadata.name=web,status.phase!=Failed`: text, matching, printing. Which fields a kind has is not known here.

use std::fmt;

use thiserror::Error;

/// A text that is no field selector, in upstream's words (apimachinery fields/selector.go).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FieldSelectorError {
    /// A term holds no operator.
    #[error("invalid selector: '{selector}'; can't understand '{term}'")]
    Operator {
        /// The whole text.
        selector: String,
        /// The term without operator.
        term: String,
    },
    /// A backslash is followed by something that needs none.
    #[error("invalid field selector: invalid escape sequence: {0}")]
    Escape(String),
    /// A value holds a bare `,` or `=`; upstream prints its number.
    #[error("invalid field selector: unescaped character in value: {}", u32::from(*.0))]
    Unescaped(char),
}

/// One condition of a field selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldTerm {
    /// The field's path, `metadata.name` for instance.
    pub field: String,
    /// The value, unescaped.
    pub value: String,
    /// Whether the field must differ from the value rather than equal it.
    pub negated: bool,
}

/// Conditions on fields, all of which must hold. Upstream: apimachinery fields/selector.go `Selector`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<FieldTerm>,
}

impl FieldSelector {
    /// Reads the text of a query parameter; an empty one matches everything. Upstream: `ParseSelector`.
    pub fn parse(text: &str) -> Result<Self, FieldSelectorError> {
        let mut parts = split_terms(text);
        parts.sort_unstable();
        let mut terms = Vec::new();
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let unreadable = || FieldSelectorError::Operator {
                selector: text.to_owned(),
                term: part.to_owned(),
            };
            let (field, negated, value) = split_term(part).ok_or_else(unreadable)?;
            let term = FieldTerm {
                field: field.to_owned(),
                value: unescape(value)?,
                negated,
            };
            // A bare operator asks for nothing.
            if !term.field.is_empty() || !term.value.is_empty() {
                terms.push(term);
            }
        }
        Ok(Self { terms })
    }

    /// The conditions, sorted by their text.
    pub fn terms(&self) -> &[FieldTerm] {
        &self.terms
    }

    /// Whether an object matches whose fields are looked up by `field`; an absent field is an empty text.
    pub fn matches_with<'a>(&self, field: impl Fn(&str) -> Option<&'a str>) -> bool {
        let holds = |term: &FieldTerm| {
            (field(&term.field).unwrap_or_default() == term.value) != term.negated
        };
        self.terms.iter().all(holds)
    }

    /// The value that `field` must equal, if one term demands it. Upstream: `RequiresExactMatch`.
    pub fn exact_value(&self, field: &str) -> Option<&str> {
        let term = self
            .terms
            .iter()
            .find(|term| term.field == field && !term.negated)?;
        Some(&term.value)
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, term) in self.terms.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            let operator = if term.negated { "!=" } else { "=" };
            write!(f, "{comma}{}{operator}{}", term.field, escape(&term.value))?;
        }
        Ok(())
    }
}

/// Upstream: fields/selector.go `splitTerms`. A comma behind a backslash belongs to its term.
fn split_terms(text: &str) -> Vec<&str> {
    let mut escaped = false;
    let is_end = |c: char| {
        let ends = !escaped && c == ',';
        escaped = !escaped && c == '\\';
        ends
    };
    text.split(is_end).collect()
}

/// The field, whether the operator negates, and the value. Upstream: fields/selector.go `splitTerm`.
fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    let at = term
        .char_indices()
        .map(|(i, _)| i)
        .find(|i| term[*i..].starts_with("!=") || term[*i..].starts_with('='))?;
    let (field, rest) = term.split_at(at);
    if let Some(value) = rest.strip_prefix("!=") {
        return Some((field, true, value));
    }
    let value = rest.strip_prefix("==").or_else(|| rest.strip_prefix('='))?;
    Some((field, false, value))
}

/// Upstream: fields/selector.go `EscapeValue`.
fn escape(value: &str) -> String {
    value
        .replace('\\', r"\\")
        .replace(',', r"\,")
        .replace('=', r"\=")
}

/// Upstream: fields/selector.go `UnescapeValue`.
fn unescape(value: &str) -> Result<String, FieldSelectorError> {
    let mut plain = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => plain.push(c),
                other => {
                    let sequence = std::iter::once('\\').chain(other).collect();
                    return Err(FieldSelectorError::Escape(sequence));
                }
            },
            ',' | '=' => return Err(FieldSelectorError::Unescaped(c)),
            _ => plain.push(c),
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_and_printed_in_upstreams_order() {
        let rows = [
            ("", ""),
            ("a=b", "a=b"),
            ("a==b", "a=b"),
            ("b!=c,a=b", "a=b,b!=c"),
            (r"a=b\,c\=d\\", r"a=b\,c\=d\\"),
            ("a=", "a="),
            (",a=b,,", "a=b"),
            ("=", ""),
            ("=x", "=x"),
        ];
        for (text, printed) in rows {
            let selector = FieldSelector::parse(text).expect(text);
            assert_eq!(selector.to_string(), printed, "{text}");
        }
    }

    #[test]
    fn each_malformed_text_has_its_error() {
        let rows = [
            ("a", "invalid selector: 'a'; can't understand 'a'"),
            ("b=c,a", "invalid selector: 'b=c,a'; can't understand 'a'"),
            (
                "a=b=c",
                "invalid field selector: unescaped character in value: 61",
            ),
            (
                r"a=\x",
                r"invalid field selector: invalid escape sequence: \x",
            ),
            (
                r"a=\",
                r"invalid field selector: invalid escape sequence: \",
            ),
        ];
        for (text, error) in rows {
            assert_eq!(
                FieldSelector::parse(text).expect_err(text).to_string(),
                error
            );
        }
    }

    #[test]
    fn absent_fields_are_empty() {
        let fields = |name: &str| (name == "a").then_some("b");
        let rows = [
            ("a=b", true),
            ("a!=b", false),
            ("a=c", false),
            ("c=", true),
            ("c!=x", true),
            ("a=b,c=x", false),
        ];
        for (text, matches) in rows {
            let selector = FieldSelector::parse(text).expect(text);
            assert_eq!(selector.matches_with(fields), matches, "{text}");
        }
    }

    #[test]
    fn only_an_equality_gives_an_exact_value() {
        let selector = FieldSelector::parse("a!=x,b=y").expect("a sound selector");
        assert_eq!(selector.exact_value("a"), None);
        assert_eq!(selector.exact_value("b"), Some("y"));
    }
}
