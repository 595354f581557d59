//! The object form of label selectors, as metrics and workloads hold them, and its printed form in messages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Operator, Requirement, Selector, SelectorError};
use crate::field::FieldPath;
use crate::go_text;

/// A selector as manifests write it. Upstream: apimachinery meta/v1/types.go `LabelSelector`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelSelector {
    /// Labels that must have exactly these values.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "crate::wire::nullable"
    )]
    pub match_labels: BTreeMap<String, String>,
    /// Further conditions, all of which must hold.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::wire::nullable"
    )]
    pub match_expressions: Vec<LabelSelectorRequirement>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// One condition of a selector. Upstream: apimachinery meta/v1/types.go `LabelSelectorRequirement`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelSelectorRequirement {
    /// The label's key.
    #[serde(default)]
    pub key: String,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`; other texts are kept and refused when the selector is used.
    #[serde(default)]
    pub operator: String,
    /// The values to compare with.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::wire::nullable"
    )]
    pub values: Vec<String>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl LabelSelector {
    /// The selector to match with: an absent object means nothing, an empty one everything.
    ///
    /// Upstream: apimachinery meta/v1/helpers.go `LabelSelectorAsSelector`; of several bad labels, upstream names any
    /// one, this the first by key.
    pub fn compile(object: Option<&Self>) -> Result<Selector, SelectorError> {
        let Some(object) = object else {
            return Ok(Selector::nothing());
        };
        let requirement = |key: &str, operator, values: &[String]| {
            Requirement::try_new(&FieldPath::nil(), key, operator, values.to_vec())
                .map_err(|problems| SelectorError::of_fields(&problems))
        };
        let mut requirements = Vec::new();
        for (key, value) in &object.match_labels {
            requirements.push(requirement(
                key,
                Operator::Equals,
                std::slice::from_ref(value),
            )?);
        }
        for expression in &object.match_expressions {
            let operator = match expression.operator.as_str() {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                other => {
                    let quoted = go_text::quote(other);
                    let unknown = format!("{quoted} is not a valid label selector operator");
                    return Err(SelectorError(unknown));
                }
            };
            requirements.push(requirement(&expression.key, operator, &expression.values)?);
        }
        Ok(Selector::from(requirements))
    }
}

/// The object as Go's `%+v` prints a pointer to it, which metric names and errors contain; `nil` if absent.
///
/// Upstream: apimachinery meta/v1/generated.pb.go `LabelSelector.String`.
pub fn describe(object: Option<&LabelSelector>) -> String {
    let Some(object) = object else {
        return "nil".to_owned();
    };
    let label = |(key, value): (&String, &String)| format!("{key}: {value},");
    let labels: String = object.match_labels.iter().map(label).collect();
    let expressions: String = object
        .match_expressions
        .iter()
        .map(describe_requirement)
        .collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},\
         MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
}

fn describe_requirement(requirement: &LabelSelectorRequirement) -> String {
    let LabelSelectorRequirement {
        key,
        operator,
        values,
        ..
    } = requirement;
    let values = values.join(" ");
    format!("LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{values}],}},")
}
