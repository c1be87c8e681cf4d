//! Ground truth: `engram-truth/1` (JSON) and RTTM.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use crate::geometry::Rect;
use crate::time::Timestamp;

/// Who is really where and when. Times are seconds from the recording's start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// Event time of second 0, where the labels tell.
    pub start: Option<Timestamp>,
    /// Everybody.
    pub identities: Vec<Identity>,
}

/// One labelled person.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// Name in the labels.
    pub id: String,
    /// Stretches in view, with the area that the face never leaves.
    pub visible: Vec<(f64, f64, Rect)>,
    /// Stretches of speech.
    pub speaking: Vec<(f64, f64)>,
}

impl Identity {
    /// Seconds in view.
    #[must_use]
    pub fn visible_secs(&self) -> f64 {
        self.visible.iter().fold(0.0, |sum, (start, end, _)| sum + end - start)
    }

    /// Seconds of speech.
    #[must_use]
    pub fn speaking_secs(&self) -> f64 {
        self.speaking.iter().fold(0.0, |sum, (start, end)| sum + end - start)
    }
}

/// Labels that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    /// Not the JSON that is expected.
    #[error("reading labels as engram-truth/1: {0}; see the format in the recordings' README")]
    Truth(#[from] serde_json::Error),
    /// Another format.
    #[error(
        "reading labels: format is {0:?}, not \"engram-truth/1\"; convert them or give an RTTM file"
    )]
    Format(String),
    /// A bad line of RTTM.
    #[error(
        "reading RTTM line {line}: {reason}; a line is `SPEAKER file 1 start duration <NA> <NA> name <NA> <NA>`"
    )]
    Rttm {
        /// From 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A stretch that ends before it begins.
    #[error("reading labels: a stretch of {id:?} ends at {end} s, before it begins at {start} s")]
    Stretch {
        /// Whose.
        id: String,
        /// Its start, seconds.
        start: f64,
        /// Its end, seconds.
        end: f64,
    },
    /// RTTM of several recordings, none of them the one that is measured.
    #[error(
        "reading RTTM: it holds several recordings ({found}), and none is called {recording:?} as the recording's file is; name that file as one of them is named, or give an RTTM file with this recording's lines only",
        found = .found.join(", ")
    )]
    Recording {
        /// The recording's file name without its extension.
        recording: String,
        /// The recordings that the lines name, ascending.
        found: Vec<String>,
    },
}

impl Labels {
    /// Who speaks most between two seconds, as an index of the identities; `None` where nobody does.
    #[must_use]
    pub fn speaks_most(&self, start: f64, end: f64) -> Option<usize> {
        let common = |(from, to): &(f64, f64)| (to.min(end) - from.max(start)).max(0.0);
        let mut best: Option<(usize, f64)> = None;
        for (who, identity) in self.identities.iter().enumerate() {
            let secs: f64 = identity.speaking.iter().map(common).sum();
            if secs > best.map_or(0.0, |(_, most)| most) {
                best = Some((who, secs));
            }
        }
        best.map(|(who, _)| who)
    }

    /// Reads `engram-truth/1` (text that begins with `{`) or RTTM.
    ///
    /// RTTM may hold several recordings: then the lines count whose file field is the file name of `recording`
    /// without its extension. Where all lines name one, they are taken whatever it is called.
    ///
    /// # Errors
    /// When the text is neither, or holds several recordings without this one.
    pub fn read(text: &str, recording: &Path) -> Result<Self, LabelError> {
        if text.trim_start().starts_with('{') {
            return Self::truth(text);
        }
        let stem = recording.file_stem().unwrap_or_default().to_string_lossy();
        Self::rttm(text, &stem)
    }

