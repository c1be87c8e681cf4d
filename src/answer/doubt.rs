//! What was told of a thing after its place was: the table may not know that it was taken away.

use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::model::{Ground, MemoryKind, MemoryRow};
use crate::memory::{Filter, stems, telling_stems};
use crate::recall::lexer::tokens;
use crate::recall::time_expr::time_expressions;
use crate::text::sentences;
use crate::time::{Span, Timestamp};

use super::question::listed;
use super::reading::Reading;
use super::whereabouts::is_preposition;
use super::{facts, owner};

/// Who tells where things are, and what becomes of them.
const TELLING: [MemoryKind; 4] =
    [MemoryKind::Note, MemoryKind::Utterance, MemoryKind::Semantic, MemoryKind::Episodic];
/// Memories with the thing's words that are looked at.
const LOOKED_AT: usize = 50;
/// Words of what becomes of things.
const MOVING: &str = "take takes took taken bring brings brought put puts move moves moved carry carried lend lent lose lost \
    mislaid misplaced leave left hide hid hidden throw threw thrown give gave given steal stole stolen sell sold \
    stand stands stood lie lies lay lying hang hangs hung keep keeps kept store stored fell fallen gone missing \
    longer anymore";
/// Words after which a preposition tells where the thing is.
const BEING: &str = "is are was were be been now still not back";
/// Words that take back what they stand beside.
const NEGATIONS: &str = "not no never longer anymore isn't aren't wasn't weren't";

/// The newest memory that tells of that thing's place, or of its being moved, after the statement and otherwise than
/// it; `until`: the time that is asked for.
pub(super) fn later(
    reading: &Reading,
    thing: &str,
    stated: &MemoryRow,
    until: Timestamp,
) -> Option<Arc<MemoryRow>> {
    // "I lost my keys": Ava, of hers.
    let name = stems(&owner::without_owner(thing));
    let since = last_stated(reading, stated, until);
    if name.is_empty() || since >= until {
        return None;
    }
    let span = Some(Span::new(since, until.plus_secs(1e-9)));
    let filter = Filter { span, kinds: TELLING.to_vec(), ..Filter::default() };
    let hits = reading.view.lexical(thing, LOOKED_AT, &filter).into_iter();
    let rows: Vec<Arc<MemoryRow>> = hits.filter_map(|(id, _)| reading.view.memory(id)).collect();
    // What the table took in already, of this thing or of another that is called so.
    let is_located =
        |row: &MemoryRow| row.fact.as_ref().is_some_and(|fact| fact.attribute == "location");
    let known: Vec<Ground> = rows
        .iter()
        .filter(|row| is_located(row))
        .flat_map(|row| row.grounds.iter().copied().chain([Ground::Memory(row.id)]))
        .chain(stated.grounds.iter().copied())
        .collect();
    let is_new = |row: &&Arc<MemoryRow>| {
        row.span.start > since
            && row.span.start <= until
            && row.id != stated.id
            && !is_located(row)
            && !known.contains(&Ground::Memory(row.id))
            && !row.grounds.iter().any(|ground| known.contains(ground))
            && !facts::is_looking(row)
            && !owner::is_of_anothers(reading, thing, row)
            && tells(&reading.rendered(&row.text), &name, row.span.start, reading)
    };
    let newest = rows.iter().filter(is_new).max_by_key(|row| (row.span.start, row.id))?;
    let value = stated.fact.as_ref().map(|fact| fact.value.as_str()).unwrap_or_default();
    (!says_again(&reading.rendered(&newest.text), value)).then(|| Arc::clone(newest))
}

/// When that was stated, or seen to be so, for the last time.
fn last_stated(reading: &Reading, stated: &MemoryRow, until: Timestamp) -> Timestamp {
    let object = stated.fact.as_ref().and_then(|fact| fact.subject.parse::<EntityId>().ok());
    let seen = object.and_then(|object| reading.view.last_track_of(object, until));
    let said = stated.grounds.iter().filter_map(|ground| match ground {
        Ground::Turn(clip, turn) => {
            reading.view.turn(clip.session, *turn).map(|row| row.span.start)
        }
        Ground::Memory(id) => reading.view.memory(*id).map(|row| row.span.start),
        Ground::Track(..) | Ground::Object(..) | Ground::Answer(_) => None,
    });
    let known = said.chain(seen.map(|row| row.span.end)).chain([stated.valid_from]);
    known.chain(stated.valid_to).filter(|at| *at <= until).max().unwrap_or(stated.valid_from)
}

/// Whether a sentence names the thing and tells where it is or what becomes of it.
fn tells(text: &str, name: &[String], at: Timestamp, reading: &Reading) -> bool {
    sentences(text).any(|sentence| {
        let have = stems(sentence);
        let named = name.iter().all(|word| have.contains(word));
        named && !sentence.contains('?') && is_of_place(sentence, name, at, reading)
    })
}

/// "Somebody took it to the car", "it is under the bed"; not "I like it in the morning".
fn is_of_place(sentence: &str, name: &[String], at: Timestamp, reading: &Reading) -> bool {
    let times = time_expressions(sentence, at, &reading.wording.zone);
    let timed = |start: usize| times.iter().any(|time| time.range.contains(&start));
    let words: Vec<String> = tokens(sentence)
        .into_iter()
        .filter(|token| !timed(token.range.start))
        .map(|token| token.word)
        .collect();
    let places = words.windows(2).any(|pair| {
        let thing = stems(&pair[0]).iter().all(|stem| name.last() == Some(stem));
        is_preposition(&pair[1]) && (thing || listed(BEING, &pair[0]))
    });
    places || words.iter().any(|word| listed(MOVING, word))
}

/// Whether a text says again that something is in that place.
fn says_again(text: &str, place: &str) -> bool {
    let have = stems(text);
    let denies = tokens(text).iter().any(|token| listed(NEGATIONS, &token.word));
    !denies && telling_stems(place).iter().all(|word| have.contains(word))
}
