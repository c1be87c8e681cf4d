//! The memory as text: every row as JSON lines, the percepts for scorers, the turns as RTTM.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::json;

use crate::camera::Bearing;
use crate::colour::Colours;
use crate::ids::{EntityId, Seq, SessionId, SourceId, TrackId, TurnId};
use crate::percept::{ActionKind, SoundKind};
use crate::time::Timestamp;

use super::beside;
use super::seal::Sealing;
use crate::memory::Memory;
use crate::memory::error::{AsOf, MemoryError};
use crate::memory::tables::each_table;
use crate::memory::versions::temporal::{Table, Temporal};
use crate::memory::view::View;
use crate::memory::view::filter::PerceptFilter;

/// One line of the percept export.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PerceptLine {
    /// A face in an analysed frame.
    Face {
        /// Capture time of the frame.
        t: Timestamp,
        /// Camera.
        source: SourceId,
        /// Left, top, width, height, px.
        #[serde(rename = "box")]
        bbox: [f32; 4],
        /// Where it is, seen from a camera that is calibrated.
        #[serde(skip_serializing_if = "Option::is_none")]
        bearing: Option<Bearing>,
        /// It is a picture of a face: nobody's.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        picture: bool,
        /// Its track.
        track: TrackId,
        /// The track's session.
        session: SessionId,
        /// The face it was given.
        face: Option<EntityId>,
        /// Whose it is, as resolved now; `None` only while unassigned.
        person: Option<EntityId>,
    },
    /// A body in an analysed frame.
    Body {
        /// Capture time of the frame.
        t: Timestamp,
        /// Camera.
        source: SourceId,
        /// Left, top, width, height, px.
        #[serde(rename = "box")]
        bbox: [f32; 4],
        /// Where it is, seen from a camera that is calibrated.
        #[serde(skip_serializing_if = "Option::is_none")]
        bearing: Option<Bearing>,
        /// Its track.
        track: TrackId,
        /// The track's session.
        session: SessionId,
        /// The face that was seen on it.
        face: Option<EntityId>,
        /// Whose it is, as resolved now; `None`: somebody whose face was not seen.
        person: Option<EntityId>,
        /// What colour the clothes above the waist are called, where that is settled.
        #[serde(skip_serializing_if = "Option::is_none")]
        colour: Option<Colours>,
    },
    /// A thing in a frame in which things were looked for.
    Object {
        /// Capture time of the frame.
        t: Timestamp,
        /// Camera.
        source: SourceId,
        /// Left, top, width, height, px.
        #[serde(rename = "box")]
        bbox: [f32; 4],
        /// Where it is, seen from a camera that is calibrated.
        #[serde(skip_serializing_if = "Option::is_none")]
        bearing: Option<Bearing>,
        /// What it is, in the detector's words.
        label: Arc<str>,
        /// The detector's confidence, 0–1.
        score: f32,
        /// Its track.
        track: TrackId,
        /// The track's session.
        session: SessionId,
        /// Which thing it is.
        object: Option<EntityId>,
        /// What colour it is called, where that is settled.
        #[serde(skip_serializing_if = "Option::is_none")]
        colour: Option<Colours>,
    },
    /// A text in view.
    Text {
        /// The first look that read it.
        start: Timestamp,
        /// The last one.
        end: Timestamp,
        /// Camera.
        source: SourceId,
        /// Left, top, width, height, px.
        #[serde(rename = "box")]
        bbox: [f32; 4],
        /// What it says.
        text: String,
        /// How sure that is, 0–1.
        confidence: f32,
        /// How often it was read so far.
        readings: u32,
        /// Its track.
        track: TrackId,
        /// The track's session.
        session: SessionId,
    },
    /// Something heard that is no speech.
    Sound {
        /// Its first 32 ms.
        start: Timestamp,
        /// Its end.
        end: Timestamp,
        /// Microphone.
        source: SourceId,
        /// Its clip's session.
        session: SessionId,
        /// Loud or quiet.
        sound: SoundKind,
        /// Its loudest 32 ms, dB relative to full scale.
        peak_dbfs: f32,
        /// The level before it.
        background_dbfs: f32,
    },
    /// A sound that means something.
    SoundEvent {
        /// Its first second's start.
        start: Timestamp,
        /// Its end, or its clip's.
        end: Timestamp,
        /// Microphone.
        source: SourceId,
        /// Its clip's session.
        session: SessionId,
        /// What it is.
        what: Arc<str>,
        /// How sure that is, 0–1.
        confidence: f32,
    },
    /// What a body did.
    Action {
        /// From the first look that told it.
        start: Timestamp,
        /// To the last one, or its clip's end.
        end: Timestamp,
        /// Camera.
        source: SourceId,
        /// The body's track.
        track: TrackId,
        /// Its clip's session.
        session: SessionId,
        /// What it did.
        what: ActionKind,
        /// How sure that is, 0–1.
        confidence: f32,
        /// Who that was, as resolved now; `None`: somebody whose face was not seen.
        person: Option<EntityId>,
    },
    /// A speech turn.
    Turn {
        /// First speech.
        start: Timestamp,
        /// Last speech.
        end: Timestamp,
        /// Microphone.
        source: SourceId,
        /// Its id.
        turn: TurnId,
        /// The turn's session.
        session: SessionId,
        /// The voice it was given.
        voice: Option<EntityId>,
        /// Whose it is, as resolved now; `None` only while unassigned.
        person: Option<EntityId>,
        /// What was said; `None` while unknown.
        words: Option<String>,
        /// Speech inside it, seconds.
        speech_secs: f64,
    },
}

