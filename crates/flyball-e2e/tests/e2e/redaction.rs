//! Makes transcripts repeatable: what differs from run to run becomes a word in angle brackets.

/// The text with volatile values redacted, and with columns closed up where their width depends on one.
pub(crate) fn redact(text: &str) -> String {
    text.lines().map(|line| redact_line(line) + "\n").collect()
}

/// Lines whose whole value is volatile, whatever it looks like.
const VOLATILE_VALUES: [&str; 3] = ["CreationTimestamp:", "Start Time:", "Started:"];

fn redact_line(line: &str) -> String {
    let trimmed = line.trim_start();
    if let Some(label) = VOLATILE_VALUES
        .iter()
        .find(|label| trimmed.starts_with(**label))
    {
        let indent = &line[..line.len() - trimmed.len()];
        return format!("{indent}{label}  <time>");
    }
    let mut out = String::new();
    let mut token = String::new();
    for c in line.chars() {
        if c.is_ascii_alphanumeric() || "-.:+_".contains(c) {
            token.push(c);
        } else {
            out.push_str(&redact_token(&token, line));
            token.clear();
            out.push(c);
        }
    }
    out.push_str(&redact_token(&token, line));
    let aged = [" AGE", " Age ", "LAST SEEN"]
        .iter()
        .any(|head| line.contains(head));
    if aged || out.contains("<age>") {
        close_up(&out)
    } else {
        out
    }
}

fn redact_token(token: &str, line: &str) -> String {
    let bare = token.trim_end_matches([':', '.']);
    let rest = &token[bare.len()..];
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if line.contains("resourceVersion") && digits(bare) {
        return format!("<version>{rest}");
    }
    if is_time(bare) {
        return format!("<time>{rest}");
    }
    if is_uid(bare) {
        return format!("<uid>{rest}");
    }
    if is_age(bare) {
        return format!("<age>{rest}");
    }
    if bare.split('.').count() == 4 && bare.split('.').all(digits) {
        return format!("<ip>{rest}");
    }
    match bare.rsplit_once('-') {
        Some((stem, suffix)) if is_suffix(suffix) => format!("{stem}-<suffix>{rest}"),
        _ => token.to_owned(),
    }
}

fn is_time(text: &str) -> bool {
    text.len() >= 20 && text.ends_with('Z') && text.as_bytes()[10] == b'T'
}

fn is_uid(text: &str) -> bool {
    let parts: Vec<usize> = text.split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12]
}

/// `5s`, `3m10s`. No test lasts until an age is in whole minutes, and `100m` is a quantity.
fn is_age(text: &str) -> bool {
    let plain = text
        .bytes()
        .all(|b| b.is_ascii_digit() || b"sm".contains(&b));
    plain && text.ends_with('s') && text.starts_with(|c: char| c.is_ascii_digit())
}

/// The five letters and digits of a generated name; none of them is a vowel, so words are none.
fn is_suffix(text: &str) -> bool {
    text.len() == 5
        && text
            .bytes()
            .all(|b| b"bcdfghjklmnpqrstvwxz2456789".contains(&b))
}

/// Two spaces wherever there were more, after the indent.
fn close_up(line: &str) -> String {
    let indent = &line[..line.len() - line.trim_start().len()];
    let words = line
        .split("  ")
        .map(str::trim)
        .filter(|word| !word.is_empty());
    indent.to_owned() + &words.collect::<Vec<_>>().join("  ")
}

#[test]
fn what_differs_from_run_to_run_is_redacted() {
    for (line, redacted) in [
        (
            "web-77b96d5d58-58gwg   1/1   Running   0   3m10s",
            "web-77b96d5d58-<suffix>  1/1  Running  0  <age>",
        ),
        ("NAME   READY      AGE", "NAME  READY  AGE"),
        (
            "  resourceVersion: \"12\"",
            "  resourceVersion: \"<version>\"",
        ),
        (
            "  uid: 0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f",
            "  uid: <uid>",
        ),
        ("  at: \"2026-12-01T00:33:26Z\"", "  at: \"<time>\""),
        (
            "CreationTimestamp:      Tue, 01 Dec 2026 00:33:26 +0000",
            "CreationTimestamp:  <time>",
        ),
        ("  podIP: 10.1.0.3", "  podIP: <ip>"),
        (
            "app-cache stays, and so does 100m",
            "app-cache stays, and so does 100m",
        ),
    ] {
        assert_eq!(redact(line), format!("{redacted}\n"));
    }
}
