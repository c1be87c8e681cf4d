//! A leg of a journey as a sentence tells it: "Ava left for Bonn", "Ben is in Kiel", "Ava is back from Bonn".

use std::ops::Range;

use crate::recall::lexer::{Token, tokens};

use crate::answer::doer::is_short;
use crate::answer::phrase::is_determiner;
use crate::answer::question::{AWAY, is_grammar, listed};

/// What a sentence tells of somebody's journey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// Who stands before the verb, as written.
    pub(super) travellers: Vec<String>,
    pub(super) kind: Kind,
    /// Where to, where, or from where; empty where it is not told.
    pub(super) place: String,
    /// Further than an errand: a place with a name, or away.
    pub(super) far: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Away,
    There,
    Back,
}

impl Told {
    /// Whether it is told of somebody of that name, lower case.
    pub(super) fn is_by(&self, name: &str) -> bool {
        let wanted: Vec<&str> = name.split(' ').collect();
        self.travellers.iter().any(|traveller| {
            let lower = traveller.to_lowercase();
            let words: Vec<&str> = lower.split(' ').collect();
            words.windows(wanted.len()).any(|run| run == wanted)
        })
    }
}

const GOING: &str = "left leaves leave leaving went goes gone going departed departs departing drove drives driven driving \
    flew flies flown flying travelled traveled travels travelling traveling headed heads heading rode riding sailed \
    sailing walked walking hiked cycled";
/// Going, without a word for where to.
const PARTING: &str = "left leaves leaving departed departs gone";
const COMING: &str = "came comes coming got gets arrived arrives returned returns returning";
const BEING: &str = "is are was were be been stays stayed staying";
/// What may stand between the traveller and the verb.
const BESIDE: &str = "has have had will and then just also already both now finally";
/// Somebody of whom was told before.
const PRONOUNS: &str = "he she they";
/// Something of which was told before.
const THINGS: &str = "it this that there";
const ADVERBS: &str = "already now still just currently finally again";
/// What is done with somebody who is brought somewhere.
const BROUGHT: &str = "taken rushed brought admitted sent transferred";
/// Where one is who is away for longer than an errand.
const FAR: &str = "hospital hospice sanatorium prison jail rehab";
/// How somebody is who may be missing for it.
const ILL: &str = "ill sick unwell poorly";
/// What somebody is off from.
const OFF: &str = "sick ill work duty";
/// Of an illness: "at home with a cold".
const ILLNESS: &str = "a an flu fever covid";
const NEGATIONS: &str =
    "not never no didn't doesn't hasn't haven't isn't wasn't aren't weren't won't";
const TO: &str = "to for towards into";
/// What one is on who is away.
const TRIPS: &str = "holiday holidays vacation trip tour leave";
/// What follows a leg that needs no more words.
const ENDS: &str = "again early late alone together with by and but because before after on at in this that when while until \
    till since from";
/// What ends the name of a place.
const AFTER_PLACE: &str =
    "and but with by because until till since from for on this that when while who where to in at";
/// Where one goes who stays at home.
const NO_JOURNEY: &str = "bed sleep";

/// The name of a place without what stands before it.
pub(super) fn bare_place(place: &str) -> &str {
    match place.split_once(' ') {
        Some((first, rest)) if is_determiner(&first.to_lowercase()) => rest,
        _ => place,
    }
}

/// Whether a sentence has a verb with which journeys are told. (Most have none, and are done with.)
pub(super) fn may_tell(sentence: &str) -> bool {
    tokens(sentence).iter().any(|token| is_verb(&token.word))
}

fn is_verb(word: &str) -> bool {
    [GOING, COMING, BEING].iter().any(|list| listed(list, word))
}

