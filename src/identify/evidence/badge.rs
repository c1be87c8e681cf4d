//! Names that are read on badges: what hangs below somebody's face, and is a name.
//!
//! Weak evidence: a name is taken only of a text that was read surely and more than once, below the one face that it can
//! belong to, and only for a person without any. Whatever is heard, concluded or told outranks it ([`NameSource::Read`]),
//! and it makes nobody one with anybody.

use super::names::is_first_name;
use crate::geometry::Rect;
use crate::identify::identified::IdentifiedClip;
use crate::identify::resolver::Resolver;
use crate::identify::writer::IdentityWriter;
use crate::ids::{EntityId, EntityKind};
use crate::memory::model::{NameRow, NameSource};
use crate::names::is_title;
use crate::percept::{ClipPercepts, FaceTrack, TextTrack};

/// A badge is read so surely, and so often.
const LEAST_CONFIDENCE: f32 = 0.9;
const LEAST_READINGS: u32 = 2;
/// A face was seen at most so long before or after the badge was read, seconds.
const APART_SECS: f64 = 1.0;
/// Where a badge hangs, in sizes of the face: so far to a side, so far below the chin, and no wider than that.
const BESIDE: f32 = 1.2;
const BELOW: f32 = 3.0;
const WIDEST: f32 = 1.6;
/// What stands before a name on a badge.
const LEADS: [&str; 4] = ["hello my name is", "my name is", "hello i am", "name:"];
/// Words of a name, at most.
const MOST_WORDS: usize = 4;

impl Resolver {
    /// Names on badges that were read in a clip.
    pub(in crate::identify) fn read_badges(
        &mut self,
        clip: &ClipPercepts,
        out: &mut IdentifiedClip,
        writer: &mut dyn IdentityWriter,
    ) {
        for text in &clip.texts {
            if text.confidence < LEAST_CONFIDENCE || text.readings < LEAST_READINGS {
                continue;
            }
            let Some(name) = name_on(&text.text) else { continue };
            let Some(person) = wearer(clip, text, out) else { continue };
            let person = self.persons.resolve(person);
            if person.kind != EntityKind::Person || self.persons.name(person).is_some() {
                continue;
            }
            let (since, source) = (text.best_at, NameSource::Read);
            let row = NameRow { entity: person, name, since, source, turn: None };
            if self.persons.name_it(row.clone(), writer) {
                out.names.push(row);
            }
        }
    }
}

/// Whose face alone the text hangs below.
fn wearer(clip: &ClipPercepts, text: &TextTrack, out: &IdentifiedClip) -> Option<EntityId> {
    let worn = |track: &&FaceTrack| {
        let near = track
            .sightings
            .iter()
            .min_by_key(|sighting| sighting.at.as_nanos().abs_diff(text.best_at.as_nanos()));
        track.source == text.source
            && near.is_some_and(|sighting| {
                let apart = sighting.at.secs_since(text.best_at).abs();
                apart <= APART_SECS && hangs_below(text.place, sighting.bbox)
            })
    };
    let mut tracks = clip.tracks.iter().filter(worn);
    let track = tracks.next().filter(|_| tracks.next().is_none())?;
    out.tracks.iter().find(|one| one.track == track.id)?.person
}

/// Whether a badge in that place is worn by whoever has that face.
fn hangs_below(badge: Rect, face: Rect) -> bool {
    let (at, under) = (badge.centre(), badge.y - face.bottom());
    (at.x - face.centre().x).abs() <= BESIDE * face.w
        && under >= -0.3 * face.h
        && under <= BELOW * face.h
        && badge.w <= WIDEST * face.w
}

/// The name that a badge bears: words with capitals, of which the first (behind titles) is a first name, or whatever stands
/// behind "my name is".
fn name_on(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let lead =
        LEADS.iter().find(|lead| lower.starts_with(*lead) && text.is_char_boundary(lead.len()));
    let words: Vec<&str> = text[lead.map_or(0, |lead| lead.len())..].split_whitespace().collect();
    let is_word = |word: &&str| {
        let letters = word.trim_end_matches('.');
        letters.starts_with(char::is_uppercase)
            && letters.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\''))
    };
    if words.is_empty() || words.len() > MOST_WORDS || !words.iter().all(is_word) {
        return None;
    }
    let bare = |word: &str| word.trim_end_matches('.').to_lowercase();
    let first = words.iter().map(|word| bare(word)).find(|word| !is_title(word))?;
    let is_name = lead.is_some() || is_first_name(&first);
    let written = words.iter().map(|word| as_name(word)).collect::<Vec<_>>().join(" ");
    is_name.then_some(written)
}

/// "HELEN" as people write it.
fn as_name(word: &str) -> String {
    let shouts = word.chars().filter(|c| c.is_alphabetic()).count() > 1
        && word.chars().filter(|c| c.is_alphabetic()).all(char::is_uppercase);
    if !shouts {
        return word.to_owned();
    }
    let mut letters = word.chars();
    letters.next().into_iter().chain(letters.flat_map(char::to_lowercase)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_badge_bears_a_name_and_a_sign_does_not() {
        let read = |text: &str| name_on(text);
        assert_eq!(read("HELEN Marsh").as_deref(), Some("Helen Marsh"));
        assert_eq!(read("Dr. Helen Marsh").as_deref(), Some("Dr. Helen Marsh"));
        assert_eq!(read("Hello my name is Oluchi").as_deref(), Some("Oluchi"));
        for sign in
            ["Wet floor", "EXIT", "Bus 42 Harbour", "Castle Hill", "Push To Open", "", "Dr."]
        {
            assert_eq!(read(sign), None, "{sign}");
        }
    }

    #[test]
    fn it_hangs_below_a_face() {
        let face = Rect { x: 300.0, y: 80.0, w: 100.0, h: 120.0 };
        let badge = |x: f32, y: f32, w: f32| Rect { x, y, w, h: 30.0 };
        assert!(hangs_below(badge(350.0, 320.0, 90.0), face));
        assert!(!hangs_below(badge(350.0, 20.0, 90.0), face), "above it");
        assert!(!hangs_below(badge(520.0, 320.0, 90.0), face), "beside it");
        assert!(!hangs_below(badge(300.0, 320.0, 240.0), face), "a poster");
    }
}
