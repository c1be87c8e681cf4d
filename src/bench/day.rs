//! How much RAM a long run takes: `bench memory --hours`.
//!
//! Clip after clip comes in as from a live room: two faces followed through 150 pictures, eight turns with the
//! times of their words, poses, a key frame, a checkpoint and 30 memories with vectors. Upkeep runs before each
//! clip as the configuration says, questions are asked between them, and anonymous memory is read every hour.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::BenchError;
use super::filler::{beginning, near};
use super::memory::{Corpus, Latency, embed_corpus, folder_bytes, rss_anon_mb};
use super::random::SplitMix64;
use super::scratch;
use crate::answer::{Effort, Question};
use crate::config::Config;
use crate::daemon::assemble::Knowledge;
use crate::geometry::Rect;
use crate::ids::{ClipId, EntityId, EntityKind, SessionId, SourceId, TrackId, TurnId};
use crate::media::Pose;
use crate::memorize::{Memorizer, Upkeep};
use crate::memory::model::{
    Clip, Ground, Media, MediaKind, Membership, NameRow, NameSource, PoseRow, TrackRow, TurnRow,
};
use crate::memory::{Draft, Memory};
use crate::percept::{Sighting, Transcript, Word};
use crate::runtime::allocator;
use crate::time::{Span, Timestamp};

const CLIP_SECS: f64 = 30.0;
const CLIPS_AN_HOUR: u32 = 120;
const MEMORIES: usize = 30;
const TURNS: usize = 8;
/// Analysed pictures of a clip.
const PICTURES: u32 = 150;
const POSES: u32 = 30;
/// Size of a key frame, bytes.
const KEY_FRAME: usize = 20_000;
/// Size of the streaming state, bytes.
const STATE: usize = 60_000;
/// Questions of an hour.
const QUESTIONS: u32 = 12;
const SEED: u64 = 24;

/// `bench memory --hours`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DayFigures {
    /// Hours lived through.
    pub hours: u32,
    /// Clips committed.
    pub clips: u32,
    /// Memories in the store at the end.
    pub memories: u64,
    /// Anonymous memory (RssAnon) before the first clip, MB (10⁶ bytes).
    pub anon_before_mb: f64,
    /// After each hour.
    pub anon_mb: Vec<f64>,
    /// The most of them.
    pub anon_most_mb: f64,
    /// Growth over the second half, least squares, MB an hour.
    pub slope_mb_per_hour: f64,
    /// The same for one memory with its share of percepts, bytes.
    pub bytes_per_memory: f64,
    /// Commits of the last hour, milliseconds.
    pub commit_ms: Latency,
    /// Answers of the last hour, milliseconds.
    pub answer_ms: Latency,
    /// Size of the store's folder, MB.
    pub store_mb: f64,
}

