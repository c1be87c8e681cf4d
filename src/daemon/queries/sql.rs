//! One SELECT on the store: read-only, limited in rows and time.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::refusal;
use crate::memory::{Memory, SqlLimits};
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
pub(super) fn select(memory: &Memory, args: &SqlArgs) -> Result<Value, Refusal> {
    let limits = SqlLimits { rows: args.limit.unwrap_or(ROWS).min(MAX_ROWS), time: TIME_LIMIT };
    memory.sql(&args.query, limits).map(|table| json!(table)).map_err(|error| refusal(&error))
}
