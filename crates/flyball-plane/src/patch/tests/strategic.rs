//! Strategic merge patch: one row per rule, on a Deployment's pod template and metadata.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::patch::PatchError;
use crate::patch::strategic::apply;
use crate::schema::{Gvk, Node, Schema};

pub(super) fn deployment() -> Node<'static> {
    let gvk = Gvk::new("apps", "v1", "Deployment");
    Schema::builtin().kind(gvk).expect("a built-in kind")
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "rows read better without borrows"
)]
fn in_pod(spec: Value) -> Value {
    json!({"spec": {"template": {"spec": spec}}})
}

#[track_caller]
fn check_pod(document: Value, patch: Value, wanted: Value) {
    let got = apply(&in_pod(document), &in_pod(patch), deployment());
    assert_eq!(got, Ok(in_pod(wanted)));
}

#[track_caller]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rows read better without borrows"
)]
fn check_error(patch: Value, wanted: &PatchError) {
    let document = in_pod(json!({"containers": [{"name": "web"}]}));
    assert_eq!(
        apply(&document, &patch, deployment()).as_ref(),
        Err(wanted),
        "{patch}"
    );
}

#[test]
fn list_elements_merge_by_their_key() {
    check_pod(
        json!({"containers": [{"name": "web", "image": "a:1", "args": ["x"]}, {"name": "side", "image": "s:1"}]}),
        json!({"containers": [{"name": "web", "image": "a:2"}]}),
        json!({"containers": [{"name": "web", "image": "a:2", "args": ["x"]}, {"name": "side", "image": "s:1"}]}),
    );
}

#[test]
fn a_new_element_goes_in_front_of_those_only_the_object_has() {
    check_pod(
        json!({"containers": [{"name": "a"}, {"name": "b"}]}),
        json!({"containers": [{"name": "c"}]}),
        json!({"containers": [{"name": "c"}, {"name": "a"}, {"name": "b"}]}),
    );
}

