//! One metric of the specification: its source, its target, and its names in messages.
//! How a source turns a reading into a replica count is in one file per kind of arithmetic below.

use std::fmt;

use crate::policy::Text;

pub mod aggregate;
pub mod per_pod;

/// One entry of `spec.metrics`.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Where the figures come from.
    pub source: Source,
    /// What they are compared with.
    pub target: Target,
}

/// The source of a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A figure of one other object.
    Object {
        /// Kind of the described object.
        kind: Text,
        /// Name of the described object.
        object: Text,
        /// Metric name.
        name: Text,
        /// The metric selector as Go's `%+v` prints it (`nil` without one).
        selector: Text,
    },
    /// A figure per pod from the custom metrics API.
    Pods {
        /// Metric name.
        name: Text,
    },
    /// CPU, memory or another resource of whole pods.
    Resource {
        /// Resource name.
        resource: Text,
    },
    /// The same of one container in each pod.
    ContainerResource {
        /// Resource name.
        resource: Text,
        /// Container name.
        container: Text,
    },
    /// A figure that belongs to no object of the cluster.
    External {
        /// Metric name.
        name: Text,
        /// The metric selector as Go's `%+v` prints it (`nil` without one).
        selector: Text,
    },
    /// A type the API refuses.
    Unknown {
        /// The text in `type`.
        kind: Text,
    },
}

/// `target` as the object holds it. Which field counts depends on the source, see [`Metric::aim`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// `target.type`; decisive for Object alone.
    pub kind: TargetKind,
    /// `target.value` in thousandths.
    pub value: Option<i64>,
    /// `target.averageValue` in thousandths.
    pub average_value: Option<i64>,
    /// `target.averageUtilization` in percent of the request.
    pub average_utilization: Option<i32>,
}

/// `target.type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// Percent of the request.
    Utilization,
    /// A total.
    Value,
    /// A mean per pod.
    AverageValue,
    /// A text the API refuses.
    Other,
}

/// The target that is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Percent of the request.
    Utilization(i32),
    /// Thousandths, mean per pod.
    AverageValue(i64),
    /// Thousandths, in total.
    Value(i64),
    /// No field that this source can use is set.
    Nothing,
}

impl Metric {
    /// The target in force for this source.
    ///
    /// Upstream: horizontal.go `computeStatusFor*Metric`, 1.37.2. `target.type` is read for Object alone; Resource
    /// prefers the raw value, External the average.
    /// Differs from upstream: a Pods metric without `averageValue`, which the API refuses, has no target here; upstream crashes.
    pub fn aim(&self) -> Aim {
        let target = &self.target;
        let average = target.average_value.map(Aim::AverageValue);
        let chosen = match &self.source {
            Source::Object { .. } => match target.kind {
                TargetKind::Value => target.value.map(Aim::Value),
                TargetKind::AverageValue => average,
                TargetKind::Utilization | TargetKind::Other => None,
            },
            Source::Pods { .. } => average,
            Source::Resource { .. } | Source::ContainerResource { .. } => {
                average.or_else(|| target.average_utilization.map(Aim::Utilization))
            }
            Source::External { .. } => average.or_else(|| target.value.map(Aim::Value)),
            Source::Unknown { .. } => None,
        };
        chosen.unwrap_or(Aim::Nothing)
    }

    /// The text of `type`.
    pub fn type_name(&self) -> &str {
        match &self.source {
            Source::Object { .. } => "Object",
            Source::Pods { .. } => "Pods",
            Source::Resource { .. } => "Resource",
            Source::ContainerResource { .. } => "ContainerResource",
            Source::External { .. } => "External",
            Source::Unknown { kind } => kind,
        }
    }

    /// Whether the figures come from another object.
    pub const fn is_object(&self) -> bool {
        matches!(self.source, Source::Object { .. })
    }

    /// Whether the figures belong to no object of the cluster.
    pub const fn is_external(&self) -> bool {
        matches!(self.source, Source::External { .. })
    }

    /// The resource whose readiness and warm-up rules apply: only `cpu` has any.
    pub fn resource(&self) -> Option<&Text> {
        match &self.source {
            Source::Resource { resource } | Source::ContainerResource { resource, .. } => {
                Some(resource)
            }
            _ => None,
        }
    }

    /// The container a sample and a request are taken from; `None` means the whole pod.
    pub const fn container(&self) -> Option<&Text> {
        match &self.source {
            Source::ContainerResource { container, .. } => Some(container),
            _ => None,
        }
    }
}

/// A metric as conditions and rescale reasons name it (spec 4.1, last column).
#[derive(Clone, Copy, Debug)]
pub struct Named<'a>(pub &'a Metric);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let utilization = matches!(self.0.aim(), Aim::Utilization(_));
        match &self.0.source {
            Source::Object {
                kind,
                name,
                selector,
                ..
            } => match self.0.aim() {
                // Upstream calls this one "external" too.
                Aim::AverageValue(_) => write!(f, "external metric {name}({selector})"),
                _ => write!(f, "{kind} metric {name}"),
            },
            Source::Pods { name } => write!(f, "pods metric {name}"),
            Source::Resource { resource } if utilization => {
                write!(f, "{resource} resource utilization (percentage of request)")
            }
            Source::ContainerResource { resource, .. } if utilization => {
                write!(
                    f,
                    "{resource} container resource utilization (percentage of request)"
                )
            }
            Source::Resource { resource } | Source::ContainerResource { resource, .. } => {
                write!(f, "{resource} resource")
            }
            Source::External { name, selector } => write!(f, "external metric {name}({selector})"),
            Source::Unknown { kind } => write!(f, "{kind}"),
        }
    }
}
