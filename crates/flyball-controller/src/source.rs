//! A list/watch loop: keeps a sink in step with a collection of the API server, whatever happens to the connection.
//! Not here: what is done with the objects.
//!
//! Source: client-go tools/cache/reflector.go, v0.37.2, without its jitter. **Invariant:** the loop ends only when it
//! is told to; every failure is a wait and another try.

use std::borrow::Cow;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use flyball_clock::Clock;
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::api_client::{ApiClient, Call};
use crate::api_error::{ApiError, Asked, WireStatus};
use crate::path;
use crate::transport::Body;

/// Objects per page of a list.
const PAGE: &str = "500";
/// How long a watch is asked to last; the server ends it, and the loop opens the next.
const WATCH_SECONDS: &str = "290";
/// First wait after a failure, doubled up to [`BACKOFF_MAX`]; the reflector's figures.
const BACKOFF_FIRST: Duration = Duration::from_millis(800);
const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// **Bound:** a watch whose next frame is longer than this is given up.
const FRAME_MAX: usize = 32 << 20;

/// An object that can be watched.
pub trait Watched: Sized + Send + 'static {
    /// Reads the object from its JSON form.
    fn decode(json: &str) -> Result<Self, serde_json::Error>;
}

/// What happens to a collection. Every change carries the resourceVersion it leads to.
#[derive(Debug)]
pub enum Change<T> {
    /// The collection as a whole, at the start and after a gap.
    Replaced(Vec<T>),
    /// An object appeared or changed.
    Applied(T),
    /// An object went away; this was its last form.
    Deleted(T),
    /// Nothing, up to here.
    Reached,
}

/// Where changes go.
pub trait Sink<T>: Send {
    /// Takes a change that leads to `version`.
    fn take(&mut self, change: Change<T>, version: &str);
}

/// The loop of one collection.
#[derive(Debug)]
pub struct Source {
    client: ApiClient,
    clock: Clock,
    path: String,
    resource: String,
}

/// Why a round of listing and watching ended.
#[derive(Debug, Error)]
enum RoundError {
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error("the watch broke off: {0}")]
    Broken(tower::BoxError),
    #[error("a frame of the watch cannot be read: {0}")]
    Frame(serde_json::Error),
    #[error("a frame of the watch exceeds {FRAME_MAX} bytes")]
    FrameTooLong,
}

impl RoundError {
    fn is_expired(&self) -> bool {
        matches!(self, Self::Api(error) if error.is_expired())
    }
}

impl Source {
    /// A loop over the collection at `path`, which error texts call `resource`.
    pub fn new(client: ApiClient, clock: Clock, path: String, resource: &str) -> Self {
        Self {
            client,
            clock,
            path,
            resource: resource.to_owned(),
        }
    }

