//! How the daemon is: its newest documents, whether it lives, its figures, and who asks.

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::Door;
use super::reply::{self, JSON, Problem};
use super::visitor::Visitor;
use crate::mqtt::Refusal;

/// `GET /api/status`.
pub(super) async fn status(State(door): State<Door>) -> Result<Response, Problem> {
    document(&door, "status")
}

/// `GET /api/stats`.
pub(super) async fn stats(State(door): State<Door>) -> Result<Response, Problem> {
    document(&door, "stats")
}

/// `GET /api/describe`.
pub(super) async fn describe(State(door): State<Door>) -> Result<Response, Problem> {
    document(&door, "describe")
}

/// The newest one that was published on that topic.
fn document(door: &Door, topic: &str) -> Result<Response, Problem> {
    let document = door.requests.document(topic).ok_or_else(|| {
        Refusal::unavailable(format!("{topic} was not published yet; ask again in some seconds"))
    })?;
    Ok(reply::bytes(StatusCode::OK, JSON, document.payload.clone()))
}

/// `GET /healthz`: it answers. Tells nothing else, and may be asked by everybody.
pub(super) async fn healthz() -> Response {
    reply::bytes(StatusCode::OK, "text/plain; charset=utf-8", "ok\n")
}

/// `GET /metrics`: Prometheus' text form.
pub(super) async fn metrics(State(door): State<Door>) -> Result<Response, Problem> {
    let render = door.metrics.clone();
    let page = tokio::task::spawn_blocking(move || render())
        .await
        .map_err(|_| Refusal::internal("the page could not be made; the daemon's log says why"))?;
    Ok(reply::bytes(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", page))
}

/// `GET /api/me`: who asks, and what they may.
pub(super) async fn me(
    State(door): State<Door>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    let document = json!({
        "user": visitor.name,
        "roles": visitor.roles.words(),
        "login": door.access.has_users(),
    });
    reply::bytes(StatusCode::OK, JSON, document.to_string())
}
