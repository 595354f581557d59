//! Samples: at which instant a pod was last looked at, over which window, and what was seen.
//!
//! The annotation `flyball.dev/scrape` on the workload (the one that carries the load) holds JSON, all of it optional:
//!
//! ```json
//! {"intervalSeconds": 15, "lagSeconds": 5, "windowSeconds": 30, "from": "Running"}
//! ```
//!
//! Scrapes happen at multiples of `intervalSeconds` since the Unix epoch and are visible `lagSeconds` later; with interval 0 (the default) the
//! value is computed when it is asked for. A sample's value is the mean over the window before it. A pod has a sample once it had been
//! running (`from: Running`, the default) or ready (`from: Ready`) at the scrape.

use std::sync::Arc;

use flyball_clock::UnixMs;
use serde_json::Value;

use super::super::object::{annotation, items, ready_since, text, time_at};
use super::super::view::View;
use super::curve::{Curve, Nano, amount};
use super::ledger::{Ledger, Period};
use super::{Load, bears_load};

/// The annotation that holds the scrape settings.
pub const SCRAPE: &str = "flyball.dev/scrape";

/// Most instants a window's mean is taken from; each stands for an equal part of the window.
const PARTS: i64 = 60;

/// How and when a workload's metrics are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scrape {
    interval_ms: i64,
    lag_ms: i64,
    window_ms: i64,
    needs_ready: bool,
}

impl Scrape {
    /// The settings `workload` carries. Unreadable ones are the defaults.
    pub fn of(workload: &Value) -> Self {
        let told: Value = annotation(workload, SCRAPE)
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or(Value::Null);
        let milliseconds = |field: &str| {
            let seconds = told
                .get(field)
                .and_then(Value::as_f64)
                .filter(|seconds| (0.0..1e9).contains(seconds));
            seconds.map_or(0, |seconds| (seconds * 1000.0).round() as i64)
        };
        Self {
            interval_ms: milliseconds("intervalSeconds"),
            lag_ms: milliseconds("lagSeconds"),
            window_ms: milliseconds("windowSeconds"),
            needs_ready: text(&told, "/from") == "Ready",
        }
    }

    /// The newest scrape that is visible.
    pub fn instant(self, now_ms: UnixMs) -> UnixMs {
        let visible_ms = now_ms.saturating_sub(self.lag_ms);
        match self.interval_ms {
            0 => visible_ms,
            interval => visible_ms.div_euclid(interval) * interval,
        }
    }

    /// The window in whole seconds.
    pub fn window_seconds(self) -> i64 {
        self.window_ms / 1000
    }

    /// The instants a sample's value is the mean of, none before `since_ms`.
    fn instants(self, at_ms: UnixMs, since_ms: UnixMs) -> Vec<UnixMs> {
        let from_ms = at_ms.saturating_sub(self.window_ms).max(since_ms);
        let span = at_ms - from_ms;
        if span <= 0 {
            return vec![at_ms];
        }
        let parts = (span / 1000).clamp(1, PARTS);
        (0..parts)
            .map(|part| from_ms + span * (2 * part + 1) / (2 * parts))
            .collect()
    }
}

/// Where samples come from.
#[derive(Clone, Copy)]
pub struct Sampler<'a> {
    /// The objects.
    pub view: &'a dyn View,
    /// The past.
    pub ledger: &'a Ledger,
    /// The workload whose load is sampled.
    pub workload: &'a Arc<Value>,
    /// Its settings.
    pub scrape: Scrape,
    /// The instant of the sample.
    pub at_ms: UnixMs,
}

impl<'a> Sampler<'a> {
    /// The sampler of a workload's newest visible scrape.
    pub fn new(
        view: &'a dyn View,
        ledger: &'a Ledger,
        workload: &'a Arc<Value>,
        now_ms: UnixMs,
    ) -> Self {
        let scrape = Scrape::of(workload);
        Self {
            view,
            ledger,
            workload,
            scrape,
            at_ms: scrape.instant(now_ms),
        }
    }

