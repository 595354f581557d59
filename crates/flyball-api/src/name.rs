//! The shapes of names, labels and keys, and the sentences that say what is wrong with one. Not tied to any field.
//!
//! Each rule answers a list of messages, empty if the text is sound.
//! Upstream: apimachinery v0.37.2 `util/validation/validation.go` and `api/validate/content`.

/// Longest DNS label, label value and name part of a label key.
const LABEL_MAX: usize = 63;
/// Longest DNS subdomain.
const SUBDOMAIN_MAX: usize = 253;

const LABEL_REGEX: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_REGEX: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const DNS_1035_REGEX: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const KEY_REGEX: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const VALUE_REGEX: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
const CONFIG_KEY_REGEX: &str = "[-._a-zA-Z0-9]+";

const LABEL_WORDS: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', \
     and must start and end with an alphanumeric character";
const SUBDOMAIN_WORDS: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
     '-' or '.', and must start and end with an alphanumeric character";
const DNS_1035_WORDS: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with \
     an alphabetic character, and end with an alphanumeric character";
const KEY_WORDS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
     alphanumeric character";
const VALUE_WORDS: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
     '.', and must start and end with an alphanumeric character";
const CONFIG_KEY_WORDS: &str =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";

/// A DNS label: namespaces, containers. Upstream: `IsDNS1123Label`.
pub fn dns_label(text: &str) -> Vec<String> {
    let mut problems = too_long(text, LABEL_MAX, "characters");
    if !is_dns_label(text) {
        problems.push(if is_dns_subdomain(text) {
            "must not contain dots".to_owned()
        } else {
            no_match(LABEL_WORDS, LABEL_REGEX, &["my-name", "123-abc"])
        });
    }
    problems
}

/// A DNS subdomain: the names of most kinds. Upstream: `IsDNS1123Subdomain`.
pub fn dns_subdomain(text: &str) -> Vec<String> {
    subdomain(text, "characters")
}

fn subdomain(text: &str, unit: &str) -> Vec<String> {
    let mut problems = too_long(text, SUBDOMAIN_MAX, unit);
    if !is_dns_subdomain(text) {
        problems.push(no_match(SUBDOMAIN_WORDS, SUBDOMAIN_REGEX, &["example.com"]));
    }
    problems
}

/// A DNS label that starts with a letter: services. Upstream: `IsDNS1035Label`.
pub fn dns_1035_label(text: &str) -> Vec<String> {
    let mut problems = too_long(text, LABEL_MAX, "characters");
    if !is_dns_label(text) || text.starts_with(|c: char| c.is_ascii_digit()) {
        problems.push(no_match(
            DNS_1035_WORDS,
            DNS_1035_REGEX,
            &["my-name", "abc-123"],
        ));
    }
    problems
}

/// A label key, also called qualified name: `app`, `example.com/app`. Upstream: `content.IsLabelKey`.
pub fn label_key(text: &str) -> Vec<String> {
    let examples = ["MyName", "my.name", "123-abc"];
    let (mut problems, name) = match text.split('/').collect::<Vec<_>>().as_slice() {
        [name] => (Vec::new(), *name),
        ["", name] => (vec!["prefix part must be non-empty".to_owned()], *name),
        [prefix, name] => {
            let problems = subdomain(prefix, "bytes").into_iter();
            (
                problems
                    .map(|problem| format!("prefix part {problem}"))
                    .collect(),
                *name,
            )
        }
        _ => {
            let problem = no_match(KEY_WORDS, KEY_REGEX, &examples);
            let prefixed =
                "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {problem} {prefixed}")];
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    }
    let long = too_long(name, LABEL_MAX, "bytes").into_iter();
    problems.extend(long.map(|problem| format!("name part {problem}")));
    if name.is_empty() || !is_label_value(name) {
        problems.push(format!(
            "name part {}",
            no_match(KEY_WORDS, KEY_REGEX, &examples)
        ));
    }
    problems
}

/// A label value, which may be empty. Upstream: `content.IsLabelValue`.
pub fn label_value(text: &str) -> Vec<String> {
    let mut problems = too_long(text, LABEL_MAX, "bytes");
    if !is_label_value(text) {
        problems.push(no_match(
            VALUE_WORDS,
            VALUE_REGEX,
            &["MyValue", "my_value", "12345"],
        ));
    }
    problems
}

/// A name that can stand in a URL path. Upstream: `content.IsPathSegmentName`, which does not mind an empty one.
pub fn path_segment(text: &str) -> Vec<String> {
    if text == "." || text == ".." {
        return vec![format!("may not be '{text}'")];
    }
    let held = ["/", "%"].into_iter().filter(|part| text.contains(part));
    held.map(|part| format!("may not contain '{part}'"))
        .collect()
}

/// A key of a ConfigMap. Upstream: `IsConfigMapKey`.
pub fn config_key(text: &str) -> Vec<String> {
    let mut problems = too_long(text, SUBDOMAIN_MAX, "characters");
    let sound = |b: u8| b.is_ascii_alphanumeric() || b"-._".contains(&b);
    if text.is_empty() || !text.bytes().all(sound) {
        let examples = ["key.name", "KEY_NAME", "key-name"];
        problems.push(no_match(CONFIG_KEY_WORDS, CONFIG_KEY_REGEX, &examples));
    }
    match text {
        "." | ".." => problems.push(format!("must not be '{text}'")),
        _ if text.starts_with("..") => problems.push("must not start with '..'".to_owned()),
        _ => {}
    }
    problems
}

