//! The annotations in which `autoscaling/v1` keeps what it has no fields for. Not their contents.
//!
//! Upstream: kubernetes v1.37.2 pkg/apis/autoscaling/annotations.go, helpers.go `DropRoundTripHorizontalPodAutoscalerAnnotations`.

use crate::meta::ObjectMeta;

/// Keys that no stored or served `autoscaling/v2` object carries.
const ROUND_TRIP: [&str; 6] = [
    "autoscaling.alpha.kubernetes.io/metrics",
    "autoscaling.alpha.kubernetes.io/current-metrics",
    "autoscaling.alpha.kubernetes.io/conditions",
    "autoscaling.alpha.kubernetes.io/behavior",
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

/// Drops them, whatever they hold: an API server does so whenever it reads or writes an object as `autoscaling/v2`.
pub fn drop_round_trip(meta: &mut ObjectMeta) {
    meta.annotations
        .retain(|key, _| !ROUND_TRIP.contains(&key.as_str()));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn only_round_trip_annotations_go() {
        let pair = |key: &str| (key.to_owned(), "x".to_owned());
        let other = pair("autoscaling.alpha.kubernetes.io/other");
        let annotations = ROUND_TRIP
            .map(pair)
            .into_iter()
            .chain([other.clone()])
            .collect();
        let mut meta = ObjectMeta {
            annotations,
            ..ObjectMeta::default()
        };
        drop_round_trip(&mut meta);
        assert_eq!(meta.annotations, BTreeMap::from([other]));
    }
}
