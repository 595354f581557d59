//! Why a metric, a selector or a whole sync failed, in the three texts upstream has for a metric (spec 3.6, 4.2):
//! one for event and condition, one for the combined error, one for the error the sync ends with.

use std::fmt;
use std::sync::Arc;

use crate::message::Reason;
use crate::metric::{Aim, Metric, Source};
use crate::policy::{TargetRef, Text};
use crate::request::PodRequestProblem;

/// Why one metric gave no size.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The metric's selector cannot be used; the conversion's text.
    Selector(Text),
    /// The metrics API did not answer, or with nothing; the client's text.
    Fetch {
        /// Namespace of the autoscaler.
        namespace: Text,
        /// The client's text.
        error: Text,
    },
    /// The selector finds no pods.
    NoPods,
    /// No pod has a sample that counts.
    NoSamples,
    /// No sample belongs to a pod with a request.
    NoRequests,
    /// A pod has no request.
    Request(PodRequestProblem),
    /// The ready pods could not be counted because the selector finds none.
    NoReadyPods,
    /// No target that the source can use is set.
    NoTarget,
    /// The type of the source is unknown.
    UnknownSource,
}

/// A failure with the metric it befell.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricFailure {
    /// The metric.
    pub metric: Arc<Metric>,
    /// What happened.
    pub failure: Failure,
}

impl MetricFailure {
    /// The reason of event and condition.
    pub fn reason(&self) -> Reason {
        match self.metric.source {
            Source::Object { .. } => Reason::FailedGetObjectMetric,
            Source::Pods { .. } => Reason::FailedGetPodsMetric,
            Source::Resource { .. } => Reason::FailedGetResourceMetric,
            Source::ContainerResource { .. } => Reason::FailedGetContainerResourceMetric,
            Source::External { .. } => Reason::FailedGetExternalMetric,
            Source::Unknown { .. } => Reason::InvalidMetricSourceType,
        }
    }

    /// Whether the specification is at fault, as upstream's error label counts it: unknown types only.
    pub const fn is_spec_error(&self) -> bool {
        matches!(self.failure, Failure::UnknownSource)
    }

    /// The text of the event, and of the condition behind its prefix.
    pub fn event_text(&self) -> impl fmt::Display + '_ {
        fmt::from_fn(|f| self.write_event(f))
    }

    /// The text inside the combined error: the wrapper of the source around the inner text.
    pub fn error_text(&self) -> impl fmt::Display + '_ {
        fmt::from_fn(|f| self.write_error(f))
    }

    /// Upstream: replica_calculator.go and metrics/client.go, 1.37.2: the calculator's own texts.
    fn write_failure(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failure {
            Failure::Selector(text) => f.write_str(text),
            Failure::Fetch { namespace, error } => self.write_fetch(f, namespace, error),
            Failure::NoPods => {
                f.write_str("no pods returned by selector while calculating replica count")
            }
            Failure::NoSamples => f.write_str(
                "did not receive metrics for targeted pods (pods might be unready)",
            ),
            Failure::NoRequests => f.write_str("no metrics returned matched known pods"),
            Failure::Request(problem) => write!(f, "{problem}"),
            Failure::NoReadyPods => f.write_str(
                "unable to calculate ready pods: no pods returned by selector while calculating replica count",
            ),
            Failure::NoTarget => self.write_no_target(f),
            Failure::UnknownSource => {
                write!(f, "unknown metric source type {:?}", self.metric.type_name())
            }
        }
    }

    fn write_fetch(&self, f: &mut fmt::Formatter<'_>, namespace: &str, error: &str) -> fmt::Result {
        match &self.metric.source {
            Source::Object {
                kind, object, name, ..
            } => {
                write!(
                    f,
                    "unable to get metric {name} on {kind} {namespace}/{object}: {error}"
                )
            }
            Source::Pods { name } => write!(f, "unable to get metric {name}: {error}"),
            Source::Resource { resource } | Source::ContainerResource { resource, .. } => {
                write!(f, "unable to get metrics for resource {resource}: {error}")
            }
            Source::External { name, selector } => {
                write!(
                    f,
                    "unable to get external metric {namespace}/{name}/{selector}: {error}"
                )
            }
            Source::Unknown { .. } => f.write_str(error),
        }
    }

    fn write_no_target(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.metric.source {
            Source::Object { .. } => {
                "invalid object metric source: neither a value target nor an average value target was set"
            }
            Source::External { .. } => {
                "invalid external metric source: neither a value target nor an average value target was set"
            }
            Source::Pods { .. } => "invalid pods metric source: no average value target was set",
            _ => {
                "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set"
            }
        })
    }

    /// Only resource metrics put their own prefix into event and condition.
    fn write_event(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(resource) = self.metric.resource() {
            match self.metric.aim() {
                Aim::AverageValue(_) => write!(f, "failed to get {resource} usage: ")?,
                Aim::Utilization(_) => write!(f, "failed to get {resource} utilization: ")?,
                _ => {}
            }
        }
        self.write_failure(f)
    }

    /// Upstream: horizontal.go `computeStatusFor*Metric`, 1.37.2.
    fn write_inner(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.metric.source, self.metric.aim()) {
            (Source::Object { name, .. }, Aim::AverageValue(_))
                if !matches!(self.failure, Failure::Selector(_)) =>
            {
                write!(f, "failed to get {name} object metric: ")?;
            }
            (Source::External { name, .. }, Aim::AverageValue(_)) => {
                write!(f, "failed to get {name} external metric: ")?;
            }
            (Source::External { name, .. }, Aim::Value(_)) => {
                write!(f, "failed to get external metric {name}: ")?;
            }
            _ => {}
        }
        self.write_event(f)
    }

    /// Upstream: horizontal.go `computeReplicasForMetric`, 1.37.2.
    fn write_error(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.metric.source {
            Source::Object { .. } => f.write_str("failed to get object metric value: ")?,
            Source::Pods { .. } => f.write_str("failed to get pods metric value: ")?,
            Source::Resource { resource } => {
                write!(f, "failed to get {resource} resource metric value: ")?;
            }
            Source::ContainerResource { container, .. } => {
                write!(f, "failed to get {container} container metric value: ")?;
            }
            Source::External { name, .. } => {
                write!(f, "failed to get {name} external metric value: ")?;
            }
            Source::Unknown { .. } => {}
        }
        self.write_inner(f)
    }
}

