//! The crash journal: which network runs in which thread is written down before it runs, where a crash cannot take it away.
//!
//! A small file of the state directory is mapped: one slot per thread, written with a store to memory, without a call to the
//! system. A handler of the signals that end a process by its own fault (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT) notes in
//! the same file what ran in the thread that failed, and lets the process end as it would have. The next start reads it:
//! what crashed twice within an hour is left out at the third start ([`crate::runtime::crash_history`]). A kill from outside
//! (SIGKILL, the watchdog's SIGABRT) blames nobody.
//!
//! One per process, as signals are.

use std::cell::Cell;
use std::fs::OpenOptions;
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use memmap2::MmapMut;

use crate::runtime::crash_history::{History, Rest};
#[cfg(debug_assertions)]
use crate::runtime::planned_faults;

/// The file in the state directory.
const FILE: &str = "native.running";
/// First word of the file; another one, or none, and nothing is known.
const MAGIC: u32 = 0x656E_6731;
/// Threads at once that are written down; further ones run unseen.
const SLOTS: usize = 512;
/// Networks by name; further ones run unseen.
const NAMES: usize = 128;
/// Bytes of a name, its length before it included.
const NAME_BYTES: usize = 128;
/// Words: magic, the signal that ended the process, what ran in the thread that failed, then the slots, then the names.
const SIGNAL: usize = 1;
const FAILED: usize = 2;
const FIRST_SLOT: usize = 4;
const FIRST_NAME: usize = FIRST_SLOT + SLOTS;
const WORDS: usize = FIRST_NAME + NAMES * NAME_BYTES / 4;

/// Signals by which a process ends through its own fault.
const FAULTS: [libc::c_int; 5] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT];

/// The process's journal; none before [`begin`].
static JOURNAL: OnceLock<Journal> = OnceLock::new();

thread_local! {
    /// This thread's slot, plus 1; 0: it has none. Without a destructor, so that the handler may read it.
    static SLOT: Cell<u32> = const { Cell::new(0) };
    /// Gives the slot back when the thread ends.
    static HELD: Cell<Option<Held>> = const { Cell::new(None) };
}

/// A slot that is in use until this goes.
struct Held(u32);

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(journal) = JOURNAL.get() {
            journal.lock().free.push(self.0);
        }
    }
}

struct Journal {
    map: Map,
    state: Mutex<State>,
    /// How long a network is left out at the first time.
    first_rest: Duration,
}

#[derive(Default)]
struct State {
    names: Vec<String>,
    /// Slots that nobody has.
    free: Vec<u32>,
    history: History,
    /// Networks that were refused because they are left out.
    refused: Vec<String>,
}

/// The mapped file, as words.
struct Map(MmapMut);

impl Map {
    fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path)?;
        file.set_len((WORDS * 4) as u64)?;
        // SAFETY: the store is locked for this process, so no other has the file, and nobody cuts it.
        Ok(Self(unsafe { MmapMut::map_mut(&file)? }))
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        debug_assert!(at < WORDS);
        // SAFETY: the map is page-aligned and `WORDS` words long; it is written through these atomics alone.
        unsafe { &*self.0.as_ptr().cast::<AtomicU32>().add(at.min(WORDS - 1)) }
    }

    fn name(&self, network: u32) -> Option<String> {
        let first = FIRST_NAME + (network as usize).checked_sub(1)? * NAME_BYTES / 4;
        if network as usize > NAMES {
            return None;
        }
        let words = (0..NAME_BYTES / 4).map(|n| self.word(first + n).load(Ordering::Relaxed));
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        let name = bytes.get(1..1 + usize::from(bytes[0]))?;
        String::from_utf8(name.to_vec()).ok()
    }

    fn set_name(&self, network: u32, name: &str) {
        let first = FIRST_NAME + (network as usize - 1) * NAME_BYTES / 4;
        let mut bytes = vec![u8::try_from(name.len()).unwrap_or(u8::MAX)];
        bytes.extend_from_slice(name.as_bytes());
        bytes.resize(NAME_BYTES, 0);
        for (n, word) in bytes.chunks_exact(4).enumerate() {
            let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            self.word(first + n).store(word, Ordering::Relaxed);
        }
    }

    /// Which networks the last process ended by; none where it ended otherwise. Where a thread failed that ran none, all
    /// those that ran are suspected.
    fn blamed(&self) -> Vec<String> {
        if self.word(0).load(Ordering::Relaxed) != MAGIC
            || self.word(SIGNAL).load(Ordering::Relaxed) == 0
        {
            return Vec::new();
        }
        let failed = self.name(self.word(FAILED).load(Ordering::Relaxed));
        let mut blamed: Vec<String> = match failed {
            Some(one) => vec![one],
            None => {
                let running = (0..SLOTS).map(|n| self.word(FIRST_SLOT + n).load(Ordering::Relaxed));
                running.filter_map(|network| self.name(network)).collect()
            }
        };
        blamed.sort_unstable();
        blamed.dedup();
        blamed
    }

    fn clear(&self) {
        (0..WORDS).for_each(|at| self.word(at).store(0, Ordering::Relaxed));
        self.word(0).store(MAGIC, Ordering::Relaxed);
    }
}

