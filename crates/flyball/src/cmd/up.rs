//! `flyball up`: a small cluster with an autoscaler and something to scale, in one process.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use flyball_clock::Clock;
use flyball_controller::api_client::Rate;
use flyball_controller::config::{Config, Detail};
use flyball_controller::report::{Observer, SyncReport};
use flyball_controller::run::{Controller, Surroundings};
use flyball_controller::transport::Transport;
use flyball_plane::Plane;
use flyball_trace::{DecisionRecord, text};
use prometheus::Registry;
use tokio::sync::mpsc;

use crate::cmd::controller::AutoscalerArgs;
use crate::cmd::plane::ServerArgs;
use crate::{data_dir, output, sample, signal};

/// **Bound:** decisions that wait to be printed. A terminal that stands still loses lines, not syncs.
const UNPRINTED_MAX: usize = 1024;

/// Nobody else is on this API server who would have to be spared.
const UNLIMITED: Rate = Rate {
    per_second: -1.0,
    burst: 1,
};

/// Run a small cluster with an autoscaler and a sample workload, and tell each decision.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    server: ServerArgs,

    /// Start afresh: wipe the data directory, if it is one of flyball's
    #[arg(long)]
    reset: bool,

    /// Verbosity of the log on stderr, as kube-controller-manager counts it
    #[arg(short, long, default_value_t = 0, value_name = "N")]
    v: u8,

    #[command(flatten)]
    autoscaler: AutoscalerArgs,
}

pub(crate) async fn run(args: Args) -> anyhow::Result<()> {
    output::log(output::Voice::Terminal, args.v);
    let stop = signal::stop_token()?;
    let clock = Clock::system();
    let folder = data_dir::choose(args.server.data_dir.as_deref())?;
    if args.reset {
        data_dir::wipe(&folder)?;
    }
    let config = args.server.config(Some(folder.clone()), &clock);
    let plane = Plane::open(config, clock.clone()).await?;
    let listener = plane.bind().await?;
    let address = listener.local_addr()?;
    let mut serving = tokio::spawn(plane.serve(listener));
    let client = kube::Client::new(plane.service(), "default");
    sample::begin(&client, &clock).await?;

    let (teller, mut told) = mpsc::channel(UNPRINTED_MAX);
    let config = Config {
        rate: UNLIMITED,
        detail: Detail::Steps,
        ..args.autoscaler.config()
    };
    let surroundings = Surroundings {
        transport: Transport::in_process(plane.service()),
        clock,
        registry: Registry::new(),
        observer: Arc::new(Teller(teller)),
    };
    let controller = Controller::start(config, surroundings)?;
    output::talk(introduction(&format!("https://{address}"), &folder));
    let ended = loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => break Ok(()),
            ended = &mut serving => break ended.map_err(anyhow::Error::from).and_then(|e| Ok(e?)),
            Some(record) = told.recv() => {
                if let Err(closed) = output::data(text::line(&record)) {
                    break Err(closed.into());
                }
            }
        }
    };
    controller.stop().await;
    plane.shutdown().await;
    ended
}

/// Hands decisions to the loop that prints them.
struct Teller(mpsc::Sender<DecisionRecord>);

impl Observer for Teller {
    fn synced(&self, report: SyncReport) {
        if let Some(record) = report.record {
            // Full or closed: nobody reads.
            let _ = self.0.try_send(record);
        }
    }
}

/// What a newcomer needs to know.
fn introduction<'a>(server: &'a str, folder: &'a Path) -> impl fmt::Display + 'a {
    fmt::from_fn(move |f| {
        let kubeconfig = folder.join("kubeconfig");
        writeln!(f, "cluster   {server}, kept in {}", folder.display())?;
        writeln!(f, "sample    {}", sample::STORY)?;
        writeln!(f, "          it is back at 2 pods in the third minute")?;
        writeln!(f, "try       export KUBECONFIG={}", kubeconfig.display())?;
        writeln!(f, "          kubectl get hpa -w")?;
        writeln!(f, "          kubectl describe hpa web")?;
        writeln!(f, "          flyball load deploy/web --cpu 6")?;
        write!(
            f,
            "end       Ctrl-C; what is there stays, and --reset starts afresh"
        )
    })
}
