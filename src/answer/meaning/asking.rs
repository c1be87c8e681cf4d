//! What kind of thing a question wants to know, by its question word and the words around that.

use crate::language::Language;
use crate::language::clause::Role;
use crate::language::parse::Word;
use crate::language::thesaurus::{Part, field};

use crate::language::lexicon::Lexicon;

/// What a question wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::answer) enum Kind {
    Person,
    Whose,
    Place,
    Time,
    Duration,
    Frequency,
    Count,
    Amount,
    Reason,
    Manner,
    /// "what"
    Thing,
    /// "which drawer", "what colour"
    Which,
    Whether,
    /// "before or after"
    Choice,
}

/// What the question word and the words around it ask for.
pub(in crate::answer) struct Asking {
    pub(in crate::answer) kind: Kind,
    pub(in crate::answer) asked: Option<usize>,
    pub(in crate::answer) hole: Option<Role>,
    /// The word, here.
    pub(in crate::answer) noun: Option<usize>,
}

impl Asking {
    pub(in crate::answer) fn of(
        language: &Language,
        words: &[Word],
        (word, noun): (usize, Option<usize>),
        role: Role,
    ) -> Self {
        let lexicon = Lexicon::english();
        let lower = |at: usize| {
            words.get(at).map_or_else(String::new, |word| word.form.as_str().to_lowercase())
        };
        let asked = lower(word);
        let noun = noun.or_else(|| noun_behind(words, word, &asked));
        let noun = noun.map(|noun| sort_of(words, noun));
        let lemma = noun.map_or("", |at| words[at].lemma.as_str());
        let thesaurus = &language.thesaurus;
        let kind = match (asked.as_str(), lower(word + 1).as_str()) {
            ("who" | "whom", _) => Kind::Person,
            ("whose", _) => Kind::Whose,
            ("where", _) => Kind::Place,
            ("when", _) => Kind::Time,
            ("why", _) | ("how", "come") => Kind::Reason,
            ("what", _) if words.iter().any(|word| word.lemma == "reason") => Kind::Reason,
            ("how", "long") => Kind::Duration,
            ("how", "often" | "frequently") => Kind::Frequency,
            ("how", "many") if lower(word + 2) == "times" => Kind::Frequency,
            ("how", "many") if lexicon.is("units", lemma) => Kind::Duration,
            ("how", "many")
                if thesaurus
                    .fields(lemma, Part::Noun)
                    .iter()
                    .take(4)
                    .any(|of| matches!(*of, field::ACT | field::EVENT))
                    && thesaurus.near(lemma, Part::Noun).iter().any(|((word, part), _)| {
                        *part == Part::Verb && word.starts_with(lemma)
                    }) =>
            {
                Kind::Frequency
            }
            ("how", "many") => Kind::Count,
            ("how", _) if words.get(word + 1).is_some_and(|next| next.tag.starts_with("JJ")) => {
                Kind::Amount
            }
            ("how", "much" | "old" | "far" | "tall" | "big" | "heavy" | "high") => Kind::Amount,
            ("how", _) => Kind::Manner,
            _ if lexicon.is("times", lemma) => Kind::Time,
            _ if noun.is_some() => Kind::Which,
            _ => Kind::Thing,
        };
        Self { kind, asked: Some(word), hole: Some(role), noun }
    }

    /// Whether the word behind the question word belongs to it: "how long".
    pub(super) fn measures(&self) -> bool {
        matches!(self.kind, Kind::Duration | Kind::Frequency | Kind::Amount | Kind::Count)
    }
}

/// "what kind of boat": the boat.
fn sort_of(words: &[Word], noun: usize) -> usize {
    let of = |at: &usize| words[*at].lemma == "of" && words[*at].head == noun;
    let inner = (noun + 1..words.len()).find(of).and_then(|of| {
        (of + 1..words.len()).find(|&at| words[at].head == of && words[at].label == "pobj")
    });
    match Lexicon::english().is("sorts", &words[noun].lemma) {
        true => inner.unwrap_or(noun),
        false => noun,
    }
}

/// "What colour is …": the noun right behind the question word.
fn noun_behind(words: &[Word], word: usize, asked: &str) -> Option<usize> {
    if !matches!(asked, "what" | "which") {
        return None;
    }
    let end = words.len().min(word + 4);
    let noun =
        (word + 1..end).find(|&at| words[at].tag.starts_with("NN") && words[at].label != "poss")?;
    let between = &words[word + 1..noun];
    let close = |word: &Word| {
        matches!(word.tag.as_str(), "JJ" | "NN" | "DT" | "IN" | "JJR" | "JJS" | "POS")
            || word.label == "poss"
    };
    between.iter().all(close).then_some(noun)
}
