//! `GET /api/still/<camera>` and `/api/live/<camera>`: the pictures that the open window keeps, as they are: they were
//! encoded once, for the window, and go out to however many watch.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::stream;
use tokio::sync::watch;

use super::Door;
use super::reply::{self, Problem};
use crate::mqtt::Refusal;
use crate::time::Timestamp;

/// A watched camera is looked at so often.
const LOOK_EVERY: Duration = Duration::from_millis(40);
/// Between two pictures of a stream (RFC 2046, 5.1.1).
const BOUNDARY: &str = "picture";

/// A picture of a camera.
#[derive(Clone, Debug)]
pub struct Still {
    /// When it was taken.
    pub at: Timestamp,
    /// JPEG.
    pub jpeg: Arc<[u8]>,
}

/// Where pictures come from.
pub trait Pictures: Send + Sync + 'static {
    /// A camera's newest picture; `None`: there is none just now.
    fn newest(&self, camera: &str) -> Option<Still>;

    /// Whether that is a camera, with a picture or without.
    fn knows(&self, camera: &str) -> bool;
}

/// `GET /api/still/<camera>`: its newest picture.
pub(super) async fn still(
    State(door): State<Door>,
    Path(camera): Path<String>,
) -> Result<Response, Problem> {
    let still = door.pictures.newest(&camera).ok_or_else(|| none(&door, &camera))?;
    let mut response =
        reply::bytes(StatusCode::OK, "image/jpeg", Bytes::from_owner(Shared(still.jpeg)));
    if let Ok(at) = HeaderValue::from_str(&still.at.to_string()) {
        response.headers_mut().insert("x-engram-time", at);
    }
    Ok(response)
}

/// `GET /api/live/<camera>`: every analysed picture, as MJPEG. Who is slow misses pictures, and holds nobody up.
pub(super) async fn live(
    State(door): State<Door>,
    Path(camera): Path<String>,
) -> Result<Response, Problem> {
    if !door.pictures.knows(&camera) {
        return Err(none(&door, &camera));
    }
    let mut parts = door.live.watch(&camera, &door.pictures);
    parts.mark_changed();
    let stream =
        stream::unfold((parts, door.stopping.clone()), |(mut parts, mut stopping)| async move {
            loop {
                tokio::select! {
                    changed = parts.changed() => changed.ok()?,
                    _ = stopping.wait_for(|stop| *stop) => return None,
                }
                let part = parts.borrow_and_update().clone();
                if let Some(part) = part {
                    return Some((Ok::<_, Infallible>(part), (parts, stopping)));
                }
            }
        });
    Ok(reply::bytes(
        StatusCode::OK,
        "multipart/x-mixed-replace; boundary=picture",
        Body::from_stream(stream),
    ))
}

fn none(door: &Door, camera: &str) -> Problem {
    let message = if door.pictures.knows(camera) {
        format!(
            "the camera {camera:?} shows no picture just now; `sources` of /api/stats tells how it is"
        )
    } else {
        format!("there is no camera {camera:?} now; `sources` of /api/stats names them")
    };
    Refusal::not_found(message).into()
}

/// A picture that others have, too.
struct Shared(Arc<[u8]>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The newest part of a stream of pictures.
type Part = Option<Bytes>;

/// The cameras that are watched; each is looked at by one task, while somebody watches.
#[derive(Clone, Debug, Default)]
pub(super) struct Live {
    watched: Arc<Mutex<BTreeMap<String, watch::Sender<Part>>>>,
}

impl Live {
    /// What a camera shows from now on.
    fn watch(&self, camera: &str, pictures: &Arc<dyn Pictures>) -> watch::Receiver<Part> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parts) = watched.get(camera) {
            return parts.subscribe();
        }
        let (sender, receiver) = watch::channel(None);
        watched.insert(camera.to_owned(), sender.clone());
        let (live, camera, pictures) = (self.clone(), camera.to_owned(), Arc::clone(pictures));
        tokio::spawn(async move { live.look(&camera, &*pictures, &sender).await });
        receiver
    }

    /// Looks at a camera until nobody watches it any more.
    async fn look(&self, camera: &str, pictures: &dyn Pictures, parts: &watch::Sender<Part>) {
        let mut shown = None;
        loop {
            let newest = pictures.newest(camera);
            let at = newest.as_ref().map(|still| still.at);
            if at != shown {
                // What was erased, or is over, is shown to nobody who comes now.
                shown = at;
                parts.send_replace(newest.as_ref().map(part));
            }
            tokio::time::sleep(LOOK_EVERY).await;
            let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
            // Nobody can come while this is locked.
            if parts.receiver_count() == 0 {
                watched.remove(camera);
                return;
            }
        }
    }

    /// How many cameras are watched.
    #[cfg(test)]
    pub(super) fn watched(&self) -> usize {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// A picture as a part of the stream, made once for all who watch.
fn part(still: &Still) -> Bytes {
    let head = format!(
        "--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\nX-Engram-Time: {}\r\n\r\n",
        still.jpeg.len(),
        still.at
    );
    let mut part = Vec::with_capacity(head.len() + still.jpeg.len() + 2);
    part.extend_from_slice(head.as_bytes());
    part.extend_from_slice(&still.jpeg);
    part.extend_from_slice(b"\r\n");
    part.into()
}
