//! The sockets: connections are taken, bounded in number and in patience, with TLS where it is configured.

use std::fs;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{collections::BTreeMap, path::Path};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tower::ServiceExt as _;

use super::HttpError;
use super::guard::Ends;
use crate::config::{Config, find_file};

/// Connections at a time …
pub(super) const MAX_CONNECTIONS: usize = 512;
/// … and from one address.
pub(super) const MAX_OF_ONE_ADDRESS: usize = 384;
/// How long a request's head may take, and a connection may idle between two. (Tests have no time.)
const HEAD_TIMEOUT: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 15 });
/// How long a TLS handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Who takes nothing of what is sent for so long is gone, milliseconds.
const STALLED_MS: u32 = 30_000;
/// A request's head, and what waits to be sent, bytes.
const BUFFER_BYTES: usize = 64 * 1024;
/// How long a stop waits for replies under way.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);
/// What whoever comes too many is told.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 5\r\nConnection: close\r\n\r\n";

/// How many connections there are, by address.
#[derive(Clone, Debug, Default)]
struct Room(Arc<Mutex<BTreeMap<IpAddr, usize>>>);

/// A connection's place; free again when this goes.
struct Place {
    room: Room,
    address: IpAddr,
}

impl Room {
    /// `None`: there are too many.
    fn take(&self, address: IpAddr) -> Option<Place> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.get(&address).copied().unwrap_or_default();
        if own >= MAX_OF_ONE_ADDRESS || taken.values().sum::<usize>() >= MAX_CONNECTIONS {
            return None;
        }
        taken.insert(address, own + 1);
        drop(taken);
        Some(Place { room: self.clone(), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.room.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = taken.get_mut(&self.address) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.address);
            }
        }
    }
}

/// Certificate and key of the configuration; `None`: it names none.
pub(super) fn tls(config: &Config) -> Result<Option<TlsAcceptor>, HttpError> {
    let (Some(cert), Some(key)) = (&config.http.tls_cert_file, &config.http.tls_key_file) else {
        return Ok(None);
    };
    let read = |file: &Path| -> Result<(PathBuf, Vec<u8>), HttpError> {
        let path = find_file(file, config.store.dir.as_deref()).unwrap_or_else(|| file.to_owned());
        match fs::read(&path) {
            Ok(bytes) => Ok((path, bytes)),
            Err(source) => Err(HttpError::File { path, source }),
        }
    };
    let wrong = |path: &Path| {
        let path = path.to_owned();
        move |why: String| HttpError::Tls { path, why }
    };
    let (path, bytes) = read(cert)?;
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&bytes)
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(&path)(error.to_string()))?;
    if chain.is_empty() {
        return Err(wrong(&path)("it holds no certificate (PEM)".to_owned()));
    }
    let (path, bytes) = read(key)?;
    let key =
        PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| wrong(&path)(error.to_string()))?;
    let server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| wrong(&path)(error.to_string()))?;
    Ok(Some(TlsAcceptor::from(Arc::new(server))))
}

/// Takes connections until it is to stop.
pub(super) async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    mut stopping: watch::Receiver<bool>,
) {
    let room = Room::default();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.wait_for(|stop| *stop) => return,
        };
        let Ok((mut stream, peer)) = accepted else {
            // Out of descriptors, most likely: not the place to spin.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Some(place) = room.take(peer.ip().to_canonical()) else {
            tracing::debug!(%peer, "A connection was one too many.");
            tokio::spawn(async move {
                let refuse = async { stream.write_all(FULL).await };
                let _ = tokio::time::timeout(Duration::from_secs(1), refuse).await;
            });
            continue;
        };
        let (tls, router, stopping) = (tls.clone(), router.clone(), stopping.clone());
        tokio::spawn(async move {
            if let Err(error) = connection(stream, peer, tls, router, stopping).await {
                tracing::debug!(%peer, %error, "A connection ended.");
            }
            drop(place);
        });
    }
}

/// One connection, from its beginning to its end.
async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    router: Router,
    stopping: watch::Receiver<bool>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    sockopt::set_tcp_user_timeout(&stream, STALLED_MS)?;
    let ends = Ends { peer, local: stream.local_addr()?, tls: tls.is_some() };
    match tls {
        None => requests(stream, ends, router, stopping).await,
        Some(tls) => {
            let handshake = tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream));
            requests(handshake.await??, ends, router, stopping).await
        }
    }
}

/// The requests of a connection, one after the other.
async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ends: Ends,
    router: Router,
    mut stopping: watch::Receiver<bool>,
) -> io::Result<()> {
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ends);
        router.clone().oneshot(request)
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(served);
    tokio::select! {
        ended = served.as_mut() => return ended.map_err(io::Error::other),
        _ = stopping.wait_for(|stop| *stop) => {}
    }
    served.as_mut().graceful_shutdown();
    within(STOP_TIMEOUT, served).await;
    Ok(())
}

async fn within(time: Duration, future: impl Future) {
    let _ = tokio::time::timeout(time, future).await;
}
