//! A thing told by what it has: "the suitcase with the blue strap" is Ben's, where a note says that "Ben's is the one with
//! the blue strap". The question is asked of Ben's suitcase.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, is_kin, stems};
use crate::recall::lexer::{Token, tokens};
use crate::text::sentences;

use super::doer;
use super::phrase::is_determiner;
use super::question::{NOUNS, is_grammar, listed};
use super::reading::Reading;
use super::reply::Reply;
use super::whereabouts::is_preposition;
use super::wording::sentence;

/// Notes with the words of what it has that are looked at.
const LOOKED_AT: usize = 50;
/// Words of what it has, at most.
const LONGEST: usize = 4;
/// What joins two clauses.
const JOINTS: &str = "and but while whereas";
/// What tells that a thing has it.
const HAVING: &str = "with has have having";
/// A clause with one of these tells that it is not so.
const NOT: &str = "not no never without doesn't hasn't isn't";

/// A question with whose thing it is in place of what it has.
pub(super) struct Featured {
    /// With "Ben's suitcase".
    pub(super) question: String,
    /// "The suitcase with the blue strap is Ben's."
    lead: String,
    row: Arc<MemoryRow>,
}

impl Featured {
    /// The reply to that question, with whose thing was found to be meant.
    pub(super) fn told(&self, reading: &Reading, mut reply: Reply) -> Reply {
        reply.text = format!("{} {}", self.lead, reply.text);
        if reply.evidence.iter().all(|item| item.memory != Some(self.row.id)) {
            reply.evidence.push(reading.memory_evidence(&self.row, self.row.confidence));
        }
        reply
    }
}

/// `None`: nothing is told so, or nobody said whose that is.
pub(super) fn resolved(reading: &Reading, question: &str) -> Option<Featured> {
    let words = tokens(question);
    let told = Told::of(&words)?;
    let text = |from: usize, to: usize| &question[words[from].range.start..words[to - 1].range.end];
    let (kind, feature) = (text(told.from + 1, told.with), text(told.begin, told.end));
    let (row, owner) = owner_told(reading, kind, feature)?;
    let thing = text(told.from, told.end);
    let (head, rest) = (words[told.from].range.start, words[told.end - 1].range.end);
    Some(Featured {
        question: format!("{}{owner}'s {kind}{}", &question[..head], &question[rest..]),
        lead: format!("{} is {owner}'s.", sentence(thing)),
        row,
    })
}

/// Where a question tells a thing by what it has.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    /// The article.
    from: usize,
    with: usize,
    /// What it has, from there to there.
    begin: usize,
    end: usize,
}

impl Told {
    fn of(words: &[Token]) -> Option<Self> {
        let with = words.iter().position(|token| token.word == "with" && !token.quoted)?;
        let from = words[..with].iter().rposition(|token| is_determiner(&token.word))?;
        let is_name = |token: &Token| {
            let joins = is_grammar(&token.word) || is_preposition(&token.word);
            !joins && !token.capital && !NOUNS.contains(&token.word.as_str())
        };
        let kind = &words[from + 1..with];
        let whole = kind.iter().all(|token| is_name(token) && !token.stop);
        let article = words.get(with + 1).is_some_and(|token| is_determiner(&token.word));
        let begin = with + 1 + usize::from(article);
        let feature = words.get(begin..)?.iter().take(LONGEST);
        let length = feature.take_while(|token| is_name(token)).count();
        let stop = words.get(begin..begin + length)?.iter().position(|token| token.stop);
        let end = begin + stop.map_or(length, |stop| stop + 1);
        (whole && !kind.is_empty() && end > begin).then_some(Self { from, with, begin, end })
    }
}

/// Whose that is by the newest note that says it.
fn owner_told(reading: &Reading, kind: &str, feature: &str) -> Option<(Arc<MemoryRow>, String)> {
    let now = reading.now();
    let filter = Filter { kinds: vec![MemoryKind::Note], ..Filter::default() };
    let hits = reading.view.lexical(feature, LOOKED_AT, &filter).into_iter();
    let mut rows: Vec<Arc<MemoryRow>> =
        hits.filter_map(|(id, _)| reading.view.memory(id)).collect();
    rows.retain(|row| row.span.start <= now);
    rows.sort_by_key(|row| Reverse((row.span.start, row.id)));
    rows.into_iter().find_map(|row| {
        let owner = owner(&reading.rendered(&row.text), kind, feature)?;
        Some((row, owner))
    })
}

