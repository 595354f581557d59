//! LIST: selectors, pages, revisions. Source: apiserver handlers/get.go `ListResource`,
//! apimachinery meta/internalversion/validation. Not here: the token of a page (`page`).

use std::sync::Arc;

use flyball_api::field::FieldError;
use flyball_api::field_selector::FieldSelector;
use flyball_api::selector::Selector;
use serde_json::{Value, json};

use super::page::Page;
use super::{Answer, Call, Content};
use crate::body::invalid_options;
use crate::kind::{Kind, Scope};
use crate::object;
use crate::refusal::Refusal;
use crate::store::{Compacted, Entry, Key, Past, Revision};

/// Which part of the choice is wanted, and of when.
struct Wanted {
    from: Option<Key>,
    limit: Option<usize>,
    /// `None` for the present.
    at: Option<Revision>,
}

/// A part of a choice, how many objects come after it, and the revision of it all.
struct Found {
    chosen: Vec<(Key, Entry)>,
    more: usize,
    revision: Revision,
}

/// Which objects of a kind are wanted.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    kind: Arc<Kind>,
    pub(super) namespace: Option<String>,
    name: Option<String>,
    labels: Selector,
    fields: FieldSelector,
}

impl Choice {
    pub(super) fn matches(&self, object: &Value) -> bool {
        let fields = || {
            self.fields.terms().iter().all(|term| {
                (field_value(&self.kind, object, &term.field) == term.value) != term.negated
            })
        };
        self.namespace
            .as_deref()
            .is_none_or(|one| object::namespace(object) == one)
            && self
                .name
                .as_deref()
                .is_none_or(|one| object::name(object) == one)
            && self.labels.matches_with(|key| object::label(object, key))
            && fields()
    }

    /// Narrows the choice to one name, which may be chosen already but not otherwise.
    pub(super) fn keep_name(&mut self, name: &str) -> Result<(), Refusal> {
        if self
            .fields
            .exact_value("metadata.name")
            .is_some_and(|chosen| chosen != name)
        {
            return Err(Refusal::bad_request(
                "fieldSelector metadata.name doesn't match requested name",
            ));
        }
        self.name = Some(name.to_owned());
        Ok(())
    }

    fn is_everything(&self) -> bool {
        self.labels.requirements().is_empty() && self.fields.terms().is_empty()
    }
}

fn field_value(kind: &Kind, object: &Value, field: &str) -> String {
    match field {
        "metadata.name" => object::name(object).to_owned(),
        "metadata.namespace" => object::namespace(object).to_owned(),
        _ => kind.strategy.field_value(object, field),
    }
}

impl Call {
    /// The selectors of the request.
    pub(super) fn choice(&self) -> Result<Choice, Refusal> {
        let bad = |why: String| Refusal::bad_request(why);
        let labels = Selector::parse(self.query.get("labelSelector").unwrap_or_default())
            .map_err(|error| bad(error.to_string()))?;
        let fields = FieldSelector::parse(self.query.get("fieldSelector").unwrap_or_default())
            .map_err(|error| bad(error.to_string()))?;
        for term in fields.terms() {
            let name = term.field.as_str();
            if name != "metadata.name"
                && !(name == "metadata.namespace" && self.kind.scope == Scope::Namespaced)
                && !self.kind.strategy.selects(name)
            {
                return Err(bad(self.kind.strategy.unselectable(name)));
            }
        }
        Ok(Choice {
            kind: Arc::clone(&self.kind),
            namespace: self.path.namespace.clone(),
            name: None,
            labels,
            fields,
        })
    }

    pub(super) fn list(&self) -> Result<Answer, Refusal> {
        self.check_list_options()?;
        let choice = self.choice()?;
        let limit = self.number("limit")?.filter(|_| !self.is_unpaged());
        let page = self.query.get("continue").map(Page::parse).transpose()?;
        let at = match &page {
            Some(page) => page.revision,
            None => self.exact_revision(),
        };
        if let (Some(_), Some(revision)) = (&page, at) {
            self.check_not_newer(&revision.to_string())?;
        }
        let wanted = Wanted {
            from: page.as_ref().map(|page| self.page_key(page)),
            limit,
            at,
        };
        let found = self.choose(&choice, &wanted).map_err(|_| match &page {
            Some(page) => page.too_old(),
            None => Refusal::expired("The resourceVersion for the provided list is too old."),
        })?;
        let mut metadata = json!({"resourceVersion": found.revision.to_string()});
        if let Some((last, _)) = found.chosen.last().filter(|_| found.more > 0) {
            metadata["continue"] = self.next_page(found.revision, last).into();
            if choice.is_everything() {
                metadata["remainingItemCount"] = found.more.into();
            }
        }
        let objects = found.chosen.into_iter().map(|(_, entry)| entry.object);
        Ok(Answer::ok(Content::List(metadata, objects.collect())))
    }

