//! BEAM ("Beyond a Million Tokens", Tavakoli et al. 2025, arXiv 2510.27246): chats of a user and an assistant with probing
//! questions of ten kinds: `bench beam`.
//!
//! The form is that of the sizes 100K to 1M in the authors' repository (`mohammadtavakoli78/BEAM`, `chats/`, at b2a3ee8): a
//! folder per chat; in `chat.json` batches of turns, numbered through, a batch's date (`time_anchor`) on its first turn; in
//! `probing_questions.json` the questions by kind. `source_chat_ids` of a question are the turns that hold its answer, the
//! evidence: a list, or by what they tell (`original_info` and `updated_info` of an update, `first_statement` and
//! `second_statement` of a contradiction). Unanswerable questions (`abstention`) have none.
//!
//! Each chat is remembered as LoCoMo's conversations are: an utterance of "User" or "Assistant" per turn. No language model
//! takes part. What is scored is what can be scored without one: whether the evidence is found, and whether anything is
//! answered. Not scored is whether replies are right: BEAM grades them by a rubric of statements that a judging model looks
//! for, and lists of events by Kendall's tau over items that such a model aligns. So no figure here stands beside the
//! published ones of whole answers.

mod format;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use self::format::{ABSTENTION, CONTRADICTION, Probe, UPDATE};
use super::evidence::{EvidenceRecall, EvidenceTally};
use super::remembered::Remembered;
use crate::answer::Question;
use crate::bench::BenchError;
use crate::bench::rehearsal::reply;
use crate::config::{Config, Engine};

/// The cut-offs of evidence recall.
const CUTS: [usize; 3] = [5, 10, 20];
/// So many turns are asked for.
const DEPTH: usize = CUTS[CUTS.len() - 1];

/// `bench beam`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BeamScores {
    /// Chats.
    pub chats: usize,
    /// Their turns.
    pub turns: usize,
    /// Questions whose evidence is in the chat: those that recall is scored on.
    pub questions: usize,
    /// Answerable questions whose evidence the file does not name: not scored.
    pub without_evidence: usize,
    /// What recall finds.
    pub recall: Ranking,
    /// What BM25 over the turns' words finds: the baseline.
    pub bm25: Ranking,
    /// Whether anything is answered.
    pub answers: Abstention,
}

/// How well a way of searching ranks the turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ranking {
    /// Evidence recall at turn level, over all scored questions.
    pub evidence_recall: EvidenceRecall,
    /// The same by the file's word for the kind of question.
    pub by_kind: BTreeMap<String, OfKind>,
    /// Questions for what has changed.
    pub knowledge_update: Update,
    /// Questions for what was told both ways.
    pub contradiction: Contradiction,
}

/// Evidence recall of one kind of question.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OfKind {
    /// How many were scored.
    pub questions: usize,
    /// Their evidence recall.
    #[serde(flatten)]
    pub evidence_recall: EvidenceRecall,
}

/// Whether the newest value comes before the superseded one, among the first 20 turns. The rest of 1: neither is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Update {
    /// Questions whose two values were told in turns of their own.
    pub questions: usize,
    /// Share of them where a turn of the newest value stands before every turn of the superseded one.
    pub newest_first: f64,
    /// Share where one of the superseded value does.
    pub superseded_first: f64,
}

/// Whether a contradiction can be seen in what was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Contradiction {
    /// Questions whose two statements were told in turns of their own.
    pub questions: usize,
    /// Share of them with a turn of either statement among the first k, by k.
    pub both: BTreeMap<usize, f64>,
}

/// What the built-in answerer, asked `fast`, answers and what it says it does not know. Neither share tells anything
/// without the other: who never answers has 1 and 0, who always does 0 and 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Abstention {
    /// Unanswerable questions.
    pub unanswerable: usize,
    /// Share of them that are not answered.
    pub abstained_unanswerable: f64,
    /// All other questions.
    pub answerable: usize,
    /// Share of them that are answered, rightly or not.
    pub answered_answerable: f64,
    /// The same by kind.
    pub answered_by_kind: BTreeMap<String, f64>,
}

