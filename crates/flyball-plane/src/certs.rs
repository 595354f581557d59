//! The plane's certificates: a CA and a server certificate for loopback, made once and kept beside the store, so that a
//! kubeconfig written yesterday still works today. Not here: the token (`auth`), TLS itself (`listen`).

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use flyball_clock::UnixMs;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};

use crate::secret;

/// The certificates outlive every data folder: ten years, as kubeadm's CA.
const LIFE_DAYS: i64 = 3653;
/// A clock that is a little slow still accepts them.
const SLACK_DAYS: i64 = 1;

/// The certificates could not be made or read.
#[derive(Debug, thiserror::Error)]
pub enum CertsError {
    /// A file could not be read or written.
    #[error("the certificates in the data folder cannot be read or written")]
    File(#[from] io::Error),
    /// The library refused.
    #[error("the certificates cannot be made")]
    Make(#[from] rcgen::Error),
}

/// PEM texts: what a client must trust, and what the server shows.
#[derive(Clone, Debug)]
pub(crate) struct Certs {
    pub(crate) ca: String,
    pub(crate) server: String,
    pub(crate) server_key: String,
}

impl Certs {
    /// The certificates of `folder`, made when there are none; `name` is the host name or address they are valid for
    /// besides loopback.
    pub(crate) fn of_folder(
        folder: &Path,
        name: IpAddr,
        now_ms: UnixMs,
    ) -> Result<Self, CertsError> {
        let [ca, server, server_key] =
            ["ca.crt", "server.crt", "server.key"].map(|file| folder.join(file));
        if ca.exists() && server.exists() && server_key.exists() {
            return Ok(Self {
                ca: fs::read_to_string(ca)?,
                server: fs::read_to_string(server)?,
                server_key: fs::read_to_string(server_key)?,
            });
        }
        let made = Self::make(name, now_ms)?;
        secret::write(&server_key, &made.server_key)?;
        secret::write(&server, &made.server)?;
        // Last, because all three must be there for them to be read again.
        secret::write(&ca, &made.ca)?;
        Ok(made)
    }

    /// New certificates. The CA's key is not kept: nothing else is ever signed with it.
    pub(crate) fn make(name: IpAddr, now_ms: UnixMs) -> Result<Self, CertsError> {
        let mut ca = params("flyball-plane-ca", now_ms);
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        ca.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::CrlSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let ca_key = KeyPair::generate()?;
        let ca_pem = ca.self_signed(&ca_key)?.pem();
        let issuer = Issuer::new(ca, ca_key);
        let mut server = params("flyball-plane", now_ms);
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        server.subject_alt_names = vec![
            SanType::DnsName("localhost".try_into()?),
            SanType::DnsName("kubernetes.default.svc".try_into()?),
            SanType::IpAddress(Ipv4Addr::LOCALHOST.into()),
            SanType::IpAddress(Ipv6Addr::LOCALHOST.into()),
        ];
        if !name.is_loopback() && !name.is_unspecified() {
            server.subject_alt_names.push(SanType::IpAddress(name));
        }
        let server_key = KeyPair::generate()?;
        let server_pem = server.signed_by(&server_key, &issuer)?.pem();
        Ok(Self {
            ca: ca_pem,
            server: server_pem,
            server_key: server_key.serialize_pem(),
        })
    }
}

fn params(name: &str, now_ms: UnixMs) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    let day = |days: i64| {
        let second = now_ms.div_euclid(1000).saturating_add(days * 86_400);
        let date = Timestamp::from_second(second)
            .unwrap_or(Timestamp::UNIX_EPOCH)
            .to_zoned(TimeZone::UTC)
            .date();
        // The calendar's parts are a month of 1 to 12 and a day of 1 to 31.
        rcgen::date_time_ymd(date.year().into(), date.month() as u8, date.day() as u8)
    };
    params.not_before = day(-SLACK_DAYS);
    params.not_after = day(LIFE_DAYS);
    params
}
