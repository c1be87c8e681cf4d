//! Of whom a sentence that was told tells something: whoever is named before the verb, or whose a thing is said to be.

use jiff::tz::TimeZone;

use crate::memory::{is_kin, telling_stems};
use crate::recall::lexer::{Token, tokens};
use crate::recall::time_expr::time_expressions;
use crate::time::Timestamp;

use super::phrase::is_determiner;
use super::question::{NOUNS, is_grammar, listed};
use super::whereabouts::is_preposition;

/// What may stand between a name and what is told of it.
const BESIDE: &str = "a an the our my is was has have had been works worked as became also already always often usually \
    still now just both";
/// Of these, what tells what somebody is.
const BEING: &str = "is was as became been";
const PRONOUNS: &str = "he she";
/// Who is nobody in particular, beside what a person may be called.
const ANYBODY: &str = "anybody anyone everybody everyone nobody none";
/// What somebody does whose a thing is.
const OWNING: &str = "owns owned has";
/// The same, said of the thing.
const BELONGING: &str = "belongs belong belonged";

/// Whether a text holds all telling words of another.
pub(super) fn holds(text: &str, words: &str) -> bool {
    let (wanted, have) = (telling_stems(words), telling_stems(text));
    !wanted.is_empty() && wanted.iter().all(|word| has(&have, word))
}

fn has(stems: &[String], word: &str) -> bool {
    stems.iter().any(|stem| is_kin(word, stem))
}

/// "Ava" of "Ava is our head gardener": who is told to be that, in those very words.
pub(super) fn who_is(sentence: &str, role: &str) -> Option<String> {
    let words = words_of(sentence);
    let wanted = telling_stems(role);
    let is_role = |at: &usize| {
        let told = words[*at..].iter().take(wanted.len()).flat_map(|t| telling_stems(&t.word));
        told.eq(wanted.iter().cloned())
    };
    let at = (0..words.len()).find(is_role)?;
    let last = words.get((at + wanted.len()).checked_sub(1)?)?;
    let next = words.get(at + wanted.len());
    let over = next.is_none_or(|next| is_grammar(&next.word) || is_preposition(&next.word));
    let end = helped(&words, at);
    let is = words[end..at].iter().any(|token| listed(BEING, &token.word));
    // "Ava is back" tells no more than how she is: what somebody is has an article, or "as" before it.
    let before = at.checked_sub(1).map_or("", |before| words[before].word.as_str());
    let one = is_determiner(before) || before == "as";
    name_before(sentence, &words[..end]).filter(|_| is && one && (last.stop || over))
}

/// "Ava" of "Ava was a baker", "Ava used to be a baker", "Ava used to teach music": who is told to have been that, a
/// "music teacher".
pub(super) fn who_was(sentence: &str, role: &str) -> Option<String> {
    let words = words_of(sentence);
    let used = words.windows(2).position(|two| two[0].word == "used" && two[1].word == "to");
    if let Some(at) = used
        && let Some(verb) = words.get(at + 2)
    {
        let done = is_done_by(&verb.word, role);
        let wanted = telling_stems(role);
        let have: Vec<String> =
            words[at + 2..].iter().flat_map(|token| telling_stems(&token.word)).collect();
        // The last word of a "music teacher" is the verb.
        let rest = &wanted[..wanted.len().saturating_sub(usize::from(done))];
        let told = (done || verb.word == "be") && rest.iter().all(|word| has(&have, word));
        if told && !wanted.is_empty() {
            return name_before(sentence, &words[..at]);
        }
    }
    let was = |token: &Token| matches!(token.word.as_str(), "was" | "been" | "worked");
    who_is(sentence, role).filter(|_| words.iter().any(was))
}

/// Whether a verb is what somebody does who is called so: "teach", a "music teacher"; "drive", a "train driver".
fn is_done_by(verb: &str, role: &str) -> bool {
    let noun = role.split_whitespace().next_back().unwrap_or_default().to_lowercase();
    let root = verb.strip_suffix('e').unwrap_or(verb);
    let ending = noun.strip_prefix(root).unwrap_or_default();
    let doubled = root.chars().next_back();
    let plain = ending.strip_prefix(|c: char| Some(c) == doubled).unwrap_or(ending);
    root.len() > 2 && ["er", "or", "ress", "ist"].contains(&plain)
}

/// "Ava" of "Ava is allergic to nuts".
pub(super) fn who_is_so(sentence: &str, told: &str) -> Option<String> {
    let words = words_of(sentence);
    let at = first_of(&words, told)?;
    let end = helped(&words, at);
    let is = words[end..at].iter().any(|token| listed(BEING, &token.word));
    name_before(sentence, &words[..end]).filter(|_| is)
}

