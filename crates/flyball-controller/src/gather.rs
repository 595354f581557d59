//! Reads what a decision needs: the scale, the pods, the metrics. Nothing is decided and nothing is written here.
//!
//! Source: pkg/controller/podautoscaler/horizontal.go (reconcileAutoscaler, scaleForResourceMappings,
//! validateAndParseSelector, computeStatusFor*Metric) and replica_calculator.go, v1.37.2: what is read, in which order.

use std::time::Duration;

use flyball_api::autoscaling::v2::{
    CrossVersionObjectReference, HorizontalPodAutoscaler, MetricIdentifier, MetricSpec,
};
use flyball_api::scale::Scale;
use flyball_api::selector::{LabelSelector, Selector};
use flyball_clock::Clock;
use flyball_core::Policy;
use flyball_core::failure::{ComputeError, ScaleProblem};
use flyball_core::groups::{GroupRule, Groups};
use flyball_core::metric::{Aim, Metric};
use flyball_core::policy::Text;
use flyball_core::snapshot::Reading;
use flyball_core::time::Instant;

use crate::hpa_cache::{Records, key_of};
use crate::metrics_client::{Described, MetricsClient, MetricsError, Query, Samples};
use crate::pod_index::SharedPodIndex;
use crate::rest_mapper::{Mapping, RestMapper};
use crate::scale_client::{ScaleClient, ScaleTarget};

/// How many HPAs a search for ambiguous selectors looks for: two are enough to know.
const AMBIGUOUS_FROM: usize = 2;

/// The readers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Gatherer {
    /// From kinds to resources.
    pub mapper: RestMapper,
    /// Scales.
    pub scales: ScaleClient,
    /// Metrics.
    pub metrics: MetricsClient,
    /// Pods, kept by their source.
    pub pods: SharedPodIndex,
    /// Selectors of all HPAs.
    pub records: Records,
    /// The time of the samples' ages.
    pub clock: Clock,
}

/// A scale, and the resource it was found under.
#[derive(Clone, Debug)]
pub struct FoundScale {
    /// Where to write it.
    pub mapping: Mapping,
    /// As read.
    pub scale: Scale,
}

/// One metric as read, owned.
#[derive(Debug)]
pub enum Gathered {
    /// One sample a pod.
    PerPod(Groups),
    /// One figure of an object, and the pods.
    Object(i64, Groups),
    /// The series of an external metric, and the pods.
    External(Vec<i64>, Groups),
    /// The metric's selector cannot be used.
    BadSelector(Text),
    /// There is no figure.
    Unavailable(Text),
}

/// One metric as read, and how long that took.
#[derive(Debug)]
pub struct TimedReading {
    /// The reading.
    pub gathered: Gathered,
    /// Time from asking to having.
    pub took: Duration,
}

impl Gathered {
    /// As a snapshot refers to it.
    pub fn as_reading(&self) -> Reading<'_> {
        match self {
            Self::PerPod(groups) => Reading::PerPod(groups),
            Self::Object(value, groups) => Reading::Object {
                value: *value,
                groups,
            },
            Self::External(values, groups) => Reading::External { values, groups },
            Self::BadSelector(text) => Reading::BadSelector(text.clone()),
            Self::Unavailable(text) => Reading::Unavailable(text.clone()),
        }
    }
}

