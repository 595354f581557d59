//! The grammar of label selectors in text, as query parameters and Scale statuses hold them. Answers upstream's error texts.
//!
//! Upstream: apimachinery v0.37.2 labels/selector.go, `Lexer` and `Parser`.

use std::collections::BTreeSet;

use super::{Operator, Requirement, SelectorError, check_key};
use crate::field::{FieldPath, aggregate};

/// Upstream: labels/selector.go `Parser.parse`.
pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, SelectorError> {
    let mut parser = Parser {
        tokens: tokens(text),
        position: 0,
    };
    parser.requirements().map_err(SelectorError)
}

/// One token. Keywords are told from identifiers by the parser, since a value may be called `in`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Symbol(&'a str),
    Word(&'a str),
    End,
}

impl<'a> Token<'a> {
    const fn text(self) -> &'a str {
        match self {
            Self::Symbol(text) | Self::Word(text) => text,
            Self::End => "",
        }
    }
}

/// All tokens, the last of which is `End`. Upstream: `Lexer.Lex`; a NUL byte ends a token, and elsewhere the text.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let is_space = |c: char| " \t\r\n".contains(c);
    let is_symbol = |c: char| "=!(),><".contains(c);
    let mut rest = text.trim_start_matches(is_space);
    let mut tokens = Vec::new();
    while !rest.is_empty() && !rest.starts_with('\0') {
        let symbol = ["==", "!="]
            .into_iter()
            .find(|symbol| rest.starts_with(symbol))
            .map_or(1, str::len);
        let (token, end) = if rest.starts_with(is_symbol) {
            (Token::Symbol(&rest[..symbol]), symbol)
        } else {
            let end = rest
                .find(|c| is_space(c) || is_symbol(c) || c == '\0')
                .unwrap_or(rest.len());
            (Token::Word(&rest[..end]), end)
        };
        tokens.push(token);
        rest = &rest[end..];
        rest = rest.strip_prefix('\0').unwrap_or(rest);
        rest = rest.trim_start_matches(is_space);
    }
    tokens.push(Token::End);
    tokens
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens
            .get(self.position)
            .copied()
            .unwrap_or(Token::End)
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.position += 1;
        token
    }

    fn requirements(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                Token::Word(_) | Token::Symbol("!") => {}
                Token::End => return Ok(requirements),
                other @ Token::Symbol(_) => {
                    let words = "expected: !, identifier, or 'end of string'";
                    return Err(format!("found '{}', {words}", other.text()));
                }
            }
            let requirement = self.requirement();
            requirements
                .push(requirement.map_err(|e| format!("unable to parse requirement: {e}"))?);
            match self.next() {
                Token::End => return Ok(requirements),
                Token::Symbol(",") => {}
                other => {
                    let words = "expected: ',' or 'end of string'";
                    return Err(format!("found '{}', {words}", other.text()));
                }
            }
            let next = self.peek();
            if !matches!(next, Token::Word(_) | Token::Symbol("!")) {
                return Err(format!(
                    "found '{}', expected: identifier after ','",
                    next.text()
                ));
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let negated = self.peek() == Token::Symbol("!");
        if negated {
            self.next();
        }
        let key = match self.next() {
            Token::Word(key) => key,
            other => return Err(format!("found '{}', expected: identifier", other.text())),
        };
        let problems = check_key(key, &FieldPath::nil());
        if !problems.is_empty() {
            return Err(aggregate(&problems));
        }
        let (operator, values) = if negated {
            (Operator::DoesNotExist, Vec::new())
        } else if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            (Operator::Exists, Vec::new())
        } else {
            let operator = self.operator()?;
            let values = match operator {
                Operator::In | Operator::NotIn => self.value_set()?,
                _ => vec![self.exact_value()?],
            };
            (operator, values)
        };
        Requirement::try_new(&FieldPath::nil(), key, operator, values).map_err(|e| aggregate(&e))
    }

    fn operator(&mut self) -> Result<Operator, String> {
        Ok(match self.next() {
            Token::Word("in") => Operator::In,
            Token::Word("notin") => Operator::NotIn,
            Token::Symbol("=") => Operator::Equals,
            Token::Symbol("==") => Operator::DoubleEquals,
            Token::Symbol("!=") => Operator::NotEquals,
            Token::Symbol(">") => Operator::GreaterThan,
            Token::Symbol("<") => Operator::LessThan,
            other => {
                let words = "expected: in, notin, =, ==, !=, gt, lt";
                return Err(format!("found '{}', {words}", other.text()));
            }
        })
    }

    fn exact_value(&mut self) -> Result<String, String> {
        if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            return Ok(String::new());
        }
        match self.next() {
            Token::Word(value) => Ok(value.to_owned()),
            other => Err(format!("found '{}', expected: identifier", other.text())),
        }
    }

    /// The values between parentheses, sorted and each once; gaps between commas are empty values.
    fn value_set(&mut self) -> Result<Vec<String>, String> {
        match self.next() {
            Token::Symbol("(") => {}
            other => return Err(format!("found '{}' expected: '('", other.text())),
        }
        let values = match self.peek() {
            Token::Symbol(")") => BTreeSet::from([""]),
            Token::Word(_) | Token::Symbol(",") => self.value_list()?,
            other => {
                return Err(format!(
                    "found '{}', expected: ',', ')' or identifier",
                    other.text()
                ));
            }
        };
        // Both arms left the closing parenthesis to be taken.
        self.next();
        Ok(values.into_iter().map(str::to_owned).collect())
    }

    fn value_list(&mut self) -> Result<BTreeSet<&'a str>, String> {
        let mut values = BTreeSet::new();
        loop {
            match self.next() {
                Token::Word(value) => {
                    values.insert(value);
                    match self.peek() {
                        Token::Symbol(",") => {}
                        Token::Symbol(")") => return Ok(values),
                        other => {
                            return Err(format!("found '{}', expected: ',' or ')'", other.text()));
                        }
                    }
                }
                Token::Symbol(",") => {
                    let next = self.peek();
                    if values.is_empty() || matches!(next, Token::Symbol("," | ")")) {
                        values.insert("");
                    }
                    if next == Token::Symbol(")") {
                        return Ok(values);
                    }
                }
                other => {
                    return Err(format!(
                        "found '{}', expected: ',', or identifier",
                        other.text()
                    ));
                }
            }
        }
    }
}
