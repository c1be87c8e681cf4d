//! "How many cups are on the table?", "Who took the bag?": things in view, out of what a detector saw of them.
//!
//! What stands still and cannot be told apart is counted: as many as one look showed at once. Who carried what follows from how
//! boxes of things and bodies move ([`crate::carrying`]); both are computed from rows, so that whoever is forgotten is gone from
//! them, too. What was not seen may have been there: of it nothing is said. Where no detector saw anything of the kind, memories
//! are asked.

mod handled;
mod kinds;
mod looks;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ids::EntityId;
use crate::language::Language;
use crate::memory::PerceptFilter;
use crate::memory::model::ObjectTrackRow;
use crate::time::{Span, Timestamp};

use super::document::Evidence;
use super::objects;
use super::persons::Names;
use super::question::{Deed, Named, OfThings, Order, Parsed, Subject, Wanted};
use super::reading::{GATHERED, Reading, hull};
use super::reply::Reply;
use super::who::{told, unrecorded};
use super::wording::{list, sentence};
use crate::colour::{Colour, Colours};
use handled::handlings;
pub(super) use handled::{Handling, What, handled_in};
use kinds::Kinds;
use looks::{Look, Looks, several};

/// Rows of one thing that are read where no time is asked, the newest: a day in view.
const READ: usize = 2_880;
/// Things told of in one answer, at most.
const TOLD: usize = 8;

/// The reply to a question about things in view; `None` of others, and where nothing of the kind was ever seen.
pub(super) fn asked(
    reading: &Reading,
    names: &Names<'_>,
    language: Option<&Language>,
    parsed: &Parsed,
) -> Option<Reply> {
    let asked = parsed.things.as_ref()?;
    let kinds = Kinds::seen(reading);
    let named = Named { noun: asked.noun.clone(), colours: asked.colours.clone() };
    let wanted = kinds.named(language?, &named);
    if wanted.is_empty() {
        return None;
    }
    let others = match &asked.beside {
        None => Vec::new(),
        Some((_, named)) => {
            let found = kinds.named(language?, named);
            // Of a table that no detector saw memories may tell.
            if found.is_empty() {
                return None;
            }
            found.into_values().flatten().collect()
        }
    };
    let mut people = Vec::new();
    for subject in parsed.subjects.iter().filter(|one| **one != Subject::Anybody) {
        people.push(names.person(reading, subject).ok()?);
    }
    if let Some(spans) = reading.spans.as_deref()
        && !reading.recorded(spans)
    {
        return Some(unrecorded(reading, spans));
    }
    let question = Question { reading, asked, wanted, others, people };
    question.reply()
}

/// Who carried the thing last by that time, as a sentence: what "Where is the cup?" tells beside its place.
pub(super) fn last_handling(reading: &Reading, object: EntityId, by: Timestamp) -> Option<String> {
    let found = handlings(reading, &[object]);
    let last = found.into_iter().rfind(|one| one.span.start <= by)?;
    // Where it was seen since, its place says it.
    matches!(last.what, What::Taken).then(|| format!(" {}.", sentence(&last.told(reading))))
}

/// A question with what it means in this memory.
struct Question<'a> {
    reading: &'a Reading,
    asked: &'a OfThings,
    /// The things that it may mean, by label.
    wanted: BTreeMap<String, Vec<EntityId>>,
    /// Beside what they are to be.
    others: Vec<EntityId>,
    /// Whom it names.
    people: Vec<EntityId>,
}

