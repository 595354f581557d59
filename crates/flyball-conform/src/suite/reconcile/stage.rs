//! The controller's reconciler on a scripted cluster, without queue and watches: syncs happen when asked for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use flyball_api::autoscaling::v2::{HorizontalPodAutoscaler, HorizontalPodAutoscalerCondition};
use flyball_api::selector::Selector;
use flyball_clock::Clock;
use flyball_controller::act::Actor;
use flyball_controller::api_client::{ApiClient, ClientMetrics};
use flyball_controller::config::Config;
use flyball_controller::event_sink;
use flyball_controller::gates::Gates;
use flyball_controller::gather::Gatherer;
use flyball_controller::hpa_cache::HpaHandler;
use flyball_controller::key::ObjectKey;
use flyball_controller::metrics_client::MetricsClient;
use flyball_controller::pod_index::{IndexedPod, SharedPodIndex};
use flyball_controller::reconcile::Reconciler;
use flyball_controller::report::{Observer, SyncReport};
use flyball_controller::rest_mapper::RestMapper;
use flyball_controller::scale_client::ScaleClient;
use flyball_controller::source::{Change, Sink as _, Watched as _};
use flyball_controller::transport::Transport;
use flyball_core::History;
use flyball_core::history::Recommendation;
use flyball_core::time::Instant;
use prometheus::Registry;
use prometheus::proto::MetricFamily;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Case, Expected};
use crate::suite::handler::handler;
use crate::timeline::instant::ZERO_UNIX_S;
use crate::timeline::service::Cluster;
use crate::timeline::world::{MAIN, World};

const NOW_MS: i64 = ZERO_UNIX_S * 1000;

/// The constants of the file that a controller is started with.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Constants {
    cpu_initialization_period_seconds: f64,
    initial_readiness_delay_seconds: f64,
    default_tolerance: f64,
    downscale_stabilization_window_seconds: f64,
}

/// A reconciler with its cluster.
pub(super) struct Stage {
    world: World,
    registry: Registry,
    reconciler: Reconciler,
    handler: HpaHandler,
    pods: SharedPodIndex,
    reports: Arc<Reports>,
}

/// What one sync did.
pub(super) struct Performed {
    report: SyncReport,
    desired: i32,
    cpu_percent: Option<i32>,
    families: Vec<MetricFamily>,
    /// Conditions of the status afterwards.
    pub(super) conditions: Vec<HorizontalPodAutoscalerCondition>,
}

#[derive(Default)]
struct Reports(Mutex<Vec<SyncReport>>);

impl Observer for Reports {
    fn synced(&self, report: SyncReport) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(report);
    }
}

impl Stage {
    /// Everything as the case has it before the sync.
    pub(super) fn new(case: &Case, constants: &Value) -> Result<Self> {
        let config = config(case, &Constants::deserialize(constants)?);
        let line = case.line()?;
        let step = line.sc.steps[0].clone();
        let world = World::new(line);
        world.lock().apply(0, &step);
        world.lock().create_autoscaler(0, 0);
        let (clock, registry) = (Clock::starting_at(NOW_MS), Registry::new());
        let transport = Transport::in_process(Cluster(world.clone()));
        let metrics = ClientMetrics::register(&registry)?;
        let client = ApiClient::new(transport, clock.clone(), config.rate, metrics);
        let handler = handler(&config, &clock, &registry)?;
        let (reports, pods) = (Arc::new(Reports::default()), SharedPodIndex::default());
        let mut reconciler = reconciler(&config, client, (&clock, &handler, &pods));
        reconciler.observer = reports.clone();
        let stage = Self {
            world,
            registry,
            reconciler,
            handler,
            pods,
            reports,
        };
        stage.prepare(case)?;
        Ok(stage)
    }

