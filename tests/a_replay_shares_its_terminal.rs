//! A replay is a job of its shell like any other: it goes on in the background, and takes keys whenever it is in front.

use std::io::{Read as _, Write as _};
use std::iter::once;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Robot, need};

/// What the progress bar shows each time it is drawn, five times a second.
const BAR: &str = " of about ";

/// A shell with job control in a terminal of its own; both end with the test.
struct Terminal {
    script: Child,
    shown: Receiver<Vec<u8>>,
    /// What it has shown and nobody waited for.
    text: String,
}

impl Terminal {
    /// `None`, with a line that says so, where none can be opened.
    fn open() -> Option<Self> {
        let spawned = Command::new("script")
            .args(["-qec", "bash --norc --noprofile -i", "/dev/null"])
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm")
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut script) = spawned else {
            println!("SKIPPED: script is not installed (apt-get install bsdutils)");
            return None;
        };
        let mut output = script.stdout.take().unwrap();
        let (show, shown) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                if show.send(bytes[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Some(Self { script, shown, text: String::new() })
    }

    fn press(&mut self, keys: &str) {
        let keyboard = self.script.stdin.as_mut().unwrap();
        keyboard.write_all(keys.as_bytes()).unwrap();
        keyboard.flush().unwrap();
    }

    /// Waits until it shows that, after what was waited for before.
    fn until(&mut self, what: &str) {
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(at) = self.text.find(what) {
                self.text.drain(..at + what.len());
                return;
            }
            let left = patience.saturating_duration_since(Instant::now());
            let Ok(bytes) = self.shown.recv_timeout(left) else {
                panic!("no {what:?} within a minute; there came {:?}", self.text);
            };
            self.text.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

/// The command as it is typed.
fn line(command: &Command) -> String {
    let words = once(command.get_program()).chain(command.get_args());
    words.map(|word| format!("'{}' ", word.to_str().unwrap())).collect()
}

#[test]
fn a_replay_in_the_background_goes_on_and_takes_keys_in_front() {
    let recording = need!("recordings/one_person_dev.mp4");
    for put_behind_by_hand in [true, false] {
        let Some(mut terminal) = Terminal::open() else { return };
        let robot = Robot::new("edge");
        let replay = robot.command(&["replay", recording.to_str().unwrap(), "--start-paused"]);
        if put_behind_by_hand {
            terminal.press(&format!("{}\n", line(&replay)));
            terminal.until(BAR);
            // Ctrl-Z.
            terminal.press("\x1a");
            terminal.until("Stopped");
            terminal.press("bg\n");
            terminal.until(" &");
        } else {
            terminal.press(&format!("{}&\n", line(&replay)));
        }
        // A job that reads its terminal from there is stopped before it comes to that.
        for _ in 0..10 {
            terminal.until(BAR);
        }
        // It runs, so bash sends it no signal when it comes to the front. It shows the job's command line then.
        terminal.press("fg\n");
        terminal.until("--start-paused");
        terminal.press("q");
        terminal.until("times real time)");
    }
}
