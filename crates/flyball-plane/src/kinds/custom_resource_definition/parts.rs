//! The rules for the parts of a definition. Upstream moves what all versions have in common to the top before it validates,
//! so that is where its problems are told.

use super::{FieldError, FieldPath, Value, field, name, structural};

/// A version's parts that upstream keeps once when all versions agree: field, path below a version, path at the top.
const PARTS: [(&str, &str); 4] = [
    ("schema", "validation"),
    ("subresources", "subresources"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
    ("selectableFields", "selectableFields"),
];

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn joined(path: &FieldPath, found: &str, why: &[String], before: &str) -> Option<FieldError> {
    let bad = !found.is_empty() && !why.is_empty();
    bad.then(|| FieldError::invalid(path, found, format!("{before}{}", why.join(","))))
}

/// True when every version has the same of a part, and has it.
fn is_shared(spec: &Value, field: &str) -> bool {
    let versions = list(&spec["versions"]);
    versions.first().is_some_and(|first| {
        !first[field].is_null() && versions.iter().all(|one| one[field] == first[field])
    })
}

pub(super) fn group_and_scope(spec: &Value, problems: &mut Vec<FieldError>) {
    let path = FieldPath::new("spec");
    let group = text(spec, "group");
    let why = name::dns_subdomain(group);
    if group.is_empty() {
        problems.push(FieldError::required(&path.child("group"), ""));
    } else if !why.is_empty() {
        problems.extend(joined(&path.child("group"), group, &why, ""));
    } else if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        problems.push(FieldError::invalid(&path.child("group"), group, detail));
    }
    let at = path.child("scope");
    match text(spec, "scope") {
        "" => problems.push(FieldError::required(&at, "")),
        "Cluster" | "Namespaced" => {}
        other => problems.push(FieldError::not_supported(
            &at,
            other,
            &["Cluster", "Namespaced"],
        )),
    }
}

pub(super) fn versions(spec: &Value, problems: &mut Vec<FieldError>) {
    let path = FieldPath::new("spec").child("versions");
    let all = list(&spec["versions"]);
    for (index, version) in all.iter().enumerate() {
        if version["schema"]["openAPIV3Schema"].is_null() {
            let at = path.index(index).child("schema").child("openAPIV3Schema");
            problems.push(FieldError::required(&at, ""));
        }
    }
    for (index, version) in all.iter().enumerate() {
        let at = path.index(index);
        let name = text(version, "name");
        let why = name::dns_1035_label(name);
        if !why.is_empty() {
            problems.push(FieldError::invalid(&at.child("name"), name, why.join(",")));
        }
        let warning = &version["deprecationWarning"];
        if !warning.is_null() && version["deprecated"] != true {
            let detail = "can only be set for deprecated versions";
            problems.push(field::invalid(
                at.child("deprecationWarning").to_string(),
                warning.clone(),
                detail,
            ));
        }
        for (field, _) in PARTS.iter().filter(|(field, _)| !is_shared(spec, field)) {
            part(version, field, &at.child(field), problems);
        }
    }
    let names: Vec<&str> = all.iter().map(|one| text(one, "name")).collect();
    if names
        .iter()
        .enumerate()
        .any(|(index, name)| names[..index].contains(name))
    {
        problems.push(field::invalid(
            path.to_string(),
            internal(&spec["versions"]),
            "must contain unique version names",
        ));
    }
    if all.iter().filter(|one| one["storage"] == true).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        problems.push(field::invalid(
            path.to_string(),
            internal(&spec["versions"]),
            detail,
        ));
    }
}

/// Versions as upstream's internal type shows them in a message.
fn internal(versions: &Value) -> Value {
    versions.clone()
}

/// The parts that all versions share.
pub(super) fn shared(spec: &Value, problems: &mut Vec<FieldError>) {
    let path = FieldPath::new("spec");
    for (field, top) in PARTS.iter().filter(|(field, _)| is_shared(spec, field)) {
        part(&spec["versions"][0], field, &path.child(top), problems);
    }
}

