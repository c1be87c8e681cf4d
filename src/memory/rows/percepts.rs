//! Rows of what was perceived: sessions, clips, tracks, turns, poses, media.

use std::sync::Arc;

use rusqlite::types::Value;

use crate::camera::Bearing;
use crate::geometry::Rect;
use crate::ids::{ClipId, EntityId, SessionId, SourceId, TrackId, TurnId};
use crate::media::Pose;
use crate::memory::model::{
    Clip, MediaDigest, MediaKind, MediaRow, PoseRow, Recording, Session, SoundRow, TrackRow,
    TurnRow,
};
use crate::memory::temporal::Temporal;
use crate::percept::{Sighting, Sound, SoundKind, Transcript, Word};
use crate::time::{Span, Timestamp};

use super::{
    Columns, RowError, SourceOrdinals, digest, int, json, large, or_null, real, text, time,
};

impl Temporal for Session {
    type Key = SessionId;
    const TABLE: &'static str = "session";
    const COLUMNS: &'static [&'static str] =
        &["id", "start", "clip_secs", "sha256", "path", "selection", "finished"];

    fn key(&self) -> SessionId {
        self.id
    }

    fn bind(&self) -> Vec<Value> {
        let recording = self.recording.as_ref();
        vec![
            int(self.id.0),
            time(self.start),
            real(self.clip_secs),
            or_null(recording, |recording| text(&recording.sha256)),
            or_null(recording, |recording| text(&recording.path)),
            or_null(recording, |recording| text(&recording.selection)),
            int(self.finished),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            id: columns.session()?,
            start: columns.time()?,
            clip_secs: columns.real()?,
            recording: {
                let (sha256, path, selection): (Option<String>, Option<String>, Option<String>) =
                    (columns.next()?, columns.next()?, columns.next()?);
                sha256.map(|sha256| Recording {
                    sha256,
                    path: path.unwrap_or_default(),
                    selection: selection.unwrap_or_default(),
                })
            },
            finished: columns.flag()?,
        })
    }

    fn canonical(&self, _sources: &mut SourceOrdinals) -> Vec<Value> {
        vec![
            int(self.id.0),
            time(self.start),
            real(self.clip_secs),
            int(self.recording.is_some()),
            int(self.finished),
        ]
    }
}

impl Temporal for Clip {
    type Key = ClipId;
    const TABLE: &'static str = "clip";
    const COLUMNS: &'static [&'static str] =
        &["session", "clip", "start", "end", "frames", "analysed", "dropped", "key_frames"];

    fn key(&self) -> ClipId {
        self.id
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            int(self.id.session.0),
            int(self.id.index),
            time(self.span.start),
            time(self.span.end),
            large(self.frames),
            large(self.analysed),
            large(self.dropped),
            json(&self.key_frames),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            id: columns.clip()?,
            span: columns.span()?,
            frames: columns.number()?,
            analysed: columns.number()?,
            dropped: columns.number()?,
            key_frames: columns.json()?,
        })
    }

    fn canonical(&self, sources: &mut SourceOrdinals) -> Vec<Value> {
        let mut values = self.bind();
        let frames: Vec<_> = self
            .key_frames
            .iter()
            .map(|(source, at, digest)| (sources.of(source), at.as_nanos(), digest))
            .collect();
        values[7] = json(&frames);
        values
    }

    fn span(&self) -> Option<Span> {
        Some(self.span)
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.id)
    }
}

/// What may be said before the sightings: a time that no frame has, plus these.
const WITH_BEARINGS: i64 = 1;
const OF_A_PICTURE: i64 = 2;

