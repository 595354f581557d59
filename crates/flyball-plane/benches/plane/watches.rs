//! Watchers of one collection while it changes at a steady rate: the lag from the request of a change to each watcher's event,
//! and the CPU time of an event. Not here: clients over sockets.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use flyball_clock::Clock;
use flyball_plane::Service;
use http::Request;
use http_body_util::{BodyExt as _, Empty};
use tokio::task::JoinSet;

use super::{CONFIG_MAPS, ask, config_map, host, percentile, plane};

/// How long it goes on.
const SECONDS: u64 = 5;
/// Objects that change in turn.
const OBJECTS: u64 = 50;

/// When the request of each change was begun, by number.
type Begun = Arc<Mutex<Vec<Duration>>>;

/// Reads `count` events and returns the lag of every tenth.
async fn follow(
    service: Service,
    revision: String,
    count: usize,
    (clock, begun): (Clock, Begun),
) -> Vec<Duration> {
    let uri = format!("{CONFIG_MAPS}?watch=1&resourceVersion={revision}");
    let request = Request::get(uri)
        .body(Empty::<Bytes>::new())
        .expect("it is sound");
    let mut body = service.answer(request).await.into_body();
    let mut lags = Vec::with_capacity(count / 10);
    for number in 0..count {
        let frame = body
            .frame()
            .await
            .expect("the watch goes on")
            .expect("it does not fail");
        assert!(
            frame.data_ref().is_some_and(|line| line.len() > 1000),
            "an event, no error"
        );
        if number % 10 == 0 {
            let begun = begun.lock().expect("nobody panics")[number];
            lags.push(clock.elapsed().saturating_sub(begun));
        }
    }
    lags
}

/// `watchers` of `rate` changes a second.
pub(crate) async fn run(watchers: usize, rate: u64) {
    let plane = plane(None).await;
    let service = plane.service();
    for object in 0..OBJECTS {
        let (code, _) = ask(
            &service,
            "POST",
            CONFIG_MAPS,
            &config_map(&format!("c-{object}"), 0),
        )
        .await;
        assert_eq!(code, 201);
    }
    let list = ask(
        &service,
        "GET",
        &format!("{CONFIG_MAPS}?limit=1"),
        &serde_json::Value::Null,
    )
    .await;
    let list: serde_json::Value = serde_json::from_slice(&list.1).expect("it is JSON");
    let revision = list["metadata"]["resourceVersion"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let (clock, begun) = (Clock::system(), Begun::default());
    let count = (rate * SECONDS) as usize;
    let mut tasks = JoinSet::new();
    for _ in 0..watchers {
        let told = (clock.clone(), Arc::clone(&begun));
        tasks.spawn(follow(plane.service(), revision.clone(), count, told));
    }
    let (start, cpu) = (clock.elapsed(), host::cpu());
    for number in 0..rate * SECONDS {
        let due = start + Duration::from_micros(number * 1_000_000 / rate);
        clock.sleep(due.saturating_sub(clock.elapsed())).await;
        begun.lock().expect("nobody panics").push(clock.elapsed());
        let name = format!("c-{}", number % OBJECTS);
        let (code, _) = ask(
            &service,
            "PUT",
            &format!("{CONFIG_MAPS}/{name}"),
            &config_map(&name, number + 1),
        )
        .await;
        assert_eq!(code, 200);
    }
    let written = clock.elapsed().saturating_sub(start).as_secs_f64();
    let mut lags: Vec<Duration> = tasks.join_all().await.into_iter().flatten().collect();
    let told = clock.elapsed().saturating_sub(start).as_secs_f64();
    println!(
        "{watchers} watchers of {rate} changes/s asked, {:.0}/s written, all told after {told:.1} s of {SECONDS}: \
         {:.2} us CPU an event, lag p50 {:.1} ms, p99 {:.1} ms",
        count as f64 / written,
        host::cpu().saturating_sub(cpu).as_secs_f64() * 1e6 / (count * watchers) as f64,
        percentile(&mut lags, 0.5),
        percentile(&mut lags, 0.99),
    );
    plane.shutdown().await;
}
