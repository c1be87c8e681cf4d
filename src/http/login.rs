//! `POST /api/login` and `/api/logout`: a cookie for who knows a password.

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::Door;
use super::access::NoLogin;
use super::commands::read;
use super::guard::COOKIE;
use super::reply::Problem;
use super::visitor::Visitor;
use crate::mqtt::Refusal;

/// The longest body of a login, bytes.
const MAX_BYTES: usize = 4096;

/// Who logs in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Credentials {
    user: String,
    password: String,
}

/// `POST /api/login`.
pub(super) async fn login(
    State(door): State<Door>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    if !door.access.has_users() {
        let message =
            "nobody needs to log in here: neither `http.users_file` nor `http.tokens_file` is set";
        return Err(Refusal::bad_request(message).into());
    }
    let body = read(body, &headers, MAX_BYTES).await?;
    // The error of the parser could hold the password.
    let Credentials { user, password } = serde_json::from_slice(&body)
        .map_err(|_| Refusal::bad_request(r#"write {"user":"ava","password":"…"}"#))?;
    let cookie =
        door.access.log_in(user, password, visitor.address).await.map_err(|why| match why {
            NoLogin::Wrong => {
                Problem::unauthorized("there is no such user, or the password is another")
            }
            NoLogin::TooOften => {
                Refusal::overloaded("too many logins were tried; wait some seconds").into()
            }
            NoLogin::Failed => {
                Refusal::internal("the login failed; the daemon's log says why").into()
            }
        })?;
    Ok(with_cookie(&cookie, visitor.secure, None))
}

/// `POST /api/logout`.
pub(super) async fn logout(
    State(door): State<Door>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    door.access.log_out(&visitor);
    with_cookie("", visitor.secure, Some(0))
}

/// No content, and a cookie; `max_age` 0: it is to be forgotten.
fn with_cookie(value: &str, secure: bool, max_age: Option<u32>) -> Response {
    let mut cookie = format!("{COOKIE}={value}; HttpOnly; SameSite=Strict; Path=/");
    if secure {
        cookie.push_str("; Secure");
    }
    if let Some(secs) = max_age {
        cookie.push_str(&format!("; Max-Age={secs}"));
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.extend(HeaderValue::from_str(&cookie).ok().map(|cookie| (header::SET_COOKIE, cookie)));
    response
}