impl Gatherer {
    /// Reads the scale of an HPA's target: under each resource of its kind, the first that answers.
    pub async fn scale(&self, hpa: &HorizontalPodAutoscaler) -> Result<FoundScale, ScaleProblem> {
        let target = &hpa.spec.scale_target_ref;
        let group = group_of(&target.api_version)
            .map_err(|error| ScaleProblem::ApiVersion(error.into()))?;
        let mappings = self.mapper.mappings(group, &target.kind).await;
        let mappings =
            mappings.map_err(|error| ScaleProblem::NoMapping(error.to_string().into()))?;
        let mut first_error: Option<Text> = None;
        for mapping in &mappings {
            // The resource alone counts; its preferred version, which is the first, is the one to ask.
            let preferred = mappings
                .iter()
                .find(|other| other.resource == mapping.resource)
                .unwrap_or(mapping);
            let namespace = &hpa.metadata.namespace;
            let target = ScaleTarget {
                mapping: preferred,
                namespace,
                name: &target.name,
            };
            match self.scales.get(target).await {
                Ok(scale) => {
                    return Ok(FoundScale {
                        mapping: preferred.clone(),
                        scale,
                    });
                }
                Err(error) => {
                    first_error.get_or_insert_with(|| error.to_string().into());
                }
            }
        }
        Err(ScaleProblem::Unreadable(
            first_error.unwrap_or_else(|| "unrecognized resource".into()),
        ))
    }

    /// Checks and registers the selector of a scale: it must be there, be readable, and be the only one that finds
    /// the pods it finds.
    pub fn selector(
        &self,
        hpa: &HorizontalPodAutoscaler,
        text: &str,
    ) -> Result<Selector, ComputeError> {
        if text.is_empty() {
            return Err(ComputeError::SelectorMissing);
        }
        let selector = Selector::parse(text)
            .map_err(|error| ComputeError::SelectorInvalid(error.to_string().into()))?;
        let key = key_of(hpa);
        let label_sets = self.pods.lock().label_sets(&key.namespace, &selector);
        let mut selectors = self.records.selectors();
        if !selectors.put_if_present(&key, selector.clone()) {
            let (namespace, name) = (key.namespace.into(), key.name.into());
            return Err(ComputeError::Deleted { namespace, name });
        }
        let claimants = selectors.matching(&key.namespace, &label_sets, AMBIGUOUS_FROM);
        if claimants.len() > 1 {
            let autoscalers = claimants.iter().map(|key| key.to_string().into()).collect();
            return Err(ComputeError::Ambiguous {
                selector: text.into(),
                autoscalers,
            });
        }
        Ok(selector)
    }

    /// Reads every metric of an HPA, one after the other.
    pub async fn readings(
        &self,
        hpa: &HorizontalPodAutoscaler,
        policy: &Policy,
        selector: &Selector,
    ) -> Vec<TimedReading> {
        let pods = selector.to_string();
        let mut readings = Vec::with_capacity(policy.metrics.len());
        for (spec, metric) in hpa.spec.metrics.iter().zip(&policy.metrics) {
            let started = self.clock.elapsed();
            let asked = Question {
                hpa,
                policy,
                selector,
                pods: &pods,
            };
            let gathered = match self.reading(asked, spec, metric).await {
                Ok(gathered) => gathered,
                Err(Absent::BadSelector(text)) => Gathered::BadSelector(text),
                Err(Absent::Unavailable(text)) => Gathered::Unavailable(text),
            };
            let took = self.clock.elapsed().saturating_sub(started);
            readings.push(TimedReading { gathered, took });
        }
        readings
    }

    async fn reading(
        &self,
        asked: Question<'_>,
        spec: &MetricSpec,
        metric: &Metric,
    ) -> Result<Gathered, Absent> {
        let (aim, none) = (metric.aim(), Samples::new());
        if let Some(pods) = &spec.pods
            && spec.r#type == "Pods"
        {
            let selector = compile(&pods.metric)?;
            let query = asked.query(&pods.metric.name, &selector);
            let samples = fetch(aim, self.metrics.pods(query)).await?;
            return Ok(Gathered::PerPod(self.groups(asked, metric, &samples)));
        }
        if let Some(object) = &spec.object
            && spec.r#type == "Object"
        {
            let selector = compile(&object.metric)?;
            let query = Query {
                pods: "",
                ..asked.query(&object.metric.name, &selector)
            };
            let described = described(&object.described_object);
            let value = fetch(aim, self.metrics.object(query, described)).await?;
            return Ok(Gathered::Object(value, self.groups(asked, metric, &none)));
        }
        if let Some(external) = &spec.external
            && spec.r#type == "External"
        {
            let selector = compile(&external.metric)?;
            let query = asked.query(&external.metric.name, &selector);
            let values = fetch(aim, self.metrics.external(query)).await?;
            return Ok(Gathered::External(
                values,
                self.groups(asked, metric, &none),
            ));
        }
        let Some(resource) = metric.resource() else {
            return Err(Absent::unasked());
        };
        let query = asked.query(resource, "");
        let container = metric.container().map(AsRef::as_ref);
        let samples = fetch(aim, self.metrics.resource(query, container)).await?;
        Ok(Gathered::PerPod(self.groups(asked, metric, &samples)))
    }

