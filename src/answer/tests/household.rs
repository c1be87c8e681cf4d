//! The store that the tests ask: Sunday 09:00 (one minute) and Monday 17:30 (two minutes), Berlin time.

use jiff::tz::TimeZone;

use crate::answer::{Answer, Answerer, Meaning, Question};
use crate::geometry::Rect;
use crate::identify::Persons;
use crate::ids::{ClipId, EntityId, EntityKind, SessionId, SourceId, TrackId, TurnId};
use crate::memorize::Memorizer;
use crate::memory::model::*;
use crate::memory::testing::memory_row;
use crate::memory::{Draft, Memory, PresentState, PresentTrack, StoreOptions, VisitFilter};
use crate::percept::{Sighting, Transcript};
use crate::time::{Span, Timestamp};

pub(super) fn local(text: &str) -> Timestamp {
    let civil: jiff::civil::DateTime = text.parse().unwrap();
    Timestamp::from_jiff(civil.to_zoned(zone()).unwrap().timestamp())
}

pub(super) fn zone() -> TimeZone {
    TimeZone::get("Europe/Berlin").unwrap()
}

pub(super) struct Household {
    _dir: tempfile::TempDir,
    pub(super) memory: Memory,
    pub(super) answerer: Answerer,
    pub(super) ben: EntityId,
    pub(super) voice_only: EntityId,
    pub(super) ben_face: EntityId,
}

/// A person's ids.
#[derive(Clone, Copy)]
struct Ids {
    person: EntityId,
    face: Option<EntityId>,
    voice: Option<EntityId>,
}

/// Writes one session.
struct Scene<'a> {
    draft: &'a mut Draft,
    session: SessionId,
    start: Timestamp,
    tracks: u64,
    turns: u64,
}

impl<'a> Scene<'a> {
    fn open(draft: &'a mut Draft, start: Timestamp, secs: f64) -> Self {
        let session = draft.new_session(start, 30.0, None);
        for index in 0..(secs / 30.0) as u32 {
            let at = start.plus_secs(f64::from(index) * 30.0);
            draft.clip(Clip {
                id: ClipId { session, index },
                span: Span::new(at, at.plus_secs(30.0)),
                frames: 750,
                analysed: 150,
                dropped: 0,
                key_frames: Vec::new(),
            });
        }
        Self { draft, session, start, tracks: 0, turns: 0 }
    }

    fn span(&self, from: f64, to: f64) -> Span {
        Span::new(self.start.plus_secs(from), self.start.plus_secs(to))
    }

    /// In view; cut at clip borders as the daemon does.
    fn seen(&mut self, who: Ids, from: f64, to: f64, x: f32) {
        self.tracks += 1;
        let track = TrackId(self.tracks);
        let mut at = from;
        while at < to {
            let index = (at / 30.0) as u32;
            let end = to.min(f64::from(index + 1) * 30.0);
            let clip = ClipId { session: self.session, index };
            let count = ((end - at) * 5.0) as usize;
            let sightings = (0..count).map(|i| Sighting {
                at: self.start.plus_secs(at + i as f64 * 0.2),
                bbox: Rect { x: x - 40.0, y: 100.0, w: 80.0, h: 100.0 },
                score: 0.9,
                bearing: None,
            });
            let span = self.span(at, end);
            self.draft.track(TrackRow {
                clip,
                track,
                source: SourceId::new("camera"),
                span,
                sightings: sightings.collect(),
                picture: false,
                body: false,
                face: who.face,
                confidence: 0.9,
                colours: None,
            });
            self.remember(
                MemoryKind::Episodic,
                format!("<{}> was in view.", who.person),
                span,
                Some(clip),
                who.person,
                Some(Ground::Track(clip, track)),
            );
            at = end;
        }
    }

    fn says(&mut self, who: Ids, from: f64, to: f64, words: &str) {
        self.turns += 1;
        let turn = TurnId(self.turns);
        let clip = ClipId { session: self.session, index: (to / 30.0) as u32 };
        let span = self.span(from, to);
        let transcript = Transcript { text: words.into(), ..Transcript::default() };
        self.draft.turn(TurnRow {
            clip,
            turn,
            source: SourceId::new("microphone"),
            span,
            speech_secs: to - from,
            voice: who.voice,
            confidence: 0.8,
            words: Some(transcript),
            sound: None,
        });
        self.remember(
            MemoryKind::Utterance,
            format!("<{}> said: \u{201c}{words}\u{201d}", who.person),
            span,
            Some(clip),
            who.person,
            Some(Ground::Turn(clip, turn)),
        );
    }

    fn remember(
        &mut self,
        kind: MemoryKind,
        text: String,
        span: Span,
        clip: Option<ClipId>,
        who: EntityId,
        ground: Option<Ground>,
    ) {
        remember(self.draft, kind, text, span, clip, vec![who], ground, None);
    }
}

