//! `flyball version`: which program this is.

use clap::ValueEnum;
use serde_json::json;

use crate::output;

/// Print the version of this program and of the Kubernetes release whose decisions it makes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How to print it
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    Text,
    Json,
}

/// The release whose arithmetic, texts and defaults are in force. Not a promise of the API server's version.
const KUBERNETES: &str = "1.37.2";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let trace_schema = flyball_trace::SCHEMA;
    match args.output {
        Form::Text => output::data(format_args!(
            "flyball {version} (decides as Kubernetes {KUBERNETES})"
        ))?,
        Form::Json => output::data(json!({
            "version": version,
            "kubernetes": KUBERNETES,
            "traceSchema": trace_schema,
        }))?,
    }
    Ok(())
}