    fn prepare(&self, case: &Case) -> Result<()> {
        let key = ObjectKey::new("default", MAIN);
        if let Some(earlier) = &case.recommendations {
            let entry = |earlier: &super::Recommendation| Recommendation {
                replicas: earlier.value,
                at: Instant(NOW_MS - earlier.age_seconds * 1000),
            };
            let recommendations = Some(earlier.iter().map(entry).collect());
            let history = History {
                recommendations,
                ..History::default()
            };
            let histories = self.reconciler.histories.lock();
            histories
                .unwrap_or_else(PoisonError::into_inner)
                .insert(key, history);
        }
        for other in &case.others {
            let selector = Selector::parse(&other.selector)?;
            let key = ObjectKey::new("default", &other.name);
            self.handler
                .records
                .selectors()
                .put_if_absent(&key, selector);
        }
        let pods = self.world.lock().pod_journal.objects();
        let pods = pods.iter().map(|pod| IndexedPod::decode(&pod.to_string()));
        let pods = pods.collect::<serde_json::Result<_>>()?;
        self.pods.clone().take(Change::Replaced(pods), "1");
        Ok(())
    }

    /// Runs that many syncs, each on what the one before left.
    pub(super) fn perform(self, times: usize) -> Result<Vec<Performed>> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()?;
        runtime.block_on(async {
            let mut performed = Vec::new();
            for _ in 0..times {
                performed.push(self.sync().await?);
            }
            Ok(performed)
        })
    }

    async fn sync(&self) -> Result<Performed> {
        let version = self.world.lock().current_version().to_string();
        self.handler
            .clone()
            .take(Change::Applied(self.stored()?), &version);
        self.reconciler.sync(&ObjectKey::new("default", MAIN)).await;
        let mut reports = self
            .reports
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let report = reports.pop().context("the sync reported nothing")?;
        let status = self.stored()?.status;
        let percent = status.current_metrics.iter().find_map(|metric| {
            let whole = metric
                .resource
                .as_ref()
                .map(|source| (&source.name, &source.current));
            let part = metric
                .container_resource
                .as_ref()
                .map(|source| (&source.name, &source.current));
            let (_, current) = whole.or(part).filter(|(name, _)| *name == "cpu")?;
            current.average_utilization
        });
        Ok(Performed {
            report,
            desired: status.desired_replicas,
            cpu_percent: percent,
            families: self.registry.gather(),
            conditions: status.conditions,
        })
    }

    /// The autoscaler as the cluster holds it.
    fn stored(&self) -> Result<HorizontalPodAutoscaler> {
        let state = self.world.lock();
        let object = state
            .autoscalers
            .object(MAIN)
            .context("the autoscaler was not created")?;
        Ok(HorizontalPodAutoscaler::deserialize(object)?)
    }
}

fn config(case: &Case, constants: &Constants) -> Config {
    let default = Config::default();
    let named = case
        .feature_gates
        .iter()
        .filter_map(|(name, on)| Some((Gates::named(name)?, *on)));
    Config {
        tolerance: constants.default_tolerance,
        cpu_initialization_period: Duration::from_secs_f64(
            constants.cpu_initialization_period_seconds,
        ),
        initial_readiness_delay: Duration::from_secs_f64(constants.initial_readiness_delay_seconds),
        downscale_stabilization: Duration::from_secs_f64(
            constants.downscale_stabilization_window_seconds,
        ),
        gates: named.fold(default.gates.clone(), |gates, (gate, on)| {
            gates.with(gate, on)
        }),
        ..default
    }
}

fn reconciler(
    config: &Config,
    client: ApiClient,
    (clock, handler, pods): (&Clock, &HpaHandler, &SharedPodIndex),
) -> Reconciler {
    let mapper = RestMapper::new(client.clone());
    let scales = ScaleClient::new(client.clone());
    let (recorder, _) = event_sink::channel(client.clone(), clock.clone());
    let gatherer = Gatherer {
        metrics: MetricsClient::new(client.clone(), mapper.clone()),
        mapper,
        scales: scales.clone(),
        pods: pods.clone(),
        records: handler.records.clone(),
        clock: clock.clone(),
    };
    let actor = Actor {
        scales,
        statuses: client,
        recorder,
        records: handler.records.clone(),
        clock: clock.clone(),
        mode: config.mode,
        kind: config.kind,
    };
    Reconciler {
        cache: handler.cache.clone(),
        records: handler.records.clone(),
        gatherer,
        actor,
        settings: config.settings(),
        detail: config.detail,
        ownership: config.ownership,
        gates: config.gates.clone(),
        monitor: handler.monitor.clone(),
        clock: clock.clone(),
        observer: Arc::new(Reports::default()),
        histories: Mutex::new(BTreeMap::new()),
    }
}

