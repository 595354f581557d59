//! Patches as `kubectl apply` makes them, from the last applied, the wanted and the live object: applied, they give
//! what was wanted, keep what others added, and do nothing the second time.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::strategic::deployment;
use crate::patch::strategic::apply;
use crate::schema::Node;

type Object = Map<String, Value>;

/// The strategic merge patch kubectl sends (upstream: `CreateThreeWayMergePatch`).
fn three_way(last: &Object, wanted: &Object, live: &Object, node: Node<'_>) -> Object {
    let mut patch = Object::new();
    for key in last.keys().filter(|key| !wanted.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in wanted {
        match (value, live.get(key)) {
            (Value::Object(value), Some(Value::Object(live))) => {
                let empty = Object::new();
                let last = last.get(key).and_then(Value::as_object).unwrap_or(&empty);
                let field = node
                    .field(key)
                    .or_else(|| node.value())
                    .expect("generated fields are known");
                let inner = three_way(last, value, live, field);
                if !inner.is_empty() {
                    patch.insert(key.clone(), Value::Object(inner));
                }
            }
            (Value::Array(value), Some(Value::Array(live))) => {
                let last = last.get(key).and_then(Value::as_array);
                let field = node.field(key).expect("generated fields are known");
                let lists = Lists {
                    last: last.map_or(&[], Vec::as_slice),
                    wanted: value,
                    live,
                };
                lists.patch(&mut patch, key, field);
            }
            (_, Some(live)) if live == value => {}
            _ => drop(patch.insert(key.clone(), value.clone())),
        }
    }
    patch
}

struct Lists<'a> {
    last: &'a [Value],
    wanted: &'a [Value],
    live: &'a [Value],
}

impl Lists<'_> {
    fn patch(&self, patch: &mut Object, name: &str, field: Node<'_>) {
        match field.merge_key() {
            Some(key) => self.keyed(patch, name, key, field),
            None => self.scalars(patch, name),
        }
    }

    fn keyed(&self, patch: &mut Object, name: &str, key: &str, field: Node<'_>) {
        let element = field.element().expect("a list");
        let find = |list: &[Value], id: &Value| {
            list.iter()
                .find(|one| &one[key] == id)
                .and_then(Value::as_object)
                .cloned()
        };
        let mut items = Vec::new();
        for wanted in self.wanted {
            let id = &wanted[key];
            match find(self.live, id) {
                None => items.push(wanted.clone()),
                Some(live) => {
                    let last = find(self.last, id).unwrap_or_default();
                    let wanted = wanted.as_object().expect("an object");
                    let mut inner = three_way(&last, wanted, &live, element);
                    if !inner.is_empty() {
                        inner.insert(key.into(), id.clone());
                        items.push(Value::Object(inner));
                    }
                }
            }
        }
        for gone in self
            .last
            .iter()
            .filter(|one| find(self.wanted, &one[key]).is_none())
        {
            items.push(json!({key: gone[key], "$patch": "delete"}));
        }
        let ids =
            |list: &[Value]| -> Value { list.iter().map(|one| json!({key: one[key]})).collect() };
        let changed = !items.is_empty() || ids(self.wanted) != ids(self.live);
        if changed && !self.wanted.is_empty() {
            patch.insert(format!("$setElementOrder/{name}"), ids(self.wanted));
        }
        if !items.is_empty() {
            patch.insert(name.into(), Value::Array(items));
        }
    }

    fn scalars(&self, patch: &mut Object, name: &str) {
        let missing = |from: &[Value], of: &[Value]| -> Vec<Value> {
            of.iter()
                .filter(|one| !from.contains(one))
                .cloned()
                .collect()
        };
        let (added, gone) = (
            missing(self.live, self.wanted),
            missing(self.wanted, self.last),
        );
        if self.wanted != self.live && !self.wanted.is_empty() {
            patch.insert(format!("$setElementOrder/{name}"), self.wanted.into());
        }
        if !added.is_empty() {
            patch.insert(name.into(), added.into());
        }
        if !gone.is_empty() {
            patch.insert(format!("$deleteFromPrimitiveList/{name}"), gone.into());
        }
    }
}