/// Little-endian: time in nanoseconds, box (x, y, w, h), score; 28 bytes each. Where one has a bearing, or they are of a
/// picture, the blob begins with the least time plus [`WITH_BEARINGS`] and [`OF_A_PICTURE`]; with bearings each has
/// azimuth, elevation and distance (not a number: unknown) on top.
pub(super) fn sightings_blob(sightings: &[Sighting], picture: bool) -> Value {
    let calibrated = sightings.iter().any(|sighting| sighting.bearing.is_some());
    let mut bytes = Vec::with_capacity(8 + sightings.len() * 40);
    let said = if calibrated { WITH_BEARINGS } else { 0 } + if picture { OF_A_PICTURE } else { 0 };
    if said != 0 {
        bytes.extend((i64::MIN + said).to_le_bytes());
    }
    for sighting in sightings {
        bytes.extend(sighting.at.as_nanos().to_le_bytes());
        let Rect { x, y, w, h } = sighting.bbox;
        for value in [x, y, w, h, sighting.score] {
            bytes.extend(value.to_le_bytes());
        }
        if calibrated {
            let bearing = sighting.bearing;
            for value in [
                bearing.map(|bearing| bearing.azimuth),
                bearing.map(|bearing| bearing.elevation),
                bearing.and_then(|bearing| bearing.distance),
            ] {
                bytes.extend(value.unwrap_or(f32::NAN).to_le_bytes());
            }
        }
    }
    Value::Blob(bytes)
}

/// The sightings, and whether they are of a picture.
pub(super) fn sightings_from(bytes: &[u8]) -> Option<(Vec<Sighting>, bool)> {
    let head = bytes.first_chunk::<8>().map(|head| i64::from_le_bytes(*head));
    let said = head.map(|head| head.wrapping_sub(i64::MIN)).filter(|said| (1..=3).contains(said));
    let (said, bytes) = match said {
        Some(said) => (said, bytes.get(8..)?),
        None => (0, bytes),
    };
    let (calibrated, picture) = (said & WITH_BEARINGS != 0, said & OF_A_PICTURE != 0);
    let records = bytes.chunks_exact(if calibrated { 40 } else { 28 });
    if !records.remainder().is_empty() {
        return None;
    }
    let float = |record: &[u8], at: usize| {
        let bytes: [u8; 4] = record.get(at..at + 4)?.try_into().ok()?;
        Some(f32::from_le_bytes(bytes))
    };
    records
        .map(|record| {
            let at: [u8; 8] = record.get(..8)?.try_into().ok()?;
            Some(Sighting {
                at: Timestamp::from_nanos(i64::from_le_bytes(at)),
                bbox: Rect {
                    x: float(record, 8)?,
                    y: float(record, 12)?,
                    w: float(record, 16)?,
                    h: float(record, 20)?,
                },
                score: float(record, 24)?,
                bearing: calibrated.then(|| bearing_from(record)).flatten(),
            })
        })
        .collect::<Option<_>>()
        .map(|sightings| (sightings, picture))
}

/// The last three numbers of a record.
fn bearing_from(record: &[u8]) -> Option<Bearing> {
    let value = |at: usize| {
        let bytes: [u8; 4] = record.get(at..at + 4)?.try_into().ok()?;
        Some(f32::from_le_bytes(bytes)).filter(|value| value.is_finite())
    };
    Some(Bearing { azimuth: value(28)?, elevation: value(32)?, distance: value(36) })
}

impl Temporal for TrackRow {
    type Key = (ClipId, TrackId);
    const TABLE: &'static str = "track";
    const COLUMNS: &'static [&'static str] =
        &["session", "clip", "track", "source", "start", "end", "face", "confidence", "sightings"];

    fn key(&self) -> Self::Key {
        (self.clip, self.track)
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            int(self.clip.session.0),
            int(self.clip.index),
            large(self.track.0),
            text(&self.source),
            time(self.span.start),
            time(self.span.end),
            or_null(self.face, text),
            real(self.confidence),
            sightings_blob(&self.sightings, self.picture),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        let picture;
        Ok(Self {
            clip: columns.clip()?,
            track: columns.number().map(TrackId)?,
            source: columns.source()?,
            span: columns.span()?,
            face: columns.parsed_or_null()?,
            confidence: columns.real32()?,
            sightings: {
                let bytes: Vec<u8> = columns.next()?;
                let read = sightings_from(&bytes);
                let (sightings, said) =
                    read.ok_or_else(|| columns.fail("sightings are cut off"))?;
                picture = said;
                sightings
            },
            picture,
        })
    }

    fn canonical(&self, sources: &mut SourceOrdinals) -> Vec<Value> {
        let mut values = self.bind();
        values[3] = int(sources.of(&self.source));
        values
    }

    fn span(&self) -> Option<Span> {
        Some(self.span)
    }

    fn links(&self) -> Vec<EntityId> {
        self.face.into_iter().collect()
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.clip)
    }
}

