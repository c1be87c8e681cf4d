//! `watch`: standing questions are set and taken away. `event/watch`: one was answered.

use serde::{Deserialize, Serialize};

use super::Refusal;
use crate::ids::{ClipId, FiringId, WatchId};
use crate::memory::model::MediaDigest;
use crate::memory::{FiringState, Happening, Rule};
use crate::mqtt::MOST_SNAPSHOT_SECS;
use crate::time::Timestamp;

/// Longest word for somebody or some place, bytes.
const MAX_WORD_BYTES: usize = 200;
/// Longest text to be said, bytes.
const MAX_SAY_BYTES: usize = 500;
/// Nobody is waited for longer, seconds: a week.
const MAX_SECS: f64 = 604_800.0;

/// `watch`: exactly one of a rule to set, a rule in words, and a watch to take away.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// Names the reply's topic, `answer/<id>`; acted on once per id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The rule to set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add: Option<Rule>,
    /// The rule to set, in English: "tell me when Ava comes".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// The watch to take away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove: Option<WatchId>,
}

impl Watch {
    /// Whether it asks for one thing, and that is one that can be done.
    ///
    /// # Errors
    /// `bad_request`, with how to write it.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        match (&self.add, &self.words, &self.remove) {
            (Some(rule), None, None) => check_rule(rule),
            (None, Some(words), None) if words.trim().is_empty() || words.len() > MAX_SAY_BYTES => {
                Err(Refusal::bad_request(format!("`words` must have 1 to {MAX_SAY_BYTES} bytes")))
            }
            (None, Some(_), None) | (None, None, Some(_)) => Ok(()),
            _ => Err(Refusal::bad_request(
                "give exactly one of `add`, `words` and `remove`, for example {\"add\":{\"who\":\"Ava\",\"what\":\"comes\"}}",
            )),
        }
    }
}

/// Whether a rule can be set.
///
/// # Errors
/// `bad_request`, with what is wrong.
pub fn check_rule(rule: &Rule) -> Result<(), Refusal> {
    check(rule).map_err(Refusal::bad_request)
}

fn check(rule: &Rule) -> Result<(), String> {
    let words = [("`who`", Some(&rule.who)), ("`where`", rule.place.as_ref())];
    for (field, word) in words {
        let Some(word) = word else { continue };
        let strange = |c: char| c.is_control() || c == '<' || c == '>';
        if word.trim().is_empty() || word.len() > MAX_WORD_BYTES || word.contains(strange) {
            return Err(format!(
                "{field} must have 1 to {MAX_WORD_BYTES} bytes, and no `<`, `>` or control characters"
            ));
        }
    }
    if rule.snapshot_secs.is_some_and(|secs| !(secs > 0.0 && secs <= MOST_SNAPSHOT_SECS / 2.0)) {
        return Err(format!(
            "`snapshot_secs` must be above 0, and {} at most",
            MOST_SNAPSHOT_SECS / 2.0
        ));
    }
    let say = rule.say.as_ref();
    if say.is_some_and(|say| say.trim().is_empty() || say.len() > MAX_SAY_BYTES) {
        return Err(format!("`say` must have 1 to {MAX_SAY_BYTES} bytes"));
    }
    for (field, secs) in [("`for_secs`", rule.for_secs), ("`cooldown_secs`", rule.cooldown_secs)] {
        if secs.is_some_and(|secs| !(0.0..=MAX_SECS).contains(&secs)) {
            return Err(format!("{field} must be 0 to {MAX_SECS} seconds"));
        }
    }
    match (rule.what, rule.for_secs) {
        (Happening::Stays, None) => {
            Err("`stays` needs `for_secs` (on the command line `--for`): for how many seconds, for example 600".to_owned())
        }
        (Happening::Stays, Some(_)) | (_, None) => Ok(()),
        (_, Some(_)) => Err("`for_secs` goes with \"what\":\"stays\" alone".to_owned()),
    }
}

/// `event/watch`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchEvent {
    /// That it fired; an event that overturns an earlier one has the same.
    pub firing: FiringId,
    /// Which watch.
    pub watch: WatchId,
    /// What happened.
    pub what: Option<Happening>,
    /// Who or what: an id, where there is one.
    pub entity: Option<String>,
    /// The name, where known; what a thing is called.
    pub name: Option<String>,
    /// When.
    pub at: Timestamp,
    /// By which camera or microphone.
    pub source: Option<String>,
    /// In which clip; null while that is open.
    pub clip: Option<ClipId>,
    /// The key frame of that camera that is nearest; null while the clip is open, and where none was kept.
    pub still: Option<MediaDigest>,
    /// Whether the identity may still change, or has.
    pub state: FiringState,
    /// What the robot was asked to say.
    pub say: Option<String>,
}
