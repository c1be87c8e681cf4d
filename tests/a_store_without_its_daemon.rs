//! With `--data-dir` commands work on the store itself: what is told, named and erased without a daemon.

use serde_json::Value;

use crate::support::broker::wait_for;
use crate::support::daemon::{Daemon, embedded};
use crate::support::{Robot, need};

#[test]
fn a_note_a_name_and_an_erasure_without_a_daemon() {
    let recording = need!("recordings/one_person_dev.mp4");
    let robot = Robot::new("edge");
    robot.replay(&recording, &["--duration", "12"]);
    let person = |robot: &Robot| robot.json(&["people", "--json"])[0].clone();
    let id = person(&robot)["id"].as_str().unwrap().to_owned();
    robot.json(&["name", &id, "Ava", "--json"]);
    assert_eq!(person(&robot)["name"], "Ava");
    let told = ["remember", "The blue folder is on the piano.", "--about", "Ava", "--json"];
    let note = robot.json(&told);
    assert_eq!(note["entities"], serde_json::json!([id]));
    let ask = |question: &str| robot.json(&["ask", question, "--json"]);
    let folder = ask("Where is the blue folder?");
    assert!(folder["answer"].as_str().unwrap().contains("piano"), "{folder}");
    assert_eq!(ask("Who was here?")["entities"], serde_json::json!([id]));
    // A fact without a sentence is one like any other: the second home ends the first.
    for home in ["Bonn", "Cologne"] {
        robot.json(&["remember", "--fact", "Ava", "home", home, "--json"]);
    }
    let profile = robot.json(&["profile", "Ava", "--json"]);
    let facts = profile["facts"].as_array().unwrap();
    let homes: Vec<&Value> = facts.iter().filter(|fact| fact["attribute"] == "home").collect();
    assert_eq!(homes.len(), 1, "{profile}");
    assert_eq!(homes[0]["value"], "Cologne", "{profile}");

    let goes = robot.json(&["forget", "--entity", "Ava", "--dry-run", "--json"]);
    assert_eq!((&goes["persons"], &goes["faces"]), (&1.into(), &1.into()), "{goes}");
    let told = robot.run(&["forget", "--entity", "Ava", "--dry-run"]).stdout;
    assert!(String::from_utf8_lossy(&told).contains("nothing is"));
    assert_eq!(robot.json(&["people", "--json"]).as_array().map(Vec::len), Some(1));
    let gone = robot.json(&["forget", "--entity", "Ava", "--json"]);
    assert_eq!((&gone["rows"], &gone["files"]), (&goes["rows"], &goes["files"]));
    assert!(robot.json(&["people", "--json"]).as_array().is_some_and(Vec::is_empty));
    let gone: Value = robot.json(&["ask", "When did you last see Ava?", "--json"]);
    assert_eq!(gone["abstained"], true, "{gone}");
}

