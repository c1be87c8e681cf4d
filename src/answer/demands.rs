//! What a question demands of the sentence that answers it: the names, an amount, a rule, the time, and what `needs` tells;
//! and which of several memories meets that and tells most of what is asked.
//!
//! Who asks what Ava brought from Rome is not told by what Ben brought, nor by what Ava brought from Oslo.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{stems, telling_stems, with_kin};
use crate::recall::Hit;
use crate::recall::lexer::{Token, tokens};

use super::amended::takes_back_a_number;
use super::aspect;
use super::near::{Sought, is_word};
use super::needs::Need;
use super::phrase::{is_determiner, is_plural};
use super::question::{is_grammar, listed};
use super::reading::Reading;
use super::then::Then;
use super::told_sentence::{ToldSentence, timed};
use super::whereabouts::is_preposition;

/// Capitalised words that name nobody and no place.
const NO_NAMES: &str = "i i'm i've i'd i'll mr mrs ms dr miss sir monday tuesday wednesday thursday friday saturday sunday \
    mondays tuesdays wednesdays thursdays fridays saturdays sundays january february march july september october \
    november december did does was were are has have had";
/// Begin a clause of when: whom it names need not be in the answer.
const CLAUSES: &str = "before after when while since until till because if";
/// Before what did something, or what something was done to.
const DOING: &str = "did does do was were has had";
/// Words of a question for a rule.
const RULED: &str = "should must may allowed supposed forbidden";
/// Words that make one of "to" behind them.
const RULED_TO: &str = "need needs have has ought";
/// Words of a sentence that states a rule, or what somebody can't stand.
const RULES: &str = "must mustn't may never nobody only always without allowed forbidden cannot can't shouldn't should needs \
    allergic";
/// Verbs of a price.
const COSTING: &str = "cost pay price worth charge spend owe";
/// Words of money.
pub(super) const MONEY: &str =
    "euro dollar pound cent franc krone kroner krona kronor yen rupee eur usd gbp chf";
/// Signs of money.
pub(super) const SIGNS: [char; 4] = ['€', '$', '£', '¥'];
/// Words that tell how many there are, directly before what is counted.
const COUNTING: &str = "a an no both several few couple dozen half another";
/// Words that tell how much.
const QUANTITY: &str = "no none nothing half little lot lots much few enough full empty only without more less couple dozen";
/// What is counted, and what it may be called as well.
const CALLED: [(&str, &str); 4] = [
    ("child children kid kids", "son daughter boy girl baby twin"),
    (
        "visitor visitors guest guests people persons",
        "visitor guest people man woman child customer",
    ),
    ("pet pets animal animals", "cat dog rabbit hamster parrot canary fish tortoise horse hen"),
    ("sibling siblings", "brother sister"),
];
/// Verbs that tell nothing of what is counted.
const LIGHT: &str = "come comes came go goes went gone get gets got make makes made take takes took taken use used own";
/// What a question says of itself.
const FRAME: &str = "need thing things kind sort many much often long time times name called should must may allowed total";
/// Verbs that tell nothing of what it was.
const HAPPENING: &str = "happen happens happened";
/// How far before what is counted its number stands.
const COUNTED: usize = 3;
/// Another memory has to tell so much more of the question, of its words by rarity …
const LEAD: f32 = 0.2;
/// … and so much more than what somebody said.
const LEAD_OF_TALK: f32 = 0.5;
/// What has to be told outweighs the words, where so much of them is left.
const NEARLY: f32 = 0.5;
/// A memory that holds less of it may be worse than one of what is over.
const POOR: f32 = 0.5;

/// What a question demands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Demands {
    /// Names in it, lower case; none of a clause of when.
    names: Vec<String>,
    /// "When was the lathe repaired?": the first word of that thing.
    thing: Option<String>,
    amount: Option<Amount>,
    /// It asks what has to be, or may be.
    rule: bool,
    /// What else a sentence has to tell.
    needs: Vec<Need>,
    /// It asks of a time that is over.
    then: Option<Then>,
    /// Its other telling words.
    words: Vec<String>,
    /// In what other words each may be told, by its stem.
    sought: BTreeMap<String, Sought>,
}

/// A number that is asked for.
#[derive(Clone, Debug, PartialEq)]
enum Amount {
    /// Of things that are called so, in a place.
    Many {
        nouns: Vec<String>,
        place: Vec<String>,
        /// What else is told of them; `None`: nothing that tells which ones.
        others: Option<Vec<String>>,
    },
    /// Of money, or of what is not counted.
    Much { money: bool },
}

