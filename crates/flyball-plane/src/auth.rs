//! The bearer token: made once, kept beside the store, asked for by the listener. Whoever has it may do everything.
//! Not here: users, groups, roles; there is one user.

use std::fmt;
use std::io;
use std::path::Path;

use base64::Engine as _;
use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::request::Route;
use crate::secret;

/// The token; never printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// A token of 256 random bits, from the host's secure source.
    pub(crate) fn generate() -> io::Result<Self> {
        let mut bytes = [0_u8; 32];
        rustls::crypto::ring::default_provider()
            .secure_random
            .fill(&mut bytes)
            .map_err(|_| io::Error::other("the host gave no random bytes"))?;
        Ok(Self(
            base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes),
        ))
    }

    /// The token of a folder, made when there is none.
    pub(crate) fn of_folder(folder: &Path) -> io::Result<Self> {
        let path = folder.join("token");
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Self(text.trim().to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let token = Self::generate()?;
                secret::write(&path, &token.0)?;
                Ok(token)
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// True when a request may pass: it shows the token, or asks for what everybody may know. Upstream opens health and
    /// version to the unauthenticated (`system:public-info-viewer`).
    pub(crate) fn admits(&self, path: &str, headers: &HeaderMap) -> bool {
        if matches!(Route::of(path), Route::Health | Route::Version) {
            return true;
        }
        let shown = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let Some((scheme, token)) = shown.split_once(' ') else {
            return false;
        };
        scheme.eq_ignore_ascii_case("bearer") && same(token.trim(), &self.0)
    }
}

/// Compares in a time that does not depend on where the texts differ.
fn same(left: &str, right: &str) -> bool {
    let differences = left
        .bytes()
        .zip(right.bytes())
        .fold(0, |all, (l, r)| all | (l ^ r));
    left.len() == right.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_opens_everything_and_its_absence_only_health_and_version() {
        let token = Token("abc".to_owned());
        let shown = |text: &str| HeaderMap::from_iter([(AUTHORIZATION, text.parse().unwrap())]);
        let table = [
            ("/api/v1/pods", shown("Bearer abc"), true),
            ("/api/v1/pods", shown("bearer abc"), true),
            ("/api/v1/pods", shown("Bearer abd"), false),
            ("/api/v1/pods", shown("Bearer abcd"), false),
            ("/api/v1/pods", shown("Basic abc"), false),
            ("/api/v1/pods", HeaderMap::new(), false),
            ("/healthz", HeaderMap::new(), true),
            ("/version", HeaderMap::new(), true),
            ("/api", HeaderMap::new(), false),
        ];
        for (path, headers, admitted) in table {
            assert_eq!(token.admits(path, &headers), admitted, "{path} {headers:?}");
        }
    }
}
