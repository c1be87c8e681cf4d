//! What changes the memory at somebody's word: remember, forget, name.

use serde_json::json;

use super::MemoryService;
use super::unmet::somebody;
use crate::answer::phrase;
use crate::daemon::enrol;
use crate::daemon::identify::identify;
use crate::daemon::overrule::overrule;
use crate::daemon::queries::{erasing, find, name_of, told_thing};
use crate::daemon::resolver::resolver;
use crate::identify::{Enrolled, PendingIdentities};
use crate::ids::{EntityId, EntityKind, MemoryId};
use crate::memorize::thing_called;
use crate::memory::model::{Fact, MemoryKind, MemoryRow, NameRow, NameSource};
use crate::memory::natures::attribute_meant;
use crate::memory::{self, View};
use crate::mention;
use crate::mqtt::message::{Forget, Identify, Name, People, Remember, Triple};
use crate::mqtt::{Refusal, RefusalCode, Reply};
use crate::names;
use crate::time::{Span, Timestamp};

/// Whoever names this names the place where the robot is.
const HERE: &str = "here";
/// The names of voices that are no person's: a television's, and the robot's own.
const MEDIA: &str = "media";
const SELF: &str = "self";

impl MemoryService {
    pub(super) fn remember(&self, remember: Remember) -> Result<Reply, Refusal> {
        self.tell_of(&remember)?;
        let Remember { text, fact, start, end, entities, pinned, .. } = remember;
        let view = self.view();
        let fact = fact.map(|triple| slot(&view, &triple)).transpose()?;
        let text = text.or_else(|| fact.as_ref().map(worded)).unwrap_or_default();
        let mut about: Vec<EntityId> =
            entities.iter().map(|word| find(&view, word)).collect::<Result<_, _>>()?;
        about.extend(view.named_in(&text));
        let mentioned = mention::mentions(&text).into_iter().map(|one| one.entity);
        about.extend(mentioned.filter(|id| view.knows(*id)));
        let start = start.unwrap_or_else(|| self.told_at());
        let mut row =
            MemoryRow::told(MemoryKind::Note, text, Span::new(start, end.unwrap_or(start)), about);
        (row.pinned, row.fact) = (pinned, fact);
        let row = self.note(row)?;
        Ok(Reply::Document(json!({ "memory": row.id, "entities": row.entities })))
    }

    pub(super) fn forget(&self, forget: &Forget) -> Result<Reply, Refusal> {
        let view = self.view();
        let what = targets(&view, forget)?;
        drop(view);
        if forget.dry_run {
            return self.would_forget(&what);
        }
        let erased = self.erase(&what, self.record_time())?;
        Ok(Reply::Document(json!(erased)))
    }

    /// What that would take, by counts; nothing is changed.
    fn would_forget(&self, what: &[memory::Forget]) -> Result<Reply, Refusal> {
        // An answer that waits to be written would go, too.
        self.flush();
        let tally =
            self.knowledge.memory.would_forget(what).map_err(|error| self.failed(&error))?;
        let mut document = json!(tally);
        document["waiting_clips"] = json!(self.count_spooled(what));
        let captured = self.captured(what, &tally.moments);
        let (ring_secs, snapshots) = self.ring.load().would_erase(&captured).map_err(|error| {
            Refusal::internal(format!("looking into ring and snapshots: {error}"))
        })?;
        document["ring_secs"] = json!(ring_secs);
        document["snapshots"] = json!(snapshots);
        Ok(Reply::Document(document))
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
        // What is refused takes nothing away.
        let mut kept = None;
        let first = |moments: &[Span]| {
            self.forget_spooled(what);
            kept = self.ring.load().erase(&self.captured(what, moments)).err();
        };
        let mut erased =
            memory.forget_after(what, at, first).map_err(|error| self.failed(&error))?;
        if let Some(error) = kept {
            tracing::error!(%error, "What was captured is not erased from ring and snapshots.");
            erased.waits = Some(format!("ring or snapshots cannot be erased: {error}"));
        }
        let rows_alone = |what: &memory::Forget| match what {
            memory::Forget::Entity(_) | memory::Forget::Span(_) => false,
            memory::Forget::Thing(_)
            | memory::Forget::Name(_)
            | memory::Forget::Memory(_)
            | memory::Forget::Document(_)
            | memory::Forget::Aged(..) => true,
        };
        if !what.iter().all(rows_alone) {
            // Galleries and names in RAM go, too; so do percepts that were to be decided later.
            let session = self.session.load();
            let undecided = PendingIdentities::default();
            *who = resolver(&session.config, memory, &session.perceivers, undecided);
        }
        // The open window's pictures are not kept by who is in them.
        memory.present().forget_frames();
        self.announcer.erased();
        // Nothing erased can be found from here on: the vectors of rewritten sentences went with the rows. So nobody who
        // identifies waits for an embedder. A clip that is committed meanwhile was identified by the galleries that are left;
        // whatever else is erased or rewritten meanwhile gets no vector of its old wording, and is due to its own erasure; what
        // a kill leaves is due to the next start. Until then those sentences are found by their words.
        drop(who);
        let memorizer = self.session.load().memorizer.clone();
        if let Err(error) = memorizer.embed_rewritten(memory) {
            tracing::warn!(%error, "Sentences that were rewritten have no vector yet; they are found by their words.");
        }
        Ok(erased)
    }