#[test]
fn somebody_nobody_has_met_is_told_of_and_facts_go_by_any_of_their_parts() {
    let robot = Robot::new("edge");
    let told = robot.json(&["remember", "Zoe likes jazz.", "--json"]);
    robot.json(&["remember", "--fact", "Zoe", "home", "Bonn", "--json"]);
    robot.json(&["remember", "--fact", "Zoe", "home", "Cologne", "--json"]);
    robot.json(&["remember", "Zoe is left-handed.", "--about", "Zoe", "--json"]);
    let people = robot.json(&["people", "--json"]);
    let [zoe] = people.as_array().unwrap().as_slice() else { panic!("{people}") };
    assert_eq!((&zoe["name"], &zoe["faces"]), (&"Zoe".into(), &serde_json::json!([])));
    assert_eq!(told["entities"], serde_json::json!([zoe["id"]]));
    let ask = |question: &str| robot.json(&["ask", question, "--json"]);
    assert!(ask("What does Zoe like?")["answer"].as_str().unwrap().contains("Zoe likes jazz"));
    let home = ask("Where does Zoe live?");
    assert!(home["answer"].as_str().unwrap().starts_with("In Cologne"), "{home}");

    let recall = |parts: [&str; 3]| {
        let found = robot.json(&[&["recall", "--json", "--fact"][..], &parts].concat());
        let hits = found["hits"].as_array().unwrap().clone();
        hits.iter().map(|hit| hit["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(recall(["Zoe", "likes", "?"]), ["Zoe likes jazz."]);
    assert_eq!(
        recall(["Zoe", "home", "?"]),
        ["Zoe lives in Cologne.", "Zoe lives in Bonn."],
        "what holds comes first"
    );
    assert_eq!(recall(["?", "?", "jazz"]), ["Zoe likes jazz."]);
    robot.json(&["forget", "--json", "--fact", "Zoe", "likes", "?"]);
    assert!(recall(["Zoe", "likes", "?"]).is_empty());
    assert_eq!(ask("What does Zoe like?")["answer"].as_str().unwrap().find("jazz"), None);
    assert_eq!(robot.run(&["forget", "--fact", "Zoe", "likes", "?"]).status.code(), Some(1));
}

/// Writes nonsense over the header of a page in the middle of what a table holds; the page's number.
fn damage(robot: &Robot, table: &str) -> i64 {
    let path = robot.dir.path().join("engram.db");
    let leaves: Vec<i64> = {
        let db = rusqlite::Connection::open(&path).unwrap();
        let find = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno";
        let mut pages = db.prepare(find).unwrap();
        pages.query_map([table], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let page = leaves[leaves.len() / 2];
    let mut bytes = std::fs::read(&path).unwrap();
    let begin = (page as usize - 1) * 4096;
    bytes[begin..begin + 12].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    page
}

#[test]
fn a_damaged_store_is_named_and_mended() {
    let robot = Robot::new("edge");
    // Long ones: they lie on several pages.
    let more = " It is wrapped in paper, as it came, and nobody has used it yet.".repeat(12);
    for number in 0..12 {
        let note = format!("The spare bulb number {number} is in drawer {number}.{more}");
        let told = robot.run(&["remember", &note, "--json"]);
        assert_eq!(told.status.code(), Some(0), "{}", String::from_utf8_lossy(&told.stderr));
    }
    let said = |args: &[&str], code: i32| {
        let done = robot.run(args);
        let (out, err) = (done.stdout, done.stderr);
        let text = String::from_utf8_lossy(&out).into_owned() + &String::from_utf8_lossy(&err);
        assert_eq!(done.status.code(), Some(code), "{args:?}: {text}");
        text
    };
    let page = damage(&robot, "memory");
    let place = format!("table memory, page {page}: its header is damaged");
    assert!(said(&["check"], 3).contains(&place));
    assert!(said(&["recall", "bulb"], 1).contains("`engramd check --repair`"));
    let mended = said(&["check", "--repair"], 3);
    assert!(mended.contains(&place) && mended.contains("engram-damaged-1.db"), "{mended}");
    assert!(mended.contains("table memory: ") && mended.contains(" at most)"), "{mended}");
    assert!(said(&["check"], 0).contains("no fault found"));
    let found = said(&["recall", "spare bulb in a drawer", "--json"], 0);
    assert!(found.contains("spare bulb number"), "{found}");
    // What counts what was recalled is done without.
    damage(&robot, "audit");
    assert!(said(&["check"], 3).contains("table audit, page"));
    let note = "The ladder is in the shed.";
    said(&["remember", note, "--json"], 0);
    said(&["check", "--repair"], 3);
    assert!(said(&["ask", "Where is the ladder?"], 0).contains("shed"));
}

/// A key frame of a store: a whole picture with a face in it.
fn key_frame(robot: &Robot) -> std::path::PathBuf {
    let mut open = vec![robot.dir.path().join("media")];
    let mut found = Vec::new();
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if std::fs::read(&path).is_ok_and(|bytes| {
                image::load_from_memory(&bytes).is_ok_and(|picture| picture.width() == 640)
            }) {
                found.push(path);
            }
        }
    }
    found.sort();
    found.remove(0)
}

/// Every file below a folder with its bytes.
fn every_file(root: &std::path::Path) -> std::collections::BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut open = vec![root.to_owned()];
    let mut found = std::collections::BTreeMap::new();
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.clone(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn an_enrolment_reaches_the_daemon_that_runs() {
    let recording = need!("recordings/one_person_dev.mp4");
    let (robot, _, port) = embedded();
    let _daemon = Daemon::start(&robot, &["run"]);
    wait_for("the broker", 60, || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
    let told = robot.json(&["name", "--voice", recording.to_str().unwrap(), "Ava", "--json"]);
    assert_eq!((&told["ok"], &told["new"]), (&true.into(), &true.into()), "{told}");
    let people = robot.json(&["people", "--json"]);
    assert_eq!((&people[0]["name"], &people[0]["id"]), (&"Ava".into(), &told["entity"]));
    let rows = || {
        robot
            .database()
            .query_row("SELECT max(seq) FROM commits", [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    let before = rows();
    let heard = robot.json(&["identify", "--voice", recording.to_str().unwrap(), "--json"]);
    assert_eq!((&heard["person"], &heard["ok"]), (&told["entity"], &Value::Null), "{heard}");
    assert_eq!(rows(), before, "nothing was written");
}

#[test]
fn who_was_enrolled_is_known_when_they_come() {
    let recording = need!("recordings/one_person_dev.mp4");
    let crowd = need!("recordings/faces/multiface_6.jpg");
    let stranger = need!("recordings/faces/lfw/Ariel_Sharon/Ariel_Sharon_0001.jpg");
    let once = Robot::new("edge");
    once.replay(&recording, &["--duration", "6"]);
    let photo = key_frame(&once);
    let (photo, voice) = (photo.to_str().unwrap(), recording.to_str().unwrap());

    let robot = Robot::new("edge");
    let told = robot.json(&["name", "--photo", photo, "--voice", voice, "Ava", "--json"]);
    assert_eq!((&told["name"], &told["new"]), (&"Ava".into(), &true.into()), "{told}");
    robot.replay(&recording, &[]);
    let people = robot.json(&["people", "--json"]);
    assert_eq!(people.as_array().unwrap().len(), 1, "{people}");
    assert_eq!((&people[0]["name"], &people[0]["id"]), (&"Ava".into(), &told["entity"]));
    assert!(people[0]["seen_secs"].as_f64().unwrap() > 25.0, "{people}");
    assert!(people[0]["spoken_secs"].as_f64().unwrap() > 15.0, "{people}");

    // Whoever is shown is found, and nothing at all is written.
    let files = |robot: &Robot| every_file(robot.dir.path());
    let before = files(&robot);
    let shown = robot.json(&["identify", "--photo", photo, "--json"]);
    assert_eq!((&shown["person"], &shown["name"]), (&told["entity"], &"Ava".into()), "{shown}");
    let (score, threshold) = (&shown["matches"][0]["score"], &shown["threshold"]);
    assert!(score.as_f64() >= threshold.as_f64(), "{shown}");
    let heard = robot.json(&["identify", "--voice", voice, "--json"]);
    assert_eq!((&heard["what"], &heard["person"]), (&"voice".into(), &told["entity"]), "{heard}");
    let shown = robot.json(&["identify", "--photo", stranger.to_str().unwrap(), "--json"]);
    assert_eq!((&shown["person"], &shown["known"]), (&Value::Null, &1.into()), "{shown}");
    assert!(shown["matches"][0]["score"].as_f64() < shown["threshold"].as_f64(), "{shown}");
    let said = robot.run(&["identify", "--photo", crowd.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains(" faces in it (") && said.contains(" px at "), "{said}");
    assert_eq!(robot.run(&["identify"]).status.code(), Some(2));
    assert_eq!(files(&robot), before, "not one bit of the store is another");

    // The same voice as the robot's own: the face alone is a person, and nothing said is remembered of anybody.
    let deaf = Robot::new("edge");
    deaf.json(&["name", "--self", "--voice", voice, "--json"]);
    deaf.replay(&recording, &[]);
    let people = deaf.json(&["people", "--json"]);
    let persons: Vec<&Value> =
        people.as_array().unwrap().iter().filter(|one| one["id"] != "self").collect();
    assert_eq!(persons.len(), 1, "{people}");
    assert_eq!(persons[0]["voices"], serde_json::json!([]));

    let crowd = robot.run(&["name", "--photo", crowd.to_str().unwrap(), "Ben"]);
    let said = String::from_utf8_lossy(&crowd.stderr).into_owned();
    assert!(crowd.status.code() == Some(1) && said.contains(" faces in it ("), "{said}");
    let nobody = robot.run(&["name", "--voice", voice]);
    assert_eq!(nobody.status.code(), Some(2), "{}", String::from_utf8_lossy(&nobody.stderr));
}
