//! Erasing one person of a thousand from a large memory: `bench erase`.
//!
//! Memories, faces and names are made up and the same at every run. While one person is erased, another thread asks as
//! it would any day, and a third watches the process's memory and the store's log. Then every file is looked
//! through for what was erased, those without a name too, which nobody but this process can open. A reader may hold on
//! meanwhile, as a backup does: overwriting is then tried again as often as the daemon tries.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use serde::Serialize;

use super::BenchError;
use super::conversations::utterance;
use super::filler::beginning;
use super::memory::{quantile, rss_anon_mb};
use super::random::SplitMix64;
use super::scratch;
use crate::ids::{ClipId, EntityId, EntityKind, ModelHash, SessionId};
use crate::memory::model::{Clip, Exemplar, Membership, NameRow, NameSource};
use crate::memory::{Forget, Memory, StoreOptions};
use crate::percept::Embedding;
use crate::recall::{Query, recall};
use crate::time::Span;

/// Persons that there are.
const PERSONS: usize = 1_000;
/// Memories of one transaction.
const PER_COMMIT: usize = 1_000;
/// Seconds between two memories.
const APART_SECS: f64 = 1.0;
/// Components of a vector.
const DIMENSIONS: usize = 384;
const MODEL: ModelHash = ModelHash([3; 32]);
/// Words that people say.
const WORDS: usize = 4_000;
/// Once in so many memories somebody else speaks of whoever is erased.
const SPOKEN_OF: usize = 997;
/// Whoever is erased, and what nobody else says.
const NAME: &str = "Wilhelmina";
const SECRET: &str = "zanzibarite";
/// Questions before the erasure.
const WARM_UP: usize = 30;
/// Between two questions, and between two looks at memory and log.
const ASKED_EVERY: Duration = Duration::from_millis(5);
const LOOKED_EVERY: Duration = Duration::from_millis(2);
/// How often overwriting is tried again while somebody reads, as in [`crate::daemon::serve`].
const TRIED_EVERY: Duration = Duration::from_secs(5);
const SEED: u64 = 29;

/// `bench erase`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EraseFigures {
    /// Memories in the store.
    pub memories: usize,
    /// From the request until it is done: rows, files and log.
    pub forget_secs: f64,
    /// Anonymous memory (RssAnon) at its most meanwhile, more than before, MB; null where the system tells none.
    pub anon_mb_more: Option<f64>,
    /// The store's write-ahead log at its most meanwhile, MB.
    pub log_mb: f64,
    /// Questions asked meanwhile, milliseconds, 99th percentile.
    pub asked_p99_ms: f64,
    /// From the end of a reader that held on until nothing was left to overwrite, seconds; null without one.
    pub released_secs: Option<f64>,
    /// Whether no file holds the name, the words or the vectors of whoever was erased.
    pub scan_clean: bool,
}

/// Fills a temporary store with `count` memories of a thousand persons and erases one of them. `reader`: how long, from before
/// the erasure on, somebody else reads the store.
///
/// # Errors
/// When the store fails.
pub fn measure(count: usize, reader: Option<Duration>) -> Result<EraseFigures, BenchError> {
    let store = scratch::folder()?;
    let memory = Memory::open(store.path(), &StoreOptions::default())?;
    let mut crowd = Crowd::new();
    let who = crowd.fill(&memory, count)?;
    let log = store.path().join("engram.db-wal");
    let mut asking =
        Asking { memory: &memory, random: SplitMix64::new(SEED + 1), words: &crowd.words };
    for _ in 0..WARM_UP {
        asking.ask();
    }
    let at = beginning().plus_secs(count as f64 * APART_SECS + 60.0);
    let done = AtomicBool::new(false);
    let before = rss_anon_mb();
    let backup = reader.map(|_| Backup::begin(store.path())).transpose()?;
    let (forget_secs, released_secs, mut asked, (anon, log_bytes)) = thread::scope(|scope| {
        let watching = scope.spawn(|| watch(&log, &done));
        let asked = scope.spawn(|| {
            let mut times = Vec::new();
            while !done.load(Ordering::Acquire) {
                times.push(asking.ask());
                thread::sleep(ASKED_EVERY);
            }
            times
        });
        let begun = Instant::now();
        let erased = memory.forget(&Forget::Entity(who), at);
        let secs = begun.elapsed().as_secs_f64();
        let released = match (&erased, backup, reader) {
            (Ok(_), Some(backup), Some(reads)) => release(&memory, backup, begun + reads).map(Some),
            _ => Ok(None),
        };
        done.store(true, Ordering::Release);
        let asked = asked.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let watched = watching.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        erased?;
        Ok::<_, BenchError>((secs, released?, asked, watched))
    })?;
    Ok(EraseFigures {
        memories: count,
        forget_secs,
        anon_mb_more: anon.zip(before).map(|(most, before)| (most - before).max(0.0)),
        log_mb: log_bytes as f64 * 1e-6,
        asked_p99_ms: quantile(&mut asked, 0.99),
        released_secs,
        scan_clean: !holds_any(store.path(), &crowd.traces)?,
    })
}

