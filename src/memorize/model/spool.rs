//! The spool: sealed clips that wait on disk for the model, oldest first, below a cap.
//!
//! A clip is put before its transaction commits and released after it, so that neither a crash nor a model
//! that is down for days loses one below the cap. Files are whole or not there.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::encryption::{FileCipher, StoreKey};
use crate::ids::ClipId;
use crate::time::Timestamp;
use crate::whole_file;

use super::spooled::{SpooledClip, SpooledTurn};

/// What the files' key is derived for.
const PURPOSE: &str = "spool";
/// Form of the files; another number is not read.
const VERSION: u32 = 1;
/// The file of the note that the model left for the next clip.
const NOTE: &str = "note";
/// Longer notes are cut, characters.
const NOTE_CHARS: usize = 2000;

/// Where the spool of a store lies.
#[must_use]
pub fn spool_dir(store: &Path) -> PathBuf {
    store.join("spool")
}

/// A clip in line.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// Which.
    pub clip: ClipId,
    /// Its end.
    pub end: Timestamp,
    number: u64,
    bytes: u64,
    stage: Stage,
    /// Nothing is in it but the hope for words.
    empty: bool,
}

/// How far a clip in line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its transaction is not through.
    Put,
    /// It is, and words of it may still come.
    Committed,
    /// The model may have it.
    Released,
}

impl Waiting {
    fn name(&self) -> String {
        let ClipId { session, index } = self.clip;
        format!("{:012}_{session}_{index}.clip", self.number)
    }
}

/// What the spool holds and has lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpoolCounts {
    /// Clips in line.
    pub waiting: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Given up for the cap since the start: these keep their built-in memories.
    pub dropped: u64,
    /// End of the oldest in line.
    pub oldest: Option<Timestamp>,
}

#[derive(Debug, Default)]
struct State {
    line: VecDeque<Waiting>,
    next: u64,
    dropped: u64,
}

#[derive(Debug)]
struct Inner {
    dir: PathBuf,
    cap: u64,
    cipher: FileCipher,
    state: Mutex<State>,
    came: Condvar,
}

/// The spool. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Spool(Arc<Inner>);

