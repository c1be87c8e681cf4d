//! What changes the memory at somebody's word: remember, forget, name.

use serde_json::json;

use super::{MemoryService, told};
use crate::daemon::assemble::resolver;
use crate::daemon::enrol;
use crate::daemon::overrule::overrule;
use crate::daemon::queries::{find, name_of};
use crate::identify::{Enrolled, Undecided};
use crate::ids::{EntityId, EntityKind, MemoryId};
use crate::memorize::model::{Spool, spool_dir};
use crate::memorize::thing_called;
use crate::memory::model::{Fact, MemoryKind, NameRow, NameSource};
use crate::memory::{self, View};
use crate::mention;
use crate::mqtt::message::{Forget, Name, People, Remember, Triple};
use crate::mqtt::{Refusal, Reply};
use crate::time::{Span, Timestamp};

/// The name of voices that are no person's.
const MEDIA: &str = "media";

impl MemoryService {
    pub(super) fn remember(&self, remember: Remember) -> Result<Reply, Refusal> {
        let Remember { text, fact, start, end, entities, pinned, .. } = remember;
        let view = self.view();
        let fact = fact.map(|triple| slot(&view, &triple)).transpose()?;
        let text = text.or_else(|| fact.as_ref().map(worded)).unwrap_or_default();
        let mut about: Vec<EntityId> =
            entities.iter().map(|word| find(&view, word)).collect::<Result<_, _>>()?;
        about.extend(view.named_in(&text));
        let mentioned = mention::mentions(&text).into_iter().map(|one| one.entity);
        about.extend(mentioned.filter(|id| view.knows(*id)));
        let start = start.unwrap_or_else(|| self.now());
        let mut row = told(MemoryKind::Note, text, Span::new(start, end.unwrap_or(start)), about);
        (row.pinned, row.fact) = (pinned, fact);
        let row = self.note(row)?;
        Ok(Reply::Document(json!({ "memory": row.id, "entities": row.entities })))
    }

    pub(super) fn forget(&self, forget: &Forget) -> Result<Reply, Refusal> {
        let view = self.view();
        let what = target(&view, forget)?;
        drop(view);
        let erased = self.erase(std::slice::from_ref(&what), self.now())?;
        Ok(Reply::Document(json!({
            "rows": erased.rows,
            "files": erased.files,
            "rewritten": erased.rewritten,
        })))
    }

    /// Erases for good, in the store and wherever else it stands; what waits for the broker is for the caller.
    pub(super) fn erase(
        &self,
        what: &[memory::Forget],
        at: Timestamp,
    ) -> Result<memory::Erased, Refusal> {
        // Killed from here on, the next daemon takes what waits for the broker away.
        self.announcer.erasing();
        let erased = self.erase_here(what, at);
        // A disk that failed may have failed after the rows were gone.
        if erased.as_ref().is_err_and(|refusal| refusal.is_askers_fault()) {
            self.announcer.erased_nothing();
        }
        erased
    }

    fn erase_here(
        &self,
        what: &[memory::Forget],
        at: Timestamp,
    ) -> Result<memory::Erased, Refusal> {
        let mut who = self.resolver()?;
        // An answer that waits to be written may speak of what is to be erased.
        self.flush();
        let memory = &self.knowledge.memory;
        what.iter().for_each(|what| self.forget_spooled(what));
        let erased = memory.forget_all(what, at).map_err(|error| self.failed(&error))?;
        let rows_alone = |what: &memory::Forget| {
            matches!(what, memory::Forget::Memory(_) | memory::Forget::Aged(..))
        };
        if !what.iter().all(rows_alone) {
            // Galleries and names in RAM go, too; so do percepts that were to be decided later.
            let session = self.session.load();
            let undecided = Undecided::default();
            *who = resolver(&session.config, memory, &session.perceivers, undecided);
        }
        // The open window's pictures are not kept by who is in them.
        memory.present().forget_frames();
        self.announcer.erased();
        let memorizer = self.session.load().memorizer.clone();
        memorizer.embed_rewritten(memory).map_err(|error| self.failed(&error))?;
        drop(who);
        Ok(erased)
    }

