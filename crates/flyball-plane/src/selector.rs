//! The `labelSelector` and `fieldSelector` query grammars and their matching.
//! Source: apimachinery labels/selector.go (`Parse`) and fields/selector.go (`ParseSelector`).
//! Not here: selectors inside objects.

use serde_json::Value;

use crate::object;

/// One requirement of a label selector.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    /// The label is set.
    Exists(String),
    /// The label is not set.
    Absent(String),
    /// The label has one of the values.
    In(String, Vec<String>),
    /// The label is not set or has none of the values.
    NotIn(String, Vec<String>),
    /// The label is an integer greater than the number.
    Greater(String, i64),
    /// The label is an integer less than the number.
    Less(String, i64),
}

/// A parsed `labelSelector`; an empty one matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector(Vec<Requirement>);

impl LabelSelector {
    /// Parses the grammar.
    ///
    /// # Errors
    /// Upstream's text for what was found where something else was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let tokens = tokens(text)?;
        Parser {
            tokens: &tokens,
            at: 0,
        }
        .selector()
        .map(Self)
        .map_err(|why| format!("unable to parse requirement: {why}"))
    }

    /// True when every requirement holds for the object's labels.
    pub fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|requirement| requirement.holds(object))
    }

    /// True when everything matches.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Requirement {
    fn holds(&self, object: &Value) -> bool {
        let number = |key| object::label(object, key).and_then(|text| text.parse::<i64>().ok());
        match self {
            Self::Exists(key) => object::label(object, key).is_some(),
            Self::Absent(key) => object::label(object, key).is_none(),
            Self::In(key, values) => {
                object::label(object, key).is_some_and(|found| values.iter().any(|v| v == found))
            }
            Self::NotIn(key, values) => {
                object::label(object, key).is_none_or(|found| values.iter().all(|v| v != found))
            }
            Self::Greater(key, bound) => number(key).is_some_and(|found| found > *bound),
            Self::Less(key, bound) => number(key).is_some_and(|found| found < *bound),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Sign(&'static str),
}

/// Signs by length, so that `==` is not read as two `=`.
const SIGNS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            tokens.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        } else {
            let end = rest
                .find(|c: char| c.is_whitespace() || "=!(),><".contains(c))
                .unwrap_or(rest.len());
            if end == 0 {
                return Err(format!("unable to parse requirement: found {rest:?}"));
            }
            tokens.push(Token::Word(rest[..end].to_owned()));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn found(&self) -> String {
        match self.peek() {
            Some(Token::Word(word)) => word.clone(),
            Some(Token::Sign(sign)) => (*sign).to_owned(),
            None => String::new(),
        }
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is = matches!(self.peek(), Some(Token::Sign(found)) if *found == sign);
        self.at += usize::from(is);
        is
    }

    fn selector(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        while self.peek().is_some() {
            requirements.push(self.requirement()?);
            if self.peek().is_none() {
                break;
            }
            if !self.take_sign(",") {
                return Err(format!(
                    "found '{}', expected: ',' or 'end of string'",
                    self.found()
                ));
            }
            if self.peek().is_none() {
                return Err("found '', expected: identifier after ','".to_owned());
            }
        }
        Ok(requirements)
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let absent = self.take_sign("!");
        let key = self.key()?;
        if absent {
            return Ok(Requirement::Absent(key));
        }
        match self.peek().cloned() {
            None | Some(Token::Sign(",")) => Ok(Requirement::Exists(key)),
            Some(Token::Sign("=" | "==")) => {
                self.at += 1;
                Ok(Requirement::In(key, vec![self.value()?]))
            }
            Some(Token::Sign("!=")) => {
                self.at += 1;
                Ok(Requirement::NotIn(key, vec![self.value()?]))
            }
            Some(Token::Sign(sign @ (">" | "<"))) => {
                self.at += 1;
                let bound = self.bound(sign)?;
                Ok(if sign == ">" {
                    Requirement::Greater(key, bound)
                } else {
                    Requirement::Less(key, bound)
                })
            }
            Some(Token::Word(word)) if word == "in" || word == "notin" => {
                self.at += 1;
                let values = self.values()?;
                Ok(if word == "in" {
                    Requirement::In(key, values)
                } else {
                    Requirement::NotIn(key, values)
                })
            }
            Some(_) => Err(format!(
                "found '{}', expected: in, notin, =, ==, !=, gt, lt",
                self.found()
            )),
        }
    }

    fn key(&mut self) -> Result<String, String> {
        match self.peek() {
            Some(Token::Word(word)) => {
                let key = word.clone();
                if let Some(why) = crate::names::qualified_name(&key).first() {
                    return Err(format!("key: Invalid value: {key:?}: {why}"));
                }
                self.at += 1;
                Ok(key)
            }
            _ => Err(format!("found '{}', expected: identifier", self.found())),
        }
    }

    fn value(&mut self) -> Result<String, String> {
        match self.peek() {
            None | Some(Token::Sign(",")) => Ok(String::new()),
            Some(Token::Word(word)) => {
                let value = word.clone();
                self.at += 1;
                Ok(value)
            }
            Some(Token::Sign(_)) => Err(format!("found '{}', expected: identifier", self.found())),
        }
    }

    fn bound(&mut self, sign: &str) -> Result<i64, String> {
        let word = self.value()?;
        let name = if sign == ">" { "Gt" } else { "Lt" };
        word.parse().map_err(|_| {
            format!("values[0][]: Invalid value: {word:?}: for '{name}' operators, the value must be an integer")
        })
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        if !self.take_sign("(") {
            return Err(format!("found '{}' expected: '('", self.found()));
        }
        let mut values = Vec::new();
        loop {
            match self.peek() {
                Some(Token::Word(word)) => {
                    values.push(word.clone());
                    self.at += 1;
                }
                _ => values.push(String::new()),
            }
            if self.take_sign(")") {
                values.sort();
                values.dedup();
                return Ok(values);
            }
            if !self.take_sign(",") {
                return Err(format!("found '{}', expected: ',' or ')'", self.found()));
            }
        }
    }
}

/// A parsed `fieldSelector`; an empty one matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector(Vec<FieldTerm>);

/// One term of a field selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldTerm {
    /// The field's label, `metadata.name`.
    pub field: String,
    /// Its value.
    pub value: String,
    /// True for `=` and `==`, false for `!=`.
    pub equal: bool,
}

