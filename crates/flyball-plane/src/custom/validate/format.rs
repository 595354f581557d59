//! Formats of texts. Source: apiextensions apiserver/validation/formats.go, kube-openapi strfmt. A format that upstream does
//! not know says nothing; of those it knows, the ones nobody uses in Kubernetes (isbn, creditcard, ssn…) say nothing here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::OnceLock;

use base64::Engine as _;
use flyball_api::name;
use regex::Regex;

/// True when `text` has the format, or nothing is known of the format.
pub(super) fn fits(format: &str, text: &str) -> bool {
    match format.replace('-', "").as_str() {
        "datetime" => is_date_time(text),
        "date" => text.parse::<jiff::civil::Date>().is_ok() && text.len() == 10,
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "mac" => matches(
            &MAC,
            r"^([0-9A-Fa-f]{2}[:-]){5}([0-9A-Fa-f]{2})$|^([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}$",
            text,
        ),
        "uuid" | "uuid3" | "uuid4" | "uuid5" => matches(
            &UUID,
            r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$",
            text,
        ),
        "email" => matches(&EMAIL, r"^[^@\s]+@[^@\s]+$", text),
        "hostname" => {
            !text.is_empty()
                && text.len() < 256
                && matches(
                    &HOST,
                    r"^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$",
                    text,
                )
        }
        "uri" => text.starts_with('/') || matches(&URI, r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$", text),
        "byte" => base64::engine::general_purpose::STANDARD
            .decode(text)
            .is_ok(),
        "duration" => is_duration(text),
        "hexcolor" => matches(&COLOR, r"^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", text),
        "k8sshortname" => name::dns_label(text).is_empty(),
        "k8slongname" => name::dns_subdomain(text).is_empty(),
        _ => true,
    }
}

static MAC: OnceLock<Regex> = OnceLock::new();
static UUID: OnceLock<Regex> = OnceLock::new();
static EMAIL: OnceLock<Regex> = OnceLock::new();
static HOST: OnceLock<Regex> = OnceLock::new();
static URI: OnceLock<Regex> = OnceLock::new();
static COLOR: OnceLock<Regex> = OnceLock::new();
static DURATION: OnceLock<Regex> = OnceLock::new();

fn matches(cell: &OnceLock<Regex>, pattern: &str, text: &str) -> bool {
    cell.get_or_init(|| Regex::new(pattern).expect("the pattern is a constant"))
        .is_match(text)
}

fn is_date_time(text: &str) -> bool {
    text.contains(['T', 't']) && text.parse::<jiff::Timestamp>().is_ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    let Ok(bits) = bits.parse::<u8>() else {
        return false;
    };
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => bits <= 32,
        Ok(IpAddr::V6(_)) => bits <= 128,
        Err(_) => false,
    }
}

/// A duration as Go writes it, or as Scala does: `1h5m`, `22 ns`, `3 days`.
fn is_duration(text: &str) -> bool {
    matches(
        &DURATION,
        r"^[-+]?(0|([0-9]*\.?[0-9]+(ns|us|µs|μs|ms|s|m|h))+|[0-9]+\s*(ns|nanos?|us|µs|micros?|ms|millis?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?))$",
        text,
    )
}