/// Remembers every chat below the folder and asks its questions.
///
/// # Errors
/// When the folder, a file, the sentence embedder or a store fails.
pub fn measure(config: &Config, dir: &Path) -> Result<BeamScores, BenchError> {
    let mut config = config.clone();
    config.answerer.kind = Engine::Builtin;
    let mut tally = Tally::default();
    for folder in format::folders(dir)? {
        let chat = format::read(&folder)?;
        eprintln!("{}: {} questions", folder.display(), chat.probes.len());
        tally.chats += 1;
        tally.turns += chat.batches.iter().map(Vec::len).sum::<usize>();
        let remembered = Remembered::of(&config, &chat.batches)?;
        for probe in &chat.probes {
            tally.find(&remembered, probe)?;
            tally.answer(&remembered, probe)?;
        }
    }
    if tally.recall.all.questions() == 0 {
        let reason =
            "no question of its chats has its evidence (`source_chat_ids`) in its chat".to_owned();
        return Err(BenchError::TooLittle { path: dir.to_owned(), reason });
    }
    Ok(tally.scores())
}

#[derive(Default)]
struct Tally {
    chats: usize,
    turns: usize,
    without_evidence: usize,
    recall: RankingTally,
    bm25: RankingTally,
    abstained: Part,
    answered: BTreeMap<String, Part>,
}

impl Tally {
    fn find(&mut self, remembered: &Remembered, probe: &Probe) -> Result<(), BenchError> {
        if probe.kind == ABSTENTION {
            return Ok(());
        }
        if probe.evidence.is_empty() {
            self.without_evidence += 1;
            return Ok(());
        }
        let query = remembered.query(&probe.text)?;
        self.recall.add(probe, &remembered.recalled(&query, DEPTH));
        self.bm25.add(probe, &remembered.by_words(&probe.text, DEPTH));
        Ok(())
    }

    fn answer(&mut self, remembered: &Remembered, probe: &Probe) -> Result<(), BenchError> {
        let question = Question { text: probe.text.clone(), ..Question::default() };
        let abstained = reply(&remembered.knowledge, question)?.abstained;
        if probe.kind == ABSTENTION {
            self.abstained.add(abstained);
        } else {
            self.answered.entry(probe.kind.clone()).or_default().add(!abstained);
        }
        Ok(())
    }

    fn scores(self) -> BeamScores {
        let answered = self.answered.values().fold(Part::default(), |sum, part| sum.and(*part));
        BeamScores {
            chats: self.chats,
            turns: self.turns,
            questions: self.recall.all.questions(),
            without_evidence: self.without_evidence,
            recall: self.recall.ranking(),
            bm25: self.bm25.ranking(),
            answers: Abstention {
                unanswerable: self.abstained.of,
                abstained_unanswerable: self.abstained.share(),
                answerable: answered.of,
                answered_answerable: answered.share(),
                answered_by_kind: self
                    .answered
                    .into_iter()
                    .map(|(kind, part)| (kind, part.share()))
                    .collect(),
            },
        }
    }
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Part {
    some: usize,
    of: usize,
}

impl Part {
    fn add(&mut self, one: bool) {
        self.some += usize::from(one);
        self.of += 1;
    }

    fn and(self, other: Self) -> Self {
        Self { some: self.some + other.some, of: self.of + other.of }
    }

    /// 0–1; 0 of none.
    fn share(self) -> f64 {
        self.some as f64 / self.of.max(1) as f64
    }
}

struct RankingTally {
    all: EvidenceTally,
    by_kind: BTreeMap<String, EvidenceTally>,
    newest_first: Part,
    superseded_first: Part,
    both: BTreeMap<usize, Part>,
}

impl Default for RankingTally {
    fn default() -> Self {
        Self {
            all: EvidenceTally::new(&CUTS),
            by_kind: BTreeMap::new(),
            newest_first: Part::default(),
            superseded_first: Part::default(),
            both: CUTS.iter().map(|cut| (*cut, Part::default())).collect(),
        }
    }
}

impl RankingTally {
    /// `ranked`: the turns that were found, best first.
    fn add(&mut self, probe: &Probe, ranked: &[String]) {
        self.all.add(&probe.evidence, ranked);
        let of_kind = self.by_kind.entry(probe.kind.clone());
        of_kind.or_insert_with(|| EvidenceTally::new(&CUTS)).add(&probe.evidence, ranked);
        let Some(sides) = &probe.sides else { return };
        let rank = |side: &BTreeSet<String>| ranked.iter().position(|turn| side.contains(turn));
        let [one, other] = sides.each_ref().map(rank);
        match probe.kind.as_str() {
            UPDATE => {
                let before =
                    |a: Option<usize>, b: Option<usize>| a.is_some_and(|a| b.is_none_or(|b| a < b));
                self.superseded_first.add(before(one, other));
                self.newest_first.add(before(other, one));
            }
            CONTRADICTION => {
                let last = one.zip(other).map(|(one, other)| one.max(other));
                for (cut, part) in &mut self.both {
                    part.add(last.is_some_and(|last| last < *cut));
                }
            }
            _ => {}
        }
    }

