//! Progress of fetching, for a person at a terminal.

use indicatif::{ProgressBar, ProgressStyle};

use crate::models::fetch::{FetchEvent, Fetched};

/// A bar (or, away from a terminal, one line per file) on stderr, to hand to `Catalogue::fetch`.
pub fn bar() -> impl FnMut(FetchEvent<'_>) {
    let bar = ProgressBar::no_length();
    let plain = bar.is_hidden();
    move |event| match event {
        FetchEvent::Step { file, doing } => {
            bar.set_style(ProgressStyle::default_spinner());
            bar.enable_steady_tick(std::time::Duration::from_millis(120));
            bar.set_message(format!("{file}: {doing}"));
        }
        FetchEvent::Progress { file, have, whole } => {
            bar.disable_steady_tick();
            if let Ok(style) = ProgressStyle::with_template(
                "{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
            ) {
                bar.set_style(style);
            }
            bar.set_message(file.to_owned());
            bar.set_length(whole.unwrap_or(have));
            bar.set_position(have);
        }
        FetchEvent::End { file, how } => {
            bar.disable_steady_tick();
            let line = line(file, how);
            if plain {
                eprintln!("{line}");
            } else {
                bar.suspend(|| eprintln!("{line}"));
                bar.set_message("");
            }
        }
    }
}

fn line(file: &str, how: &Fetched) -> String {
    match how {
        Fetched::Present => format!("  {file}: present"),
        Fetched::Brought { from, .. } => format!("  {file}: from {from}"),
        Fetched::YoursToSupply { cure } => format!("  {file}: {cure}"),
        Fetched::Failed { why } => format!("  {file}: FAILED: {why}"),
    }
}
