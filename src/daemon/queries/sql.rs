//! One SELECT on the store: read-only, limited in rows and time.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::refusal::refusal;
use crate::memory::{Memory, SqlLimits, View};
use crate::mqtt::Refusal;

/// Rows given at most, whatever `limit` asks.
pub const MAX_ROWS: usize = 10_000;
/// Rows given where `limit` asks nothing.
const ROWS: usize = 1_000;
/// A query that takes longer is ended.
pub const TIME_LIMIT: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SqlArgs {
    /// One SELECT.
    query: String,
    /// Rows at most.
    limit: Option<usize>,
}

/// `{"columns","rows","truncated"}`.
pub(super) fn select(memory: &Memory, view: &View, args: &SqlArgs) -> Result<Value, Refusal> {
    let limits = SqlLimits { rows: args.limit.unwrap_or(ROWS).min(MAX_ROWS), time: TIME_LIMIT };
    let table = memory.sql_at(view, &args.query, limits);
    table.map(|table| json!(table)).map_err(|error| refusal(&error))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::daemon::queries::tests::{T0, small_memory};
    use crate::daemon::queries::{Means, query};
    use crate::memory::model::{NameRow, NameSource};
    use crate::mqtt::Reply;
    use crate::mqtt::message::QueryVerb;
    use crate::time::Timestamp;
    use serde_json::{Value, json};

    #[test]
    fn as_of_holds_for_sql_too() {
        let dir = tempfile::tempdir().unwrap();
        let memory = small_memory(dir.path());
        let since = Timestamp::from_nanos(T0).plus_secs(40.0);
        let mut draft = memory.begin(since);
        let (entity, name) = ("person_1".parse().unwrap(), "Avery".to_owned());
        draft.name(NameRow { entity, name, since, source: NameSource::Told, turn: None });
        draft.commit().unwrap();
        let name = |args: Value| {
            let means = Means::default();
            match query(&memory, &means, QueryVerb::Sql, args).unwrap() {
                Reply::Document(table) => table["rows"][0][0].clone(),
                Reply::Bytes { .. } => panic!("bytes"),
            }
        };
        let select = "SELECT name FROM people";
        assert_eq!(name(json!({ "query": select })), "Avery");
        assert_eq!(name(json!({ "query": select, "as_of": "seq:1" })), "Ava");
        let late = json!({ "query": select, "as_of": "seq:9" });
        assert!(query(&memory, &Means::default(), QueryVerb::Sql, late).is_err());
    }
}
