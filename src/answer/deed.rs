//! Whether a quoted sentence tells of the deed that is asked for: that somebody bought the van does not tell who stole it.

use crate::memory::model::MemoryRow;
use crate::memory::telling_stems;
use crate::recall::lexer::{Token, tokens};
use crate::recall::time_expr::time_expressions;

use super::demands::{Demands, is_plain};
use super::document::Evidence;
use super::facts::tell;
use super::near::{is_word, told_otherwise};
use super::question::{is_grammar, listed};
use super::reading::Reading;
use super::reply::Reply;
use super::whereabouts::is_preposition;

/// Verbs that stand for any other.
const LIGHT: &str =
    "do does did done have has had be been happen happened like mean get got go goes went";
/// What stands between "who" and what somebody did.
const BESIDE_WHO: &str = "else all has have had";
/// What stands between a name and what somebody did.
const ADVERBS: &str = "ever last first then also still never usually often and";
/// Begins a question for a deed of somebody who is named behind it.
const DOING: &str = "did does do";
/// Says that something has to be done, before "to" and the verb.
const MODAL: &str = "need needs";
/// Join verbs.
const JOINING: &str = "or and";
/// What makes a verb passive.
const BEING: &str = "is are was were be been being got gets";
/// What stands behind a deed and tells neither what it was done to nor where.
const ASIDE: &str =
    "earlier later early late back home alone together afterwards outside inside twice";
/// What a sentence holds that tells of company.
const COMPANY: &str = "with and together both";
/// How much confidence is left where not the best memory answers, but another.
const SECOND: f32 = 0.8;
/// How far a question for a deed begins behind its first word, at most.
const FIRST_WORDS: usize = 4;
/// How far before its verb a passive begins, at most.
const PASSIVE: usize = 3;

/// A deed that is asked for.
#[derive(Clone, Debug, PartialEq)]
struct Deed {
    /// Its verb, as it is written.
    verb: String,
    /// Other verbs that would do: "take or borrow".
    others: Vec<String>,
    /// It is asked who did it.
    who: bool,
    /// With somebody.
    with: bool,
    /// Words of what it was done to, or where.
    objects: Vec<String>,
}

/// The reply from memories; where what answers tells of another deed, of one done to something else, or not who did it,
/// the next that tells it, or that it is not known.
pub(super) fn checked(reading: &Reading, question: &str, told: Reply) -> Reply {
    let times = time_expressions(question, reading.now(), &reading.wording.zone);
    let timed = |token: &Token| times.iter().any(|time| time.range.contains(&token.range.start));
    let deed = deed(&tokens(question), &timed);
    if told.abstained {
        return told;
    }
    let demands = Demands::of(reading, question);
    let plain = |item: &Evidence| reading.view.memory(item.memory?).filter(|row| is_plain(row));
    let amiss = |row: &MemoryRow| {
        let sentence = || tokens(&reading.rendered(&row.text));
        let of_the_deed = || deed.as_ref()?.amiss(&sentence(), &demands);
        demands.unmet(reading, row).or_else(of_the_deed)
    };
    let Some(row) = told.evidence.first().and_then(plain) else { return told };
    let Some(lead) = amiss(&row) else { return told };
    let tells_it = |item: &Evidence| plain(item).filter(|row| amiss(row).is_none());
    if deed.is_some()
        && let Some(row) = told.evidence.iter().find_map(tells_it)
    {
        let mut evidence = told.evidence;
        // What answers stands first.
        evidence.sort_by_key(|item| item.memory != Some(row.id));
        let reply = Reply::known(tell(reading, &row), row.entities.clone(), evidence);
        return Reply { confidence: told.confidence * SECOND, ..reply };
    }
    let text = format!("{lead}; what I remember of it: {}", told.text);
    Reply { evidence: told.evidence, entities: told.entities, ..Reply::unknown(&text) }
}

impl Deed {
    /// Why a sentence does not tell of it; `None`: it does.
    fn amiss(&self, sentence: &[Token], demands: &Demands) -> Option<&'static str> {
        let holds = |object: &String| sentence.iter().any(|token| is_word(object, token));
        let of_another = !self.objects.is_empty() && !self.objects.iter().any(holds);
        let alone = !sentence.iter().any(|token| listed(COMPANY, &token.word));
        let place = |verb: &String| sentence.iter().position(|token| is_word(verb, token));
        // Of all that was asked, or not at all.
        let whole = self.objects.iter().all(holds) && (!self.objects.is_empty() || self.is_wish());
        let otherwise =
            || whole.then(|| told_otherwise(&self.verb, &self.objects, sentence)).flatten();
        let verb = place(&self.verb).or_else(|| self.others.iter().find_map(place));
        let verb = verb.filter(|_| !of_another).or_else(otherwise);
        let Some(at) = verb else {
            let ruled = whole && !self.who && demands.is_ruled_by(sentence);
            return (!ruled).then_some("I don't know");
        };
        let nobody = self.with && alone || self.who && is_without_doer(sentence, at);
        nobody.then_some("I don't know who it was")
    }

    /// "What did she want?" needs nothing that it was done to.
    fn is_wish(&self) -> bool {
        !self.who && listed("want wanted wants", &self.verb)
    }
}

