//! Something odd in an object: a field gone, of another type, out of range, unknown. Not here: what a server says to it.

use serde_json::{Map, Value, json};

use crate::plane::dice::Dice;

/// Fields whose content is left as it is: the rules about containers fill a book of their own, of which the plane keeps
/// those that clients meet, each with a script.
const WHOLE: [&str; 1] = ["containers"];

/// Changes one place of `tree`.
pub fn mutate(tree: &mut Value, dice: &mut Dice) {
    let places = count(tree);
    if places > 0 {
        let mut at = dice.below(places);
        change(tree, &mut at, dice);
    }
}

/// The places below `tree`: each field and each item.
fn count(tree: &Value) -> usize {
    children(tree).map(|child| 1 + count(child)).sum()
}

fn children(tree: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match tree {
        Value::Object(fields) => Box::new(
            fields
                .iter()
                .filter(|(name, _)| !WHOLE.contains(&name.as_str()))
                .map(|(_, value)| value),
        ),
        Value::Array(items) => Box::new(items.iter()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Changes the `at`th place below `tree`; true when it was there.
fn change(tree: &mut Value, at: &mut usize, dice: &mut Dice) -> bool {
    match tree {
        Value::Object(fields) => {
            let names: Vec<String> = fields
                .keys()
                .filter(|name| !WHOLE.contains(&name.as_str()))
                .cloned()
                .collect();
            for name in names {
                if *at == 0 {
                    change_field(fields, &name, dice);
                    return true;
                }
                *at -= 1;
                if fields
                    .get_mut(&name)
                    .is_some_and(|child| change(child, at, dice))
                {
                    return true;
                }
            }
            false
        }
        Value::Array(items) => items.iter_mut().any(|item| {
            if *at == 0 {
                *item = odd(item, dice);
                return true;
            }
            *at -= 1;
            change(item, at, dice)
        }),
        _ => false,
    }
}

fn change_field(fields: &mut Map<String, Value>, name: &str, dice: &mut Dice) {
    match dice.below(6) {
        0 => {
            fields.remove(name);
        }
        1 => {
            fields.insert(format!("{name}X"), json!(1));
        }
        2 => {
            fields.insert(name.to_owned(), Value::Null);
        }
        _ => {
            let value = odd(&fields[name], dice);
            fields.insert(name.to_owned(), value);
        }
    }
}

/// Something odd in the place of `value`.
fn odd(value: &Value, dice: &mut Dice) -> Value {
    let numbers = [
        json!(-1),
        json!(0),
        json!(2_147_483_647),
        json!("7"),
        json!(1.5),
        json!(100_000),
    ];
    let texts = [
        json!(""),
        json!("A b"),
        json!("-"),
        json!(7),
        json!(true),
        json!("x".repeat(300)),
    ];
    let trees = [json!({}), json!([]), json!("text"), json!(5)];
    match value {
        Value::Number(_) => dice.pick(&numbers).clone(),
        Value::String(_) => dice.pick(&texts).clone(),
        Value::Bool(_) => dice.pick(&[json!("true"), json!(0)]).clone(),
        Value::Object(_) | Value::Array(_) | Value::Null => dice.pick(&trees).clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_changes_and_containers_stay() {
        let tree =
            json!({"spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "c"}]}}}});
        let mut changed = 0;
        for number in 0..200 {
            let mut other = tree.clone();
            mutate(&mut other, &mut Dice::new(7, number));
            changed += usize::from(other != tree);
            if let Some(list) = other.pointer("/spec/template/spec/containers") {
                assert_eq!(list[0]["name"], "c");
            }
        }
        assert!(changed > 150, "{changed}");
    }
}