impl Spool {
    /// Opens, or makes, the spool in `dir`; at most `cap` bytes, encrypted under the store's `key`.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    pub fn open(dir: &Path, cap: u64, key: Option<&StoreKey>) -> io::Result<Self> {
        let cipher = FileCipher::new(key, PURPOSE);
        fs::create_dir_all(dir)?;
        let mut line = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".part") {
                fs::remove_file(entry.path())?;
                continue;
            }
            let Some((number, clip)) = parse_name(&name) else { continue };
            let bytes = entry.metadata()?.len();
            let spooled = match read(&entry.path(), &cipher) {
                Ok(spooled) => spooled,
                Err(error) => {
                    tracing::warn!(%error, file = %name, "A clip that waited for the memorizing model cannot be read; it keeps its built-in memories.");
                    fs::remove_file(entry.path())?;
                    continue;
                }
            };
            let (end, empty) = (spooled.span.end, spooled.is_empty());
            line.push(Waiting { clip, end, number, bytes, stage: Stage::Put, empty });
        }
        line.sort_by_key(|waiting| waiting.number);
        let next = line.last().map_or(1, |waiting| waiting.number + 1);
        let state = State { line: line.into(), next, dropped: 0 };
        let (state, came) = (Mutex::new(state), Condvar::new());
        let inner = Inner { dir: dir.to_owned(), cap, cipher, state, came };
        Ok(Self(Arc::new(inner)))
    }

    /// Encrypts the clips and the note in `dir` that are not yet, where no daemon has it open; how many.
    ///
    /// # Errors
    /// When the disk fails; what is not encrypted then is read all the same.
    pub fn encrypt(dir: &Path, key: &StoreKey) -> io::Result<u64> {
        let cipher = FileCipher::new(Some(key), PURPOSE);
        let mut done = 0;
        if !dir.is_dir() {
            return Ok(done);
        }
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name == NOTE || parse_name(&name).is_some() {
                done += u64::from(cipher.encrypt_file(&path)?);
            }
        }
        Ok(done)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.dir.join(name)
    }

    /// Puts a clip in line; the same clip again takes the place of the first. Over the cap the oldest go, and so
    /// does a clip before it whose transaction failed.
    ///
    /// # Errors
    /// When the disk fails; then the clip keeps its built-in memories.
    pub fn put(&self, clip: &SpooledClip) -> io::Result<()> {
        let encoded = encoded(clip)?;
        let bytes = self.0.cipher.seal(&encoded);
        let mut state = self.lock();
        let known = state.line.iter().position(|waiting| waiting.clip == clip.clip);
        let number = known.map_or(state.next, |at| state.line[at].number);
        let waiting = Waiting {
            clip: clip.clip,
            end: clip.span.end,
            number,
            bytes: bytes.len() as u64,
            stage: Stage::Put,
            empty: clip.is_empty(),
        };
        whole_file::write(&self.path(&waiting.name()), &bytes)?;
        // Clips are committed one by one: what came before and was not committed never will be.
        let line = std::mem::take(&mut state.line);
        for before in line {
            if before.stage != Stage::Put || before.clip == clip.clip {
                state.line.push_back(before);
            } else {
                remove(&self.path(&before.name()));
            }
        }
        let known = state.line.iter().position(|waiting| waiting.clip == clip.clip);
        match known {
            Some(at) => state.line[at] = waiting,
            None => {
                state.next += 1;
                state.line.push_back(waiting);
            }
        }
        let mut total: u64 = state.line.iter().map(|waiting| waiting.bytes).sum();
        // The newest stays, however large it is.
        while total > self.0.cap && state.line.len() > 1 {
            let Some(oldest) = state.line.pop_front() else { break };
            total -= oldest.bytes;
            state.dropped += 1;
            remove(&self.path(&oldest.name()));
        }
        Ok(())
    }

    /// The clip is committed; words of it are still to come, so that the model does not have it yet.
    pub fn commit(&self, clip: ClipId) {
        self.advance(clip, Stage::Committed);
    }

    /// The clip is committed, with all its words: the model may have it. One that has come to nothing goes.
    pub fn release(&self, clip: ClipId) {
        self.advance(clip, Stage::Released);
        self.drop_empty();
        self.0.came.notify_all();
    }

    /// Clips that were put for words which did not come.
    fn drop_empty(&self) {
        self.lock().line.retain(|waiting| {
            let gone = waiting.empty && waiting.stage == Stage::Released;
            if gone {
                remove(&self.path(&waiting.name()));
            }
            !gone
        });
    }

    fn advance(&self, clip: ClipId, stage: Stage) {
        for waiting in self.lock().line.iter_mut().filter(|waiting| waiting.clip == clip) {
            waiting.stage = stage;
        }
    }

    /// Puts a turn whose words came late to the clip that waits; nothing happens where it does not wait any more.
    ///
    /// # Errors
    /// When the disk fails; then the model does not get these words.
    pub fn add_turn(&self, clip: ClipId, turn: SpooledTurn) -> io::Result<()> {
        let mut state = self.lock();
        let Some(waiting) = state.line.iter_mut().find(|waiting| waiting.clip == clip) else {
            return Ok(());
        };
        let path = self.path(&waiting.name());
        let mut spooled = read(&path, &self.0.cipher)?;
        spooled.turns.retain(|known| known.turn != turn.turn);
        let place = spooled.turns.partition_point(|known| known.span.start <= turn.span.start);
        spooled.turns.insert(place, turn);
        let encoded = encoded(&spooled)?;
        let bytes = self.0.cipher.seal(&encoded);
        whole_file::write(&path, &bytes)?;
        (waiting.bytes, waiting.empty) = (bytes.len() as u64, false);
        Ok(())
    }

    /// After a start: clips that are in the memory are released, others were never committed and go.
    pub fn settle(&self, committed: impl Fn(ClipId) -> bool) {
        let mut state = self.lock();
        let line = std::mem::take(&mut state.line);
        for mut waiting in line {
            if committed(waiting.clip) {
                waiting.stage = Stage::Released;
                state.line.push_back(waiting);
            } else {
                remove(&self.path(&waiting.name()));
            }
        }
        drop(state);
        self.drop_empty();
    }

    /// The oldest clip, once it is released; waits for one as long as `time`.
    #[must_use]
    pub fn oldest(&self, time: Duration) -> Option<Waiting> {
        let first =
            |state: &State| state.line.front().filter(|one| one.stage == Stage::Released).cloned();
        let state = self.lock();
        if let Some(waiting) = first(&state) {
            return Some(waiting);
        }
        let waited = self.0.came.wait_timeout(state, time);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        first(&state)
    }

    /// Reads a clip in line.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged.
    pub fn read(&self, waiting: &Waiting) -> io::Result<SpooledClip> {
        read(&self.path(&waiting.name()), &self.0.cipher)
    }

    /// Whether it is still in line: it may have been erased or given up meanwhile.
    #[must_use]
    pub fn holds(&self, waiting: &Waiting) -> bool {
        self.lock().line.iter().any(|one| one.number == waiting.number)
    }

    /// Done with it.
    pub fn remove(&self, waiting: &Waiting) {
        let mut state = self.lock();
        state.line.retain(|one| one.number != waiting.number);
        remove(&self.path(&waiting.name()));
    }

    /// Erases every clip that `is_meant`, and the running note; gives back how many.
    pub fn erase(&self, is_meant: impl Fn(&SpooledClip) -> bool) -> u64 {
        let mut state = self.lock();
        let mut erased = 0;
        state.line.retain(|waiting| {
            let goes = self.is_erased(waiting, &is_meant);
            if goes {
                remove(&self.path(&waiting.name()));
                erased += 1;
            }
            !goes
        });
        remove(&self.path(NOTE));
        erased
    }

    /// How many clips [`Self::erase`] would take.
    pub fn count(&self, is_meant: impl Fn(&SpooledClip) -> bool) -> u64 {
        let state = self.lock();
        state.line.iter().filter(|waiting| self.is_erased(waiting, &is_meant)).count() as u64
    }

    /// What cannot be read cannot be shown to be innocent.
    fn is_erased(&self, waiting: &Waiting, is_meant: impl Fn(&SpooledClip) -> bool) -> bool {
        self.read(waiting).map_or(true, |clip| is_meant(&clip))
    }

    /// The model's note on the clip before `clip`; empty when that was another session or is long ago.
    #[must_use]
    pub fn note(&self, clip: ClipId) -> String {
        let found = fs::read(self.path(NOTE)).unwrap_or_default();
        let opened = self.0.cipher.open(found).unwrap_or_default();
        let text = String::from_utf8(opened).unwrap_or_default();
        let Some((head, note)) = text.split_once('\n') else { return String::new() };
        match head.parse::<ClipId>() {
            Ok(of) if of.session == clip.session && of.index < clip.index => note.to_owned(),
            _ => String::new(),
        }
    }

    /// Keeps the model's note on `clip`; a failing disk costs the note.
    pub fn keep_note(&self, clip: ClipId, note: &str) {
        let note: String = note.chars().take(NOTE_CHARS).collect();
        let text = format!("{clip}\n{note}");
        if let Err(error) =
            whole_file::write(&self.path(NOTE), &self.0.cipher.seal(text.as_bytes()))
        {
            tracing::warn!(%error, "The memorizing model's note is lost.");
        }
    }

    /// What it holds.
    #[must_use]
    pub fn counts(&self) -> SpoolCounts {
        let state = self.lock();
        SpoolCounts {
            waiting: state.line.len() as u64,
            bytes: state.line.iter().map(|waiting| waiting.bytes).sum(),
            dropped: state.dropped,
            oldest: state.line.front().map(|waiting| waiting.end),
        }
    }
}