/// "Ben" of "Ava's suitcase is red, Ben's is the one with the blue strap."
fn owner(text: &str, kind: &str, feature: &str) -> Option<String> {
    let have = stems(text);
    let told = |word: &String| have.iter().any(|stem| is_kin(word, stem));
    if !stems(kind).iter().all(told) {
        return None;
    }
    let plain = sentences(text).filter(|one| !one.ends_with('?'));
    plain.flat_map(clauses).find_map(|clause| {
        let words = tokens(clause);
        let has = words.iter().any(|token| listed(HAVING, &token.word));
        let denied = words.iter().any(|token| listed(NOT, &token.word));
        if !has || denied || !doer::holds(clause, feature) {
            return None;
        }
        // Not "It's the one with the strap".
        let named =
            |token: &&Token| token.capital && !is_grammar(token.word.trim_end_matches("'s"));
        let genitive = words.iter().filter(named).find_map(|token| {
            let name = &clause[token.range.clone()];
            name.strip_suffix("'s").or_else(|| name.strip_suffix("\u{2019}s"))
        });
        let behind = words.windows(3).find_map(|three| {
            let belongs = three[0].word == "belongs" && three[1].word == "to" && three[2].capital;
            belongs.then(|| &clause[three[2].range.clone()])
        });
        genitive.or(behind).map(str::to_owned)
    })
}

/// The clauses of a sentence.
fn clauses(sentence: &str) -> Vec<&str> {
    let words = tokens(sentence);
    let mut found = Vec::new();
    let mut from = 0;
    for token in &words {
        if listed(JOINTS, &token.word) {
            found.push(&sentence[from..token.range.start]);
            from = token.range.end;
        } else if token.stop {
            found.push(&sentence[from..token.range.end]);
            from = token.range.end;
        }
    }
    found.push(&sentence[from..]);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_told_by_what_it_has() {
        let told = |question: &str| {
            let words = tokens(question);
            let told = Told::of(&words)?;
            let joined = |from: usize, to: usize| {
                let words = words[from..to].iter().map(|token| token.word.as_str());
                words.collect::<Vec<_>>().join(" ")
            };
            Some((joined(told.from + 1, told.with), joined(told.begin, told.end)))
        };
        let of = |kind: &str, feature: &str| Some((kind.to_owned(), feature.to_owned()));
        assert_eq!(
            told("Where is the suitcase with the blue strap?"),
            of("suitcase", "blue strap")
        );
        assert_eq!(told("Who took the mug with red dots to the car?"), of("mug", "red dots"));
        for other in [
            "Who came with the plumber?",
            "Where is the woman with the hat?",
            "What did the cook do with it?",
            "Was Ava with Ben?",
            "With whom was Ava?",
            "",
        ] {
            assert_eq!(told(other), None, "{other}");
        }
    }

    #[test]
    fn whose_it_is_the_clause_with_the_feature_tells() {
        let note = "Ava and Ben have a suitcase each. Ava's has wheels, Ben's is the one with the blue strap.";
        let of = |text: &str, feature: &str| owner(text, "suitcase", feature);
        assert_eq!(of(note, "blue strap").as_deref(), Some("Ben"));
        assert_eq!(of(note, "wheels").as_deref(), Some("Ava"));
        assert_eq!(
            of("The suitcase with the strap belongs to Ava.", "strap").as_deref(),
            Some("Ava")
        );
        for text in [
            "Ben's is the one with the blue strap.",
            "Ben's suitcase has no strap.",
            "The suitcase with the strap is in the hall.",
            "Is Ben's suitcase the one with the strap?",
            "Here is a suitcase. It's the one with the strap.",
        ] {
            assert_eq!(of(text, "strap"), None, "{text}");
        }
    }
}
