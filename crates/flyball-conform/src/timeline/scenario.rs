//! One scenario: flags, the autoscalers, and the world of each sync, as written in a timeline file.
//! Only the reading; what a key does is in `world` and `pod`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// A line of a timeline file: the scenario, and what the genuine controller did in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    pub(crate) sc: Scenario,
    pub(crate) out: Out,
}

/// The genuine controller's answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Out {
    /// The stored form of each specification.
    pub(crate) def: Vec<Definition>,
    /// One record a sync, in order.
    pub(crate) tl: Vec<Value>,
}

/// A specification as the API server stored it at step `k`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Definition {
    pub(crate) k: usize,
    /// The autoscaler; 0 is the main one.
    #[serde(default)]
    pub(crate) h: usize,
    #[serde(default, rename = "gen")]
    pub(crate) generation: i64,
    pub(crate) spec: Value,
    /// What validation says about it; stored all the same.
    #[serde(default, rename = "invalid")]
    _invalid: Vec<String>,
}

/// What the genuine controller was put through.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    #[serde(default, rename = "theme")]
    _theme: String,
    #[serde(default)]
    pub(crate) note: String,
    #[serde(default)]
    pub(crate) flags: Flags,
    #[serde(default)]
    pub(crate) gates: BTreeMap<String, bool>,
    pub(crate) spec: Value,
    /// Stored without defaulting; the definitions hold what was stored, so nothing depends on it.
    #[serde(default, rename = "raw")]
    _raw: bool,
    pub(crate) status: Option<Value>,
    /// `spec.replicas` of the target.
    pub(crate) r: i32,
    /// `status.replicas`; absent or -1 follows `spec.replicas`.
    pub(crate) sr: Option<i32>,
    pub(crate) sel: Option<String>,
    #[serde(default)]
    pub(crate) ctr: Vec<Container>,
    #[serde(default)]
    pub(crate) others: Vec<Other>,
    pub(crate) steps: Vec<Step>,
}

/// Flags of the controller, in seconds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Flags {
    pub(crate) period: Option<f64>,
    pub(crate) stab: Option<f64>,
    pub(crate) tol: Option<f64>,
    pub(crate) cpu_init: Option<f64>,
    pub(crate) ready_delay: Option<f64>,
}

/// A further autoscaler with a target of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Other {
    pub(crate) name: String,
    pub(crate) sel: String,
    pub(crate) r: i32,
    pub(crate) spec: Value,
}

/// The change of the world ahead of one sync; what is absent stays as it was.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// Seconds before the sync.
    pub(crate) dt: Option<f64>,
    pub(crate) pods: Option<Vec<Group>>,
    pub(crate) ext: Option<BTreeMap<String, Vec<Amount>>>,
    pub(crate) obj: Option<BTreeMap<String, Amount>>,
    pub(crate) spec: Option<Value>,
    pub(crate) to: Option<i32>,
    pub(crate) sr: Option<i32>,
    pub(crate) sel: Option<String>,
    pub(crate) f: Option<Faults>,
    #[serde(default)]
    pub(crate) delete: bool,
    #[serde(default)]
    pub(crate) create: bool,
}

/// Errors of one step: the text each API answers with.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Faults {
    pub(crate) res: Option<String>,
    pub(crate) cus: Option<String>,
    #[serde(default)]
    pub(crate) cusm: BTreeMap<String, String>,
    pub(crate) ext: Option<String>,
    #[serde(default)]
    pub(crate) extm: BTreeMap<String, String>,
    pub(crate) get: Option<String>,
    pub(crate) put: Option<String>,
    /// That many scale writes are answered with a conflict.
    #[serde(default)]
    pub(crate) conf: u32,
    pub(crate) stat: Option<String>,
}

/// A run of pods that look alike.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Group {
    #[serde(default)]
    pub(crate) n: usize,
    pub(crate) ph: Option<String>,
    /// The Ready condition: true, false, `"Unknown"`, or null for none.
    #[serde(default = "ready")]
    pub(crate) rdy: Value,
    /// Start, seconds from the beginning.
    pub(crate) st: Option<i64>,
    #[serde(default)]
    pub(crate) nost: bool,
    pub(crate) rt: Option<i64>,
    #[serde(default)]
    pub(crate) del: bool,
    pub(crate) lab: Option<BTreeMap<String, String>>,
    pub(crate) ctr: Option<Vec<Container>>,
    pub(crate) plr: Option<Amounts>,
    pub(crate) ovh: Option<Amounts>,
    /// Container to `[cpu, memory]`; absent means that the pod has no sample.
    pub(crate) u: Option<BTreeMap<String, Vec<Spread>>>,
    /// Pods metric to value.
    #[serde(default)]
    pub(crate) v: BTreeMap<String, Spread>,
    pub(crate) age: Option<i64>,
    pub(crate) win: Option<i64>,
    /// The samples exist, the pods do not.
    #[serde(default)]
    pub(crate) ghost: bool,
}

fn ready() -> Value {
    Value::Bool(true)
}

/// A container of the pod template.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Container {
    pub(crate) n: String,
    pub(crate) cpu: Option<Amount>,
    pub(crate) mem: Option<Amount>,
    /// `always`: a restartable init container; `once`: an ordinary one.
    pub(crate) init: Option<String>,
}

/// Requests or overhead.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Amounts {
    pub(crate) cpu: Option<Amount>,
    pub(crate) mem: Option<Amount>,
}

/// A quantity: a number counts thousandths (memory: bytes), a text is a Kubernetes quantity.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Amount {
    Number(i64),
    Text(String),
}

impl Amount {
    /// The text of a quantity whose number counts thousandths.
    pub(crate) fn milli(&self) -> String {
        match self {
            Self::Number(number) => format!("{number}m"),
            Self::Text(text) => text.clone(),
        }
    }

    /// The text of a quantity whose number counts bytes.
    pub(crate) fn bytes(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// One value for every pod of a group, or one a pod; null where there is none.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Spread {
    Each(Vec<Option<Amount>>),
    All(Option<Amount>),
}

impl Spread {
    /// The value of the pod at `index` of its group. A list of one counts for all.
    pub(crate) fn at(&self, index: usize) -> Option<&Amount> {
        match self {
            Self::All(one) => one.as_ref(),
            Self::Each(list) if list.len() == 1 => list[0].as_ref(),
            Self::Each(list) => list.get(index)?.as_ref(),
        }
    }
}