    /// The place where the robot is now has that name.
    fn name_here(&self, name: &str) -> Result<Reply, Refusal> {
        let (at, recorded) = (self.told_at(), self.record_time());
        let (place, row) = {
            let resolver = self.resolver()?;
            let mut draft = self.knowledge.memory.begin(recorded);
            let session = self.session.load();
            let told = session.memorizer.here(name, at, resolver.persons(), &mut draft);
            draft.commit().map_err(|error| self.failed(&error))?;
            told
        };
        self.announcer.memory(&self.view(), &row);
        Ok(Reply::Document(json!({ "entity": place, "name": name, "memory": row.id })))
    }

    pub(super) fn name(&self, name: &Name) -> Result<Reply, Refusal> {
        if let Some(called) = &name.name
            && let Some(why) = names::why_no_name(called)
        {
            return Err(Refusal::bad_request(format!(
                "nobody can be called {called:?}: {why}; give another name"
            )));
        }
        if name.photo.is_some() || name.voice.is_some() {
            return self.enrol(name);
        }
        let (Some(entity), Some(called)) = (&name.entity, &name.name) else {
            return Err(Refusal::bad_request("give `entity` and `name`"));
        };
        if entity.trim().eq_ignore_ascii_case(HERE) {
            return self.name_here(called.trim());
        }
        let view = self.view();
        let id = find(&view, entity)?;
        let (at, recorded) = (self.now(), self.record_time());
        if id.kind == EntityKind::Place {
            let mut draft = self.knowledge.memory.begin(recorded);
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
        if let Some(whose) = nobodys(called) {
            return self.name_nobodys(&view, (entity, id), whose);
        }
        let row = {
            let mut who = self.resolver()?;
            let mut draft = self.knowledge.memory.begin(recorded);
            let row = who.override_name(id, called, at, &mut draft);
            if let Err(error) = draft.commit() {
                self.restore(&mut who);
                return Err(self.failed(&error));
            }
            row
        };
        self.announcer.named(&row, at);
        Ok(Reply::Document(json!({ "entity": row.entity, "name": row.name })))
    }

    /// A voice that is no person's: a television's, the robot's own. `word` is what was said, `id` who that is.
    fn name_nobodys(
        &self,
        view: &View,
        (word, id): (&str, EntityId),
        whose: Enrolled<'static>,
    ) -> Result<Reply, Refusal> {
        let called = if whose == Enrolled::Robot { SELF } else { MEDIA };
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
                "only a voice is {called}, and {id} is {said}; name the voice"
            )));
        }
        let mut who = self.resolver()?;
        let mut draft = self.knowledge.memory.begin(self.record_time());
        match whose {
            Enrolled::Robot => who.decree_own(&voices, &mut draft),
            _ => who.decree_media(&voices, &mut draft),
        }
        if let Err(error) = draft.commit() {
            self.restore(&mut who);
            return Err(self.failed(&error));
        }
        let entity = if whose == Enrolled::Robot { EntityId::ROBOT } else { voices[0] };
        Ok(Reply::Document(json!({ "entity": entity, "name": called, "voices": voices })))
    }

    /// A picture or a voice of somebody, to be known by.
    fn enrol(&self, request: &Name) -> Result<Reply, Refusal> {
        let view = self.view();
        let nobody = request.name.as_deref().and_then(nobodys);
        let who = match (&request.entity, &request.name) {
            (Some(entity), _) if entity.trim() == EntityId::ROBOT.to_string() => Enrolled::Robot,
            (Some(entity), Some(name)) if nobody.is_some() => {
                return Err(Refusal::bad_request(format!(
                    "{name} is nobody's name, and the sample is of {entity}; leave one of them out"
                )));
            }
            (Some(entity), _) => {
                let id = find(&view, entity)?;
                if id.kind != EntityKind::Person {
                    return Err(Refusal::bad_request(format!("{entity} is {id}, no person")));
                }
                Enrolled::Known(id)
            }
            (None, Some(name)) => nobody.unwrap_or(Enrolled::Named(name)),
            (None, None) => return Err(Refusal::bad_request("give `entity` or `name`")),
        };
        if nobody.is_some() && request.photo.is_some() {
            return Err(Refusal::bad_request(
                "`photo`: a television and the robot are known by their voices alone; leave it out",
            ));
        }
        // Nothing of the wall clock: what is shown before anything was perceived holds from the beginning.
        let newest = || view.newest_time();
        let at = self.clock.now().or_else(newest).unwrap_or(Timestamp::EPOCH);
        let session = self.session.load();
        let perceivers = &session.perceivers;
        let photo = request.photo.as_deref().map(|photo| enrol::face(perceivers, photo, at));
        let faces: Vec<_> = photo.transpose()?.into_iter().collect();
        let voices = match &request.voice {
            Some(sound) => enrol::voice(perceivers, sound, enrol::alike_from(perceivers), at)?,
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
            resolver.override_name(person, name, at, &mut draft);
        }
        if let Err(error) = draft.commit() {
            self.restore(&mut resolver);
            return Err(self.failed(&error));
        }
        drop(resolver);
        let view = self.view();
        let name = enrolled.person.and_then(|person| name_of(&view, person));
        let media = (who == Enrolled::Media).then(|| MEDIA.to_owned());
        Ok(Reply::Document(json!({
            "entity": enrolled.person.or(enrolled.voice),
            "name": name.or(media),
            "face": enrolled.face,
            "voice": enrolled.voice,
            "new": enrolled.fresh,
        })))
    }

    /// Whom a picture or a voice may be of; nothing is kept of it.
    pub(super) fn identify(&self, request: &Identify) -> Result<Reply, Refusal> {
        let _aside = self.courtesy.question();
        let session = self.session.load();
        let guesses = self.resolver.guesses();
        let found = identify(request, &session.perceivers, &guesses, &self.view())?;
        serde_json::to_value(found)
            .map(Reply::Document)
            .map_err(|error| Refusal::internal(error.to_string()))
    }

    pub(super) fn people(&self, people: &People) -> Result<Reply, Refusal> {
        let at = self.record_time();
        let mut who = self.resolver()?;
        let memory = &self.knowledge.memory;
        let done = overrule(memory, &mut who, people, at).map(Reply::Document);
        if done.is_err() {
            self.restore(&mut who);
        }
        done
    }
}