/// How well a memory meets a question.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Standing {
    /// Demands that it meets.
    met: usize,
    /// Of what else it has to tell, so much.
    needs: usize,
    /// All names are in it.
    named: bool,
    /// Share of the question's other words, by rarity.
    held: f32,
}

impl Standing {
    /// Whether it is better than the first by so much. `tastes`: it is asked what somebody likes, in whatever words.
    fn leads(&self, first: &Self, by: f32, tastes: bool) -> bool {
        let more = self.met > first.met && self.held >= first.held - 1e-6
            || self.met >= first.met && self.held > first.held + by;
        let near = tastes || self.held >= first.held * NEARLY;
        match self.needs.cmp(&first.needs) {
            Ordering::Less => false,
            Ordering::Equal => more,
            Ordering::Greater => more || self.met >= first.met && near,
        }
    }
}

impl Demands {
    /// Those of a question.
    pub(super) fn of(reading: &Reading, question: &str) -> Self {
        let words = tokens(question);
        let read = Self::read(&words, &timed(reading, question, reading.now()));
        Self { then: Then::asked(reading, &words), ..read }
    }

    /// `times`: where the question tells times.
    fn read(question: &[Token], times: &[Range<usize>]) -> Self {
        let is_timed = |token: &Token| times.iter().any(|time| time.contains(&token.range.start));
        let shouted = question.iter().all(|token| token.capital);
        let next = |at: usize| question.get(at + 1).map_or("", |token| token.word.as_str());
        let (mut names, mut words, mut clause) = (Vec::new(), Vec::new(), false);
        for (at, token) in question.iter().enumerate() {
            let word = bare(&token.word);
            clause |= listed(CLAUSES, word) && (at > 0 || word != "when");
            let no_name = at == 0 || shouted || token.quoted || is_grammar(&token.word);
            match token.capital && !no_name && !listed(NO_NAMES, &token.word) {
                _ if is_timed(token) => {}
                true if clause => {}
                true => names.push(word.to_owned()),
                false if clause => {}
                // "What happened to Ava?", not "What happened next?"
                false if listed(HAPPENING, word) && next(at) != "to" => {}
                false if listed(FRAME, word) || telling_stems(word).is_empty() => {}
                false => words.push(word.to_owned()),
            }
            clause &= !token.stop;
        }
        let ruled = |pair: &[Token]| listed(RULED_TO, &pair[0].word) && pair[1].word == "to";
        let must = |token: &Token| listed(RULED, &token.word) && !is_timed(token);
        let rule = question.iter().any(must) || question.windows(2).any(ruled);
        let thing = question.windows(4).find_map(|four| {
            let thing = &four[2];
            let named = listed(DOING, &four[0].word) && is_determiner(&four[1].word);
            let telling = !is_grammar(&thing.word) && !telling_stems(&thing.word).is_empty();
            // "What was the matter with the lathe?"
            let state = || Sought::noun(&thing.word).is_known();
            let aside = thing.capital || !telling || is_timed(thing) || state();
            (named && !aside && four[3].word != "of").then(|| bare(&thing.word).to_owned())
        });
        let needs = Need::asked(question, &is_timed);
        // "Is Ava shy?", of which nobody ever spoke.
        let state = || {
            let state = aspect::state(question).filter(|_| needs.is_empty())?;
            let verbal = ["ed", "ing"].iter().any(|end| state.ends_with(end));
            let otherwise = || Sought::by(&tokens(state), 0).is_known();
            (!verbal && !otherwise()).then(|| state.to_owned())
        };
        let thing = thing.or_else(state);
        let amount = Amount::asked(question, &is_timed);
        let sought = Sought::of_each(question).collect();
        Self { names, thing, amount, rule, needs, then: None, words, sought }
    }

