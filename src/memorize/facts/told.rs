//! Facts out of what people say, of notes and of other sentences: all read alike, by the tree of their words.

use std::sync::Arc;

use jiff::tz::TimeZone;

use super::read::Text;
use super::stated::{Context, Stated};
use super::{here, people, things};
use crate::ids::EntityId;
use crate::language::Language;
use crate::language::text::head;
use crate::memorize::{Scene, Sentence};
use crate::memory::model::{Fact, Ground, MemoryKind, MemoryRow};
use crate::memory::natures::{exclude, is_single_valued};
use crate::memory::{View, who_placed};
use crate::time::{Span, Timestamp};

/// The attribute of names: speech and models have rules of their own for them.
const NAME: &str = "name";

/// Reads the facts that sentences state plainly: where things are, who and where somebody is, what they like.
#[derive(Clone, Debug)]
pub struct FactReader {
    language: Arc<Language>,
    zone: TimeZone,
}

impl FactReader {
    /// With the parser and the thesaurus; times are told in that zone.
    #[must_use]
    pub fn new(language: Arc<Language>, zone: TimeZone) -> Self {
        Self { language, zone }
    }

    /// Everything that a text states plainly, in order.
    pub(super) fn stated(&self, text: &str, at: Timestamp, context: &Context<'_>) -> Vec<Stated> {
        let text = Text::read(head(text), at, context, &self.language, &self.zone);
        let mut found: Vec<Stated> = Vec::new();
        for passage in text.passages() {
            for clause in passage.statements() {
                let mut more = things::whereabouts(&passage, clause);
                more.extend(people::said_of_people(&passage, clause));
                for one in more {
                    if !found.iter().any(|known| known.fact == one.fact && known.wish == one.wish) {
                        found.push(one);
                    }
                }
            }
        }
        found
    }

    /// What the clip's speakers stated.
    pub(in crate::memorize) fn of_utterances(&self, scene: &Scene<'_>) -> Vec<Sentence> {
        let mut sentences = Vec::new();
        for turn in &scene.percepts.turns {
            let Some(words) = &turn.words else { continue };
            if scene.identified.is_non_person(turn.id) {
                continue;
            }
            let speaker = scene.identified.person_of_turn(turn.id);
            let context = Context { view: scene.before, speaker };
            let words = scene.before.respelled(&words.text, &words.doubted());
            for one in unnamed(self.stated(&words, turn.span.start, &context)) {
                let grounds = vec![Ground::Turn(scene.percepts.clip, turn.id)];
                let mut sentence = one.sentence(turn.span, grounds);
                sentence.about.extend(speaker);
                sentences.push(sentence);
            }
        }
        sentences
    }

    /// Gives a note the fact that it states; gives back what it states besides.
    pub(in crate::memorize) fn of_note(&self, row: &mut MemoryRow, view: &View) -> Vec<Sentence> {
        let mut stated = newest(self.by_nobody(&row.text, row.span.start, view));
        row.fact = own(&mut stated);
        besides(stated, row)
    }

    /// What a sentence that is remembered states.
    pub(in crate::memorize) fn of_memory(&self, row: &MemoryRow, view: &View) -> Vec<Sentence> {
        besides(self.by_nobody(&row.text, row.span.start, view), row)
    }

    /// Gives a model's sentence without a slot the fact that it states; gives back what it states besides. What happened
    /// stays what happened: all that an episode states stands besides.
    pub(in crate::memorize) fn of_sentence(
        &self,
        sentence: &mut Sentence,
        view: &View,
    ) -> Vec<Sentence> {
        let mut stated = unnamed(self.by_nobody(&sentence.text, sentence.span.start, view));
        if sentence.kind == MemoryKind::Semantic {
            sentence.fact = own(&mut stated);
        }
        let one = |one: Stated| {
            let besides = one.sentence(sentence.span, sentence.grounds.clone());
            Sentence { confidence: sentence.confidence, ..besides }
        };
        stated.into_iter().map(one).collect()
    }

    /// The name of the place at which a text says that those who speak are. `overheard`: it was not meant for the robot, so
    /// only what is a room by its noun counts.
    pub(in crate::memorize) fn place_named(
        &self,
        text: &str,
        at: Timestamp,
        view: &View,
        overheard: bool,
    ) -> Option<String> {
        let context = Context { view, speaker: None };
        let text = Text::read(head(text), at, &context, &self.language, &self.zone);
        here::place_named(&text, overheard)
    }

    fn by_nobody(&self, text: &str, at: Timestamp, view: &View) -> Vec<Stated> {
        self.stated(text, at, &Context { view, speaker: None })
    }
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

fn besides(stated: Vec<Stated>, row: &MemoryRow) -> Vec<Sentence> {
    let one = |one: Stated| {
        let sentence = one.sentence(row.span, vec![Ground::Memory(row.id)]);
        Sentence { confidence: row.confidence, ..sentence }
    };
    stated.into_iter().map(one).collect()
}
