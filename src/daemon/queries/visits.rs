//! Who was there from when to when.

use serde::{Deserialize, Serialize};

use super::find::find;
use crate::answer;
use crate::memory::{Memory, View, Visit, VisitFilter};
use crate::mqtt::Refusal;
use crate::mqtt::message::ordered;
use crate::time::{Span, Timestamp};

/// So many visits are shown unless `limit` says more.
const USUAL: usize = 100;
/// So many at most.
const MOST: usize = 10_000;

/// Which visits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VisitsArgs {
    /// Those that were not over before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Timestamp>,
    /// Those that began by then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Timestamp>,
    /// Of this person: a name or an id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// The newest so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// Visits in order of their beginning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Visits {
    /// How long somebody must be away until a visit is over, seconds.
    pub absence_secs: f64,
    /// The visits.
    pub visits: Vec<Visit>,
}

/// The visits that are asked for.
///
/// # Errors
/// `not_found` for somebody whom there is not, `bad_request` for an `end` before `start` and a `limit` out of range.
pub(super) fn visits(memory: &Memory, view: &View, args: &VisitsArgs) -> Result<Visits, Refusal> {
    let limit = args.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(Refusal::bad_request(format!("`limit` must be 1 to {MOST}")));
    }
    ordered(args.start, args.end)?;
    let span = (args.start.is_some() || args.end.is_some()).then(|| {
        let first = args.start.unwrap_or(Timestamp::from_nanos(i64::MIN));
        Span::new(first, args.end.unwrap_or(Timestamp::MAX))
    });
    let who = args.who.as_deref().map(|word| find(view, word)).transpose()?;
    let absence_secs = memory.options().absence_secs;
    let filter = VisitFilter { span, who, limit: Some(limit) };
    let mut visits = view.visits(&filter, absence_secs);
    for visit in &mut visits {
        visit.did = answer::did(view, visit);
    }
    Ok(Visits { absence_secs, visits })
}
