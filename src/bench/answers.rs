//! Questions about a replayed recording, with their true answers: `bench answers`.
//!
//! A reply is right when everything that the truth tells holds of it: the persons it names, the time of
//! its evidence, the count and the words in it. What cannot be answered is right when it is not answered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::BenchError;
use super::error::read_text;
use super::labels::Labels;
use super::perception::PerceptionScores;
use super::rehearsal::{rehearse, reply};
use crate::answer::{Answer, Question};
use crate::config::Config;
use crate::ids::{EntityId, EntityKind};
use crate::memory::model::{NameRow, NameSource};
use crate::memory::{Memory, View};
use crate::time::{Span, Timestamp};

/// A true time may be missed by so much, seconds.
const TIME_TOLERANCE_SECS: f64 = 2.0;

/// One question of the file.
#[derive(Clone, Debug, Deserialize)]
struct Asked {
    question: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    truth: Truth,
    answerable: bool,
    /// Names told before the first question is asked: name → identity of the labels, or id.
    #[serde(default)]
    names: BTreeMap<String, String>,
}

/// What a right reply tells; what is absent does not matter.
#[derive(Clone, Debug, Default, Deserialize)]
struct Truth {
    /// Names in the labels, names that were heard, or ids.
    persons: Option<Vec<String>>,
    /// RFC 3339, integer nanoseconds, or seconds from the recording's start (a number with a point, or small).
    start: Option<Value>,
    end: Option<Value>,
    count: Option<u64>,
    text: Option<String>,
}

/// Counts of one type of question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TypeScores {
    /// Asked.
    pub questions: usize,
    /// Right, those rightly not answered among them.
    pub right: usize,
    /// Answered wrongly.
    pub wrong: usize,
    /// Not answered though it could be.
    pub abstained: usize,
}

/// `bench answers`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AnswerScores {
    /// Asked.
    pub questions: usize,
    /// Right, those rightly not answered among them.
    pub right: usize,
    /// Answered wrongly.
    pub wrong: usize,
    /// Not answered though it could be.
    pub abstained: usize,
    /// Persons that replies name and that are nobody in the labels; null without labels.
    pub invented_persons: Option<usize>,
    /// The counts by type of question.
    pub by_type: BTreeMap<String, TypeScores>,
    /// The replies that were not right: question, reply.
    pub not_right: Vec<[String; 2]>,
}

/// How a reply is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Right,
    Wrong,
    Abstained,
}

/// Replays the recording with words, asks everything, and compares.
///
/// # Errors
/// When the recording, a model, the store or the file of questions fails.
pub fn measure(
    config: &Config,
    recording: &Path,
    questions: &Path,
    labels: Option<&Labels>,
) -> Result<AnswerScores, BenchError> {
    let asked: Vec<Asked> = serde_json::from_str(&read_text(questions)?).map_err(|error| {
        let reason = format!(
            "{error}; it wants an array of {{question, type, truth: {{persons?, start?, end?, count?, text?}}, answerable}}"
        );
        BenchError::Form { path: questions.to_owned(), reason }
    })?;
    let rehearsal = rehearse(config, recording, true)?;
    let scores = labels.map(|labels| rehearsal.score(labels)).transpose()?;
    let memory = &rehearsal.knowledge.memory;
    tell_names(memory, scores.as_ref(), &asked)?;
    let view = memory.view();
    let who = People { view: &view, scores: scores.as_ref() };
    let mut out = AnswerScores::default();
    let mut invented = BTreeSet::new();
    for asked in &asked {
        let question = Question { text: asked.question.clone(), ..Question::default() };
        let reply = reply(&rehearsal.knowledge, question)?;
        let verdict = judge(asked, &reply, &who, rehearsal.start);
        let by_type = out.by_type.entry(asked.kind.clone()).or_default();
        for (all, of_type, counts) in [
            (&mut out.questions, &mut by_type.questions, true),
            (&mut out.right, &mut by_type.right, verdict == Verdict::Right),
            (&mut out.wrong, &mut by_type.wrong, verdict == Verdict::Wrong),
            (&mut out.abstained, &mut by_type.abstained, verdict == Verdict::Abstained),
        ] {
            *all += usize::from(counts);
            *of_type += usize::from(counts);
        }
        if verdict != Verdict::Right {
            out.not_right.push([asked.question.clone(), reply.answer.clone()]);
        }
        invented.extend(who.persons(&reply).into_iter().filter(|person| !who.is_real(*person)));
    }
    out.invented_persons = scores.is_some().then_some(invented.len());
    Ok(out)
}

/// Names the persons as the questions want them; who was not found keeps no name.
fn tell_names(
    memory: &Memory,
    scores: Option<&PerceptionScores>,
    asked: &[Asked],
) -> Result<(), BenchError> {
    let view = memory.view();
    let who = People { view: &view, scores };
    let since = view.newest_time().unwrap_or(Timestamp::EPOCH);
    let mut draft = memory.begin(since);
    for (name, identity) in asked.iter().flat_map(|asked| &asked.names) {
        match who.find(identity) {
            Some(entity) => draft.name(NameRow {
                entity,
                name: name.clone(),
                since,
                source: NameSource::Told,
                turn: None,
            }),
            None => tracing::warn!("nobody was found for {identity}: {name} is not told"),
        }
    }
    if !draft.is_empty() {
        draft.commit()?;
    }
    Ok(())
}

