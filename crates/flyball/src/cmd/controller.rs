//! `flyball controller`: the autoscaler for any cluster, with kube-controller-manager's flags.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use flyball_clock::Clock;
use flyball_controller::admin::{Admin, Probes};
use flyball_controller::api_client::Rate;
use flyball_controller::config::{Config, Detail};
use flyball_controller::gates::Gates;
use flyball_controller::report::{Observer, SyncReport};
use flyball_controller::run::{Controller, Surroundings};
use flyball_controller::transport::Transport;
use flyball_core::policy::Profile;
use flyball_trace::text;
use prometheus::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::exit::AddressError;
use crate::{go_flag, output, signal};

/// Decisions are in the log from this verbosity on, as in kube-controller-manager.
const VERBOSITY_OF_DECISIONS: u8 = 4;

/// Run the autoscaler against any cluster. Flags have the names and defaults of kube-controller-manager.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Kubeconfig of the cluster; without one the default kubeconfig, and inside a cluster the service account
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Where /metrics, /healthz and /readyz are served, over plain HTTP
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8357")]
    admin_address: SocketAddr,

    /// Requests per second of each client; below zero without a limit
    #[arg(long, value_name = "N", default_value_t = 20.0, allow_negative_numbers = true, value_parser = go_flag::number)]
    kube_api_qps: f64,

    /// Requests of each client that may come at once
    #[arg(long, value_name = "N", default_value_t = 30)]
    kube_api_burst: u32,

    /// Verbosity of the log on stderr; from 4 on, each decision
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    v: u8,

    #[command(flatten)]
    autoscaler: AutoscalerArgs,
}

/// Flags of every command that runs the autoscaler.
#[derive(Debug, clap::Args)]
pub(crate) struct AutoscalerArgs {
    /// Syncs at the same time
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    concurrent_horizontal_pod_autoscaler_syncs: u16,

    /// Time from the end of a sync to the next one
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = go_flag::positive_duration)]
    horizontal_pod_autoscaler_sync_period: Duration,

    /// How long a high recommendation holds the size where the object does not say
    #[arg(long, value_name = "DURATION", default_value = "5m0s", value_parser = go_flag::duration)]
    horizontal_pod_autoscaler_downscale_stabilization: Duration,

    /// How far a ratio may be from 1 without a change, where the object does not say
    #[arg(long, value_name = "FRACTION", default_value_t = 0.1, value_parser = go_flag::fraction)]
    horizontal_pod_autoscaler_tolerance: f64,

    /// How long after its start a pod's cpu samples count only while it is ready
    #[arg(long, value_name = "DURATION", default_value = "5m0s", value_parser = go_flag::duration)]
    horizontal_pod_autoscaler_cpu_initialization_period: Duration,

    /// How long after its start a pod that is not ready counts as starting
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = go_flag::duration)]
    horizontal_pod_autoscaler_initial_readiness_delay: Duration,

    /// Feature gates, such as HPAScaleToZero=false
    #[arg(
        long,
        value_name = "GATE=BOOL,...",
        default_value = "",
        hide_default_value = true
    )]
    feature_gates: Gates,

    /// Which arithmetic decides: upstream (1.37.2), upstream-1.32 or fraction
    #[arg(long, value_name = "NAME", default_value = "upstream", value_parser = profile)]
    profile: Profile,
}

fn profile(name: &str) -> Result<Profile, String> {
    Profile::parse(name).ok_or_else(|| "must be upstream, upstream-1.32 or fraction".to_owned())
}

impl AutoscalerArgs {
    /// The configuration these flags describe; the rest of it is the default's.
    pub(crate) fn config(self) -> Config {
        Config {
            workers: self.concurrent_horizontal_pod_autoscaler_syncs.into(),
            sync_period: self.horizontal_pod_autoscaler_sync_period,
            downscale_stabilization: self.horizontal_pod_autoscaler_downscale_stabilization,
            tolerance: self.horizontal_pod_autoscaler_tolerance,
            cpu_initialization_period: self.horizontal_pod_autoscaler_cpu_initialization_period,
            initial_readiness_delay: self.horizontal_pod_autoscaler_initial_readiness_delay,
            gates: self.feature_gates,
            profile: self.profile,
            ..Config::default()
        }
    }
}

