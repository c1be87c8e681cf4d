//! Somebody told by whose mother, son or sister it is: "What did Ava bring for her mother?" is asked of Zoe where Ava is
//! Zoe's daughter.

use std::ops::Range;

use crate::recall::lexer::{Token, tokens};

use super::question::{is_grammar, listed};

/// What stands for whose relative it is.
const THEIRS: &str = "her his their";
/// Relations, and what somebody is to one's own mother, sister, …
const TURNED: [(&str, &str); 8] = [
    ("mother father mum mom dad parent", "daughter son child"),
    ("daughter son child", "mother father mum mom dad parent"),
    ("sister brother", "sister brother"),
    ("wife husband partner", "husband wife partner"),
    ("grandmother grandfather granny grandma grandpa", "granddaughter grandson grandchild"),
    ("granddaughter grandson grandchild", "grandmother grandfather granny grandma grandpa"),
    ("aunt uncle", "niece nephew"),
    ("niece nephew", "aunt uncle"),
];
/// Relations of women, and of men.
const WOMEN: &str =
    "mother mum mom daughter sister wife grandmother granny grandma granddaughter aunt niece";
const MEN: &str = "father dad son brother husband grandfather grandpa grandson uncle nephew";
/// What stands for a woman, and for a man.
const SHE: &str = "she her hers";
const HE: &str = "he his him";
/// What joins a name and what somebody is.
const BEING: &str = "is was";
/// Behind that, before a name.
const CALLED: &str = "called named";

/// A relative of somebody who is named before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relative {
    /// The words "her mother".
    pub(super) at: Range<usize>,
    /// Whose, as it is written.
    pub(super) whose: String,
    relation: String,
}

impl Relative {
    /// The one of a question in which nobody else is named before.
    pub(super) fn of(question: &str) -> Option<Self> {
        let words = tokens(question);
        let relation = |at: usize| words.get(at + 1).map(|token| bare(token).to_owned());
        let related = |at: usize| {
            let known = |relation: String| TURNED.iter().any(|(list, _)| listed(list, &relation));
            listed(THEIRS, &words[at].word) && relation(at).is_some_and(known)
        };
        let at = (0..words.len()).find(|at| related(*at))?;
        let mut names = names(&words[..at]);
        let name = names.next()?;
        let whose = written(question, &words[name]);
        let relation = relation(at).filter(|_| names.next().is_none())?;
        Some(Self { at: at..at + 2, whose, relation })
    }

    /// Who it is by a sentence; `true`: as long as that one is a woman, or a man, as the relation says.
    pub(super) fn named_in(&self, sentence: &str) -> Option<(String, bool)> {
        let words = tokens(sentence);
        let all: Vec<Range<usize>> = names(&words).collect();
        let told = |name: &Range<usize>| written(sentence, &words[name.clone()]);
        let is_whose = |name: &&Range<usize>| told(name) == self.whose;
        let turned = TURNED.iter().find(|(list, _)| listed(list, &self.relation));
        let is_turned =
            |token: &Token| turned.is_some_and(|(_, turned)| listed(turned, bare(token)));
        let word = |at: usize| words.get(at);
        let is = |at: usize| word(at).is_some_and(|token| listed(BEING, &token.word));
        let theirs = |name: &Range<usize>| words[name.end - 1].word.ends_with("'s");
        let related = |at: usize| word(at).is_some_and(|token| bare(token) == self.relation);
        let begins = |at: usize| all.iter().find(|name| name.start == at);
        let ends = |at: Option<usize>| all.iter().find(|name| Some(name.end) == at);
        all.iter().filter(is_whose).find_map(|own| {
            let (start, end) = (own.start, own.end);
            if theirs(own) && related(end) {
                // "Ava's mother Zoe", "Ava's mother is called Zoe", "Zoe is Ava's mother"
                let called = word(end + 2).is_some_and(|token| listed(CALLED, &token.word));
                let behind = match is(end + 1) {
                    true => begins(end + 2 + usize::from(called)),
                    false => begins(end + 1).filter(|_| !words[end].stop),
                };
                let before = || ends(start.checked_sub(1)).filter(|_| is(start - 1));
                return behind.or_else(before).map(|name| (told(name), false));
            }
            let of = |name: &&Range<usize>| theirs(name) && word(name.end).is_some_and(is_turned);
            // "Ava is Zoe's daughter", "Zoe's daughter Ava"
            let behind = is(end).then(|| begins(end + 1)).flatten().filter(of);
            let before = || ends(start.checked_sub(1)).filter(of);
            behind.or_else(before).map(|name| (told(name), true))
        })
    }

