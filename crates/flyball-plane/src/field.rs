//! One problem with one field of an object, in upstream's words. Not here: the rules that find problems.

use serde_json::Value;

/// Which kind of problem it is; the machine-readable half of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldErrorType {
    /// A value is missing.
    Required,
    /// A value is malformed or out of bounds.
    Invalid,
    /// A value is not one of a closed set.
    NotSupported,
    /// A value may not be given here.
    Forbidden,
    /// A value must be unique and is not.
    Duplicate,
    /// A value is longer than allowed.
    TooLong,
}

impl FieldErrorType {
    /// The `reason` of the cause in a Status.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::Duplicate => "FieldValueDuplicate",
            Self::TooLong => "FieldValueTooLong",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::Duplicate => "Duplicate value",
            Self::TooLong => "Too long",
        }
    }
}

/// One problem: where, what, and the value that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// Its type.
    pub kind: FieldErrorType,
    /// The field's path, `spec.replicas`.
    pub path: String,
    /// The wrong value; not shown for missing and forbidden ones.
    pub value: Value,
    /// What would be right, may be empty.
    pub detail: String,
}

impl FieldError {
    /// A value is missing at `path`.
    pub fn required(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorType::Required, path, Value::Null, detail)
    }

    /// The value at `path` is wrong.
    pub fn invalid(
        path: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(FieldErrorType::Invalid, path, value.into(), detail)
    }

    /// Nothing may stand at `path`.
    pub fn forbidden(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorType::Forbidden, path, Value::Null, detail)
    }

    /// The value at `path` is there already.
    pub fn duplicate(path: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(FieldErrorType::Duplicate, path, value.into(), "")
    }

    /// The value at `path` is not one of `supported`.
    pub fn not_supported(
        path: impl Into<String>,
        value: impl Into<Value>,
        supported: &[&str],
    ) -> Self {
        let quoted: Vec<String> = supported.iter().map(|one| format!("{one:?}")).collect();
        let detail = format!("supported values: {}", quoted.join(", "));
        Self::new(FieldErrorType::NotSupported, path, value.into(), detail)
    }

    /// The value at `path` is longer than `bytes_max`.
    pub fn too_long(path: impl Into<String>, bytes_max: usize) -> Self {
        let detail = format!("may not be more than {bytes_max} bytes");
        Self::new(FieldErrorType::TooLong, path, Value::Null, detail)
    }

    fn new(
        kind: FieldErrorType,
        path: impl Into<String>,
        value: Value,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            path: path.into(),
            value,
            detail: detail.into(),
        }
    }

    /// The text without the path, as it stands in a cause. Upstream: field/errors.go `ErrorBody`.
    pub fn body(&self) -> String {
        let words = self.kind.words();
        let mut text = match self.kind {
            FieldErrorType::Required | FieldErrorType::Forbidden | FieldErrorType::TooLong => {
                words.to_owned()
            }
            FieldErrorType::Invalid | FieldErrorType::NotSupported | FieldErrorType::Duplicate => {
                format!("{words}: {}", self.value)
            }
        };
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }

    /// The whole text, as it stands in a message.
    pub fn text(&self) -> String {
        format!("{}: {}", self.path, self.body())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_upstreams() {
        let table = [
            (FieldError::required("a", ""), "a: Required value"),
            (
                FieldError::invalid("a", -1, "must be greater than or equal to 0"),
                "a: Invalid value: -1: must be greater than or equal to 0",
            ),
            (
                FieldError::invalid("a", "x", "no"),
                "a: Invalid value: \"x\": no",
            ),
            (
                FieldError::not_supported("a", "x", &["b", "c"]),
                "a: Unsupported value: \"x\": supported values: \"b\", \"c\"",
            ),
            (FieldError::forbidden("a", "no"), "a: Forbidden: no"),
        ];
        for (error, text) in table {
            assert_eq!(error.text(), text);
        }
    }
}
