//! LoCoMo (Maharana et al. 2024, arXiv 2402.17753): long conversations with questions and their evidence.
//! `bench locomo` asks recall for the evidence; `bench memory` takes its texts and questions from here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::evidence::{EvidenceRecall, EvidenceTally, distinct, share};
use super::remembered::{Remembered, TURN_SECS, Turn};
use crate::answer::Question;
use crate::bench::BenchError;
use crate::bench::error::read_text;
use crate::bench::judge::{Judge, token_f1};
use crate::bench::rehearsal::reply;
use crate::config::Config;
use crate::time::Timestamp;

/// The cut-offs of evidence recall.
const CUTS: [usize; 4] = [1, 5, 10, 20];
/// Sessions are gathered from so many turns.
const TURNS_FOR_SESSIONS: usize = 200;
/// The category whose questions rest on a wrong premise.
const WRONG_PREMISE: u8 = 5;

/// One conversation of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    /// Its name.
    pub id: String,
    /// Its sittings, in order.
    pub sittings: Vec<Vec<Turn>>,
    /// What is asked about it.
    pub questions: Vec<Asked>,
}

/// One question.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The words.
    pub text: String,
    /// The turns that hold the answer, as far as they exist.
    pub evidence: BTreeSet<String>,
    /// 1 several hops, 2 time, 3 open, 4 one hop, 5 wrong premise.
    pub category: u8,
    /// The true answer; `None` where the premise is wrong.
    pub answer: Option<String>,
}

/// Reads the file.
///
/// # Errors
/// When it cannot be read or has another form.
pub fn read(path: &Path) -> Result<Vec<Conversation>, BenchError> {
    parse(&read_text(path)?).map_err(|reason| BenchError::Form { path: path.to_owned(), reason })
}

fn parse(text: &str) -> Result<Vec<Conversation>, String> {
    #[derive(Deserialize)]
    struct Sample {
        sample_id: String,
        conversation: Map<String, Value>,
        qa: Vec<Qa>,
    }
    #[derive(Deserialize)]
    struct Qa {
        question: String,
        #[serde(default)]
        evidence: Vec<String>,
        category: u8,
        /// Words or a number.
        #[serde(default)]
        answer: Value,
    }
    #[derive(Deserialize)]
    struct Said {
        dia_id: String,
        speaker: String,
        text: String,
        blip_caption: Option<String>,
    }
    let samples: Vec<Sample> =
        serde_json::from_str(text).map_err(|error| format!("it is no LoCoMo file: {error}"))?;
    let mut conversations = Vec::new();
    for sample in samples {
        let mut sittings: BTreeMap<u32, Vec<Turn>> = BTreeMap::new();
        for (key, value) in &sample.conversation {
            let Some(number) = key.strip_prefix("session_").and_then(|n| n.parse().ok()) else {
                continue;
            };
            let date = sample.conversation.get(&format!("{key}_date_time")).and_then(Value::as_str);
            let start = date.and_then(read_date).ok_or_else(|| {
                format!(
                    "{key} of {} has no date such as \"1:56 pm on 8 May, 2023\"",
                    sample.sample_id
                )
            })?;
            let said: Vec<Said> = serde_json::from_value(value.clone())
                .map_err(|error| format!("{key} of {}: {error}", sample.sample_id))?;
            let turns = said.into_iter().enumerate().map(|(index, said)| Turn {
                id: said.dia_id,
                speaker: said.speaker,
                text: match said.blip_caption {
                    Some(caption) => format!("{} [shares {caption}]", said.text),
                    None => said.text,
                },
                at: start.plus_secs(index as f64 * TURN_SECS),
            });
            sittings.insert(number, turns.collect());
        }
        let known: BTreeSet<&str> =
            sittings.values().flatten().map(|turn| turn.id.as_str()).collect();
        let questions = sample
            .qa
            .into_iter()
            .map(|qa| Asked {
                // Some entries hold several ids: "D8:6; D9:17".
                evidence: qa
                    .evidence
                    .iter()
                    .flat_map(|ids| ids.split([';', ',', ' ']))
                    .map(str::trim)
                    .filter(|id| known.contains(id))
                    .map(str::to_owned)
                    .collect(),
                text: qa.question,
                category: qa.category,
                answer: match qa.answer {
                    Value::Null => None,
                    Value::String(text) => Some(text),
                    other => Some(other.to_string()),
                },
            })
            .collect();
        conversations.push(Conversation {
            id: sample.sample_id,
            sittings: sittings.into_values().collect(),
            questions,
        });
    }
    Ok(conversations)
}