impl PerceptLine {
    fn start(&self) -> Timestamp {
        match self {
            Self::Face { t, .. } | Self::Body { t, .. } | Self::Object { t, .. } => *t,
            Self::Turn { start, .. }
            | Self::Sound { start, .. }
            | Self::SoundEvent { start, .. }
            | Self::Action { start, .. }
            | Self::Text { start, .. } => *start,
        }
    }
}

impl Memory {
    /// Writes the whole memory: what [`View::export`] writes, and after it what has no versions (`memory/exchange/beside.rs`:
    /// answers, access counts, what was erased when). `at`: what was known then, and no answers and access counts.
    ///
    /// # Errors
    /// When that time is before the history, or the store or `out` fails.
    pub fn export(&self, at: Option<AsOf>, out: &mut impl Write) -> Result<(), MemoryError> {
        let view = match at {
            Some(at) => self.view_as_of(at)?,
            None => self.view(),
        };
        let mut sealing = Sealing::begin(out).map_err(beside::unwritten)?;
        view.export_versions(&mut sealing).map_err(beside::unwritten)?;
        self.export_beside(&view, at.is_none(), &mut sealing)?;
        sealing.end().map_err(beside::unwritten)
    }
}

impl View {
    /// Writes every version that the view knows as one JSON line, in canonical order:
    /// `{"table","seq","retired_seq","recorded","row"}`, after the commits as
    /// `{"table":"commits","seq","recorded"}`; around them a first and a last line (`memory/exchange/seal.rs`). An export at a
    /// time during ingest equals the export as of that time afterwards.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn export(&self, out: &mut impl Write) -> io::Result<()> {
        let mut sealing = Sealing::begin(out)?;
        self.export_versions(&mut sealing)?;
        sealing.end()
    }

    fn export_versions(&self, sealing: &mut Sealing<impl Write>) -> io::Result<()> {
        macro_rules! export_tables {
            ($($field:ident: $row:ty,)*) => {
                $(self.export_table::<$row>(&self.tables.$field, sealing)?;)*
            };
        }
        let commits = self.tables.commits.load();
        for commit in commits.iter().filter(|commit| self.horizon.knows(commit.seq.0)) {
            let line = json!({"table": "commits", "seq": commit.seq, "recorded": commit.recorded});
            sealing.row(&line)?;
        }
        each_table!(export_tables);
        Ok(())
    }

    fn export_table<R: Temporal>(
        &self,
        table: &Table<R>,
        out: &mut Sealing<impl Write>,
    ) -> io::Result<()> {
        let known = |seq: &Seq| self.horizon.knows(seq.0);
        for version in table.log().iter().filter(|version| known(&version.seq)) {
            let line = json!({
                "table": R::TABLE,
                "seq": version.seq,
                "retired_seq": version.retired_seq().filter(known),
                "recorded": version.recorded,
                "row": &*version.row,
            });
            out.row(&line)?;
        }
        Ok(())
    }

    /// Every face, body and thing of every analysed frame, every text, every turn and every sound, by start; faces and bodies before
    /// things before texts before turns before sounds, then by source and id.
    #[must_use]
    pub fn percept_lines(&self, filter: &PerceptFilter) -> Vec<PerceptLine> {
        let mut persons: BTreeMap<EntityId, EntityId> = BTreeMap::new();
        let mut person = |part: Option<EntityId>| {
            part.map(|part| *persons.entry(part).or_insert_with(|| self.resolve(part)))
        };
        let mut lines = Vec::new();
        for track in self.tracks(filter) {
            let person = person(track.face);
            for sighting in track.sightings.iter() {
                if filter.span.is_some_and(|span| !span.contains(sighting.at)) {
                    continue;
                }
                let bbox = sighting.bbox;
                if track.body {
                    lines.push(PerceptLine::Body {
                        t: sighting.at,
                        source: track.source.clone(),
                        bbox: [bbox.x, bbox.y, bbox.w, bbox.h],
                        bearing: sighting.bearing,
                        track: track.track,
                        session: track.clip.session,
                        face: track.face,
                        person,
                        colour: track.colours,
                    });
                    continue;
                }
                lines.push(PerceptLine::Face {
                    t: sighting.at,
                    source: track.source.clone(),
                    bbox: [bbox.x, bbox.y, bbox.w, bbox.h],
                    bearing: sighting.bearing,
                    picture: track.picture,
                    track: track.track,
                    session: track.clip.session,
                    face: track.face,
                    person,
                });
            }
        }
        for track in self.object_tracks(filter) {
            let inside = |at: Timestamp| filter.span.is_none_or(|span| span.contains(at));
            for sighting in track.sightings.iter().filter(|sighting| inside(sighting.at)) {
                let bbox = sighting.bbox;
                lines.push(PerceptLine::Object {
                    t: sighting.at,
                    source: track.source.clone(),
                    bbox: [bbox.x, bbox.y, bbox.w, bbox.h],
                    bearing: sighting.bearing,
                    label: track.label.clone(),
                    score: sighting.score,
                    track: track.track,
                    session: track.clip.session,
                    object: track.object,
                    colour: track.colours,
                });
            }
        }
        for row in self.actions(filter) {
            let body = self.track(row.clip, row.track);
            lines.push(PerceptLine::Action {
                start: row.action.span.start,
                end: row.action.span.end,
                source: row.source.clone(),
                track: row.track,
                session: row.clip.session,
                what: row.action.kind,
                confidence: row.action.confidence,
                person: person(body.and_then(|body| body.face)),
            });
        }
        let read = self.text_tracks(filter).into_iter();
        lines.extend(read.map(|row| {
            let (track, place) = (&row.track, row.track.place);
            PerceptLine::Text {
                start: track.span.start,
                end: track.span.end,
                source: track.source.clone(),
                bbox: [place.x, place.y, place.w, place.h],
                text: track.text.clone(),
                confidence: track.confidence,
                readings: track.readings,
                track: track.id,
                session: row.clip.session,
            }
        }));
        // Stable: tracks come by start and id.
        lines.sort_by_key(PerceptLine::start);
        let turns = self.turns(filter).into_iter().map(|turn| PerceptLine::Turn {
            start: turn.span.start,
            end: turn.span.end,
            source: turn.source.clone(),
            turn: turn.turn,
            session: turn.clip.session,
            voice: turn.voice,
            person: person(turn.voice),
            words: turn.words.as_ref().map(|words| words.text.clone()),
            speech_secs: turn.speech_secs,
        });
        lines.extend(turns);
        let heard = self.sounds(filter).into_iter();
        lines.extend(heard.map(|row| PerceptLine::Sound {
            start: row.sound.span.start,
            end: row.sound.span.end,
            source: row.sound.source.clone(),
            session: row.clip.session,
            sound: row.sound.kind,
            peak_dbfs: row.sound.peak_dbfs,
            background_dbfs: row.sound.background_dbfs,
        }));
        let events = self.sound_events(filter).into_iter();
        lines.extend(events.map(|row| PerceptLine::SoundEvent {
            start: row.event.span.start,
            end: row.event.span.end,
            source: row.event.source.clone(),
            session: row.clip.session,
            what: Arc::clone(&row.event.what),
            confidence: row.event.confidence,
        }));
        lines.sort_by_key(PerceptLine::start);
        lines
    }

    /// Writes the percepts as JSON lines.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn export_percepts(&self, filter: &PerceptFilter, out: &mut impl Write) -> io::Result<()> {
        for line in self.percept_lines(filter) {
            serde_json::to_writer(&mut *out, &line)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Writes the turns as RTTM (NIST Rich Transcription, `SPEAKER` lines), seconds from the session's start.
    /// The file field is the recording's name, or the session's id live.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn export_rttm(&self, filter: &PerceptFilter, out: &mut impl Write) -> io::Result<()> {
        for turn in self.turns(filter) {
            let Some(session) = self.session(turn.clip.session) else { continue };
            let file = session
                .recording
                .as_ref()
                .and_then(|recording| Path::new(&recording.path).file_stem())
                .map_or_else(
                    || session.id.to_string(),
                    |stem| stem.to_string_lossy().split_whitespace().collect::<Vec<_>>().join("_"),
                );
            let speaker = turn
                .voice
                .map_or_else(|| "unassigned".to_owned(), |voice| self.resolve(voice).to_string());
            writeln!(
                out,
                "SPEAKER {file} 1 {:.3} {:.3} <NA> <NA> {speaker} <NA> <NA>",
                turn.span.start.secs_since(session.start),
                turn.span.secs(),
            )?;
        }
        Ok(())
    }
}
