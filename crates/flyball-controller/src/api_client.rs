//! Calls to an API server: one request in, bytes or a typed failure out, under a rate limit, counted.
//! Not here: paths and objects.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use flyball_clock::Clock;
use http::{Method, Request, Response, header};
use http_body_util::{BodyExt, Full};
use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};
use tower::BoxError;

use crate::api_error::{ApiError, Asked, failure};
use crate::token_bucket::TokenBucket;
use crate::transport::{Body, Transport};

/// A call that takes longer than this has failed; the API server itself gives up after 60 s.
const CALL_TIMEOUT: Duration = Duration::from_secs(70);

/// User agent; what stands before its slash is the name the server keeps as the manager of the fields written.
const USER_AGENT: &str = "flyball/horizontal-pod-autoscaler";

/// The name under which the server keeps what this client writes.
pub(crate) const FIELD_MANAGER: &str = "flyball";

/// Request counters under client-go's names (component-base/metrics/prometheus/restclient, v0.37.2).
#[derive(Clone, Debug)]
pub struct ClientMetrics {
    results: IntCounterVec,
    seconds: HistogramVec,
}

impl ClientMetrics {
    /// Registers the metrics.
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        let metrics = Self {
            results: IntCounterVec::new(
                Opts::new(
                    "rest_client_requests_total",
                    "[ALPHA] Number of HTTP requests, partitioned by status code, method, and host.",
                ),
                &["code", "method", "host"],
            )?,
            seconds: HistogramVec::new(
                HistogramOpts::new(
                    "rest_client_request_duration_seconds",
                    "[ALPHA] Request latency in seconds. Broken down by verb, and host.",
                )
                .buckets(vec![
                    0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0,
                ]),
                &["verb", "host"],
            )?,
        };
        registry.register(Box::new(metrics.results.clone()))?;
        registry.register(Box::new(metrics.seconds.clone()))?;
        Ok(metrics)
    }
}

/// Requests per second and burst of one client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// `--kube-api-qps`
    pub per_second: f64,
    /// `--kube-api-burst`
    pub burst: u32,
}

/// A client with a rate limit of its own. Cheap to clone; clones share the limit.
#[derive(Clone, Debug)]
pub struct ApiClient {
    transport: Transport,
    clock: Clock,
    bucket: Arc<Mutex<TokenBucket>>,
    metrics: ClientMetrics,
    host: Arc<str>,
}

/// One call.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// HTTP method.
    pub method: Method,
    /// Path and query, percent-encoded.
    pub path: &'a str,
    /// How generic error texts name it.
    pub asked: Asked<'a>,
    /// Content type and bytes of the body, for calls that have one.
    pub body: Option<(&'static str, Vec<u8>)>,
}

impl<'a> Call<'a> {
    /// A GET of `path`.
    pub fn get(path: &'a str, asked: Asked<'a>) -> Self {
        Self {
            method: Method::GET,
            path,
            asked,
            body: None,
        }
    }
}

impl ApiClient {
    /// A client over `transport`; `host` is the label of its metrics.
    pub fn new(transport: Transport, clock: Clock, rate: Rate, metrics: ClientMetrics) -> Self {
        let bucket = TokenBucket::new(rate.per_second, rate.burst, clock.now_ms());
        let bucket = Arc::new(Mutex::new(bucket));
        Self {
            transport,
            clock,
            bucket,
            metrics,
            host: "kubernetes".into(),
        }
    }

    /// The same server with a rate limit of its own.
    #[must_use]
    pub fn with_rate(&self, rate: Rate) -> Self {
        let bucket = TokenBucket::new(rate.per_second, rate.burst, self.clock.now_ms());
        Self {
            bucket: Arc::new(Mutex::new(bucket)),
            ..self.clone()
        }
    }

    /// Makes the call and reads the whole answer.
    pub async fn call(&self, call: Call<'_>) -> Result<Bytes, ApiError> {
        self.wait_for_token().await;
        let (method, path, asked) = (call.method.clone(), call.path, call.asked);
        let exchange = async {
            let response = self.send(call).await?;
            let code = response.status();
            let body = response
                .into_body()
                .collect()
                .await
                .map_err(|cause| no_answer(&method, path, cause))?;
            let body = body.to_bytes();
            if code.is_success() {
                Ok(body)
            } else {
                Err(failure(code, &method, asked, &body))
            }
        };
        tokio::select! {
            biased;
            result = exchange => result,
            () = self.clock.sleep(CALL_TIMEOUT) => {
                let cause = format!("no answer within {} s", CALL_TIMEOUT.as_secs());
                Err(no_answer(&method, path, cause.into()))
            }
        }
    }

    /// Makes the call and reads the answer as an object.
    pub async fn object<T: serde::de::DeserializeOwned>(
        &self,
        call: Call<'_>,
    ) -> Result<T, ApiError> {
        let (method, path) = (call.method.clone(), call.path);
        let body = self.call(call).await?;
        serde_json::from_slice(&body).map_err(|cause| ApiError::Unreadable {
            method,
            path: path.to_owned(),
            cause,
        })
    }

