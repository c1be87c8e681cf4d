//! Somebody told by a description ("the metalworker", "the woman who teaches sewing", "the owner of the red toolbox"):
//! what was told says who that is, and the question is asked of that one.
//!
//! A sentence is read by its grammar: whoever is named before the verb does it. Whom percepts tell ("the person who
//! spoke first") is found by them.

use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, telling_stems};
use crate::recall::lexer::{Token, tokens};
use crate::text::sentences;

use super::demands::is_plain;
use super::doer;
use super::facts::tell;
use super::kinship::Relative;
use super::near::{is_word, told_otherwise};
use super::persons::Names;
use super::question::{Clause, NOUNS, Subject, is_grammar, listed, parse};
use super::reading::Reading;
use super::reply::Reply;
use super::whereabouts::is_preposition;
use super::wording::{list, sentence};

/// Statements with words of a description that are looked at.
const LOOKED_AT: usize = 50;
/// Beginnings of descriptions that are looked at in one question.
const MOST: usize = 4;
/// Words of what somebody does or owns, at most.
const LONGEST: usize = 6;
/// Words of what somebody is, at most: "our head gardener".
const LONGEST_ROLE: usize = 3;
/// How much confidence is left where it had to be found out first who is meant.
const OVER_TWO: f32 = 0.9;
/// What a description begins with.
const ARTICLES: &str = "the our my";
/// Verbs behind which somebody stands, and what that one does.
const HELPING: &str = "do does did will can could should would may might must has have had";
const BEING: &str = "is are was were";
/// What makes a role one that is over.
const FORMER: &str = "former retired ex erstwhile past";
/// What begins a question that asks something of the one who is told by a description.
const ASKING: &str = "what where when why how which who";
/// What begins a question that asks for nothing but who that is.
const WHO: &str = "who who's whom what what's which";
/// What makes a clause say who it is not.
const NOT: &str = "not never no doesn't didn't isn't wasn't hasn't can't";

/// A question that tells somebody by a description, asked of the one who is meant.
pub(super) struct Hop {
    /// With the name instead.
    pub(super) question: String,
    description: String,
    name: String,
    row: Arc<MemoryRow>,
}

impl Hop {
    /// The reply to the question with the name, and who was found to be meant.
    pub(super) fn told(self, reading: &Reading, mut reply: Reply) -> Reply {
        if !reply.abstained && !self.tells_more(reading, &reply) {
            let text = format!("I don't know; what I remember of it: {}", reply.text);
            reply = Reply { text, evidence: reply.evidence, ..Reply::unknown("") };
        }
        let lead = format!("{} is {}", sentence(&self.description), self.name);
        let answers = reply.evidence.first().is_some_and(|item| item.memory == Some(self.row.id));
        reply.text = match answers {
            true => format!("{lead}. {}", reply.text),
            false => format!("{lead}: {} {}", tell(reading, &self.row), reply.text),
        };
        if !answers {
            let evidence = reading.memory_evidence(&self.row, self.row.confidence);
            reply.evidence.insert(reply.evidence.len().min(1), evidence);
        }
        if !reply.abstained {
            reply.confidence *= OVER_TWO;
        }
        reply
    }

    /// Whether a note that is quoted holds more of the question than the name. What is asked of somebody's likes or
    /// birthday may be told in other words.
    fn tells_more(&self, reading: &Reading, reply: &Reply) -> bool {
        let row = reply.evidence.first().and_then(|item| reading.view.memory(item.memory?));
        let quoted = |row: &Arc<MemoryRow>| is_plain(row) && reply.text == tell(reading, row);
        let Some(row) = row.filter(quoted) else { return true };
        let names = Names { view: &reading.view };
        let zone = &reading.wording.zone;
        let asked = parse(&self.question, reading.now(), zone, &|name| names.find(name));
        let told = tokens(&reading.rendered(&row.text));
        let parts = tokens(&self.name);
        let is_name =
            |token: &Token| parts.iter().any(|part| part.word == token.word.trim_end_matches("'s"));
        let telling =
            |token: &Token| !is_name(token) && !is_grammar(&token.word) && is_telling(&token.word);
        let words = tokens(&self.question).into_iter().filter(telling);
        let words: Vec<String> = words.map(|token| token.word).collect();
        let held = |word: &String| {
            told.iter().any(|token| is_word(word, token))
                || told_otherwise(word, &words, &told).is_some()
        };
        asked.fact.is_some() || words.is_empty() || words.iter().any(held)
    }
}

