//! The queue of workload tasks as a value: what is due now, what later, one entry per task. A driver owns one agenda, feeds it
//! changes and time, and applies the writes it is given. Not here: the store, waiting, failures' back-off times.

use std::collections::{BTreeMap, BTreeSet};

use flyball_clock::UnixMs;

use super::react::{Task, react};
use super::view::{Change, View};

/// Tasks by the instant at which they are due; the earliest instant wins.
///
/// Bound: one entry per task, and there are at most two tasks per object.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    due: BTreeMap<Task, UnixMs>,
    order: BTreeSet<(UnixMs, Task)>,
}

impl Agenda {
    /// Takes note of a change at `now_ms`. On start, feed every stored object as a change with no `old`.
    pub(crate) fn observe(&mut self, view: &dyn View, change: &Change, now_ms: UnixMs) {
        for task in react(view, change) {
            self.add(task, now_ms);
        }
    }

    /// Makes a task due at `at_ms` unless it is due earlier.
    pub(crate) fn add(&mut self, task: Task, at_ms: UnixMs) {
        if let Some(known) = self.due.get(&task) {
            if *known <= at_ms {
                return;
            }
            self.order.remove(&(*known, task.clone()));
        }
        self.due.insert(task.clone(), at_ms);
        self.order.insert((at_ms, task));
    }

    /// The next instant at which something is due.
    pub(crate) fn next_due(&self) -> Option<UnixMs> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Takes the first task that is due at `now_ms`.
    pub(crate) fn pop(&mut self, now_ms: UnixMs) -> Option<Task> {
        if self.next_due()? > now_ms {
            return None;
        }
        let (_, task) = self.order.pop_first()?;
        self.due.remove(&task);
        Some(task)
    }
}

#[cfg(test)]
mod tests {
    use super::super::react::Controller;
    use super::super::view::{Kind, ObjectKey};
    use super::*;

    fn task(name: &str) -> Task {
        Task {
            controller: Controller::PodLife,
            key: ObjectKey::new(Kind::POD, "default", name),
        }
    }

    #[test]
    fn the_earliest_instant_wins_and_a_task_runs_once() {
        let mut agenda = Agenda::default();
        agenda.add(task("a"), 50);
        agenda.add(task("a"), 20);
        agenda.add(task("a"), 30);
        agenda.add(task("b"), 20);
        assert_eq!(agenda.next_due(), Some(20));
        assert_eq!(agenda.pop(19), None);
        assert_eq!(agenda.pop(20), Some(task("a")));
        assert_eq!(agenda.pop(20), Some(task("b")));
        assert_eq!(agenda.pop(1_000), None);
        assert_eq!(agenda.next_due(), None);
    }
}
