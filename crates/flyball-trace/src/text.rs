//! The printers: one line for a decision, indented lines for its steps. They read a record and nothing else.

mod figure;
mod steps;

use std::fmt;

use crate::record::{Action, DecisionRecord};
use crate::step::{Band, Limit, Measure, Step, Verdict};
use figure::{Brief, Compare, Name};

pub use steps::steps;

/// The decision in one line, without a newline: what became of the size, and why in a few words.
///
/// ```text
/// web 4 -> 5  cpu 96% of 80%: above target
/// web stays at 4: inside-tolerance (cpu 84% of 80%, ratio 1.05 in 0.9..1.1)
/// ```
pub fn line(record: &DecisionRecord) -> impl fmt::Display + '_ {
    fmt::from_fn(|f| write_line(f, record))
}

fn write_line(f: &mut fmt::Formatter<'_>, record: &DecisionRecord) -> fmt::Result {
    let autoscaler = &record.autoscaler;
    if autoscaler.namespace != "default" {
        write!(f, "{}/", autoscaler.namespace)?;
    }
    write!(f, "{} ", autoscaler.name)?;
    match (record.from, record.to) {
        (Some(from), Some(to)) if record.action != Action::None => {
            write!(f, "{from} -> {to}  ")?;
            write_change(f, record)
        }
        (Some(size), _) => {
            write!(f, "stays at {size}: ")?;
            write_stay(f, record)
        }
        (None, _) => {
            f.write_str("has no size: ")?;
            write_stay(f, record)
        }
    }
}

/// Why a size changed.
fn write_change(f: &mut fmt::Formatter<'_>, record: &DecisionRecord) -> fmt::Result {
    match verdict(record) {
        Some(Verdict::AboveMax) => return f.write_str("above maxReplicas"),
        Some(Verdict::BelowMin) => return f.write_str("below minReplicas"),
        _ => {}
    }
    if let Some(found) = Deciding::of(record) {
        let metric = Name::at(record, found.metric);
        write!(f, "{metric} {}: ", Compare(&found.first.compared))?;
    }
    f.write_str(match record.action {
        Action::ScaleUp => "above target",
        Action::ScaleDown | Action::None => "below target",
    })?;
    for step in &record.steps {
        match step {
            Step::Limited { stabilized, by, .. } if *by != Limit::Nothing => {
                write!(f, ", {stabilized} wanted but {}", figure::limit(*by))?;
            }
            Step::RaisedToMin { .. } => f.write_str(", raised to minReplicas")?,
            _ => {}
        }
    }
    Ok(())
}

/// Why a size did not change.
fn write_stay(f: &mut fmt::Formatter<'_>, record: &DecisionRecord) -> fmt::Result {
    let Some(hold) = record.hold.as_deref() else {
        return f.write_str(record.error.as_deref().unwrap_or("no reason recorded"));
    };
    f.write_str(hold)?;
    if let Some(text) = record.steps.iter().find_map(problem) {
        return write!(f, ": {text}");
    }
    let wanted = record.recommendation.map(|found| found.replicas);
    match (Deciding::of(record), wanted) {
        (Some(found), Some(wanted)) => {
            let Deciding {
                metric,
                first,
                last,
                band,
            } = found;
            let metric = Name::at(record, metric);
            write!(f, " ({metric} {}", Compare(&first.compared))?;
            if wanted == record.from.unwrap_or(wanted) {
                let (ratio, low, high) =
                    (Brief(last.ratio), Brief(band.lowest), Brief(band.highest));
                let word = if inside(hold) { "in" } else { "against" };
                write!(f, ", ratio {ratio} {word} {low}..{high})")
            } else {
                write!(f, ", {wanted} wanted)")
            }
        }
        _ => Ok(()),
    }
}

/// Whether a hold says that the ratio lies in the band.
fn inside(hold: &str) -> bool {
    hold.starts_with("inside-tolerance")
}

fn verdict(record: &DecisionRecord) -> Option<Verdict> {
    record.steps.iter().find_map(|step| match step {
        Step::Needs { verdict } => Some(*verdict),
        _ => None,
    })
}

/// The text of a step that says what is wrong. The first one speaks, as in upstream's conditions.
fn problem(step: &Step) -> Option<&str> {
    match step {
        Step::NoScale { text, .. }
        | Step::Unselectable { text, .. }
        | Step::Failed { text, .. }
        | Step::NoProposal { text, .. } => Some(text),
        _ => None,
    }
}

/// The measures of the metric that gave the size.
struct Deciding<'a> {
    metric: usize,
    /// Before pods were put back: the figure that status shows.
    first: &'a Measure,
    /// After, where some were.
    last: &'a Measure,
    band: &'a Band,
}

impl<'a> Deciding<'a> {
    fn of(record: &'a DecisionRecord) -> Option<Self> {
        let wanted = record.recommendation?.metric?;
        let (first, band) = record.steps.iter().find_map(|step| match step {
            Step::Ratio {
                metric,
                measure,
                band,
                ..
            } if *metric == wanted => Some((measure, band)),
            _ => None,
        })?;
        let again = record.steps.iter().find_map(|step| match step {
            Step::Refilled {
                metric, measure, ..
            } if *metric == wanted => Some(measure),
            _ => None,
        });
        Some(Self {
            metric: wanted,
            first,
            last: again.unwrap_or(first),
            band,
        })
    }
}
