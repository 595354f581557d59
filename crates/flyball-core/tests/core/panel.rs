//! The published figures of the reference scenario, under each of the three profiles.
//! The world here is the smallest that has them: pods that start late, a total demand, one sync each 15 s.

use std::collections::BTreeMap;

use flyball_core::ScaleView;
use flyball_core::outcome::Action;
use flyball_core::pod::{PodFacts, Sample};
use flyball_core::policy::{MissingPods, Profile, Text};
use flyball_core::step::{Hold, Step};
use flyball_core::time::{Instant, Span};
use serde_json::Value;

use crate::support::{Answer, NOW, World, pod, sample};

const FIGURES: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/panel/figures.json"
));
const LAST_SECOND: i64 = 600;
const PERIOD: i64 = 15;

/// What is counted over one run.
#[derive(Debug, Default, PartialEq)]
struct Figures {
    seconds_above_target: i64,
    /// Tenths of a percent of the request.
    peak_utilization_tenths: i64,
    pod_seconds: i64,
    scaling_actions: i64,
    final_replicas: i64,
    max_replicas: i64,
    dead_band: i64,
    metricless: i64,
}

/// Total demand in thousandths of a core.
fn demand(traffic: &str, second: i64) -> i64 {
    match traffic {
        "spike" => 2400 * if (60..240).contains(&second) { 4 } else { 1 },
        _ => 2400 + 16 * (second.clamp(60, 360) - 60),
    }
}

/// Pods by the second at which they are ready; the newest last.
struct Fleet {
    ready_at: Vec<i64>,
}

impl Fleet {
    fn ready(&self, second: i64) -> i64 {
        i64::try_from(self.ready_at.iter().filter(|at| **at <= second).count()).expect("few pods")
    }

    fn size(&self) -> i64 {
        i64::try_from(self.ready_at.len()).expect("few pods")
    }

    /// Pods, and samples of the ready ones that add up to the demand exactly.
    fn observe(&self, second: i64, demand: i64) -> (Vec<PodFacts>, BTreeMap<Text, Sample>) {
        let ready = self.ready(second);
        let mut pods = Vec::new();
        let mut samples = BTreeMap::new();
        for (i, at) in self.ready_at.iter().enumerate() {
            let facts = pod(&format!("web-{i:03}"));
            if *at <= second {
                let i = i64::try_from(i).expect("few pods");
                let share = demand / ready + i64::from(i < demand % ready);
                samples.insert(facts.name.clone(), sample(share));
            }
            pods.push(facts);
        }
        (pods, samples)
    }
}

fn run(parameters: &Value, profile: Profile) -> Figures {
    let number = |key: &str, default: i64| parameters[key].as_i64().unwrap_or(default);
    let traffic = parameters["traffic"].as_str().unwrap_or("ramp");
    let mut world = World::cpu(4, 0);
    world.policy.replicas_min = Some(4);
    world.policy.settings.profile = profile;
    world.policy.settings.tolerance = parameters["tolerance"].as_f64().unwrap_or(0.1);
    world.policy.settings.downscale_window = Span::seconds(number("window", 300));
    if parameters["count_missing"] == Value::Bool(false) {
        world.policy.settings.options.missing_pods = MissingPods::Ignore;
    }
    let mut fleet = Fleet {
        ready_at: vec![i64::MIN; 4],
    };
    let mut figures = Figures::default();
    for second in 0..=LAST_SECOND {
        let demand = demand(traffic, second);
        // Thousandths over whole pods of 1000 are tenths of a percent; rounded as the figures are.
        let tenths = (2 * demand + fleet.ready(second)) / (2 * fleet.ready(second));
        figures.seconds_above_target += i64::from(demand * 100 > 80 * 1000 * fleet.ready(second));
        figures.peak_utilization_tenths = figures.peak_utilization_tenths.max(tenths);
        figures.pod_seconds += fleet.size();
        if second % PERIOD == 0 {
            sync(&mut world, &mut fleet, (second, demand), &mut figures);
            resize(&mut fleet, &world, second + number("startup", 45));
        }
        figures.max_replicas = figures.max_replicas.max(fleet.size());
    }
    figures.final_replicas = fleet.size();
    figures
}

fn sync(world: &mut World, fleet: &mut Fleet, (second, demand): (i64, i64), figures: &mut Figures) {
    let (pods, samples) = fleet.observe(second, demand);
    world.pods = pods;
    world.answers = vec![Answer::Samples(samples)];
    world.now = Instant(NOW.0 + second * 1000);
    let (outcome, steps) = world.sync();
    for step in &steps.0 {
        match step {
            Step::Proposed {
                hold: Some(Hold::InsideTolerance),
                ..
            } => figures.dead_band += 1,
            Step::Proposed {
                hold: Some(Hold::InsideToleranceAfterRefill | Hold::DirectionFlip),
                ..
            } => figures.metricless += 1,
            _ => {}
        }
    }
    figures.scaling_actions += i64::from(outcome.action != Action::None);
    let size = outcome.status.desired;
    world.history = outcome.history;
    world.scale = Ok(ScaleView {
        spec: size,
        status: size,
    });
}

/// Growth starts pods that are ready later; shrinking removes the newest.
fn resize(fleet: &mut Fleet, world: &World, ready_at: i64) {
    let size = world.scale.as_ref().map_or(0, |s| s.spec);
    fleet
        .ready_at
        .resize(usize::try_from(size).expect("a size"), ready_at);
}

fn expected(figures: &Value) -> Figures {
    let number = |value: &Value| value.as_i64().expect("a whole figure");
    let peak = figures["peak_utilization"].as_f64().expect("a peak") * 10.0;
    Figures {
        seconds_above_target: number(&figures["seconds_above_target"]),
        peak_utilization_tenths: format!("{peak:.0}").parse().expect("a number"),
        pod_seconds: number(&figures["pod_seconds"]),
        scaling_actions: number(&figures["scaling_actions"]),
        final_replicas: number(&figures["final_replicas"]),
        max_replicas: number(&figures["max_replicas"]),
        dead_band: number(&figures["holds"]["dead_band"]),
        metricless: number(&figures["holds"]["metricless"]),
    }
}

#[test]
fn every_published_figure_comes_out_under_its_profile() {
    let scenarios: Value = serde_json::from_str(FIGURES).expect("the figures are JSON");
    let mut runs = 0;
    for (name, scenario) in scenarios.as_object().expect("scenarios by name") {
        for profile in [Profile::Upstream, Profile::Upstream132, Profile::Fraction] {
            let figures = run(&scenario["parameters"], profile);
            let wanted = expected(&scenario["expected"][profile.name()]);
            assert_eq!(figures, wanted, "{name}, profile {}", profile.name());
            runs += 1;
        }
    }
    assert_eq!(runs, 36);
}
