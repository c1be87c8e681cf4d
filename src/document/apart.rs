//! Reading a PDF in a process of its own, with limits of time and memory: whatever is in the file, only that process can fall.
//!
//! `engramd` starts itself with the word [`READ_PDF`], gives it the file's bytes on standard input, and reads the blocks as JSON from its
//! standard output.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::{Block, DocumentError, MAX_BYTES, pdf};

/// The hidden command that reads one PDF.
pub const READ_PDF: &str = "read-pdf";
/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How much processor time it may take, seconds.
const MOST_CPU_SECS: u64 = 50;
/// How much memory it may have of its own, bytes.
const MOST_MEMORY: u64 = 1 << 30;
/// The longest reply that is read, bytes.
const MOST_REPLY: u64 = 128 << 20;
/// This program, whatever became of its file meanwhile.
const SELF: &str = "/proc/self/exe";

/// The blocks of a PDF, as another process reads them.
pub(super) fn blocks(bytes: &[u8]) -> Result<Vec<Block>, DocumentError> {
    let gave_up = |why: String| DocumentError::GaveUp(why);
    let mut child = Command::new(SELF)
        .arg(READ_PDF)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| gave_up(format!("could not be begun ({error})")))?;
    let (Some(mut into), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(gave_up("could not be begun".to_owned()));
    };
    let (done, reply) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            // Whoever falls over reads no further; what it said is read below.
            let _ = into.write_all(bytes);
        });
        scope.spawn(move || {
            let mut text = Vec::new();
            let read = from.take(MOST_REPLY).read_to_end(&mut text);
            let _ = done.send(read.map(|_| text));
        });
        let reply = reply.recv_timeout(PATIENCE);
        // It has said all that it will.
        let _ = child.kill();
        let _ = child.wait();
        match reply {
            Ok(Ok(text)) => serde_json::from_slice::<Result<Vec<Block>, DocumentError>>(&text)
                .map_err(|_| gave_up("was given up: the reader fell over".to_owned()))?,
            Ok(Err(error)) => Err(gave_up(format!("was given up ({error})"))),
            Err(_) => Err(gave_up(format!("was given up after {} s", PATIENCE.as_secs()))),
        }
    })
}

/// What the process does that reads one PDF: from standard input to standard output.
///
/// # Errors
/// When either fails.
pub fn serve() -> std::io::Result<()> {
    for (what, most) in [
        (Resource::Cpu, MOST_CPU_SECS),
        (Resource::Data, MOST_MEMORY),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
    ] {
        setrlimit(what, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    let reply = pdf::blocks(&bytes);
    std::io::stdout().lock().write_all(&serde_json::to_vec(&reply)?)
}
