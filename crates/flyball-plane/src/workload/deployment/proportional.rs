//! Resizing a Deployment whose `spec.replicas` changed, mid-rollout included: every active ReplicaSet keeps its share
//! (upstream sync.go `scale`, GetReplicaSetProportion).

use std::cmp::Reverse;

use super::super::object::{count, created_ms, name};
use super::sets::{DESIRED, MAXIMUM, Sets, annotated};

/// Resizes the sets to `spec.replicas`.
pub(super) fn scale(sets: &mut Sets) {
    let bounds = sets.bounds();
    let active = sets.active(sets.all());
    if active.len() < 2 {
        let newest_old = || sets.old().last().copied();
        let only = active
            .first()
            .copied()
            .or_else(|| sets.new_set())
            .or_else(newest_old);
        if let Some(only) = only {
            sets.scale(only, bounds.replicas);
        }
        return;
    }
    if is_saturated(sets) {
        for index in sets.active(sets.old()) {
            sets.scale(index, 0);
        }
        return;
    }
    if sets.rolls() {
        share(sets, active);
    }
}

/// The new set has all pods of the Deployment, and both know it (upstream IsSaturated).
fn is_saturated(sets: &Sets) -> bool {
    let replicas = sets.bounds().replicas;
    sets.new_set().is_some_and(|new| {
        sets.replicas(new) == replicas
            && annotated(sets.get(new), DESIRED) == Some(replicas)
            && sets.available(new) == replicas
    })
}

fn share(sets: &mut Sets, mut active: Vec<usize>) {
    let bounds = sets.bounds();
    let allowed = if bounds.replicas > 0 {
        bounds.max_total()
    } else {
        0
    };
    let to_add = allowed
        - active
            .iter()
            .map(|index| sets.replicas(*index))
            .sum::<i64>();
    // Largest first; among equals newer ones grow first and older ones shrink first.
    let age = |index: &usize| {
        (
            created_ms(sets.get(*index)),
            name(sets.get(*index)).to_owned(),
        )
    };
    if to_add > 0 {
        active.sort_by_key(|index| (Reverse(sets.replicas(*index)), Reverse(age(index))));
    } else {
        active.sort_by_key(|index| (Reverse(sets.replicas(*index)), age(index)));
    }
    let mut added = 0;
    let mut sizes: Vec<i64> = active.iter().map(|index| sets.replicas(*index)).collect();
    for (size, index) in sizes.iter_mut().zip(&active) {
        let part = proportion(sets, *index, to_add - added);
        *size += part;
        added += part;
    }
    if let Some(largest) = sizes.first_mut() {
        *largest = (*largest + to_add - added).max(0);
    }
    for (size, index) in sizes.into_iter().zip(active) {
        sets.mark(index);
        sets.scale(index, size);
    }
}

/// The change of one set, with the sign of `left` and no larger.
fn proportion(sets: &Sets, index: usize, left: i64) -> i64 {
    if left == 0 {
        return 0;
    }
    let fraction = fraction(sets, index);
    if left > 0 {
        fraction.min(left)
    } else {
        fraction.max(left)
    }
}

/// The change that keeps the set's share of the Deployment (upstream getReplicaSetFraction).
fn fraction(sets: &Sets, index: usize) -> i64 {
    let bounds = sets.bounds();
    let size = sets.replicas(index);
    if bounds.replicas == 0 {
        return -size;
    }
    let before = annotated(sets.get(index), MAXIMUM).filter(|maximum| *maximum != 0);
    let before = before.unwrap_or_else(|| count(sets.deployment(), "/status/replicas"));
    if before == 0 {
        return 0;
    }
    rounded(size * bounds.max_total(), before) - size
}

/// `dividend / divisor` to the nearest integer, halves away from zero; both are positive (upstream integer.RoundToInt32).
fn rounded(dividend: i64, divisor: i64) -> i64 {
    (2 * dividend + divisor) / (2 * divisor)
}
