//! Plays a scenario to the controller: starts it in virtual time, changes the world step by step, and
//! writes down each sync it reports.

use std::sync::Arc;
use std::time::Duration;

use flyball_clock::Clock;
use flyball_controller::api_client::Rate;
use flyball_controller::config::Config;
use flyball_controller::gates::Gates;
use flyball_controller::report::{Course, Observer, SyncReport};
use flyball_controller::run::{Controller, Surroundings};
use flyball_controller::transport::Transport;
use prometheus::Registry;
use serde_json::Value;

use super::instant::ZERO_UNIX_S;
use super::pod::as_in_timelines;
use super::record::Sync;
use super::scenario::{Line, Scenario};
use super::service::Cluster;
use super::world::{World, milliseconds};

const ZERO_MS: i64 = ZERO_UNIX_S * 1000;
/// The controller runs this long before second 0.
const AHEAD_MS: i64 = 2000;
/// The distance between the creations of autoscalers.
const OTHER_MS: i64 = 501;
/// How far ahead of its sync a step is applied when it does not say.
const DT_DEFAULT_S: f64 = 1.0;

/// Every sync of this controller in the scenario, as records of a timeline.
pub(crate) fn play(line: Line) -> anyhow::Result<Vec<Value>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()?;
    runtime.block_on(run(line))
}

async fn run(line: Line) -> anyhow::Result<Vec<Value>> {
    let config = config(&line.sc);
    let steps = line.sc.steps.clone();
    let others = line.sc.others.len();
    let clock = Clock::starting_at(ZERO_MS - AHEAD_MS);
    let world = World::new(line);
    let period_ms = world.lock().period_ms();
    let surroundings = Surroundings {
        transport: Transport::in_process(Cluster(world.clone())),
        clock: clock.clone(),
        registry: Registry::new(),
        observer: Arc::new(Scribe(world.clone())),
    };
    let controller = Controller::start(config, surroundings)?;
    let mut nominal_ms = 0;
    for (number, step) in steps.iter().enumerate() {
        let ahead_ms = if number == 0 {
            0
        } else {
            milliseconds(step.dt.unwrap_or(DT_DEFAULT_S))
        };
        let at_ms = nominal_ms - ahead_ms;
        clock.sleep_until(ZERO_MS + at_ms).await;
        world.lock().apply(number, step);
        if number == 0 {
            world.lock().create_autoscaler(0, 0);
            for (index, offset_ms) in (1..=others).zip((1..).map(|index| index * OTHER_MS)) {
                clock.sleep_until(ZERO_MS + offset_ms).await;
                world.lock().create_autoscaler(index, offset_ms / 1000);
            }
        } else if step.create {
            // With a deletion in the same step the rhythm stays; alone it starts anew with the creation.
            let created_ms = if step.delete { at_ms } else { nominal_ms };
            clock.sleep_until(ZERO_MS + created_ms).await;
            world.lock().create_autoscaler(0, created_ms / 1000);
        }
        nominal_ms += period_ms;
    }
    clock
        .sleep_until(ZERO_MS + nominal_ms - period_ms / 4)
        .await;
    controller.stop().await;
    let records = world.lock().records().to_vec();
    Ok(records)
}

fn config(scenario: &Scenario) -> Config {
    let flags = &scenario.flags;
    let default = Config::default();
    let duration =
        |seconds: Option<f64>, default: Duration| seconds.map_or(default, Duration::from_secs_f64);
    let named = scenario
        .gates
        .iter()
        .filter_map(|(name, on)| Some((Gates::named(name)?, *on)));
    Config {
        workers: 1,
        sync_period: duration(flags.period, default.sync_period),
        downscale_stabilization: duration(flags.stab, default.downscale_stabilization),
        tolerance: flags.tol.unwrap_or(default.tolerance),
        cpu_initialization_period: duration(flags.cpu_init, default.cpu_initialization_period),
        initial_readiness_delay: duration(flags.ready_delay, default.initial_readiness_delay),
        gates: named.fold(default.gates.clone(), |gates, (gate, on)| {
            gates.with(gate, on)
        }),
        // The genuine controller ran without limits.
        rate: Rate {
            per_second: 1e6,
            burst: 1_000_000,
        },
        ..default
    }
}

/// Writes down each sync.
struct Scribe(World);

impl Observer for Scribe {
    fn synced(&self, report: SyncReport) {
        let mut state = self.0.lock();
        if let Some(number) = state.number(&report.hpa.name) {
            state.close(number, |sync| tell(sync, &report));
        }
    }
}

fn tell(sync: &mut Sync, report: &SyncReport) {
    sync.start_ms = report.started_ms - ZERO_MS;
    sync.gone = report.course == Course::Gone;
    sync.proposal = report.proposal();
    let event = |event: &flyball_controller::event::Event| {
        let kind = event.event_type.as_str().to_owned();
        [kind, event.reason.clone(), as_in_timelines(&event.message)]
    };
    sync.events = report.events.iter().map(event).collect();
    sync.errors = report
        .errors
        .iter()
        .map(|error| as_in_timelines(error))
        .collect();
}
