//! Who has something that is told of persons by its name: "Who has an allergy?"

use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, stems};
use crate::recall::lexer::tokens;

use super::events::{holds, with_alike, words_of};
use super::facts::tell;
use super::question::listed;
use super::reading::Reading;
use super::reply::Reply;

/// Statements with the word that are looked at.
const LOOKED_AT: usize = 50;
/// Of these so many are told.
const TOLD: usize = 8;
/// What stands between the verb and the word.
const ARTICLES: &str = "a an any some";
/// What makes a statement say that somebody has it not.
const NOT: &str = "not no never isn't aren't hasn't doesn't without";
/// How far before the word that stands, at most.
const DENIED: usize = 3;
/// What was told of some is sure for so much: nobody tells of everybody.
const SURE: f32 = 0.7;

/// Everybody of whom it was told. `None`: it is not asked, or of nobody it was told as a fact.
pub(super) fn told_of(reading: &Reading, question: &str) -> Option<Reply> {
    let words = tokens(question);
    let asked: Vec<&str> = words.iter().map(|token| token.word.as_str()).collect();
    let word = match asked.as_slice() {
        ["who", "has" | "have", article, word] if listed(ARTICLES, article) => *word,
        ["who", "has" | "have", word] => *word,
        _ => return None,
    };
    let now = reading.now();
    let kinds = vec![MemoryKind::Note, MemoryKind::Semantic];
    let filter = Filter { kinds, valid_at: Some(now), ..Filter::default() };
    let query = with_alike(std::iter::once(word));
    let hits = reading.view.lexical_with_kin(&query, LOOKED_AT, &filter).into_iter();
    let known = hits.filter_map(|(id, _)| reading.view.memory(id));
    let known: Vec<Arc<MemoryRow>> = known.filter(|row| row.span.start <= now).collect();
    let is_fact = |row: &Arc<MemoryRow>| {
        let fact = row.fact.as_ref().filter(|fact| stems(&fact.attribute) == stems(word));
        let who = fact.and_then(|fact| fact.subject.parse::<EntityId>().ok());
        fact.is_some() && who.is_none_or(Reading::is_person)
    };
    if !known.iter().any(is_fact) {
        return None;
    }
    let tells =
        |row: &Arc<MemoryRow>| row.fact.is_none() && says(&reading.rendered(&row.text), word);
    let mut rows: Vec<Arc<MemoryRow>> =
        known.into_iter().filter(|row| is_fact(row) || tells(row)).collect();
    rows.sort_by_key(|row| (row.span.start, row.id));
    rows.truncate(TOLD);
    let told: Vec<String> = rows.iter().map(|row| tell(reading, row)).collect();
    let evidence = rows.iter().map(|row| reading.memory_evidence(row, row.confidence)).collect();
    let mut who: Vec<EntityId> = rows.iter().flat_map(|row| row.entities.clone()).collect();
    who.sort_unstable();
    who.dedup();
    Some(Reply { confidence: SURE, ..Reply::known(told.join(" "), who, evidence) })
}

/// Whether a text says that somebody has it.
fn says(text: &str, word: &str) -> bool {
    let words = tokens(text);
    holds(&words_of(text), word).is_some_and(|at| {
        let before = &words[at.start.saturating_sub(DENIED)..at.start];
        let mut clause = before.iter().rev().take_while(|token| !token.stop);
        !text.contains('?') && !clause.any(|token| listed(NOT, &token.word))
    })
}

#[cfg(test)]
mod tests {
    use super::says;

    #[test]
    fn a_text_says_that_somebody_has_it_or_not() {
        assert!(says("Ava must not eat nuts, she is allergic.", "allergy"));
        assert!(says("Ava has an allergy.", "allergy"));
        assert!(!says("Ava is not allergic to nuts.", "allergy"));
        assert!(!says("Ava eats nuts.", "allergy"));
    }
}
