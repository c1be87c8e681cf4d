//! What every request passes before anything else: which host it means, by what way it came, who sent it, what they may.

use std::net::{IpAddr, SocketAddr};

use axum::body::Body;
use axum::extract::State;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Door;
use super::reply::Problem;
use super::rights::Need;
use super::visitor::Known;
use crate::config::Http;

/// The cookie of a login.
pub(super) const COOKIE: &str = "engram_login";
/// The header that no other site's page can set without being asked first.
const CSRF: &str = "x-engram";
/// What a browser is told to load: what is ours, and nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' \
                      blob:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The two ends of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) peer: SocketAddr,
    pub(super) local: SocketAddr,
    /// Over TLS.
    pub(super) tls: bool,
}

/// Which hosts may be meant, and whose forwarding headers are believed.
#[derive(Clone, Debug)]
pub(super) struct Doorway {
    hosts: Vec<String>,
    proxies: Vec<IpAddr>,
}

impl Doorway {
    pub(super) fn new(http: &Http) -> Self {
        Self {
            hosts: http.hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            // (What is no address, the configuration's check refused.)
            proxies: http.trusted_proxies.iter().filter_map(|proxy| proxy.parse().ok()).collect(),
        }
    }

    /// Whether that is a name of this daemon: the address that was connected to, a name of this machine for itself where
    /// that is a loopback address, or a name of the configuration. The port is what it is: another one's pages have
    /// another origin.
    fn is_ours(&self, host: &str, local: IpAddr) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = bare.parse::<IpAddr>() {
            return address.to_canonical() == local.to_canonical();
        }
        self.hosts.contains(&host)
            || local.to_canonical().is_loopback()
                && (host == "localhost" || host.ends_with(".localhost"))
    }
}

