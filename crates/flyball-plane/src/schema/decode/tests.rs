//! Rows of what the decoder says about a document.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const DEPLOYMENT: Gvk<'static> = Gvk::new("apps", "v1", "Deployment");
const POD: Gvk<'static> = Gvk::new("", "v1", "Pod");

fn decode(gvk: Gvk<'_>, document: &str) -> Result<Decoded, DecodeError> {
    Schema::builtin().decode(gvk, document.as_bytes())
}

#[track_caller]
fn check_strict(gvk: Gvk<'_>, document: &str, wanted: &[&str]) {
    let decoded = decode(gvk, document).expect("a document that can be read");
    assert_eq!(decoded.strict, wanted);
}

#[track_caller]
fn check_error(gvk: Gvk<'_>, document: &str, wanted: &str) {
    let error = decode(gvk, document).expect_err("a document that cannot be read");
    assert_eq!(error.to_string(), wanted);
}

#[track_caller]
fn check_object(gvk: Gvk<'_>, document: &str, wanted: &Value) {
    let decoded = decode(gvk, document).expect("a document that can be read");
    assert_eq!(&decoded.object, wanted);
}

#[test]
fn unknown_fields_are_told_with_their_path_and_dropped() {
    let document = r#"{"kind":"Deployment","x":1,"spec":{"replicas":2,"foo":{"a":1},"template":{"spec":{"containers":[{"name":"a"},{"nam":"b"}]}}}}"#;
    check_strict(
        DEPLOYMENT,
        document,
        &[
            r#"unknown field "x""#,
            r#"unknown field "spec.foo""#,
            r#"unknown field "spec.template.spec.containers[1].nam""#,
        ],
    );
    check_object(
        DEPLOYMENT,
        document,
        &json!({"kind": "Deployment", "spec": {"replicas": 2, "template": {"spec": {"containers": [{"name": "a"}, {}]}}}}),
    );
}

#[test]
fn fields_that_come_twice_are_told_and_the_last_one_counts() {
    let document =
        r#"{"metadata":{"labels":{"a":"1","a":"2"}},"spec":{"replicas":1,"replicas":3}}"#;
    check_strict(
        DEPLOYMENT,
        document,
        &[
            r#"duplicate field "metadata.labels.a""#,
            r#"duplicate field "spec.replicas""#,
        ],
    );
    check_object(
        DEPLOYMENT,
        document,
        &json!({"metadata": {"labels": {"a": "2"}}, "spec": {"replicas": 3}}),
    );
}

#[test]
fn a_problem_is_told_once_and_a_hundred_at_most() {
    check_strict(POD, r#"{"x":1,"x":2}"#, &[r#"unknown field "x""#]);
    let fields: Vec<String> = (0..150).map(|n| format!("\"x{n}\":1")).collect();
    let document = format!("{{{}}}", fields.join(","));
    assert_eq!(decode(POD, &document).map(|one| one.strict.len()), Ok(100));
}

#[test]
fn nobody_looks_inside_raw_values() {
    let document = r#"{"metadata":{"managedFields":[{"fieldsV1":{"f:spec":{"a":1,"a":2}}}]}}"#;
    check_strict(POD, document, &[]);
}

#[test]
fn a_wrong_type_is_told_as_go_tells_it() {
    for (document, wanted) in [
        (
            r#"{"spec":{"replicas":"3"}}"#,
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":{"replicas":1.5}}"#,
            "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":{"replicas":3000000000}}"#,
            "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":[]}"#,
            "json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec",
        ),
        (
            r#"{"spec":{"template":{"spec":{"containers":[{"env":[{"name":"a","value":1}]}]}}}}"#,
            "json: cannot unmarshal number into Go struct field EnvVar.spec.template.spec.containers.env.value of type string",
        ),
        (
            r#"{"spec":{"template":{"spec":{"containers":{}}}}}"#,
            "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        (
            r#"{"metadata":{"labels":{"a":1}}}"#,
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            r#"{"metadata":{"labels":["a"]}}"#,
            "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        ),
        (
            r#"{"spec":{"strategy":{"rollingUpdate":{"maxSurge":true}}}}"#,
            "json: cannot unmarshal bool into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
        ),
        (
            "[]",
            "json: cannot unmarshal array into Go value of type v1.Deployment",
        ),
    ] {
        check_error(DEPLOYMENT, document, wanted);
    }
}

#[test]
fn the_first_wrong_type_wins_unless_a_value_cannot_be_parsed() {
    check_error(
        DEPLOYMENT,
        r#"{"spec":{"paused":"x","replicas":"y"}}"#,
        "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.paused of type bool",
    );
    check_error(
        DEPLOYMENT,
        r#"{"spec":{"paused":"x"},"metadata":{"creationTimestamp":"soon"}}"#,
        r#"parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006""#,
    );
}

#[test]
fn a_wrong_type_after_a_strategic_merge_is_told_as_the_converter_tells_it() {
    for (value, wanted) in [
        (
            json!({"spec": {"replicas": "3"}}),
            "unrecognized type: int32",
        ),
        (json!({"spec": "x"}), "cannot restore struct from: string"),
        (
            json!({"spec": {"template": {"spec": {"containers": 1}}}}),
            "cannot restore slice from int64",
        ),
        (
            json!({"metadata": {"labels": "x"}}),
            "cannot restore map from string",
        ),
    ] {
        let got = Schema::builtin().decode_value(DEPLOYMENT, &value, Origin::Merged);
        assert_eq!(got, Err(DecodeError::Mismatch(wanted.into())), "{value}");
    }
}

