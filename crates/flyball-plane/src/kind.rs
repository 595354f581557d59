//! What the generic path must know about a kind: its names, versions and subresources, and its rules ([`Strategy`]).
//! Not here: the kinds themselves (`kinds`), the generic path (`registry`).

mod listing;
mod surroundings;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use flyball_api::name;
pub(crate) use flyball_api::validation::metadata::Scope;
use flyball_clock::UnixMs;
use serde_json::{Value, json};

use crate::custom::printer::Columns;
use crate::field::FieldError;
use crate::object;
use crate::refusal::{Refusal, Subject};
use crate::store::ResourceName;

pub(crate) use listing::Kinds;
pub(crate) use surroundings::Surroundings;

/// Text that is known at build time for built-in kinds.
pub(crate) type Text = Cow<'static, str>;

/// What a PUT may do besides replacing the revision the client has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PutRule {
    /// Without a resourceVersion it replaces whatever is there.
    Unconditional,
    /// It needs a resourceVersion.
    Conditional,
    /// As `Unconditional`, and it creates the object when there is none.
    UnconditionalOrCreate,
    /// It needs a resourceVersion, but creates the object when there is none.
    ConditionalOrCreate,
}

/// What the answer to a DELETE that removed the object holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeleteAnswer {
    /// A Status of success.
    Status,
    /// The object's last state.
    Object,
}

/// What happens to the dependents of a deleted object when the request does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dependents {
    /// They go after it.
    Follow,
    /// They stay.
    Stay,
    /// Nobody looks for any, whatever a deletion asks. Upstream: `rest.Unsupported`.
    Unknown,
}

/// Where a kind keeps its scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SelectorForm {
    /// `spec.selector` is a LabelSelector.
    LabelSelector,
    /// `spec.selector` is a map of labels.
    Map,
    /// A custom resource says where its selector is, which is text.
    Text,
}

/// The translation between the stored form and one served version.
#[derive(Clone, Copy)]
pub(crate) struct Codec {
    /// Served to stored.
    pub decode: fn(Value) -> Value,
    /// Stored to served.
    pub encode: fn(&Value) -> Value,
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Codec")
    }
}

/// One served version of a kind.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    /// `v1`.
    pub name: Text,
    /// Absent when this version is the stored form.
    pub codec: Option<Codec>,
}

impl Version {
    /// The version whose form is stored.
    pub(crate) fn stored(name: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            codec: None,
        }
    }
}

/// The facts about one kind in one group.
#[derive(Debug)]
#[expect(
    clippy::struct_field_names,
    reason = "the API calls the name of a kind `kind`"
)]
pub(crate) struct Kind {
    /// API group, `""` for core.
    pub group: Text,
    /// `Deployment`.
    pub kind: Text,
    /// `deployments`.
    pub plural: Text,
    /// `deployment`.
    pub singular: Text,
    /// `deploy`.
    pub short_names: Vec<Text>,
    /// `all`.
    pub categories: Vec<Text>,
    /// Namespaced or not.
    pub scope: Scope,
    /// Served versions, the preferred one first.
    pub versions: Vec<Version>,
    /// Under which name the objects are stored; two kinds with the same name share their objects.
    pub stored: ResourceName,
    /// The `apiVersion` of the stored form.
    pub stored_api_version: Text,
    /// True when `/status` is served.
    pub has_status: bool,
    /// The selector's form when `/scale` is served.
    pub scale: Option<SelectorForm>,
    /// What a PUT may do.
    pub put: PutRule,
    /// What a DELETE answers.
    pub delete: DeleteAnswer,
    /// What a DELETE does to dependents by default.
    pub dependents: Dependents,
    /// The kind's own rules.
    pub strategy: Box<dyn Strategy>,
    /// What only kinds of CustomResourceDefinitions have.
    pub custom: Option<Custom>,
}

/// The facts about a kind that come with its CustomResourceDefinition.
#[derive(Debug)]
pub(crate) struct Custom {
    /// `WidgetList`.
    pub list_kind: Text,
    /// The `openAPIV3Schema` of each version.
    pub schemas: BTreeMap<Text, Value>,
    /// `subresources.scale`, null when it is not served.
    pub scale: Value,
}

