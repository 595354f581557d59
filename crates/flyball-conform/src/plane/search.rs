//! Runs random scripts on both servers. Each is told up to its first difference, for what follows may follow from it,
//! and cut down to the requests that show it. Not here: how they are made (`random`).

use std::io::Write;

use anyhow::Result;
use futures::stream::{self, StreamExt as _};

use crate::plane::matrix::Matrix;
use crate::plane::run::{self, Asked, Pair};
use crate::plane::script::Placed;
use crate::report::{Tally, Verdict};

/// Scripts at once.
const AT_ONCE: usize = 8;

/// Scripts that are cut down; more in one run have, as a rule, few causes.
const CUT_MAX: usize = 20;

/// A script whose last request showed a difference.
struct Found {
    placed: Placed,
    difference: String,
}

/// Runs `scripts` and writes the first difference of each to `out`, in their order. Counts requests, also in `matrix`.
///
/// # Errors
/// A server that cannot be reached.
pub async fn scripts(
    pair: &Pair,
    scripts: &[Placed],
    matrix: &mut Matrix,
    out: &mut impl Write,
) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut found = Vec::new();
    let mut runs = stream::iter(scripts.iter().enumerate())
        .map(|(index, placed)| async move {
            let namespace = format!("c{}-{index}", pair.run);
            (placed, run::script(pair, &namespace, &placed.script).await)
        })
        .buffered(AT_ONCE);
    while let Some((placed, asked)) = runs.next().await {
        let (agreeing, difference) = agreeing(asked?, matrix);
        tally.passed += agreeing;
        if let Some(difference) = difference {
            tally.failed += 1;
            let mut placed = placed.clone();
            placed.script.steps.truncate(agreeing + 1);
            found.push(Found { placed, difference });
        }
    }
    for (index, one) in found.into_iter().enumerate() {
        let one = if index < CUT_MAX {
            cut(pair, index, one).await?
        } else {
            one
        };
        tell(&one, out)?;
    }
    Ok(tally)
}

/// How many answers agree before the first that does not, and that one.
fn agreeing(asked: Vec<Asked>, matrix: &mut Matrix) -> (usize, Option<String>) {
    let mut agreeing = 0;
    for one in asked {
        if let Some((method, target)) = one.request.split_once(' ') {
            matrix.count(method, target, one.status);
        }
        match one.verdict {
            Verdict::Passed => agreeing += 1,
            Verdict::Failed(difference) => {
                return (agreeing, Some(format!("  {}\n{difference}", one.request)));
            }
        }
    }
    (agreeing, None)
}

/// Leaves out, from the last to the first, each request without which the last one still differs.
async fn cut(pair: &Pair, number: usize, mut found: Found) -> Result<Found> {
    let steps = found.placed.script.steps.len();
    for index in (0..steps.saturating_sub(1)).rev() {
        let mut shorter = found.placed.script.clone();
        shorter.steps.remove(index);
        let namespace = format!("c{}-{number}-{index}", pair.run);
        let asked = run::script(pair, &namespace, &shorter).await?;
        let (agreeing, difference) = agreeing(asked, &mut Matrix::default());
        if let Some(difference) = difference.filter(|_| agreeing + 1 == shorter.steps.len()) {
            found.placed.script = shorter;
            found.difference = difference;
        }
    }
    Ok(found)
}

fn tell(found: &Found, out: &mut impl Write) -> Result<()> {
    let Placed { file, script } = &found.placed;
    writeln!(
        out,
        "FAILED {}: {}\n{}as a script:",
        file.display(),
        script.name,
        found.difference
    )?;
    for step in &script.steps {
        writeln!(out, "  - {}", serde_json::to_string(step)?)?;
    }
    Ok(())
}
