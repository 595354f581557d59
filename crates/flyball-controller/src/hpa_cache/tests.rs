//! Which change queues an HPA at once, and which after its interval.

use flyball_clock::Clock;
use prometheus::Registry;
use serde_json::json;

use super::*;
use crate::queue_metrics::QueueMetrics;
use crate::selector_store::Search;

struct Fixture {
    handler: HpaHandler,
    clock: Clock,
    registry: Registry,
}

impl Fixture {
    fn new(gates: Gates) -> Self {
        let (clock, registry) = (Clock::starting_at(0), Registry::new());
        let metrics = QueueMetrics::register(&registry).expect("a fresh registry");
        let handler = HpaHandler {
            cache: HpaCache::default(),
            records: Records {
                selectors: Arc::new(Mutex::new(SelectorStore::new(Search::Limited))),
                consistency: Arc::default(),
            },
            queue: WorkQueue::new(Duration::from_secs(15), clock.clone(), metrics),
            monitor: Monitor::register(&registry).expect("a fresh registry"),
            gates,
        };
        Self {
            handler,
            clock,
            registry,
        }
    }

    fn take(&mut self, change: Change<HorizontalPodAutoscaler>) {
        self.handler.take(change, "9");
    }

    /// When the HPA runs next, after a run now that asks for no other.
    async fn next_run(&self) -> i64 {
        let run = self.handler.queue.get().await.expect("open");
        self.handler
            .queue
            .done(&run.key, crate::workqueue::Next::Nothing);
        self.clock.now_ms()
    }

    fn objects(&self) -> String {
        let text = prometheus::TextEncoder::new().encode_to_string(&self.registry.gather());
        let text = text.expect("printable");
        let name = "horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers ";
        text.lines()
            .find_map(|line| line.strip_prefix(name))
            .expect("a gauge")
            .to_owned()
    }
}

fn hpa(generation: i64, version: &str, period: Option<u32>) -> HorizontalPodAutoscaler {
    let mut spec =
        json!({"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "web"}});
    if let Some(period) = period {
        spec["syncPeriodSeconds"] = period.into();
    }
    let metadata = json!({"namespace": "ns", "name": "web", "uid": "u", "generation": generation, "resourceVersion": version});
    serde_json::from_value(json!({"metadata": metadata, "spec": spec})).expect("an HPA")
}

#[tokio::test(start_paused = true)]
async fn an_added_object_is_registered_and_runs_at_once() {
    let mut fixture = Fixture::new(Gates::default());
    fixture.take(Change::Applied(hpa(1, "1", None)));
    assert!(fixture.handler.records.selectors().has_namespace("ns"));
    assert_eq!(fixture.objects(), "1");
    assert_eq!(fixture.next_run().await, 0);
    assert_eq!(fixture.handler.cache.version(), "9");
}

#[tokio::test(start_paused = true)]
async fn a_spec_change_runs_at_once_and_a_status_change_after_the_interval() {
    let mut fixture = Fixture::new(Gates::default());
    fixture.take(Change::Applied(hpa(1, "1", None)));
    fixture.next_run().await;
    fixture.take(Change::Applied(hpa(1, "2", None)));
    assert_eq!(fixture.next_run().await, 15_000);
    fixture.take(Change::Applied(hpa(2, "3", None)));
    assert_eq!(fixture.next_run().await, 15_000);
}

#[tokio::test(start_paused = true)]
async fn without_generations_every_change_waits() {
    let mut fixture = Fixture::new(Gates::default().with(Gate::Generation, false));
    fixture.take(Change::Applied(hpa(1, "1", None)));
    fixture.next_run().await;
    fixture.take(Change::Applied(hpa(2, "2", None)));
    assert_eq!(fixture.next_run().await, 15_000);
}

#[tokio::test(start_paused = true)]
async fn a_shorter_period_counts_from_the_change_that_brings_it() {
    let gates = Gates::default()
        .with(Gate::ConfigurableSyncPeriod, true)
        .with(Gate::Generation, false);
    let mut fixture = Fixture::new(gates);
    fixture.take(Change::Applied(hpa(1, "1", None)));
    fixture.next_run().await;
    fixture
        .handler
        .queue
        .add_rate_limited(&ObjectKey::new("ns", "web"));
    fixture.take(Change::Applied(hpa(2, "2", Some(3))));
    assert_eq!(fixture.next_run().await, 3_000);
    fixture.take(Change::Applied(hpa(3, "3", None)));
    assert_eq!(fixture.next_run().await, 18_000);
}

#[tokio::test(start_paused = true)]
async fn the_period_of_an_object_is_ignored_while_its_gate_is_off() {
    let mut fixture = Fixture::new(Gates::default());
    fixture.take(Change::Applied(hpa(1, "1", Some(3))));
    fixture.next_run().await;
    fixture.handler.resync();
    assert_eq!(fixture.next_run().await, 15_000);
}

#[tokio::test(start_paused = true)]
async fn a_list_deletes_what_it_lacks_and_leaves_alone_what_it_repeats() {
    let mut fixture = Fixture::new(Gates::default());
    fixture.take(Change::Applied(hpa(1, "1", None)));
    fixture.next_run().await;
    fixture.take(Change::Replaced(vec![hpa(1, "1", None)]));
    assert_eq!(fixture.objects(), "1");
    fixture.take(Change::Replaced(vec![]));
    assert_eq!(fixture.objects(), "0");
    assert!(!fixture.handler.records.selectors().has_namespace("ns"));
    assert_eq!(
        fixture.handler.cache.get(&ObjectKey::new("ns", "web")),
        None
    );
    fixture.take(Change::Applied(hpa(1, "5", None)));
    assert_eq!(
        fixture.next_run().await,
        0,
        "the repeated form asked for no run"
    );
}