/// What a sentence tells of journeys, each with the bytes of its clause. `timed`: whether a time stands at that byte;
/// `carried`: of whom the sentence before tells, and then of whom this one does ("Ava is in Bonn. She comes back …").
pub(super) fn read(
    sentence: &str,
    timed: &dyn Fn(usize) -> bool,
    carried: &mut Vec<String>,
) -> Vec<(Told, Range<usize>)> {
    let all: Vec<Token> = tokens(sentence);
    let words: Vec<&Token> = all.iter().filter(|token| !timed(token.range.start)).collect();
    if sentence.contains('?') || words.iter().any(|token| token.quoted) {
        return Vec::new();
    }
    let subject = subject(sentence, &words);
    if !subject.is_empty() {
        *carried = subject;
    }
    let mut begins = vec![0];
    begins.extend((1..words.len()).filter(|at| begins_clause(&words, *at)));
    let mut found = Vec::new();
    for (nth, begin) in begins.iter().enumerate() {
        let end = begins.get(nth + 1).copied().unwrap_or(words.len());
        let Some(told) = clause(sentence, &words[*begin..end], carried) else { continue };
        carried.clone_from(&told.travellers);
        let from = if *begin == 0 { 0 } else { words[*begin].range.start };
        let until = words.get(end).map_or(sentence.len(), |token| token.range.start);
        found.push((told, from..until));
    }
    found
}

/// Whom a sentence begins with.
fn subject(sentence: &str, words: &[&Token]) -> Vec<String> {
    let named = |token: &&&Token| token.capital && !is_grammar(&token.word) || token.word == "and";
    let count = words.iter().take_while(named).count();
    travellers(sentence, &words[..count])
}

/// "… and comes back", "…, she comes back".
fn begins_clause(words: &[&Token], at: usize) -> bool {
    let word = |at: usize| words.get(at).map_or("", |token| token.word.as_str());
    let does = |at: usize| listed(PRONOUNS, word(at)) && is_verb(word(at + 1));
    match word(at) {
        "and" | "but" | "then" => is_verb(word(at + 1)) || does(at + 1),
        _ => words[at - 1].stop && does(at),
    }
}

/// What a clause tells of a journey; of those carried where it names nobody.
fn clause(sentence: &str, words: &[&Token], carried: &[String]) -> Option<Told> {
    let word = |at: usize| words.get(at).map_or("", |token| token.word.as_str());
    let first = (0..words.len()).find(|at| is_verb(word(*at)))?;
    // "Ava is leaving for Bonn", "Ava is now going to Bonn".
    let behind = first + 1 + usize::from(listed(ADVERBS, word(first + 1)));
    let helps = listed(BEING, word(first))
        && (listed(GOING, word(behind)) || listed(COMING, word(behind)))
        && word(behind) != "gone";
    let verb = if helps { behind } else { first };
    let lead = &words[..first];
    let nobody = |token: &&Token| listed(BESIDE, &token.word) || listed(PRONOUNS, &token.word);
    if lead.last().is_some_and(|token| listed(THINGS, &token.word)) {
        return None;
    }
    let one = lead.iter().any(|token| matches!(token.word.as_str(), "he" | "she"));
    let travellers = match lead.iter().all(nobody) {
        // Of two who were named it may be either.
        true if one && carried.len() > 1 => Vec::new(),
        true => carried.to_vec(),
        false => travellers(sentence, lead),
    };
    if travellers.is_empty() || (0..=verb + 1).any(|at| listed(NEGATIONS, word(at))) {
        return None;
    }
    let after = verb + 1 + usize::from(listed(ADVERBS, word(verb + 1)));
    let stops = words[verb].stop;
    let next = if stops { "" } else { word(after) };
    let place = |from: usize| place(sentence, words.get(from..).unwrap_or_default());
    let told = |kind: Kind, place: String, far: bool| {
        let noun = place.rsplit(' ').next().unwrap_or_default();
        let far = far || bare_place(&place).starts_with(char::is_uppercase) || listed(FAR, noun);
        Some(Told { travellers: travellers.clone(), kind, place, far })
    };
    let from_there = |at: usize| match word(at) {
        "from" => place(at + 1),
        _ => String::new(),
    };
    let is_end = |at: usize| word(at).is_empty() || listed(ENDS, word(at)) || words[at - 1].stop;
    match word(verb) {
        _ if matches!(next, "back" | "home") && is_end(after + 1) => {
            told(Kind::Back, from_there(after + 1), true)
        }
        "stays" | "stayed" if next == "at" && word(after + 1) == "home" => {
            told(Kind::There, "home".to_owned(), false)
        }
        "was" | "were" if next == "at" && word(after + 1) == "home" => {
            told(Kind::There, "home".to_owned(), false)
        }
        _ if next == "at" && word(after + 1) == "home" => {
            let ill = listed(ILL, word(after + 2))
                || word(after + 2) == "with" && listed(ILLNESS, word(after + 3));
            match ill {
                true => told(Kind::There, "home".to_owned(), false),
                false => told(Kind::Back, String::new(), true),
            }
        }
        // "returned the tent" is no coming back.
        "returned" | "returns" | "returning" if next.is_empty() || is_end(after) => {
            told(Kind::Back, from_there(after), true)
        }
        "returned" | "returns" | "returning" if next == "home" => {
            told(Kind::Back, from_there(after + 1), true)
        }
        going if listed(GOING, going) => {
            let parted = matches!(next, "away" | "off" | "out" | "abroad");
            let to = after + usize::from(parted);
            let (toward, place) = (word(to), place(to + 1));
            if listed(TO, toward) && !place.is_empty() {
                let is_place = going != "going" || is_named(words, to + 1);
                return (is_place && !listed(NO_JOURNEY, &place))
                    .then(|| told(Kind::Away, place, parted))
                    .flatten();
            }
            let trip = toward == "on" && (to..to + 4).any(|at| listed(TRIPS, word(at)));
            let alone = listed(PARTING, going) && (next.is_empty() || is_end(after));
            (parted || trip || alone).then(|| told(Kind::Away, String::new(), true)).flatten()
        }
        being if listed(BEING, being) => {
            if listed(AWAY, next) {
                let there = matches!(word(after + 1), "in" | "at" | "to");
                let place = if there { place(after + 2) } else { String::new() };
                return told(Kind::There, place, true);
            }
            if matches!(next, "well" | "fit" | "healthy") && word(after + 1) == "again" {
                return told(Kind::Back, String::new(), true);
            }
            if next == "off" && listed(OFF, word(after + 1)) {
                return told(Kind::There, String::new(), true);
            }
            if listed(ILL, next) && is_end(after + 1) {
                return told(Kind::There, String::new(), false);
            }
            if listed(BROUGHT, next) && matches!(word(after + 1), "to" | "into") {
                let place = place(after + 2);
                return (!place.is_empty()).then(|| told(Kind::Away, place, false)).flatten();
            }
            let trip = next == "on" && (after..after + 4).any(|at| listed(TRIPS, word(at)));
            let on_duty = next == "on" && word(after + 1) == "duty";
            let at = if on_duty { after + 2 } else { after };
            let is_there = matches!(word(at), "in" | "at") && !stops;
            let place = if is_there { place(at + 1) } else { String::new() };
            (trip || !place.is_empty()).then(|| told(Kind::There, place, trip)).flatten()
        }
        _ => None,
    }
}