    /// Why a memory does not answer; `None`: it may.
    pub(super) fn unmet(&self, reading: &Reading, row: &MemoryRow) -> Option<&'static str> {
        let told = ToldSentence::of(reading, row);
        let refuted = |need: &Need| need.is_told(&told) == Some(false) && !need.is_fact(row);
        match &self.amount {
            _ if self.thing.as_ref().is_some_and(|thing| is_strange(reading, thing)) => {
                Some("I don't know")
            }
            _ if !self.names_are_in(reading, row, &told) => Some("I don't know"),
            Some(amount) if !amount.is_in(&told) => Some(amount.not_known()),
            _ if self.then.as_ref().is_some_and(|then| then.is_of(reading, row) == Some(false)) => {
                Some("I don't know of that time")
            }
            _ if self.needs.iter().any(refuted) => Some("I don't know"),
            _ => None,
        }
    }

    /// Whether it asks for more than words, names and amounts: another memory may tell that.
    pub(super) fn has_needs(&self) -> bool {
        !self.needs.is_empty()
    }

    /// The same, or for what was done at a time.
    pub(super) fn is_particular(&self) -> bool {
        self.has_needs() || self.then.is_some()
    }

    /// How much of that a memory tells.
    pub(super) fn needs_told(&self, reading: &Reading, row: &MemoryRow) -> usize {
        let told = ToldSentence::of(reading, row);
        let is_told = |need: &&Need| need.is_told(&told) == Some(true) || need.is_fact(row);
        let then = self.then.as_ref().is_some_and(|then| then.is_of(reading, row) == Some(true));
        self.needs.iter().filter(is_told).count() + usize::from(then)
    }

    /// Whether a fact of somebody tells what is asked, though it is worded otherwise.
    fn is_fact(&self, row: &MemoryRow) -> bool {
        self.needs.iter().any(|need| need.is_fact(row))
    }

    /// Whether it asks for a rule, and a sentence states one.
    pub(super) fn is_ruled_by(&self, sentence: &[Token]) -> bool {
        self.rule && states_a_rule(sentence)
    }

    /// The memory that answers: `first`, or another that meets more demands, or tells more of what is asked.
    pub(super) fn best<'a>(
        &self,
        reading: &Reading,
        first: &'a Hit,
        others: impl Iterator<Item = &'a Hit>,
    ) -> &'a Hit {
        let is_talk = first.memory.kind == MemoryKind::Utterance;
        if !is_talk && !is_plain(&first.memory) {
            return first;
        }
        let words = self.weighed(reading);
        let standing = |hit: &Hit| self.standing(reading, &words, &hit.memory);
        let known = standing(first);
        let tastes = self.needs.iter().any(|need| matches!(need, Need::Taste { .. }));
        let fits = |row: &MemoryRow| is_plain(row) || self.is_fact(row);
        let mut best: Option<(&Hit, Standing)> = None;
        for hit in others.filter(|hit| hit.memory.id != first.memory.id && fits(&hit.memory)) {
            let found = standing(hit);
            let leads = match &best {
                Some((_, best)) => found.leads(best, 1e-6, tastes),
                None if is_talk => found.met >= known.met && found.held > known.held + LEAD_OF_TALK,
                None => found.leads(&known, LEAD, tastes),
            };
            let tells = !self.names.is_empty() || found.held > 0.0;
            if leads && tells && (found.named || !known.named) {
                best = Some((hit, found));
            }
        }
        best.map_or(first, |(hit, _)| hit)
    }

    /// Whether a memory meets it so badly that even what is over may be meant.
    pub(super) fn is_poor(&self, reading: &Reading, row: &MemoryRow) -> bool {
        let standing = self.standing(reading, &self.weighed(reading), row);
        !standing.named || standing.held < POOR
    }

    /// Whether it names somebody, and a memory names them and holds so much of its words, in these or in others.
    pub(super) fn is_held_by(&self, reading: &Reading, row: &MemoryRow, share: f32) -> bool {
        let standing = self.standing(reading, &self.weighed(reading), row);
        let named = !self.names.is_empty() && standing.named;
        is_plain(row) && named && standing.held >= share
    }

    /// All other words in which it may be told, for a search; `None`: none are known.
    pub(super) fn in_other_words(&self) -> Option<String> {
        let words: BTreeSet<&str> = self.sought.values().flat_map(Sought::words).collect();
        let words: Vec<&str> = words.into_iter().collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    fn is_told_otherwise(&self, stem: &str, sentence: &[Token]) -> bool {
        let sought = self.sought.get(stem);
        sought.is_some_and(|sought| sought.told(&self.words, sentence).is_some())
    }

    fn weighed(&self, reading: &Reading) -> Vec<(String, f32)> {
        reading.view.telling(&self.words.join(" "), &[])
    }

    fn standing(&self, reading: &Reading, words: &[(String, f32)], row: &MemoryRow) -> Standing {
        let told = ToldSentence::of(reading, row);
        let named = self.names_are_in(reading, row, &told);
        let counted = self.amount.as_ref().is_some_and(|amount| amount.is_in(&told));
        let ruled = self.is_ruled_by(&told.tokens);
        let is_held = |word: &str| {
            told.tokens.iter().any(|token| is_word(word, token))
                || self.is_told_otherwise(word, &told.tokens)
        };
        let total: f32 = words.iter().map(|(_, weight)| weight).sum();
        let held = words.iter().filter(|(word, _)| is_held(word)).map(|(_, weight)| weight);
        let held = if total > 0.0 { held.sum::<f32>() / total } else { 0.0 };
        let met = [named, counted, ruled].into_iter().filter(|met| *met).count();
        let needs = if self.is_particular() { self.needs_told(reading, row) } else { 0 };
        Standing { met, needs, named, held }
    }

    /// Whether all names are in a memory: as they are written, or as another name of the same one.
    fn names_are_in(&self, reading: &Reading, row: &MemoryRow, told: &ToldSentence) -> bool {
        self.names.iter().all(|name| {
            let meant = || reading.view.named_in(name);
            let about = || {
                let linked = row.entities.iter().map(|id| reading.view.resolve(*id));
                linked.chain(reading.view.named_in(&told.text)).collect::<Vec<_>>()
            };
            told.tokens.iter().any(|token| is_word(name, token))
                || meant().iter().any(|id| about().contains(id))
        })
    }
}