/// Lives through the hours in a temporary store.
///
/// # Errors
/// When the corpus, the sentence embedder or the store fails, or the system does not tell RssAnon.
pub fn measure(config: &Config, hours: u32, corpus: &Path) -> Result<DayFigures, BenchError> {
    let (store, config) = scratch::store(config)?;
    let knowledge = Knowledge::open(&config)?;
    let corpus = embed_corpus(&knowledge, corpus)?;
    let memory = &knowledge.memory;
    let upkeep = Upkeep::new(
        memory.clone(),
        Memorizer::new(knowledge.text.clone()).reading(knowledge.reader.clone()),
        config.upkeep.clone(),
        config.timezone(),
    );
    let mut figures = DayFigures { hours, anon_before_mb: anon_mb()?, ..DayFigures::default() };
    let mut room = Room::enter(memory)?;
    for hour in 0..hours {
        let (mut commits, mut answers) = (Vec::new(), Vec::new());
        for clip in 0..CLIPS_AN_HOUR {
            let at = beginning().plus_secs(f64::from(room.clips) * CLIP_SECS);
            upkeep.run(at)?;
            commits.push(room.clip(memory, &corpus, at)?);
            if clip % (CLIPS_AN_HOUR / QUESTIONS) == 0 {
                let asked = room.random.below(corpus.queries.len());
                let text = corpus.queries[asked].0.clone();
                let question = Question { text, effort: Effort::Fast, ..Question::default() };
                let begun = Instant::now();
                knowledge.answerer.answer(memory, &question, Some(at.plus_secs(CLIP_SECS)))?;
                answers.push(begun.elapsed().as_secs_f64() * 1e3);
            }
        }
        // The daemon does so twice a minute.
        allocator::trim();
        let anon = anon_mb()?;
        eprintln!("hour {} of {hours}: {anon:.0} MB anonymous", hour + 1);
        figures.anon_mb.push(anon);
        figures.commit_ms = Latency::of(&mut commits);
        figures.answer_ms = Latency::of(&mut answers);
    }
    figures.clips = room.clips;
    figures.memories = memory.view().count_memories();
    figures.anon_most_mb = figures.anon_mb.iter().copied().fold(figures.anon_before_mb, f64::max);
    figures.slope_mb_per_hour = slope(&figures.anon_mb[figures.anon_mb.len() / 2..]);
    figures.bytes_per_memory =
        figures.slope_mb_per_hour * 1e6 / f64::from(CLIPS_AN_HOUR) / MEMORIES as f64;
    figures.store_mb = folder_bytes(store.path()) as f64 * 1e-6;
    Ok(figures)
}

fn anon_mb() -> Result<f64, BenchError> {
    rss_anon_mb().ok_or_else(|| {
        BenchError::Child("/proc/self/status tells no RssAnon; measure on Linux".to_owned())
    })
}

/// Of the line that fits best, per step; 0 where there are fewer than two.
fn slope(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let (mean_x, mean_y) = ((count - 1.0) / 2.0, values.iter().sum::<f64>() / count.max(1.0));
    let (mut up, mut down) = (0.0, 0.0);
    for (x, y) in values.iter().enumerate() {
        up += (x as f64 - mean_x) * (y - mean_y);
        down += (x as f64 - mean_x).powi(2);
    }
    if down > 0.0 { up / down } else { 0.0 }
}

/// Two people in front of one camera and one microphone.
struct Room {
    random: SplitMix64,
    session: SessionId,
    faces: [EntityId; 2],
    voices: [EntityId; 2],
    people: [EntityId; 2],
    clips: u32,
    said: usize,
}

impl Room {
    fn enter(memory: &Memory) -> Result<Self, BenchError> {
        let mut draft = memory.begin(beginning());
        let session = draft.new_session(beginning(), CLIP_SECS, None);
        let mut two = |kind| [draft.new_entity(kind), draft.new_entity(kind)];
        let (faces, voices, people) =
            (two(EntityKind::Face), two(EntityKind::Voice), two(EntityKind::Person));
        for (at, name) in ["Ava", "Ben"].into_iter().enumerate() {
            let (entity, name, source) = (people[at], name.to_owned(), NameSource::Told);
            for part in [faces[at], voices[at]] {
                let reason = "bench".to_owned();
                draft.membership(Membership { part, person: entity, reason, decreed: false });
            }
            draft.name(NameRow { entity, name, since: beginning(), source, turn: None });
        }
        draft.commit()?;
        let random = SplitMix64::new(SEED);
        Ok(Self { random, session, faces, voices, people, clips: 0, said: 0 })
    }

