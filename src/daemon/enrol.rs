//! Enrolment: a picture and a sound that the user sends become exemplars of a face and a voice.
//!
//! The same models look and listen as for cameras and microphones; what they cannot use is refused with the reason.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::ingest::PerceiverSet;
use crate::capture::imaging::picture::{PHOTO_SIDE_PX, decode, photograph};
use crate::config::FacePerception;
use crate::geometry::Rect;
use crate::identify::{Lesson, wav};
use crate::ids::{EntityId, EntityKind, SourceId};
use crate::media::{Block, SAMPLE_RATE};
use crate::memory::model::{Exemplar, Media, MediaKind};
use crate::mqtt::Refusal;
use crate::perceive::face::Detection;
use crate::perceive::face::embed::quality::{Flaw, quality, worst};
use crate::perceive::speech::from_wav;
use crate::perceive::voice::{RawTurn, TurnSegmenter, VoiceError};
use crate::percept::{Embedding, Face, FrameFaces};
use crate::time::Timestamp;

/// Speech without which no voice is learned, seconds.
pub(crate) const LEAST_SPEECH_SECS: f64 = 1.2;
/// A face that is less than this share of the largest one's height is somebody in the background …
const BACKGROUND: f32 = 0.7;
/// … and one at the picture's edge is below this somebody beside.
const PASSING: f32 = 0.9;
/// So near to its sides is a picture's edge, in widths and heights of it.
const EDGE: f32 = 0.02;
/// Quality below which a face teaches nothing, even where it is told whose it is.
const LEAST_QUALITY: f32 = 0.15;
/// Sound pinned with an exemplar, seconds.
const PINNED_SECS: f64 = 3.0;
/// So much speech is compared with as much: it must be of one voice.
const SURE_SECS: f64 = 2.0;

/// The one face of a picture, as a lesson for a gallery.
///
/// # Errors
/// A [`Refusal`]: no picture, no face, several faces, one that is seen too poorly, or no models.
pub fn face(perceivers: &PerceiverSet, photo: &str, at: Timestamp) -> Result<Lesson, Refusal> {
    let bad = |why: String| Refusal::bad_request(format!("`photo`: {why}"));
    let bytes = BASE64.decode(photo.trim()).map_err(|error| bad(format!("no base64: {error}")))?;
    let picture = photograph(&bytes, PHOTO_SIDE_PX)
        .map_err(|why| bad(format!("it is no JPEG or PNG picture that can be read: {why}")))?;
    let failed = |error: &dyn std::fmt::Display| {
        tracing::warn!(%error, "A picture could not be looked at.");
        Refusal::unavailable(format!("looking for a face: {error}"))
    };
    let settings = &perceivers.settings().face;
    // Whose face it is is told: more serves than galleries take by themselves.
    let lenient = FacePerception { min_quality: 0.0, ..settings.clone() };
    let analyser = perceivers.face_analyser(&lenient).map_err(|error| failed(&error))?;
    let none = "there is no model for faces; `engramd models fetch` brings it";
    let mut analyser = analyser.ok_or_else(|| Refusal::unavailable(none))?;
    let found = analyser
        .analyse_portrait(&SourceId::new("photo"), at, &picture)
        .map_err(|error| failed(&error))?;
    let face = subject(found, settings).map_err(bad)?;
    let (Some(embedding), Some(chip)) = (&face.embedding, &face.chip) else {
        return Err(Refusal::unavailable(none));
    };
    let least = LEAST_QUALITY.min(settings.min_quality);
    if face.quality < least {
        return Err(bad(too_poor(&face, chip, least)));
    }
    let (embedding, chip) = (embedding.clone(), Arc::clone(chip));
    Ok(lesson(EntityKind::Face, at, embedding, (face.quality, 1.0), MediaKind::FaceChip, chip))
}

