//! `engramd run`: the daemon over the configured cameras and microphones.

use clap::Args;

use super::context::Context;
use crate::config::Config;
use crate::daemon::serve::Daemon;
use crate::daemon::service::Clock;

/// Remember what the configured cameras and microphones deliver, and answer questions over MQTT.
///
/// Without cameras and microphones it only answers. Runs until SIGTERM or Ctrl-C. SIGHUP reads the configuration
/// again: changed sources, window, perception and identity begin a new session, the rest waits for the next start.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd run                                    as the configuration says
  engramd run --config my.toml --data-dir ./memory
  engramd run --set mqtt.broker=mqtt://hub.local answer through a broker elsewhere")]
pub(super) struct RunArgs {}

pub(super) fn run(_: &RunArgs, context: &Context) -> anyhow::Result<u8> {
    let daemon = Daemon::start(&context.config, Clock::Wall, None)?;
    for missing in daemon.degraded() {
        eprintln!("warning: without {missing}");
    }
    eprintln!("answering: {}", daemon.address());
    daemon.live(&|| Ok(Config::load(&context.source)?.config.resolved()));
    daemon.finish();
    Ok(0)
}
