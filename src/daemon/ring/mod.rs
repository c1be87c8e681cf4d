//! The ring: what cameras and microphones gave in the last minutes, on the disk, so that it can still be kept when it is known to
//! matter. A snapshot is a part of it as one MCAP file, which `engramd replay` plays.
//!
//! Media lies in the ring in files of half a second, each closed and synced before the next: a kill costs no more than that.
//! A file is put together in RAM and sealed under the store's key before anything of it reaches the disk.

mod cut;
mod filling;
mod folder;
mod owed;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};

use self::cut::Cut;
use self::filling::{Filling, Order};
use self::folder::Folder;
use self::owed::Owed;
use crate::camera::CameraInfo;
use crate::capture::{self, CaptureError};
use crate::config;
use crate::encryption::StoreKey;
use crate::ids::SourceId;
use crate::media::Item;
use crate::mqtt::MOST_SNAPSHOT_SECS;
use crate::time::{Span, Timestamp};

pub use self::folder::Kept;

/// Items that wait for the disk: four seconds of a camera at 30 fps and a microphone.
const QUEUE_ITEMS: usize = 160;
/// How long a request waits for the ring's thread.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long after its end a snapshot that was asked for beforehand is cut: what was captured by then is in the ring.
const AFTER: Duration = Duration::from_millis(700);
/// The largest, bytes.
const MOST_BYTES: u64 = 512 << 20;
/// Around a moment in which somebody was there so much more goes, seconds: a look is never quite as long as the person.
const AROUND_SECS: f64 = 1.0;