    /// Clips that wait for a memorizing model must not bring back what is erased.
    fn forget_spooled(&self, what: &memory::Forget) {
        let dir = spool_dir(self.knowledge.memory.dir());
        let mut spool = self.session.load().spool.clone();
        if spool.is_none() && dir.is_dir() {
            // No model memorizes any more, and clips of that time are still there.
            spool = match Spool::open(&dir, u64::MAX, self.knowledge.memory.options().key.as_ref())
            {
                Ok(spool) => Some(spool),
                Err(error) => {
                    tracing::warn!(%error, dir = %dir.display(), "The spool cannot be searched for what is to be forgotten; delete the folder.");
                    None
                }
            };
        }
        let Some(spool) = spool else { return };
        let view = self.view();
        match what {
            memory::Forget::Entity(id) => {
                let who = view.resolve(*id);
                let names: Vec<String> =
                    view.names(who).iter().map(|row| row.name.to_lowercase()).collect();
                let speaks_of = |words: &str| {
                    let words = words.to_lowercase();
                    names.iter().any(|name| words.contains(name))
                };
                spool.erase(|clip| {
                    clip.given().iter().any(|id| view.resolve(*id) == who)
                        || clip.turns.iter().any(|turn| speaks_of(&turn.words))
                });
            }
            memory::Forget::Span(span) => {
                spool.erase(|clip| clip.span.start < span.end && span.start < clip.span.end);
            }
            memory::Forget::Aged(_, before) => {
                spool.erase(|clip| clip.span.end < *before);
            }
            memory::Forget::Memory(id) => {
                let of = view.memory(*id).and_then(|row| row.clip);
                spool.erase(|clip| Some(clip.clip) == of);
            }
        }
    }

    pub(super) fn name(&self, name: &Name) -> Result<Reply, Refusal> {
        if name.photo.is_some() || name.voice.is_some() {
            return self.enrol(name);
        }
        let (Some(entity), Some(called)) = (&name.entity, &name.name) else {
            return Err(Refusal::bad_request("give `entity` and `name`"));
        };
        let view = self.view();
        let id = find(&view, entity)?;
        let at = self.now();
        if id.kind == EntityKind::Place {
            let mut draft = self.knowledge.memory.begin(at);
            let source = NameSource::Told;
            let row = NameRow { entity: id, name: called.clone(), since: at, source, turn: None };
            draft.name(row);
            draft.commit().map_err(|error| self.failed(&error))?;
            return Ok(Reply::Document(json!({ "entity": id, "name": called })));
        }
        if !matches!(id.kind, EntityKind::Person | EntityKind::Face | EntityKind::Voice) {
            return Err(Refusal::bad_request(format!(
                "{id} is no person and no place; only they get names"
            )));
        }
        if called.eq_ignore_ascii_case(MEDIA) {
            return self.media(&view, entity, id);
        }
        let row = {
            let mut who = self.resolver()?;
            let mut draft = self.knowledge.memory.begin(at);
            let row = who.decree_name(id, called, at, &mut draft);
            if let Err(error) = draft.commit() {
                self.restore(&mut who);
                return Err(self.failed(&error));
            }
            row
        };
        self.announcer.named(&row, at);
        Ok(Reply::Document(json!({ "entity": row.entity, "name": row.name })))
    }

    /// A voice that is no person's: a television, a radio. `word` is what was said, `id` who that is.
    fn media(&self, view: &View, word: &str, id: EntityId) -> Result<Reply, Refusal> {
        let parts = match word.trim().parse::<EntityId>() {
            // The voice itself, whosever it was taken for.
            Ok(voice) if voice.kind == EntityKind::Voice => vec![voice],
            _ if id.kind == EntityKind::Person => view.parts_of(id),
            _ => vec![id],
        };
        let voices: Vec<EntityId> =
            parts.iter().filter(|part| part.kind == EntityKind::Voice).copied().collect();
        if voices.len() < parts.len() || voices.is_empty() {
            let said = parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            return Err(Refusal::bad_request(format!(
                "only a voice is {MEDIA}, and {id} is {said}; name the voice"
            )));
        }
        let mut who = self.resolver()?;
        let mut draft = self.knowledge.memory.begin(self.now());
        who.decree_media(&voices, &mut draft);
        if let Err(error) = draft.commit() {
            self.restore(&mut who);
            return Err(self.failed(&error));
        }
        Ok(Reply::Document(json!({ "entity": voices[0], "name": MEDIA, "voices": voices })))
    }

