//! `engramd bench`: measure.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use comfy_table::Table;
use serde::Serialize;
use serde_json::Value;

use crate::bench::labels::Labels;
use crate::bench::{answers, locomo, memory, rehearsal, vad, verify};
use crate::config::Config;
use crate::perceive::voice::parity;

/// Measure perception, memory and answers against labelled material.
///
/// Everything runs in a temporary store; the robot's own memory is not touched. `--set models.set=edge`
/// measures another model set. `--json` prints one document.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd bench perception home.mp4 --labels home.json
  engramd --set models.set=edge bench verify faces photos/
  engramd --json bench memory --memories 100000 --corpus locomo.json")]
pub struct BenchArgs {
    #[command(subcommand)]
    what: Measure,
}

#[derive(Debug, Subcommand)]
enum Measure {
    /// Persons, faces, voices and links of a recording, and the speed.
    Perception {
        /// The recording.
        #[arg(value_name = "REC")]
        recording: PathBuf,
        /// Who is really where and when: engram-truth/1 (JSON) or RTTM.
        #[arg(long)]
        labels: PathBuf,
        /// Replay a second time, with words, for their speed.
        #[arg(long)]
        words: bool,
    },
    /// How well faces or voices are told apart, on a folder with one folder per identity.
    Verify {
        /// What the samples are.
        #[arg(value_enum)]
        modality: Modality,
        /// The folder.
        dir: PathBuf,
        /// Take only the middle seconds of each utterance.
        #[arg(long, value_name = "S", value_parser = positive)]
        secs: Option<f64>,
    },
    /// Voice activity, on sounds with TEN VAD's .scv labels beside them.
    Vad {
        /// The folder.
        dir: PathBuf,
    },
    /// How near our speaker embedding is to the published implementation's.
    Parity {
        /// The folder that holds golden.json.
        dir: PathBuf,
        /// A checkpoint with the golden weights; default: they are generated.
        #[arg(long, value_name = "F")]
        ckpt: Option<PathBuf>,
    },
    /// Recall, inserts and start of a large memory.
    Memory {
        /// How many memories.
        #[arg(long, value_name = "N")]
        memories: usize,
        /// Conversations (LoCoMo) that texts, vectors and queries are made from.
        #[arg(long, value_name = "FILE")]
        corpus: PathBuf,
    },
    /// Whether recall finds the evidence of LoCoMo's questions.
    Locomo {
        /// The conversations.
        file: PathBuf,
        /// Answer the questions too.
        #[arg(long)]
        answer: bool,
    },
    /// Questions about a recording.
    Answers {
        /// The recording.
        #[arg(value_name = "REC")]
        recording: PathBuf,
        /// The questions with their true answers.
        #[arg(long, value_name = "Q")]
        questions: PathBuf,
        /// Who is really where and when; default: the recording's name with `.json`, where it is there.
        #[arg(long)]
        labels: Option<PathBuf>,
    },
    /// Opens the store as a fresh process does (`bench memory` starts it).
    #[command(hide = true)]
    Start,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Modality {
    Faces,
    Voices,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(secs) if secs > 0.0 && secs.is_finite() => Ok(secs),
        _ => Err(format!("{text:?} is no number of seconds above 0")),
    }
}

/// Runs the command; gives back the exit code.
///
/// # Errors
/// When the material cannot be read, or a model or the temporary store fails.
pub fn run(args: &BenchArgs, config: &Config, json: bool) -> anyhow::Result<u8> {
    if cfg!(debug_assertions) && !matches!(args.what, Measure::Start) {
        eprintln!("warning: this is a debug build; its times say little");
    }
    let read = |path: &PathBuf| {
        fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
    };
    match &args.what {
        Measure::Perception { recording, labels, words } => {
            let labels = Labels::read(&read(labels)?)?;
            show(&rehearsal::perception(config, recording, &labels, *words)?, json)
        }
        Measure::Verify { modality: Modality::Faces, dir, .. } => {
            show(&verify::faces(config, dir)?.verification, json)
        }
        Measure::Verify { modality: Modality::Voices, dir, secs } => {
            show(&verify::voices(config, dir, *secs)?.verification, json)
        }
        Measure::Vad { dir } => show(&vad::measure(config, dir)?, json),
        Measure::Parity { dir, ckpt } => show(&parity(dir, ckpt.as_deref())?, json),
        Measure::Memory { memories, corpus } => {
            show(&memory::measure(config, *memories, corpus)?, json)
        }
        Measure::Locomo { file, answer } => show(&locomo::measure(config, file, *answer)?, json),
        Measure::Answers { recording, questions, labels } => {
            let beside = recording.with_extension("json");
            let labels = match labels {
                Some(path) => Some(Labels::read(&read(path)?)?),
                None if beside.exists() => Labels::read(&read(&beside)?).ok(),
                None => None,
            };
            show(&answers::measure(config, recording, questions, labels.as_ref())?, json)
        }
        Measure::Start => show(&memory::cold_start(config)?, true),
    }?;
    Ok(0)
}

/// Prints one JSON document, or a table of every figure by its path.
fn show(figures: &impl Serialize, json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string(figures)?);
        return Ok(());
    }
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::NOTHING);
    let mut rows = Vec::new();
    flatten("", &serde_json::to_value(figures)?, &mut rows);
    for (path, value) in rows {
        table.add_row([path, value]);
    }
    println!("{table}");
    Ok(())
}

fn flatten(path: &str, value: &Value, rows: &mut Vec<(String, String)>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                flatten(&below(key), value, rows);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for item in items {
                let name = item.get("id").and_then(Value::as_str).unwrap_or("-");
                flatten(&below(name), item, rows);
            }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            rows.push((path.to_owned(), items.join(" – ")));
        }
        single => rows.push((path.to_owned(), plain(single))),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap_or(0.0);
            match number.abs() {
                size if size >= 100.0 => format!("{number:.0}"),
                size if size >= 1e-3 || size == 0.0 => format!("{number:.4}"),
                _ => format!("{number:.2e}"),
            }
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_shown_by_their_path() {
        let figures = serde_json::json!({
            "eer": 0.0125, "eer_ci95": [0.01, 0.02], "voice": {"der": null},
            "identities": [{"id": "ava", "found": true}], "tiny": 1e-7, "count": 12,
        });
        let mut rows = Vec::new();
        flatten("", &figures, &mut rows);
        let rows: Vec<String> = rows.into_iter().map(|(k, v)| format!("{k} = {v}")).collect();
        assert_eq!(
            rows,
            [
                "eer = 0.0125",
                "eer_ci95 = 0.0100 – 0.0200",
                "voice.der = -",
                "identities.ava.id = ava",
                "identities.ava.found = true",
                "tiny = 1.00e-7",
                "count = 12",
            ]
        );
    }
}