/// A place with a name or an article: "going to Bonn", not "going to bake".
fn is_named(words: &[&Token], at: usize) -> bool {
    words.get(at).is_some_and(|token| token.capital || is_determiner(&token.word))
}

/// The names right before the verb.
fn travellers(sentence: &str, before: &[&Token]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut joins = false;
    for token in before.iter().rev() {
        if token.capital {
            if is_short(sentence, token) {
                continue;
            }
            let name = &sentence[token.range.clone()];
            match found.last_mut().filter(|_| joins && !token.stop) {
                Some(rest) => *rest = format!("{name} {rest}"),
                None => found.push(name.to_owned()),
            }
            joins = true;
        } else if listed(BESIDE, &token.word) {
            joins = false;
        } else {
            break;
        }
    }
    found.reverse();
    found
}

/// The name of a place, as it is written.
fn place(sentence: &str, words: &[&Token]) -> String {
    let mut place: Vec<&str> = Vec::new();
    for token in words {
        if listed(AFTER_PLACE, &token.word) {
            break;
        }
        place.push(&sentence[token.range.clone()]);
        if token.stop && !is_short(sentence, token) {
            break;
        }
    }
    place.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_tell_who_left_who_is_elsewhere_and_who_is_back() {
        let leg = |sentence: &str| {
            let (told, _) = read(sentence, &|_| false, &mut Vec::new()).into_iter().next()?;
            Some((told.travellers.join("+"), told.kind, told.place, told.far))
        };
        let of =
            |who: &str, kind, place: &str, far| Some((who.to_owned(), kind, place.to_owned(), far));
        use Kind::{Away, Back, There};
        for (sentence, wanted) in [
            ("Ava left for Bonn.", of("Ava", Away, "Bonn", true)),
            ("Ava went away to the coast.", of("Ava", Away, "the coast", true)),
            ("Ben drove to the clinic.", of("Ben", Away, "the clinic", false)),
            ("Ava and Ben flew to New York with Cleo.", of("Ava+Ben", Away, "New York", true)),
            ("Dr. Miller drove to St. Mary.", of("Miller", Away, "St Mary", true)),
            ("Cleo Miller has left.", of("Cleo Miller", Away, "", true)),
            ("Ava is going to Bonn.", of("Ava", Away, "Bonn", true)),
            ("Ava went on a trip.", of("Ava", Away, "", true)),
            ("Ava is in Bonn until Sunday.", of("Ava", There, "Bonn", true)),
            ("Ava was away.", of("Ava", There, "", true)),
            ("Ben is at the dentist.", of("Ben", There, "the dentist", false)),
            ("Ben is on holiday.", of("Ben", There, "", true)),
            ("Ava was rushed to hospital with a fever.", of("Ava", Away, "hospital", true)),
            ("Ben was at home with a cold.", of("Ben", There, "home", false)),
            ("Ben is at home with a cold.", of("Ben", There, "home", false)),
            ("Ben is at home again.", of("Ben", Back, "", true)),
            ("Ava is off sick.", of("Ava", There, "", true)),
            ("Ava is ill with the flu.", of("Ava", There, "", false)),
            ("Ava is well again.", of("Ava", Back, "", true)),
            ("Ben is on duty in the blue hall.", of("Ben", There, "the blue hall", false)),
            ("Ava is sick of the noise.", None),
            ("Ava was taken by surprise.", None),
            ("Ava came back from Bonn.", of("Ava", Back, "Bonn", true)),
            ("Ava is back.", of("Ava", Back, "", true)),
            ("Ben returned from the coast.", of("Ben", Back, "the coast", true)),
            ("Ben came home late.", of("Ben", Back, "", true)),
            ("Ben returned the tent.", None),
            ("Ben gave the tent back.", None),
            ("Ava left her bag in the attic.", None),
            ("Ava is going to bake a cake.", None),
            ("Ben went to bed.", None),
            ("Ava did not leave for Bonn.", None),
            ("Ben is not in Bonn.", None),
            ("The parcel left for Bonn.", None),
            ("Did Ava leave for Bonn?", None),
            ("Ava is a nurse.", None),
        ] {
            assert_eq!(leg(sentence), wanted, "{sentence}");
        }
    }

    #[test]
    fn each_clause_tells_its_own_leg() {
        let legs = |note: &str| {
            let mut carried = Vec::new();
            let parts = note.split_inclusive('.');
            let legs = parts.flat_map(|part| read(part, &|_| false, &mut carried));
            legs.map(|(told, _)| (told.travellers.join("+"), told.kind)).collect::<Vec<_>>()
        };
        let of = |who: &str, kind| (who.to_owned(), kind);
        for (note, wanted) in [
            (
                "Ava flies to Bonn and comes back.",
                vec![of("Ava", Kind::Away), of("Ava", Kind::Back)],
            ),
            ("Ben is in Kiel, he comes back.", vec![of("Ben", Kind::There), of("Ben", Kind::Back)]),
            ("Zoe caught a cold. She stays at home.", vec![of("Zoe", Kind::There)]),
            ("Ava isn't coming back, she stays in bed.", vec![of("Ava", Kind::There)]),
            ("Ava went to Bonn. Ben is back.", vec![of("Ava", Kind::Away), of("Ben", Kind::Back)]),
            ("Ava went to Bonn. It is in Kiel.", vec![of("Ava", Kind::Away)]),
            ("He is in Kiel.", vec![]),
            ("Ava and Ben met, she is in Kiel.", vec![]),
        ] {
            assert_eq!(legs(note), wanted, "{note}");
        }
    }

    #[test]
    fn a_leg_is_of_whoever_bears_the_name() {
        let told = read("Cleo Miller left for Bonn.", &|_| false, &mut Vec::new());
        let is_by = |name: &str| told.iter().any(|(told, _)| told.is_by(name));
        assert!(is_by("cleo") && is_by("cleo miller"));
        assert!(!is_by("cle") && !is_by("ava"));
    }
}