    fn ranking(self) -> Ranking {
        let of_kind = |(kind, tally): (String, EvidenceTally)| {
            let scores = OfKind { questions: tally.questions(), evidence_recall: tally.recall() };
            (kind, scores)
        };
        Ranking {
            evidence_recall: self.all.recall(),
            by_kind: self.by_kind.into_iter().map(of_kind).collect(),
            knowledge_update: Update {
                questions: self.newest_first.of,
                newest_first: self.newest_first.share(),
                superseded_first: self.superseded_first.share(),
            },
            contradiction: Contradiction {
                questions: self.both.values().next().map_or(0, |part| part.of),
                both: self.both.into_iter().map(|(cut, part)| (cut, part.share())).collect(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ids: &[&str]) -> BTreeSet<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    fn probe(kind: &str, one: &[&str], other: &[&str]) -> Probe {
        let (one, other) = (set(one), set(other));
        Probe {
            kind: kind.to_owned(),
            text: String::new(),
            evidence: one.union(&other).cloned().collect(),
            sides: one.is_disjoint(&other).then_some([one, other]),
        }
    }

    /// `a` to `t`, in that order.
    fn letters() -> Vec<String> {
        ('a'..='t').map(String::from).collect()
    }

    #[test]
    fn an_update_is_right_where_the_newest_value_comes_first() {
        let mut tally = RankingTally::default();
        for (superseded, newest) in [
            (["c", "d"], ["b", "z"]), // newest first
            (["z", "y"], ["t", "x"]), // the superseded one is not there
            (["a", "z"], ["b", "c"]), // superseded first
            (["z", "y"], ["x", "w"]), // neither
        ] {
            tally.add(&probe(UPDATE, &superseded, &newest), &letters());
        }
        // One turn tells both: nothing to rank.
        tally.add(&probe(UPDATE, &["a"], &["a"]), &letters());
        let ranking = tally.ranking();
        let expected = Update { questions: 4, newest_first: 0.5, superseded_first: 0.25 };
        assert_eq!(ranking.knowledge_update, expected);
        assert_eq!(ranking.by_kind[UPDATE].questions, 5);
        assert_eq!(ranking.contradiction.questions, 0);
    }

    #[test]
    fn a_contradiction_is_seen_where_both_statements_are_found() {
        let mut tally = RankingTally::default();
        tally.add(&probe(CONTRADICTION, &["z", "e"], &["a"]), &letters());
        tally.add(&probe(CONTRADICTION, &["a"], &["k"]), &letters());
        tally.add(&probe(CONTRADICTION, &["a"], &["z"]), &letters());
        let ranking = tally.ranking();
        assert_eq!(ranking.contradiction.questions, 3);
        let third = 1.0 / 3.0;
        let expected = BTreeMap::from([(5, third), (10, third), (20, 2.0 * third)]);
        assert_eq!(ranking.contradiction.both, expected);
        assert_eq!(ranking.evidence_recall.any[&5], 1.0);
        assert_eq!(ranking.knowledge_update, Update::default());
    }

    #[test]
    fn abstaining_and_answering_are_shares_of_different_questions() {
        let mut tally = Tally::default();
        for abstained in [true, false, true, true] {
            tally.abstained.add(abstained);
        }
        for (kind, answered) in [("a", true), ("a", false), ("b", false), ("b", false)] {
            tally.answered.entry(kind.to_owned()).or_default().add(answered);
        }
        let answers = tally.scores().answers;
        assert_eq!((answers.unanswerable, answers.answerable), (4, 4));
        assert_eq!((answers.abstained_unanswerable, answers.answered_answerable), (0.75, 0.25));
        let by_kind = BTreeMap::from([("a".to_owned(), 0.5), ("b".to_owned(), 0.0)]);
        assert_eq!(answers.answered_by_kind, by_kind);
    }
}
