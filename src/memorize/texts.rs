//! Words in view: a sentence when a sign, a label or a screen is read, none while it goes on saying the same.

use super::objects::{Side, room};
use super::{Scene, Sentence};
use crate::memory::PerceptFilter;
use crate::memory::model::{Ground, MemoryKind};
use crate::percept::TextTrack;
use crate::time::Span;

/// The same words read by the same camera within so long are no news, wherever they stand then: the camera, or the robot with
/// it, may have turned. Seconds.
const NEWS_SECS: f64 = 600.0;

/// One per text that was not told of.
pub(super) fn sentences(scene: &Scene<'_>) -> Vec<Sentence> {
    let mut found: Vec<(&TextTrack, Sentence)> = Vec::new();
    for track in &scene.percepts.texts {
        let told = |(other, _): &(&TextTrack, Sentence)| is_same(track, other);
        if track.continued || found.iter().any(told) || was_read(scene, track) {
            continue;
        }
        let grounds = vec![Ground::Text(scene.percepts.clip, track.id)];
        let text = wording(scene, track);
        let mut sentence = Sentence::new(MemoryKind::Episodic, text, track.span, grounds);
        sentence.importance = 0.3;
        sentence.confidence = track.confidence;
        found.push((track, sentence));
    }
    found.into_iter().map(|(_, sentence)| sentence).collect()
}

/// `A sign in view of door, on the left, read "Push to open".`
fn wording(scene: &Scene<'_>, track: &TextTrack) -> String {
    let share = track.place.centre().x / track.picture.0.max(1) as f32;
    let side = Side::of(share, None).words();
    let room =
        room(scene, track.span.end).map_or_else(String::new, |room| format!(" in the {room},"));
    format!("A sign{room} in view of {}, {side}, read \"{}\".", track.source, quotable(&track.text))
}

/// What was read, as it may stand between quotation marks: a sign mentions nobody by an id.
fn quotable(text: &str) -> String {
    text.replace('"', "'").replace('<', "‹").replace('>', "›")
}

/// Whether the camera read these words a while ago.
fn was_read(scene: &Scene<'_>, track: &TextTrack) -> bool {
    let start = track.span.start;
    let span = Some(Span::new(start.plus_secs(-NEWS_SECS), start));
    let filter =
        PerceptFilter { span, source: Some(track.source.clone()), ..PerceptFilter::default() };
    scene.before.text_tracks(&filter).iter().any(|row| is_same(track, &row.track))
}

fn is_same(a: &TextTrack, b: &TextTrack) -> bool {
    a.source == b.source && letters(&a.text) == letters(&b.text)
}

/// Without what readings differ in: spaces, marks, capitals.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_mentions_nobody_and_ends_no_quotation() {
        assert_eq!(quotable("<person_1> says \"hi\""), "‹person_1› says 'hi'");
        assert!(crate::mention::mentions(&quotable("<person_1>")).is_empty());
        assert_eq!(letters("Push to-OPEN!"), "pushtoopen");
    }
}