/// Somebody else who is in the middle of reading the store.
struct Backup(Connection);

impl Backup {
    fn begin(dir: &Path) -> Result<Self, BenchError> {
        let file = dir.join("engram.db");
        let reads = || {
            let db = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            db.execute_batch("BEGIN; SELECT count(*) FROM memory;")?;
            Ok(db)
        };
        reads().map(Self).map_err(|error: rusqlite::Error| BenchError::Form {
            path: file.clone(),
            reason: format!("it cannot be read beside the memory: {error}"),
        })
    }

    fn end(self) -> rusqlite::Result<()> {
        self.0.execute_batch("COMMIT")
    }
}

/// Tries to overwrite until the reader has ended and nothing is left to do; seconds from his end.
fn release(memory: &Memory, backup: Backup, until: Instant) -> Result<f64, BenchError> {
    let mut reads = Some(backup);
    let mut ended = Instant::now();
    loop {
        let next = Instant::now() + TRIED_EVERY;
        if until <= next
            && let Some(backup) = reads.take()
        {
            thread::sleep(until.saturating_duration_since(Instant::now()));
            // What fails to end is dropped, and ended by that.
            backup.end().unwrap_or_else(|error| eprintln!("the reader ended badly: {error}"));
            ended = Instant::now();
        }
        thread::sleep(next.saturating_duration_since(Instant::now()));
        memory.finish_erasing()?;
        let secs = ended.elapsed().as_secs_f64();
        if reads.is_none() && !memory.finish_erasing()? {
            return Ok(secs);
        }
    }
}

/// The most of anonymous memory, MB, and of the log, bytes, until it is over.
fn watch(log: &Path, done: &AtomicBool) -> (Option<f64>, u64) {
    let (mut anon, mut bytes) = (None::<f64>, 0);
    while !done.load(Ordering::Acquire) {
        let now = rss_anon_mb();
        anon = now.map(|now| anon.map_or(now, |most| most.max(now)));
        bytes = std::fs::metadata(log).map_or(0, |file| file.len()).max(bytes);
        thread::sleep(LOOKED_EVERY);
    }
    (anon, bytes)
}

/// Who there is, and what they say.
struct Crowd {
    random: SplitMix64,
    words: Vec<String>,
    /// What must be nowhere once the first of them is erased.
    traces: Vec<Vec<u8>>,
}

/// Asks for what somebody said.
struct Asking<'m> {
    memory: &'m Memory,
    random: SplitMix64,
    words: &'m [String],
}

impl Asking<'_> {
    /// Asks once; milliseconds.
    fn ask(&mut self) -> f64 {
        let text = said(&mut self.random, self.words, 4);
        let query =
            Query { text, vector: Some(vector(&mut self.random)), k: 10, ..Query::default() };
        let begun = Instant::now();
        let found = recall(&self.memory.view(), &query);
        std::hint::black_box(found);
        begun.elapsed().as_secs_f64() * 1e3
    }
}

/// A seeded unit vector.
fn vector(random: &mut SplitMix64) -> Embedding {
    // Sums of two uniform numbers: round enough, and quick.
    let parts = (0..DIMENSIONS / 2).flat_map(|_| {
        let bits = random.bits();
        let part = |at: u32| f32::from((bits >> at) as u16) / 65_536.0;
        [part(0) + part(16) - 1.0, part(32) + part(48) - 1.0]
    });
    Embedding::normalised(parts.collect(), MODEL)
}

fn said(random: &mut SplitMix64, words: &[String], count: usize) -> String {
    let words: Vec<&str> = (0..count).map(|_| words[random.below(words.len())].as_str()).collect();
    words.join(" ")
}

