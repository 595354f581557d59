//! The canonical text of an amount: no fraction, the largest suffix that loses nothing. Not the kept text of a parsed one.

use super::decimal::Decimal;
use super::scaled::{Scaled, Whole, without_factors};
use super::{Amount, Format, Quantity};

/// Upstream: quantity.go `CanonicalizeBytes`.
pub(super) fn canonical(quantity: &Quantity) -> String {
    if quantity.is_zero() {
        return "0".to_owned();
    }
    if quantity.format == Format::BinarySI
        && let Some(text) = binary(quantity)
    {
        return text;
    }
    let (mantissa, exponent) = match &quantity.amount {
        Amount::Scaled(amount) => match amount.canonical() {
            Some((mantissa, exponent)) => (mantissa.to_string(), i64::from(exponent)),
            None => Decimal::from(*amount).canonical(),
        },
        Amount::Decimal(amount) => amount.canonical(),
    };
    mantissa + &decimal_suffix(quantity.format, exponent)
}

/// The binary form; none where the amount is small or not whole, which is then printed as a decimal.
fn binary(quantity: &Quantity) -> Option<String> {
    let bound = |value| Quantity::from_scaled(Scaled { value, scale: 0 }, Format::BinarySI);
    if *quantity > bound(-1024) && *quantity < bound(1024) {
        return None;
    }
    let (mantissa, power) = match &quantity.amount {
        Amount::Scaled(amount) => match amount.whole() {
            Whole::Fits(value) => {
                let (mantissa, power) = without_factors(value, 1024);
                (mantissa.to_string(), power)
            }
            Whole::TooLarge => Decimal::from(*amount).canonical_1024()?,
            Whole::Fraction => return None,
        },
        Amount::Decimal(amount) if amount.is_integer() => amount.canonical_1024()?,
        Amount::Decimal(_) => return None,
    };
    Some(mantissa + binary_suffix(power))
}

/// Note: a power without a suffix prints none, so a sum of 2^70 bytes loses its size, as upstream.
/// Upstream: suffix.go `constructBytes`, whose failure flag `CanonicalizeBytes` ignores.
const fn binary_suffix(power: i32) -> &'static str {
    match power {
        1 => "Ki",
        2 => "Mi",
        3 => "Gi",
        4 => "Ti",
        5 => "Pi",
        6 => "Ei",
        _ => "",
    }
}

/// Note: as with binary powers, `1000E` prints as `1`, as upstream.
fn decimal_suffix(format: Format, exponent: i64) -> String {
    if format == Format::DecimalExponent && exponent != 0 {
        return format!("e{exponent}");
    }
    let letter = match exponent {
        -9 => "n",
        -6 => "u",
        -3 => "m",
        3 => "k",
        6 => "M",
        9 => "G",
        12 => "T",
        15 => "P",
        18 => "E",
        _ => "",
    };
    letter.to_owned()
}
