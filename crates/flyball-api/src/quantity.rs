//! `resource.Quantity`: exact decimal amounts with a remembered notation, as manifests and metrics write them.
//! Not a number type for arithmetic: the controller leaves with `milli_value` and computes in `i64`.
//!
//! Follows apimachinery v0.37.2 `pkg/api/resource` to the digit, quirks included, because statuses and decisions show them.
//! Differs from upstream only where upstream would not come to an end: exponents in the millions are never written out.

mod decimal;
mod parse;
mod print;
mod scaled;

use std::cmp::Ordering;
use std::fmt;
use std::ops::AddAssign;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use self::decimal::Decimal;
pub use self::parse::ParseQuantityError;
use self::scaled::Scaled;

/// The notation a quantity is printed in. Upstream: quantity.go `Format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `12e6`: powers of ten with an exponent.
    DecimalExponent,
    /// `12Mi`: powers of 1024 with a suffix.
    BinarySI,
    /// `12M`: powers of 1000 with a suffix.
    DecimalSI,
}

impl Format {
    /// Upstream's name of the format, `DecimalSI` for instance.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DecimalExponent => "DecimalExponent",
            Self::BinarySI => "BinarySI",
            Self::DecimalSI => "DecimalSI",
        }
    }
}

/// The two ways of holding an amount. Upstream keeps the same two, and some results depend on which one is in use.
#[derive(Debug, Clone)]
enum Amount {
    /// An `i64` times a power of ten: nearly every amount.
    Scaled(Scaled),
    /// Digits without limit: what does not fit the other form.
    Decimal(Decimal),
}

/// An exact amount, its notation, and its text where that text is already canonical enough to keep.
///
/// Equality and order are by value: `1` equals `1000m`. Upstream: quantity.go `Quantity`.
#[derive(Debug, Clone)]
pub struct Quantity {
    amount: Amount,
    format: Format,
    text: Option<Box<str>>,
}

impl Quantity {
    /// Reads a quantity such as `250m`, `1.5Gi` or `1e3`. Upstream: quantity.go `ParseQuantity`.
    pub fn parse(text: &str) -> Result<Self, ParseQuantityError> {
        parse::parse(text)
    }

    /// `value` thousandths in the given notation. Upstream: quantity.go `NewMilliQuantity`.
    pub const fn from_milli(value: i64, format: Format) -> Self {
        Self::from_scaled(Scaled { value, scale: -3 }, format)
    }

    /// `value` units in the given notation. Upstream: quantity.go `NewQuantity`.
    pub const fn from_units(value: i64, format: Format) -> Self {
        Self::from_scaled(Scaled { value, scale: 0 }, format)
    }

    const fn from_scaled(amount: Scaled, format: Format) -> Self {
        Self {
            amount: Amount::Scaled(amount),
            format,
            text: None,
        }
    }

    /// The notation in which the amount was written.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Thousandths, rounded away from zero.
    ///
    /// Note: an amount too large for `i64` gives upstream's figure, not a saturated one: `1E` is 0, `1Ei` is -2^63; and
    /// negative amounts in the long form round towards zero. Upstream: quantity.go `MilliValue`.
    pub fn milli_value(&self) -> i64 {
        self.scaled_value(-3)
    }

    /// Whole units, rounded away from zero; the notes of [`Self::milli_value`] apply. Upstream: quantity.go `Value`.
    pub fn value(&self) -> i64 {
        self.scaled_value(0)
    }

    fn scaled_value(&self, scale: i32) -> i64 {
        match &self.amount {
            Amount::Scaled(amount) => amount.at_scale(scale),
            Amount::Decimal(amount) => amount.at_scale(scale),
        }
    }

    /// Whether the amount is zero, positive or negative: -1, 0 or 1.
    pub fn sign(&self) -> i32 {
        match &self.amount {
            Amount::Scaled(amount) => amount.value.signum() as i32,
            Amount::Decimal(amount) => amount.sign(),
        }
    }

    /// Whether the amount is zero.
    pub fn is_zero(&self) -> bool {
        self.sign() == 0
    }

