//! The terminal: its keys one by one while a command wants them and has it in front, and as it was before however the
//! process ends.

use std::io::{ErrorKind, IsTerminal as _, Read as _, stdin};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};

/// How often a process in the background looks whether it is in front again. Nothing tells it: `fg` of bash sends SIGCONT
/// only to a job that stands still.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Whose the keys are.
enum Keys {
    /// Nobody wants them.
    Unwanted,
    /// Somebody does, who has never had the terminal in front.
    Wanted,
    /// They came one by one at least once; the terminal as it was before.
    Taken(Termios),
}

static KEYS: Mutex<Keys> = Mutex::new(Keys::Unwanted);

/// Keys come one by one and unseen until this goes, whenever the process is in front.
#[derive(Debug)]
pub struct Raw(());

impl Raw {
    /// From now on; `None` where standard input is no terminal, or where it is so already.
    #[must_use]
    pub fn begin() -> Option<Self> {
        let mut keys = keys();
        if !matches!(*keys, Keys::Unwanted) || !stdin().is_terminal() {
            return None;
        }
        *keys = Keys::Wanted;
        drop(keys);
        take_keys();
        Some(Self(()))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        lend_back();
        *keys() = Keys::Unwanted;
    }
}

/// The terminal as it was, for whoever has it meanwhile; [`take_keys`] takes the keys back.
pub fn lend_back() {
    if let Keys::Taken(modes) = &*keys()
        && !is_behind()
    {
        let _ = tcsetattr(stdin(), OptionalActions::Now, modes);
    }
}

/// Keys one by one from now on, where they are wanted and the process is in front: a shell that had the terminal
/// meanwhile has changed it.
pub fn take_keys() {
    let mut keys = keys();
    if is_behind() {
        return;
    }
    if matches!(*keys, Keys::Wanted)
        && let Ok(modes) = tcgetattr(stdin())
    {
        *keys = Keys::Taken(modes);
    }
    if let Keys::Taken(modes) = &*keys {
        set_raw(modes);
    }
}

/// Hands over what is typed until the terminal is gone. In the background it waits, and the process goes on; in front
/// again it takes the keys again. For a thread of its own, which has SIGTTIN blocked from then on.
pub fn read_keys(mut typed: impl FnMut(&[u8])) {
    fail_behind();
    let (mut bytes, mut failed) = ([0; 64], false);
    loop {
        if is_behind() {
            while is_behind() {
                thread::sleep(LOOK_EVERY);
            }
            take_keys();
        }
        let read = stdin().lock().read(&mut bytes);
        match read {
            Ok(0) => return,
            Ok(read) => {
                failed = false;
                typed(bytes.get(..read).unwrap_or_default());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // The first time it may have come to the front since.
            Err(_) if failed && !is_behind() => return,
            Err(_) => failed = true,
        }
    }
}

/// Ends the process at once, and leaves the terminal as it was. At once: the libraries' own clearing up would take away
/// from under the other threads what they still work with.
pub fn exit(code: i32) -> ! {
    lend_back();
    signal_hook::low_level::exit(code)
}

/// Whether somebody else has the terminal now: a shell that runs this in the background. Whoever changed its modes then
/// would be stopped (SIGTTOU).
fn is_behind() -> bool {
    tcgetpgrp(stdin()).is_ok_and(|in_front| in_front != getpgrp())
}

fn keys() -> MutexGuard<'static, Keys> {
    KEYS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keys one by one and unseen; Ctrl-C stays what it is.
fn set_raw(modes: &Termios) {
    let mut raw = modes.clone();
    raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    raw.special_codes[SpecialCodeIndex::VMIN] = 1;
    raw.special_codes[SpecialCodeIndex::VTIME] = 0;
    let _ = tcsetattr(stdin(), OptionalActions::Now, &raw);
}

/// From now on this thread's reads of a terminal that somebody else has fail (EIO), also those that have begun before a
/// stop. Else each of them would stop the whole process (SIGTTIN).
fn fail_behind() {
    let mut signals = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` fills the set before it is read, the others read or write that set alone, and none keeps its
    // address. A mask concerns the calling thread only.
    unsafe {
        libc::sigemptyset(signals.as_mut_ptr());
        libc::sigaddset(signals.as_mut_ptr(), libc::SIGTTIN);
        libc::pthread_sigmask(libc::SIG_BLOCK, signals.as_ptr(), ptr::null_mut());
    }
}
