//! A place in a type: what may stand there, how a patch treats it, and where its fields lead. Not here: values.

use serde_json::Value;

use super::Schema;

/// What may stand at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// An object with named fields.
    Struct,
    /// An object whose keys are data.
    Map,
    /// A list.
    List,
    /// Text.
    String,
    /// Base64 text of bytes.
    Bytes,
    /// RFC 3339 with seconds.
    Time,
    /// RFC 3339 with microseconds.
    MicroTime,
    /// A 32-bit integer.
    Int32,
    /// A 64-bit integer.
    Int64,
    /// A floating-point number.
    Double,
    /// `true` or `false`.
    Boolean,
    /// A resource quantity, text or number.
    Quantity,
    /// A 32-bit integer or text.
    IntOrString,
    /// Any JSON, kept as it came.
    Opaque,
}

/// How strategic merge patch treats a field (`patchStrategy` of upstream's struct tags).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// No strategy is named: objects merge, lists are replaced.
    Unnamed,
    /// Lists merge: by key, or as sets when their elements are scalars.
    Merge,
    /// The value is replaced whole.
    Replace,
}

/// One place in a type. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'a> {
    schema: &'a Schema,
    /// The field as its parent declares it: carries default and patch extensions.
    declared: &'a Value,
    /// The type itself: `declared`, or what it refers to.
    target: &'a Value,
    /// Name of the definition `target` is, when it has one.
    name: Option<&'a str>,
}

impl<'a> Node<'a> {
    pub(super) fn definition(schema: &'a Schema, name: &'a str, definition: &'a Value) -> Self {
        Self {
            schema,
            declared: definition,
            target: definition,
            name: Some(name),
        }
    }

    fn declared(self, declared: &'a Value) -> Self {
        let reference = declared["$ref"]
            .as_str()
            .or_else(|| declared["allOf"][0]["$ref"].as_str());
        let (name, target) = match reference.and_then(|text| self.schema.referenced(text)) {
            Some((name, target)) => (Some(name), target),
            None => (None, declared),
        };
        Self {
            schema: self.schema,
            declared,
            target,
            name,
        }
    }

    /// The named field of a struct.
    pub(crate) fn field(self, name: &str) -> Option<Self> {
        self.named_field(name).map(|(_, field)| field)
    }

    /// The named field of a struct, with the name as the type spells it.
    pub(super) fn named_field(self, name: &str) -> Option<(&'a str, Self)> {
        let properties = self.target["properties"].as_object()?;
        let (name, declared) = properties.get_key_value(name)?;
        Some((name, self.declared(declared)))
    }

    /// The element of a list.
    pub(crate) fn element(self) -> Option<Self> {
        Some(self.declared(self.target.get("items")?))
    }

    /// The value behind any key of a map.
    pub(crate) fn value(self) -> Option<Self> {
        Some(self.declared(self.target.get("additionalProperties")?))
    }

    /// What may stand here.
    pub(crate) fn shape(self) -> Shape {
        match self.short_name() {
            Some("Quantity") => return Shape::Quantity,
            Some("IntOrString") => return Shape::IntOrString,
            Some("Time") => return Shape::Time,
            Some("MicroTime") => return Shape::MicroTime,
            _ => {}
        }
        let format = self.target["format"].as_str();
        match self.target["type"].as_str() {
            Some("object") if self.target.get("properties").is_some() => Shape::Struct,
            Some("object") if self.target.get("additionalProperties").is_some() => Shape::Map,
            Some("array") => Shape::List,
            Some("string") if format == Some("byte") => Shape::Bytes,
            Some("string") => Shape::String,
            Some("integer") if format == Some("int64") => Shape::Int64,
            Some("integer") => Shape::Int32,
            Some("number") => Shape::Double,
            Some("boolean") => Shape::Boolean,
            _ => Shape::Opaque,
        }
    }

    /// The type's name without its package: `PodSpec`. `None` for a type without a definition of its own.
    pub(crate) fn short_name(self) -> Option<&'a str> {
        self.name?.rsplit('.').next()
    }

    /// The type as Go prints it: `v1.PodSpec`, `[]v1.Container`, `map[string]string`, `int32`.
    ///
    /// Note: named string types (`v1.Protocol`) are plain strings in a schema, so they read `string` here.
    pub(crate) fn go_type(self) -> String {
        match self.shape() {
            Shape::List => format!("[]{}", self.element().map_or_else(any, Self::go_type)),
            Shape::Map => format!(
                "map[string]{}",
                self.value().map_or_else(any, Self::go_type)
            ),
            Shape::String => "string".into(),
            Shape::Bytes => "[]uint8".into(),
            Shape::Int32 => "int32".into(),
            Shape::Int64 => "int64".into(),
            Shape::Double => "float64".into(),
            Shape::Boolean => "bool".into(),
            _ => self.package_and_name().unwrap_or_else(any),
        }
    }

    fn package_and_name(self) -> Option<String> {
        let mut parts = self.name?.rsplit('.');
        let name = parts.next()?;
        Some(format!("{}.{name}", parts.next()?))
    }

    /// The key that tells elements of a merging list apart (`patchMergeKey`): `name` for containers.
    pub(crate) fn merge_key(self) -> Option<&'a str> {
        self.declared["x-kubernetes-patch-merge-key"].as_str()
    }

    /// How strategic merge patch treats this field. `retainKeys` is a directive of the client and changes nothing here
    /// (upstream: `extractRetainKeysPatchStrategy`, whose first result the server drops).
    pub(crate) fn strategy(self) -> Strategy {
        let text = self.declared["x-kubernetes-patch-strategy"].as_str();
        match text.and_then(|all| all.split(',').find(|one| *one != "retainKeys")) {
            Some("merge") => Strategy::Merge,
            Some("replace") => Strategy::Replace,
            _ => Strategy::Unnamed,
        }
    }

    /// What the field means, for people.
    pub(crate) fn description(self) -> Option<&'a str> {
        self.declared["description"].as_str()
    }
}

/// Go's name for a value of any type.
fn any() -> String {
    "interface {}".into()
}
