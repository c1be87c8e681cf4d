//! Who was there from when to when, and standing questions about it: held to the labels of the recordings, and told by a broker
//! once, whoever is killed in between.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::broker::{Listener, Mosquitto, wait_for};
use crate::support::daemon::{Daemon, embedded};
use crate::support::{Robot, need, shared};

/// How near a visit's beginning and end are to the labels', seconds.
const NEAR_SECS: f64 = 2.0;
/// The woman in a garden, and the man by a curtain.
const AVA: &str = "talk_latentsync_demo1";
const BEN: &str = "talk_latentsync_demo3";

/// From when to when, seconds from the recording's start.
type Stay = (f64, f64);

/// What the labels say: each identity's visits. No gap in them is nearer than a second to `absence`.
fn labelled(recording: &str, absence: f64) -> Option<(BTreeMap<String, Vec<Stay>>, i64)> {
    let path = shared(&format!("recordings/{recording}.json"))?;
    let labels: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut visits = BTreeMap::new();
    for identity in labels["identities"].as_array().unwrap() {
        let spans = ["visible", "speaking"].map(|kind| identity[kind].as_array().unwrap().clone());
        let secs = |span: &Value, key: &str| span[key].as_f64().unwrap();
        let mut spans: Vec<Stay> =
            spans.concat().iter().map(|span| (secs(span, "start"), secs(span, "end"))).collect();
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut own: Vec<Stay> = Vec::new();
        for (start, end) in spans {
            match own.last_mut() {
                Some(last) if start - last.1 < absence => last.1 = last.1.max(end),
                _ => own.push((start, end)),
            }
        }
        visits.insert(identity["id"].as_str().unwrap().to_owned(), own);
    }
    Some((visits, labels["start_unix_ns"].as_i64().unwrap()))
}

/// Seconds from the recording's start.
fn secs(at: &Value, start: i64) -> f64 {
    let at: jiff::Timestamp = at.as_str().unwrap().parse().unwrap();
    (at.as_nanosecond() - i128::from(start)) as f64 / 1e9
}

/// What the robot says: each person's visits from the recording's start on.
fn remembered(robot: &Robot, start: i64) -> BTreeMap<String, Vec<Stay>> {
    let mut visits: BTreeMap<String, Vec<Stay>> = BTreeMap::new();
    for visit in robot.json(&["visits", "--json"])["visits"].as_array().unwrap() {
        assert_eq!(visit["over"], true, "{visit}");
        let stay = (secs(&visit["start"], start), secs(&visit["end"], start));
        if (0.0..100_000.0).contains(&(stay.0 + 1.0)) {
            visits.entry(visit["person"].as_str().unwrap().to_owned()).or_default().push(stay);
        }
    }
    visits
}

fn are_near(a: &[Stay], b: &[Stay]) -> bool {
    let near =
        |(a, b): (&Stay, &Stay)| (a.0 - b.0).abs() <= NEAR_SECS && (a.1 - b.1).abs() <= NEAR_SECS;
    a.len() == b.len() && a.iter().zip(b).all(near)
}

/// Which person each identity is; panics where one has no person whose visits are theirs, or a person is left over.
fn matched(
    labels: &BTreeMap<String, Vec<Stay>>,
    persons: &BTreeMap<String, Vec<Stay>>,
) -> BTreeMap<String, String> {
    let mut whose = BTreeMap::new();
    for (identity, stays) in labels {
        let found = persons.iter().find(|(_, own)| are_near(stays, own));
        let Some((person, _)) = found else {
            panic!("nobody's visits are those of {identity}, {stays:?}: {persons:?}")
        };
        whose.insert(identity.clone(), person.clone());
    }
    let taken: BTreeSet<&String> = whose.values().collect();
    assert_eq!(taken.len(), persons.len(), "{labels:?}\n{persons:?}");
    whose
}

