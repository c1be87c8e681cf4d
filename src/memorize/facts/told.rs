//! What people, notes and other sentences state plainly: one grammar for all of them.
//!
//! A text falls into clauses ([`super::phrase`]) that say where things are ([`super::things`]) or something of people
//! ([`super::people`]), in words that are data ([`super::words`]). "I" and "my" mean whoever speaks.

use std::cell::Cell;

use super::owned::LOCATION;
use super::phrase::Word;
use super::stated::{Context, Stated};
use super::{people, phrase, pronouns, things};
use crate::ids::EntityId;
use crate::memorize::{Scene, Sentence};
use crate::memory::model::{Fact, FactAction, Ground, MemoryKind, MemoryRow};
use crate::memory::natures::{exclude, is_single_valued};
use crate::memory::{View, who_placed};
use crate::mention;
use crate::time::Span;

/// The attribute of names: speech and models have rules of their own for them.
const NAME: &str = "name";
/// How a sentence tells the name of somebody whom it mentions.
const NAMING: [&str; 5] =
    ["'s name is ", "\u{2019}s name is ", " is called ", " is named ", "'s first name is "];

/// Everything that a text states plainly, in order.
pub(super) fn stated(text: &str, context: &Context<'_>) -> Vec<Stated> {
    stated_in(&phrase::clauses(text), context)
}

/// The same of a note, whose pronouns mean what it named before.
pub(super) fn stated_by_note(text: &str, context: &Context<'_>) -> Vec<Stated> {
    stated_in(&pronouns::resolved(text, phrase::clauses(text), context), context)
}

fn stated_in(clauses: &[Vec<Word>], context: &Context<'_>) -> Vec<Stated> {
    let mut found: Vec<Stated> = Vec::new();
    let mut quoted = false;
    // The clause before, or the part before an "and", tells where something is.
    let placed = Cell::new(false);
    for (at, words) in clauses.iter().enumerate() {
        // "Ben said, well, I live in Bonn": that "I" is not whoever speaks.
        let speaker = match clauses.get(at + 1).and_then(|next| phrase::said_by(next)) {
            Some(name) => context.person(&name),
            None => context.speaker.filter(|_| !quoted),
        };
        let context = Context { speaker, ..*context };
        let more = phrase::read_clause(words, |clause| {
            let mut found = things::whereabouts(clause, &context);
            found.extend(people::said_of_people(clause, &context));
            if found.is_empty() && placed.get() {
                found = things::gapped(clause, &context);
            }
            placed.set(placed.get() && found.is_empty() || found.iter().any(is_placed));
            found
        });
        placed.set(placed.get() && !more.is_empty());
        quoted = phrase::quotes_another(words) || (quoted && words.len() == 1);
        for one in more {
            if !found.iter().any(|earlier| earlier.fact == one.fact && earlier.wish == one.wish) {
                found.push(one);
            }
        }
    }
    found
}

/// Whether it says where a thing is.
fn is_placed(one: &Stated) -> bool {
    one.wish != Some(FactAction::Retire) && one.fact.attribute == LOCATION
}

/// Of what cannot be so at once, the later: a note is one moment.
fn newest(stated: Vec<Stated>) -> Vec<Stated> {
    let mut found: Vec<Stated> = Vec::new();
    for one in stated {
        let (fact, holds) = (one.fact.clone(), one.wish.is_none());
        let same = |other: &Fact| {
            other.subject == fact.subject
                && other.attribute == fact.attribute
                && is_single_valued(&fact.attribute)
        };
        found.retain(|earlier| !holds || !(exclude(&earlier.fact, &fact) || same(&earlier.fact)));
        found.push(one);
    }
    found
}

