//! Whom a question means: names, ids and descriptions become entities of the memory.

use crate::ids::{EntityId, EntityKind};
use crate::language::Language;
use crate::memory::model::MemoryKind;
use crate::memory::{Filter, View, stems};
use crate::time::Span;

use super::clothes;
use super::matching;
use super::question::{self, Act, Ask, Clause, Description, Order, Parsed, Side, Subject};
use super::reading::{Appearance, Reading};
use super::reply::Reply;

/// How far from the told time a coming or going may lie, seconds.
const NEAR_SECS: f64 = 5.0;

/// Looks names up in a view.
pub(super) struct Names<'a> {
    pub(super) view: &'a View,
    /// What descriptions are read with.
    pub(super) language: Option<&'a Language>,
}

impl Names<'_> {
    /// Whom a lower-case name or id means.
    pub(super) fn find(&self, name: &str) -> Option<EntityId> {
        if name.contains('_') {
            let id: EntityId = name.parse().ok()?;
            return self.view.knows(id).then(|| self.view.resolve(id));
        }
        let mut found = self.view.find_by_name(name);
        // A room's name is a word like others.
        found.retain(|id| id.kind != EntityKind::Place);
        // Of several, persons first, then the one with the lowest id: the answer must not vary.
        let person = |id: &EntityId| id.kind == EntityKind::Person;
        found
            .iter()
            .copied()
            .find(person)
            .or_else(|| found.first().copied())
            .or_else(|| self.view.find_but_for_title(name).filter(person))
    }

    /// The subjects that a few words name ("the woman who spoke first").
    pub(super) fn subjects_in(&self, text: &str) -> Vec<Subject> {
        question::subjects_in(self.language, text, &|name| self.find(name))
    }

    /// The entity that a subject means.
    ///
    /// # Errors
    /// The reply that says why nobody fits.
    pub(super) fn person(&self, reading: &Reading, subject: &Subject) -> Result<EntityId, Reply> {
        match subject {
            Subject::Known { id, .. } => Ok(reading.view.resolve(*id)),
            Subject::Unknown(name)
                if name.contains(['_', ' ']) && name.ends_with(|c: char| c.is_ascii_digit()) =>
            {
                Err(Reply::unknown(&format!("I don't know any {}.", name.replace('_', " "))))
            }
            Subject::Unknown(name) if reading.view.is_mentioned(name) => {
                let text = format!("I have met nobody called {name}; {}.", known_of(reading, name));
                Err(Reply::unknown(&text))
            }
            Subject::Unknown(name) => {
                Err(Reply::unknown(&format!("I don't know anybody called {name}.")))
            }
            Subject::Described(description) => self.described(reading, description),
            Subject::Anybody => Err(Reply::unknown("I don't know whom you mean.")),
        }
    }

    /// The person that a description fits.
    fn described(&self, reading: &Reading, told: &Description) -> Result<EntityId, Reply> {
        let spans = match &told.time {
            Some(expr) => Some(super::asked::one(reading, self, expr)?),
            None => None,
        };
        let session = reading.session();
        // Without a time of its own, an order is meant within the question's time, else the session.
        let scope: Option<Vec<Span>> = spans
            .clone()
            .or_else(|| reading.spans.clone().filter(|spans| spans.iter().any(|s| s.secs() > 60.0)))
            .or_else(|| session.map(|span| vec![span]));
        let scope = scope.as_deref();
        let fits: Vec<EntityId> = match &told.clause {
            Clause::Spoke(order) => ordered(reading.heard(scope), *order, || {
                let last = reading.spoken(None, scope).into_iter().rev().find_map(|s| s.who);
                last.into_iter().collect()
            }),
            Clause::Seen(order) => ordered(reading.seen(scope), *order, || {
                let runs = reading.appearances(None, scope);
                runs.iter()
                    .max_by_key(|run| (run.span.end, run.span.start))
                    .map(|run| run.who)
                    .into_iter()
                    .collect()
            }),
            Clause::Arrived(order) => {
                arrivals(reading, *order, spans.as_deref(), scope, |run| run.span.start)
            }
            Clause::Left(order) => departures(reading, *order, spans.as_deref(), scope),
            Clause::Said { words, quote } => {
                let quotes: Vec<String> = quote.iter().cloned().collect();
                let found = matching::utterances(reading, None, scope, words, &quotes);
                let found = if found.is_empty() {
                    matching::utterances(reading, None, None, words, &quotes)
                } else {
                    found
                };
                found.into_iter().find_map(|(spoken, _)| spoken.who).into_iter().collect()
            }
            Clause::With(other) => {
                let other = self.person(reading, other)?;
                let mut found = super::presence::companions(reading, other, scope);
                found.truncate(1);
                found.into_iter().map(|c| c.who).collect()
            }
            Clause::Alone => alone(reading, scope),
            Clause::NeverSeen => {
                super::presence::never_seen(reading).into_iter().map(|(id, _)| id).collect()
            }
            Clause::NeverSpoke => super::presence::never_spoke(reading),
            Clause::Side(side) => beside(reading, *side, scope),
            Clause::Other => {
                let seen = reading.seen(scope);
                if seen.len() == 1 {
                    seen.into_iter().map(|(id, _)| id).collect()
                } else {
                    Vec::new()
                }
            }
            Clause::Looks(words) => self.looks(reading, words),
        };
        match fits.as_slice() {
            [one] => Ok(*one),
            [] => {
                Err(Reply::unknown(&format!("I don't know who \u{201c}{}\u{201d} is.", told.text)))
            }
            several => {
                let names: Vec<String> = several.iter().map(|id| reading.introduce(*id)).collect();
                let mut reply = Reply::unknown(&format!(
                    "I don't know which one you mean by \u{201c}{}\u{201d}: it fits {}.",
                    told.text,
                    super::wording::list(&names)
                ));
                reply.entities = several.to_vec();
                Err(reply)
            }
        }
    }

    /// Persons of whom a fact or a note tells those words; where none does, who wore those colours, if it is one of them.
    fn looks(&self, reading: &Reading, words: &[String]) -> Vec<EntityId> {
        let wanted = stems(&words.join(" "));
        let filter = Filter {
            kinds: vec![
                MemoryKind::Semantic,
                MemoryKind::Note,
                MemoryKind::Reflection,
                MemoryKind::Episodic,
            ],
            ..Filter::default()
        };
        let hits = self.view.lexical(&words.join(" "), 20, &filter);
        for (id, _) in hits {
            let Some(row) = self.view.memory(id) else { continue };
            let persons: Vec<EntityId> = row
                .entities
                .iter()
                .map(|id| reading.view.resolve(*id))
                .filter(|id| Reading::is_person(*id))
                .collect();
            if matching::share(&wanted, &row.text) >= 0.99 && persons.len() == 1 {
                return persons;
            }
        }
        let colours = question::clothes::colours(words);
        colours.map_or_else(Vec::new, |colours| clothes::known_wearers(reading, &colours))
    }
}

