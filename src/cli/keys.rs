//! Keys that steer a replay: the terminal without line mode, as `ros2 bag play` has it.

use std::thread;

use signal_hook::consts::{SIGCONT, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::daemon::ingest::{Command, PlaybackClock};
use crate::mqtt::message::ReplayRate;
use crate::terminal::{self, Raw};

/// One press changes the rate by this factor.
const FASTER: f64 = 1.1;
/// Frames of a burst.
const BURST: u64 = 10;
/// Seconds of a seek.
const SEEK_SECS: f64 = 30.0;
/// What a terminal sends before the letter of a key that is no character.
const ESCAPE: u8 = 0x1b;
/// No terminal sends more parameters with a key.
const MOST_PARAMETERS: usize = 32;

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    PauseOrResume,
    Step,
    Burst,
    Faster,
    Slower,
    Max,
    Forward,
    Stop,
}

impl Key {
    /// Reads the bytes that a terminal sends for one key.
    fn parse(bytes: &[u8]) -> Option<Self> {
        Some(match bytes {
            b" " => Self::PauseOrResume,
            b"s" | b"\x1b[C" | b"\x1bOC" => Self::Step,
            b"b" => Self::Burst,
            b"+" | b"\x1b[A" | b"\x1bOA" => Self::Faster,
            b"-" | b"\x1b[B" | b"\x1bOB" => Self::Slower,
            b"m" => Self::Max,
            b"f" => Self::Forward,
            b"q" => Self::Stop,
            _ => return None,
        })
    }

    fn press(self, pace: &PlaybackClock) {
        let (rate, paused) = pace.state();
        let step = |frames| {
            pace.command(Command::Pause);
            pace.command(Command::Step(frames));
        };
        match self {
            Self::PauseOrResume if paused => pace.command(Command::Resume),
            Self::PauseOrResume => pace.command(Command::Pause),
            Self::Step => step(1),
            Self::Burst => step(BURST),
            // Nothing is faster than as fast as the machine can.
            Self::Faster => pace.command(Command::Rate(rate.map(|rate| within(rate * FASTER)))),
            Self::Slower => {
                pace.command(Command::Rate(Some(rate.map_or(1.0, |rate| within(rate / FASTER)))));
            }
            Self::Max => pace.command(Command::Rate(None)),
            Self::Forward => pace.command(Command::Seek(pace.position().plus_secs(SEEK_SECS))),
            Self::Stop => pace.command(Command::Stop),
        }
    }
}

/// The nearest rate that a replay is played at.
fn within(rate: f64) -> f64 {
    rate.clamp(ReplayRate::SLOWEST, ReplayRate::FASTEST)
}

/// Bytes of a key that have come, when the rest has not: a read may hold several keys, and end within one.
#[derive(Debug, Default)]
struct Unread(Vec<u8>);

impl Unread {
    /// The keys that are whole now.
    fn keys(&mut self, read: &[u8]) -> Vec<Key> {
        self.0.extend_from_slice(read);
        let mut keys = Vec::new();
        while let Some(length) = length_of_key(&self.0) {
            let bytes: Vec<u8> = self.0.drain(..length).collect();
            keys.extend(Key::parse(&bytes));
        }
        keys
    }
}

/// How many bytes the first key has; `None`: it is not whole yet.
fn length_of_key(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [] | [ESCAPE] | [ESCAPE, b'O'] => None,
        [ESCAPE, b'O', _, ..] => Some(3),
        // Parameters, and the letter that ends it (ECMA-48, control sequences).
        [ESCAPE, b'[', rest @ ..] => {
            let parameters = rest.iter().take_while(|byte| (0x20..=0x3f).contains(*byte)).count();
            match rest.get(parameters) {
                Some(end) => Some(2 + parameters + usize::from((0x40..=0x7e).contains(end))),
                None => (parameters > MOST_PARAMETERS).then_some(2 + parameters),
            }
        }
        _ => Some(1),
    }
}

/// Takes keys while it lives and is in front; the terminal is as it was when it goes.
pub(super) struct Keys {
    _raw: Raw,
}