    /// Whether sentences about the one of that name, and nobody else, tell of a woman or a man as the relation says.
    pub(super) fn is_of_its_sex<'a>(
        &self,
        name: &str,
        mut sentences: impl Iterator<Item = &'a str>,
    ) -> bool {
        let own = match (listed(WOMEN, &self.relation), listed(MEN, &self.relation)) {
            (true, _) => SHE,
            (_, true) => HE,
            _ => return true,
        };
        sentences.any(|sentence| {
            let words = tokens(sentence);
            let only = names(&words).all(|one| written(sentence, &words[one]) == name);
            let said = |list: &str| words.iter().any(|token| listed(list, &token.word));
            let other = if own == SHE { HE } else { SHE };
            only && sentence.contains(name) && said(own) && !said(other)
        })
    }
}

/// A word without the "'s" of an owner.
fn bare(token: &Token) -> &str {
    token.word.strip_suffix("'s").unwrap_or(&token.word)
}

/// Where names stand: words with a capital that are no grammar, in a row; an owner's name ends there.
fn names(words: &[Token]) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_name = move |at: usize| {
        words.get(at).is_some_and(|token| token.capital && !is_grammar(bare(token)))
    };
    let ends = move |at: usize| words[at].stop || words[at].word.ends_with("'s");
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = (from..words.len()).find(|at| is_name(*at))?;
        let mut end = start + 1;
        while is_name(end) && !ends(end - 1) {
            end += 1;
        }
        from = end;
        Some(start..end)
    })
}

/// A name as it is written, without the "'s" of an owner.
fn written(text: &str, name: &[Token]) -> String {
    let (Some(first), Some(last)) = (name.first(), name.last()) else { return String::new() };
    let name = &text[first.range.start..last.range.end];
    name.trim_end_matches("'s").trim_end_matches("\u{2019}s").to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_is_told_by_whose_it_is() {
        let relative = Relative::of("What did Ava give to her mother?").unwrap();
        assert_eq!((relative.whose.as_str(), relative.at.clone()), ("Ava", 5..7));
        for (sentence, name) in [
            ("Zoe is Ava's mother.", Some("Zoe")),
            ("Ava's mother Zoe phoned.", Some("Zoe")),
            ("Ava's mother is called Zoe.", Some("Zoe")),
            ("Ava is Zoe's daughter.", Some("Zoe")),
            ("Zoe Miller's daughter Ava phoned.", Some("Zoe Miller")),
            ("Ava is Zoe's sister.", None),
            ("Ava's aunt Zoe phoned.", None),
            ("Ben is Zoe's son.", None),
        ] {
            let found = relative.named_in(sentence).map(|(name, _)| name);
            assert_eq!(found.as_deref(), name, "{sentence}");
        }
        assert!(relative.is_of_its_sex("Zoe", ["Zoe can't swim, but she rows."].into_iter()));
        assert!(!relative.is_of_its_sex("Zoe", ["Zoe met Cleo, and she waved."].into_iter()));
        assert!(!relative.is_of_its_sex("Zoe", ["Zoe lost his key."].into_iter()));
        for question in [
            "Who is her mother?",
            "What did Ava and Ben give to her mother?",
            "Where is Ava's cat?",
        ] {
            assert_eq!(Relative::of(question), None, "{question}");
        }
    }
}
