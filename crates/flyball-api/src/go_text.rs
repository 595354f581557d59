//! Text forms of Go that upstream's messages contain: quoted strings and compact JSON. Not a general port of `fmt`.

/// `strconv.Quote`, the verb `%q`: double quotes, Go's escapes, printable characters as they are.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            _ if is_printable(c) => out.push(c),
            _ => out += &escape(c),
        }
    }
    out.push('"');
    out
}

fn escape(c: char) -> String {
    match c {
        '\x07' => "\\a".to_owned(),
        '\x08' => "\\b".to_owned(),
        '\x0c' => "\\f".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\x0b' => "\\v".to_owned(),
        '\0'..='\x7f' => format!("\\x{:02x}", c as u32),
        '\u{80}'..='\u{ffff}' => format!("\\u{:04x}", c as u32),
        _ => format!("\\U{:08x}", c as u32),
    }
}

/// `strconv.IsPrint`: what Rust's own debug form leaves alone, combining marks included.
pub(crate) fn is_printable(c: char) -> bool {
    // A leading letter keeps a combining mark from being escaped for standing first.
    let mut probe = String::from("a");
    probe.push(c);
    matches!(c, ' '..='~') || (!c.is_ascii() && probe.escape_debug().count() == 2)
}

/// Compact JSON as `json.Marshal` writes it: with the escapes that keep it safe inside HTML.
pub fn json(text: &str) -> String {
    // The characters in question occur only inside strings, where an escape means the same.
    let safe = text
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026");
    safe.replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_uses_the_escapes_of_go() {
        let rows = [
            ("", r#""""#),
            ("plain ~ text", r#""plain ~ text""#),
            ("a\"b\\c", r#""a\"b\\c""#),
            ("\x07\x08\x0c\n\r\t\x0b", r#""\a\b\f\n\r\t\v""#),
            ("\x01\x7f", r#""\x01\x7f""#),
            ("\u{80}\u{a0}\u{2028}", r#""\u0080\u00a0\u2028""#),
            ("é日e\u{301}😀", "\"é日e\u{301}😀\""),
            ("\u{e0001}", r#""\U000e0001""#),
        ];
        for (text, quoted) in rows {
            assert_eq!(quote(text), quoted);
        }
    }

    #[test]
    fn json_is_safe_inside_html() {
        let value = serde_json::json!({"b": "<&>", "a": [1, null]});
        assert_eq!(
            json(&value.to_string()),
            r#"{"a":[1,null],"b":"\u003c\u0026\u003e"}"#
        );
    }
}