#[allow(clippy::too_many_arguments)]
pub(super) fn remember(
    draft: &mut Draft,
    kind: MemoryKind,
    text: String,
    span: Span,
    clip: Option<ClipId>,
    entities: Vec<EntityId>,
    ground: Option<Ground>,
    fact: Option<Fact>,
) {
    let id = draft.new_memory_id();
    let grounds = ground.into_iter().collect();
    let row = memory_row(kind, &text, span);
    draft.memory(MemoryRow { id, clip, entities, fact, importance: 0.3, grounds, ..row }, None);
}

pub(super) fn fact(subject: &str, attribute: &str, value: &str) -> Option<Fact> {
    Some(Fact { subject: subject.into(), attribute: attribute.into(), value: value.into() })
}

impl Household {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let (sunday, monday) = (local("2026-03-01T09:00:00"), local("2026-03-02T17:30:00"));
        let mut draft = memory.begin(sunday.plus_secs(60.0));
        let mut person = |face: bool, voice: bool| {
            let person = draft.new_entity(EntityKind::Person);
            let face = face.then(|| draft.new_entity(EntityKind::Face));
            let voice = voice.then(|| draft.new_entity(EntityKind::Voice));
            for part in face.into_iter().chain(voice) {
                draft.membership(Membership {
                    part,
                    person,
                    reason: "test".into(),
                    decreed: false,
                });
            }
            Ids { person, face, voice }
        };
        let (ava, ben, third) = (person(true, true), person(true, true), person(false, true));
        let mut day = Scene::open(&mut draft, sunday, 60.0);
        day.seen(ava, 5.0, 25.0, 160.0);
        day.seen(ben, 15.0, 40.0, 480.0);
        day.says(ava, 6.0, 8.0, "good morning everybody");
        day.says(ava, 12.0, 15.0, "i put the red mug on the kitchen table");
        day.says(ben, 17.0, 19.0, "thank you ava");
        day.says(third, 45.0, 50.0, "dinner is ready");
        let said = day.span(12.0, 15.0);
        remember(
            day.draft,
            MemoryKind::Semantic,
            "The red mug is on the kitchen table.".into(),
            said,
            None,
            vec![],
            None,
            fact("red mug", "location", "on the kitchen table"),
        );
        draft.commit().unwrap();

        let mut draft = memory.begin(monday.plus_secs(120.0));
        let fourth = {
            let person = draft.new_entity(EntityKind::Person);
            let face = draft.new_entity(EntityKind::Face);
            draft.membership(Membership {
                part: face,
                person,
                reason: "test".into(),
                decreed: false,
            });
            Ids { person, face: Some(face), voice: None }
        };
        for (who, name) in [(ava, "Ava"), (ben, "Ben")] {
            draft.name(NameRow {
                entity: who.person,
                name: name.into(),
                since: monday.plus_secs(4.0),
                source: NameSource::Said,
                turn: None,
            });
        }
        let mut day = Scene::open(&mut draft, monday, 120.0);
        day.seen(ava, 3.0, 20.0, 160.0);
        day.seen(ben, 10.0, 20.0, 480.0);
        day.says(ava, 4.0, 8.0, "hello my name is ava");
        day.says(ben, 12.0, 15.0, "have you seen my keys");
        day.says(third, 30.0, 34.0, "the next room is so cold");
        day.seen(ava, 60.0, 80.0, 160.0);
        day.seen(fourth, 60.0, 75.0, 480.0);
        day.says(ava, 62.0, 66.0, "the weather is terrible today");
        day.seen(ben, 90.0, 110.0, 320.0);
        let told = day.span(40.0, 40.0);
        let ben_likes = format!("<{}> likes tea.", ben.person);
        remember(
            day.draft,
            MemoryKind::Note,
            "The blue book is on the shelf.".into(),
            told,
            None,
            vec![],
            None,
            None,
        );
        let likes = fact(&ben.person.to_string(), "likes", "tea");
        remember(
            day.draft,
            MemoryKind::Semantic,
            ben_likes,
            told,
            None,
            vec![ben.person],
            None,
            likes,
        );
        draft.commit().unwrap();
        Self {
            _dir: dir,
            memory,
            answerer: answerer(),
            ben: ben.person,
            voice_only: third.person,
            ben_face: ben.face.unwrap(),
        }
    }

    /// Whether parser and thesaurus are there.
    pub(super) fn reads_meaning(&self) -> bool {
        crate::language::tests::shared().is_some()
    }

    pub(super) fn ask(&self, question: &Question) -> Answer {
        self.answerer.answer(&self.memory, question, None).unwrap()
    }

    /// Somebody tells it what was so from then on.
    pub(super) fn tell(&self, text: &str, at: Timestamp) {
        let mut draft = self.memory.begin(local("2026-03-02T17:32:00"));
        let row = MemoryRow {
            importance: 0.6,
            confidence: 1.0,
            origin: "told".into(),
            ..memory_row(MemoryKind::Note, text, Span::new(at, at))
        };
        Memorizer::new(None).reading(crate::memorize::fact_reader()).note(
            row,
            &Persons::default(),
            &mut draft,
        );
        draft.commit().unwrap();
    }

    /// A detector finds a cup on the left, from 17:31:40 on.
    pub(super) fn a_cup_is_seen(&self) -> EntityId {
        let mut draft = self.memory.begin(local("2026-03-02T17:32:00"));
        let cup = draft.new_entity(EntityKind::Object);
        let (clip, track) = (ClipId { session: SessionId(2), index: 3 }, TrackId(50));
        let start = local("2026-03-02T17:31:40");
        let span = Span::new(start, start.plus_secs(20.0));
        let bbox = Rect { x: 40.0, y: 100.0, w: 80.0, h: 100.0 };
        draft.object_track(ObjectTrackRow {
            clip,
            track,
            source: SourceId::new("camera"),
            span,
            label: "cup".into(),
            picture: (640, 480),
            sightings: (0..20)
                .map(|secs| Sighting {
                    at: start.plus_secs(f64::from(secs)),
                    bbox,
                    score: 0.9,
                    bearing: None,
                })
                .collect(),
            object: Some(cup),
            confidence: 0.8,
            colours: None,
        });
        remember(
            &mut draft,
            MemoryKind::Semantic,
            "The cup is in view of camera, on the left.".into(),
            span,
            Some(clip),
            vec![cup],
            Some(Ground::Object(clip, track)),
            fact(&cup.to_string(), "location", "in view of camera, on the left"),
        );
        draft.commit().unwrap();
        cup
    }

    /// What is told of Ben's last visit, now that he is gone.
    pub(super) fn visit_of_ben(&self) -> Option<String> {
        let view = self.memory.view();
        let filter = VisitFilter { who: Some(self.ben), limit: Some(1), ..VisitFilter::default() };
        let visit = view.visits(&filter, 60.0).pop()?;
        crate::answer::did(&view, &crate::memory::Visit { over: true, ..visit })
    }

    /// Ben is in view of the open window from 17:32:01 on.
    pub(super) fn someone_steps_in(&self) {
        let at = |secs: &str| local(&format!("2026-03-02T17:32:{secs}"));
        self.memory.present().set(PresentState {
            falls: Vec::new(),
            updated: Some(at("05")),
            tracks: vec![PresentTrack {
                handle: TrackId(99),
                source: SourceId::new("camera"),
                since: at("01"),
                last: at("05"),
                provisional: Some(self.ben_face),
                similarity: Some(0.8),
                stranger: None,
            }],
            turns: Vec::new(),
        });
    }
}