    fn truth(text: &str) -> Result<Self, LabelError> {
        #[derive(Deserialize)]
        struct File {
            format: String,
            start_unix_ns: Option<i64>,
            identities: Vec<Person>,
        }
        #[derive(Deserialize)]
        struct Person {
            id: String,
            #[serde(default)]
            visible: Vec<Visible>,
            #[serde(default)]
            speaking: Vec<Speech>,
        }
        #[derive(Deserialize)]
        struct Visible {
            start: f64,
            end: f64,
            face_area_px: Option<[f32; 4]>,
            tile_px: Option<[f32; 4]>,
        }
        #[derive(Deserialize)]
        struct Speech {
            start: f64,
            end: f64,
        }
        let file: File = serde_json::from_str(text)?;
        if file.format != "engram-truth/1" {
            return Err(LabelError::Format(file.format));
        }
        let area = |v: &Visible| {
            let [x, y, w, h] =
                v.face_area_px.or(v.tile_px).unwrap_or([0.0, 0.0, f32::MAX, f32::MAX]);
            Rect { x, y, w, h }
        };
        for person in &file.identities {
            let seen = person.visible.iter().map(|v| (v.start, v.end));
            let mut all = seen.chain(person.speaking.iter().map(|s| (s.start, s.end)));
            if let Some((start, end)) = all.find(|(start, end)| end < start) {
                return Err(LabelError::Stretch { id: person.id.clone(), start, end });
            }
        }
        let identities = file
            .identities
            .into_iter()
            .map(|person| Identity {
                id: person.id,
                visible: person.visible.iter().map(|v| (v.start, v.end, area(v))).collect(),
                speaking: person.speaking.iter().map(|s| (s.start, s.end)).collect(),
            })
            .collect();
        Ok(Self { start: file.start_unix_ns.map(Timestamp::from_nanos), identities })
    }

    fn rttm(text: &str, recording: &str) -> Result<Self, LabelError> {
        let mut lines: Vec<(&str, &str, (f64, f64))> = Vec::new();
        let mut other = None;
        for (index, line) in text.lines().enumerate() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            match fields.first() {
                None => continue,
                Some(first) if first.starts_with([';', '#']) => continue,
                Some(&"SPEAKER") => {}
                // RTTM has other records as well, but not alone.
                Some(_) => {
                    other.get_or_insert(index + 1);
                    continue;
                }
            }
            let fail =
                |reason: &str| LabelError::Rttm { line: index + 1, reason: reason.to_owned() };
            let number = |at: usize, what: &str| {
                fields
                    .get(at)
                    .and_then(|field| field.parse::<f64>().ok())
                    .filter(|value| value.is_finite() && *value >= 0.0)
                    .ok_or_else(|| fail(&format!("{what} is no number of seconds")))
            };
            let (start, duration) = (number(3, "the start")?, number(4, "the duration")?);
            if !(start + duration).is_finite() {
                return Err(fail("it ends at no time"));
            }
            let name = *fields.get(7).ok_or_else(|| fail("there is no speaker name"))?;
            lines.push((fields[1], name, (start, start + duration)));
        }
        if let (Some(line), true) = (other, lines.is_empty()) {
            let reason = "it is no SPEAKER line, and there is none in the whole text".to_owned();
            return Err(LabelError::Rttm { line, reason });
        }
        let found: BTreeSet<&str> = lines.iter().map(|(file, ..)| *file).collect();
        if found.len() > 1 {
            if !found.contains(recording) {
                let found = found.into_iter().map(str::to_owned).collect();
                return Err(LabelError::Recording { recording: recording.to_owned(), found });
            }
            lines.retain(|(file, ..)| *file == recording);
        }
        let mut speakers: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        for (_, name, speech) in lines {
            speakers.entry(name.to_owned()).or_default().push(speech);
        }
        let identities = speakers
            .into_iter()
            .map(|(id, speaking)| Identity { id, visible: vec![], speaking })
            .collect();
        Ok(Self { start: None, identities })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Labels, LabelError> {
        Labels::read(text, Path::new("talk.wav"))
    }

