//! Bodies made by upstream's own serializer (apimachinery v0.37.2), each beside the JSON of the same object: `vectors.txt`,
//! one object a line, hexadecimal then JSON.

use super::*;

const VECTORS: &str = include_str!("vectors.txt");

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

/// Go writes a list that is not there as null where a field may not be left out; on the wire there is nothing.
fn without_nulls(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.retain(|_, field| !field.is_null());
        fields.values_mut().for_each(without_nulls);
    }
}

fn vectors() -> impl Iterator<Item = (Vec<u8>, Value)> {
    VECTORS.lines().map(|line| {
        let (hex, json) = line.split_once(' ').unwrap();
        let mut object = serde_json::from_str(json).unwrap();
        without_nulls(&mut object);
        (bytes(hex), object)
    })
}

#[test]
fn a_body_is_the_json_of_its_object() {
    for (body, json) in vectors() {
        assert_eq!(decode(&body).unwrap(), json);
    }
}

#[test]
fn a_body_that_breaks_off_is_refused_or_shorter_but_never_a_panic() {
    for (body, _) in vectors() {
        for end in 0..body.len() {
            let _ = decode(&body[..end]);
        }
        for at in 0..body.len() {
            let mut wrong = body.clone();
            wrong[at] ^= 0xff;
            let _ = decode(&wrong);
        }
    }
}

#[test]
fn other_bodies_and_types_are_named() {
    assert_eq!(decode(b"{}"), Err(ProtobufError::Prefix));
    let unknown = [
        b"k8s\0".as_slice(),
        &[10, 7, 10, 2, b'v', b'1', 18, 1, b'X'],
    ]
    .concat();
    let expected = ProtobufError::UnknownType {
        api_version: "v1".to_owned(),
        kind: "X".to_owned(),
    };
    assert_eq!(decode(&unknown), Err(expected));
}
