//! "Did anybody fall?", "Who waved?", "What was Ava doing at 10:05?": what people did, out of how their bodies were seen.
//!
//! A question is one of these when it names a kind of action that was ever seen (`language::actions`) and nothing that eyes
//! cannot tell ("Who sat in the garden?"), or asks what somebody was doing. What was not seen may have been: where nothing
//! of the kind was seen then, memories are asked.

use std::sync::Arc;

use crate::ids::{EntityId, SessionId, TrackId};
use crate::language::Language;
use crate::language::actions::{SOMEBODY, named, of_somebody, wording};
use crate::language::parse::Word;
use crate::memory::PerceptFilter;
use crate::memory::model::{ActionRow, TrackRow};
use crate::percept::ActionKind;
use crate::time::Span;

use super::document::Evidence;
use super::question::{self, Opening, Parsed, Subject, is, is_asking, is_grammar};
use super::reading::{GATHERED, Reading, hull, touch};
use super::reply::Reply;
use super::wording::{length, list, sentence};

/// Actions told in one answer, at most.
const TOLD: usize = 8;
/// What is seen again so soon goes on, seconds.
const GOES_ON_SECS: f64 = 5.0;

/// Something that somebody did, from when to when.
struct Done {
    who: Option<EntityId>,
    body: (SessionId, TrackId),
    kind: ActionKind,
    span: Span,
    confidence: f32,
    /// Its first part.
    row: Arc<ActionRow>,
}

/// A question about what people do.
struct Question {
    opening: Opening,
    /// Kinds that it names; none: any.
    kinds: Vec<ActionKind>,
    first: bool,
    last: bool,
}

/// The reply to a question about what people did; `None` of others, and where nothing of the kind was seen. `people`: whom it
/// names. Costs the actions of the times asked.
pub(super) fn asked(
    reading: &Reading,
    language: Option<&Language>,
    text: &str,
    parsed: &Parsed,
    people: &[EntityId],
) -> Option<Reply> {
    if people.iter().any(|id| !Reading::is_person(*id)) {
        return None;
    }
    let text = &text[..text.floor_char_boundary(question::MAX_BYTES)];
    let question = Question::read(language?, text, parsed, people)?;
    let mut done = question.done(reading, people);
    if done.is_empty() && !people.is_empty() && !question.kinds.is_empty() {
        // It may have been whom the question names.
        let mut others = question.done(reading, &[]);
        others.retain(|one| one.who.is_none());
        return (!others.is_empty()).then(|| Question::of_somebody(reading, &others));
    }
    if question.first {
        done.truncate(1);
    } else if question.last {
        done.drain(..done.len().saturating_sub(1));
    }
    (!done.is_empty()).then(|| question.reply(reading, &done))
}

impl Question {
    /// `None`: it is about something else.
    fn read(language: &Language, text: &str, parsed: &Parsed, people: &[EntityId]) -> Option<Self> {
        let words = language.parse(text, &|_| false);
        let (kinds, places) = named(&words);
        // "What was Ava doing?", but not "What did Ava do for a living?"
        let is_doing = |word: &Word| is("doing", &word.lemma) && word.tag == "VBG";
        let doing = kinds.is_empty() && people.len() == 1 && words.iter().any(is_doing);
        if kinds.is_empty() && !doing {
            return None;
        }
        let of_subject = |word: &Word| {
            let form = word.form.to_lowercase();
            is("persons", &word.lemma)
                || is("several", &form)
                || parsed.subjects.iter().any(|subject| match subject {
                    Subject::Known { text, .. } => {
                        text.to_lowercase().split_whitespace().any(|part| part == form)
                    }
                    _ => false,
                })
        };
        let is_more = |(at, word): (usize, &Word)| {
            let is_matter = ["NN", "JJ", "VB"].iter().any(|tag| word.tag.starts_with(tag));
            let form = word.form.to_lowercase();
            is_matter
                && !places.contains(&at)
                && !is_doing(word)
                && !is_grammar(&form)
                && !is_asking(&word.lemma)
                && !is_asking(&form)
                && !of_subject(word)
                && !parsed.times.iter().any(|time| time.range.contains(&word.span.start))
        };
        let told_of = |one: &Subject| matches!(one, Subject::Unknown(_) | Subject::Described(_));
        if words.iter().enumerate().any(is_more) || parsed.subjects.iter().any(told_of) {
            return None;
        }
        let any = |list: &str| words.iter().any(|word| is(list, &word.lemma));
        let opening = Opening::of(&words);
        // Things do that, too; and how, where and why it was done, eyes do not tell.
        let seen = !matches!(opening, Opening::How | Opening::Which | Opening::Elsewhere);
        let (first, last) = (any("first"), any("last"));
        (doing || seen).then_some(Self { opening, kinds, first, last })
    }

