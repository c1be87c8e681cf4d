//! Who is who among many: `bench people`.
//!
//! A store is filled with people who were met on one to some tens of occasions, a few of them named, as rows of galleries,
//! persons and evidence; embeddings are spread as those of the set's own networks ([`spread`]). Then a resolver is made from
//! the rows as at a start, and clips come in: five people of a clip are seen, and speak one after the other. Some of them are
//! strangers. Everything is decided by the code that runs in the daemon and committed to a store. All randomness has a fixed
//! seed.

mod galleries;
mod spread;
mod visits;

use std::time::Instant;

use serde::Serialize;

use self::galleries::{Known, fill};
use self::spread::Spread;
use self::visits::{Counting, Visits};
use super::filler::beginning;
use super::memory::{quantile, rss_anon_mb};
use super::{BenchError, scratch};
use crate::config::Config;
use crate::daemon::assemble::{Knowledge, catalogue};
use crate::daemon::ingest::PerceiverSet;
use crate::daemon::resolver::resolver;
use crate::identify::{PendingIdentities, SharedResolver};
use crate::models::ModelFile;
use crate::runtime::allocator;

const SEED: u64 = 27;
/// Clips: each has [`visits::TOGETHER`] people.
const CLIPS: u32 = 200;
/// Open tracks of an analysed frame.
const TRACKS: usize = 3;
/// Frames that are timed.
const FRAMES: usize = 50;

/// `bench people`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PeopleFigures {
    /// People in the galleries.
    pub people: usize,
    /// From a store that is open to the first clip decided and committed: the resolver from rows, then the clip; milliseconds.
    pub first_clip_ms: f64,
    /// Of that the resolver from rows.
    pub start_ms: f64,
    /// A clip with five faces and five voices, decided; median, milliseconds.
    pub clip_ms: f64,
    /// Its commit, median, milliseconds.
    pub commit_ms: f64,
    /// First guesses for the three open tracks of an analysed frame, none of them asked for before; median, milliseconds.
    pub frame_ms: f64,
    /// Rows of evidence written per clip, mean.
    pub evidence_rows: f64,
    /// Pairs of those present in a clip, mean: a face with a voice, or two of a kind.
    pub pairs_present: f64,
    /// Anonymous memory (RssAnon) of the process with store, resolver and guesses, MB (10⁶ bytes); null where the system tells
    /// none.
    pub anon_mb: Option<f64>,
    /// Probes: visits of known people, each a face and a voice.
    pub probes: usize,
    /// Visits of strangers.
    pub strangers: usize,
    /// Share of probes whose face or voice was recognised, and neither taken for somebody else's.
    pub recognised_share: f64,
    /// Visits (known people's and strangers') with a face or voice that was taken for somebody else's, of 1,000.
    pub wrong_per_1000: f64,
    /// Faces among them, of all visits.
    pub wrong_faces: usize,
    /// Voices among them, of all visits.
    pub wrong_voices: usize,
    /// Strangers' visits among them.
    pub wrong_strangers: usize,
    /// Probes with a face or voice that was taken for a new one, of 1,000.
    pub split_per_1000: f64,
    /// Share of faces recognised.
    pub faces_recognised: f64,
    /// Share of voices recognised.
    pub voices_recognised: f64,
    /// Pairs of known people who were found to be one, though they are two.
    pub wrong_merges: usize,
}

/// Measures with so many people in the galleries.
///
/// # Errors
/// When the set has no embedders, nobody measured their spread, or the store fails.
pub fn measure(config: &Config, people: usize) -> Result<PeopleFigures, BenchError> {
    let (_folder, config) = scratch::store(config)?;
    let set = PerceiverSet::choose(&config, &catalogue(&config)?)?;
    let spread = |job, file: Option<&ModelFile>| {
        let reasons = set.degraded.join("; ");
        let file = file.ok_or(BenchError::NoModel { job, reasons })?;
        Spread::of(&file.name, file.hash)
    };
    let faces = spread("faces", set.face_embedder.as_ref())?;
    let voices = spread("voices", set.speaker_embedder.as_ref())?;
    let knowledge = Knowledge::open(&config)?;
    let memory = &knowledge.memory;
    let known: Known = fill(memory, &config, (&faces, &voices), people, SEED)?;

    let mut draft = memory.begin(beginning());
    let session = draft.new_session(beginning(), visits::CLIP_SECS, None);
    draft.commit()?;
    let begun = Instant::now();
    let resolver = resolver(&config, memory, &set, PendingIdentities::default());
    let shared = SharedResolver::new(resolver);
    let start_ms = millis(begun);
    let mut figures = PeopleFigures { people, start_ms, ..PeopleFigures::default() };

    let mut visits = Visits::new(&known, (&faces, &voices), SEED + 1);
    let (mut clip_ms, mut commit_ms) = (Vec::new(), Vec::new());
    let (mut rows, mut pairs) = (0, 0);
    for number in 0..CLIPS {
        let (clip, who) = visits.clip(session, number);
        let mut draft = memory.begin(clip.span.end);
        let mut writer = Counting::new(&mut draft);
        let begun = Instant::now();
        let mut resolver = shared.lock();
        let identified = resolver.resolve(&clip, &mut writer);
        let took = millis(begun);
        let (evidence, late) = (writer.pairs, writer.late);
        visits::keep(&clip, &mut draft);
        let committing = Instant::now();
        draft.commit()?;
        let committed = millis(committing);
        if number == 0 {
            figures.first_clip_ms = start_ms + took + committed;
        } else {
            clip_ms.push(took);
            commit_ms.push(committed);
            rows += evidence;
            pairs += visits::pairs_present(&identified);
        }
        visits.judge(&who, &identified, &late, resolver.persons());
    }
    let count = f64::from(CLIPS - 1);
    (figures.evidence_rows, figures.pairs_present) = (rows as f64 / count, pairs as f64 / count);
    figures.clip_ms = quantile(&mut clip_ms, 0.5);
    figures.commit_ms = quantile(&mut commit_ms, 0.5);
    let mut frame_ms = Vec::new();
    for _ in 0..FRAMES {
        let seen = visits.faces(TRACKS);
        let begun = Instant::now();
        let guesses = shared.guesses().faces(&seen.iter().collect::<Vec<_>>());
        frame_ms.push(millis(begun));
        debug_assert_eq!(guesses.len(), TRACKS);
    }
    figures.frame_ms = quantile(&mut frame_ms, 0.5);
    visits.tally(&mut figures, shared.lock().persons());
    drop(visits);
    drop(known);
    // The daemon does so twice a minute.
    allocator::trim();
    figures.anon_mb = rss_anon_mb();
    Ok(figures)
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
