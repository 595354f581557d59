//! Names that need no randomness: pod name suffixes and template hashes, from content by FNV-1a, in upstream's alphabet.
//! Equal inputs give equal names, so a run can be repeated. Not here: uids.

use serde_json::Value;

/// Upstream's alphabet for generated names: no vowels and no look-alikes (apimachinery util/rand).
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Length of a generated pod name suffix (apiserver names.randomLength).
const SUFFIX_LENGTH: usize = 5;

/// Longest base of a generated name: 63 less the suffix (apiserver names.maxGeneratedNameLength).
const BASE_LENGTH: usize = 63 - SUFFIX_LENGTH;

/// Bound of the search for a free name. There are 27^5 = 14,348,907 suffixes; a thousand misses in a row mean a full namespace.
const ATTEMPTS: u64 = 1_000;

/// A name `base` + 5 characters that `is_taken` does not refuse, drawn from `seed`. When every attempt is taken the last is
/// returned: the store refuses it and the caller works again at another instant, with another seed.
pub(crate) fn generated_name(base: &str, seed: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let base = base.get(..BASE_LENGTH).unwrap_or(base);
    let mut name = String::new();
    for attempt in 0..ATTEMPTS {
        let hash = fnv64(&[base.as_bytes(), seed.as_bytes(), &attempt.to_be_bytes()]);
        name = format!("{base}{}", suffix(hash));
        if !is_taken(&name) {
            break;
        }
    }
    name
}

/// A stable hash of a pod template (or any object) and a collision count, as upstream prints its own
/// (controller.ComputeHash): decimal digits of 32 bits in the alphabet. The value differs from upstream's, which hashes Go's memory layout.
pub(crate) fn template_hash(template: &Value, collisions: Option<i64>) -> String {
    let mut text = String::new();
    canonical(template, &mut text);
    let salt = collisions
        .map(|count| count.to_string())
        .unwrap_or_default();
    let hash = fnv64(&[text.as_bytes(), salt.as_bytes()]);
    let folded = (hash >> 32) as u32 ^ hash as u32;
    folded
        .to_string()
        .bytes()
        .map(|digit| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()]))
        .collect()
}

/// 64 bits that depend on the texts alone.
pub(crate) fn content_hash(texts: &[&str]) -> u64 {
    let parts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    fnv64(&parts)
}

fn suffix(mut hash: u64) -> String {
    let letters = ALPHABET.len() as u64;
    (0..SUFFIX_LENGTH)
        .map(|_| {
            let letter = (hash % letters) as usize;
            hash /= letters;
            char::from(ALPHABET[letter])
        })
        .collect()
}

/// FNV-1a, 64 bits, with a length before each part so that parts cannot run into each other.
fn fnv64(parts: &[&[u8]]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        for byte in (part.len() as u64).to_be_bytes().iter().chain(part.iter()) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    // FNV's low bits are weak when only the last byte differs; one avalanche round (splitmix64's) spreads it.
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^ (hash >> 31)
}

/// JSON with sorted keys and without nulls: the same object gives the same text however it was built.
fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<_> = map.iter().filter(|(_, value)| !value.is_null()).collect();
            keys.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (key, value) in keys {
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                canonical(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(list) => {
            out.push('[');
            for value in list {
                canonical(value, out);
                out.push(',');
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_template_hash_depends_on_content_alone() {
        let one = json!({"spec": {"a": 1, "b": [1, 2]}});
        let other: Value =
            serde_json::from_str(r#"{"spec": {"b": [1, 2], "a": 1, "c": null}}"#).unwrap();
        assert_eq!(template_hash(&one, None), template_hash(&other, None));
        assert_ne!(template_hash(&one, None), template_hash(&one, Some(1)));
        assert_ne!(
            template_hash(&one, None),
            template_hash(&json!({"spec": {"a": 2, "b": [1, 2]}}), None)
        );
        assert!(
            template_hash(&one, None)
                .bytes()
                .all(|byte| ALPHABET.contains(&byte))
        );
    }

    #[test]
    fn a_generated_name_avoids_taken_names_and_keeps_to_63_characters() {
        let first = generated_name("web-", "seed", |_| false);
        let second = generated_name("web-", "seed", |name| name == first);
        assert_ne!(first, second);
        assert_eq!(first, generated_name("web-", "seed", |_| false));
        assert_eq!(generated_name(&"x".repeat(80), "seed", |_| false).len(), 63);
    }
}
