//! rosbag2's `metadata.yaml`: what a folder's files hold, as recorders of Humble write it (version 5, which every
//! later one reads, too). Messages that are not ROS' own (lines of JSON) are not in it: rosbag2 wants all topics of a
//! bag in one encoding, and plays a bag without those that the metadata does not name.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::time::{Span, Timestamp};

/// What one file of a recording holds.
#[derive(Debug, Default)]
pub(in crate::capture::bag) struct Contents {
    /// From the first message to the last, of whatever kind.
    pub(in crate::capture::bag) span: Option<Span>,
    /// Messages in CDR by topic: their type, how many.
    topics: BTreeMap<String, (String, u64)>,
}

impl Contents {
    /// Takes note of a message; `ros_type` is `None` where it is none of ROS.
    pub(in crate::capture::bag) fn note(
        &mut self,
        topic: &str,
        ros_type: Option<&str>,
        at: Timestamp,
    ) {
        let span = self.span.get_or_insert(Span::new(at, at));
        *span = Span::new(span.start.min(at), span.end.max(at));
        let Some(ros_type) = ros_type else { return };
        match self.topics.get_mut(topic) {
            Some((_, count)) => *count += 1,
            None => {
                self.topics.insert(topic.to_owned(), (ros_type.to_owned(), 1));
            }
        }
    }

    fn messages(&self) -> u64 {
        self.topics.values().map(|(_, count)| count).sum()
    }
}

/// The text of `metadata.yaml`; `files`: each one's name and what it holds.
pub(in crate::capture::bag) fn text<'a>(
    files: impl Iterator<Item = (String, &'a Contents)>,
) -> String {
    let (mut names, mut parts) = (String::new(), String::new());
    let mut topics = BTreeMap::<&str, (&str, u64)>::new();
    let (mut whole, mut messages) = (None::<Span>, 0);
    for (name, contents) in files {
        // A string of JSON is one of YAML.
        let name = Json::from(name);
        let (start, length) = nanos(contents.span);
        let count = contents.messages();
        writeln!(names, "  - {name}").ok();
        writeln!(
            parts,
            "  - path: {name}\n    starting_time:\n      nanoseconds_since_epoch: {start}\n    \
             duration:\n      nanoseconds: {length}\n    message_count: {count}"
        )
        .ok();
        for (topic, (ros_type, count)) in &contents.topics {
            topics.entry(topic.as_str()).or_insert((ros_type.as_str(), 0)).1 += count;
        }
        let spans = whole.into_iter().chain(contents.span);
        whole = spans.reduce(|a, b| Span::new(a.start.min(b.start), a.end.max(b.end)));
        messages += count;
    }
    let listed: String = topics
        .into_iter()
        .map(|(topic, (ros_type, count))| {
            format!(
                "  - topic_metadata:\n      name: {}\n      type: {ros_type}\n      \
                 serialization_format: cdr\n      offered_qos_profiles: \"\"\n    \
                 message_count: {count}\n",
                Json::from(topic)
            )
        })
        .collect();
    let listed = if listed.is_empty() { " []\n".to_owned() } else { format!("\n{listed}") };
    let (start, length) = nanos(whole);
    format!(
        "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: mcap\n  \
         duration:\n    nanoseconds: {length}\n  \
         starting_time:\n    nanoseconds_since_epoch: {start}\n  \
         message_count: {messages}\n  topics_with_message_count:{listed}  \
         compression_format: \"\"\n  compression_mode: \"\"\n  \
         relative_file_paths:\n{names}  files:\n{parts}"
    )
}

/// When it begins and how long it is, nanoseconds.
fn nanos(span: Option<Span>) -> (i64, i64) {
    span.map_or((0, 0), |span| {
        let start = span.start.as_nanos();
        (start, span.end.as_nanos().saturating_sub(start))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use yaml_rust2::YamlLoader;

    use super::*;

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_nanos(secs * 1_000_000_000)
    }

    #[test]
    fn the_metadata_tells_every_file_and_topic_and_no_json() {
        let (mut first, mut second) = (Contents::default(), Contents::default());
        let odd = "cam: \"front\" #1";
        for secs in 10..13 {
            first.note(odd, Some("sensor_msgs/msg/CompressedImage"), at(secs));
        }
        first.note("engram/percepts", None, at(14));
        second.note(odd, Some("sensor_msgs/msg/CompressedImage"), at(15));
        second.note("pose", Some("geometry_msgs/msg/PoseStamped"), at(17));
        let third = Contents::default();
        let files = [("a: b_0.mcap", &first), ("a: b_1.mcap", &second), ("a: b_2.mcap", &third)];
        let text = text(files.into_iter().map(|(name, contents)| (name.to_owned(), contents)));
        let yaml = YamlLoader::load_from_str(&text).unwrap();
        let bag = &yaml[0]["rosbag2_bagfile_information"];
        assert_eq!(bag["version"].as_i64(), Some(5), "{text}");
        assert_eq!(bag["message_count"].as_i64(), Some(5));
        assert_eq!(bag["starting_time"]["nanoseconds_since_epoch"].as_i64(), Some(10_000_000_000));
        assert_eq!(bag["duration"]["nanoseconds"].as_i64(), Some(7_000_000_000));
        let topics: Vec<_> = bag["topics_with_message_count"]
            .as_vec()
            .unwrap()
            .iter()
            .map(|topic| {
                let about = &topic["topic_metadata"];
                assert_eq!(about["serialization_format"].as_str(), Some("cdr"));
                assert_eq!(about["offered_qos_profiles"].as_str(), Some(""));
                let told = (about["name"].as_str().unwrap(), about["type"].as_str().unwrap());
                (told.0, told.1, topic["message_count"].as_i64().unwrap())
            })
            .collect();
        let expected = [
            (odd, "sensor_msgs/msg/CompressedImage", 4),
            ("pose", "geometry_msgs/msg/PoseStamped", 1),
        ];
        assert_eq!(topics, expected);
        let paths = bag["relative_file_paths"].as_vec().unwrap();
        assert_eq!(
            paths.iter().map(|path| path.as_str().unwrap()).collect::<Vec<_>>(),
            files.map(|(name, _)| name)
        );
        let parts: Vec<_> = bag["files"]
            .as_vec()
            .unwrap()
            .iter()
            .map(|file| {
                let start = file["starting_time"]["nanoseconds_since_epoch"].as_i64().unwrap();
                let length = file["duration"]["nanoseconds"].as_i64().unwrap();
                let name = file["path"].as_str().unwrap();
                (
                    name,
                    start / 1_000_000_000,
                    length / 1_000_000_000,
                    file["message_count"].as_i64().unwrap(),
                )
            })
            .collect();
        let expected =
            [("a: b_0.mcap", 10, 4, 3), ("a: b_1.mcap", 15, 2, 2), ("a: b_2.mcap", 0, 0, 0)];
        assert_eq!(parts, expected);
    }

    #[test]
    fn an_empty_recording_has_metadata_that_can_be_read() {
        let nothing = Contents::default();
        let text = text([("run_0.mcap".to_owned(), &nothing)].into_iter());
        let yaml = YamlLoader::load_from_str(&text).unwrap();
        let bag = &yaml[0]["rosbag2_bagfile_information"];
        assert_eq!(bag["topics_with_message_count"].as_vec().map(Vec::len), Some(0), "{text}");
    }
}