    /// The pods the selector finds now, sorted and summed; none where the metric does not look at pods.
    fn groups(&self, asked: Question<'_>, metric: &Metric, samples: &Samples) -> Groups {
        let rule = GroupRule::new(metric, &asked.policy.settings);
        let looks_at_pods =
            !(metric.is_object() || metric.is_external()) || matches!(metric.aim(), Aim::Value(_));
        if !looks_at_pods {
            return Groups::new(rule);
        }
        let index = self.pods.lock();
        let pods = index.select(&asked.hpa.metadata.namespace, asked.selector);
        let now = Instant(self.clock.now_ms());
        Groups::fold(rule, pods.map(|pod| &pod.facts), samples, now)
    }
}

/// What every metric of one sync has in common.
#[derive(Clone, Copy)]
struct Question<'a> {
    hpa: &'a HorizontalPodAutoscaler,
    policy: &'a Policy,
    selector: &'a Selector,
    pods: &'a str,
}

impl<'a> Question<'a> {
    fn query(self, name: &'a str, metric: &'a str) -> Query<'a> {
        Query {
            namespace: &self.hpa.metadata.namespace,
            name,
            pods: self.pods,
            metric,
        }
    }
}

/// Why there is no reading.
enum Absent {
    BadSelector(Text),
    Unavailable(Text),
}

impl Absent {
    /// The core finds the fault in the specification before it looks at this.
    fn unasked() -> Self {
        Self::Unavailable("not asked for".into())
    }
}

/// Asks, unless there is no target that an answer could be compared with.
async fn fetch<T>(
    aim: Aim,
    question: impl Future<Output = Result<T, MetricsError>>,
) -> Result<T, Absent> {
    if aim == Aim::Nothing {
        return Err(Absent::unasked());
    }
    question
        .await
        .map_err(|error| Absent::Unavailable(error.to_string().into()))
}

/// The metric's selector as the query holds it.
fn compile(metric: &MetricIdentifier) -> Result<String, Absent> {
    let selector = LabelSelector::compile(metric.selector.as_ref());
    let selector = selector.map_err(|error| Absent::BadSelector(error.to_string().into()))?;
    Ok(selector.to_string())
}

fn described(reference: &CrossVersionObjectReference) -> Described<'_> {
    let group = reference
        .api_version
        .split_once('/')
        .map_or("", |(group, _)| group);
    Described {
        group,
        kind: &reference.kind,
        name: &reference.name,
    }
}

/// The group of an `apiVersion` (apimachinery schema.ParseGroupVersion).
fn group_of(api_version: &str) -> Result<&str, String> {
    match api_version.split('/').collect::<Vec<_>>().as_slice() {
        [_] | ["", ""] => Ok(""),
        [group, _] => Ok(group),
        _ => Err(format!("unexpected GroupVersion string: {api_version}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_of_an_api_version_is_what_stands_before_its_slash() {
        assert_eq!(group_of(""), Ok(""));
        assert_eq!(group_of("/"), Ok(""));
        assert_eq!(group_of("v1"), Ok(""));
        assert_eq!(group_of("apps/v1"), Ok("apps"));
        let error = "unexpected GroupVersion string: a/b/c".to_owned();
        assert_eq!(group_of("a/b/c"), Err(error));
    }
}
