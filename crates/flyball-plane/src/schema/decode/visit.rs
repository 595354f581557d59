//! The walk through a document beside its type.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::scalar;
use super::state::State;
use crate::schema::{Node, Shape};

/// What is known of the value about to be read.
#[derive(Clone, Copy)]
pub(super) enum Place<'s> {
    /// Its type.
    Typed(Node<'s>),
    /// Nothing, but fields that come twice are told.
    Untyped,
    /// Nothing, and nobody looks inside (upstream: types kept as raw bytes).
    Raw,
}

pub(super) struct Seed<'s, 'p> {
    pub(super) place: Place<'s>,
    pub(super) state: &'p mut State<'s>,
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'s> Seed<'s, '_> {
    fn inner(&mut self, place: Place<'s>) -> Seed<'s, '_> {
        Seed {
            place,
            state: self.state,
        }
    }

    fn scalar<E: serde::de::Error>(self, value: impl Into<Value>) -> Result<Value, E> {
        match self.place {
            Place::Typed(node) => scalar::read(node, value.into(), self.state),
            Place::Untyped | Place::Raw => Ok(value.into()),
        }
    }

    /// Reads an object into a struct: unknown fields are told and dropped, null fields left out.
    fn read_struct<'de, A: MapAccess<'de>>(
        mut self,
        node: Node<'s>,
        mut access: A,
    ) -> Result<Value, A::Error> {
        let owner = node.short_name().unwrap_or_default();
        let mut object = Map::new();
        let mut seen = BTreeSet::new();
        while let Some(key) = access.next_key::<String>()? {
            let Some((name, field)) = node.named_field(&key) else {
                self.state.unknown(&key);
                access.next_value::<IgnoredAny>()?;
                continue;
            };
            if !seen.insert(name) {
                self.state.duplicate(name);
            }
            let mark = self.state.mark();
            self.state.enter_field(owner, name);
            let value = access.next_value_seed(self.inner(Place::of(field)))?;
            self.state.back_to(&mark);
            if value.is_null() {
                object.remove(name);
            } else {
                object.insert(key, value);
            }
        }
        Ok(Value::Object(object))
    }

    /// Reads an object whose keys are data.
    fn read_map<'de, A: MapAccess<'de>>(
        mut self,
        place: Place<'s>,
        mut access: A,
    ) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if object.contains_key(&key) && !matches!(place, Place::Raw) {
                self.state.duplicate(&key);
            }
            let mark = self.state.mark();
            self.state.enter_key(&key);
            let value = access.next_value_seed(self.inner(place))?;
            self.state.back_to(&mark);
            object.insert(key, place.or_zero(value));
        }
        Ok(Value::Object(object))
    }

    fn read_list<'de, A: SeqAccess<'de>>(
        mut self,
        place: Place<'s>,
        mut access: A,
    ) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        loop {
            let mark = self.state.mark();
            self.state.enter_index(items.len());
            let value = access.next_element_seed(self.inner(place))?;
            self.state.back_to(&mark);
            match value {
                Some(value) => items.push(place.or_zero(value)),
                None => return Ok(Value::Array(items)),
            }
        }
    }

    /// Answers an object or list that stands where something else belongs.
    fn misplaced<E: serde::de::Error>(self, node: Node<'s>, value: Value) -> Result<Value, E> {
        match node.shape() {
            shape @ (Shape::Struct | Shape::Map | Shape::List) => {
                scalar::mismatch(node, shape, &value, self.state);
                Ok(Value::Null)
            }
            _ => scalar::read(node, value, self.state),
        }
    }
}

impl<'s> Place<'s> {
    fn of(node: Node<'s>) -> Self {
        match node.shape() {
            Shape::Opaque => Self::Raw,
            _ => Self::Typed(node),
        }
    }

    fn of_inner(node: Option<Node<'s>>) -> Self {
        node.map_or(Self::Raw, Self::of)
    }

    /// What Go keeps for a null in a list or map: the zero value of the type.
    fn or_zero(self, value: Value) -> Value {
        let Self::Typed(node) = self else {
            return value;
        };
        if !value.is_null() {
            return value;
        }
        match node.shape() {
            Shape::Struct => Value::Object(Map::new()),
            Shape::String => "".into(),
            Shape::Quantity => "0".into(),
            Shape::Int32 | Shape::Int64 | Shape::Double | Shape::IntOrString => 0.into(),
            Shape::Boolean => false.into(),
            _ => value,
        }
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        self.scalar(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_string<E: serde::de::Error>(self, value: String) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        match self.place {
            Place::Typed(node) if node.shape() == Shape::List => {
                self.read_list(Place::of_inner(node.element()), access)
            }
            Place::Typed(node) => {
                while access.next_element::<IgnoredAny>()?.is_some() {}
                self.misplaced(node, Value::Array(Vec::new()))
            }
            place => self.read_list(place, access),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        match self.place {
            Place::Typed(node) if node.shape() == Shape::Struct => self.read_struct(node, access),
            Place::Typed(node) if node.shape() == Shape::Map => {
                self.read_map(Place::of_inner(node.value()), access)
            }
            Place::Typed(node) => {
                while access.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                self.misplaced(node, Value::Object(Map::new()))
            }
            place => self.read_map(place, access),
        }
    }
}
