//! What every program may rely on.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::support::{House, run};
use crate::http::openapi;

/// Every command with a body that is right.
const RIGHT: [(&str, &str); 21] = [
    ("/api/ask", r#"{"question":"Who was here?","id":"a"}"#),
    ("/api/remember", r#"{"text":"Ava likes oat milk.","id":"b"}"#),
    ("/api/forget", r#"{"memory":"memory_7","id":"c"}"#),
    ("/api/pin", r#"{"memory":"memory_7","pinned":false,"id":"r"}"#),
    ("/api/name", r#"{"entity":"person_4","name":"Ava","id":"d"}"#),
    ("/api/people", r#"{"merge":["person_1","person_2"],"id":"o"}"#),
    ("/api/feedback", r#"{"answer":"answer_5","verdict":"right","id":"e"}"#),
    ("/api/query/people", r#"{"named":true,"id":"f"}"#),
    ("/api/query/timeline", ""),
    ("/api/pose", r#"{"x":1,"y":2,"yaw":0,"frame":"map","stamp":5000000000}"#),
    ("/api/speaking", r#"{"start":5000000000,"id":"h"}"#),
    ("/api/privacy", r#"{"microphones":false,"id":"n"}"#),
    ("/api/watch", r#"{"remove":"watch_2","id":"p"}"#),
    ("/api/identify", r#"{"voice":"UklGRg==","id":"q"}"#),
    ("/api/snapshot", r#"{"start":5000000000,"end":6000000000,"id":"s"}"#),
    ("/api/replay/pause", ""),
    ("/api/replay/rate", r#"{"rate":4,"id":"j"}"#),
    ("/api/replay/seek", r#"{"time":5000000000,"id":"k"}"#),
    ("/api/replay/burst", r#"{"count":3,"id":"l"}"#),
    ("/api/replay/step", "{}"),
    ("/api/replay/stop", r#"{"id":"m"}"#),
];

#[test]
fn every_command_of_mqtt_has_its_twin() {
    run(async {
        let house = House::open().await;
        for (path, body) in RIGHT {
            let got = house.post(path, body).await;
            assert_eq!(got.status, 200, "{path}: {}", got.text());
            assert_eq!(got.header("content-type"), Some("application/json"), "{path}");
            let reply = got.json();
            if path.starts_with("/api/query/") {
                assert!(reply.is_array(), "{path}: {reply}");
            } else {
                let id = serde_json::from_str::<Value>(body).unwrap_or_default()["id"].clone();
                assert_eq!(reply["id"], id, "{path}");
                let changes = !["/api/ask", "/api/identify"].contains(&path);
                assert_eq!(reply["ok"] == true, changes, "{path}: {reply}");
            }
        }
        // The arguments are those of the verb, without the id.
        let got = house.post("/api/query/recall", r#"{"query":"mug","limit":3,"id":"z"}"#).await;
        assert_eq!(got.json(), json!(["recall", {"query": "mug", "limit": 3}]));
        // A question may be plain text.
        let got = house.send("POST /api/ask", &["X-Engram: 1"], b"Who is here?").await;
        assert_eq!(got.json()["question"], "Who is here?");
        house.close().await;
    });
}

#[test]
fn what_is_wrong_is_refused_with_the_status_that_fits_and_the_document_of_mqtt() {
    run(async {
        let house = House::open().await;
        for (path, body, status, code) in [
            ("/api/ask", "", 400, "bad_request"),
            ("/api/ask", "{\"question\":", 400, "bad_request"),
            ("/api/ask", r#"{"question":"refuse"}"#, 404, "not_found"),
            ("/api/ask", r#"{"question":"fall over"}"#, 500, "internal"),
            ("/api/remember", "plain", 400, "bad_request"),
            ("/api/query/drop", "{}", 404, "not_found"),
            ("/api/query/people", "[]", 400, "bad_request"),
            ("/api/replay/fly", "{}", 400, "bad_request"),
            ("/api/replay/rate", r#"{"rate":-1}"#, 400, "bad_request"),
            ("/api/what", "{}", 404, "not_found"),
            ("/what", "{}", 404, "not_found"),
        ] {
            let got = house.post(path, body).await;
            assert_eq!((got.status, got.error().0.as_str()), (status, code), "{path} {body}");
        }
        let got = house.get("/api/ask").await;
        assert_eq!((got.status, got.error().0.as_str()), (405, "bad_request"));
        house.close().await;
    });
}

#[test]
fn a_request_with_an_id_is_carried_out_once_by_whichever_door_it_comes() {
    run(async {
        let house = House::open().await;
        let body = r#"{"text":"Ava likes oat milk.","id":"once"}"#;
        let first = house.post("/api/remember", body).await;
        let again = house.post("/api/remember", body).await;
        assert_eq!(first.json(), again.json());
        assert_eq!(house.echo.handled.load(Ordering::SeqCst), 1);
        let other = house.post("/api/remember", r#"{"text":"Ben does not.","id":"once"}"#).await;
        assert_eq!(other.status, 409);
        assert!(other.error().1.contains("was used for another request"));
        // Two at the same time: one is carried out, both are answered.
        let slow = r#"{"question":"slow","id":"both"}"#;
        let (one, two) = tokio::join!(house.post("/api/ask", slow), house.post("/api/ask", slow));
        assert_eq!((one.status, one.json()), (two.status, two.json()));
        assert_eq!(house.echo.handled.load(Ordering::SeqCst), 2);
        house.close().await;
    });
}

#[test]
fn more_than_the_rate_is_overloaded_and_may_come_again() {
    run(async {
        let house = House::with(|config| config.mqtt.reply_rate = 1.0).await;
        let mut statuses = Vec::new();
        for _ in 0..4 {
            statuses.push(house.post("/api/ask", r#"{"question":"Who?"}"#).await);
        }
        let refused = statuses.iter().find(|got| got.status == 429).unwrap();
        assert_eq!(refused.header("retry-after"), Some("1"));
        let (code, message) = refused.error();
        assert_eq!(code, "overloaded");
        assert!(message.contains("come from 127.0.0.1"), "{message}");
        house.close().await;
    });
}

#[test]
fn how_the_daemon_is_is_told() {
    run(async {
        let house = House::open().await;
        let status = house.get("/api/status").await;
        crate::mqtt::tests::schemas::check("status", &status.json());
        assert_eq!(house.get("/api/stats").await.status, 503, "not published yet");
        assert_eq!(house.get("/healthz").await.text(), "ok\n");
        assert_eq!(house.get("/metrics").await.text(), "engram_up 1\n");
        let me = house.get("/api/me").await.json();
        let all = ["look", "ask", "operate", "erase"];
        assert_eq!(me, json!({ "user": null, "roles": all, "login": false }));
        assert_eq!(house.post("/api/login", r#"{"user":"a","password":"b"}"#).await.status, 400);
        house.close().await;
    });
}

#[test]
fn media_come_whole_or_in_part() {
    run(async {
        let house = House::open().await;
        let whole = house.get("/api/media/person_1").await;
        assert_eq!((whole.status, whole.body.as_slice()), (200, &[0xff, 0xd8, 0xff][..]));
        assert_eq!(whole.header("content-type"), Some("image/jpeg"));
        assert_eq!(whole.header("accept-ranges"), Some("bytes"));
        assert_eq!(whole.header("cache-control"), Some("no-store"), "it may be erased");
        let part = house.send("GET /api/media/s1/0/turn_1", &["Range: bytes=1-1"], b"").await;
        assert_eq!((part.status, part.body.as_slice()), (206, &[0xd8][..]));
        assert_eq!(part.header("content-range"), Some("bytes 1-1/3"));
        let none = house.send("GET /api/media/person_1", &["Range: bytes=9-"], b"").await;
        assert_eq!((none.status, none.header("content-range")), (416, Some("bytes */3")));
        house.close().await;
    });
}

#[test]
fn a_snapshot_is_a_file_to_be_saved() {
    run(async {
        let house = House::open().await;
        let kept = house.get("/api/snapshots/1_2").await;
        assert_eq!((kept.status, kept.text().as_str()), (200, "mcap"));
        assert_eq!(kept.header("content-disposition"), Some("attachment; filename=\"1_2.mcap\""));
        assert_eq!(kept.header("cache-control"), Some("no-store"));
        assert_eq!(house.get("/api/snapshots/2_3").await.status, 404);
        let film = house.get("/api/snapshots/1_2.mp4?camera=front").await;
        assert_eq!((film.status, film.text().as_str()), (200, "film"));
        assert_eq!(film.header("content-type"), Some("video/mp4"));
        assert_eq!(film.header("content-disposition"), Some("attachment; filename=\"1_2.mp4\""));
        assert_eq!(house.get("/api/snapshots/1_2.mp4?camera=rear").await.status, 400);
        assert_eq!(house.get("/api/snapshots/2_3.mp4").await.status, 404);
        house.close().await;
    });
}

#[test]
fn the_page_is_in_the_binary_and_a_browser_keeps_it() {
    run(async {
        let house = House::open().await;
        let page = house.get("/").await;
        assert_eq!(page.status, 200);
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(page.header("cache-control"), Some("no-cache"));
        assert!(
            page.header("content-security-policy").unwrap().starts_with("default-src 'none'; ")
        );
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        let tag = format!("If-None-Match: {}", page.header("etag").unwrap());
        let again = house.send("GET /", &[&tag], b"").await;
        assert_eq!((again.status, again.body.len()), (304, 0));
        assert_eq!(house.get("/ui/none.js").await.status, 404);
        house.close().await;
    });
}

#[test]
fn what_openapi_names_is_there_and_what_is_there_is_named() {
    run(async {
        let house = House::open().await;
        let document = house.get("/openapi.json").await.json();
        assert_eq!(document, openapi::document());
        let paths = document["paths"].as_object().unwrap();
        for (path, item) in paths {
            let path = path
                .replace("{verb}", if path.contains("replay") { "pause" } else { "people" })
                .replace("{name}", "person_1")
                .replace("{camera}", "front");
            for method in item.as_object().unwrap().keys() {
                // Streams, that go on: they have tests of their own.
                if path.contains("/live/") || path.contains("/events") {
                    continue;
                }
                let got = house
                    .send(&format!("{} {path}", method.to_uppercase()), &["X-Engram: 1"], b"")
                    .await;
                let nothing = got.status == 405
                    || got.status == 404
                        && got.text().contains("/openapi.json tells what there is");
                assert!(!nothing, "{method} {path}: {}", got.text());
            }
        }
        for (path, _) in RIGHT {
            let path = match path.rsplit_once('/').unwrap() {
                (before @ ("/api/query" | "/api/replay"), _) => format!("{before}/{{verb}}"),
                _ => path.to_owned(),
            };
            assert!(paths.contains_key(&path), "{path}");
        }
        house.close().await;
    });
}