pub(crate) async fn run(args: Args) -> anyhow::Result<()> {
    output::log(output::Voice::Service, args.v);
    let stop = signal::stop_token()?;
    let transport = Transport::connect(args.kubeconfig.as_deref()).await?;
    let bound = TcpListener::bind(args.admin_address).await;
    let listener = bound.map_err(|source| AddressError {
        address: args.admin_address,
        source,
    })?;
    output::talk(format_args!(
        "metrics and probes on http://{}",
        listener.local_addr()?
    ));
    let detail = if args.v >= VERBOSITY_OF_DECISIONS {
        Detail::Steps
    } else {
        Detail::Outcome
    };
    let rate = Rate {
        per_second: args.kube_api_qps,
        burst: args.kube_api_burst,
    };
    let config = Config {
        rate,
        detail,
        ..args.autoscaler.config()
    };
    serve(config, transport, listener, stop).await
}

/// Runs the controller and its admin endpoint until `stop`.
async fn serve(
    config: Config,
    transport: Transport,
    listener: TcpListener,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let (clock, registry) = (Clock::system(), Registry::new());
    let surroundings = Surroundings {
        transport,
        clock: clock.clone(),
        registry: registry.clone(),
        observer: Arc::new(Logged),
    };
    let controller = Arc::new(Controller::start(config, surroundings)?);
    let admin = Admin {
        registry,
        probes: Arc::new(ControllerProbes(controller.clone())),
        clock,
    };
    admin.serve(listener, stop).await;
    // The endpoint has ended with `stop` and held the only other reference.
    if let Some(controller) = Arc::into_inner(controller) {
        controller.stop().await;
    }
    Ok(())
}

/// Writes each decision into the log, where it was recorded.
struct Logged;

impl Observer for Logged {
    fn synced(&self, report: SyncReport) {
        if let Some(record) = report.record {
            tracing::debug!("{}", text::line(&record));
        }
    }
}

struct ControllerProbes(Arc<Controller>);

impl Probes for ControllerProbes {
    fn is_healthy(&self) -> bool {
        true
    }

    fn is_ready(&self) -> bool {
        self.0.is_ready()
    }

    fn before_metrics(&self) {
        self.0.queue().update_gauges();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        args: Args,
    }

    fn parse(flags: &[&str]) -> Result<Args, String> {
        let words = std::iter::once("controller").chain(flags.iter().copied());
        Flags::try_parse_from(words)
            .map(|flags| flags.args)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let args = parse(&[]).unwrap();
        let rate = (args.kube_api_qps, args.kube_api_burst);
        let (flags, library) = (args.autoscaler.config(), Config::default());
        assert_eq!(format!("{flags:?}"), format!("{library:?}"));
        assert_eq!(rate, (library.rate.per_second, library.rate.burst));
    }

    #[test]
    fn each_flag_reaches_the_configuration() {
        let flags = [
            "--concurrent-horizontal-pod-autoscaler-syncs=2",
            "--horizontal-pod-autoscaler-sync-period=1s",
            "--horizontal-pod-autoscaler-downscale-stabilization=2s",
            "--horizontal-pod-autoscaler-tolerance=0.2",
            "--horizontal-pod-autoscaler-cpu-initialization-period=3s",
            "--horizontal-pod-autoscaler-initial-readiness-delay=4s",
            "--feature-gates=HPAScaleToZero=false",
            "--profile=fraction",
        ];
        let config = parse(&flags).unwrap().autoscaler.config();
        let seconds = Duration::from_secs;
        assert_eq!(config.workers, 2);
        assert_eq!(config.sync_period, seconds(1));
        assert_eq!(config.downscale_stabilization, seconds(2));
        assert!((config.tolerance - 0.2).abs() < f64::EPSILON);
        assert_eq!(config.cpu_initialization_period, seconds(3));
        assert_eq!(config.initial_readiness_delay, seconds(4));
        assert_eq!(config.gates, "HPAScaleToZero=false".parse().unwrap());
        assert_eq!(config.profile, Profile::Fraction);
    }

    #[test]
    fn values_that_cannot_be_are_refused_with_the_flag() {
        for (flag, why) in [
            ("--horizontal-pod-autoscaler-sync-period=15", "missing unit"),
            (
                "--horizontal-pod-autoscaler-sync-period=0s",
                "longer than 0s",
            ),
            (
                "--horizontal-pod-autoscaler-tolerance=-1",
                "not be negative",
            ),
            (
                "--feature-gates=HPAConfigurableTolerance=false",
                "locked to true",
            ),
            ("--feature-gates=Nothing=true", "unknown feature gate"),
            ("--profile=next", "must be upstream"),
            ("--kube-api-qps=NaN", "must be a number"),
        ] {
            let refusal = parse(&[flag]).unwrap_err();
            assert!(refusal.contains(why), "{flag}: {refusal}");
            assert!(
                refusal.contains(flag.split('=').next().unwrap()),
                "{refusal}"
            );
        }
    }
}
