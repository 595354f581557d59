//! The scripted cluster as a `tower::Service`, which is what the controller takes for a transport.

use std::convert::Infallible;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::{StreamExt as _, poll_fn};
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use super::answer::{Answer, answer};
use super::world::{Refusal, World};

/// The body of every response.
pub(crate) type AnswerBody = UnsyncBoxBody<Bytes, Infallible>;

/// A connection to the scripted cluster. Cheap to clone; never busy.
#[derive(Clone)]
pub(crate) struct Cluster(pub(crate) World);

impl<B> tower::Service<Request<B>> for Cluster
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<tower::BoxError>,
{
    type Response = Response<AnswerBody>;
    type Error = tower::BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let world = self.0.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map_err(Into::into)?.to_bytes();
            response(answer(&world, &parts, &body))
        })
    }
}

fn response(answer: Answer) -> Result<Response<AnswerBody>, tower::BoxError> {
    let (code, body) = match answer {
        Answer::Object(object) => (StatusCode::OK, full(&object)),
        Answer::Watch(changes) => (StatusCode::OK, stream(changes)),
        Answer::Refused(refusal) => (StatusCode::from_u16(refusal.code)?, full(&status(&refusal))),
    };
    let response = Response::builder()
        .status(code)
        .header("content-type", "application/json");
    Ok(response.body(body)?)
}

fn full(object: &Value) -> AnswerBody {
    Full::new(Bytes::from(object.to_string())).boxed_unsync()
}

/// Changes as lines. The response ends with the cluster.
fn stream(mut changes: UnboundedReceiver<Value>) -> AnswerBody {
    let lines = poll_fn(move |context| changes.poll_recv(context));
    let frames = lines.map(|change| Ok(Frame::data(Bytes::from(format!("{change}\n")))));
    StreamBody::new(frames).boxed_unsync()
}

fn status(refusal: &Refusal) -> Value {
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": refusal.message,
        "reason": refusal.reason,
        "code": refusal.code,
    })
}