    /// The objects that are wanted of the choice, as they were then or are now.
    fn choose(&self, choice: &Choice, wanted: &Wanted) -> Result<Found, Compacted> {
        let state = self.api.registry.store.read();
        let stored = &self.kind.stored;
        let past = match wanted.at {
            Some(revision) => Past::of(&state, stored, revision)?,
            None => Past::default(),
        };
        let namespace = choice.namespace.as_deref();
        let mut found = past
            .range(&state, stored, namespace, wanted.from.as_ref())
            .filter(|(_, entry)| choice.matches(&entry.object));
        let chosen: Vec<(Key, Entry)> = found
            .by_ref()
            .take(wanted.limit.unwrap_or(usize::MAX))
            .map(|(key, entry)| (key.clone(), entry.clone()))
            .collect();
        let more = if wanted.limit.is_some() {
            found.count()
        } else {
            0
        };
        Ok(Found {
            chosen,
            more,
            revision: wanted.at.unwrap_or_else(|| state.revision()),
        })
    }

    /// A number of the query that counts from one; zero and nothing mean no bound.
    pub(super) fn number(&self, option: &str) -> Result<Option<usize>, Refusal> {
        let Some(text) = self.query.get(option) else {
            return Ok(None);
        };
        let number: i64 = text.parse().map_err(|_| {
            Refusal::bad_request(format!(
                "strconv.ParseInt: parsing {text:?}: invalid syntax"
            ))
        })?;
        Ok(usize::try_from(number).ok().filter(|number| *number > 0))
    }

    /// Refuses options that do not go together in a list.
    pub(super) fn check_list_rules(&self) -> Result<(), Refusal> {
        let (revision, paged) = (
            self.query.get("resourceVersion"),
            self.query.get("continue").is_some(),
        );
        let mut errors = Vec::new();
        if let Some(rule) = self.query.get("resourceVersionMatch") {
            errors.extend(match_rule(rule, revision, paged));
        }
        if self.query.get("sendInitialEvents").is_some() {
            errors.push(crate::field::forbidden(
                "sendInitialEvents",
                "sendInitialEvents is forbidden for list",
            ));
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(invalid_options("ListOptions", &errors))
        }
    }

    fn check_list_options(&self) -> Result<(), Refusal> {
        self.check_list_rules()?;
        let (revision, paged) = (
            self.query.get("resourceVersion"),
            self.query.get("continue").is_some(),
        );
        match revision {
            None | Some("0") => Ok(()),
            Some(_) if paged => Err(Refusal::bad_request(
                "specifying resource version is not allowed when using continue",
            )),
            Some(asked) => {
                self.check_not_newer(asked).map_err(|mut refusal| {
                    if refusal.code == http::StatusCode::BAD_REQUEST {
                        refusal.message.insert_str(0, "invalid resource version: ");
                    }
                    refusal
                })?;
                Ok(())
            }
        }
    }

    /// Any revision will do: upstream answers from its watch cache then, whole. It keeps no cache of events.
    fn is_unpaged(&self) -> bool {
        self.query.get("resourceVersion") == Some("0")
            && self.query.get("continue").is_none()
            && *self.kind.stored != *"events"
    }

    /// The revision a list must be of. A page of a revision is of that one, unless it is said otherwise.
    fn exact_revision(&self) -> Option<Revision> {
        let exact = match self.query.get("resourceVersionMatch") {
            Some(rule) => rule == "Exact",
            None => self.number("limit").is_ok_and(|limit| limit.is_some()),
        };
        let asked = self.query.get("resourceVersion").filter(|_| exact)?;
        asked.parse().ok().filter(|revision| *revision > 0)
    }
}

fn match_rule(rule: &str, revision: Option<&str>, paged: bool) -> Vec<FieldError> {
    const FIELD: &str = "resourceVersionMatch";
    let mut errors = Vec::new();
    if revision.is_none() {
        let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
        errors.push(crate::field::forbidden(FIELD, detail));
    }
    if paged {
        let detail = "resourceVersionMatch is forbidden when continue is provided";
        errors.push(crate::field::forbidden(FIELD, detail));
    }
    if !["Exact", "NotOlderThan"].contains(&rule) {
        let known = ["Exact", "NotOlderThan", ""];
        errors.push(crate::field::not_supported(FIELD, rule, &known));
    }
    if rule == "Exact" && revision == Some("0") {
        let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
        errors.push(crate::field::forbidden(FIELD, detail));
    }
    errors
}
