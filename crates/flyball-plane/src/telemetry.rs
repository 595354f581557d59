//! What the API tells of itself at `/metrics`: how many requests of what kind ended how, and how long they took.
//! Source: apiserver endpoints/metrics/metrics.go: names, labels and buckets. Not here: the metrics of pods (`metrics_api`).

use std::sync::Arc;
use std::time::Duration;

use flyball_clock::Clock;
use http::{Method, Response};
use http_body_util::BodyExt as _;
use prometheus::{
    HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
};

use crate::request::Query;
use crate::respond::Body;

/// The media type of the text, as upstream's.
pub(crate) const MEDIA_TYPE: &str =
    "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
/// Upstream's buckets of request durations, in seconds.
const SECONDS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0,
    10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
];
const SUBSYSTEM: &str = "apiserver";

/// What a request is about, in upstream's labels. All values are from the finite sets of what is served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Labels {
    pub(crate) verb: &'static str,
    pub(crate) dry_run: &'static str,
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) resource: String,
    pub(crate) subresource: String,
    pub(crate) scope: &'static str,
    /// `apiserver` for objects, nothing for other paths.
    pub(crate) component: &'static str,
}

impl Labels {
    /// All but `dry_run`, in the order of the long-running requests.
    fn without_dry_run(&self) -> [&str; 7] {
        [
            self.verb,
            &self.group,
            &self.version,
            &self.resource,
            &self.subresource,
            self.scope,
            self.component,
        ]
    }

    fn all(&self) -> [&str; 8] {
        let [
            verb,
            group,
            version,
            resource,
            subresource,
            scope,
            component,
        ] = self.without_dry_run();
        [
            verb,
            self.dry_run,
            group,
            version,
            resource,
            subresource,
            scope,
            component,
        ]
    }
}

/// The label of a method; what is no method of ours is counted together, as a client may send any word. Upstream: `cleanVerb`.
pub(crate) fn verb(method: &Method, scope: &str) -> &'static str {
    match method.as_str() {
        "GET" | "HEAD" if !["resource", ""].contains(&scope) => "LIST",
        "GET" | "HEAD" => "GET",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        _ => "other",
    }
}

/// The label of `dryRun`. Upstream: `cleanDryRun`.
pub(crate) fn dry_run(query: &Query) -> &'static str {
    match query.all("dryRun").as_slice() {
        [] => "",
        words if words.iter().all(|word| *word == "All") => "All",
        _ => "invalid",
    }
}

/// The counters.
#[derive(Debug)]
pub(crate) struct Telemetry {
    registry: Registry,
    clock: Clock,
    requests: IntCounterVec,
    seconds: HistogramVec,
    reading: IntGauge,
    mutating: IntGauge,
    long_running: IntGaugeVec,
    watch_events: IntCounterVec,
}

impl Telemetry {
    pub(crate) fn new(clock: Clock) -> Arc<Self> {
        Arc::new(Self::register(clock).expect("the names and labels are constants that fit"))
    }

    fn register(clock: Clock) -> prometheus::Result<Self> {
        let in_flight = IntGaugeVec::new(
            options(
                "current_inflight_requests",
                "[STABLE] Requests at work now, per request kind.",
            ),
            &["request_kind"],
        )?;
        let telemetry = Self {
            registry: Registry::new(),
            clock,
            requests: IntCounterVec::new(
                options("request_total", "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code."),
                &["verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component", "code"],
            )?,
            seconds: HistogramVec::new(
                HistogramOpts::new("request_duration_seconds", "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.")
                    .subsystem(SUBSYSTEM)
                    .buckets(SECONDS.to_vec()),
                &["verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"],
            )?,
            reading: in_flight.with_label_values(&["readOnly"]),
            mutating: in_flight.with_label_values(&["mutating"]),
            long_running: IntGaugeVec::new(
                options("longrunning_requests", "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way."),
                &["verb", "group", "version", "resource", "subresource", "scope", "component"],
            )?,
            watch_events: IntCounterVec::new(
                options("watch_events_total", "[BETA] Number of events sent in watch clients"),
                &["group", "version", "resource"],
            )?,
        };
        let registry = &telemetry.registry;
        registry.register(Box::new(in_flight))?;
        registry.register(Box::new(telemetry.requests.clone()))?;
        registry.register(Box::new(telemetry.seconds.clone()))?;
        registry.register(Box::new(telemetry.long_running.clone()))?;
        registry.register(Box::new(telemetry.watch_events.clone()))?;
        Ok(telemetry)
    }

    /// Everything counted so far, in Prometheus' text form.
    pub(crate) fn text(&self) -> String {
        TextEncoder::new()
            .encode_to_string(&self.registry.gather())
            .unwrap_or_default()
    }

    /// A request begins that is answered at once. It counts as at work until what is returned is dropped.
    pub(crate) fn at_work(&self, method: &Method) -> AtWork {
        let gauge = if matches!(method.as_str(), "GET" | "HEAD") {
            &self.reading
        } else {
            &self.mutating
        };
        gauge.inc();
        AtWork(gauge.clone())
    }

    /// The time, to be told to [`Self::ended`].
    pub(crate) fn now(&self) -> Duration {
        self.clock.elapsed()
    }

    /// A request that began at `began` was answered with `code`.
    pub(crate) fn ended(&self, labels: &Labels, began: Duration, code: u16) {
        let code = code.to_string();
        let all = labels.all();
        let counted: Vec<&str> = all.iter().copied().chain([code.as_str()]).collect();
        self.requests.with_label_values(&counted).inc();
        self.seconds
            .with_label_values(&all)
            .observe(self.now().saturating_sub(began).as_secs_f64());
    }

    /// Counts the events of a watch that goes on, and the watch itself when it ends.
    pub(crate) fn watched(
        self: &Arc<Self>,
        labels: Labels,
        began: Duration,
        answer: Response<Body>,
    ) -> Response<Body> {
        let events = self.watch_events.with_label_values(&[
            labels.group.as_str(),
            labels.version.as_str(),
            labels.resource.as_str(),
        ]);
        let open = self
            .long_running
            .with_label_values(&labels.without_dry_run());
        open.inc();
        let guard = Watched {
            telemetry: Arc::clone(self),
            labels,
            began,
            open,
        };
        answer.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _held = &guard;
                events.inc();
                frame
            }))
        })
    }
}

/// A request at work.
#[derive(Debug)]
pub(crate) struct AtWork(IntGauge);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// An open watch.
struct Watched {
    telemetry: Arc<Telemetry>,
    labels: Labels,
    began: Duration,
    open: IntGauge,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.open.dec();
        self.telemetry.ended(&self.labels, self.began, 200);
    }
}

fn options(name: &str, help: &str) -> Opts {
    Opts::new(name, help).subsystem(SUBSYSTEM)
}
