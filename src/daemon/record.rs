//! Writing live sources into a bag while they are remembered: a thread between the tap on the sources
//! and the file, so that a slow disk never holds up the data plane.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, never, select};
use serde::Serialize;

use super::ingest::{ClipReport, Report};
use crate::capture::bag::{BagWriter, RecordError, Recorded};
use crate::ids::SourceId;
use crate::media::{Item, Pose};
use crate::memory::{Memory, PerceptFilter};
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
        let (mut reports, mut poses, memory) = match beside {
            Some(beside) => (Some(beside.reports), Some(beside.poses), Some(beside.memory)),
            None => (None, None, None),
        };
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
                    Ok(report) => self.report(&report, memory.as_ref()),
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
            self.report(&report, memory.as_ref());
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

    fn report(&mut self, report: &Report, memory: Option<&Memory>) {
        if let (Report::Clip(clip), Some(memory)) = (report, memory) {
            self.clip(clip, memory);
        }
    }

    /// What was found in a clip, at the clip's end.
    fn clip(&mut self, clip: &ClipReport, memory: &Memory) {
        let filter = PerceptFilter { clip: Some(clip.clip), ..PerceptFilter::default() };
        let mut lines = Vec::new();
        if memory.view().export_percepts(&filter, &mut lines).is_ok() {
            for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                self.line(PERCEPTS, "engram.Percept", clip.end, line);
            }
        }
        for row in &clip.memory_rows {
            if let Ok(json) = serde_json::to_vec(row) {
                self.line(MEMORIES, "engram.Memory", clip.end, &json);
            }
        }
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
