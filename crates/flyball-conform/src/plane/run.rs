//! Runs scripts on both servers and tells every difference. Not here: their format (`script`) and what is
//! left out of a comparison (`normalise`).

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use futures::stream::{self, StreamExt as _};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Value, json};

use crate::plane::difference::Differences;
use crate::plane::matrix::Matrix;
use crate::plane::normalise::Normaliser;
use crate::plane::script::{Placed, Script, Step};
use crate::plane::server::{Connection, Incoming, Outgoing, Server};
use crate::report::{Tally, Verdict};

/// Scripts at once.
const AT_ONCE: usize = 8;

/// Both servers.
#[derive(Debug)]
pub struct Pair {
    /// What is meant to differ.
    pub differences: Differences,
    /// The referee.
    pub genuine: Server,
    /// Ours.
    pub plane: Server,
    /// Makes the namespaces of this run differ from those of others on the same server.
    pub run: String,
    /// Now, in seconds since 1970.
    pub now_s: i64,
}

/// One server in one script.
struct Side {
    server: Server,
    connection: Connection,
    variables: BTreeMap<String, String>,
    normaliser: Normaliser,
}

/// A request that both have answered.
#[derive(Debug)]
pub struct Asked {
    /// Method and path.
    pub request: String,
    /// The genuine server's status.
    pub status: u64,
    /// Whether the answers agree.
    pub verdict: Verdict,
}

/// Runs `scripts` and writes each difference to `out`, in the order of the scripts. Counts requests, also in `matrix`.
///
/// # Errors
/// A server that cannot be reached.
pub async fn scripts(
    pair: &Pair,
    scripts: &[Placed],
    matrix: &mut Matrix,
    out: &mut impl Write,
) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut runs = stream::iter(scripts.iter().enumerate())
        .map(|(index, placed)| async move {
            let namespace = format!("c{}-{index}", pair.run);
            (placed, script(pair, &namespace, &placed.script).await)
        })
        .buffered(AT_ONCE);
    while let Some((placed, asked)) = runs.next().await {
        let place = format!("{}: {}", placed.file.display(), placed.script.name);
        for one in asked.with_context(|| place.clone())? {
            tally.count(&one.verdict);
            if let Some((method, target)) = one.request.split_once(' ') {
                matrix.count(method, target, one.status);
            }
            if let Verdict::Failed(difference) = one.verdict {
                writeln!(out, "FAILED {place}\n  {}\n{difference}", one.request)?;
            }
        }
    }
    Ok(tally)
}

fn title(step: &Step) -> String {
    match (&step.request, &step.watch) {
        (Some(request), _) => request.clone(),
        (None, Some(path)) => format!("GET {}", watched(path.clone())),
        (None, None) => String::new(),
    }
}

/// The path of a watch, as it is asked.
fn watched(mut path: String) -> String {
    path.push(if path.contains('?') { '&' } else { '?' });
    path.push_str("watch=true");
    path
}

/// The answers to each step of one script in `namespace`.
///
/// # Errors
/// A server that cannot be reached, a request that cannot be written.
pub async fn script(pair: &Pair, namespace: &str, script: &Script) -> Result<Vec<Asked>> {
    let mut genuine = Side::enter(&pair.genuine, namespace, pair.now_s).await?;
    let mut plane = Side::enter(&pair.plane, namespace, pair.now_s).await?;
    let mut all = Vec::new();
    for step in &script.steps {
        let (expected, actual) = tokio::join!(genuine.take(step), plane.take(step));
        let (mut expected, mut actual) = (expected?, actual?);
        let request = title(step);
        let status = expected["status"].as_u64().unwrap_or(0);
        pair.differences
            .take_out(&request, &mut expected, &mut actual);
        let verdict = match step.want {
            Some(wanted) if u64::from(wanted) != status => Verdict::Failed(format!(
                "the genuine server does not answer {wanted} but {expected:#}\n"
            )),
            _ => Verdict::equal(&expected, &actual),
        };
        all.push(Asked {
            request,
            status,
            verdict,
        });
    }
    Ok(all)
}

