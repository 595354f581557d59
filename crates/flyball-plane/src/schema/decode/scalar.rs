//! Single values: text, numbers, booleans, and the types that read themselves (time, quantity, int-or-string).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flyball_api::Quantity;
use flyball_api::go_text::quote;
use flyball_api::time::Time;
use jiff::Timestamp;
use serde_json::{Number, Value};

use super::Origin;
use super::state::State;
use crate::schema::{Node, Shape};

/// The pattern Go names when it cannot read a time.
const RFC3339: &str = "2006-01-02T15:04:05Z07:00";
const RFC3339_MICRO: &str = "2006-01-02T15:04:05.000000Z07:00";

/// `value`, a scalar, as the type at `node` keeps it. A wrong type is noted and answered with null; an unreadable
/// value of a type that reads itself is an error.
pub(super) fn read<'s, E: serde::de::Error>(
    node: Node<'s>,
    value: Value,
    state: &mut State<'s>,
) -> Result<Value, E> {
    match (node.shape(), value) {
        (Shape::Opaque, value) => Ok(value),
        (Shape::Quantity, value) => quantity(&value, state),
        (shape @ (Shape::Time | Shape::MicroTime), value) => time(shape, value, state),
        (Shape::String | Shape::IntOrString, Value::String(text)) => Ok(text.into()),
        (Shape::IntOrString, value) => match value.as_i64().map(i32::try_from) {
            Some(Ok(number)) => Ok(number.into()),
            _ => Err(wrong_inside(&value, "int32", state)),
        },
        (Shape::Boolean, Value::Bool(flag)) => Ok(flag.into()),
        (Shape::Bytes, Value::String(text)) => Ok(bytes(text, state)),
        (Shape::Double, Value::Number(number)) => Ok(number.into()),
        (Shape::Int32, Value::Number(number)) if is_i32(&number) => Ok(number.into()),
        (Shape::Int64, Value::Number(number)) if number.is_i64() => Ok(number.into()),
        (shape, value) => {
            mismatch(node, shape, &value, state);
            Ok(Value::Null)
        }
    }
}

/// Notes a value of the wrong type.
pub(super) fn mismatch<'s>(node: Node<'s>, shape: Shape, value: &Value, state: &mut State<'s>) {
    if state.origin == Origin::Merged {
        let kind = go_kind(value);
        state.inconvertible(match shape {
            Shape::Struct => format!("cannot restore struct from: {kind}"),
            Shape::Map => format!("cannot restore map from {kind}"),
            Shape::List | Shape::Bytes => format!("cannot restore slice from {kind}"),
            // Go converts numbers to each other and, in its own way, whole numbers to text; it refuses both here.
            Shape::String | Shape::Int32 | Shape::Int64
                if kind == "int64" || kind == "float64" && shape != Shape::String =>
            {
                format!("cannot convert {kind} to {}", node.go_type())
            }
            _ => format!("unrecognized type: {}", node.go_type()),
        });
        return;
    }
    let literal = match (shape, value) {
        (Shape::Int32 | Shape::Int64, Value::Number(number)) => format!("number {number}"),
        _ => json_kind(value).to_owned(),
    };
    state.mismatch(&literal, &node.go_type());
}

fn is_i32(number: &Number) -> bool {
    number
        .as_i64()
        .is_some_and(|value| i32::try_from(value).is_ok())
}

fn quantity<E: serde::de::Error>(value: &Value, state: &mut State<'_>) -> Result<Value, E> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match Quantity::parse(text.trim()) {
        Ok(quantity) => Ok(quantity.to_string().into()),
        Err(error) => Err(state.fail(error.to_string())),
    }
}

fn time<E: serde::de::Error>(
    shape: Shape,
    value: Value,
    state: &mut State<'_>,
) -> Result<Value, E> {
    let Value::String(text) = value else {
        return Err(wrong_inside(&value, "string", state));
    };
    let pattern = match shape {
        Shape::MicroTime => RFC3339_MICRO,
        _ => RFC3339,
    };
    // The API crate knows which notations Go reads; it keeps milliseconds, though, and a MicroTime has more.
    match (Time::parse(&text), text.parse::<Timestamp>(), shape) {
        (Ok(_), Ok(instant), Shape::MicroTime) => Ok(format!("{instant:.6}").into()),
        (Ok(time), Ok(_), _) => Ok(time.to_string().into()),
        _ => {
            let quoted = quote(&text);
            Err(state.fail(format!(
                "parsing time {quoted} as \"{pattern}\": cannot parse {quoted} as \"2006\""
            )))
        }
    }
}

fn bytes(text: String, state: &mut State<'_>) -> Value {
    match STANDARD.decode(&text) {
        Ok(_) => text.into(),
        Err(error) => {
            use base64::DecodeError::{InvalidByte, InvalidLastSymbol};
            let at = match error {
                InvalidByte(at, _) | InvalidLastSymbol(at, _) => at,
                _ => text.len(),
            };
            state.inconvertible(format!("illegal base64 data at input byte {at}"));
            Value::Null
        }
    }
}

/// A type error from inside a type that reads itself, which stops the decoding.
fn wrong_inside<E: serde::de::Error>(value: &Value, wanted: &str, state: &mut State<'_>) -> E {
    let literal = match value {
        Value::Number(number) if wanted == "int32" => format!("number {number}"),
        other => json_kind(other).to_owned(),
    };
    let error = state.unmarshal_error(&literal, wanted);
    state.fail(error)
}

/// What `encoding/json` calls a value it cannot store.
pub(crate) fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The Go kind a decoded value has.
fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
        other => json_kind(other),
    }
}
