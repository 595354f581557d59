//! Values against a schema, in the words of kube-openapi's validator. Source: kube-openapi pkg/validation/validate,
//! apiextensions apiserver/validation/validation.go `kubeOpenAPIResultToFieldErrors`. Not here: lists that are sets or maps
//! (`list_type`), CEL rules.

use flyball_api::field::FieldPath;
use flyball_api::go_text::quote;
use serde_json::{Number, Value};

use super::schema::{Additional, Schema};
use crate::field::{self, FieldError};

mod format;

/// The problems of a whole object, each told once.
pub(crate) fn check(object: &Value, schema: &Schema) -> Vec<FieldError> {
    let mut problems: Vec<FieldError> = Vec::new();
    for problem in value(object, schema, "").problems {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    problems
}

/// The problems of a part of an object that stands at `path`.
pub(crate) fn check_at(part: &Value, schema: &Schema, path: &str) -> Vec<FieldError> {
    value(part, schema, path).problems
}

/// What came out, and how many checks were made: of several alternatives, the one with most tells its problems.
#[derive(Default)]
struct Outcome {
    problems: Vec<FieldError>,
    checks: usize,
}

impl Outcome {
    fn merge(&mut self, other: Self) {
        self.problems.extend(other.problems);
        self.checks += other.checks;
    }

    fn is_good(&self) -> bool {
        self.problems.is_empty()
    }
}

fn at(path: &str) -> FieldPath {
    match path.trim_start_matches('.') {
        "" => FieldPath::nil(),
        path => FieldPath::new(path),
    }
}

fn invalid(path: &str, value: &Value, why: &str) -> FieldError {
    let text = format!("{path} in body {why}");
    field::invalid(at(path).to_string(), value.clone(), text)
}

/// A problem of the whole, of which upstream loses the place.
fn composite(path: &str, why: &str) -> FieldError {
    field::invalid(
        FieldPath::nil().to_string(),
        "",
        format!("{} {why}", quote(path)),
    )
}

fn value(value: &Value, schema: &Schema, path: &str) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.problems.extend(kind(value, schema, path));
    outcome.checks += 1;
    if value.is_null() {
        outcome.problems.extend(choice(value, schema, path));
        return outcome;
    }
    alternatives(value, schema, path, &mut outcome);
    match value {
        Value::String(text) => outcome.problems.extend(string(text, schema, path)),
        Value::Number(number) => outcome.problems.extend(number_bounds(number, schema, path)),
        Value::Array(items) => list(items, schema, path, &mut outcome),
        Value::Bool(_) | Value::Object(_) | Value::Null => {}
    }
    outcome.problems.extend(choice(value, schema, path));
    object(value, schema, path, &mut outcome);
    outcome.checks += 2;
    outcome
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn kind(value: &Value, schema: &Schema, path: &str) -> Option<FieldError> {
    let found = type_of(value);
    let wanted = if schema.int_or_string {
        "integer,string"
    } else {
        schema.kind.as_str()
    };
    let whole = value.as_f64().is_some_and(|number| number.fract() == 0.0);
    let fits = match (wanted, found) {
        (wanted, "null") => wanted.is_empty() || schema.nullable,
        ("", _) | ("integer,string", "integer" | "string") | ("number", "integer") => true,
        ("integer" | "integer,string", "number") => whole,
        (wanted, found) => wanted == found,
    };
    if fits {
        return None;
    }
    let text = format!("{path} in body must be of type {wanted}: {}", quote(found));
    Some(FieldError::type_invalid(&at(path), found, text))
}

fn choice(value: &Value, schema: &Schema, path: &str) -> Option<FieldError> {
    let choices = schema.choices.as_ref().filter(|all| !all.is_empty())?;
    if choices.contains(value) {
        return None;
    }
    let texts: Vec<String> = choices
        .iter()
        .map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    Some(field::not_supported(
        at(path).to_string(),
        value.clone(),
        &texts,
    ))
}

fn string(text: &str, schema: &Schema, path: &str) -> Option<FieldError> {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let told = Value::from(text);
    if let Some(max) = schema.length.max.filter(|max| length > *max) {
        return Some(FieldError::too_long(
            &at(path),
            usize::try_from(max).unwrap_or(0),
        ));
    }
    if let Some(min) = schema.length.min.filter(|min| length < *min) {
        return Some(invalid(
            path,
            &told,
            &format!("should be at least {min} chars long"),
        ));
    }
    if let Some((pattern, Some(regex))) = &schema.pattern
        && !regex.is_match(text)
    {
        return Some(invalid(path, &told, &format!("should match '{pattern}'")));
    }
    let is_text = matches!(schema.kind.as_str(), "" | "string");
    if is_text && !schema.format.is_empty() && !format::fits(&schema.format, text) {
        let why = format!(
            "{path} in body must be of type {}: {}",
            schema.format,
            quote(text)
        );
        return Some(FieldError::type_invalid(&at(path), text, why));
    }
    None
}

/// A number as Go prints a float.
fn plain(number: &Number) -> String {
    let text = number.to_string();
    text.strip_suffix(".0")
        .map_or_else(|| text.clone(), str::to_owned)
}

fn number_bounds(number: &Number, schema: &Schema, path: &str) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let told = Value::Number(number.clone());
    let found = number.as_f64().unwrap_or(0.0);
    let mut tell = |why: String| problems.push(invalid(path, &told, &why));
    if let Some(factor) = &schema.multiple_of {
        let ratio = found / factor.as_f64().unwrap_or(1.0);
        if ratio.fract() != 0.0 {
            tell(format!("should be a multiple of {}", plain(factor)));
        }
    }
    if let Some(max) = &schema.minimum {
        let bound = max.as_f64().unwrap_or(f64::MIN);
        if schema.exclusive_minimum && found <= bound {
            tell(format!("should be greater than {}", plain(max)));
        } else if !schema.exclusive_minimum && found < bound {
            tell(format!("should be greater than or equal to {}", plain(max)));
        }
    }
    if let Some(max) = &schema.maximum {
        let bound = max.as_f64().unwrap_or(f64::MAX);
        if schema.exclusive_maximum && found >= bound {
            tell(format!("should be less than {}", plain(max)));
        } else if !schema.exclusive_maximum && found > bound {
            tell(format!("should be less than or equal to {}", plain(max)));
        }
    }
    problems
}

