//! A household's days as the daemon would write them: whoever is in view, what is said, where the robot stands.

use std::collections::VecDeque;

use serde_json::json;

use super::super::BenchError;
use super::super::conversations::utterance;
use super::super::filler::beginning;
use super::super::random::SplitMix64;
use crate::answer::{Answerer, Effort, Question};
use crate::config::Config;
use crate::daemon::ingest::kept_poses;
use crate::geometry::Rect;
use crate::ids::{ClipId, EntityId, EntityKind, ModelHash, SessionId, SourceId, TrackId, TurnId};
use crate::media::Pose;
use crate::memorize::{Memorizer, Upkeep};
use crate::memory::model::{
    Clip, Exemplar, Ground, Membership, MemoryKind, MemoryRow, NameRow, NameSource, PairEvidence,
    PoseRow, Presence, TrackRow, TurnRow,
};
use crate::memory::{AnswerRow, Draft, Memory};
use crate::percept::{Embedding, Sighting, Transcript, Word};
use crate::time::{Span, Timestamp};

/// Who lives there.
pub(super) const RESIDENTS: [&str; 3] = ["Ava", "Ben", "Cleo"];
/// A robot's day, seconds from midnight.
const BEGINS_SECS: f64 = 10.0 * 3600.0;
const CLIP_SECS: f64 = 30.0;
const CLIPS: u32 = 8 * 120;
const CLIPS_PER_HOUR: u32 = 120;
pub(super) const DAY_SECS: f64 = 86_400.0;
const VISITS_A_WEEK: u32 = 20;
/// One visit in so many is somebody's first; every second of those who come has a name.
const NEW: u32 = 4;
/// Analysed frames per second.
const FPS: f64 = 5.0;
/// Poses per second.
const POSES: f64 = 10.0;
/// Upkeep is looked to once in so many clips.
const UPKEEP_EVERY: u32 = 20;
const ANSWERS: u64 = 200;
/// Questions of a day that are asked; each answer is kept as often as makes up the day's.
const ASKED: [&str; 4] = [
    "When did you last see Ava?",
    "How often was Ben seen today?",
    "Who was here this morning?",
    "What did Cleo say?",
];
const WORDS: [&str; 48] = [
    "the", "tea", "is", "in", "kitchen", "please", "bring", "my", "blue", "cup", "we", "go", "to",
    "market", "tomorrow", "garden", "needs", "water", "where", "are", "keys", "it", "was",
    "raining", "all", "day", "train", "late", "again", "call", "doctor", "about", "new", "lamp",
    "on", "table", "window", "open", "cat", "sleeps", "near", "door", "bread", "and", "soup",
    "for", "dinner", "tonight",
];
const DIMENSIONS: usize = 384;
const MODEL: ModelHash = ModelHash([3; 32]);
const SEED: u64 = 295;

/// Somebody with a face and a voice.
#[derive(Clone, Copy, Debug)]
struct Met {
    person: EntityId,
    face: EntityId,
    voice: EntityId,
}

/// Somebody is there from one clip of a day to another.
struct Stay {
    who: usize,
    clips: std::ops::Range<u32>,
}

/// A household with its robot.
pub(super) struct Life<'a> {
    memory: &'a Memory,
    answerer: &'a Answerer,
    upkeep: Upkeep,
    keep_answers: (usize, f64),
    /// Residents first, then whoever visited, in the order in which they first came.
    met: Vec<Met>,
    /// The poses that were kept last.
    poses: VecDeque<Pose>,
}