/// Whose voices those of that name are, where it is no person's name.
fn nobodys(name: &str) -> Option<Enrolled<'static>> {
    let is = |word: &str| name.trim().eq_ignore_ascii_case(word);
    if is(MEDIA) { Some(Enrolled::Media) } else { is(SELF).then_some(Enrolled::Robot) }
}

/// A told fact as a slot and its value; whoever is known stands there by id.
fn slot(view: &View, triple: &Triple) -> Result<Fact, Refusal> {
    let attribute = attribute_meant(&triple.attribute);
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
    let thing = &fact.subject;
    let subject = match thing.parse::<EntityId>() {
        Ok(id) => format!("<{id}>"),
        // "Ava's mug"
        Err(_) if thing.contains("'s ") => thing.clone(),
        Err(_) => format!("the {thing}"),
    };
    let sentence = phrase(&subject, &fact.attribute, &fact.value, false);
    let mut letters = sentence.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str().trim_end_matches('.'))
}

/// What a request asks to be forgotten.
fn targets(view: &View, forget: &Forget) -> Result<Vec<memory::Forget>, Refusal> {
    match forget {
        Forget { entity: Some(word), .. } => called(view, word),
        Forget { memory: Some(word), .. } => {
            let id: MemoryId =
                word.trim().parse().map_err(|error| Refusal::bad_request(format!("{error}")))?;
            if view.memory(id).is_none() && view.retirement(id).is_none() {
                return Err(Refusal::not_found(format!("there is no {id} in the memory")));
            }
            Ok(vec![memory::Forget::Memory(id)])
        }
        Forget { document: Some(name), .. } => {
            Ok(vec![memory::Forget::Document(name.trim().to_owned())])
        }
        Forget { start: Some(start), end: Some(end), .. } => {
            Ok(vec![memory::Forget::Span(Span::new(*start, *end))])
        }
        Forget { fact: Some(pattern), .. } => erasing(view, pattern),
        _ => Err(Refusal::bad_request(
            "give exactly one of `entity`, `memory`, `fact`, `document`, or `start` with `end`",
        )),
    }
}

