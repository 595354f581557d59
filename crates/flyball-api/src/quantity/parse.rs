//! The text form of quantities: splitting, suffixes, and the choice between the two forms of an amount.

use thiserror::Error;

use super::decimal::Decimal;
use super::scaled::Scaled;
use super::{Amount, Format, Quantity};

/// Why a text is not a quantity. Messages are upstream's (quantity.go `ErrFormatWrong`, `ErrNumeric`, `ErrSuffix`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ParseQuantityError {
    /// The text has not the shape of a number with a suffix.
    #[error(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Format,
    /// The part before the suffix holds no digit.
    #[error("unable to parse numeric part of quantity")]
    Numeric,
    /// The suffix is not one that quantities know.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// Decimal digits that an `i64` always holds. Upstream: math.go `maxInt64Factors`.
const DIGITS_SAFE: i64 = 18;

/// The finest step of an amount, 10^-9. Upstream: amount.go `Nano`.
const NANO: i32 = -9;

/// Upstream: quantity.go `ParseQuantity`.
pub(super) fn parse(text: &str) -> Result<Quantity, ParseQuantityError> {
    if text.is_empty() {
        return Err(ParseQuantityError::Format);
    }
    let parts = Parts::split(text)?;
    let suffix = Suffix::interpret(parts.suffix).ok_or(ParseQuantityError::Suffix)?;
    if let Some((amount, looks_canonical)) = short(&parts, suffix) {
        let kept = (looks_canonical || text == "0").then(|| text.into());
        return Ok(Quantity {
            amount: Amount::Scaled(amount),
            format: suffix.format(),
            text: kept,
        });
    }
    long(&parts, suffix)
}

/// The short form, if digits and suffix surely fit it, and whether the text may be kept as it is.
fn short(parts: &Parts<'_>, suffix: Suffix) -> Option<(Scaled, bool)> {
    let digits = (parts.whole.len() + parts.fraction.len()) as i64;
    let (scale, factor, spare) = match suffix {
        Suffix::Decimal(exponent) | Suffix::Exponent(exponent) => {
            (exponent, 1, DIGITS_SAFE - digits)
        }
        // Fractions of binary units are not decimal shifts. A power of 2^10 takes about three of fifteen digits.
        Suffix::Binary(_) if !parts.fraction.is_empty() => return None,
        Suffix::Binary(power) => (0, 1_i64 << power, 14 - digits - i64::from(power) * 3 / 10),
    };
    // The subtraction wraps as upstream's does, at exponents near -2^31.
    let scale = scale.wrapping_sub(parts.fraction.len() as i32);
    if spare < 0 || scale < NANO {
        return None;
    }
    let shifted = parts.whole.bytes().chain(parts.fraction.bytes());
    let value = shifted
        .clone()
        .fold(0_i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    let looks_canonical = if let Suffix::Binary(_) = suffix {
        value & 7 != 0
    } else {
        let ends_in_thousands = digits >= 3 && shifted.clone().rev().take(3).all(|d| d == b'0');
        let starts_with_zero = shifted.clone().next() == Some(b'0');
        scale % 3 == 0 && !ends_in_thousands && !starts_with_zero
    };
    let size = value.checked_mul(factor)?;
    let value = if parts.negative { -size } else { size };
    Some((Scaled { value, scale }, looks_canonical))
}

/// The long form: nothing below 10^-9, binary amounts capped at the largest `i64`.
fn long(parts: &Parts<'_>, suffix: Suffix) -> Result<Quantity, ParseQuantityError> {
    let amount = match suffix {
        Suffix::Decimal(exponent) | Suffix::Exponent(exponent) => {
            Decimal::parse(parts.number, i64::from(exponent))
        }
        Suffix::Binary(power) => {
            Decimal::parse(parts.number, 0).map(|amount| amount.times_two_to_the(power))
        }
    };
    let mut amount = amount
        .ok_or(ParseQuantityError::Numeric)?
        .round_up(-i64::from(NANO));
    let mut format = suffix.format();
    if format == Format::BinarySI {
        let limit = Decimal::from(Scaled {
            value: i64::MAX,
            scale: 0,
        });
        let one = Decimal::from(Scaled { value: 1, scale: 0 });
        amount = amount.capped_at(&limit);
        if amount.sign() != 0 && amount.compare_size(&one).is_lt() {
            format = Format::DecimalSI;
        }
    }
    Ok(Quantity {
        amount: Amount::Decimal(amount),
        format,
        text: None,
    })
}

/// A quantity's text, taken apart. Upstream: quantity.go `parseQuantityString`.
struct Parts<'a> {
    negative: bool,
    /// Sign, digits and point, as written.
    number: &'a str,
    /// Digits before the point without leading zeros; `0` if none are left.
    whole: &'a str,
    /// Digits behind the point.
    fraction: &'a str,
    suffix: &'a str,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Result<Self, ParseQuantityError> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let stripped = unsigned.trim_start_matches('0');
        let negative = text.starts_with('-');
        if stripped.is_empty() {
            return Ok(Self {
                negative,
                number: "0",
                whole: "0",
                fraction: "",
                suffix: "",
            });
        }
        let (whole, rest) = split_digits(stripped);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        let after_letters = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
        let exponent = after_letters
            .strip_prefix(['+', '-'])
            .unwrap_or(after_letters);
        if !split_digits(exponent).1.is_empty() {
            return Err(ParseQuantityError::Format);
        }
        let number = &text[..text.len() - suffix.len()];
        let whole = if whole.is_empty() { "0" } else { whole };
        Ok(Self {
            negative,
            number,
            whole,
            fraction,
            suffix,
        })
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at(end)
}

/// What a suffix multiplies by. Upstream: suffix.go `suffixHandler.interpret`.
#[derive(Clone, Copy)]
enum Suffix {
    /// A power of ten, by letter.
    Decimal(i32),
    /// A power of ten, by number.
    Exponent(i32),
    /// A power of two.
    Binary(u32),
}

impl Suffix {
    fn interpret(text: &str) -> Option<Self> {
        Some(match text {
            "n" => Self::Decimal(-9),
            "u" => Self::Decimal(-6),
            "m" => Self::Decimal(-3),
            "" => Self::Decimal(0),
            "k" => Self::Decimal(3),
            "M" => Self::Decimal(6),
            "G" => Self::Decimal(9),
            "T" => Self::Decimal(12),
            "P" => Self::Decimal(15),
            "E" => Self::Decimal(18),
            "Ki" => Self::Binary(10),
            "Mi" => Self::Binary(20),
            "Gi" => Self::Binary(30),
            "Ti" => Self::Binary(40),
            "Pi" => Self::Binary(50),
            "Ei" => Self::Binary(60),
            _ => {
                let number = text.strip_prefix(['e', 'E'])?;
                // Upstream reads 64 bits and keeps the low 32.
                Self::Exponent(number.parse::<i64>().ok()? as i32)
            }
        })
    }

    const fn format(self) -> Format {
        match self {
            Self::Decimal(_) => Format::DecimalSI,
            Self::Exponent(_) => Format::DecimalExponent,
            Self::Binary(_) => Format::BinarySI,
        }
    }
}
