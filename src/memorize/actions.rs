//! What people do: who sat down, stood up, waved, fell; each is told once, where it begins.

use super::{Scene, Sentence};
use crate::ids::{EntityId, TrackId};
use crate::language::actions::{SOMEBODY, is_posture, told};
use crate::memory::PerceptFilter;
use crate::memory::model::{Ground, MemoryKind};
use crate::percept::{Action, ActionKind, BodyTrack};
use crate::time::Span;

/// What somebody does again so soon goes on; what he did so shortly before is what he began it from. Seconds.
const GOES_ON_SECS: f64 = 5.0;

/// Something that somebody did.
struct Deed<'a> {
    who: Option<EntityId>,
    body: &'a BodyTrack,
    action: Action,
}

/// What was done in the clip, but for what an earlier one told of and goes on.
pub(super) fn sentences(scene: &Scene<'_>) -> Vec<Sentence> {
    let mut deeds: Vec<Deed<'_>> = Vec::new();
    for body in &scene.percepts.bodies {
        let who = scene.identified.person_of_body(body.id);
        deeds.extend(body.actions.iter().map(|action| Deed { who, body, action: *action }));
    }
    deeds.sort_by_key(|deed| (deed.action.span, deed.action.kind, deed.body.id));
    let mut told: Vec<Deed<'_>> = Vec::new();
    let mut sentences = Vec::new();
    for deed in deeds {
        let again = told.iter_mut().rev().find(|known| known.is_gone_on_with(&deed));
        if let Some(known) = again {
            known.action.span.end = known.action.span.end.max(deed.action.span.end);
            continue;
        }
        let before = told.iter().rev().find(|known| known.leads_to(&deed));
        let before = before.map(|known| known.action.kind).or_else(|| earlier(scene, &deed));
        if !deed.action.continued
            && let Some(words) = deed.words(before)
        {
            sentences.push(deed.sentence(scene, words));
        }
        told.push(deed);
    }
    sentences
}

/// How that body was held before, where an earlier clip tells it.
fn earlier(scene: &Scene<'_>, deed: &Deed<'_>) -> Option<ActionKind> {
    let start = deed.action.span.start;
    let span = Some(Span::new(start.plus_secs(-GOES_ON_SECS), start));
    let rows = scene.before.actions(&PerceptFilter { span, ..PerceptFilter::default() });
    let (clip, track): (_, TrackId) = (scene.percepts.clip, deed.body.id);
    let of_it = rows.iter().rev().find(|row| {
        row.clip.session == clip.session && row.track == track && is_posture(row.action.kind)
    });
    of_it.map(|row| row.action.kind)
}

impl Deed<'_> {
    /// Of one person, or of one body that is nobody's.
    fn is_of(&self, other: &Self) -> bool {
        match (self.who, other.who) {
            (None, None) => self.body.id == other.body.id,
            (who, other) => who == other,
        }
    }

    fn is_gone_on_with(&self, next: &Self) -> bool {
        let apart = next.action.span.start.secs_since(self.action.span.end);
        self.is_of(next) && self.action.kind == next.action.kind && apart <= GOES_ON_SECS
    }

    fn leads_to(&self, next: &Self) -> bool {
        let apart = next.action.span.start.secs_since(self.action.span.end);
        self.is_of(next) && is_posture(self.action.kind) && apart <= GOES_ON_SECS
    }

    /// What is told of it; `None` of what everybody does all the time.
    fn words(&self, before: Option<ActionKind>) -> Option<&'static str> {
        let fell = self.body.actions.iter().any(|one| one.kind == ActionKind::Falls);
        told(&self.action, before, fell)
    }

    fn sentence(&self, scene: &Scene<'_>, words: &str) -> Sentence {
        let text = match self.who {
            Some(who) => format!("<{who}> {words}."),
            None => crate::text::capitalised(&format!("{SOMEBODY} {words}.")),
        };
        let grounds = vec![Ground::Track(scene.percepts.clip, self.body.id)];
        let mut sentence = Sentence::new(MemoryKind::Episodic, text, self.action.span, grounds);
        sentence.confidence = self.action.confidence;
        if self.action.kind == ActionKind::Falls {
            sentence.importance = 0.9;
        }
        sentence
    }
}
