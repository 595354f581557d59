//! The problems of ports: numbers and names. Source: apimachinery util/validation `IsValidPortNum`, `IsValidPortName`.

const NAME_BYTES_MAX: usize = 15;
/// What a number that is no port is answered.
pub(super) const RANGE: &str = "must be between 1 and 65535, inclusive";

/// True for the number of a port.
pub(super) fn is_number(number: i64) -> bool {
    (1..=65535).contains(&number)
}

/// The problems of a port's name.
pub(super) fn name(text: &str) -> Vec<String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let mut problems = Vec::new();
    if text.len() > NAME_BYTES_MAX {
        problems.push(format!("must be no more than {NAME_BYTES_MAX} characters"));
    }
    let rules = [
        (
            !text.is_empty() && text.chars().all(plain),
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        ),
        (
            text.contains(|c: char| c.is_ascii_lowercase()),
            "must contain at least one letter (a-z)",
        ),
        (!text.contains("--"), "must not contain consecutive hyphens"),
        (
            !text.starts_with('-') && !text.ends_with('-'),
            "must not begin or end with a hyphen",
        ),
    ];
    let broken = rules.into_iter().filter(|(holds, _)| !holds);
    problems.extend(broken.map(|(_, why)| why.to_owned()));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_name_breaks_as_many_rules_as_it_does() {
        let table = [
            ("http", 0),
            ("8080", 1),
            ("-", 2),
            ("a--b", 1),
            ("HTTP", 2),
            ("abcdefghijklmnop", 1),
        ];
        for (text, count) in table {
            assert_eq!(name(text).len(), count, "{text}");
        }
    }
}
