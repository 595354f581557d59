//! What utilization is divided by: the request of one pod for one resource, in thousandths.
//! Values come from the pod's spec, also during an in-place resize; quantities are lowered to thousandths before they get here.

use std::fmt;

use crate::policy::Text;

/// Resources of one container or of a whole pod: name and thousandths, in any order.
pub type Resources = Vec<(Text, i64)>;

/// All requests of one pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodRequests {
    /// `spec.containers`, in order.
    pub containers: Vec<Container>,
    /// `spec.initContainers`, in order.
    pub init: Vec<InitContainer>,
    /// `spec.resources.requests`, if set.
    pub pod_level: Option<Resources>,
    /// `spec.overhead`.
    pub overhead: Resources,
}

/// The requests of one container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Container name.
    pub name: Text,
    /// `resources.requests`.
    pub requests: Resources,
}

/// The requests of one init container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitContainer {
    /// Name and requests.
    pub container: Container,
    /// Whether it keeps running beside the containers (`restartPolicy: Always`).
    pub restartable: bool,
}

/// Why a pod has no request for a resource. It fails the metric of the whole autoscaler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestProblem {
    /// A container asks for none of the resource.
    Container {
        /// Resource name.
        resource: Text,
        /// Container name.
        container: Text,
    },
    /// The pod-level requests lack the resource and nothing else supplies it.
    PodLevel {
        /// Resource name.
        resource: Text,
    },
    /// The pod has no container of that name.
    NoContainer {
        /// Container name.
        container: Text,
    },
}

/// A request problem with the pod it was found in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRequestProblem {
    /// Pod name.
    pub pod: Text,
    /// What is wrong.
    pub problem: RequestProblem,
}

impl fmt::Display for PodRequestProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pod = &self.pod;
        match &self.problem {
            RequestProblem::Container {
                resource,
                container,
            } => {
                write!(
                    f,
                    "missing request for {resource} in container {container} of Pod {pod}"
                )
            }
            RequestProblem::PodLevel { resource } => {
                write!(f, "missing pod-level request for {resource} in Pod {pod}")
            }
            RequestProblem::NoContainer { container } => {
                write!(f, "container {container} not found in Pod {pod}")
            }
        }
    }
}

/// Whether a pod-level request replaces the sum over containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodLevel {
    /// Gate `PodLevelResources` on.
    Honoured,
    /// Gate off.
    Ignored,
}

impl PodRequests {
    /// The request for `resource`, in thousandths, of one container or (without a name) of the whole pod.
    /// Upstream: replica_calculator.go `calculatePodRequests`, 1.37.2.
    pub fn of(
        &self,
        resource: &Text,
        container: Option<&Text>,
        pod_level: PodLevel,
    ) -> Result<i64, RequestProblem> {
        if container.is_none() && pod_level == PodLevel::Honoured && self.has_pod_level() {
            return self.effective(resource);
        }
        match container {
            None => self.sum(resource),
            Some(name) => self.of_container(resource, name),
        }
    }

    /// Upstream: component-helpers resource/helpers.go `IsPodLevelRequestsSet`, 1.37.2.
    fn has_pod_level(&self) -> bool {
        self.pod_level
            .iter()
            .flatten()
            .any(|(name, _)| is_pod_level_resource(name))
    }

    /// Containers, then sidecars: what runs for the pod's whole life.
    fn running(&self) -> impl Iterator<Item = &Container> {
        let sidecars = self
            .init
            .iter()
            .filter(|i| i.restartable)
            .map(|i| &i.container);
        self.containers.iter().chain(sidecars)
    }

    /// Upstream: replica_calculator.go `calculatePodRequestsFromContainers`, 1.37.2, without a container name.
    fn sum(&self, resource: &Text) -> Result<i64, RequestProblem> {
        let mut sum = 0_i64;
        for container in self.running() {
            sum = sum.wrapping_add(request_of(container, resource)?);
        }
        Ok(sum)
    }

    /// Upstream: as `sum`, with a container name.
    fn of_container(&self, resource: &Text, name: &Text) -> Result<i64, RequestProblem> {
        match self.running().find(|c| c.name == *name) {
            Some(container) => request_of(container, resource),
            None => Err(RequestProblem::NoContainer {
                container: name.clone(),
            }),
        }
    }

    /// The pod-level request where there is one, else what the containers need at their peak; overhead on top.
    /// Upstream: component-helpers resource/helpers.go `PodRequests`, 1.37.2.
    fn effective(&self, resource: &Text) -> Result<i64, RequestProblem> {
        let level = self.pod_level.as_deref().unwrap_or_default();
        let from_level = lookup(level, resource).filter(|_| is_pod_level_resource(resource));
        let base = from_level.or_else(|| self.peak(resource));
        match (base, lookup(&self.overhead, resource)) {
            (None, None) => Err(RequestProblem::PodLevel {
                resource: resource.clone(),
            }),
            (base, overhead) => Ok(base.unwrap_or(0).wrapping_add(overhead.unwrap_or(0))),
        }
    }