/// What tells somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// "the metalworker"
    Role,
    /// "the woman who teaches sewing"
    Clause,
    /// "the person allergic to nuts"
    Trait,
    /// "the owner of the red toolbox"
    Thing,
}

/// A description whose end is open: it is as long as what was told makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Begun {
    by: By,
    /// Its first word.
    at: usize,
    /// The first word that tells.
    from: usize,
}

/// The question asked of whom it describes. `None`: nobody is described; `Err`: nobody knows whom it means.
pub(super) fn resolved(
    reading: &Reading,
    names: &Names<'_>,
    question: &str,
) -> Option<Result<Hop, Reply>> {
    let words = tokens(question);
    if let Some(hop) = relative(reading, question, &words) {
        return Some(Ok(hop));
    }
    (0..words.len()).filter_map(|at| begun(&words, at)).take(MOST).find_map(|begun| {
        let by_percepts = begun.by == By::Clause && {
            let told = names.subjects_in(&question[words[begun.at].range.start..]);
            let looks = |clause: &Clause| matches!(clause, Clause::Looks(_));
            matches!(told.first(), Some(Subject::Described(told)) if !looks(&told.clause))
        };
        if by_percepts { None } else { meant(reading, question, &words, begun) }
    })
}

/// The question asked of "her mother" by name, where that is told of somebody whom it names before.
fn relative(reading: &Reading, question: &str, words: &[Token]) -> Option<Hop> {
    let meant = Relative::of(question)?;
    let told = |name: &str| told_with(reading, name).into_iter();
    let is_so = |name: &str, unless_other: bool| {
        let text = |row: Arc<MemoryRow>| reading.rendered(&row.text);
        let sex = |text: String| meant.is_of_its_sex(name, sentences(&text));
        !question.contains(name) && (!unless_other || told(name).map(text).any(sex))
    };
    let (name, row) = told(&meant.whose).find_map(|row| {
        let text = reading.rendered(&row.text);
        let (name, unless_other) = sentences(&text).find_map(|told| meant.named_in(told))?;
        is_so(&name, unless_other).then_some((name, row))
    })?;
    Some(hop(question, words, (meant.at.start, meant.at.end), name, row))
}

/// The description that begins there, if any.
fn begun(words: &[Token], at: usize) -> Option<Begun> {
    let word = |at: usize| words.get(at).map_or("", |token| token.word.as_str());
    let begun = |by: By, from: usize| Some(Begun { by, at, from });
    if word(at) == "whoever" {
        return begun(By::Clause, at + 1);
    }
    if !listed(ARTICLES, word(at)) || words[at].quoted {
        return None;
    }
    if word(at + 1) == "owner" && word(at + 2) == "of" {
        return begun(By::Thing, at + 3 + usize::from(listed(ARTICLES, word(at + 3))));
    }
    if !NOUNS.contains(&word(at + 1)) {
        return begun(By::Role, at + 1);
    }
    match word(at + 2) {
        "who" | "that" => begun(By::Clause, at + 3),
        next if is_telling(next) && !is_grammar(next) => begun(By::Trait, at + 2),
        _ => None,
    }
}

fn is_telling(word: &str) -> bool {
    !telling_stems(word).is_empty()
}

/// Who that is, by the longest description that was told of anybody.
fn meant(
    reading: &Reading,
    question: &str,
    words: &[Token],
    begun: Begun,
) -> Option<Result<Hop, Reply>> {
    let ends = ends(words, begun);
    let longest = *ends.first()?;
    let text = |end: usize| &question[words[begun.from].range.start..words[end - 1].range.end];
    let clause = &words[begun.from..longest];
    if clause.iter().any(|token| listed(NOT, &token.word)) {
        return None;
    }
    let rows = told_with(reading, text(longest));
    for end in ends {
        let mut found = told_of(reading, &rows, begun.by, text(end));
        found.dedup_by(|a, b| a.0 == b.0);
        let (name, row) = match found.as_slice() {
            [] => continue,
            [only] => only.clone(),
            several => {
                let names: Vec<String> = several.iter().map(|(name, _)| name.clone()).collect();
                let told = &question[words[begun.at].range.start..words[end - 1].range.end];
                let text = format!(
                    "I don't know which one you mean by \u{201c}{told}\u{201d}: it fits {}.",
                    list(&names)
                );
                return Some(Err(Reply::unknown(&text)));
            }
        };
        let asks = !question.contains(&name) && !is_identity(words, begun, end);
        return asks.then(|| Ok(hop(question, words, (begun.at, end), name, row)));
    }
    let telling = clause.iter().find(|token| is_telling(&token.word)).unwrap_or(&clause[0]);
    let named = if begun.by == By::Thing { "owner" } else { telling.word.as_str() };
    let is_said = |row: &Arc<MemoryRow>| {
        let text = reading.rendered(&row.text);
        sentences(&text).any(|told| doer::holds(told, named))
    };
    // What is told of somebody without a name may answer as a whole.
    let is_open = matches!(begun.by, By::Role | By::Trait) || rows.iter().any(is_said);
    let text = "I don't know whom you mean: nothing that I was told says who that is.";
    (!is_open).then(|| Err(Reply::unknown(text)))
}

