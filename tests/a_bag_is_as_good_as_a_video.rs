//! The same scene from a ROS 2 bag and from an MP4: the same persons, the same turns.

use serde_json::Value;

use crate::support::{Robot, need};

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

#[test]
fn mcap_and_mp4_give_the_same_persons_and_turns() {
    let bag = need!("recordings/two_people.mcap");
    let video = need!("recordings/two_people_dev.mp4");
    let (from_bag, from_video) = (Robot::new("edge"), Robot::new("edge"));
    from_bag.replay(&bag, &[]);
    from_video.replay(&video, &[]);

    let persons = |robot: &Robot| robot.json(&["people", "--json"]).as_array().unwrap().len();
    assert_eq!(persons(&from_bag), persons(&from_video));
    let (bag, video) = (turns(&from_bag), turns(&from_video));
    assert_eq!(bag.len(), video.len(), "{bag:?}\n{video:?}");
    for (a, b) in bag.iter().zip(&video) {
        assert!((a.0 - b.0).abs() <= 0.05 && (a.1 - b.1).abs() <= 0.05, "{a:?} {b:?}");
    }
}
