//! Names in what is said: whose they are, and who was asked for one.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{Introduced, asks_for_name, introduced};
use crate::identify::identified::IdentifiedClip;
use crate::identify::pending::Asked;
use crate::identify::resolver::Resolver;
use crate::identify::writer::IdentityWriter;
use crate::ids::{ClipId, EntityId, EntityKind, TurnId};
use crate::memory::model::{NameRow, NameSource};
use crate::names::sound_alike;
use crate::percept::{ClipPercepts, SpeechTurn};
use crate::time::Timestamp;

/// A reply ends at most so long after the question that it answers, seconds.
const REPLY_SECS: f64 = 15.0;

impl Resolver {
    /// Names that are given in the turns of a clip, which are in time order: to their speakers, and to somebody who stands
    /// beside them ("this is my brother Ben") where only one unnamed person is there.
    pub(in crate::identify) fn hear_names(
        &mut self,
        (clip, turns): (&ClipPercepts, &[&SpeechTurn]),
        voice_of: &BTreeMap<TurnId, EntityId>,
        out: &mut IdentifiedClip,
        writer: &mut dyn IdentityWriter,
    ) {
        for turn in turns {
            let Some(words) = &turn.words else { continue };
            let at = (turn.span.end, clip.clip, turn.id);
            let voice = voice_of.get(&turn.id).copied();
            let Some(speaker) = voice.filter(|_| !out.is_non_person(turn.id)) else {
                // (The robot may ask, too.)
                self.hear_question(&words.text, voice, turn.span.end);
                continue;
            };
            let present = self.beside(speaker, out);
            let named = self.hear_introduction(&words.text, speaker, present, at, writer);
            out.names.extend(named);
        }
    }

    /// The name that a voice gives itself in the words of a turn, unless its person is known by it already.
    pub fn hear_name(
        &mut self,
        text: &str,
        voice: EntityId,
        at: (Timestamp, ClipId, TurnId),
        writer: &mut dyn IdentityWriter,
    ) -> Option<NameRow> {
        self.hear_introduction(text, voice, None, at, writer)
    }

    /// Takes note that somebody is asked for a name in words of a turn that give none.
    pub fn hear_question(&mut self, text: &str, voice: Option<EntityId>, at: Timestamp) {
        if asks_for_name(text) {
            self.undecided.asked = Some(Asked { at, by: voice });
        }
    }

    /// As [`Self::hear_name`]; `present`: the one who may be introduced.
    fn hear_introduction(
        &mut self,
        text: &str,
        voice: EntityId,
        present: Option<EntityId>,
        (at, clip, turn): (Timestamp, ClipId, TurnId),
        writer: &mut dyn IdentityWriter,
    ) -> Option<NameRow> {
        let asked = self.undecided.asked.filter(|asked| {
            asked.by != Some(voice) && asked.at <= at && at <= asked.at.plus_secs(REPLY_SECS)
        });
        let is_known = |word: &str| !self.persons.called(word).is_empty();
        let given = introduced(text, asked.is_some(), &is_known);
        if given.is_some() && asked.is_some() {
            self.undecided.asked = None;
        }
        self.hear_question(text, Some(voice), at);
        // (Of whom else a voice speaks is no evidence of whose that voice is: concluded, not said.)
        let (person, name, source) = match given? {
            Introduced::Speaker(name) => (self.persons.person_of(voice)?, name, NameSource::Said),
            Introduced::Other(name) => (present?, name, NameSource::Model),
        };
        // However it is spelt by whoever wrote it down.
        let known = self.persons.name(person);
        if known.is_some_and(|(known, _)| sound_alike(known, &name)) {
            return None;
        }
        let turn = Some((clip.session, turn));
        let row = NameRow { entity: person, name, since: at, source, turn };
        if !self.persons.introduce(voice, row.clone(), writer) {
            return None;
        }
        self.meet(person, &row.name, false, writer);
        Some(row)
    }

    /// The only other person in a clip but for the one whose voice that is, while without a name.
    fn beside(&self, voice: EntityId, out: &IdentifiedClip) -> Option<EntityId> {
        let speaker = self.persons.person_of(voice);
        let seen = out.tracks.iter().filter_map(|track| track.person);
        let heard = out.turns.iter().filter_map(|turn| turn.person);
        let there: BTreeSet<EntityId> = seen
            .chain(heard)
            .map(|id| self.persons.resolve(id))
            .filter(|id| id.kind == EntityKind::Person && Some(*id) != speaker)
            .collect();
        let mut there = there.into_iter();
        there.next().filter(|one| there.next().is_none() && self.persons.name(*one).is_none())
    }
}
