//! Nothing is told to anybody whom the operator did not name.

use std::path::Path;

use crate::support::{Robot, need};

/// Every file below.
fn files(dir: &Path, into: &mut Vec<String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, into),
            false => into.push(path.display().to_string()),
        }
    }
}

#[test]
fn no_library_keeps_reports_for_its_makers() {
    let recording = need!("recordings/one_person_dev.mp4");
    let robot = Robot::new("edge");
    let home = tempfile::tempdir().unwrap();
    let mut command = robot.command(&["replay", recording.to_str().unwrap(), "--duration", "3"]);
    command.env("HOME", home.path());
    // What keeps ONNX Runtime silent must come from engramd itself, not from where tests run.
    for name in ["XDG_CACHE_HOME", "ORT_DISABLE_TELEMETRY", "CI", "TF_BUILD", "GITHUB_ACTIONS"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut left = Vec::new();
    files(home.path(), &mut left);
    // GStreamer's list of its plugins.
    left.retain(|path| !path.contains("/gstreamer-1.0/"));
    assert!(left.is_empty(), "{left:?}");
}