/// "Ava" of "Ava teaches sewing and knits": who is told to do that. `before`: what was told before the sentence.
pub(super) fn who_does(sentence: &str, deed: &str, before: &str) -> Option<String> {
    let words = words_of(sentence);
    let at = first_of(&words, deed)?;
    let end = helped(&words, at);
    let head = &words[..end];
    if let Some(name) = name_before(sentence, head) {
        return Some(name);
    }
    match head.last()?.word.as_str() {
        // The other verb of one sentence has the same doer.
        "and" if listed(PRONOUNS, &words[0].word) => only_name(before),
        "and" => {
            let (name, behind) = first_name(sentence, &words)?;
            behind.first().is_some_and(|next| next.word != "and").then_some(name)
        }
        pronoun if listed(PRONOUNS, pronoun) => {
            only_name(&format!("{before} {}", &sentence[..words[at].range.start]))
        }
        _ => None,
    }
}

/// "Ava" of "The mug is Ava's", "Ava's mug", "the mug belongs to Ava", "Ava owns a mug".
pub(super) fn whose(sentence: &str, thing: &str) -> Option<String> {
    let words = words_of(sentence);
    let wanted = telling_stems(thing);
    let mut clauses = words.split_inclusive(|token| token.stop || token.word == "and");
    clauses.find_map(|clause| match clause {
        [rest @ .., and] if and.word == "and" => owner(sentence, rest, &wanted),
        clause => owner(sentence, clause, &wanted),
    })
}

fn owner(sentence: &str, clause: &[Token], wanted: &[String]) -> Option<String> {
    let held = |tokens: &[Token]| {
        let have: Vec<String> =
            tokens.iter().flat_map(|token| telling_stems(&token.word)).collect();
        let count = wanted.iter().filter(|word| has(&have, word)).count();
        // "There are two printers: the grey one …"
        let one = count > 0 && tokens.iter().any(|token| token.word == "one");
        count == wanted.len() || one
    };
    let verb = |verbs: &str| clause.iter().position(|token| listed(verbs, &token.word));
    let theirs = |token: &Token| {
        let name = &sentence[token.range.clone()];
        let bare = name.strip_suffix("'s").or_else(|| name.strip_suffix("\u{2019}s"))?;
        is_name(token).then(|| bare.to_owned())
    };
    if let Some(at) = verb(BELONGING).filter(|at| held(&clause[..*at])) {
        let rest = clause.get(at + 2..).filter(|_| clause[at + 1].word == "to")?;
        return first_name(sentence, rest).map(|(name, _)| name);
    }
    if let Some(at) = verb(OWNING).filter(|at| held(&clause[*at..])) {
        return name_before(sentence, &clause[..at]);
    }
    let (last, head) = clause.split_last()?;
    let is = head.iter().any(|token| matches!(token.word.as_str(), "is" | "are" | "was" | "were"));
    if let Some(name) = theirs(last).filter(|_| is && held(head)) {
        return Some(name);
    }
    (0..clause.len()).find_map(|at| {
        let behind = &clause[at + 1..clause.len().min(at + 1 + wanted.len())];
        theirs(&clause[at]).filter(|_| held(behind))
    })
}

/// The words that are of no time; none of a question.
fn words_of(sentence: &str) -> Vec<Token> {
    if sentence.contains('?') {
        return Vec::new();
    }
    let times = time_expressions(sentence, Timestamp::EPOCH, &TimeZone::UTC);
    let timed = |token: &Token| times.iter().any(|time| time.range.contains(&token.range.start));
    tokens(sentence).into_iter().filter(|token| !timed(token)).collect()
}

/// Where the first telling word of what is asked for stands.
fn first_of(words: &[Token], asked: &str) -> Option<usize> {
    let first = telling_stems(asked).into_iter().next()?;
    words.iter().position(|token| has(&telling_stems(&token.word), &first))
}

/// Where the helping words before `at` begin.
fn helped(words: &[Token], at: usize) -> usize {
    let helps = |token: &&Token| listed(BESIDE, &token.word) && !token.stop;
    at - words[..at].iter().rev().take_while(helps).count()
}

fn is_name(token: &Token) -> bool {
    let word = token.word.as_str();
    let somebody = listed(ANYBODY, word) || NOUNS.contains(&word);
    token.capital && !token.quoted && !is_grammar(word) && !somebody
}

/// The name that ends those words, as it is written; a genitive is none.
fn name_before(sentence: &str, words: &[Token]) -> Option<String> {
    let last = words.last().filter(|last| is_name(last) && !last.stop)?;
    let inner = words[..words.len() - 1].iter().rev();
    let count = 1 + inner.take_while(|token| is_name(token) && !token.stop).count();
    let first = &words[words.len() - count];
    let name = &sentence[first.range.start..last.range.end];
    (!last.word.ends_with("'s")).then(|| name.to_owned())
}

/// Whether a word is a short form before a name: "Dr." of "Dr. Whitlock".
pub(super) fn is_short(sentence: &str, token: &Token) -> bool {
    let behind = sentence[token.range.end..].strip_prefix('.');
    behind.is_some_and(|rest| rest.contains(char::is_alphanumeric))
}

