//! Values as kube-controller-manager's flags have them.

use std::time::Duration;

use flyball_api::duration;

/// A length of time in Go's form, such as `15s` or `5m0s`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let millis = duration::parse_millis(text).map_err(|error| error.to_string())?;
    let millis = u64::try_from(millis).map_err(|_| "must not be negative".to_owned())?;
    Ok(Duration::from_millis(millis))
}

/// A length of time longer than none.
pub(crate) fn positive_duration(text: &str) -> Result<Duration, String> {
    let length = duration(text)?;
    if length.is_zero() {
        return Err("must be longer than 0s".to_owned());
    }
    Ok(length)
}

/// A fraction that is not negative.
pub(crate) fn fraction(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if value < 0.0 {
        return Err("must not be negative".to_owned());
    }
    Ok(value)
}

/// A finite number.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.parse().ok();
    let finite = value.filter(|value| value.is_finite());
    finite.ok_or_else(|| "must be a number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_as_in_go() {
        assert_eq!(duration("5m0s"), Ok(Duration::from_mins(5)));
        assert_eq!(duration("0"), Ok(Duration::ZERO));
        assert_eq!(duration("-1s"), Err("must not be negative".to_owned()));
        assert_eq!(
            duration("15"),
            Err("time: missing unit in duration \"15\"".to_owned())
        );
        assert!(positive_duration("0s").is_err());
    }
}
