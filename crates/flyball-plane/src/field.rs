//! Problems with fields, made from paths as text; the type and its texts are [`flyball_api::field`]'s.

pub use flyball_api::field::FieldError;
use flyball_api::field::{BadValue, FieldPath};
use serde_json::Value;

fn shown(value: Value) -> BadValue {
    match value {
        Value::String(text) => BadValue::Text(text),
        other => BadValue::Json(other),
    }
}

/// A value is missing at `path`.
pub fn required(path: impl AsRef<str>, detail: impl Into<String>) -> FieldError {
    FieldError::required(&FieldPath::new(path.as_ref()), detail)
}

/// The value at `path` is wrong.
pub fn invalid(
    path: impl AsRef<str>,
    value: impl Into<Value>,
    detail: impl Into<String>,
) -> FieldError {
    FieldError::invalid(&FieldPath::new(path.as_ref()), shown(value.into()), detail)
}

/// Nothing may stand at `path`.
pub fn forbidden(path: impl AsRef<str>, detail: impl Into<String>) -> FieldError {
    FieldError::forbidden(&FieldPath::new(path.as_ref()), detail)
}

/// The value at `path` is there already.
pub fn duplicate(path: impl AsRef<str>, value: impl Into<Value>) -> FieldError {
    FieldError::duplicate(&FieldPath::new(path.as_ref()), shown(value.into()))
}

/// The value at `path` is not one of `supported`.
pub fn not_supported(
    path: impl AsRef<str>,
    value: impl Into<Value>,
    supported: &[&str],
) -> FieldError {
    FieldError::not_supported(
        &FieldPath::new(path.as_ref()),
        shown(value.into()),
        supported,
    )
}

/// The value at `path` is longer than `bytes_max`.
pub fn too_long(path: impl AsRef<str>, bytes_max: usize) -> FieldError {
    FieldError::too_long(&FieldPath::new(path.as_ref()), bytes_max)
}
