//! `flyball controller`: the autoscaler for any cluster, with kube-controller-manager's flags.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use flyball_clock::Clock;
use flyball_controller::admin::{Admin, Probes};
use flyball_controller::api_client::Rate;
use flyball_controller::config::{Config, Detail, Mode};
use flyball_controller::gates::Gates;
use flyball_controller::lease::{Candidate, Ended};
use flyball_controller::ownership::Ownership;
use flyball_controller::report::{Observer, SyncReport};
use flyball_controller::run::{Controller, Surroundings};
use flyball_controller::transport::Transport;
use flyball_core::policy::Profile;
use flyball_trace::text;
use prometheus::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::exit::AddressError;
use crate::leader::LeaderArgs;
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

    /// `act` scales; `shadow` writes nothing and logs what it would do, beside another controller
    #[arg(long, value_name = "MODE", default_value = "act", value_parser = mode)]
    mode: Mode,

    /// Act on autoscalers whose status another controller owned: that one is turned off
    #[arg(long)]
    take_over: bool,

    #[command(flatten)]
    leader: LeaderArgs,

    #[command(flatten)]
    autoscaler: AutoscalerArgs,
}

fn mode(name: &str) -> Result<Mode, String> {
    match name {
        "act" => Ok(Mode::Act),
        "shadow" => Ok(Mode::Shadow),
        _ => Err("must be act or shadow".to_owned()),
    }
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
    let clock = Clock::system();
    // A shadow writes nothing, not even a Lease.
    let candidate = match args.mode {
        Mode::Act => args.leader.candidate(transport.clone(), clock.clone())?,
        Mode::Shadow => None,
    };
    let site = Site {
        transport,
        clock,
        stop,
    };
    let (leader, config) = (args.leader.clone(), args.config());
    if site.serve(config, listener, candidate).await? == Ended::Lost {
        return Err(leader.lost().into());
    }
    Ok(())
}

impl Args {
    fn config(self) -> Config {
        let shown = self.v >= VERBOSITY_OF_DECISIONS || self.mode == Mode::Shadow;
        Config {
            rate: Rate {
                per_second: self.kube_api_qps,
                burst: self.kube_api_burst,
            },
            detail: if shown {
                Detail::Steps
            } else {
                Detail::Outcome
            },
            mode: self.mode,
            ownership: if self.take_over {
                Ownership::TakeOver
            } else {
                Ownership::Respect
            },
            ..self.autoscaler.config()
        }
    }
}

/// Where a controller runs.
struct Site {
    transport: Transport,
    clock: Clock,
    stop: CancellationToken,
}

impl Site {
    /// Runs the admin endpoint at once and the controller while this replica leads, until told to stop.
    async fn serve(
        self,
        config: Config,
        listener: TcpListener,
        candidate: Option<Candidate>,
    ) -> anyhow::Result<Ended> {
        let Self {
            transport,
            clock,
            stop,
        } = self;
        let (registry, running) = (Registry::new(), Running::default());
        let admin = Admin {
            registry: registry.clone(),
            probes: Arc::new(ControllerProbes(running.clone())),
            clock: clock.clone(),
        };
        let admin = tokio::spawn(admin.serve(listener, stop.clone()));
        let mut candidate = candidate;
        if let Some(candidate) = &mut candidate
            && !candidate.acquire(&stop).await
        {
            return Ok(Ended::Stopped);
        }
        let surroundings = Surroundings {
            transport,
            clock,
            registry,
            observer: Arc::new(Logged {
                would: config.mode == Mode::Shadow,
            }),
        };
        let controller = Arc::new(Controller::start(config, surroundings)?);
        // Set once: this is the only place that does.
        let _ = running.0.set(controller.clone());
        let ended = if let Some(candidate) = &mut candidate {
            candidate.hold(&stop).await
        } else {
            stop.cancelled().await;
            Ended::Stopped
        };
        if ended == Ended::Lost {
            // Whoever leads now may act already: nothing in progress is waited for.
            return Ok(ended);
        }
        admin.await?;
        controller.stop().await;
        Ok(ended)
    }
}

/// The controller, once this replica leads.
#[derive(Clone, Default)]
struct Running(Arc<OnceLock<Arc<Controller>>>);

/// Writes each decision into the log, where it was recorded.
struct Logged {
    /// Whether the decisions are those of a shadow, which is there to tell them.
    would: bool,
}

impl Observer for Logged {
    fn synced(&self, report: SyncReport) {
        match report.record {
            Some(record) if self.would => tracing::info!("would: {}", text::line(&record)),
            Some(record) => tracing::debug!("{}", text::line(&record)),
            None => {}
        }
    }
}

struct ControllerProbes(Running);

impl Probes for ControllerProbes {
    fn is_healthy(&self) -> bool {
        true
    }

    fn is_ready(&self) -> bool {
        // A replica that waits for the Lease is ready to take over.
        self.0
            .0
            .get()
            .is_none_or(|controller| controller.is_ready())
    }

    fn before_metrics(&self) {
        if let Some(controller) = self.0.0.get() {
            controller.queue().update_gauges();
        }
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
    fn a_shadow_decides_aloud_and_a_take_over_is_asked_for() {
        let config = parse(&["--mode=shadow", "--take-over"]).unwrap().config();
        assert_eq!((config.mode, config.detail), (Mode::Shadow, Detail::Steps));
        assert_eq!(config.ownership, Ownership::TakeOver);
        let config = parse(&[]).unwrap().config();
        assert_eq!((config.mode, config.detail), (Mode::Act, Detail::Outcome));
        assert_eq!(config.ownership, Ownership::Respect);
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
            ("--mode=watch", "must be act or shadow"),
            ("--leader-elect-lease-duration=15", "missing unit"),
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