/// Passes a request on, or refuses it; and says to browsers what they may do with the reply.
pub(super) async fn guard(
    State(door): State<Door>,
    mut request: Request<Body>,
    next: Next,
) -> Response {
    let mut response = match admit(&door, &mut request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Looks at a request, and notes who sent it.
fn admit(door: &Door, request: &mut Request<Body>) -> Result<(), Problem> {
    let Some(ends) = request.extensions().get::<Ends>().copied() else {
        return Err(Problem::forbidden("nobody knows where this request came from"));
    };
    let headers = request.headers();
    let host = host_of(request)?;
    if !door.doorway.is_ours(host.host(), ends.local.ip()) {
        return Err(Problem::forbidden(format!(
            "{:?} is no name of this daemon; should it be, put it into `http.hosts`",
            host.host()
        )));
    }
    let way = way(&door.doorway, headers, ends)?;
    check_origin(headers, &host)?;
    let authorization = headers.get(header::AUTHORIZATION);
    let token = authorization.and_then(|value| bearer(value.to_str().ok()?));
    let visitor = door.access.visitor(token, cookie(headers), way.address, way.secure);
    let path = request.uri().path();
    let need = Need::of(path);
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    // A page of another site may send a form, or a request without consequence; it cannot set a header.
    let is_program = token.is_some();
    if !reads && !is_program && headers.get(CSRF).is_none_or(|value| value != "1") {
        return Err(Problem::forbidden(
            "a request that asks or changes needs the header `X-Engram: 1`, or a token",
        ));
    }
    if path.starts_with("/api/") && !is_program && is_of_another_site(headers) {
        return Err(Problem::forbidden("a page of another site sent this request"));
    }
    if !need.is_met_by(visitor.roles) {
        return Err(match (&visitor.known, token) {
            (Known::Not, Some(_)) => Problem::unauthorized("nobody has that token (any more)"),
            (Known::Not, None) => Problem::unauthorized(
                "log in by POST /api/login, or send a token: Authorization: Bearer …",
            ),
            _ => Problem::forbidden(format!(
                "{} may {} and not this; its roles stand in `http.users_file` or `http.tokens_file`",
                visitor.name.as_deref().unwrap_or_default(),
                visitor.roles.words().join(", ")
            )),
        });
    }
    request.extensions_mut().insert(visitor);
    Ok(())
}

/// The host that is meant: there is exactly one.
fn host_of(request: &Request<Body>) -> Result<Authority, Problem> {
    let wrong = || Problem::from(crate::mqtt::Refusal::bad_request("a request needs one `Host`"));
    let mut told = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (told.next(), told.next()) else { return Err(wrong()) };
    let host: Authority =
        host.to_str().ok().and_then(|host| host.parse().ok()).ok_or_else(wrong)?;
    // In the form for proxies (`GET http://host/…`) both say the same.
    match request.uri().authority() {
        Some(other) if !other.as_str().eq_ignore_ascii_case(host.as_str()) => Err(wrong()),
        _ if host.as_str().contains('@') => Err(wrong()),
        _ => Ok(host),
    }
}

/// By what way a request came.
struct Way {
    address: IpAddr,
    secure: bool,
}

/// Where a request came from: the peer, or whom a proxy that is believed names. From anybody else such a header is refused:
/// a proxy on this machine would make the whole world this machine.
fn way(doorway: &Doorway, headers: &HeaderMap, ends: Ends) -> Result<Way, Problem> {
    let forwards = |name: &HeaderName| {
        let name = name.as_str();
        matches!(name, "forwarded" | "via" | "x-real-ip") || name.starts_with("x-forwarded")
    };
    let peer = ends.peer.ip().to_canonical();
    if !headers.keys().any(forwards) {
        return Ok(Way { address: peer, secure: ends.tls });
    }
    if !doorway.proxies.iter().any(|proxy| proxy.to_canonical() == peer) {
        return Err(Problem::forbidden(format!(
            "this request came through a proxy ({peer}), and is not believed; put its address into `http.trusted_proxies` if \
             it keeps out who may not come in"
        )));
    }
    // The last address is what the proxy itself saw; what stands before it, anybody may have written.
    let last = |name: &str| {
        let value = headers.get_all(name).iter().next_back()?.to_str().ok()?;
        value.rsplit(',').next().map(str::trim)
    };
    let address = last("x-forwarded-for").or_else(|| last("x-real-ip"));
    let address = address.and_then(|address| address.parse::<IpAddr>().ok());
    let secure = ends.tls || last("x-forwarded-proto").is_some_and(|proto| proto == "https");
    Ok(Way { address: address.map_or(peer, |address| address.to_canonical()), secure })
}

/// A browser says whose page sent a request: only ours may.
fn check_origin(headers: &HeaderMap, host: &Authority) -> Result<(), Problem> {
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default();
    let ours = ["http://", "https://"]
        .iter()
        .filter_map(|scheme| origin.strip_prefix(scheme))
        .any(|origin| origin.eq_ignore_ascii_case(host.as_str()));
    if ours {
        return Ok(());
    }
    Err(Problem::forbidden(format!("the page of another site ({origin:?}) sent this request")))
}

/// Whether a browser says that another site's page sent it (Fetch Metadata, W3C).
fn is_of_another_site(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    matches!(site, Some("cross-site" | "same-site"))
}

/// The token of `Authorization: Bearer TOKEN` (RFC 6750).
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// What the cookie of a login holds.
fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_daemon_are_meant() {
        let http = Http { hosts: vec!["Robot.local".into()], ..Http::default() };
        let doorway = Doorway::new(&http);
        let (loopback, lan) = ("127.0.0.1".parse().unwrap(), "192.168.1.7".parse().unwrap());
        for ours in
            ["127.0.0.1", "localhost", "LOCALHOST", "robot.local", "app.localhost", "localhost."]
        {
            assert!(doorway.is_ours(ours, loopback), "{ours}");
        }
        for other in [
            "evil.example",
            "127.0.0.1.evil.example",
            "192.168.1.7",
            "0.0.0.0",
            "",
            "localhost.evil.example",
        ] {
            assert!(!doorway.is_ours(other, loopback), "{other}");
        }
        assert!(doorway.is_ours("192.168.1.7", lan));
        assert!(doorway.is_ours("192.168.1.7", "::ffff:192.168.1.7".parse().unwrap()));
        assert!(doorway.is_ours("[::1]", "::1".parse().unwrap()));
        assert!(!doorway.is_ours("localhost", lan));
    }
}
