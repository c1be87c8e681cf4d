//! Enrolment: the user shows a face or plays a voice and says whose it is.
//!
//! What is like a known face or voice teaches its gallery; what is not becomes a new one. Either way it is decreed:
//! evidence does not overrule it.

use super::matching::gallery::Probe;
use super::resolver::Resolver;
use super::writer::IdentityWriter;
use crate::ids::{EntityId, EntityKind};
use crate::memory::model::{Exemplar, Media, Merge, NameRow, NameSource};
use crate::names::are_same;
use crate::time::Timestamp;

/// What is written as the reason of an enrolled face or voice.
const REASON: &str = "enrolled by the user";
/// The same where somebody who was told of is met.
const MET: &str = "told of before they were met, and called the same";
/// Whose voices are nobody's.
const ROBOTS: &str = "the robot's own (`self`)";
const MEDIAS: &str = "that of a television or a radio (`media`)";

/// Whom an enrolment is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enrolled<'a> {
    /// The robot itself: its own voice.
    Robot,
    /// Nobody: a television's voice, a radio's.
    Media,
    /// A person who is known already (a face or voice stands for its person).
    Known(EntityId),
    /// Whoever is called so, else whoever it looks or sounds like, else somebody new.
    Named(&'a str),
}

/// A sample of a face or voice with its file; `entity` and `slot` are filled in here.
pub type Lesson = (Exemplar, Media);

/// What became of an enrolment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enrolment {
    /// `person_N`, or `self`; `None`: it is nobody's.
    pub person: Option<EntityId>,
    /// The face that learned.
    pub face: Option<EntityId>,
    /// The voice that learned.
    pub voice: Option<EntityId>,
    /// Nobody knew the person before.
    pub fresh: bool,
}

/// Why an enrolment was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnrolError {
    /// It is like somebody else, who has another name.
    #[error(
        "this {what} is that of {name} ({other}); if both are one person, say `engramd people merge`, else take a better sample"
    )]
    SomebodyElse {
        /// `face` or `voice`.
        what: &'static str,
        /// Their name.
        name: String,
        /// Their id.
        other: EntityId,
    },
    /// A person's voice was to become the robot's, or a television's.
    #[error(
        "this voice is that of {other}, who has a face or a name; if it is {whose}, say first `engramd people split {voice}`"
    )]
    Somebodys {
        /// The person.
        other: EntityId,
        /// The voice.
        voice: EntityId,
        /// Whose it was to become.
        whose: &'static str,
    },
    /// It is the robot's voice, or a television's.
    #[error(
        "this {what} is {whose}; if it is not, say first `engramd people split {part}`, else take a sample of the person alone"
    )]
    Nobodys {
        /// `face` or `voice`.
        what: &'static str,
        /// Whose it is.
        whose: &'static str,
        /// The face or voice.
        part: EntityId,
    },
    /// Several persons have the name.
    #[error("{name:?} may be {ids}; say which by its id")]
    Ambiguous {
        /// The name.
        name: String,
        /// Who has it.
        ids: String,
    },
}

impl Resolver {
    /// Takes in samples of one face and of one voice (either may be empty) and gives them to one person.
    ///
    /// # Errors
    /// [`EnrolError`]; nothing is written then.
    pub fn enrol(
        &mut self,
        faces: Vec<Lesson>,
        voices: Vec<Lesson>,
        who: Enrolled<'_>,
        at: Timestamp,
        writer: &mut dyn IdentityWriter,
    ) -> Result<Enrolment, EnrolError> {
        let face = self.known_part(EntityKind::Face, &faces);
        let voice = self.known_part(EntityKind::Voice, &voices);
        let target = self.whom(who, face, voice)?;
        if who == Enrolled::Media {
            let part = voice.unwrap_or_else(|| writer.mint(EntityKind::Voice));
            self.decree_media(&[part], writer);
            self.teach(part, voices, writer);
            let (fresh, voice) = (voice.is_none(), Some(part));
            return Ok(Enrolment { fresh, voice, ..Enrolment::default() });
        }
        let (person, fresh) = match target {
            Some(person) => (person, false),
            None => (writer.mint(EntityKind::Person), true),
        };
        let mut done = Enrolment { person: Some(person), fresh, ..Enrolment::default() };
        for (kind, known, lessons) in
            [(EntityKind::Face, face, faces), (EntityKind::Voice, voice, voices)]
        {
            if lessons.is_empty() {
                continue;
            }
            let part = known.unwrap_or_else(|| writer.mint(kind));
            self.give(part, person, writer);
            self.teach(part, lessons, writer);
            *(if kind == EntityKind::Face { &mut done.face } else { &mut done.voice }) = Some(part);
        }
        if let Enrolled::Named(name) = who
            && self
                .persons
                .name(person)
                .is_none_or(|(known, source)| source != NameSource::Told || !are_same(known, name))
        {
            let (name, source) = (name.to_owned(), NameSource::Told);
            let row = NameRow { entity: person, name, since: at, source, turn: None };
            self.persons.name_it(row, writer);
        }
        Ok(done)
    }