fn every_visit_is_right(recording: &str, absence: f64) {
    let Some((labels, start)) = labelled(recording, absence) else { return };
    let file = shared(&format!("recordings/{recording}.mp4")).unwrap();
    let robot = Robot::new("edge").set(&format!("visits.absence_secs={absence:?}"));
    robot.replay(&file, &[]);
    let whose = matched(&labels, &remembered(&robot, start));
    // The view says the same.
    let sql = "SELECT person, start, \"end\" FROM visits ORDER BY start, person";
    let rows = robot.json(&["sql", sql, "--json"])["rows"].as_array().unwrap().clone();
    assert_eq!(rows.len(), labels.values().map(Vec::len).sum::<usize>(), "{rows:?}");
    for row in rows {
        let person = whose.iter().find(|(_, person)| row[0] == person.as_str()).unwrap();
        let at = |value: &Value| (value.as_i64().unwrap() - start) as f64 / 1e9;
        let stay = (at(&row[1]), at(&row[2]));
        assert!(labels[person.0].iter().any(|own| are_near(&[*own], &[stay])), "{row}");
    }
}

#[test]
fn the_visit_of_one_person_is_right() {
    every_visit_is_right("one_person_dev", 10.0);
}

#[test]
fn visits_of_two_people_are_right() {
    every_visit_is_right("two_people_dev", 10.0);
    every_visit_is_right("two_people_dev", 120.0);
}

#[test]
fn visits_in_the_living_room_are_right() {
    every_visit_is_right("living_room_dev", 10.0);
    every_visit_is_right("living_room_dev", 120.0);
}

/// A robot that has met both, knows their names, and was told to look out for them.
fn looking_out() -> Option<Robot> {
    let (labels, start) = labelled("two_people_dev", 10.0)?;
    let robot = Robot::new("edge").set("visits.absence_secs=10.0").set("window.clip_secs=10");
    robot.replay(&shared("recordings/two_people_dev.mp4")?, &[]);
    let whose = matched(&labels, &remembered(&robot, start));
    for (identity, name) in [(AVA, "Ava"), (BEN, "Ben")] {
        robot.json(&["name", &whose[identity], name, "--json"]);
    }
    for rule in [
        &["Ava", "comes"][..],
        &["Ben", "comes"],
        &["Ava", "leaves"],
        &["Ben", "stays", "--for", "9"],
        &["Ben", "speaks", "--cooldown", "1000"],
        &["unknown", "comes"],
        &["Zoe", "comes"],
        &["anybody", "comes", "--between", "03:00-04:00"],
        &["anybody", "comes", "--where", "cellar"],
        &["Ava", "comes", "--once", "--say", "Hello, Ava!"],
    ] {
        let mut args = vec!["watch", "add"];
        args.extend(rule);
        args.push("--json");
        robot.json(&args);
    }
    Some(robot)
}

/// What each watch told of: when, seconds from `start`, and whom by id.
fn fired(robot: &Robot, start: i64) -> BTreeMap<String, Vec<(f64, String)>> {
    let listed = robot.json(&["watch", "list", "--firings", "1000", "--json"]);
    let mut fired = BTreeMap::new();
    for watch in listed["watches"].as_array().unwrap() {
        let firings = watch["firings"].as_array().unwrap().iter().map(|firing| {
            assert_eq!(firing["state"], "confirmed", "{firing}");
            assert!(firing["clip"].is_string(), "{firing}");
            let who = firing["entity"].as_str().unwrap_or_default().to_owned();
            (secs(&firing["at"], start), who)
        });
        fired.insert(watch["id"].as_str().unwrap().to_owned(), firings.collect());
    }
    fired
}

fn times(firings: &[(f64, String)]) -> Vec<f64> {
    firings.iter().map(|(at, _)| *at).collect()
}

fn are_at(found: &[(f64, String)], expected: &[f64]) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= NEAR_SECS;
    let found = times(found);
    assert_eq!(found.len(), expected.len(), "{found:?}, and not {expected:?}");
    assert!(found.iter().zip(expected).all(near), "{found:?}, and not {expected:?}");
}

