//! `quantity`: reading, canonical text, values in thousandths and in units.

use flyball_api::quantity::Quantity;
use serde::Deserialize;
use serde_json::{Value, json};

use super::List;
use crate::report::{Verdict, checked};
use crate::vectors::Outcome;

pub(super) const LISTS: &[List] = &[List {
    key: "cases",
    check,
}];

#[derive(Deserialize)]
struct Case {
    input: String,
}

fn check(_: &Value, case: &Value) -> Outcome {
    checked(case, |read: Case| {
        let mut expected = case.clone();
        if let Some(fields) = expected.as_object_mut() {
            fields.retain(|key, _| {
                key != "name" && key != "note" && key != "source_line_hint" && key != "origin"
            });
        }
        let actual = match Quantity::parse(&read.input) {
            Err(_) => json!({"input": read.input, "error": true}),
            Ok(quantity) => json!({
                "input": read.input,
                "string": quantity.to_string(),
                "milliValue": quantity.milli_value(),
                "value": quantity.value(),
                "format": quantity.format().name(),
            }),
        };
        Verdict::equal(&expected, &actual)
    })
    .into()
}
