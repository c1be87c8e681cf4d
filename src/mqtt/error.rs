//! What can go wrong between the daemon and a broker.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use crate::config::ConfigError;

/// Anything that keeps MQTT from working at the start.
#[derive(Debug, thiserror::Error)]
pub enum MqttError {
    /// The address cannot be listened on: another program has the port, or it is not to be had.
    #[error("starting the embedded broker on {address}: {source}; {}", cure(*.address, .key, .source))]
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

/// What helps where the address of `key` cannot be listened on.
fn cure(address: SocketAddr, key: &str, source: &std::io::Error) -> String {
    match source.kind() {
        ErrorKind::AddrNotAvailable => format!(
            "this machine has no such address: set `{key}` to one that `ip address` lists, or to 127.0.0.1"
        ),
        ErrorKind::PermissionDenied => {
            format!("this user may not take that port: set `{key}` to one from 1024 on")
        }
        ErrorKind::AddrInUse => format!(
            "another broker or another engramd has that port: stop it, set `{key}` to another one, or use it with \
             mqtt.broker = \"mqtt://{address}\""
        ),
        _ => format!("mend that, or set `{key}` to another address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_had_is_told_with_its_own_cure() {
        let told = |kind: ErrorKind| {
            let (address, key) = (SocketAddr::from(([10, 1, 2, 3], 1883)), "mqtt.listen");
            MqttError::PortTaken { address, key, source: kind.into() }.to_string()
        };
        let taken = told(ErrorKind::AddrInUse);
        assert!(taken.contains("stop it") && taken.contains("mqtt://10.1.2.3:1883"), "{taken}");
        let elsewhere = told(ErrorKind::AddrNotAvailable);
        assert!(elsewhere.contains("no such address: set `mqtt.listen`"), "{elsewhere}");
        let low = told(ErrorKind::PermissionDenied);
        assert!(low.contains("from 1024 on") && !low.contains("stop it"), "{low}");
        let other = told(ErrorKind::OutOfMemory);
        assert!(
            other.contains("set `mqtt.listen`") && !other.contains("another broker"),
            "{other}"
        );
    }
}