/// `1:56 pm on 8 May, 2023`, taken as UTC.
fn read_date(text: &str) -> Option<Timestamp> {
    let civil = jiff::civil::DateTime::strptime("%I:%M %p on %d %B, %Y", text.trim()).ok()?;
    let zoned = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp::from_jiff(zoned.timestamp()))
}

/// `bench locomo`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LocomoScores {
    /// Questions of categories 1–4 whose evidence is in the file.
    pub questions: usize,
    /// Share of a question's evidence among the first k hits, averaged over the questions, by k: `mean` of `turn_level`.
    pub evidence_recall: BTreeMap<usize, f64>,
    /// The same at 10, by category.
    pub at_10_by_category: BTreeMap<u8, f64>,
    /// What recall finds.
    #[serde(flatten)]
    pub recall: Levels,
    /// What BM25 over the turns' words finds: the baseline.
    pub bm25: Levels,
    /// Share of a question's evidence among the first five that the answer rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_evidence_at_5: Option<f64>,
    /// Of the questions with a wrong premise, those that were not answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abstained_wrong_premise: Option<f64>,
    /// Of the others, those that were answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_others: Option<f64>,
    /// Token F1 of the replies to the others against their true answers; an abstention counts 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_f1: Option<f64>,
    /// Share of the replies to the others that the judge lets pass; errors of the judge count against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged_right: Option<f64>,
    /// Replies that the judge could not be asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_errors: Option<usize>,
}

/// Evidence recall, of turns and of sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Levels {
    /// The evidence's own turns among the first k turns.
    pub turn_level: EvidenceRecall,
    /// The sessions (the file's word for a sitting) that hold the evidence among the first k sessions, ranked by their best
    /// turn, of the first 200 turns; LongMemEval scores turns as sessions this way (`evaluate_retrieval_turn2session`). A
    /// conversation has some 19 to 32 sessions: at 20 little is left to miss.
    pub session_level: EvidenceRecall,
}

/// Remembers every conversation and asks its questions.
///
/// # Errors
/// When the file, the sentence embedder or a store fails.
pub fn measure(
    config: &Config,
    file: &Path,
    answer: bool,
    judge: Option<&Judge>,
) -> Result<LocomoScores, BenchError> {
    let mut tally = Tally::default();
    for conversation in read(file)? {
        let remembered = Remembered::of(config, &conversation.sittings)?;
        for asked in &conversation.questions {
            if asked.category != WRONG_PREMISE && !asked.evidence.is_empty() {
                tally.find(&remembered, asked)?;
            }
            if answer {
                tally.answer(&remembered, asked, judge)?;
            }
        }
    }
    if tally.recall.turns.questions() == 0 {
        let reason = "no question of categories 1 to 4 has its evidence in it".to_owned();
        return Err(BenchError::TooLittle { path: file.to_owned(), reason });
    }
    Ok(tally.scores(answer, judge.is_some()))
}

struct LevelTally {
    turns: EvidenceTally,
    sessions: EvidenceTally,
}

impl Default for LevelTally {
    fn default() -> Self {
        Self { turns: EvidenceTally::new(&CUTS), sessions: EvidenceTally::new(&CUTS) }
    }
}

impl LevelTally {
    /// `turns`: what was found, best first; `more`: the same, so far on that it holds enough sessions.
    fn add(&mut self, remembered: &Remembered, asked: &Asked, turns: &[String], more: &[String]) {
        let sitting = |turn: &String| remembered.sitting(turn);
        self.turns.add(&asked.evidence, turns);
        let sessions = distinct(more.iter().filter_map(sitting));
        self.sessions.add(&asked.evidence.iter().filter_map(sitting).collect(), &sessions);
    }

    fn levels(&self) -> Levels {
        Levels { turn_level: self.turns.recall(), session_level: self.sessions.recall() }
    }
}

#[derive(Default)]
struct Tally {
    recall: LevelTally,
    bm25: LevelTally,
    by_category: BTreeMap<u8, (f64, usize)>,
    answer_evidence: f64,
    wrong_premise: (usize, usize),
    others: (usize, usize),
    f1: f64,
    judged_right: usize,
    judge_errors: usize,
}