/// Why no size could be computed.
#[derive(Clone, Debug, PartialEq)]
pub enum ComputeError {
    /// The scale has no selector.
    SelectorMissing,
    /// The scale's selector cannot be parsed; the parser's text.
    SelectorInvalid(Text),
    /// The autoscaler was deleted while this sync ran.
    Deleted {
        /// Its namespace.
        namespace: Text,
        /// Its name.
        name: Text,
    },
    /// The pods could not be listed; the client's text.
    ListFailed(Text),
    /// Several autoscalers find the same pods.
    Ambiguous {
        /// The selector's printed form.
        selector: Text,
        /// The autoscalers, `namespace/name`, sorted.
        autoscalers: Vec<Text>,
    },
    /// Metrics failed; the first one speaks.
    Metrics {
        /// How many failed.
        invalid: usize,
        /// Out of how many.
        total: usize,
        /// The first failure.
        first: MetricFailure,
    },
}

impl fmt::Display for ComputeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SelectorMissing => f.write_str("selector is required"),
            Self::SelectorInvalid(e) => write!(
                f,
                "couldn't convert selector into a corresponding internal selector object: {e}"
            ),
            Self::Deleted { namespace, name } => {
                write!(
                    f,
                    "HPA {namespace}/{name} was deleted during reconciliation"
                )
            }
            Self::ListFailed(e) => f.write_str(e),
            Self::Ambiguous {
                selector,
                autoscalers,
            } => {
                write!(
                    f,
                    "pods by selector {selector} are controlled by more than one HPA (e.g. ["
                )?;
                for (i, autoscaler) in autoscalers.iter().enumerate() {
                    let gap = if i == 0 { "" } else { " " };
                    write!(f, "{gap}{autoscaler}")?;
                }
                f.write_str("])")
            }
            Self::Metrics {
                invalid,
                total,
                first,
            } => write!(
                f,
                "invalid metrics ({invalid} invalid out of {total}), first error is: {}",
                first.error_text()
            ),
        }
    }
}

/// Why the scale could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScaleProblem {
    /// `scaleTargetRef.apiVersion` is no group and version; the parser's text.
    ApiVersion(Text),
    /// The kind is not known to the cluster; the mapper's text.
    NoMapping(Text),
    /// The scale subresource did not answer; the client's text.
    Unreadable(Text),
}

impl ScaleProblem {
    /// The text that came from outside.
    pub const fn text(&self) -> &Text {
        match self {
            Self::ApiVersion(text) | Self::NoMapping(text) | Self::Unreadable(text) => text,
        }
    }
}

/// What a sync ends with when not everything went well. Its text is the one upstream's work loop reports.
#[derive(Clone, Debug, PartialEq)]
pub enum SyncError {
    /// The scale could not be read.
    Scale {
        /// The target.
        target: TargetRef,
        /// Why.
        problem: ScaleProblem,
    },
    /// No size could be computed.
    Compute {
        /// The target.
        target: TargetRef,
        /// Why.
        cause: ComputeError,
    },
    /// A size was computed although some metrics failed.
    Partial(ComputeError),
    /// The size could not be written.
    Rescale {
        /// The target.
        target: TargetRef,
        /// The client's text.
        error: Text,
    },
}

impl SyncError {
    /// Whether the specification is at fault, as upstream's error label counts it.
    pub const fn is_spec_error(&self) -> bool {
        match self {
            Self::Scale { problem, .. } => matches!(problem, ScaleProblem::ApiVersion(_)),
            Self::Compute { cause, .. } | Self::Partial(cause) => match cause {
                ComputeError::Metrics { first, .. } => first.is_spec_error(),
                _ => false,
            },
            Self::Rescale { .. } => false,
        }
    }
}

impl fmt::Display for SyncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scale { target, problem } => match problem {
                ScaleProblem::ApiVersion(e) => {
                    write!(f, "invalid API version in scale target reference: {e}")
                }
                ScaleProblem::NoMapping(e) => {
                    write!(
                        f,
                        "unable to determine resource for scale target reference: {e}"
                    )
                }
                ScaleProblem::Unreadable(e) => {
                    write!(f, "failed to query scale subresource for {target}: {e}")
                }
            },
            Self::Compute { target, cause } => write!(
                f,
                "failed to compute desired number of replicas based on listed metrics for {target}: {cause}"
            ),
            Self::Partial(cause) => write!(f, "{cause}"),
            Self::Rescale { target, error } => write!(f, "failed to rescale {target}: {error}"),
        }
    }
}
