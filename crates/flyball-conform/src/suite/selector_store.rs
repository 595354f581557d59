//! `selector_store`: which autoscalers claim which pods, as a script of operations.

use std::collections::BTreeMap;
use std::sync::Arc;

use flyball_api::selector::Selector;
use flyball_controller::key::ObjectKey;
use flyball_controller::selector_store::{Search, SelectorStore};
use serde::Deserialize;
use serde_json::{Value, json};

use super::List;
use crate::report::{Verdict, checked};
use crate::vectors::Outcome;

pub(super) const LISTS: &[List] = &[List {
    key: "cases",
    check,
}];

#[derive(Deserialize)]
struct Case {
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    op: String,
    namespace: String,
    #[serde(default)]
    name: String,
    selector: Option<String>,
    #[serde(default)]
    pod_labels: Vec<BTreeMap<String, String>>,
    #[serde(default)]
    limit: usize,
    expect: Option<bool>,
    expect_count: Option<usize>,
    expect_names: Option<Vec<String>>,
}

/// Every answer of the script against the one it expects.
fn check(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: Case| {
        let mut store = SelectorStore::new(Search::Limited);
        let (mut expected, mut actual) = (Vec::new(), Vec::new());
        for step in &case.steps {
            match step.run(&mut store) {
                Ok(answer) => {
                    expected.push(json!([step.op, step.expected(&answer)]));
                    actual.push(json!([step.op, answer]));
                }
                Err(error) => return Verdict::unreadable(error),
            }
        }
        Verdict::equal(&json!(expected), &json!(actual))
    })
    .into()
}

impl Step {
    fn run(&self, store: &mut SelectorStore) -> Result<Value, String> {
        let key = ObjectKey::new(&self.namespace, &self.name);
        let selector = || {
            let text = self.selector.as_deref().unwrap_or_default();
            Selector::parse(text).map_err(|error| error.to_string())
        };
        Ok(match self.op.as_str() {
            "putIfAbsent" => json!(store.put_if_absent(&key, selector()?)),
            "putIfPresent" => json!(store.put_if_present(&key, selector()?)),
            "delete" => {
                store.delete(&key);
                Value::Null
            }
            "hasNamespace" => json!(store.has_namespace(&self.namespace)),
            "matching" => {
                let labels: Vec<_> = self.pod_labels.iter().cloned().map(Arc::new).collect();
                let found = store.matching(&self.namespace, &labels, self.limit);
                let names: Vec<_> = found.into_iter().map(|key| key.name).collect();
                json!({"count": names.len(), "names": names})
            }
            op => return Err(format!("operation {op}")),
        })
    }

    /// What the step expects; where it is silent, the answer itself.
    fn expected(&self, answer: &Value) -> Value {
        let mut expected = answer.clone();
        if let Some(flag) = self.expect {
            expected = json!(flag);
        }
        if let Some(count) = self.expect_count {
            expected["count"] = json!(count);
        }
        if let Some(names) = &self.expect_names {
            let mut names = names.clone();
            names.sort();
            expected["names"] = json!(names);
        }
        expected
    }
}
