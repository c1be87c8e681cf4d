//! What is said and shown in the demo recording is what is answered: the recording that set-up makes, replayed with words
//! and asked what `make demo` and the README ask, and more.

use std::path::{Path, PathBuf};

use crate::support::{Robot, skipped};

#[test]
fn what_is_said_in_the_demo_is_answered() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let recording = root.join("target/demo/demo.mp4");
    let labels = root.join("target/demo/demo.truth.json");
    if !recording.exists() || !labels.exists() {
        // In CI set-up has made it.
        assert!(std::env::var_os("CI").is_none(), "{} is missing: make setup", recording.display());
        return skipped("there is no demo recording: `make setup` makes it");
    }
    let questions = root.join("benches/questions/demo.json");
    let told = |path: PathBuf| path.to_str().map(str::to_owned).expect("a path in UTF-8");
    let (recording, labels, questions) = (told(recording), told(labels), told(questions));
    let robot = Robot::new("open").set("transcriber.kind=\"auto\"");
    let found = robot.json(&[
        "bench",
        "answers",
        &recording,
        "--questions",
        &questions,
        "--labels",
        &labels,
        "--json",
    ]);
    let of = |key: &str| found[key].as_u64().expect("a count");
    assert_eq!((of("wrong"), of("invented_persons")), (0, 0), "{found:#}");
    assert!(of("questions") >= 8 && of("right") + 1 >= of("questions"), "{found:#}");
}
