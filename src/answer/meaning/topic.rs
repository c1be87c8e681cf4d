//! Questions that name first what they ask about: "The torque wrench, where is it?"

use std::collections::BTreeSet;

use crate::language::lexicon::Lexicon;
use crate::language::parse::Word;

use super::Meaning;
use super::wording::capitalised;

/// What stands between what is asked about and the question.
const MARKS: [char; 5] = [',', ':', '\u{2013}', '\u{2014}', ';'];

impl Meaning {
    /// The question with what it names first in place of the pronoun that means it; `None`: it is none of these. `people`:
    /// names that are known, in lower case.
    #[must_use]
    pub fn with_topic_inside(&self, question: &str, people: &BTreeSet<String>) -> Option<String> {
        let lexicon = Lexicon::english();
        let (topic, rest) = question.split_once(MARKS)?;
        let (topic, rest) = (topic.trim(), rest.trim_start());
        let first = rest.split(|c: char| !c.is_alphabetic()).next()?.to_lowercase();
        if !lexicon.is("asking", &first) || rest.contains(MARKS) {
            return None;
        }
        let mut names = super::names_in([question].into_iter(), &self.language);
        names.extend(people.iter().cloned());
        let parse = |text: &str| self.language.parse(text, &|name| names.contains(name));
        let named = parse(topic);
        let is_noun = |word: &Word| word.tag.starts_with("NN");
        let root = named.iter().enumerate().find(|(at, word)| word.head == *at)?.1;
        // "Robot, where is it?" calls somebody.
        let is_called = named.len() == 1 && !names.contains(root.lemma.as_str());
        let is_phrase = is_noun(root) && !is_called && !named.iter().any(Word::is_verb);
        let is_time = self.language.is_of_calendar(&root.lemma);
        let words = parse(rest);
        let points = |word: &&Word| {
            let whole = matches!(word.label.as_str(), "nsubj" | "nsubjpass" | "dobj" | "pobj");
            let pronoun = ["he", "she", "things"].iter().any(|list| lexicon.is(list, &word.lemma));
            whole && (pronoun || lexicon.is("pointing", &word.lemma))
        };
        let mut pointing = words.iter().filter(points);
        let pronoun = pointing.next().filter(|_| is_phrase && !is_time)?;
        let alone = pointing.next().is_none() && !words.iter().any(is_noun_of(&names));
        let first = topic.chars().next()?;
        let topic = match matches!(named.first()?.tag.as_str(), "DT" | "PRP$") {
            true => first.to_lowercase().chain(topic.chars().skip(1)).collect(),
            false => topic.to_owned(),
        };
        let span = pronoun.span.clone();
        alone.then(|| capitalised(&format!("{}{topic}{}", &rest[..span.start], &rest[span.end..])))
    }
}

/// Whether a word is a name, which a pronoun behind it may mean.
fn is_noun_of(names: &BTreeSet<String>) -> impl Fn(&Word) -> bool + '_ {
    |word| names.contains(word.lemma.as_str()) && word.tag.starts_with("NNP")
}
