//! M3-Bench (Long et al. 2025, arXiv 2508.09736): questions about long videos of a robot's view, judged by a
//! language model.
//!
//! Each video is remembered into a store of its own, or its store is opened; each question is asked twice: with
//! what was known when its last whole 30 s clip had ended (`before_clip`, the published setting), and with what was
//! known at its time stamp, which a streaming memory may use. Replies are kept in `results.jsonl`, so that an
//! interrupted run goes on. What could not be answered or judged counts as wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crossbeam_channel::unbounded;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use super::BenchError;
use super::error::read_text;
use super::judge::Judge;
use super::random::SplitMix64;
use super::rehearsal::{remember, reply};
use crate::answer::Question;
use crate::capture::{Recording, ReplayOptions};
use crate::config::Config;
use crate::daemon::assemble::{Knowledge, session_settings};
use crate::daemon::ingest::{PlaybackClock, YieldPolicy};
use crate::memory::AsOf;
use crate::time::Timestamp;

/// The published clip length, which `before_clip` counts in, seconds.
const CLIP_SECS: f64 = 30.0;
/// Resamples of the bootstrap.
const RESAMPLES: usize = 2000;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The annotations.
    pub annotations: &'a Path,
    /// Where videos lie; `None`: only memories that are there.
    pub videos: Option<&'a Path>,
    /// Where memories and results lie.
    pub memories: &'a Path,
}

#[derive(Debug, Deserialize)]
struct Video {
    video_path: String,
    qa_list: Vec<Qa>,
}

#[derive(Debug, Deserialize)]
struct Qa {
    question: String,
    answer: String,
    question_id: String,
    #[serde(rename = "type", default)]
    kinds: Vec<String>,
    /// `MM:SS`; absent: the end of the video.
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(default)]
    before_clip: Option<i64>,
}

/// How much a question may know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Setting {
    BeforeClip,
    Timestamp,
}

/// One line of `results.jsonl`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    question_id: String,
    video: String,
    setting: Setting,
    kinds: Vec<String>,
    question: String,
    truth: String,
    /// `None`: the question could not be answered.
    reply: Option<String>,
    engine: Option<String>,
    abstained: bool,
    /// `None`: the reply could not be judged.
    right: Option<bool>,
    latency_ms: f64,
    prompt_tokens: u64,
    completion_tokens: u64,
    error: Option<String>,
}

/// Figures of one setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SettingScores {
    /// Asked.
    pub questions: usize,
    /// Share that was right.
    pub accuracy: f64,
    /// 95 % of it, by bootstrap over the videos.
    pub accuracy_ci95: [f64; 2],
    /// Share that was right, by type; a question may be of several.
    pub by_type: BTreeMap<String, f64>,
    /// Not answered or not judged.
    pub errors: usize,
    /// Abstained.
    pub abstained: usize,
    /// Median and 95th percentile of a reply, milliseconds.
    pub latency_ms: [f64; 2],
    /// Tokens of the answering model per question: read, written.
    pub tokens_per_question: [f64; 2],
}

/// `bench m3-bench`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct M3Scores {
    /// Videos asked about.
    pub videos: usize,
    /// Videos of the annotations that had neither a memory nor a file.
    pub videos_missing: usize,
    /// With whole clips before the question.
    pub before_clip: SettingScores,
    /// With everything up to the question's time.
    pub timestamp: SettingScores,
    /// Who judged.
    pub judge: String,
}

