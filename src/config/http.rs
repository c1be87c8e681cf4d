//! What `[http]` may be.

use std::net::{IpAddr, SocketAddr};

use super::{Http, Wyoming};

/// What stands for no door at all.
const NOWHERE: &str = "none";

impl Http {
    /// Where it listens; `None`: nowhere, or at no address at all, which [`problems`] tells.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.listen.parse().ok()
    }

    /// Whether anybody must say who they are.
    #[must_use]
    pub fn has_users(&self) -> bool {
        self.users_file.is_some() || self.tokens_file.is_some()
    }
}

impl Wyoming {
    /// Where it listens; `None`: nowhere.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.listen.parse().ok()
    }
}

/// Everything wrong with it, as (`section.key`, what and the cure).
pub(super) fn problems(http: &Http) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut wrong = |key: &str, message: String| found.push((key.to_owned(), message));
    match http.listen.parse::<SocketAddr>() {
        Err(_) if http.listen != NOWHERE => wrong(
            "http.listen",
            format!(
                "`http.listen` is {:?}, but must be address:port, for example 127.0.0.1:8090, or \"none\"",
                http.listen
            ),
        ),
        Ok(listen) if !listen.ip().is_loopback() && !http.has_users() => wrong(
            "http.listen",
            "`http.listen` is open to the network: set `http.users_file` (`engramd users add NAME --role look,ask` makes a \
             line of it) or `http.tokens_file` (`engramd users token NAME --role ask`), or listen on 127.0.0.1"
                .to_owned(),
        ),
        _ => {}
    }
    for host in &http.hosts {
        if host.is_empty()
            || host.contains(['/', ':', '@', '*'])
            || host.contains(char::is_whitespace)
        {
            let message = format!(
                "{host:?} in `http.hosts` is no plain host name such as robot.local (without scheme and port)"
            );
            wrong("http.hosts", message);
        }
    }
    for proxy in &http.trusted_proxies {
        if proxy.parse::<IpAddr>().is_err() {
            let message =
                format!("{proxy:?} in `http.trusted_proxies` is no IP address such as 127.0.0.1");
            wrong("http.trusted_proxies", message);
        }
    }
    if http.tls_cert_file.is_some() != http.tls_key_file.is_some() {
        let message = "`http.tls_cert_file` and `http.tls_key_file` belong together: set both";
        wrong("http.tls_cert_file", message.to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(http: &Http) -> String {
        problems(http).into_iter().map(|(_, message)| message).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_is_open_to_the_network_needs_users() {
        assert_eq!(told(&Http::default()), "");
        let open = |listen: &str| Http { listen: listen.to_owned(), ..Http::default() };
        for listen in ["0.0.0.0:8090", "192.168.1.7:80", "[::]:8090"] {
            let message = told(&open(listen));
            assert!(
                message.contains("`http.listen` is open to the network: set `http.users_file`"),
                "{message}"
            );
            let guarded = Http { users_file: Some("users".into()), ..open(listen) };
            assert_eq!(told(&guarded), "");
        }
        assert_eq!(told(&open("[::1]:8090")), "");
        assert_eq!(told(&open("none")), "");
        assert!(told(&open("8090")).contains("must be address:port"));
    }

    #[test]
    fn names_and_files_that_cannot_be_are_told() {
        let http = Http {
            hosts: vec!["https://robot.local".into(), "robot.local".into()],
            trusted_proxies: vec!["127.0.0.1".into(), "proxy".into()],
            tls_cert_file: Some("a.crt".into()),
            ..Http::default()
        };
        let message = told(&http);
        assert_eq!(message.lines().count(), 3, "{message}");
        assert!(message.contains("\"proxy\" in `http.trusted_proxies`"), "{message}");
    }
}