impl<'a> Life<'a> {
    /// The one in that memory, which is begun where it is empty.
    pub(super) fn of(
        memory: &'a Memory,
        answerer: &'a Answerer,
        config: &Config,
    ) -> Result<Self, BenchError> {
        let upkeep = config.upkeep.clone();
        let keep_answers = (upkeep.keep_answers, upkeep.keep_answers_days);
        let upkeep = Upkeep::new(memory.clone(), Memorizer::new(None), upkeep, config.timezone());
        let mut life = Self {
            memory,
            answerer,
            upkeep,
            keep_answers,
            met: Vec::new(),
            poses: VecDeque::new(),
        };
        for row in memory.view().persons() {
            if let (Some(face), Some(voice)) = (row.faces.first(), row.voices.first()) {
                life.met.push(Met { person: row.id, face: *face, voice: *voice });
            }
        }
        if life.met.is_empty() {
            let mut random = SplitMix64::new(SEED);
            let mut draft = memory.begin(beginning());
            for name in RESIDENTS {
                let met = meet(&mut draft, &mut random, Some(name.to_owned()), beginning());
                life.met.push(met);
            }
            draft.commit()?;
        }
        Ok(life)
    }

    /// Days that were lived, the last one perhaps in part.
    pub(super) fn days(&self) -> u32 {
        self.memory.view().sessions().len() as u32
    }

    /// Lives the next day.
    pub(super) fn day(&mut self) -> Result<(), BenchError> {
        let day = self.days();
        let mut random = SplitMix64::new(SEED + 1 + u64::from(day));
        let midnight = beginning().plus_secs(f64::from(day) * DAY_SECS);
        let start = midnight.plus_secs(BEGINS_SECS);
        let mut draft = self.memory.begin(start);
        let session = draft.new_session(start, CLIP_SECS, None);
        let stays = self.stays(day, start, &mut random, &mut draft);
        draft.commit()?;
        self.poses.clear();
        for index in 0..CLIPS {
            let at = start.plus_secs(f64::from(index) * CLIP_SECS);
            if index % UPKEEP_EVERY == 0 {
                self.upkeep.run(at)?;
            }
            let here = stays.iter().filter(|stay| stay.clips.contains(&index));
            let here: Vec<usize> = here.map(|stay| stay.who).collect();
            // A clip in which nobody was goes unwritten, but for one in an hour.
            if !here.is_empty() || index % CLIPS_PER_HOUR == 0 {
                self.clip(session, index, at, &here, &mut random)?;
            }
        }
        self.answers(start.plus_secs(f64::from(CLIPS) * CLIP_SECS))
    }

    /// One more clip after the last one, with the first resident that is left in it.
    pub(super) fn moment(&mut self, random: &mut SplitMix64) -> Result<(), BenchError> {
        let Some(last) = self.memory.view().last_clip(None, |_| true) else { return Ok(()) };
        self.clip(last.id.session, last.id.index + 1, last.span.end, &[0], random)
    }

    /// Who comes when. Residents are there in three hours of five, for half of each; a visit takes ten minutes and more.
    fn stays(
        &mut self,
        day: u32,
        at: Timestamp,
        random: &mut SplitMix64,
        draft: &mut Draft,
    ) -> Vec<Stay> {
        let mut stays = Vec::new();
        for who in 0..RESIDENTS.len() {
            for hour in (0..CLIPS).step_by(CLIPS_PER_HOUR as usize) {
                let (from, length) = (random.below(60) as u32, 20 + random.below(80) as u32);
                if random.unit() < 0.6 {
                    let clips = hour + from..(hour + from + length).min(CLIPS);
                    stays.push(Stay { who, clips });
                }
            }
        }
        for visit in VISITS_A_WEEK * day / 7..VISITS_A_WEEK * (day + 1) / 7 {
            let visitors = self.met.len() - RESIDENTS.len();
            let who = if visit % NEW == 0 || visitors == 0 {
                let named = visit % (2 * NEW) == 0;
                let name = named.then(|| format!("Guest{}", spelled(self.met.len())));
                self.met.push(meet(draft, random, name, at));
                self.met.len() - 1
            } else {
                RESIDENTS.len() + random.below(visitors)
            };
            let from = random.below(CLIPS as usize - 60) as u32;
            stays.push(Stay { who, clips: from..from + 20 + random.below(40) as u32 });
        }
        stays
    }

