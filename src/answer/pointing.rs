//! Questions that point at what was said before: "And the red one?", "Did he give it back?" Each question stands alone,
//! so nobody knows whom or what they mean.

use crate::names::among;
use crate::recall::lexer::{Token, tokens};

use super::phrase::is_preposition;
use super::question::{is_grammar, is_person};
use super::reply::Reply;

/// What stands for a person.
const PERSONS: &str = "he she him her his hers";
/// What stands for a person who has the thing behind it.
const THEIRS: &str = "her his";
/// Who may be meant by these without being named: "Who cut her thumb?"
const ANYBODY: &str = "who whoever anybody anyone somebody someone everybody everyone nobody";
/// What begins the name of somebody or something.
const ARTICLES: &str = "the a an my our your this that these those every some his her their";
/// What makes a clause that may point at what follows it: "When she left, what did Ava say?"
const JOINING: &str = "when while after before as if since because until";
/// What may follow a thing that is pointed at.
const BEHIND_IT: &str =
    "back away there here now again still yet anymore gone before last kept put";
/// What is asked for where "it" is nothing in particular: "What time is it?"
const NO_THING: &str = "time day date year month week weekday hour season late true";
/// Before "of" and what it is a kind of.
const KINDS: &str = "kind sort type breed species make brand";
/// What stands for some of those told of before.
const ONES: &str = "one ones";

/// That nobody knows whom or what the question means; `None`: it names them. `named`: whether a word is a known name.
pub(super) fn at_nothing(question: &str, named: &dyn Fn(&str) -> bool) -> Option<Reply> {
    let words = tokens(question);
    let pointing = at_person(&words, named).map(|word| ("whom", word.to_owned()));
    let word = pointing.or_else(|| Some(("what", at_thing(&words, named)?)));
    word.map(|(what, word)| {
        Reply::unknown(&format!(
            "I don't know {what} you mean by \u{201c}{word}\u{201d}: I answer each question by itself."
        ))
    })
}

/// The word that stands for a person of whom nothing in the question tells.
fn at_person<'a>(words: &'a [Token], named: &dyn Fn(&str) -> bool) -> Option<&'a str> {
    let at = words.iter().position(|token| among(PERSONS, &token.word) && !token.quoted)?;
    let (before, word) = (&words[..at], words[at].word.as_str());
    let next = words.get(at + 1).filter(|_| !words[at].stop);
    let has = next.is_some_and(|next| !is_grammar(&next.word) && !is_preposition(&next.word));
    let anybody = before.iter().any(|token| among(ANYBODY, &token.word));
    let own = among(THEIRS, word) && has && anybody;
    let joins = at == 1 && among(JOINING, &words[0].word);
    let told = if joins { words } else { before };
    (!own && !is_told(told, named)).then_some(word)
}

/// The words that stand for a thing of which nothing in the question tells: "it", "the red one".
fn at_thing(words: &[Token], named: &dyn Fn(&str) -> bool) -> Option<String> {
    let last = words.len().checked_sub(1)?;
    if among(ONES, &words[last].word) {
        let at = words.iter().rposition(|token| among(ARTICLES, &token.word))?;
        let kind = words[at + 1..last].iter().any(|token| !is_grammar(&token.word));
        let telling = words[..at].iter().any(|token| !is_grammar(&token.word) || token.quoted);
        let text: Vec<&str> = words[at..].iter().map(|token| token.word.as_str()).collect();
        return (kind && !telling).then(|| text.join(" "));
    }
    let at = words.iter().position(|token| token.word == "it" && !token.quoted)?;
    let next = words.get(at + 1).map(|token| token.word.as_str());
    let points =
        words[at].stop || next.is_none_or(|next| among(BEHIND_IT, next) || is_preposition(next));
    // "What kind of whale is it?"
    let kind = words[..at].windows(3).any(|three| {
        let named = !is_grammar(&three[2].word) && !among(ONES, &three[2].word);
        among(KINDS, &three[0].word) && three[1].word == "of" && named
    });
    let nothing = kind || words.iter().any(|token| among(NO_THING, &token.word));
    (points && !nothing && !is_told(&words[..at], named)).then(|| "it".to_owned())
}

/// Whether words name somebody or something.
fn is_told(words: &[Token], named: &dyn Fn(&str) -> bool) -> bool {
    let is_name = |token: &Token| {
        token.capital && !is_grammar(&token.word)
            || named(token.word.trim_end_matches("'s"))
            || is_person(&token.word) && !among(ANYBODY, &token.word)
            || token.quoted
    };
    let is_thing =
        |two: &[Token]| among(ARTICLES, &two[0].word) && !two[0].stop && !among(ONES, &two[1].word);
    words.iter().any(is_name) || words.windows(2).any(is_thing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_before_is_not_known() {
        for (question, wanted) in [
            ("Did he give it back?", Some("he")),
            ("When will he be back?", Some("he")),
            ("Was anybody with her?", Some("her")),
            ("And what does she hate?", Some("she")),
            ("Where did she put the keys?", Some("she")),
            ("Where is his bike?", Some("his")),
            ("And the red one?", Some("the red one")),
            ("Where are the other blue ones?", Some("the other blue ones")),
            ("Where is it?", Some("it")),
            ("Who took it?", Some("it")),
            ("Is it still in the kitchen?", Some("it")),
            ("What did Ava say when she left?", None),
            ("what did ben say about his trip?", None),
            ("When she left, what did Ava say?", None),
            ("Why did the plumber say he would come?", None),
            ("Who cut her thumb?", None),
            ("Who broke the mug and when was it mended?", None),
            ("Which toolbox is the red one?", None),
            ("Who is the one?", None),
            ("What time is it?", None),
            ("What kind of cheese is it, according to Ava?", None),
            ("What colour is it?", Some("it")),
            ("Is it raining?", None),
            ("How long did it take to repair the cutter?", None),
            ("Where is the red mug?", None),
            ("", None),
        ] {
            let reply = at_nothing(question, &|word| word == "ben");
            let told = reply.map(|reply| reply.text);
            let word = told.as_deref().and_then(|text| text.split(['\u{201c}', '\u{201d}']).nth(1));
            assert_eq!(word, wanted, "{question}");
        }
    }
}
