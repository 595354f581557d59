//! How fast the plane is, and how large: `cargo bench -p flyball-plane`, figures for reading in `docs/benchmarks.md`. Words on
//! the command line choose parts, the last line of each part is the figure. Not here: limits; a busy machine fails nothing.

#![expect(clippy::print_stdout, reason = "what a benchmark is for")]

mod host;
mod watches;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use flyball_clock::Clock;
use flyball_plane::{Config, Plane, Service};
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use tokio::task::JoinSet;

pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// How long a closed loop runs.
const SECONDS: Duration = Duration::from_secs(4);
const PODS: usize = 100_000;

/// A config map of about 1.5 KB, the size of a small Deployment.
pub(crate) fn config_map(name: &str, version: u64) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"app": "bench"}},
        "data": {"version": version.to_string(), "filler": "x".repeat(1100)},
    })
}

fn pod(number: usize) -> Value {
    json!({
        "metadata": {"name": format!("pod-{number:06}"), "labels": {"app": "bench", "tier": "web"}},
        "spec": {"nodeName": "none", "containers": [{
            "name": "web",
            "image": "web:1",
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
        }]},
    })
}

/// One request, answered in full.
pub(crate) async fn ask(
    service: &Service,
    method: &str,
    uri: &str,
    body: &Value,
) -> (StatusCode, Bytes) {
    shaped(service, method, uri, ("application/json", body)).await
}

async fn shaped(
    service: &Service,
    method: &str,
    uri: &str,
    (accept, body): (&str, &Value),
) -> (StatusCode, Bytes) {
    let sent = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let request = Request::builder()
        .method(method)
        .uri(uri)
        .header("content-type", "application/json")
        .header("accept", accept)
        .body(Full::new(Bytes::from(sent)))
        .expect("the request is sound");
    let (parts, body) = service.answer(request).await.into_parts();
    let body = body.collect().await.expect("the answer is whole");
    (parts.status, body.to_bytes())
}

pub(crate) async fn plane(folder: Option<&tempfile::TempDir>) -> Plane {
    let config = match folder {
        Some(folder) => Config::in_folder(folder.path().join("data"), 1),
        None => Config::in_memory(1),
    };
    Plane::open(config, Clock::system())
        .await
        .expect("it opens")
}

/// The value below which `share` of the sorted `times` lie, in milliseconds.
pub(crate) fn percentile(times: &mut [Duration], share: f64) -> f64 {
    times.sort_unstable();
    let index = (times.len() as f64 * share) as usize;
    let time = times.get(index.min(times.len().saturating_sub(1)));
    time.map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

/// Replaces one object again and again until told to stop, and returns how long each took.
async fn overwrite(
    service: Service,
    name: String,
    clock: Clock,
    stop: Arc<AtomicBool>,
) -> Vec<Duration> {
    let (code, _) = ask(&service, "POST", CONFIG_MAPS, &config_map(&name, 0)).await;
    assert_eq!(code, 201);
    let uri = format!("{CONFIG_MAPS}/{name}");
    let mut times = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let start = clock.elapsed();
        let object = config_map(&name, times.len() as u64 + 1);
        let (code, _) = ask(&service, "PUT", &uri, &object).await;
        assert_eq!(code, 200);
        times.push(clock.elapsed().saturating_sub(start));
        // In memory a commit never waits, and the timer has to be looked at.
        tokio::task::yield_now().await;
    }
    times
}

async fn writes(stored: &str, writers: usize) {
    let folder = tempfile::tempdir().expect("there is room");
    let plane = plane((stored == "disk").then_some(&folder)).await;
    let (clock, stop) = (Clock::system(), Arc::new(AtomicBool::new(false)));
    let mut tasks = JoinSet::new();
    for writer in 0..writers {
        let name = format!("bench-{writer}");
        tasks.spawn(overwrite(
            plane.service(),
            name,
            clock.clone(),
            Arc::clone(&stop),
        ));
    }
    let (start, cpu) = (clock.elapsed(), host::cpu());
    clock.sleep(SECONDS).await;
    stop.store(true, Ordering::Relaxed);
    let mut times: Vec<Duration> = tasks.join_all().await.into_iter().flatten().collect();
    let seconds = clock.elapsed().saturating_sub(start).as_secs_f64();
    println!(
        "writes, {stored}, {writers} writers: {:.0}/s, {:.0} us CPU each, p50 {:.2} ms, p99 {:.2} ms",
        times.len() as f64 / seconds,
        host::cpu().saturating_sub(cpu).as_secs_f64() * 1e6 / times.len() as f64,
        percentile(&mut times, 0.5),
        percentile(&mut times, 0.99),
    );
    plane.shutdown().await;
}