/// One that reads what was told, where the models are there.
fn answerer() -> Answerer {
    let answerer = Answerer::new(zone(), 10, None);
    match crate::language::tests::shared() {
        Some(language) => answerer.with_meaning(Meaning::new(language, zone())),
        None => answerer,
    }
}

/// Thirty days of thirty clips, one commit per day, three persons.
pub(super) fn month() -> Household {
    let mut house = Household::new();
    let dir = tempfile::tempdir().unwrap();
    house.memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    house._dir = dir;
    let mut people: Vec<Ids> = Vec::new();
    for day in 0..30 {
        let start =
            Timestamp::parse("2026-03-01T10:00:00Z").unwrap().plus_secs(f64::from(day) * 86_400.0);
        let mut draft = house.memory.begin(start.plus_secs(900.0));
        if people.is_empty() {
            for name in ["Ava", "Ben", ""] {
                let person = draft.new_entity(EntityKind::Person);
                let (face, voice) =
                    (draft.new_entity(EntityKind::Face), draft.new_entity(EntityKind::Voice));
                for part in [face, voice] {
                    draft.membership(Membership {
                        part,
                        person,
                        reason: "test".into(),
                        decreed: false,
                    });
                }
                if !name.is_empty() {
                    draft.name(NameRow {
                        entity: person,
                        name: name.into(),
                        since: start,
                        source: NameSource::Told,
                        turn: None,
                    });
                }
                let face = (!name.is_empty()).then_some(face);
                people.push(Ids { person, face, voice: Some(voice) });
            }
        }
        let mut scene = Scene::open(&mut draft, start, 900.0);
        for clip in 0..30 {
            let at = f64::from(clip) * 30.0;
            for (n, who) in people.iter().enumerate() {
                let at = at + n as f64 * 9.0;
                if who.face.is_some() {
                    scene.seen(*who, at, at + 2.5, 160.0);
                    scene.seen(*who, at + 4.0, at + 6.0, 480.0);
                }
                scene.says(
                    *who,
                    at,
                    at + 2.0,
                    &format!("remark number {clip} of day {day} about the weather and the garden"),
                );
                scene.says(
                    *who,
                    at + 3.0,
                    at + 5.0,
                    if clip == 7 && day == 9 {
                        "the red mug is on the kitchen table"
                    } else {
                        "yes of course that is true"
                    },
                );
            }
        }
        draft.commit().unwrap();
    }
    house
}

/// The sentence embedder, where its files are.
pub(super) fn embedder() -> Option<std::sync::Arc<dyn crate::text::TextEmbedder>> {
    let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/models");
    let opened = crate::text::MiniLm::open(
        &models.join("minilm_l6_v2_int8.onnx"),
        &models.join("minilm_tokenizer.json"),
        2,
    );
    opened.ok().map(|embedder| {
        std::sync::Arc::new(embedder) as std::sync::Arc<dyn crate::text::TextEmbedder>
    })
}
