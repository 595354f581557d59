//! The loop against a scripted server: gaps, expiry, bad objects, silence.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::*;
use crate::scripted::{Scripted, failure};

const PATH: &str = "/things";

/// A name; an object named `bad` cannot be read.
struct Thing(String);

impl Watched for Thing {
    fn decode(text: &str) -> Result<Self, serde_json::Error> {
        let value: Value = serde_json::from_str(text)?;
        match value["metadata"]["name"].as_str() {
            Some(name) if name != "bad" => Ok(Self(name.to_owned())),
            _ => Err(serde::de::Error::custom("no name")),
        }
    }
}

/// Writes down what it takes.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Sink<Thing> for Log {
    fn take(&mut self, change: Change<Thing>, version: &str) {
        let line = match change {
            Change::Replaced(things) => {
                format!(
                    "={}",
                    things
                        .iter()
                        .map(|thing| thing.0.as_str())
                        .collect::<Vec<_>>()
                        .join(",")
                )
            }
            Change::Applied(thing) => format!("+{}", thing.0),
            Change::Deleted(thing) => format!("-{}", thing.0),
            Change::Reached => ".".to_owned(),
        };
        self.0
            .lock()
            .expect("unpoisoned")
            .push(format!("{line}@{version}"));
    }
}

fn thing(name: &str, version: &str) -> Value {
    json!({"metadata": {"name": name, "resourceVersion": version}})
}

fn list(names: &[&str], version: &str) -> Value {
    let items: Vec<_> = names.iter().map(|name| thing(name, version)).collect();
    json!({"metadata": {"resourceVersion": version}, "items": items})
}

struct Loop {
    server: Scripted,
    log: Log,
    clock: Clock,
    stop: CancellationToken,
}

impl Loop {
    /// Starts the loop over `server` and waits until it is idle.
    async fn start(server: Scripted) -> Self {
        let (clock, log, stop) = (
            Clock::starting_at(0),
            Log::default(),
            CancellationToken::new(),
        );
        let source = Source::new(
            server.client(&clock),
            clock.clone(),
            PATH.to_owned(),
            "things",
        );
        tokio::spawn(source.run(log.clone(), stop.clone()));
        let this = Self {
            server,
            log,
            clock,
            stop,
        };
        this.settle().await;
        this
    }

    async fn settle(&self) {
        self.clock.sleep(Duration::from_millis(1)).await;
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.0.lock().expect("unpoisoned"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_is_followed_by_a_watch_from_its_version() {
    let server = Scripted::default();
    server.serve("GET /things", list(&["a", "bad", "b"], "7"));
    let this = Loop::start(server).await;
    this.server.send(PATH, "ADDED", &thing("c", "8"));
    this.server.send(PATH, "ADDED", &thing("bad", "9"));
    this.server.send(PATH, "DELETED", &thing("a", "10"));
    this.server.send(PATH, "BOOKMARK", &thing("", "11"));
    this.settle().await;
    assert_eq!(this.taken(), ["=a,b@7", "+c@8", "-a@10", ".@11"]);
}

#[tokio::test(start_paused = true)]
async fn pages_are_put_together() {
    let server = Scripted::default();
    let first = json!({"metadata": {"resourceVersion": "7", "continue": "more"}, "items": [thing("a", "1")]});
    server.serve("GET /things?limit=500", first);
    server.serve("GET /things?limit=500&continue=more", list(&["b"], "7"));
    assert_eq!(Loop::start(server).await.taken(), ["=a,b@7"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_goes_on_from_the_last_version() {
    let server = Scripted::default();
    server.serve("GET /things", list(&[], "7"));
    let this = Loop::start(server).await;
    this.server.send(PATH, "ADDED", &thing("a", "8"));
    this.clock.sleep(Duration::from_mins(1)).await;
    this.server.requests();
    this.server.end_watch(PATH);
    this.settle().await;
    assert_eq!(
        this.server.requests(),
        ["GET /things?watch=true&allowWatchBookmarks=true&resourceVersion=8&timeoutSeconds=290"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_expired_version_leads_to_a_new_list() {
    let server = Scripted::default();
    server.serve("GET /things", list(&["a"], "7"));
    let this = Loop::start(server).await;
    this.server.serve("GET /things", list(&["b"], "900"));
    let expired = failure(410, "Expired", "too old resource version: 7 (899)");
    this.server.send(PATH, "ERROR", &expired);
    this.clock.sleep(Duration::from_secs(1)).await;
    assert_eq!(this.taken(), ["=a@7", "=b@900"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_is_asked_again_after_growing_waits() {
    let server = Scripted::default();
    server.answer("GET /things", 500, json!("no"));
    let this = Loop::start(server).await;
    let mut times = Vec::new();
    for _ in 0..90_000 {
        if !this.server.requests().is_empty() {
            times.push(this.clock.now_ms());
        }
        this.settle().await;
    }
    assert_eq!(times, [1, 801, 2401, 5601, 12001, 24801, 50401, 80401]);
    this.server.serve("GET /things", list(&["a"], "1"));
    this.clock.sleep(Duration::from_secs(30)).await;
    assert_eq!(this.taken(), ["=a@1"]);
}

#[tokio::test(start_paused = true)]
async fn the_loop_ends_when_it_is_told_to() {
    let server = Scripted::default();
    server.serve("GET /things", list(&[], "7"));
    let this = Loop::start(server).await;
    this.stop.cancel();
    this.settle().await;
    this.server.requests();
    this.clock.sleep(Duration::from_hours(1)).await;
    assert_eq!(this.server.requests(), [] as [&str; 0]);
}
