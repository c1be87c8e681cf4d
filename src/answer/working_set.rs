//! The working set: what an answerer is always handed, whatever is asked.
//!
//! Blocks with priorities and budgets (MemGPT's core memory, Packer et al. 2023): who is here, what feedback taught for
//! like questions, what goes on, cards of the people it may be about, who else is known, what was told to be kept, what
//! the last summaries say. A function of a view, the open window, a time and, for lessons and cards, the question;
//! everything beyond it is found by recall.

use std::collections::BTreeSet;

use crate::ids::EntityId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, Order, POSITION, Profile};
use crate::time::{Span, Timestamp};

use super::reading::Reading;
use super::who;

/// What was said this shortly before now goes on still, seconds.
const GOES_ON_SECS: f64 = 60.0;
/// One person's card, characters.
const CARD_CHARS: usize = 320;
/// Cards, at most.
const MOST_CARDS: usize = 8;
/// Summaries, and pinned notes, at most.
const MOST_TOLD: usize = 5;
/// A line is cut here, characters.
const LINE_CHARS: usize = 400;

/// A part of the working set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    /// What it holds.
    pub(super) title: &'static str,
    /// Lines, the most useful first.
    pub(super) lines: Vec<String>,
    /// Whom it is about.
    pub(super) entities: Vec<EntityId>,
}

/// What a block may take: characters. Blocks are filled in this order until the whole budget is used.
const BUDGETS: [(&str, usize); 7] = [
    (HERE, 600),
    (LEARNED, 800),
    (GOES_ON, 1_200),
    (CARDS, 2_400),
    (KEPT, 1_200),
    (LATELY, 1_600),
    (KNOWN, 800),
];
const HERE: &str = "Here and now";
const LEARNED: &str = "Feedback on like questions";
const GOES_ON: &str = "What goes on";
const CARDS: &str = "Who they are";
const KEPT: &str = "Told to be kept";
const LATELY: &str = "What was before";
const KNOWN: &str = "Others who are known";

/// Lines, and whom they are about.
pub(super) type Lines = (Vec<String>, Vec<EntityId>);

/// The working set at the reading's now, in at most `budget` characters; `about`: whom the question names; `taught`:
/// what feedback taught for questions like it.
pub(super) fn working_set(
    reading: &Reading,
    about: &[EntityId],
    mut taught: Lines,
    budget: usize,
) -> Vec<Block> {
    let now = who::now(reading, None);
    let here: Vec<EntityId> =
        now.entities.iter().copied().filter(|id| Reading::is_person(*id)).collect();
    let carded = carded(reading, &here, about);
    let mut left = budget;
    let mut blocks = Vec::new();
    for (title, most) in BUDGETS {
        let (lines, entities) = match title {
            HERE => (vec![now.text.clone()], here.clone()),
            LEARNED => std::mem::take(&mut taught),
            GOES_ON => goes_on(reading),
            CARDS => {
                let when = |at: Timestamp| reading.wording.at(at);
                let card = |profile: &Profile| profile.card(CARD_CHARS, when);
                (
                    carded.iter().map(card).collect(),
                    carded.iter().map(|one| one.person.id).collect(),
                )
            }
            KEPT => told(reading, &[MemoryKind::Note, MemoryKind::Semantic], is_kept),
            LATELY => told(reading, &[MemoryKind::Summary], |_| true),
            _ => others(reading, &carded),
        };
        let lines = fitting(lines, most.min(left));
        left -= lines.iter().map(|line| line.chars().count() + 1).sum::<usize>().min(left);
        if !lines.is_empty() {
            blocks.push(Block { title, lines, entities });
        }
    }
    blocks
}

/// Whole lines that fit.
fn fitting(lines: Vec<String>, mut room: usize) -> Vec<String> {
    let mut kept = Vec::new();
    for line in lines {
        let line: String = match line.chars().count() {
            long if long > LINE_CHARS => {
                line.chars().take(LINE_CHARS).chain(['\u{2026}']).collect()
            }
            _ => line,
        };
        let needs = line.chars().count() + 1;
        if needs > room {
            break;
        }
        room -= needs;
        kept.push(line);
    }
    kept
}

