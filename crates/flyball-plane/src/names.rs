//! The rules for names: DNS labels and subdomains, path segments, qualified names, label values.
//! Each rule returns upstream's messages, none when the name is good. Source: apimachinery util/validation, api/validation.
//! Not here: which object follows which rule (`kinds`).

/// Which rule the name of an object follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// Anything that fits in a path.
    PathSegment,
    /// Lower-case DNS subdomain, 253 bytes.
    Subdomain,
    /// Lower-case DNS label, 63 bytes.
    Label,
    /// Lower-case DNS label that starts with a letter, 63 bytes.
    Label1035,
}

impl NameRule {
    /// The messages for `name`.
    pub fn check(self, name: &str) -> Vec<String> {
        match self {
            Self::PathSegment => path_segment(name),
            Self::Subdomain => subdomain(name),
            Self::Label => label(name),
            Self::Label1035 => label_1035(name),
        }
    }

    /// The messages for a `generateName`: a trailing dash is allowed, because a suffix follows.
    pub fn check_prefix(self, prefix: &str) -> Vec<String> {
        match (self, prefix.strip_suffix('-')) {
            (Self::PathSegment, _) => path_segment_characters(prefix),
            (_, Some(stem)) if !stem.is_empty() => self.check(&format!("{stem}a")),
            _ => self.check(prefix),
        }
    }
}

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

fn too_long(bytes_max: usize) -> String {
    format!("must be no more than {bytes_max} bytes")
}

fn is_lower_label(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !text.is_empty() && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_mixed_name(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.iter().all(|b| inner(*b)) && edge(bytes.first()) && edge(bytes.last())
}

/// A DNS-1123 label.
pub fn label(text: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if text.len() > 63 {
        messages.push(too_long(63));
    }
    if !is_lower_label(text) {
        messages.push(LABEL.to_owned());
    }
    messages
}

/// A DNS-1035 label.
pub fn label_1035(text: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if text.len() > 63 {
        messages.push(too_long(63));
    }
    if !is_lower_label(text) || text.starts_with(|c: char| c.is_ascii_digit()) {
        messages.push(LABEL_1035.to_owned());
    }
    messages
}

/// A DNS-1123 subdomain.
pub fn subdomain(text: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if text.len() > 253 {
        messages.push(too_long(253));
    }
    if !text.split('.').all(is_lower_label) {
        messages.push(SUBDOMAIN.to_owned());
    }
    messages
}

fn path_segment_characters(text: &str) -> Vec<String> {
    ['/', '%']
        .into_iter()
        .filter(|c| text.contains(*c))
        .map(|c| format!("may not contain '{c}'"))
        .collect()
}

/// A name that fits between two slashes of a path.
pub fn path_segment(text: &str) -> Vec<String> {
    match text {
        "." | ".." => vec![format!("may not be '{text}'")],
        _ => path_segment_characters(text),
    }
}

/// A label key, annotation key or finalizer: `[prefix/]name`.
pub fn qualified_name(text: &str) -> Vec<String> {
    let mut messages = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                messages.push("prefix part must be non-empty".to_owned());
            } else {
                messages.extend(
                    subdomain(prefix)
                        .into_iter()
                        .map(|why| format!("prefix part {why}")),
                );
            }
            *name
        }
        _ => {
            let rule = QUALIFIED
                .strip_prefix("name part must")
                .unwrap_or(QUALIFIED);
            return vec![format!(
                "a qualified name must{rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        messages.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        messages.push(format!("name part {}", too_long(63)));
    }
    if !is_mixed_name(name) {
        messages.push(QUALIFIED.to_owned());
    }
    messages
}

/// A label's value.
pub fn label_value(text: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if text.len() > 63 {
        messages.push(too_long(63));
    }
    if !text.is_empty() && !is_mixed_name(text) {
        messages.push(LABEL_VALUE.to_owned());
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_accept_and_refuse() {
        let table: [(fn(&str) -> Vec<String>, &[&str], &[&str]); 5] = [
            (label, &["a", "a-1"], &["", "A", "-a", "a.b", "a_"]),
            (label_1035, &["a1"], &["1a"]),
            (subdomain, &["a.b-c", "1"], &["a..b", ".a", "A"]),
            (path_segment, &["a:b", "X"], &[".", "..", "a/b", "a%"]),
            (
                qualified_name,
                &["a", "x.io/A_b"],
                &["", "/a", "a/b/c", "-a", "A.b/"],
            ),
        ];
        for (rule, good, bad) in table {
            for text in good {
                assert_eq!(rule(text), Vec::<String>::new(), "{text}");
            }
            for text in bad {
                assert!(!rule(text).is_empty(), "{text}");
            }
        }
    }

    #[test]
    fn a_generated_names_prefix_may_end_in_a_dash() {
        assert!(NameRule::Subdomain.check_prefix("web-").is_empty());
        assert!(!NameRule::Subdomain.check_prefix("Web-").is_empty());
    }
}
