//! Whether a connection is of use: a client that sends nothing keeps its place only for a while.
//! Source: `IdleTimeout` of apiserver/pkg/server/secure_serving.go. Not here: clients that send slowly (`super`).

use std::future::pending;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::watch;

use super::PATIENCE;
use crate::respond::{Body, BoxError};

/// How long a connection may rest between requests. Upstream: `IdleTimeout`, 90 s.
const IDLE: Duration = Duration::from_secs(90);

#[derive(Clone, Copy, Debug, Default)]
struct Beat {
    /// Requests that have begun.
    begun: u64,
    /// Requests whose answer has not been sent to its end; a watch is one as long as it lasts.
    open: u64,
}

/// The requests of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Pulse(watch::Sender<Beat>);

/// A request that has not ended.
#[derive(Debug)]
pub(super) struct Open(watch::Sender<Beat>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.send_modify(|beat| beat.open -= 1);
    }
}

impl Open {
    /// The request ends with its answer.
    pub(super) fn until_sent(self, body: Body) -> Body {
        Body::new(Sent { body, _open: self })
    }
}

/// An answer that keeps its request open.
struct Sent {
    body: Body,
    _open: Open,
}

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Pulse {
    /// A request begins.
    pub(super) fn begin(&self) -> Open {
        self.0.send_modify(|beat| {
            beat.begun += 1;
            beat.open += 1;
        });
        Open(self.0.clone())
    }

    /// Ends when there has been no request for too long.
    pub(super) async fn stopped(&self) {
        let mut beats = self.0.subscribe();
        loop {
            let beat = *beats.borrow_and_update();
            let rest = if beat.begun == 0 { PATIENCE } else { IDLE };
            let waited = async {
                if beat.open > 0 {
                    pending::<()>().await;
                }
                tokio::time::sleep(rest).await;
            };
            tokio::select! {
                biased;
                // The sender is `self`, so there is one.
                _ = beats.changed() => {}
                () = waited => return,
            }
        }
    }
}
