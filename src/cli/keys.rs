//! Keys that steer a replay: the terminal without line mode, as `ros2 bag play` has it.

use std::io::{IsTerminal as _, Read as _, stdin};
use std::thread;

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use crate::daemon::ingest::{Command, Pace};
use crate::mqtt::message::ReplayRate;

/// One press changes the rate by this factor.
const FASTER: f64 = 1.1;
/// Frames of a burst.
const BURST: u64 = 10;
/// Seconds of a seek.
const SEEK_SECS: f64 = 30.0;

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

    fn press(self, pace: &Pace) {
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

/// The terminal as it was, restored when this goes.
pub(super) struct Keys(Termios);

impl Keys {
    /// Takes keys from standard input from now on; `None` where it is no terminal.
    pub(super) fn listen(pace: &Pace) -> Option<Self> {
        if !stdin().is_terminal() {
            return None;
        }
        let before = tcgetattr(stdin()).ok()?;
        let mut raw = before.clone();
        // Keys one by one and unseen; Ctrl-C stays what it is.
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(stdin(), OptionalActions::Now, &raw).ok()?;
        let pace = pace.clone();
        // It waits for a key when the program ends, and ends with it.
        thread::spawn(move || {
            let mut bytes = [0; 8];
            while let Ok(read @ 1..) = stdin().lock().read(&mut bytes) {
                if let Some(key) = bytes.get(..read).and_then(Key::parse) {
                    key.press(&pace);
                }
            }
        });
        Some(Self(before))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_steer_the_pace() {
        let pace = Pace::new(Some(2.0), false);
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
}