    /// Opens a stream, such as a watch.
    pub async fn stream(&self, path: &str, asked: Asked<'_>) -> Result<Body, ApiError> {
        self.wait_for_token().await;
        let response = self.send(Call::get(path, asked)).await?;
        let code = response.status();
        if code.is_success() {
            return Ok(response.into_body());
        }
        let body = response.into_body().collect().await;
        let body = body
            .map_err(|cause| no_answer(&Method::GET, path, cause))?
            .to_bytes();
        Err(failure(code, &Method::GET, asked, &body))
    }

    async fn send(&self, call: Call<'_>) -> Result<Response<Body>, ApiError> {
        let started = self.clock.elapsed();
        let (method, path) = (call.method, call.path);
        let mut request = Request::builder()
            .method(method.clone())
            .uri(path)
            .header(header::ACCEPT, "application/json")
            .header(header::USER_AGENT, USER_AGENT);
        let body = call.body.map(|(content_type, bytes)| {
            (
                http::HeaderValue::from_static(content_type),
                Bytes::from(bytes),
            )
        });
        let bytes = match body {
            Some((content_type, bytes)) => {
                request = request.header(header::CONTENT_TYPE, content_type);
                bytes
            }
            None => Bytes::new(),
        };
        let request = request
            .body(Full::new(bytes))
            .map_err(|cause| no_answer(&method, path, cause.into()))?;
        let result = self.transport.send(request).await;
        self.observe(
            &method,
            result.as_ref().ok(),
            self.clock.elapsed().saturating_sub(started),
        );
        result.map_err(|cause| no_answer(&method, path, cause))
    }

    fn observe(&self, method: &Method, response: Option<&Response<Body>>, took: Duration) {
        let status = response.map(Response::status);
        let code = status.as_ref().map_or("<error>", http::StatusCode::as_str);
        let labels = [code, method.as_str(), self.host.as_ref()];
        self.metrics.results.with_label_values(&labels).inc();
        self.metrics
            .seconds
            .with_label_values(&[method.as_str(), self.host.as_ref()])
            .observe(took.as_secs_f64());
    }

    async fn wait_for_token(&self) {
        let now_ms = self.clock.now_ms();
        let wait = self
            .bucket
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .reserve(now_ms);
        if !wait.is_zero() {
            self.clock.sleep(wait).await;
        }
    }
}

fn no_answer(method: &Method, path: &str, cause: BoxError) -> ApiError {
    ApiError::NoAnswer {
        method: method.clone(),
        path: path.to_owned(),
        cause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::Scripted;
    use serde_json::json;

    const NOTHING: Asked<'_> = Asked {
        resource: "",
        name: "",
    };

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_never_answered_fails_in_the_end() {
        let (server, clock) = (Scripted::default(), Clock::starting_at(0));
        server.hang("GET /slow");
        let error = server
            .client(&clock)
            .call(Call::get("/slow", NOTHING))
            .await;
        let error = error.expect_err("no answer");
        assert_eq!(error.to_string(), "Get \"/slow\": no answer within 70 s");
        assert_eq!((clock.now_ms(), error.is_transient()), (70_000, true));
    }

    #[tokio::test(start_paused = true)]
    async fn a_broken_connection_and_an_unreadable_answer_are_told_apart() {
        let (server, clock) = (Scripted::default(), Clock::starting_at(0));
        let client = server.client(&clock);
        server.refuse("GET /a");
        let error = client
            .call(Call::get("/a", NOTHING))
            .await
            .expect_err("refused");
        assert_eq!(error.to_string(), "Get \"/a\": connection refused");
        server.serve("GET /a", json!("no JSON"));
        let error = client
            .object::<Vec<u8>>(Call::get("/a", NOTHING))
            .await
            .expect_err("text");
        assert!(!error.is_transient());
        assert!(
            error
                .to_string()
                .starts_with("cannot read the answer to Get \"/a\": ")
        );
    }

    #[tokio::test(start_paused = true)]
    async fn requests_are_counted_by_code_and_method() {
        let (server, clock) = (Scripted::default(), Clock::starting_at(0));
        let registry = Registry::new();
        let metrics = ClientMetrics::register(&registry).expect("a fresh registry");
        let rate = Rate {
            per_second: 1.0,
            burst: 2,
        };
        let client = ApiClient::new(server.transport(), clock.clone(), rate, metrics);
        server.refuse("GET /b");
        for path in ["/a", "/a", "/b"] {
            assert!(client.call(Call::get(path, NOTHING)).await.is_err());
        }
        assert_eq!(clock.now_ms(), 1_000, "the third waits for a token");
        let text = prometheus::TextEncoder::new().encode_to_string(&registry.gather());
        let text = text.expect("printable");
        let line = |code, count| {
            format!(
                "rest_client_requests_total{{code=\"{code}\",host=\"kubernetes\",method=\"GET\"}} {count}"
            )
        };
        assert!(
            text.contains(&line("404", 2)) && text.contains(&line("<error>", 1)),
            "{text}"
        );
    }
}
