//! `GET /api/snapshots/<name>`: what was kept of the ring, as an MCAP file, or with `.mp4` behind the name as a film.

use std::io;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Deserialize;

use super::Door;
use super::reply::{self, Problem};
use crate::mqtt::Refusal;

/// MCAP has no registered media type.
const MCAP: &str = "application/octet-stream";
const MP4: &str = "video/mp4";

/// Where snapshots come from.
pub trait Snapshots: Send + Sync + 'static {
    /// The file of that name, in the clear; `None`: there is none.
    ///
    /// # Errors
    /// When the disk fails, or it is encrypted under another key.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// The same as MP4, of that camera or of the only one; `None`: there is none of that name.
    ///
    /// # Errors
    /// `bad_request` where several cameras are in it and none is named, or there are no pictures of that one; `internal` when an
    /// encoder is missing, or the disk fails.
    fn film(&self, name: &str, camera: Option<&str>) -> Result<Option<Vec<u8>>, Refusal>;
}

/// Of which camera a film is.
#[derive(Deserialize)]
pub(super) struct Wanted {
    camera: Option<String>,
}

/// The snapshot of that name, to be saved.
pub(super) async fn snapshot(
    State(door): State<Door>,
    Path(file): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Problem> {
    let (name, as_film) = match file.strip_suffix(".mp4") {
        Some(name) => (name.to_owned(), true),
        None => (file, false),
    };
    let (snapshots, called) = (door.snapshots.clone(), name.clone());
    let read = tokio::task::spawn_blocking(move || match as_film {
        true => snapshots.film(&called, wanted.camera.as_deref()),
        false => snapshots.read(&called).map_err(|error| {
            Refusal::internal(format!("reading the snapshot {called:?}: {error}"))
        }),
    });
    let read = read.await;
    let file = read
        .unwrap_or_else(|stopped| Err(Refusal::internal(stopped.to_string())))?
        .ok_or_else(|| {
            Refusal::not_found(format!(
                "there is no snapshot {name:?}; the verb `snapshots` tells which there are"
            ))
        })?;
    let (kind, ending) = if as_film { (MP4, "mp4") } else { (MCAP, "mcap") };
    let mut response = reply::bytes(StatusCode::OK, kind, file);
    // (A name that is one has figures and a line.)
    let saved = HeaderValue::from_str(&format!("attachment; filename=\"{name}.{ending}\""));
    response.headers_mut().extend(saved.ok().map(|saved| (header::CONTENT_DISPOSITION, saved)));
    Ok(response)
}
