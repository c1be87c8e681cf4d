//! Deeds told in other words: who put a new belt on the saw repaired it, who beat Ben won, and what belongs to Ava she owns.
//!
//! Wider than kin: it counts only where a sentence tells of the same thing, as the one who asks has to see to.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::memory::{is_kin, stems, telling_stems, with_kin};
use crate::recall::lexer::{Token, tokens};

use super::phrase::is_determiner;
use super::question::{is_grammar, listed};
use super::whereabouts::is_preposition;

/// Kinds of deeds. Of each: what asks for it and tells it, with whoever does it as its subject; what only tells it so;
/// what tells it from the other side, with whoever does it behind it; what tells that it was done and not by whom. Commas
/// part ways to tell it, `*` stands for a few words.
const VERBS: &[[&str; 4]] = &[
    ["own, possess, belong", "", "", ""],
    ["move", "take, carry, bring, put, push, shift", "", ""],
    ["take", "drive, accompany, escort, go with", "", ""],
    ["drive", "take, give * a lift", "", ""],
    [
        "give, donate, contribute",
        "send, bring, hand * over, hand * to, present * with",
        "get * from, receive * from, gift from, donation from",
        "",
    ],
    ["get, receive", "", "give, send, bring, donate, hand * over, hand * to", ""],
    ["lend, loan", "", "borrow, on loan from", ""],
    ["borrow", "have * on loan", "lend, loan", ""],
    [
        "return, give * back, hand * back",
        "bring * back, take * back",
        "get * back, have * back",
        "",
    ],
    ["bring", "fetch, deliver, come with, arrive with, drop in with, turn up with", "", ""],
    ["deliver", "bring, drop * off", "", ""],
    ["fetch, collect, pick * up, call for, come for", "come to get, take * away", "", ""],
    ["buy", "order", "", ""],
    ["order, reserve", "book, send for", "", ""],
    ["sell", "", "buy * from", ""],
    ["pay, cost, spend", "price", "charge", ""],
    ["win, beat, defeat", "come first", "lose to, lose against, lose * to", ""],
    [
        "lose, mislay, misplace",
        "can't find, cannot find, couldn't find, leave * behind",
        "beat, defeat, win against",
        "go missing, missing, disappear, vanish",
    ],
    [
        "find, discover, recover, track * down, come across",
        "have * back",
        "",
        "turn * up, show up, come to light",
    ],
    [
        "replace, take over from, stand in for, fill in for, step in for, cover for, deputise for, \
         substitute for, take * place of, succeed",
        "take over, stand in, fill in, step in, take * place, come instead, successor, \
         replacement, substitute",
        "",
        "",
    ],
    [
        "run, manage, oversee, in charge",
        "look after, responsible for, head of, manager of, director of, hold the fort",
        "",
        "",
    ],
    [
        "look after, take care of, care for, mind, tend",
        "in charge, responsible for, keep an eye on, see to, babysit",
        "",
        "",
    ],
    [
        "see to, deal with, handle, arrange, organise",
        "take care of, look after, sort * out",
        "",
        "",
    ],
    [
        "guide, show * round, show * around, show * about",
        "take * round, take * around, give * tour",
        "",
        "",
    ],
    [
        "repair, fix, mend, restore",
        "replace, glue, tighten, patch, see to, put * right, put * together, get * going, \
         get * working, get * running",
        "",
        "work again, works again, working again, running again",
    ],
    ["break, damage", "knock * over, drop, run into, back into, dent, crack, scratch", "", ""],
    ["hurt, injure", "cut, bruise, sprain, burn, bump, break, twist, scald, sting, bite", "", ""],
    ["fall, slip, stumble", "trip over, trip on, tumble", "", ""],
    ["teach, instruct", "give lessons, give * lessons, teacher", "learn * from, lessons from", ""],
    ["learn, study", "take lessons, take * lessons", "teach", ""],
    [
        "visit, come to see, drop in, drop by, call on, look in on",
        "come over, come round, pop in, stop by",
        "visit from",
        "",
    ],
    ["speak", "give * speech, give * talk, make * speech, hold * speech, lecture", "", ""],
    ["phone, ring", "call * up, give * a ring, give * a call", "call from", ""],
    ["cook, bake, prepare", "make", "", ""],
    ["make, build", "bake, cook, sew, knit, construct, put * together", "", ""],
    ["clean, wash, tidy", "wipe, sweep, mop, scrub, polish, dust", "", ""],
    ["leave, resign, retire", "give notice, last day, farewell", "", ""],
    [
        "happen",
        "cut, hurt, injure, break, crack, fall, crash, burn, steal, lose, stop, leak, tear",
        "",
        "",
    ],
];
/// The same of nouns that name deeds and states.
const NOUNS: &[[&str; 4]] = &[
    [
        "trip, journey, holiday, vacation, tour, travels",
        "back from, come * from, fly, travel, sail, drive to, go to, abroad",
        "",
        "",
    ],
    ["present, gift, donation", "give, bring, donate", "get", ""],
    [
        "ill, unwell, illness",
        "flu, fever, migraine, infection, with a cold, has a cold, had a cold, catch * cold, \
         in bed, headache, cough",
        "",
        "",
    ],
    [
        "matter, wrong, trouble, problem, fault, ail",
        "ill, unwell, flu, fever, migraine, infection, with a cold, has a cold, had a cold, \
         catch * cold, headache, cough, pain, hurt, injure, sprain, fracture, break, crack, loose, \
         stuck, leak, squeak, jam, faulty, damage, burst, blocked, blunt, stop working, stop, \
         out of order, won't, doesn't work, give up, empty, mould, because",
        "",
        "",
    ],
];
/// Behind a verb that stands alone, these make it another: "take over", "give notice".
const ANOTHER: &str = "up over off after notice way birth";
/// Words that a `*` stands for, at most.
const FEW: usize = 3;
/// What makes a verb passive.
const BEING: &str = "is are was were be been being got gets";
/// How far before its verb a passive begins, at most.
const PASSIVE: usize = 3;
/// Before a verb, these say that it was not done.
const DENIALS: &str = "not never nobody cannot";
/// How far before a verb a denial stands, at most.
const DENIED: usize = 2;
/// How far behind a verb stands whom it was done to, or from whom it comes.
const BEHIND: usize = 8;
/// Whom somebody may be behind a verb.
const PERSONS: &str = "me us him them you";
/// The same before it.
const SUBJECTS: &str = "i he she we they you";
/// What stands before somebody to whom, or from whom, something went.
const TOWARDS: &str = "to from by against";
/// Verbs of having.
const HAVING: &str = "has have had";
/// What stands before an owner who is told alone: "the saw is Ava's".
const BEING_OWNED: &str = "is are was were not";
/// So far behind the owner stands what is owned: "Ava's old saw".
const OWNED: usize = 3;

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| VERBS.iter().map(Kind::read).collect());
static NOUN_KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| NOUNS.iter().map(Kind::read).collect());