    /// Keeps `sink` in step until `stop`.
    pub async fn run<T: Watched>(self, sink: impl Sink<T>, stop: CancellationToken) {
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = self.follow(sink) => {}
        }
    }

    async fn follow<T: Watched>(self, mut sink: impl Sink<T>) {
        let mut backoff = BACKOFF_FIRST;
        let mut version = None;
        loop {
            let started_ms = self.clock.now_ms();
            let result = match version.take() {
                None => self.list(&mut sink).await,
                Some(at) => self.watch(&mut sink, at).await,
            };
            match result {
                Ok(reached) => {
                    // A server that ends each watch at once must not be asked in a hot loop.
                    let brief = self.clock.now_ms() - started_ms < 1000 && reached.watched;
                    version = Some(reached.version);
                    if !brief {
                        backoff = BACKOFF_FIRST;
                        continue;
                    }
                }
                Err((error, at)) => {
                    tracing::warn!(resource = self.resource, %error, "list or watch failed, will retry");
                    version = at.filter(|_| !error.is_expired());
                }
            }
            self.clock.sleep(backoff).await;
            backoff = (backoff * 2).min(BACKOFF_MAX);
        }
    }

    async fn list<T: Watched>(&self, sink: &mut impl Sink<T>) -> Result<Reached, Failed> {
        let mut items = Vec::new();
        let mut token = String::new();
        loop {
            let pairs = [("limit", PAGE), ("continue", token.as_str())];
            let path = path::with_query(self.path.clone(), &pairs);
            let body = self.client.call(Call::get(&path, self.asked())).await;
            let body = body.map_err(|error| (error.into(), None))?;
            let page: Page<'_> =
                serde_json::from_slice(&body).map_err(|error| (RoundError::Frame(error), None))?;
            items.extend(page.items.iter().filter_map(|item| self.decode(item)));
            token = page.metadata.token.unwrap_or_default().into_owned();
            if token.is_empty() {
                let version = page.metadata.resource_version.into_owned();
                sink.take(Change::Replaced(items), &version);
                return Ok(Reached {
                    version,
                    watched: false,
                });
            }
        }
    }

    async fn watch<T: Watched>(
        &self,
        sink: &mut impl Sink<T>,
        from: String,
    ) -> Result<Reached, Failed> {
        let pairs = [
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("resourceVersion", from.as_str()),
            ("timeoutSeconds", WATCH_SECONDS),
        ];
        let path = path::with_query(self.path.clone(), &pairs);
        let body = self.client.stream(&path, self.asked()).await;
        let mut frames = Frames::new(body.map_err(|error| (error.into(), Some(from.clone())))?);
        let mut version = from;
        loop {
            let taken = match frames.next().await {
                Ok(None) => {
                    return Ok(Reached {
                        version,
                        watched: true,
                    });
                }
                Ok(Some(line)) => self.take(sink, &line),
                Err(error) => Err(error),
            };
            match taken {
                Ok(Some(at)) => version = at,
                Ok(None) => {}
                Err(error) => return Err((error, Some(version))),
            }
        }
    }

    /// Hands one frame on; returns the version it leads to.
    fn take<T: Watched>(
        &self,
        sink: &mut impl Sink<T>,
        line: &[u8],
    ) -> Result<Option<String>, RoundError> {
        let frame: Frame<'_> = serde_json::from_slice(line).map_err(RoundError::Frame)?;
        if frame.kind == "ERROR" {
            let status: WireStatus =
                serde_json::from_str(frame.object.get()).map_err(RoundError::Frame)?;
            return Err(ApiError::from(status).into());
        }
        let partial: Partial<'_> =
            serde_json::from_str(frame.object.get()).map_err(RoundError::Frame)?;
        let version = partial.metadata.resource_version.into_owned();
        let change = match frame.kind.as_ref() {
            "ADDED" | "MODIFIED" => self.decode(frame.object).map(Change::Applied),
            "DELETED" => self.decode(frame.object).map(Change::Deleted),
            "BOOKMARK" => Some(Change::Reached),
            _ => None,
        };
        let Some(change) = change else {
            return Ok(None);
        };
        sink.take(change, &version);
        Ok(Some(version))
    }

    /// An object that cannot be read is left out, so that one bad object does not hide the others.
    fn decode<T: Watched>(&self, json: &RawValue) -> Option<T> {
        let decoded = T::decode(json.get());
        if let Err(error) = &decoded {
            tracing::error!(resource = self.resource, %error, "object left out, it cannot be read");
        }
        decoded.ok()
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            resource: &self.resource,
            name: "",
        }
    }
}

/// How far a round came.
struct Reached {
    version: String,
    watched: bool,
}

/// A failed round and the version from which a watch can go on.
type Failed = (RoundError, Option<String>);

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    metadata: PageMeta<'a>,
    #[serde(borrow, default)]
    items: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageMeta<'a> {
    #[serde(borrow, default)]
    resource_version: Cow<'a, str>,
    #[serde(borrow, default, rename = "continue")]
    token: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Partial<'a> {
    #[serde(borrow)]
    metadata: PageMeta<'a>,
}

/// The lines of a watch.
struct Frames {
    body: Body,
    buffer: BytesMut,
}

impl Frames {
    fn new(body: Body) -> Self {
        Self {
            body,
            buffer: BytesMut::new(),
        }
    }

    /// The next line that is not blank; `None` when the watch ended.
    async fn next(&mut self) -> Result<Option<Bytes>, RoundError> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(end + 1).freeze();
                if !line.trim_ascii().is_empty() {
                    return Ok(Some(line));
                }
                continue;
            }
            if self.buffer.len() > FRAME_MAX {
                return Err(RoundError::FrameTooLong);
            }
            match self.body.frame().await {
                None if self.buffer.trim_ascii().is_empty() => return Ok(None),
                None => return Ok(Some(self.buffer.split().freeze())),
                Some(Err(error)) => return Err(RoundError::Broken(error)),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
