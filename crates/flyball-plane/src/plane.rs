//! A plane: the store, the API over it, and the ways in. Not here: what is served.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use flyball_clock::Clock;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use crate::api::Api;
use crate::auth::Token;
use crate::certs::{Certs, CertsError};
use crate::entropy::Entropy;
use crate::listen::{self, ListenError};
use crate::registry::{Mode, Registry};
use crate::service::Service;
use crate::serving::Serving;
use crate::store::{self, OpenError, Storage, Store};
use crate::workload::namespace;
use crate::{definitions, kinds, kubeconfig, secret, workloads};

/// Namespaces every cluster has, made at start.
const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Who can reach a plane's listener.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exposure {
    /// Programs on this host. Any other address is refused.
    #[default]
    ThisHost,
    /// Everybody who can reach the address may try tokens, and whoever has the token, for example from a copied
    /// kubeconfig, may read and change everything.
    EverybodyOnTheNetwork,
}

/// Which loops of a plane act on its objects by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controllers {
    /// The workload controllers, the garbage collector, and the end of namespaces and old events.
    #[default]
    Run,
    /// None, as a kube-apiserver without a kube-controller-manager: objects stay as clients left them.
    Off,
}

/// How a plane is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where its objects are.
    pub storage: Storage,
    /// The seed of uids and generated names. The same seed and the same requests give the same names.
    pub seed: u64,
    /// Where it listens; port 0 is the port of the last time, or any free one.
    pub listen: SocketAddr,
    /// Who may be able to reach it.
    pub exposure: Exposure,
    /// What acts on its objects.
    pub controllers: Controllers,
}

impl Config {
    /// A plane in memory, for tests and simulations.
    pub fn in_memory(seed: u64) -> Self {
        Self::with(Storage::Memory, seed)
    }

    /// A plane whose objects are kept in `folder`, listening on a port of loopback.
    pub fn in_folder(folder: PathBuf, seed: u64) -> Self {
        Self::with(Storage::Folder(folder), seed)
    }

    fn with(storage: Storage, seed: u64) -> Self {
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        Self {
            storage,
            seed,
            listen,
            exposure: Exposure::ThisHost,
            controllers: Controllers::Run,
        }
    }

    fn folder(&self) -> Option<&Path> {
        match &self.storage {
            Storage::Memory => None,
            Storage::Folder(folder) => Some(folder),
        }
    }
}

/// A plane could not be opened or cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum PlaneError {
    /// The store.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The certificates.
    #[error(transparent)]
    Certs(#[from] CertsError),
    /// The token or the kubeconfig.
    #[error("{} cannot be read or written", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A namespace every cluster has could not be made.
    #[error("namespace {name:?} could not be made: {why}")]
    Namespace {
        /// Which one.
        name: &'static str,
        /// Why.
        why: String,
    },
    /// The address would let others in.
    #[error(
        "{0} can be reached from other hosts: listen on a loopback address, or allow it by name in the configuration"
    )]
    Exposed(IpAddr),
    /// The address is taken, or not this host's.
    #[error("cannot listen on {address}: choose another port")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}

/// An open plane. Its loops end with [`Plane::shutdown`].
#[derive(Debug)]
pub struct Plane {
    config: Config,
    api: Arc<Api>,
    certs: Certs,
    token: Arc<Token>,
    tasks: TaskTracker,
}

impl Plane {
    /// Opens a plane, makes the namespaces every cluster has, and starts the workload controllers.
    ///
    /// # Errors
    /// [`PlaneError`], one variant per thing to do about it.
    pub async fn open(config: Config, clock: Clock) -> Result<Self, PlaneError> {
        let store = Store::open(&config.storage, store::HISTORY_MAX)?;
        let revision = store.read().revision();
        let now_ms = clock.now_ms();
        let address = config.listen.ip();
        let (certs, token) = match config.folder() {
            Some(folder) => (
                Certs::of_folder(folder, address, now_ms)?,
                Token::of_folder(folder),
            ),
            None => (Certs::make(address, now_ms)?, Token::generate()),
        };
        let token = token.map_err(|source| PlaneError::File {
            path: config.file("token"),
            source,
        })?;
        let entropy = Entropy::new(config.seed, revision);
        let registry = Registry {
            serving: Serving::new(kinds::builtin(), &store),
            store,
            clock,
            entropy,
        };
        let plane = Self {
            config,
            api: Api::new(registry),
            certs,
            token: Arc::new(token),
            tasks: TaskTracker::new(),
        };
        for name in NAMESPACES {
            let object =
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            plane.make("namespaces", "", name, object).await?;
        }
        plane.tasks.spawn(definitions::run(Arc::clone(&plane.api)));
        if plane.config.controllers == Controllers::Run {
            // The controllers would make it a moment later, and a client's first pod needs it.
            for name in NAMESPACES {
                let object = namespace::default_account(name);
                plane.make("serviceaccounts", name, name, object).await?;
            }
            plane.tasks.spawn(workloads::run(Arc::clone(&plane.api)));
        }
        Ok(plane)
    }