impl Amount {
    /// "How many oak boards …", "How much …"
    fn asked(question: &[Token], is_timed: &dyn Fn(&Token) -> bool) -> Option<Self> {
        let at = question.windows(2).position(|two| {
            two[0].word == "how" && matches!(two[1].word.as_str(), "many" | "much")
        })?;
        let behind = &question[at + 2..];
        if question[at + 1].word == "much" {
            let money = |token: &Token| COSTING.split(' ').any(|word| is_word(word, token));
            return Some(Self::Much { money: behind.iter().any(money) });
        }
        let nouns = behind.iter().take_while(|token| !is_grammar(&token.word));
        let mut nouns: Vec<String> = nouns.map(|token| token.word.clone()).collect();
        // "How many visitors came?": what they did is none of what they are called.
        let plural = nouns.iter().position(|noun| is_plural(noun));
        nouns.truncate(plural.map_or(nouns.len(), |at| at + 1));
        let telling = |token: &&Token| {
            let word = token.word.as_str();
            let aside = token.capital || is_grammar(word) || listed(FRAME, word);
            !aside && !is_timed(token) && !listed(LIGHT, word) && !telling_stems(word).is_empty()
        };
        let others = behind.iter().skip(nouns.len()).filter(telling);
        let others: Vec<String> = others.map(|token| token.word.clone()).collect();
        let named = behind
            .iter()
            .any(|token| token.capital && !is_timed(token) && !listed(NO_NAMES, &token.word));
        let others = (named || !others.is_empty()).then_some(others);
        let place = behind.iter().skip_while(|token| !is_preposition(&token.word)).skip(1);
        let is_place = |token: &&Token| {
            let aside = token.capital || is_grammar(&token.word) || listed(FRAME, &token.word);
            !aside && !is_timed(token)
        };
        let place = place.filter(is_place);
        let place = place.map(|token| token.word.clone()).collect();
        (!nouns.is_empty()).then_some(Self::Many { nouns, place, others })
    }

    fn is_in(&self, told: &ToldSentence) -> bool {
        let is_any =
            |words: &[String], token: &Token| words.iter().any(|word| is_word(word, token));
        match self {
            Self::Many { nouns, place, others } => {
                let there = |token: &Token| is_any(place, token);
                let is_noun = |token: &Token| is_any(nouns, token);
                let counts = |at: usize| {
                    let behind = &told.tokens[at + 1..];
                    let of_it = behind.iter().take(COUNTED).any(is_noun);
                    let of_them = behind.first().is_some_and(|token| token.word == "of");
                    told.is_number(at) && (of_it || of_them)
                        || listed(COUNTING, &told.tokens[at].word) && of_it
                };
                // Two sons are children, too.
                let called = CALLED.iter().filter(|(one, _)| nouns.iter().any(|n| listed(one, n)));
                let called: Vec<String> =
                    called.flat_map(|(_, more)| more.split(' ')).map(str::to_owned).collect();
                let is_called = |at: usize| {
                    let behind = &told.tokens[at + 1..];
                    told.is_number(at) && behind.iter().take(COUNTED).any(|t| is_any(&called, t))
                };
                let is_held = |word: &String| told.tokens.iter().any(|token| is_word(word, token));
                let of_them = || {
                    let meant = others.as_ref().is_some_and(|others| others.iter().all(is_held));
                    (meant || takes_back_a_number(&told.tokens)) && told.has_number()
                };
                let mut all = 0..told.tokens.len();
                let counted = match told.tokens.iter().any(is_noun) {
                    true => all.any(counts),
                    false => all.any(is_called) || of_them(),
                };
                counted && (place.is_empty() || told.tokens.iter().any(there))
            }
            Self::Much { money } => {
                let of_money = |token: &Token| {
                    let mut words = COSTING.split(' ').chain(MONEY.split(' '));
                    words.any(|word| is_word(word, token))
                };
                let numbered = told.has_number();
                match money {
                    true => {
                        let signed = told.text.contains(SIGNS);
                        signed || numbered && told.tokens.iter().any(of_money)
                    }
                    false => {
                        numbered || told.tokens.iter().any(|token| listed(QUANTITY, &token.word))
                    }
                }
            }
        }
    }

