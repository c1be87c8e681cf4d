//! What goes wrong around a robot, for real: a camera's host that dies, a disk that is full, a clock that jumps.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::broker::free_port;
use super::{absent, skipped};

/// A network camera: another process that sends a test picture to whoever connects. Ends with the test.
pub struct NetworkCamera {
    port: u16,
    host: Option<Child>,
}

impl NetworkCamera {
    /// `None`, with a line that says so, where GStreamer's tools are not installed.
    pub fn start() -> Option<Self> {
        if Command::new("gst-launch-1.0").arg("--version").output().is_err() {
            absent("gst-launch-1.0 is not installed (apt-get install gstreamer1.0-tools)");
            return None;
        }
        let mut camera = Self { port: free_port(), host: None };
        camera.plug_in();
        Some(camera)
    }

    /// The pipeline of a `[[camera]]` that looks through it.
    pub fn pipeline(&self) -> String {
        format!(
            "tcpclientsrc host=127.0.0.1 port={} ! rawvideoparse width=160 height=120 format=i420 framerate=10/1 ! \
             appsink name=video sync=false",
            self.port
        )
    }

    /// It is there, at the first time or again.
    pub fn plug_in(&mut self) {
        let launch = format!(
            "videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=160,height=120,framerate=10/1 ! \
             tcpserversink host=127.0.0.1 port={}",
            self.port
        );
        let host = Command::new("gst-launch-1.0")
            .args(launch.split_whitespace())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.host = Some(host.unwrap());
    }

    /// It is gone, without a word.
    pub fn unplug(&mut self) {
        if let Some(mut host) = self.host.take() {
            let _ = host.kill();
            let _ = host.wait();
        }
    }
}

impl Drop for NetworkCamera {
    fn drop(&mut self) {
        self.unplug();
    }
}

/// A disk of its own for a folder, small enough to be filled: a tmpfs, which takes root. Gone with the test.
pub struct SmallDisk {
    folder: PathBuf,
}

impl SmallDisk {
    /// `None`, with a line that says so, where nothing may be mounted.
    pub fn mount(folder: &Path, megabytes: u32) -> Option<Self> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "engram-test"])
            .arg(folder)
            .output();
        if !mounted.is_ok_and(|done| done.status.success()) {
            skipped("no disk to be filled: mounting a tmpfs takes root");
            return None;
        }
        Some(Self { folder: folder.to_owned() })
    }

    fn filler(&self) -> PathBuf {
        self.folder.join("filler")
    }

    /// Not a byte is free any more.
    pub fn fill(&self) {
        let mut file = File::create(self.filler()).unwrap();
        for size in [1 << 20, 4096, 1] {
            let bytes = vec![7u8; size];
            while file.write_all(&bytes).is_ok() {}
        }
    }

    /// There is room again.
    pub fn free(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.folder).status();
    }
}

/// The daemon's wall clock, which can be set without touching the machine's.
pub struct WallClock {
    dir: tempfile::TempDir,
    offset_nanos: i64,
}

impl WallClock {
    /// `None`, with a line that says so, where there is no C compiler.
    pub fn new() -> Option<Self> {
        let clock = Self { dir: tempfile::tempdir().unwrap(), offset_nanos: 0 };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/clock_offset.c");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([clock.library(), source])
            .output();
        if !built.is_ok_and(|done| done.status.success()) {
            absent("cc cannot build a clock (apt-get install build-essential)");
            return None;
        }
        std::fs::write(clock.file(), 0i64.to_ne_bytes()).unwrap();
        Some(clock)
    }

    fn library(&self) -> PathBuf {
        self.dir.path().join("clock_offset.so")
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("offset")
    }

    /// Lets a program go by it.
    pub fn given_to(&self, command: &mut Command) {
        command.env("LD_PRELOAD", self.library()).env("CLOCK_OFFSET_FILE", self.file());
    }

    /// It jumps, for whoever runs and whoever is started.
    pub fn jump(&mut self, secs: i64) {
        self.offset_nanos += secs * 1_000_000_000;
        let file = File::options().write(true).open(self.file()).unwrap();
        file.write_all_at(&self.offset_nanos.to_ne_bytes(), 0).unwrap();
    }
}
