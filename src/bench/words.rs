//! Words against what was said: `bench words`.
//!
//! A recording goes the whole way that it goes in the daemon: voice activity, turns parted by speaker, words of each.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::BenchError;
use super::error::entries;
use super::rehearsal::{Spoken, rehearse};
use super::script::{Line, Script};
use super::word_error::{self, Edits};
use crate::config::Config;

/// What is taken for a recording when a folder is measured.
const SOUNDS: [&str; 10] =
    ["wav", "flac", "ogg", "opus", "mp3", "m4a", "mp4", "mkv", "webm", "mcap"];
/// Labels that are looked for beside it, best first.
const LABELS: [&str; 4] = ["json", "stm", "txt", "rttm"];
/// This close to a labelled turn, somebody may speak, seconds.
const MARGIN_SECS: f64 = 0.5;
/// A shorter turn is a short one, seconds.
const SHORT_SECS: f64 = 2.0;

/// `bench words`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WordScores {
    /// Words that were said.
    pub words: usize,
    /// Errors per word that was said, numbers and punctuation written alike.
    pub wer: Option<f64>,
    /// The same with the texts as they are.
    pub wer_as_written: Option<f64>,
    /// Words said in turns under 2 s, where turns are labelled.
    pub words_short_turns: usize,
    /// Errors per word in these.
    pub wer_short_turns: Option<f64>,
    /// Words written where nobody speaks.
    pub insertions: usize,
    /// How long nobody speaks, seconds; what is within 0.5 s of a turn is left out.
    pub nonspeech_secs: f64,
    /// Words written in a minute in which nobody speaks.
    pub insertions_per_min: Option<f64>,
    /// Median distance of where a word begins to where it was written to begin, seconds, where that is labelled.
    pub word_start_error_secs: Option<f64>,
    /// The same of where it ends.
    pub word_end_error_secs: Option<f64>,
    /// Seconds of speech that were turned into words.
    pub speech_secs: f64,
    /// Seconds that the recogniser took for a second of speech, on one core.
    pub secs_per_speech_sec: Option<f64>,
    /// Recordings without labels, left out.
    pub unlabelled: usize,
    /// Each recording.
    pub files: Vec<FileScores>,
}

/// One recording of `bench words`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FileScores {
    /// Its file.
    pub id: String,
    /// Words that were said.
    pub words: usize,
    /// Errors per word that was said.
    pub wer: Option<f64>,
    /// The same with the texts as they are.
    pub wer_as_written: Option<f64>,
    /// Another was written.
    pub substitutions: usize,
    /// None was written.
    pub deletions: usize,
    /// Written, and none was said.
    pub insertions: usize,
    /// Of these, where nobody speaks.
    pub nonspeech_insertions: usize,
    /// How long nobody speaks, seconds.
    pub nonspeech_secs: f64,
    /// Seconds of speech that were turned into words.
    pub speech_secs: f64,
    /// What was written.
    pub text: String,
}

/// Measures a recording, or every recording in a folder that has labels beside it or below `labels`.
///
/// # Errors
/// When nothing has labels, or a recording, its labels, a model or the temporary store fails.
pub fn measure(
    config: &Config,
    path: &Path,
    labels: Option<&Path>,
) -> Result<WordScores, BenchError> {
    let mut out = WordScores::default();
    let mut all = Tally::default();
    let mut compute_secs = 0.0;
    for recording in recordings(path)? {
        let Some(file) = labels_of(&recording, path, labels) else {
            out.unlabelled += 1;
            continue;
        };
        let script = Script::read(&file, &recording)?;
        let rehearsal = rehearse(config, &recording, true)?;
        if let Some(why) = rehearsal.degraded.iter().find(|why| why.starts_with("words")) {
            return Err(BenchError::NoModel { job: "words", reasons: why.clone() });
        }
        compute_secs += rehearsal.stages_ms.get("words").copied().unwrap_or(0.0) / 1e3;
        let id = recording.strip_prefix(path).unwrap_or(&recording).display().to_string();
        let id = if id.is_empty() { recording.display().to_string() } else { id };
        let tally = Tally::of(&script, &rehearsal.spoken, rehearsal.secs);
        out.files.push(tally.file(id, &rehearsal.spoken));
        all.add(tally);
    }
    if out.files.is_empty() {
        let reason = "no recording has labels beside it: NAME.txt, .stm, .rttm or .json (engram-truth/1); or name them with --labels".to_owned();
        return Err(BenchError::TooLittle { path: path.to_owned(), reason });
    }
    let median = |mut errors: Vec<f64>| {
        errors.sort_by(f64::total_cmp);
        errors.get(errors.len() / 2).copied()
    };
    out.words = all.alike.said;
    out.wer = all.alike.rate();
    out.wer_as_written = all.as_written.rate();
    out.words_short_turns = all.short.said;
    out.wer_short_turns = all.short.rate();
    out.insertions = all.nonspeech_insertions;
    out.nonspeech_secs = all.nonspeech_secs;
    out.insertions_per_min = (all.nonspeech_secs > 0.0)
        .then(|| all.nonspeech_insertions as f64 / (all.nonspeech_secs / 60.0));
    out.word_start_error_secs = median(all.start_errors);
    out.word_end_error_secs = median(all.end_errors);
    out.speech_secs = all.speech_secs;
    out.secs_per_speech_sec = (all.speech_secs > 0.0).then(|| compute_secs / all.speech_secs);
    Ok(out)
}