#[test]
fn quantities_are_kept_in_canonical_form() {
    let pod = |cpu: &str| {
        format!(r#"{{"spec":{{"containers":[{{"resources":{{"requests":{{"cpu":{cpu}}}}}}}]}}}}"#)
    };
    for (written, kept) in [
        (r#""0.5""#, "500m"),
        ("2", "2"),
        ("0.1", "100m"),
        (r#""1000m""#, "1"),
    ] {
        let wanted = json!({"spec": {"containers": [{"resources": {"requests": {"cpu": kept}}}]}});
        check_object(POD, &pod(written), &wanted);
    }
    check_error(
        POD,
        &pod(r#""much""#),
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
}

#[test]
fn times_are_kept_in_utc_and_to_their_precision() {
    check_object(
        POD,
        r#"{"metadata":{"creationTimestamp":"2026-01-02T03:04:05.678+02:00"}}"#,
        &json!({"metadata": {"creationTimestamp": "2026-01-02T01:04:05Z"}}),
    );
    check_object(
        Gvk::new("coordination.k8s.io", "v1", "Lease"),
        r#"{"spec":{"renewTime":"2026-01-02T03:04:05.678Z"}}"#,
        &json!({"spec": {"renewTime": "2026-01-02T03:04:05.678000Z"}}),
    );
}

#[test]
fn null_leaves_a_field_out_and_an_element_empty() {
    check_object(
        POD,
        r#"{"metadata":{"creationTimestamp":null,"labels":{"a":null},"finalizers":[null]},"spec":{"containers":[null]}}"#,
        &json!({"metadata": {"labels": {"a": ""}, "finalizers": [""]}, "spec": {"containers": [{}]}}),
    );
}

#[test]
fn secret_data_must_be_base64() {
    let secret = Gvk::new("", "v1", "Secret");
    check_object(
        secret,
        r#"{"data":{"a":"aGk="}}"#,
        &json!({"data": {"a": "aGk="}}),
    );
    check_error(
        secret,
        r#"{"data":{"a":"a!b="}}"#,
        "illegal base64 data at input byte 1",
    );
}

#[test]
fn a_kind_that_is_not_built_in_is_kept_whole() {
    let gvk = Gvk::new("example.org", "v1", "Thing");
    let document = r#"{"spec":{"a":1,"a":2,"b":null}}"#;
    check_strict(gvk, document, &[r#"duplicate field "spec.a""#]);
    check_object(gvk, document, &json!({"spec": {"a": 2, "b": null}}));
}

#[test]
fn what_is_not_json_is_told_apart() {
    for document in ["", "{", "{} x", "nonsense"] {
        let got = decode(POD, document);
        assert!(
            matches!(got, Err(DecodeError::Syntax(_))),
            "{document}: {got:?}"
        );
    }
}

#[test]
fn the_messages_around_a_problem_are_upstreams() {
    let decoded = decode(DEPLOYMENT, r#"{"spec":{"foo":1,"bar":2}}"#).expect("readable");
    assert_eq!(
        unreadable(DEPLOYMENT, &strict_error(&decoded.strict)),
        r#"Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.foo", unknown field "spec.bar""#
    );
}

/// JSON of any shape whose keys are fields of a Pod.
fn any_json() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "metadata",
        "labels",
        "creationTimestamp",
        "spec",
        "containers",
        "ports",
        "containerPort",
        "resources",
        "requests",
        "managedFields",
        "fieldsV1",
        "targetPort",
        "httpGet",
        "port",
        "livenessProbe",
        "x",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec!["a", "1", "2026-01-02T03:04:05Z"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(key.clone().prop_map(String::from), inner, 0..6)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn what_was_decoded_decodes_to_itself_without_problems(value in any_json()) {
        let schema = Schema::builtin();
        if let Ok(first) = schema.decode(POD, value.to_string().as_bytes()) {
            let second = schema.decode_value(POD, &first.object, Origin::Document);
            prop_assert_eq!(second, Ok(Decoded { object: first.object, strict: Vec::new() }));
        }
    }
}

/// Documents as the genuine library decoded them, see `fixtures/apimachinery`.
const DOCUMENTS: &str = include_str!("../../../../../fixtures/apimachinery/documents.jsonl");

#[test]
fn documents_have_the_problems_they_have_upstream() {
    for line in DOCUMENTS.lines() {
        let call: Value = serde_json::from_str(line).expect("a line is JSON");
        let gvk = match call["kind"].as_str() {
            Some("Pod") => POD,
            _ => DEPLOYMENT,
        };
        let got = decode(gvk, call["document"].as_str().expect("text"));
        match call["error"].as_str() {
            Some(error) => assert_eq!(
                got.map_err(|error| error.to_string()),
                Err(error.to_owned()),
                "{line}"
            ),
            None => assert_eq!(
                got.map(|one| serde_json::json!(one.strict)),
                Ok(call["strict"].clone()),
                "{line}"
            ),
        }
    }
}
