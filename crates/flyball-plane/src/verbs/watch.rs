//! WATCH: a stream of changes from a revision on, with bookmarks. Source: apiserver handlers/{get,watch}.go,
//! storage/cacher/{cacher,cache_watcher}.go. A watcher holds no queue of its own: once it has told the
//! objects there were at its start, it reads the store's history from where it is, so that its memory is bounded by one read,
//! and it is told 410 when the history has moved past it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flyball_clock::UnixMs;
use futures::stream;
use http::Response;
use http_body::Frame;
use http_body_util::StreamBody;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::list::Choice;
use super::{Call, Content};
use crate::body::invalid_options;
use crate::field::{self, FieldError};
use crate::negotiation::{Encoding, Shape};
use crate::object;
use crate::refusal::Refusal;
use crate::respond::{self, Body, BoxError};
use crate::store::{Action, Event, Revision};
use crate::table::Headers;

/// Changes read from the history at once.
const READ_MAX: usize = 256;
/// How often an idle watcher that asked for bookmarks gets one. Upstream: `defaultBookmarkFrequency`.
const BOOKMARK_EVERY: Duration = Duration::from_mins(1);
/// How long a watch lasts that does not say. Upstream: `MinRequestTimeout`, 1800 s and up to as much again at random.
const TIMEOUT_DEFAULT: Duration = Duration::from_mins(30);
/// Marks the bookmark after the initial events. Upstream: `InitialEventsAnnotationKey`.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// Whether bookmarks are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bookmarks {
    None,
    Periodic,
    /// The next one says that the initial events are complete.
    EndOfInitialEvents,
}

struct Watcher {
    call: Call,
    choice: Choice,
    cursor: Revision,
    pending: VecDeque<Bytes>,
    changed: watch::Receiver<Revision>,
    bookmarks: Bookmarks,
    /// The version of the objects, when they are told as they are and in JSON, as most watchers have it.
    common: Option<Arc<str>>,
    /// Tables tell their columns once.
    headers: Headers,
    next_bookmark_ms: UnixMs,
    end_ms: UnixMs,
    ended: bool,
    _permit: OwnedSemaphorePermit,
}

impl Call {
    pub(super) fn watch(self) -> Result<Response<Body>, Refusal> {
        let permit = Arc::clone(&self.api.watches)
            .try_acquire_owned()
            .map_err(|_| Refusal::too_many_requests())?;
        let initial = self.initial_events()?;
        let mut choice = self.choice()?;
        if let Some(name) = &self.path.name {
            // The deprecated path of an object is its collection with the name as a selector.
            choice.keep_name(name)?;
        }
        let watcher = self.watcher(choice, initial, permit)?;
        let frames = stream::unfold(watcher, |mut watcher| async move {
            let bytes = watcher.next().await?;
            Some((Ok::<_, BoxError>(Frame::data(bytes)), watcher))
        });
        Ok(respond::stream(Body::new(StreamBody::new(frames))))
    }

    fn watcher(
        self,
        choice: Choice,
        initial: bool,
        permit: OwnedSemaphorePermit,
    ) -> Result<Watcher, Refusal> {
        // Upstream reads the numbers it has no use for in a watch as well.
        self.number("limit")?;
        let timeout = match self.number("timeoutSeconds")? {
            Some(seconds) => Duration::from_secs(seconds as u64),
            None => TIMEOUT_DEFAULT,
        };
        let asked = self.query.get("resourceVersion").map(str::to_owned);
        let changed = self.api.registry.store.subscribe(&self.kind.stored);
        let now_ms = self.api.registry.clock.now_ms();
        let bookmarks = match (
            self.query.flag("allowWatchBookmarks"),
            initial && !self.is_deprecated_path(),
        ) {
            (false, _) => Bookmarks::None,
            (true, false) => Bookmarks::Periodic,
            (true, true) => Bookmarks::EndOfInitialEvents,
        };
        let is_common = self.form.shape == Shape::Object && self.form.encoding == Encoding::Json;
        let api_version = self.kind.api_version(&self.version.name);
        let mut watcher = Watcher {
            common: is_common.then(|| api_version.into()),
            choice,
            cursor: 0,
            pending: VecDeque::new(),
            changed,
            bookmarks,
            headers: Headers::Shown,
            next_bookmark_ms: now_ms.saturating_add(millis(BOOKMARK_EVERY)),
            end_ms: now_ms.saturating_add(millis(timeout)),
            ended: false,
            _permit: permit,
            call: self,
        };
        let asked = asked.map(|asked| {
            asked.parse::<Revision>().map_err(|_| {
                Refusal::unknown(format!("resourceVersion: Invalid value: {asked:?}: strconv.ParseUint: parsing {asked:?}: invalid syntax"))
            })
        });
        match asked.transpose()? {
            Some(asked) if !initial && asked > 0 => watcher.cursor = asked,
            _ => watcher.start(initial),
        }
        Ok(watcher)
    }

