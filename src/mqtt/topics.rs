//! The topics of one robot: `<prefix>/<robot>/…`.

use super::message::ReplayVerb;

/// Builds and takes apart the topics of one robot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topics {
    /// `<prefix>/<robot>/`, with the slash.
    base: String,
}

/// A topic on which the daemon listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// A question.
    Ask,
    /// A note.
    Remember,
    /// Forgetting.
    Forget,
    /// Keeping a memory.
    Pin,
    /// Naming an entity.
    Name,
    /// Whose a face or a voice is.
    Identify,
    /// Overruling who is who.
    People,
    /// Judging an answer.
    Feedback,
    /// A reading command.
    Query,
    /// The robot's pose.
    Pose,
    /// The robot's own speech.
    Speaking,
    /// Switching microphones.
    Privacy,
    /// Keeping a part of the ring.
    Snapshot,
    /// Standing questions.
    Watch,
    /// Steering a replay.
    Replay(ReplayVerb),
}

/// Topics below the robot's that are subscribed to.
const COMMAND_FILTERS: [&str; 15] = [
    "ask", "remember", "forget", "pin", "name", "identify", "people", "feedback", "query", "pose",
    "speaking", "privacy", "snapshot", "watch", "replay/+",
];

impl Command {
    /// The command of a topic below the robot's; `Err` holds the unknown verb of `replay/<verb>`, `None`: no command.
    #[must_use]
    pub fn at(below: &str) -> Option<Result<Self, String>> {
        Some(Ok(match below {
            "ask" => Self::Ask,
            "remember" => Self::Remember,
            "forget" => Self::Forget,
            "pin" => Self::Pin,
            "name" => Self::Name,
            "identify" => Self::Identify,
            "people" => Self::People,
            "feedback" => Self::Feedback,
            "query" => Self::Query,
            "pose" => Self::Pose,
            "speaking" => Self::Speaking,
            "privacy" => Self::Privacy,
            "snapshot" => Self::Snapshot,
            "watch" => Self::Watch,
            _ => {
                let verb = below.strip_prefix("replay/")?;
                match ReplayVerb::from_word(verb) {
                    Some(verb) => Self::Replay(verb),
                    None => return Some(Err(verb.to_owned())),
                }
            }
        }))
    }
}

impl Topics {
    /// Topics of `robot` below `prefix`.
    #[must_use]
    pub fn new(prefix: &str, robot: &str) -> Self {
        Self { base: format!("{prefix}/{robot}/") }
    }

    /// `<prefix>/<robot>/<below>`.
    #[must_use]
    pub fn at(&self, below: &str) -> String {
        format!("{}{below}", self.base)
    }

    /// What of a topic is below the robot's; `None`: it is not the robot's.
    #[must_use]
    pub fn below<'a>(&self, topic: &'a str) -> Option<&'a str> {
        topic.strip_prefix(&self.base)
    }

    /// Filters of every command topic.
    #[must_use]
    pub fn command_filters(&self) -> Vec<String> {
        COMMAND_FILTERS.iter().map(|below| self.at(below)).collect()
    }

    /// The command that a topic means; `Err` holds the unknown verb of `replay/<verb>`, `None`: not one of ours.
    #[must_use]
    pub fn command(&self, topic: &str) -> Option<Result<Command, String>> {
        Command::at(topic.strip_prefix(&self.base)?)
    }

    /// Where the reply to a request with that id goes; `-` stands for none.
    #[must_use]
    pub fn answer(&self, id: Option<&str>) -> String {
        format!("{}answer/{}", self.base, id.unwrap_or("-"))
    }

    /// Where the rounds of an answer are told.
    #[must_use]
    pub fn progress(&self, id: &str) -> String {
        format!("{}answer/{id}/progress", self.base)
    }

    /// Who asks, as far as a request tells: the first level below `answer/` of its v5 response topic, which rights are
    /// given by; empty for all that have none.
    #[must_use]
    pub fn asker<'a>(&self, response_topic: Option<&'a str>) -> &'a str {
        let below = response_topic.and_then(|topic| topic.strip_prefix(&self.base));
        let own = below.and_then(|below| below.strip_prefix("answer/"));
        own.and_then(|own| own.split('/').next()).unwrap_or_default()
    }

    /// Whether a v5 response topic is one the daemon may write to: a plain topic below `answer/`.
    #[must_use]
    pub fn may_reply_to(&self, topic: &str) -> bool {
        topic.strip_prefix(&self.base).and_then(|below| below.strip_prefix("answer/")).is_some_and(
            |rest| {
                !rest.is_empty()
                    && topic.len() <= 1024
                    && !rest.split('/').any(str::is_empty)
                    && !rest.contains(['+', '#'])
                    && !rest.chars().any(char::is_control)
            },
        )
    }
}

/// Whether `id` can be a level of a topic: 1–128 characters without `/`, `+`, `#` and control characters, not `-`.
#[must_use]
pub fn is_request_id(id: &str) -> bool {
    (1..=128).contains(&id.len())
        && id != "-"
        && !id.contains(['/', '+', '#'])
        && !id.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_topics_are_read_as_they_are_written() {
        let topics = Topics::new("engram", "rob");
        assert_eq!(topics.command("engram/rob/ask"), Some(Ok(Command::Ask)));
        assert_eq!(
            topics.command("engram/rob/replay/pause"),
            Some(Ok(Command::Replay(ReplayVerb::Pause)))
        );
        assert_eq!(topics.command("engram/rob/replay/fly"), Some(Err("fly".to_owned())));
        for other in ["engram/rob", "engram/rob/", "engram/bob/ask", "engram/rob/answer/1", "ask"] {
            assert_eq!(topics.command(other), None, "{other}");
        }
        assert_eq!(topics.answer(None), "engram/rob/answer/-");
    }

    #[test]
    fn who_asks_is_told_by_the_response_topic() {
        let topics = Topics::new("engram", "rob");
        for (topic, asker) in [
            (Some("engram/rob/answer/me"), "me"),
            (Some("engram/rob/answer/me/7/a"), "me"),
            (Some("engram/bob/answer/me"), ""),
            (Some("engram/rob/status"), ""),
            (None, ""),
        ] {
            assert_eq!(topics.asker(topic), asker, "{topic:?}");
        }
    }

    #[test]
    fn replies_go_only_below_answer() {
        let topics = Topics::new("engram", "rob");
        for good in ["engram/rob/answer/x", "engram/rob/answer/cli/7"] {
            assert!(topics.may_reply_to(good), "{good}");
        }
        for bad in [
            "",
            "engram/rob/answer",
            "engram/rob/answer/",
            "engram/rob/answer//x",
            "engram/rob/answer/#",
            "engram/rob/answer/+/x",
            "engram/rob/status",
            "engram/bob/answer/x",
            "homeassistant/switch/door/set",
        ] {
            assert!(!topics.may_reply_to(bad), "{bad}");
        }
        assert!(
            is_request_id("q-1")
                && !is_request_id("-")
                && !is_request_id("a/b")
                && !is_request_id("")
        );
    }
}
