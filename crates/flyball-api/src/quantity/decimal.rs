//! The long form of an amount: any number of decimal digits. Only as much arithmetic as quantities need.
//!
//! Digits are kept in base ten because parsing, printing, rounding and comparing then take time linear in the digits, while an
//! exponent costs nothing: trailing zeros are counted, not stored.

use std::cmp::Ordering;

use super::scaled::{Scaled, pow10};

/// Most zeros ever written out between or behind digits. Upstream has no bound and does not finish on exponents in the
/// millions; a sum past this bound keeps its larger part, a print past it uses an exponent. Real amounts have under 40 digits.
pub(super) const ZEROS_MAX: i64 = 4096;

/// Sign and `digits` x 10^`exponent`. Upstream: amount.go `infDecAmount` over gopkg.in/inf.v0 `Dec`.
///
/// Invariant: digits are 0 to 9, most significant first, without zeros at either end; zero has none and no minus.
#[derive(Debug, Clone)]
pub(super) struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
    /// Places behind the point in upstream's form of the same number, which holds an integer and a scale. Conversions to
    /// `i64` and `f64` depend on it.
    scale: i64,
}

impl From<Scaled> for Decimal {
    fn from(amount: Scaled) -> Self {
        let digits = amount.value.unsigned_abs().to_string().into_bytes();
        let scale = -i64::from(amount.scale);
        Self::new(
            amount.value < 0,
            digits.into_iter().map(|d| d - b'0').collect(),
            scale,
        )
    }
}

impl Decimal {
    /// `digits` x 10^-`scale`.
    fn new(negative: bool, mut digits: Vec<u8>, scale: i64) -> Self {
        let zeros = digits.iter().rev().take_while(|d| **d == 0).count();
        digits.truncate(digits.len() - zeros);
        let leading = digits.iter().take_while(|d| **d == 0).count();
        digits.drain(..leading);
        let negative = negative && !digits.is_empty();
        Self {
            negative,
            digits,
            exponent: zeros as i64 - scale,
            scale,
        }
    }

