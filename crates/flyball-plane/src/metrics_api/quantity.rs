//! Amounts of the load model printed as quantities in canonical form (apimachinery resource.Quantity CanonicalizeBytes).

use crate::workload::load::curve::{Nano, UNIT};

/// Powers of 1000 from 10^-9.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/// Powers of 1024 from 1.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// To the nanounit: `780m`, `123456789n`, `2`.
pub(super) fn decimal(value: Nano) -> String {
    canonical(value, 1000, &DECIMAL)
}

/// To the thousandth, rounded down, as adapters print custom and external metrics.
pub(super) fn milli(value: Nano) -> String {
    decimal(value / (UNIT / 1000) * (UNIT / 1000))
}

/// Whole bytes: `20Mi`, `1234Ki`.
pub(super) fn bytes(value: Nano) -> String {
    canonical(value / UNIT, 1024, &BINARY)
}

fn canonical(mut value: Nano, base: Nano, suffixes: &[&str]) -> String {
    if value == 0 {
        return "0".to_owned();
    }
    let mut index = 0;
    while value % base == 0 && index + 1 < suffixes.len() {
        value /= base;
        index += 1;
    }
    format!("{value}{}", suffixes[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_print_with_the_largest_suffix_that_leaves_an_integer() {
        let rows = [
            (decimal(123_456_789), "123456789n"),
            (decimal(780_000_000), "780m"),
            (decimal(2 * UNIT), "2"),
            (decimal(3000 * UNIT), "3k"),
            (decimal(0), "0"),
            (milli(1_234_567_891), "1234m"),
            (bytes(20 * 1024 * 1024 * UNIT), "20Mi"),
            (bytes(1025 * 1024 * UNIT), "1025Ki"),
            (bytes(1000 * UNIT + 1), "1000"),
        ];
        for (printed, expected) in rows {
            assert_eq!(printed, expected);
        }
    }
}
