//! How to reach the broker: address, user, TLS, and the options that every connection of ours has.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use rumqttc::v5::MqttOptions;
use rumqttc::{NetworkOptions, TlsConfiguration, Transport};
use sha2::{Digest, Sha256};

use super::{MAX_PACKET_BYTES, MqttError};
use crate::config::{BrokerAddress, Config, find_file, read_secret};

/// Certificates of the system's authorities, for `mqtts://`.
const SYSTEM_CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// User and password.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) username: String,
    pub(super) password: String,
}

/// A broker that can be connected to.
#[derive(Clone)]
pub(super) struct Target {
    host: String,
    port: u16,
    transport: Transport,
    credentials: Option<Credentials>,
    /// SHA-256 of certificates and key; all zeros without.
    certificates: [u8; 32],
}

/// User and password of the configuration, where set.
pub(super) fn credentials(config: &Config) -> Result<Option<Credentials>, MqttError> {
    let mqtt = &config.mqtt;
    let Some(username) = mqtt.username.clone() else { return Ok(None) };
    let password = match &mqtt.password_file {
        Some(file) => read_secret("MQTT password", file, config.store.dir.as_deref())?,
        None => String::new(),
    };
    Ok(Some(Credentials { username, password }))
}

impl Target {
    /// The broker of the configuration; `embedded` says where the embedded one listens for MQTT 5.
    pub(super) fn new(
        config: &Config,
        embedded: SocketAddr,
        credentials: Option<Credentials>,
    ) -> Result<Self, MqttError> {
        let broker = BrokerAddress::parse(&config.mqtt.broker).map_err(MqttError::Setting)?;
        Ok(match broker {
            BrokerAddress::Embedded => {
                // Open on every interface: this machine reaches it through loopback.
                let host = match embedded.ip() {
                    ip if !ip.is_unspecified() => host_of(ip),
                    ip if ip.is_ipv6() => "[::1]".to_owned(),
                    _ => "127.0.0.1".to_owned(),
                };
                let transport = Transport::Tcp;
                Self { host, port: embedded.port(), transport, credentials, certificates: [0; 32] }
            }
            BrokerAddress::Remote { host, port, tls } => {
                let (transport, certificates) =
                    if tls { encrypted(config)? } else { (Transport::Tcp, [0; 32]) };
                let host = if host.contains(':') && !tls { format!("[{host}]") } else { host };
                Self { host, port, transport, credentials, certificates }
            }
        })
    }

    /// Options of a connection under that client id.
    pub(super) fn options(&self, client_id: &str) -> MqttOptions {
        let mut options = MqttOptions::new(client_id, &self.host, self.port);
        options.set_transport(self.transport.clone());
        if let Some(Credentials { username, password }) = &self.credentials {
            options.set_credentials(username, password);
        }
        let mut network = NetworkOptions::new();
        network.set_tcp_nodelay(true);
        network.set_connection_timeout(5);
        options
            .set_network_options(network)
            .set_connection_timeout(5)
            .set_keep_alive(Duration::from_secs(20))
            .set_max_packet_size(u32::try_from(MAX_PACKET_BYTES).ok());
        options
    }

    /// Whether the other one is reached the same way, with the same password and certificates.
    pub(super) fn is(&self, other: &Self) -> bool {
        let way = |target: &Self| (target.host.clone(), target.port, target.certificates);
        way(self) == way(other) && self.credentials == other.credentials
    }

    /// For messages.
    pub(super) fn name(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

fn host_of(ip: std::net::IpAddr) -> String {
    if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() }
}

/// TLS by the files of the configuration, and their hash.
fn encrypted(config: &Config) -> Result<(Transport, [u8; 32]), MqttError> {
    let mqtt = &config.mqtt;
    let read = |named: PathBuf, what: &str, cure: &str| {
        let path = find_file(&named, config.store.dir.as_deref()).unwrap_or(named);
        std::fs::read(&path).map_err(|error| {
            MqttError::Setting(format!("reading the {what} {}: {error}; {cure}", path.display()))
        })
    };
    let named = mqtt.ca_file.clone().unwrap_or_else(|| SYSTEM_CERTIFICATES.into());
    let cure = "install the package ca-certificates, or set `mqtt.ca_file`";
    let ca = read(named, "certificates", cure)?;
    let client_auth = match (mqtt.client_cert_file.clone(), mqtt.client_key_file.clone()) {
        (Some(certificate), Some(key)) => Some((
            read(certificate, "certificate", "correct `mqtt.client_cert_file`")?,
            read(
                key,
                "certificate's key",
                "correct `mqtt.client_key_file`, or hand it over by LoadCredential",
            )?,
        )),
        _ => None,
    };
    let mut hasher = Sha256::new();
    for part in client_auth.iter().flat_map(|(certificate, key)| [certificate, key]).chain([&ca]) {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    // Fails only when a provider is there already, which is as good.
    let _ = rumqttc::tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let tls = TlsConfiguration::Simple { ca, alpn: None, client_auth };
    Ok((Transport::tls_with_config(tls), hasher.finalize().into()))
}
