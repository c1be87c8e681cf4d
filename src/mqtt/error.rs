//! What can go wrong between the daemon and a broker.

use std::net::SocketAddr;
use std::time::Duration;

use crate::config::ConfigError;

/// Anything that keeps MQTT from working at the start.
#[derive(Debug, thiserror::Error)]
pub enum MqttError {
    /// Another program has the port.
    #[error(
        "starting the embedded broker on {address}: {source}; another broker or another engramd has that port: \
         stop it, set `{key}` to another one, or use it with mqtt.broker = \"mqtt://{address}\""
    )]
    PortTaken {
        /// The address.
        address: SocketAddr,
        /// Its configuration key.
        key: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The embedded broker did not come up.
    #[error(
        "starting the embedded broker on {address}: it does not listen after {waited:?}; see the log above"
    )]
    BrokerDead {
        /// The address.
        address: SocketAddr,
        /// How long was waited.
        waited: Duration,
    },
    /// Something in the configuration cannot be used.
    #[error("setting up MQTT: {0}")]
    Setting(String),
    /// A secret cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A thread could not be started.
    #[error("starting a thread for MQTT: {0}")]
    Thread(std::io::Error),
}