    /// Somebody of whom is told: whoever is called so, else somebody new of whom only the name is known. Who is called so
    /// later ([`Self::enrol`], [`Self::override_name`], [`Self::hear_name`]) is taken for them.
    pub fn tell_of(
        &mut self,
        name: &str,
        at: Timestamp,
        writer: &mut dyn IdentityWriter,
    ) -> EntityId {
        if let Some(known) = self.persons.called(name).first() {
            return *known;
        }
        let entity = writer.mint(EntityKind::Person);
        let (name, source) = (name.to_owned(), NameSource::Told);
        self.persons.name_it(NameRow { entity, name, since: at, source, turn: None }, writer);
        entity
    }

    /// Whoever has that name now is the one of whom was told by it before they were met; the older id stays. Gives it back.
    pub(super) fn meet(
        &mut self,
        person: EntityId,
        name: &str,
        decreed: bool,
        writer: &mut dyn IdentityWriter,
    ) -> EntityId {
        let person = self.persons.resolve(person);
        let unmet = self.persons.unmet(name, person);
        match unmet.filter(|unmet| self.persons.may_merge(person, *unmet)) {
            Some(unmet) => {
                let (into, from) = (person.min(unmet), person.max(unmet));
                let reason = MET.to_owned();
                self.persons.merge(Merge { from, into, reason, decreed }, writer);
                into
            }
            None => person,
        }
    }

    /// The user says that these voices are no person's: a television, a radio. It sticks.
    pub fn decree_media(&mut self, voices: &[EntityId], writer: &mut dyn IdentityWriter) {
        for voice in voices {
            let head = self.persons.resolve(*voice);
            self.decree_all(head, head, "the user said that it is media", writer);
        }
    }

    /// The user says that these voices are the robot's own. It sticks.
    pub fn decree_own(&mut self, voices: &[EntityId], writer: &mut dyn IdentityWriter) {
        for voice in voices {
            let head = self.persons.resolve(*voice);
            self.decree_all(head, EntityId::ROBOT, "the user said that it is the robot's", writer);
        }
    }

    /// A face or voice, with all that was merged into it, belongs to that one from now on.
    fn decree_all(
        &mut self,
        head: EntityId,
        owner: EntityId,
        reason: &str,
        writer: &mut dyn IdentityWriter,
    ) {
        for part in self.group_of(head) {
            self.persons.decree(part, owner, reason.to_owned(), writer);
        }
    }

    /// A face or voice learns from samples.
    fn teach(&mut self, part: EntityId, lessons: Vec<Lesson>, writer: &mut dyn IdentityWriter) {
        let own = |(exemplar, media): Lesson| (Exemplar { entity: part, ..exemplar }, Some(media));
        self.learn(lessons.into_iter().map(own).collect(), writer);
    }

    /// A face or voice with all that was merged into it.
    fn group_of(&self, head: EntityId) -> Vec<EntityId> {
        let group = self.persons.group_of(head);
        if group.is_empty() { vec![head] } else { group }
    }