impl Journal {
    fn open(dir: &Path, first_rest: Duration) -> io::Result<Self> {
        let map = Map::open(&dir.join(FILE))?;
        let mut history = History::open(dir);
        let (signal, blamed) = (map.word(SIGNAL).load(Ordering::Relaxed), map.blamed());
        for network in &blamed {
            tracing::error!(
                network,
                signal,
                "engramd ended in the midst of this network; a second time within an hour, and it is left out."
            );
            history.crashed(network, now(), first_rest);
        }
        if !blamed.is_empty() {
            history.save()?;
        }
        map.clear();
        let free = (0..SLOTS as u32).rev().collect();
        let state = State { free, history, ..State::default() };
        Ok(Self { map, state: Mutex::new(state), first_rest })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// s since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Begins the journal of the process that has the store in that directory, and takes in what the last one left. A process has
/// one: at a second call nothing happens. `first_rest`: how long a network that crashed twice is left out at first.
///
/// # Errors
/// When the files cannot be written; then nothing is written down, and nothing is left out.
pub fn begin(dir: &Path, first_rest: Duration) -> io::Result<()> {
    if JOURNAL.get().is_some() {
        return Ok(());
    }
    let journal = Journal::open(dir, first_rest)?;
    if JOURNAL.set(journal).is_ok() {
        FAULTS.iter().for_each(|signal| watch(*signal));
    }
    Ok(())
}

/// A network that may be run. Cheap to copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// Its place among the names, from 1; 0: unseen.
    number: u32,
    /// Where tests let it fail.
    #[cfg(debug_assertions)]
    planned: bool,
}

impl Network {
    /// The network of that file.
    #[must_use]
    pub fn of_file(path: &Path) -> Self {
        let name = name_of(path);
        Self {
            number: number(&name),
            #[cfg(debug_assertions)]
            planned: planned_faults::concern(&name),
        }
    }

    /// It runs in this thread until what this gives is dropped.
    pub fn runs(self) -> Running {
        let running = self.opens();
        #[cfg(debug_assertions)]
        if self.planned {
            planned_faults::run();
        }
        running
    }

    /// It is being opened in this thread until what this gives is dropped.
    pub fn opens(self) -> Running {
        let mut running = Running { slot: None, before: 0 };
        if self.number > 0
            && let Some(journal) = JOURNAL.get()
            && let Some(slot) = slot(journal)
        {
            let word = journal.map.word(FIRST_SLOT + slot as usize);
            running =
                Running { slot: Some(slot), before: word.swap(self.number, Ordering::AcqRel) };
        }
        running
    }
}

/// A network is running.
#[derive(Debug)]
#[must_use]
pub struct Running {
    slot: Option<u32>,
    /// What ran around it.
    before: u32,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let (Some(slot), Some(journal)) = (self.slot, JOURNAL.get()) {
            journal.map.word(FIRST_SLOT + slot as usize).store(self.before, Ordering::Release);
        }
    }
}

/// Files are told apart by their names alone: the folder may be another one at the next start.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let end = (0..NAME_BYTES).rev().find(|end| name.is_char_boundary(*end)).unwrap_or_default();
    name[..end].to_owned()
}

fn number(name: &str) -> u32 {
    let Some(journal) = JOURNAL.get() else { return 0 };
    let mut state = journal.lock();
    let known = state.names.iter().position(|known| known == name);
    let place = known.unwrap_or(state.names.len());
    if place >= NAMES {
        return 0;
    }
    let number = place as u32 + 1;
    if known.is_none() {
        state.names.push(name.to_owned());
        journal.map.set_name(number, name);
    }
    number
}

