//! The scale subresource of any resource, custom ones included.
//! Not here: which resource a target has ([`crate::rest_mapper`]), what to write.
//!
//! Source: client-go scale/client.go, v0.37.2. Scales are read and written as autoscaling/v1, the only form that is
//! still served.

use http::Method;
use serde_json::Value;

use crate::api_client::{ApiClient, Call};
use crate::api_error::{ApiError, Asked};
use crate::path;
use crate::rest_mapper::Mapping;

/// A Scale as read; fields that are not understood survive a write.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale(Value);

impl Scale {
    /// `spec.replicas`; absent means 0.
    pub fn spec_replicas(&self) -> i32 {
        self.number("/spec/replicas")
    }

    /// `status.replicas`; absent means 0.
    pub fn status_replicas(&self) -> i32 {
        self.number("/status/replicas")
    }

    /// `status.selector`; absent means empty.
    pub fn selector(&self) -> &str {
        self.0
            .pointer("/status/selector")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The same Scale with another wanted size.
    #[must_use]
    pub fn with_spec_replicas(&self, replicas: i32) -> Self {
        let mut scale = self.0.clone();
        if !scale["spec"].is_object() {
            scale["spec"] = Value::Object(serde_json::Map::new());
        }
        scale["spec"]["replicas"] = replicas.into();
        Self(scale)
    }

    fn number(&self, pointer: &str) -> i32 {
        let number = self.0.pointer(pointer).and_then(Value::as_i64);
        number
            .and_then(|number| i32::try_from(number).ok())
            .unwrap_or_default()
    }
}

/// One object whose scale is meant.
#[derive(Clone, Copy, Debug)]
pub struct ScaleTarget<'a> {
    /// Its resource, in the version to use.
    pub mapping: &'a Mapping,
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
}

impl ScaleTarget<'_> {
    fn path(&self) -> String {
        let Mapping {
            group,
            version,
            resource,
            ..
        } = self.mapping;
        let collection = path::collection(group, version, self.namespace, resource);
        format!("{collection}/{}/scale", path::segment(self.name))
    }
}

/// The client.
#[derive(Clone, Debug)]
pub struct ScaleClient {
    client: ApiClient,
}

impl ScaleClient {
    /// A client with the rate limit of `client`.
    pub fn new(client: ApiClient) -> Self {
        Self { client }
    }

    /// Reads a Scale.
    pub async fn get(&self, target: ScaleTarget<'_>) -> Result<Scale, ApiError> {
        let path = target.path();
        let asked = Asked {
            resource: &target.mapping.resource,
            name: target.name,
        };
        self.client.object(Call::get(&path, asked)).await.map(Scale)
    }

    /// Writes a Scale; its resourceVersion must still be current.
    pub async fn put(&self, target: ScaleTarget<'_>, scale: &Scale) -> Result<(), ApiError> {
        let path = target.path();
        let asked = Asked {
            resource: &target.mapping.resource,
            name: target.name,
        };
        let body = Some(("application/json", scale.0.to_string().into_bytes()));
        self.client
            .call(Call {
                method: Method::PUT,
                path: &path,
                asked,
                body,
            })
            .await
            .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{Scripted, failure};
    use flyball_clock::Clock;
    use serde_json::json;

    #[tokio::test(start_paused = true)]
    async fn a_scale_is_read_and_written_back_with_its_version() {
        let server = Scripted::default();
        let client = ScaleClient::new(server.client(&Clock::starting_at(0)));
        let mapping = Mapping {
            group: "apps".to_owned(),
            version: "v1".to_owned(),
            resource: "deployments".to_owned(),
            kind: "Deployment".to_owned(),
        };
        let target = ScaleTarget {
            mapping: &mapping,
            namespace: "shop",
            name: "web",
        };
        let path = "/apis/apps/v1/namespaces/shop/deployments/web/scale";
        let scale = json!({"metadata": {"resourceVersion": "7"}, "status": {"replicas": 2, "selector": "app=web"}});
        server.serve(&format!("GET {path}"), scale);
        let read = client.get(target).await.expect("served");
        assert_eq!(
            (
                read.spec_replicas(),
                read.status_replicas(),
                read.selector()
            ),
            (0, 2, "app=web")
        );
        server.answer(
            &format!("PUT {path}"),
            409,
            failure(409, "Conflict", "the object has been modified"),
        );
        let error = client
            .put(target, &read.with_spec_replicas(5))
            .await
            .expect_err("refused");
        assert!(error.is_conflict());
        let sent = server.bodies();
        assert_eq!(sent[0]["spec"]["replicas"], 5);
        assert_eq!(sent[0]["metadata"]["resourceVersion"], "7");
    }
}
