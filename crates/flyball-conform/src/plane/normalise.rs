//! What two right answers may differ in is taken out of both: identities become ordinals, recent times a word.
//! One [`Normaliser`] serves all answers of one script by one server, so that relations between answers stay.

use std::collections::BTreeMap;

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde_json::{Map, Value, json};

use crate::plane::server::Incoming;

/// Times within a day of the run are the server's doing; others a script has put there.
const RECENT_S: i64 = 86_400;

/// What begins the generated name of the volume with a pod's token.
const TOKEN_VOLUME: &str = "kube-api-access-";

/// Letters the server adds to a prefix.
const SUFFIX: usize = 5;

/// Headers that are compared.
const HEADERS: [&str; 5] = [
    "content-type",
    "warning",
    "retry-after",
    "allow",
    "location",
];

/// What has been seen of one server in one script.
#[derive(Debug)]
pub struct Normaliser {
    namespace: String,
    now_s: i64,
    uids: Ordinals,
    revisions: Ordinals,
    names: Ordinals,
    prefixes: Vec<String>,
}

/// Texts in the order in which they were first seen.
#[derive(Debug, Default)]
struct Ordinals(BTreeMap<String, usize>);

impl Ordinals {
    fn of(&mut self, text: &str) -> usize {
        let next = self.0.len() + 1;
        *self.0.entry(text.to_owned()).or_insert(next)
    }
}

impl Normaliser {
    /// For answers about objects in `namespace`, around the instant `now_s` in seconds since 1970.
    pub fn new(namespace: &str, now_s: i64) -> Self {
        Self {
            namespace: namespace.to_owned(),
            now_s,
            uids: Ordinals::default(),
            revisions: Ordinals::default(),
            names: Ordinals::default(),
            prefixes: Vec::new(),
        }
    }

    /// Tells of a prefix of which the server was asked to make a name.
    pub fn expect_generated(&mut self, prefix: &str) {
        if !prefix.is_empty() && !self.prefixes.iter().any(|known| known == prefix) {
            self.prefixes.push(prefix.to_owned());
        }
    }

    /// The answer as it is compared: `status`, `headers`, `body`.
    pub fn answer(&mut self, answer: &Incoming) -> Value {
        json!({
            "status": answer.status.as_u16(),
            "headers": self.headers(&answer.headers),
            "body": self.body(answer),
        })
    }

    fn headers(&self, headers: &HeaderMap) -> Value {
        let mut compared = Map::new();
        for name in HEADERS {
            let values: Vec<Value> = headers
                .get_all(name)
                .iter()
                .map(|value| {
                    self.named(&String::from_utf8_lossy(value.as_bytes()))
                        .into()
                })
                .collect();
            if !values.is_empty() {
                compared.insert(name.to_owned(), values.into());
            }
        }
        compared.into()
    }

