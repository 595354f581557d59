//! Small rules of the JSON form that several types share. Not a serializer.

use serde::{Deserialize, Deserializer};

/// Reads `null` as the default value, as Go's decoder leaves a field alone.
pub(crate) fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Whether a value is the one that `omitempty` leaves out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
