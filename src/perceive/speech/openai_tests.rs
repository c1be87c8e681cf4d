//! The client against real HTTP servers on a local port.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use super::*;

/// Reads one whole request: head, and as much body as its length says.
fn request(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let read = stream.read(&mut chunk).unwrap();
        assert!(read > 0, "the client went away");
        bytes.extend_from_slice(&chunk[..read]);
        let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let length: usize = head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find_map(|(name, value)| name.eq_ignore_ascii_case("content-length").then_some(value))
            .unwrap()
            .parse()
            .unwrap();
        if bytes.len() >= end + 4 + length {
            return (head, bytes[end + 4..].to_vec());
        }
    }
}

/// A server that answers one request with `reply`, and gives back what it was asked.
fn server(status: &str, reply: &str) -> (String, JoinHandle<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{reply}",
        reply.len()
    );
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let asked = request(&mut stream);
        stream.write_all(reply.as_bytes()).unwrap();
        asked
    });
    (base, thread)
}

fn client(base: &str) -> OpenAiTranscriber {
    let settings = config::Transcriber {
        base_url: Some(base.to_owned()),
        model: Some("tiny".to_owned()),
        language: Some("en-GB".to_owned()),
        ..config::Transcriber::default()
    };
    let timeouts =
        Timeouts { connect: Duration::from_millis(500), total: Duration::from_millis(500) };
    OpenAiTranscriber::with_timeouts(&settings, timeouts).unwrap()
}

#[test]
fn a_verbose_reply_gives_words_with_times() {
    let reply = r#"{"task":"transcribe","language":"english","duration":1.0,"text":" Hello there. ",
        "words":[{"word":"Hello","start":0.1,"end":0.4},{"word":"there.","start":0.5,"end":7.0}]}"#;
    let (base, asked) = server("200 OK", reply);
    let start = Timestamp::from_nanos(5_000_000_000);
    let transcript = client(&base).transcribe(&[0.25; 16_000], start).unwrap();
    assert_eq!(transcript.text, "Hello there.");
    assert_eq!(transcript.engine, "openai:tiny");
    assert_eq!(transcript.words.len(), 2);
    assert_eq!(transcript.words[0].span.start, start.plus_secs(0.1));
    // Times beyond the sound are brought back to its end.
    assert_eq!(transcript.words[1].span.end, start.plus_secs(1.0));

    let (head, body) = asked.join().unwrap();
    assert!(head.starts_with("POST /v1/audio/transcriptions HTTP/1.1"), "{head}");
    let boundary = head.split("boundary=").nth(1).unwrap().lines().next().unwrap();
    let text = String::from_utf8_lossy(&body);
    assert_eq!(text.matches(&format!("--{boundary}\r\n")).count(), 6);
    assert!(text.ends_with(&format!("--{boundary}--\r\n")));
    for field in ["name=\"model\"\r\n\r\ntiny", "verbose_json", "name=\"language\"\r\n\r\nen\r\n"] {
        assert!(text.contains(field), "{field}");
    }
    let wav = body.windows(4).position(|w| w == b"RIFF").unwrap();
    assert_eq!(&body[wav..wav + 32_044], to_wav(&[0.25; 16_000]));
}

#[test]
fn a_reply_without_words_is_a_transcript_too() {
    let (base, _asked) = server("200 OK", r#"{"text":"Yes."}"#);
    let transcript = client(&base).transcribe(&[0.0; 1600], Timestamp::EPOCH).unwrap();
    assert_eq!((transcript.text.as_str(), transcript.words.len()), ("Yes.", 0));
}

#[test]
fn errors_tell_whether_asking_again_may_help() {
    for (status, retryable) in [
        ("503 Service Unavailable", true),
        ("429 Too Many Requests", true),
        ("400 Bad Request", false),
        ("401 Unauthorized", false),
        ("404 Not Found", false),
    ] {
        let (base, _asked) = server(status, r#"{"error":{"message":"no such model"}}"#);
        let error = client(&base).transcribe(&[0.0; 1600], Timestamp::EPOCH).unwrap_err();
        assert_eq!(error.retryable(), retryable, "{error}");
        assert!(error.to_string().contains("no such model"), "{error}");
    }
    for nonsense in ["", "<html>", "[]", "{\"words\":[]}", "{\"text\":5}"] {
        let (base, _asked) = server("200 OK", nonsense);
        let error = client(&base).transcribe(&[0.0; 1600], Timestamp::EPOCH).unwrap_err();
        assert!(matches!(error, TranscribeError::Reply { .. }) && !error.retryable(), "{error}");
    }
}

#[test]
fn a_server_that_is_down_or_silent_can_be_asked_again() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = client(&format!("http://{closed}/v1")).transcribe(&[0.0; 160], Timestamp::EPOCH);
    let error = error.unwrap_err();
    assert!(error.retryable() && error.to_string().contains("transcriber.base_url"), "{error}");

    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", silent.local_addr().unwrap());
    let begin = std::time::Instant::now();
    let error = client(&base).transcribe(&[0.0; 160], Timestamp::EPOCH).unwrap_err();
    assert!(error.retryable(), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn no_message_shows_the_password_of_an_address() {
    let hides = |error: TranscribeError| {
        let told = error.to_string();
        assert!(told.contains("***@") && !told.contains("geheim"), "{told}");
    };
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (refuses, _) = server("500 No", "{}");
    let (babbles, _) = server("200 OK", "<html>");
    for base in [format!("http://{closed}/v1"), refuses, babbles] {
        let mut client = client(&base.replace("://", "://u:geheim@"));
        hides(client.transcribe(&[0.0; 160], Timestamp::EPOCH).unwrap_err());
    }
    let base_url = Some("ftp://u:geheim@host/v1".to_owned());
    let settings = config::Transcriber { base_url, ..config::Transcriber::default() };
    hides(OpenAiTranscriber::open(&settings).err().unwrap());
}

#[test]
fn settings_without_a_server_or_key_are_refused() {
    let mut settings = config::Transcriber::default();
    assert!(OpenAiTranscriber::open(&settings).is_err());
    settings.base_url = Some("http://127.0.0.1:1/v1".to_owned());
    settings.api_key_file = Some("/nowhere/key".into());
    let error = OpenAiTranscriber::open(&settings).err().unwrap().to_string();
    assert!(error.contains("/nowhere/key"), "{error}");
}