/// Where the description may end, the last first.
fn ends(words: &[Token], begun: Begun) -> Vec<usize> {
    let Begun { by, at, from } = begun;
    let most = if by == By::Role { LONGEST_ROLE } else { LONGEST };
    let before = at.checked_sub(1).map_or("", |before| words[before].word.as_str());
    // "Where does the metalworker live?": something is left that is asked of that one.
    let limit = words.len() - usize::from(listed(HELPING, before)).min(words.len());
    let fits = |end: &usize| {
        let taken = &words[from..*end];
        let named = taken.iter().all(|token| !token.capital && !is_grammar(&token.word));
        let theirs = |token: &Token| by == By::Role && token.word.ends_with("'s");
        let whole = taken[..taken.len() - 1].iter().all(|token| !token.stop && !theirs(token));
        let telling = taken.last().is_some_and(|token| is_telling(&token.word));
        whole && telling && (by != By::Role || named && is_whole(words, at, *end))
    };
    (from + 1..=limit.min(from + most)).rev().filter(fits).collect()
}

/// Whether a noun is over there: "the metalworker's room", "the metalworker live", not "the printer cable".
fn is_whole(words: &[Token], at: usize, end: usize) -> bool {
    let last = &words[end - 1];
    let Some(next) = words.get(end).filter(|_| !last.stop && !last.word.ends_with("'s")) else {
        return true;
    };
    let before = at.checked_sub(1).map_or("", |before| words[before].word.as_str());
    let verb = next.word.ends_with("ing") || next.word.ends_with("ed");
    // "Is the cook ill?", "What is the cook allergic to?"
    let opens = at == 1 || at == 2 && listed(ASKING, &words[0].word);
    let asked = listed(HELPING, before) || opens && listed(BEING, before);
    verb || asked || is_grammar(&next.word) || is_preposition(&next.word)
}

/// Whether nothing is asked but who that is: "Who is the person who teaches sewing?"
fn is_identity(words: &[Token], begun: Begun, end: usize) -> bool {
    let mut rest = words[..begun.at].iter().chain(&words[end..]);
    let nothing = !rest.any(|token| is_telling(&token.word));
    nothing && (begun.by == By::Trait || listed(WHO, &words[0].word))
}

/// The question with the name in place of words `at..end`; "the job of …" becomes that one's job.
fn hop(
    question: &str,
    words: &[Token],
    (at, end): (usize, usize),
    name: String,
    row: Arc<MemoryRow>,
) -> Hop {
    let word = |at: usize| words[at].word.as_str();
    let (start, stop) = (words[at].range.start, words[end - 1].range.end);
    let theirs = word(end - 1).ends_with("'s");
    let of = at >= 3 && word(at - 1) == "of" && word(at - 3) == "the" && !theirs;
    let (head, with) = match of {
        true => (
            words[at - 3].range.start,
            format!("{name}'s {}", &question[words[at - 2].range.clone()]),
        ),
        false if theirs => (start, format!("{name}'s")),
        false => (start, name.clone()),
    };
    let told = question[start..stop].trim_end_matches("'s").trim_end_matches("\u{2019}s");
    Hop {
        question: format!("{}{with}{}", &question[..head], &question[stop..]),
        description: told.to_owned(),
        name,
        row,
    }
}

