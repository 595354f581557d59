//! All wiring, top to bottom: clients, caches, queue, workers, and the loops beside them.
//! Not here: what any of them does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flyball_clock::Clock;
use prometheus::Registry;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::act::Actor;
use crate::api_client::{ApiClient, ClientMetrics};
use crate::config::{Config, Mode};
use crate::event_sink::{self, EventSink};
use crate::gates::Gate;
use crate::gather::Gatherer;
use crate::hpa_cache::{HpaCache, HpaHandler, Records};
use crate::key::ObjectKey;
use crate::metrics_client::MetricsClient;
use crate::monitor::Monitor;
use crate::path;
use crate::pod_index::SharedPodIndex;
use crate::queue_metrics::QueueMetrics;
use crate::reconcile::Reconciler;
use crate::report::Observer;
use crate::rest_mapper::RestMapper;
use crate::scale_client::ScaleClient;
use crate::selector_store::{Search, SelectorStore};
use crate::source::{Change, Sink, Source, Watched};
use crate::transport::Transport;
use crate::workqueue::WorkQueue;

/// How often the mapper forgets what it discovered, as kube-controller-manager resets its own.
const MAPPER_RESET: Duration = Duration::from_secs(30);

/// What a controller runs on.
pub struct Surroundings {
    /// The API server.
    pub transport: Transport,
    /// Time.
    pub clock: Clock,
    /// Where metrics are registered.
    pub registry: Registry,
    /// Where reports go.
    pub observer: Arc<dyn Observer>,
}

/// A controller at work.
pub struct Controller {
    stop: CancellationToken,
    tasks: TaskTracker,
    queue: WorkQueue<ObjectKey>,
    ready: watch::Receiver<bool>,
}

impl Controller {
    /// Starts every loop. Fails only if a metric is registered already.
    pub fn start(config: Config, surroundings: Surroundings) -> prometheus::Result<Self> {
        let parts = Parts::assemble(config, surroundings)?;
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let (announce, ready) = watch::channel(false);
        let queue = parts.handler.queue.clone();
        tasks.spawn(parts.run(announce, stop.clone()));
        tasks.close();
        Ok(Self {
            stop,
            tasks,
            queue,
            ready,
        })
    }

    /// Whether the caches are filled and syncs run.
    pub fn is_ready(&self) -> bool {
        *self.ready.borrow()
    }

    /// Waits until [`Controller::is_ready`].
    pub async fn wait_until_ready(&mut self) {
        // An error means that the controller was stopped, and then nothing is left to wait for.
        let _ = self.ready.wait_for(|ready| *ready).await;
    }

    /// The queue, for gauges that are computed when they are read.
    pub fn queue(&self) -> &WorkQueue<ObjectKey> {
        &self.queue
    }

    /// Stops: no new sync begins, those in progress end first.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.tasks.wait().await;
    }
}

struct Parts {
    config: Config,
    clock: Clock,
    /// The client of the watches, which has the rate limit of nothing else.
    watches: ApiClient,
    handler: HpaHandler,
    pods: SharedPodIndex,
    mapper: RestMapper,
    metrics: MetricsClient,
    sink: EventSink,
    reconciler: Arc<Reconciler>,
}

impl Parts {
    fn assemble(config: Config, surroundings: Surroundings) -> prometheus::Result<Self> {
        let Surroundings {
            transport,
            clock,
            registry,
            observer,
        } = surroundings;
        let monitor = Monitor::register(&registry)?;
        let client_metrics = ClientMetrics::register(&registry)?;
        let queue_metrics = QueueMetrics::register(&registry)?;
        let watches = ApiClient::new(transport, clock.clone(), config.rate, client_metrics);
        let client = || watches.with_rate(config.rate);

        let mapper = RestMapper::new(client());
        let scales = ScaleClient::new(client());
        let metrics = MetricsClient::new(client(), mapper.clone());
        let (recorder, sink) = event_sink::channel(client(), clock.clone());
        let handler = handler(&config, &clock, queue_metrics, monitor.clone());
        let records = handler.records.clone();
        let pods = SharedPodIndex::default();
        let gatherer = Gatherer {
            mapper: mapper.clone(),
            scales: scales.clone(),
            metrics: metrics.clone(),
            pods: pods.clone(),
            records: records.clone(),
            clock: clock.clone(),
        };
        let actor = Actor {
            scales,
            statuses: client(),
            recorder,
            records: records.clone(),
            clock: clock.clone(),
            mode: config.mode,
            kind: config.kind,
        };
        let reconciler = Arc::new(Reconciler {
            cache: handler.cache.clone(),
            records,
            gatherer,
            actor,
            settings: config.settings(),
            ownership: config.ownership,
            detail: config.detail,
            gates: config.gates.clone(),
            monitor,
            clock: clock.clone(),
            observer,
            histories: Mutex::new(BTreeMap::new()),
        });
        Ok(Self {
            config,
            clock,
            watches,
            handler,
            pods,
            mapper,
            metrics,
            sink,
            reconciler,
        })
    }

