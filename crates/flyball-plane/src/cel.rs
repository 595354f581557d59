//! CEL over Kubernetes objects: rules of schemas (`x-kubernetes-validations`) compiled once and evaluated. The language and
//! Kubernetes' functions are `kube_cel`'s. Source: apiextensions apiserver/schema/cel/validation.go. Upstream's cost limits are
//! not estimated here; objects are bounded by the size of a request.

use std::fmt;

use flyball_api::field::{FieldErrorKind, FieldPath};
use kube_cel::{CompiledSchema, compile_schema, validate_compiled};
use serde_json::Value;

use crate::field::{self, FieldError};

/// The rules of a schema, compiled.
pub(crate) struct Rules {
    compiled: CompiledSchema,
    schema: Value,
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rules")
    }
}

impl Rules {
    /// The rules of an `openAPIV3Schema`; `None` when it has none.
    pub(crate) fn of(schema: &Value) -> Option<Self> {
        has_rules(schema).then(|| Self {
            compiled: compile_schema(schema),
            schema: schema.clone(),
        })
    }

    /// Adds the problems the rules find in `object`; `old` is what it was. Rules are not evaluated when what was found before
    /// says that values are not of their types.
    pub(crate) fn check(
        &self,
        object: &Value,
        old: Option<&Value>,
        problems: &mut Vec<FieldError>,
    ) {
        let blocks = |problem: &FieldError| {
            matches!(
                problem.kind,
                FieldErrorKind::NotSupported
                    | FieldErrorKind::Required
                    | FieldErrorKind::TooLong
                    | FieldErrorKind::TooMany
                    | FieldErrorKind::TypeInvalid
            )
        };
        if problems.iter().any(blocks) {
            let why = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
            problems.push(field::invalid(
                FieldPath::nil().to_string(),
                Value::Null,
                why,
            ));
            return;
        }
        if let Err(errors) = validate_compiled(&self.compiled, object, old) {
            problems.extend(errors.into_vec().into_iter().map(|error| {
                let path = match error.field_path.as_str() {
                    "" => FieldPath::nil(),
                    path => FieldPath::new(path),
                };
                let kind = self.kind_at(&error.field_path);
                match error.reason.as_deref() {
                    Some("FieldValueRequired") => FieldError::required(&path, error.message),
                    Some("FieldValueForbidden") => FieldError::forbidden(&path, error.message),
                    Some("FieldValueDuplicate") => FieldError::duplicate(&path, kind),
                    _ => FieldError::invalid(&path, kind, error.message),
                }
            }));
        }
    }

    /// The type of the schema at a printed path, which upstream shows in the place of the value.
    fn kind_at(&self, path: &str) -> &str {
        let names = path.split(['.', '[']).filter(|name| !name.is_empty());
        let found = names.fold(&self.schema, |at, name| {
            let inner = &at["properties"][name];
            let of_list = name.ends_with(']') && at["items"].is_object();
            match (inner.is_null(), of_list) {
                (false, _) => inner,
                (true, true) => &at["items"],
                (true, false) => &at["additionalProperties"],
            }
        });
        found["type"].as_str().unwrap_or("object")
    }
}

fn has_rules(schema: &Value) -> bool {
    let mut todo = vec![schema];
    while let Some(one) = todo.pop() {
        match one {
            Value::Object(fields) => {
                if fields.contains_key("x-kubernetes-validations") {
                    return true;
                }
                todo.extend(fields.values());
            }
            Value::Array(items) => todo.extend(items),
            _ => {}
        }
    }
    false
}

/// The problems of a rule itself, which stands at `path`.
pub(crate) fn compile_problems(rule: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut problems = Vec::new();
    for name in ["rule", "messageExpression"] {
        let text = rule[name].as_str().unwrap_or_default();
        if text.is_empty() {
            continue;
        }
        if let Err(error) = kube_cel::cel::Program::compile(text) {
            let detail = format!("compilation failed: {error}");
            problems.push(field::invalid(
                path.child(name).to_string(),
                rule.clone(),
                detail,
            ));
        }
    }
    problems
}
