//! Parsers of what comes from outside, over random bytes and over the seeds of `fuzz/corpus` with random edits.
//! Not here: what the parsers mean; connections that misbehave (`tests/bad_clients`).

mod entry;

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// Cases of the parsers that stand alone.
const CASES: u32 = 100_000;
/// Cases of those that are reached through a request.
const REQUESTS: u32 = 5_000;

/// One edit of a seed.
#[derive(Clone, Debug)]
enum Edit {
    Insert(Index, Vec<u8>),
    Delete(Index, usize),
    /// Part of another seed is put in.
    Splice(Index, Index, usize),
    /// A part is there several times.
    Repeat(Index, usize, usize),
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("every target has seeds")
        .map(|entry| entry.expect("the folder is readable").path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| std::fs::read(file).expect("a seed is readable"))
        .collect()
}

fn edit() -> impl Strategy<Value = Edit> {
    // Bytes that mean something to one of the parsers come up more often than others.
    let byte = prop_oneof![
        3 => prop::sample::select(b"/?&=%!,()[]{}\"'\\:.-+~$ \n019eEimnkKMGTP".to_vec()),
        1 => any::<u8>(),
    ];
    prop_oneof![
        (any::<Index>(), vec(byte, 1..6)).prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        (any::<Index>(), 1..8_usize).prop_map(|(at, count)| Edit::Delete(at, count)),
        (any::<Index>(), any::<Index>(), 1..40_usize)
            .prop_map(|(at, seed, count)| Edit::Splice(at, seed, count)),
        (any::<Index>(), 1..8_usize, 1..300_usize)
            .prop_map(|(at, count, times)| Edit::Repeat(at, count, times)),
    ]
}

fn apply(seeds: &[Vec<u8>], bytes: &mut Vec<u8>, edit: &Edit) {
    let part = |bytes: &[u8], start: usize, count: usize| {
        bytes[start..bytes.len().min(start + count)].to_vec()
    };
    let place = |bytes: &[u8], at: &Index| at.index(bytes.len() + 1);
    match edit {
        Edit::Insert(at, inserted) => {
            let at = place(bytes, at);
            bytes.splice(at..at, inserted.iter().copied());
        }
        Edit::Delete(at, count) => {
            let at = place(bytes, at);
            bytes.drain(at..bytes.len().min(at + count));
        }
        Edit::Splice(at, seed, count) => {
            let other = part(seed.get::<Vec<u8>>(seeds), 0, *count);
            let at = place(bytes, at);
            bytes.splice(at..at, other);
        }
        Edit::Repeat(at, count, times) => {
            let at = place(bytes, at);
            let repeated = part(bytes, at, *count).repeat(*times);
            bytes.splice(at..at, repeated);
        }
    }
}

/// Runs `entry` on the seeds as they are, on random bytes, and on edited seeds.
fn check(target: &str, cases: u32, entry: fn(&[u8])) {
    let seeds = seeds(target);
    for seed in &seeds {
        entry(seed);
    }
    let edited = (any::<Index>(), vec(edit(), 1..4));
    let noise = vec(any::<u8>(), 0..64);
    let config = ProptestConfig {
        source_file: Some(file!()),
        ..ProptestConfig::with_cases(cases)
    };
    proptest!(config, |(input in prop_oneof![
        4 => edited.prop_map(|(seed, edits)| {
            let mut bytes = seed.get::<Vec<u8>>(&seeds).clone();
            for edit in &edits {
                apply(&seeds, &mut bytes, edit);
            }
            bytes
        }),
        1 => noise,
    ])| entry(&input));
}

#[test]
fn any_path_and_query_is_answered() {
    check("path", REQUESTS, entry::path);
}

#[test]
fn any_selector_is_refused_or_prints_as_one_that_reads_the_same() {
    check("selector", CASES, entry::selector);
}

#[test]
fn any_patch_is_refused_or_checked_and_changes_nothing_in_a_dry_run() {
    check("patch", REQUESTS, entry::patch);
}

#[test]
fn any_quantity_is_refused_or_prints_as_one_that_reads_the_same() {
    check("quantity", CASES, entry::quantity);
}
