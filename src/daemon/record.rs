//! Writing live sources into a bag while they are remembered: a thread between the tap on the sources
//! and the file, so that a slow disk never holds up the data plane.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, never, select};
use serde::Serialize;

use super::ingest::Report;
use crate::capture::bag::{BagWriter, RecordError, Recorded};
use crate::ids::{Seq, SourceId};
use crate::media::{Item, Pose};
use crate::memory::{Memory, PerceptFilter, PerceptLine};
use crate::time::Timestamp;

/// Items that wait for the disk: four seconds of a camera at 30 fps and a microphone.
const QUEUE_ITEMS: usize = 160;
/// How long the recorder waits for something to write before it has the file reach the disk.
const LOOK: Duration = Duration::from_millis(250);
/// Topics of what was found, beside the media.
const PERCEPTS: &str = "engram/percepts";
const MEMORIES: &str = "engram/memories";
/// The source of poses that were told over MQTT.
const POSE: &str = "pose";

/// What a recording became.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RecordEnd {
    /// Always true.
    pub done: bool,
    /// What was written.
    #[serde(flatten)]
    pub recorded: Recorded,
    /// Items that the disk was too slow for.
    pub dropped: u64,
    /// Why something could not be written; the first reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// Where items go on their way to the file. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RecordInlet {
    items: Sender<Item>,
    dropped: Arc<AtomicU64>,
}

