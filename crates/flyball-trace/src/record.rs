//! The record of one decision, its schema version, and its line of JSON.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::step::Step;

/// The version this crate writes. Within a version fields and steps may be added and nothing else changes.
pub const SCHEMA: u32 = 1;

/// Everything one sync decided, and why. One JSON object, one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionRecord {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The instant of the snapshot, in milliseconds since the Unix epoch: the core's own unit, so exact.
    pub at_ms: i64,
    /// Whose decision it is.
    pub autoscaler: Autoscaler,
    /// What is scaled.
    pub target: Target,
    /// The arithmetic in force, by name.
    pub profile: String,
    /// The metrics of the specification, in order. Steps name them by index.
    pub metrics: Vec<Metric>,
    /// The size as read; absent when the scale could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<i32>,
    /// The size after the sync: `from` unless a new one was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<i32>,
    /// The largest proposal, if any metric gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<Recommendation>,
    /// The id of why the size was kept, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<String>,
    /// What was done to the size.
    pub action: Action,
    /// The conditions of the next status, in order.
    pub conditions: Vec<Condition>,
    /// The events sent, in order.
    pub events: Vec<Event>,
    /// What the sync ended with, if not everything went well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The explanation, in the order of the decision; empty when steps were not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

/// The autoscaler a record belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Autoscaler {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// The scaled object; it lives in the namespace of the autoscaler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// One metric of the specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// `type` of the specification.
    #[serde(rename = "type")]
    pub kind: String,
    /// Resource or metric name; empty for an unknown type.
    pub name: String,
    /// The container, of a ContainerResource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// `Kind/name` of the described object, of an Object metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The target in force; absent when the source can use none that is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aim: Option<Aim>,
}

/// The target of a metric, in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// Percent of the request.
    UtilizationPercent(i32),
    /// Thousandths, mean per pod.
    AverageValueMilli(i64),
    /// Thousandths, in total.
    ValueMilli(i64),
}

/// The largest proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recommendation {
    /// Replicas; below zero reads as zero later on.
    pub replicas: i32,
    /// The index of the metric that asks for them; absent when the size comes from no metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<usize>,
}

/// What was done to the size. The names are upstream's label values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It grew.
    ScaleUp,
    /// It shrank.
    ScaleDown,
    /// Nothing.
    None,
}

/// A condition of the next status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its status.
    pub status: String,
    /// Its reason.
    pub reason: String,
    /// Its message.
    pub message: String,
    /// When its status last changed, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
}

/// An event on the autoscaler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// `Normal` or `Warning`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its reason.
    pub reason: String,
    /// Its message.
    pub message: String,
}

/// Why a line is no record.
#[derive(Debug, Error)]
pub enum ReadError {
    /// Not JSON, or not of this shape.
    #[error("this is no decision record: {0}")]
    Shape(#[source] serde_json::Error),
    /// Written by another version.
    #[error("the record has schema version {found}; this program reads version {SCHEMA}")]
    Schema {
        /// The version in the line.
        found: u32,
    },
}

impl DecisionRecord {
    /// The record as one line of JSON, without a newline.
    ///
    /// # Panics
    ///
    /// Never: a record has text keys only and its figures are numbers or words.
    pub fn to_json_line(&self) -> String {
        serde_json::to_string(self).expect("a record has text keys and no failing serializer")
    }

    /// The record in a line of JSON. Fields and steps this version does not know are passed over.
    pub fn from_json_line(line: &str) -> Result<Self, ReadError> {
        #[derive(Deserialize)]
        struct Head {
            schema: u32,
        }

        let head: Head = serde_json::from_str(line).map_err(ReadError::Shape)?;
        if head.schema != SCHEMA {
            return Err(ReadError::Schema { found: head.schema });
        }
        serde_json::from_str(line).map_err(ReadError::Shape)
    }
}