impl Stated {
    /// As a sentence of its own.
    fn sentence(self, span: Span, grounds: Vec<Ground>) -> Sentence {
        let mut sentence = Sentence::new(MemoryKind::Semantic, self.text, span, grounds);
        sentence.about.extend(self.fact.subject.parse::<EntityId>().ok());
        (sentence.importance, sentence.confidence) = (0.6, 0.7);
        (sentence.fact, sentence.wish) = (Some(self.fact), self.wish);
        sentence
    }
}

/// What the clip's speakers stated.
pub(in crate::memorize) fn of_utterances(scene: &Scene<'_>) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for turn in &scene.percepts.turns {
        let Some(words) = &turn.words else { continue };
        if scene.identified.is_non_person(turn.id) {
            continue;
        }
        let speaker = scene.identified.person_of_turn(turn.id);
        let context = Context { view: scene.before, speaker };
        let words = scene.before.respelled(&words.text, &words.doubted());
        for one in unnamed(stated(&words, &context)) {
            let grounds = vec![Ground::Turn(scene.percepts.clip, turn.id)];
            let mut sentence = one.sentence(turn.span, grounds);
            sentence.about.extend(speaker);
            sentences.push(sentence);
        }
    }
    sentences
}

fn unnamed(mut stated: Vec<Stated>) -> Vec<Stated> {
    stated.retain(|one| one.fact.attribute != NAME);
    stated
}

/// Takes out the first statement that the sentence itself can bear. Who put a thing somewhere is told by a sentence of its
/// own, as is what is over.
fn own(stated: &mut Vec<Stated>) -> Option<Fact> {
    let bears = |one: &Stated| one.wish.is_none() && who_placed(&one.text).is_none();
    let at = stated.iter().position(bears)?;
    Some(stated.remove(at).fact)
}

/// Gives a note the fact that it states; gives back what it states besides.
pub(in crate::memorize) fn of_note(row: &mut MemoryRow, view: &View) -> Vec<Sentence> {
    let mut stated = newest(stated_by_note(&row.text, &Context { view, speaker: None }));
    row.fact = own(&mut stated);
    besides(stated, row)
}

/// What a sentence that is remembered states.
pub(in crate::memorize) fn of_memory(row: &MemoryRow, view: &View) -> Vec<Sentence> {
    besides(stated(&row.text, &Context { view, speaker: None }), row)
}

fn besides(stated: Vec<Stated>, row: &MemoryRow) -> Vec<Sentence> {
    let one = |one: Stated| {
        let sentence = one.sentence(row.span, vec![Ground::Memory(row.id)]);
        Sentence { confidence: row.confidence, ..sentence }
    };
    stated.into_iter().map(one).collect()
}

/// Gives a model's sentence without a slot the fact that it states; gives back what it states besides. What happened
/// stays what happened: all that an episode states stands besides.
pub(in crate::memorize) fn of_sentence(sentence: &mut Sentence, view: &View) -> Vec<Sentence> {
    let mut stated = unnamed(stated(&sentence.text, &Context { view, speaker: None }));
    if sentence.kind == MemoryKind::Semantic {
        sentence.fact = own(&mut stated);
    }
    let one = |one: Stated| {
        let besides = one.sentence(sentence.span, sentence.grounds.clone());
        Sentence { confidence: sentence.confidence, ..besides }
    };
    stated.into_iter().map(one).collect()
}

/// Whom a plain sentence names: "<face_1>'s name is Lucy."
pub(in crate::memorize) fn naming(text: &str) -> Option<(EntityId, String)> {
    if phrase::clauses(text).is_empty() {
        return None;
    }
    mention::spelled(text).into_iter().find_map(|one| {
        let rest = &text[one.range.end..];
        let rest = NAMING.iter().find_map(|words| rest.strip_prefix(*words))?;
        let words = rest.split_whitespace();
        let name: Vec<&str> = words.take_while(|word| phrase::is_capital(word)).take(3).collect();
        let name = name.join(" ");
        let name = name.split([',', '.', ';', '!', '(']).next()?.trim();
        (!name.is_empty()).then(|| Some((one.id?, name.to_owned())))?
    })
}