    /// Reads sign, digits and at most one point, and moves the point `places` to the right. None if there is no digit.
    /// Upstream: inf `Dec.SetString`.
    pub(super) fn parse(text: &str, places: i64) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits: Vec<u8> = whole
            .bytes()
            .chain(fraction.bytes())
            .map(|b| b.wrapping_sub(b'0'))
            .collect();
        let sound = !digits.is_empty() && digits.iter().all(|d| *d <= 9);
        sound.then(|| {
            Self::new(
                text.starts_with('-'),
                digits,
                fraction.len() as i64 - places,
            )
        })
    }

    pub(super) const fn scale(&self) -> i64 {
        self.scale
    }

    pub(super) fn sign(&self) -> i32 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => -1,
        }
    }

    pub(super) fn is_integer(&self) -> bool {
        self.digits.is_empty() || self.exponent >= 0
    }

    /// This amount x 2^`power`, for powers up to 60.
    pub(super) fn times_two_to_the(mut self, power: u32) -> Self {
        let mut carry: u128 = 0;
        for digit in self.digits.iter_mut().rev() {
            let product = (u128::from(*digit) << power) + carry;
            *digit = (product % 10) as u8;
            carry = product / 10;
        }
        let mut digits: Vec<u8> = carry.to_string().bytes().map(|b| b - b'0').collect();
        digits.append(&mut self.digits);
        // Zeros that the product gained at the end are counted again from here.
        let product = Self::new(self.negative, digits, -self.exponent);
        Self {
            scale: self.scale,
            ..product
        }
    }

    /// Rounded away from zero to whole multiples of 10^-`scale`; zero stays as it is.
    pub(super) fn round_up(mut self, scale: i64) -> Self {
        if self.digits.is_empty() {
            return self;
        }
        let surplus = (-scale - self.exponent).max(0);
        if surplus > 0 {
            let kept = self.digits.len() - (surplus as usize).min(self.digits.len());
            self.digits.truncate(kept);
            increment(&mut self.digits);
            self = Self::new(self.negative, self.digits, scale);
        }
        Self { scale, ..self }
    }

    /// This amount, its size at most that of `limit`.
    pub(super) fn capped_at(self, limit: &Self) -> Self {
        let over = self.compare_size(limit).is_gt();
        if over {
            Self {
                negative: self.negative,
                ..limit.clone()
            }
        } else {
            self
        }
    }

    /// The order by value, in time linear in the digits whatever the exponents. Upstream: inf `Dec.Cmp`.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        if by_sign != Ordering::Equal || self.digits.is_empty() {
            return by_sign;
        }
        let size = self
            .top()
            .cmp(&other.top())
            .then_with(|| self.digits.cmp(&other.digits));
        if self.negative { size.reverse() } else { size }
    }

    /// Position above the most significant digit: 1 for `7`, 3 for `700`, 0 for `0.7`.
    fn top(&self) -> i64 {
        self.exponent + self.digits.len() as i64
    }

    /// The sum. Upstream: inf `Dec.Add`.
    pub(super) fn plus(&self, other: &Self) -> Self {
        let scale = self.scale.max(other.scale);
        let (large, small) = if self.compare_size(other).is_ge() {
            (self, other)
        } else {
            (other, self)
        };
        let bottom = large.exponent.min(small.exponent);
        let stored = (large.digits.len() + small.digits.len()) as i64;
        let small_is_lost = large.top() - bottom > stored + ZEROS_MAX;
        if small.digits.is_empty() || small_is_lost {
            return Self {
                scale,
                ..large.clone()
            };
        }
        let mut digits = large.written_down_to(bottom);
        let addend = small.written_down_to(bottom);
        let places = digits
            .iter_mut()
            .rev()
            .zip(addend.iter().rev().chain(std::iter::repeat(&0)));
        let mut carry = 0_i8;
        for (digit, other) in places {
            let other = if large.negative == small.negative {
                *other as i8
            } else {
                -(*other as i8)
            };
            let sum = *digit as i8 + other + carry;
            carry = sum.div_euclid(10);
            *digit = sum.rem_euclid(10) as u8;
        }
        // The smaller size was subtracted from the larger, so only an addition leaves a carry.
        if carry == 1 {
            digits.insert(0, 1);
        }
        Self {
            scale,
            ..Self::new(large.negative, digits, -bottom)
        }
    }

    /// The order of the two sizes, signs apart.
    pub(super) fn compare_size(&self, other: &Self) -> Ordering {
        let (mut a, mut b) = (self.clone(), other.clone());
        (a.negative, b.negative) = (false, false);
        a.compare(&b)
    }

    /// The digits with zeros appended so that the last one counts 10^`bottom`.
    fn written_down_to(&self, bottom: i64) -> Vec<u8> {
        let zeros = (self.exponent - bottom).max(0) as usize;
        let mut digits = self.digits.clone();
        digits.resize(digits.len() + zeros, 0);
        digits
    }

    /// The amount in units of 10^`scale`, as upstream's conversion to `i64` gives it: rounded up, wrapping silently.
    /// Upstream: scale_int.go `scaledValue`.
    pub(super) fn at_scale(&self, scale: i32) -> i64 {
        let places = -i64::from(scale);
        let surplus = self.scale - places;
        if surplus <= 0 {
            return self
                .low_bits(self.scale)
                .wrapping_mul(go_pow10_i64(-surplus));
        }
        if surplus < 19 && self.is_below_i64_max_unscaled() {
            // Upstream divides the wrapped integer and adds one to a quotient truncated towards zero.
            let unscaled = self.low_bits(self.scale);
            let divisor = pow10(surplus as i32);
            return unscaled / divisor + i64::from(unscaled % divisor != 0);
        }
        let quotient = self.low_bits(places);
        let rounds_up = self.exponent < -places && !self.negative && !self.digits.is_empty();
        if rounds_up {
            quotient.wrapping_add(1)
        } else {
            quotient
        }
    }

    fn is_below_i64_max_unscaled(&self) -> bool {
        let limit = Self::from(Scaled {
            value: i64::MAX,
            scale: 0,
        });
        let unscaled = Self {
            exponent: self.exponent + self.scale,
            ..self.clone()
        };
        unscaled.compare(&limit).is_lt()
    }

    /// The low 64 bits of this amount x 10^`places`, truncated towards zero.
    fn low_bits(&self, places: i64) -> i64 {
        let shift = self.exponent + places;
        let dropped = (-shift).clamp(0, self.digits.len() as i64) as usize;
        let kept = &self.digits[..self.digits.len() - dropped];
        let fold = |sum: i64, digit: &u8| sum.wrapping_mul(10).wrapping_add(i64::from(*digit));
        let mut bits = kept.iter().fold(0, fold);
        // 10^64 is a multiple of 2^64.
        for _ in 0..shift.clamp(0, 64) {
            bits = bits.wrapping_mul(10);
        }
        if self.negative {
            bits.wrapping_neg()
        } else {
            bits
        }
    }

    /// Upstream's unscaled integer as the nearest float64, infinite where it is too large.
    pub(super) fn unscaled_f64(&self) -> f64 {
        let text = format!("{}e{}", self.digits_text(), self.exponent + self.scale);
        let size = text
            .parse::<f64>()
            .expect("digits and an exponent read as a float");
        if self.negative { -size } else { size }
    }

    fn digits_text(&self) -> String {
        let text: String = self.digits.iter().map(|d| char::from(b'0' + d)).collect();
        if text.is_empty() {
            "0".to_owned()
        } else {
            text
        }
    }

    /// Mantissa and exponent with the exponent a multiple of three and as large as it can be.
    /// Upstream: amount.go `infDecAmount.AsCanonicalBytes`.
    pub(super) fn canonical(&self) -> (String, i64) {
        let excess = self.exponent.rem_euclid(3);
        let sign = if self.negative { "-" } else { "" };
        let zeros = &"00"[..excess as usize];
        (
            format!("{sign}{}{zeros}", self.digits_text()),
            self.exponent - excess,
        )
    }

    /// Mantissa and power of 1024 of a whole amount; none if the digits would be too many to write out.
    /// Upstream: amount.go `infDecAmount.AsCanonicalBase1024Bytes`.
    pub(super) fn canonical_1024(&self) -> Option<(String, i32)> {
        if self.exponent > ZEROS_MAX {
            return None;
        }
        let (mut digits, mut times) = (self.written_down_to(0), 0);
        while let Some(quotient) = divided_by_1024(&digits) {
            digits = quotient;
            times += 1;
        }
        let text = Self::new(self.negative, digits, 0).canonical_whole();
        Some((text, times))
    }

    fn canonical_whole(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let zeros = "0".repeat(self.exponent.max(0) as usize);
        format!("{sign}{}{zeros}", self.digits_text())
    }
}

/// Adds one to a number in digits.
fn increment(digits: &mut Vec<u8>) {
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return;
        }
        *digit = 0;
    }
    digits.insert(0, 1);
}

/// The quotient by 1024, if there is no remainder and the number is not zero.
fn divided_by_1024(digits: &[u8]) -> Option<Vec<u8>> {
    let mut rest = 0_u32;
    let mut quotient = Vec::with_capacity(digits.len());
    for digit in digits {
        rest = rest * 10 + u32::from(*digit);
        quotient.push((rest / 1024) as u8);
        rest %= 1024;
    }
    let divides = rest == 0 && digits.iter().any(|d| *d != 0);
    let leading = quotient.iter().take_while(|d| **d == 0).count();
    quotient.drain(..leading);
    divides.then_some(quotient)
}

/// `int64(math.Pow10(places))` on amd64: the smallest integer where the power does not fit.
const fn go_pow10_i64(places: i64) -> i64 {
    if places <= 18 {
        pow10(places as i32)
    } else {
        i64::MIN
    }
}
