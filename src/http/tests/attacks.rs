//! Who tries to get around the door, by each way there is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

use super::support::{Got, House, run};
use crate::http::HttpError;
use crate::http::accounts::{token_line, user_line};
use crate::http::server::{MAX_CONNECTIONS, MAX_OF_ONE_ADDRESS};
use crate::http::visitor::{Role, Roles};

const QUESTION: &str = r#"{"question":"Who?"}"#;

pub(super) fn roles(words: &str) -> Roles {
    words.split(',').map(|word| Role::from_word(word).unwrap()).collect()
}

/// Files of users and tokens; each user's password is the name and ` password`.
struct Files {
    dir: tempfile::TempDir,
    /// Name and token.
    tokens: Vec<(String, String)>,
}

impl Files {
    fn new(users: &[(&str, &str)], tokens: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut files = Self { dir, tokens: Vec::new() };
        files.write_users(users);
        let mut text = String::new();
        for (name, words) in tokens {
            let (token, line) = token_line(name, roles(words)).unwrap();
            files.tokens.push(((*name).to_owned(), token));
            text.push_str(&format!("{line}\n"));
        }
        fs::write(files.path("tokens"), text).unwrap();
        files
    }

    fn write_users(&self, users: &[(&str, &str)]) {
        let line = |(name, words): &(&str, &str)| {
            user_line(name, roles(words), &format!("{name} password")).unwrap() + "\n"
        };
        fs::write(self.path("users"), users.iter().map(line).collect::<String>()).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    async fn house(&self) -> House {
        let (users, tokens) = (self.path("users"), self.path("tokens"));
        House::with(move |config| {
            config.http.users_file = Some(users);
            config.http.tokens_file = Some(tokens);
        })
        .await
    }

    fn bearer(&self, name: &str) -> String {
        let token = self.tokens.iter().find(|(known, _)| known == name).unwrap();
        format!("Authorization: Bearer {}", token.1)
    }
}

async fn log_in(house: &House, user: &str, password: &str) -> Got {
    let body = serde_json::json!({ "user": user, "password": password }).to_string();
    house.post("/api/login", &body).await
}

/// The header that a browser sends with the cookie it was given.
fn cookie(login: &Got) -> String {
    let set = login.header("set-cookie").unwrap_or_else(|| panic!("{login:?}"));
    format!("Cookie: other=1; {}", set.split(';').next().unwrap())
}

/// What the refusal of status 403 says.
fn forbidden(got: &Got) -> String {
    assert_eq!(got.status, 403, "{}", got.text());
    got.error().1
}

#[test]
fn a_name_that_an_attacker_points_at_this_machine_is_refused() {
    run(async {
        let house = House::with(|config| config.http.hosts = vec!["robot.local".into()]).await;
        let port = house.at.port();
        for host in
            ["evil.example", &format!("evil.example:{port}"), "127.0.0.1.evil.example", "10.0.0.1"]
        {
            for start in ["GET /api/status", "POST /api/ask", "GET /", "GET /api/me"] {
                let head = [format!("Host: {host}"), "X-Engram: 1".to_owned()];
                let head: Vec<&str> = head.iter().map(String::as_str).collect();
                let said = forbidden(&house.send(start, &head, QUESTION.as_bytes()).await);
                assert!(said.contains("is no name of this daemon"), "{said}");
            }
        }
        for host in [format!("localhost:{port}"), "robot.local".to_owned(), house.host()] {
            assert_eq!(
                house.send("GET /api/me", &[&format!("Host: {host}")], b"").await.status,
                200
            );
        }
        // None at all, two, and one that another contradicts.
        assert_eq!(
            house.raw(b"GET /api/me HTTP/1.1\r\nConnection: close\r\n\r\n").await.status,
            400
        );
        let two = ["Host: localhost", "Host: evil.example"];
        assert_eq!(house.send("GET /api/me", &two, b"").await.status, 400);
        assert_eq!(
            house.send("GET http://evil.example/api/me", &["Host: localhost"], b"").await.status,
            400
        );
        house.close().await;
    });
}

#[test]
fn what_a_proxy_forwards_is_believed_of_listed_proxies_alone() {
    run(async {
        let headers = [
            "Forwarded: for=203.0.113.7",
            "X-Forwarded-For: 203.0.113.7",
            "X-Forwarded-Proto: https",
            "X-Forwarded-Whatever: 1",
            "X-Real-IP: 203.0.113.7",
            "Via: 1.1 proxy",
        ];
        let house = House::open().await;
        for header in headers {
            for start in ["GET /api/status", "GET /api/me", "GET /"] {
                let said = forbidden(&house.send(start, &[header], b"").await);
                assert!(said.contains("`http.trusted_proxies`"), "{said}");
            }
        }
        house.close().await;
        let house = House::with(|config| {
            config.http.trusted_proxies = vec!["127.0.0.1".into()];
            config.mqtt.reply_rate = 1.0;
        })
        .await;
        for header in headers {
            assert_eq!(house.send("GET /api/me", &[header], b"").await.status, 200, "{header}");
        }
        // Limits go by what the proxy itself saw, whatever was written before it.
        let mut refused = String::new();
        for made_up in 0..4 {
            let header = format!("X-Forwarded-For: 198.51.100.{made_up}, 203.0.113.7");
            let head = [header.as_str(), "X-Engram: 1"];
            let got = house.send("POST /api/ask", &head, QUESTION.as_bytes()).await;
            if got.status == 429 {
                refused = got.error().1;
            }
        }
        assert!(refused.contains("come from 203.0.113.7"), "{refused}");
        house.close().await;
    });
}

#[test]
fn the_page_of_another_site_can_do_nothing() {
    run(async {
        let house = House::open().await;
        let ask = |head: Vec<String>| {
            let house = &house;
            async move {
                let head: Vec<&str> = head.iter().map(String::as_str).collect();
                house.send("POST /api/ask", &head, QUESTION.as_bytes()).await
            }
        };
        let own = format!("Origin: http://{}", house.host());
        let csrf = "X-Engram: 1".to_owned();
        // A form, or a request without consequence: it cannot set the header.
        for head in
            [vec![], vec!["Content-Type: text/plain".to_owned()], vec!["X-Engram: 0".to_owned()]]
        {
            assert!(forbidden(&ask(head).await).contains("`X-Engram: 1`"));
        }
        for path in ["/api/forget", "/api/login", "/api/logout", "/api/replay/stop"] {
            let got = house.send(&format!("POST {path}"), &[], b"{}").await;
            assert!(forbidden(&got).contains("`X-Engram: 1`"), "{path}");
        }
        for origin in
            ["http://evil.example", "null", "http://127.0.0.1:1", "file://", "http://localhost"]
        {
            let head = vec![csrf.clone(), format!("Origin: {origin}")];
            assert!(forbidden(&ask(head).await).contains("another site"), "{origin}");
            let got = house.send("GET /api/events", &[&format!("Origin: {origin}")], b"").await;
            forbidden(&got);
        }
        for site in ["cross-site", "same-site"] {
            let got = house
                .send("GET /api/still/front", &[&format!("Sec-Fetch-Site: {site}")], b"")
                .await;
            forbidden(&got);
        }
        assert_eq!(ask(vec![csrf, own]).await.status, 200);
        // Nobody may read a reply, or show the page in a frame, elsewhere.
        let got = house.send("OPTIONS /api/ask", &["X-Engram: 1"], b"").await;
        assert!(got.header("access-control-allow-origin").is_none());
        assert!(got.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"));
        assert_eq!(got.header("cross-origin-resource-policy"), Some("same-origin"));
        house.close().await;
    });
}

#[test]
fn no_path_leads_out_of_the_page() {
    run(async {
        let house = House::open().await;
        for path in [
            "/ui/../Cargo.toml",
            "/ui/..%2f..%2f..%2fCargo.toml",
            "/ui/%2e%2e/%2e%2e/etc/passwd",
            "/ui//etc/passwd",
            "/ui/%2fetc%2fpasswd",
            "/ui/index.html%00.js",
            "/../../etc/passwd",
            "//etc/passwd",
            "/ui/page.rs",
        ] {
            let got = house.get(path).await;
            assert!(matches!(got.status, 400 | 404), "{path}: {}", got.status);
        }
        // A name is a name of the memory, and never one of a file.
        for path in [
            "/api/media/../../outbox.db",
            "/api/media/%2e%2e%2foutbox.db",
            "/api/still/..%2f..%2fetc%2fpasswd",
            "/api/snapshots/..%2f..%2fetc%2fpasswd",
        ] {
            let got = house.get(path).await;
            assert!(!got.text().contains("SQLite") && !got.text().contains("root:"), "{path}");
        }
        // Written in another way, a path reaches no command past the rights.
        for path in
            ["/api//forget", "/api/%66orget", "/api/./forget", "/API/forget", "/api/forget/"]
        {
            assert_eq!(house.post(path, r#"{"memory":"memory_1"}"#).await.status, 404, "{path}");
        }
        house.close().await;
    });
}

#[test]
fn what_is_too_long_is_not_read() {
    run(async {
        let house = House::open().await;
        let long = "a".repeat(64 * 1024 + 1);
        for path in ["/api/ask", "/api/people", "/api/query/sql", "/api/replay/stop"] {
            let got = house.post(path, &long).await;
            assert_eq!((got.status, got.error().0.as_str()), (413, "too_large"), "{path}");
        }
        // Announced, and never sent.
        let head = ["X-Engram: 1", "Content-Length: 99999999999"];
        assert_eq!(house.send("POST /api/ask", &head, b"{").await.status, 413);
        // Unannounced, piece by piece.
        let mut chunks = String::new();
        for _ in 0..20 {
            chunks.push_str(&format!("1000\r\n{}\r\n", "a".repeat(4096)));
        }
        chunks.push_str("0\r\n\r\n");
        let head = ["X-Engram: 1", "Transfer-Encoding: chunked"];
        assert_eq!(house.send("POST /api/ask", &head, chunks.as_bytes()).await.status, 413);
        // A note is a text; a document may be longer, and has an end, too.
        let note = format!(r#"{{"text":"{long}"}}"#);
        assert_eq!(house.post("/api/remember", &note).await.status, 413);
        let document = |length: usize| {
            format!(r#"{{"document":{{"name":"a.md","text":"{}"}}}}"#, "a".repeat(length))
        };
        assert_eq!(house.post("/api/remember", &document(200_000)).await.status, 200);
        assert_eq!(house.post("/api/remember", &document(5 << 20)).await.status, 413);
        // So may samples of a face and a voice.
        let name = |length: usize| format!(r#"{{"name":"Ava","photo":"{}"}}"#, "a".repeat(length));
        assert_eq!(house.post("/api/name", &name(200_000)).await.status, 200);
        assert_eq!(house.post("/api/name", &name(5 << 20)).await.status, 413);
        // A head without end.
        let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: {}", "a".repeat(1 << 20));
        assert!(matches!(house.raw(long.as_bytes()).await.status, 0 | 431));
        let many: String = (0..500).map(|at| format!("X-{at}: 1\r\n")).collect();
        let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n");
        assert!(matches!(house.raw(many.as_bytes()).await.status, 0 | 431));
        // Two lengths: whoever stands in between may have taken the other one.
        let two = "POST /api/ask HTTP/1.1\r\nHost: localhost\r\nX-Engram: 1\r\nContent-Length: 2\r\nContent-Length: 60\r\n\r\n{}";
        assert!(matches!(house.raw(two.as_bytes()).await.status, 0 | 400));
        house.close().await;
    });
}

#[test]
fn whoever_is_slow_on_purpose_is_let_go() {
    run(async {
        let house = House::open().await;
        // A head that does not end, and a body that does not come.
        let head = format!("GET / HTTP/1.1\r\nHost: {}\r\n", house.host());
        let body = format!(
            "POST /api/ask HTTP/1.1\r\nHost: {}\r\nX-Engram: 1\r\nContent-Length: 10\r\n\r\n{{",
            house.host()
        );
        let (head, body, nothing) =
            tokio::join!(house.raw(head.as_bytes()), house.raw(body.as_bytes()), house.raw(b""));
        assert!(matches!(head.status, 0 | 408), "{head:?}");
        assert_eq!(body.status, 408);
        assert_eq!(nothing.status, 0);
        assert_eq!(house.get("/healthz").await.status, 200);
        house.close().await;
    });
}

#[test]
fn too_many_connections_are_refused_and_those_that_are_there_go_on() {
    run(async {
        let house = House::open().await;
        const { assert!(MAX_OF_ONE_ADDRESS < MAX_CONNECTIONS) };
        let mut held = Vec::new();
        for _ in 0..MAX_OF_ONE_ADDRESS {
            held.push(TcpStream::connect(house.at).await.unwrap());
        }
        let refused = house.get("/healthz").await;
        assert!(matches!(refused.status, 0 | 503), "{refused:?}");
        let mut first = held.swap_remove(0);
        let text =
            format!("GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", house.host());
        first.write_all(text.as_bytes()).await.unwrap();
        let mut reply = String::new();
        first.read_to_string(&mut reply).await.unwrap();
        assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
        drop((first, held));
        let mut status = 0;
        for _ in 0..500 {
            status = house.get("/healthz").await.status;
            if status == 200 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(status, 200, "there is room again");
        house.close().await;
    });
}

#[test]
fn nobody_comes_in_without_a_password_or_with_a_wrong_one() {
    run(async {
        let files = Files::new(&[("ava", "look,ask")], &[]);
        let house = files.house().await;
        for start in [
            "GET /api/status",
            "GET /api/events",
            "GET /api/still/front",
            "GET /metrics",
            "POST /api/ask",
        ] {
            let got = house.send(start, &["X-Engram: 1"], QUESTION.as_bytes()).await;
            assert_eq!(
                (got.status, got.header("www-authenticate").is_some()),
                (401, true),
                "{start}"
            );
            got.error();
        }
        assert_eq!(house.get("/api/me").await.json()["login"], true);
        assert_eq!(house.get("/").await.status, 200);
        let wrong = log_in(&house, "ava", "guess").await;
        let nobody = log_in(&house, "ben", "ben password").await;
        assert_eq!((wrong.status, nobody.status), (401, 401));
        assert_eq!(wrong.error(), nobody.error(), "nobody learns who there is");
        assert!(wrong.header("set-cookie").is_none());
        let login = log_in(&house, "ava", "ava password").await;
        assert_eq!((login.status, login.body.len()), (204, 0));
        let set = login.header("set-cookie").unwrap();
        for flag in ["HttpOnly", "SameSite=Strict", "Path=/"] {
            assert!(set.split("; ").any(|part| part == flag), "{set}");
        }
        let cookie = cookie(&login);
        let me = house.send("GET /api/me", &[&cookie], b"").await.json();
        assert_eq!(
            (&me["user"], &me["roles"]),
            (&"ava".into(), &serde_json::json!(["look", "ask"]))
        );
        let ask = |head: Vec<&'static str>, cookie: String| {
            let house = &house;
            async move {
                let head: Vec<&str> = head.into_iter().chain([cookie.as_str()]).collect();
                house.send("POST /api/ask", &head, QUESTION.as_bytes()).await.status
            }
        };
        assert_eq!(ask(vec!["X-Engram: 1"], cookie.clone()).await, 200);
        assert_eq!(
            ask(vec![], cookie.clone()).await,
            403,
            "a cookie alone is what a forged form has"
        );
        // An altered one, and one that was logged out.
        let altered = cookie.replace(|c: char| c.is_ascii_digit(), "0");
        assert_eq!(ask(vec!["X-Engram: 1"], altered).await, 401);
        let out = house.send("POST /api/logout", &["X-Engram: 1", &cookie], b"").await;
        assert_eq!(out.status, 204);
        assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
        assert_eq!(ask(vec!["X-Engram: 1"], cookie).await, 401);
        house.close().await;
    });
}

#[test]
fn a_password_cannot_be_guessed_by_trying() {
    run(async {
        let files = Files::new(&[("ava", "look"), ("ben", "look")], &[]);
        let house = files.house().await;
        let mut statuses = Vec::new();
        for guess in 0..8 {
            statuses.push(log_in(&house, "ava", &format!("guess {guess}")).await.status);
        }
        assert!(statuses[..5].iter().all(|status| *status == 401), "{statuses:?}");
        assert!(statuses.contains(&429), "{statuses:?}");
        // By now the right one does not help, nor does another name from the same address.
        let right = log_in(&house, "ava", "ava password").await;
        assert_eq!((right.status, right.error().0.as_str()), (429, "overloaded"));
        assert_eq!(log_in(&house, "ben", "ben password").await.status, 429);
        // Whoever is right may log in as often as they like.
        house.close().await;
        let house = files.house().await;
        for _ in 0..12 {
            assert_eq!(log_in(&house, "ben", "ben password").await.status, 204);
        }
        house.close().await;
    });
}

#[test]
fn a_login_ends_when_its_user_is_taken_out_and_so_does_what_it_listens_to() {
    run(async {
        let files = Files::new(&[("ava", "look"), ("ben", "look")], &[]);
        let house = files.house().await;
        let cookie = cookie(&log_in(&house, "ava", "ava password").await);
        assert_eq!(house.send("GET /api/status", &[&cookie], b"").await.status, 200);
        let mut events = house.listen("/api/events", &[&cookie]).await;
        events.until("retry: 2000\n\n").await;
        // (A second on, so that the file's time is another.)
        tokio::time::sleep(Duration::from_millis(1100)).await;
        files.write_users(&[("ben", "look")]);
        assert_eq!(house.send("GET /api/status", &[&cookie], b"").await.status, 401);
        house.daemon.session.publisher().status(&["something".to_owned()], None);
        assert!(!events.end().await.contains("something"));
        // What is no file of users leaves those of before.
        tokio::time::sleep(Duration::from_millis(1100)).await;
        fs::write(files.path("users"), "nonsense").unwrap();
        assert_eq!(log_in(&house, "ben", "ben password").await.status, 204);
        house.close().await;
    });
}

#[test]
fn a_role_opens_what_it_is_for_and_nothing_else() {
    run(async {
        let words = ["look", "ask", "operate", "erase"];
        let files = Files::new(&[], &words.map(|word| (word, word)));
        let house = files.house().await;
        house.cameras.show("front", 1, "picture");
        let doors = [
            ("GET /api/status", "", "look"),
            ("GET /api/still/front", "", "look"),
            ("GET /api/media/person_1", "", "look"),
            ("GET /api/snapshots/1_2", "", "look"),
            ("GET /metrics", "", "look"),
            ("POST /api/query/people", "{}", "look"),
            ("POST /api/ask", QUESTION, "ask"),
            ("POST /api/remember", r#"{"text":"x"}"#, "operate"),
            ("POST /api/name", r#"{"entity":"person_1","name":"Ava"}"#, "operate"),
            ("POST /api/people", r#"{"merge":["person_1","person_2"]}"#, "operate"),
            ("POST /api/privacy", r#"{"microphones":false}"#, "operate"),
            ("POST /api/replay/stop", "{}", "operate"),
            ("POST /api/forget", r#"{"memory":"memory_1"}"#, "erase"),
        ];
        for (start, body, opened_by) in doors {
            for word in words {
                let got = house.send(start, &[&files.bearer(word)], body.as_bytes()).await;
                let may = word == opened_by;
                assert_eq!(
                    got.status,
                    if may { 200 } else { 403 },
                    "{start} as {word}: {}",
                    got.text()
                );
                if !may {
                    assert!(got.error().1.starts_with(&format!("{word} may {word} and not this")));
                }
            }
        }
        // Who only asks hears the rounds of their own questions, and nothing that happens.
        let mut own = house.listen("/api/events", &[&files.bearer("ask")]).await;
        own.until("retry: 2000\n\n").await;
        house.daemon.session.publisher().status(&["something".to_owned()], None);
        let rounds = r#"{"question":"rounds","id":"r"}"#;
        house.send("POST /api/ask", &[&files.bearer("ask")], rounds.as_bytes()).await;
        let heard = own.until("}\n\n").await;
        assert!(heard.contains("answer/r/progress") && !heard.contains("something"), "{heard}");
        house.close().await;
    });
}

#[test]
fn a_token_is_kept_as_a_hash_and_a_wrong_one_is_refused() {
    run(async {
        let files = Files::new(&[], &[("cron", "ask")]);
        let house = files.house().await;
        let kept = fs::read_to_string(files.path("tokens")).unwrap();
        assert!(!kept.contains(files.bearer("cron").rsplit('_').next().unwrap()));
        let ask = |bearer: String| {
            let house = &house;
            async move { house.send("POST /api/ask", &[&bearer], QUESTION.as_bytes()).await.status }
        };
        // A program needs no other header: no page of another site can send this one.
        assert_eq!(ask(files.bearer("cron")).await, 200);
        let hash = kept.trim().rsplit(':').next().unwrap();
        for wrong in [hash, "engram_", "engram_0000"] {
            assert_eq!(ask(format!("Authorization: Bearer {wrong}")).await, 401, "{wrong}");
        }
        // What a browser can be made to send along is no token.
        assert_eq!(ask("Authorization: Basic Y3JvbjpjcnVu".to_owned()).await, 403);
        house.close().await;
    });
}

#[test]
fn files_without_anybody_or_with_nonsense_open_no_door() {
    run(async {
        let started = |files: &Files| {
            let users = files.path("users");
            House::try_with(move |config| config.http.users_file = Some(users))
        };
        let files = Files::new(&[], &[]);
        assert!(matches!(started(&files).await, Err(HttpError::NoUsers)));
        fs::write(files.path("users"), "ava:look:secret\n").unwrap();
        let error = started(&files).await.err().unwrap().to_string();
        assert!(error.contains("users: line 1: the last part is no Argon2id hash"), "{error}");
        fs::remove_file(files.path("users")).unwrap();
        assert!(matches!(started(&files).await, Err(HttpError::File { .. })));
    });
}

/// A certificate of 127.0.0.1 and its key; false, with a line that says so, where openssl is not installed.
fn certificate(dir: &Path) -> bool {
    let args = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=robot -addext \
                subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE -keyout key.pem -out cert.pem";
    let Ok(made) = Command::new("openssl").args(args.split(' ')).current_dir(dir).output() else {
        println!("SKIPPED: openssl is not installed (apt-get install openssl)");
        return false;
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    true
}

#[test]
fn over_tls_nobody_reads_along() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        if !certificate(dir.path()) {
            return;
        }
        let files = Files::new(&[("ava", "look")], &[]);
        let (cert, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
        let users = files.path("users");
        let chain = cert.clone();
        let house = House::with(move |config| {
            config.http.users_file = Some(users);
            config.http.tls_cert_file = Some(chain);
            config.http.tls_key_file = Some(key);
        })
        .await;
        assert!(house.server.url().starts_with("https://"));
        // In plain text nobody answers.
        assert_eq!(house.get("/healthz").await.status, 0);
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(&cert).unwrap()).unwrap();
        let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(house.at).await.unwrap();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let mut stream = TlsConnector::from(Arc::new(client)).connect(name, stream).await.unwrap();
        let body = r#"{"user":"ava","password":"ava password"}"#;
        let text = format!(
            "POST /api/login HTTP/1.1\r\nHost: {}\r\nX-Engram: 1\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            house.host(),
            body.len()
        );
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply).await;
        let reply = String::from_utf8_lossy(&reply);
        assert!(reply.starts_with("HTTP/1.1 204"), "{reply}");
        assert!(reply.contains("; Secure"), "{reply}");
        house.close().await;
        // A key that is none.
        fs::write(dir.path().join("key.pem"), "nonsense").unwrap();
        let key = dir.path().join("key.pem");
        let refused = House::try_with(move |config| {
            config.http.tls_cert_file = Some(cert);
            config.http.tls_key_file = Some(key);
        })
        .await;
        assert!(matches!(refused, Err(HttpError::Tls { .. })));
    });
}