    /// The larger of the running sum and the highest point of the start-up sequence.
    /// Upstream: component-helpers resource/helpers.go `AggregateContainerRequests`, 1.37.2.
    fn peak(&self, resource: &Text) -> Option<i64> {
        let sum = |sum: Option<i64>, more: Option<i64>| match (sum, more) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).wrapping_add(b.unwrap_or(0))),
        };
        let mut running = None;
        for container in &self.containers {
            running = sum(running, lookup(&container.requests, resource));
        }
        let (mut sidecars, mut start_up) = (None, None);
        for init in &self.init {
            let own = lookup(&init.container.requests, resource);
            let needed = sum(sidecars, own);
            if init.restartable {
                running = sum(running, own);
                sidecars = needed;
            }
            start_up = start_up.max(needed);
        }
        running.max(start_up)
    }
}

fn request_of(container: &Container, resource: &Text) -> Result<i64, RequestProblem> {
    lookup(&container.requests, resource).ok_or_else(|| RequestProblem::Container {
        resource: resource.clone(),
        container: container.name.clone(),
    })
}

fn lookup(resources: &[(Text, i64)], name: &str) -> Option<i64> {
    resources
        .iter()
        .find(|(n, _)| **n == *name)
        .map(|(_, value)| *value)
}

/// Upstream: component-helpers resource/helpers.go `IsSupportedPodLevelResource`, 1.37.2.
fn is_pod_level_resource(name: &str) -> bool {
    name == "cpu" || name == "memory" || name.starts_with("hugepages-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(name: &str, cpu: Option<i64>) -> Container {
        let requests = cpu.map(|v| (Text::from("cpu"), v)).into_iter().collect();
        Container {
            name: name.into(),
            requests,
        }
    }

    fn init(name: &str, cpu: i64, restartable: bool) -> InitContainer {
        InitContainer {
            container: container(name, Some(cpu)),
            restartable,
        }
    }

    fn cpu(pod: &PodRequests, of: Option<&str>) -> Result<i64, RequestProblem> {
        pod.of(
            &"cpu".into(),
            of.map(Text::from).as_ref(),
            PodLevel::Honoured,
        )
    }

    #[test]
    fn sidecars_count_and_ordinary_init_containers_do_not() {
        let pod = PodRequests {
            containers: vec![container("app", Some(100))],
            init: vec![init("migrate", 900, false), init("mesh", 20, true)],
            ..PodRequests::default()
        };
        assert_eq!(cpu(&pod, None), Ok(120));
        assert_eq!(cpu(&pod, Some("mesh")), Ok(20));
        let unknown = RequestProblem::NoContainer {
            container: "migrate".into(),
        };
        assert_eq!(cpu(&pod, Some("migrate")), Err(unknown));
    }

    #[test]
    fn one_container_without_a_request_is_a_problem() {
        let pod = PodRequests {
            containers: vec![container("app", Some(100)), container("log", None)],
            ..PodRequests::default()
        };
        let problem = cpu(&pod, None).map_err(|problem| {
            PodRequestProblem {
                pod: "web-1".into(),
                problem,
            }
            .to_string()
        });
        let text = "missing request for cpu in container log of Pod web-1";
        assert_eq!(problem, Err(text.to_owned()));
    }

    #[test]
    fn a_pod_level_request_replaces_the_containers_and_takes_overhead() {
        let pod = PodRequests {
            containers: vec![container("app", None)],
            pod_level: Some(vec![("cpu".into(), 500)]),
            overhead: vec![("cpu".into(), 30)],
            ..PodRequests::default()
        };
        assert_eq!(cpu(&pod, None), Ok(530));
        let ignored = pod.of(&"cpu".into(), None, PodLevel::Ignored);
        assert!(ignored.is_err());
    }

    #[test]
    fn without_the_resource_at_pod_level_the_start_up_peak_counts() {
        let pod = PodRequests {
            containers: vec![container("app", Some(100))],
            init: vec![init("mesh", 20, true), init("migrate", 900, false)],
            pod_level: Some(vec![("memory".into(), 1)]),
            ..PodRequests::default()
        };
        assert_eq!(cpu(&pod, None), Ok(920));
    }

    #[test]
    fn a_pod_level_resource_without_any_supplier_is_a_problem() {
        let pod = PodRequests {
            containers: vec![container("app", None)],
            pod_level: Some(vec![("memory".into(), 1)]),
            ..PodRequests::default()
        };
        assert_eq!(
            cpu(&pod, None),
            Err(RequestProblem::PodLevel {
                resource: "cpu".into()
            })
        );
    }
}
