//! Paths and queries of the API, percent-encoded.
//! Not here: who asks for them.

use std::fmt::Write;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What Go's url.PathEscape leaves alone besides letters and digits is kept; `*` is not, so that the request of the
/// custom metrics API reads `%2A` as client-go sends it.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// What Go's url.QueryEscape leaves alone besides letters and digits.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// `text` as one segment of a path.
pub fn segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

/// `/api/v1` or `/apis/<group>/<version>`.
pub fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        format!("/api/{version}")
    } else {
        format!("/apis/{group}/{version}")
    }
}

/// The path of all objects of a resource in `namespace`, or in all if that is empty.
pub fn collection(group: &str, version: &str, namespace: &str, resource: &str) -> String {
    let prefix = group_version(group, version);
    if namespace.is_empty() {
        return format!("{prefix}/{resource}");
    }
    format!(
        "{prefix}/namespaces/{}/{}",
        segment(namespace),
        segment(resource)
    )
}

/// `path` with the pairs that have a value; as upstream, an empty one is left out.
pub fn with_query(mut path: String, pairs: &[(&str, &str)]) -> String {
    let mut separator = '?';
    for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
        let value = utf8_percent_encode(value, QUERY);
        // Writing to a string cannot fail.
        let _ = write!(path, "{separator}{name}={value}");
        separator = '&';
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_group_has_a_place_of_its_own() {
        assert_eq!(collection("", "v1", "", "pods"), "/api/v1/pods");
        assert_eq!(
            collection("apps", "v1", "shop", "deployments"),
            "/apis/apps/v1/namespaces/shop/deployments"
        );
    }

    #[test]
    fn segments_and_queries_are_encoded_and_empty_values_left_out() {
        assert_eq!(segment("*"), "%2A");
        assert_eq!(segment("a/b c"), "a%2Fb%20c");
        let path = with_query(
            "/x".to_owned(),
            &[("a", ""), ("b", "app in (x,y)"), ("c", "1")],
        );
        assert_eq!(path, "/x?b=app%20in%20%28x%2Cy%29&c=1");
    }
}