/// Why nothing is kept.
#[derive(Debug, thiserror::Error)]
pub enum RingError {
    /// The ring has nothing of that time.
    #[error(
        "the ring has nothing from {} to {}; `ring.minutes` says how far it goes back, and 0 that there is none",
        .0.start,
        .0.end
    )]
    Nothing(Span),
    /// It is too much for one file, or there is no room for it beside the others.
    #[error("{0}")]
    TooLarge(String),
    /// The disk failed.
    #[error("keeping a part of the ring: {0}")]
    Io(#[from] io::Error),
    /// A snapshot that makes no film.
    #[error(transparent)]
    Film(#[from] CaptureError),
    /// A file of the ring is damaged.
    #[error("keeping a part of the ring: {0}")]
    Mcap(#[from] mcap::McapError),
}

/// The ring and the snapshots of a store. Cheap to clone.
#[derive(Clone)]
pub struct Ring(Arc<Inner>);

struct Inner {
    segments: Folder,
    /// Held while one is cut or struck.
    snapshots: Mutex<Folder>,
    /// Held while a film is made: one at a time, since it takes a core.
    filming: Mutex<()>,
    /// Held while anything is erased.
    owed: Mutex<Owed>,
    cap: u64,
    running: Option<Running>,
}

/// The threads of a ring that is filled; they end when it is dropped.
struct Running {
    items: Sender<Item>,
    orders: Sender<Order>,
    later: Sender<Span>,
    dropped: AtomicU64,
}

impl Ring {
    /// Of the store in `dir`, where nothing is captured: what is there can be read and erased.
    #[must_use]
    pub fn at_rest(dir: &Path, key: Option<&StoreKey>, limits: &config::Ring) -> Self {
        Self(Arc::new(Inner {
            segments: Folder::new(dir.join("ring"), key, "ring"),
            snapshots: Mutex::new(Folder::new(dir.join("snapshots"), key, "snapshots")),
            filming: Mutex::default(),
            owed: Mutex::new(Owed::new(dir.join("ring"), key)),
            cap: limits.snapshots_mb.saturating_mul(1_000_000),
            running: None,
        }))
    }

    /// The same, filled from now on; what is older than the ring goes at once. `cameras`: their calibrations.
    ///
    /// # Errors
    /// When the folder cannot be read, or no thread can be started.
    pub fn start(
        dir: &Path,
        key: Option<&StoreKey>,
        limits: &config::Ring,
        cameras: BTreeMap<SourceId, CameraInfo>,
    ) -> io::Result<Self> {
        let rest = Self::at_rest(dir, key, limits);
        let segments = rest.0.segments.clone();
        segments.tidy()?;
        rest.snapshots().tidy()?;
        rest.erase_owed();
        let filling = Filling::new(segments, limits, cameras, Timestamp::wall_clock())?;
        if !limits.is_on() {
            return Ok(rest);
        }
        let ((items, coming), (orders, ordered)) = (bounded(QUEUE_ITEMS), unbounded());
        let (later, asked) = unbounded();
        thread::Builder::new()
            .name("ring".to_owned())
            .spawn(move || filling.run(&coming, &ordered))?;
        let running = Running { items, orders, later, dropped: AtomicU64::new(0) };
        let ring = Self(Arc::new(Inner {
            segments: rest.0.segments.clone(),
            snapshots: Mutex::new(rest.snapshots().clone()),
            filming: Mutex::default(),
            owed: Mutex::new(Owed::new(dir.join("ring"), key)),
            cap: rest.0.cap,
            running: Some(running),
        }));
        let keeper = Arc::downgrade(&ring.0);
        thread::Builder::new().name("snapshots".to_owned()).spawn(move || {
            let keep = |span| {
                let Some(ring) = keeper.upgrade() else { return };
                if let Err(error) = Self(ring).keep(span) {
                    tracing::warn!(%error, "A watch's snapshot is not kept.");
                }
            };
            keep_later(&asked, keep);
        })?;
        Ok(ring)
    }

    /// Puts an item into the ring; of a full queue it is dropped and counted.
    pub fn item(&self, item: &Item) {
        if let Some(running) = &self.0.running
            && running.items.try_send(item.clone()).is_err()
            && running.dropped.fetch_add(1, Ordering::Relaxed) == 0
        {
            tracing::warn!("The disk is too slow for the ring: it has gaps.");
        }
    }

    /// Whether it is filled.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.running.is_some()
    }

    /// Keeps what was captured in a span as a snapshot.
    ///
    /// # Errors
    /// When there is nothing of that time, it is too much, or the disk fails; then nothing is kept.
    pub fn keep(&self, span: Span) -> Result<Kept, RingError> {
        if span.secs() > MOST_SNAPSHOT_SECS {
            return Err(RingError::TooLarge(format!(
                "{:.0} s are more than a snapshot has, which is {MOST_SNAPSHOT_SECS} s; take several",
                span.secs()
            )));
        }
        self.settle();
        let snapshots = self.snapshots();
        let mut cut = Cut::new()?;
        let parts: Vec<Kept> = self.0.segments.list()?;
        let parts = parts.into_iter().filter(|part| part.span.intersection(span).is_some());
        let parts: Vec<Kept> = parts.collect();
        let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
        let held: u64 = snapshots.list()?.iter().map(|kept| kept.bytes).sum();
        if bytes > MOST_BYTES || held.saturating_add(bytes) > self.0.cap {
            return Err(RingError::TooLarge(format!(
                "there is no room for it: a snapshot has {} MiB at most, and all of them together \
                 `ring.snapshots_mb`; take less, or erase some (`engramd snapshot remove`)",
                MOST_BYTES >> 20
            )));
        }
        for part in parts {
            // (The oldest may have gone over the edge meanwhile.)
            if let Some(file) = self.0.segments.read(&part.name)? {
                cut.take(&file, span.start, |at| span.contains(at))?;
            }
        }
        match cut.finish()? {
            Some((covered, file)) => Ok(snapshots.put(covered, &file)?),
            None => Err(RingError::Nothing(span)),
        }
    }

    /// Keeps a span as soon as it is over, without waiting for it.
    pub fn keep_later(&self, span: Span) {
        if let Some(running) = &self.0.running {
            running.later.send(span).ok();
        }
    }

    /// All snapshots, by time.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn kept(&self) -> io::Result<Vec<Kept>> {
        self.snapshots().list()
    }

    /// A snapshot's MCAP file; `None`: there is none of that name.
    ///
    /// # Errors
    /// When the disk fails, or it is encrypted under another key.
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let snapshots = self.snapshots();
        match snapshots.list()?.iter().any(|kept| kept.name == name) {
            true => snapshots.read(name),
            false => Ok(None),
        }
    }

    /// A snapshot as MP4: pictures of `camera`, or of the only one, and sound; `None`: there is none of that name. It is made in RAM:
    /// nothing of it touches the disk.
    ///
    /// # Errors
    /// When the snapshot cannot be read, several cameras are in it and none is named, or an encoder is missing or fails.
    pub fn film(&self, name: &str, camera: Option<&str>) -> Result<Option<Vec<u8>>, RingError> {
        let Some(mcap) = self.read(name)? else { return Ok(None) };
        let _alone = self.0.filming.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut whole, mut film) = (in_ram("snapshot.mcap")?, in_ram("snapshot.mp4")?);
        whole.write_all(&mcap)?;
        drop(mcap);
        capture::film(&path_of(&whole), &path_of(&film), camera)?;
        let mut bytes = Vec::new();
        film.read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Erases a snapshot; whether there was one of that name.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn remove(&self, name: &str) -> io::Result<bool> {
        let snapshots = self.snapshots();
        let known = snapshots.list()?.iter().any(|kept| kept.name == name);
        if known {
            snapshots.remove(name)?;
        }
        Ok(known)
    }

    /// Erases what was captured in those spans, and a second around them: whole files of the ring, parts of snapshots. What an
    /// earlier erasure left goes with it.
    ///
    /// # Errors
    /// When the disk fails, a snapshot is damaged, or the ring does not answer; then some of it is left, and goes with the next
    /// erasure or start.
    pub fn erase(&self, spans: &[Span]) -> Result<(), RingError> {
        let owed = self.0.owed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = owed.spans();
        for span in widened(spans) {
            if !all.contains(&span) {
                all.push(span);
            }
        }
        if all.is_empty() {
            return Ok(());
        }
        owed.note(&all)?;
        // The ring first: whoever keeps a snapshot meanwhile takes it from there. Neither keeps the other from being tried.
        let segments = self.erase_segments(&all);
        self.erase_snapshots(&all)?;
        segments?;
        Ok(owed.note(&[])?)
    }

    /// Erases what an earlier daemon did not get done.
    fn erase_owed(&self) {
        if let Err(error) = self.erase(&[]) {
            tracing::error!(
                %error,
                "What was to be erased from ring and snapshots is not yet; the next start tries again."
            );
        }
    }

    fn erase_segments(&self, spans: &[Span]) -> io::Result<()> {
        let Some(running) = &self.0.running else {
            return filling::erase(&self.0.segments, spans);
        };
        let (done, is_done) = bounded(1);
        running.orders.send(Order::Erase(spans.to_vec(), done)).ok();
        let unanswered = |_| io::Error::other("the ring does not answer; it erases when it does");
        is_done.recv_timeout(PATIENCE).map_err(unanswered)?
    }

    fn erase_snapshots(&self, spans: &[Span]) -> Result<(), RingError> {
        let snapshots = self.snapshots();
        let struck: Vec<Result<(), RingError>> = touched(snapshots.list()?, spans)
            .map(|kept| Self::strike(&snapshots, &kept, spans))
            .collect();
        // One that is damaged keeps none of the others.
        struck.into_iter().collect()
    }

    /// Takes those spans out of a snapshot; one of which nothing is left goes.
    fn strike(snapshots: &Folder, kept: &Kept, spans: &[Span]) -> Result<(), RingError> {
        let Some(file) = snapshots.read(&kept.name)? else { return Ok(()) };
        let mut cut = Cut::new()?;
        let stays = |at| !spans.iter().any(|span| span.contains(at));
        cut.take(&file, kept.span.start, stays)?;
        if let Some((span, file)) = cut.finish()?
            && snapshots.put(span, &file)?.name == kept.name
        {
            return Ok(());
        }
        Ok(snapshots.remove(&kept.name)?)
    }

    /// What [`Self::erase`] would touch: seconds of the ring, and snapshots.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn would_erase(&self, spans: &[Span]) -> io::Result<(f64, usize)> {
        let spans = widened(spans);
        let segments = touched(self.0.segments.list()?, &spans);
        let secs = segments.map(|part| part.span.secs()).fold(0.0, |all, secs| all + secs);
        Ok((secs, touched(self.snapshots().list()?, &spans).count()))
    }

    /// Encrypts what is not yet; how many files.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn encrypt(&self) -> io::Result<u64> {
        let owed = self.0.owed.lock().unwrap_or_else(PoisonError::into_inner).encrypt()?;
        Ok(self.0.segments.encrypt()? + self.snapshots().encrypt()? + u64::from(owed))
    }

    /// Waits until what was captured so far is in the ring.
    pub fn settle(&self) {
        if let Some(running) = &self.0.running {
            let (done, is_done) = bounded(1);
            running.orders.send(Order::Close(done)).ok();
            is_done.recv_timeout(PATIENCE).ok();
        }
    }

    fn snapshots(&self) -> std::sync::MutexGuard<'_, Folder> {
        self.0.snapshots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file that is in no folder, and gone when it is closed.