/// What apply promises: the wanted, plus what is live, was never ours, and lies in no element we took out.
fn promised(last: &Flat, wanted: &Flat, live: &Flat) -> Flat {
    let gone: Vec<&String> = last
        .keys()
        .filter(|path| path.ends_with(']') && !wanted.contains_key(*path))
        .collect();
    let is_foreign = |path: &String| {
        !last.contains_key(path) && !gone.iter().any(|element| path.starts_with(*element))
    };
    let foreign = live.iter().filter(|(path, _)| is_foreign(path));
    let mut all: Flat = foreign
        .map(|(path, value)| (path.clone(), value.clone()))
        .collect();
    all.extend(wanted.clone());
    all
}

/// Leaves and list elements by path. Elements of a keyed list are known by their key, scalars of a set by themselves.
type Flat = BTreeMap<String, Value>;

fn flatten(value: &Value, path: &str, node: Node<'_>, flat: &mut Flat) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let field = node
                    .field(key)
                    .or_else(|| node.value())
                    .expect("generated fields are known");
                flatten(inner, &format!("{path}.{key}"), field, flat);
            }
        }
        Value::Array(items) => {
            let element = node.element().expect("a list");
            for item in items {
                let id = node.merge_key().map_or(item, |key| &item[key]);
                let path = format!("{path}[{id}]");
                flat.insert(path.clone(), Value::Null);
                flatten(item, &path, element, flat);
            }
        }
        leaf => drop(flat.insert(path.into(), leaf.clone())),
    }
}

fn flat(value: &Value) -> Flat {
    let mut flat = Flat::new();
    flatten(value, "", deployment(), &mut flat);
    flat
}

fn object() -> impl Strategy<Value = Value> {
    let word = || prop::sample::select(vec!["a", "b", "c", "d"]);
    let labels = prop::collection::btree_map(word(), word(), 0..4);
    let env = prop::collection::btree_map(word(), word(), 0..4)
        .prop_shuffled(|name, value| json!({"name": name, "value": value}));
    let container = (word(), env).prop_map(|(image, env)| json!({"image": image, "env": env}));
    let containers =
        prop::collection::btree_map(word(), container, 0..4).prop_shuffled(|name, mut rest| {
            rest["name"] = name.into();
            rest
        });
    let finalizers = prop::collection::btree_set(word(), 0..4)
        .prop_map(Vec::from_iter)
        .prop_shuffle();
    (0..4, labels, containers, finalizers).prop_map(|(replicas, labels, containers, finalizers)| {
        json!({
            "metadata": {"labels": labels, "finalizers": finalizers},
            "spec": {"replicas": replicas, "template": {"spec": {"containers": containers}}},
        })
    })
}

/// Maps to shuffled lists of objects.
trait Shuffled: Strategy + Sized {
    fn prop_shuffled<K, V>(
        self,
        make: impl Fn(K, V) -> Value + Clone,
    ) -> impl Strategy<Value = Vec<Value>>
    where
        Self: Strategy<Value = BTreeMap<K, V>>,
    {
        self.prop_map(move |map| {
            map.into_iter()
                .map(|(key, value)| make.clone()(key, value))
                .collect::<Vec<_>>()
        })
        .prop_shuffle()
    }
}

impl<S: Strategy> Shuffled for S {}

fn names(value: &Value) -> Vec<Value> {
    let containers = value["spec"]["template"]["spec"]["containers"].as_array();
    containers
        .into_iter()
        .flatten()
        .map(|one| one["name"].clone())
        .collect()
}

proptest! {
    #[test]
    fn apply_gives_the_wanted_and_keeps_what_others_added(last in object(), wanted in object(), live in object()) {
        let objects = [&last, &wanted, &live].map(|one| one.as_object().expect("an object"));
        let patch = Value::Object(three_way(objects[0], objects[1], objects[2], deployment()));
        let patched = apply(&live, &patch, deployment()).map_err(|error| TestCaseError::fail(format!("{error}: {patch}")))?;
        prop_assert_eq!(flat(&patched), promised(&flat(&last), &flat(&wanted), &flat(&live)), "{}", patch);
        let ours: Vec<Value> = names(&patched).into_iter().filter(|name| names(&wanted).contains(name)).collect();
        prop_assert_eq!(ours, names(&wanted), "{}", patch);
        prop_assert_eq!(apply(&patched, &patch, deployment()), Ok(patched));
    }
}
