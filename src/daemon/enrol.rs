//! Enrolment: a picture and a sound that the user sends become exemplars of a face and a voice.
//!
//! The same models look and listen as for cameras and microphones; what they cannot use is refused with the reason.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::ingest::PerceiverSet;
use crate::identify::{Lesson, wav};
use crate::ids::{EntityId, EntityKind, SourceId};
use crate::media::{Block, Frame, Picture, SAMPLE_RATE};
use crate::memory::model::{Exemplar, Media, MediaKind};
use crate::mqtt::Refusal;
use crate::perceive::speech::from_wav;
use crate::perceive::voice::RawTurn;
use crate::percept::Embedding;
use crate::time::Timestamp;

/// Speech without which no voice is learned, seconds.
const LEAST_SPEECH_SECS: f64 = 1.2;
/// A face that is less than this share of the largest one's height is somebody in the background.
const BACKGROUND: f32 = 0.5;
/// Sound pinned with an exemplar, seconds.
const PINNED_SECS: f64 = 3.0;
/// Turns with as much speech are compared: they must be one voice.
const SURE_SECS: f64 = 2.0;

/// The one face of a picture, as a lesson for a gallery.
///
/// # Errors
/// A [`Refusal`]: no picture, no face, several faces, one that is seen too poorly, or no models.
pub fn face(perceivers: &PerceiverSet, photo: &str, at: Timestamp) -> Result<Lesson, Refusal> {
    let bad = |why: String| Refusal::bad_request(format!("`photo`: {why}"));
    let bytes = BASE64.decode(photo.trim()).map_err(|error| bad(format!("no base64: {error}")))?;
    let source = SourceId::new("photo");
    let picture = Picture::Encoded(Arc::from(bytes));
    let frame = Frame { source: source.clone(), at, number: 0, width: 0, height: 0, picture };
    let picture = crate::capture::picture::to_rgb(&frame)
        .map_err(|error| bad(format!("it is no JPEG or PNG picture that can be read: {error}")))?;
    let failed = |error: &dyn std::fmt::Display| {
        tracing::warn!(%error, "A picture could not be looked at.");
        Refusal::unavailable(format!("looking for a face: {error}"))
    };
    let settings = &perceivers.settings().face;
    let analyser = perceivers.face_analyser(settings).map_err(|error| failed(&error))?;
    let none = "there is no model for faces; `engramd models fetch` brings it";
    let mut analyser = analyser.ok_or_else(|| Refusal::unavailable(none))?;
    let found = analyser.analyse(&source, at, &picture).map_err(|error| failed(&error))?;
    let mut faces: Vec<_> =
        found.faces.into_iter().filter(|face| face.score >= settings.min_score).collect();
    let tallest = faces.iter().map(|face| face.bbox.h).fold(0.0_f32, f32::max);
    faces.retain(|face| face.bbox.h >= BACKGROUND * tallest);
    let several = faces.len();
    let Some(face) = faces.pop() else {
        return Err(bad(format!(
            "there is no face in it ({}x{} px); take one in which the face is upright, lit, and at least {} px high",
            found.width,
            found.height,
            2.0 * settings.min_size_px
        )));
    };
    if several > 1 {
        return Err(bad(format!("there are {several} faces in it; cut it down to the one")));
    }
    let (Some(embedding), Some(chip)) = (face.embedding, face.chip) else {
        return Err(if face.quality < settings.min_quality {
            bad(format!(
                "the face is too small, blurred or turned away: quality {:.2} of at least {:.2}",
                face.quality, settings.min_quality
            ))
        } else {
            Refusal::unavailable(none)
        });
    };
    Ok(lesson(EntityKind::Face, at, embedding, (face.quality, 1.0), MediaKind::FaceChip, chip))
}

/// The one voice of a sound, as lessons for a gallery.
///
/// # Errors
/// A [`Refusal`]: no sound, no or too little speech, two voices, or no models.
pub fn voice(
    perceivers: &PerceiverSet,
    sound: &str,
    alike_from: f32,
    at: Timestamp,
) -> Result<Vec<Lesson>, Refusal> {
    let bad = |why: String| Refusal::bad_request(format!("`voice`: {why}"));
    let bytes = BASE64.decode(sound.trim()).map_err(|error| bad(format!("no base64: {error}")))?;
    let sound = from_wav(&bytes).map_err(bad)?;
    let failed = |error: &dyn std::fmt::Display| {
        tracing::warn!(%error, "A sound could not be listened to.");
        Refusal::unavailable(format!("listening for a voice: {error}"))
    };
    let none =
        || Refusal::unavailable("there is no model for voices; `engramd models fetch` brings it");
    let mut embedder =
        perceivers.speaker_embedder().map_err(|error| failed(&error))?.ok_or_else(none)?;
    let turns = turns(perceivers, sound, at).map_err(|error| failed(&error))?.ok_or_else(none)?;
    let speech = turns.iter().fold(0.0, |secs, turn| secs + turn.speech_secs);
    if speech < LEAST_SPEECH_SECS {
        return Err(bad(format!(
            "there is too little speech in it: {speech:.1} s of at least {LEAST_SPEECH_SECS} s"
        )));
    }
    let mut heard: Vec<(RawTurn, Embedding)> = Vec::new();
    for turn in turns {
        if turn.span.secs() >= embedder.min_secs() && turn.speech_secs >= 0.5 * LEAST_SPEECH_SECS {
            let embedding = embedder.embed(&turn.sound).map_err(|error| failed(&error))?;
            heard.push((turn, embedding));
        }
    }
    if heard.is_empty() {
        return Err(bad("its speech comes in pieces that are too short; speak a sentence".into()));
    }
    let long: Vec<&(RawTurn, Embedding)> =
        heard.iter().filter(|(turn, _)| turn.speech_secs >= SURE_SECS).collect();
    for (index, (_, a)) in long.iter().enumerate() {
        for (_, b) in &long[index + 1..] {
            if a.cosine(b).is_some_and(|cosine| cosine < alike_from) {
                return Err(bad("two voices are heard in it; cut it down to the one".into()));
            }
        }
    }
    let lessons = heard.into_iter().map(|(turn, embedding)| {
        let most = (PINNED_SECS * f64::from(SAMPLE_RATE)) as usize;
        let pinned = wav(&turn.sound[..turn.sound.len().min(most)]);
        let quality = (turn.speech_secs / 4.0).clamp(0.2, 1.0) as f32;
        let weight = turn.speech_secs.min(10.0) as f32;
        let about = (quality, weight);
        lesson(
            EntityKind::Voice,
            turn.span.start,
            embedding,
            about,
            MediaKind::Speech,
            pinned.into(),
        )
    });
    Ok(lessons.collect())
}