    /// One clip; gives back how long its commit took, milliseconds.
    fn clip(&mut self, memory: &Memory, corpus: &Corpus, at: Timestamp) -> Result<f64, BenchError> {
        let span = Span::new(at, at.plus_secs(CLIP_SECS));
        let id = ClipId { session: self.session, index: self.clips };
        let mut draft = memory.begin(span.end);
        let frame = Media::new(MediaKind::KeyFrame, false, self.noise(KEY_FRAME));
        let front = SourceId::new("front");
        draft.clip(Clip {
            id,
            span,
            frames: 750,
            analysed: u64::from(PICTURES),
            dropped: 0,
            key_frames: vec![(front.clone(), at.plus_secs(1.0), frame.digest.clone())],
        });
        draft.media(frame);
        self.percepts(&mut draft, (id, at), &front, corpus);
        for number in 0..MEMORIES {
            let start = at.plus_secs(number as f64 * CLIP_SECS / MEMORIES as f64);
            let (_, sentence, own) = &corpus.turns[self.said % corpus.turns.len()];
            let who = self.people[self.random.below(2)];
            let text = format!("<{who}> said: \"{sentence}\"");
            let mut row =
                super::conversations::utterance(draft.new_memory_id(), text, start, id, who);
            let turn = self.turn(number % TURNS);
            row.grounds = vec![Ground::Turn(id, turn)];
            let vector = near(own, &mut self.random);
            draft.memory(row, Some(vector));
            self.said += 1;
        }
        draft.checkpoint(self.session, id, self.noise(STATE));
        self.clips += 1;
        let begun = Instant::now();
        draft.commit()?;
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    }

    fn noise(&mut self, bytes: usize) -> Vec<u8> {
        (0..bytes).map(|_| self.random.below(256) as u8).collect()
    }

    fn turn(&self, number: usize) -> TurnId {
        TurnId(u64::from(self.clips) * TURNS as u64 + number as u64)
    }

    /// Two face tracks through the whole clip, eight turns, a pose a second.
    fn percepts(
        &mut self,
        draft: &mut Draft,
        (clip, at): (ClipId, Timestamp),
        front: &SourceId,
        corpus: &Corpus,
    ) {
        for (which, face) in self.faces.into_iter().enumerate() {
            let sightings = (0..PICTURES)
                .map(|picture| {
                    let walk = picture as f32 + self.random.gaussian();
                    Sighting {
                        at: at.plus_secs(f64::from(picture) * CLIP_SECS / f64::from(PICTURES)),
                        bbox: Rect { x: 100.0 + walk, y: 90.0, w: 64.0, h: 80.0 },
                        score: 0.9,
                        bearing: None,
                    }
                })
                .collect();
            draft.track(TrackRow {
                clip,
                track: TrackId(u64::from(self.clips) * 2 + which as u64),
                source: front.clone(),
                span: Span::new(at, at.plus_secs(CLIP_SECS)),
                sightings,
                face: Some(face),
                confidence: 0.9,
                picture: false,
                body: false,
                colours: None,
            });
        }
        for number in 0..TURNS {
            let start = at.plus_secs(number as f64 * CLIP_SECS / TURNS as f64);
            let (_, sentence, _) = &corpus.turns[(self.said + number) % corpus.turns.len()];
            draft.turn(TurnRow {
                clip,
                turn: self.turn(number),
                source: SourceId::new("head"),
                span: Span::new(start, start.plus_secs(3.0)),
                speech_secs: 2.8,
                voice: Some(self.voices[number % 2]),
                confidence: 0.9,
                words: Some(transcript(sentence, start)),
                sound: None,
            });
        }
        for second in 0..POSES {
            let pose = Pose {
                stamp: at.plus_secs(f64::from(second)),
                x: f64::from(self.random.gaussian()),
                y: f64::from(self.random.gaussian()),
                yaw: 0.0,
                frame: "map".into(),
            };
            draft.pose(PoseRow { clip, pose });
        }
    }
}

/// Five words a second.
fn transcript(sentence: &str, start: Timestamp) -> Transcript {
    let words = sentence.split_whitespace().enumerate().map(|(place, word)| {
        let from = start.plus_secs(0.2 * place as f64);
        let span = Span::new(from, from.plus_secs(0.2));
        Word { text: word.into(), span, confidence: Some(0.8) }
    });
    Transcript {
        text: sentence.to_owned(),
        words: words.collect(),
        language: Some("en".into()),
        engine: "bench".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_that_of_the_line_that_fits_best() {
        assert!((slope(&[1.0, 3.0, 5.0, 7.0]) - 2.0).abs() < 1e-12);
        assert!(slope(&[4.0, 4.0, 4.0]).abs() < 1e-12);
        assert_eq!((slope(&[9.0]), slope(&[])), (0.0, 0.0));
    }
}
