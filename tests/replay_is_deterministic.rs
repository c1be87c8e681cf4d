//! The same recording gives the same memory: at any rate, with any number of workers.

use crate::support::{Robot, need};

fn hash_of(recording: &str, set: &str, more: &[&str], settings: &[&str]) -> Option<String> {
    let recording = crate::support::shared(recording)?;
    let robot = settings.iter().fold(Robot::new(set), |robot, setting| robot.set(setting));
    robot.replay(&recording, more);
    Some(robot.hash())
}

#[test]
fn one_hash_for_one_and_two_workers() {
    need!("recordings/two_people_dev.mp4");
    let one = hash_of("recordings/two_people_dev.mp4", "edge", &[], &["pipeline.workers=1"]);
    let two = hash_of("recordings/two_people_dev.mp4", "edge", &[], &["pipeline.workers=2"]);
    assert_eq!(one, two);
}

#[test]
fn one_hash_at_four_times_and_at_full_speed() {
    need!("recordings/one_person_dev.mp4");
    let slow = hash_of("recordings/one_person_dev.mp4", "open", &["--rate", "4"], &[]);
    let fast = hash_of("recordings/one_person_dev.mp4", "open", &["--rate", "max"], &[]);
    assert_eq!(slow, fast);
}