/// A kind of deeds.
#[derive(Debug, PartialEq)]
struct Kind {
    ways: Vec<Way>,
    /// So many of them ask for it, too.
    asking: usize,
}

/// A way to tell a deed.
#[derive(Debug, PartialEq)]
struct Way {
    parts: Vec<Part>,
    side: Side,
}

#[derive(Debug, PartialEq)]
enum Part {
    /// The first telling word, as it is written here; the stems of its forms.
    Verb(&'static str, BTreeSet<String>),
    Word(&'static str),
    /// A few words, or none.
    Few,
}

/// Where whoever does it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Before,
    Behind,
    Nowhere,
}

/// Where words tell a deed.
struct Place {
    first: usize,
    verb: usize,
    /// Behind its last word.
    end: usize,
}

/// A deed as a sentence tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// Where its verb stands.
    pub(super) at: usize,
    /// Somebody stands where its doer does.
    pub(super) by_somebody: bool,
    /// In several words, behind which nothing tells what it was done to: "Ava is in charge."
    pub(super) alone: bool,
}

/// A deed that a word of a question asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sought {
    stem: String,
    kinds: Vec<&'static Kind>,
    /// The word is only part of what asks for it: "pick" of "pick up".
    phrase: Option<&'static Way>,
}

/// Whether a word of a sentence is that word, or kin to it.
pub(super) fn is_word(word: &str, token: &Token) -> bool {
    let wanted = stems(word).concat();
    stems(&token.word).iter().any(|stem| is_kin(&wanted, stem))
}