impl Performed {
    /// The facts `expected` speaks about.
    pub(super) fn told(&self, expected: &Expected) -> Value {
        let report = &self.report;
        let changed = report
            .replicas_after
            .filter(|_| report.replicas_after != report.replicas_before);
        let mut all = json!({
            "desiredReplicas": self.desired,
            "scaleUpdatedTo": changed,
            "reconciliation": self.reconciliation(expected),
            "metricComputations": self.computations(&expected.metric_computations),
            "reconciliations": self.count("reconciliations_total"),
        });
        if expected.repeat_at_least.is_none() {
            all["statusWritten"] = json!(report.status_written.is_some());
        }
        if expected.conditions.is_some() {
            let row = |condition: &HorizontalPodAutoscalerCondition| json!({"type": condition.r#type, "status": condition.status, "reason": condition.reason});
            all["conditions"] = self.conditions.iter().map(row).collect();
        }
        if expected.current_cpu_utilization.is_some() {
            all["currentCPUUtilization"] = json!(self.cpu_percent);
        }
        if expected.events.is_some() {
            let normal = report
                .events
                .iter()
                .filter(|event| event.event_type.as_str() == "Normal");
            all["events"] = normal.map(|event| event.reason.clone()).collect();
        }
        if expected.desired_replicas_gauge.is_some() {
            let gauge = self.series("desired_replicas").next();
            all["desiredReplicasGauge"] =
                json!(gauge.map(|(_, metric)| metric.get_gauge().get_value() as i64));
        }
        if expected.durations_recorded.is_some() {
            let recorded = |name| {
                self.series(name)
                    .any(|(_, metric)| metric.get_histogram().get_sample_count() > 0)
            };
            let both = recorded("reconciliation_duration_seconds")
                && recorded("metric_computation_duration_seconds");
            all["durationsRecorded"] = json!(both);
        }
        all
    }

    /// The labels of the reconciliations; an error that the case allows instead reads as the expected one.
    fn reconciliation(&self, expected: &Expected) -> Value {
        let mut labels: Vec<_> = self
            .series("reconciliations_total")
            .map(|(labels, _)| json!(labels))
            .collect();
        for label in &mut labels {
            if expected
                .error_alternative
                .as_deref()
                .is_some_and(|other| label["error"] == other)
            {
                label["error"] = expected.reconciliation["error"].clone();
            }
        }
        if labels.len() == 1 {
            labels.remove(0)
        } else {
            json!(labels)
        }
    }

    fn count(&self, name: &str) -> i64 {
        self.series(name)
            .map(|(_, metric)| metric.get_counter().get_value() as i64)
            .sum()
    }

    /// The computations of the metric types that are asked for.
    fn computations(&self, wanted: &Map<String, Value>) -> Value {
        let mut found = Map::new();
        for (mut labels, _) in self.series("metric_computation_total") {
            let kind = labels.remove("metric_type").unwrap_or_default();
            if wanted.contains_key(&kind) {
                found.insert(kind, json!(labels));
            }
        }
        Value::Object(found)
    }

    /// The series of one metric with their labels.
    fn series(
        &self,
        name: &str,
    ) -> impl Iterator<Item = (BTreeMap<String, String>, &prometheus::proto::Metric)> {
        let name = format!("horizontal_pod_autoscaler_controller_{name}");
        let family = self
            .families
            .iter()
            .find(move |family| family.name() == name);
        family
            .into_iter()
            .flat_map(MetricFamily::get_metric)
            .map(|metric| {
                let pair = |label: &prometheus::proto::LabelPair| {
                    (label.name().to_owned(), label.value().to_owned())
                };
                (metric.get_label().iter().map(pair).collect(), metric)
            })
    }
}
