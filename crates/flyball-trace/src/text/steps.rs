//! The explanation: one indented line a step.

use std::fmt;

use super::figure::{Compare, Counts, Milli, Name, Target, limit};
use crate::record::DecisionRecord;
use crate::step::{Band, Held, Measure, Remembered, Step, Verdict};

/// The steps of a decision, each on a line of its own that is indented and ends with a newline. Every figure has all
/// its digits.
pub fn steps(record: &DecisionRecord) -> impl fmt::Display + '_ {
    fmt::from_fn(|f| {
        for step in &record.steps {
            f.write_str("  ")?;
            write_step(f, record, step)?;
            f.write_str("\n")?;
        }
        Ok(())
    })
}

#[expect(clippy::too_many_lines, reason = "a table, one arm a step")]
fn write_step(f: &mut fmt::Formatter<'_>, record: &DecisionRecord, step: &Step) -> fmt::Result {
    let name = |metric: usize| Name::at(record, metric);
    match step {
        Step::Scale {
            spec_replicas,
            status_replicas,
        } => write!(
            f,
            "scale: {spec_replicas} wanted, {status_replicas} observed"
        ),
        Step::NoScale { text, .. } => write!(f, "scale: {text}"),
        Step::Needs { verdict } => write!(f, "metrics: {}", verdict_text(*verdict)),
        Step::Unselectable { text, .. } => write!(f, "pods: {text}"),
        Step::Sorted { metric, pods } => write!(f, "{}: pods {}", name(*metric), Counts(*pods)),
        Step::Ratio {
            metric,
            measure,
            band,
            inside,
        } => {
            let place = if *inside { "inside" } else { "outside" };
            let target = Target(record.metrics.get(*metric).and_then(|m| m.aim.as_ref()));
            write!(f, "{}: target {target}; ", name(*metric))?;
            write_measure(f, measure)?;
            write!(f, ", {place} {}", band_text(band))
        }
        Step::Refilled {
            metric,
            missing_pods,
            missing_usage_milli,
            unready_pods,
            measure,
        } => {
            write!(
                f,
                "{}: again with {missing_pods} without a sample at {} together and {unready_pods} unready at 0; ",
                name(*metric),
                Milli(*missing_usage_milli)
            )?;
            write_measure(f, measure)
        }
        Step::Proposed {
            metric,
            replicas,
            exact,
            hold,
        } => {
            write!(f, "{}: asks for {replicas}", name(*metric))?;
            if let Some(exact) = exact {
                write!(f, ", rounded up from {exact}")?;
            }
            write_hold(f, hold.as_deref())
        }
        Step::Failed { metric, text, .. } => write!(f, "{}: {text}", name(*metric)),
        Step::NoProposal { text, .. } => write!(f, "no size: {text}"),
        Step::Recommended { replicas, metric } => {
            write!(f, "recommendation: {replicas}")?;
            match metric {
                Some(metric) => write!(f, " from {}", name(*metric)),
                None => Ok(()),
            }
        }
        Step::Stabilized {
            proposed,
            replicas,
            held,
            by,
        } => write_stabilized(f, (*proposed, *replicas), *held, *by),
        Step::Limited {
            stabilized,
            replicas,
            by,
        } => write!(
            f,
            "policies and bounds: {stabilized} -> {replicas}, {}",
            limit(*by)
        ),
        Step::RaisedToMin { replicas } => {
            write!(f, "waking: raised to minReplicas, {replicas}")
        }
        Step::Decided { from, to, hold } => {
            write!(f, "decision: {from} -> {to}")?;
            write_hold(f, hold.as_deref())
        }
        Step::Unknown => f.write_str("a step this program does not know"),
    }
}

fn write_measure(f: &mut fmt::Formatter<'_>, measure: &Measure) -> fmt::Result {
    let Measure {
        usage_milli,
        request_milli,
        entries,
        compared,
        ratio,
    } = measure;
    write!(f, "usage {}", Milli(*usage_milli))?;
    if *request_milli != 0 {
        write!(f, " of {} requested", Milli(*request_milli))?;
    }
    write!(f, " over {entries}: {}, ratio {ratio}", Compare(compared))
}

fn band_text(band: &Band) -> impl fmt::Display + '_ {
    fmt::from_fn(|f| write!(f, "{}..{}", band.lowest, band.highest))
}

fn write_stabilized(
    f: &mut fmt::Formatter<'_>,
    (proposed, replicas): (i32, i32),
    held: Option<Held>,
    by: Option<Remembered>,
) -> fmt::Result {
    write!(f, "window: {proposed} -> {replicas}")?;
    f.write_str(match held {
        None => ", nothing in the way",
        Some(Held::Up) => ", a lower recommendation is recent",
        Some(Held::Down) => ", a higher recommendation is recent",
    })?;
    match by {
        Some(entry) => write!(f, ": {} at {} ms", entry.replicas, entry.at_ms),
        None => Ok(()),
    }
}

fn write_hold(f: &mut fmt::Formatter<'_>, hold: Option<&str>) -> fmt::Result {
    match hold {
        Some(hold) => write!(f, " ({hold})"),
        None => Ok(()),
    }
}

const fn verdict_text(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::ReadMetrics => "read",
        Verdict::Paused => "not read: the size is zero and not by this autoscaler, so it is paused",
        Verdict::AboveMax => "not read: the size is above maxReplicas",
        Verdict::BelowMin => "not read: the size is below minReplicas",
    }
}
