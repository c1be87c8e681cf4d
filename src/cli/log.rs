//! Diagnostics: what a person has to know, more with `-v`. On standard error, or, where that is the journal, in the journal
//! with its fields, such as `ENGRAM_SOURCE` and `PRIORITY` (systemd.journal-fields(7)).

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts logging at a verbosity: 0 what matters, 1 more, 2 everything of ours.
pub(super) fn start(verbosity: u8) {
    let filter = EnvFilter::new(match verbosity {
        // The broker and client crates report every disconnect as an error; ours say what it means.
        0 => "warn,engram=info,rumqttd=off,rumqttc=off,ort=error",
        1 => "info,engram=debug,rumqttd=warn,ort=warn",
        _ => "debug,engram=trace",
    });
    // Each fails only when there is a logger already, as in tests.
    if in_journal()
        && let Ok(journal) = tracing_journald::layer()
    {
        let journal = journal
            .with_field_prefix(Some("ENGRAM".to_owned()))
            .with_syslog_identifier("engramd".to_owned());
        let _ = tracing_subscriber::registry().with(filter).with(journal).try_init();
        return;
    }
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(verbosity > 0)
        .try_init();
}

/// Whether standard error is the journal's stream, which `JOURNAL_STREAM` names as `device:inode` (systemd.exec(5)). The
/// variable alone says nothing: whoever was started by a service inherits it.
fn in_journal() -> bool {
    let Ok(named) = std::env::var("JOURNAL_STREAM") else { return false };
    let Ok(stderr) = rustix::fs::fstat(std::io::stderr()) else { return false };
    named == format!("{}:{}", stderr.st_dev, stderr.st_ino)
}
