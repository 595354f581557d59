//! The description of a column.

use serde_json::{Value, json};

use crate::schema::{Gvk, Node, Schema};

/// A column of a built-in kind.
#[derive(Debug)]
pub(super) struct Column {
    name: &'static str,
    kind: &'static str,
    format: &'static str,
    /// 0 is always shown, 1 only in wide output.
    priority: i32,
    meaning: Meaning,
}

/// Where a column's description comes from.
#[derive(Debug)]
enum Meaning {
    Text(&'static str),
    /// The description of a field of a type.
    Field(Gvk<'static>, &'static [&'static str]),
}

const POD: Gvk<'static> = Gvk::new("", "v1", "Pod");

impl Column {
    /// The name of the object, which kubectl prefixes with the kind where it lists several.
    pub(super) const NAME: Self = Self {
        format: "name",
        ..Self::text("Name").field(POD, &["metadata", "name"])
    };
    /// Time since creation.
    pub(super) const AGE: Self = Self::text("Age").field(POD, &["metadata", "creationTimestamp"]);
    pub(super) const CONTAINERS: Self = Self::text("Containers")
        .meaning("Names of each container in the template.")
        .wide();
    pub(super) const IMAGES: Self = Self::text("Images")
        .meaning("Images referenced by each container in the template.")
        .wide();

    pub(super) const fn text(name: &'static str) -> Self {
        Self::of(name, "string")
    }

    pub(super) const fn integer(name: &'static str) -> Self {
        Self::of(name, "integer")
    }

    pub(super) const fn date(name: &'static str) -> Self {
        Self::of(name, "date")
    }

    const fn of(name: &'static str, kind: &'static str) -> Self {
        Self {
            name,
            kind,
            format: "",
            priority: 0,
            meaning: Meaning::Text(""),
        }
    }

    /// Described by a sentence of its own.
    pub(super) const fn meaning(self, text: &'static str) -> Self {
        Self {
            meaning: Meaning::Text(text),
            ..self
        }
    }

    /// Described as the field it shows.
    pub(super) const fn field(self, gvk: Gvk<'static>, path: &'static [&'static str]) -> Self {
        Self {
            meaning: Meaning::Field(gvk, path),
            ..self
        }
    }

    /// Shown in wide output alone.
    pub(super) const fn wide(self) -> Self {
        Self {
            priority: 1,
            ..self
        }
    }

    /// As an element of `columnDefinitions`.
    pub(super) fn define(&self, schema: &Schema) -> Value {
        let description = match self.meaning {
            Meaning::Text(text) => text,
            Meaning::Field(gvk, path) => describe(schema, gvk, path).unwrap_or_default(),
        };
        json!({
            "name": self.name,
            "type": self.kind,
            "format": self.format,
            "description": description,
            "priority": self.priority,
        })
    }
}

fn describe<'s>(schema: &'s Schema, gvk: Gvk<'_>, path: &[&str]) -> Option<&'s str> {
    let root = schema.kind(gvk)?;
    path.iter()
        .try_fold(root, |node, field| node.field(field))
        .and_then(Node::description)
}