impl Kind {
    /// A namespaced kind of `group`/`version` with the common facts: no subresource, unconditional PUT, Status on DELETE.
    pub(crate) fn new(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        strategy: impl Strategy + 'static,
    ) -> Self {
        let singular = kind.to_lowercase();
        let plural = format!("{singular}s");
        let stored = if group.is_empty() {
            plural.clone()
        } else {
            format!("{plural}.{group}")
        };
        Self {
            group: group.into(),
            kind: kind.into(),
            plural: plural.into(),
            singular: singular.into(),
            short_names: Vec::new(),
            categories: Vec::new(),
            scope: Scope::Namespaced,
            versions: vec![Version::stored(version)],
            stored: stored.into(),
            stored_api_version: api_version(group, version).into(),
            has_status: false,
            scale: None,
            put: PutRule::Unconditional,
            delete: DeleteAnswer::Status,
            dependents: Dependents::Follow,
            strategy: Box::new(strategy),
            custom: None,
        }
    }

    /// Sets the short names.
    #[must_use]
    pub(crate) fn short(mut self, names: &[&'static str]) -> Self {
        self.short_names = names.iter().map(|name| Text::Borrowed(name)).collect();
        self
    }

    /// Puts the kind into the category `all`.
    #[must_use]
    pub(crate) fn in_all(mut self) -> Self {
        self.categories.push(Text::Borrowed("all"));
        self
    }

    /// Serves `/status`.
    #[must_use]
    pub(crate) fn with_status(mut self) -> Self {
        self.has_status = true;
        self
    }

    /// Serves `/scale`.
    #[must_use]
    pub(crate) fn with_scale(mut self, form: SelectorForm) -> Self {
        self.scale = Some(form);
        self
    }

    /// Where upstream keeps the objects below `/registry`, which some of its texts tell.
    pub(crate) fn registry_folder(&self) -> &str {
        match (self.group.as_ref(), self.plural.as_ref()) {
            ("", "services") => "services/specs",
            ("", "replicationcontrollers") => "controllers",
            ("", "nodes") => "minions",
            ("networking.k8s.io", "ingresses") => "ingress",
            ("apiregistration.k8s.io", "apiservices") => "apiregistration.k8s.io/apiservices",
            (_, plural) => plural,
        }
    }

    /// `DeploymentList`.
    pub(crate) fn list_kind(&self) -> String {
        match &self.custom {
            Some(custom) => custom.list_kind.to_string(),
            None => format!("{}List", self.kind),
        }
    }

    /// The served version of that name.
    pub(crate) fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// True when objects live in namespaces.
    pub(crate) fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    /// The subject of a refusal about an object, by resource.
    pub(crate) fn subject<'a>(&'a self, name: &'a str) -> Subject<'a> {
        Subject {
            group: &self.group,
            resource: &self.plural,
            name,
        }
    }

    /// The subject of a refusal about an invalid object, by kind; its group is the stored form's.
    pub(crate) fn kind_subject<'a>(&'a self, name: &'a str) -> Subject<'a> {
        Subject {
            group: self
                .stored_api_version
                .split_once('/')
                .map_or("", |(group, _)| group),
            resource: &self.kind,
            name,
        }
    }

    /// `apps/v1`, or `v1` for the core group.
    pub(crate) fn api_version(&self, version: &str) -> String {
        api_version(&self.group, version)
    }

    /// The stored form of an object sent as `version`.
    pub(crate) fn decode(&self, version: &Version, mut object: Value) -> Value {
        if let Some(codec) = version.codec {
            object = (codec.decode)(object);
        }
        // Custom resources differ by nothing but their version, which says by which schema they are checked.
        if self.custom.is_some() {
            return object;
        }
        let fields = object::fields(&mut object);
        fields.insert(
            "apiVersion".to_owned(),
            self.stored_api_version.as_ref().into(),
        );
        fields.insert("kind".to_owned(), self.kind.as_ref().into());
        object
    }

    /// The object in the form of `version`.
    pub(crate) fn encode(&self, version: &Version, object: &Value) -> Value {
        let mut served = match version.codec {
            Some(codec) => (codec.encode)(object),
            None => object.clone(),
        };
        object::fields(&mut served).insert(
            "apiVersion".to_owned(),
            self.api_version(&version.name).into(),
        );
        self.strategy.show(&version.name, &mut served);
        served
    }
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

/// Whose rules the metadata of a kind obeys besides those of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetadataRules {
    /// Finalizers are qualified or known. Upstream: core validation `ValidateObjectMeta`.
    Core,
    /// No more rules, or the kind checks them itself. Upstream: apimachinery `ValidateObjectMeta`.
    General,
}

/// How the deletion of an object begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeletionStart {
    /// As that of any object.
    Usual,
    /// The kind has marked the object, which waits for a finalizer.
    Marked,
}

