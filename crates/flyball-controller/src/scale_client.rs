//! The scale subresource of any resource, custom ones included.
//! Not here: which resource a target has ([`crate::rest_mapper`]), what to write.
//!
//! Source: client-go scale/client.go, v0.37.2. Scales are read and written as autoscaling/v1, the only form that is
//! still served.

use flyball_api::scale::Scale;
use http::Method;

use crate::api_client::{ApiClient, Call};
use crate::api_error::{ApiError, Asked};
use crate::path;
use crate::rest_mapper::Mapping;

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
        self.client.object(Call::get(&path, asked)).await
    }

    /// Writes a Scale; its resourceVersion must still be current.
    pub async fn put(&self, target: ScaleTarget<'_>, scale: &Scale) -> Result<(), ApiError> {
        let path = target.path();
        let asked = Asked {
            resource: &target.mapping.resource,
            name: target.name,
        };
        // A Scale is always serializable: its fields are numbers, text and JSON.
        let body = serde_json::to_vec(scale).unwrap_or_default();
        let body = Some(("application/json", body));
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
    use crate::rest_mapper::RestMapper;
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
        let mut scale = client.get(target).await.expect("served");
        assert_eq!(
            (scale.spec.replicas, scale.status.selector.as_str()),
            (0, "app=web")
        );
        scale.spec.replicas = 5;
        server.answer(
            &format!("PUT {path}"),
            409,
            failure(409, "Conflict", "the object has been modified"),
        );
        assert!(
            client
                .put(target, &scale)
                .await
                .expect_err("refused")
                .is_conflict()
        );
        let sent = server.bodies();
        assert_eq!(sent[0]["spec"]["replicas"], 5);
        assert_eq!(sent[0]["metadata"]["resourceVersion"], "7");
    }

    #[tokio::test(start_paused = true)]
    async fn a_custom_resource_is_found_by_discovery_and_scaled_as_any_other() {
        let server = Scripted::default();
        server.serve(
            "GET /apis/example.com",
            json!({"versions": [{"version": "v1alpha1"}], "preferredVersion": {"version": "v1alpha1"}}),
        );
        let rockets = json!({"resources": [
            {"name": "rockets", "kind": "Rocket"},
            {"name": "rockets/scale", "kind": "Scale"}]});
        server.serve("GET /apis/example.com/v1alpha1", rockets);
        let path = "/apis/example.com/v1alpha1/namespaces/shop/rockets/web/scale";
        let scale =
            json!({"spec": {"replicas": 3}, "status": {"replicas": 3, "selector": "app=web"}});
        server.serve(&format!("GET {path}"), scale.clone());
        server.serve(&format!("PUT {path}"), scale);
        let client = server.client(&Clock::starting_at(0));
        let mapper = RestMapper::new(client.clone());
        let found = mapper
            .mappings("example.com", "Rocket")
            .await
            .expect("known");
        let target = ScaleTarget {
            mapping: &found[0],
            namespace: "shop",
            name: "web",
        };
        let scales = ScaleClient::new(client);
        let mut scale = scales.get(target).await.expect("served");
        assert_eq!(scale.spec.replicas, 3);
        scale.spec.replicas = 4;
        scales.put(target, &scale).await.expect("accepted");
        assert_eq!(server.bodies()[0]["spec"]["replicas"], 4);
    }
}
