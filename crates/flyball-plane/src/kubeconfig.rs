//! The kubeconfig that opens a plane. Not here: the certificates and the token in it.

use std::net::SocketAddr;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::auth::Token;

/// The name of cluster, user and context.
const NAME: &str = "flyball";

/// A kubeconfig as YAML's subset JSON, one line a field: it names the server, what to trust and what to show.
pub(crate) fn render(address: SocketAddr, ca: &str, token: &Token) -> String {
    let encoded = base64::engine::general_purpose::STANDARD.encode(ca);
    let config: Value = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": NAME,
        "clusters": [{
            "name": NAME,
            "cluster": {"server": format!("https://{address}"), "certificate-authority-data": encoded},
        }],
        "users": [{"name": NAME, "user": {"token": token.text()}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME, "namespace": "default"}}],
    });
    let mut text =
        serde_json::to_string_pretty(&config).expect("a JSON value has string keys only");
    text.push('\n');
    text
}
