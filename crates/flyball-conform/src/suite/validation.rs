//! `validation`: every problem of an object with its path and type, in order.

use flyball_api::autoscaling::v2::HorizontalPodAutoscaler;
use flyball_api::field::{FieldError, FieldErrorKind};
use flyball_api::scale::Scale;
use flyball_api::validation::{validate_create, validate_scale, validate_update};
use serde::Deserialize;
use serde_json::{Value, json};

use super::List;
use super::manifest::OptionCase;
use crate::report::{Verdict, checked};
use crate::vectors::Outcome;

pub(super) const LISTS: &[List] = &[
    List {
        key: "cases",
        check,
    },
    List {
        key: "scaleCases",
        check: check_scale,
    },
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    manifest: HorizontalPodAutoscaler,
    old_manifest: Option<HorizontalPodAutoscaler>,
    options: Option<OptionCase>,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    #[serde(default)]
    errors: Vec<Value>,
}

impl Expected {
    fn check(&self, errors: &[FieldError]) -> Verdict {
        let told = errors
            .iter()
            .map(|error| json!({"field": error.field, "type": name(error.kind)}));
        Verdict::equal(&json!(self.errors), &told.collect())
    }
}

fn name(kind: FieldErrorKind) -> &'static str {
    match kind {
        FieldErrorKind::Required => "Required",
        FieldErrorKind::Invalid => "Invalid",
        FieldErrorKind::NotSupported => "NotSupported",
        FieldErrorKind::Forbidden => "Forbidden",
        other => other.words(),
    }
}

fn check(file: &Value, case: &Value) -> Outcome {
    checked(case, |case: Case| {
        let options = match case.options {
            Some(options) => options,
            None => match OptionCase::deserialize(&file["defaultOptions"]) {
                Ok(options) => options,
                Err(error) => return Verdict::unreadable(error),
            },
        };
        let options = options.options();
        let errors = match &case.old_manifest {
            Some(old) => validate_update(&case.manifest, old, &options),
            None => validate_create(&case.manifest, &options),
        };
        case.expected.check(&errors)
    })
    .into()
}

#[derive(Deserialize)]
struct ScaleCase {
    manifest: Scale,
    expected: Expected,
}

fn check_scale(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: ScaleCase| {
        case.expected.check(&validate_scale(&case.manifest))
    })
    .into()
}