/// Where a sentence tells of what a word asks for in other words; `objects`: what it was done to.
pub(super) fn told_otherwise(word: &str, objects: &[String], sentence: &[Token]) -> Option<usize> {
    Sought::by(&tokens(word), 0).told(objects, sentence).map(|told| told.at)
}

impl Told {
    /// By a verb that stands there: "The tent was lent to Ben" tells nobody who did it.
    pub(super) fn directly(sentence: &[Token], at: usize) -> Self {
        let by = || sentence[at..].iter().any(|token| token.word == "by");
        Self { at, by_somebody: !is_passive(sentence, at) || by(), alone: false }
    }
}

/// "Was lent", not "is lending" or "is going to lend".
fn is_passive(sentence: &[Token], verb: usize) -> bool {
    let before = &sentence[verb.saturating_sub(PASSIVE)..verb];
    let being = before.iter().rposition(|token| listed(BEING, &token.word));
    let apart = |token: &Token| token.stop || token.word == "to";
    being.is_some_and(|at| !before[at..].iter().any(apart)) && !sentence[verb].word.ends_with("ing")
}

impl Sought {
    /// What the word there asks for.
    pub(super) fn by(question: &[Token], at: usize) -> Self {
        Self::read(question, &stemmed(question), at)
    }

    /// What each of the words asks for, with its stem.
    pub(super) fn of_each(question: &[Token]) -> impl Iterator<Item = (String, Self)> + '_ {
        let stemmed = stemmed(question);
        (0..question.len()).map(move |at| (stemmed[at].clone(), Self::read(question, &stemmed, at)))
    }

    fn read(question: &[Token], stemmed: &[String], at: usize) -> Self {
        let Some(stem) = stemmed.get(at).cloned() else { return Self::default() };
        let all = KINDS.iter().chain(NOUN_KINDS.iter());
        let asking = all.flat_map(|kind| {
            let asking = kind.ways[..kind.asking].iter();
            asking.map(move |way| (kind, way))
        });
        let asked: Vec<(&'static Kind, &'static Way)> =
            asking.filter(|(_, way)| way.is_at(question, stemmed, at)).collect();
        let phrase = asked.iter().map(|(_, way)| *way).find(|way| way.parts.len() > 1);
        // Who took over from somebody took nothing.
        let meant = |way: &Way| phrase.is_none() || way.parts.len() > 1;
        let mut kinds: Vec<&'static Kind> = Vec::new();
        for (kind, way) in asked {
            if meant(way) && !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        Self { stem, kinds, phrase }
    }

    /// What a noun names: "trip".
    pub(super) fn noun(noun: &str) -> Self {
        let stem = stems(noun).concat();
        let asks = |kind: &&'static Kind| {
            let asking = &kind.ways[..kind.asking];
            asking.iter().any(|way| {
                matches!(way.parts.as_slice(), [Part::Verb(_, stems)] if stems.contains(&stem))
            })
        };
        let kinds = NOUN_KINDS.iter().filter(asks).collect();
        Self { stem, kinds, phrase: None }
    }

    /// Whether other words are known for it.
    pub(super) fn is_known(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// Whether several words ask for it.
    pub(super) fn is_phrase(&self) -> bool {
        self.phrase.is_some()
    }

    /// Whether a word belongs to those that ask for it.
    pub(super) fn has(&self, word: &str) -> bool {
        let is_it = |part: &Part| matches!(part, Part::Word(own) if *own == word);
        self.phrase.is_some_and(|way| way.parts.iter().any(is_it))
    }

    /// All words that tell it, for a search.
    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> {
        let ways = self.kinds.iter().flat_map(|kind| &kind.ways);
        let parts = ways.flat_map(|way| &way.parts);
        let words = parts.filter_map(|part| match part {
            Part::Verb(word, _) | Part::Word(word) => Some(*word),
            Part::Few => None,
        });
        words.collect::<BTreeSet<_>>().into_iter()
    }

    /// How a sentence tells it in other words; `objects`: what it was done to.
    pub(super) fn told(&self, objects: &[String], sentence: &[Token]) -> Option<Told> {
        let stemmed = if self.is_known() { stemmed(sentence) } else { Vec::new() };
        let ways = self.kinds.iter().flat_map(|kind| &kind.ways);
        let mut first = None;
        for told in ways.filter_map(|way| way.told(sentence, &stemmed)) {
            if told.by_somebody {
                return Some(told);
            }
            first = first.or(Some(told));
        }
        let is_asked = |word: &str| is_kin(&self.stem, &stems(word).concat());
        let is_object = |token: &Token| objects.iter().any(|object| is_word(object, token));
        let otherwise = if is_asked("own") || is_asked("belong") {
            // An owner is somebody.
            let owner = owner(sentence, &is_object);
            owner.map(|at| Told { at, by_somebody: true, alone: false })
        } else if is_asked("want") {
            purpose(sentence).map(|at| Told::directly(sentence, at))
        } else if is_asked("repair") {
            renewed(sentence).map(|at| Told::directly(sentence, at))
        } else {
            None
        };
        otherwise.or(first)
    }
}

