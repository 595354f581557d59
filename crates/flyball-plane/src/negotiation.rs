//! What a client accepts and what it sends: media types. Source: apiserver endpoints/handlers/negotiation.
//! Not here: making the forms (`respond`).

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE};

use crate::refusal::Refusal;

/// How objects are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Json,
    Yaml,
}

/// What objects are turned into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// As they are.
    Object,
    /// `meta.k8s.io/v1` Table.
    Table,
    /// `meta.k8s.io/v1` PartialObjectMetadata.
    Metadata,
    /// `apidiscovery.k8s.io/v2` APIGroupDiscoveryList.
    Discovery,
}

/// Whether a path may answer with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Streams {
    /// It is a list's.
    Possible,
    /// It is not.
    Never,
}

/// The outcome of a negotiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) encoding: Encoding,
    pub(crate) shape: Shape,
}

/// What upstream makes; protobuf is accepted in bodies and never made here.
const OFFERED: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
/// What upstream makes besides for lists, which may be watches.
const STREAMS: &str =
    ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

impl Form {
    /// The first form in the client's `Accept` header that can be made; `offered` are the shapes besides plain objects.
    ///
    /// # Errors
    /// 406 when there is none.
    pub(crate) fn accepted(headers: &HeaderMap, offered: &[Shape]) -> Result<Self, Refusal> {
        let text = headers
            .get(ACCEPT)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let mut asked = text
            .split(',')
            .map(str::trim)
            .filter(|one| !one.is_empty())
            .peekable();
        if asked.peek().is_none() {
            return Ok(Self {
                encoding: Encoding::Json,
                shape: Shape::Object,
            });
        }
        asked
            .find_map(|one| Self::parse(one, offered))
            .ok_or_else(|| Refusal::not_acceptable(OFFERED))
    }

    /// Refuses a client that accepts no media type that is ever made for objects; `streams` when a list is asked for. Upstream:
    /// the router's check, which comes before any other.
    ///
    /// # Errors
    /// 406.
    pub(crate) fn check_routable(headers: &HeaderMap, streams: Streams) -> Result<(), Refusal> {
        let asked = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
        let known = |one: &str| {
            let media_type = one.split(';').next().unwrap_or_default().trim();
            media_type == "*/*" || OFFERED.split(", ").any(|offered| offered == media_type)
        };
        match asked {
            None | Some("") => Ok(()),
            Some(asked) if asked.split(',').any(known) => Ok(()),
            Some(_) if streams == Streams::Possible => {
                Err(Refusal::no_representation(&format!("{OFFERED}{STREAMS}")))
            }
            Some(_) => Err(Refusal::no_representation(OFFERED)),
        }
    }

    fn parse(media_type: &str, offered: &[Shape]) -> Option<Self> {
        let mut parts = media_type.split(';').map(str::trim);
        let encoding = match parts.next()? {
            "application/json" | "*/*" | "application/*" => Encoding::Json,
            "application/yaml" => Encoding::Yaml,
            _ => return None,
        };
        let (mut kind, mut version, mut group) = ("", "", "");
        for part in parts {
            match part.split_once('=') {
                Some(("as", value)) => kind = value,
                Some(("v", value)) => version = value,
                Some(("g", value)) => group = value,
                _ => {}
            }
        }
        let shape = match (kind, group, version) {
            ("", _, _) => Shape::Object,
            ("Table", "meta.k8s.io", "v1") => Shape::Table,
            ("PartialObjectMetadata" | "PartialObjectMetadataList", "meta.k8s.io", "v1") => {
                Shape::Metadata
            }
            ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2") => Shape::Discovery,
            _ => return None,
        };
        (shape == Shape::Object || offered.contains(&shape)).then_some(Self { encoding, shape })
    }
}

/// The media type of a body without its parameters, in lower case; `""` when none is named.
pub(crate) fn content_type(headers: &HeaderMap) -> String {
    let text = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    text.split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(accept: &str) -> Option<Shape> {
        let headers = HeaderMap::from_iter([(ACCEPT, accept.parse().unwrap())]);
        Form::accepted(&headers, &[Shape::Table])
            .ok()
            .map(|form| form.shape)
    }

    #[test]
    fn the_first_form_that_can_be_made_wins() {
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        let table = [
            ("", Some(Shape::Object)),
            (kubectl, Some(Shape::Table)),
            (
                "application/json;as=Table;v=v1beta1;g=meta.k8s.io,*/*",
                Some(Shape::Object),
            ),
            (
                "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
                None,
            ),
            (
                "application/vnd.kubernetes.protobuf, application/json",
                Some(Shape::Object),
            ),
            ("application/cbor", None),
        ];
        for (accept, expected) in table {
            assert_eq!(shape(accept), expected, "{accept}");
        }
    }
}