    /// Whether the watch begins with the objects there are.
    fn initial_events(&self) -> Result<bool, Refusal> {
        if self.is_deprecated_path() {
            // Upstream looks at the options before it knows from the path that this is a watch.
            self.check_list_rules()?;
            return Ok(self.begins_anywhere());
        }
        let asked = self.query.get("sendInitialEvents");
        let errors = self.watch_rules();
        if !errors.is_empty() {
            return Err(invalid_options("ListOptions", &errors));
        }
        Ok(match asked {
            Some(_) => self.query.flag("sendInitialEvents"),
            None => self.begins_anywhere(),
        })
    }

    /// The path alone says that this is a watch. Upstream sees the options of a list in it until late, and tells no end of the
    /// initial events.
    fn is_deprecated_path(&self) -> bool {
        self.path.watched && !self.query.flag("watch")
    }

    /// No revision is named that the watch must begin at.
    fn begins_anywhere(&self) -> bool {
        matches!(self.query.get("resourceVersion"), None | Some("0"))
    }
}

impl Call {
    /// What is wrong with the options of a watch. Source: internalversion/validation `validateWatchOptions`.
    fn watch_rules(&self) -> Vec<FieldError> {
        const FIELD: &str = "resourceVersionMatch";
        const ONLY: &str = "NotOlderThan";
        let mut rule = self.query.get(FIELD);
        let mut asks = self.query.get("sendInitialEvents").is_some();
        if rule.is_none() && !asks && self.begins_anywhere() {
            // Upstream fills these in, by `SetListOptionsDefaults`, before it looks.
            (rule, asks) = (Some(ONLY), true);
        }
        let mut errors = Vec::new();
        if asks && rule != Some(ONLY) {
            let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            errors.push(field::forbidden(FIELD, detail));
        }
        let Some(rule) = rule else {
            return errors;
        };
        if !asks {
            let detail =
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            errors.push(field::forbidden(FIELD, detail));
        }
        if rule != ONLY {
            errors.push(field::not_supported(FIELD, rule, &[ONLY]));
        }
        if self.query.get("continue").is_some() {
            let detail = "resourceVersionMatch is forbidden when continue is provided";
            errors.push(field::forbidden(FIELD, detail));
        }
        errors
    }
}