    fn body(&mut self, answer: &Incoming) -> Value {
        let text = String::from_utf8_lossy(&answer.body);
        let is_yaml = answer
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|form| form == "application/yaml");
        if is_yaml && let Ok(mut document) = serde_saphyr::from_str(&text) {
            self.value(&mut document);
            return document;
        }
        let documents: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(&text)
            .into_iter()
            .collect();
        match documents {
            Ok(mut one) if one.len() == 1 => {
                let mut document = one.remove(0);
                self.value(&mut document);
                document
            }
            Ok(mut many) if !many.is_empty() => {
                for document in &mut many {
                    self.value(document);
                }
                many.into()
            }
            _ => self.text(&text).into(),
        }
    }

    fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => {
                for item in items {
                    self.value(item);
                }
            }
            Value::Object(fields) => self.fields(fields),
            _ => {}
        }
    }

    fn fields(&mut self, fields: &mut Map<String, Value>) {
        let of_many = fields.contains_key("items") || fields.contains_key("columnDefinitions");
        let is_bookmark = fields.get("type").is_some_and(|kind| kind == "BOOKMARK");
        if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
            Self::metadata(metadata);
            if of_many {
                Self::list_metadata(metadata);
            }
        }
        if is_bookmark
            && let Some(Value::Object(object)) = fields.get_mut("object")
            && let Some(Value::Object(metadata)) = object.get_mut("metadata")
        {
            metadata.insert("resourceVersion".to_owned(), "<rv>".into());
        }
        if let Some(Value::Array(cells)) = fields.get_mut("cells") {
            for cell in cells.iter_mut() {
                if cell.as_str().is_some_and(is_age) {
                    *cell = "<age>".into();
                }
            }
        }
        if let Some(Value::String(revision)) = fields.get_mut("resourceVersion")
            && is_number(revision)
        {
            *revision = format!("<rv:{}>", self.revisions.of(revision));
        }
        for value in fields.values_mut() {
            self.value(value);
        }
    }

    fn metadata(metadata: &mut Map<String, Value>) {
        metadata.remove("managedFields");
    }

    fn list_metadata(metadata: &mut Map<String, Value>) {
        if let Some(revision) = metadata.get_mut("resourceVersion") {
            *revision = "<rv>".into();
        }
        if let Some(token) = metadata.get_mut("continue") {
            *token = "<continue>".into();
        }
    }

    fn text(&mut self, text: &str) -> String {
        if let Some(word) = self.time(text) {
            return word.to_owned();
        }
        if is_service_address(text) {
            return "<ip>".to_owned();
        }
        let text = self.quoted(text);
        let text = self.generated(&text);
        if text.len() == TOKEN_VOLUME.len() + 5 && text.starts_with(TOKEN_VOLUME) {
            return format!("{TOKEN_VOLUME}<name>");
        }
        let text = self.named(&text);
        let text = without_record(&text);
        self.identities(&text)
    }

    /// Treats an object that a message quotes as one of its own.
    fn quoted(&mut self, text: &str) -> String {
        let Some((head, _)) = text.split_once("\"{\\\"") else {
            return text.to_owned();
        };
        let tail = &text[head.len()..];
        let mut strings = serde_json::Deserializer::from_str(tail).into_iter::<String>();
        let Some(Ok(inner)) = strings.next() else {
            return text.to_owned();
        };
        let Ok(mut object) = serde_json::from_str::<Value>(&inner) else {
            return text.to_owned();
        };
        self.value(&mut object);
        format!("{head}{object}{}", &tail[strings.byte_offset()..])
    }

    /// Replaces every name that the server has made by its ordinal.
    fn generated(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let end = self.prefixes.iter().find_map(|prefix| {
                let end = prefix.len() + SUFFIX;
                let suffix = rest.strip_prefix(prefix.as_str())?.get(..SUFFIX)?;
                suffix.bytes().all(is_generated).then_some(end)
            });
            let end = end.unwrap_or_else(|| character.len_utf8());
            if end > SUFFIX {
                out.push_str(&ordinal("name", self.names.of(&rest[..end])));
            } else {
                out.push(character);
            }
            rest = &rest[end..];
        }
        out
    }

    fn named(&self, text: &str) -> String {
        text.replace(&self.namespace, "<ns>")
    }

    fn time(&self, text: &str) -> Option<&'static str> {
        let instant: jiff::Timestamp = text.parse().ok()?;
        let is_recent = (instant.as_second() - self.now_s).abs() < RECENT_S;
        let word = if text.contains('.') {
            "<microtime>"
        } else {
            "<time>"
        };
        is_recent.then_some(word)
    }

    /// Replaces every uid in a text by its ordinal.
    fn identities(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            if let Some(uid) = rest.get(..36).filter(|part| is_uid(part)) {
                out.push_str(&ordinal("uid", self.uids.of(uid)));
                rest = &rest[36..];
            } else {
                out.push(character);
                rest = &rest[character.len_utf8()..];
            }
        }
        out
    }
}

