//! A value over time: constant, or points joined by lines or steps, once or again and again.
//! Amounts are integers of 10^-9 units, so that a run gives the same figures on every machine.

use flyball_api::Quantity;
use serde_json::Value;

/// 10^-9 of a unit: nanocores for cpu, nanobytes for memory.
pub type Nano = i128;

/// Most points of a curve.
const POINTS: usize = 10_000;
/// One unit.
pub const UNIT: Nano = 1_000_000_000;

/// A value over time. Before the first point it has the first value, after the last point the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    points: Vec<Point>,
    shape: Shape,
    repeat_ms: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Point {
    at_ms: i64,
    value: Nano,
}

/// How a curve goes from one point to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// On a straight line.
    Linear,
    /// It keeps a point's value until the next.
    Step,
}

impl Curve {
    /// Reads a quantity (`"2400m"`, `6`) or `{"points": [[seconds, quantity], ...], "shape": "linear" | "step", "repeatSeconds": n}`.
    /// The error says what is wrong, without the place.
    pub fn parse(value: &Value) -> Result<Self, String> {
        let Some(object) = value.as_object() else {
            let point = Point {
                at_ms: 0,
                value: amount(value)?,
            };
            return Ok(Self {
                points: vec![point],
                shape: Shape::Step,
                repeat_ms: None,
            });
        };
        if let Some(stray) = object
            .keys()
            .find(|key| !["points", "shape", "repeatSeconds"].contains(&key.as_str()))
        {
            return Err(format!(
                "unknown field \"{stray}\"; a curve has points, shape and repeatSeconds"
            ));
        }
        let listed = object
            .get("points")
            .and_then(Value::as_array)
            .ok_or("points must be a list of [seconds, quantity]")?;
        if listed.is_empty() || listed.len() > POINTS {
            return Err(format!("points must have 1 to {POINTS} entries"));
        }
        let points = listed
            .iter()
            .map(point)
            .collect::<Result<Vec<Point>, String>>()?;
        if points.windows(2).any(|pair| pair[0].at_ms > pair[1].at_ms) {
            return Err("points must be in the order of time".to_owned());
        }
        let shape = match object.get("shape").map(Value::as_str) {
            None | Some(Some("linear")) => Shape::Linear,
            Some(Some("step")) => Shape::Step,
            Some(_) => return Err("shape must be linear or step".to_owned()),
        };
        let repeat_ms = object.get("repeatSeconds").map(seconds).transpose()?;
        if repeat_ms.is_some_and(|repeat| repeat <= 0) {
            return Err("repeatSeconds must be positive".to_owned());
        }
        Ok(Self {
            points,
            shape,
            repeat_ms,
        })
    }

    /// The value `at_ms` after the epoch. At a point where two points meet, the later one holds.
    pub fn at(&self, at_ms: i64) -> Nano {
        let at_ms = self
            .repeat_ms
            .map_or(at_ms, |repeat| at_ms.rem_euclid(repeat));
        let next = self.points.partition_point(|point| point.at_ms <= at_ms);
        let Some(before) = next.checked_sub(1).map(|index| self.points[index]) else {
            return self.points.first().map_or(0, |point| point.value);
        };
        match self.points.get(next) {
            Some(after) if self.shape == Shape::Linear => between(before, *after, at_ms),
            _ => before.value,
        }
    }
}

fn between(before: Point, after: Point, at_ms: i64) -> Nano {
    let gone = Nano::from(at_ms - before.at_ms);
    let span = Nano::from(after.at_ms - before.at_ms);
    before.value + (after.value - before.value) * gone / span
}

fn point(entry: &Value) -> Result<Point, String> {
    match entry.as_array().map(Vec::as_slice) {
        Some([at, value]) => Ok(Point {
            at_ms: seconds(at)?,
            value: amount(value)?,
        }),
        _ => Err(format!("{entry} is no [seconds, quantity]")),
    }
}

fn seconds(value: &Value) -> Result<i64, String> {
    let seconds = value.as_f64().filter(|seconds| seconds.abs() < 1e12);
    seconds
        .map(|seconds| (seconds * 1000.0).round() as i64)
        .ok_or_else(|| format!("{value} is no number of seconds"))
}

/// A quantity in a string or a number, to 10^-3 of a unit.
pub fn amount(value: &Value) -> Result<Nano, String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        other => return Err(format!("{other} is no quantity")),
    };
    let quantity = Quantity::parse(&text).map_err(|error| format!("\"{text}\": {error}"))?;
    if quantity.sign() < 0 {
        return Err(format!("\"{text}\" must not be negative"));
    }
    Ok(Nano::from(quantity.milli_value()) * (UNIT / 1000))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn milli(curve: &Value, seconds: &[i64]) -> Vec<Nano> {
        let curve = Curve::parse(curve).unwrap();
        seconds
            .iter()
            .map(|second| curve.at(second * 1000) / 1_000_000)
            .collect()
    }

    #[test]
    fn a_curve_has_its_value_at_every_instant() {
        let ramp = json!({"points": [[60, "2400m"], [360, "7200m"]]});
        let spike =
            json!({"points": [[0, "2400m"], [60, "9600m"], [240, "2400m"]], "shape": "step"});
        let triple = json!({"points": [[0, 1], [60, 1], [60, 3], [120, 3], [120, 1]]});
        let saw = json!({"points": [[0, 0], [10, 10]], "repeatSeconds": 10});
        let rows = [
            (json!("6"), vec![0, 1_000_000], vec![6000, 6000]),
            (json!(0.5), vec![0], vec![500]),
            (
                ramp,
                vec![-5, 0, 60, 105, 120, 360, 600],
                vec![2400, 2400, 2400, 3120, 3360, 7200, 7200],
            ),
            (
                spike,
                vec![0, 59, 60, 239, 240, 600],
                vec![2400, 2400, 9600, 9600, 2400, 2400],
            ),
            (
                triple,
                vec![59, 60, 119, 120, 500],
                vec![1000, 3000, 3000, 1000, 1000],
            ),
            (
                saw,
                vec![0, 5, 9, 10, 25, -1],
                vec![0, 5000, 9000, 0, 5000, 9000],
            ),
        ];
        for (curve, seconds, expected) in rows {
            assert_eq!(milli(&curve, &seconds), expected, "{curve}");
        }
    }

    #[test]
    fn a_curve_that_cannot_be_read_says_why() {
        let rows = [
            (json!(null), "null is no quantity"),
            (json!("x"), "\"x\": "),
            (json!("-1"), "\"-1\" must not be negative"),
            (json!({"points": []}), "points must have 1 to 10000 entries"),
            (json!({"points": [[0]]}), "[0] is no [seconds, quantity]"),
            (
                json!({"points": [[9, 1], [0, 1]]}),
                "points must be in the order of time",
            ),
            (
                json!({"points": [[0, 1]], "shape": "round"}),
                "shape must be linear or step",
            ),
            (
                json!({"points": [[0, 1]], "repeatSeconds": 0}),
                "repeatSeconds must be positive",
            ),
            (json!({"point": []}), "unknown field \"point\""),
        ];
        for (curve, expected) in rows {
            let error = Curve::parse(&curve).unwrap_err();
            assert!(error.starts_with(expected), "{curve}: {error}");
        }
    }
}