    /// The known face or voice that all the samples together clearly are.
    fn known_part(&self, kind: EntityKind, lessons: &[Lesson]) -> Option<EntityId> {
        let thresholds = self.thresholds(kind);
        let vectors = lessons.iter().map(|(e, _)| (e.embedding.clone(), e.weight)).collect();
        self.nearest(kind, &Probe::new(vectors), &thresholds).map(|(part, _)| part)
    }

    /// Who it is about; `None`: somebody new.
    fn whom(
        &self,
        who: Enrolled<'_>,
        face: Option<EntityId>,
        voice: Option<EntityId>,
    ) -> Result<Option<EntityId>, EnrolError> {
        let owner = |part: Option<EntityId>| part.and_then(|part| self.persons.person_of(part));
        let told =
            |person| self.persons.name(person).filter(|(_, source)| *source == NameSource::Told);
        let robots = who == Enrolled::Robot;
        if robots || who == Enrolled::Media {
            if let (Some(voice), Some(other)) = (voice, owner(voice)) {
                let named = told(other).is_some();
                self.may_be_nobodys(voice, other, named, robots)?;
            }
            return Ok(robots.then_some(EntityId::ROBOT));
        }
        let target = match who {
            Enrolled::Known(id) => {
                Some(self.persons.person_of(id).unwrap_or(self.persons.resolve(id)))
            }
            Enrolled::Named(name) => match self.persons.called(name).as_slice() {
                [] => None,
                [one] => Some(*one),
                several => {
                    let ids: Vec<String> = several.iter().map(ToString::to_string).collect();
                    let (name, ids) = (name.to_owned(), ids.join(" or "));
                    return Err(EnrolError::Ambiguous { name, ids });
                }
            },
            Enrolled::Robot | Enrolled::Media => None,
        };
        let wanted = match who {
            Enrolled::Named(name) => Some(name.to_owned()),
            _ => target.and_then(told).map(|(name, _)| name.to_owned()),
        };
        let mut found = target;
        for (what, part) in [("face", face), ("voice", voice)] {
            let Some(other) = owner(part).filter(|other| Some(*other) != target) else { continue };
            // The robot's voice and the television's are nobody's; a stranger's are free to be named.
            let theirs = told(other).map(|(name, _)| name.to_owned());
            let same = match (&theirs, &wanted) {
                (None, _) => true,
                (Some(theirs), Some(wanted)) => are_same(theirs, wanted),
                (Some(_), None) => false,
            };
            if let Some(part) = part.filter(|_| other.kind != EntityKind::Person) {
                let whose = if other == EntityId::ROBOT { ROBOTS } else { MEDIAS };
                return Err(EnrolError::Nobodys { what, whose, part });
            }
            if !same {
                let name = theirs.unwrap_or_else(|| other.to_string());
                return Err(EnrolError::SomebodyElse { what, name, other });
            }
            found = found.or(Some(other));
        }
        Ok(found)
    }

    /// Whether the voice of `other` may become the robot's, or else a television's.
    fn may_be_nobodys(
        &self,
        voice: EntityId,
        other: EntityId,
        named: bool,
        robots: bool,
    ) -> Result<(), EnrolError> {
        let known = named || !self.persons.parts(other, EntityKind::Face).is_empty();
        if other.kind == EntityKind::Person && known {
            let whose = if robots { ROBOTS } else { MEDIAS };
            return Err(EnrolError::Somebodys { other, voice, whose });
        }
        if other == EntityId::ROBOT && !robots {
            return Err(EnrolError::Nobodys { what: "voice", whose: ROBOTS, part: voice });
        }
        Ok(())
    }

    /// The part belongs to the person from now on; another person whose it was is the same one then.
    fn give(&mut self, part: EntityId, person: EntityId, writer: &mut dyn IdentityWriter) {
        let owner = self.persons.person_of(part);
        if let Some(other) = owner.filter(|other| *other != person)
            && other.kind == EntityKind::Person
            && person.kind == EntityKind::Person
        {
            let (from, into, reason) = (other, person, REASON.to_owned());
            self.persons.merge(Merge { from, into, reason, decreed: true }, writer);
        }
        self.decree_all(part, person, REASON, writer);
    }
}
