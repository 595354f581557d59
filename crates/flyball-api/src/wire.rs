//! Small rules of the JSON form that several types share. Not a serializer.

use serde::{Deserialize, Deserializer};

/// Reads `null` as the default value, as Go's decoder leaves a field alone.
pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}
