//! Sentences that may answer a question, and how likely each does.
//!
//! A linear model over what a sentence has in common with the question, with a softmax over the best sentences and
//! "nothing of it"; `benches/told_fit.py` fits its weights.

use std::collections::BTreeMap;

use super::corpus::Corpus;
use super::features::{Features, judge};
use super::question::{Kind, Question};
use crate::language::lexicon::Lexicon;

/// So many share the probability.
const RIVALS: usize = 12;

/// What replies to a question of the same kind is so much likelier, in log odds.
const REPLIES: f32 = 1.0;
/// … where so much of the question stands in it.
const TOLD: f32 = 0.75;

/// One sentence beside a question.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) note: usize,
    pub(super) sentence: usize,
    pub(super) features: Features,
    score: f32,
    /// How likely this sentence answers it.
    pub(super) probability: f32,
    /// The word of what fills the question's hole.
    pub(super) value: Option<usize>,
}

impl Candidate {
    /// Share of the question that its note holds.
    pub(super) fn cover(&self) -> f32 {
        self.features.cover
    }

    /// Whether a name of the question stands nowhere in its note.
    pub(super) fn lacks_name(&self) -> bool {
        self.features.names > 0.0
    }

    /// Whether it can answer at all: it tells something new, and not of somebody else who does what is asked.
    pub(super) fn may_answer(&self, question: &Question) -> bool {
        let Features { fresh, stranger, other_doer, other_sort, denied, in_place, .. } =
            self.features;
        let is_not_so = denied > 0.0 && in_place > 0.0;
        let is_new = fresh > 0.0 || matches!(question.kind, Kind::Time | Kind::Whether);
        is_new
            && other_sort < 1.0
            && (stranger < 1.0 || other_doer < 1.0)
            && (question.kind != Kind::Person || !is_not_so)
    }

    /// Whether it tells as much as another, of the same predicate, as likely.
    fn is_equal(&self, best: &Self) -> bool {
        let near = self.features;
        self.score >= best.score - 1.0
            && near.cover >= best.features.cover - 0.06
            && near.other_predicate <= best.features.other_predicate + 0.1
            && near.value >= best.features.value - 0.1
            && near.exact >= best.features.exact - 0.06
            && near.names <= best.features.names
            && near.lacks_theme <= best.features.lacks_theme
            && near.denied <= best.features.denied
    }

    /// Whether it tells the same of the same, word by word: it happened again.
    pub(super) fn is_as_much_as(&self, best: &Self) -> bool {
        let (mine, other) = (&self.features, &best.features);
        (mine.cover - other.cover).abs() < 0.03
            && (mine.exact - other.exact).abs() < 0.03
            && (mine.in_place - other.in_place).abs() < 0.1
            && mine.in_place > 0.8
            && mine.cover > 0.75
            && mine.value >= other.value
            && mine.names <= other.names
            && mine.stranger <= other.stranger
    }

    /// Whether it is one of those that the best stands for, where all are asked for.
    pub(super) fn is_another_of(&self, best: &Self) -> bool {
        self.features.cover >= best.features.cover - 0.12
            && self.features.value >= 0.55
            && (self.features.other_predicate - best.features.other_predicate).abs() < 0.4
    }
}

/// Every sentence of the corpus, the likeliest first; of equals the newest, or the oldest where the first is asked for.
pub(super) fn candidates(corpus: &Corpus<'_>, question: &Question) -> Vec<Candidate> {
    let sentences: Vec<_> = corpus.sentences().collect();
    let judged = sentences.iter().map(|&(note, sentence, read)| {
        let (features, value) = judge(corpus, question, (note, sentence), read);
        Candidate { note, sentence, features, score: 0.0, probability: 0.0, value }
    });
    let is_near = |one: &Candidate| one.features.cover > 0.0 || one.features.cosine > 0.2;
    let may_reply = |one: &Candidate| !replies_otherwise(corpus, question, one);
    let mut all: Vec<Candidate> = judged.filter(is_near).filter(may_reply).collect();
    let cover = Lead::of(&all, |features| features.cover);
    let cosine = Lead::of(&all, |features| features.cosine);
    for one in &mut all {
        let Features { cover: held, cosine: near, .. } = one.features;
        (one.features.behind_cover, one.features.ahead_cover) = cover.beside(one.note, held);
        (one.features.behind_cosine, one.features.ahead_cosine) = cosine.beside(one.note, near);
        one.score = one.features.score(question.kind);
        if one.features.cover >= TOLD && replies(corpus, question, one.note) {
            one.score += REPLIES;
        }
    }
    all.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then(b.note.cmp(&a.note)).then(a.sentence.cmp(&b.sentence))
    });
    let nothing = 0.0;
    let top = all.first().map_or(nothing, |one| one.score.max(nothing));
    let may = |one: &&Candidate| one.may_answer(question);
    let rivals = all.iter().take(RIVALS).filter(may).map(|one| (one.score - top).exp());
    let sum = rivals.sum::<f32>() + (nothing - top).exp();
    for one in &mut all {
        one.probability = (one.score - top).exp() / sum;
    }
    in_order(corpus, question, &mut all);
    all
}