/// Readers beside eight writers: how long a GET of one object takes.
async fn latency() {
    let folder = tempfile::tempdir().expect("there is room");
    let plane = plane(Some(&folder)).await;
    let (clock, stop) = (Clock::system(), Arc::new(AtomicBool::new(false)));
    let mut writers = JoinSet::new();
    for writer in 0..8 {
        let name = format!("bench-{writer}");
        writers.spawn(overwrite(
            plane.service(),
            name,
            clock.clone(),
            Arc::clone(&stop),
        ));
    }
    let mut readers = JoinSet::new();
    for reader in 0..8 {
        let (service, clock, stop) = (plane.service(), clock.clone(), Arc::clone(&stop));
        let uri = format!("{CONFIG_MAPS}/bench-{reader}");
        readers.spawn(async move {
            let mut times = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let start = clock.elapsed();
                ask(&service, "GET", &uri, &Value::Null).await;
                times.push(clock.elapsed().saturating_sub(start));
                // A client at a keyboard or a controller, not a second closed loop.
                clock.sleep(Duration::from_millis(1)).await;
            }
            times
        });
    }
    clock.sleep(SECONDS).await;
    stop.store(true, Ordering::Relaxed);
    let written = writers.join_all().await.into_iter().flatten().count();
    let mut times: Vec<Duration> = readers.join_all().await.into_iter().flatten().collect();
    println!(
        "GET beside 8 writers on disk ({:.0} writes/s): p50 {:.3} ms, p99 {:.3} ms, p99.9 {:.3} ms of {}",
        written as f64 / SECONDS.as_secs_f64(),
        percentile(&mut times, 0.5),
        percentile(&mut times, 0.99),
        percentile(&mut times, 0.999),
        times.len(),
    );
    plane.shutdown().await;
}

async fn lists() {
    let plane = plane(None).await;
    let service = plane.service();
    let clock = Clock::system();
    let collection = "/api/v1/namespaces/default/pods";
    let (start, resident) = (clock.elapsed(), host::resident());
    for number in 0..PODS {
        let (code, answer) = ask(&service, "POST", collection, &pod(number)).await;
        assert_eq!(code, 201, "{answer:?}");
    }
    let seconds = clock.elapsed().saturating_sub(start).as_secs_f64();
    println!(
        "pods: {PODS} made at {:.0}/s; {:.1} KB of memory each, history included",
        PODS as f64 / seconds,
        host::resident().saturating_sub(resident) as f64 / 1024.0 / PODS as f64,
    );
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let metadata = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    let json = "application/json";
    for (what, query, accept) in [
        ("all, JSON", "", json),
        ("all, Table", "", table),
        ("all, metadata", "", metadata),
        ("first 500, JSON", "?limit=500", json),
        ("first 500, Table", "?limit=500", table),
        ("one of a selector", "?labelSelector=app%3Dnone", json),
    ] {
        let mut best = Duration::MAX;
        let (mut bytes, mut allocations) = (0, 0);
        for _ in 0..3 {
            let (start, before) = (clock.elapsed(), host::allocations());
            let uri = format!("{collection}{query}");
            let (code, body) = shaped(&service, "GET", &uri, (accept, &Value::Null)).await;
            assert_eq!(code, 200);
            best = best.min(clock.elapsed().saturating_sub(start));
            bytes = body.len();
            allocations = host::allocations() - before;
        }
        println!(
            "list of {PODS} pods, {what}: {:.1} ms, {allocations} allocations, {:.2} MB",
            best.as_secs_f64() * 1000.0,
            bytes as f64 / 1e6,
        );
    }
    plane.shutdown().await;
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let wanted = |part: &str| words.is_empty() || words.iter().any(|word| word == part);
    if wanted("writes") {
        for stored in ["memory", "disk"] {
            for writers in [1, 16, 256] {
                writes(stored, writers).await;
            }
        }
    }
    if wanted("latency") {
        latency().await;
    }
    if wanted("watches") {
        watches::run(100, 1000).await;
        watches::run(1000, 1000).await;
    }
    if wanted("lists") {
        lists().await;
    }
}