/// Whether the text has the shape of a DNS label, length apart.
fn is_dns_label(text: &str) -> bool {
    let sound = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    text.bytes().all(sound) && !text.is_empty() && !text.starts_with('-') && !text.ends_with('-')
}

/// Whether the text has the shape of a DNS subdomain, length apart.
fn is_dns_subdomain(text: &str) -> bool {
    text.split('.').all(is_dns_label)
}

/// Whether the text has the shape of a label value, length apart.
fn is_label_value(text: &str) -> bool {
    let outer = |b: Option<&u8>| b.is_none_or(u8::is_ascii_alphanumeric);
    let inner = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let bytes = text.as_bytes();
    text.bytes().all(inner) && outer(bytes.first()) && outer(bytes.last())
}

/// Upstream counts bytes everywhere; older rules call them characters.
fn too_long(text: &str, max: usize, unit: &str) -> Vec<String> {
    let problem = (text.len() > max).then(|| format!("must be no more than {max} {unit}"));
    problem.into_iter().collect()
}

/// Upstream: `RegexError`.
fn no_match(words: &str, regex: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples
        .iter()
        .map(|example| format!("'{example}', "))
        .collect();
    format!(
        "{words} (e.g. {}regex used for validation is '{regex}')",
        examples.join(" or ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule, a text, and how each of its problems begins.
    fn check(rule: fn(&str) -> Vec<String>, text: &str, problems: &[&str]) {
        let seen = rule(text);
        let fits = seen.len() == problems.len()
            && seen
                .iter()
                .zip(problems)
                .all(|(seen, start)| seen.starts_with(start));
        assert!(fits, "{text:?}: {seen:?}");
    }

    #[test]
    fn dns_labels() {
        let long = "a".repeat(64);
        for sound in ["a", "0", "a-b", "my-name", "123-abc", &long[1..]] {
            check(dns_label, sound, &[]);
        }
        for unsound in ["", "-", "-a", "a-", "A", "a_b", "é", "a..b", ".a"] {
            check(dns_label, unsound, &["a lowercase RFC 1123 label must"]);
        }
        check(dns_label, "a.b", &["must not contain dots"]);
        check(dns_label, &long, &["must be no more than 63 characters"]);
        assert_eq!(
            dns_label("A"),
            [
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
              and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
              '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
            ]
        );
    }

    #[test]
    fn dns_subdomains() {
        check(dns_subdomain, "a.b-c.0", &[]);
        check(
            dns_subdomain,
            "a..b",
            &["a lowercase RFC 1123 subdomain must"],
        );
        let long = format!("{}A", "a".repeat(253));
        let problems = [
            "must be no more than 253 characters",
            "a lowercase RFC 1123 subdomain",
        ];
        check(dns_subdomain, &long, &problems);
    }

    #[test]
    fn dns_1035_labels_start_with_a_letter() {
        check(dns_1035_label, "a1", &[]);
        check(dns_1035_label, "1a", &["a DNS-1035 label must"]);
    }

    #[test]
    fn label_keys() {
        for sound in ["a", "A_b.c-9", "example.com/App", "a/b"] {
            check(label_key, sound, &[]);
        }
        check(
            label_key,
            "",
            &["name part must be non-empty", "name part must consist"],
        );
        check(label_key, "/a", &["prefix part must be non-empty"]);
        check(
            label_key,
            "a/",
            &["name part must be non-empty", "name part must consist"],
        );
        check(
            label_key,
            "A/b",
            &["prefix part a lowercase RFC 1123 subdomain"],
        );
        check(label_key, "a/b/c", &["a valid label key must consist"]);
        check(label_key, "_a", &["name part must consist"]);
        check(
            label_key,
            &"a".repeat(64),
            &["name part must be no more than 63 bytes"],
        );
        let long = format!("{}/a", "a".repeat(254));
        check(
            label_key,
            &long,
            &["prefix part must be no more than 253 bytes"],
        );
    }

    #[test]
    fn label_values() {
        for sound in ["", "a", "a_b.c-D"] {
            check(label_value, sound, &[]);
        }
        for unsound in ["-", "a ", "a/b", "_", "é"] {
            check(
                label_value,
                unsound,
                &["a valid label must be an empty string"],
            );
        }
        check(
            label_value,
            &"a".repeat(64),
            &["must be no more than 63 bytes"],
        );
    }

    #[test]
    fn path_segments() {
        for sound in ["", "a", "...", "a.b"] {
            check(path_segment, sound, &[]);
        }
        check(path_segment, ".", &["may not be '.'"]);
        check(path_segment, "..", &["may not be '..'"]);
        check(
            path_segment,
            "%/",
            &["may not contain '/'", "may not contain '%'"],
        );
    }

    #[test]
    fn config_keys() {
        check(config_key, "a.b_C-9", &[]);
        check(config_key, "", &["a valid config key"]);
        check(config_key, "a b", &["a valid config key"]);
        check(config_key, "..", &["must not be '..'"]);
        check(config_key, "..a", &["must not start with '..'"]);
    }
}
