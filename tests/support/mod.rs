//! What every promise's test needs: the shared recordings, the binary, a scratch folder.

pub mod alike;
pub mod broker;
pub mod companion;
pub mod daemon;
pub mod faults;
pub mod llm_server;
pub mod onnx;
pub mod recogniser;
pub mod video;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The folder of recordings and models: `ENGRAM_SHARED`, else `../shared` beside the checkout.
fn shared_folder() -> PathBuf {
    std::env::var_os("ENGRAM_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from)
}

/// Something in the folder of recordings and models; `None`, with a line that says so, where it is not there.
pub fn shared(path: &str) -> Option<PathBuf> {
    let full = shared_folder().join(path);
    if full.exists() {
        return Some(full);
    }
    absent(&format!("{} is not there (set ENGRAM_SHARED)", full.display()));
    None
}

/// Says what a test leaves out, for want of what not every machine can have: root, a camera. `scripts/prove.sh` looks
/// for this word: a part that left something out has not held.
pub fn skipped(why: &str) {
    println!("SKIPPED: {why}");
}

/// The same, for want of what `make setup` brings or the shared folder holds: in CI, with that folder, a failure.
pub fn absent(why: &str) {
    let complete = std::env::var_os("CI").is_some() && shared_folder().exists();
    assert!(!complete, "{why}; in CI nothing may be left out for that");
    skipped(why);
}

/// Leaves the test when a shared file is not there.
macro_rules! need {
    ($path:expr) => {
        match $crate::support::shared($path) {
            Some(path) => path,
            None => return,
        }
    };
}
pub(crate) use need;

/// `engramd` with a store of its own.
pub struct Robot {
    /// `--data-dir`; gone when the robot is dropped.
    pub dir: tempfile::TempDir,
    /// Arguments of every call, e.g. `--set models.set="edge"`.
    pub settings: Vec<String>,
}

impl Robot {
    /// An empty store, model set `edge` or `open`, no words unless a test asks for them.
    pub fn new(set: &str) -> Self {
        let dir = tempfile::tempdir().expect("a scratch folder");
        let mut settings = vec!["--set".to_owned(), format!("models.set={set:?}")];
        // Many run at the same time.
        for one in ["transcriber.kind=\"none\"", "http.listen=\"none\""] {
            settings.extend(["--set".to_owned(), one.to_owned()]);
        }
        if let Some(mirror) = shared("models") {
            settings.extend(["--set".to_owned(), format!("models.mirror={mirror:?}")]);
        }
        Self { dir, settings }
    }

    /// One more `--set`.
    pub fn set(mut self, assignment: &str) -> Self {
        self.settings.extend(["--set".to_owned(), assignment.to_owned()]);
        self
    }

    /// The command line, ready to be started.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engramd"));
        command.args(args).arg("--data-dir").arg(self.dir.path()).args(&self.settings);
        command
    }

    /// Runs to the end.
    pub fn run(&self, args: &[&str]) -> Output {
        let output = self.command(args).output().expect("engramd starts");
        if !output.status.success() {
            println!("{args:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        output
    }

    /// Runs to the end, must succeed, and reads the one JSON document it prints.
    pub fn json(&self, args: &[&str]) -> Value {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?} failed");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!(
                "{args:?} printed no JSON ({error}): {}",
                String::from_utf8_lossy(&output.stdout)
            )
        })
    }

    /// The store's file, opened for reading beside whoever writes: for what `sql` shows nobody.
    pub fn database(&self) -> rusqlite::Connection {
        let file = self.dir.path().join("engram.db");
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let db = rusqlite::Connection::open_with_flags(file, flags).expect("a store");
        db.busy_timeout(std::time::Duration::from_secs(5)).expect("a time-out");
        db
    }

    /// Runs to the end, must succeed, and reads the JSON lines it prints.
    pub fn json_lines(&self, args: &[&str]) -> Vec<Value> {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?} failed");
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(|line| serde_json::from_str(line).expect("a JSON line"))
            .collect()
    }

    /// Remembers a recording.
    pub fn replay(&self, recording: &Path, more: &[&str]) -> Vec<Value> {
        let path = recording.to_str().expect("a path in UTF-8");
        let mut args = vec!["replay", path, "--json"];
        args.extend(more);
        self.json_lines(&args)
    }

    /// `export --hash`.
    pub fn hash(&self) -> String {
        self.json(&["export", "--hash"])["hash"].as_str().expect("a hash").to_owned()
    }
}