impl Temporal for TurnRow {
    type Key = (SessionId, TurnId);
    const TABLE: &'static str = "turn";
    const COLUMNS: &'static [&'static str] = &[
        "session",
        "clip",
        "turn",
        "source",
        "start",
        "end",
        "speech_secs",
        "voice",
        "confidence",
        "words",
        "language",
        "engine",
        "word_times",
        "sound",
    ];

    fn key(&self) -> Self::Key {
        (self.clip.session, self.turn)
    }

    fn bind(&self) -> Vec<Value> {
        let words = self.words.as_ref();
        vec![
            int(self.clip.session.0),
            int(self.clip.index),
            large(self.turn.0),
            text(&self.source),
            time(self.span.start),
            time(self.span.end),
            real(self.speech_secs),
            or_null(self.voice, text),
            real(self.confidence),
            or_null(words, |words| text(&words.text)),
            or_null(words.and_then(|words| words.language.as_ref()), text),
            or_null(words, |words| text(&words.engine)),
            or_null(words, |words| {
                let config = bincode::config::standard();
                Value::Blob(bincode::serde::encode_to_vec(&words.words, config).unwrap_or_default())
            }),
            digest(self.sound.as_ref()),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            clip: columns.clip()?,
            turn: columns.number().map(TurnId)?,
            source: columns.source()?,
            span: columns.span()?,
            speech_secs: columns.real()?,
            voice: columns.parsed_or_null()?,
            confidence: columns.real32()?,
            words: {
                let text: Option<String> = columns.next()?;
                let language: Option<String> = columns.next()?;
                let engine: Option<String> = columns.next()?;
                let times: Option<Vec<u8>> = columns.next()?;
                let words: Vec<Word> = match times {
                    Some(bytes) => {
                        bincode::serde::decode_from_slice(&bytes, bincode::config::standard())
                            .map_err(|error| columns.fail(error))?
                            .0
                    }
                    None => Vec::new(),
                };
                text.map(|text| Transcript {
                    text,
                    words,
                    language,
                    engine: engine.unwrap_or_default(),
                })
            },
            sound: columns.digest()?,
        })
    }

    fn canonical(&self, sources: &mut SourceOrdinals) -> Vec<Value> {
        let mut values = self.bind();
        values[3] = int(sources.of(&self.source));
        values
    }

    fn span(&self) -> Option<Span> {
        Some(self.span)
    }

    fn links(&self) -> Vec<EntityId> {
        self.voice.into_iter().collect()
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.clip)
    }
}

impl Temporal for SoundRow {
    type Key = (ClipId, SourceId, Timestamp, SoundKind);
    const TABLE: &'static str = "sound";
    const COLUMNS: &'static [&'static str] =
        &["session", "clip", "source", "start", "end", "kind", "peak_dbfs", "background_dbfs"];

    fn key(&self) -> Self::Key {
        (self.clip, self.sound.source.clone(), self.sound.span.start, self.sound.kind)
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            int(self.clip.session.0),
            int(self.clip.index),
            text(self.sound.source.as_str()),
            time(self.sound.span.start),
            time(self.sound.span.end),
            text(self.sound.kind.word()),
            real(f64::from(self.sound.peak_dbfs)),
            real(f64::from(self.sound.background_dbfs)),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            clip: columns.clip()?,
            sound: Sound {
                source: columns.source()?,
                span: columns.span()?,
                kind: columns.parsed()?,
                peak_dbfs: columns.real32()?,
                background_dbfs: columns.real32()?,
            },
        })
    }

    fn canonical(&self, sources: &mut SourceOrdinals) -> Vec<Value> {
        let mut values = self.bind();
        values[2] = int(sources.of(&self.sound.source));
        values
    }

    fn span(&self) -> Option<Span> {
        Some(self.sound.span)
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.clip)
    }
}