impl Keys {
    /// Takes keys from standard input from now on, in the background as soon as it comes to the front; `None` where it is
    /// no terminal.
    pub(super) fn listen(pace: &PlaybackClock) -> Option<Self> {
        let raw = Raw::begin()?;
        let pace = pace.clone();
        // It waits for a key when the program ends, and ends with it.
        thread::spawn(move || {
            let mut unread = Unread::default();
            terminal::read_keys(|bytes| {
                for key in unread.keys(bytes) {
                    key.press(&pace);
                }
            });
        });
        hand_over_while_stopped();
        Some(Self { _raw: raw })
    }
}

/// Ctrl-Z gives the terminal to the shell as it was; whoever is back in front takes keys again.
fn hand_over_while_stopped() {
    // Without the signals, the keys are dead after a Ctrl-Z; the replay is not.
    let Ok(mut signals) = Signals::new([SIGTSTP, SIGCONT]) else { return };
    thread::spawn(move || {
        for signal in signals.forever() {
            if signal == SIGCONT {
                terminal::take_keys();
            } else {
                terminal::lend_back();
                emulate_default_handler(signal).ok();
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_steer_the_pace() {
        let pace = PlaybackClock::new(Some(2.0), false);
        let press = |bytes: &[u8]| {
            if let Some(key) = Key::parse(bytes) {
                key.press(&pace);
            }
        };
        press(b" ");
        assert_eq!(pace.state(), (Some(2.0), true));
        press(b"\x1b[A");
        press(b" ");
        assert_eq!(pace.state(), (Some(2.2), false));
        press(b"m");
        press(b"+");
        assert_eq!(pace.state(), (None, false));
        press(b"-");
        press(b"s");
        assert_eq!(pace.state(), (Some(1.0), true));
        press(b"?");
        press(b"q");
        assert!(!pace.wait(crate::time::Timestamp::EPOCH, true));
    }

    #[test]
    fn keys_of_one_read_are_all_pressed() {
        let keys = |bytes: &[u8]| Unread::default().keys(bytes);
        assert_eq!(keys(b"\x1b[A\x1bOA\x1b[A"), [Key::Faster; 3]);
        assert_eq!(keys(&b"\x1b[B".repeat(30)), [Key::Slower; 30]);
        assert_eq!(
            keys(b"++- q"),
            [Key::Faster, Key::Faster, Key::Slower, Key::PauseOrResume, Key::Stop]
        );
        // Ctrl-Up, Page Up, Alt-x, an unknown letter: none of them stands in the way of the next.
        assert_eq!(
            keys(b"\x1b[1;5As\x1b[5~b\x1bx\x1bOPm?f"),
            [Key::Step, Key::Burst, Key::Max, Key::Forward]
        );
        // Escape itself, then an arrow; a sequence that another one breaks off.
        assert_eq!(keys(b"\x1b\x1b[B"), [Key::Slower]);
        assert_eq!(keys(b"\x1b[1;\x1b[B"), [Key::Slower]);
    }

    #[test]
    fn a_key_that_comes_in_pieces_is_one_key() {
        let whole = b"+\x1b[A \x1bOCm\x1b[1;5Bs\x1b[Bq";
        let expected = Unread::default().keys(whole);
        assert_eq!(expected.len(), 8, "{expected:?}");
        for piece in 1..whole.len() {
            let mut unread = Unread::default();
            let keys: Vec<_> = whole.chunks(piece).flat_map(|bytes| unread.keys(bytes)).collect();
            assert_eq!(keys, expected, "pieces of {piece}");
        }
        // What never ends holds nothing up for long.
        let mut unread = Unread::default();
        assert!(unread.keys(&[b"\x1b[".as_slice(), &[b'1'; 20]].concat()).is_empty());
        let keys = unread.keys(&[b'1'; 40]);
        assert!(keys.is_empty() && unread.0.is_empty(), "{unread:?}");
        assert_eq!(unread.keys(b"q"), [Key::Stop]);
    }
}