/// Runs what is not done yet and gives the figures of everything.
///
/// # Errors
/// When the annotations, a store or the results cannot be read or written. A video or question that fails is an
/// error in the figures.
pub fn measure(config: &Config, run: &Run<'_>, judge: &Judge) -> Result<M3Scores, BenchError> {
    let text = read_text(run.annotations)?;
    let videos: BTreeMap<String, Video> = serde_json::from_str(&text).map_err(|error| {
        let reason = format!("{error}; it wants the published robot.json or web.json");
        BenchError::Form { path: run.annotations.to_owned(), reason }
    })?;
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| BenchError::Io { path, source }
    };
    std::fs::create_dir_all(run.memories).map_err(io(run.memories))?;
    let results = run.memories.join("results.jsonl");
    let mut lines = known(&results)?;
    let done: BTreeSet<(String, Setting)> =
        lines.iter().map(|line| (line.question_id.clone(), line.setting)).collect();
    let mut file =
        OpenOptions::new().create(true).append(true).open(&results).map_err(io(&results))?;
    let total: usize = videos.values().map(|video| video.qa_list.len() * 2).sum();
    let bar = ProgressBar::new(total as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} ({eta} left)");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut scores = M3Scores { judge: judge.name().to_owned(), ..M3Scores::default() };
    for (id, video) in &videos {
        bar.set_message(id.clone());
        let open: Vec<(&Qa, Setting)> = video
            .qa_list
            .iter()
            .flat_map(|qa| [(qa, Setting::BeforeClip), (qa, Setting::Timestamp)])
            .filter(|(qa, setting)| !done.contains(&(qa.question_id.clone(), *setting)))
            .collect();
        if open.is_empty() {
            scores.videos += 1;
            bar.inc(video.qa_list.len() as u64 * 2);
            continue;
        }
        let Some(memory) = remembered(config, run, id, video) else {
            scores.videos_missing += 1;
            bar.inc(video.qa_list.len() as u64 * 2);
            continue;
        };
        scores.videos += 1;
        for (qa, setting) in open {
            let line = match &memory {
                Ok(knowledge) => ask(knowledge, id, qa, setting, judge),
                Err(error) => failed(id, qa, setting, error),
            };
            let text = serde_json::to_string(&line).unwrap_or_default();
            writeln!(file, "{text}").map_err(io(&results))?;
            lines.push(line);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    scores.before_clip = figures(&lines, Setting::BeforeClip);
    scores.timestamp = figures(&lines, Setting::Timestamp);
    Ok(scores)
}

/// Lines of an earlier run; one that was cut off is asked again.
fn known(results: &Path) -> Result<Vec<Line>, BenchError> {
    if !results.exists() {
        return Ok(Vec::new());
    }
    Ok(read_text(results)?.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// The video's memory, opened or made; `None`: there is neither a memory nor a video; the error in words.
fn remembered(
    config: &Config,
    run: &Run<'_>,
    id: &str,
    video: &Video,
) -> Option<Result<Knowledge, String>> {
    // An id of the file becomes a folder: no way out of it.
    let plain = !id.is_empty() && !id.contains(['/', '\\']) && !id.starts_with('.');
    let store = run.memories.join(id);
    let there = store.join("engram.db").exists();
    let recording = run.videos.and_then(|dir| find_video(dir, id, &video.video_path));
    if !plain || (!there && recording.is_none()) {
        return None;
    }
    Some(remember_into(config, store, recording.as_deref()).map_err(|error| error.to_string()))
}

fn find_video(dir: &Path, id: &str, path: &str) -> Option<PathBuf> {
    let name = Path::new(path).file_name().map(|name| dir.join(name));
    let by_id = ["mp4", "mkv", "webm", "mcap"].map(|ending| dir.join(format!("{id}.{ending}")));
    name.into_iter().chain(by_id).find(|path| path.exists())
}

fn remember_into(
    config: &Config,
    store: PathBuf,
    recording: Option<&Path>,
) -> Result<Knowledge, BenchError> {
    let mut config = config.clone();
    config.store.dir = Some(store);
    let knowledge = Knowledge::open(&config)?;
    if let Some(path) = recording {
        let recording = Recording::open(path, &ReplayOptions::default())?;
        // Nobody reads the reports.
        let (reports, _) = unbounded();
        let pace = PlaybackClock::new(None, false);
        let settings = session_settings(&knowledge, pace, YieldPolicy::default(), reports)?;
        // An interrupted one goes on, a finished one is left as it is.
        remember(&settings, &recording)?;
    }
    Ok(knowledge)
}

/// `MM:SS` or `HH:MM:SS` in seconds.
fn clock_secs(text: &str) -> Option<f64> {
    let mut secs = 0.0;
    for part in text.trim().split(':') {
        secs = secs * 60.0 + part.parse::<f64>().ok().filter(|part| *part >= 0.0)?;
    }
    Some(secs)
}

/// Until when the question may know something; `None`: everything.
fn horizon(knowledge: &Knowledge, qa: &Qa, setting: Setting) -> Option<Timestamp> {
    let start = knowledge.memory.view().sessions().first()?.start;
    let secs = match (setting, qa.before_clip) {
        (Setting::BeforeClip, Some(clip)) => (clip + 1).max(0) as f64 * CLIP_SECS,
        _ => clock_secs(qa.timestamp.as_deref()?)?,
    };
    Some(start.plus_secs(secs))
}

fn ask(knowledge: &Knowledge, video: &str, qa: &Qa, setting: Setting, judge: &Judge) -> Line {
    let until = horizon(knowledge, qa, setting);
    let question = Question {
        id: qa.question_id.clone(),
        text: qa.question.clone(),
        as_of: until.map(AsOf::Time),
        now: until,
        // A benchmark measures the answer, and the time beside it.
        deadline_ms: Some(600_000),
        ..Question::default()
    };
    let begun = Instant::now();
    let replied = reply(knowledge, question);
    let latency_ms = begun.elapsed().as_secs_f64() * 1e3;
    let answer = match replied {
        Ok(answer) => answer,
        Err(error) => return failed(video, qa, setting, &error.to_string()),
    };
    let judged = judge.entails(&qa.question, &qa.answer, &answer.answer);
    let tokens = answer.cost.unwrap_or_default().tokens;
    Line {
        reply: Some(answer.answer),
        engine: Some(answer.engine),
        abstained: answer.abstained,
        right: judged.as_ref().ok().copied(),
        latency_ms,
        prompt_tokens: tokens.prompt,
        completion_tokens: tokens.completion,
        error: judged.err().map(|error| error.to_string()),
        ..failed(video, qa, setting, "")
    }
}

fn failed(video: &str, qa: &Qa, setting: Setting, error: &str) -> Line {
    Line {
        question_id: qa.question_id.clone(),
        video: video.to_owned(),
        setting,
        kinds: qa.kinds.clone(),
        question: qa.question.clone(),
        truth: qa.answer.clone(),
        reply: None,
        engine: None,
        abstained: false,
        right: None,
        latency_ms: 0.0,
        prompt_tokens: 0,
        completion_tokens: 0,
        error: Some(error.to_owned()),
    }
}

fn figures(lines: &[Line], setting: Setting) -> SettingScores {
    let lines: Vec<&Line> = lines.iter().filter(|line| line.setting == setting).collect();
    if lines.is_empty() {
        return SettingScores::default();
    }
    let count = lines.len() as f64;
    let right = |line: &Line| line.right == Some(true);
    let mut by_type: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut by_video: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for line in &lines {
        for kind in &line.kinds {
            let entry = by_type.entry(kind.clone()).or_default();
            *entry = (entry.0 + usize::from(right(line)), entry.1 + 1);
        }
        let entry = by_video.entry(&line.video).or_default();
        *entry = (entry.0 + usize::from(right(line)), entry.1 + 1);
    }
    let mut latencies: Vec<f64> =
        lines.iter().filter(|line| line.reply.is_some()).map(|line| line.latency_ms).collect();
    latencies.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let index = (share * latencies.len().saturating_sub(1) as f64).round() as usize;
        latencies.get(index).copied().unwrap_or_default()
    };
    let sum = |of: fn(&Line) -> u64| lines.iter().map(|line| of(line)).sum::<u64>() as f64 / count;
    SettingScores {
        questions: lines.len(),
        accuracy: lines.iter().filter(|line| right(line)).count() as f64 / count,
        accuracy_ci95: bootstrap(&by_video.into_values().collect::<Vec<_>>()),
        by_type: by_type
            .into_iter()
            .map(|(kind, (right, all))| (kind, right as f64 / all as f64))
            .collect(),
        errors: lines.iter().filter(|line| line.right.is_none()).count(),
        abstained: lines.iter().filter(|line| line.abstained).count(),
        latency_ms: [at(0.5), at(0.95)],
        tokens_per_question: [sum(|line| line.prompt_tokens), sum(|line| line.completion_tokens)],
    }
}

/// 95 % interval of the accuracy when videos are drawn with replacement; fixed seed.
fn bootstrap(videos: &[(usize, usize)]) -> [f64; 2] {
    let mut random = SplitMix64::new(7);
    let mut drawn: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let (mut right, mut all) = (0, 0);
            for _ in videos {
                let video = videos[random.below(videos.len())];
                right += video.0;
                all += video.1;
            }
            right as f64 / all.max(1) as f64
        })
        .collect();
    drawn.sort_by(f64::total_cmp);
    let at = |share: f64| drawn[(share * (drawn.len() - 1) as f64).round() as usize];
    [at(0.025), at(0.975)]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn line(video: &str, kinds: &[&str], right: Option<bool>) -> Line {
        let qa = Qa {
            question: "q".into(),
            answer: "a".into(),
            question_id: "id".into(),
            kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
            timestamp: None,
            before_clip: None,
        };
        Line {
            right,
            reply: right.map(|_| "r".into()),
            ..failed(video, &qa, Setting::BeforeClip, "")
        }
    }

    #[test]
    fn errors_count_as_wrong_and_types_share_questions() {
        let lines = [
            line("a", &["Person", "Multi-Hop"], Some(true)),
            line("a", &["Person"], Some(false)),
            line("b", &["Person"], None),
            line("b", &[], Some(true)),
        ];
        let scores = figures(&lines, Setting::BeforeClip);
        assert_eq!((scores.questions, scores.errors, scores.accuracy), (4, 1, 0.5));
        assert_eq!(scores.by_type["Multi-Hop"], 1.0);
        assert!((scores.by_type["Person"] - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(scores.accuracy_ci95, [0.5, 0.5], "both videos have half");
        assert_eq!(figures(&lines, Setting::Timestamp), SettingScores::default());
    }

    #[test]
    fn times_and_annotations_are_read() {
        assert_eq!(clock_secs("52:35"), Some(3155.0));
        assert_eq!(clock_secs("1:00:05"), Some(3605.0));
        assert_eq!(clock_secs("soon"), None);
        let text = r#"{"v1": {"video_path": "data/v1.mp4", "mem_path": "x", "qa_list": [{"question": "Q?",
            "answer": "A", "question_id": "v1_Q01", "reasoning": "…", "timestamp": "00:43", "type": ["Cross-Modal Reasoning"],
            "before_clip": 0}]}}"#;
        let videos: BTreeMap<String, Video> = serde_json::from_str(text).unwrap();
        assert_eq!(videos["v1"].qa_list[0].before_clip, Some(0));
    }
}