impl Kind {
    fn read([asking, telling, turned, bare]: &[&'static str; 4]) -> Self {
        let ways = |list: &'static str, side: Side| {
            let ways = list.split(',').map(str::trim).filter(|way| !way.is_empty());
            ways.map(move |way| Way::read(way, side))
        };
        let mut all: Vec<Way> = ways(asking, Side::Before).collect();
        let asking = all.len();
        all.extend(ways(telling, Side::Before));
        all.extend(ways(turned, Side::Behind));
        all.extend(ways(bare, Side::Nowhere));
        Self { ways: all, asking }
    }
}

impl Way {
    fn read(text: &'static str, side: Side) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        for word in text.split_whitespace() {
            let stems: BTreeSet<String> = telling_stems(word).into_iter().collect();
            let known = parts.iter().any(|part| matches!(part, Part::Verb(..)));
            parts.push(match word {
                "*" => Part::Few,
                word if known || stems.is_empty() => Part::Word(word),
                word => Part::Verb(word, with_kin([stems]).flatten().collect()),
            });
        }
        Self { parts, side }
    }

    /// Where its words stand, if they begin there.
    fn place(&self, sentence: &[Token], stemmed: &[String], first: usize) -> Option<Place> {
        let mut place = Place { first, verb: first, end: first };
        let mut few = 0;
        for part in &self.parts {
            let fits = |at: &usize| match part {
                Part::Verb(_, stems) => stems.contains(&stemmed[*at]),
                Part::Word(word) => sentence[*at].word == *word,
                Part::Few => false,
            };
            if *part == Part::Few {
                few = FEW;
                continue;
            }
            let at = (place.end..sentence.len().min(place.end + few + 1)).find(fits)?;
            let between = &sentence[place.end.saturating_sub(1)..at];
            if place.end > first && between.iter().any(|token| token.stop) {
                return None;
            }
            if matches!(part, Part::Verb(..)) {
                place.verb = at;
            }
            (place.end, few) = (at + 1, 0);
        }
        Some(place)
    }

    /// Whether it stands there, with its verb in that place.
    fn is_at(&self, sentence: &[Token], stemmed: &[String], verb: usize) -> bool {
        let begins = |first| self.place(sentence, stemmed, first);
        // No part of it stands further behind the one before it.
        let from = verb.saturating_sub(self.parts.len() * (FEW + 1));
        (from..=verb).any(|first| begins(first).is_some_and(|place| place.verb == verb))
    }

    fn told(&self, sentence: &[Token], stemmed: &[String]) -> Option<Told> {
        let mut places = (0..sentence.len()).filter_map(|at| self.place(sentence, stemmed, at));
        let place = places.find(|place| !self.is_another(sentence, place))?;
        let ends = sentence[place.end - 1].stop || place.end == sentence.len();
        let passive = self.is_passive(sentence, place.verb);
        let by_somebody = match self.side {
            Side::Before => !passive || Told::directly(sentence, place.verb).by_somebody,
            // "Ava was given a lamp"
            Side::Behind => {
                passive && is_led_by_somebody(&sentence[..place.verb])
                    || somebody(&sentence[place.end - 1..])
            }
            Side::Nowhere => false,
        };
        Some(Told { at: place.verb, by_somebody, alone: ends && self.parts.len() > 1 })
    }

    /// Whether another deed is told there, or that it was not done.
    fn is_another(&self, sentence: &[Token], place: &Place) -> bool {
        let next = sentence.get(place.end).map_or("", |token| token.word.as_str());
        let alone = self.parts.len() == 1 && !sentence[place.verb].stop;
        let other = alone && listed(ANOTHER, next);
        let before = sentence[..place.first].iter().rev().take(DENIED);
        let mut clause = before.take_while(|token| !token.stop);
        let denies = |token: &Token| listed(DENIALS, &token.word) || token.word.ends_with("n't");
        other || clause.any(denies)
    }

    /// A noun, or a verb in its plain form, is in no passive.
    fn is_passive(&self, sentence: &[Token], verb: usize) -> bool {
        let word = sentence[verb].word.as_str();
        let plain = |part: &Part| matches!(part, Part::Verb(form, _) if *form == word);
        !self.parts.iter().any(plain) && is_passive(sentence, verb)
    }
}

