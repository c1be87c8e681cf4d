//! Where the sentences of a text end: not at every full stop. "Dr. Whitlock came at 10 a.m. with 3.5 litres of milk."

/// Short forms before a name: the sentence goes on behind them, unless a pronoun or an article begins another one.
const TITLES: &str = "dr mr mrs ms prof st rev mt";
/// Short forms behind which the sentence always goes on.
const JOINING: &str = "e.g i.e eg ie vs cf";
/// Short forms before a number.
const COUNTING: &str = "no nos vol p pp fig approx ca jan feb mar apr aug sept oct nov dec";
/// Short forms that may as well end a sentence: it goes on where a small letter follows.
const ENDING: &str = "etc jr sr inc ltd co corp";
/// What is told apart by letters: the "B." of "room B." is no initial.
const LETTERED: &str = "room block ward gate platform terminal plan type group team class vitamin option part section building \
    flat apartment wing door box shelf row seat number letter";
/// Words that begin a sentence and no name.
const OPENING: &str = "I You He She It We They The This That These Those There My Your His Her Its Our Their Then When But So";
/// Marks that follow a full stop within a sentence: "etc., and".
const MARKS: [char; 6] = ['.', '!', '?', ',', ';', ':'];
/// Letters in each part of what is shortened to letters: "a.m.", "Ph.D."
const PART: usize = 2;

/// The sentences of a text in their order, each with the mark that ends it. A line's end is one where no word follows.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut left = text;
    let pieces = std::iter::from_fn(move || {
        let end = left.char_indices().find_map(|(at, mark)| {
            let after = at + mark.len_utf8();
            ends(&left[..at], mark, &left[after..]).then_some(after)
        });
        let (piece, rest) = left.split_at(end.unwrap_or(left.len()));
        left = rest;
        (!piece.is_empty()).then_some(piece)
    });
    pieces.map(str::trim).filter(|piece| piece.contains(char::is_alphanumeric))
}

/// Whether a mark ends a sentence.
fn ends(before: &str, mark: char, after: &str) -> bool {
    if after.starts_with(char::is_alphanumeric) {
        return false;
    }
    match mark {
        '?' | '\n' => true,
        '!' => !after.starts_with(MARKS),
        '.' => !after.starts_with(MARKS) && !is_short(before, after.trim_start()),
        _ => false,
    }
}

/// Whether the full stop behind `before` belongs to a short form or an initial, and the sentence goes on.
fn is_short(before: &str, after: &str) -> bool {
    let mut words = before.split_whitespace().rev();
    let Some(word) = words.next() else { return false };
    // "(J. Smith)"
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    let lower = word.to_lowercase();
    let next = after.chars().next();
    if listed(JOINING, &lower) {
        return true;
    }
    if listed(TITLES, &lower) {
        return next.is_some() && !opens(after);
    }
    if is_initial(word) {
        let lettered = words.next().is_some_and(|noun| listed(LETTERED, &noun.to_lowercase()));
        return next.is_some_and(char::is_alphabetic) && !opens(after) && !lettered;
    }
    if listed(COUNTING, &lower) {
        return next.is_some_and(char::is_numeric);
    }
    (listed(ENDING, &lower) || is_lettered(word)) && next.is_some_and(char::is_lowercase)
}

fn listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

/// Whether a text begins with a word that begins sentences; "I." may be an initial.
fn opens(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    listed(OPENING, word) && !rest.starts_with('.')
}

/// "J", "J.R"; not the pronoun.
fn is_initial(word: &str) -> bool {
    let is_one = |part: &str| part.chars().count() == 1 && part.starts_with(char::is_uppercase);
    word != "I" && word.split('.').all(is_one)
}

/// "a.m", "Ph.D".
fn is_lettered(word: &str) -> bool {
    let is_part = |part: &str| {
        (1..=PART).contains(&part.chars().count()) && part.chars().all(char::is_alphabetic)
    };
    word.contains('.') && word.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn a_sentence_ends_at_its_mark_and_at_no_other_full_stop() {
        for (text, wanted) in [
            ("Dr. Whitlock came. She left.", vec!["Dr. Whitlock came.", "She left."]),
            ("Dr. <person_2> came.", vec!["Dr. <person_2> came."]),
            (
                "Ava likes fruit, e.g. Apples. Ben, i.e. her brother, does not.",
                vec!["Ava likes fruit, e.g. Apples.", "Ben, i.e. her brother, does not."],
            ),
            ("It weighs 3.5 kg. It is red.", vec!["It weighs 3.5 kg.", "It is red."]),
            ("Ava goes to St. Mary. Ben stays.", vec!["Ava goes to St. Mary.", "Ben stays."]),
            ("Ben lives in Main St. He cooks.", vec!["Ben lives in Main St.", "He cooks."]),
            ("I met J. Smith. He left.", vec!["I met J. Smith.", "He left."]),
            ("J. R. Smith and K.L. Jones came.", vec!["J. R. Smith and K.L. Jones came."]),
            ("The mug is in room B. Ava left.", vec!["The mug is in room B.", "Ava left."]),
            ("Ava takes vitamin C. She is ill.", vec!["Ava takes vitamin C.", "She is ill."]),
            ("So did I. Ava left.", vec!["So did I.", "Ava left."]),
            ("He came at 10 a.m. He left", vec!["He came at 10 a.m.", "He left"]),
            ("He came at 10 a.m. on Monday.", vec!["He came at 10 a.m. on Monday."]),
            ("Pads, etc. are in No. 5. No. Ben!", vec!["Pads, etc. are in No. 5.", "No.", "Ben!"]),
            ("Well... Ava, Ben, etc., left.", vec!["Well...", "Ava, Ben, etc., left."]),
            ("Really?! Yes!! \"Stop.\" He did", vec!["Really?", "Yes!!", "\"Stop.", "\" He did"]),
            ("pens\n\nThe mug; the cup\nis here", vec!["pens", "The mug; the cup\nis here"]),
            (" \n.. ?", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(sentences(text).collect::<Vec<_>>(), wanted, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_word_is_lost(text in "([A-Za-zé]{1,3}|[0-9]|[.!?;, \n\"]){0,40}") {
            let is_word = |letter: &char| letter.is_alphanumeric();
            let words = |text: &str| text.chars().filter(is_word).collect::<String>();
            let pieces: String = sentences(&text).map(words).collect();
            proptest::prop_assert_eq!(pieces, words(&text));
        }
    }
}
