//! The same scene from bags of every format and from an MP4: the same persons, the same turns; from bags of
//! the same bytes, the same memory bit for bit.

use std::path::Path;

use serde_json::Value;

use crate::support::{Robot, need, shared};

fn turns(robot: &Robot) -> Vec<(f64, f64)> {
    let at = |line: &Value, key: &str| {
        let time: jiff::Timestamp = line[key].as_str().unwrap().parse().unwrap();
        time.as_nanosecond() as f64 * 1e-9
    };
    robot
        .json_lines(&["export", "--percepts"])
        .iter()
        .filter(|line| line["kind"] == "turn")
        .map(|line| (at(line, "start"), at(line, "end")))
        .collect()
}

/// Persons by the number of their faces and voices: who is linked to whom, without names.
fn links(robot: &Robot) -> Vec<(usize, usize)> {
    let people = robot.json(&["people", "--json"]);
    let count = |person: &Value, key: &str| person[key].as_array().unwrap().len();
    let mut links: Vec<_> = people
        .as_array()
        .unwrap()
        .iter()
        .map(|person| (count(person, "faces").min(1), count(person, "voices").min(1)))
        .collect();
    links.sort_unstable();
    links
}

fn turns_agree(bag: &Robot, video: &Robot) {
    let (bag, video) = (turns(bag), turns(video));
    assert_eq!(bag.len(), video.len(), "{bag:?}\n{video:?}");
    for (a, b) in bag.iter().zip(&video) {
        assert!((a.0 - b.0).abs() <= 0.05 && (a.1 - b.1).abs() <= 0.05, "{a:?} {b:?}");
    }
}

#[test]
fn bags_and_mp4_give_the_same_persons_turns_and_links() {
    let video = need!("recordings/two_people_dev.mp4");
    let from_video = Robot::new("edge");
    from_video.replay(&video, &[]);
    for name in ["two_people.mcap", "two_people_foxglove_video.mcap"] {
        let bag = need!(&format!("recordings/{name}"));
        let from_bag = Robot::new("edge");
        from_bag.replay(&bag, &[]);
        assert_eq!(links(&from_bag), links(&from_video), "{name}");
        turns_agree(&from_bag, &from_video);
    }
}

#[test]
fn four_bags_of_the_same_bytes_give_one_memory() {
    let hash = |path: &Path| {
        let robot = Robot::new("edge");
        let lines = robot.replay(path, &[]);
        assert_eq!(lines.last().unwrap()["damaged"], 0, "{}", path.display());
        robot.hash()
    };
    let expected = hash(&need!("recordings/two_people.mcap"));
    for name in ["two_people_foxglove.mcap", "two_people_ros2_sqlite", "two_people_ros1.bag"] {
        let bag = need!(&format!("recordings/{name}"));
        assert_eq!(hash(&bag), expected, "{name}");
    }
}

#[test]
fn damaged_bags_are_remembered_as_far_as_they_go_and_end_with_exit_code_3() {
    for (name, frames) in [
        ("two_people_truncated.mcap", 180),
        ("two_people_badcrc.mcap", 200),
        ("two_people_noindex.bag", 150),
    ] {
        let Some(path) = shared(&format!("recordings/{name}")) else { continue };
        let robot = Robot::new("edge");
        let output = robot.run(&["replay", path.to_str().unwrap(), "--json"]);
        assert_eq!(output.status.code(), Some(3), "{name}");
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let seen: u64 = lines.iter().filter_map(|line| line["frames"].as_u64()).sum();
        assert!(seen >= frames, "{name}: {seen} frames");
        let end = lines.last().unwrap();
        assert!(end["damaged"].as_u64().unwrap() > 0 && !end["damage"][0].is_null(), "{end}");
    }
}