/// The stem of each word.
fn stemmed(words: &[Token]) -> Vec<String> {
    words.iter().map(|token| stems(&token.word).concat()).collect()
}

/// Whether somebody stands before a passive that ends those words: "Ava was …", "she has been …".
fn is_led_by_somebody(words: &[Token]) -> bool {
    let near = &words[words.len().saturating_sub(PASSIVE)..];
    near.iter().any(|token| is_name(token) || listed(SUBJECTS, &token.word))
}

fn is_name(token: &Token) -> bool {
    token.capital && !is_grammar(&token.word)
}

/// Whether somebody is named behind the first of those words: "gave her a lamp", "from the mayor".
fn somebody(words: &[Token]) -> bool {
    let open = words.iter().take(BEHIND).take_while(|token| !token.stop).count();
    let clause = &words[..words.len().min(open + 1)];
    (1..clause.len()).any(|at| {
        let token = &clause[at];
        let next = clause.get(at + 1);
        let ends = token.stop || next.is_none();
        let aside = |next: &Token| is_determiner(&next.word) || is_preposition(&next.word);
        let her = token.word == "her" && (ends || next.is_some_and(aside));
        let from = listed(TOWARDS, &clause[at - 1].word) && is_determiner(&token.word);
        is_name(token) || listed(PERSONS, &token.word) || her || from
    })
}

/// "Ava has a saw", "Ava's old saw", "the saw is Ava's".
fn owner(sentence: &[Token], is_object: &dyn Fn(&Token) -> bool) -> Option<usize> {
    (0..sentence.len()).find(|at| {
        let (token, behind) = (&sentence[*at], &sentence[at + 1..]);
        let before = at.checked_sub(1).map(|at| &sentence[at]);
        if listed(HAVING, &token.word) {
            return before.is_some_and(|who| who.capital) && behind.iter().any(is_object);
        }
        let named = token.capital && token.word.ends_with("'s");
        let alone = || before.is_some_and(|word| listed(BEING_OWNED, &word.word));
        named && (alone() || behind.iter().take(OWNED).any(is_object))
    })
}

/// "She came to look at the drawings": what she wanted.
fn purpose(sentence: &[Token]) -> Option<usize> {
    sentence.windows(2).position(|pair| {
        let word = pair[1].word.as_str();
        pair[0].word == "to" && !pair[1].capital && !is_determiner(word) && !is_preposition(word)
    })
}