impl Side {
    async fn enter(server: &Server, namespace: &str, now_s: i64) -> Result<Self> {
        let mut side = Self {
            server: server.clone(),
            connection: server.connect().await?,
            variables: BTreeMap::from([("ns".to_owned(), namespace.to_owned())]),
            normaliser: Normaliser::new(namespace, now_s),
        };
        let objects = [
            (
                "/api/v1/namespaces",
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}),
            ),
            (
                "/api/v1/namespaces/{ns}/serviceaccounts",
                json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}),
            ),
        ];
        for (path, body) in objects {
            let step = Step {
                request: Some(format!("POST {path}")),
                body: Some(body),
                ..Step::default()
            };
            side.ask(&step).await?;
        }
        Ok(side)
    }

    /// Takes one step; the answer, normalised.
    async fn take(&mut self, step: &Step) -> Result<Value> {
        let prefix = step
            .body
            .as_ref()
            .and_then(|body| body.pointer("/metadata/generateName"));
        if let Some(prefix) = prefix.and_then(Value::as_str) {
            self.normaliser.expect_generated(&self.filled(prefix));
        }
        let answer = match self.ask(step).await {
            Err(error) if was_cut(&error) => return Ok(json!({"status": 0, "body": "cut"})),
            answer => answer?,
        };
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        for (name, pointer) in &step.keep {
            let value = match body.pointer(pointer) {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            };
            self.variables.insert(name.clone(), value);
        }
        Ok(self.normaliser.answer(&answer))
    }

    async fn ask(&mut self, step: &Step) -> Result<Incoming> {
        let outgoing = self.outgoing(step)?;
        if step.watch.is_some() {
            let connection = self.server.connect().await?;
            return connection.follow(&outgoing, step.events.unwrap_or(1)).await;
        }
        // A server may close a connection after an answer; hyper may learn of it only now.
        if !self.connection.is_open().await {
            self.connection = self.server.connect().await?;
        }
        self.connection.ask(&outgoing).await.with_context(|| {
            let Outgoing {
                method,
                target,
                body,
                ..
            } = &outgoing;
            format!("{method} {target} with {body:?}")
        })
    }

    fn outgoing(&self, step: &Step) -> Result<Outgoing> {
        let (method, target) = match (&step.request, &step.watch) {
            (Some(request), _) => request
                .split_once(' ')
                .context("`do` is a method and a path")?,
            (None, Some(path)) => ("GET", path.as_str()),
            (None, None) => anyhow::bail!("a step asks for something"),
        };
        let mut target = self.filled(target);
        if step.watch.is_some() {
            target = watched(target);
        }
        let method: Method = method.parse()?;
        Ok(Outgoing {
            headers: self.headers(step, &method)?,
            method,
            target,
            body: self.body(step.body.as_ref()),
        })
    }

    fn headers(&self, step: &Step, method: &Method) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        headers.insert(
            ACCEPT,
            text(step.accept.as_deref().unwrap_or("application/json"))?,
        );
        let standard = if *method == Method::PATCH {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let content_type = step
            .content_type
            .clone()
            .unwrap_or_else(|| Some(standard.to_owned()));
        if let Some(given) = content_type.filter(|_| step.body.is_some()) {
            headers.insert(CONTENT_TYPE, text(&given)?);
        }
        for (name, value) in &step.headers {
            let name: HeaderName = name.parse()?;
            match value {
                Some(value) => {
                    headers.insert(name, text(&self.filled(value))?);
                }
                // An empty one is how the connection is told to send none.
                None if name == AUTHORIZATION => {
                    headers.insert(name, HeaderValue::from_static(""));
                }
                None => {
                    headers.remove(name);
                }
            }
        }
        Ok(headers)
    }

    fn body(&self, body: Option<&Value>) -> Bytes {
        match body {
            None => Bytes::new(),
            Some(Value::String(text)) => self.filled(text).into(),
            Some(tree) => self.filled_tree(tree).to_string().into(),
        }
    }

    fn filled(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.variables {
            text = text.replace(&format!("{{{name}}}"), value);
        }
        text
    }

    fn filled_tree(&self, tree: &Value) -> Value {
        match tree {
            Value::String(text) => self.filled(text).into(),
            Value::Array(items) => items.iter().map(|item| self.filled_tree(item)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(name, value)| (self.filled(name), self.filled_tree(value)))
                .collect(),
            other => other.clone(),
        }
    }
}

/// True when a server closed the connection instead of answering, as the genuine one does when a handler panics.
fn was_cut(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<hyper::Error>()
        .is_some_and(hyper::Error::is_incomplete_message)
}

fn text(value: &str) -> Result<HeaderValue> {
    HeaderValue::from_str(value).with_context(|| format!("{value:?} is no value of a header"))
}