    /// The amount as mantissa times a power of ten in binary floating point: `50m` is 50 x 0.001.
    ///
    /// Note: two texts of one value can differ in the last bit, and so can the tolerance read from them.
    /// Upstream: quantity.go `AsApproximateFloat64`.
    pub fn approximate_f64(&self) -> f64 {
        match &self.amount {
            Amount::Scaled(amount) => scale_f64(amount.value as f64, i64::from(amount.scale)),
            Amount::Decimal(amount) => scale_f64(amount.unscaled_f64(), -amount.scale()),
        }
    }

    fn decimal(&self) -> Decimal {
        match &self.amount {
            Amount::Scaled(amount) => Decimal::from(*amount),
            Amount::Decimal(amount) => amount.clone(),
        }
    }
}

/// Zero, in decimal notation.
impl Default for Quantity {
    fn default() -> Self {
        Self::from_units(0, Format::DecimalSI)
    }
}

/// Upstream: quantity.go `Add`. A zero left side takes the notation of the right side.
impl AddAssign<&Self> for Quantity {
    fn add_assign(&mut self, other: &Self) {
        self.text = None;
        if self.is_zero() {
            self.format = other.format;
        }
        if let (Amount::Scaled(a), Amount::Scaled(b)) = (&self.amount, &other.amount)
            && let Some(sum) = a.checked_add(*b)
        {
            self.amount = Amount::Scaled(sum);
            return;
        }
        self.amount = Amount::Decimal(self.decimal().plus(&other.decimal()));
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Amount::Scaled(a), Amount::Scaled(b)) = (&self.amount, &other.amount)
            && let Some(order) = a.compare(*b)
        {
            return order;
        }
        self.decimal().compare(&other.decimal())
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Some(text) => f.write_str(text),
            None => f.write_str(&print::canonical(self)),
        }
    }
}

impl std::str::FromStr for Quantity {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.text {
            Some(text) => serializer.serialize_str(text),
            None => serializer.serialize_str(&print::canonical(self)),
        }
    }
}

/// Reads a string, or a bare number as if it were quoted.
///
/// Note: the original spelling of a bare number with a fraction or exponent is lost before it gets here, so `1e3` reads
/// as `1000`; the value is the same. Upstream: quantity.go `UnmarshalJSON`.
impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor)
    }
}

struct QuantityVisitor;

impl Visitor<'_> for QuantityVisitor {
    type Value = Quantity;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a quantity, as a string or a number")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quantity, E> {
        // Upstream trims the raw JSON text, where control characters are still escaped and so are never trimmed.
        let text = text.trim_matches(|c: char| c.is_whitespace() && !c.is_ascii_control());
        Quantity::parse(text).map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Quantity, E> {
        Quantity::parse(&value.to_string()).map_err(E::custom)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Quantity, E> {
        Quantity::parse(&value.to_string()).map_err(E::custom)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Quantity, E> {
        // Exponents where JSON encoders write them: without one, a huge amount would lose its suffix when printed.
        let plain = value == 0.0 || (1e-6..1e21).contains(&value.abs());
        let text = if plain {
            value.to_string()
        } else {
            format!("{value:e}")
        };
        Quantity::parse(&text).map_err(E::custom)
    }
}

/// `base` x 10^`exponent` as Go computes it: an exponent of zero leaves the base alone, so that no NaN arises.
fn scale_f64(base: f64, exponent: i64) -> f64 {
    if exponent == 0 {
        base
    } else {
        base * go_pow10(exponent)
    }
}

/// Go's `math.Pow10`: a product (or quotient) of two table entries, which is not always the nearest float64.
fn go_pow10(exponent: i64) -> f64 {
    const UNITS: [f64; 32] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31,
    ];
    const UP: [f64; 10] = [
        1e0, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288,
    ];
    const DOWN: [f64; 11] = [
        1e0, 1e-32, 1e-64, 1e-96, 1e-128, 1e-160, 1e-192, 1e-224, 1e-256, 1e-288, 1e-320,
    ];
    let size = exponent.unsigned_abs() as usize;
    match exponent {
        0..=308 => UP[size / 32] * UNITS[size % 32],
        -323..0 => DOWN[size / 32] / UNITS[size % 32],
        ..-323 => 0.0,
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests;
