//! The daemon as a process of its own.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Robot;
use super::broker::{free_port, wait_for};

/// A daemon that is killed when the test is over.
pub struct Daemon {
    child: Child,
}

impl Daemon {
    /// Starts it with that robot's settings.
    pub fn start(robot: &Robot, args: &[&str]) -> Self {
        Self::spawn(robot.command(args))
    }

    /// Starts it with that command line.
    pub fn spawn(mut command: Command) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        Self { child }
    }

    /// SIGKILL, and waits until it is gone.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The signal by which it ended, when it has.
    pub fn crashed(&mut self) -> Option<i32> {
        self.child.try_wait().unwrap().and_then(|status| status.signal())
    }

    /// Its exit code, when it has ended by itself.
    pub fn ended(&mut self) -> Option<Option<i32>> {
        self.child.try_wait().unwrap().map(|status| status.code())
    }

    /// Reads JSON lines up to the one that says that the recording is done.
    pub fn played(&mut self) -> Vec<Value> {
        let mut lines = Vec::new();
        for line in BufReader::new(self.child.stdout.take().unwrap()).lines() {
            let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
            let done = line["done"] == true;
            lines.push(line);
            if done {
                break;
            }
        }
        lines
    }

    /// Sends it `-TERM`, `-HUP`, ….
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    /// SIGTERM; gives back the exit code and how long it took.
    pub fn terminate(mut self) -> (Option<i32>, Duration) {
        let began = Instant::now();
        self.signal("-TERM");
        let status = wait_for("the daemon's end", 10, || self.child.try_wait().unwrap());
        (status.code(), began.elapsed())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A robot `rob` with an embedded broker on free ports (MQTT 3.1.1, 5).
pub fn embedded() -> (Robot, u16, u16) {
    let (v4, v5) = (free_port(), free_port());
    let robot = Robot::new("edge")
        .set("robot.id=rob")
        .set(&format!("mqtt.listen=127.0.0.1:{v4}"))
        .set(&format!("mqtt.listen_v5=127.0.0.1:{v5}"));
    (robot, v4, v5)
}
