//! `flyball plane`: the embedded API server alone.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use flyball_clock::Clock;
use flyball_plane::{Config, Exposure, Plane};

use crate::{data_dir, output, signal};

/// Run the embedded Kubernetes API server alone, without an autoscaler, and print where its kubeconfig is.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Keep nothing: objects are gone with the process
    #[arg(long, conflicts_with = "data_dir")]
    in_memory: bool,

    /// Verbosity of the log on stderr, as kube-controller-manager counts it
    #[arg(short, long, default_value_t = 0, value_name = "N")]
    v: u8,
}

/// Flags of every command that runs an API server.
#[derive(Debug, clap::Args)]
pub(crate) struct ServerArgs {
    /// Where objects, certificates, token and kubeconfig are kept [default: flyball in $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,

    /// Port of the API server; 0 is the port of the last time, or any free one
    #[arg(long, default_value_t = 0, value_name = "N")]
    port: u16,

    /// Address to listen on; one that others can reach needs --expose-to-everybody-on-the-network
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDR")]
    listen: IpAddr,

    /// Let everybody who can reach the address try tokens; whoever has the kubeconfig may then change everything from afar
    #[arg(long)]
    expose_to_everybody_on_the_network: bool,
}

impl ServerArgs {
    /// The plane these flags describe, in `folder` or, without one, in memory.
    pub(crate) fn config(&self, folder: Option<PathBuf>, clock: &Clock) -> Config {
        // Uids must differ between runs, and nothing else depends on the seed.
        let seed = clock.now_ms().unsigned_abs();
        let config = match folder {
            Some(folder) => Config::in_folder(folder, seed),
            None => Config::in_memory(seed),
        };
        let exposure = if self.expose_to_everybody_on_the_network {
            Exposure::EverybodyOnTheNetwork
        } else {
            Exposure::ThisHost
        };
        Config {
            listen: SocketAddr::new(self.listen, self.port),
            exposure,
            ..config
        }
    }
}

/// Where clients find the way to a plane; in memory the file lives as long as this value.
pub(crate) struct Kubeconfig {
    pub(crate) path: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

impl Kubeconfig {
    /// The file beside the objects, or one in a private folder of its own.
    pub(crate) fn of(plane: &Plane, address: SocketAddr) -> std::io::Result<Self> {
        if let Some(path) = plane.kubeconfig_path() {
            return Ok(Self {
                path,
                _folder: None,
            });
        }
        let folder = tempfile::Builder::new().prefix("flyball-").tempdir()?;
        let path = folder.path().join("kubeconfig");
        std::fs::write(&path, plane.kubeconfig(address))?;
        Ok(Self {
            path,
            _folder: Some(folder),
        })
    }
}

pub(crate) async fn run(args: Args) -> anyhow::Result<()> {
    output::log(output::Voice::Service, args.v);
    let stop = signal::stop_token()?;
    let clock = Clock::system();
    let folder = if args.in_memory {
        None
    } else {
        Some(data_dir::choose(args.server.data_dir.as_deref())?)
    };
    let plane = Plane::open(args.server.config(folder, &clock), clock).await?;
    let listener = plane.bind().await?;
    let address = listener.local_addr()?;
    let kubeconfig = Kubeconfig::of(&plane, address)?;
    let serving = tokio::spawn(plane.serve(listener));
    output::talk(format_args!(
        "serving the Kubernetes API on https://{address}; end with Ctrl-C"
    ));
    output::data(kubeconfig.path.display())?;
    tokio::select! {
        biased;
        () = stop.cancelled() => plane.shutdown().await,
        ended = serving => ended??,
    }
    Ok(())
}
