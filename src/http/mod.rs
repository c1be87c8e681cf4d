//! HTTP: the contract of MQTT for browsers and programs without a broker.
//!
//! The control plane's second door. [`server`] takes connections, [`guard`] looks at every request (which host, by what way,
//! who, what they may), and the rest carries them out: questions and commands through the dispatcher of [`crate::mqtt`]
//! (rates, once-only ids and refusals are the same), what is published as server-sent events, and pictures. It knows no
//! stage: the daemon brings where pictures and figures come from.

mod access;
pub mod accounts;
pub mod client;
mod commands;
mod documents;
mod events;
mod guard;
mod login;
mod logins;
pub mod mcp;
mod media;
mod openapi;
mod page;
pub mod pictures;
mod reply;
mod rights;
mod server;
pub mod snapshots;
#[cfg(test)]
mod tests;
pub mod visitor;

use std::net::SocketAddr;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use self::access::Access;
use self::accounts::AccountError;
use self::guard::Doorway;
use self::pictures::{Live, Pictures};
use self::snapshots::Snapshots;
use self::visitor::Visitor;
use crate::config::{Config, McpTools};
use crate::mqtt::Requests;

/// How long a stop waits for connections.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// What keeps the door shut.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The port cannot be had.
    #[error(
        "listening for HTTP on {address}: {source}; set `http.listen` to a free port of this machine, or to \"none\""
    )]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of users, tokens, certificates or keys.
    #[error("reading {}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// What stands in a file of users or tokens.
    #[error("{}: {source}", path.display())]
    Accounts {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        source: AccountError,
    },
    /// Files are named, and nobody stands in them.
    #[error(
        "nobody stands in `http.users_file` and `http.tokens_file`: make a line with `engramd users add NAME --role look,ask`"
    )]
    NoUsers,
    /// A certificate or a key that cannot be used.
    #[error("using {} for https: {why}", path.display())]
    Tls {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

/// What renders the figures; may take a few milliseconds.
pub type Render = Arc<dyn Fn() -> String + Send + Sync>;

/// What is behind the door.
pub struct Behind {
    /// Carries out requests, and tells what is published.
    pub requests: Requests,
    /// Where pictures come from.
    pub pictures: Arc<dyn Pictures>,
    /// Where parts of the ring come from that were kept.
    pub snapshots: Arc<dyn Snapshots>,
    /// Renders `/metrics`.
    pub metrics: Render,
}

/// What every handler is given. Cheap to clone.
#[derive(Clone)]
struct Door(Arc<Inside>);

struct Inside {
    requests: Requests,
    pictures: Arc<dyn Pictures>,
    snapshots: Arc<dyn Snapshots>,
    metrics: Render,
    live: Live,
    access: Arc<Access>,
    doorway: Doorway,
    stopping: watch::Receiver<bool>,
}

impl Deref for Door {
    type Target = Inside;

    fn deref(&self) -> &Inside {
        &self.0
    }
}

/// The listening door; it ends with [`Self::stop`], or with the runtime.
pub struct Server {
    address: SocketAddr,
    secure: bool,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    #[cfg(test)]
    live: Live,
}

impl Server {
    /// Listens where the configuration says, in the current tokio runtime; `None`: nowhere.
    ///
    /// # Errors
    /// [`HttpError`] when users, certificates or the port cannot be had.
    pub async fn start(config: &Config, behind: Behind) -> Result<Option<Self>, HttpError> {
        let Some(address) = config.http.address() else { return Ok(None) };
        let access = Arc::new(Access::open(config)?);
        let tls = server::tls(config)?;
        let secure = tls.is_some();
        if !address.ip().is_loopback() && !secure && config.http.trusted_proxies.is_empty() {
            tracing::warn!(
                "passwords and answers cross the network unencrypted: set `http.tls_cert_file` and `http.tls_key_file`"
            );
        }
        let listen = |source| HttpError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let (stop, stopping) = watch::channel(false);
        let live = Live::default();
        let Behind { requests, pictures, snapshots, metrics } = behind;
        let door = Door(Arc::new(Inside {
            requests,
            pictures,
            snapshots,
            metrics,
            live: live.clone(),
            access,
            doorway: Doorway::new(&config.http),
            stopping: stopping.clone(),
        }));
        let routes = router(door, config.http.mcp);
        let task = tokio::spawn(server::serve(listener, tls, routes, stopping));
        Ok(Some(Self {
            address,
            secure,
            stop,
            task,
            #[cfg(test)]
            live,
        }))
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the page.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}/", self.address)
    }

    /// How many cameras are watched.
    #[cfg(test)]
    fn watched(&self) -> usize {
        self.live.watched()
    }

    /// Takes no more connections, and ends those that listen or watch.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        let _ = tokio::time::timeout(STOP_TIMEOUT, self.task).await;
    }
}

/// Every path there is.
fn router(door: Door, tools: McpTools) -> Router {
    let mut router = Router::new();
    for command in commands::COMMANDS {
        let run =
            move |door: State<Door>, visitor: Extension<Visitor>, head: HeaderMap, body: Body| {
                commands::command(command, door, visitor, head, body)
            };
        router = router.route(&format!("/api/{command}"), post(run));
    }
    if let Some(assistants) = mcp::door::service(&door, tools) {
        router = router.route_service("/mcp", assistants);
    }
    router
        .route("/", get(page::index))
        .route("/ui/{file}", get(page::asset))
        .route("/healthz", get(documents::healthz))
        .route("/metrics", get(documents::metrics))
        .route("/openapi.json", get(openapi::openapi))
        .route("/api/me", get(documents::me))
        .route("/api/login", post(login::login))
        .route("/api/logout", post(login::logout))
        .route("/api/status", get(documents::status))
        .route("/api/stats", get(documents::stats))
        .route("/api/describe", get(documents::describe))
        .route("/api/events", get(events::events))
        .route("/api/still/{camera}", get(pictures::still))
        .route("/api/live/{camera}", get(pictures::live))
        .route("/api/media/{*name}", get(media::media))
        .route("/api/snapshots/{name}", get(snapshots::snapshot))
        .route("/api/ask", post(commands::ask))
        .route("/api/query/{verb}", post(commands::query))
        .route("/api/replay/{verb}", post(commands::replay))
        .fallback(commands::nothing)
        .method_not_allowed_fallback(commands::wrong_method)
        .layer(from_fn_with_state(door.clone(), guard::guard))
        .with_state(door)
}
