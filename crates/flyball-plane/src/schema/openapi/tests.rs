//! What clients look up in the documents.

use serde_json::{Value, json};

use super::*;
use crate::schema::REFERENCE_PREFIX;

const SUBRESOURCES: [Subresource; 2] = [Subresource::Status, Subresource::Scale];

fn resource<'a>(gvk: Gvk<'a>, plural: &'a str) -> Resource<'a> {
    Resource {
        gvk,
        plural,
        reach: Reach::Namespaced,
        access: Access::ReadWrite,
        subresources: &[],
        custom: None,
    }
}

fn deployments() -> Resource<'static> {
    Resource {
        subresources: &SUBRESOURCES,
        ..resource(Gvk::new("apps", "v1", "Deployment"), "deployments")
    }
}

fn parsed(documents: &Documents, path: &str) -> Value {
    let document = documents.get(path).expect("a document");
    serde_json::from_slice(&document.body).expect("JSON")
}

fn apps() -> Value {
    parsed(
        &Documents::new(Schema::builtin(), &[deployments()]),
        "apis/apps/v1",
    )
}

#[test]
fn the_index_leads_to_every_document_by_hash() {
    let pods = resource(Gvk::new("", "v1", "Pod"), "pods");
    let documents = Documents::new(Schema::builtin(), &[deployments(), pods]);
    let hash = |path| &documents.get(path).expect("a document").hash;
    assert_eq!(
        documents.index(),
        json!({"paths": {
            "api/v1": {"serverRelativeURL": format!("/openapi/v3/api/v1?hash={}", hash("api/v1"))},
            "apis/apps/v1": {"serverRelativeURL": format!("/openapi/v3/apis/apps/v1?hash={}", hash("apis/apps/v1"))},
        }})
    );
    assert_ne!(hash("api/v1"), hash("apis/apps/v1"));
}

#[test]
fn every_reference_in_a_document_leads_to_a_type_in_it() {
    fn walk(document: &Value, value: &Value) {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    let name = reference.strip_prefix(REFERENCE_PREFIX).expect("a type");
                    let found = document["components"]["schemas"].get(name);
                    assert!(found.is_some(), "{name}");
                }
                fields.values().for_each(|inner| walk(document, inner));
            }
            Value::Array(items) => items.iter().for_each(|inner| walk(document, inner)),
            _ => {}
        }
    }
    walk(&apps(), &apps());
}

#[test]
fn addresses_and_operations_are_upstreams() {
    let document = apps();
    let paths = document["paths"].as_object().expect("paths");
    let mut got = Vec::new();
    for (path, page) in paths {
        let operations = page.as_object().expect("a page");
        for (method, operation) in operations.iter().filter(|(name, _)| *name != "parameters") {
            let id = operation["operationId"].as_str().expect("a name");
            let action = operation["x-kubernetes-action"]
                .as_str()
                .expect("an action");
            got.push(format!("{method} {path} {action} {id}"));
        }
    }
    let all = "/apis/apps/v1/namespaces/{namespace}/deployments";
    assert_eq!(
        got,
        [
            "get /apis/apps/v1/deployments list listAppsV1DeploymentForAllNamespaces".into(),
            format!("delete {all} deletecollection deleteAppsV1CollectionNamespacedDeployment"),
            format!("get {all} list listAppsV1NamespacedDeployment"),
            format!("post {all} post createAppsV1NamespacedDeployment"),
            format!("delete {all}/{{name}} delete deleteAppsV1NamespacedDeployment"),
            format!("get {all}/{{name}} get readAppsV1NamespacedDeployment"),
            format!("patch {all}/{{name}} patch patchAppsV1NamespacedDeployment"),
            format!("put {all}/{{name}} put replaceAppsV1NamespacedDeployment"),
            format!("get {all}/{{name}}/scale get readAppsV1NamespacedDeploymentScale"),
            format!("patch {all}/{{name}}/scale patch patchAppsV1NamespacedDeploymentScale"),
            format!("put {all}/{{name}}/scale put replaceAppsV1NamespacedDeploymentScale"),
            format!("get {all}/{{name}}/status get readAppsV1NamespacedDeploymentStatus"),
            format!("patch {all}/{{name}}/status patch patchAppsV1NamespacedDeploymentStatus"),
            format!("put {all}/{{name}}/status put replaceAppsV1NamespacedDeploymentStatus"),
        ]
    );
}

#[test]
fn a_patch_takes_field_validation_and_names_its_kind() {
    let document = apps();
    let patch =
        &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
    let parameters = patch["parameters"].as_array().expect("parameters");
    assert!(
        parameters
            .iter()
            .any(|one| one["name"] == "fieldValidation" && one["in"] == "query")
    );
    assert_eq!(
        patch["x-kubernetes-group-version-kind"],
        json!({"group": "apps", "version": "v1", "kind": "Deployment"})
    );
}

#[test]
fn a_scale_is_a_scale() {
    let document = apps();
    let read =
        &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]["get"];
    assert_eq!(
        read["x-kubernetes-group-version-kind"],
        json!({"group": "autoscaling", "version": "v1", "kind": "Scale"})
    );
}

#[test]
fn a_custom_resource_is_described_by_its_schema_and_takes_no_strategic_patch() {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}});
    let custom = Resource {
        custom: Some(&schema),
        ..resource(Gvk::new("stable.example.org", "v1", "Widget"), "widgets")
    };
    let documents = Documents::new(Schema::builtin(), &[custom]);
    let document = parsed(&documents, "apis/stable.example.org/v1");
    let widget = &document["components"]["schemas"]["org.example.stable.v1.Widget"];
    assert_eq!(widget["properties"]["spec"], schema["properties"]["spec"]);
    assert!(widget["properties"]["metadata"].is_object());
    assert_eq!(
        widget["x-kubernetes-group-version-kind"],
        json!([{"group": "stable.example.org", "version": "v1", "kind": "Widget"}])
    );
    let patch = &document["paths"]["/apis/stable.example.org/v1/namespaces/{namespace}/widgets/{name}"]
        ["patch"];
    let types = patch["requestBody"]["content"].as_object().expect("types");
    assert!(!types.contains_key("application/strategic-merge-patch+json"));
}

#[test]
fn a_resource_of_an_unknown_kind_is_left_out() {
    let unknown = resource(Gvk::new("example.org", "v1", "Thing"), "things");
    let documents = Documents::new(Schema::builtin(), &[unknown]);
    assert_eq!(
        parsed(&documents, "apis/example.org/v1")["paths"],
        json!({})
    );
}

#[test]
fn a_read_only_resource_can_be_listed_and_read() {
    let metrics = Resource {
        access: Access::ReadOnly,
        ..resource(Gvk::new("metrics.k8s.io", "v1beta1", "PodMetrics"), "pods")
    };
    let document = parsed(
        &Documents::new(Schema::builtin(), &[metrics]),
        "apis/metrics.k8s.io/v1beta1",
    );
    for page in document["paths"].as_object().expect("paths").values() {
        let methods: Vec<&String> = page.as_object().expect("a page").keys().collect();
        assert_eq!(methods, ["get", "parameters"]);
    }
}