impl Watcher {
    /// Starts at the present, with the objects there are when `initial`.
    fn start(&mut self, initial: bool) {
        let (revision, objects) = {
            let state = self.call.api.registry.store.read();
            let namespace = self.choice.namespace.as_deref();
            let chosen: Vec<Arc<Value>> = state
                .range(&self.call.kind.stored, namespace, None)
                .filter(|(_, entry)| initial && self.choice.matches(&entry.object))
                .map(|(_, entry)| Arc::clone(&entry.object))
                .collect();
            (state.revision(), chosen)
        };
        self.cursor = revision;
        for object in objects {
            let frame = self.frame("ADDED", object);
            self.pending.push_back(frame);
        }
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.pending.pop_front() {
                return Some(bytes);
            }
            if self.ended {
                return None;
            }
            if self.bookmarks == Bookmarks::EndOfInitialEvents {
                self.bookmarks = Bookmarks::Periodic;
                return Some(self.bookmark(Some(INITIAL_EVENTS_END)));
            }
            self.changed.mark_unchanged();
            self.read();
            if self.pending.is_empty() && !self.ended {
                self.wait().await?;
            }
        }
    }

    /// Takes what has happened since the last read.
    fn read(&mut self) {
        let (events, revision) = {
            let state = self.call.api.registry.store.read();
            (
                state.events_after(&self.call.kind.stored, self.cursor, READ_MAX),
                state.revision(),
            )
        };
        match events {
            Ok(events) => {
                // A short read has seen everything up to the present, so that the cursor may pass what concerns others.
                let complete = events.len() < READ_MAX;
                for event in &events {
                    let told = self.told(event);
                    self.pending.extend(told);
                    self.cursor = event.revision;
                }
                if complete {
                    self.cursor = self.cursor.max(revision);
                }
            }
            Err(compacted) => {
                let status = Refusal::expired(compacted.to_string()).status();
                self.pending.push_back(frame("ERROR", &status));
                self.ended = true;
            }
        }
    }

    /// What a change looks like to this watcher: an object may enter or leave its choice.
    fn told(&mut self, event: &Event) -> Option<Bytes> {
        let was = event
            .previous
            .as_ref()
            .filter(|previous| self.choice.matches(&previous.object));
        let is = event.action == Action::Put && self.choice.matches(&event.object);
        let (kind, object) = match (was, is) {
            (None, false) => return None,
            (None, true) => ("ADDED", Arc::clone(&event.object)),
            (Some(_), true) => ("MODIFIED", Arc::clone(&event.object)),
            (Some(_), false) if event.action == Action::Remove => {
                ("DELETED", Arc::clone(&event.object))
            }
            (Some(previous), false) => {
                let mut last = (*previous.object).clone();
                object::set_resource_version(&mut last, event.revision);
                return Some(self.frame("DELETED", Arc::new(last)));
            }
        };
        Some(self.shared(event.revision, kind, object))
    }

    /// A frame that other watchers may get as well.
    fn shared(&mut self, revision: Revision, kind: &'static str, object: Arc<Value>) -> Bytes {
        let Some(api_version) = self.common.clone() else {
            return self.frame(kind, object);
        };
        let api = Arc::clone(&self.call.api);
        api.frames
            .get_or_make((revision, kind, api_version), || self.frame(kind, object))
    }

    fn frame(&mut self, kind: &str, object: Arc<Value>) -> Bytes {
        let headers = std::mem::replace(&mut self.headers, Headers::Omitted);
        let shaped = self.call.shaped(&Content::Object(object), headers);
        frame(kind, &shaped.unwrap_or_else(|refusal| refusal.status()))
    }

    fn bookmark(&mut self, annotation: Option<&str>) -> Bytes {
        let mut metadata = json!({"resourceVersion": self.cursor.to_string()});
        if let Some(annotation) = annotation {
            metadata["annotations"] = json!({annotation: "true"});
        }
        let object = json!({
            "kind": self.call.kind.kind,
            "apiVersion": self.call.kind.api_version(&self.call.version.name),
            "metadata": metadata,
        });
        self.frame("BOOKMARK", Arc::new(object))
    }

    /// Waits for a change, the time of a bookmark, or the end; `None` at the end.
    async fn wait(&mut self) -> Option<()> {
        let clock = self.call.api.registry.clock.clone();
        let bookmark_ms = match self.bookmarks {
            Bookmarks::None => UnixMs::MAX,
            Bookmarks::Periodic | Bookmarks::EndOfInitialEvents => self.next_bookmark_ms,
        };
        tokio::select! {
            biased;
            () = self.call.api.stopping.cancelled() => return None,
            changed = self.changed.changed() => changed.ok()?,
            () = clock.sleep_until(bookmark_ms.min(self.end_ms)) => {
                if clock.now_ms() >= self.end_ms {
                    return None;
                }
                let bookmark = self.bookmark(None);
                self.pending.push_back(bookmark);
                self.next_bookmark_ms = clock.now_ms().saturating_add(millis(BOOKMARK_EVERY));
            }
        }
        Some(())
    }
}

/// Source: apimachinery apis/meta/v1/watch.go, `WatchEvent`.
#[derive(Serialize)]
struct Told<'a> {
    r#type: &'a str,
    object: &'a Value,
}

fn frame(kind: &str, object: &Value) -> Bytes {
    respond::line(&Told {
        r#type: kind,
        object,
    })
}

fn millis(duration: Duration) -> UnixMs {
    UnixMs::try_from(duration.as_millis()).unwrap_or(UnixMs::MAX)
}
