//! LIST: selectors, pages, revisions. Source: apiserver handlers/get.go `ListResource`,
//! apimachinery meta/internalversion/validation, storage/continue.go.

use std::sync::Arc;

use base64::Engine as _;
use flyball_api::field::FieldError;
use flyball_api::field_selector::FieldSelector;
use flyball_api::selector::Selector;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Answer, Call, Content};
use crate::body::invalid_option;
use crate::kind::{Kind, Scope};
use crate::object;
use crate::refusal::Refusal;
use crate::schema::decode::syntax;
use crate::store::{Entry, Key, Revision};

const TOO_OLD_PAGE: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.";

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

/// Where the next page starts. The same fields as upstream's token, for people who decode it.
#[derive(Serialize, Deserialize)]
struct Page {
    #[serde(default)]
    v: String,
    #[serde(default)]
    rv: Revision,
    #[serde(default)]
    start: String,
}

/// The form of the token.
const PAGE_VERSION: &str = "meta.k8s.io/v1";

/// Go's words for a text that is not base64: the place of its first wrong byte.
fn illegal_base64(error: &base64::DecodeError, token: &str) -> String {
    let at = match error {
        base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => {
            *at
        }
        // Go stops where the group of four begins that does not end.
        base64::DecodeError::InvalidLength(_) | base64::DecodeError::InvalidPadding => {
            token.len() / 4 * 4
        }
    };
    format!("illegal base64 data at input byte {at}")
}

impl Call {
    /// The selectors of the request.
    pub(super) fn choice(&self) -> Result<Choice, Refusal> {
        let bad = |why: String| Refusal::bad_request(why);
        let labels = Selector::parse(self.query.get("labelSelector").unwrap_or_default())
            .map_err(|error| bad(error.to_string()))?;
        let fields = FieldSelector::parse(self.query.get("fieldSelector").unwrap_or_default())
            .map_err(|error| bad(error.to_string()))?;
        let known = self.kind.strategy.selectable_fields();
        for term in fields.terms() {
            let name = term.field.as_str();
            if name != "metadata.name"
                && !(name == "metadata.namespace" && self.kind.scope == Scope::Namespaced)
                && !known.contains(&name)
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
        let limit = self.number("limit")?;
        let page = self
            .query
            .get("continue")
            .map(|token| self.page(token))
            .transpose()?;
        let after = page.as_ref().map(|page| self.page_key(page));
        let (chosen, more, revision) = self.choose(&choice, after.as_ref(), limit);
        let revision = page.map_or(revision, |page| page.rv);
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if let Some((last, _)) = chosen.last().filter(|_| more > 0) {
            metadata["continue"] = token(revision, last).into();
            if choice.is_everything() {
                metadata["remainingItemCount"] = more.into();
            }
        }
        let objects = chosen.into_iter().map(|(_, entry)| entry.object).collect();
        Ok(Answer::ok(Content::List(metadata, objects)))
    }

    /// The first `limit` objects of the choice, how many more there are, and the revision of it all.
    fn choose(
        &self,
        choice: &Choice,
        after: Option<&Key>,
        limit: Option<usize>,
    ) -> (Vec<(Key, Entry)>, usize, Revision) {
        let state = self.api.registry.store.read();
        let mut found = state
            .range(&self.kind.stored, choice.namespace.as_deref(), after)
            .filter(|(_, entry)| choice.matches(&entry.object));
        let chosen: Vec<(Key, Entry)> = found
            .by_ref()
            .take(limit.unwrap_or(usize::MAX))
            .map(|(key, entry)| (key.clone(), entry.clone()))
            .collect();
        let more = if limit.is_some() { found.count() } else { 0 };
        (chosen, more, state.revision())
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

    fn check_list_options(&self) -> Result<(), Refusal> {
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
        if let Some(error) = errors.first() {
            return Err(invalid_option("ListOptions", error));
        }
        match revision {
            None | Some("0") => Ok(()),
            Some(_) if paged => Err(Refusal::bad_request(
                "specifying resource version is not allowed when using continue",
            )),
            Some(asked) => {
                let asked = self.check_not_newer(asked).map_err(|mut refusal| {
                    if refusal.code == http::StatusCode::BAD_REQUEST {
                        refusal.message.insert_str(0, "invalid resource version: ");
                    }
                    refusal
                })?;
                let exact = self.query.get("resourceVersionMatch") == Some("Exact")
                    || (self.query.get("limit").is_some()
                        && self.query.get("resourceVersionMatch").is_none());
                if exact && self.has_changed_since(asked) {
                    return Err(Refusal::expired(
                        "The resourceVersion for the provided list is too old.",
                    ));
                }
                Ok(())
            }
        }
    }

    /// Old states are not kept, so that a list of one can be made only while nothing has changed since.
    fn has_changed_since(&self, revision: Revision) -> bool {
        let state = self.api.registry.store.read();
        state
            .events_after(&self.kind.stored, revision, 1)
            .map_or(true, |events| !events.is_empty())
    }

    fn page(&self, token: &str) -> Result<Page, Refusal> {
        let bad = |why: String| {
            Refusal::bad_request(format!(
                "invalid continue token: continue key is not valid: {why}"
            ))
        };
        let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD
            .decode(token)
            .map_err(|error| bad(illegal_base64(&error, token)))?;
        let page: Page = serde_json::from_slice(&bytes)
            .map_err(|error| bad(syntax::problem(&bytes).unwrap_or_else(|| error.to_string())))?;
        if page.v != PAGE_VERSION {
            return Err(bad(format!(
                "server does not recognize this encoded version {}",
                page.v
            )));
        }
        let state = self.api.registry.store.read();
        if state.events_after(&self.kind.stored, page.rv, 1).is_err() {
            return Err(Refusal::expired(TOO_OLD_PAGE));
        }
        Ok(page)
    }

    fn page_key(&self, page: &Page) -> Key {
        let (namespace, name) = page.start.split_once('/').unwrap_or(("", &page.start));
        Key::new(&self.kind.stored, namespace, name)
    }
}

fn token(revision: Revision, last: &Key) -> String {
    let start = format!("{}/{}", last.namespace, last.name);
    let page = Page {
        v: PAGE_VERSION.to_owned(),
        rv: revision,
        start,
    };
    let bytes = serde_json::to_vec(&page).expect("a page has string keys only");
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
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
    match rule {
        "Exact" if revision == Some("0") => errors.push(crate::field::forbidden(
            FIELD,
            "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
        )),
        "Exact" | "NotOlderThan" => {}
        other => errors.push(crate::field::not_supported(
            FIELD,
            other,
            &["Exact", "NotOlderThan", ""],
        )),
    }
    errors
}