/// The rules of one kind. Objects are in their stored form. The defaults fit a kind with a `spec`, a `status` and a generation.
pub(crate) trait Strategy: fmt::Debug + Send + Sync {
    /// Fills in what upstream fills in when the object is decoded.
    fn default(&self, _object: &mut Value) {}

    /// Settles what a client sent as `version`: drops what the version's schema does not know and tells the paths of it, and
    /// fills in the version's defaults.
    ///
    /// # Errors
    /// Why it cannot be read at all.
    fn read(&self, _version: &str, _object: &mut Value) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// Settles an object that is shown as `version`.
    fn show(&self, _version: &str, _object: &mut Value) {}

    /// The columns of a table of objects shown as `version`; `None` when they are built in.
    fn columns(&self, _version: &str) -> Option<&Columns> {
        None
    }

    /// Whether the status changes through `/status` alone.
    fn has_own_status(&self) -> bool {
        true
    }

    /// The status of a new object, `None` when the kind has none.
    fn empty_status(&self) -> Option<Value> {
        Some(json!({}))
    }

    /// What a status says that says nothing: the fields upstream's type always writes.
    fn zero_status(&self) -> Option<Value> {
        self.empty_status()
    }

    /// Whether `metadata.generation` counts changes of `spec`.
    fn has_generation(&self) -> bool {
        true
    }

    /// Whether an update counts as a new generation.
    fn counts_as_change(&self, object: &Value, old: &Value) -> bool {
        object.get("spec") != old.get("spec")
    }

    /// Settles a new object by what else there is, before everything below.
    ///
    /// # Errors
    /// Whatever upstream's admission refuses.
    fn admit(&self, _object: &mut Value, _around: &Surroundings<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    /// Settles a new object before it is validated.
    fn prepare_create(&self, _object: &mut Value) {}

    /// Settles a changed object before it is validated; status and generation are settled by the generic path.
    fn prepare_update(&self, _object: &mut Value, _old: &Value) {}

    /// Settles an object whose status is changed; everything but metadata and status is the old object's already.
    fn prepare_status(&self, _object: &mut Value, _old: &Value) {}

    /// The problems of a new object.
    fn validate(&self, _object: &Value) -> Vec<FieldError> {
        Vec::new()
    }

    /// The problems of a changed object.
    fn validate_update(&self, object: &Value, _old: &Value) -> Vec<FieldError> {
        self.validate(object)
    }

    /// The problems of a changed status.
    fn validate_status(&self, _object: &Value, _old: &Value) -> Vec<FieldError> {
        Vec::new()
    }

    /// The rule for names: the problems of one.
    fn name_rule(&self) -> fn(&str) -> Vec<String> {
        name::dns_subdomain
    }

    /// Which rules the metadata obeys.
    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::Core
    }

    /// Seconds of grace of a deletion that asks for `asked`; `None` when the kind is removed at once.
    fn grace_seconds(&self, _object: &Value, _asked: Option<i64>) -> Option<i64> {
        None
    }

    /// What a client is warned of that deletes without saying what becomes of dependents.
    fn deletion_warning(&self) -> Option<&'static str> {
        None
    }

    /// Marks an object in the kind's own way when its deletion is first asked for.
    fn begin_deletion(&self, _object: &mut Value, _now_ms: UnixMs) -> DeletionStart {
        DeletionStart::Usual
    }

    /// The fields besides `metadata.name` and `metadata.namespace` that a field selector may name.
    fn selectable_fields(&self) -> &'static [&'static str] {
        &[]
    }

    /// The refusal of a field selector that names another field.
    fn unselectable(&self, field: &str) -> String {
        if self.selectable_fields().is_empty() {
            format!(
                "{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            )
        } else {
            format!("field label not supported: {field}")
        }
    }

    /// Whether a field selector may name `field`.
    fn selects(&self, field: &str) -> bool {
        self.selectable_fields().contains(&field)
    }

    /// The value of a selectable field.
    fn field_value(&self, object: &Value, field: &str) -> String {
        match object.pointer(&format!("/{}", field.replace('.', "/"))) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        }
    }
}