/// The face that a picture is of: the only one, or by far the largest.
///
/// # Errors
/// Why there is none, and what would help.
fn subject(found: FrameFaces, settings: &FacePerception) -> Result<Face, String> {
    let (width, height) = (found.width, found.height);
    let clearest = found.faces.iter().map(|face| face.score).reduce(f32::max);
    let mut faces: Vec<Face> =
        found.faces.into_iter().filter(|face| face.score >= settings.min_score).collect();
    faces.sort_by(|a, b| a.bbox.x.total_cmp(&b.bbox.x));
    let tallest = faces.iter().map(|face| face.bbox.h).fold(0.0_f32, f32::max);
    faces.retain(|face| {
        let share = if is_at_edge(face.bbox, (width, height)) { PASSING } else { BACKGROUND };
        face.bbox.h >= share * tallest
    });
    let several = faces.len();
    let places = faces.iter().map(|face| place(face.bbox)).collect::<Vec<_>>().join(" and ");
    let needed =
        format!("upright, lit, not covered, and at least {} px high", 2.0 * settings.min_size_px);
    match (faces.pop(), clearest) {
        (Some(face), _) if several == 1 => Ok(face),
        (Some(_), _) => Err(format!(
            "there are {several} faces in it ({width}x{height} px): {places}; cut it down to the one, or take one in which the \
             others are far smaller"
        )),
        (None, Some(score)) => Err(format!(
            "what may be a face in it cannot be made out (score {score:.2} of at least {:.2}); take one in which it is {needed}",
            settings.min_score
        )),
        (None, None) => Err(format!(
            "there is no face in it ({width}x{height} px); take one in which the face is {needed}"
        )),
    }
}

/// Where a face is in its picture.
fn place(bbox: Rect) -> String {
    format!("{:.0}x{:.0} px at {:.0},{:.0}", bbox.w, bbox.h, bbox.x.max(0.0), bbox.y.max(0.0))
}

/// Whether a box reaches the picture's edge.
fn is_at_edge(bbox: Rect, (width, height): (u32, u32)) -> bool {
    let (width, height) = (width as f32, height as f32);
    let (mx, my) = (EDGE * width, EDGE * height);
    bbox.x <= mx || bbox.y <= my || bbox.right() >= width - mx || bbox.bottom() >= height - my
}

/// What is wrong with a face of which too little can be learned, and what would help.
fn too_poor(face: &Face, chip: &[u8], least: f32) -> String {
    let seen = Detection { bbox: face.bbox, landmarks: face.landmarks, score: face.score };
    let flaw = match decode(chip) {
        // Well seen, and hardly known for a face by the network that tells them apart.
        Ok(chip) if quality(&seen, &chip) >= least => Flaw::Unclear,
        Ok(chip) => worst(&seen, &chip),
        Err(_) => Flaw::Unclear,
    };
    let (what, cure) = match flaw {
        Flaw::Small => ("is too small", "take it from nearer, or with more pixels"),
        Flaw::Blurred => ("is blurred", "hold the camera still, with more light"),
        Flaw::Turned => ("is turned away", "take one that looks at the camera"),
        Flaw::Tilted => ("lies on its side", "turn the picture upright"),
        Flaw::Unclear => ("can hardly be made out", "take one in which it is lit and not covered"),
    };
    format!("the face {what}: quality {:.2} of at least {least:.2}; {cure}", face.quality)
}