/// What there is to somebody who has no face and no voice.
fn known_of(reading: &Reading, name: &str) -> String {
    let filter = Filter { kinds: vec![MemoryKind::Note], ..Filter::default() };
    let last = name.split(' ').next_back().unwrap_or(name);
    match reading.view.lexical(last, 1, &filter).is_empty() {
        true => "I only know the name".to_owned(),
        false => format!("I only know what I was told of {name}"),
    }
}

/// "Did you see Ava on Monday?", of somebody of whom was only told. `None`: it is asked something else, or nobody told.
pub(super) fn never_met(reading: &Reading, parsed: &Parsed) -> Option<Reply> {
    let [Subject::Unknown(name)] = parsed.subjects.as_slice() else { return None };
    let verb = match parsed.ask {
        Ask::Ever { act: Act::Seen } | Ask::Did { act: Act::Seen } => "seen",
        Ask::Ever { act: Act::Spoke } => "heard",
        _ => return None,
    };
    let told = parsed.content.is_empty() && !name.contains('_') && reading.view.is_mentioned(name);
    let text = || {
        let known = known_of(reading, name);
        format!("No, I have never {verb} anybody whom I know as {name}; {known}.")
    };
    told.then(|| Reply::none(text()))
}

/// Picks by order from persons in order of mention with their seconds.
fn ordered(
    sums: Vec<(EntityId, f64)>,
    order: Order,
    last: impl Fn() -> Vec<EntityId>,
) -> Vec<EntityId> {
    let nth = |n: usize| sums.get(n).map(|(id, _)| *id).into_iter().collect();
    match order {
        Order::First => nth(0),
        Order::Second => nth(1),
        Order::Third => nth(2),
        Order::Last => last(),
        // A time names one of those who were there: the one with the most of it.
        Order::Any | Order::Most => most(&sums, 1.0),
        Order::Least => most(&sums, -1.0),
    }
}

/// The person with the most seconds; the earlier of equals.
fn most(sums: &[(EntityId, f64)], sign: f64) -> Vec<EntityId> {
    let mut best: Option<(EntityId, f64)> = None;
    for (id, secs) in sums {
        if best.is_none_or(|(_, known)| sign * secs > sign * known + 1e-9) {
            best = Some((*id, *secs));
        }
    }
    best.map(|(id, _)| id).into_iter().collect()
}