impl FieldSelector {
    /// Parses `field=value,field!=value`.
    ///
    /// # Errors
    /// Upstream's text for a term without an operator.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut terms = Vec::new();
        for term in text.split(',').filter(|term| !term.is_empty()) {
            let parsed = ["!=", "==", "="].into_iter().find_map(|sign| {
                let (field, value) = term.split_once(sign)?;
                let (field, value) = (field.to_owned(), value.to_owned());
                Some(FieldTerm {
                    field,
                    value,
                    equal: sign != "!=",
                })
            });
            terms.push(
                parsed.ok_or_else(|| {
                    format!("invalid selector: '{text}'; can't understand '{term}'")
                })?,
            );
        }
        Ok(Self(terms))
    }

    /// The terms.
    pub fn terms(&self) -> &[FieldTerm] {
        &self.0
    }

    /// True when everything matches.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True when every term holds, given each field's value in the object.
    pub fn matches(&self, value_of: impl Fn(&str) -> String) -> bool {
        self.0
            .iter()
            .all(|term| (value_of(&term.field) == term.value) == term.equal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn label_selectors_match_as_upstream_does() {
        let object = json!({"metadata": {"labels": {"app": "web", "n": "5", "e": ""}}});
        let table = [
            ("", true),
            ("app", true),
            ("!app", false),
            ("!x", true),
            ("app=web", true),
            ("app == web", true),
            ("app!=web", false),
            ("x!=web", true),
            ("app in (db, web)", true),
            ("app notin (db,web)", false),
            ("x notin (db)", true),
            ("n>4,n<6", true),
            ("n>5", false),
            ("e=", true),
            ("app=web,n=6", false),
        ];
        for (text, expected) in table {
            assert_eq!(
                LabelSelector::parse(text).unwrap().matches(&object),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn bad_label_selectors_say_what_was_found() {
        let table = [
            (
                "a b",
                "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
            ),
            (
                "a in b",
                "unable to parse requirement: found 'b' expected: '('",
            ),
            (
                "a,",
                "unable to parse requirement: found '', expected: identifier after ','",
            ),
            (
                "=a",
                "unable to parse requirement: found '=', expected: identifier",
            ),
        ];
        for (text, message) in table {
            assert_eq!(LabelSelector::parse(text).unwrap_err(), message, "{text}");
        }
    }

    #[test]
    fn field_selectors_are_terms_joined_by_commas() {
        let selector = FieldSelector::parse("metadata.name=a,status.phase!=Running").unwrap();
        assert!(selector.matches(|field| if field == "metadata.name" {
            "a".into()
        } else {
            "Pending".into()
        }));
        assert!(!selector.matches(|_| "a".into()) || selector.terms().len() == 2);
        assert!(FieldSelector::parse("oops").is_err());
    }
}