impl Question<'_> {
    fn reply(&self) -> Option<Reply> {
        match (self.asked.wanted, self.asked.deed) {
            (Wanted::Colour, _) => self.colour(),
            (Wanted::Count, Deed::Seen) => Some(self.count()),
            (Wanted::Count, _) => None,
            (Wanted::What, Deed::Seen) => Some(self.listed()),
            (Wanted::Whether, Deed::Seen) if self.people.is_empty() => self.whether_there(),
            (Wanted::When, Deed::Seen | Deed::Appeared) if self.people.is_empty() => {
                self.when_seen()
            }
            (_, Deed::Vanished) => self.vanished(),
            (_, Deed::Seen | Deed::Appeared) => None,
            _ => self.handled(),
        }
    }

    fn objects(&self) -> Vec<EntityId> {
        self.wanted.values().flatten().copied().collect()
    }

    /// "cup", "fruit": as the question calls it, else as the detector does.
    fn called(&self) -> String {
        let called = match (self.asked.noun.is_empty(), self.wanted.keys().next()) {
            (false, _) => self.asked.noun.join(" "),
            (true, Some(label)) if self.wanted.len() == 1 => label.clone(),
            (true, _) => "thing".to_owned(),
        };
        coloured(&self.asked.colours, called)
    }

    /// "What colour is the cup?": of each that is meant and was told a colour of.
    fn colour(&self) -> Option<Reply> {
        let reading = self.reading;
        let looks = self.looks();
        let mut found: Vec<(Colours, Arc<ObjectTrackRow>)> = Vec::new();
        for object in looks.all() {
            let by = reading.time_asked();
            let Some(row) = reading.view.last_track_of(object, by) else { continue };
            found.extend(row.colours.map(|colours| (colours, row)));
        }
        // The one that was seen last comes first.
        found.sort_by_key(|(_, row)| std::cmp::Reverse((row.span.end, row.object)));
        found.truncate(TOLD);
        if found.is_empty() {
            return None;
        }
        let told = |(colours, row): &(Colours, Arc<ObjectTrackRow>)| {
            format!("{colours} (I last saw it {})", reading.wording.at(row.span.end))
        };
        let told: Vec<String> = found.iter().map(told).collect();
        let thing = coloured(&self.asked.colours, self.asked.noun.join(" "));
        let text = match told.as_slice() {
            [one] => format!("the {thing}{} is {one}.", self.place()),
            several => format!("I know {} of that kind: {}.", several.len(), list(several)),
        };
        let entities = found.iter().filter_map(|(_, row)| row.object).collect();
        let evidence = found.iter().take(GATHERED).map(|(_, row)| {
            let text = sentence(&format!("the {} was in view of {}.", row.called(), row.source));
            reading.object_evidence(row, text)
        });
        Some(Reply::known(sentence(&text), entities, evidence.collect()))
    }

    /// Looks at the wanted things in the times asked, else lately where it asks for now, else ever.
    fn looks(&self) -> Looks {
        let looks = match self.asked.is_now && self.reading.spans.is_none() {
            true => Looks::lately(self.reading, &self.objects()),
            false => Looks::of(self.reading, &self.objects(), self.reading.spans.as_deref()),
        };
        looks.on(self.asked.side).beside(self.reading, self.asked.beside.as_ref(), &self.others)
    }

    fn count(&self) -> Reply {
        let (reading, called) = (self.reading, self.called());
        let looks = self.looks();
        let Some(most) = looks.most() else { return self.none(&called) };
        let verb = if self.asked.is_now { "I see" } else { "I saw" };
        let text = format!(
            "{verb} {} at once {}{}.",
            several(most.count, &called),
            reading.wording.at(most.at),
            self.place()
        );
        Reply::known(sentence(&text), most.objects(), most.evidence(reading))
    }

    /// The count where none was seen: 0 where they are in view elsewhere, or were seen to go; else they may not have been found.
    fn none(&self, called: &str) -> Reply {
        let (reading, objects) = (self.reading, self.objects());
        let ever = Looks::of(reading, &objects, None);
        let (last, evidence) = (ever.last_told(reading, called), ever.last_evidence(reading));
        let (place, then) = (self.place(), self.then());
        let is_now = self.asked.is_now && reading.spans.is_none();
        let elsewhere = is_now && Looks::lately(reading, &objects).last().is_some();
        let went = |one: &Handling| matches!(one.what, What::Taken | What::Gone);
        if elsewhere || is_now && handlings(reading, &objects).last().is_some_and(went) {
            let text = format!("0: I see no {called}{place}{then}; {last}.");
            return Reply::known(text, Vec::new(), evidence);
        }
        let text = format!("I don't know: I saw no {called}{place}{then}; {last}.");
        Reply { evidence, ..Reply::unknown(&text) }
    }

    /// "What is on the left?"
    fn listed(&self) -> Reply {
        let (reading, looks) = (self.reading, self.looks());
        let mut parts = Vec::new();
        let mut evidence: Vec<Evidence> = Vec::new();
        let mut entities = Vec::new();
        for (label, objects) in &self.wanted {
            let Some(most) = looks.only(objects).most() else { continue };
            parts.push(format!("{} {}", several(most.count, label), reading.wording.at(most.at)));
            evidence.extend(most.evidence(reading));
            entities.extend(most.objects());
        }
        if parts.is_empty() {
            let text =
                format!("I don't know: I saw nothing of the kind{}{}.", self.place(), self.then());
            return Reply::unknown(&text);
        }
        parts.truncate(TOLD);
        evidence.truncate(GATHERED);
        let verb = if self.asked.is_now { "I see" } else { "I saw" };
        Reply::known(format!("{verb} {}{}.", list(&parts), self.place()), entities, evidence)
    }

    fn whether_there(&self) -> Option<Reply> {
        let (reading, called) = (self.reading, self.called());
        if let Some(most) = self.looks().most() {
            return Some(self.is_there(&most));
        }
        let ever = Looks::of(reading, &self.objects(), None);
        let last = ever.last_told(reading, &called);
        // Somebody took the only one, or it is gone from where it was: that was seen.
        let gone = handlings(reading, &self.objects());
        let gone = gone.iter().rev().find(|one| matches!(one.what, What::Taken | What::Gone));
        let is_plain = self.asked.side.is_none() && self.asked.beside.is_none();
        if let Some(gone) =
            gone.filter(|_| self.asked.is_now && is_plain && reading.spans.is_none())
        {
            let text = format!("No, {}.", gone.told(reading));
            return Some(Reply::known(text, gone.entities(), vec![gone.evidence(reading)]));
        }
        // A place that its own does not name tells nothing.
        let text =
            format!("I don't know: I saw no {called}{}{}; {last}.", self.place(), self.then());
        Some(Reply { evidence: ever.last_evidence(reading), ..Reply::unknown(&text) })
    }

    fn is_there(&self, look: &Look) -> Reply {
        let reading = self.reading;
        let (objects, mut evidence) = (look.objects(), look.evidence(reading));
        // Of a single one it is told where it is by now, too.
        if let ([object], None) = (&*objects, &reading.spans) {
            let reply = objects::seen_object(reading, *object);
            if !reply.abstained {
                evidence.extend(reply.evidence);
                return Reply { evidence, ..reply };
            }
        }
        let verb = if self.asked.is_now { "I see" } else { "I saw" };
        let (seen, place) = (several(look.count, &self.called()), self.place());
        let text = format!("Yes, {verb} {seen}{place} {}.", reading.wording.at(look.at));
        Reply::known(text, objects, evidence)
    }

    fn when_seen(&self) -> Option<Reply> {
        let (reading, called) = (self.reading, self.called());
        let looks = self.looks();
        let (first, last) = (looks.first()?, looks.last()?);
        let text = match (self.asked.deed, self.asked.order) {
            (_, Order::Last) if self.asked.deed == Deed::Seen => {
                format!("I last saw the {called} {}.", reading.wording.at(last.at))
            }
            (Deed::Appeared, _) | (_, Order::First) => {
                format!("The {called} came into view {}.", reading.wording.at(first.at))
            }
            _ => {
                let span = Span::new(first.at, last.at);
                format!("I saw the {called} {}{}.", reading.wording.when(span), self.place())
            }
        };
        let shown = if self.asked.order == Order::Last { last } else { first };
        Some(Reply::known(text, shown.objects(), shown.evidence(reading)))
    }

    /// "When did the cup disappear?", "Is the cup gone?", "What is missing?"
    fn vanished(&self) -> Option<Reply> {
        let found = self.handlings(|what| matches!(what, What::Taken | What::Gone));
        if found.is_empty() {
            let last = Looks::of(self.reading, &self.objects(), None)
                .last_told(self.reading, &self.called());
            return Some(Reply::unknown(&format!("I don't know that it is gone; {last}.")));
        }
        let lead = if self.asked.wanted == Wanted::Whether { "yes, " } else { "" };
        Some(self.told(lead, &found))
    }

    fn handlings(&self, fits: impl Fn(What) -> bool) -> Vec<Handling> {
        let mut found = handlings(self.reading, &self.objects());
        let spans = self.reading.spans.as_deref();
        found.retain(|one| {
            let in_time =
                |spans: &[Span]| spans.iter().any(|span| super::reading::touch(*span, one.span));
            fits(one.what) && one.span.start <= self.reading.now() && spans.is_none_or(in_time)
        });
        // One thing that was lost on its way and found again came once.
        found.dedup_by(|later, one| one.is_same(later));
        match self.asked.order {
            Order::First => found.truncate(1),
            Order::Last => drop(found.drain(..found.len().saturating_sub(1))),
            _ => {}
        }
        found
    }

    /// Who took, brought, had, moved it; what somebody took; when; whether.
    fn handled(&self) -> Option<Reply> {
        // What fits best first: what was carried elsewhere was taken and brought, too.
        let fits: &[fn(What) -> bool] = match self.asked.deed {
            Deed::Taken => &[|what| what == What::Taken, |what| what == What::Carried],
            Deed::Brought | Deed::Put => {
                &[|what| what == What::Brought, |what| what == What::Carried]
            }
            Deed::Held => &[|what| what != What::Gone],
            _ => &[|what| what == What::Carried, |what| matches!(what, What::Taken | What::Gone)],
        };
        let mut found = fits.iter().map(|fits| self.handlings(fits));
        let mut all = found.find(|found| !found.is_empty()).unwrap_or_default();
        all.retain(|one| self.asked.wanted != Wanted::Who || one.is_by_somebody());
        let is_theirs = |one: &&Handling| match self.people.first() {
            Some(person) => one.who == Some(*person),
            None => true,
        };
        let theirs: Vec<Handling> = all.iter().filter(is_theirs).cloned().collect();
        let whether = self.asked.wanted == Wanted::Whether;
        match (theirs.is_empty(), all.is_empty()) {
            // What nobody was seen to do was told of, perhaps.
            (true, true) => None,
            (true, false) if whether => Some(self.told("no, ", &all)),
            (true, false) => None,
            (false, _) => Some(self.told(if whether { "yes, " } else { "" }, &theirs)),
        }
    }

    fn told(&self, lead: &str, found: &[Handling]) -> Reply {
        let told: Vec<String> = found.iter().take(TOLD).map(|one| one.told(self.reading)).collect();
        let text = sentence(&format!("{lead}{}.", told.join("; ")));
        let mut entities: Vec<EntityId> = found.iter().flat_map(Handling::entities).collect();
        entities.sort_unstable();
        entities.dedup();
        let evidence = found.iter().take(GATHERED).map(|one| one.evidence(self.reading)).collect();
        Reply::known(text, entities, evidence)
    }

    /// " on the left", " beside the cup": as it was asked.
    fn place(&self) -> String {
        let side = self.asked.side.map_or("", looks::side_words);
        match &self.asked.beside {
            Some((how, noun)) => {
                let other = coloured(&noun.colours, noun.noun.join(" "));
                format!("{side} {} the {other}", looks::beside_words(*how))
            }
            None => side.to_owned(),
        }
    }

    /// " now", " at 17:30:05".
    fn then(&self) -> String {
        if self.asked.is_now && self.reading.spans.is_none() {
            return " now".to_owned();
        }
        told(self.reading)
    }
}

/// "red cup": what a question calls it.
fn coloured(colours: &[Colour], called: String) -> String {
    let words = colours.iter().map(|colour| colour.word().to_owned());
    words.chain([called]).collect::<Vec<_>>().join(" ")
}

/// Where a thing was seen in those times, in time order; of all times the newest rows.
fn rows_of(
    reading: &Reading,
    object: EntityId,
    spans: Option<&[Span]>,
) -> Vec<Arc<ObjectTrackRow>> {
    let span = spans.and_then(hull);
    let filter = PerceptFilter { span, entity: Some(object), ..PerceptFilter::default() };
    let mut rows = reading.view.object_tracks(&filter);
    let more = rows.len().saturating_sub(READ);
    rows.drain(..if span.is_none() { more } else { 0 });
    rows
}

/// A sighting of a thing as evidence: its moment, whose still shows it.
fn evidence_of(
    reading: &Reading,
    row: &ObjectTrackRow,
    span: Span,
    text: String,
    score: f32,
) -> Evidence {
    Evidence {
        start: span.start,
        end: span.end,
        score: score.clamp(0.0, 1.0),
        ..reading.object_evidence(row, text)
    }
}
