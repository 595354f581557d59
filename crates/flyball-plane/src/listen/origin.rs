//! Who a request says it asks, and for whom: the check that keeps web pages out. A page can make a browser on this host send
//! requests here, across origins or under a name of its own that it has pointed at this address (DNS rebinding). It has no
//! token, but what is told without one is told to it as well. Differs from upstream: kube-apiserver answers to any name.
//! Not here: the token (`auth`); requests in process, which are trusted.

use std::net::IpAddr;

use http::Request;
use http::header::{HOST, ORIGIN};
use http::uri::Authority;

use crate::refusal::Refusal;

/// The names in the server's certificate.
const NAMES: [&str; 2] = ["localhost", "kubernetes.default.svc"];

/// Lets requests pass that ask this server, from no web page or from its own.
///
/// An address is always one of ours, whichever it is: only a name can be pointed elsewhere. A request that names nobody is no
/// browser's.
///
/// # Errors
/// 421 for a name of somebody else, 403 for another origin.
pub(super) fn check<B>(request: &Request<B>) -> Result<(), Refusal> {
    let headers = request.headers();
    let mut asked: Vec<&str> = Vec::new();
    asked.extend(request.uri().authority().map(Authority::as_str));
    for host in headers.get_all(HOST) {
        asked.push(host.to_str().unwrap_or("(unreadable)"));
    }
    if let Some(stranger) = asked.iter().find(|asked| !is_ours(asked)) {
        return Err(Refusal::misdirected(stranger));
    }
    let is_same = |origin: &str| {
        origin.strip_prefix("https://").is_some_and(|from| {
            asked
                .first()
                .is_some_and(|asked| from.eq_ignore_ascii_case(asked))
        })
    };
    for origin in headers.get_all(ORIGIN) {
        let origin = origin.to_str().unwrap_or("(unreadable)");
        if !is_same(origin) {
            return Err(Refusal::cross_origin(origin));
        }
    }
    Ok(())
}

fn is_ours(asked: &str) -> bool {
    let Ok(authority) = asked.parse::<Authority>() else {
        return false;
    };
    let host = authority.host();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    address.parse::<IpAddr>().is_ok() || NAMES.iter().any(|name| name.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn row(uri: &str, headers: &[(http::HeaderName, &str)], code: Option<u16>) {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        let refused = check(&request.body(()).unwrap()).err();
        let found = refused.as_ref().map(|refusal| refusal.code.as_u16());
        assert_eq!(found, code, "{uri} {headers:?} {refused:?}");
    }

    #[test]
    fn a_name_of_somebody_else_is_misdirected() {
        row("/", &[], None);
        row("/", &[(HOST, "127.0.0.1:6443")], None);
        row("/", &[(HOST, "[::1]:6443")], None);
        row("/", &[(HOST, "192.168.1.5")], None);
        row("/", &[(HOST, "LocalHost:6443")], None);
        row("/", &[(HOST, "kubernetes.default.svc")], None);
        row("https://localhost:1/", &[], None);
        row("/", &[(HOST, "rebound.example:6443")], Some(421));
        row("/", &[(HOST, "localhost.rebound.example")], Some(421));
        row("/", &[(HOST, "127.0.0.1.rebound.example")], Some(421));
        row("/", &[(HOST, "localhost@rebound.example")], Some(421));
        row("/", &[(HOST, "")], Some(421));
        row(
            "https://rebound.example/",
            &[(HOST, "localhost")],
            Some(421),
        );
        row(
            "https://localhost/",
            &[(HOST, "rebound.example")],
            Some(421),
        );
        row(
            "/",
            &[(HOST, "localhost"), (HOST, "rebound.example")],
            Some(421),
        );
    }

    #[test]
    fn only_the_same_origin_may_ask_from_a_web_page() {
        let host = (HOST, "localhost:6443");
        row(
            "/",
            &[host.clone(), (ORIGIN, "https://localhost:6443")],
            None,
        );
        row(
            "https://127.0.0.1:1/",
            &[(ORIGIN, "https://127.0.0.1:1")],
            None,
        );
        for origin in [
            "http://localhost:6443",
            "https://localhost:6444",
            "https://localhost",
            "https://page.example",
            "null",
            "",
        ] {
            row("/", &[host.clone(), (ORIGIN, origin)], Some(403));
        }
        row("/", &[(ORIGIN, "https://localhost")], Some(403));
    }
}
