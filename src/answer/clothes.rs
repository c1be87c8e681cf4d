//! "Who wore a yellow jacket?": colours of clothes above the waist, as bodies showed them.
//!
//! They are of an appearance: others wear the same, and tomorrow everybody wears something else. So they tell who wore them, where a face
//! told whose body it was, within the times that are asked, else on the day of the question; and never who somebody is.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::colour::Colour;
use crate::ids::EntityId;
use crate::memory::PerceptFilter;
use crate::memory::model::TrackRow;
use crate::time::Span;

use super::document::Evidence;
use super::question::Parsed;
use super::reading::{GATHERED, Reading, hull, touch};
use super::reply::Reply;
use super::wording::{list, sentence};

/// No day is longer, seconds.
const DAY_SECS: f64 = 90_000.0;
/// Persons told in one answer, at most.
const TOLD: usize = 8;
/// How sure it is that somebody wore it whose body nobody knows.
const OF_NOBODY: f32 = 0.5;

/// The reply to who wore those colours; `None` of other questions, and where nobody was seen so.
pub(super) fn asked(reading: &Reading, parsed: &Parsed) -> Option<Reply> {
    let colours = parsed.worn.as_deref()?;
    let mut last: BTreeMap<Option<EntityId>, Arc<TrackRow>> = BTreeMap::new();
    for (who, row) in wearers(reading, colours) {
        // In time order: the last one tells.
        last.insert(who, row);
    }
    // Somebody unknown may be one of those who are known.
    if last.len() > 1 {
        last.remove(&None);
    }
    let mut found: Vec<(Option<EntityId>, Arc<TrackRow>)> = last.into_iter().collect();
    found.sort_by_key(|(_, row)| (row.span.start, row.clip, row.track));
    found.truncate(TOLD);
    if found.is_empty() {
        return None;
    }
    let told: Vec<String> = found.iter().map(|(who, row)| worn(reading, *who, row)).collect();
    let entities = found.iter().filter_map(|(who, _)| *who).collect();
    let evidence = found.iter().take(GATHERED).map(|(who, row)| evidence(reading, *who, row));
    Some(Reply::known(sentence(&format!("{}.", list(&told))), entities, evidence.collect()))
}

/// Those who are known and wore all of those colours, each once.
pub(super) fn known_wearers(reading: &Reading, colours: &[Colour]) -> Vec<EntityId> {
    let mut found: Vec<EntityId> =
        wearers(reading, colours).into_iter().filter_map(|(who, _)| who).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Bodies in clothes of all of those colours, and whose each is, in time order. Costs the tracks of the times asked, else of a day.
fn wearers(reading: &Reading, colours: &[Colour]) -> Vec<(Option<EntityId>, Arc<TrackRow>)> {
    let (now, spans) = (reading.now(), reading.spans.as_deref());
    let span = spans.and_then(hull).unwrap_or_else(|| Span::new(now.plus_secs(-DAY_SECS), now));
    let filter = PerceptFilter { span: Some(span), ..PerceptFilter::default() };
    let is_meant = |row: &Arc<TrackRow>| {
        let then = match spans {
            Some(spans) => spans.iter().any(|span| touch(*span, row.span)),
            None => row.span.start <= now && reading.wording.days(row.span.start, now) == 0,
        };
        row.body && then && row.colours.is_some_and(|worn| worn.has_all(colours))
    };
    let rows = reading.view.tracks(&filter).into_iter().filter(is_meant);
    let whose = |row: &TrackRow| {
        row.face.map(|face| reading.view.resolve(face)).filter(|id| Reading::is_person(*id))
    };
    rows.map(|row| (whose(&row), row)).collect()
}

/// "Ben wore yellow at 17:30:05"
fn worn(reading: &Reading, who: Option<EntityId>, row: &TrackRow) -> String {
    let who = who.map_or_else(
        || "somebody I could not identify".to_owned(),
        |person| reading.introduce(person),
    );
    let colours = row.colours.map_or_else(String::new, |colours| colours.to_string());
    format!("{who} wore {colours} {}", reading.wording.at(row.span.start))
}

fn evidence(reading: &Reading, who: Option<EntityId>, row: &TrackRow) -> Evidence {
    Evidence {
        memory: None,
        kind: "body_track".into(),
        text: sentence(&format!("{}.", worn(reading, who, row))),
        start: row.span.start,
        end: row.span.end,
        clip: Some(row.clip),
        entities: who.into_iter().collect(),
        score: if who.is_some() { row.confidence.clamp(0.0, 1.0) } else { OF_NOBODY },
        document: None,
    }
}
