//! What of a recording is played: which topics, under which names, from when to when.

use regex_automata::meta::Regex;

use super::bag::FrameNames;
use super::error::CaptureError;
use crate::config::TopicSound;
use crate::ids::SourceId;
use crate::time::Timestamp;

/// A regular expression over a topic's name.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    compiled: Regex,
}

impl Pattern {
    /// Compiles it.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn new(text: &str) -> Result<Self, String> {
        let compiled = Regex::new(text).map_err(|error| {
            let why = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
            format!("{text:?} is no regular expression: {why}")
        })?;
        Ok(Self { text: text.to_owned(), compiled })
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

fn names(list: &[String], topic: &str) -> bool {
    list.iter().any(|name| name == topic)
}

fn fits(patterns: &[Pattern], topic: &str) -> bool {
    patterns.iter().any(|pattern| pattern.compiled.is_match(topic))
}

/// What of a recording is played, under which names and times. Where several are played together, `2:/camera` names a
/// topic of the second alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayOptions {
    /// The recording is taken to start here, whatever it says itself.
    pub start_time: Option<Timestamp>,
    /// Seconds left out at the beginning.
    pub start_offset_secs: f64,
    /// Seconds played from there; all when `None`.
    pub duration_secs: Option<f64>,
    /// Nothing at or after this capture time is played.
    pub until: Option<Timestamp>,
    /// Only these topics (names before `remap`; a file has `camera` and `microphone`); all when empty.
    pub topics: Vec<String>,
    /// Not these topics.
    pub exclude_topics: Vec<String>,
    /// Only topics of which one of these expressions matches a part; all when empty.
    pub regex: Vec<Pattern>,
    /// Not the topics of which one of these expressions matches a part.
    pub exclude_regex: Vec<Pattern>,
    /// These topics of text are what people said, understood by somebody else.
    pub transcripts: Vec<String>,
    /// Topics that get another name: (from, to).
    pub remap: Vec<(String, String)>,
    /// How sound is coded of which no message tells it; it counts more than an AudioInfo.
    pub sound: Vec<TopicSound>,
    /// What TF calls the robot and what stands still.
    pub frames: FrameNames,
}

impl ReplayOptions {
    /// Whether a topic is played.
    #[must_use]
    pub fn selects(&self, topic: &str) -> bool {
        let all = self.topics.is_empty() && self.regex.is_empty();
        (all || names(&self.topics, topic) || fits(&self.regex, topic))
            && !names(&self.exclude_topics, topic)
            && !fits(&self.exclude_regex, topic)
    }

    /// The name under which a topic's items appear.
    #[must_use]
    pub fn source(&self, topic: &str) -> SourceId {
        let renamed = self.remap.iter().find(|(from, _)| from == topic);
        SourceId::new(renamed.map_or(topic, |(_, to)| to))
    }

    /// The options as they hold for one of several that are played together: topics that are named with its `prefix`
    /// (`2:`) are named without it, too, and that counts more.
    pub(super) fn of_part(&self, prefix: &str) -> Self {
        let without = |names: &[String]| -> Vec<String> {
            let own = names.iter().filter_map(|name| name.strip_prefix(prefix));
            own.map(str::to_owned).chain(names.iter().cloned()).collect()
        };
        let own = self
            .remap
            .iter()
            .filter_map(|(from, to)| Some((from.strip_prefix(prefix)?.to_owned(), to.clone())));
        let own_sound = self.sound.iter().filter_map(|one| {
            let topic = one.topic.strip_prefix(prefix)?.to_owned();
            Some(TopicSound { topic, ..one.clone() })
        });
        Self {
            topics: without(&self.topics),
            exclude_topics: without(&self.exclude_topics),
            transcripts: without(&self.transcripts),
            remap: own.chain(self.remap.iter().cloned()).collect(),
            sound: own_sound.chain(self.sound.iter().cloned()).collect(),
            ..self.clone()
        }
    }

    pub(super) fn check(&self) -> Result<(), CaptureError> {
        let bad = |text: String| Err(CaptureError::BadOptions(text));
        if !self.start_offset_secs.is_finite() || self.start_offset_secs < 0.0 {
            return bad(format!("start offset {} s is not 0 or more", self.start_offset_secs));
        }
        if let Some(secs) = self.duration_secs.filter(|secs| !(*secs > 0.0 && secs.is_finite())) {
            return bad(format!("duration {secs} s is not more than 0"));
        }
        Ok(())
    }
}