fn in_ram(name: &str) -> io::Result<File> {
    Ok(rustix::fs::memfd_create(name, rustix::fs::MemfdFlags::CLOEXEC)?.into())
}

/// Where this process opens it by a name.
fn path_of(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Keeps each span once it is over, until nobody asks any more.
fn keep_later(asked: &Receiver<Span>, keep: impl Fn(Span)) {
    let mut waiting: Vec<Span> = Vec::new();
    loop {
        match asked.recv_timeout(AFTER / 4) {
            Ok(span) => {
                wait_for(&mut waiting, span);
                // What one clip wants kept comes at once.
                thread::sleep(AFTER / 4);
                asked.try_iter().for_each(|span| wait_for(&mut waiting, span));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let over = Timestamp::wall_clock().plus_secs(-AFTER.as_secs_f64());
        waiting.retain(|span| {
            let is_over = span.end <= over;
            if is_over {
                keep(*span);
            }
            !is_over
        });
    }
}

/// Adds a span; what overlaps is kept as one, as long as that is no longer than a snapshot may be.
fn wait_for(waiting: &mut Vec<Span>, mut span: Span) {
    waiting.retain(|other| {
        let both = Span::new(span.start.min(other.start), span.end.max(other.end));
        let joins = span.intersection(*other).is_some() && both.secs() <= MOST_SNAPSHOT_SECS;
        if joins {
            span = both;
        }
        !joins
    });
    waiting.push(span);
}

/// The spans with what is around them.
fn widened(spans: &[Span]) -> Vec<Span> {
    let wide = |span: &Span| {
        Span::new(span.start.plus_secs(-AROUND_SECS), span.end.plus_secs(AROUND_SECS))
    };
    spans.iter().map(wide).collect()
}

/// Those that have anything of the spans.
fn touched(kept: Vec<Kept>, spans: &[Span]) -> impl Iterator<Item = Kept> {
    kept.into_iter().filter(|one| spans.iter().any(|span| span.intersection(one.span).is_some()))
}

#[cfg(test)]
pub(crate) mod tests;
