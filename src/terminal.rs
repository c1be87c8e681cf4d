//! The terminal: its keys one by one while a command wants them, and as it was before however the process ends.

use std::io::{IsTerminal as _, stdin};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};

/// The terminal as it was; `None` while nobody wants its keys.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Keys come one by one and unseen until this goes.
#[derive(Debug)]
pub struct Raw(());

impl Raw {
    /// From now on; `None` where standard input is no terminal or another's, or where it is so already.
    #[must_use]
    pub fn begin() -> Option<Self> {
        let mut before = before();
        if before.is_some() || !stdin().is_terminal() || is_behind() {
            return None;
        }
        let modes = tcgetattr(stdin()).ok()?;
        set_raw(&modes)?;
        *before = Some(modes);
        Some(Self(()))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        lend_back();
        before().take();
    }
}

/// The terminal as it was, for whoever has it meanwhile; [`take_again`] takes the keys back.
pub fn lend_back() {
    if let Some(modes) = &*before()
        && !is_behind()
    {
        let _ = tcsetattr(stdin(), OptionalActions::Now, modes);
    }
}

/// Keys one by one again, where they are wanted: a shell that had the terminal meanwhile has changed it.
pub fn take_again() {
    if let Some(modes) = &*before()
        && !is_behind()
    {
        set_raw(modes);
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

fn before() -> MutexGuard<'static, Option<Termios>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keys one by one and unseen; Ctrl-C stays what it is.
fn set_raw(modes: &Termios) -> Option<()> {
    let mut raw = modes.clone();
    raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    raw.special_codes[SpecialCodeIndex::VMIN] = 1;
    raw.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(stdin(), OptionalActions::Now, &raw).ok()
}
