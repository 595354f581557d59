//! Problems with fields of JSON objects: the constructors of [`flyball_api::field`] for paths as text and values as JSON.
//! They stay apart from the API crate's, whose rules walk typed objects with a path in hand and never see a bare value.

pub(crate) use flyball_api::field::FieldError;
use flyball_api::field::{BadValue, FieldPath};
use serde::de::DeserializeOwned;
use serde_json::Value;

fn shown(value: Value) -> BadValue {
    match value {
        Value::String(text) => BadValue::Text(text),
        other => BadValue::Json(other),
    }
}

/// The value at `path` in its typed form. The decoder has checked the fields' types; what is left unreadable is one problem.
///
/// # Errors
/// The problem.
pub(crate) fn read<T: DeserializeOwned>(path: &str, value: &Value) -> Result<T, FieldError> {
    T::deserialize(value).map_err(|error| invalid(path, "", error.to_string()))
}

/// A value is missing at `path`.
pub(crate) fn required(path: impl AsRef<str>, detail: impl Into<String>) -> FieldError {
    FieldError::required(&FieldPath::new(path.as_ref()), detail)
}

/// The value at `path` is wrong.
pub(crate) fn invalid(
    path: impl AsRef<str>,
    value: impl Into<Value>,
    detail: impl Into<String>,
) -> FieldError {
    FieldError::invalid(&FieldPath::new(path.as_ref()), shown(value.into()), detail)
}

/// Nothing may stand at `path`.
pub(crate) fn forbidden(path: impl AsRef<str>, detail: impl Into<String>) -> FieldError {
    FieldError::forbidden(&FieldPath::new(path.as_ref()), detail)
}

/// The value at `path` is there already.
pub(crate) fn duplicate(path: impl AsRef<str>, value: impl Into<Value>) -> FieldError {
    FieldError::duplicate(&FieldPath::new(path.as_ref()), shown(value.into()))
}

/// The value at `path` is not one of `supported`.
pub(crate) fn not_supported(
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
pub(crate) fn too_long(path: impl AsRef<str>, bytes_max: usize) -> FieldError {
    FieldError::too_long(&FieldPath::new(path.as_ref()), bytes_max)
}
