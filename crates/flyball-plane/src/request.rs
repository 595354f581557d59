//! From a method, a path and a query to what is wanted. Source: apiserver endpoints/request/requestinfo.go.
//! Purely syntactic: whether a resource exists is not known here.

use percent_encoding::percent_decode_str;

/// What a path points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// `/healthz`, `/livez`, `/readyz` and what is below them.
    Health,
    /// `/version`.
    Version,
    /// `/metrics`.
    Metrics,
    /// `/api`.
    CoreVersions,
    /// `/apis`.
    Groups,
    /// `/apis/G`.
    Group(String),
    /// `/api/v1` or `/apis/G/V`: the resources of a version.
    Resources(GroupVersion),
    /// `/openapi/v3` and below; the rest of the path.
    OpenApi(String),
    /// `/openapi/v2`, where kubectl looks for kinds that it has not found in version 3.
    OldOpenApi,
    /// An object or a collection.
    Resource(ResourcePath),
    /// Nothing known.
    Unknown,
}

/// A group and a version; the core group is `""`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupVersion {
    /// API group.
    pub group: String,
    /// Version.
    pub version: String,
}

/// The parts of a path below a group and version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourcePath {
    /// Group and version.
    pub served: GroupVersion,
    /// Namespace, absent for cluster-scoped paths and lists over all namespaces.
    pub namespace: Option<String>,
    /// Plural name of the resource.
    pub resource: String,
    /// Name of the object, absent for collections.
    pub name: Option<String>,
    /// The deprecated form `/api/v1/watch/...`, which asks for a watch.
    pub watched: bool,
    /// What follows the name: `status`, `scale`, or a custom metric's name.
    pub rest: Vec<String>,
}

impl Route {
    /// The route of a path. Segments are percent-decoded after the split, as upstream does.
    pub(crate) fn of(path: &str) -> Self {
        let parts: Vec<String> = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(|part| percent_decode_str(part).decode_utf8_lossy().into_owned())
            .collect();
        let words: Vec<&str> = parts.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["healthz" | "livez" | "readyz", ..] => Self::Health,
            ["version"] => Self::Version,
            ["metrics"] => Self::Metrics,
            ["api"] => Self::CoreVersions,
            ["apis"] => Self::Groups,
            ["apis", group] => Self::Group((*group).to_owned()),
            ["api", version, rest @ ..] => below(GroupVersion::new("", version), rest),
            ["apis", group, version, rest @ ..] => below(GroupVersion::new(group, version), rest),
            ["openapi", "v2"] => Self::OldOpenApi,
            ["openapi", "v3", rest @ ..] => Self::OpenApi(rest.join("/")),
            _ => Self::Unknown,
        }
    }
}

impl GroupVersion {
    /// A group and a version.
    pub(crate) fn new(group: &str, version: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
        }
    }
}

fn below(served: GroupVersion, rest: &[&str]) -> Route {
    let (watched, rest) = match rest {
        ["watch", rest @ ..] if !rest.is_empty() => (true, rest),
        _ => (false, rest),
    };
    let owned = |words: &[&str]| {
        words
            .iter()
            .map(|&word| word.to_owned())
            .collect::<Vec<_>>()
    };
    let path = |namespace: Option<&str>, resource: &str, rest: &[&str]| {
        Route::Resource(ResourcePath {
            served: served.clone(),
            namespace: namespace.map(str::to_owned),
            resource: resource.to_owned(),
            watched,
            name: rest.first().map(|&name| name.to_owned()),
            rest: owned(rest.get(1..).unwrap_or_default()),
        })
    };
    match rest {
        [] => Route::Resources(served),
        // A namespace and its own subresources; everything else below it is a resource in it.
        ["namespaces", _] | ["namespaces", _, "status" | "finalize"] => {
            path(None, "namespaces", &rest[1..])
        }
        ["namespaces", namespace, resource, rest @ ..] => path(Some(namespace), resource, rest),
        [resource, rest @ ..] => path(None, resource, rest),
    }
}

/// A decoded query string. The first of several values of a key counts, as in Go's `Query().Get`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Decodes `a=b&c=d`; empty pairs (`?&watch=true`) are skipped.
    pub(crate) fn parse(text: &str) -> Self {
        let decode = |part: &str| {
            percent_decode_str(&part.replace('+', " "))
                .decode_utf8_lossy()
                .into_owned()
        };
        Self(
            text.split('&')
                .filter(|pair| !pair.is_empty())
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(key, value)| (decode(key), decode(value)))
                .collect(),
        )
    }

    /// The value of `key`; an empty one counts as none.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(found, _)| found == key)
            .map(|(_, value)| value.as_str())
            .filter(|v| !v.is_empty())
    }

    /// All values of `key`.
    pub(crate) fn all(&self, key: &str) -> Vec<&str> {
        self.0
            .iter()
            .filter(|(found, _)| found == key)
            .map(|(_, value)| value.as_str())
            .collect()
    }

    /// A truth value as Go's parameter codec reads it: present and neither `false` nor `0`.
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.0
            .iter()
            .find(|(found, _)| found == key)
            .is_some_and(|(_, value)| !matches!(value.to_ascii_lowercase().as_str(), "false" | "0"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &str) -> String {
        match Route::of(path) {
            Route::Resource(p) => format!(
                "{}|{}|{}|{}|{}|{}",
                p.served.group,
                p.served.version,
                p.namespace.as_deref().unwrap_or("-"),
                p.resource,
                p.name.as_deref().unwrap_or("-"),
                p.rest.join("/")
            ),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn paths_resolve_as_upstream_resolves_them() {
        let table = [
            ("/api/v1/pods", "|v1|-|pods|-|"),
            ("/api/v1/namespaces", "|v1|-|namespaces|-|"),
            ("/api/v1/namespaces/a", "|v1|-|namespaces|a|"),
            ("/api/v1/namespaces/a/status", "|v1|-|namespaces|a|status"),
            ("/api/v1/namespaces/a/pods/b", "|v1|a|pods|b|"),
            ("/api/v1/watch/namespaces/a/pods/b", "|v1|a|pods|b|"),
            ("/api/v1/namespaces/a/pods/b%2Fc", "|v1|a|pods|b/c|"),
            (
                "/apis/apps/v1/namespaces/a/deployments/b/scale",
                "apps|v1|a|deployments|b|scale",
            ),
            (
                "/apis/metrics.k8s.io/v1beta1/nodes/n",
                "metrics.k8s.io|v1beta1|-|nodes|n|",
            ),
            (
                "/apis/custom.metrics.k8s.io/v1beta2/namespaces/a/pods/*/rps",
                "custom.metrics.k8s.io|v1beta2|a|pods|*|rps",
            ),
            ("/apis/apps/", "Group(\"apps\")"),
            ("/openapi/v2", "OldOpenApi"),
            ("/openapi/v3/apis/apps/v1", "OpenApi(\"apis/apps/v1\")"),
            ("/livez/ping", "Health"),
            ("/nothing", "Unknown"),
        ];
        for (path, expected) in table {
            assert_eq!(text(path), expected, "{path}");
        }
    }

    #[test]
    fn queries_decode_and_skip_empty_pairs() {
        let query = Query::parse("&watch=true&labelSelector=a%3Db+c&limit=&allowWatchBookmarks=0");
        assert!(query.flag("watch"));
        assert!(!query.flag("allowWatchBookmarks"));
        assert_eq!(query.get("labelSelector"), Some("a=b c"));
        assert_eq!(query.get("limit"), None);
    }
}
