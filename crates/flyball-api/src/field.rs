//! Field paths and the errors of fields, printed as upstream prints them. Not the rules: those are in `validation`.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::go_text;

/// The way from an object's root to one of its fields: `spec.metrics[0].type`.
///
/// Upstream: apimachinery field/path.go `Path`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath(String);

impl FieldPath {
    /// A path of one name.
    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The path to nothing, which prints as `<nil>`; a child of it is a path of one name.
    pub const fn nil() -> Self {
        Self(String::new())
    }

    /// The field `name` of this object.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        if self.0.is_empty() {
            Self::new(name)
        } else {
            Self(format!("{}.{name}", self.0))
        }
    }

    /// Element `index` of this list.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// The entry `key` of this map.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self(format!("{}[{key}]", self.0))
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "<nil>" } else { &self.0 })
    }
}

/// What is wrong with a field. Upstream: apimachinery field/errors.go `ErrorType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldErrorKind {
    /// A reference leads nowhere.
    NotFound,
    /// A value must be given.
    Required,
    /// A value occurs twice where it must be unique.
    Duplicate,
    /// A value is malformed or out of bounds.
    Invalid,
    /// A value is none of the known ones.
    NotSupported,
    /// A value must not be given here.
    Forbidden,
    /// A text is too long.
    TooLong,
    /// A list is too long.
    TooMany,
    /// Something failed that is not the user's doing.
    Internal,
    /// A value has the wrong JSON type.
    TypeInvalid,
}

impl FieldErrorKind {
    /// The `reason` of a status cause: `FieldValueInvalid`.
    pub const fn cause(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::Internal => "InternalError",
            Self::TypeInvalid => "FieldValueTypeInvalid",
        }
    }

    /// The words that open a message: `Invalid value`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Internal => "Internal error",
        }
    }

    /// Whether messages of this kind show the value.
    const fn shows_value(self) -> bool {
        match self {
            Self::NotFound
            | Self::Duplicate
            | Self::Invalid
            | Self::NotSupported
            | Self::TooMany
            | Self::TypeInvalid => true,
            Self::Required | Self::Forbidden | Self::TooLong | Self::Internal => false,
        }
    }
}

/// The value an error complains of, in the form its message shows.
#[derive(Debug, Clone, PartialEq)]
pub enum BadValue {
    /// A plain string, shown quoted as Go quotes.
    Text(String),
    /// Anything else, shown as JSON with sorted fields.
    Json(Value),
    /// JSON whose fields keep their order, as it is shown.
    JsonText(String),
}

impl BadValue {
    /// An object, shown as JSON in the order of its fields.
    pub fn of(object: &impl Serialize) -> Self {
        serde_json::to_string(object).map_or(Self::Json(Value::Null), Self::JsonText)
    }
}

impl From<&str> for BadValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i32> for BadValue {
    fn from(number: i32) -> Self {
        Self::Json(number.into())
    }
}

impl From<i64> for BadValue {
    fn from(number: i64) -> Self {
        Self::Json(number.into())
    }
}

impl From<Value> for BadValue {
    fn from(value: Value) -> Self {
        Self::Json(value)
    }
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match self {
            Self::Text(text) => go_text::quote(text),
            Self::Json(value) => go_text::json(&value.to_string()),
            Self::JsonText(text) => go_text::json(text),
        })
    }
}

/// One problem of one field, printed like `spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1`.
///
/// Upstream: apimachinery field/errors.go `Error`.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldError {
    /// What is wrong.
    pub kind: FieldErrorKind,
    /// The field's path, printed.
    pub field: String,
    /// The value, empty text where the kind does not show it.
    pub bad_value: BadValue,
    /// What to do about it; may be empty.
    pub detail: String,
    /// Whether a declarative rule finds the same; its error then takes this one's place in answers of an API server.
    pub covered_by_declarative: bool,
}

impl FieldError {
    fn new(kind: FieldErrorKind, path: &FieldPath, bad_value: BadValue, detail: String) -> Self {
        let field = path.to_string();
        Self {
            kind,
            field,
            bad_value,
            detail,
            covered_by_declarative: false,
        }
    }

    /// Marks the error as one that a declarative rule finds too. Upstream: `MarkCoveredByDeclarative`.
    #[must_use]
    pub(crate) fn covered(self) -> Self {
        Self {
            covered_by_declarative: true,
            ..self
        }
    }

    /// The value is malformed or out of bounds.
    pub fn invalid(
        path: &FieldPath,
        value: impl Into<BadValue>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(FieldErrorKind::Invalid, path, value.into(), detail.into())
    }

    /// The value has the wrong JSON type.
    pub fn type_invalid(
        path: &FieldPath,
        value: impl Into<BadValue>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(
            FieldErrorKind::TypeInvalid,
            path,
            value.into(),
            detail.into(),
        )
    }

