//! What goes back: a reply of the dispatcher, or why there is none, with the status that fits.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::mqtt::{self, Refusal, RefusalCode};

/// Content type of every document.
pub(super) const JSON: &str = "application/json";

/// Why a request was refused: a status, and the error document that MQTT has for it.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    status: StatusCode,
    refusal: Refusal,
}

impl Problem {
    /// With a status of its own, because there is none of these on MQTT.
    pub(super) fn with(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, refusal: Refusal::bad_request(message) }
    }

    /// Not logged in, or with a token that nobody knows.
    pub(super) fn unauthorized(message: impl Into<String>) -> Self {
        Self::with(StatusCode::UNAUTHORIZED, message)
    }

    /// Not allowed, whoever it is or however it came.
    pub(super) fn forbidden(message: impl Into<String>) -> Self {
        Self::with(StatusCode::FORBIDDEN, message)
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self { status: status(refusal.code), refusal }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = self.refusal.document(None).to_string();
        let mut response = bytes(self.status, JSON, document);
        if self.status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer realm=\"engram\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        retry_after(&mut response);
        response
    }
}

/// The status of an error code.
fn status(code: RefusalCode) -> StatusCode {
    match code {
        RefusalCode::BadRequest => StatusCode::BAD_REQUEST,
        RefusalCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        RefusalCode::NotFound => StatusCode::NOT_FOUND,
        RefusalCode::Expired => StatusCode::UNPROCESSABLE_ENTITY,
        RefusalCode::Overloaded => StatusCode::TOO_MANY_REQUESTS,
        RefusalCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        RefusalCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The dispatcher's reply.
pub(super) fn of(reply: mqtt::Response) -> Response {
    let status = match reply.refused() {
        _ if reply.conflict => StatusCode::CONFLICT,
        Some(code) => status(code),
        None => StatusCode::OK,
    };
    let mut response = bytes(status, reply.content_type, reply.payload);
    retry_after(&mut response);
    response
}

/// Bytes of a content type; never kept by a browser: what they tell may be erased.
pub(super) fn bytes(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Body>,
) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Whoever asked for too much may come again in a second.
fn retry_after(response: &mut Response) {
    if response.status() == StatusCode::TOO_MANY_REQUESTS {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
}
