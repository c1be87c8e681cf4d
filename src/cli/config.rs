//! `engramd config show | check`.

use clap::{Args, Subcommand};

use super::context::Context;
use super::print;
use crate::capture::without_pipeline;

/// Show or check the configuration.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd config check --config engram.toml      says every mistake with its line, exits with 1
  engramd config show --set models.set=edge      prints what would run")]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print what runs: the file, the overrides, the defaults; passwords in addresses are hidden.
    Show,
    /// Look for mistakes. Every command does; this one does nothing else.
    Check,
}

pub(super) fn run(args: &ConfigArgs, context: &Context) -> anyhow::Result<u8> {
    // Mistakes have been refused while it was loaded.
    match args.action {
        Action::Show if context.json => print::json(&context.config.without_secrets())?,
        Action::Show => {
            print::line(toml::to_string(&context.config.without_secrets())?.trim_end())?;
        }
        Action::Check => {
            let from = match &context.config_file {
                Some(file) => file.display().to_string(),
                None => "the built-in defaults".to_owned(),
            };
            // The others run without it: no reason to refuse a start.
            let config = &context.config;
            for (id, error) in without_pipeline(&config.camera, &config.microphone) {
                eprintln!("warning: {id} will not come up: {error}");
            }
            print::line(format!("{from}: no mistake found"))?;
        }
    }
    Ok(0)
}