/// The name that begins those words, and the words behind it.
fn first_name<'a>(sentence: &str, words: &'a [Token]) -> Option<(String, &'a [Token])> {
    let short = words.iter().take_while(|token| is_short(sentence, token)).count();
    let words = &words[short..];
    let inner = words.iter().take_while(|token| is_name(token) && !token.stop).count();
    let count = inner + usize::from(words.get(inner).is_some_and(is_name));
    let (name, behind) = words.split_at(count);
    let name = &sentence[name.first()?.range.start..name.last()?.range.end];
    (!name.ends_with("'s")).then(|| (name.to_owned(), behind))
}

/// The name in a text, where it is the only one.
fn only_name(text: &str) -> Option<String> {
    let words = words_of(text);
    let ends = (0..words.len())
        .filter(|at| is_name(&words[*at]) && !words.get(at + 1).is_some_and(is_name));
    let mut names: Vec<&str> = ends.map(|at| &text[words[at].range.clone()]).collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [only] => Some((*only).to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_stands_before_the_verb_does_it() {
        for (sentence, deed, wanted) in [
            ("Every Thursday evening Ava teaches a sewing class.", "teaches sewing", Some("Ava")),
            ("Ben drove to Bonn, Ava often teaches sewing.", "teach sewing", Some("Ava")),
            ("Ava runs the shop and teaches sewing.", "teaches sewing", Some("Ava")),
            ("Mr Novak repaired the cutter.", "fixed the cutter", Some("Mr Novak")),
            ("Mr. Novak repaired the cutter.", "fixed the cutter", Some("Novak")),
            ("Dr. Novak runs the shop and teaches sewing.", "teaches sewing", Some("Novak")),
            ("She likes soup and teaches sewing.", "teaches sewing", Some("Cleo")),
            ("She teaches sewing.", "teaches sewing", Some("Cleo")),
            ("Ava is tired, she teaches sewing.", "teaches sewing", None),
            ("Ava does not teach sewing.", "teaches sewing", None),
            ("Ava's sister teaches sewing.", "teaches sewing", None),
            ("Somebody teaches sewing.", "teaches sewing", None),
            ("Does Ava teach sewing?", "teaches sewing", None),
            ("On Friday the doctor repaired it.", "repaired", None),
        ] {
            let doer = who_does(sentence, deed, "Cleo is vegetarian.");
            assert_eq!(doer.as_deref(), wanted, "{sentence}");
        }
        let told = who_does("Ava is back, she teaches sewing.", "teaches", "");
        assert_eq!(told.as_deref(), Some("Ava"));
        assert_eq!(who_does("She teaches sewing.", "teaches", "Ava met Cleo."), None);
    }

    #[test]
    fn what_somebody_is_stands_behind_the_name() {
        for (sentence, role, wanted) in [
            ("Ava is our head gardener.", "head gardener", Some("Ava")),
            ("Ava works as a gardener in Bonn.", "gardener", Some("Ava")),
            ("Ava is a carpenter and runs the shop.", "carpenter", Some("Ava")),
            ("Ava is a gardener's daughter.", "daughter", None),
            ("Ava is our metal worker.", "metal", None),
            ("Ava is not a carpenter.", "carpenter", None),
            ("Ava has a carpenter.", "carpenter", None),
            ("The cutter is a machine.", "machine", None),
            ("Ava is back from Oslo.", "back", None),
            ("Ava is late.", "late", None),
        ] {
            assert_eq!(who_is(sentence, role).as_deref(), wanted, "{sentence}");
        }
        assert_eq!(
            who_is_so("Ava is allergic to nuts.", "allergic to nuts").as_deref(),
            Some("Ava")
        );
        assert_eq!(who_is_so("Ava lives in Bonn.", "live in Bonn"), None);
        for (sentence, role, wanted) in [
            ("Ava was a tram driver before she moved.", "tram driver", Some("Ava")),
            ("Ava used to be a baker.", "baker", Some("Ava")),
            ("Ben is ill, and Ava used to teach the violin.", "violin teacher", Some("Ava")),
            ("Ava was a baker, and Ben used to teach the violin.", "baker", Some("Ava")),
            ("Ava is a baker.", "baker", None),
            ("Ava used to live with a baker.", "baker", None),
        ] {
            assert_eq!(who_was(sentence, role).as_deref(), wanted, "{sentence}");
        }
    }

    #[test]
    fn a_thing_is_whose_it_is_said_to_be() {
        let sides = "The red box is Ava's and the green box is Ben's.";
        let kinds =
            "There are two printers: the grey one belongs to Ava, the blue one belongs to Ben.";
        for (sentence, thing, wanted) in [
            (sides, "red box", Some("Ava")),
            (sides, "green box", Some("Ben")),
            (kinds, "grey printer", Some("Ava")),
            (kinds, "blue printer", Some("Ben")),
            ("Ava's mug is in the sink.", "mug", Some("Ava")),
            ("Ava's mug is in the sink.", "sink", None),
            ("Ben owns a red van.", "red van", Some("Ben")),
            ("Ben washed the van.", "van", None),
        ] {
            assert_eq!(whose(sentence, thing).as_deref(), wanted, "{sentence} {thing}");
        }
    }
}