#[test]
fn watches_fire_for_whom_they_name_and_for_nobody_else() {
    let Some(robot) = looking_out() else { return };
    let (labels, start) = labelled("living_room_dev", 10.0).unwrap();
    robot.replay(&shared("recordings/living_room_dev.mp4").unwrap(), &[]);
    let found = fired(&robot, start);
    let starts = |who: &str| labels[who].iter().map(|stay| stay.0).collect::<Vec<_>>();
    let ends = |who: &str| labels[who].iter().map(|stay| stay.1).collect::<Vec<_>>();
    are_at(&found["watch_1"], &starts(AVA));
    are_at(&found["watch_2"], &starts(BEN));
    are_at(&found["watch_3"], &ends(AVA));
    let long = labels[BEN].iter().filter(|stay| stay.1 - stay.0 >= 9.0 + NEAR_SECS);
    let long: Vec<f64> = long.map(|stay| stay.0 + 9.0).collect();
    assert!(found["watch_4"].len() >= long.len(), "{:?}", found["watch_4"]);
    let stays = |at: &f64| {
        labels[BEN]
            .iter()
            .any(|stay| (stay.0 + 9.0 - at).abs() <= NEAR_SECS && at - stay.1 <= NEAR_SECS)
    };
    assert!(times(&found["watch_4"]).iter().all(stays), "{:?}", found["watch_4"]);
    assert_eq!(found["watch_5"].len(), 1, "{:?}", found["watch_5"]);
    let mut strangers: Vec<f64> = labels
        .keys()
        .filter(|who| ![AVA, BEN].contains(&who.as_str()))
        .flat_map(|who| starts(who))
        .collect();
    strangers.sort_by(f64::total_cmp);
    are_at(&found["watch_6"], &strangers);
    assert_eq!(found["watch_7"], [], "nobody is called Zoe");
    assert_eq!(found["watch_8"], [], "it is afternoon");
    assert_eq!(found["watch_9"], [], "there is no cellar");
    are_at(&found["watch_10"], &starts(AVA)[..1]);
}

