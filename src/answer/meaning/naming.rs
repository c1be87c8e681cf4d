//! What names things and animals have: "the cat is called Muskat", "Ava's boat, the Petrel".

use compact_str::CompactString;

use crate::language::clause::{Clause, Role, Tree};
use crate::language::thesaurus::field;

use crate::language::lexicon::Lexicon;
use crate::language::text::{Reader, Sentence};

/// A noun and the name of what it stands for.
#[derive(Clone, Debug)]
pub(super) struct Naming {
    pub(super) sentence: usize,
    /// The lemma, no person's.
    pub(super) noun: CompactString,
    /// In lower case.
    pub(super) name: CompactString,
}

/// The namings of a text's sentences.
pub(super) fn namings_of(reader: &Reader<'_>, sentences: &[Sentence]) -> Vec<Naming> {
    let mut out = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        for (noun, name) in pairs(reader, sentence) {
            let is_person = reader.language.thesaurus.is_of(&noun, field::PERSON);
            if !is_person && noun != name {
                out.push(Naming { sentence: at, noun, name });
            }
        }
    }
    out
}

fn pairs(reader: &Reader<'_>, sentence: &Sentence) -> Vec<(CompactString, CompactString)> {
    let words = &sentence.words;
    let tree = Tree::new(words);
    let is_name = |at: usize| words[at].tag.starts_with("NNP") && reader.is_name(&words[at].lemma);
    let is_noun = |at: usize| words[at].tag == "NN" && !is_name(at);
    let mut out = Vec::new();
    let mut take = |one: usize, other: usize| {
        let (noun, name) = if is_name(one) { (other, one) } else { (one, other) };
        if is_noun(noun) && is_name(name) {
            out.push((words[noun].lemma.clone(), words[name].lemma.clone()));
        }
    };
    for clause in &sentence.clauses {
        if let Some((one, other)) = called(clause, sentence) {
            take(one, other);
        }
    }
    for at in 0..words.len() {
        for beside in tree.of(at, &["appos"]) {
            take(at, beside);
        }
        // "Ava's cat Muskat"
        let next = at + 1;
        if next < words.len() && is_noun(at) && is_name(next) && words[next].label != "poss" {
            let together = words[at].head == next
                || words[at].head == words[next].head && words[at].label == words[next].label;
            if together {
                take(at, next);
            }
        }
    }
    out
}

/// The two that a clause says to be one: "is called", "is a".
fn called(clause: &Clause, sentence: &Sentence) -> Option<(usize, usize)> {
    let mut objects = clause.all(&Role::Object);
    let first = objects.next()?;
    let agent = clause.all(&Role::Agent).next();
    if Lexicon::english().is("naming", sentence.verb(clause)) && clause.passive {
        return objects.next().or(agent).map(|other| (first, other));
    }
    let (name, noun) = (agent?, first);
    let is_named = sentence.words[name].tag.starts_with("NNP");
    (clause.predicate == "be" && !clause.negated && is_named).then_some((name, noun))
}
