//! Rows of metadata and every problem they have.

use serde_json::{Value, json};

use super::*;

/// Sound metadata with these fields instead of its own.
fn meta(changes: &Value) -> ObjectMeta {
    let mut json = json!({"name": "web", "namespace": "default", "resourceVersion": "1"});
    for (field, value) in changes.as_object().expect("changes are an object") {
        json[field] = value.clone();
    }
    serde_json::from_value(json).expect("the metadata of a test is well typed")
}

fn texts(problems: &[FieldError]) -> Vec<String> {
    problems.iter().map(FieldError::to_string).collect()
}

/// A new object with these changes has problems that begin so.
fn check_new(changes: &Value, problems: &[&str]) {
    let seen = texts(&check(
        &meta(changes),
        Scope::Namespaced,
        name::dns_subdomain,
    ));
    let fits = seen.len() == problems.len()
        && seen
            .iter()
            .zip(problems)
            .all(|(seen, start)| seen.starts_with(start));
    assert!(fits, "{changes}: {seen:#?}");
}

/// Changing an object from one to the other has exactly these problems.
fn check_change(old: &Value, new: &Value, problems: &[&str]) {
    assert_eq!(
        texts(&check_update(&meta(new), &meta(old))),
        problems,
        "{old} {new}"
    );
}

#[test]
fn names() {
    check_new(&json!({}), &[]);
    check_new(
        &json!({"name": ""}),
        &["metadata.name: Required value: name or generateName is required"],
    );
    check_new(
        &json!({"name": "A"}),
        &["metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain"],
    );
    check_new(&json!({"generateName": "web-"}), &[]);
    check_new(
        &json!({"generateName": "Web-"}),
        &["metadata.generateName: Invalid value: \"Web-\": a lowercase"],
    );
    check_new(
        &json!({"generateName": "-"}),
        &["metadata.generateName: Invalid value: \"-\": a lowercase"],
    );
}

#[test]
fn namespaces() {
    check_new(
        &json!({"namespace": ""}),
        &["metadata.namespace: Required value"],
    );
    check_new(
        &json!({"namespace": "a.b"}),
        &["metadata.namespace: Invalid value: \"a.b\": must not contain dots"],
    );
    let cluster = |namespace: &str| {
        check(
            &meta(&json!({"namespace": namespace})),
            Scope::Cluster,
            name::dns_label,
        )
    };
    assert_eq!(texts(&cluster("")), [""; 0]);
    assert_eq!(
        texts(&cluster("a")),
        ["metadata.namespace: Forbidden: not allowed on this type"]
    );
}

#[test]
fn labels_and_annotations() {
    check_new(
        &json!({"labels": {"_": "/", "a": "b"}}),
        &[
            "metadata.labels: Invalid value: \"_\": name part must",
            "metadata.labels: Invalid value: \"/\": a valid label",
        ],
    );
    check_new(&json!({"annotations": {"EXAMPLE.com/A": "/"}}), &[]);
    check_new(
        &json!({"annotations": {"_": ""}}),
        &["metadata.annotations: Invalid value: \"_\": name part must"],
    );
    check_new(
        &json!({"annotations": {"a": "x".repeat(256 * 1024 - 1)}}),
        &[],
    );
    check_new(
        &json!({"annotations": {"a": "x".repeat(256 * 1024)}}),
        &["metadata.annotations: Too long: may not be more than 262144 bytes"],
    );
}

#[test]
fn owners() {
    let owner = |version: &str, kind: &str, controller: bool| json!({"apiVersion": version, "kind": kind, "name": "n", "uid": "u", "controller": controller});
    check_new(
        &json!({"ownerReferences": [owner("v1", "K", true), owner("apps/v1", "K", false)]}),
        &[],
    );
    check_new(
        &json!({"ownerReferences": [{}]}),
        &[
            "metadata.ownerReferences[0].apiVersion: Required value: must not be empty",
            "metadata.ownerReferences[0].kind: Required value: must not be empty",
            "metadata.ownerReferences[0].name: Required value: must not be empty",
            "metadata.ownerReferences[0].uid: Required value: must not be empty",
        ],
    );
    for version in ["a/b/c", "apps/"] {
        let problem = format!(
            "metadata.ownerReferences[0].apiVersion: Invalid value: \"{version}\": must be <group>/<version> or <version>"
        );
        check_new(
            &json!({"ownerReferences": [owner(version, "K", false)]}),
            &[&problem],
        );
    }
    check_new(
        &json!({"ownerReferences": [owner("v1", "Event", false)]}),
        &[
            "metadata.ownerReferences[0]: Invalid value: {\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":\"n\",\"uid\":\"u\",\
           \"controller\":false}: /v1, Kind=Event is disallowed from being an owner",
        ],
    );
    let two = texts(&check(
        &meta(&json!({"ownerReferences": [owner("v1", "A", true), owner("v1", "B", true)]})),
        Scope::Namespaced,
        name::dns_subdomain,
    ));
    let words = "Only one reference can have Controller set to true. Found \"true\" in references for A/n and B/n";
    assert!(two.len() == 1 && two[0].ends_with(words), "{two:?}");
}