    /// Since when the pod is sampled; `None` when it has no sample yet.
    pub fn sampled_since(&self, pod: &Value) -> Option<UnixMs> {
        let since = if self.scrape.needs_ready {
            ready_since(pod)
        } else {
            let started = items(pod, "/status/containerStatuses").iter();
            started
                .filter_map(|status| time_at(status, "/state/running/startedAt"))
                .max()
        };
        since.filter(|since| *since <= self.at_ms)
    }

    /// What each container of a sampled pod uses of `resource` (`cpu`, `memory`), in the order of the containers.
    pub fn usage(&self, pod: &Value, resource: &str, since_ms: UnixMs) -> Vec<Nano> {
        let containers = items(pod, "/spec/containers");
        self.mean(since_ms, containers.len(), |period, load, at_ms| {
            let idle = load.idle.get(resource).copied().unwrap_or(0);
            let curve = load.resources.get(resource);
            let whole = curve
                .and_then(|curve| part(pod, period, load.value(curve, at_ms), at_ms))
                .unwrap_or(idle);
            split(containers, load, resource, whole)
        })
    }

    /// The pod's part of a total, over a window; `None` when the metric is not told.
    pub fn pod_metric(&self, pod: &Value, curves: &[&Curve], since_ms: UnixMs) -> Nano {
        let values = self.mean(since_ms, 1, |period, load, at_ms| {
            let total: Nano = curves.iter().map(|curve| load.value(curve, at_ms)).sum();
            vec![part(pod, period, total, at_ms).unwrap_or(0)]
        });
        values.first().copied().unwrap_or(0)
    }

    /// A value that is nobody's part, over a window.
    pub fn value(&self, load: &Load, curve: &Curve) -> Nano {
        let instants = self.scrape.instants(self.at_ms, UnixMs::MIN);
        instants
            .iter()
            .map(|at_ms| load.value(curve, *at_ms))
            .sum::<Nano>()
            / instants.len() as Nano
    }

    fn mean(
        &self,
        since_ms: UnixMs,
        width: usize,
        look: impl Fn(&Period, &Load, UnixMs) -> Vec<Nano>,
    ) -> Vec<Nano> {
        let instants = self.scrape.instants(self.at_ms, since_ms);
        let mut sums = vec![0; width];
        for at_ms in &instants {
            let period = self.ledger.at(self.view, self.workload, *at_ms);
            let Some(load) = period.load.clone() else {
                continue;
            };
            for (sum, value) in sums.iter_mut().zip(look(&period, &load, *at_ms)) {
                *sum += value;
            }
        }
        sums.into_iter()
            .map(|sum| sum / instants.len() as Nano)
            .collect()
    }
}

/// A pod's part of a total at an instant; `None` when it bore no load then.
fn part(pod: &Value, period: &Period, total: Nano, at_ms: UnixMs) -> Option<Nano> {
    let bore = bears_load(pod) && ready_since(pod).is_some_and(|since| since <= at_ms);
    bore.then(|| total / period.bearers.max(1) as Nano)
}

/// Splits a pod's use over its containers, each capped at its cpu limit.
fn split(containers: &[Value], load: &Load, resource: &str, whole: Nano) -> Vec<Nano> {
    let request = |container: &Value| {
        let told = container
            .pointer("/resources/requests/cpu")
            .and_then(|value| amount(value).ok());
        told.unwrap_or(0)
    };
    let told: Vec<Nano> = if load.shares.is_empty() {
        containers.iter().map(request).collect()
    } else {
        let share = |container: &Value| {
            load.shares
                .get(text(container, "/name"))
                .copied()
                .unwrap_or(0)
        };
        containers
            .iter()
            .map(|container| Nano::from(share(container)))
            .collect()
    };
    let sum: Nano = told.iter().sum();
    let even = containers.len().max(1) as Nano;
    let capped = |(container, part): (&Value, &Nano)| {
        let used = if sum > 0 {
            whole * part / sum
        } else {
            whole / even
        };
        let limit = container
            .pointer("/resources/limits/cpu")
            .filter(|_| resource == "cpu");
        limit
            .and_then(|limit| amount(limit).ok())
            .map_or(used, |limit| used.min(limit))
    };
    containers.iter().zip(&told).map(capped).collect()
}