fn bytes_of(vector: &Embedding) -> Vec<u8> {
    vector.values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

impl Crowd {
    fn new() -> Self {
        const SYLLABLES: [&str; 16] = [
            "ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo",
            "wu", "xa",
        ];
        let mut random = SplitMix64::new(SEED);
        let word = |number: usize| {
            let part = |at: usize| SYLLABLES[number / 16_usize.pow(at as u32) % 16];
            format!("{}{}{}", part(0), part(1), part(2))
        };
        let words = (0..WORDS).map(word).collect();
        let traces = vec![NAME.as_bytes().to_vec(), SECRET.as_bytes().to_vec()];
        random.bits();
        Self { random, words, traces }
    }

    /// Puts everybody in, and so many memories; gives whoever is to be erased.
    fn fill(&mut self, memory: &Memory, count: usize) -> Result<EntityId, BenchError> {
        let mut draft = memory.begin(beginning());
        let session = draft.new_session(beginning(), 30.0, None);
        let mut persons = Vec::with_capacity(PERSONS);
        for number in 0..PERSONS {
            let (face, person) =
                (draft.new_entity(EntityKind::Face), draft.new_entity(EntityKind::Person));
            let (reason, decreed) = ("made up".to_owned(), false);
            draft.membership(Membership { part: face, person, reason, decreed });
            let name = match number {
                0 => NAME.to_owned(),
                _ => format!("Person{}", said(&mut self.random, &self.words, 1)),
            };
            let (since, source) = (beginning(), NameSource::Told);
            draft.name(NameRow { entity: person, name, since, source, turn: None });
            let embedding = vector(&mut self.random);
            if number == 0 {
                self.traces.push(bytes_of(&embedding));
            }
            let (slot, at, quality, weight, media) = (0, beginning(), 0.8, 1.0, None);
            draft.exemplar(Exemplar { entity: face, slot, at, embedding, quality, weight, media });
            persons.push(person);
        }
        draft.commit()?;
        for first in (0..count).step_by(PER_COMMIT) {
            let here = first..(first + PER_COMMIT).min(count);
            self.clip(memory, session, here, &persons)?;
            if first % 100_000 == 0 && first > 0 {
                eprintln!("{first} memories");
            }
        }
        Ok(persons[0])
    }

    fn clip(
        &mut self,
        memory: &Memory,
        session: SessionId,
        here: std::ops::Range<usize>,
        persons: &[EntityId],
    ) -> Result<(), BenchError> {
        let begins = |number: usize| beginning().plus_secs(number as f64 * APART_SECS);
        let span = Span::new(begins(here.start), begins(here.end));
        let mut draft = memory.begin(span.end);
        let clip = ClipId { session, index: (here.start / PER_COMMIT) as u32 };
        let (frames, analysed, dropped, key_frames) = (750, 150, 0, Vec::new());
        draft.clip(Clip { id: clip, span, frames, analysed, dropped, key_frames });
        for number in here {
            let who = number % PERSONS;
            let words = said(&mut self.random, &self.words, 12);
            let words = match number {
                _ if who == 0 => format!("{words} {SECRET}"),
                _ if number % SPOKEN_OF == 1 => format!("{words} {NAME}"),
                _ => words,
            };
            let text = format!("<{}> said: \"{words}\"", persons[who]);
            let vector = vector(&mut self.random);
            if number == 0 {
                self.traces.push(bytes_of(&vector));
            }
            let id = draft.new_memory_id();
            draft.memory(utterance(id, text, begins(number), clip, persons[who]), Some(vector));
        }
        draft.commit()?;
        Ok(())
    }
}

/// Whether any file under the folder holds any of those, or any without a name that was made there and that this process
/// has open.
fn holds_any(dir: &Path, traces: &[Vec<u8>]) -> Result<bool, BenchError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |source| BenchError::Io { path, source }
    };
    let mut files: Vec<PathBuf> = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).map_err(fail(&folder))?.flatten() {
            let path = entry.path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    let nameless = |file: &PathBuf| {
        std::fs::read_link(file).is_ok_and(|path| path.starts_with(dir) && !path.exists())
    };
    let descriptors = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    files.extend(descriptors.map(|entry| entry.path()).filter(nameless));
    for path in files {
        if holds(&path, traces).map_err(fail(&path))? {
            eprintln!("{} holds what was erased", path.display());
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a file holds any of those.
fn holds(path: &Path, traces: &[Vec<u8>]) -> std::io::Result<bool> {
    const PART: usize = 1 << 20;
    let longest = traces.iter().map(Vec::len).max().unwrap_or_default();
    let mut file = File::open(path)?;
    let (mut bytes, mut kept) = (vec![0; PART + longest], 0);
    loop {
        let read = file.read(&mut bytes[kept..])?;
        if read == 0 {
            return Ok(false);
        }
        let here = &bytes[..kept + read];
        let begins = |trace: &[u8]| {
            let two: [u8; 2] = trace[..2].try_into().unwrap_or_default();
            let mut at = here.windows(2).enumerate().filter(move |(_, window)| *window == two);
            at.any(|(at, _)| here[at..].starts_with(trace))
        };
        if traces.iter().filter(|trace| trace.len() > 1).any(|trace| begins(trace)) {
            return Ok(true);
        }
        let end = kept + read;
        let rest = end.min(longest);
        bytes.copy_within(end - rest..end, 0);
        kept = rest;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn one_of_many_is_erased_and_nothing_of_them_is_left() {
        let figures = measure(3_000, None).unwrap();
        assert!(figures.scan_clean && figures.released_secs.is_none(), "{figures:?}");
        assert_eq!(figures.memories, 3_000);
        assert!(figures.forget_secs > 0.0 && figures.asked_p99_ms > 0.0, "{figures:?}");
    }

    #[test]
    fn who_reads_on_makes_it_wait_and_nothing_is_left_then() {
        let figures = measure(3_000, Some(Duration::from_secs(1))).unwrap();
        assert!(figures.scan_clean && figures.released_secs.is_some(), "{figures:?}");
    }

    #[test]
    fn what_lies_across_two_parts_of_a_file_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let mut bytes = vec![0_u8; (1 << 20) + 7];
        bytes.extend(b"Wilhelmina");
        bytes.extend(vec![0_u8; 3 << 20]);
        std::fs::write(dir.path().join("some"), &bytes).unwrap();
        let holds = |trace: &[u8]| holds_any(dir.path(), &[trace.to_vec(), b"long".repeat(99)]);
        assert!(holds(b"Wilhelmina").unwrap() && !holds(b"Wilhelmine").unwrap());
    }
}
