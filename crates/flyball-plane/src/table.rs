//! Server-side printing: objects as the Table that `kubectl get` shows, with upstream's columns and cells
//! (`pkg/printers/internalversion/printers.go`). Not here: who asks for a Table, and how it is laid out on a terminal.

use flyball_clock::UnixMs;
use serde_json::{Value, json};

use crate::custom::printer::Columns;
use crate::schema::{Gvk, Schema};

mod age;
mod autoscaler;
mod builtin;
mod column;
mod event;
mod job;
mod pod;
mod policy;
mod service;
mod workload;

use column::Column;

/// How much of each object a row carries (`includeObject` of the TableOptions).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IncludeObject {
    /// Nothing.
    None,
    /// Its metadata, as a PartialObjectMetadata: what kubectl asks for, and the default.
    #[default]
    Metadata,
    /// All of it.
    Object,
}

impl IncludeObject {
    /// The value of the query parameter; `None` for one upstream refuses.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "None" => Some(Self::None),
            "Metadata" | "" => Some(Self::Metadata),
            "Object" => Some(Self::Object),
            _ => None,
        }
    }
}

/// Whether the table describes its columns. A watch does so in its first event alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Headers {
    /// Columns are described.
    #[default]
    Shown,
    /// The reader knows them already.
    Omitted,
}

/// How a table is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// What rows carry.
    pub include: IncludeObject,
    /// Whether columns are described.
    pub headers: Headers,
    /// The instant ages are counted to.
    pub now_ms: UnixMs,
}

/// One object of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'a> {
    /// The form its cells are read from: `autoscaling/v2` for autoscalers, the core form for events.
    pub printed: &'a Value,
    /// The form the client asked for, which the row carries.
    pub served: &'a Value,
}

/// What fills the cells of a row.
type Cells = fn(&Value, UnixMs) -> Vec<Value>;

/// The columns of a kind and how its objects fill them.
#[derive(Debug)]
pub(crate) struct Printer {
    columns: &'static [Column],
    cells: Cells,
}

impl Printer {
    /// The printer of a kind; one with name and time of creation for a kind without columns of its own.
    pub(crate) fn of(gvk: Gvk<'_>) -> Self {
        let (columns, cells) = builtin::find(gvk);
        Self { columns, cells }
    }

    /// The `meta.k8s.io/v1` Table of these objects. `list` is the metadata of the list they are of, or of the one
    /// object: resourceVersion, continue, remainingItemCount.
    pub(crate) fn table(&self, items: &[Item<'_>], list: &Value, options: Options) -> Value {
        let columns = match options.headers {
            Headers::Shown => {
                let schema = Schema::builtin();
                let defined = self.columns.iter().map(|column| column.define(schema));
                defined.collect()
            }
            Headers::Omitted => Value::Null,
        };
        let rows = items.iter().map(|item| {
            let cells = (self.cells)(item.printed, options.now_ms);
            row(*item, &cells, options)
        });
        whole(&columns, &rows.collect::<Vec<_>>(), list)
    }
}

/// The Table of custom resources, whose definition tells their columns.
pub(crate) fn custom(
    columns: &Columns,
    items: &[Item<'_>],
    list: &Value,
    options: Options,
) -> Value {
    let definitions = match options.headers {
        Headers::Shown => std::iter::once(Column::NAME.define(Schema::builtin()))
            .chain(columns.definitions())
            .collect(),
        Headers::Omitted => Value::Null,
    };
    let rows = items.iter().map(|item| {
        let cells = columns.cells(item.served, options.now_ms);
        row(*item, &cells, options)
    });
    whole(&definitions, &rows.collect::<Vec<_>>(), list)
}

/// What upstream says of a column of ages.
pub(crate) const AGE_DESCRIPTION: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// The age of an instant, printed.
pub(crate) fn age_of(instant: &str, now_ms: UnixMs) -> Value {
    let holder = json!({"metadata": {"creationTimestamp": instant}});
    age::of(&holder, now_ms)
}

fn whole(columns: &Value, rows: &[Value], list: &Value) -> Value {
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": list,
        "columnDefinitions": columns,
        "rows": rows,
    })
}

fn row(item: Item<'_>, cells: &[Value], options: Options) -> Value {
    let object = match options.include {
        IncludeObject::None => Value::Null,
        IncludeObject::Object => item.served.clone(),
        IncludeObject::Metadata => json!({
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": item.printed["metadata"],
        }),
    };
    let mut row = json!({"cells": cells, "object": object});
    if let Some(condition) = pod::completed(item.printed) {
        row["conditions"] = json!([condition]);
    }
    row
}

/// The text at a path of field names, `""` where there is none.
fn text<'a>(object: &'a Value, path: &[&str]) -> &'a str {
    at(object, path).as_str().unwrap_or_default()
}

/// The integer at a path of field names, 0 where there is none, as a Go struct has it.
fn number(object: &Value, path: &[&str]) -> i64 {
    at(object, path).as_i64().unwrap_or_default()
}

/// The elements of the list at a path of field names.
fn list<'a>(object: &'a Value, path: &[&str]) -> &'a [Value] {
    at(object, path).as_array().map_or(&[], Vec::as_slice)
}

fn at<'a>(object: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(object, |value, field| &value[*field])
}

#[cfg(test)]
mod tests;