    /// A value must be given; the detail may be empty.
    pub fn required(path: &FieldPath, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Required, path, "".into(), detail.into())
    }

    /// A value must not be given here.
    pub fn forbidden(path: &FieldPath, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Forbidden, path, "".into(), detail.into())
    }

    /// The value is none of `supported`, which the message lists in this order.
    pub fn not_supported(path: &FieldPath, value: impl Into<BadValue>, supported: &[&str]) -> Self {
        let quoted: Vec<String> = supported.iter().map(|v| go_text::quote(v)).collect();
        let detail = match quoted.as_slice() {
            [] => String::new(),
            _ => format!("supported values: {}", quoted.join(", ")),
        };
        Self::new(FieldErrorKind::NotSupported, path, value.into(), detail)
    }

    /// The value occurs twice.
    pub fn duplicate(path: &FieldPath, value: impl Into<BadValue>) -> Self {
        Self::new(FieldErrorKind::Duplicate, path, value.into(), String::new())
    }

    /// The value names something that does not exist.
    pub fn not_found(path: &FieldPath, value: impl Into<BadValue>) -> Self {
        Self::new(FieldErrorKind::NotFound, path, value.into(), String::new())
    }

    /// The text has more than `bytes_max` bytes.
    pub fn too_long(path: &FieldPath, bytes_max: usize) -> Self {
        let unit = if bytes_max == 1 { "byte" } else { "bytes" };
        let detail = format!("may not be more than {bytes_max} {unit}");
        Self::new(
            FieldErrorKind::TooLong,
            path,
            "<value omitted>".into(),
            detail,
        )
    }

    /// The list has `count` items, more than `count_max`.
    pub fn too_many(path: &FieldPath, count: usize, count_max: usize) -> Self {
        let unit = if count_max == 1 { "item" } else { "items" };
        let detail = format!("must have at most {count_max} {unit}");
        let value = BadValue::Json(Value::from(count));
        Self::new(FieldErrorKind::TooMany, path, value, detail)
    }

    /// The message without the path: the `message` of a status cause.
    pub fn body(&self) -> String {
        let value = self.kind.shows_value().then(|| self.bad_value.to_string());
        let detail = (!self.detail.is_empty()).then(|| self.detail.clone());
        let words = self.kind.words().to_owned();
        std::iter::once(words)
            .chain(value)
            .chain(detail)
            .collect::<Vec<_>>()
            .join(": ")
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

impl std::error::Error for FieldError {}

/// All messages as one: a single one bare, several in brackets, each text once.
///
/// Upstream: apimachinery util/errors/errors.go `aggregate.Error`.
pub fn aggregate<T: fmt::Display>(errors: &[T]) -> String {
    let mut seen = BTreeSet::new();
    let texts: Vec<String> = errors
        .iter()
        .map(T::to_string)
        .filter(|text| seen.insert(text.clone()))
        .collect();
    match texts.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_print_names_indices_and_keys() {
        let metrics = FieldPath::new("spec").child("metrics");
        assert_eq!(
            metrics.index(2).child("type").to_string(),
            "spec.metrics[2].type"
        );
        assert_eq!(
            FieldPath::new("labels").key("a/b").to_string(),
            "labels[a/b]"
        );
        assert_eq!(FieldPath::nil().to_string(), "<nil>");
        assert_eq!(FieldPath::nil().child("key").to_string(), "key");
    }

    #[test]
    fn each_kind_prints_in_upstreams_words() {
        let path = FieldPath::new("spec").child("x");
        let rows = [
            (
                FieldError::invalid(&path, -1, "too small"),
                "spec.x: Invalid value: -1: too small",
            ),
            (
                FieldError::invalid(&path, "a\"b", "bad"),
                r#"spec.x: Invalid value: "a\"b": bad"#,
            ),
            (
                FieldError::invalid(&path, Value::from(vec!["a"]), "bad"),
                r#"spec.x: Invalid value: ["a"]: bad"#,
            ),
            (FieldError::required(&path, ""), "spec.x: Required value"),
            (
                FieldError::required(&path, "say it"),
                "spec.x: Required value: say it",
            ),
            (
                FieldError::forbidden(&path, "not here"),
                "spec.x: Forbidden: not here",
            ),
            (
                FieldError::not_supported(&path, "c", &["a", "b"]),
                r#"spec.x: Unsupported value: "c": supported values: "a", "b""#,
            ),
            (
                FieldError::duplicate(&path, "a"),
                r#"spec.x: Duplicate value: "a""#,
            ),
            (
                FieldError::not_found(&path, "a"),
                r#"spec.x: Not found: "a""#,
            ),
            (
                FieldError::too_long(&path, 253),
                "spec.x: Too long: may not be more than 253 bytes",
            ),
            (
                FieldError::too_many(&path, 9, 1),
                "spec.x: Too many: 9: must have at most 1 item",
            ),
        ];
        for (error, printed) in rows {
            assert_eq!(error.to_string(), printed);
        }
    }

    #[test]
    fn aggregates_hold_each_text_once() {
        assert_eq!(aggregate::<&str>(&[]), "");
        assert_eq!(aggregate(&["a"]), "a");
        assert_eq!(aggregate(&["a", "a"]), "a");
        assert_eq!(aggregate(&["b", "a", "b"]), "[b, a]");
    }
}
