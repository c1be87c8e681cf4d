//! Where the broker is: `mqtt.broker` as a typed address.

use std::fmt;

use super::without_secrets;

/// A broker's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrokerAddress {
    /// The daemon's own broker.
    Embedded,
    /// A broker elsewhere.
    Remote {
        /// Name or IP address; IPv6 without brackets.
        host: String,
        /// TCP port.
        port: u16,
        /// `mqtts://`.
        tls: bool,
    },
}

impl BrokerAddress {
    /// Reads `embedded`, `mqtt://host[:port]` or `mqtts://host[:port]`; ports default to 1883 and 8883.
    ///
    /// # Errors
    /// A sentence that says what is wrong and how to write it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "embedded" {
            return Ok(Self::Embedded);
        }
        let fail = |why: &str| {
            let text = without_secrets(text);
            format!(
                "`mqtt.broker` is {text:?}: {why}; write \"embedded\", \"mqtt://host:1883\" or \"mqtts://host:8883\""
            )
        };
        let (rest, tls) = match (text.strip_prefix("mqtt://"), text.strip_prefix("mqtts://")) {
            (Some(rest), _) => (rest, false),
            (_, Some(rest)) => (rest, true),
            _ => return Err(fail("it names no known kind of broker")),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains('@') {
            return Err(fail("user and password go into mqtt.username and mqtt.password_file"));
        }
        if rest.contains('/') {
            return Err(fail("it goes on after the port"));
        }
        let (host, port) = match rest.strip_prefix('[') {
            Some(v6) => {
                let (host, after) = v6.split_once(']').ok_or_else(|| fail("`]` is missing"))?;
                (host, after.strip_prefix(':'))
            }
            None => match rest.rsplit_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (rest, None),
            },
        };
        if host.is_empty() || host.chars().any(char::is_whitespace) {
            return Err(fail("it names no host"));
        }
        let port = match port {
            None => {
                if tls {
                    8883
                } else {
                    1883
                }
            }
            Some(digits) => digits
                .parse()
                .ok()
                .filter(|port| *port != 0)
                .ok_or_else(|| fail("its port is no number from 1 to 65535"))?,
        };
        Ok(Self::Remote { host: host.to_owned(), port, tls })
    }
}

impl fmt::Display for BrokerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("the embedded broker"),
            Self::Remote { host, port, tls } => {
                write!(f, "mqtt{}://{host}:{port}", if *tls { "s" } else { "" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        let remote =
            |host: &str, port, tls| Ok(BrokerAddress::Remote { host: host.into(), port, tls });
        assert_eq!(BrokerAddress::parse("embedded"), Ok(BrokerAddress::Embedded));
        assert_eq!(BrokerAddress::parse("mqtt://hub.local"), remote("hub.local", 1883, false));
        assert_eq!(BrokerAddress::parse("mqtts://hub:18883/"), remote("hub", 18883, true));
        assert_eq!(BrokerAddress::parse("mqtt://[::1]:1999"), remote("::1", 1999, false));
        for bad in [
            "",
            "hub:1883",
            "http://hub",
            "mqtt://",
            "mqtt://hub:0",
            "mqtt://hub:x",
            "mqtt://u:p@hub",
            "mqtt://hub/a",
        ] {
            assert!(BrokerAddress::parse(bad).is_err(), "{bad}");
        }
        let hides = |told: String| told.contains("mqtt.password_file") && !told.contains("geheim");
        assert!(BrokerAddress::parse("mqtt://u:geheim@hub").is_err_and(hides));
    }
}
