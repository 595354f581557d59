//! What a newcomer sees of `flyball up`, at its own pace: the promise of the first minutes.

use std::time::{Duration, Instant};

use crate::process::{Process, flyball};

#[test]
#[expect(clippy::disallowed_methods, reason = "the promise is in real time")]
fn the_sample_grows_within_40_seconds_and_is_back_within_4_minutes() {
    let directory = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let mut command = flyball();
    command
        .arg("up")
        .arg("--data-dir")
        .arg(directory.path().join("data"));
    let up = Process::start(&mut command, &directory.path().join("stderr"));
    let grown = up.line_that(|line| line.starts_with("web 2 -> "));
    assert_eq!(grown, "web 2 -> 6  cpu 240% of 80%: above target");
    assert!(
        start.elapsed() < Duration::from_secs(40),
        "{:?}",
        start.elapsed()
    );
    up.line_that(|line| line.starts_with("web ") && line.contains(" -> 2 "));
    assert!(
        start.elapsed() < Duration::from_mins(4),
        "{:?}",
        start.elapsed()
    );
    assert!(
        up.stderr().contains("kubectl get hpa -w"),
        "{}",
        up.stderr()
    );
    up.signal("INT");
    assert_eq!(up.wait().code(), Some(0));
}