/// `<uid:1>`.
fn ordinal(what: &str, number: usize) -> String {
    format!("<{what}:{number}>")
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// True for the address of a service, of which each server takes any that is free.
fn is_service_address(text: &str) -> bool {
    text.starts_with("10.96.") && text.parse::<std::net::Ipv4Addr>().is_ok()
}

/// A text without the revision an object happens to have, which is the one number of upstream's texts that differs by run.
fn without_record(text: &str) -> String {
    const BEFORE: [&str; 5] = [
        "ResourceVersion in the precondition (",
        "ResourceVersion in precondition: ",
        "ResourceVersion in record (",
        "ResourceVersion in object meta: ",
        ", current: ",
    ];
    let mut text = text.to_owned();
    for before in BEFORE {
        if let Some((head, tail)) = text.split_once(before) {
            let rest = tail.trim_start_matches(|digit: char| digit.is_ascii_digit());
            text = format!("{head}{before}<rv>{rest}");
        }
    }
    text
}

/// `5s`, `2m3s`, `<unknown>` stays.
fn is_age(cell: &str) -> bool {
    cell.ends_with(['s', 'm'])
        && cell.starts_with(|first: char| first.is_ascii_digit())
        && cell
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b's' | b'm'))
}

/// True for what suffixes consist of: no vowels, and nothing that looks like another.
fn is_generated(letter: u8) -> bool {
    b"bcdfghjklmnpqrstvwxz2456789".contains(&letter)
}

fn is_uid(text: &str) -> bool {
    text.bytes().enumerate().all(|(index, byte)| match index {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(mut value: Value) -> Value {
        Normaliser::new("ns-1", 1_795_960_000).value(&mut value);
        value
    }

    #[test]
    fn equal_identities_stay_equal_and_others_stay_apart() {
        let uid = |end: char| format!("00000000-0000-4000-8000-00000000000{end}");
        let value = json!({"metadata": {"uid": uid('a'), "resourceVersion": "7"}, "object": {"metadata": {"uid": uid('b'), "resourceVersion": "9"}}, "message": format!("uid {} of ns-1", uid('a'))});
        assert_eq!(
            normalised(value),
            json!({"metadata": {"uid": "<uid:1>", "resourceVersion": "<rv:1>"}, "object": {"metadata": {"uid": "<uid:2>", "resourceVersion": "<rv:2>"}}, "message": "uid <uid:1> of <ns>"})
        );
    }

    #[test]
    fn recent_times_are_the_servers_and_old_ones_the_scripts() {
        let value = json!([
            "2026-11-29T00:00:00Z",
            "2026-11-29T00:00:00.000001Z",
            "2001-01-01T00:00:00Z"
        ]);
        assert_eq!(
            normalised(value),
            json!(["<time>", "<microtime>", "2001-01-01T00:00:00Z"])
        );
    }

    #[test]
    fn an_object_within_a_message_and_a_generated_name_are_treated_as_others() {
        let mut normaliser = Normaliser::new("ns-1", 1_795_960_000);
        normaliser.expect_generated("g-");
        let inner =
            json!({"metadata": {"managedFields": [], "namespace": "ns-1", "resourceVersion": "4"}});
        let message = format!("of g-bcdf2: {:?}: no", inner.to_string());
        assert_eq!(
            normaliser.text(&message),
            r#"of <name:1>: {"metadata":{"namespace":"<ns>","resourceVersion":"<rv:1>"}}: no"#
        );
    }

    #[test]
    fn lists_lose_their_revision_and_items_keep_theirs() {
        let value = json!({"metadata": {"resourceVersion": "9", "continue": "x"}, "items": [{"metadata": {"resourceVersion": "9"}}]});
        assert_eq!(
            normalised(value),
            json!({"metadata": {"resourceVersion": "<rv>", "continue": "<continue>"}, "items": [{"metadata": {"resourceVersion": "<rv:1>"}}]})
        );
    }
}