/// What was told with some of those words, and holds now.
fn told_with(reading: &Reading, words: &str) -> Vec<Arc<MemoryRow>> {
    let now = reading.now();
    let kinds = vec![MemoryKind::Note, MemoryKind::Semantic];
    let filter = Filter { kinds, valid_at: Some(now), ..Filter::default() };
    let hits = reading.view.lexical_with_kin(words, LOOKED_AT, &filter).into_iter();
    let rows = hits.filter_map(|(id, _)| reading.view.memory(id));
    rows.filter(|row| row.span.start <= now).collect()
}

/// Of whom those words were told, by name, with the row that tells it; of a thing, whose it was told to be last.
fn told_of(
    reading: &Reading,
    rows: &[Arc<MemoryRow>],
    by: By,
    words: &str,
) -> Vec<(String, Arc<MemoryRow>)> {
    let mut found = Vec::new();
    for row in rows {
        let job = row.fact.as_ref().filter(|fact| by == By::Role && fact.attribute == "job");
        if let Some(fact) = job.filter(|fact| telling_stems(&fact.value) == telling_stems(words))
            && let Ok(id) = fact.subject.parse::<EntityId>()
        {
            found.push((reading.name(id), Arc::clone(row)));
            continue;
        }
        let text = reading.rendered(&row.text);
        let former = words.split_once(' ').filter(|(first, _)| listed(FORMER, first));
        let former = former.filter(|_| by == By::Role);
        for told in sentences(&text) {
            if let Some((_, role)) = former {
                found.extend(doer::who_was(told, role).map(|name| (name, Arc::clone(row))));
                continue;
            }
            if !doer::holds(told, words) {
                continue;
            }
            let before = text.find(told).map_or("", |at| &text[..at]);
            let name = match by {
                By::Role => doer::who_is(told, words),
                By::Clause => doer::who_does(told, words, before),
                By::Trait => doer::who_is_so(told, words),
                By::Thing => doer::whose(told, words),
            };
            found.extend(name.map(|name| (name, Arc::clone(row))));
        }
    }
    found.retain(|(name, _)| is_somebody(reading, name));
    found.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.span.start.cmp(&a.1.span.start)));
    if by == By::Thing {
        let newest = found.iter().map(|(_, row)| row.span.start).max();
        found.retain(|(_, row)| Some(row.span.start) == newest);
    }
    found
}

/// Whether a name is that of somebody known, or written as a name amid what was told.
fn is_somebody(reading: &Reading, name: &str) -> bool {
    let known = || reading.view.find_by_name(name).into_iter().any(Reading::is_person);
    let amid = |row: &Arc<MemoryRow>| {
        let text = reading.rendered(&row.text);
        sentences(&text).any(|told| told.find(name).is_some_and(|at| at > 0))
    };
    name.contains(' ') || known() || told_with(reading, name).iter().any(amid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_ends_where_something_else_is_asked() {
        let longest = |question: &str| {
            let words = tokens(question);
            let begun = (0..words.len()).find_map(|at| begun(&words, at));
            begun.and_then(|begun| {
                let end = *ends(&words, begun).first()?;
                let told = words[begun.from..end].iter().map(|token| token.word.as_str());
                Some((begun.by, told.collect::<Vec<_>>().join(" ")))
            })
        };
        for (question, by, told) in [
            ("Where does the metalworker live?", By::Role, "metalworker"),
            ("Where is the metalworker's room?", By::Role, "metalworker's"),
            ("Does the head gardener come?", By::Role, "head gardener"),
            ("Where is the printer cable?", By::Role, "printer cable"),
            ("What does the woman who teaches sewing eat?", By::Clause, "teaches sewing"),
            ("Where is the person allergic to nuts?", By::Trait, "allergic to nuts"),
            ("Where does the owner of the red toolbox live?", By::Thing, "red toolbox"),
        ] {
            assert_eq!(longest(question), Some((by, told.to_owned())), "{question}");
        }
        for question in ["Where does Ava live?", "Who is the woman with Ben?", "the", ""] {
            assert_eq!(longest(question), None, "{question}");
        }
    }

    #[test]
    fn who_is_asked_for_is_not_asked_of() {
        let identity = |question: &str, length: usize| {
            let words = tokens(question);
            let begun = (0..words.len()).find_map(|at| begun(&words, at));
            begun.is_some_and(|begun| is_identity(&words, begun, begun.from + length))
        };
        assert!(identity("Who is the person who teaches sewing?", 2));
        assert!(identity("Is the person allergic to nuts?", 3));
        assert!(!identity("Where is the person who teaches sewing?", 2));
        assert!(!identity("Who likes the person who teaches sewing?", 2));
    }
}
