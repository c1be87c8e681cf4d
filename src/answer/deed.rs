//! Whether a quoted sentence tells of the deed that is asked for: that somebody bought the van does not tell who stole it.

use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{is_kin, stems};
use crate::recall::lexer::{Token, tokens};

use super::question::{is_grammar, listed};
use super::reading::Reading;
use super::reply::Reply;

/// Verbs that stand for any other.
const LIGHT: &str =
    "do does did done have has had be been happen happened like mean get got go goes went";
/// What stands between "who" and what somebody did.
const BESIDE_WHO: &str = "else all has have had";
/// What stands between a name and what somebody did.
const ADVERBS: &str = "ever last first then also still never usually often and";
/// Begins a question for a deed of somebody who is named behind it.
const DOING: &str = "did does do";
/// What makes a verb passive.
const BEING: &str = "is are was were be been being got gets";
/// How far a question for a deed begins behind its first word, at most.
const FIRST_WORDS: usize = 4;
/// How far before its verb a passive begins, at most.
const PASSIVE: usize = 3;

/// A deed that is asked for.
#[derive(Clone, Debug, PartialEq)]
struct Deed {
    /// Its verb, as it is written.
    verb: String,
    /// It is asked who did it.
    who: bool,
}

/// The reply from memories; where what answers tells of another deed, or not who did it, that it is not known.
pub(super) fn checked(reading: &Reading, question: &str, told: Reply) -> Reply {
    let Some(deed) = deed(&tokens(question)).filter(|_| !told.abstained) else { return told };
    let first = told.evidence.first().and_then(|item| reading.view.memory(item.memory?));
    let Some(row) = first.filter(|row| is_plain(row)) else { return told };
    let sentence = tokens(&reading.rendered(&row.text));
    let verb = stems(&deed.verb).concat();
    let is_verb = |token: &Token| stems(&token.word).iter().any(|stem| is_kin(&verb, stem));
    let lead = match sentence.iter().position(is_verb) {
        None => "I don't know",
        Some(at) if deed.who && is_without_doer(&sentence, at) => "I don't know who it was",
        Some(_) => return told,
    };
    let text = format!("{lead}; what I remember of it: {}", told.text);
    Reply { evidence: told.evidence, entities: told.entities, ..Reply::unknown(&text) }
}

/// Whether a memory is a sentence that somebody told for the memory, or the place of a thing: talk is looser, and what is
/// true of somebody is worded otherwise.
fn is_plain(row: &MemoryRow) -> bool {
    let of_somebody = row.fact.as_ref().is_some_and(|fact| fact.attribute != "location");
    matches!(row.kind, MemoryKind::Note | MemoryKind::Semantic) && !of_somebody
}

/// "The tent was lent to Marek": nobody is named who did it.
fn is_without_doer(sentence: &[Token], verb: usize) -> bool {
    let before = &sentence[verb.saturating_sub(PASSIVE)..verb];
    let passive = before.iter().any(|token| listed(BEING, &token.word));
    passive && !sentence[verb..].iter().any(|token| token.word == "by")
}

/// The deed that a question asks for: "Who stole the van?", "What did Ava lose?"
fn deed(question: &[Token]) -> Option<Deed> {
    let who = question.first()?.word == "who";
    let begin = if who {
        let beside = |token: &&Token| listed(BESIDE_WHO, &token.word);
        1 + question[1..].iter().take_while(beside).count()
    } else {
        let mut head = question.iter().take(FIRST_WORDS);
        let at = 1 + head.position(|token| listed(DOING, &token.word))?;
        let name = |token: &&Token| token.capital && !token.word.ends_with("'s");
        let names = question[at..].iter().take_while(|t| name(t) || listed(ADVERBS, &t.word));
        let taken = names.count();
        question.get(at).filter(name)?;
        at + taken
    };
    let verb = &question.get(begin)?.word;
    let is_verb = !listed(LIGHT, verb) && !is_grammar(verb) && !verb.contains('\'');
    is_verb.then(|| Deed { verb: verb.clone(), who })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_question_tells_which_deed_it_is_about() {
        let verb = |text: &str| deed(&tokens(text)).map(|deed| (deed.verb, deed.who));
        for (text, word, who) in [
            ("Who stole the white van?", "stole", true),
            ("Who else baked the cake?", "baked", true),
            ("Who has repaired the tap?", "repaired", true),
            ("When did Casimir sell the van?", "sell", false),
            ("What did Ines and June bake?", "bake", false),
            ("When did Tove last practise the violin?", "practise", false),
        ] {
            assert_eq!(verb(text), Some((word.to_owned(), who)), "{text}");
        }
        for text in [
            "Who is the lodger?",
            "Who has the thermos?",
            "What did June do on Friday?",
            "Where is the van?",
            "When did you last see Ava?",
            "Who",
            "",
        ] {
            assert_eq!(verb(text), None, "{text}");
        }
    }

    #[test]
    fn a_passive_without_a_doer_tells_nobody() {
        let bare = |text: &str, verb: &str| {
            let sentence = tokens(text);
            let at = sentence.iter().position(|token| token.word == verb).unwrap();
            is_without_doer(&sentence, at)
        };
        assert!(bare("The tent was lent to Marek.", "lent"));
        assert!(!bare("The tent was lent to Marek by Casimir.", "lent"));
        assert!(!bare("Casimir lent the tent to Marek.", "lent"));
    }
}