/// What holds so much less of the question tells something else.
const LESS: f32 = 0.1;

/// What each note has, of the question's words and of something, and the most of that.
struct Lead {
    notes: BTreeMap<usize, (f32, f32)>,
    most: f32,
}

impl Lead {
    fn of(all: &[Candidate], of: impl Fn(&Features) -> f32) -> Self {
        let mut notes = BTreeMap::<usize, (f32, f32)>::new();
        for one in all {
            let (cover, most) = notes.entry(one.note).or_default();
            *cover = cover.max(one.features.cover);
            *most = most.max(of(&one.features));
        }
        let most = notes.values().map(|(_, has)| *has).fold(0.0, f32::max);
        Self { notes, most }
    }

    /// How far a note that has so much is behind the first, and how far before the next that tells something else.
    fn beside(&self, note: usize, has: f32) -> (f32, f32) {
        let cover = self.notes.get(&note).map_or(0.0, |(cover, _)| *cover);
        let others = || self.notes.iter().filter(|(at, _)| **at != note).map(|(_, other)| other);
        // Most notes are behind another at once.
        let leads = others().all(|(held, other)| *other <= has || (held - cover).abs() <= LESS);
        if !leads {
            return (self.most - has, 0.0);
        }
        let less = others().filter(|(held, _)| *held < cover - LESS);
        let next = less.map(|(_, has)| *has).fold(0.0, f32::max);
        (self.most - has, (has - next).max(0.0))
    }
}

/// Whether a note replies to a question of that kind.
fn replies(corpus: &Corpus<'_>, question: &Question, note: usize) -> bool {
    let asked = question.asked.map(|at| &question.words[at].lemma);
    asked.is_some() && corpus.notes[note].read.asked.as_ref() == asked
}

/// Whether it is the fragment that replies to a question of another kind: who it is tells no colour.
fn replies_otherwise(corpus: &Corpus<'_>, question: &Question, one: &Candidate) -> bool {
    let read = &corpus.notes[one.note].read;
    let asked = question.asked.map(|at| &question.words[at].lemma);
    one.sentence == 0 && !read.is_reason && read.asked.is_some() && read.asked.as_ref() != asked
}

/// Puts the newest of what fits as well as the best in front: it then stands for both.
fn in_order(corpus: &Corpus<'_>, question: &Question, all: &mut Vec<Candidate>) {
    let Some(best) = all.first().cloned() else { return };
    let first = question.says("first");
    if question.span.is_some() && !first {
        return;
    }
    let moves = |at: &usize| is_of_moved(corpus, question, &all[*at], &best);
    let equal: Vec<usize> =
        (1..all.len().min(8)).filter(|at| all[*at].is_equal(&best) || moves(at)).collect();
    let chosen = if question.asks_before() {
        // What was so until the newest came.
        let newest = equal.iter().copied().chain([0]).max_by_key(|&at| all[at].note).unwrap_or(0);
        let note = all[newest].note;
        let older = equal.iter().copied().chain([0]).filter(|&at| all[at].note < note);
        older.max_by_key(|&at| all[at].note)
    } else if first {
        let older = equal.iter().copied().filter(|&at| all[at].note < best.note);
        older.min_by_key(|&at| all[at].note)
    } else {
        let newer = equal.iter().copied().filter(|&at| all[at].note > best.note);
        newer.max_by_key(|&at| all[at].note)
    };
    if let Some(at) = chosen.filter(|&at| at > 0) {
        let mut one = all.remove(at);
        one.probability = (one.probability + best.probability).min(1.0);
        all.insert(0, one);
    }
}

/// Whether it tells that what the best tells is at another time now.
fn is_of_moved(
    corpus: &Corpus<'_>,
    question: &Question,
    one: &Candidate,
    best: &Candidate,
) -> bool {
    let sentence = &corpus.notes[one.note].read.sentences[one.sentence];
    let is_dated = !sentence.times.is_empty();
    question.kind == Kind::Time
        && is_dated
        && one.note > best.note
        && one.features.cover >= (best.features.cover - MOVED).max(MOVED_LEAST)
        && one.features.lacks_theme <= best.features.lacks_theme
        && one.features.names <= best.features.names
        && sentence.terms.iter().any(|term| Lexicon::english().is("rescheduling", &term.lemma))
}

/// So much of the question must stand where something is told to be at another time.
const MOVED_LEAST: f32 = 0.6;
/// So much less of the question may stand where something is told to be at another time.
const MOVED: f32 = 0.3;
