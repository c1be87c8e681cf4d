//! The tiny HTTP side: one page, read only, few connections at a time, little patience.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::connections::serve_each;
use crate::supervise::keep_up_task;

/// Connections at a time; more wait in the system's queue.
const CONNECTIONS: usize = 4;
/// A request's head, at most.
const MAX_HEAD_BYTES: usize = 8 * 1024;
/// How long one connection may take from its beginning to its end.
const PATIENCE: Duration = Duration::from_secs(3);

/// Why there is no endpoint.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    /// Not an address.
    #[error("`metrics.listen` is {0:?}, but must be address:port, for example 127.0.0.1:9464")]
    Address(String),
    /// The port cannot be had.
    #[error(
        "listening for Prometheus on {address}: {source}; set `metrics.listen` to a free port of this machine"
    )]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
}

/// What renders the page; may take a few milliseconds.
pub type Render = Arc<dyn Fn() -> String + Send + Sync>;

/// The listening endpoint; ends with the runtime.
#[derive(Clone, Copy, Debug)]
pub struct Responder {
    address: SocketAddr,
}

impl Responder {
    /// Listens on `listen`, in the current tokio runtime.
    ///
    /// # Errors
    /// [`MetricsError`] when that is no address, or it is taken.
    pub async fn start(listen: &str, render: Render) -> Result<Self, MetricsError> {
        let address: SocketAddr =
            listen.parse().map_err(|_| MetricsError::Address(listen.to_owned()))?;
        let failed = |source| MetricsError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        tokio::spawn(async move {
            let over = keep_up_task("metrics", || serve(&listener, &render)).await;
            if let Err(over) = over {
                tracing::error!("metrics on http://{address}/metrics: {over}; restart engramd");
            }
        });
        Ok(Self { address })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn serve(listener: &TcpListener, render: &Render) {
    serve_each(listener, CONNECTIONS, |stream| {
        let render = Arc::clone(render);
        async move {
            let answered = tokio::time::timeout(PATIENCE, answer(stream, render)).await;
            if let Ok(Err(error)) = answered {
                tracing::debug!(%error, "A reader of the metrics went away.");
            }
        }
    })
    .await;
}

/// One request, one reply, the end.
async fn answer(mut stream: TcpStream, render: Render) -> std::io::Result<()> {
    let head = read_head(&mut stream).await?;
    let reply = match head.as_deref().map(path) {
        Some(Ok(("GET", "/metrics"))) => {
            let page = tokio::task::spawn_blocking(move || render()).await;
            match page {
                Ok(page) => {
                    reply("200 OK", "text/plain; version=0.0.4; charset=utf-8", &page, true)
                }
                Err(_) => plain("500 Internal Server Error", "the page could not be made\n"),
            }
        }
        Some(Ok(("HEAD", "/metrics"))) => reply("200 OK", "text/plain; version=0.0.4", "", false),
        Some(Ok(("GET" | "HEAD", _))) => plain("404 Not Found", "there is only /metrics\n"),
        Some(Ok(_)) => plain("405 Method Not Allowed", "only GET\n"),
        Some(Err(())) => plain("400 Bad Request", "not HTTP\n"),
        None => plain("431 Request Header Fields Too Large", "the head is too long\n"),
    };
    stream.write_all(reply.as_bytes()).await?;
    stream.shutdown().await
}

/// The request up to its empty line; `None`: too long.
async fn read_head(stream: &mut TcpStream) -> std::io::Result<Option<Vec<u8>>> {
    let mut head = Vec::with_capacity(1024);
    let mut piece = [0u8; 1024];
    loop {
        let read = stream.read(&mut piece).await?;
        head.extend_from_slice(&piece[..read]);
        if head.len() > MAX_HEAD_BYTES {
            return Ok(None);
        }
        if read == 0 || head.windows(4).any(|end| end == b"\r\n\r\n") {
            return Ok(Some(head));
        }
    }
}

/// Method and path, without the query.
fn path(head: &[u8]) -> Result<(&str, &str), ()> {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = std::str::from_utf8(line).map_err(drop)?;
    let mut words = line.split(' ');
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some(method), Some(target), Some(version), None)
            if version.starts_with("HTTP/1.") && target.starts_with('/') =>
        {
            Ok((method, target.split('?').next().unwrap_or(target)))
        }
        _ => Err(()),
    }
}

fn plain(status: &str, text: &str) -> String {
    reply(status, "text/plain; charset=utf-8", text, true)
}

fn reply(status: &str, content_type: &str, body: &str, with_length: bool) -> String {
    let length =
        if with_length { format!("Content-Length: {}\r\n", body.len()) } else { String::new() };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n{length}Connection: close\r\n\
         Cache-Control: no-store\r\n\r\n{body}"
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    async fn ask(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request).await.unwrap();
        let mut reply = Vec::new();
        // The other side may close before it has read everything.
        let _ = stream.read_to_end(&mut reply).await;
        String::from_utf8_lossy(&reply).into_owned()
    }

    #[tokio::test]
    async fn only_one_page_is_read_and_nonsense_is_refused() {
        let render: Render = Arc::new(|| "engram_persons 2\n".to_owned());
        let address = Responder::start("127.0.0.1:0", render).await.unwrap().address();
        let page = ask(address, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
        assert!(
            page.contains("Content-Length: 17\r\n") && page.ends_with("\r\n\r\nengram_persons 2\n")
        );
        for (request, status) in [
            (&b"GET /metrics?x=1 HTTP/1.0\r\n\r\n"[..], "200"),
            (b"HEAD /metrics HTTP/1.1\r\n\r\n", "200"),
            (b"GET / HTTP/1.1\r\n\r\n", "404"),
            (b"POST /metrics HTTP/1.1\r\n\r\n", "405"),
            (b"\xff\xfe\r\n\r\n", "400"),
            (b"GET /metrics\r\n\r\n", "400"),
            (&[b'a'; 20_000], "431"),
        ] {
            let reply = ask(address, request).await;
            // A head that is too long may be cut off with the connection.
            let cut = status == "431" && reply.is_empty();
            assert!(cut || reply.starts_with(&format!("HTTP/1.1 {status}")), "{status}: {reply}");
        }
    }

    #[tokio::test]
    async fn whoever_sends_nothing_does_not_keep_others_out_for_long() {
        let render: Render = Arc::new(|| "page".to_owned());
        let address = Responder::start("127.0.0.1:0", render).await.unwrap().address();
        let mut idle = Vec::new();
        for _ in 0..CONNECTIONS {
            idle.push(TcpStream::connect(address).await.unwrap());
        }
        let asked = ask(address, b"GET /metrics HTTP/1.1\r\n\r\n");
        let page = tokio::time::timeout(PATIENCE * 3, asked).await.unwrap();
        assert!(page.ends_with("page"), "{page}");
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_named() {
        let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let listen = held.local_addr().unwrap().to_string();
        let render: Render = Arc::new(String::new);
        let error = Responder::start(&listen, Arc::clone(&render)).await.unwrap_err();
        assert!(error.to_string().contains("metrics.listen"), "{error}");
        assert!(matches!(Responder::start("here", render).await, Err(MetricsError::Address(_))));
    }
}
