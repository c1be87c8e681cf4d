//! What goes on: events and pictures.

use std::time::Duration;

use serde_json::Value;

use super::support::{House, run};
use crate::mqtt::Publisher;
use crate::mqtt::message::{Say, SpeechEvent};
use crate::time::Timestamp;

fn say(publisher: &Publisher, text: &str) {
    publisher.say(&Say { text: text.to_owned(), answer: None });
}

fn speech(publisher: &Publisher, text: &str) {
    publisher.event_speech(&SpeechEvent {
        turn: "turn_1".to_owned(),
        person: None,
        name: None,
        start: Timestamp::EPOCH,
        end: Timestamp::EPOCH,
        text: Some(text.to_owned()),
        source: "microphone".to_owned(),
        partial: false,
        wake: false,
    });
}

/// Topic, number and data of an event.
fn event(text: &str) -> (String, u64, Value) {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).trim().to_owned()
    };
    (field("event:"), field("id:").parse().unwrap(), serde_json::from_str(&field("data:")).unwrap())
}

#[test]
fn who_listens_hears_what_is_published_and_goes_on_after_a_break() {
    run(async {
        let house = House::open().await;
        let publisher = house.daemon.session.publisher();
        let mut all = house.listen("/api/events", &[]).await;
        all.until("retry: 2000\n\n").await;
        let mut few = house.listen("/api/events?topics=event/speech,say", &[]).await;
        few.until("retry: 2000\n\n").await;
        publisher.status(&["no cameras".to_owned()], None);
        speech(&publisher, "Hello\nthere");
        let (topic, _, status) = event(&all.until("}\n\n").await);
        assert_eq!(
            (topic.as_str(), &status["degraded"][0]),
            ("status", &Value::from("no cameras"))
        );
        let (topic, seq, heard) = event(&few.until("}\n\n").await);
        assert_eq!(
            (topic.as_str(), &heard["text"]),
            ("event/speech", &Value::from("Hello\nthere"))
        );
        crate::mqtt::tests::schemas::check("event-speech", &heard);
        assert_eq!(event(&all.until("}\n\n").await), (topic, seq, heard));
        drop(few);
        say(&publisher, "one");
        say(&publisher, "two");
        let last = format!("Last-Event-ID: {seq}");
        let mut back = house.listen("/api/events?topics=say", &[&last]).await;
        let one = event(&back.until("}\n\n").await);
        let two = event(&back.until("}\n\n").await);
        assert_eq!((&one.2["text"], &two.2["text"]), (&Value::from("one"), &Value::from("two")));
        assert!(seq < one.1 && one.1 < two.1);
        // From long ago: it learns that something may be missing, and gets what there is.
        let mut late = house.listen("/api/events?topics=say&after=1", &[]).await;
        late.until("event: missed\ndata: {\"after\":1}\n\n").await;
        assert_eq!(event(&late.until("}\n\n").await).2["text"], "one");
        assert_eq!(house.send("GET /api/events", &["Last-Event-ID: x"], b"").await.status, 400);
        house.close().await;
    });
}

#[test]
fn nobody_who_comes_back_hears_what_was_erased() {
    run(async {
        let house = House::open().await;
        let publisher = house.daemon.session.publisher();
        speech(&publisher, "Ava was here");
        let before = house.daemon.session.requests().newest() - 1;
        let forgot = house.post("/api/forget", r#"{"entity":"Ava"}"#).await;
        assert_eq!(forgot.status, 200);
        say(&publisher, "done");
        let path = format!("/api/events?topics=event,say&after={before}");
        let heard = house.listen(&path, &[]).await.until("done").await;
        assert!(!heard.contains("Ava"), "{heard}");
        house.close().await;
    });
}

#[test]
fn the_rounds_of_a_question_are_told() {
    run(async {
        let house = House::open().await;
        let mut rounds = house.listen("/api/events?topics=answer/q1", &[]).await;
        rounds.until("retry: 2000\n\n").await;
        let got = house.post("/api/ask", r#"{"question":"rounds","id":"q1"}"#).await;
        assert_eq!(got.json()["answer"], "rounds");
        let (topic, _, line) = event(&rounds.until("}\n\n").await);
        assert_eq!((topic.as_str(), &line["round"]), ("answer/q1/progress", &Value::from(1)));
        house.close().await;
    });
}

#[test]
fn a_stop_ends_whoever_listens_and_watches() {
    run(async {
        let house = House::open().await;
        house.cameras.show("front", 1, "picture one");
        let events = house.listen("/api/events", &[]).await;
        let mut live = house.listen("/api/live/front", &[]).await;
        live.until("picture one").await;
        house.close().await;
        events.end().await;
        live.end().await;
    });
}

#[test]
fn a_picture_is_made_once_for_all_who_watch_and_only_while_somebody_does() {
    run(async {
        let house = House::open().await;
        assert_eq!(house.get("/api/still/front").await.status, 404, "it shows nothing yet");
        assert_eq!(house.get("/api/live/cellar").await.status, 404);
        house.cameras.show("front", 1, "picture one");
        let still = house.get("/api/still/front").await;
        assert_eq!((still.status, still.text().as_str()), (200, "picture one"));
        assert_eq!(still.header("content-type"), Some("image/jpeg"));
        assert_eq!(still.header("x-engram-time"), Some("1970-01-01T00:00:01.000000000Z"));
        let mut watching = Vec::new();
        for _ in 0..20 {
            let mut live = house.listen("/api/live/front", &[]).await;
            live.until("--picture\r\nContent-Type: image/jpeg\r\nContent-Length: 11\r\n").await;
            live.until("picture one\r\n").await;
            watching.push(live);
        }
        house.cameras.show("front", 2, "picture two");
        for live in &mut watching {
            live.until("picture two\r\n").await;
        }
        assert_eq!(house.server.watched(), 1);
        drop(watching);
        // The other side learns it when it sends the next one.
        for secs in 3.. {
            if house.server.watched() == 0 {
                break;
            }
            house.cameras.show("front", secs, "picture");
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert!(secs < 1000, "nobody watches, and it is still looked at");
        }
        house.close().await;
    });
}