#[test]
fn finalizers() {
    check_new(&json!({"finalizers": ["orphan", "a/b"]}), &[]);
    check_new(
        &json!({"finalizers": ["_"]}),
        &["metadata.finalizers: Invalid value: \"_\": name part must"],
    );
    check_new(
        &json!({"finalizers": ["orphan", "foregroundDeletion"]}),
        &[
            "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan and foregroundDeletion \
           cannot be both set",
        ],
    );
    let named = meta(&json!({"finalizers": ["kubernetes", "mine", "example.com/mine"]}));
    assert_eq!(
        texts(&check_finalizer_names(&named)),
        [
            "metadata.finalizers[1]: Invalid value: \"mine\": name is neither a standard finalizer name nor is it fully qualified"
        ]
    );
}

#[test]
fn managed_fields() {
    let entry = json!({"manager": "a\u{7}", "operation": "x", "fieldsType": "V2", "subresource": "s".repeat(257)});
    check_new(
        &json!({"managedFields": [{"operation": "Apply", "fieldsType": "FieldsV1"}, entry, {"manager": "m".repeat(129)}]}),
        &[
            "metadata.managedFields[1].operation: Unsupported value: \"x\": supported values: \"Apply\", \"Update\"",
            "metadata.managedFields[1].fieldsType: Invalid value: \"V2\": must be `FieldsV1`",
            "metadata.managedFields[1].manager: Invalid value: \"a\\a\": invalid character U+0007 (at position 1)",
            "metadata.managedFields[1].subresource: Too long: may not be more than 256 bytes",
            "metadata.managedFields[2].operation: Required value: must not be empty",
            "metadata.managedFields[2].manager: Too long: may not be more than 128 bytes",
        ],
    );
}

#[test]
fn an_update_names_a_version_and_keeps_the_generation() {
    check_change(&json!({}), &json!({"generation": 1}), &[]);
    check_change(
        &json!({}),
        &json!({"resourceVersion": ""}),
        &["metadata.resourceVersion: Invalid value: \"\": must be specified for an update"],
    );
    check_change(
        &json!({"generation": 2}),
        &json!({"generation": -1}),
        &[
            "metadata.generation: Invalid value: -1: must be greater than or equal to 0",
            "metadata.generation: Invalid value: -1: must not be decremented",
        ],
    );
}

#[test]
fn an_update_cannot_change_what_an_object_is() {
    let old = json!({"uid": "u", "creationTimestamp": "2000-01-01T00:00:00Z"});
    check_change(&old, &old, &[]);
    let new = json!({
        "name": "b", "namespace": "b", "uid": "v",
        "creationTimestamp": "2000-01-01T00:00:01Z",
        "deletionTimestamp": "2000-01-01T00:00:02Z",
        "deletionGracePeriodSeconds": 3,
    });
    check_change(
        &old,
        &new,
        &[
            "metadata.name: Invalid value: \"b\": field is immutable",
            "metadata.namespace: Invalid value: \"b\": field is immutable",
            "metadata.uid: Invalid value: \"v\": field is immutable",
            "metadata.creationTimestamp: Invalid value: \"2000-01-01T00:00:01Z\": field is immutable",
            "metadata.deletionTimestamp: Invalid value: \"2000-01-01T00:00:02Z\": field is immutable",
            "metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable",
        ],
    );
}

#[test]
fn an_object_that_is_being_deleted_gets_no_new_finalizers() {
    let deleted = "2000-01-01T00:00:00Z";
    check_change(
        &json!({"deletionTimestamp": deleted, "finalizers": ["a/b", "c/d"]}),
        &json!({"deletionTimestamp": deleted, "finalizers": ["a/b"]}),
        &[],
    );
    check_change(
        &json!({"deletionTimestamp": deleted, "finalizers": ["a/b"]}),
        &json!({"deletionTimestamp": deleted, "finalizers": ["x/z", "x/y", "a/b"]}),
        &[
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new \
           finalizers []string{\"x/y\", \"x/z\"}",
        ],
    );
}