    #[test]
    fn of_several_recordings_in_rttm_the_one_that_is_measured_is_taken() {
        let one = "SPEAKER dev00 1 1 2 <NA> <NA> ava <NA> <NA>\n";
        let two = format!("{one}SPEAKER dev01 1 5 1.5 <NA> <NA> ava <NA> <NA>\n");
        let spoken = |labels: &Labels| labels.identities[0].speaking.clone();
        let labels = Labels::read(&two, Path::new("audio/dev01.wav")).unwrap();
        assert_eq!(labels.identities.len(), 1);
        assert_eq!(spoken(&labels), [(5.0, 6.5)]);
        assert_eq!(spoken(&read(one).unwrap()), [(1.0, 3.0)], "one needs no name");
        let error = read(&two).unwrap_err();
        assert!(matches!(error, LabelError::Recording { .. }));
        let text = error.to_string();
        assert!(text.contains("(dev00, dev01)") && text.contains("\"talk\""), "{text}");
    }

    #[test]
    fn rttm_is_read_and_bad_lines_are_named() {
        let labels = read("SPEAKER a 1 4.08 3.76 <NA> <NA> ava <NA> <NA>\n;; a comment\n").unwrap();
        assert_eq!(labels.identities[0].id, "ava");
        assert!((labels.identities[0].speaking_secs() - 3.76).abs() < 1e-9);
        let error = read("SPEAKER a 1 x 3.76 <NA> <NA> ava <NA> <NA>").unwrap_err();
        assert!(error.to_string().contains("line 1"), "{error}");
        assert!(read("{\"format\":\"other\",\"identities\":[]}").is_err());
        assert!(read("SPEAKER a 1 1e308 1e308 <NA> <NA> ava <NA> <NA>").is_err());
    }

    #[test]
    fn a_text_that_is_no_rttm_is_refused_and_an_empty_one_says_that_nobody_spoke() {
        let error = read("\n;; a comment\nAva spoke first.\nBen answered.\n").unwrap_err();
        assert!(error.to_string().contains("line 3: it is no SPEAKER line"), "{error}");
        assert!(read("SPKR-INFO a 1 <NA> <NA> <NA> adult ava <NA> <NA>").is_err());
        for nobody in ["", "\n\n", ";; nobody spoke\n# at all\n"] {
            assert_eq!(read(nobody).unwrap(), Labels::default(), "{nobody:?}");
        }
        let beside = "SPKR-INFO a 1 <NA> <NA> <NA> adult ava <NA> <NA>\nSPEAKER a 1 4 3 <NA> <NA> ava <NA> <NA>\n";
        assert_eq!(read(beside).unwrap().identities.len(), 1);
    }

    #[test]
    fn a_stretch_that_ends_before_it_begins_is_refused() {
        for key in ["visible", "speaking"] {
            let text = format!(
                r#"{{"format":"engram-truth/1","identities":[{{"id":"ava","{key}":[{{"start":1,"end":1}},{{"start":9,"end":5.5}}]}}]}}"#
            );
            let error = read(&text).unwrap_err().to_string();
            assert!(
                error.contains(r#""ava" ends at 5.5 s, before it begins at 9 s"#),
                "{key}: {error}"
            );
            assert!(read(&text.replace("5.5", "9.5")).is_ok());
        }
    }

    #[test]
    fn mutated_labels_never_panic_and_rttm_has_finite_speech() {
        let rttm = "SPEAKER a 1 4.08 3.76 <NA> <NA> ava <NA> <NA>\nSPEAKER a 1 9 1e-3 <NA> <NA> ben <NA> <NA>\n";
        let truth = r#"{"format":"engram-truth/1","start_unix_ns":5,"identities":[{"id":"ava",
            "visible":[{"start":1.5,"end":2,"face_area_px":[1,2,3,4]}],"speaking":[{"start":0,"end":1}]}]}"#;
        let seeds = [rttm, truth].map(|seed| seed.as_bytes().to_vec());
        let mut good = 0;
        crate::capture::bag::mutations::hold("labels", 10_000, &seeds, |bytes| {
            let Ok(labels) = read(&String::from_utf8_lossy(bytes)) else { return };
            good += 1;
            let rttm = !bytes.starts_with(b"{");
            for identity in &labels.identities {
                let _ = identity.visible_secs();
                assert!(identity.speaking_secs().is_finite() || !rttm);
            }
        });
        assert!(good > 100, "{good}");
    }
}