impl Temporal for PoseRow {
    type Key = (ClipId, Timestamp);
    const TABLE: &'static str = "pose";
    const COLUMNS: &'static [&'static str] =
        &["session", "clip", "stamp", "x", "y", "yaw", "frame"];

    fn key(&self) -> Self::Key {
        (self.clip, self.pose.stamp)
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            int(self.clip.session.0),
            int(self.clip.index),
            time(self.pose.stamp),
            real(self.pose.x),
            real(self.pose.y),
            real(self.pose.yaw),
            text(&self.pose.frame),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            clip: columns.clip()?,
            pose: Pose {
                stamp: columns.time()?,
                x: columns.real()?,
                y: columns.real()?,
                yaw: columns.real()?,
                frame: columns.next()?,
            },
        })
    }

    fn span(&self) -> Option<Span> {
        Some(Span { start: self.pose.stamp, end: self.pose.stamp })
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.clip)
    }
}

impl MediaKind {
    /// The word in JSON and SQL.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::FaceChip => "face_chip",
            Self::KeyFrame => "key_frame",
            Self::Speech => "speech",
        }
    }

    /// Internet media type of the file.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::FaceChip | Self::KeyFrame => "image/jpeg",
            Self::Speech => "audio/wav",
        }
    }
}

impl Temporal for MediaRow {
    type Key = MediaDigest;
    const TABLE: &'static str = "media";
    const COLUMNS: &'static [&'static str] = &["digest", "kind", "bytes", "pinned"];

    fn key(&self) -> MediaDigest {
        self.digest.clone()
    }

    fn bind(&self) -> Vec<Value> {
        vec![text(&self.digest.0), text(self.kind.word()), large(self.bytes), int(self.pinned)]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            digest: MediaDigest(Arc::from(columns.next::<String>()?)),
            kind: {
                let word: String = columns.next()?;
                [MediaKind::FaceChip, MediaKind::KeyFrame, MediaKind::Speech]
                    .into_iter()
                    .find(|kind| kind.word() == word)
                    .ok_or_else(|| columns.fail(format!("{word:?} is no kind of media")))?
            },
            bytes: columns.number()?,
            pinned: columns.flag()?,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn sightings_are_read_back_with_and_without_bearings() {
        let seen = |number: i64, bearing: Option<Bearing>| Sighting {
            at: Timestamp::from_nanos(number),
            bbox: Rect { x: 1.5, y: 2.0, w: 30.0, h: 40.0 },
            score: 0.9,
            bearing,
        };
        let left = Bearing { azimuth: 0.4, elevation: -0.1, distance: Some(2.25) };
        let unknown = Bearing { distance: None, ..left };
        for (sightings, length) in [
            (vec![seen(1, None), seen(2, None)], 56),
            (vec![seen(1, Some(left)), seen(2, None), seen(3, Some(unknown))], 128),
            (Vec::new(), 0),
        ] {
            for picture in [false, true] {
                let Value::Blob(bytes) = sightings_blob(&sightings, picture) else { panic!() };
                let head = if picture && length % 28 == 0 { 8 } else { 0 };
                assert_eq!(bytes.len(), length + head);
                assert_eq!(sightings_from(&bytes).unwrap(), (sightings.clone(), picture));
                for cut in 1..bytes.len() {
                    let _ = sightings_from(&bytes[..cut]);
                }
            }
        }
    }
}
