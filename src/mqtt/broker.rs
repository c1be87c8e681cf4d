//! The embedded broker: rumqttd's router and servers in threads of ours. Both ports speak MQTT 3.1, 3.1.1 and 5.

use std::collections::HashMap;
use std::fmt::Display;
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use rumqttd::{ConnectionSettings, LinkType, RouterConfig, Server, ServerSettings};

use super::connection::Credentials;
use super::trouble::Trouble;
use super::wire::Wire;
use super::{MAX_PACKET_BYTES, MqttError, nodelay};
use crate::config::Mqtt;
use crate::supervise::Attempts;

/// Clients at a time; those that come then are refused.
const MOST_CLIENTS: usize = 10_000;
/// Files that the process should be able to have open: as many, and those of the memory.
const FILES: u64 = 16_384;
/// How long the broker may take to listen.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause before one that ended listens again; each further one is twice as long …
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// … up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A running broker; it ends with the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broker {
    /// Where it listens for MQTT 3.1.1.
    pub v4: SocketAddr,
    /// Where it listens for MQTT 5.
    pub v5: SocketAddr,
}

impl Broker {
    /// Starts it and waits until both ports listen. Port 0 takes any free one.
    ///
    /// # Errors
    /// [`MqttError::PortTaken`], [`MqttError::BrokerDead`].
    pub(super) fn start(
        settings: &Mqtt,
        credentials: Option<&Credentials>,
        trouble: &Trouble,
    ) -> Result<Self, MqttError> {
        allow_files();
        let (v4, v4_held) = reserve("mqtt.listen", &settings.listen)?;
        let (v5, v5_held) = reserve("mqtt.listen_v5", &settings.listen_v5)?;
        drop((v4_held, v5_held));
        let auth =
            credentials.map(|one| HashMap::from([(one.username.clone(), one.password.clone())]));
        let router = rumqttd::Router::new(
            0,
            RouterConfig {
                max_connections: MOST_CLIENTS,
                max_outgoing_packet_count: 200,
                // Per subscription filter: what a slow subscriber may be behind, 4 × 256 KiB (more than 100 answers with
                // their evidence). It stays full: what was published last is held, whether anybody is behind or not.
                max_segment_size: 256 * 1024,
                max_segment_count: 4,
                custom_segment: None,
                // Everything published matches this one, so that a topic to which nobody listens needs no log of
                // its own (there is one topic per answer).
                initialized_filters: Some(vec!["#".to_owned()]),
                shared_subscriptions_strategy: rumqttd::Strategy::default(),
            },
        )
        .spawn();
        for (name, listen) in [("mqtt-v4", v4), ("mqtt-v5", v5)] {
            let settings = ServerSettings {
                name: name.to_owned(),
                listen,
                tls: None,
                next_connection_delay_ms: 0,
                connections: ConnectionSettings {
                    connection_timeout_ms: 5_000,
                    max_payload_size: MAX_PACKET_BYTES,
                    max_inflight_count: 500,
                    auth: auth.clone(),
                    external_auth: None,
                    dynamic_filters: true,
                },
            };
            let mut server = Server::new(settings, router.clone(), Wire::default());
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(MqttError::Thread)?;
            let trouble = trouble.clone();
            let serve = move || {
                let serve = || {
                    let served = runtime.block_on(server.start(LinkType::Remote));
                    served.map_err(|error| error.to_string())
                };
                keep_listening(name, listen, &trouble, serve);
            };
            std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(serve)
                .map_err(MqttError::Thread)?;
        }
        wait_for(v4)?;
        wait_for(v5)?;
        tracing::info!("embedded broker: MQTT 3.1.1 and 5 on {v4} and {v5}");
        Ok(Self { v4, v5 })
    }
}

/// Each connection is an open file, of which most systems allow a process 1,024 unless it asks for more.
fn allow_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(FILES, |maximum| maximum.min(FILES));
    if current.is_some_and(|current| current < wanted) {
        let limit = Rlimit { current: Some(wanted), maximum };
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!(%error, "no more files may be opened than usual");
        }
    }
}

/// Serves; when that ends, which it never should, again after a pause.
fn keep_listening<E: Display>(
    name: &str,
    listen: SocketAddr,
    trouble: &Trouble,
    mut serve: impl FnMut() -> Result<(), E>,
) {
    let mut attempts = Attempts::new(name);
    let mut pause = FIRST_PAUSE;
    loop {
        let why = match attempts.attempt(&mut serve) {
            Ok(Some(Ok(()))) => "it ended".to_owned(),
            Ok(Some(Err(error))) => error.to_string(),
            Ok(None) => "it ended in a panic".to_owned(),
            Err(over) => {
                return trouble.down(
                    name,
                    format!("the embedded broker on {listen}: {over}; restart engramd"),
                );
            }
        };
        tracing::error!("the embedded broker on {listen}: {why}; started again in {pause:?}");
        trouble.down(name, format!("the embedded broker on {listen}: {why}; it is started again"));
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
        let (name, trouble) = (name.to_owned(), trouble.clone());
        let told = std::thread::Builder::new().name(format!("{name}-again")).spawn(move || {
            if wait_for(listen).is_ok() {
                trouble.up(&name);
            }
        });
        if let Err(error) = told {
            tracing::warn!(%error, "Whether the embedded broker listens again cannot be seen.");
        }
    }
}

/// Checks that the port is free; holds it until both are known to be, so that two zeros give two ports.
fn reserve(key: &'static str, listen: &str) -> Result<(SocketAddr, TcpListener), MqttError> {
    let address: SocketAddr = listen.parse().map_err(|_| {
        MqttError::Setting(format!("`{key}` is {listen:?}, but must be address:port"))
    })?;
    let taken = |source| MqttError::PortTaken { address, key, source };
    let listener = TcpListener::bind(address).map_err(taken)?;
    let address = listener.local_addr().map_err(taken)?;
    Ok((address, listener))
}

/// Waits until this process listens there, and takes the delay out of it.
fn wait_for(address: SocketAddr) -> Result<(), MqttError> {
    let began = Instant::now();
    while !nodelay::set_on_listener(address) {
        if began.elapsed() > START_TIMEOUT {
            return Err(MqttError::BrokerDead { address, waited: START_TIMEOUT });
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