/// "She put a new belt on it".
fn renewed(sentence: &[Token]) -> Option<usize> {
    let put = sentence.iter().position(|token| listed("put puts fitted installed", &token.word))?;
    sentence[put..].iter().any(|token| token.word == "new").then_some(put)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a sentence tells of the deed that the first word of a question asks for.
    fn told(question: &str, object: &str, sentence: &str) -> Option<Told> {
        Sought::by(&tokens(question), 0).told(&[object.to_owned()], &tokens(sentence))
    }

    #[test]
    fn a_deed_may_be_told_with_another_verb() {
        for (verb, object, sentence) in [
            ("owns", "kayak", "The blue kayak belongs to Ines."),
            ("owns", "kayak", "The blue kayak is Ines's and the red one is Jun's."),
            ("owns", "kayak", "Ines has a blue kayak."),
            ("owned", "kayak", "Ines's blue kayak leaks."),
            ("fixed", "pump", "Jun put a new valve in the pump."),
            ("mended", "pump", "Jun replaced the pump."),
            ("moved", "ladder", "Ines carried the ladder to the barn."),
            ("took", "clinic", "Jun drove her to the clinic."),
            ("want", "", "The plumber came to look at the boiler."),
            ("trip", "", "Jun is back from Osaka."),
            ("ill", "", "Jun stays at home with a cold."),
            ("matter", "", "A pedal of the loom is loose."),
        ] {
            assert!(told(verb, object, sentence).is_some(), "{verb} {object}: {sentence}");
        }
        for (verb, object, sentence) in [
            ("owns", "kayak", "The kayak has a leak."),
            ("owns", "kayak", "The kayak hit Ines's thumb."),
            ("owns", "kayak", "The kayak is in the barn."),
            ("fixed", "pump", "Jun put the pump in the barn."),
            ("stole", "van", "Jun bought the van."),
            ("took", "tarts", "Jun brought the tarts."),
            ("want", "", "Jun drove to the clinic."),
            ("get", "", "Jun gave up."),
            ("get", "", "Jun has given notice."),
            ("ill", "", "Jun ordered a cold drink."),
            ("matter", "", "The loom is made of oak."),
            ("trip", "", "Jun likes Osaka."),
        ] {
            assert!(told(verb, object, sentence).is_none(), "{verb} {object}: {sentence}");
        }
    }

    #[test]
    fn several_words_tell_a_deed_together() {
        for (question, sentence) in [
            ("guided the guests", "Jun showed the guests round."),
            ("replaced Ines", "Jun is filling in for her."),
            ("covered for Ines", "Jun took over from Ines."),
            ("took the place of Ines", "Jun is Ines's successor."),
            ("picked the parcel up", "A courier called for the parcel."),
            ("looked after the hens", "Jun was in charge of the hens."),
        ] {
            assert!(told(question, "", sentence).is_some(), "{question}: {sentence}");
        }
        for (question, sentence) in [
            ("guided the guests", "Jun showed them the barn. Round loaves are best."),
            ("took the ladder", "Jun took over from Ines."),
            ("covered the boat", "Jun is filling in for her."),
            ("picked the plums", "A courier called for the parcel."),
            ("replaced Ines", "Jun did not take over."),
            ("looked at the hens", "Jun was in charge of the hens."),
        ] {
            assert!(told(question, "", sentence).is_none(), "{question}: {sentence}");
        }
    }

    #[test]
    fn who_did_it_stands_before_or_behind_what_tells_it() {
        for (question, sentence, by_somebody) in [
            ("won", "Jun beat Ines at darts.", true),
            ("won", "Ines lost at darts to Jun.", true),
            ("lost", "Jun beat Ines at darts.", true),
            ("lost", "Jun beat the record.", false),
            ("donated", "The loom was a gift from the weavers.", true),
            ("donated", "The loom was sent last week.", false),
            ("donated", "The loom was sent by the weavers.", true),
            ("received", "Jun gave Ines a loom.", true),
            ("received", "Jun gave away the loom.", false),
            ("borrowed", "Jun lent the loom to her.", true),
            ("lent", "Ines borrowed her loom.", false),
            ("lent", "Ines borrowed the loom from Jun.", true),
            ("found", "The loom turned up in the barn.", false),
            ("replaced", "Jun is going to take over from Ines.", true),
            ("replaced", "Jun is standing in.", true),
            ("owns", "The loom is Ines's.", true),
        ] {
            let told = told(question, "", sentence).map(|told| told.by_somebody);
            assert_eq!(told, Some(by_somebody), "{question}: {sentence}");
        }
    }
}
