//! Why bytes are not JSON, in the words of Go's `encoding/json`, which upstream passes on to clients.
//! Source: encoding/json scanner.go. Not here: reading what is JSON.

/// What a composite value waits for.
#[derive(Clone, Copy)]
enum Inside {
    Key,
    Pair,
    Element,
}

/// What may come next.
#[derive(Clone, Copy)]
enum Next {
    Value,
    /// A value or `]`.
    ValueOrEnd,
    Key,
    /// A key or `}`.
    KeyOrEnd,
    AfterValue,
}

/// Deeper documents are refused. Source: `maxNestingDepth`.
const DEPTH_MAX: usize = 10_000;

/// The first problem of a document, `None` when it is JSON.
pub(crate) fn problem(document: &[u8]) -> Option<String> {
    Scanner {
        bytes: document,
        at: 0,
        stack: Vec::new(),
    }
    .scan()
    .err()
    .map(|problem| match problem {
        Problem::End => "unexpected end of JSON input".to_owned(),
        Problem::Deep => "exceeded max depth".to_owned(),
        Problem::Byte(byte, context) => format!("invalid character {} {context}", quoted(byte)),
    })
}

enum Problem {
    End,
    Deep,
    Byte(u8, String),
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Inside>,
}

type Step = Result<(), Problem>;

fn wrong<T>(byte: u8, context: &str) -> Result<T, Problem> {
    Err(Problem::Byte(byte, context.to_owned()))
}

