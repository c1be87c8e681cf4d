//! Whether a memory tells where something is, or who has it: nothing else answers a "where".

use crate::memory::model::{MemoryKind, MemoryRow};
use crate::recall::lexer::{Token, tokens};
use crate::recall::time_expr::time_expressions;

use super::phrase::is_determiner;
use super::question::listed;
use super::reading::Reading;

/// What begins a place.
const BEFORE: &str = "in on at under behind beside inside near above below beneath underneath next into onto outside opposite to";
/// Places of one word.
const ALONE: &str = "outside upstairs downstairs outdoors indoors abroad home";
/// After these somebody else has a thing, or nobody.
const PASSING: &str = "gave give gives given lent lend lends sold sent took taken brought lost borrowed belongs belong";
/// Before what is known already, these tell who has it: "Ben has the key", not "the tent has a hole".
const HAVING: &str = "has have had";
const KNOWN: &str = "the my our your his her its their it them";
/// Before "with" and a name, these tell it as well: "the key is with Ben".
const BEING: &str = "is are was were";
/// Words behind a preposition that make no place of it.
const NO_PLACES: &str =
    "time case fact all first least last once general total trouble vain order be";

/// Whether a memory may answer where something is; what was seen and heard may.
pub(super) fn tells(reading: &Reading, row: &MemoryRow) -> bool {
    let text = reading.rendered(&row.text);
    let times = time_expressions(&text, row.span.start, &reading.wording.zone);
    let timed = |token: &Token| times.iter().any(|time| time.range.contains(&token.range.start));
    row.kind != MemoryKind::Note || tells_place(&tokens(&text), &timed)
}

fn tells_place(words: &[Token], timed: &dyn Fn(&Token) -> bool) -> bool {
    let begins_place = |at: usize| {
        let behind = words[at + 1..].iter().find(|token| !is_determiner(&token.word));
        behind.is_some_and(|next| {
            let number = next.word.starts_with(|c: char| c.is_ascii_digit());
            !timed(next) && !number && !listed(NO_PLACES, &next.word)
        })
    };
    words.iter().enumerate().any(|(at, token)| {
        let word = token.word.as_str();
        let next = words.get(at + 1).filter(|_| !token.stop);
        let is_had = || listed(HAVING, word) && next.is_some_and(|next| listed(KNOWN, &next.word));
        let is_with = || {
            let being = at.checked_sub(1).is_some_and(|at| listed(BEING, &words[at].word));
            word == "with" && being && next.is_some_and(|next| next.capital)
        };
        listed(ALONE, word)
            || is_had()
            || is_with()
            || listed(PASSING, word)
            || listed(BEFORE, word) && !token.stop && !timed(token) && begins_place(at)
    })
}

#[cfg(test)]
mod tests {
    use super::{tells_place, tokens};

    #[test]
    fn a_note_tells_where_something_is_or_not() {
        let timed = |text: &'static str| tells_place(&tokens(text), &|token| token.word == "28th");
        for text in [
            "Everyone meets at the flagpole.",
            "The tent is upstairs.",
            "Ava lent the tent to Ben.",
            "Rucksacks have to be left in the cloakroom.",
            "Ben has the key.",
            "The key is with Ben.",
        ] {
            assert!(timed(text), "{text}");
        }
        for text in [
            "The drill has been put off by a day, it's on the 28th now.",
            "Ava's birthday is in 3 days.",
            "In general the tent is dry.",
            "The tent needs to be washed.",
            "The tent has a hole.",
            "",
        ] {
            assert!(!timed(text), "{text}");
        }
    }
}