    /// Makes an object of a namespace every cluster has, unless it is there.
    async fn make(
        &self,
        plural: &str,
        within: &str,
        name: &'static str,
        object: Value,
    ) -> Result<(), PlaneError> {
        let registry = &self.api.registry;
        let served = registry.served();
        let kind = served
            .kinds
            .by_plural("", plural)
            .expect("namespaces and accounts are built in");
        match registry.create(kind, within, object, Mode::Commit).await {
            Err(refusal) if refusal.reason != "AlreadyExists" => Err(PlaneError::Namespace {
                name,
                why: refusal.message,
            }),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The API, in process and without a token.
    pub fn service(&self) -> Service {
        Service::new(Arc::clone(&self.api))
    }

    /// A listener on the configured address. With a data folder its port is remembered, and a kubeconfig for it is written.
    ///
    /// # Errors
    /// [`PlaneError::Exposed`], [`PlaneError::Bind`], [`PlaneError::File`].
    pub async fn bind(&self) -> Result<TcpListener, PlaneError> {
        let mut address = self.config.listen;
        if !address.ip().is_loopback() && self.config.exposure == Exposure::ThisHost {
            return Err(PlaneError::Exposed(address.ip()));
        }
        if address.port() == 0 {
            address.set_port(self.remembered_port().unwrap_or(0));
        }
        let bound = TcpListener::bind(address).await;
        let listener = bound.map_err(|source| PlaneError::Bind { address, source })?;
        let local = listener
            .local_addr()
            .map_err(|source| PlaneError::Bind { address, source })?;
        self.remember(local)?;
        Ok(listener)
    }

    fn remembered_port(&self) -> Option<u16> {
        fs::read_to_string(self.config.folder()?.join("port"))
            .ok()?
            .trim()
            .parse()
            .ok()
    }

    fn remember(&self, local: SocketAddr) -> Result<(), PlaneError> {
        if self.config.folder().is_none() {
            return Ok(());
        }
        let write = |name: &str, text: String| {
            let path = self.config.file(name);
            secret::write(&path, &text).map_err(|source| PlaneError::File { path, source })
        };
        write("port", format!("{}\n", local.port()))?;
        write("kubeconfig", self.kubeconfig(local))
    }

    /// Serves `listener` until [`Plane::shutdown`], which waits for it; run it as a task.
    ///
    /// # Errors
    /// [`ListenError`].
    pub fn serve(
        &self,
        listener: TcpListener,
    ) -> impl Future<Output = Result<(), ListenError>> + Send + 'static {
        let (service, certs) = (self.service(), self.certs.clone());
        let (token, stopping) = (Arc::clone(&self.token), self.api.stopping.clone());
        self.tasks.track_future(async move {
            listen::serve(listener, service, &certs, token, stopping).await
        })
    }

    /// A kubeconfig for a listener at `address`. It holds the token: whoever reads it may do everything.
    pub fn kubeconfig(&self, address: SocketAddr) -> String {
        kubeconfig::render(address, &self.certs.ca, &self.token)
    }

    /// Where [`Plane::bind`] writes the kubeconfig; `None` in memory.
    pub fn kubeconfig_path(&self) -> Option<PathBuf> {
        self.config.folder().map(|folder| folder.join("kubeconfig"))
    }

    /// Ends watches, listeners and loops and waits for them. What was acknowledged is on the disk already; the folder is free
    /// again once the plane and its services are dropped.
    pub async fn shutdown(&self) {
        self.api.stopping.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Config {
    fn file(&self, name: &str) -> PathBuf {
        self.folder()
            .map_or_else(|| PathBuf::from(name), |folder| folder.join(name))
    }
}
