//! People who were met: rows of their galleries, persons, evidence and names, as years of clips would have left them.

use super::super::filler::beginning;
use super::spread::{Person, Spread};
use crate::bench::BenchError;
use crate::bench::random::SplitMix64;
use crate::config::Config;
use crate::identify::matching::gallery::Gallery;
use crate::ids::{EntityId, EntityKind};
use crate::memory::model::{Exemplar, Membership, NameRow, NameSource, PairEvidence, Presence};
use crate::memory::{Draft, Memory};
use crate::percept::Embedding;

/// People written in one commit.
const AT_ONCE: usize = 500;
/// One in so many has a name.
const NAMED_ONE_IN: usize = 5;
/// Pictures that an occasion leaves, and turns.
const PICTURES: usize = 4;
const TURNS: usize = 2;
/// A turn, seconds of speech.
const TURN_SECS: f32 = 4.0;
/// Most occasions that are drawn: more change nothing in a full gallery.
const MOST_OCCASIONS: usize = 30;
const DAY_SECS: f64 = 86_400.0;
/// The days in which people were met.
const DAYS: usize = 25;

/// Somebody of the galleries.
#[derive(Clone, Debug)]
pub(super) struct Met {
    pub(super) face: Person,
    pub(super) voice: Person,
    pub(super) entities: [EntityId; 2],
    pub(super) person: EntityId,
}

/// All of them.
pub(super) type Known = Vec<Met>;

/// Fills the store.
pub(super) fn fill(
    memory: &Memory,
    config: &Config,
    (faces, voices): (&Spread, &Spread),
    people: usize,
    seed: u64,
) -> Result<Known, BenchError> {
    let mut random = SplitMix64::new(seed);
    let mut known: Known = Vec::with_capacity(people);
    let capacity = config.identity.gallery_size;
    while known.len() < people {
        let mut draft = memory.begin(beginning());
        for _ in 0..AT_ONCE.min(people - known.len()) {
            let like = known.get(random.below(known.len()));
            let face = faces.person(&mut random, like.map(|met| &met.face));
            let voice = voices.person(&mut random, like.map(|met| &met.voice));
            let entities = [EntityKind::Face, EntityKind::Voice].map(|kind| draft.new_entity(kind));
            let person = draft.new_entity(EntityKind::Person);
            let met = Met { face, voice, entities, person };
            write(&mut draft, &met, (faces, voices), capacity, &mut random);
            known.push(met);
        }
        draft.commit()?;
    }
    Ok(known)
}

/// How often somebody was met: half of all once, and few very often (a Pareto law with exponent 1).
fn occasions(random: &mut SplitMix64) -> usize {
    ((1.0 / (1.0 - random.unit()).max(1e-9)) as usize).clamp(1, MOST_OCCASIONS)
}

fn write(
    draft: &mut Draft,
    met: &Met,
    (faces, voices): (&Spread, &Spread),
    capacity: usize,
    random: &mut SplitMix64,
) {
    let [face, voice] = met.entities;
    let (mut of_face, mut of_voice) = (Gallery::new(face), Gallery::new(voice));
    let many = occasions(random);
    for _ in 0..many {
        let day = random.below(DAYS) as f64 + 1.0;
        let at = beginning().plus_secs(-day * DAY_SECS);
        let (seen, heard) = (faces.occasion(random), voices.occasion(random));
        let row = |entity, embedding, quality, weight| Exemplar {
            entity,
            slot: 0,
            at,
            embedding,
            quality,
            weight,
            media: None,
        };
        for _ in 0..PICTURES {
            let quality = 0.5 + 0.4 * random.unit() as f32;
            let picture: Embedding = faces.sample(random, &met.face, &seen);
            of_face.admit(row(face, picture, quality, 1.0), capacity, SAME_VIEW);
        }
        for _ in 0..TURNS {
            let turn = voices.sample(random, &met.voice, &heard);
            of_voice.admit(row(voice, turn, 1.0, TURN_SECS), capacity, SAME_VIEW);
        }
    }
    for row in of_face.exemplars().iter().chain(of_voice.exemplars()) {
        draft.exemplar((**row).clone());
    }
    let reason = "bench".to_owned();
    for part in met.entities {
        let row = Membership { part, person: met.person, reason: reason.clone(), decreed: false };
        draft.membership(row);
    }
    let support_secs = f64::from(TURN_SECS) * (TURNS * many) as f64;
    let seen =
        Presence { visible_secs: support_secs, clear_secs: support_secs, ..Presence::default() };
    let (against_secs, presence) = (0.0, Some(seen));
    draft.evidence(PairEvidence { face, voice, support_secs, against_secs, presence });
    let heard = PairEvidence { face: voice, voice, support_secs, against_secs, presence: None };
    draft.evidence(heard);
    if random.below(NAMED_ONE_IN) == 0 {
        let (entity, source) = (met.person, NameSource::Told);
        let name = name(random);
        draft.name(NameRow { entity, name, since: beginning(), source, turn: None });
    }
}

/// Samples that are more alike than this show the same view: what the thresholds of the set's networks come to, more or less.
const SAME_VIEW: f32 = 0.9;

/// Some thousands of names.
fn name(random: &mut SplitMix64) -> String {
    const FIRST: [&str; 16] = [
        "Ka", "Lo", "Mi", "Sa", "Te", "Ru", "No", "Da", "Be", "Fi", "Gu", "Ha", "Ju", "Pe", "Va",
        "Zo",
    ];
    const LAST: [&str; 16] = [
        "ra", "len", "mir", "na", "ton", "vi", "dor", "lia", "ric", "sa", "bert", "ne", "lo",
        "mund", "ka", "wen",
    ];
    let mut name = FIRST[random.below(FIRST.len())].to_owned();
    name.push_str(LAST[random.below(LAST.len())]);
    if random.below(2) == 0 {
        name.push_str(LAST[random.below(LAST.len())]);
    }
    name
}
