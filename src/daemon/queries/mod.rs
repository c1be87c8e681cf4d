//! Reading commands: verb and arguments in, the command's JSON out.
//!
//! The same functions serve `query` over MQTT and the command line with `--data-dir`, so that both say
//! the same.

mod documents;
mod find;
mod means;
mod media;
mod places;
mod recall;
mod recordings;
mod refusal;
mod show;
mod snapshots;
mod sql;
mod timeline;
mod triples;
mod visits;
mod watches;
mod why;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use documents::Documents;
pub use find::{find, name_of, told_thing};
pub use means::{Means, Played};
pub use media::MAX_MEDIA_BYTES;
pub use places::{Near, PlaceRow, Places};
pub use recall::answer;
pub use recordings::Recordings;
pub use refusal::refusal;
pub use show::{line as memory_line, sheet};
pub use snapshots::Snapshots;
pub use sql::{MAX_ROWS, TIME_LIMIT};
pub use timeline::{Block, BlockKind, Row, Timeline, timeline};
pub use triples::erasing;
pub use visits::Visits;
pub use watches::{Watches, watch_event};

use crate::memory::{Memory, View};
use crate::mqtt::message::{AsOf, QueryVerb};
use crate::mqtt::{Refusal, Reply};
use crate::time::Timestamp;

/// Carries out a reading command.
///
/// # Errors
/// A [`Refusal`]: unknown arguments, nothing of that name, a query that SQLite refuses, a time before the history.
pub fn query(
    memory: &Memory,
    means: &Means<'_>,
    verb: QueryVerb,
    args: Value,
) -> Result<Reply, Refusal> {
    let past = args.get("as_of").is_some_and(|at| !at.is_null());
    // Taken before the view, so that what is sealed in between is there once.
    let present = memory.present().now();
    let (args, mut view) = view(memory, args)?;
    if !past && matches!(verb, QueryVerb::Recall | QueryVerb::Show) {
        view = view.with_present(&present);
    }
    let document = match verb {
        QueryVerb::People => people(&view, read(args)?)?,
        QueryVerb::Profile => profile(&view, &read(args)?)?,
        QueryVerb::Places => places::places(&view, &read(args)?)?,
        QueryVerb::Visits => json!(visits::visits(memory, &view, &read(args)?)?),
        QueryVerb::Watches => json!(watches::watches(&view, &read(args)?)?),
        QueryVerb::Documents => json!(documents::documents(&view, &read(args)?)),
        QueryVerb::Recordings => json!(recordings::recordings(&view, means, &read(args)?)?),
        QueryVerb::Snapshots => json!(snapshots::snapshots(means, &read(args)?)?),
        QueryVerb::Timeline => json!(timeline(&view, &read(args)?)?),
        QueryVerb::Show => show::show(memory, &view, read(args)?)?,
        QueryVerb::Recall => {
            let now = means.clock.filter(|_| !past).or_else(|| view.newest_time());
            recall::recall(&view, means, now.unwrap_or(Timestamp::EPOCH), read(args)?)?
        }
        QueryVerb::Sql => sql::select(memory, &view, &read(args)?)?,
        QueryVerb::Media => {
            let (content_type, bytes) = media::media(memory, &view, read(args)?)?;
            return Ok(Reply::Bytes { content_type, bytes });
        }
    };
    Ok(Reply::Document(document))
}

/// Takes `as_of` out of the arguments and gives the view it means.
fn view(memory: &Memory, mut args: Value) -> Result<(Value, View), Refusal> {
    let as_of = args.as_object_mut().and_then(|args| args.shift_remove("as_of"));
    let view = match as_of {
        None | Some(Value::Null) => memory.view(),
        Some(at) => {
            let at: AsOf = serde_json::from_value(at)
                .map_err(|error| Refusal::bad_request(format!("`as_of`: {error}")))?;
            memory.view_as_of(at.into()).map_err(|error| refusal(&error))?
        }
    };
    Ok((args, view))
}

impl From<AsOf> for crate::memory::AsOf {
    fn from(at: AsOf) -> Self {
        match at {
            AsOf::Time(at) => Self::Time(at),
            AsOf::Seq(seq) => Self::Seq(seq),
        }
    }
}

/// The arguments of a verb.
fn read<T: DeserializeOwned>(args: Value) -> Result<T, Refusal> {
    let args = if args.is_null() { json!({}) } else { args };
    serde_json::from_value(args).map_err(|error| Refusal::bad_request(format!("`args`: {error}")))
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PeopleArgs {
    /// Only those with a name.
    #[serde(default)]
    named: bool,
    /// Why this one is taken for one person.
    why: Option<String>,
}

/// Every person, by id; or why one is one.
fn people(view: &View, args: PeopleArgs) -> Result<Value, Refusal> {
    if let Some(word) = &args.why {
        return Ok(why::why(view, find(view, word)?));
    }
    let mut persons = view.persons();
    persons.retain(|person| !args.named || person.name.is_some());
    Ok(json!(persons))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileArgs {
    /// A name or an id.
    who: String,
    /// What was true then; `None`: what still holds.
    #[serde(default)]
    at: Option<Timestamp>,
}

/// Who somebody is and what is true of them.
fn profile(view: &View, args: &ProfileArgs) -> Result<Value, Refusal> {
    Ok(json!(view.profile(find(view, &args.who)?, args.at)))
}

#[cfg(test)]
pub(crate) mod tests;
