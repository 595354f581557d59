//! Elections against a scripted server.

use super::*;
use crate::scripted::{Scripted, failure};

const ALL: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

fn candidate(server: &Scripted, clock: &Clock) -> Candidate {
    let settings = LeaseSettings::new("kube-system", "flyball", "me");
    Candidate::new(server.client(clock), clock.clone(), settings)
}

fn lease(holder: &str, renewed: &str) -> Value {
    json!({"metadata": {"name": "flyball", "resourceVersion": "3"}, "spec": {
        "holderIdentity": holder, "renewTime": renewed, "acquireTime": "then", "leaseTransitions": 4}})
}

/// A server whose Lease is held like this.
fn held(holder: &str) -> (Scripted, Clock) {
    let server = Scripted::default();
    server.serve(&format!("GET {ALL}/flyball"), lease(holder, "t0"));
    server.serve(&format!("PUT {ALL}/flyball"), lease("me", "t1"));
    (server, Clock::starting_at(0))
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_does_not_exist_is_made() {
    let (server, clock) = (Scripted::default(), Clock::starting_at(0));
    server.serve(&format!("POST {ALL}"), lease("me", "t1"));
    assert!(
        candidate(&server, &clock)
            .acquire(&CancellationToken::new())
            .await
    );
    let sent = &server.bodies()[0];
    assert_eq!(sent["spec"]["holderIdentity"], "me");
    assert_eq!(sent["spec"]["leaseTransitions"], 0);
    assert_eq!(sent["spec"]["renewTime"], "1970-01-01T00:00:00.000000Z");
}

#[tokio::test(start_paused = true)]
async fn a_free_lease_is_taken_at_once_and_a_silent_holder_after_its_duration() {
    let (server, clock) = held("");
    assert!(
        candidate(&server, &clock)
            .acquire(&CancellationToken::new())
            .await
    );
    assert_eq!(clock.now_ms(), 0);

    let (server, clock) = held("other");
    assert!(
        candidate(&server, &clock)
            .acquire(&CancellationToken::new())
            .await
    );
    assert_eq!(
        clock.now_ms(),
        16_000,
        "the first attempt after 15 s of silence"
    );
    let sent = &server.bodies()[0];
    assert_eq!(sent["spec"]["leaseTransitions"], 5);
    assert_eq!(sent["metadata"]["resourceVersion"], "3");
}

#[tokio::test(start_paused = true)]
async fn a_holder_that_renews_is_not_replaced() {
    let (server, clock) = held("other");
    let stop = CancellationToken::new();
    let mut candidate = candidate(&server, &clock);
    let waiting = tokio::spawn({
        let stop = stop.clone();
        async move { candidate.acquire(&stop).await }
    });
    for renewal in 1..10 {
        clock.sleep(Duration::from_secs(10)).await;
        server.serve(
            &format!("GET {ALL}/flyball"),
            lease("other", &format!("t{renewal}")),
        );
    }
    stop.cancel();
    assert!(!waiting.await.expect("no panic"));
}

#[tokio::test(start_paused = true)]
async fn a_leader_keeps_its_acquisition_and_releases_on_stop() {
    let (server, clock) = held("me");
    let stop = CancellationToken::new();
    let mut leader = candidate(&server, &clock);
    assert!(leader.acquire(&stop).await);
    let sent = server.bodies();
    assert_eq!(
        (
            &sent[0]["spec"]["acquireTime"],
            &sent[0]["spec"]["leaseTransitions"]
        ),
        (&json!("then"), &json!(4))
    );
    stop.cancel();
    assert_eq!(leader.hold(&stop).await, Ended::Stopped);
    assert_eq!(server.bodies()[0]["spec"]["holderIdentity"], "");
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_cannot_renew_loses_after_the_deadline() {
    let (server, clock) = held("me");
    let stop = CancellationToken::new();
    let mut leader = candidate(&server, &clock);
    assert!(leader.acquire(&stop).await);
    server.answer(&format!("GET {ALL}/flyball"), 500, json!("down"));
    assert_eq!(leader.hold(&stop).await, Ended::Lost);
    assert_eq!(clock.now_ms(), 10_000);
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_was_replaced_loses_at_once() {
    let (server, clock) = held("me");
    let stop = CancellationToken::new();
    let mut leader = candidate(&server, &clock);
    assert!(leader.acquire(&stop).await);
    server.serve(&format!("GET {ALL}/flyball"), lease("other", "t9"));
    assert_eq!(leader.hold(&stop).await, Ended::Lost);
    let conflict = failure(409, "Conflict", "modified");
    server.answer(&format!("PUT {ALL}/flyball"), 409, conflict);
    assert_eq!(clock.now_ms(), 2_000);
}
