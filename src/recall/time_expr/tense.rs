//! Whether a time that is told has been or is to come: by the verb of its clause ("Ava came on Friday", "Ava comes on
//! Friday").

use std::ops::Range;

use super::is_number;
use crate::recall::lexer::Token;

/// Verbs in the past.
const PAST: &str = "was were had did didn't wasn't weren't hadn't came went left flew drove got gave took brought \
    bought told met saw said made found lost broke began sent built wrote paid sold won ran sat slept spoke stood \
    threw thought wore woke rode rose fell felt heard held kept knew led lent could would \
    swam drank hid chose caught taught grew drew sang rang tore hung swept spent fed bit ate forgot laid lay stuck shot \
    shook struck froze blew dug bent lit stole swore dealt burnt learnt dreamt slid sank shone wept shrank spun stung \
    swung sought fought meant knelt leant leapt crept became understood withdrew forgave mistook spilt spoilt";
/// Verbs in the past, unless something before them tells that they are to be done.
const UNCHANGED: &str =
    "put cut set hit hurt let shut read cost quit split spread beat burst bet cast";
/// Verbs in the past behind "has".
const PERFECT: &str = "come become run";
/// "Has", whoever has.
const HAVING: &str = "has have had hasn't haven't hadn't";
/// What tells that a verb of one form is to be done.
const TO_DO: &str = "will won't shall must can may should do does don't doesn't";
/// Participles that do not end in "ed".
const PARTICIPLES: &str = "been gone done seen given taken broken fallen written spoken driven flown eaten stolen begun \
    drunk sung swum rung worn torn thrown known grown drawn shown hidden chosen forgotten frozen ridden risen woken \
    beaten bitten sworn shaken blown sunk shrunk sprung lain";
/// Words that end in "ed" and are no verbs.
const NO_VERBS: &str = "shed sled bred hundred kindred sacred naked wicked";
/// Makes a participle tell what is or will be.
const BEING: &str = "is are am isn't aren't be will gets get";
/// Verbs of the present, and of what will be.
const AHEAD: &str = "is are am isn't aren't i'm we're you're they're he's she's it's that's there's here's who's what's \
    where's when's how's will won't shall must can may should has have";
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
const SINCE: &str = "since from of about";
/// What is set for a time behind these is to come.
const TOWARDS: &str = "to for";
/// What stands before the last of a range: "from Monday to Friday" may be to come.
const UP_TO: &str = "to until till";
/// So may "about noon on Friday".
const CLOCK: &str = "noon midday midnight half quarter a";
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
    let (first, rest) = (tokens[start].word.as_str(), &tokens[start + 1..end]);
    let open = match first {
        "from" => rest.iter().any(|token| listed(UP_TO, &token.word)),
        "about" => rest.first().is_some_and(|one| is_number(&one.word) || listed(CLOCK, &one.word)),
        _ => false,
    };
    if listed(SINCE, first) && !open || listed(SINCE, before) {
        return false;
    }
    let clause = tokens[..start].iter().rposition(|token| token.stop).map_or(0, |at| at + 1);
    // "moved to Friday", "ordered for the 4th", but "from Monday to Friday".
    let is_range = || tokens[clause..start].iter().any(|token| token.word == "from");
    if (listed(TOWARDS, first) || listed(TOWARDS, before)) && !is_range() {
        return true;
    }
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
    let near = |list: &str| {
        let words = tokens[at.saturating_sub(AUXILIARY)..at].iter().rev();
        words.take_while(|token| !token.stop).any(|token| listed(list, &token.word))
    };
    let participle = !tokens[at].capital && word.len() > 3 && word.ends_with("ed");
    let participle = participle && !word.ends_with("eed") && !listed(NO_VERBS, word);
    if participle || listed(PARTICIPLES, word) {
        return Some(near(BEING));
    }
    let perfect = listed(PERFECT, word) && near(HAVING) && !is_before("to a the");
    if perfect || listed(PAST, word) {
        return Some(false);
    }
    if listed(UNCHANGED, word) {
        // "Wants to cut", "will cut": the word before it tells.
        let to_do = is_before("to") || near(TO_DO);
        return (!to_do).then_some(false);
    }
    if word == "have" && near("did didn't") {
        return Some(false);
    }
    // "Can you show me Friday?"
    let next = tokens.get(at + 1).map(|token| token.word.as_str());
    if matches!((word, next), ("can", Some("you")) | ("may", Some("i"))) {
        return None;
    }
    let by_name = |token: &Token| {
        token.capital && !token.word.ends_with("'s") && !listed(DETERMINERS, &token.word)
    };
    let third = word.ends_with('s') && !word.ends_with("'s") && !tokens[at].capital;
    let third = third && (is_before(SUBJECTS) || before.is_some_and(by_name));
    // "Did you see …", "can you show …", not "you see".
    let lead = at.checked_sub(2).map_or("", |at| tokens[at].word.as_str());
    let asked = listed(PAST, lead) || is_before("you") && matches!(lead, "can" | "do");
    let plural = is_before(OTHERS) && !tokens[at].capital && !asked;
    let will = listed(AHEAD, word) || word.ends_with("'ll");
    let ahead = will || listed(PLANS, word) || third || plural;
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
            "I'll be away on Friday.",
            "We will cut the hedge on Friday.",
            "Ben has to read it by Friday.",
            "Zoe has to come on Friday.",
            "Who's coming on Friday?",
            "There's a fair on Saturday.",
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
            "Has anybody come on Friday?",
            "Who has worn the coat on Friday?",
            "We stuck the poster on the wall on Friday.",
            "I read the book on Friday.",
            "What do you know about Friday?",
            "Do you remember Friday?",
            "Can you show me Friday?",
            "Friday",
        ] {
            assert!(!ahead(text), "{text}");
        }
    }
}