fn near(spans: &[Span], at: crate::time::Timestamp) -> bool {
    spans
        .iter()
        .any(|span| at >= span.start.plus_secs(-NEAR_SECS) && at < span.end.plus_secs(NEAR_SECS))
}

/// Persons in the order in which they first came.
fn arrivals(
    reading: &Reading,
    order: Order,
    told: Option<&[Span]>,
    scope: Option<&[Span]>,
    of: impl Fn(&Appearance) -> crate::time::Timestamp,
) -> Vec<EntityId> {
    if let Some(spans) = told {
        let session = reading.session();
        let runs = reading.appearances(None, session.as_ref().map(std::slice::from_ref));
        let mut found: Vec<EntityId> =
            runs.iter().filter(|run| near(spans, of(run))).map(|run| run.who).collect();
        found.dedup();
        return found;
    }
    let mut first: Vec<EntityId> = Vec::new();
    for run in reading.appearances(None, scope) {
        if !first.contains(&run.who) {
            first.push(run.who);
        }
    }
    let place = match order {
        Order::Any | Order::First | Order::Most | Order::Least => 0,
        Order::Second => 1,
        Order::Third => 2,
        Order::Last => first.len().saturating_sub(1),
    };
    first.get(place).copied().into_iter().collect()
}

/// Persons in the order in which they last went.
fn departures(
    reading: &Reading,
    order: Order,
    told: Option<&[Span]>,
    scope: Option<&[Span]>,
) -> Vec<EntityId> {
    if told.is_some() {
        return arrivals(reading, order, told, scope, |run| run.span.end);
    }
    let mut runs = reading.appearances(None, scope);
    runs.sort_by_key(|run| (run.span.end, run.who));
    let mut gone: Vec<EntityId> = Vec::new();
    for run in runs.iter().rev() {
        if !gone.contains(&run.who) {
            gone.push(run.who);
        }
    }
    gone.reverse();
    let place = match order {
        Order::First | Order::Any | Order::Most | Order::Least => 0,
        Order::Second => 1,
        Order::Third => 2,
        Order::Last => gone.len().saturating_sub(1),
    };
    gone.get(place).copied().into_iter().collect()
}

/// The person who was longest in view with nobody else.
fn alone(reading: &Reading, scope: Option<&[Span]>) -> Vec<EntityId> {
    let runs = reading.appearances(None, scope);
    let mut sums: Vec<(EntityId, f64)> = Vec::new();
    for run in &runs {
        let shared: f64 = runs
            .iter()
            .filter(|other| other.who != run.who)
            .map(|other| other.span.overlap_secs(run.span))
            .sum();
        let secs = (run.span.secs() - shared).max(0.0);
        match sums.iter_mut().find(|(id, _)| *id == run.who) {
            Some((_, sum)) => *sum += secs,
            None => sums.push((run.who, secs)),
        }
    }
    sums.retain(|(_, secs)| *secs > 0.5);
    most(&sums, 1.0)
}

/// The person on that side of the picture: of all pairs in view at once, who stood there for longest.
fn beside(reading: &Reading, side: Side, scope: Option<&[Span]>) -> Vec<EntityId> {
    let glimpses = reading.glimpses(None, scope);
    let rows: Vec<_> = glimpses
        .iter()
        .filter(|glimpse| Reading::is_person(glimpse.who))
        .filter_map(|glimpse| Some((glimpse, glimpse.row.as_ref()?)))
        .collect();
    let centre = |row: &crate::memory::model::TrackRow, span: Span| {
        let inside = row.sightings.iter().filter(|s| span.contains(s.at));
        super::reading::mean(inside.map(|s| s.bbox.centre().x))
    };
    let mut sums: Vec<(EntityId, f64)> = Vec::new();
    for (glimpse, row) in &rows {
        let mut secs = 0.0;
        for (other, other_row) in &rows {
            if other.who == glimpse.who || other.source != glimpse.source {
                continue;
            }
            let Some(both) = glimpse.span.intersection(other.span) else { continue };
            let left = centre(row, both) < centre(other_row, both);
            if (side == Side::Left) == left && side != Side::Middle {
                secs += both.secs();
            }
        }
        if secs > 0.0 {
            match sums.iter_mut().find(|(id, _)| *id == glimpse.who) {
                Some((_, sum)) => *sum += secs,
                None => sums.push((glimpse.who, secs)),
            }
        }
    }
    most(&sums, 1.0)
}