fn part(version: &Value, field: &str, path: &FieldPath, problems: &mut Vec<FieldError>) {
    match field {
        "schema" => schema(version, path, problems),
        "subresources" => scale(&version["subresources"]["scale"], path, problems),
        "additionalPrinterColumns" => {
            for (index, one) in list(&version[field]).iter().enumerate() {
                column(one, &path.index(index), problems);
            }
        }
        _ => selectable(version, path, problems),
    }
}

fn schema(version: &Value, path: &FieldPath, problems: &mut Vec<FieldError>) {
    let schema = &version["schema"]["openAPIV3Schema"];
    if schema.is_null() {
        return;
    }
    let kind = text(schema, "type");
    if !version["subresources"]["status"].is_null() && kind != "object" {
        let detail = "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        problems.push(FieldError::invalid(
            &path.child("openAPIV3Schema.type"),
            kind,
            detail,
        ));
    }
    if schema["nullable"] == true {
        let detail = "nullable cannot be true at the root";
        problems.push(FieldError::forbidden(
            &path.child("openAPIV3Schema.nullable"),
            detail,
        ));
    }
    problems.extend(structural::check(schema, &path.child("openAPIV3Schema")));
}

fn json_path(found: &str, path: &FieldPath) -> Option<FieldError> {
    let detail = "must be a simple json path starting with .";
    (!found.starts_with('.')).then(|| FieldError::invalid(path, found, detail))
}

fn scale(scale: &Value, path: &FieldPath, problems: &mut Vec<FieldError>) {
    if scale.is_null() {
        return;
    }
    for (field, prefix) in [
        ("specReplicasPath", ".spec"),
        ("statusReplicasPath", ".status"),
    ] {
        let (at, found) = (path.child("scale").child(field), text(scale, field));
        if found.is_empty() {
            problems.push(FieldError::required(&at, ""));
        } else if let Some(problem) = json_path(found, &at) {
            problems.push(problem);
        } else if !found.starts_with(&format!("{prefix}.")) {
            let detail = format!("should be a json path under {prefix}");
            problems.push(FieldError::invalid(&at, found, detail));
        }
    }
    let (at, found) = (
        path.child("scale.labelSelectorPath"),
        text(scale, "labelSelectorPath"),
    );
    if found.is_empty() {
        return;
    }
    if let Some(problem) = json_path(found, &at) {
        problems.push(problem);
    } else if !found.starts_with(".spec.") && !found.starts_with(".status.") {
        let detail = "should be a json path under either .spec or .status";
        problems.push(FieldError::invalid(&at, found, detail));
    }
}

fn column(column: &Value, path: &FieldPath, problems: &mut Vec<FieldError>) {
    const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
    const FORMATS: [&str; 8] = [
        "byte",
        "date",
        "date-time",
        "double",
        "float",
        "int32",
        "int64",
        "password",
    ];
    if text(column, "name").is_empty() {
        problems.push(FieldError::required(&path.child("name"), ""));
    }
    let kind = text(column, "type");
    let detail = format!("must be one of {}", TYPES.join(","));
    if kind.is_empty() {
        problems.push(FieldError::required(&path.child("type"), detail));
    } else if !TYPES.contains(&kind) {
        problems.push(FieldError::invalid(&path.child("type"), kind, detail));
    }
    let format = text(column, "format");
    if !format.is_empty() && !FORMATS.contains(&format) {
        let mut formats = FORMATS;
        formats.sort_unstable();
        let detail = format!("must be one of {}", formats.join(","));
        problems.push(FieldError::invalid(&path.child("format"), format, detail));
    }
    let (at, found) = (path.child("JSONPath"), text(column, "jsonPath"));
    if found.is_empty() {
        problems.push(FieldError::required(&at, ""));
    } else {
        problems.extend(json_path(found, &at));
    }
}