#[test]
fn patched_elements_take_the_order_of_the_patch_and_the_others_stay_between() {
    check_pod(
        json!({"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}),
        json!({"containers": [{"name": "c", "image": "1"}, {"name": "a", "image": "1"}]}),
        json!({"containers": [{"name": "b"}, {"name": "c", "image": "1"}, {"name": "a", "image": "1"}]}),
    );
}

#[test]
fn a_delete_directive_takes_an_element_out() {
    check_pod(
        json!({"containers": [{"name": "a"}, {"name": "b"}]}),
        json!({"containers": [{"name": "a", "$patch": "delete"}]}),
        json!({"containers": [{"name": "b"}]}),
    );
}

#[test]
fn a_replace_directive_in_a_list_drops_what_was_there() {
    check_pod(
        json!({"containers": [{"name": "a", "image": "1"}, {"name": "b"}]}),
        json!({"containers": [{"$patch": "replace"}, {"name": "a"}]}),
        json!({"containers": [{"name": "a"}]}),
    );
}

#[test]
fn a_replace_directive_in_an_object_drops_what_was_there() {
    check_pod(
        json!({"securityContext": {"runAsUser": 1, "fsGroup": 2}}),
        json!({"securityContext": {"$patch": "replace", "runAsUser": 3}}),
        json!({"securityContext": {"runAsUser": 3}}),
    );
    check_pod(
        json!({"securityContext": {"runAsUser": 1}}),
        json!({"securityContext": {"$patch": "delete"}}),
        json!({"securityContext": {}}),
    );
}

#[test]
fn set_element_order_orders_a_list_the_patch_leaves_alone() {
    check_pod(
        json!({"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}),
        json!({"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}]}),
        json!({"containers": [{"name": "b"}, {"name": "c"}, {"name": "a"}]}),
    );
}

#[test]
fn set_element_order_holds_with_an_addition_and_a_deletion() {
    check_pod(
        json!({"containers": [{"name": "a"}, {"name": "b"}, {"name": "live"}]}),
        json!({
            "$setElementOrder/containers": [{"name": "c"}, {"name": "b"}],
            "containers": [{"name": "c", "image": "1"}, {"name": "a", "$patch": "delete"}],
        }),
        json!({"containers": [{"name": "live"}, {"name": "c", "image": "1"}, {"name": "b"}]}),
    );
}

#[test]
fn a_list_without_a_strategy_is_replaced() {
    check_pod(
        json!({"tolerations": [{"key": "a"}]}),
        json!({"tolerations": [{"key": "b"}]}),
        json!({"tolerations": [{"key": "b"}]}),
    );
}

#[test]
fn retain_keys_clears_the_other_members_of_a_union() {
    check_pod(
        json!({"volumes": [{"name": "v", "emptyDir": {}}]}),
        json!({"volumes": [{"name": "v", "$retainKeys": ["name", "configMap"], "configMap": {"name": "c"}}]}),
        json!({"volumes": [{"name": "v", "configMap": {"name": "c"}}]}),
    );
}

#[test]
fn sets_of_scalars_grow_shrink_and_keep_one_of_each() {
    let finalizers = |list: Value| json!({"metadata": {"finalizers": list}});
    for (patch, wanted) in [
        (
            json!({"metadata": {"finalizers": ["c", "a"]}}),
            json!(["c", "a", "b"]),
        ),
        (
            json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}),
            json!(["b"]),
        ),
        (
            json!({"metadata": {
                "$deleteFromPrimitiveList/finalizers": ["a"],
                "$setElementOrder/finalizers": ["c", "b"],
                "finalizers": ["c"],
            }}),
            json!(["c", "b"]),
        ),
    ] {
        let got = apply(&finalizers(json!(["a", "b"])), &patch, deployment());
        assert_eq!(got, Ok(finalizers(wanted)), "{patch}");
    }
}

#[test]
fn null_deletes_and_leaves_no_trace_where_nothing_was() {
    let document = json!({"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"replicas": 1}});
    let patch = json!({"metadata": {"labels": {"a": null, "x": null}}, "spec": {"replicas": null, "strategy": {"type": "Recreate", "rollingUpdate": null}}});
    let wanted =
        json!({"metadata": {"labels": {"b": "2"}}, "spec": {"strategy": {"type": "Recreate"}}});
    assert_eq!(apply(&document, &patch, deployment()), Ok(wanted));
}

#[test]
fn an_element_without_its_key_is_named_as_go_prints_it() {
    check_error(
        in_pod(json!({"containers": [{"image": "a", "args": ["x", "y"]}]})),
        &PatchError::Internal(
            "map: map[args:[x y] image:a] does not contain declared merge key: name".into(),
        ),
    );
}

#[test]
fn a_malformed_directive_is_told_in_upstreams_words() {
    for (spec, wanted) in [
        (
            json!({"$patch": "merge"}),
            PatchError::Internal("unknown patch type: merge in map: map[$patch:merge]".into()),
        ),
        (
            json!({"containers": [{"name": "web", "$patch": "merge"}]}),
            PatchError::Internal("merging lists cannot yet be specified in the patch".into()),
        ),
        (
            json!({"containers": ["web"]}),
            PatchError::Internal(
                "list element types are not identical: [[map[name:web]] [web]]".into(),
            ),
        ),
        (
            json!({"containers": [["web"]], "$setElementOrder/containers": []}),
            PatchError::Internal(
                "list element types are not identical: [[map[name:web]] [[web]]]".into(),
            ),
        ),
        (
            json!({"$setElementOrder/containers": "web"}),
            PatchError::Internal("expected a []interface {}, but received a string".into()),
        ),
        (
            json!({"$setElementOrder/nonsense": []}),
            PatchError::Internal(
                "unable to find api field in struct PodSpec for the json field \"nonsense\"".into(),
            ),
        ),
        (
            json!({"$setElementOrder": []}),
            PatchError::BadRequest("invalid patch format of setElementOrder list".into()),
        ),
        (
            json!({"$deleteFromPrimitiveList": []}),
            PatchError::BadRequest("invalid patch format of primitive list".into()),
        ),
        (
            json!({"$retainKeys": ["containers"], "hostNetwork": true}),
            PatchError::BadRequest("invalid patch format of retainKeys".into()),
        ),
    ] {
        check_error(in_pod(spec), &wanted);
    }
}

#[test]
fn a_patch_whose_order_contradicts_the_order_asked_for_is_refused() {
    let patch = in_pod(json!({
        "$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
        "containers": [{"name": "a"}, {"name": "b"}],
    }));
    check_error(
        patch,
        &PatchError::Internal(
            "The order in patch list:\n[map[name:a] map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:b] map[name:a]]\n".into(),
        ),
    );
}

/// JSON of any shape, its keys drawn from those that mean something to a strategic merge.
fn any_json() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "spec",
        "template",
        "containers",
        "ports",
        "env",
        "volumes",
        "name",
        "containerPort",
        "labels",
        "metadata",
        "finalizers",
        "ownerReferences",
        "uid",
        "strategy",
        "$patch",
        "$retainKeys",
        "$setElementOrder/containers",
        "$setElementOrder/finalizers",
        "$setElementOrder",
        "$deleteFromPrimitiveList/finalizers",
        "x",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3_i64).prop_map(Value::from),
        prop::sample::select(vec!["a", "b", "delete", "replace", "merge"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone().prop_map(String::from), inner, 0..6)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn no_patch_makes_any_of_the_types_panic(document in any_json(), patch in any_json()) {
        drop(apply(&document, &patch, deployment()));
        drop(crate::patch::merge::apply(&document, &patch));
        drop(crate::patch::json::apply(&document, &patch));
    }
}

/// As kubectl 1.37.1 sent it for a manifest that lost a container and a variable and got a new image.
#[test]
fn a_patch_sent_by_kubectl_apply_takes_out_what_left_the_manifest() {
    check_pod(
        json!({"containers": [
            {"name": "x", "image": "a:1", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
            {"name": "z", "image": "b:1"},
        ]}),
        json!({
            "$setElementOrder/containers": [{"name": "x"}],
            "containers": [
                {"$setElementOrder/env": [{"name": "B"}], "env": [{"$patch": "delete", "name": "A"}], "image": "a:2", "name": "x"},
                {"$patch": "delete", "name": "z"},
            ],
        }),
        json!({"containers": [{"name": "x", "image": "a:2", "env": [{"name": "B", "value": "2"}]}]}),
    );
}

/// Upstream orders by a list its merge has already edited: the new element stands where the deleted one stood.
#[test]
fn an_element_that_replaces_another_takes_its_place_among_those_the_patch_does_not_name() {
    check_pod(
        json!({"containers": [{"name": "old"}, {"name": "live"}]}),
        json!({
            "$setElementOrder/containers": [{"name": "new"}],
            "containers": [{"name": "new"}, {"name": "old", "$patch": "delete"}],
        }),
        json!({"containers": [{"name": "live"}, {"name": "new"}]}),
    );
}
