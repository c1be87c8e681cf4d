//! What is said in a recording: who, when, in which words. What words are measured against.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use super::BenchError;
use super::error::read_text;
use super::labels::Labels;

/// A word and its time, seconds from the recording's start.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TimedWord {
    /// The word.
    #[serde(rename = "w")]
    pub text: String,
    /// First instant.
    pub start: f64,
    /// First instant after it.
    pub end: f64,
}

/// A turn of one speaker.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Line {
    /// First instant, seconds from the recording's start.
    pub start: f64,
    /// First instant after it.
    pub end: f64,
    /// Who says it.
    #[serde(default)]
    pub speaker: String,
    /// What is said; `None`: nobody wrote it down.
    pub text: Option<String>,
    /// Its words with their times, where they are known; as many as `text` has, or none.
    #[serde(default)]
    pub words: Vec<TimedWord>,
}

/// All that is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// By time.
    pub lines: Vec<Line>,
    /// Whether it is known when nobody speaks: outside the lines.
    pub timed: bool,
}

impl Script {
    /// Reads labels by their ending: `.txt` (what is said, from beginning to end; an empty one: nothing), `.stm` (NIST's
    /// segment time marks), `.rttm` (when somebody speaks, without words), `.json` (engram-truth/1, with `turns` where
    /// the words are known). Of STM and RTTM that hold several recordings, the lines with the recording's name count.
    ///
    /// # Errors
    /// When the file cannot be read or has another form.
    pub fn read(path: &Path, recording: &Path) -> Result<Self, BenchError> {
        let text = read_text(path)?;
        let fail = |reason: String| BenchError::Form { path: path.to_owned(), reason };
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let stem = recording.file_stem().unwrap_or_default().to_string_lossy();
        let mut script = match &*ending {
            "stm" => Self { lines: stm(&text, &stem).map_err(fail)?, timed: true },
            "json" => truth(&text, recording).map_err(fail)?,
            "rttm" => speaking(&Labels::read(&text, recording)?),
            _ if text.trim().is_empty() => Self { lines: Vec::new(), timed: true },
            _ => {
                let all = Line { end: f64::INFINITY, text: Some(text), ..Line::default() };
                Self { lines: vec![all], timed: false }
            }
        };
        for line in &script.lines {
            if line.end < line.start || line.start.is_nan() || line.end.is_nan() {
                let (start, end) = (line.start, line.end);
                return Err(fail(format!("a turn ends at {end} s, before it begins at {start} s")));
            }
        }
        script.lines.sort_by(|a, b| a.start.total_cmp(&b.start));
        Ok(script)
    }
}

fn speaking(labels: &Labels) -> Script {
    let lines = labels.identities.iter().flat_map(|identity| {
        identity.speaking.iter().map(|(start, end)| Line {
            start: *start,
            end: *end,
            speaker: identity.id.clone(),
            ..Line::default()
        })
    });
    Script { lines: lines.collect(), timed: true }
}

fn truth(text: &str, recording: &Path) -> Result<Script, String> {
    #[derive(Deserialize)]
    struct File {
        format: String,
        turns: Option<Vec<Line>>,
    }
    let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if file.format != "engram-truth/1" {
        return Err(format!("the format is {:?}, expected \"engram-truth/1\"", file.format));
    }
    match file.turns {
        Some(lines) => Ok(Script { lines, timed: true }),
        None => Ok(speaking(&Labels::read(text, recording).map_err(|error| error.to_string())?)),
    }
}

/// Lines `file channel speaker start end [<label>] words…`; `;;` begins a comment.
fn stm(text: &str, recording: &str) -> Result<Vec<Line>, String> {
    let mut lines: Vec<(&str, Line)> = Vec::new();
    for (index, row) in text.lines().enumerate() {
        if row.trim().is_empty() || row.starts_with(";;") {
            continue;
        }
        let fail = |what: &str| format!("line {}: {what}", index + 1);
        let fields: Vec<&str> = row.split_whitespace().collect();
        let [file, _, speaker, start, end, words @ ..] = &*fields else {
            return Err(fail("expected file, channel, speaker, start, end, words"));
        };
        let secs = |field: &str, what: &str| {
            let parsed = field.parse::<f64>().ok().filter(|secs| secs.is_finite() && *secs >= 0.0);
            parsed.ok_or_else(|| fail(&format!("the {what} is no number of seconds")))
        };
        let words = match words {
            [label, words @ ..] if label.starts_with('<') && label.ends_with('>') => words,
            words => words,
        };
        let ignored = words.first() == Some(&"IGNORE_TIME_SEGMENT_IN_SCORING");
        let line = Line {
            start: secs(start, "start")?,
            end: secs(end, "end")?,
            speaker: (*speaker).to_owned(),
            text: (!ignored).then(|| words.join(" ")),
            words: Vec::new(),
        };
        lines.push((*file, line));
    }
    let found: BTreeSet<&str> = lines.iter().map(|(file, _)| *file).collect();
    if found.len() > 1 {
        if !found.contains(recording) {
            let found: Vec<&str> = found.into_iter().collect();
            return Err(format!(
                "it holds several recordings ({}), and none is called {recording:?}",
                found.join(", ")
            ));
        }
        lines.retain(|(file, _)| *file == recording);
    }
    Ok(lines.into_iter().map(|(_, line)| line).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Script, BenchError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        Script::read(&path, Path::new("talk.wav"))
    }

    #[test]
    fn every_form_of_labels_is_read() {
        let script = read("a.txt", "And so my fellow\nAmericans\n").unwrap();
        assert!(!script.timed && script.lines.len() == 1);
        assert_eq!(read("a.txt", " \n").unwrap(), Script { lines: vec![], timed: true });
        let stm = ";; c\ntalk 1 Ben 2 3.5 <o,f0> Neither did I.\ntalk 1 Ava 0.5 1 Hello?\n";
        let script = read("a.stm", stm).unwrap();
        let told: Vec<_> = script.lines.iter().map(|line| line.text.as_deref()).collect();
        assert_eq!(told, [Some("Hello?"), Some("Neither did I.")]);
        assert!(script.timed);
        let json = r#"{"format":"engram-truth/1","turns":[{"start":1,"end":2,"speaker":"ava",
            "text":"Hi Ben","words":[{"w":"Hi","start":1,"end":1.4},{"w":"Ben","start":1.5,"end":2}]}]}"#;
        assert!((read("a.json", json).unwrap().lines[0].words[1].start - 1.5).abs() < 1e-9);
        let silent = r#"{"format":"engram-truth/1","identities":[{"id":"ava","speaking":[{"start":0,"end":1}]}]}"#;
        assert_eq!(read("a.json", silent).unwrap().lines[0].text, None);
        let rttm = "SPEAKER talk 1 4.08 3.76 <NA> <NA> ava <NA> <NA>\n";
        assert_eq!(read("a.rttm", rttm).unwrap().lines[0].text, None);
    }

    #[test]
    fn bad_labels_are_refused_and_the_place_is_named() {
        for (name, text, why) in [
            ("a.stm", "talk 1 ben 2\n", "line 1: expected file"),
            ("a.stm", "talk 1 ben x 3 hi\n", "line 1: the start"),
            ("a.stm", "talk 1 ben 4 3 hi\n", "ends at 3 s"),
            ("a.stm", "b 1 ben 1 3 hi\nc 1 ben 1 3 hi\n", "several recordings (b, c)"),
            ("a.json", "{\"format\":\"x\"}", "engram-truth/1"),
        ] {
            let error = read(name, text).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