    fn clip(
        &mut self,
        session: SessionId,
        index: u32,
        at: Timestamp,
        here: &[usize],
        random: &mut SplitMix64,
    ) -> Result<(), BenchError> {
        let span = Span::new(at, at.plus_secs(CLIP_SECS));
        let id = ClipId { session, index };
        let mut draft = self.memory.begin(span.end);
        let (frames, analysed, dropped, key_frames) = (750, 150, 0, Vec::new());
        draft.clip(Clip { id, span, frames, analysed, dropped, key_frames });
        for (place, who) in here.iter().enumerate() {
            let Some(met) = self.met.get(*who).copied() else { continue };
            // Each has numbers of their own in the session.
            let number = u64::from(index) * 16 + 2 * place as u64;
            self.seen(&mut draft, (id, number), at, met, random);
            if random.unit() < 0.5 {
                self.heard(&mut draft, (id, number), at, met, random);
            }
        }
        self.robot(&mut draft, id, at, random);
        draft.commit()?;
        Ok(())
    }

    fn seen(
        &self,
        draft: &mut Draft,
        (clip, number): (ClipId, u64),
        at: Timestamp,
        met: Met,
        random: &mut SplitMix64,
    ) {
        let start = at.plus_secs(8.0 * random.unit());
        let span = Span::new(start, start.plus_secs(6.0 + 16.0 * random.unit()));
        let x = 100.0 + 900.0 * random.unit() as f32;
        let sightings = (0..(span.secs() * FPS) as u32).map(|frame| Sighting {
            at: start.plus_secs(f64::from(frame) / FPS),
            bbox: Rect { x: x + frame as f32, y: 200.0, w: 96.0, h: 128.0 },
            score: 0.9,
            bearing: None,
        });
        let track = TrackId(number);
        draft.track(TrackRow {
            clip,
            track,
            source: SourceId::new("front"),
            span,
            sightings: sightings.collect(),
            picture: false,
            body: false,
            face: Some(met.face),
            confidence: 0.8,
            colours: None,
        });
        let text = format!("<{}> was in view of front for {:.0} s.", met.person, span.secs());
        let row = MemoryRow {
            kind: MemoryKind::Episodic,
            importance: 0.2,
            grounds: vec![Ground::Track(clip, track)],
            id: draft.new_memory_id(),
            ..utterance(Default::default(), text, start, clip, met.person)
        };
        draft.memory(MemoryRow { span, ..row }, Some(vector(random)));
    }

    fn heard(
        &self,
        draft: &mut Draft,
        (clip, number): (ClipId, u64),
        at: Timestamp,
        met: Met,
        random: &mut SplitMix64,
    ) {
        let start = at.plus_secs(10.0 + 12.0 * random.unit());
        let count = 4 + random.below(8);
        let words: Vec<&str> = (0..count).map(|_| WORDS[random.below(WORDS.len())]).collect();
        let word_at = |word: usize| start.plus_secs(0.4 * word as f64);
        let span = Span::new(start, word_at(count));
        let text = words.join(" ");
        let word = |(number, text): (usize, &&str)| Word {
            text: (*text).into(),
            span: Span::new(word_at(number), word_at(number + 1)),
            confidence: Some(0.9),
        };
        let turn = TurnId(number);
        draft.turn(TurnRow {
            clip,
            turn,
            source: SourceId::new("microphone"),
            span,
            speech_secs: 0.9 * span.secs(),
            voice: Some(met.voice),
            confidence: 0.8,
            words: Some(Transcript {
                text: text.clone(),
                words: words.iter().enumerate().map(word).collect(),
                language: Some("en".to_owned()),
                engine: "made up".to_owned(),
            }),
            sound: None,
        });
        let secs = at.secs_since(beginning()) * 0.1;
        let presence = Presence { visible_secs: secs, clear_secs: secs, ..Presence::default() };
        draft.evidence(PairEvidence {
            face: met.face,
            voice: met.voice,
            support_secs: secs,
            against_secs: 0.0,
            presence: Some(presence),
        });
        let said = format!("<{}> said: \"{text}\"", met.person);
        let id = draft.new_memory_id();
        let row = utterance(id, said, start, clip, met.person);
        let grounds = vec![Ground::Turn(clip, turn)];
        draft.memory(MemoryRow { span, grounds, importance: 0.3, ..row }, Some(vector(random)));
    }

