//! The short form of an amount: an `i64` times a power of ten. Not a general decimal: what does not fit is left to `Decimal`.

use std::cmp::Ordering;

/// `value` x 10^`scale`. Upstream: amount.go `int64Amount`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scaled {
    pub(super) value: i64,
    pub(super) scale: i32,
}

impl Scaled {
    /// The amount in units of 10^`scale`, rounded away from zero, with upstream's figures where it overflows.
    /// Upstream: amount.go `AsScaledInt64`, whose failure flag `ScaledValue` ignores.
    pub(super) fn at_scale(self, scale: i32) -> i64 {
        if self.scale < scale {
            return divide_up(self.value, i64::from(scale) - i64::from(self.scale)).0;
        }
        // The subtraction wraps as upstream's does; a negative result then multiplies by nothing.
        let places = self.scale.wrapping_sub(scale);
        match places {
            // These powers are single multiplications upstream, whose wrapped product escapes.
            1 | 2 | 3 | 6 | 9 if self.value != i64::MIN => self.value.wrapping_mul(pow10(places)),
            _ => multiply(self.value, places).unwrap_or(0),
        }
    }

    /// The whole number this amount is, if it is one that fits. Upstream: amount.go `AsScale(0)` and `AsScaledInt64(0)`.
    pub(super) fn whole(self) -> Whole {
        if self.scale < 0 {
            let (value, exact) = divide_up(self.value, -i64::from(self.scale));
            return if exact {
                Whole::Fits(value)
            } else {
                Whole::Fraction
            };
        }
        multiply(self.value, self.scale).map_or(Whole::TooLarge, Whole::Fits)
    }

    /// The sum at the smaller of the two scales, if it fits. Upstream: amount.go `int64Amount.Add`.
    pub(super) fn checked_add(self, other: Self) -> Option<Self> {
        if other.value == 0 {
            return Some(self);
        }
        if self.value == 0 {
            return Some(other);
        }
        let (coarse, fine) = if self.scale > other.scale {
            (self, other)
        } else {
            (other, self)
        };
        let lifted = multiply(coarse.value, coarse.scale.checked_sub(fine.scale)?)?;
        Some(Self {
            value: lifted.checked_add(fine.value)?,
            scale: fine.scale,
        })
    }

    /// The order by value, if the scales are near enough to tell without writing out digits.
    pub(super) fn compare(self, other: Self) -> Option<Ordering> {
        // 18 places keep an i64 below 2^123.
        const PLACES_MAX: i64 = 18;
        let apart = i64::from(self.scale) - i64::from(other.scale);
        if apart.abs() > PLACES_MAX {
            return None;
        }
        let power = 10_i128.pow(apart.unsigned_abs() as u32);
        let (a, b) = (i128::from(self.value), i128::from(other.value));
        Some(if apart >= 0 {
            (a * power).cmp(&b)
        } else {
            a.cmp(&(b * power))
        })
    }

    /// Mantissa and exponent with the exponent a multiple of three and as large as it can be; none if it does not fit.
    /// Upstream: amount.go `int64Amount.AsCanonicalBytes`.
    pub(super) fn canonical(self) -> Option<(i64, i32)> {
        let (mantissa, times) = without_factors(self.value, 10);
        let exponent = self.scale.wrapping_add(times);
        let excess = exponent.rem_euclid(3);
        Some((multiply(mantissa, excess)?, exponent.wrapping_sub(excess)))
    }
}

/// What an amount is as a whole number.
pub(super) enum Whole {
    /// A whole number that an `i64` holds.
    Fits(i64),
    /// A whole number beyond `i64`.
    TooLarge,
    /// Not a whole number.
    Fraction,
}

/// `value` without its factors of `base`, and how many there were. Upstream: math.go `removeInt64Factors`.
pub(super) fn without_factors(value: i64, base: i64) -> (i64, i32) {
    let (mut rest, mut times) = (value, 0);
    // The most negative number is left alone, as upstream's negation overflows on it.
    while rest != i64::MIN && rest.abs() >= base && rest % base == 0 {
        rest /= base;
        times += 1;
    }
    (rest, times)
}

/// `value` / 10^`places` rounded away from zero, and whether nothing was lost. Upstream: math.go `negativeScaleInt64`.
fn divide_up(value: i64, places: i64) -> (i64, bool) {
    let (mut rest, mut exact) = (value, true);
    for _ in 0..places {
        if rest == 0 {
            break;
        }
        exact &= rest % 10 == 0;
        rest /= 10;
    }
    (if exact { rest } else { rest + value.signum() }, exact)
}

/// `value` x 10^`places` if it fits; no places or fewer leave it alone. Upstream: math.go `positiveScaleInt64`.
fn multiply(value: i64, places: i32) -> Option<i64> {
    if value == 0 || places <= 0 {
        return Some(value);
    }
    10_i64
        .checked_pow(places as u32)
        .and_then(|power| value.checked_mul(power))
}

/// 10^`places`, for places from 0 to 18.
pub(super) const fn pow10(places: i32) -> i64 {
    10_i64.pow(places as u32)
}
