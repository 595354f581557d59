//! autoscaling/v2 HorizontalPodAutoscaler: an adapter to the rules of the API crate. The plane stores and checks these objects like
//! any other and acts on none. Source: registry/autoscaling/horizontalpodautoscaler, through [`flyball_api`].

use flyball_api::autoscaling::annotations;
use flyball_api::autoscaling::v2::HorizontalPodAutoscaler as Typed;
use flyball_api::defaults;
use flyball_api::strategy::{self, Gates};
use serde_json::{Value, json};

use crate::field::{self, FieldError};
use crate::kind::{Kind, MetadataRules, Strategy};

#[derive(Debug)]
struct HorizontalPodAutoscaler;

pub(super) fn kind() -> Kind {
    Kind::new(
        "autoscaling",
        "v2",
        "HorizontalPodAutoscaler",
        HorizontalPodAutoscaler,
    )
    .short(&["hpa"])
    .in_all()
    .with_status()
}

fn typed(object: &Value) -> Result<Typed, FieldError> {
    field::read("<object>", object)
}

fn problems(check: impl FnOnce() -> Result<Vec<FieldError>, FieldError>) -> Vec<FieldError> {
    check().unwrap_or_else(|error| vec![error])
}

impl Strategy for HorizontalPodAutoscaler {
    fn default(&self, object: &mut Value) {
        if let Ok(mut filled) = typed(object) {
            annotations::drop_round_trip(&mut filled.metadata);
            defaults::apply(&mut filled);
            if let Ok(value) = serde_json::to_value(filled) {
                *object = value;
            }
        }
    }

    fn empty_status(&self) -> Option<Value> {
        Some(json!({"currentMetrics": null, "desiredReplicas": 0}))
    }

    fn counts_as_change(&self, object: &Value, old: &Value) -> bool {
        let (Ok(mut new), Ok(old)) = (typed(object), typed(old)) else {
            return true;
        };
        strategy::prepare_update(&mut new, &old, Gates::default());
        new.metadata.generation != old.metadata.generation
    }

    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::General
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        problems(|| Ok(strategy::check_create(&typed(object)?, Gates::default())))
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        problems(|| {
            Ok(strategy::check_update(
                &typed(object)?,
                &typed(old)?,
                Gates::default(),
            ))
        })
    }

    fn validate_status(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        problems(|| Ok(strategy::check_status_update(&typed(object)?, &typed(old)?)))
    }
}