/// Stretches of speech; `None` without a voice activity model.
fn turns(
    perceivers: &PerceiverSet,
    sound: Vec<f32>,
    at: Timestamp,
) -> Result<Option<Vec<RawTurn>>, crate::perceive::PerceiveError> {
    let source = SourceId::new("voice");
    let Some(mut finder) = perceivers.turn_finder(&source, None)? else { return Ok(None) };
    let mut turns = finder.push(&Block { source, at, samples: sound.into() })?;
    turns.extend(finder.flush()?);
    Ok(Some(turns))
}

fn lesson(
    kind: EntityKind,
    at: Timestamp,
    embedding: Embedding,
    (quality, weight): (f32, f32),
    media: MediaKind,
    bytes: Arc<[u8]>,
) -> Lesson {
    let media = Media::new(media, true, bytes);
    let exemplar = Exemplar {
        entity: EntityId::new(kind, 0),
        slot: 0,
        at,
        embedding,
        quality,
        weight,
        media: Some(media.digest.clone()),
    };
    (exemplar, media)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::bench::sound;
    use crate::config::Config;
    use crate::config::sections::ModelSet;
    use crate::daemon::assemble::catalogue;
    use crate::perceive::speech::to_wav;

    /// The models of a checkout, and the folder of recordings; `None` (and a line saying so) where they are absent.
    fn material() -> Option<(PerceiverSet, PathBuf)> {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR"));
        let shared = std::env::var_os("ENGRAM_SHARED")
            .map_or_else(|| checkout.join("../shared"), PathBuf::from);
        let mut config = Config::default();
        config.models.set = ModelSet::Edge;
        config.models.dir = Some(checkout.join("target/models"));
        config.models.mirror = Some(shared.join("models"));
        let recordings = shared.join("recordings");
        let set = PerceiverSet::choose(&config, &catalogue(&config).unwrap()).unwrap();
        let whole = set.face_embedder.is_some() && set.speaker_embedder.is_some();
        if whole && recordings.exists() {
            return Some((set, recordings));
        }
        println!("SKIPPED: no models or no recordings");
        None
    }

    fn of_file(path: &Path) -> String {
        BASE64.encode(std::fs::read(path).unwrap())
    }

    fn first_file(dir: &Path) -> PathBuf {
        let mut files: Vec<_> =
            std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.remove(0)
    }

    #[test]
    fn one_face_is_learned_and_none_or_several_are_refused() {
        let Some((set, recordings)) = material() else { return };
        let at = Timestamp::EPOCH;
        let one = first_file(&first_file(&recordings.join("faces/lfw")));
        let (exemplar, media) = face(&set, &of_file(&one), at).unwrap();
        assert!(exemplar.quality > 0.3 && exemplar.media == Some(media.digest));
        let refused = |photo: &str| face(&set, photo, at).unwrap_err().message;
        let several = refused(&of_file(&recordings.join("faces/multiface_6.jpg")));
        assert!(several.contains("faces in it; cut it down"), "{several}");
        let mut wall = std::io::Cursor::new(Vec::new());
        image::RgbImage::from_pixel(320, 240, image::Rgb([120, 130, 140]))
            .write_to(&mut wall, image::ImageFormat::Png)
            .unwrap();
        let none = refused(&BASE64.encode(wall.into_inner()));
        assert!(none.contains("no face in it (320x240 px)"), "{none}");
        assert!(refused("%%").contains("no base64"));
        assert!(refused(&BASE64.encode("text")).contains("no JPEG or PNG"));
    }

    #[test]
    fn one_voice_is_learned_and_none_or_two_are_refused() {
        let Some((set, recordings)) = material() else { return };
        let at = Timestamp::EPOCH;
        let hear = |sound: &[f32]| voice(&set, &BASE64.encode(to_wav(sound)), 0.5, at);
        let one = sound::read(&recordings.join("one_person_dev.mp4")).unwrap();
        let lessons = hear(&one[..30 * SAMPLE_RATE as usize]).unwrap();
        assert!(!lessons.is_empty());
        let model = set.speaker_embedder.as_ref().unwrap().hash;
        assert!(lessons.iter().all(|(exemplar, _)| exemplar.embedding.model == model));
        let refused = |sound: &[f32]| hear(sound).unwrap_err().message;
        let none = refused(&vec![0.0; 32_000]);
        assert!(none.contains("too little speech in it: 0.0 s of at least 1.2 s"), "{none}");
        let several = sound::read(&recordings.join("living_room_dev.mp4")).unwrap();
        let several = refused(&several[..60 * SAMPLE_RATE as usize]);
        assert!(several.contains("two voices"), "{several}");
        let other = voice(&set, &BASE64.encode("RIFF"), 0.5, at).unwrap_err().message;
        assert!(other.contains("no WAV file"), "{other}");
    }
}