fn list(items: &[Value], schema: &Schema, path: &str, outcome: &mut Outcome) {
    if let Some(known) = &schema.items {
        for (index, item) in items.iter().enumerate() {
            outcome.merge(value(item, known, &format!("{path}[{index}]")));
        }
    }
    let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
    if let Some(min) = schema.count.min.filter(|min| count < *min) {
        let why = format!("should have at least {min} items");
        outcome.problems.push(invalid(path, &count.into(), &why));
    }
    if let Some(max) = schema.count.max.filter(|max| count > *max) {
        let max = usize::try_from(max).unwrap_or(0);
        outcome
            .problems
            .push(FieldError::too_many(&at(path), items.len(), max));
    }
}

fn object(object: &Value, schema: &Schema, path: &str, outcome: &mut Outcome) {
    let Value::Object(fields) = object else {
        return;
    };
    let size = i64::try_from(fields.len()).unwrap_or(i64::MAX);
    if let Some(min) = schema.size.min.filter(|min| size < *min) {
        let why = format!("should have at least {min} properties");
        outcome.problems.push(invalid(path, &size.into(), &why));
    }
    if let Some(max) = schema.size.max.filter(|max| size > *max) {
        let max = usize::try_from(max).unwrap_or(0);
        outcome
            .problems
            .push(FieldError::too_many(&at(path), fields.len(), max));
    }
    let child = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    if let Additional::Of(known) = &schema.additional {
        for (name, inner) in fields {
            if !schema.properties.contains_key(name) {
                outcome.merge(value(inner, known, &child(name)));
            }
        }
    }
    for (name, known) in &schema.properties {
        if let Some(inner) = fields.get(name) {
            outcome.merge(value(inner, known, &child(name)));
        }
    }
    for name in &schema.required {
        if !fields.contains_key(name) {
            outcome
                .problems
                .push(FieldError::required(&at(&child(name)), ""));
        }
    }
    outcome.checks += 1;
}

/// Upstream: schema_props.go.
fn alternatives(of: &Value, schema: &Schema, path: &str, outcome: &mut Outcome) {
    if !schema.any_of.is_empty() {
        let tried = schema.any_of.iter().map(|one| value(of, one, path));
        let (good, best) = sorted(tried);
        if good == 0 {
            outcome
                .problems
                .push(composite(path, "must validate at least one schema (anyOf)"));
            outcome.merge(best);
        }
    }
    if !schema.one_of.is_empty() {
        let tried = schema.one_of.iter().map(|one| value(of, one, path));
        let (good, best) = sorted(tried);
        if good != 1 {
            let found = match good {
                0 => "Found none valid".to_owned(),
                many => format!("Found {many} valid alternatives"),
            };
            let why = format!("must validate one and only one schema (oneOf). {found}");
            outcome.problems.push(composite(path, &why));
        }
        if good == 0 {
            outcome.merge(best);
        }
    }
    if !schema.all_of.is_empty() {
        let mut good = 0;
        for one in &schema.all_of {
            let result = value(of, one, path);
            good += usize::from(result.is_good());
            outcome.merge(result);
        }
        if good != schema.all_of.len() {
            let none = if good == 0 { ". None validated" } else { "" };
            let why = format!("must validate all the schemas (allOf){none}");
            outcome.problems.push(composite(path, &why));
        }
    }
    if let Some(not) = &schema.not
        && value(of, not, path).is_good()
    {
        outcome
            .problems
            .push(composite(path, "must not validate the schema (not)"));
    }
}

/// How many are good, and the first bad one of those with most checks.
fn sorted(tried: impl Iterator<Item = Outcome>) -> (usize, Outcome) {
    let mut good = 0;
    let mut best: Option<Outcome> = None;
    for outcome in tried {
        if outcome.is_good() {
            good += 1;
        } else if best
            .as_ref()
            .is_none_or(|best| outcome.checks > best.checks)
        {
            best = Some(outcome);
        }
    }
    (good, best.unwrap_or_default())
}