    /// What of it was done in the times asked, by start; what a border cut, and what goes on, is one.
    fn done(&self, reading: &Reading, people: &[EntityId]) -> Vec<Done> {
        let spans = reading.spans.as_deref();
        let span = spans.and_then(hull);
        let rows = reading.view.actions(&PerceptFilter { span, ..PerceptFilter::default() });
        let mut all: Vec<Done> = Vec::new();
        for row in rows {
            let action = row.action;
            let meant = self.kinds.is_empty() || self.kinds.contains(&action.kind);
            let in_time =
                spans.is_none_or(|spans| spans.iter().any(|one| touch(*one, action.span)));
            if !meant || !in_time || action.span.start > reading.now() {
                continue;
            }
            let track: Option<Arc<TrackRow>> = reading.view.track(row.clip, row.track);
            let who = track.and_then(|track| track.face).map(|face| reading.view.resolve(face));
            let who = who.filter(|id| Reading::is_person(*id));
            if !people.is_empty() && !who.is_some_and(|who| people.contains(&who)) {
                continue;
            }
            let body = (row.clip.session, row.track);
            let same = |known: &&mut Done| {
                let of_it = if who.is_some() { known.who == who } else { known.body == body };
                let apart = action.span.start.secs_since(known.span.end);
                of_it && known.kind == action.kind && apart <= GOES_ON_SECS
            };
            match all.iter_mut().rev().find(same) {
                Some(known) => {
                    known.span.end = known.span.end.max(action.span.end);
                    known.confidence = known.confidence.max(action.confidence);
                }
                None => all.push(Done {
                    who,
                    body,
                    kind: action.kind,
                    span: action.span,
                    confidence: action.confidence,
                    row,
                }),
            }
        }
        all
    }

    /// "somebody fell at 17:31:15", of the first of them.
    fn told(reading: &Reading, done: &[Done]) -> String {
        let one = |done: &Done| {
            let name = done.who.map(|who| reading.introduce(who));
            let told = &wording(done.kind).told;
            let when = reading.wording.when(done.span);
            format!("{} {told} {when}", name.as_deref().unwrap_or(SOMEBODY))
        };
        let told: Vec<String> = done.iter().take(TOLD).map(one).collect();
        list(&told)
    }

    /// Evidence of the first of them.
    fn evidence(reading: &Reading, done: &[Done]) -> Vec<Evidence> {
        let one = |one: &Done| {
            let told = (wording(one.kind).told.as_str(), one.confidence);
            reading.action_evidence(&one.row, one.span, one.who, told)
        };
        done.iter().take(GATHERED).map(one).collect()
    }

    /// Nobody of those who are asked about was seen to do it; others did, and nobody knows who they are.
    fn of_somebody(reading: &Reading, others: &[Done]) -> Reply {
        let evidence = Self::evidence(reading, others);
        let text = of_somebody(&Self::told(reading, others));
        Reply { evidence, ..Reply::unknown(&text) }
    }

    fn reply(&self, reading: &Reading, done: &[Done]) -> Reply {
        let told = Self::told(reading, done);
        let more = done.len().saturating_sub(TOLD);
        let secs: f64 = done.iter().map(|one| one.span.secs()).sum();
        let told = match self.opening {
            Opening::HowLong => format!("{}: {told}", length(secs)),
            opening => opening.told(&told, done.len()),
        };
        let more = if more > 0 { format!(" And {more} more.") } else { String::new() };
        let mut people: Vec<EntityId> = done.iter().filter_map(|one| one.who).collect();
        people.sort_unstable();
        people.dedup();
        let evidence = Self::evidence(reading, done);
        Reply::known(format!("{}.{more}", sentence(&told)), people, evidence)
    }
}