/// What was said just now, and where the robot is.
fn goes_on(reading: &Reading) -> Lines {
    let now = reading.now();
    let lately = [Span::new(now.plus_secs(-GOES_ON_SECS), now.plus_secs(0.001))];
    let mut lines = Vec::new();
    let mut entities = BTreeSet::new();
    // The newest remark matters most.
    for spoken in reading.spoken(None, Some(&lately)).iter().rev() {
        let Some(words) = &spoken.words else { continue };
        let name = spoken.who.map_or_else(|| "somebody".to_owned(), |id| reading.name(id));
        entities.extend(spoken.who);
        lines.push(format!("{} {name} said: {words}", reading.wording.at(spoken.span.start)));
    }
    if let Some(pose) = reading.view.poses(lately[0]).last() {
        let (x, y) = (pose.pose.x, pose.pose.y);
        let place = reading.view.place_at(now).and_then(|place| place.name);
        let place = place.map_or_else(String::new, |name| format!(" in the {name}"));
        let frame = &pose.pose.frame;
        lines.push(format!("the robot stands{place} at x {x:.1} m, y {y:.1} m ({frame})"));
    }
    (lines, entities.into_iter().collect())
}

/// Profiles of those the question names, those who are here, and those who were here last.
fn carded(reading: &Reading, here: &[EntityId], about: &[EntityId]) -> Vec<Profile> {
    let mut persons = known(reading);
    persons.sort_by_key(|(id, last)| (std::cmp::Reverse(*last), *id));
    let recent = persons.into_iter().map(|(id, _)| id);
    let mut seen = BTreeSet::new();
    about
        .iter()
        .map(|id| reading.view.resolve(*id))
        .chain(here.iter().copied())
        .chain(recent)
        .filter(|id| *id != EntityId::ROBOT && seen.insert(*id))
        .take(MOST_CARDS)
        .map(|id| reading.view.profile(id, Some(reading.now())))
        .collect()
}

/// Persons that are known at the reading's now, and when they were here last.
fn known(reading: &Reading) -> Vec<(EntityId, Option<Timestamp>)> {
    let persons = reading.view.persons().into_iter();
    persons
        .filter(|row| Reading::is_person(row.id))
        .filter(|row| row.first_seen.is_none_or(|at| at <= reading.now()))
        .map(|row| (row.id, row.last_seen))
        .collect()
}

fn others(reading: &Reading, carded: &[Profile]) -> Lines {
    let mut others = known(reading);
    others.retain(|(id, _)| !carded.iter().any(|card| card.person.id == *id));
    let line = |(id, _): &(EntityId, Option<Timestamp>)| match reading.view.names(*id).first() {
        Some(row) => format!("{} ({id})", row.name),
        None => id.to_string(),
    };
    (others.iter().map(line).collect(), others.iter().map(|(id, _)| *id).collect())
}

/// Pinned from outside; where places lie is found by looking for them.
fn is_kept(row: &MemoryRow) -> bool {
    row.pinned && row.fact.as_ref().is_none_or(|fact| fact.attribute != POSITION)
}

/// The newest memories of those kinds that `wanted` takes and that hold now.
fn told(reading: &Reading, kinds: &[MemoryKind], wanted: impl Fn(&MemoryRow) -> bool) -> Lines {
    let filter = Filter {
        kinds: kinds.to_vec(),
        valid_at: Some(reading.now()),
        order: Order::NewestFirst,
        ..Filter::default()
    };
    let mut rows = reading.view.memories(&filter);
    rows.retain(|row| wanted(row));
    rows.truncate(MOST_TOLD);
    let entities: BTreeSet<EntityId> = rows
        .iter()
        .flat_map(|row| row.entities.iter().map(|id| reading.view.resolve(*id)))
        .collect();
    (rows.iter().map(|row| reading.rendered(&row.text)).collect(), entities.into_iter().collect())
}