/// The thread's slot, at first use a free one.
fn slot(journal: &Journal) -> Option<u32> {
    let held = SLOT.get();
    if held > 0 {
        return Some(held - 1);
    }
    let slot = journal.lock().free.pop()?;
    SLOT.set(slot + 1);
    // A thread that is ending has no place to note it: its slot stays taken.
    HELD.try_with(|one| one.set(Some(Held(slot)))).ok();
    Some(slot)
}

/// A thread's place in the journal, to be read by others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place(Option<u32>);

impl Place {
    /// This thread's.
    #[must_use]
    pub fn of_this_thread() -> Self {
        Self(JOURNAL.get().and_then(slot))
    }

    /// The network that runs there now.
    #[must_use]
    pub fn network(self) -> Option<String> {
        let (journal, slot) = (JOURNAL.get()?, self.0?);
        journal.map.name(journal.map.word(FIRST_SLOT + slot as usize).load(Ordering::Acquire))
    }
}

/// Why the network of that file is left out now; `None`: it may run.
#[must_use]
pub fn left_out(path: &Path) -> Option<Rest> {
    let (journal, name) = (JOURNAL.get()?, name_of(path));
    let mut state = journal.lock();
    let rest = state.history.rest(&name, now())?;
    if !state.refused.contains(&name) {
        state.refused.push(name);
    }
    Some(rest)
}

/// Whether a network that was left out may be tried anew now; each is told of once.
#[must_use]
pub fn is_any_due() -> bool {
    let Some(journal) = JOURNAL.get() else { return false };
    let (mut state, now) = (journal.lock(), now());
    let before = state.refused.len();
    let State { refused, history, .. } = &mut *state;
    refused.retain(|name| history.rest(name, now).is_some());
    refused.len() < before
}

/// Forgets the crashes of networks that have run well since.
pub fn ran_well() {
    let Some(journal) = JOURNAL.get() else { return };
    let mut state = journal.lock();
    if state.history.ran_well(now())
        && let Err(error) = state.history.save()
    {
        tracing::warn!(%error, "Which networks crashed cannot be written down; check the state directory's rights.");
    }
}

/// A network hangs, and the process is about to be restarted for it: that counts as a crash.
pub fn hung(network: &str) {
    let Some(journal) = JOURNAL.get() else { return };
    let mut state = journal.lock();
    state.history.crashed(network, now(), journal.first_rest);
    if let Err(error) = state.history.save() {
        tracing::warn!(network, %error, "That a network hangs cannot be written down; check the state directory's rights.");
    }
}

/// Crashes that count still, and networks that are left out now.
#[must_use]
pub fn counts() -> (usize, usize) {
    let Some(journal) = JOURNAL.get() else { return (0, 0) };
    let state = journal.lock();
    (state.history.crashes(), state.history.resting(now()))
}

/// The process is about to end in good order: what its libraries' own last steps do blames no network.
pub fn end() {
    ENDING.store(true, Ordering::Relaxed);
}

static ENDING: AtomicBool = AtomicBool::new(false);

/// What happened with each of [`FAULTS`] before.
static BEFORE: [OnceLock<libc::sigaction>; FAULTS.len()] =
    [const { OnceLock::new() }; FAULTS.len()];

/// Has the signal noted.
fn watch(signal: libc::c_int) {
    let Some(place) = FAULTS.iter().position(|one| *one == signal) else { return };
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = note;
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the handler touches atomics of a map that is never let go, and calls what may be called in a handler; all
    // structures are whole.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        // On a stack of its own, where the thread has one: its own may be what ran over.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        if libc::sigaction(signal, &raw const action, before.as_mut_ptr()) == 0 {
            BEFORE[place].set(before.assume_init()).ok();
        }
    }
}