/// "The tent was lent to Marek": nobody is named who did it.
fn is_without_doer(sentence: &[Token], verb: usize) -> bool {
    let before = &sentence[verb.saturating_sub(PASSIVE)..verb];
    let passive = before.iter().any(|token| listed(BEING, &token.word));
    passive && !sentence[verb..].iter().any(|token| token.word == "by")
}

/// The deed that a question asks for: "Who stole the van?", "What did Ava lose?" `timed`: whether a word is of a time.
fn deed(question: &[Token], timed: &dyn Fn(&Token) -> bool) -> Option<Deed> {
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
        let behind = at + taken;
        let word = |at: usize| question.get(at).map_or("", |token| token.word.as_str());
        if listed(MODAL, word(behind)) && word(behind + 1) == "to" { behind + 2 } else { behind }
    };
    let verb = &question.get(begin)?.word;
    // Who needs to buy shoes needs shoes.
    let modal = question[begin - 1].word == "to" && begin > 1;
    let modal = modal.then(|| question[begin - 2].word.clone());
    let is_verb = !listed(LIGHT, verb) && !is_grammar(verb) && !verb.contains('\'');
    let is_object = |token: &&Token| {
        let word = token.word.as_str();
        let name = token.capital || token.quoted || timed(token);
        let aside = is_grammar(word) || is_preposition(word) || listed(ASIDE, word);
        !name && !aside && !word.ends_with("ly") && !telling_stems(word).is_empty()
    };
    let joined = question[begin + 1..].chunks_exact(2);
    let joined = joined.take_while(|two| listed(JOINING, &two[0].word) && !two[1].capital);
    let mut others: Vec<String> = joined.map(|two| two[1].word.clone()).collect();
    let behind = question[begin + 1 + 2 * others.len()..].iter();
    others.extend(modal);
    let objects = behind.filter(is_object).map(|token| token.word.clone());
    let with = who && question.windows(2).any(|two| two[0].word == "with" && two[1].capital);
    is_verb.then(|| Deed { verb: verb.clone(), others, who, with, objects: objects.collect() })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_question_tells_which_deed_it_is_about() {
        let verb = |text: &str| deed(&tokens(text), &|_| false).map(|deed| (deed.verb, deed.who));
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
    fn what_a_deed_was_done_to_stands_behind_it() {
        let objects = |text: &str| {
            let question = tokens(text);
            let timed = |token: &Token| token.word == "noon";
            deed(&question, &timed).map(|deed| deed.objects.join(" ")).unwrap_or_default()
        };
        for (text, wanted) in [
            ("Who broke the mirror in the hall at noon?", "mirror hall"),
            ("Who drove to the airport?", "airport"),
            ("When did Marika break the mirror?", "mirror"),
            ("Who practised the violin with Tove?", "violin"),
            ("Who phoned earlier?", ""),
            ("Who fell?", ""),
            ("What did Jun bake?", ""),
        ] {
            assert_eq!(objects(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_sentence_tells_of_the_deed_or_not() {
        for (question, sentence, tells) in [
            ("Who practised the violin with Tove?", "Tove practised the violin with Jun.", true),
            ("Who practised the violin with Tove?", "Jun and Tove practised the violin.", true),
            ("Who practised the violin with Tove?", "Tove practised the violin.", false),
            ("Who practised the violin?", "Tove practised the violin.", true),
            ("Who broke the mirror?", "Marika broke the vase.", false),
            ("Who repaired the faucet?", "June fixed the tap.", true),
            ("Who stole the van?", "Casimir bought the van.", false),
            ("Who owns the van?", "The van belongs to Casimir.", true),
            ("Who owns the white van?", "The red van belongs to Casimir.", false),
            ("Who repaired the van?", "Casimir put a new wheel on the van.", true),
            ("What did Jun take or borrow?", "Jun borrowed the saw.", true),
            ("What did Jun want?", "Jun came to return the saw.", true),
            ("What did Jun want?", "Jun lives in Osaka.", false),
        ] {
            let deed = deed(&tokens(question), &|_| false).unwrap();
            let amiss = deed.amiss(&tokens(sentence), &Demands::default());
            assert_eq!(amiss.is_none(), tells, "{question} {sentence}");
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
