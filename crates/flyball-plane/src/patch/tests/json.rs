//! JSON patch: what each operation does, and what upstream says when it cannot.

use serde_json::json;

use crate::patch::PatchError;
use crate::patch::json::apply;

#[test]
fn operations_apply_in_order() {
    let document =
        json!({"spec": {"replicas": 1, "args": ["a", "b"]}, "metadata": {"labels": {"a/b": "x"}}});
    let patch = json!([
        {"op": "test", "path": "/spec/replicas", "value": 1},
        {"op": "replace", "path": "/spec/replicas", "value": 5},
        {"op": "add", "path": "/spec/args/-", "value": "c"},
        {"op": "add", "path": "/spec/args/0", "value": "first"},
        {"op": "remove", "path": "/spec/args/-1"},
        {"op": "remove", "path": "/metadata/labels/a~1b"},
        {"op": "copy", "from": "/spec/replicas", "path": "/spec/copied"},
        {"op": "move", "from": "/spec/copied", "path": "/spec/moved"},
        {"op": "replace", "path": "/spec/fresh", "value": null},
    ]);
    assert_eq!(
        apply(&document, &patch),
        Ok(
            json!({"spec": {"replicas": 5, "args": ["first", "a", "b"], "moved": 5, "fresh": null}, "metadata": {"labels": {}}})
        )
    );
}

#[test]
fn an_operation_that_does_not_fit_is_told_in_upstreams_words() {
    let document = json!({"spec": {"replicas": 1, "args": ["a"]}});
    for (operation, text) in [
        (
            json!({"op": "remove", "path": "/spec/x"}),
            "error in remove for path: '/spec/x': Unable to remove nonexistent key: x: missing value",
        ),
        (
            json!({"op": "add", "path": "/a/b", "value": 1}),
            r#"add operation does not apply: doc is missing path: "/a/b": missing value"#,
        ),
        (
            json!({"op": "replace", "path": "/spec/args/3", "value": 1}),
            "replace operation does not apply: doc is missing key: /spec/args/3: missing value",
        ),
        (
            json!({"op": "add", "path": "/spec/args/3", "value": 1}),
            "error in add for path: '/spec/args/3': Unable to access invalid index: 3: invalid index referenced",
        ),
        (
            json!({"op": "add", "path": "/spec/args/x", "value": 1}),
            "error in add for path: '/spec/args/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": invalid syntax",
        ),
        (
            json!({"op": "test", "path": "/spec/replicas", "value": 2}),
            "testing value /spec/replicas failed: test failed",
        ),
        (
            json!({"op": "jump", "path": "/spec"}),
            "Unexpected kind: jump",
        ),
        (json!({"path": "/spec"}), "Unexpected kind: unknown"),
        (
            json!({"op": "add", "value": 1}),
            "add operation failed to decode path: missing value",
        ),
        (
            json!({"op": "move", "path": "/spec"}),
            "move operation failed to decode from: operation, missing from field: missing value",
        ),
    ] {
        let got = apply(&document, &json!([operation]));
        assert_eq!(
            got,
            Err(PatchError::Unprocessable(text.into())),
            "{operation}"
        );
    }
}

#[test]
fn a_patch_that_is_no_list_of_operations_is_a_bad_request() {
    for (patch, text) in [
        (
            json!({"spec": 1}),
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ),
        (
            json!(["x"]),
            "error decoding patch: json: cannot unmarshal string into Go value of type handlers.jsonPatchOp",
        ),
    ] {
        assert_eq!(
            apply(&json!({}), &patch),
            Err(PatchError::BadRequest(text.into()))
        );
    }
}

#[test]
fn ten_thousand_operations_are_the_most() {
    let one = json!({"op": "add", "path": "/a", "value": 1});
    let patch = |count: usize| serde_json::Value::Array(vec![one.clone(); count]);
    assert_eq!(apply(&json!({}), &patch(10_000)), Ok(json!({"a": 1})));
    let text = apply(&json!({}), &patch(10_001)).map_err(|error| error.to_string());
    assert_eq!(
        text,
        Err("The allowed maximum operations in a JSON patch is 10000, got 10001".into())
    );
}