fn selectable(version: &Value, path: &FieldPath, problems: &mut Vec<FieldError>) {
    const FIELDS_MAX: usize = 8;
    let schema = &version["schema"]["openAPIV3Schema"];
    let mut seen: Vec<&str> = Vec::new();
    for (index, one) in list(&version["selectableFields"]).iter().enumerate() {
        let (at, found) = (path.index(index).child("jsonPath"), text(one, "jsonPath"));
        if found.is_empty() {
            problems.push(FieldError::required(&at, ""));
            continue;
        }
        let names: Vec<&str> = found.trim_start_matches('.').split('.').collect();
        let target = names
            .iter()
            .try_fold(schema, |at, name| at["properties"].get(*name));
        if names.first() == Some(&"metadata") {
            problems.push(FieldError::invalid(
                &at,
                found,
                "must not point to fields in metadata",
            ));
        }
        let Some(target) = target else {
            let detail = "is an invalid path: does not refer to a valid field";
            problems.push(FieldError::invalid(&at, found, detail));
            continue;
        };
        if !["string", "boolean", "integer"].contains(&text(target, "type")) {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
            problems.push(FieldError::invalid(&at, found, detail));
        }
        if seen.contains(&found) {
            problems.push(FieldError::duplicate(&at, found));
        } else {
            seen.push(found);
        }
    }
    if seen.len() > FIELDS_MAX {
        problems.push(FieldError::too_many(path, seen.len(), FIELDS_MAX));
    }
}

pub(super) fn names(names: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut problems = Vec::new();
    for field in ["plural", "singular"] {
        let found = text(names, field);
        problems.extend(joined(
            &path.child(field),
            found,
            &name::dns_1035_label(found),
            "",
        ));
    }
    for field in ["kind", "listKind"] {
        let found = text(names, field);
        let why = name::dns_1035_label(&found.to_lowercase());
        let before = "may have mixed case, but should otherwise match: ";
        problems.extend(joined(&path.child(field), found, &why, before));
    }
    let mut each = |field: &str| {
        for (index, one) in list(&names[field]).iter().enumerate() {
            let found = one.as_str().unwrap_or_default();
            let why = name::dns_1035_label(found);
            if !why.is_empty() {
                let at = path.child(field).index(index);
                problems.push(FieldError::invalid(&at, found, why.join(",")));
            }
        }
    };
    each("shortNames");
    let (kind, list_kind) = (text(names, "kind"), text(names, "listKind"));
    if !kind.is_empty() && kind == list_kind {
        let detail = "kind and listKind may not be the same";
        problems.push(FieldError::invalid(
            &path.child("listKind"),
            list_kind,
            detail,
        ));
    }
    for (index, one) in list(&names["categories"]).iter().enumerate() {
        let found = one.as_str().unwrap_or_default();
        let why = name::dns_1035_label(found);
        if !why.is_empty() {
            let at = path.child("categories").index(index);
            problems.push(FieldError::invalid(&at, found, why.join(",")));
        }
    }
    problems
}

pub(super) fn conversion(spec: &Value, problems: &mut Vec<FieldError>) {
    let path = FieldPath::new("spec").child("conversion");
    let conversion = &spec["conversion"];
    match text(conversion, "strategy") {
        "Webhook" if conversion["webhook"]["clientConfig"].is_null() => {
            let detail = "required when strategy is set to Webhook";
            problems.push(FieldError::required(
                &path.child("webhookClientConfig"),
                detail,
            ));
        }
        "None" if !conversion["webhook"]["clientConfig"].is_null() => {
            let detail = "should not be set when strategy is not set to Webhook";
            problems.push(FieldError::forbidden(
                &path.child("webhookClientConfig"),
                detail,
            ));
        }
        "None" | "Webhook" => {}
        "" => problems.push(FieldError::required(&path.child("strategy"), "")),
        other => {
            let at = path.child("strategy");
            problems.push(FieldError::not_supported(&at, other, &["None", "Webhook"]));
        }
    }
}

pub(super) fn stored(object: &Value, problems: &mut Vec<FieldError>) {
    let path = FieldPath::new("status").child("storedVersions");
    let stored = &object["status"]["storedVersions"];
    if list(stored).is_empty() {
        let detail = "must have at least one stored version";
        problems.push(field::invalid(path.to_string(), stored.clone(), detail));
        return;
    }
    let versions = list(&object["spec"]["versions"]);
    for (index, name) in list(stored).iter().enumerate() {
        if !versions.iter().any(|version| version["name"] == *name) {
            let name = name.as_str().unwrap_or_default();
            let detail = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
            );
            problems.push(FieldError::invalid(&path.index(index), name, detail));
        }
    }
}
