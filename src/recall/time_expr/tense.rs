//! Whether a time that is told has been or is to come: by the verb of its clause ("Ava came on Friday", "Ava comes on
//! Friday").

use std::ops::Range;

use crate::recall::lexer::Token;

/// Verbs in the past.
const PAST: &str = "was were had did didn't wasn't weren't hadn't came went left flew drove got gave took brought \
    bought told met saw said made found lost broke began sent built wrote read paid sold won ran sat slept spoke stood \
    threw thought wore woke rode rose fell felt heard held kept knew led lent could would \
    swam drank hid chose caught taught grew drew sang rang tore hung swept spent fed bit ate forgot put cut set hit hurt \
    let shut";
/// Participles that do not end in "ed".
const PARTICIPLES: &str =
    "been gone done seen given taken broken fallen written spoken driven flown eaten stolen";
/// Words that end in "ed" and are no verbs.
const NO_VERBS: &str = "shed sled bred hundred kindred sacred naked wicked";
/// Makes a participle tell what is or will be.
const BEING: &str = "is are am isn't aren't be will gets get";
/// Verbs of the present, and of what will be.
const AHEAD: &str = "is are am isn't aren't i'm we're you're they're he's she's it's that's will won't shall must can \
    may should has have";
/// Verbs of the third person with which plans are told, wherever they stand.
const PLANS: &str = "flies comes goes leaves returns arrives travels drives meets starts begins ends opens closes \
    moves visits stays takes gives gets brings needs wants plans expects marries celebrates";
/// Whoever does it.
const SUBJECTS: &str = "he she it who";
/// Whoever does it, with a verb without an ending.
const OTHERS: &str = "i we you they";
/// Words with a capital at the head of a sentence that do nothing.
const DETERMINERS: &str =
    "the a an my your our his her its their these those every each all on in at";
/// Times behind these have been, whatever the verb.
const SINCE: &str = "since from of";
/// How far before a participle its auxiliary stands, at most.
const AUXILIARY: usize = 3;

fn listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|item| item == word)
}

/// Whether the time at those bytes is one to come.
pub(super) fn is_ahead(tokens: &[Token], time: &Range<usize>) -> bool {
    let inside = |token: &Token| time.contains(&token.range.start);
    let Some(start) = tokens.iter().position(inside) else { return false };
    let end = start + tokens[start..].iter().take_while(|token| inside(token)).count();
    let before = start.checked_sub(1).map_or("", |at| tokens[at].word.as_str());
    if listed(SINCE, &tokens[start].word) || listed(SINCE, before) {
        return false;
    }
    let clause = tokens[..start].iter().rposition(|token| token.stop).map_or(0, |at| at + 1);
    let behind = || {
        let stop = tokens[end..].iter().position(|token| token.stop);
        let last = stop.map_or(tokens.len(), |at| end + at + 1);
        (end..last).find_map(|at| verb(tokens, at))
    };
    let nearest = (clause..start).rev().find_map(|at| verb(tokens, at));
    nearest.or_else(behind).unwrap_or(false)
}

/// What a word tells as a verb: whether what it is of is or will be; `None`: it is none.
fn verb(tokens: &[Token], at: usize) -> Option<bool> {
    let word = tokens[at].word.as_str();
    let before = at.checked_sub(1).map(|at| &tokens[at]).filter(|token| !token.stop);
    let is_before = |list: &str| before.is_some_and(|token| listed(list, &token.word));
    let participle = !tokens[at].capital && word.len() > 3 && word.ends_with("ed");
    let participle = participle && !word.ends_with("eed") && !listed(NO_VERBS, word);
    if participle || listed(PARTICIPLES, word) {
        let auxiliary = tokens[at.saturating_sub(AUXILIARY)..at].iter();
        let ahead = |token: &Token| listed(BEING, &token.word);
        return Some(auxiliary.rev().take_while(|token| !token.stop).any(ahead));
    }
    if listed(PAST, word) {
        return Some(false);
    }
    let by_name = |token: &Token| {
        token.capital && !token.word.ends_with("'s") && !listed(DETERMINERS, &token.word)
    };
    let third = word.ends_with('s') && !word.ends_with("'s") && !tokens[at].capital;
    let third = third && (is_before(SUBJECTS) || before.is_some_and(by_name));
    // "Did you see …", not "you see".
    let asked = at.checked_sub(2).is_some_and(|at| listed(PAST, &tokens[at].word));
    let plural = is_before(OTHERS) && !tokens[at].capital && !asked;
    let ahead = listed(AHEAD, word) || listed(PLANS, word) || third || plural;
    ahead.then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::lexer::tokens;

    #[test]
    fn the_verb_tells_whether_a_time_is_to_come() {
        let ahead = |text: &str| {
            let tokens = tokens(text);
            let day = |word: &str| matches!(word, "friday" | "saturday");
            let found = tokens.iter().find(|token| day(&token.word)).map(|t| t.range.clone());
            is_ahead(&tokens, &found.unwrap_or_default())
        };
        for text in [
            "Ava flies to Bonn on Friday.",
            "Ben has an appointment with the bank on Friday at 11.",
            "The inspection is on Friday.",
            "The class is cancelled on Friday.",
            "We meet on Friday.",
            "On Saturday, Ava moves to Kiel.",
            "Ben borrowed the tent and wants to give it back by Friday.",
            "Zoe will be here on Friday.",
            "The plumber comes on Friday.",
        ] {
            assert!(ahead(text), "{text}");
        }
        for text in [
            "Ava flew to Bonn on Friday.",
            "The inspection was on Friday.",
            "The lamp has been broken since Friday.",
            "Ben has repaired the tap on Friday.",
            "We gave Zoe a pen for her birthday on Saturday.",
            "On Friday the plumber came.",
            "Ava painted the shed on Saturday.",
            "Have you seen Ava on Friday?",
            "Did you see Ava on Friday?",
            "How many people did you meet on Friday?",
            "Friday",
        ] {
            assert!(!ahead(text), "{text}");
        }
    }
}
