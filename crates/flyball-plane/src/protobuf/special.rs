//! Messages whose JSON is not an object of their fields. Source: apimachinery {resource,intstr,meta/v1,runtime}/generated.proto.

use jiff::Timestamp;
use serde_json::Value;

use super::wire::{Field, Fields};
use super::{ProtobufError, text};

/// The JSON of a special message, `None` when `name` is an ordinary one.
pub(super) fn decode(name: &str, bytes: &[u8]) -> Result<Option<Value>, ProtobufError> {
    Ok(Some(match name {
        "Quantity" => first_bytes(bytes)?
            .map_or_else(|| Ok("0".into()), |bytes| text(bytes).map(Value::from))?,
        "Time" => time(bytes, 0)?,
        "MicroTime" => time(bytes, 6)?,
        "IntOrString" => int_or_string(bytes)?,
        "RawExtension" | "FieldsV1" => match first_bytes(bytes)? {
            Some(bytes) => serde_json::from_slice(bytes).map_err(|_| ProtobufError::Malformed)?,
            None => Value::Null,
        },
        _ => return Ok(None),
    }))
}

fn first_bytes(bytes: &[u8]) -> Result<Option<&[u8]>, ProtobufError> {
    for field in Fields(bytes) {
        if let (1, Field::Bytes(bytes)) = field? {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// A time; a zero one is empty on the wire and null in JSON.
fn time(bytes: &[u8], digits: usize) -> Result<Value, ProtobufError> {
    let (mut seconds, mut nanos) = (0_i64, 0_i32);
    for field in Fields(bytes) {
        match field? {
            (1, Field::Varint(number)) => seconds = number.cast_signed(),
            (2, Field::Varint(number)) => {
                nanos = i32::try_from(number).map_err(|_| ProtobufError::Malformed)?;
            }
            _ => {}
        }
    }
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let stamp = Timestamp::new(seconds, nanos).map_err(|_| ProtobufError::Malformed)?;
    Ok(format!("{stamp:.digits$}").into())
}

fn int_or_string(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let (mut is_text, mut number, mut words) = (false, 0_i64, String::new());
    for field in Fields(bytes) {
        match field? {
            (1, Field::Varint(kind)) => is_text = kind == 1,
            (2, Field::Varint(found)) => number = found.cast_signed(),
            (3, Field::Bytes(found)) => words = text(found)?,
            _ => {}
        }
    }
    Ok(if is_text { words.into() } else { number.into() })
}
