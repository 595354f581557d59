//! What the printers say of real decisions. The goldens are in `printers.txt`.

use std::fmt::Write as _;
use std::path::PathBuf;

use flyball_core::WriteResult;
use flyball_core::failure::ScaleProblem;
use flyball_trace::{DecisionRecord, convert, text};

use crate::sample::{Answer, Sync, every_step, measured, two_metrics};

fn with(mut sync: Sync, change: impl FnOnce(&mut Sync)) -> DecisionRecord {
    change(&mut sync);
    sync.record()
}

fn decisions() -> Vec<(&'static str, DecisionRecord)> {
    let same = |_: &mut Sync| {};
    let full = measured(4, &[960; 4]);
    let unwritten = with(full, |s| {
        s.write = WriteResult::Failed("the server is not there".into());
    });
    vec![
        ("growth", with(measured(4, &[960; 4]), same)),
        ("growth, cut", with(measured(4, &[4000; 4]), same)),
        ("inside the band", with(measured(4, &[840; 4]), same)),
        (
            "inside the band again",
            with(measured(5, &[1000, 1000, 1000, 1000, -1]), same),
        ),
        ("a window", with(measured(4, &[400; 4]), same)),
        ("at the maximum", with(measured(10, &[960; 10]), same)),
        ("above the maximum", with(measured(12, &[]), same)),
        ("paused", with(measured(0, &[]), same)),
        (
            "no metrics",
            with(measured(4, &[]), |s| s.answer = Answer::Unavailable),
        ),
        (
            "no selector",
            with(measured(4, &[]), |s| s.answer = Answer::Unselectable),
        ),
        (
            "no scale",
            with(measured(4, &[]), |s| {
                s.replicas = Err(ScaleProblem::Unreadable(
                    "deployments.apps \"web\" not found".into(),
                ));
            }),
        ),
        ("not written", unwritten),
        (
            "elsewhere",
            with(measured(4, &[960; 4]), |s| {
                s.policy.target.namespace = "shop".into();
            }),
        ),
    ]
}

/// Compares with the golden, or writes it when the environment says so.
#[track_caller]
fn check(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/trace")
        .join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        text, golden,
        "{name} differs; UPDATE_EXPECT=1 writes it anew"
    );
}

#[test]
fn a_decision_is_a_line_and_its_steps_are_indented() {
    let mut text = String::new();
    for (title, record) in decisions() {
        let (line, steps) = (text::line(&record), text::steps(&record));
        write!(text, "# {title}\n{line}\n{steps}\n").unwrap();
    }
    let mut every = measured(4, &[960; 4]).record();
    every.steps = every_step()
        .iter()
        .map(|s| convert::step(&two_metrics(), s))
        .collect();
    every.metrics = convert_metrics();
    write!(text, "# one step of each kind\n{}", text::steps(&every)).unwrap();
    check("printers.txt", &text);
}

fn convert_metrics() -> Vec<flyball_trace::record::Metric> {
    let sync = with(measured(4, &[]), |s| s.policy = two_metrics());
    sync.metrics
}
