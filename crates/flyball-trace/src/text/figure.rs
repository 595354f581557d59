//! How single figures and names look in text.

use std::fmt;

use crate::real::Real;
use crate::record::{Aim, DecisionRecord, Metric};
use crate::step::{Compared, Limit, PodCounts};

/// The short name of a metric: `cpu`, `cpu of container app`, `hits on Ingress/front`.
pub(super) struct Name<'a>(Option<&'a Metric>);

impl<'a> Name<'a> {
    pub(super) fn at(record: &'a DecisionRecord, index: usize) -> Self {
        Self(record.metrics.get(index))
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(metric) = self.0 else {
            return f.write_str("a metric that is not listed");
        };
        let name = if metric.name.is_empty() {
            &metric.kind
        } else {
            &metric.name
        };
        f.write_str(name)?;
        if let Some(container) = &metric.container {
            write!(f, " of container {container}")?;
        }
        if let Some(object) = &metric.object {
            write!(f, " on {object}")?;
        }
        Ok(())
    }
}

/// `96% of 80%`, `1500m of 1`.
pub(super) struct Compare<'a>(pub(super) &'a Compared);

impl fmt::Display for Compare<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Compared::Percent { value, target } => {
                write!(f, "{}% of {target}%", Brief(*value))
            }
            Compared::Milli { value, target } => {
                write!(f, "{}m of {}", Brief(*value), Milli(*target))
            }
        }
    }
}

/// The target of a metric, as a specification has it.
pub(super) struct Target<'a>(pub(super) Option<&'a Aim>);

impl fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(Aim::UtilizationPercent(percent)) => write!(f, "{percent}% of the request"),
            Some(Aim::AverageValueMilli(milli)) => write!(f, "{} per pod", Milli(*milli)),
            Some(Aim::ValueMilli(milli)) => write!(f, "{} in total", Milli(*milli)),
            None => f.write_str("no target"),
        }
    }
}

/// Thousandths as a quantity: `1500m`, `2`.
pub(super) struct Milli(pub(super) i64);

impl fmt::Display for Milli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 % 1000 == 0 {
            write!(f, "{}", self.0 / 1000)
        } else {
            write!(f, "{}m", self.0)
        }
    }
}

/// A figure with at most three decimals, for lines that are read in passing. Steps print every digit.
pub(super) struct Brief(pub(super) Real);

impl fmt::Display for Brief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.3}", self.0.0);
        let short = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        f.write_str(short)
    }
}

/// `4 selected: 3 counted, 1 missing`; groups without pods are left out.
pub(super) struct Counts(pub(super) PodCounts);

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pods = self.0;
        write!(f, "{} selected: {} counted", pods.selected, pods.counted)?;
        for (count, name) in [
            (pods.unready, "unready"),
            (pods.missing, "without a sample"),
            (pods.ignored, "ignored"),
            (pods.extraneous, "samples without a pod"),
        ] {
            if count != 0 {
                write!(f, ", {count} {name}")?;
            }
        }
        Ok(())
    }
}

/// What cut a size, as the end of a sentence that begins with it.
pub(super) const fn limit(by: Limit) -> &'static str {
    match by {
        Limit::Nothing => "not limited",
        Limit::UpRate => "limited by the rate of growth",
        Limit::DownRate => "limited by the rate of shrinking",
        Limit::Max => "limited by maxReplicas",
        Limit::Min => "limited by minReplicas",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_no_digit_before_the_point_is_lost() {
        for (figure, text) in [
            (100.0, "100"),
            (1.05, "1.05"),
            (0.666_666, "0.667"),
            (1.0, "1"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(Brief(Real(figure)).to_string(), text);
        }
    }
}