#[test]
fn firings_are_the_same_at_any_speed_and_after_a_kill() {
    let recording = need!("recordings/one_person_dev.mp4");
    let Some(whole) = looking_out() else { return };
    whole.replay(&recording, &[]);
    let slow = looking_out().unwrap();
    let path = recording.to_str().unwrap();
    let mut child = slow
        .command(&["replay", path, "--rate", "4"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // In the middle of Ben's visit.
    std::thread::sleep(Duration::from_secs(6));
    child.kill().unwrap();
    child.wait().unwrap();
    slow.replay(&recording, &["--rate", "8"]);
    let (_, start) = labelled("one_person_dev", 10.0).unwrap();
    let told = fired(&whole, start);
    assert!(told["watch_2"].iter().any(|(at, _)| (0.0..2.0).contains(at)), "{told:?}");
    assert_eq!(fired(&slow, start), told);
    assert_eq!(slow.json(&["visits", "--json"]), whole.json(&["visits", "--json"]));
}

#[test]
fn a_broker_is_told_of_each_visit_and_firing_and_misses_none_while_it_is_away() {
    let recording = need!("recordings/one_person_dev.mp4");
    let Some(robot) = looking_out() else { return };
    let Some(mut mosquitto) = Mosquitto::keeping() else { return };
    let robot =
        robot.set("robot.id=rob").set(&format!("mqtt.broker=mqtt://127.0.0.1:{}", mosquitto.port));
    // It fires while the broker is away.
    robot.json(&["watch", "add", "Ben", "stays", "--for", "25", "--json"]);
    let before: BTreeSet<String> = firings(&robot).into_keys().collect();
    let listener = Listener::connect(mosquitto.port);
    let play = ["replay", recording.to_str().unwrap(), "--serve", "--rate", "4"];
    let daemon = Daemon::start(&robot, &play);
    let came = listener.expect("event/watch", 120, |event| event["watch"] == "watch_2");
    assert_eq!((&came["what"], &came["name"]), (&json!("comes"), &json!("Ben")), "{came}");
    // From here on the broker is away, and in the middle of the visit the daemon is killed.
    mosquitto.kill();
    std::thread::sleep(Duration::from_secs(3));
    daemon.kill();
    let daemon = Daemon::start(&robot, &play);
    wait_for("the end of the recording", 120, || (finished(&robot) == 2).then_some(()));
    std::thread::sleep(Duration::from_secs(2));
    daemon.kill();
    // What nobody took lies on disk.
    mosquitto.run();
    let listener = Listener::connect(mosquitto.port);
    let daemon = Daemon::start(&robot, &["run"]);
    let visit = listener.expect("event/visit", 120, |visit| visit["name"] == "Ben");
    assert_eq!(visit["over"], true, "{visit}");
    assert!(
        visit["still"].is_string() && visit["sources"].as_array().unwrap().len() > 1,
        "{visit}"
    );
    assert_eq!(listener.on("event/visit").len(), 1, "one person came and went");
    let stayed = listener.expect("event/watch", 30, |event| event["watch"] == "watch_11");
    assert_eq!((&stayed["what"], &stayed["name"]), (&json!("stays"), &json!("Ben")), "{stayed}");
    let kept = firings(&robot);
    assert!(!before.contains(stayed["firing"].as_str().unwrap()), "{stayed}");
    let told: BTreeSet<String> = listener
        .on("event/watch")
        .iter()
        .map(|event| event.json()["firing"].as_str().unwrap().to_owned())
        .collect();
    assert!(told.iter().all(|id| kept.contains_key(id)), "{told:?} {kept:?}");
    daemon.kill();
}

/// How many recordings were remembered to their end.
fn finished(robot: &Robot) -> i64 {
    let query = "SELECT count(*) FROM session WHERE finished = 1 AND retired_seq IS NULL";
    robot.database().query_row(query, [], |row| row.get(0)).unwrap()
}

/// Every firing by id.
fn firings(robot: &Robot) -> BTreeMap<String, Value> {
    // Read beside a daemon that may be writing.
    let database = robot.database();
    let mut rows =
        database.prepare("SELECT id, watch FROM firing WHERE retired_seq IS NULL").unwrap();
    let rows = rows.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
    rows.unwrap()
        .map(Result::unwrap)
        .map(|(id, watch)| (format!("firing_{id}"), json!({"watch": format!("watch_{watch}")})))
        .collect()
}

#[test]
fn whoever_is_merged_has_one_visit_and_whoever_is_erased_none_and_no_watch() {
    let Some(robot) = looking_out() else { return };
    let visits = |who: &str| {
        let found = robot.json(&["visits", "--who", who, "--json"]);
        found["visits"].as_array().unwrap().len()
    };
    assert_eq!((visits("Ava"), visits("Ben")), (3, 1));
    let watches = || robot.json(&["watch", "list", "--json"])["watches"].clone();
    assert_eq!(watches().as_array().unwrap().len(), 10);
    robot.json(&["forget", "--entity", "Ava", "--json"]);
    let left = robot.json(&["visits", "--json"])["visits"].clone();
    assert_eq!(left.as_array().unwrap().len(), 1, "{left}");
    let left = watches();
    assert!(!left.to_string().contains("Ava"), "{left}");
    assert_eq!(left.as_array().unwrap().len(), 7, "{left}");
    assert!(robot.run(&["check"]).status.success());
}

#[test]
fn rules_are_set_listed_and_taken_away_over_a_broker_and_wrong_ones_are_refused() {
    let (robot, _, v5) = embedded();
    let daemon = Daemon::start(&robot, &["run"]);
    let listener = Listener::connect(v5);
    listener.expect("status", 60, |status| status["state"] == "online");
    let set = |rule: Value| listener.ask("watch", &json!({ "add": rule }));
    let told = set(json!({"who": "Ava", "what": "comes", "between": "22:00-06:00", "say": "Hi"}));
    assert_eq!((&told["watch"], &told["ok"]), (&json!("watch_1"), &json!(true)), "{told}");
    assert!(told["entity"].is_null(), "nobody is called so yet: {told}");
    for wrong in [
        json!({"who": "Ava", "what": "stays"}),
        json!({"who": "Ava", "what": "comes", "for_secs": 3}),
        json!({"who": "", "what": "comes"}),
        json!({"who": "Ava", "what": "sings"}),
        json!({"who": "Ava", "what": "comes", "between": "late"}),
        json!({"who": "person_7", "what": "comes"}),
        json!({"who": "Ava", "what": "comes", "say": "x".repeat(501)}),
    ] {
        let refused = set(wrong.clone());
        assert!(refused["error"]["message"].is_string(), "{wrong}: {refused}");
    }
    // Who asks for one where questions are asked is told where it is set, and gets none.
    let asked = listener.ask("ask", &json!({"question": "Tell me when Ava comes."}));
    let note = asked["note"].as_str().unwrap_or_default();
    assert!(note.contains("engramd watch add \"Tell me when Ava comes.\""), "{asked}");
    let listed = || listener.ask("query", &json!({"verb": "watches", "args": {}}));
    assert_eq!(listed()["watches"][0]["rule"]["between"], "22:00-06:00");
    let gone = listener.ask("watch", &json!({"remove": "watch_1"}));
    assert_eq!(gone["removed"], true, "{gone}");
    let none = listener.ask("watch", &json!({"remove": "watch_1"}));
    assert_eq!(none["error"]["code"], "not_found", "{none}");
    assert_eq!(listed()["watches"], json!([]));
    for _ in 0..100 {
        wait_for("a watch", 10, || {
            set(json!({"who": "Zoe", "what": "comes"}))["watch"].is_string().then_some(())
        });
    }
    let refused = set(json!({"who": "Zoe", "what": "comes"}));
    assert_eq!(refused["error"]["code"], "bad_request", "{refused}");
    assert_eq!(daemon.terminate().0, Some(0));
}

#[test]
fn a_watch_is_set_in_a_sentence_and_what_is_none_is_refused() {
    let robot = Robot::new("edge");
    let set = |args: &[&str]| robot.json(&[&["watch", "add"][..], args, &["--json"]].concat());
    let told = set(&["tell me when somebody unknown is in the kitchen after 22:00"]);
    let rule =
        json!({ "who": "unknown", "what": "comes", "where": "kitchen", "between": "22:00-06:00" });
    assert_eq!(told["rule"], rule, "{told}");
    let told = set(&["remind", "Ava", "of", "the", "keys", "when", "she", "comes"]);
    let rule = json!({ "who": "Ava", "what": "comes", "say": "Ava, remember the keys." });
    assert_eq!(told["rule"], rule, "{told}");
    // In parts, as before.
    let told = set(&["Ben", "stays", "--for", "600"]);
    assert_eq!(told["rule"], json!({ "who": "Ben", "what": "stays", "for_secs": 600.0 }), "{told}");
    let listed = robot.json(&["watch", "list", "--json"]);
    assert_eq!(listed["watches"].as_array().unwrap().len(), 3, "{listed}");
    let refused = robot.run(&["watch", "add", "open the door when Ava comes"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(
        said.contains("is nothing that a watch does")
            && said.contains("understood was: comes, Ava"),
        "{said}"
    );
    let mixed = robot.run(&["watch", "add", "tell me when Ava comes", "--once"]);
    assert_eq!(mixed.status.code(), Some(2), "{}", String::from_utf8_lossy(&mixed.stderr));
}