impl RecordInlet {
    /// Puts an item into the queue; of a full queue it is dropped and counted.
    pub fn item(&self, item: &Item) {
        if self.items.try_send(item.clone()).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The recorder's thread.
pub struct Recorder {
    thread: JoinHandle<(Result<Recorded, RecordError>, Option<String>)>,
    dropped: Arc<AtomicU64>,
}

/// What is written beside the media: a session's reports, the memory they are about, poses from outside.
pub struct BesideMedia {
    /// Reports of the session.
    pub reports: Receiver<Report>,
    /// Where percepts are read.
    pub memory: Memory,
    /// Poses told over MQTT.
    pub poses: Receiver<Pose>,
    /// Memories up to this commit are not the recording's.
    pub written: Seq,
}

impl Recorder {
    /// Starts writing; ends when every inlet is gone.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(
        writer: BagWriter,
        beside: Option<BesideMedia>,
    ) -> std::io::Result<(RecordInlet, Self)> {
        let (items, waiting) = bounded(QUEUE_ITEMS);
        let dropped = Arc::<AtomicU64>::default();
        let thread = thread::Builder::new()
            .name("record".to_owned())
            .spawn(move || Writing { writer, fault: None }.run(&waiting, beside))?;
        Ok((RecordInlet { items, dropped: Arc::clone(&dropped) }, Self { thread, dropped }))
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// When the file's end cannot be written.
    pub fn finish(self) -> Result<RecordEnd, RecordError> {
        let dropped = self.dropped.load(Ordering::Relaxed);
        let Ok((recorded, fault)) = self.thread.join() else {
            let fault = Some("the recorder ended in a panic; please report it".to_owned());
            return Ok(RecordEnd { done: true, dropped, fault, ..RecordEnd::default() });
        };
        Ok(RecordEnd { done: true, recorded: recorded?, dropped, fault })
    }
}

/// The memory of which is written what is new.
struct Followed {
    memory: Memory,
    /// Memories up to this commit are written, or were there before.
    written: Seq,
    /// End of the newest clip.
    at: Timestamp,
}

struct Writing {
    writer: BagWriter,
    fault: Option<String>,
}

impl Writing {
    fn run(
        mut self,
        items: &Receiver<Item>,
        beside: Option<BesideMedia>,
    ) -> (Result<Recorded, RecordError>, Option<String>) {
        // What is not there, or gone, is never ready.
        let (silence, no_poses) = (never(), never());
        let (mut reports, mut poses, mut followed) = (None, None, None);
        if let Some(beside) = beside {
            let (memory, written) = (beside.memory, beside.written);
            (reports, poses) = (Some(beside.reports), Some(beside.poses));
            followed = Some(Followed { memory, written, at: Timestamp::EPOCH });
        }
        loop {
            select! {
                recv(items) -> item => match item {
                    Ok(item) => { let result = self.writer.item(&item); self.note(result); }
                    Err(_) => break,
                },
                recv(poses.as_ref().unwrap_or(&no_poses)) -> pose => match pose {
                    Ok(pose) => self.pose(pose),
                    Err(_) => poses = None,
                },
                recv(reports.as_ref().unwrap_or(&silence)) -> report => match report {
                    Ok(report) => self.report(&report, followed.as_mut()),
                    Err(_) => reports = None,
                },
                default(LOOK) => {}
            }
            let result = self.writer.flush_if_due();
            self.note(result);
        }
        // The last clips are sealed when the sources are gone.
        poses.iter().flat_map(Receiver::try_iter).for_each(|pose| self.pose(pose));
        for report in reports.iter().flat_map(Receiver::iter) {
            self.report(&report, followed.as_mut());
        }
        if let Some(followed) = &mut followed {
            self.memories(followed);
        }
        let Self { writer, fault } = self;
        (writer.finish(), fault)
    }

    /// The first fault is kept and told; the recording goes on.
    fn note(&mut self, result: Result<(), RecordError>) {
        if let Err(error) = result
            && self.fault.is_none()
        {
            tracing::error!("{error}");
            self.fault = Some(error.to_string());
        }
    }

    fn pose(&mut self, pose: Pose) {
        let result = self.writer.item(&Item::Pose(SourceId::new(POSE), pose));
        self.note(result);
    }

    /// What was found in a clip, at the clip's end; words that came later, at the end of the newest clip.
    fn report(&mut self, report: &Report, followed: Option<&mut Followed>) {
        let Some(followed) = followed else { return };
        let (clip, late) = match report {
            Report::Clip(clip) => {
                followed.at = followed.at.max(clip.end);
                (clip.clip, None)
            }
            Report::Words(words) => {
                followed.at = followed.at.max(words.turn.span.end);
                (words.clip, Some(words.turn.id))
            }
            _ => return,
        };
        let filter = PerceptFilter { clip: Some(clip), ..PerceptFilter::default() };
        for line in followed.memory.view().percept_lines(&filter) {
            let of_turn = |id| matches!(&line, PerceptLine::Turn { turn, .. } if *turn == id);
            if late.is_none_or(of_turn)
                && let Ok(json) = serde_json::to_vec(&line)
            {
                self.line(PERCEPTS, "engram.Percept", followed.at, &json);
            }
        }
        self.memories(followed);
    }

    /// Every memory that was committed since the last look: clips', of late words, a model's, told ones.
    fn memories(&mut self, followed: &mut Followed) {
        let view = followed.memory.view();
        for row in view.memories_since(followed.written) {
            if let Ok(json) = serde_json::to_vec(&*row) {
                self.line(MEMORIES, "engram.Memory", followed.at.max(row.span.start), &json);
            }
        }
        followed.written = view.seq();
    }

    fn line(&mut self, topic: &str, schema: &str, at: Timestamp, json: &[u8]) {
        let result = self.writer.line(topic, schema, at, json);
        self.note(result);
    }
}

/// Where a recording goes when no name is given: `engram_<time>.mcap`, or a folder of that name.
#[must_use]
pub fn default_name(now: Timestamp, split: bool) -> PathBuf {
    let text: String =
        now.to_string().chars().take(19).filter(|c| *c != '-' && *c != ':').collect();
    PathBuf::from(format!("engram_{text}{}", if split { "" } else { ".mcap" }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;

    use crossbeam_channel::unbounded;

    use super::*;
    use crate::capture::bag::SplitLimits;
    use crate::daemon::ingest::{ClipReport, LateWords};
    use crate::daemon::queries::tests::small_memory;
    use crate::identify::IdentifiedClip;
    use crate::ids::{ClipId, MemoryId, SessionId, TurnId};
    use crate::memory::model::{MemoryKind, MemoryRow};
    use crate::memory::testing::memory_row;
    use crate::percept::{SpeechTurn, Transcript};
    use crate::time::Span;

    /// The lines of JSON of a recording, by topic.
    fn lines(path: &std::path::Path) -> BTreeMap<String, Vec<serde_json::Value>> {
        let bytes = std::fs::read(path).unwrap();
        let mut lines = BTreeMap::<_, Vec<_>>::new();
        for message in mcap::MessageStream::new(&bytes).unwrap() {
            let message = message.unwrap();
            let line = serde_json::from_slice(&message.data).unwrap();
            lines.entry(message.channel.topic.clone()).or_default().push(line);
        }
        lines
    }

    fn row(id: MemoryId, text: &str, span: Span) -> MemoryRow {
        let row = memory_row(MemoryKind::Utterance, text, span);
        MemoryRow { id, confidence: 1.0, origin: "told".to_owned(), ..row }
    }

    #[test]
    fn words_that_come_late_are_in_the_recording_too_and_nothing_is_twice() {
        let folder = tempfile::tempdir().unwrap();
        let memory = small_memory(&folder.path().join("store"));
        let path = folder.path().join("out.mcap");
        let writer = BagWriter::create(&path, SplitLimits::default()).unwrap();
        let ((told, reports), (_poses, poses)) = (unbounded(), unbounded());
        let written = memory.view().seq();
        let beside = BesideMedia { reports, memory: memory.clone(), poses, written };
        let (inlet, recorder) = Recorder::start(writer, Some(beside)).unwrap();

        let clip = ClipId { session: SessionId(1), index: 0 };
        let filter = PerceptFilter { clip: Some(clip), ..PerceptFilter::default() };
        let turn = memory.view().turns(&filter).last().unwrap().clone();
        assert_eq!(turn.turn, TurnId(2));
        let remember = |text: &str| {
            let mut draft = memory.begin(turn.span.end);
            let id = draft.new_memory_id();
            draft.memory(row(id, text, turn.span), None);
            draft.commit().unwrap();
        };
        remember("of the clip");
        let sealed = ClipReport {
            clip,
            start: turn.span.start,
            end: turn.span.end.plus_secs(2.0),
            frames: 0,
            dropped: 0,
            faces: 0,
            objects: 0,
            turns: 2,
            memories: 1,
            sealed_secs: 0.0,
            identified: IdentifiedClip::default(),
            spoken: Vec::new(),
            memory_rows: Vec::new(),
            firings: Vec::new(),
        };
        told.send(Report::Clip(Box::new(sealed))).unwrap();
        let text = "they came late".to_owned();
        let words = Transcript { text: text.clone(), ..Transcript::default() };
        let spoken = SpeechTurn {
            id: turn.turn,
            source: turn.source.clone(),
            span: turn.span,
            speech_secs: 0.9,
            level_dbfs: -20.0,
            embedding: None,
            words: Some(words.clone()),
            overlapped: false,
            distinct: None,
            own: false,
            sound: Arc::from([]),
        };
        // First the store, then the report, as the committer does it.
        let mut draft = memory.begin(turn.span.end);
        draft.late_words(clip.session, turn.turn, words).unwrap();
        let id = draft.new_memory_id();
        draft.memory(row(id, &text, turn.span), None);
        draft.commit().unwrap();
        let late = LateWords {
            clip,
            turn: spoken,
            identified: IdentifiedClip::default(),
            memory_rows: Vec::new(),
        };
        told.send(Report::Words(Box::new(late))).unwrap();
        remember("by a model, after all reports");
        drop((told, inlet));
        let end = recorder.finish().unwrap();
        assert_eq!(end.fault, None);

        let lines = lines(&path);
        let texts: Vec<_> =
            lines[MEMORIES].iter().map(|row| row["text"].as_str().unwrap()).collect();
        assert_eq!(texts, ["of the clip", "they came late", "by a model, after all reports"]);
        let newest = lines[PERCEPTS].last().unwrap();
        assert_eq!(newest["turn"], serde_json::json!(TurnId(2)));
        assert_eq!(newest["words"], text);
    }
}
