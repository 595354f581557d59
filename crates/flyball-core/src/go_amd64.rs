//! Go's number conversions on amd64, by name, so that every CPU gives the figures of the released controller.
//!
//! Go leaves out-of-range float conversions to the processor: amd64 answers with the smallest integer,
//! where Rust's `as` saturates and maps NaN to zero.

/// `int32(x)`: truncates; anything out of range, infinite or NaN becomes `i32::MIN`.
pub fn f64_to_i32(x: f64) -> i32 {
    if x > -2_147_483_649.0 && x < 2_147_483_648.0 {
        x as i32
    } else {
        i32::MIN
    }
}

/// `int64(x)`: truncates; anything out of range, infinite or NaN becomes `i64::MIN`.
pub fn f64_to_i64(x: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x) {
        x as i64
    } else {
        i64::MIN
    }
}

/// `int32(x)` of an integer: the low 32 bits.
pub const fn i64_to_i32(x: i64) -> i32 {
    x as i32
}

/// `int32(math.Ceil(x))`.
pub fn ceil_to_i32(x: f64) -> i32 {
    f64_to_i32(x.ceil())
}

/// `int32(math.Ceil(x))`, held at the largest `int32` where upstream caps the upper side and nowhere else.
pub fn ceil_to_i32_capped(x: f64) -> i32 {
    if x > f64::from(i32::MAX) {
        i32::MAX
    } else {
        ceil_to_i32(x)
    }
}

/// `a / b` of Go integers: truncating, wrapping for the one overflowing pair; `None` where Go would panic.
pub const fn divide(a: i64, b: i64) -> Option<i64> {
    if b == 0 {
        None
    } else {
        Some(a.wrapping_div(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_becomes_the_smallest_integer() {
        for x in [
            2_147_483_648.0,
            -2_147_483_649.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ] {
            assert_eq!(f64_to_i32(x), i32::MIN, "{x}");
        }
        for x in [9_223_372_036_854_775_808.0, f64::INFINITY, f64::NAN] {
            assert_eq!(f64_to_i64(x), i64::MIN, "{x}");
        }
    }

    #[test]
    fn what_fits_is_truncated() {
        assert_eq!(f64_to_i32(2_147_483_647.9), i32::MAX);
        assert_eq!(f64_to_i32(-2_147_483_648.9), i32::MIN);
        assert_eq!(f64_to_i32(-1.9), -1);
        assert_eq!(f64_to_i64(1e18), 1_000_000_000_000_000_000);
    }

    #[test]
    fn only_the_capped_form_saturates() {
        assert_eq!(ceil_to_i32(3e9), i32::MIN);
        assert_eq!(ceil_to_i32_capped(3e9), i32::MAX);
        assert_eq!(ceil_to_i32_capped(-3e9), i32::MIN);
    }
}