/// Who is who between labels and memory.
struct People<'a> {
    view: &'a View,
    scores: Option<&'a PerceptionScores>,
}

impl People<'_> {
    /// The persons that a reply gives.
    fn persons(&self, reply: &Answer) -> BTreeSet<EntityId> {
        let persons = reply.entities.iter().map(|id| self.view.resolve(*id));
        persons.filter(|id| id.kind == EntityKind::Person).collect()
    }

    /// Whether it is somebody in the labels.
    fn is_real(&self, person: EntityId) -> bool {
        let id = person.to_string();
        self.scores.is_none_or(|scores| {
            scores.identities.iter().any(|identity| {
                identity.face_person.as_ref() == Some(&id)
                    || identity.voice_person.as_ref() == Some(&id)
            })
        })
    }

    /// The person that a name of the truth means; `None` when the memory knows nobody of it.
    fn find(&self, name: &str) -> Option<EntityId> {
        let labelled = self.scores.and_then(|scores| {
            let identity = scores.identities.iter().find(|identity| identity.id == name)?;
            identity.face_person.as_ref().or(identity.voice_person.as_ref())?.parse().ok()
        });
        labelled
            .or_else(|| name.parse().ok())
            .or_else(|| self.view.named_in(name).into_iter().next())
            .map(|id| self.view.resolve(id))
    }
}

fn judge(asked: &Asked, reply: &Answer, who: &People<'_>, start: Timestamp) -> Verdict {
    match (asked.answerable, reply.abstained) {
        (false, true) => return Verdict::Right,
        (false, false) => return Verdict::Wrong,
        (true, true) => return Verdict::Abstained,
        (true, false) => {}
    }
    let truth = &asked.truth;
    let persons = truth.persons.as_ref().is_none_or(|names| {
        let meant: Vec<Option<EntityId>> = names.iter().map(|name| who.find(name)).collect();
        let given = who.persons(reply);
        meant.iter().all(Option::is_some)
            && meant.into_iter().flatten().collect::<BTreeSet<_>>() == given
    });
    let time = truth.start.as_ref().is_none_or(|from| {
        let Some(from) = read_time(from, start) else { return false };
        let until = truth.end.as_ref().and_then(|end| read_time(end, start)).unwrap_or(from);
        let span = Span::new(
            from.plus_secs(-TIME_TOLERANCE_SECS),
            until.max(from).plus_secs(TIME_TOLERANCE_SECS),
        );
        reply.evidence.first().is_some_and(|first| first.start < span.end && first.end > span.start)
    });
    let count = truth.count.is_none_or(|count| numbers(&reply.answer).contains(&count));
    let text = truth.text.as_ref().is_none_or(|text| {
        let said = words(&reply.answer);
        words(text).iter().all(|word| said.contains(word))
    });
    if persons && time && count && text { Verdict::Right } else { Verdict::Wrong }
}

/// RFC 3339, nanoseconds since 1970, or seconds from the recording's start.
fn read_time(value: &Value, start: Timestamp) -> Option<Timestamp> {
    match value {
        Value::String(text) => Timestamp::parse(text).ok(),
        Value::Number(number) => match number.as_i64() {
            Some(nanos) if nanos.abs() >= 1_000_000_000_000 => Some(Timestamp::from_nanos(nanos)),
            _ => number.as_f64().map(|secs| start.plus_secs(secs)),
        },
        _ => None,
    }
}

fn words(text: &str) -> BTreeSet<String> {
    // An id such as person_4 is one word and no number.
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Numbers in digits and small ones in words.
fn numbers(text: &str) -> BTreeSet<u64> {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    let number = |word: &String| match word.as_str() {
        "once" => Some(1),
        "twice" => Some(2),
        "nobody" | "none" | "never" | "zero" => Some(0),
        word => WORDS
            .iter()
            .position(|known| *known == word)
            .map(|at| at as u64)
            .or_else(|| word.parse().ok()),
    };
    words(text).iter().filter_map(number).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_every_form() {
        let start = Timestamp::parse("2026-03-02T17:30:00Z").unwrap();
        let later = start.plus_secs(12.5);
        for value in ["12.5", "\"2026-03-02T17:30:12.5Z\"", &later.as_nanos().to_string()] {
            let value: Value = serde_json::from_str(value).unwrap();
            assert_eq!(read_time(&value, start), Some(later), "{value}");
        }
        assert_eq!(read_time(&Value::Null, start), None);
    }

    #[test]
    fn numbers_are_found_in_digits_and_words() {
        let found = numbers("I saw three persons, 12 times; person_4 only once.");
        assert_eq!(found, BTreeSet::from([1, 3, 12]));
    }
}
