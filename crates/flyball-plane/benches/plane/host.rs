//! What the host says of this process: CPU time, memory, allocations. Not here: what is measured with it.

use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// Linux counts CPU time in hundredths of a second for programs.
const TICKS_PER_SECOND: u64 = 100;

fn numbers(file: &str, skipped_before: char) -> Vec<u64> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let start = text.rfind(skipped_before).map_or(0, |at| at + 1);
    text[start..]
        .split_whitespace()
        .map(|word| word.parse().unwrap_or(0))
        .collect()
}

/// CPU time of this process so far, all threads.
pub(crate) fn cpu() -> Duration {
    // After the name come the state and ten numbers, then user and system time.
    let found = numbers("/proc/self/stat", ')');
    let ticks: u64 = found.iter().skip(11).take(2).sum();
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}

/// Bytes of this process in memory.
pub(crate) fn resident() -> u64 {
    numbers("/proc/self/statm", '\0')
        .get(1)
        .copied()
        .unwrap_or(0)
        * 4096
}

/// Allocations and reallocations so far.
pub(crate) fn allocations() -> usize {
    let stats = ALLOCATOR.stats();
    stats.allocations + stats.reallocations
}
