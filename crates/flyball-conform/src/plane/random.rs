//! Random scripts: from a seed and a number to the same script each time. They find what nobody thought to write down.
//! Not here: running them.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::plane::dice::Dice;
use crate::plane::mutation;
use crate::plane::script::{Placed, Script, Step};
use crate::plane::template::Kind;

/// Requests of one script.
pub const STEPS: usize = 20;

const NAMES: [&str; 3] = ["a", "b", "c"];
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const METADATA: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";

/// The `number`th script of `seed`.
pub fn script(kinds: &[Kind], seed: u64, number: u64) -> Placed {
    let mut writer = Writer {
        dice: Dice::new(seed, number),
        kind: &kinds[Dice::new(seed, number).below(kinds.len())],
    };
    let mut steps = vec![writer.create()];
    while steps.len() < STEPS {
        steps.push(writer.step());
    }
    let Kind { kind, api, .. } = writer.kind;
    Placed {
        file: PathBuf::from(format!("--seed {seed} --only {number}")),
        script: Script {
            name: format!("{api} {kind}"),
            steps,
        },
    }
}

struct Writer<'a> {
    dice: Dice,
    kind: &'a Kind,
}

impl Writer<'_> {
    fn step(&mut self) -> Step {
        match self.dice.below(20) {
            0..=3 => self.create(),
            4..=5 => self.get(),
            6..=8 => self.list(),
            9..=11 => self.put(),
            12..=15 => self.patch(),
            16 => self.part("status", self.kind.status.is_some()),
            17 => self.part("scale", self.kind.scale),
            18 => self.delete(),
            _ => self.delete_some(),
        }
    }

    fn name(&mut self) -> String {
        let name = self.dice.pick(&NAMES);
        if self.kind.cluster {
            format!("{{ns}}-{name}")
        } else {
            (*name).to_owned()
        }
    }

    fn asked(method: &str, path: &str, body: Option<Value>) -> Step {
        Step {
            request: Some(format!("{method} {path}")),
            body,
            ..Step::default()
        }
    }

    /// The options of a write.
    fn options(&mut self) -> String {
        let mut options = Vec::new();
        if self.dice.chance(8) {
            options.push(*self.dice.pick(&["dryRun=All", "dryRun=x", "dryRun="]));
        }
        if self.dice.chance(3) {
            let words = [
                "fieldValidation=Strict",
                "fieldValidation=Warn",
                "fieldValidation=Ignore",
                "fieldValidation=x",
            ];
            options.push(*self.dice.pick(&words));
        }
        if options.is_empty() {
            String::new()
        } else {
            format!("?{}", options.join("&"))
        }
    }

    /// An object of the kind, sometimes with something odd in it.
    fn object(&mut self, name: &str) -> Value {
        let mut object = self.kind.example();
        let labels = json!({"x": self.dice.pick(&["red", "blue"])});
        object["metadata"] = json!({"name": name, "labels": labels});
        if self.dice.chance(3) {
            object["metadata"]["annotations"] = json!({"n": self.dice.below(9).to_string()});
        }
        if self.dice.chance(10) {
            object["metadata"]["finalizers"] = json!(["example.com/f"]);
        }
        if self.dice.chance(2) {
            mutation::mutate(&mut object, &mut self.dice);
        }
        object
    }

    fn create(&mut self) -> Step {
        let (name, options) = (self.name(), self.options());
        let body = self.object(&name);
        let mut step = Self::asked(
            "POST",
            &format!("{}{options}", self.kind.path()),
            Some(body),
        );
        step.keep
            .insert("rv".to_owned(), "/metadata/resourceVersion".to_owned());
        step.keep
            .insert("uid".to_owned(), "/metadata/uid".to_owned());
        step
    }

    fn get(&mut self) -> Step {
        let path = format!("{}/{}", self.kind.path(), self.name());
        let mut step = Self::asked("GET", &path, None);
        if self.dice.chance(4) {
            step.accept =
                Some((*self.dice.pick(&[TABLE, METADATA, "application/yaml"])).to_owned());
        }
        step
    }

    fn list(&mut self) -> Step {
        let words = [
            "labelSelector=x%3Dred",
            "labelSelector=x%21%3Dred",
            "labelSelector=x+in+%28red%2Cblue%29",
            "labelSelector=%21x",
            "labelSelector=x%3D%3D%3D",
            "limit=1",
            "limit=2",
            // Any state of the collection is a right answer to `resourceVersion=0` alone.
            "resourceVersion=0&resourceVersionMatch=Exact",
            "fieldSelector=metadata.name%3D{name}",
            "fieldSelector=metadata.name%21%3D{name}",
            "fieldSelector=spec.x%3D1",
        ];
        let name = self.name();
        let word = self.dice.pick(&words).replace("{name}", &name);
        // Cluster-scoped objects of other scripts are left out.
        let query = match (self.kind.cluster, word.starts_with("fieldSelector")) {
            (true, true) => format!("fieldSelector=metadata.name%3D{name}"),
            (true, false) => format!("{word}&fieldSelector=metadata.name%3D{name}"),
            (false, _) => word,
        };
        let mut step = Self::asked("GET", &format!("{}?{query}", self.kind.path()), None);
        if self.dice.chance(3) {
            step.accept = Some((*self.dice.pick(&[TABLE, METADATA_LIST])).to_owned());
        }
        step
    }

    fn put(&mut self) -> Step {
        let (name, options) = (self.name(), self.options());
        let mut body = self.object(&name);
        let condition = match self.dice.below(5) {
            0 => Some(("resourceVersion", "{rv}")),
            1 => Some(("uid", "{uid}")),
            2 => Some(("resourceVersion", *self.dice.pick(&["1", "x", ""]))),
            _ => None,
        };
        // The metadata may be the odd thing.
        if let (Some((field, value)), Some(Value::Object(metadata))) =
            (condition, body.get_mut("metadata"))
        {
            metadata.insert(field.to_owned(), value.into());
        }
        let path = format!("{}/{name}{options}", self.kind.path());
        let mut step = Self::asked("PUT", &path, Some(body));
        step.keep
            .insert("rv".to_owned(), "/metadata/resourceVersion".to_owned());
        step
    }

    fn patch(&mut self) -> Step {
        let (name, options) = (self.name(), self.options());
        let path = format!("{}/{name}{options}", self.kind.path());
        let (content_type, body) = self.patch_body();
        let mut step = Self::asked("PATCH", &path, Some(body));
        step.content_type = content_type.map(|one| Some(one.to_owned()));
        step
    }

    /// A patch and its media type, none for a merge patch.
    fn patch_body(&mut self) -> (Option<&'static str>, Value) {
        let mut tree = match self.dice.below(4) {
            0 => self.kind.change.clone(),
            1 => json!({"metadata": {"labels": {"x": self.dice.pick(&["red", "blue"])}}}),
            2 => json!({"metadata": {"labels": null, "annotations": {"n": null}}}),
            _ => {
                json!({"metadata": {"finalizers": self.dice.pick(&[json!(null), json!([]), json!(["example.com/g"])])}})
            }
        };
        if self.dice.chance(4) {
            mutation::mutate(&mut tree, &mut self.dice);
        }
        match self.dice.below(4) {
            0 if !self.kind.custom => (Some(STRATEGIC), tree),
            1 => (Some(JSON_PATCH), self.operations()),
            _ => (None, tree),
        }
    }

    fn operations(&mut self) -> Value {
        let pointers = [
            "/metadata/labels/x",
            "/metadata/labels/y",
            "/metadata/annotations",
            "/spec",
            "/none/at/all",
            "/metadata/name",
        ];
        let count = 1 + self.dice.below(3);
        let one = |dice: &mut Dice| {
            let path = dice.pick(&pointers);
            let values = [json!("v"), json!(null), json!({"a": "b"}), json!(1)];
            let value = dice.pick(&values);
            match dice.below(6) {
                0 => json!({"op": "add", "path": path, "value": value}),
                1 => json!({"op": "replace", "path": path, "value": value}),
                2 => json!({"op": "remove", "path": path}),
                3 => json!({"op": "test", "path": path, "value": value}),
                4 => json!({"op": "copy", "from": dice.pick(&pointers), "path": path}),
                _ => json!({"op": "move", "from": dice.pick(&pointers), "path": path}),
            }
        };
        (0..count).map(|_| one(&mut self.dice)).collect()
    }

    /// A read or a write of a subresource, or of the object if there is none.
    fn part(&mut self, sub: &str, served: bool) -> Step {
        if !served {
            return self.patch();
        }
        let path = format!("{}/{}/{sub}", self.kind.path(), self.name());
        if self.dice.chance(3) {
            return Self::asked("GET", &path, None);
        }
        let mut body = match sub {
            "scale" => {
                // A new number nearly always: upstream may write its managed fields alone when nothing changes.
                let replicas = json!(10 + self.dice.below(1000));
                json!({"spec": {"replicas": self.dice.pick(&[replicas, json!(-1), json!("3")])}})
            }
            _ => self.kind.status.clone().unwrap_or_default(),
        };
        if sub != "scale" && self.dice.chance(4) {
            mutation::mutate(&mut body, &mut self.dice);
        }
        Self::asked("PATCH", &path, Some(body))
    }

    fn delete_options(&mut self) -> String {
        let words = [
            "",
            "&propagationPolicy=Background",
            "&propagationPolicy=Foreground",
            "&propagationPolicy=Orphan",
            "&propagationPolicy=x",
            "&dryRun=All",
            "&orphanDependents=true",
        ];
        (*self.dice.pick(&words)).to_owned()
    }

    fn delete(&mut self) -> Step {
        let options = self.delete_options();
        let path = format!(
            "{}/{}?gracePeriodSeconds=0{options}",
            self.kind.path(),
            self.name()
        );
        let body = self.dice.chance(6).then(|| {
            json!({"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": "{uid}"}})
        });
        Self::asked("DELETE", &path, body)
    }

    fn delete_some(&mut self) -> Step {
        if self.kind.cluster {
            return self.delete();
        }
        let options = self.delete_options();
        let selector = self.dice.pick(&["", "&labelSelector=x%3Dred"]);
        let path = format!(
            "{}?gracePeriodSeconds=0{options}{selector}",
            self.kind.path()
        );
        Self::asked("DELETE", &path, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_number_give_the_same_script_each_time() {
        let kinds: Vec<Kind> = serde_saphyr::from_str(
            "[{kind: ConfigMap, api: v1, plural: configmaps, object: {data: {k: v}}, change: {data: {k: w}}}]",
        )
        .unwrap();
        let text = |seed, number| format!("{:?}", script(&kinds, seed, number).script);
        assert_eq!(text(1, 2), text(1, 2));
        assert_ne!(text(1, 2), text(1, 3));
        assert_ne!(text(1, 2), text(2, 2));
        assert_eq!(script(&kinds, 1, 2).script.steps.len(), STEPS);
    }
}
