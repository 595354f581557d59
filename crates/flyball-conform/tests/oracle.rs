//! A share of the genuine controller's timelines, replayed on each change. `cargo xtask test` replays all.

use std::fs;
use std::path::Path;

use flyball_conform::report::Verdict;
use flyball_conform::timeline::{replay, replay_all};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/oracle");

/// Two lines in five are picked, by their hash: more than 200, and none by hand.
const PICKED: u64 = 2;
const OUT_OF: u64 = 5;

fn lines() -> Vec<String> {
    let mut lines = Vec::new();
    for entry in Path::new(FOLDER)
        .read_dir()
        .expect("the folder is part of the project")
    {
        let path = entry.expect("the folder can be listed").path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            lines.extend(
                fs::read_to_string(path)
                    .expect("timelines are text")
                    .lines()
                    .map(str::to_owned),
            );
        }
    }
    lines
}

/// FNV-1a, 64 bits.
fn hash(line: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    line.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[test]
fn every_sync_equals_the_genuine_controllers() {
    let all = lines();
    let picked: Vec<&str> = all
        .iter()
        .map(String::as_str)
        .filter(|line| hash(line) % OUT_OF < PICKED)
        .collect();
    assert!(
        picked.len() >= 200,
        "{} of {} lines",
        picked.len(),
        all.len()
    );
    let differing: Vec<String> = replay_all(&picked)
        .into_iter()
        .filter_map(|(name, verdict)| match verdict {
            Verdict::Failed(difference) => Some(format!("{name}: {difference}")),
            Verdict::Passed => None,
        })
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// The difference that replacing `part` of the first timeline of a file by `other` makes.
fn difference(file: &str, part: &str, other: &str) -> Option<String> {
    let text = fs::read_to_string(Path::new(FOLDER).join(file)).ok()?;
    let (scenario, timeline) = text.lines().next()?.split_once("\"out\":")?;
    let changed = format!("{scenario}\"out\":{}", timeline.replacen(part, other, 1));
    match replay(&changed).1 {
        Verdict::Failed(difference) if timeline.contains(part) => Some(difference),
        _ => None,
    }
}

#[test]
fn another_time_message_or_size_is_a_difference() {
    let time = difference("hand.jsonl", "\"t\":15000", "\"t\":15001").unwrap();
    assert!(
        time.contains("-began at, ms: 15001\n+began at, ms: 15000"),
        "{time}"
    );
    let message = difference("hand.jsonl", "the desired count is", "the wanted count is").unwrap();
    assert!(message.starts_with("sync 0 of "), "{message}");
    assert!(difference("hand.jsonl", "\"a\":10", "\"a\":11").is_some());
    assert!(difference("hand.jsonl", "\"w\":1", "\"w\":2").is_some());
}