/// How alike turns of one voice are at least: a cosine; -1 where nobody calibrated the model.
pub fn alike_from(perceivers: &PerceiverSet) -> f32 {
    let known = perceivers.speaker_embedder.as_ref();
    known.and_then(|model| model.thresholds.as_ref()).map_or(-1.0, |thresholds| thresholds.maybe)
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
    let embed = |sound: &[f32]| embedder.embed(sound);
    if are_two(&heard, alike_from, embed).map_err(|error| failed(&error))? {
        return Err(bad("two voices are heard in it; cut it down to the one".into()));
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

/// Whether turns are of two voices: two that are long are unlike, or all that is like the one of the least alike two is,
/// heard in one piece, unlike all that is like the other. One short turn alone is too little to tell.
fn are_two(
    heard: &[(RawTurn, Embedding)],
    alike_from: f32,
    mut embed: impl FnMut(&[f32]) -> Result<Embedding, VoiceError>,
) -> Result<bool, VoiceError> {
    let cosine = |a: &Embedding, b: &Embedding| a.cosine(b).unwrap_or(1.0);
    let mut least: Option<(f32, &Embedding, &Embedding)> = None;
    for (index, (turn, a)) in heard.iter().enumerate() {
        for (other, b) in &heard[index + 1..] {
            let alike = cosine(a, b);
            if alike < alike_from && turn.speech_secs.min(other.speech_secs) >= SURE_SECS {
                return Ok(true);
            }
            if least.is_none_or(|(least, ..)| alike < least) {
                least = Some((alike, a, b));
            }
        }
    }
    let Some((_, a, b)) = least.filter(|(alike, ..)| *alike < alike_from) else { return Ok(false) };
    let (mut mine, mut theirs): (Vec<&RawTurn>, Vec<&RawTurn>) = (Vec::new(), Vec::new());
    for (turn, one) in heard {
        let side = if cosine(one, a) >= cosine(one, b) { &mut mine } else { &mut theirs };
        side.push(turn);
    }
    let secs = |side: &[&RawTurn]| side.iter().map(|turn| turn.speech_secs).sum::<f64>();
    if secs(&mine).min(secs(&theirs)) < SURE_SECS {
        return Ok(false);
    }
    let mut together = |side: &[&RawTurn]| {
        let sound: Vec<f32> = side.iter().flat_map(|turn| turn.sound.iter().copied()).collect();
        embed(&sound)
    };
    Ok(cosine(&together(&mine)?, &together(&theirs)?) < alike_from)
}

/// Stretches of speech; `None` without a voice activity model.
fn turns(
    perceivers: &PerceiverSet,
    sound: Vec<f32>,
    at: Timestamp,
) -> Result<Option<Vec<RawTurn>>, crate::perceive::PerceiveError> {
    let source = SourceId::new("voice");
    let Some(mut finder) = perceivers.turn_finder(&source, None)? else { return Ok(None) };
    Ok(Some(turns_of(&mut finder, sound, at)?))
}

/// The stretches of speech of one whole sound; the finder has forgotten it then.
///
/// # Errors
/// When the voice activity model fails.
pub(crate) fn turns_of(
    finder: &mut TurnSegmenter,
    sound: Vec<f32>,
    at: Timestamp,
) -> Result<Vec<RawTurn>, VoiceError> {
    let source = SourceId::new("voice");
    let mut turns = finder.push(&Block { source, at, samples: sound.into() })?;
    turns.extend(finder.flush()?);
    Ok(turns)
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
        assert!(
            several.contains(" faces in it (") && several.contains("; cut it down"),
            "{several}"
        );
        let mut wall = std::io::Cursor::new(Vec::new());
        image::RgbImage::from_pixel(320, 240, image::Rgb([120, 130, 140]))
            .write_to(&mut wall, image::ImageFormat::Png)
            .unwrap();
        let none = refused(&BASE64.encode(wall.into_inner()));
        assert!(none.contains("no face in it (320x240 px)"), "{none}");
        assert!(refused("%%").contains("no base64"));
        assert!(refused(&BASE64.encode("text")).contains("no JPEG or PNG"));
    }

    fn of_picture(picture: &image::RgbImage) -> String {
        let mut png = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut png, image::ImageFormat::Png).unwrap();
        BASE64.encode(png.into_inner())
    }

    /// A picture of the LFW folder: the person, then the number of the picture.
    fn of_lfw(recordings: &Path, who: &str, number: u32) -> image::RgbImage {
        let file = recordings.join(format!("faces/lfw/{who}/{who}_{number:04}.jpg"));
        decode(&std::fs::read(file).unwrap()).unwrap()
    }

    #[test]
    fn a_face_that_fills_its_picture_is_learned() {
        let Some((set, recordings)) = material() else { return };
        let at = Timestamp::EPOCH;
        let mut found_at_once = 0;
        let everybody = [
            "Ariel_Sharon",
            "Arnold_Schwarzenegger",
            "Colin_Powell",
            "Donald_Rumsfeld",
            "George_W_Bush",
        ];
        for who in everybody {
            let whole = of_lfw(&recordings, who, 1);
            let (known, _) = face(&set, &of_picture(&whole), at).unwrap();
            let inside = image::imageops::crop_imm(&whole, 88, 72, 74, 108).to_image();
            let filter = image::imageops::FilterType::Triangle;
            let filled = image::imageops::resize(&inside, 740, 1080, filter);
            let (learned, _) = face(&set, &of_picture(&filled), at).unwrap();
            let alike = learned.embedding.cosine(&known.embedding).unwrap();
            assert!(alike > 0.5, "{who}: {alike}");
            let settings = &set.settings().face;
            let mut plain = set.face_analyser(settings).unwrap().unwrap();
            let seen = plain.analyse(&SourceId::new("photo"), at, &filled).unwrap();
            found_at_once += usize::from(subject(seen, settings).is_ok());
        }
        assert!(found_at_once < everybody.len(), "{found_at_once}");
    }

    #[test]
    fn a_face_that_is_turned_or_on_its_side_is_learned_as_far_as_it_can_be_and_else_says_why() {
        let Some((set, recordings)) = material() else { return };
        let at = Timestamp::EPOCH;
        for number in [1, 2] {
            let half_turned = of_lfw(&recordings, "Arnold_Schwarzenegger", number);
            assert!(face(&set, &of_picture(&half_turned), at).is_ok(), "{number}");
        }
        let profile = of_lfw(&recordings, "Donald_Rumsfeld", 5);
        let refused = face(&set, &of_picture(&profile), at).unwrap_err().message;
        assert!(refused.contains("turned away: quality 0."), "{refused}");
        assert!(refused.contains("take one that looks at the camera"), "{refused}");
        let aside = image::imageops::rotate270(&of_lfw(&recordings, "Ariel_Sharon", 1));
        let refused = face(&set, &of_picture(&aside), at).unwrap_err().message;
        assert!(refused.contains("upright"), "{refused}");
    }

    fn seen(x: f32, y: f32, height: f32, score: f32) -> Face {
        Face {
            bbox: Rect { x, y, w: 0.7 * height, h: height },
            landmarks: [crate::geometry::Point::default(); 5],
            score,
            quality: 0.5,
            embedding: None,
            chip: None,
            bearing: None,
            look: None,
        }
    }

    #[test]
    fn the_subject_is_the_only_face_or_by_far_the_largest() {
        let settings = FacePerception::default();
        let chosen = |faces: &[Face]| {
            let mut found = FrameFaces::none(&SourceId::new("photo"), Timestamp::EPOCH, (250, 250));
            found.faces = faces.to_vec();
            subject(found, &settings).map(|face| face.bbox.h)
        };
        let her = seen(80.0, 60.0, 130.0, 0.85);
        assert_eq!(chosen(std::slice::from_ref(&her)), Ok(130.0));
        let behind = seen(180.0, 100.0, 80.0, 0.9);
        assert_eq!(chosen(&[behind, her.clone()]), Ok(130.0), "in the background");
        let beside = seen(0.0, 119.0, 106.0, 0.9);
        assert_eq!(chosen(&[beside, her.clone()]), Ok(130.0), "cut off at the edge");
        let friend = seen(170.0, 60.0, 106.0, 0.9);
        let two = chosen(&[her, friend]).unwrap_err();
        assert!(two.contains("2 faces in it (250x250 px): 91x130 px at 80,60 and 74x106 px at 170,60; cut it down"), "{two}");
        let unclear = chosen(&[seen(80.0, 60.0, 130.0, 0.5)]).unwrap_err();
        assert!(unclear.contains("score 0.50 of at least 0.60"), "{unclear}");
        let nobody = chosen(&[]).unwrap_err();
        assert!(nobody.contains("no face in it (250x250 px)"), "{nobody}");
        assert!(nobody.contains("at least 48 px high"), "{nobody}");
    }

    /// Turns by direction in the plane, radians, and seconds.
    fn spoken(turns: &[(f32, f64)]) -> Vec<(RawTurn, Embedding)> {
        let turn = |(angle, secs): &(f32, f64)| RawTurn {
            source: SourceId::new("voice"),
            span: crate::time::Span::new(Timestamp::EPOCH, Timestamp::EPOCH.plus_secs(*secs)),
            sound: vec![*angle; (100.0 * secs) as usize].into(),
            activity: Vec::new(),
            speech_secs: *secs,
            level_dbfs: -20.0,
        };
        turns.iter().map(turn).map(|turn| (turn.clone(), heard(&turn.sound))).collect()
    }

    /// The mean direction: what turns are off by averages out where they are heard together.
    fn heard(sound: &[f32]) -> Embedding {
        let mean = sound.iter().sum::<f32>() / sound.len() as f32;
        Embedding::normalised(vec![mean.cos(), mean.sin()], crate::ids::ModelHash([1; 32]))
    }

    #[test]
    fn two_voices_are_told_in_short_turns_too_and_one_is_not_taken_for_two() {
        let two =
            |turns: &[(f32, f64)]| are_two(&spoken(turns), 0.7, |sound| Ok(heard(sound))).unwrap();
        let (ava, ben) = (0.0, 1.2);
        assert!(two(&[(ava, 1.6), (ben, 1.6), (ava, 1.6), (ben, 1.6)]));
        assert!(two(&[(ava, 5.0), (ben, 1.6), (ben, 1.6)]), "one of them speaks for long");
        assert!(two(&[(ava, 5.0), (ben, 5.0)]));
        assert!(!two(&[(ava, 1.6), (ben, 1.6)]), "too little to tell");
        let uneven = [0.5, -0.5, 0.1, 0.1, -0.1, -0.1].map(|off| (off, 1.6));
        assert!(!two(&uneven), "two short turns of one voice may be unlike");
        assert!(!two(&[(ava, 5.0), (ava, 5.0), (ava, 1.6)]));
        assert!(!two(&[(ava, 5.0), (ava, 5.0), (ben, 0.8)]), "a cough");
        assert!(!two(&[]));
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