/// Notes what ran in the thread that failed. In a signal handler: nothing is allocated, locked or waited for.
extern "C" fn note(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system hands over a whole structure; `getpid`, `sigaction` and `raise` may be called here.
    unsafe {
        let code = (*info).si_code;
        let from_outside = code == libc::SI_USER && (*info).si_pid() != libc::getpid();
        let counts = !from_outside && !ENDING.load(Ordering::Relaxed);
        if counts && let Some(journal) = JOURNAL.get() {
            let slot = SLOT.try_with(Cell::get).unwrap_or_default();
            let failed = match slot {
                0 => 0,
                slot => journal.map.word(FIRST_SLOT + slot as usize - 1).load(Ordering::Relaxed),
            };
            // A thread that was told to fail, and ran none, says nothing of those that ran elsewhere.
            if failed > 0 || code > 0 {
                journal.map.word(FAILED).store(failed, Ordering::Relaxed);
                journal.map.word(SIGNAL).store(signal.unsigned_abs(), Ordering::Release);
            }
        }
        let place = FAULTS.iter().position(|one| *one == signal).unwrap_or_default();
        match BEFORE[place].get() {
            // A fault comes again when this returns, and then whoever was here first tells of it.
            Some(before) if code > 0 => {
                libc::sigaction(signal, before, std::ptr::null_mut());
            }
            // One that was sent does not.
            _ => {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Command, ExitStatus, Stdio};

    use super::*;

    const CHILD: &str = "runtime::crash_journal::tests::ends_as_it_is_told";
    const DIR: &str = "ENGRAM_TEST_CRASH_DIR";
    const END: &str = "ENGRAM_TEST_CRASH_END";
    const HOUR: Duration = Duration::from_secs(3600);

    /// Not a test of its own: what the process that crashes runs.
    #[test]
    fn ends_as_it_is_told() {
        let (Ok(dir), Ok(end)) = (std::env::var(DIR), std::env::var(END)) else { return };
        begin(Path::new(&dir), HOUR).unwrap();
        let (outer, inner) =
            (Network::of_file(Path::new("a/outer.onnx")), Network::of_file(Path::new("inner.pt")));
        let _others = std::thread::spawn(move || {
            let _runs = outer.runs();
            std::thread::sleep(HOUR);
        });
        std::thread::sleep(Duration::from_millis(100));
        let crash = || {
            // SAFETY: it is not, which is the point: the process ends here.
            let length = unsafe { libc::strlen(std::hint::black_box(8) as *const libc::c_char) };
            // Or nobody would need it, and it would be left out.
            std::hint::black_box(length);
        };
        match end.as_str() {
            "inside" => {
                let _runs = inner.runs();
                crash();
            }
            "after" => {
                drop(inner.runs());
                crash();
            }
            "abort" => {
                let _runs = inner.runs();
                std::process::abort();
            }
            _ => {
                let _runs = inner.runs();
                let (pid, signal) = (std::process::id().to_string(), format!("-{end}"));
                let killed = Command::new("kill").args([&signal, &pid]).status();
                assert!(killed.unwrap().success());
                std::thread::sleep(HOUR);
            }
        }
    }

    fn ended(dir: &Path, end: &str) -> ExitStatus {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", CHILD, "--nocapture", "--test-threads=1"])
            .envs([(DIR, dir.as_os_str()), (END, end.as_ref())])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap()
    }

    /// Who is blamed by the next start, after the process ended by that signal.
    fn blamed(end: &str, signal: libc::c_int) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(ended(dir.path(), end).signal(), Some(signal), "{end}");
        let blamed = Map::open(&dir.path().join(FILE)).unwrap().blamed();
        // It is blamed once.
        let journal = Journal::open(dir.path(), HOUR).unwrap();
        assert_eq!(journal.lock().history.crashes(), blamed.len());
        assert!(journal.map.blamed().is_empty());
        blamed
    }

    #[test]
    fn the_network_in_whose_thread_the_process_failed_is_blamed() {
        assert_eq!(blamed("inside", libc::SIGSEGV), ["inner.pt"]);
        assert_eq!(blamed("abort", libc::SIGABRT), ["inner.pt"]);
        // The thread that fails runs none: what runs elsewhere may have spoilt its memory.
        assert_eq!(blamed("after", libc::SIGSEGV), ["outer.onnx"]);
    }

    #[test]
    fn a_kill_from_outside_blames_nobody() {
        assert!(blamed("KILL", libc::SIGKILL).is_empty());
        assert!(blamed("ABRT", libc::SIGABRT).is_empty());
        assert!(blamed("SEGV", libc::SIGSEGV).is_empty());
    }

    #[test]
    fn two_crashes_leave_it_out() {
        let dir = tempfile::tempdir().unwrap();
        let resting = || {
            let journal = Journal::open(dir.path(), HOUR).unwrap();
            let state = journal.lock();
            state.history.rest("inner.pt", now()).is_some()
        };
        ended(dir.path(), "inside");
        assert!(!resting());
        ended(dir.path(), "inside");
        assert!(resting());
    }

    #[test]
    fn a_file_of_something_else_blames_nobody() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), [0xFF; 5000]).unwrap();
        assert!(Map::open(&dir.path().join(FILE)).unwrap().blamed().is_empty());
        assert!(Journal::open(dir.path(), HOUR).is_ok());
    }
}
