//! What is done with bytes from outside, and what must hold whatever they are: nothing panics, a refusal is a Status, and what
//! was read prints as something that reads the same. The fuzz targets in `fuzz/` call these too. Not here: the bytes.

// Each fuzz target uses one of these.
#![allow(
    dead_code,
    reason = "each fuzz target includes this file for one function"
)]

use std::cell::OnceCell;
use std::collections::BTreeSet;

use bytes::Bytes;
use flyball_api::field_selector::FieldSelector;
use flyball_api::quantity::Quantity;
use flyball_api::selector::Selector;
use flyball_clock::Clock;
use flyball_plane::{Config, Plane, Service};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

const CONFIG_MAP: &str = "/api/v1/namespaces/default/configmaps/a";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/a";
/// The first byte of a patch says which form it has; the last is for no known form.
const FORMS: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

/// A plane in memory and virtual time, with two objects to patch.
struct World {
    runtime: Runtime,
    service: Service,
    _plane: Plane,
}

impl World {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime of one thread");
        let plane = runtime
            .block_on(async { Plane::open(Config::in_memory(1), Clock::starting_at(0)).await })
            .expect("a plane in memory");
        let world = Self {
            runtime,
            service: plane.service(),
            _plane: plane,
        };
        let pods = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        let config_map = json!({"metadata": {"name": "a"}, "data": {"k": "v"}});
        let deployment = json!({
            "metadata": {"name": "a"},
            "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": pods},
        });
        for (path, object) in [(CONFIG_MAP, config_map), (DEPLOYMENT, deployment)] {
            let collection = path.trim_end_matches("/a");
            let request = request(
                Method::POST,
                collection,
                "application/json",
                object.to_string(),
            );
            assert_eq!(world.ask(request.expect("it is sound")).0, 201);
        }
        // The controllers come to rest, so that nothing but a patch could change the objects.
        let hour = std::time::Duration::from_hours(1);
        world
            .runtime
            .block_on(async { tokio::time::sleep(hour).await });
        world
    }

    /// The code and the body of the answer; no body for an answer that does not end.
    fn ask(&self, request: Request<Full<Bytes>>) -> (u16, Option<Bytes>) {
        self.runtime.block_on(async {
            let (parts, body) = self.service.answer(request).await.into_parts();
            let is_whole = http_body::Body::size_hint(&body).exact().is_some();
            let bytes = if is_whole {
                Some(body.collect().await.expect("it is whole").to_bytes())
            } else {
                None
            };
            (parts.status.as_u16(), bytes)
        })
    }

    fn object(&self, path: &str) -> Value {
        let get = request(Method::GET, path, "", Vec::new()).expect("it is sound");
        let (code, body) = self.ask(get);
        assert_eq!(code, 200);
        serde_json::from_slice(&body.expect("it is whole")).expect("it is JSON")
    }
}

thread_local! {
    static WORLD: OnceCell<World> = const { OnceCell::new() };
}

fn with_world<T>(look: impl FnOnce(&World) -> T) -> T {
    WORLD.with(|cell| look(cell.get_or_init(World::new)))
}

fn request(
    method: Method,
    uri: &str,
    media_type: &str,
    body: impl Into<Bytes>,
) -> Option<Request<Full<Bytes>>> {
    Request::builder()
        .method(method)
        .uri(uri)
        .header("content-type", media_type)
        .body(Full::new(body.into()))
        .ok()
}

/// A refusal is a Status with the code of the answer, or a plain text.
fn check_refusal(code: u16, body: Option<&Bytes>) {
    let Some(body) = body.filter(|_| code >= 400) else {
        return;
    };
    if let Ok(status) = serde_json::from_slice::<Value>(body) {
        assert_eq!(status["kind"], "Status", "{status}");
        assert_eq!(status["code"], code, "{status}");
    } else {
        assert!(std::str::from_utf8(body).is_ok());
    }
}

/// A path and query that is read.
pub(crate) fn path(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Some(get) = request(Method::GET, text, "", Vec::new()) else {
        return;
    };
    let (code, body) = with_world(|world| world.ask(get));
    check_refusal(code, body.as_ref());
    // Upstream answers 500 for a resourceVersion that is no number, but does not call it an internal error.
    let broken = body.is_some_and(|body| body.windows(13).any(|word| word == b"InternalError"));
    assert!(!broken, "{code} for {text:?}");
}

/// A label selector and a field selector.
pub(crate) fn selector(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(selector) = Selector::parse(text) {
        let printed = selector.to_string();
        let again = Selector::parse(&printed).map(|again| again.to_string());
        assert_eq!(again.ok().as_deref(), Some(printed.as_str()), "{text:?}");
    }
    if let Ok(selector) = FieldSelector::parse(text) {
        let printed = selector.to_string();
        let again = FieldSelector::parse(&printed).expect("what is printed can be read");
        // Terms are sorted by their text, and `==` is printed as `=`.
        assert_eq!(
            terms(&again),
            terms(&selector),
            "{text:?} printed as {printed:?}"
        );
    }
}

fn terms(selector: &FieldSelector) -> BTreeSet<String> {
    selector
        .terms()
        .iter()
        .map(|term| format!("{term:?}"))
        .collect()
}

/// A patch of either object, that is checked and not made.
pub(crate) fn patch(bytes: &[u8]) {
    let Some((first, body)) = bytes.split_first() else {
        return;
    };
    let media_type = FORMS[usize::from(*first) % FORMS.len()];
    let path = if first & 16 == 0 {
        CONFIG_MAP
    } else {
        DEPLOYMENT
    };
    with_world(|world| {
        let before = world.object(path);
        let uri = format!("{path}?dryRun=All");
        let change = request(Method::PATCH, &uri, media_type, body.to_vec());
        let (code, answer) = world.ask(change.expect("it is sound"));
        check_refusal(code, answer.as_ref());
        assert_eq!(world.object(path), before);
    });
}

/// A quantity.
pub(crate) fn quantity(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(read) = Quantity::parse(text) else {
        return;
    };
    let printed = read.to_string();
    let again = Quantity::parse(&printed).expect("what is printed can be read");
    // Beyond the largest suffix, E, upstream prints some amounts without their zeros.
    if read.approximate_f64().abs() < 1e21 {
        assert_eq!(again, read, "{text:?} printed as {printed:?}");
    }
    let _ = (read.value(), read.milli_value());
    assert_eq!(read.is_zero(), read.sign() == 0, "{text:?}");
}
