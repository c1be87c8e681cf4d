//! `GET /api/snapshots/<name>`: what was kept of the ring, as an MCAP file.

use std::io;

use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

use super::Door;
use super::reply::{self, Problem};
use crate::mqtt::Refusal;

/// MCAP has no registered media type.
const MCAP: &str = "application/octet-stream";

/// Where snapshots come from.
pub trait Snapshots: Send + Sync + 'static {
    /// The file of that name, in the clear; `None`: there is none.
    ///
    /// # Errors
    /// When the disk fails, or it is encrypted under another key.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>>;
}

/// The snapshot of that name, to be saved.
pub(super) async fn snapshot(
    State(door): State<Door>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let (snapshots, wanted) = (door.snapshots.clone(), name.clone());
    let read = tokio::task::spawn_blocking(move || snapshots.read(&wanted)).await;
    let file = read
        .unwrap_or_else(|stopped| Err(io::Error::other(stopped)))
        .map_err(|error| Refusal::internal(format!("reading the snapshot {name:?}: {error}")))?
        .ok_or_else(|| {
            Refusal::not_found(format!(
                "there is no snapshot {name:?}; the verb `snapshots` tells which there are"
            ))
        })?;
    let mut response = reply::bytes(StatusCode::OK, MCAP, file);
    // (A name that is one has figures and a line.)
    let saved = HeaderValue::from_str(&format!("attachment; filename=\"{name}.mcap\""));
    response.headers_mut().extend(saved.ok().map(|saved| (header::CONTENT_DISPOSITION, saved)));
    Ok(response)
}