/// A clip as its file holds it.
fn encoded(clip: &SpooledClip) -> io::Result<Vec<u8>> {
    let layout = bincode::config::standard();
    let encoded = bincode::serde::encode_to_vec(clip, layout).map_err(io::Error::other)?;
    let mut bytes = VERSION.to_le_bytes().to_vec();
    bytes.extend(encoded);
    Ok(bytes)
}

fn parse_name(name: &str) -> Option<(u64, ClipId)> {
    let mut parts = name.strip_suffix(".clip")?.splitn(3, '_');
    let number = parts.next()?.parse().ok()?;
    let session = parts.next()?.parse().ok()?;
    let index = parts.next()?.parse().ok()?;
    Some((number, ClipId { session, index }))
}

fn read(path: &Path, cipher: &FileCipher) -> io::Result<SpooledClip> {
    let damaged = |reason: String| io::Error::new(io::ErrorKind::InvalidData, reason);
    let bytes = cipher.open(fs::read(path)?).map_err(|error| damaged(error.to_string()))?;
    let (head, rest) =
        bytes.split_at_checked(4).ok_or_else(|| damaged("the file is too short".to_owned()))?;
    if head != VERSION.to_le_bytes() {
        return Err(damaged("the file is of another version of engram".to_owned()));
    }
    let layout = bincode::config::standard().with_limit::<{ 1 << 30 }>();
    let decoded = bincode::serde::decode_from_slice(rest, layout);
    decoded.map(|(clip, _)| clip).map_err(|error| damaged(error.to_string()))
}

fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, path = %path.display(), "A file of the spool cannot be removed.");
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::{SessionId, TurnId};
    use crate::time::Span;

    fn clip(index: u32, bytes: usize) -> SpooledClip {
        let start = Timestamp::EPOCH.plus_secs(f64::from(index) * 30.0);
        SpooledClip {
            clip: ClipId { session: SessionId(1), index },
            span: Span::new(start, start.plus_secs(30.0)),
            pictures: vec![(crate::ids::SourceId::new("front"), start, vec![7; bytes].into())],
            faces: Vec::new(),
            turns: Vec::new(),
            sound: None,
            place: None,
        }
    }

    fn next(spool: &Spool) -> Option<u32> {
        spool.oldest(Duration::ZERO).map(|waiting| waiting.clip.index)
    }

    #[test]
    fn clips_wait_in_order_and_outlive_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::open(dir.path(), 1 << 20, None).unwrap();
        spool.put(&clip(7, 100)).unwrap();
        assert_eq!(next(&spool), None, "not committed yet");
        for file in fs::read_dir(dir.path()).unwrap() {
            let metadata = file.unwrap().metadata().unwrap();
            assert_eq!(
                std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777,
                0o600
            );
        }
        // Its transaction failed: the next one takes its place.
        for index in 0..3 {
            spool.put(&clip(index, 100)).unwrap();
            if index < 2 {
                spool.release(clip(index, 0).clip);
            }
        }
        assert_eq!(next(&spool), Some(0));
        assert_eq!(spool.counts().waiting, 3);
        drop(spool);
        fs::write(dir.path().join("000000000009_s1_9.clip"), b"damaged").unwrap();
        fs::write(dir.path().join("half.part"), b"x").unwrap();
        let spool = Spool::open(dir.path(), 1 << 20, None).unwrap();
        // The last clip was never committed.
        spool.settle(|clip| clip.index < 2);
        assert_eq!(spool.counts().waiting, 2);
        let first = spool.oldest(Duration::ZERO).unwrap();
        assert_eq!(spool.read(&first).unwrap(), clip(0, 100));
        spool.remove(&first);
        assert!(!spool.holds(&first));
        assert_eq!(next(&spool), Some(1));
        // The same clip again, by a resumed replay, is no second one.
        spool.put(&clip(1, 50)).unwrap();
        assert_eq!(spool.counts().waiting, 1);
    }

    #[test]
    fn over_the_cap_the_oldest_go_and_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::open(dir.path(), 2500, None).unwrap();
        for index in 0..5 {
            spool.put(&clip(index, 1000)).unwrap();
            spool.release(clip(index, 0).clip);
        }
        assert_eq!(next(&spool), Some(3));
        let counts = spool.counts();
        assert_eq!((counts.waiting, counts.dropped), (2, 3));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn words_that_come_late_reach_the_clip_that_waits() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::open(dir.path(), 1 << 20, None).unwrap();
        let turn = |number: u64, secs: f64, words: &str| {
            let start = Timestamp::EPOCH.plus_secs(secs);
            SpooledTurn {
                turn: TurnId(number),
                voice: None,
                person: None,
                span: Span::new(start, start.plus_secs(1.0)),
                words: words.to_owned(),
            }
        };
        for index in 0..2 {
            spool.put(&clip(index, 10)).unwrap();
            spool.commit(clip(index, 0).clip);
            assert_eq!(next(&spool), None, "its words are still to come");
        }
        assert_eq!(spool.counts().waiting, 2, "a committed clip stays when the next one is put");
        spool.add_turn(clip(0, 0).clip, turn(2, 5.0, "On the shelf.")).unwrap();
        spool.add_turn(clip(0, 0).clip, turn(1, 2.0, "Where is it?")).unwrap();
        spool.add_turn(clip(9, 0).clip, turn(3, 2.0, "A clip that is gone.")).unwrap();
        // The clips keep their order, whichever has its words first.
        spool.release(clip(1, 0).clip);
        assert_eq!(next(&spool), None);
        spool.release(clip(0, 0).clip);
        let first = spool.oldest(Duration::ZERO).unwrap();
        let words: Vec<String> =
            spool.read(&first).unwrap().turns.into_iter().map(|turn| turn.words).collect();
        assert_eq!(words, ["Where is it?", "On the shelf."]);
        let bytes = fs::metadata(dir.path().join(first.name())).unwrap().len();
        assert_eq!(first.bytes, bytes);
    }

    #[test]
    fn erasing_takes_the_note_and_what_is_meant() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::open(dir.path(), 1 << 20, None).unwrap();
        for index in 0..2 {
            spool.put(&clip(index, 10)).unwrap();
            spool.release(clip(index, 0).clip);
        }
        spool.keep_note(clip(0, 0).clip, "Ava is\nhere.");
        assert_eq!(spool.note(clip(1, 0).clip), "Ava is\nhere.");
        assert_eq!(spool.note(clip(0, 0).clip), "");
        assert_eq!(spool.erase(|clip| clip.clip.index == 0), 1);
        assert_eq!((spool.counts().waiting, spool.note(clip(1, 0).clip).as_str()), (1, ""));
    }

    #[test]
    fn what_waits_is_encrypted_and_read_either_way() {
        let dir = tempfile::tempdir().unwrap();
        let key = StoreKey::parse(&"a".repeat(64)).unwrap();
        let note = ClipId { session: SessionId(1), index: 0 };
        let spool = Spool::open(dir.path(), 1 << 20, None).unwrap();
        spool.put(&clip(1, 100)).unwrap();
        spool.keep_note(note, "Ava waters the ferns.");
        drop(spool);
        assert_eq!(Spool::encrypt(dir.path(), &key).unwrap(), 2);
        assert_eq!(Spool::encrypt(dir.path(), &key).unwrap(), 0);
        let bytes = fs::read(dir.path().join(NOTE)).unwrap();
        assert!(!bytes.windows(5).any(|part| part == b"ferns"));
        let spool = Spool::open(dir.path(), 1 << 20, Some(&key)).unwrap();
        spool.settle(|_| true);
        assert_eq!(next(&spool), Some(1));
        let later = ClipId { session: SessionId(1), index: 1 };
        assert_eq!(spool.note(later), "Ava waters the ferns.");
        // Under no key nothing of it is read, and the clip is given up.
        assert_eq!(Spool::open(dir.path(), 1 << 20, None).unwrap().counts().waiting, 0);
    }
}
