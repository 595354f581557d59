//! HorizontalPodAutoscalers in their `autoscaling/v2` form. Their cells are the API crate's; the age there is that of a typed
//! time, the one in `age` that of a text that may be none.

use flyball_api::autoscaling::v2::HorizontalPodAutoscaler;
use flyball_api::printing;
use flyball_api::time::Time;
use flyball_clock::UnixMs;
use serde::Deserialize as _;
use serde_json::Value;

use super::builtin::name;
use super::column::Column;
use crate::schema::Gvk;

const AUTOSCALER: Gvk<'static> = Gvk::new("autoscaling", "v2", "HorizontalPodAutoscaler");

pub(super) static COLUMNS: [Column; 7] = [
    Column::NAME,
    Column::text("Reference").field(AUTOSCALER, &["spec", "scaleTargetRef"]),
    Column::text("Targets").field(AUTOSCALER, &["spec", "metrics"]),
    Column::text("MinPods").field(AUTOSCALER, &["spec", "minReplicas"]),
    Column::text("MaxPods").field(AUTOSCALER, &["spec", "maxReplicas"]),
    Column::text("Replicas").field(AUTOSCALER, &["status", "currentReplicas"]),
    Column::AGE,
];

pub(super) fn cells(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    if let Ok(autoscaler) = HorizontalPodAutoscaler::deserialize(object) {
        return printing::cells(&autoscaler, Time::from_millis(now_ms));
    }
    // Nothing that cannot be read is stored; a row of blanks still shows that it is there.
    let mut blanks = vec![Value::Null; COLUMNS.len()];
    blanks[0] = name(object);
    blanks
}