    fn not_known(&self) -> &'static str {
        match self {
            Self::Many { .. } => "I don't know how many",
            Self::Much { .. } => "I don't know how much",
        }
    }
}

fn states_a_rule(sentence: &[Token]) -> bool {
    let to = |pair: &[Token]| listed(RULED_TO, &pair[0].word) && pair[1].word == "to";
    sentence.iter().any(|token| listed(RULES, &token.word)) || sentence.windows(2).any(to)
}

/// Whether no memory holds a word, nor one that is kin to it.
fn is_strange(reading: &Reading, word: &str) -> bool {
    let stem: BTreeSet<String> = stems(word).into_iter().collect();
    let mut kin = with_kin([stem]).flatten();
    !reading.view.is_mentioned(word) && !kin.any(|stem| reading.view.is_mentioned(&stem))
}

/// A word without the "'s" of an owner.
fn bare(word: &str) -> &str {
    word.strip_suffix("'s").unwrap_or(word)
}

/// Whether a memory is a sentence that somebody told for the memory, or the place of a thing: talk is looser, and what is
/// true of somebody is worded otherwise.
pub(super) fn is_plain(row: &MemoryRow) -> bool {
    let of_somebody = row.fact.as_ref().is_some_and(|fact| fact.attribute != "location");
    matches!(row.kind, MemoryKind::Note | MemoryKind::Semantic) && !of_somebody
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::answer::told_sentence::untimed;

    fn demands(question: &str) -> Demands {
        Demands::read(&tokens(question), &[])
    }

    #[test]
    fn names_and_rules_of_a_question_are_demands() {
        for (question, names, rule) in [
            ("What did Jun bring from Osaka?", "jun osaka", false),
            ("What is the name of Tove's rabbit?", "tove", false),
            ("Who was here when Tove left?", "", false),
            ("When did Mrs Lindqvist fly to Malmö?", "lindqvist malmö", false),
            ("WHO BROKE THE VASE?", "", false),
            ("What should I not give Marek?", "marek", true),
            ("What do I have to wear in the barn?", "", true),
            ("What do I have in the barn?", "", false),
        ] {
            let found = demands(question);
            assert_eq!((found.names.join(" ").as_str(), found.rule), (names, rule), "{question}");
        }
        assert_eq!(demands("What do we need to buy for the party?").words, ["buy", "party"]);
    }

    #[test]
    fn an_amount_is_told_or_not() {
        for (question, text, told) in [
            ("How many eggs did Jun fetch?", "Jun fetched six eggs.", true),
            ("How many eggs did Jun fetch?", "Jun fetched the eggs.", false),
            ("How many eggs did Jun fetch?", "Jun fetched the eggs for two euros.", false),
            ("How many eggs came?", "The eggs came today, thirty of them.", true),
            ("How many rabbits does Tove have?", "Tove has a rabbit.", true),
            ("How many children does Ines have?", "Ines has two sons.", true),
            ("How many parcels came?", "Jun came with six cups.", false),
            ("How many parcels came?", "A parcel came.", true),
            ("How many parcels did Jun fetch?", "Jun fetched 14, not 41.", true),
            ("How many visitors came to the fair?", "Ninety guests were at the fair.", true),
            ("How many 4K monitors are there?", "The black 4K monitor is broken.", false),
            ("How many ladders are in the barn?", "There are two ladders in the attic.", false),
            ("How many ladders are in the barn?", "There are two ladders in the barn.", true),
            ("How much did the boat cost?", "The boat is in the harbour.", false),
            ("How much did the boat cost?", "Jun paid 900 for the boat.", true),
            ("How much did the boat cost?", "The boat sleeps four.", false),
            ("How much milk is left?", "There is no milk left.", true),
            ("How much milk is left?", "The milk is in the fridge.", false),
        ] {
            let amount = demands(question).amount.unwrap();
            assert_eq!(amount.is_in(&untimed(text)), told, "{question} {text}");
        }
        assert_eq!(demands("How often did Jun fetch eggs?").amount, None);
        assert_eq!(demands("When was the lathe repaired?").thing.as_deref(), Some("lathe"));
        assert_eq!(demands("What was the colour of the van?").thing, None);
    }
}
