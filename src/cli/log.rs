//! Diagnostics on standard error: what a person has to know, more with `-v`.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Starts logging at a verbosity: 0 what matters, 1 more, 2 everything of ours.
pub(super) fn start(verbosity: u8) {
    let filter = match verbosity {
        // The broker and client crates report every disconnect as an error; ours say what it means.
        0 => "warn,engram=info,rumqttd=off,rumqttc=off,ort=error",
        1 => "info,engram=debug,rumqttd=warn,ort=warn",
        _ => "debug,engram=trace",
    };
    // Under systemd the journal has its own time.
    let in_journal = std::env::var_os("JOURNAL_STREAM").is_some();
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(verbosity > 0);
    // Fails only when there is a logger already, as in tests.
    let _ = if in_journal { builder.without_time().try_init() } else { builder.try_init() };
}
