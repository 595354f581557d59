//! The store over a disk that fails at every operation in turn, and at random ones: the invariants of `store`.
//! Not here: kills of a whole process with a real disk (`tests/kill.rs`).

mod disk;
mod load;
mod random;
mod trial;

use disk::Fault;
use random::Random;
use trial::{Outcome, Trial};

/// Batches of the script; with a history of eight changes, most of them compact.
const SCRIPT: usize = 12;
/// Random runs, and the batches of each.
const RUNS: u64 = 1000;
const BATCHES: usize = 12;

/// Seeds that have failed, each with a line of why.
const REGRESSIONS: &[u64] = &[];

/// Says which seed it was when a run fails.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}: add it to REGRESSIONS with a line of why", self.0);
        }
    }
}

/// Restarts the process when the last fault has ended it, and says which fault it was.
fn after_fault(trial: &mut Trial) -> Option<Fault> {
    let fault = trial.disk.fired();
    if let Some(end) = fault.filter(|fault| fault.ends_the_process()) {
        trial.restart(end);
    }
    fault
}

/// The script with one fault: start, batches, a clean restart in the middle, the end.
fn script(fault: Option<(u64, Fault)>) -> u64 {
    let mut trial = Trial::new(7);
    if let Some((at, fault)) = fault {
        trial.disk.arm(at, fault, at);
    }
    trial.restart(Fault::Error);
    for batch in 0..SCRIPT {
        if batch == SCRIPT / 2 {
            trial.restart(Fault::Error);
        }
        let outcome = trial.step();
        match after_fault(&mut trial) {
            None | Some(Fault::Deceptive | Fault::Power | Fault::Kill) => {}
            Some(Fault::Full) => {
                // The batch that filled the disk may have been the last that fitted.
                if outcome == Outcome::Acknowledged {
                    assert_eq!(trial.step(), Outcome::Doubtful);
                }
                assert_eq!(trial.step(), Outcome::Suspended);
                trial.disk.make_room();
                assert_eq!(trial.step(), Outcome::Acknowledged, "without a restart");
            }
            Some(passing) => assert_eq!(outcome, Outcome::Acknowledged, "{passing:?} has passed"),
        }
    }
    let operations = trial.disk.operations();
    trial.disk.disarm();
    for end in [Fault::Power, Fault::Kill, Fault::Power] {
        trial.restart(end);
        trial.catch_up();
    }
    operations
}

#[test]
fn a_fault_at_any_operation_of_a_script_loses_and_invents_nothing() {
    let operations = script(None);
    println!(
        "{operations} operations, {} faults at each",
        Fault::ALL.len()
    );
    for at in 0..operations {
        for fault in Fault::ALL {
            let _seed = Seed(at);
            script(Some((at, fault)));
        }
    }
}

/// Batches, faults and restarts as `seed` has it; returns how many faults happened.
fn random_run(seed: u64) -> u64 {
    let _seed = Seed(seed);
    let mut random = Random(seed ^ 0x5eed);
    let mut trial = Trial::new(seed);
    let mut faults = 0;
    trial.restart(Fault::Error);
    for _ in 0..BATCHES {
        if random.below(2) == 0 {
            let fault = random.of(&Fault::ALL);
            trial.disk.arm(random.below(40), fault, random.next());
        }
        trial.step();
        let fired = after_fault(&mut trial);
        faults += u64::from(fired.is_some());
        if random.below(4) == 0 {
            trial.disk.make_room();
        }
        if random.below(8) == 0 {
            trial.restart(random.of(&[Fault::Error, Fault::Kill, Fault::Power]));
        }
    }
    trial.disk.disarm();
    trial.restart(Fault::Power);
    trial.catch_up();
    faults
}

#[test]
fn a_thousand_random_runs_of_four_writers_and_four_watchers_keep_the_invariants() {
    let faults: u64 = (0..RUNS).map(random_run).sum();
    assert!(faults > RUNS, "{faults} faults are too few to say anything");
}

#[test]
fn seeds_that_have_failed_pass() {
    for seed in REGRESSIONS {
        random_run(*seed);
    }
}
