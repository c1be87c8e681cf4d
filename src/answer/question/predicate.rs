//! What the verb of a question tells: of being there, which percepts answer, or of another deed.

use super::words::{ARRIVED, AUX, LEFT, PRESENT, SAID, SEEN, SPOKE, WH, Words, listed};
use super::{Act, Ask};
use crate::answer::phrase::is_determiner;
use crate::memory::natures::{HOUSES, ROOMS};
use crate::recall::time_expr::is_stretch;

/// Words of company and of staying, beside those for being seen, coming and going.
const COMPANY: &str = "accompanied accompany accompanies accompanying company conversation empty meet meets met \
    remain remained share shared sat sit sits sitting spend spends spent stand standing stands stood staying \
    together wait waited waiting waits crowded occupied silent";
/// What is counted where people are.
const COUNTED: &str = "different distinct unique separate individual individuals face faces guest guests human humans \
    men women visitor visitors stranger strangers occasion occasions visit visits total altogether length new known \
    unknown unnamed robot";
/// Words of place and time beside a verb.
const ADVERBS: &str = "back up down out home late early earlier later soon yet overall earliest latest longest \
    shortest today's";
/// Words before what a deed was done to, or where: the verb stands before them.
const PREPOSITIONS: &str = "above at before behind below beside besides between by during from in inside into near on \
    onto outside through under until with without after about";
/// Of these, before a bare noun, what begins a state: "on holiday", "in hospital", "at school".
const STATES: &str = "on in at off";
/// The same after going away: where to makes it another deed.
const GOING_TO: &str = "to for";
/// Words of grammar that are deeds where nothing else is told.
const PLAIN_DEEDS: &str =
    "give gave given gives giving get got gets getting find found finds finding";
/// What stands for a thing that a clause tells of.
const SOME_THING: &str = "thing things object objects item items stuff";

/// Whether the question asks for a deed that is no presence: its verb, or what it is said of, is none of the words for
/// being there, being seen, coming and going. `content`: the question's content words.
pub(super) fn is_of_a_deed(words: &Words<'_>, content: &[String]) -> bool {
    let lead = words.words.iter().position(|word| listed(WH, word));
    let begin = match lead {
        Some(at) if !listed(AUX, words.at(0)) => at + 1,
        _ => 1,
    };
    let mut goes = false;
    let tells = |word: &str| content.iter().any(|telling| telling == word) && !is_of_presence(word);
    for (at, word) in words.words.iter().enumerate().skip(begin) {
        if listed(PREPOSITIONS, word) || listed(GOING_TO, word) && !goes {
            // "How long was Ava on holiday?"
            return listed(STATES, word) && tells(words.at(at + 1));
        }
        goes |= listed(LEFT, word);
        if tells(word) {
            return true;
        }
    }
    false
}

/// Whether a word tells of nothing but being there.
fn is_of_presence(word: &str) -> bool {
    // Rooms and houses one enters and leaves.
    [SPOKE, SAID, ARRIVED, LEFT, SEEN, PRESENT, COMPANY, COUNTED, ADVERBS, ROOMS, HOUSES]
        .iter()
        .any(|list| listed(list, word))
        || word.ends_with("ly")
        || is_stretch(word)
        || word.chars().all(|c| c.is_ascii_digit())
}

/// What is asked where the verb is of another deed: memories tell it, percepts do not.
pub(super) fn beyond_presence(ask: Ask) -> Ask {
    match ask {
        Ask::Who { act, .. }
        | Ask::HowOften { act }
        | Ask::HowMany { act }
        | Ask::HowLong { act }
        | Ask::Did { act }
            if act != Act::Spoke =>
        {
            Ask::Search
        }
        Ask::With { talked: false } | Ask::Together => Ask::Search,
        // "How long ago did Ava fall?"
        Ask::When { act, order, ago } if act != Act::Spoke => {
            Ask::When { act: Act::Other, order, ago }
        }
        other => other,
    }
}

/// Whether it is asked what somebody is going to do: "Who is going to speak?", not "Who is going to Bonn?"
pub(super) fn is_ahead(words: &Words<'_>) -> bool {
    let going = words.find("going to").map_or("", |at| words.at(at + 2));
    let is_verb = !matches!(going, "" | "@" | "#" | "%") && !is_determiner(going);
    is_verb || matches!(words.words.as_slice(), ["who" | "which", "will", ..])
}

/// Whether a thing is asked for that is told by what somebody did with it: "the thing that Ava gave to Ben".
pub(super) fn is_thing_of_a_deed(words: &Words<'_>) -> bool {
    words.any_of(SOME_THING) && words.any_of(PLAIN_DEEDS)
}

/// The deed of a question that has no other content words: "What did Ava give to Ben?"
pub(super) fn plain_deed(words: &Words<'_>) -> Option<String> {
    words.words.iter().find(|word| listed(PLAIN_DEEDS, word)).map(|word| (*word).to_owned())
}