    /// It stands at its dock with the noise of odometry, and drives around for two minutes of every hour.
    fn robot(&mut self, draft: &mut Draft, clip: ClipId, at: Timestamp, random: &mut SplitMix64) {
        let drives = (40..44).contains(&(clip.index % CLIPS_PER_HOUR));
        let pose = |number: u32| {
            let secs = f64::from(number) / POSES;
            let noise = 0.02 * random.unit() - 0.01;
            let way = f64::from(clip.index % 4) * CLIP_SECS + secs;
            let x = if drives { 0.5 * (60.0 - (way - 60.0).abs()) } else { 0.0 };
            let (x, stamp) = (x + noise, at.plus_secs(secs));
            Pose { stamp, x, y: 0.0, yaw: 0.0, frame: "map".to_owned() }
        };
        let poses: Vec<Pose> = (0..(CLIP_SECS * POSES) as u32).map(pose).collect();
        let kept: Vec<Pose> = kept_poses(&poses, self.poses.iter()).into_iter().cloned().collect();
        for pose in kept {
            self.poses.push_back(pose.clone());
            draft.pose(PoseRow { clip, pose });
        }
        let over = self.poses.len().saturating_sub(1);
        self.poses.drain(..over);
    }

    /// A few questions are asked; each answer is kept, one by one, so often that there are as many as a day has.
    fn answers(&self, at: Timestamp) -> Result<(), BenchError> {
        let erasures = self.memory.erasures();
        let mut documents = Vec::new();
        for text in ASKED {
            let text = text.to_owned();
            let question = Question { text, effort: Effort::Fast, ..Question::default() };
            documents.push(self.answerer.answer(self.memory, &question, Some(at))?);
        }
        for (number, answer) in (0..ANSWERS).zip(documents.iter().cycle()) {
            let asked = at.plus_secs(number as f64);
            let (id, document) = (self.memory.next_answer_id(), json!(answer).to_string());
            let question = answer.question.clone();
            self.memory.keep_answer(&AnswerRow { id, question, document, asked }, erasures)?;
        }
        let (most, days) = self.keep_answers;
        self.memory.trim_answers(most, at.plus_secs(-days * DAY_SECS))?;
        Ok(())
    }
}

/// A number in letters: names have no digits.
pub(super) fn spelled(number: usize) -> String {
    let letter = |at: u32| char::from(b'a' + (number / 26_usize.pow(at) % 26) as u8);
    [2, 1, 0].map(letter).iter().collect()
}

/// Somebody new, with a face, a voice and a sample of each.
fn meet(draft: &mut Draft, random: &mut SplitMix64, name: Option<String>, at: Timestamp) -> Met {
    let [face, voice, person] = [EntityKind::Face, EntityKind::Voice, EntityKind::Person]
        .map(|kind| draft.new_entity(kind));
    for part in [face, voice] {
        let (reason, decreed) = ("made up".to_owned(), false);
        draft.membership(Membership { part, person, reason, decreed });
        let (slot, quality, weight, media) = (0, 0.8, 1.0, None);
        let embedding = vector(random);
        draft.exemplar(Exemplar { entity: part, slot, at, embedding, quality, weight, media });
    }
    if let Some(name) = name {
        draft.name(NameRow {
            entity: person,
            name,
            since: at,
            source: NameSource::Told,
            turn: None,
        });
    }
    Met { person, face, voice }
}

/// A seeded unit vector.
fn vector(random: &mut SplitMix64) -> Embedding {
    let parts = (0..DIMENSIONS / 4).flat_map(|_| {
        let bits = random.bits();
        [0, 16, 32, 48].map(|at| f32::from((bits >> at) as u16) / 32_768.0 - 1.0)
    });
    Embedding::normalised(parts.collect(), MODEL)
}
