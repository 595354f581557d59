//! Every exit code of the command, and which error ends with which. The one place that says so:
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done; also after Ctrl-C or SIGTERM, and when the reader of the output has gone |
//! | 1 | something unexpected: please report it |
//! | 2 | the command line: an unknown flag, a value that cannot be read |
//! | 3 | the address: the port is taken, or others could reach it without the flag that allows it |
//! | 4 | the data directory: somebody else's, in use, of another format, or not writable |
//! | 5 | the cluster: the kubeconfig cannot be used, the server does not answer, or leadership is lost |
//! | 6 | the object: it does not exist, or the server refuses the change |

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use flyball_controller::transport::ConnectError;
use flyball_plane::PlaneError;
use thiserror::Error;

use crate::cluster::ClusterError;
use crate::data_dir::DataDirError;
use crate::leader::LeadershipLost;

/// An address this process was told to listen on cannot be had.
#[derive(Debug, Error)]
#[error("cannot listen on {address}: choose another one")]
pub(crate) struct AddressError {
    /// The address.
    pub(crate) address: SocketAddr,
    /// Why.
    pub(crate) source: io::Error,
}

/// Appended to `--help`, so that the table above can be read without the source.
pub(crate) const HELP: &str = "\
Exit codes: 0 done, also after Ctrl-C; 1 unexpected; 2 command line; 3 address; 4 data directory; 5 cluster; 6 object.";

/// How a command ends when it does not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    Unexpected = 1,
    Usage = 2,
    Address = 3,
    DataDir = 4,
    Cluster = 5,
    Object = 6,
}

impl Exit {
    /// The code for an error: that of the first cause that has one.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        error
            .chain()
            .find_map(code_of_cause)
            .unwrap_or(Self::Unexpected)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// What to do about an error whose own words cannot know this command's flags.
pub(crate) fn advice(error: &anyhow::Error) -> Option<&'static str> {
    let plane = error.downcast_ref::<PlaneError>()?;
    match plane {
        PlaneError::Bind { .. } => Some("--port N takes another port, --port 0 any free one"),
        PlaneError::Exposed(_) => {
            Some("--expose-to-everybody-on-the-network allows it and says what that means")
        }
        PlaneError::Store(_) | PlaneError::Certs(_) | PlaneError::File { .. } => {
            Some("--data-dir DIR takes another directory")
        }
        PlaneError::Namespace { .. } => None,
    }
}

fn code_of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Exit> {
    if let Some(error) = cause.downcast_ref::<PlaneError>() {
        return Some(match error {
            PlaneError::Bind { .. } | PlaneError::Exposed(_) => Exit::Address,
            PlaneError::Store(_) | PlaneError::Certs(_) | PlaneError::File { .. } => Exit::DataDir,
            PlaneError::Namespace { .. } => Exit::Unexpected,
        });
    }
    if cause.is::<DataDirError>() {
        return Some(Exit::DataDir);
    }
    if cause.is::<AddressError>() {
        return Some(Exit::Address);
    }
    if cause.is::<ConnectError>() || cause.is::<LeadershipLost>() {
        return Some(Exit::Cluster);
    }
    if let Some(error) = cause.downcast_ref::<ClusterError>() {
        return Some(match error {
            ClusterError::Kubeconfig { .. } | ClusterError::NoAnswer(_) => Exit::Cluster,
            ClusterError::Exists
            | ClusterError::Conflict(_)
            | ClusterError::Refused(_)
            | ClusterError::Load { .. } => Exit::Object,
        });
    }
    let closed = cause.downcast_ref::<io::Error>();
    closed
        .filter(|error| error.kind() == io::ErrorKind::BrokenPipe)
        .map(|_| Exit::Done)
}