    async fn run(self, announce: watch::Sender<bool>, stop: CancellationToken) {
        tracing::info!(
            acts = self.config.mode == Mode::Act,
            "Starting HPA controller"
        );
        let loops = Loops {
            tasks: TaskTracker::new(),
            clock: self.clock,
            stop: stop.clone(),
        };
        let (handler, metrics, mapper) = (self.handler.clone(), self.metrics, self.mapper);
        let resource = "horizontalpodautoscalers";
        let hpas = path::collection(self.config.kind.group(), "v2", "", resource);
        let hpas = Source::new(self.watches.clone(), loops.clock.clone(), hpas, resource);
        let hpas_synced = loops.follow(hpas, handler.clone());
        let pods = path::collection("", "v1", "", "pods");
        let pods = Source::new(self.watches, loops.clock.clone(), pods, "pods");
        let pods_synced = loops.follow(pods, self.pods);
        loops.tasks.spawn(self.sink.run(stop.clone()));
        loops.every(self.config.sync_period, move || handler.resync());
        loops.every(self.config.sync_period, move || metrics.invalidate());
        loops.every(MAPPER_RESET, move || mapper.reset());
        let queue = self.handler.queue;
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = both(hpas_synced, pods_synced) => {
                for _ in 0..self.config.workers.max(1) {
                    loops.tasks.spawn(work(queue.clone(), self.reconciler.clone()));
                }
                announce.send_replace(true);
                stop.cancelled().await;
            }
        }
        tracing::info!("Shutting down HPA controller");
        queue.close();
        loops.tasks.close();
        loops.tasks.wait().await;
    }
}

/// The keeper of the cache, with queue and records that are empty still.
fn handler(
    config: &Config,
    clock: &Clock,
    queue_metrics: QueueMetrics,
    monitor: Monitor,
) -> HpaHandler {
    let search = if config.gates.enabled(Gate::OptimizedSelectorStore) {
        Search::Limited
    } else {
        Search::Complete
    };
    let selectors = Arc::new(Mutex::new(SelectorStore::new(search)));
    HpaHandler {
        cache: HpaCache::default(),
        records: Records {
            selectors,
            consistency: Arc::default(),
        },
        queue: WorkQueue::new(config.sync_period, clock.clone(), queue_metrics),
        monitor,
        gates: config.gates.clone(),
    }
}

/// What the loops beside the workers have in common.
struct Loops {
    tasks: TaskTracker,
    clock: Clock,
    stop: CancellationToken,
}

impl Loops {
    /// Keeps `sink` in step with a collection; the answer becomes true when the first list is in.
    fn follow<T: Watched>(
        &self,
        source: Source,
        sink: impl Sink<T> + 'static,
    ) -> watch::Receiver<bool> {
        let (announce, synced) = watch::channel(false);
        self.tasks
            .spawn(source.run(Announcing { sink, announce }, self.stop.clone()));
        synced
    }

    /// Does `action` every `period`, first after one.
    fn every(&self, period: Duration, action: impl Fn() + Send + 'static) {
        let (clock, stop) = (self.clock.clone(), self.stop.clone());
        self.tasks.spawn(async move {
            loop {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return,
                    () = clock.sleep(period) => action(),
                }
            }
        });
    }
}

/// A sink that tells when it has taken its first list.
struct Announcing<S> {
    sink: S,
    announce: watch::Sender<bool>,
}

impl<T, S: Sink<T>> Sink<T> for Announcing<S> {
    fn take(&mut self, change: Change<T>, version: &str) {
        let listed = matches!(change, Change::Replaced(_));
        self.sink.take(change, version);
        if listed {
            self.announce.send_replace(true);
        }
    }
}

/// Waits until both are true. A sender that is gone never becomes true, and the caller is being stopped.
async fn both(mut one: watch::Receiver<bool>, mut other: watch::Receiver<bool>) {
    for receiver in [&mut one, &mut other] {
        if receiver.wait_for(|synced| *synced).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// One worker: runs what is due, one at a time, until the queue is closed.
async fn work(queue: WorkQueue<ObjectKey>, reconciler: Arc<Reconciler>) {
    while let Some(run) = queue.get().await {
        let next = reconciler.sync(&run.key).await;
        queue.done(&run.key, next);
    }
    tracing::info!("Horizontal Pod Autoscaler controller worker shutting down");
}

#[cfg(test)]
mod tests;
