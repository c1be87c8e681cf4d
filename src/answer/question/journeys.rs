//! Questions about journeys: "Where did Ava go?", "When did Ava leave for Bonn?", "Who was away?"

use super::pieces::{Piece, Sentence};
use super::words::{AWAY, BE, listed};
use super::{AboutJourney, Leg, Subject};

/// What may stand before a past participle.
const DO: &str = "did does do has have had will";
/// What one does to get away.
const GO: &str = "go gone leave left depart departed travel travelled traveled fly flown drive driven head headed";
/// The same, said of somebody in the past.
const WENT: &str = "went left departed travelled traveled flew drove headed";
/// What one is who is not here, where nobody is named.
const MISSING: &str = "away absent abroad missing";
/// Words that change nothing here.
const BESIDE: &str =
    "then ever also still just last first yet really actually currently exactly now again";

/// A word, or somebody: `@` with its subject.
type Item<'a> = (&'a str, Option<&'a Subject>);

/// What is asked about a journey, as far as the question has that form.
pub(super) fn about(sentence: &Sentence) -> Option<AboutJourney> {
    let items = sentence.pieces.iter().filter_map(|piece| match piece {
        Piece::Word(word) if listed(BESIDE, word) => None,
        Piece::Word(word) => Some((word.as_str(), None)),
        Piece::Subject(index) => Some(("@", sentence.subjects.get(*index))),
        Piece::Quote(_) => Some(("%", None)),
        Piece::Time(_) => None,
    });
    let items: Vec<Item<'_>> = items.collect();
    let word = |at: usize| items.get(at).map_or("", |(word, _)| *word);
    let who = |at: usize| items.get(at).and_then(|(_, subject)| *subject).filter(|who| is_one(who));
    let rest = |at: usize| items.get(at..).unwrap_or_default();
    let of = |who: &Subject, asked: Leg, place: Option<String>| {
        Some(AboutJourney { who: Some(who.clone()), asked, place })
    };
    match (word(0), word(1)) {
        ("where", be) if listed(BE, be) && items.len() == 3 => of(who(2)?, Leg::Where, None),
        ("where", verb) if listed(DO, verb) && listed(GO, word(3)) => {
            let to = rest(4).iter().all(|(word, _)| matches!(*word, "to" | "for" | "away" | "off"));
            of(who(2).filter(|_| to)?, Leg::WhereTo, None)
        }
        ("when", verb) if listed(DO, verb) && listed(GO, word(3)) => {
            of(who(2)?, Leg::Left, where_to(rest(4))?)
        }
        ("when", verb) if listed(DO, verb) || listed(BE, verb) => {
            of(who(2)?, Leg::Returned, from_where(rest(3))?)
        }
        ("how", "long") => {
            let who = who(3)?;
            let at = 4 + usize::from(matches!(word(4), "been" | "stay" | "be"));
            // "away in Bonn"
            let at = at + usize::from(listed(AWAY, word(at)) && listed("in at", word(at + 1)));
            let verb = listed(BE, word(2)) || listed(DO, word(2));
            let away = listed(AWAY, word(at)) && items.len() == at + 1;
            let place = match word(at) {
                "in" | "at" if word(at + 1) == "@" && items.len() == at + 2 => named(rest(at + 1)),
                _ => None,
            };
            (verb && (away || place.is_some())).then(|| of(who, Leg::HowLong, place)).flatten()
        }
        ("who", be) if listed(BE, be) => {
            let not_here = word(2) == "not" && matches!(word(3), "here" | "there" | "home");
            let away = listed(MISSING, word(2)) && items.len() == 3 || not_here && items.len() == 4;
            away.then_some(AboutJourney { who: None, asked: Leg::Who, place: None })
        }
        ("who", verb) if listed(WENT, verb) => {
            let place = where_to(rest(2))??;
            Some(AboutJourney { who: None, asked: Leg::Who, place: Some(place) })
        }
        (be, "@") if listed(BE, be) && items.len() == 3 => match word(2) {
            "here" | "there" | "home" => of(who(1)?, Leg::WasHere, None),
            away if listed(AWAY, away) => of(who(1)?, Leg::WasAway, None),
            _ => None,
        },
        _ => None,
    }
}

fn is_one(subject: &Subject) -> bool {
    matches!(subject, Subject::Known { .. } | Subject::Unknown(_))
}

/// "away", "for Bonn", "off to the lake": the place, if any; `None` where something else follows.
fn where_to(items: &[Item<'_>]) -> Option<Option<String>> {
    let items = match items {
        [("away" | "off" | "out", _), rest @ ..] => rest,
        items => items,
    };
    match items {
        [] => Some(None),
        [("to" | "for" | "towards", _), place @ ..] => named(place).map(Some),
        _ => None,
    }
}

/// "return", "come back from Bonn": the place, if any; `None` where something else follows.
fn from_where(items: &[Item<'_>]) -> Option<Option<String>> {
    let rest = match items {
        [("come" | "get" | "arrive" | "return" | "be", _), ("back" | "home", _), rest @ ..]
        | [("return" | "returned" | "back", _), rest @ ..] => rest,
        _ => return None,
    };
    match rest {
        [] | [("here", _)] | [("to", _), ("work" | "school" | "us", _)] => Some(None),
        [("from", _), place @ ..] => named(place).map(Some),
        _ => None,
    }
}

/// The name of a place, as it is written; `None` where nothing is named.
fn named(items: &[Item<'_>]) -> Option<String> {
    let text = |(word, subject): &Item<'_>| match subject {
        Some(Subject::Known { text, .. } | Subject::Unknown(text)) => Some(text.clone()),
        Some(_) => None,
        None => Some((*word).to_owned()),
    };
    let words: Option<Vec<String>> = items.iter().map(text).collect();
    words.map(|words| words.join(" ")).filter(|place| !place.is_empty())
}
