//! `engramd bench`: measure.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use comfy_table::Table;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::bench::conversations::{beam, locomo};
use crate::bench::filler::Made;
use crate::bench::judge::Judge;
use crate::bench::labels::Labels;
use crate::bench::{
    answers, colours, day, devices, erase, forget, m3_bench, memory, people, recall, rehearsal,
    text, told, vad, vectors, verify, words, year,
};
use crate::config::{Config, Llm};
use crate::memory::VectorSearch;
use crate::perceive::voice::embed::parity::parity;

/// Measure perception, memory and answers against labelled material.
///
/// Everything runs in a temporary store; the robot's own memory is not touched. `--set models.set=edge`
/// measures another model set. `--json` prints one document.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd bench perception home.mp4 --labels home.json
  engramd --set models.set=edge bench verify faces photos/
  engramd bench m3-bench --annotations robot.json --videos videos/ --judge-model gpt-4o
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
        /// Who is really where and when: engram-truth/1 (JSON) or RTTM, there the lines with the recording's name.
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
        /// Voices: compare every clean utterance with the others as a far microphone, noise and a telephone deliver them,
        /// too (made from the clean ones).
        #[arg(long)]
        channels: bool,
        /// What rooms and noise are drawn from.
        #[arg(long, value_name = "N", default_value_t = 1, requires = "channels")]
        seed: u64,
    },
    /// Voice activity, on sounds with TEN VAD's .scv labels beside them.
    Vad {
        /// The folder.
        dir: PathBuf,
    },
    /// Names of colours against crops whose colours are known (`labels.json` of `benches/colours/crops.py`): what was named, what of it
    /// is right, by half of the crops.
    #[command(after_help = "Examples:
  engramd --json bench colours crops")]
    Colours {
        /// The folder.
        dir: PathBuf,
    },
    /// Words in view against stills whose signs are known (`labels.json` of `benches/text/stills.py`): characters read right, by
    /// height of the letters, and what was read where nothing stands.
    #[command(after_help = "Examples:
  python benches/text/stills.py stills --set test && engramd --json bench text stills")]
    Text {
        /// The folder.
        dir: PathBuf,
    },
    /// Words against what was said: word errors, words where nobody speaks, word times, and what they cost.
    ///
    /// Labels lie beside each recording under its name: `.txt` (what is said; an empty one: nothing), `.stm`, `.rttm` or
    /// engram-truth/1 `.json` with `turns`. Without punctuation and with numbers spelled out in `wer`, as they are written
    /// in `wer_as_written`.
    #[command(after_help = "Examples:
  engramd --json bench words recordings/
  engramd bench words evening.wav --labels evening.json")]
    Words {
        /// A recording, or a folder of them.
        #[arg(value_name = "DIR|REC")]
        recordings: PathBuf,
        /// The recording's labels, or a folder of labels by the recordings' names [default: beside each recording]
        #[arg(long, value_name = "FILE|DIR")]
        labels: Option<PathBuf>,
    },
    /// How near our speaker embedding is to the published implementation's.
    Parity {
        /// The folder that holds golden.json.
        dir: PathBuf,
        /// A checkpoint with the golden weights; default: they are generated.
        #[arg(long, value_name = "F")]
        ckpt: Option<PathBuf>,
    },
    /// How quick each network is on the CPU and on a GPU, and how near to each other they compute.
    Devices {
        /// A picture to look for faces in [default: noise].
        #[arg(long, value_name = "FILE")]
        picture: Option<PathBuf>,
        /// A recording of speech to recognise words of [default: words are not measured].
        #[arg(long, value_name = "FILE")]
        speech: Option<PathBuf>,
    },
    /// Recall, inserts and start of a large memory; or, with --hours, how much RAM a long run takes.
    Memory {
        /// How many memories.
        #[arg(long, value_name = "N", required_unless_present = "hours")]
        memories: Option<usize>,
        /// Simulate so many hours instead, 120 clips of 30 memories each: anonymous memory, hour by hour.
        #[arg(long, value_name = "N", conflicts_with = "memories")]
        hours: Option<u32>,
        /// Conversations (LoCoMo) that texts, vectors and queries are made from.
        #[arg(long, value_name = "FILE")]
        corpus: PathBuf,
        /// Measure so many readers at once beside a writer, too.
        #[arg(long, value_name = "N", default_value_t = 0)]
        readers: usize,
        /// Where the memory is kept, to go on filling it later; else it is gone afterwards. Ten million take 50 GB.
        #[arg(long, value_name = "DIR", conflicts_with = "hours")]
        folder: Option<PathBuf>,
        /// Fill it for so long at most; measured is once all is in.
        #[arg(long, value_name = "SECS", requires = "folder")]
        secs: Option<u64>,
        /// How vectors are searched [default: what recall.vectors says]
        #[arg(long, value_name = "WAY", value_parser = named::<VectorSearch>)]
        vectors: Option<VectorSearch>,
    },
    /// The nearest vectors of a large memory, found each way in one run: by the codes of all, by cells, by a graph of cells.
    #[command(after_help = "Examples:
  engramd bench vectors --memories 100000 --corpus locomo.json --flat
  engramd --json bench vectors --memories 1000000 --corpus locomo.json --made mixed")]
    Vectors {
        /// How many memories.
        #[arg(long, value_name = "N")]
        memories: usize,
        /// Conversations (LoCoMo) that vectors and queries are made from.
        #[arg(long, value_name = "FILE")]
        corpus: PathBuf,
        /// What the vectors are made of.
        #[arg(long, value_name = "HOW", default_value = "near", value_parser = named::<Made>)]
        made: Made,
        /// One HNSW graph of all vectors, too: building it takes minutes for 100,000, hours for a million.
        #[arg(long)]
        flat: bool,
    },
    /// Who is who among many people: how well they are told apart, and what a clip and a frame cost.
    ///
    /// Galleries are drawn, with a fixed seed, as alike as the set's own networks find people (measured pairs of one and of
    /// two). Each probe is a visit: a face and a voice.
    People {
        /// How many people are known.
        #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
        people: u32,
    },
    /// Recall beside the reference's way of searching, at 1,000, 10,000 and 100,000 memories.
    Recall {
        /// Conversations (LoCoMo) that texts, vectors and queries are made from.
        #[arg(long, value_name = "FILE")]
        corpus: PathBuf,
        /// Leave out sizes above this.
        #[arg(long, value_name = "N", default_value_t = 100_000)]
        largest: usize,
    },
    /// A simulated life: whether forgetting keeps it under a cap, and what is still answered.
    Forget {
        /// Days.
        #[arg(long, value_name = "N", default_value_t = 365)]
        days: u32,
        /// Clips of a day.
        #[arg(long, value_name = "N", default_value_t = 24)]
        clips: u32,
        /// Memories of a clip.
        #[arg(long, value_name = "N", default_value_t = 6)]
        memories: u32,
        /// Memories kept, at most.
        #[arg(long, value_name = "N", default_value_t = 2_500)]
        cap: usize,
    },
    /// How notes alone answer the questions of a told story: each answer, its confidence and how long it took.
    Told {
        /// The story (`benches/told/*.json`).
        story: PathBuf,
        /// With the sentences that were looked at and what each has in common with the question.
        #[arg(long)]
        candidates: bool,
        /// Others that are told, too, a sentence a line, spread over the time of the story: as in a memory of
        /// months, where what recall finds is read.
        #[arg(long, value_name = "FILE", conflicts_with = "candidates")]
        among: Option<PathBuf>,
    },
    /// Erasing one person of a thousand from a large memory: how long, how much RAM and log it takes, what is left.
    Erase {
        /// Memories.
        #[arg(long, value_name = "N", default_value_t = 100_000)]
        memories: usize,
        /// For so long, from before the erasure on, somebody else reads the store, as a backup does.
        #[arg(long, value_name = "SECS")]
        reader_secs: Option<u64>,
    },
    /// What years of a household do to a memory: its size, its start, its RAM, and what everyday questions cost then.
    ///
    /// Days of eight hours are lived in event time and written as the daemon writes them. 100 questions of each kind are
    /// asked in a fresh process, each after another clip, and again after a resident was erased in a copy.
    #[command(after_help = "Examples:
  engramd --json bench year --years 0.02
  engramd --json bench year --years 5 --folder lived --secs 3000")]
    Year {
        /// How many.
        #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = positive)]
        years: f64,
        /// Keep the store there; the next call goes on with the day after the last one.
        #[arg(long, value_name = "DIR")]
        folder: Option<PathBuf>,
        /// Live for so long at most; the day in hand is finished.
        #[arg(long, value_name = "SECS")]
        secs: Option<u64>,
    },
    /// Whether recall finds the evidence of LoCoMo's questions, and whether plain BM25 does.
    ///
    /// Evidence recall among the first 1, 5, 10 and 20: of turns (`turn_level`) and of the sessions that hold them
    /// (`session_level`); each for any piece of a question's evidence (`any`), for all of it (`all`), and as the mean share
    /// (`mean`, which `evidence_recall` repeats for turns). Compare like with like: these lie far apart.
    #[command(after_help = "Examples:
  engramd bench locomo locomo10.json
  engramd --json bench locomo locomo10.json --answer")]
    Locomo {
        /// The conversations.
        file: PathBuf,
        /// Answer the questions too: by whom `answerer.kind` says.
        #[arg(long)]
        answer: bool,
        #[command(flatten)]
        judge: JudgeArgs,
    },
    /// Whether recall finds the evidence of BEAM's probing questions, what is updated and what contradicts itself.
    ///
    /// Evidence recall among the first 5, 10 and 20 turns, by kind of question and in all, beside plain BM25; whether the
    /// newest value stands before the superseded one; whether both sides of a contradiction are found; and how many of the
    /// unanswerable questions the built-in answerer leaves unanswered, beside how many of the others it answers at all. No
    /// language model takes part; whether replies are right, which BEAM lets a model judge, is not scored.
    #[command(after_help = "Examples:
  engramd bench beam BEAM/chats/100K
  engramd --json bench beam BEAM/chats/100K/1")]
    Beam {
        /// The chats, a folder each with chat.json and probing_questions.json (here, or in a folder of that name); or one of them.
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// M3-Bench: ingest or open each video's memory, ask before the question's clip and at its time, judge.
    ///
    /// Goes on where it stopped: replies are kept in `<memories>/results.jsonl`, memories beside it.
    #[command(name = "m3-bench")]
    M3Bench {
        /// The published annotations (robot.json, web.json).
        #[arg(long, value_name = "FILE")]
        annotations: PathBuf,
        /// The videos, named as in the annotations; those without a memory yet are remembered first.
        #[arg(long, value_name = "DIR")]
        videos: Option<PathBuf>,
        /// Where each video's memory lies, or is made [default: `m3-bench` in the current folder].
        #[arg(long, value_name = "DIR")]
        memories: Option<PathBuf>,
        #[command(flatten)]
        judge: JudgeArgs,
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
    /// Opens the store as a fresh process does, and asks (`bench year` starts it).
    #[command(hide = true)]
    Look,
}

/// Who judges answers: any OpenAI-compatible server.
#[derive(Debug, Args)]
struct JudgeArgs {
    /// The judge's server, http://host:port/v1 [default: llm.base_url, where --judge-model is given]
    #[arg(long, value_name = "URL")]
    judge_url: Option<String>,
    /// The judging model.
    #[arg(long, value_name = "NAME")]
    judge_model: Option<String>,
    /// File that holds its key.
    #[arg(long, value_name = "FILE")]
    judge_key_file: Option<PathBuf>,
}

impl JudgeArgs {
    fn judge(&self, config: &Config) -> anyhow::Result<Option<Judge>> {
        let Some(model) = &self.judge_model else {
            anyhow::ensure!(
                self.judge_url.is_none() && self.judge_key_file.is_none(),
                "--judge-url and --judge-key-file need --judge-model"
            );
            return Ok(None);
        };
        let own = self.judge_url.is_some();
        let llm = Llm {
            base_url: self.judge_url.clone().or_else(|| config.llm.base_url.clone()),
            model: Some(model.clone()),
            api_key_file: self
                .judge_key_file
                .clone()
                .or_else(|| config.llm.api_key_file.clone().filter(|_| !own)),
            ..config.llm.clone()
        };
        Ok(Some(Judge::new(&llm, &config.store_dir())?))
    }
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
    if cfg!(debug_assertions) && !matches!(args.what, Measure::Start | Measure::Look) {
        eprintln!("warning: this is a debug build; its times say little");
    }
    let read = |path: &PathBuf| {
        fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
    };
    match &args.what {
        Measure::Perception { recording, labels, words } => {
            let labels = Labels::read(&read(labels)?, recording)?;
            show(&rehearsal::perception(config, recording, &labels, *words)?, json)
        }
        Measure::Verify { modality: Modality::Faces, dir, .. } => {
            show(&verify::faces(config, dir)?.verification, json)
        }
        Measure::Verify { modality: Modality::Voices, dir, secs, channels: true, seed } => {
            show(&verify::voices_across_channels(config, dir, *secs, *seed)?, json)
        }
        Measure::Verify { modality: Modality::Voices, dir, secs, .. } => {
            show(&verify::voices(config, dir, *secs)?.verification, json)
        }
        Measure::Vad { dir } => show(&vad::measure(config, dir)?, json),
        Measure::Colours { dir } => show(&colours::measure(dir)?, json),
        Measure::Text { dir } => show(&text::measure(config, dir)?, json),
        Measure::Words { recordings, labels } => {
            show(&words::measure(config, recordings, labels.as_deref())?, json)
        }
        Measure::Parity { dir, ckpt } => show(&parity(dir, ckpt.as_deref())?, json),
        Measure::Devices { picture, speech } => {
            show(&devices::measure(config, picture.as_deref(), speech.as_deref())?, json)
        }
        Measure::Memory { hours: Some(hours), corpus, .. } => {
            show(&day::measure(config, *hours, corpus)?, json)
        }
        Measure::Memory { memories, corpus, readers, vectors, folder, secs, .. } => {
            let mut config = config.clone();
            config.recall.vectors = vectors.unwrap_or(config.recall.vectors);
            let part = (folder.as_deref(), secs.map(std::time::Duration::from_secs));
            let count = memories.unwrap_or_default();
            show(&memory::measure(&config, count, corpus, *readers, part)?, json)
        }
        Measure::Vectors { memories, corpus, made, flat } => {
            show(&vectors::measure(config, *memories, corpus, *made, *flat)?, json)
        }
        Measure::People { people } => show(&people::measure(config, *people as usize)?, json),
        Measure::Recall { corpus, largest } => {
            show(&recall::measure(config, corpus, *largest)?, json)
        }
        Measure::Forget { days, clips, memories, cap } => {
            let plan = forget::Plan {
                days: *days,
                clips_per_day: *clips,
                memories_per_clip: *memories,
                cap: *cap,
            };
            let figures = forget::measure(&plan)?;
            show(&figures, json)
        }
        Measure::Told { story, candidates, among: None } => {
            show(&told::measure(config, story, *candidates)?, json)
        }
        Measure::Told { story, among: Some(among), .. } => {
            show(&told::measure_among(config, story, among)?, json)
        }
        Measure::Erase { memories, reader_secs } => {
            let reader = reader_secs.map(std::time::Duration::from_secs);
            show(&erase::measure(*memories, reader)?, json)
        }
        Measure::Locomo { file, answer, judge } => {
            let judge = judge.judge(config)?;
            anyhow::ensure!(*answer || judge.is_none(), "--judge-model needs --answer");
            show(&locomo::measure(config, file, *answer, judge.as_ref())?, json)
        }
        Measure::Beam { dir } => show(&beam::measure(config, dir)?, json),
        Measure::M3Bench { annotations, videos, memories, judge } => {
            let judge = judge.judge(config)?.context("M3-Bench needs a judge: --judge-model")?;
            let memories = memories.clone().unwrap_or_else(|| PathBuf::from("m3-bench"));
            let run = m3_bench::Run { annotations, videos: videos.as_deref(), memories: &memories };
            show(&m3_bench::measure(config, &run, &judge)?, json)
        }
        Measure::Answers { recording, questions, labels } => {
            let beside = recording.with_extension("json");
            let labels = match labels {
                Some(path) => Some(Labels::read(&read(path)?, recording)?),
                None if beside.exists() => Labels::read(&read(&beside)?, recording).ok(),
                None => None,
            };
            show(&answers::measure(config, recording, questions, labels.as_ref())?, json)
        }
        Measure::Year { years, folder, secs } => {
            let most = secs.map(std::time::Duration::from_secs);
            show(&year::measure(config, *years, folder.as_deref(), most)?, json)
        }
        Measure::Start => show(&memory::cold_start(config)?, true),
        Measure::Look => show(&year::look(config)?, true),
    }?;
    Ok(0)
}

/// Prints one JSON document, or a table of every figure by its path.
/// One of a few names, as the configuration writes them.
fn named<T: DeserializeOwned>(name: &str) -> Result<T, String> {
    serde_json::from_value(Value::from(name)).map_err(|error| error.to_string())
}

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
