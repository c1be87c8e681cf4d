//! The client against a scripted server on a real socket.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::llm::llm_server::{Act, LlmServer};
use crate::llm::{Message, Role};

fn client(server: &LlmServer, retries: usize) -> OpenAiChat {
    let server = Server {
        base_url: server.base_url(),
        model: "tiny".to_owned(),
        api_key: Some("secret".to_owned()),
        retries,
        pictures: true,
    };
    OpenAiChat::new(server).unwrap()
}

fn hello() -> ChatRequest {
    ChatRequest {
        messages: vec![Message::text(Role::User, "hello")],
        max_tokens: 100,
        thinking_tokens: 100,
        ..ChatRequest::default()
    }
}

fn secs(secs: f64) -> Budget {
    Budget::of(Duration::from_secs_f64(secs))
}

fn refuse(status: u16) -> Act {
    Act::Refuse(status, "", "{\"error\":{\"message\":\"not now\"}}".to_owned())
}

#[test]
fn a_streamed_and_a_whole_reply_read_alike() {
    let server =
        LlmServer::acts(vec![Act::words("Hello, world."), Act::Whole("Hello, world.".into())]);
    let client = client(&server, 0);
    let streamed = client.chat(&hello(), &secs(5.0)).unwrap();
    assert_eq!(streamed.text, "Hello, world.");
    assert_eq!(streamed.usage, Usage { prompt: 100, completion: 10 });
    assert_eq!(client.chat(&hello(), &secs(5.0)).unwrap().text, "Hello, world.");
    let asked = server.asked();
    assert_eq!((&asked[0]["model"], &asked[0]["stream"]), (&"tiny".into(), &true.into()));
    let counts: std::collections::BTreeMap<_, _> = client.tally().counts().into();
    assert_eq!((counts["llm_requests"], counts["llm_prompt_tokens"]), (2, 103));
}

#[test]
fn what_may_pass_is_tried_again_and_what_will_not_is_told() {
    let server = LlmServer::acts(vec![refuse(500), Act::Cut, Act::words("there")]);
    let reply = client(&server, 2).chat(&hello(), &secs(10.0)).unwrap();
    assert_eq!((reply.text.as_str(), reply.retries), ("there", 2));
    let server = LlmServer::acts(vec![refuse(401)]);
    let error = client(&server, 5).chat(&hello(), &secs(5.0)).unwrap_err();
    assert!(error.to_string().contains("api_key_file") && server.asked().len() == 1, "{error}");
    let server = LlmServer::acts(vec![Act::Garbage("data: <html>\n\n".into())]);
    let error = client(&server, 5).chat(&hello(), &secs(5.0)).unwrap_err();
    assert!(matches!(error, LlmError::Reply { .. }), "{error}");
}

#[test]
fn retry_after_is_kept_to() {
    let again = Act::Refuse(429, "Retry-After: 1\r\n", String::new());
    let server = LlmServer::acts(vec![again, Act::words("now")]);
    let begun = Instant::now();
    assert_eq!(client(&server, 2).chat(&hello(), &secs(10.0)).unwrap().text, "now");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    // Longer than the budget: nobody waits for it.
    let later = Act::Refuse(429, "Retry-After: 9\r\n", String::new());
    let server = LlmServer::acts(vec![later]);
    let client = client(&server, 2);
    let error = client.chat(&hello(), &secs(2.0)).unwrap_err();
    assert!(matches!(error, LlmError::Refused { status: 429, .. }), "{error}");
    let error = client.chat(&hello(), &secs(2.0)).unwrap_err();
    assert!(matches!(error, LlmError::Resting { .. }), "{error}");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_server_that_is_silent_or_thinks_for_ever_is_left() {
    let server = LlmServer::acts(vec![Act::Stall]);
    let error = client(&server, 2).chat(&hello(), &secs(0.3)).unwrap_err();
    assert!(matches!(error, LlmError::Late { bytes: 0, .. }), "{error}");
    let server = LlmServer::acts(vec![Act::Think]);
    let error = client(&server, 2).chat(&hello(), &secs(20.0)).unwrap_err();
    assert!(matches!(error, LlmError::Endless { what: "thinking", .. }), "{error}");
    let server = LlmServer::acts(vec![Act::Words("bla ".repeat(50_000))]);
    let error = client(&server, 2).chat(&hello(), &secs(20.0)).unwrap_err();
    assert!(matches!(error, LlmError::Endless { what: "reply", .. }), "{error}");
}

#[test]
fn no_message_shows_the_password_of_an_address() {
    let with = |base_url: String| {
        OpenAiChat::new(Server {
            base_url,
            model: "tiny".to_owned(),
            api_key: None,
            retries: 0,
            pictures: true,
        })
    };
    let hides = |told: String| assert!(told.contains("***@") && !told.contains("geheim"), "{told}");
    hides(with("ftp://u:geheim@host/v1".to_owned()).err().unwrap().to_string());
    let server = LlmServer::acts(vec![refuse(500)]);
    let own = server.base_url().replace("http://", "http://u:geheim@");
    for address in ["http://u:geheim@127.0.0.1:9/v1", own.as_str()] {
        let client = with(address.to_owned()).unwrap();
        // The third time it is left alone.
        for _ in 0..3 {
            hides(client.chat(&hello(), &secs(5.0)).unwrap_err().to_string());
        }
    }
    let nowhere = with("http://u:geheim@127.0.0.1:9/v1".to_owned()).unwrap();
    hides(nowhere.served(Duration::from_secs(5)).unwrap_err().to_string());
}

#[test]
fn calling_off_ends_the_wait() {
    let server = LlmServer::acts(vec![Act::Stall]);
    let client = client(&server, 2);
    let budget = secs(60.0);
    let cancel = budget.cancel.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        cancel.cancel();
    });
    assert_eq!(client.chat(&hello(), &budget).unwrap_err(), LlmError::Cancelled);
}

#[test]
fn a_server_that_fails_is_left_alone_and_asked_again_later() {
    let server = LlmServer::acts(vec![refuse(500)]);
    let client = client(&server, 0);
    for _ in 0..2 {
        assert!(matches!(client.chat(&hello(), &secs(5.0)), Err(LlmError::Refused { .. })));
    }
    let error = client.chat(&hello(), &secs(5.0)).unwrap_err();
    assert!(error.to_string().contains("not now"), "{error}");
    assert!(matches!(error, LlmError::Resting { .. }) && server.asked().len() == 2);
    server.now(|_, _| Act::words("back"));
    thread::sleep(Duration::from_millis(1100));
    assert_eq!(client.chat(&hello(), &secs(5.0)).unwrap().text, "back");
}

#[test]
fn what_a_server_does_not_take_is_left_out() {
    let server = LlmServer::start(|_, body| match body.get("stream_options") {
        Some(_) => Act::Refuse(400, "", "unknown field stream_options".to_owned()),
        None => Act::words("fine"),
    });
    let client = client(&server, 0);
    assert_eq!(client.chat(&hello(), &secs(5.0)).unwrap().text, "fine");
    assert_eq!(client.chat(&hello(), &secs(5.0)).unwrap().retries, 0);
    assert_eq!(server.asked().len(), 3);
}