impl Tally {
    fn find(&mut self, remembered: &Remembered, asked: &Asked) -> Result<(), BenchError> {
        let query = remembered.query(&asked.text)?;
        let turns = remembered.recalled(&query, CUTS[CUTS.len() - 1]);
        let more = remembered.recalled(&query, TURNS_FOR_SESSIONS);
        self.recall.add(remembered, asked, &turns, &more);
        let by_words = remembered.by_words(&asked.text, TURNS_FOR_SESSIONS);
        self.bm25.add(remembered, asked, &by_words, &by_words);
        let category = self.by_category.entry(asked.category).or_default();
        category.0 += share(&asked.evidence, turns.iter().take(10));
        category.1 += 1;
        Ok(())
    }

    fn answer(
        &mut self,
        remembered: &Remembered,
        asked: &Asked,
        judge: Option<&Judge>,
    ) -> Result<(), BenchError> {
        let knowledge = &remembered.knowledge;
        let question = Question { text: asked.text.clone(), ..Question::default() };
        let reply = reply(knowledge, question)?;
        if asked.category == WRONG_PREMISE {
            self.wrong_premise.0 += usize::from(reply.abstained);
            self.wrong_premise.1 += 1;
            return Ok(());
        }
        self.others.0 += usize::from(!reply.abstained);
        self.others.1 += 1;
        if let Some(truth) = asked.answer.as_ref().filter(|_| !reply.abstained) {
            self.f1 += token_f1(&reply.answer, truth);
            match judge.map(|judge| judge.entails(&asked.text, truth, &reply.answer)) {
                Some(Ok(right)) => self.judged_right += usize::from(right),
                Some(Err(error)) => {
                    tracing::warn!(%error, "an answer was not judged");
                    self.judge_errors += 1;
                }
                None => {}
            }
        }
        if !asked.evidence.is_empty() {
            let rests_on = reply
                .evidence
                .iter()
                .take(5)
                .filter_map(|evidence| remembered.turn(evidence.memory?));
            self.answer_evidence += share(&asked.evidence, rests_on);
        }
        Ok(())
    }

    fn scores(self, answer: bool, judged: bool) -> LocomoScores {
        let recall = self.recall.levels();
        let questions = self.recall.turns.questions();
        let count = questions.max(1) as f64;
        let part =
            |(some, all): (usize, usize)| (answer && all > 0).then(|| some as f64 / all as f64);
        LocomoScores {
            questions,
            evidence_recall: recall.turn_level.mean.clone(),
            bm25: self.bm25.levels(),
            recall,
            at_10_by_category: self
                .by_category
                .into_iter()
                .map(|(category, (sum, count))| (category, sum / count as f64))
                .collect(),
            answer_evidence_at_5: answer.then(|| self.answer_evidence / count),
            abstained_wrong_premise: part(self.wrong_premise),
            answered_others: part(self.others),
            answer_f1: answer.then(|| self.f1 / self.others.1.max(1) as f64),
            judged_right: part((self.judged_right, self.others.1)).filter(|_| judged),
            judge_errors: judged.then_some(self.judge_errors),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const FILE: &str = r#"[{"sample_id": "conv-1", "conversation": {
        "speaker_a": "Ava", "speaker_b": "Ben",
        "session_2_date_time": "12:09 am on 13 September, 2023",
        "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "Look.", "blip_caption": "a photo of a dog"}],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": "Ava", "dia_id": "D1:1", "text": "Hey!"}, {"speaker": "Ben", "dia_id": "D1:2", "text": "Hi."}]},
        "qa": [{"question": "Who?", "answer": 3, "evidence": ["D1:2; D2:1", "D9:9"], "category": 1},
               {"question": "Why?", "adversarial_answer": "x", "evidence": [], "category": 5}]}]"#;

    #[test]
    fn conversations_are_read_in_the_order_of_their_sittings() {
        let read = parse(FILE).unwrap();
        let [conversation] = read.as_slice() else { panic!("{read:?}") };
        let ids: Vec<&str> =
            conversation.sittings.iter().flatten().map(|t| t.id.as_str()).collect();
        assert_eq!(ids, ["D1:1", "D1:2", "D2:1"]);
        let last = &conversation.sittings[1][0];
        assert_eq!(last.sentence(), "Ben: Look. [shares a photo of a dog]");
        assert_eq!(last.at, Timestamp::parse("2023-09-13T00:09:00Z").unwrap());
        assert_eq!(
            conversation.sittings[0][1].at,
            Timestamp::parse("2023-05-08T13:56:20Z").unwrap()
        );
        let evidence: Vec<&String> = conversation.questions[0].evidence.iter().collect();
        assert_eq!(evidence, ["D1:2", "D2:1"]);
        assert!(parse("{}").is_err());
    }
}