fn recordings(path: &Path) -> Result<Vec<PathBuf>, BenchError> {
    let about = std::fs::metadata(path)
        .map_err(|source| BenchError::Io { path: path.to_owned(), source })?;
    if !about.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in entries(path)? {
        let ending = entry.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if entry.is_dir() {
            found.extend(recordings(&entry)?);
        } else if SOUNDS.contains(&&*ending) {
            found.push(entry);
        }
    }
    Ok(found)
}

/// The labels of a recording: the file that is named, or one of its name in the folder that is named, or beside it.
fn labels_of(recording: &Path, root: &Path, labels: Option<&Path>) -> Option<PathBuf> {
    let base = match labels {
        Some(file) if file.is_file() => return Some(file.to_owned()),
        Some(folder) => {
            let inner =
                recording.strip_prefix(root).ok().filter(|path| path.components().count() > 0);
            folder.join(inner.unwrap_or(recording.file_name()?.as_ref()))
        }
        None => recording.to_owned(),
    };
    LABELS.into_iter().map(|ending| base.with_extension(ending)).find(|path| path.is_file())
}

/// A written word and its time, seconds from the recording's start, where the recogniser tells.
struct Written {
    text: String,
    span: (f64, f64),
}

/// Counts that add up.
#[derive(Default)]
struct Tally {
    alike: Edits,
    as_written: Edits,
    short: Edits,
    nonspeech_insertions: usize,
    nonspeech_secs: f64,
    speech_secs: f64,
    start_errors: Vec<f64>,
    end_errors: Vec<f64>,
}

/// Words of a text by the turn they are from.
fn by_line(script: &Script, split: impl Fn(&str) -> Vec<String>) -> Vec<(String, usize)> {
    let text = |line: &Line| line.text.as_deref().map(&split).unwrap_or_default();
    let lines = script.lines.iter().enumerate();
    lines.flat_map(|(at, line)| text(line).into_iter().map(move |word| (word, at))).collect()
}

