//! Floating-point figures that survive JSON bit for bit.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// A figure as it was computed. A JSON number where there is one; `"NaN"`, `"Infinity"` and `"-Infinity"` otherwise,
/// which ratios to a target of no pods can be. Equal means the same bits; every NaN is the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct Real(pub f64);

const SPECIAL: [(&str, f64); 3] = [
    ("NaN", f64::NAN),
    ("Infinity", f64::INFINITY),
    ("-Infinity", f64::NEG_INFINITY),
];

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits() || (self.0.is_nan() && other.0.is_nan())
    }
}

impl fmt::Display for Real {
    /// The shortest text that reads back as the same figure.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Real {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let special = SPECIAL.iter().find(|(_, value)| *self == Self(*value));
        match special {
            Some((name, _)) => serializer.serialize_str(name),
            None => serializer.serialize_f64(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Figure;

        impl Visitor<'_> for Figure {
            type Value = Real;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, \"NaN\", \"Infinity\" or \"-Infinity\"")
            }

            fn visit_f64<E>(self, value: f64) -> Result<Real, E> {
                Ok(Real(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Real, E> {
                Ok(Real(value as f64))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Real, E> {
                Ok(Real(value as f64))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Real, E> {
                let special = SPECIAL.iter().find(|(name, _)| *name == text);
                special
                    .map(|(_, value)| Real(*value))
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(Figure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_figure_reads_back_as_the_same_bits(bits in any::<u64>()) {
            let figure = Real(f64::from_bits(bits));
            let text = serde_json::to_string(&figure).unwrap();
            prop_assert_eq!(serde_json::from_str::<Real>(&text).unwrap(), figure, "{}", text);
        }
    }

    #[test]
    fn what_is_no_number_is_a_word() {
        for (figure, text) in [
            (f64::NAN, r#""NaN""#),
            (-f64::NAN, r#""NaN""#),
            (f64::INFINITY, r#""Infinity""#),
            (f64::NEG_INFINITY, r#""-Infinity""#),
            (1.1, "1.1"),
            (-0.0, "-0.0"),
        ] {
            assert_eq!(serde_json::to_string(&Real(figure)).unwrap(), text);
        }
    }

    #[test]
    fn a_whole_number_and_no_other_word_is_a_figure() {
        assert_eq!(serde_json::from_str::<Real>("3").unwrap(), Real(3.0));
        assert!(serde_json::from_str::<Real>(r#""inf""#).is_err());
    }
}
