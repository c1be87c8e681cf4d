//! The thread that fills the ring: items come in, files of half a second go to the disk, the oldest go away.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, select};

use super::folder::{Folder, Kept};
use super::touched;
use crate::camera::CameraInfo;
use crate::capture::bag::{BagWriter, SplitLimits};
use crate::config;
use crate::ids::SourceId;
use crate::media::Item;
use crate::time::{Span, Timestamp};

/// What a file of the ring covers, seconds: a kill costs no more.
const SEGMENT_SECS: f64 = 0.5;
/// A file that gets nothing more is closed after so long.
const IDLE: Duration = Duration::from_millis(500);

/// What is asked of the thread; each is answered when it is done.
pub(super) enum Order {
    /// Everything that was captured so far goes to the disk.
    Close(Sender<()>),
    /// What was captured in those spans goes.
    Erase(Vec<Span>, Sender<io::Result<()>>),
}

/// The ring's files, and the one that is being filled.
pub(super) struct Filling {
    folder: Folder,
    /// Oldest first.
    files: VecDeque<Kept>,
    bytes: u64,
    most_secs: f64,
    most_bytes: u64,
    cameras: BTreeMap<SourceId, CameraInfo>,
    open: Option<BagWriter>,
    failed: bool,
}

impl Filling {
    /// Takes over what lies in the folder; what is older than the ring at `now` goes.
    pub(super) fn new(
        folder: Folder,
        limits: &config::Ring,
        cameras: BTreeMap<SourceId, CameraInfo>,
        now: Timestamp,
    ) -> io::Result<Self> {
        let files: VecDeque<Kept> = folder.list()?.into();
        let bytes = files.iter().map(|file| file.bytes).sum();
        let most_bytes = limits.cap_mb.saturating_mul(1_000_000);
        let most_secs = limits.minutes * 60.0;
        let (open, failed) = (None, false);
        let mut filling =
            Self { folder, files, bytes, most_secs, most_bytes, cameras, open, failed };
        filling.let_go(now)?;
        Ok(filling)
    }

    /// Until nobody puts anything in any more.
    pub(super) fn run(mut self, items: &Receiver<Item>, orders: &Receiver<Order>) {
        loop {
            select! {
                recv(items) -> item => match item {
                    Ok(item) => self.take(&item),
                    Err(_) => break,
                },
                recv(orders) -> order => match order {
                    Ok(order) => self.obey(order, items),
                    Err(_) => break,
                },
                default(IDLE) => self.close(),
            }
        }
        self.close();
    }

    fn obey(&mut self, order: Order, items: &Receiver<Item>) {
        // What waits was captured before; what comes meanwhile, faster than it is packed perhaps, was not.
        for item in items.try_iter().take(items.len()) {
            self.take(&item);
        }
        self.close();
        match order {
            Order::Close(done) => {
                done.send(()).ok();
            }
            Order::Erase(spans, done) => {
                let erased = erase(&self.folder, &spans);
                self.files = self.folder.list().unwrap_or_default().into();
                self.bytes = self.files.iter().map(|file| file.bytes).sum();
                done.send(erased).ok();
            }
        }
    }

    fn take(&mut self, item: &Item) {
        if self.open.as_ref().is_some_and(|open| open.is_full(item.at())) {
            self.close();
        }
        let result = match &mut self.open {
            Some(open) => open.item(item),
            None => {
                let limits = SplitLimits { bytes: None, secs: Some(SEGMENT_SECS) };
                BagWriter::in_ram(limits).and_then(|writer| {
                    let mut writer = writer.calibrated(self.cameras.clone());
                    let written = writer.item(item);
                    self.open = Some(writer);
                    written
                })
            }
        };
        if let Err(error) = result {
            self.fail(&error);
        }
    }

    /// Has what is being filled go to the disk, and what is too old or too much go away.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let closed = open.into_bytes().map(|closed| {
            let Some((span, mcap)) = closed else { return Ok(()) };
            // (A span ends behind its last message.)
            let end = Timestamp::from_nanos(span.end.as_nanos().saturating_add(1));
            let file = self.folder.put(Span::new(span.start, end), &mcap)?;
            self.bytes += file.bytes;
            self.files.push_back(file);
            self.let_go(end)
        });
        match closed {
            Ok(Ok(())) => self.failed = false,
            Ok(Err(error)) => self.fail(&error),
            Err(error) => self.fail(&error),
        }
    }

    /// What is older than the ring, or more than it may hold, goes.
    fn let_go(&mut self, now: Timestamp) -> io::Result<()> {
        let oldest = now.plus_secs(-self.most_secs);
        while let Some(first) = self.files.front()
            && (first.span.end <= oldest || self.bytes > self.most_bytes)
        {
            self.folder.remove(&first.name)?;
            self.bytes -= first.bytes;
            self.files.pop_front();
        }
        Ok(())
    }

    /// Told once, until it works again.
    fn fail(&mut self, error: &dyn std::fmt::Display) {
        if !self.failed {
            tracing::error!("the ring cannot be filled: {error}");
        }
        self.failed = true;
    }
}

/// Takes every file away that has anything of those spans.
pub(super) fn erase(folder: &Folder, spans: &[Span]) -> io::Result<()> {
    touched(folder.list()?, spans).try_for_each(|file| folder.remove(&file.name))
}