impl Scanner<'_> {
    fn scan(mut self) -> Step {
        let mut next = Next::Value;
        loop {
            self.skip_space();
            let Some(byte) = self.peek() else {
                let complete = matches!(next, Next::AfterValue) && self.stack.is_empty();
                return if complete { Ok(()) } else { Err(Problem::End) };
            };
            next = match next {
                Next::ValueOrEnd if byte == b']' => self.close(),
                Next::KeyOrEnd if byte == b'}' => self.close(),
                Next::Value | Next::ValueOrEnd => self.value(byte)?,
                Next::Key | Next::KeyOrEnd => self.key(byte)?,
                Next::AfterValue => self.after(byte)?,
            };
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self) -> Result<u8, Problem> {
        let byte = self.peek().ok_or(Problem::End)?;
        self.at += 1;
        Ok(byte)
    }

    fn skip_space(&mut self) {
        while self
            .peek()
            .is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
        {
            self.at += 1;
        }
    }

    fn close(&mut self) -> Next {
        self.at += 1;
        self.stack.pop();
        Next::AfterValue
    }

    fn open(&mut self, inside: Inside, next: Next) -> Result<Next, Problem> {
        if self.stack.len() >= DEPTH_MAX {
            return Err(Problem::Deep);
        }
        self.at += 1;
        self.stack.push(inside);
        Ok(next)
    }

    fn value(&mut self, byte: u8) -> Result<Next, Problem> {
        match byte {
            b'{' => return self.open(Inside::Key, Next::KeyOrEnd),
            b'[' => return self.open(Inside::Element, Next::ValueOrEnd),
            b'"' => self.string()?,
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.literal("true")?,
            b'f' => self.literal("false")?,
            b'n' => self.literal("null")?,
            _ => return wrong(byte, "looking for beginning of value"),
        }
        Ok(Next::AfterValue)
    }

    fn key(&mut self, byte: u8) -> Result<Next, Problem> {
        if byte != b'"' {
            return wrong(byte, "looking for beginning of object key string");
        }
        self.string()?;
        Ok(Next::AfterValue)
    }

    fn after(&mut self, byte: u8) -> Result<Next, Problem> {
        let Some(inside) = self.stack.last_mut() else {
            return wrong(byte, "after top-level value");
        };
        let next = match (*inside, byte) {
            (Inside::Key, b':') => {
                *inside = Inside::Pair;
                Next::Value
            }
            (Inside::Key, _) => return wrong(byte, "after object key"),
            (Inside::Pair, b',') => {
                *inside = Inside::Key;
                Next::Key
            }
            (Inside::Element, b',') => Next::Value,
            (Inside::Pair, b'}') | (Inside::Element, b']') => return Ok(self.close()),
            (Inside::Pair, _) => return wrong(byte, "after object key:value pair"),
            (Inside::Element, _) => return wrong(byte, "after array element"),
        };
        self.at += 1;
        Ok(next)
    }

    fn string(&mut self) -> Step {
        self.at += 1;
        loop {
            match self.take()? {
                b'"' => return Ok(()),
                b'\\' => self.escape()?,
                byte if byte < 0x20 => return wrong(byte, "in string literal"),
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Step {
        match self.take()? {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => Ok(()),
            b'u' => (0..4).try_for_each(|_| match self.take()? {
                byte if byte.is_ascii_hexdigit() => Ok(()),
                byte => wrong(byte, "in \\u hexadecimal character escape"),
            }),
            byte => wrong(byte, "in string escape code"),
        }
    }

    fn literal(&mut self, word: &str) -> Step {
        for (index, expected) in word.bytes().enumerate() {
            let byte = self.take()?;
            if byte != expected {
                debug_assert!(index > 0, "the first byte chose the word");
                return wrong(
                    byte,
                    &format!("in literal {word} (expecting {})", quoted(expected)),
                );
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Step {
        if self.peek() == Some(b'-') {
            self.at += 1;
            self.digit("in numeric literal")?;
            self.at -= 1;
        }
        if self.take()? != b'0' {
            self.digits();
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
            self.digits();
        }
        Ok(())
    }

    fn digit(&mut self, context: &str) -> Step {
        match self.take()? {
            byte if byte.is_ascii_digit() => Ok(()),
            byte => wrong(byte, context),
        }
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }
}

/// Source: encoding/json scanner.go `quoteChar`.
fn quoted(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => r#"'"'"#.to_owned(),
        b'\\' => r"'\\'".to_owned(),
        b'\n' => r"'\n'".to_owned(),
        b'\r' => r"'\r'".to_owned(),
        b'\t' => r"'\t'".to_owned(),
        0x07 => r"'\a'".to_owned(),
        0x08 => r"'\b'".to_owned(),
        0x0b => r"'\v'".to_owned(),
        0x0c => r"'\f'".to_owned(),
        0..=0x1f | 0x7f => format!("'\\x{byte:02x}'"),
        // Go converts the byte to a rune; those of Latin-1's upper half that cannot be seen are escaped.
        0x80..=0xa0 | 0xad => format!("'\\u{byte:04x}'"),
        _ => format!("'{}'", char::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_told_in_gos_words() {
        let table = [
            ("", "unexpected end of JSON input"),
            ("{\"a\":", "unexpected end of JSON input"),
            (
                "{broken",
                "invalid character 'b' looking for beginning of object key string",
            ),
            (
                "{\"a\":1,}",
                "invalid character '}' looking for beginning of object key string",
            ),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            (
                "{\"a\":1 2}",
                "invalid character '2' after object key:value pair",
            ),
            ("[1 2]", "invalid character '2' after array element"),
            ("[1]]", "invalid character ']' after top-level value"),
            ("\"a\nb\"", "invalid character '\\n' in string literal"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            (
                "\"\\u12g4\"",
                "invalid character 'g' in \\u hexadecimal character escape",
            ),
            ("-x", "invalid character 'x' in numeric literal"),
            (
                "1.x",
                "invalid character 'x' after decimal point in numeric literal",
            ),
            (
                "1e+x",
                "invalid character 'x' in exponent of numeric literal",
            ),
            (
                "trux",
                "invalid character 'x' in literal true (expecting 'e')",
            ),
            (
                "'a'",
                "invalid character '\\'' looking for beginning of value",
            ),
        ];
        for (document, expected) in table {
            assert_eq!(
                problem(document.as_bytes()).as_deref(),
                Some(expected),
                "{document}"
            );
        }
    }

    #[test]
    fn json_has_no_problem() {
        for document in [
            "{}",
            " [ ] ",
            "[{\"a\":[1,-0.5e3,true,null,\"\\u00e9\"]}]",
            "0",
        ] {
            assert_eq!(problem(document.as_bytes()), None, "{document}");
        }
    }
}
