//! Rows of what was perceived: sessions, clips, tracks, turns, poses, media.

use std::sync::Arc;

use rusqlite::types::Value;

use crate::ids::{ClipId, EntityId, SessionId, SourceId, TrackId, TurnId};
use crate::media::Pose;
use crate::memory::model::{
    Clip, MediaDigest, MediaKind, MediaRow, PoseRow, Recording, Session, SoundRow, TrackRow,
    TurnRow,
};
use crate::memory::versions::links::Stretch;
use crate::memory::versions::shelf::Shelf;
use crate::memory::versions::temporal::{Numbered, Temporal};
use crate::percept::{Sound, SoundKind, Transcript, Word};
use crate::time::{Span, Timestamp};

use super::shelved::{
    read_clip, read_media, read_pose, read_sound, read_track, read_turn, write_clip, write_media,
    write_pose, write_sound, write_track, write_turn,
};
use super::sightings::{OfWhat, sightings_blob, sightings_from};
use super::{
    Columns, RowError, SourceOrdinals, digest, int, json, large, or_null, real, text, time,
    without_null,
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

    const NUMBERED: Numbered = Numbered::InClip;

    fn key(&self) -> ClipId {
        self.id
    }

    fn clip_of(key: &ClipId) -> Option<ClipId> {
        Some(*key)
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

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_clip(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_clip(shelf.bytes(at, len))
    }
}

impl Temporal for TrackRow {
    type Key = (ClipId, TrackId);
    const TABLE: &'static str = "track";
    const COLUMNS: &'static [&'static str] = &[
        "session",
        "clip",
        "track",
        "source",
        "start",
        "end",
        "face",
        "confidence",
        "sightings",
        "colour",
    ];

    const NUMBERED: Numbered = Numbered::InClip;

    fn key(&self) -> Self::Key {
        (self.clip, self.track)
    }

    fn clip_of(key: &Self::Key) -> Option<ClipId> {
        Some(key.0)
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
            sightings_blob(&self.sightings, OfWhat { picture: self.picture, body: self.body }),
            or_null(self.colours, text),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        let of;
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
                of = said;
                sightings
            },
            picture: of.picture,
            body: of.body,
            colours: columns.parsed_or_null()?,
        })
    }

    fn canonical(&self, sources: &mut SourceOrdinals) -> Vec<Value> {
        let mut values = self.bind();
        values[3] = int(sources.of(&self.source));
        without_null(values)
    }

    fn span(&self) -> Option<Span> {
        Some(self.span)
    }

    fn links(&self) -> Vec<EntityId> {
        self.face.into_iter().collect()
    }

    fn stretch(&self) -> Option<Stretch> {
        Some(Stretch::new(self.span, 0.0))
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.clip)
    }

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_track(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_track(shelf, at, len)
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

    fn stretch(&self) -> Option<Stretch> {
        Some(Stretch::new(self.span, self.speech_secs))
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.clip)
    }

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_turn(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_turn(shelf.bytes(at, len))
    }
}

impl Temporal for SoundRow {
    type Key = (ClipId, SourceId, Timestamp, SoundKind);
    const TABLE: &'static str = "sound";
    const COLUMNS: &'static [&'static str] =
        &["session", "clip", "source", "start", "end", "kind", "peak_dbfs", "background_dbfs"];

    const NUMBERED: Numbered = Numbered::InClip;

    fn key(&self) -> Self::Key {
        (self.clip, self.sound.source.clone(), self.sound.span.start, self.sound.kind)
    }

    fn clip_of(key: &Self::Key) -> Option<ClipId> {
        Some(key.0)
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

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_sound(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_sound(shelf.bytes(at, len))
    }
}

impl Temporal for PoseRow {
    type Key = (ClipId, Timestamp);
    const TABLE: &'static str = "pose";
    const COLUMNS: &'static [&'static str] =
        &["session", "clip", "stamp", "x", "y", "yaw", "frame"];

    const NUMBERED: Numbered = Numbered::InClip;

    fn key(&self) -> Self::Key {
        (self.clip, self.pose.stamp)
    }

    fn clip_of(key: &Self::Key) -> Option<ClipId> {
        Some(key.0)
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

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_pose(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_pose(shelf.bytes(at, len))
    }
}

impl MediaKind {
    /// All of them, in their order.
    pub const ALL: [Self; 3] = [Self::FaceChip, Self::KeyFrame, Self::Speech];

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
                MediaKind::ALL
                    .into_iter()
                    .find(|kind| kind.word() == word)
                    .ok_or_else(|| columns.fail(format!("{word:?} is no kind of media")))?
            },
            bytes: columns.number()?,
            pinned: columns.flag()?,
        })
    }

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_media(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_media(shelf.bytes(at, len))
    }
}
