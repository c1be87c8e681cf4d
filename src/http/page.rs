//! The web page: the files of `src/http/page`, carried in the binary.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use super::reply::{self, Problem};
use crate::mqtt::Refusal;

/// Name and bytes, by name.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));
/// What tells whether a browser has a file already, in the order of [`FILES`].
static TAGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let tag = |bytes: &[u8]| format!("\"{}\"", hex::encode(&Sha256::digest(bytes)[..16]));
    FILES.iter().map(|(_, bytes)| tag(bytes)).collect()
});

/// `GET /`.
pub(super) async fn index(headers: HeaderMap) -> Response {
    file("index.html", &headers)
}

/// `GET /ui/<file>`.
pub(super) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    file(&name, &headers)
}

/// A file by its whole name: there are these and no others, wherever a path points to.
fn file(name: &str, headers: &HeaderMap) -> Response {
    let Some(at) = FILES.iter().position(|(known, _)| *known == name) else {
        return Problem::from(Refusal::not_found("the page has no such file")).into_response();
    };
    let (bytes, tag) = (FILES[at].1, &TAGS[at]);
    let has = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let has = has.is_some_and(|tags| tags.split(',').any(|one| one.trim() == tag));
    let mut response = if has {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        reply::bytes(StatusCode::OK, content_type(name), bytes)
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.extend(HeaderValue::from_str(tag).ok().map(|tag| (header::ETAG, tag)));
    response
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        _ => "text/html; charset=utf-8",
    }
}