fn plainly(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl Tally {
    fn of(script: &Script, spoken: &[Spoken], secs: f64) -> Self {
        let mut tally =
            Self { speech_secs: spoken.iter().map(|turn| turn.secs()).sum(), ..Self::default() };
        let written: Vec<Written> = spoken.iter().flat_map(written).collect();
        if script.timed {
            tally.nonspeech(script, &written, secs);
        }
        // Where a turn's words were not written down, none can be wrong.
        let unknown: Vec<&Line> = script.lines.iter().filter(|line| line.text.is_none()).collect();
        let inside = |word: &&Written| {
            let centre = f64::midpoint(word.span.0, word.span.1);
            !unknown.iter().any(|line| line.start <= centre && centre < line.end)
        };
        let scored: Vec<&Written> = written.iter().filter(inside).collect();
        if script.timed && script.lines.iter().all(|line| line.text.is_none()) {
            return tally;
        }
        let (said, lines): (Vec<String>, Vec<usize>) =
            by_line(script, word_error::normalised).into_iter().unzip();
        let heard: Vec<(String, usize)> = scored
            .iter()
            .enumerate()
            .flat_map(|(at, word)| {
                word_error::normalised(&word.text).into_iter().map(move |word| (word, at))
            })
            .collect();
        let (heard, from): (Vec<String>, Vec<usize>) = heard.into_iter().unzip();
        let pairs = word_error::align(&said, &heard);
        tally.alike = word_error::count(&pairs, &said, &heard);
        if script.timed {
            tally.short = short(script, &pairs, &said, &heard, &lines);
        }
        tally.times(script, &pairs, (&said, &heard), &lines, |at| scored[from[at]].span);
        let said: Vec<String> =
            by_line(script, plainly).into_iter().map(|(word, _)| word).collect();
        let heard: Vec<String> = scored.iter().flat_map(|word| plainly(&word.text)).collect();
        let pairs = word_error::align(&said, &heard);
        tally.as_written = word_error::count(&pairs, &said, &heard);
        tally
    }

    /// Words outside all turns, and how long that is.
    fn nonspeech(&mut self, script: &Script, written: &[Written], secs: f64) {
        let speech: Vec<(f64, f64)> = script
            .lines
            .iter()
            .map(|line| (line.start - MARGIN_SECS, line.end + MARGIN_SECS))
            .collect();
        let mut silent_from = 0.0_f64;
        for (start, end) in &speech {
            self.nonspeech_secs += (start.min(secs) - silent_from).max(0.0);
            silent_from = silent_from.max(*end);
        }
        self.nonspeech_secs += (secs - silent_from).max(0.0);
        let outside = |word: &&Written| {
            let centre = f64::midpoint(word.span.0, word.span.1);
            !speech.iter().any(|(start, end)| (*start..*end).contains(&centre))
        };
        self.nonspeech_insertions = written.iter().filter(outside).count();
    }

    /// Distances of the times of words that were understood, where the labels have them.
    fn times(
        &mut self,
        script: &Script,
        pairs: &[word_error::Pair],
        (said, heard): (&[String], &[String]),
        lines: &[usize],
        span: impl Fn(usize) -> (f64, f64),
    ) {
        // The labelled word of each word that was said; none where a line's words are not one for one.
        let mut labelled = vec![None; said.len()];
        for (at, line) in script.lines.iter().enumerate() {
            let places: Vec<usize> = (0..said.len()).filter(|place| lines[*place] == at).collect();
            let single =
                |word: &super::script::TimedWord| word_error::normalised(&word.text).len() == 1;
            if places.len() == line.words.len() && line.words.iter().all(single) {
                for (place, word) in places.into_iter().zip(&line.words) {
                    labelled[place] = Some((word.start, word.end));
                }
            }
        }
        for pair in pairs {
            let (Some(i), Some(j)) = *pair else { continue };
            let Some((start, end)) = labelled[i].filter(|_| said[i] == heard[j]) else { continue };
            let found = span(j);
            self.start_errors.push((found.0 - start).abs());
            self.end_errors.push((found.1 - end).abs());
        }
    }

    fn add(&mut self, other: Self) {
        self.alike.add(other.alike);
        self.as_written.add(other.as_written);
        self.short.add(other.short);
        self.nonspeech_insertions += other.nonspeech_insertions;
        self.nonspeech_secs += other.nonspeech_secs;
        self.speech_secs += other.speech_secs;
        self.start_errors.extend(other.start_errors);
        self.end_errors.extend(other.end_errors);
    }

    fn file(&self, id: String, spoken: &[Spoken]) -> FileScores {
        let texts = spoken.iter().filter_map(|turn| turn.words.as_ref());
        FileScores {
            id,
            words: self.alike.said,
            wer: self.alike.rate(),
            wer_as_written: self.as_written.rate(),
            substitutions: self.alike.substitutions,
            deletions: self.alike.deletions,
            insertions: self.alike.insertions,
            nonspeech_insertions: self.nonspeech_insertions,
            nonspeech_secs: self.nonspeech_secs,
            speech_secs: self.speech_secs,
            text: texts
                .map(|words| words.text.as_str())
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join(" "),
        }
    }
}

/// Errors in turns under 2 s; what was inserted counts to the word that was said before it.
fn short(
    script: &Script,
    pairs: &[word_error::Pair],
    said: &[String],
    heard: &[String],
    lines: &[usize],
) -> Edits {
    let is_short = |place: usize| {
        let line = &script.lines[lines[place]];
        line.end - line.start < SHORT_SECS
    };
    let mut edits = Edits::default();
    let mut last = None;
    for pair in pairs {
        if let Some(place) = pair.0 {
            last = Some(place);
        }
        if !last.is_some_and(is_short) {
            continue;
        }
        edits.said += usize::from(pair.0.is_some());
        match *pair {
            (Some(i), Some(j)) => edits.substitutions += usize::from(said[i] != heard[j]),
            (Some(_), None) => edits.deletions += 1,
            (None, _) => edits.insertions += 1,
        }
    }
    edits
}

/// The words of a turn with their times; the turn's, where the recogniser tells none.
fn written(turn: &Spoken) -> Vec<Written> {
    let Some(words) = &turn.words else { return Vec::new() };
    if words.words.is_empty() {
        let whole = |text: String| Written { text, span: turn.span };
        return plainly(&words.text).into_iter().map(whole).collect();
    }
    let start = words.words.iter().map(|word| {
        let since = |at: crate::time::Timestamp| at.secs_since(turn.begun);
        Written {
            text: word.text.to_string(),
            span: (since(word.span.start), since(word.span.end)),
        }
    });
    start.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::percept::{Transcript, Word};
    use crate::time::{Span, Timestamp};

    #[test]
    fn a_path_that_is_not_there_is_named() {
        let missing = recordings(Path::new("/not/there"));
        assert!(matches!(missing, Err(BenchError::Io { .. })), "{missing:?}");
    }

    /// A turn whose words are half a second long each.
    fn turn(start: f64, text: &str) -> Spoken {
        let at = |secs: f64| Timestamp::EPOCH.plus_secs(secs);
        let words = text.split_whitespace().enumerate().map(|(n, word)| Word {
            text: word.into(),
            span: Span::new(at(start + 0.5 * n as f64), at(start + 0.5 * n as f64 + 0.5)),
            confidence: None,
        });
        let words: Vec<Word> = words.collect();
        let end = start + 0.5 * words.len() as f64;
        let words = Transcript { text: text.to_owned(), words, ..Transcript::default() };
        Spoken { begun: Timestamp::EPOCH, span: (start, end), words: Some(words) }
    }

    fn line(start: f64, end: f64, text: &str) -> Line {
        Line { start, end, text: Some(text.to_owned()), ..Line::default() }
    }

    #[test]
    fn short_turns_silence_and_times_are_scored() {
        let mut first = line(1.0, 2.0, "Hello, Ben.");
        first.words = [("Hello,", 1.1, 1.4), ("Ben.", 1.5, 2.1)]
            .map(|(w, start, end)| super::super::script::TimedWord { text: w.into(), start, end })
            .to_vec();
        let script = Script {
            lines: vec![first, line(4.0, 8.0, "it is 3 o'clock in the morning")],
            timed: true,
        };
        let spoken = [
            turn(1.0, "hello Ben"),
            turn(4.0, "It is three o'clock in morning"),
            turn(20.0, "thank you"),
        ];
        let tally = Tally::of(&script, &spoken, 30.0);
        assert_eq!(tally.alike, Edits { said: 9, substitutions: 0, deletions: 1, insertions: 2 });
        assert_eq!(tally.short, Edits { said: 2, ..Edits::default() });
        assert_eq!(tally.nonspeech_insertions, 2);
        assert!(
            (tally.nonspeech_secs - (0.5 + 1.0 + 21.5)).abs() < 1e-9,
            "{}",
            tally.nonspeech_secs
        );
        assert!((tally.start_errors[0] - 0.1).abs() < 1e-9 && tally.start_errors[1] < 1e-9);
        assert!(tally.as_written.rate() > tally.alike.rate());
    }

    #[test]
    fn what_nobody_wrote_down_is_neither_right_nor_wrong() {
        let unknown = Line { start: 1.0, end: 3.0, ..Line::default() };
        let script = Script { lines: vec![unknown.clone()], timed: true };
        let tally = Tally::of(&script, &[turn(1.0, "some words"), turn(9.0, "um")], 10.0);
        assert_eq!((tally.alike, tally.nonspeech_insertions), (Edits::default(), 1));
        let script = Script { lines: vec![unknown, line(5.0, 7.0, "yes")], timed: true };
        let tally = Tally::of(&script, &[turn(1.0, "some words"), turn(5.0, "yes")], 10.0);
        assert_eq!(tally.alike, Edits { said: 1, ..Edits::default() });
        let silence = Script { lines: vec![], timed: true };
        let tally = Tally::of(&silence, &[turn(1.0, "thank you")], 60.0);
        assert_eq!((tally.alike, tally.nonspeech_insertions), (Edits::default(), 2));
    }
}