/// Whoever or whatever a word means: somebody or something with an id, what facts tell of a thing by that noun, or both;
/// else somebody, or a place, that is told of and has no id.
fn called(view: &View, word: &str) -> Result<Vec<memory::Forget>, Refusal> {
    let told = told_thing(view, word).map(memory::Forget::Thing);
    match find(view, word) {
        Ok(id) => Ok(std::iter::once(memory::Forget::Entity(id)).chain(told).collect()),
        Err(refusal) if refusal.code == RefusalCode::NotFound => {
            let somebody = somebody(word).filter(|name| view.tells_of_somebody(name));
            let mut told: Vec<_> =
                somebody.map(memory::Forget::Name).into_iter().chain(told).collect();
            if told.is_empty() {
                let place = thing_called(word).filter(|noun| view.tells_of_value(noun));
                told.extend(place.map(memory::Forget::Thing));
            }
            if told.is_empty() { Err(refusal) } else { Ok(told) }
        }
        Err(refusal) => Err(refusal),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    use crossbeam_channel::{Receiver, Sender, unbounded};

    use super::*;
    use crate::daemon::queries::tests::{T0, found, small_memory};
    use crate::identify::Persons;
    use crate::ids::ModelHash;
    use crate::memorize::Memorizer;
    use crate::memory::Forget::{Entity, Thing};
    use crate::memory::{AsOf, Filter};
    use crate::percept::Embedding;
    use crate::text::{TextEmbedder, TextError};

    #[test]
    fn what_is_told_without_a_daemon_has_its_own_instants_and_is_known_from_now_on() {
        use crate::daemon::service::{Clock, privacy};

        let dir = tempfile::tempdir().unwrap();
        drop(small_memory(dir.path()));
        let service = privacy::tests::service(dir.path(), Clock::Store, Default::default());
        let now = Timestamp::from_nanos(T0).plus_secs(30.0);
        let began = Timestamp::wall_clock();
        let tell = |text: &str| {
            let remember = serde_json::from_value(json!({ "text": text })).unwrap();
            service.remember(remember).unwrap();
        };
        tell("The red mug is in the sink.");
        tell("The red mug is on the shelf.");
        let memory = &service.knowledge.memory;
        let told: Vec<(i64, i64)> = memory
            .with_db("test", |db| {
                db.prepare(
                    "SELECT recorded, start FROM memory WHERE kind = 'note' ORDER BY id, version",
                )?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
            })
            .unwrap();
        let (first, second) = (told.first().unwrap(), told.last().unwrap());
        assert!(began.as_nanos() <= first.0 && first.0 < second.0, "{told:?}");
        assert!(first.1 < second.1 && second.1 <= now.as_nanos(), "{told:?}");
        assert_eq!(memory.view().newest_time(), Some(now), "the now of questions");
        let notes = Filter { kinds: vec![MemoryKind::Note], ..Filter::default() };
        let then = memory.view_as_of(AsOf::Time(now)).unwrap();
        assert!(then.memories(&notes).is_empty() && !memory.view().memories(&notes).is_empty());
    }

    #[test]
    fn whoever_is_told_of_before_they_are_known_is_known_by_it_and_can_be_forgotten() {
        use crate::daemon::service::{Clock, privacy};

        let dir = tempfile::tempdir().unwrap();
        drop(small_memory(dir.path()));
        let service = privacy::tests::service(dir.path(), Clock::Store, Default::default());
        let tell = |text: &str| {
            let remember = serde_json::from_value(json!({ "text": text })).unwrap();
            service.remember(remember).unwrap();
        };
        let forget = |word: &str| {
            let forget = serde_json::from_value(json!({ "entity": word })).unwrap();
            service.forget(&forget)
        };
        let texts = || -> Vec<String> {
            let notes = Filter { kinds: vec![MemoryKind::Note], ..Filter::default() };
            service.view().memories(&notes).iter().map(|row| row.text.clone()).collect()
        };
        tell("Ottoline can't stand loud music.");
        tell("Ava brought Ottoline a cake.");
        tell("The garage is locked.");
        assert!(service.view().find_by_name("Ottoline").is_empty());
        assert_eq!(forget("Casimir").unwrap_err().code, RefusalCode::NotFound);
        assert_eq!(forget("the").unwrap_err().code, RefusalCode::NotFound);
        // Nobody has met her: her own sentences go, of Ava's the name.
        forget("ottoline").unwrap();
        assert_eq!(texts(), ["Ava brought <erased> a cake.", "The garage is locked."]);

        tell("Marek took his pills at noon.");
        let before = service.view().seq();
        tell("Marek likes tulips.");
        let view = service.view();
        let marek = view.find_by_name("Marek")[0];
        let about = |view: &View| {
            let rows = view.memories_of(marek);
            rows.iter().filter(|row| row.kind == MemoryKind::Note).count()
        };
        assert_eq!(about(&view), 2, "what was told before, too");
        assert_eq!(view.profile(marek, None).notes.len(), 1);
        let then = service.knowledge.memory.view_as_of(AsOf::Seq(before)).unwrap();
        assert_eq!(about(&then), 0, "that was not known then");
        forget("Marek").unwrap();
        assert_eq!(texts(), ["Ava brought <erased> a cake.", "The garage is locked."]);
    }

    const MODEL: ModelHash = ModelHash([5; 32]);

    /// Says that it was asked for a vector, and gives none before it may.
    struct Slow {
        asked: Sender<()>,
        may: Receiver<()>,
    }

    impl TextEmbedder for Slow {
        fn embed(&self, _: &str) -> Result<Embedding, TextError> {
            self.asked.send(()).ok();
            // Until nobody holds it up any more.
            self.may.recv().ok();
            Ok(Embedding::normalised(vec![1.0, 2.0], MODEL))
        }

        fn model(&self) -> Option<ModelHash> {
            Some(MODEL)
        }

        fn dimensions(&self) -> Option<usize> {
            Some(2)
        }
    }

    #[test]
    fn while_an_erasure_embeds_anew_faces_are_identified_and_clips_committed() {
        use crate::daemon::service::{Clock, privacy};

        /// Long after whatever is awaited has happened.
        const PATIENCE: Duration = Duration::from_secs(30);
        let dir = tempfile::tempdir().unwrap();
        drop(small_memory(dir.path()));
        let service = privacy::tests::service(dir.path(), Clock::Store, Default::default());
        for text in [
            "Ottoline can't stand loud music.",
            "Ava brought Ottoline a cake.",
            "Ava wrote Ottoline a letter.",
        ] {
            service.remember(serde_json::from_value(json!({ "text": text })).unwrap()).unwrap();
        }
        let memory = &service.knowledge.memory;
        let noted = |text: &str| {
            let notes = Filter { kinds: vec![MemoryKind::Note], ..Filter::default() };
            let rows = memory.view().memories(&notes);
            rows.iter().find(|row| row.text == text).map(|row| row.id)
        };
        let ((asked, is_asked), (hold_up, may)) = (unbounded(), unbounded());
        let mut session = (*service.session.load_full()).clone();
        session.memorizer = Memorizer::new(Some(Arc::new(Slow { asked, may })));
        service.reconfigure(session);
        let letter = noted("Ava wrote Ottoline a letter.").unwrap();
        let forget: Forget = serde_json::from_value(json!({ "entity": "Ottoline" })).unwrap();
        let (done, is_done) = unbounded();
        let (is_embedding, is_free, committed, erased) = thread::scope(|scope| {
            let erasing = scope.spawn(|| service.forget(&forget));
            let is_embedding = is_asked.recv_timeout(PATIENCE).is_ok();
            let is_free = service.resolver.try_lock().is_some();
            scope.spawn(|| {
                let at = service.record_time();
                let mut draft = memory.begin(at);
                let id = draft.new_memory_id();
                let seen = "The cat came in.".to_owned();
                let row = MemoryRow::told(MemoryKind::Note, seen, Span::new(at, at), Vec::new());
                draft.memory(MemoryRow { id, ..row }, None);
                draft.commit().unwrap();
                // One of those that are being embedded.
                memory.forget(&memory::Forget::Memory(letter), service.record_time()).unwrap();
                done.send(()).unwrap();
            });
            let committed = is_done.recv_timeout(PATIENCE).is_ok();
            drop(hold_up);
            (is_embedding, is_free, committed, erasing.join().unwrap())
        });
        assert!(is_embedding && is_free && committed);
        erased.unwrap();
        let (cake, cat) = (noted("Ava brought <erased> a cake."), noted("The cat came in."));
        let has_vector = |id: MemoryId| memory.view().embedding(id, MODEL).is_some();
        assert!(cake.is_some_and(has_vector) && cat.is_some());
        assert!(!has_vector(letter), "it was erased meanwhile");
        assert!(memory.rewritten().unwrap().is_empty());
    }

    #[test]
    fn what_is_refused_takes_no_waiting_clip_away() {
        use crate::daemon::service::{Clock, privacy};
        use crate::ids::{ClipId, SessionId, TurnId};
        use crate::memorize::model::{Spool, SpooledClip, SpooledTurn, spool_dir};

        let dir = tempfile::tempdir().unwrap();
        drop(small_memory(dir.path()));
        let service = privacy::tests::service(dir.path(), Clock::Store, Default::default());
        let span = Span::new(Timestamp::from_nanos(T0), Timestamp::from_nanos(T0).plus_secs(30.0));
        let folder = spool_dir(dir.path());
        let spool = Spool::open(&folder, u64::MAX, None).unwrap();
        for (index, words) in [(7, "I am a robot"), (8, "hello Ava")] {
            let (turn, words) = (TurnId(u64::from(index)), words.to_owned());
            let person = Some(EntityId::ROBOT);
            let turn = SpooledTurn { turn, voice: None, person, span, words };
            let clip = ClipId { session: SessionId(1), index };
            let (pictures, faces) = (Vec::new(), Vec::new());
            let (turns, sound, place) = (vec![turn], None, None);
            spool.put(&SpooledClip { clip, span, pictures, faces, turns, sound, place }).unwrap();
            spool.release(clip);
        }
        let waiting = || std::fs::read_dir(&folder).unwrap().count();
        assert_eq!(waiting(), 2);
        let forget = |word: &str| {
            service.forget(&serde_json::from_value(json!({ "entity": word })).unwrap())
        };
        assert!(forget(&EntityId::ROBOT.to_string()).is_err());
        assert_eq!(waiting(), 2);
        forget("Ava").unwrap();
        assert_eq!(waiting(), 1);
    }

    #[test]
    fn a_noun_erases_the_object_that_bears_it_and_what_is_told_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let memory = small_memory(dir.path());
        let at = Timestamp::from_nanos(T0).plus_secs(31.0);
        let mut draft = memory.begin(at);
        let text = "The spare key is in the blue box.".to_owned();
        let note = MemoryRow::told(MemoryKind::Note, text, Span::new(at, at), Vec::new());
        Memorizer::new(None).reading(crate::memorize::fact_reader()).note(
            note,
            &Persons::default(),
            &mut draft,
        );
        draft.commit().unwrap();

        let meant = |word: &str| called(&memory.view(), word);
        let ava = EntityId::new(EntityKind::Person, 1);
        assert_eq!(meant("ava").unwrap(), [Entity(ava)]);
        assert_eq!(meant("my Spare Key").unwrap(), [Thing("spare key".into())]);
        assert_eq!(meant("spare keys").unwrap_err().code, RefusalCode::NotFound);
        let key = found(&memory, 11, "spare key");
        assert_eq!(meant("the spare key").unwrap(), [Entity(key), Thing("spare key".into())]);
        assert_eq!(meant("object_1").unwrap(), [Entity(key)]);
        assert_eq!(meant("the blue box").unwrap(), [Thing("blue box".into())], "a place of it");
        assert_eq!(meant("is").unwrap_err().code, RefusalCode::NotFound);
        found(&memory, 12, "spare key");
        let refused = meant("spare key").unwrap_err();
        assert_eq!(refused.code, RefusalCode::BadRequest);
        assert!(refused.message.contains("object_1 or object_2"), "{}", refused.message);
    }
}