    /// A picture or a voice of somebody, to be known by.
    fn enrol(&self, request: &Name) -> Result<Reply, Refusal> {
        let view = self.view();
        let who = match (&request.entity, &request.name) {
            (Some(entity), _) if entity.trim() == EntityId::ROBOT.to_string() => Enrolled::Robot,
            (Some(entity), _) => {
                let id = find(&view, entity)?;
                if id.kind != EntityKind::Person {
                    return Err(Refusal::bad_request(format!("{entity} is {id}, no person")));
                }
                Enrolled::Known(id)
            }
            (None, Some(name)) => Enrolled::Named(name),
            (None, None) => return Err(Refusal::bad_request("give `entity` or `name`")),
        };
        // Nothing of the wall clock: what is shown before anything was perceived holds from the beginning.
        let newest = || view.newest_time();
        let at = self.clock.now().or_else(newest).unwrap_or(Timestamp::EPOCH);
        let session = self.session.load();
        let perceivers = &session.perceivers;
        let photo = request.photo.as_deref().map(|photo| enrol::face(perceivers, photo, at));
        let faces: Vec<_> = photo.transpose()?.into_iter().collect();
        let voices = match &request.voice {
            Some(sound) => {
                let known = perceivers.speaker_embedder.as_ref();
                let maybe = known.and_then(|model| model.thresholds.as_ref()).map(|t| t.maybe);
                enrol::voice(perceivers, sound, maybe.unwrap_or(-1.0), at)?
            }
            None => Vec::new(),
        };
        let mut resolver = self.resolver()?;
        let mut draft = self.knowledge.memory.begin(at);
        let enrolled = resolver
            .enrol(faces, voices, who, at, &mut draft)
            .map_err(|error| Refusal::bad_request(error.to_string()))?;
        if let (Enrolled::Known(_), Some(name), Some(person)) =
            (who, &request.name, enrolled.person)
        {
            resolver.decree_name(person, name, at, &mut draft);
        }
        if let Err(error) = draft.commit() {
            self.restore(&mut resolver);
            return Err(self.failed(&error));
        }
        drop(resolver);
        let view = self.view();
        let name = enrolled.person.and_then(|person| name_of(&view, person));
        Ok(Reply::Document(json!({
            "entity": enrolled.person,
            "name": name,
            "face": enrolled.face,
            "voice": enrolled.voice,
            "new": enrolled.fresh,
        })))
    }

    pub(super) fn people(&self, people: &People) -> Result<Reply, Refusal> {
        let at = self.now();
        let mut who = self.resolver()?;
        let memory = &self.knowledge.memory;
        let done = overrule(memory, &mut who, people, at).map(Reply::Document);
        if done.is_err() {
            self.restore(&mut who);
        }
        done
    }
}

/// A told fact as a slot and its value; whoever is known stands there by id.
fn slot(view: &View, triple: &Triple) -> Result<Fact, Refusal> {
    let attribute = triple.attribute.trim().to_lowercase().replace(' ', "_");
    let word = triple.subject.trim();
    let bare = word.strip_prefix('<').and_then(|word| word.strip_suffix('>')).unwrap_or(word);
    let known = bare.parse::<EntityId>().is_ok() || !view.find_by_name(bare).is_empty();
    let subject = match known {
        true => find(view, bare)?.to_string(),
        false => thing_called(bare)
            .ok_or_else(|| Refusal::bad_request(format!("{word:?} is no subject of a fact")))?,
    };
    if known && attribute == "name" {
        return Err(Refusal::bad_request("a name is given with `name`, not as a fact"));
    }
    Ok(Fact { subject, attribute, value: triple.value.trim().to_owned() })
}

/// The sentence of a fact that came without one.
fn worded(fact: &Fact) -> String {
    let subject = match fact.subject.parse::<EntityId>() {
        Ok(id) => format!("<{id}>"),
        Err(_) => fact.subject.clone(),
    };
    format!("{subject}: {}: {}", fact.attribute.replace('_', " "), fact.value)
}

/// What a request asks to be forgotten.
fn target(view: &View, forget: &Forget) -> Result<memory::Forget, Refusal> {
    match forget {
        Forget { entity: Some(word), .. } => Ok(memory::Forget::Entity(find(view, word)?)),
        Forget { memory: Some(word), .. } => {
            let id: MemoryId =
                word.trim().parse().map_err(|error| Refusal::bad_request(format!("{error}")))?;
            if view.memory(id).is_none() && view.retirement(id).is_none() {
                return Err(Refusal::not_found(format!("there is no {id} in the memory")));
            }
            Ok(memory::Forget::Memory(id))
        }
        Forget { start: Some(start), end: Some(end), .. } => {
            Ok(memory::Forget::Span(Span::new(*start, *end)))
        }
        _ => Err(Refusal::bad_request(
            "give exactly one of `entity`, `memory`, or `start` with `end`",
        )),
    }
}
