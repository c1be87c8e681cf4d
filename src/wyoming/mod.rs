//! A server of the Wyoming protocol, by which Home Assistant asks for the words of an utterance: this one also says whose they are.
//!
//! Nothing of what is sent is kept. The protocol knows no login, so the server listens on this machine alone.

mod event;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::net::TcpListener;

use self::event::Event;
use crate::connections::serve_each;
use crate::media::SAMPLE_RATE;
use crate::supervise::keep_up_task;

/// Connections at a time; more wait in the system's queue.
const CONNECTIONS: usize = 4;
/// Whoever says nothing for so long is let go.
const PATIENCE: Duration = Duration::from_secs(120);
/// The longest utterance, seconds.
const MOST_SECS: usize = 60;
/// Bytes of a second of sound: 16-bit PCM, mono.
const SECOND_BYTES: usize = SAMPLE_RATE as usize * 2;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum WyomingError {
    /// The port cannot be had.
    #[error(
        "listening for Wyoming on {address}: {source}; set `wyoming.listen` to a free port of this machine"
    )]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Who hears what is said.
pub trait Ears: Send + Sync {
    /// The words of 16 kHz mono sound in [-1, 1], and whose they are.
    ///
    /// # Errors
    /// A sentence that says why there are none.
    fn hear(&self, sound: &[f32]) -> Result<Heard, String>;

    /// What recognises words; `None`: nothing does.
    fn recogniser(&self) -> Option<String>;
}

/// An utterance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    /// The words.
    pub text: String,
    /// Their language, where the recogniser tells it.
    pub language: Option<String>,
    /// Whose voice it is; null where nobody's that is known, or too short to tell.
    pub speaker: Value,
}

/// Listens from now on, in the current tokio runtime; gives the address.
///
/// # Errors
/// [`WyomingError`] when the port is taken.
pub async fn start(address: SocketAddr, ears: Arc<dyn Ears>) -> Result<SocketAddr, WyomingError> {
    let failed = |source| WyomingError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    tokio::spawn(async move {
        let over = keep_up_task("wyoming", || serve(&listener, &ears)).await;
        if let Err(over) = over {
            tracing::error!("Wyoming on {address}: {over}; restart engramd");
        }
    });
    Ok(address)
}

async fn serve(listener: &TcpListener, ears: &Arc<dyn Ears>) {
    serve_each(listener, CONNECTIONS, |stream| {
        let ears = Arc::clone(ears);
        async move {
            if let Err(error) = talk(stream, ears).await {
                tracing::debug!(%error, "A client of Wyoming went away.");
            }
        }
    })
    .await;
}

/// What was sent of the utterance so far.
#[derive(Default)]
struct Utterance {
    pcm: Vec<u8>,
    /// Why it cannot be understood.
    wrong: Option<String>,
}

impl Utterance {
    fn take(&mut self, event: &Event) {
        let number = |key: &str| event.data.get(key).and_then(Value::as_u64);
        let form = (number("rate"), number("width"), number("channels"));
        if form != (Some(u64::from(SAMPLE_RATE)), Some(2), Some(1)) {
            self.wrong.get_or_insert_with(|| {
                format!("the sound must be {SAMPLE_RATE} Hz, 16-bit (width 2) and mono")
            });
        }
        if self.pcm.len() + event.payload.len() > MOST_SECS * SECOND_BYTES {
            self.wrong.get_or_insert_with(|| format!("it is longer than {MOST_SECS} s"));
        }
        if self.wrong.is_none() {
            self.pcm.extend_from_slice(&event.payload);
        }
    }

    /// Its samples.
    fn sound(&self) -> Vec<f32> {
        let pairs = self.pcm.chunks_exact(2);
        pairs.map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32_768.0).collect()
    }
}

/// One client, until it goes.
async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    ears: Arc<dyn Ears>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut utterance = Utterance::default();
    loop {
        let next = tokio::time::timeout(PATIENCE, event::read(&mut stream)).await;
        let Some(event) = next.unwrap_or(Ok(None))? else { return Ok(()) };
        match event.kind.as_str() {
            "describe" => event::write(&mut stream, "info", &info(&*ears)).await?,
            "ping" => event::write(&mut stream, "pong", &Value::from(event.data)).await?,
            "transcribe" | "audio-start" => utterance = Utterance::default(),
            "audio-chunk" => utterance.take(&event),
            "audio-stop" => {
                let whole = std::mem::take(&mut utterance);
                let (kind, reply) = heard(whole, Arc::clone(&ears)).await;
                event::write(&mut stream, kind, &reply).await?;
            }
            // Whoever knows more of the protocol may say more.
            _ => {}
        }
    }
}

/// The reply to an utterance.
async fn heard(utterance: Utterance, ears: Arc<dyn Ears>) -> (&'static str, Value) {
    let fail = |why: String| ("error", json!({ "text": why, "code": "not-understood" }));
    if let Some(why) = utterance.wrong {
        return fail(why);
    }
    let sound = utterance.sound();
    match tokio::task::spawn_blocking(move || ears.hear(&sound)).await {
        Ok(Ok(Heard { text, language, speaker })) => {
            let mut reply = json!({ "text": text, "context": { "speaker": speaker } });
            if let Some(language) = language {
                reply["language"] = language.into();
            }
            ("transcript", reply)
        }
        Ok(Err(why)) => fail(why),
        Err(_) => fail("the daemon failed on this utterance; its log says where".to_owned()),
    }
}

/// What is offered, in the form of `info`.
fn info(ears: &dyn Ears) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let attribution = json!({ "name": "engram", "url": "" });
    let programs: Vec<Value> = ears
        .recogniser()
        .into_iter()
        .map(|model| {
            json!({
                "name": "engramd",
                "description": "words, and who says them",
                "attribution": attribution,
                "installed": true,
                "version": version,
                "models": [{
                    "name": model,
                    "description": model,
                    "attribution": attribution,
                    "installed": true,
                    "version": version,
                    "languages": ["en"],
                }],
            })
        })
        .collect();
    json!({
        "asr": programs, "tts": [], "handle": [], "intent": [], "wake": [], "mic": [], "snd": [],
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    struct Parrot;

    impl Ears for Parrot {
        fn hear(&self, sound: &[f32]) -> Result<Heard, String> {
            match sound.first() {
                Some(first) => {
                    let text = format!("{} samples from {first}", sound.len());
                    let (language, speaker) = (Some("en".to_owned()), json!({ "name": "Ava" }));
                    Ok(Heard { text, language, speaker })
                }
                None => Err("nothing was said".to_owned()),
            }
        }

        fn recogniser(&self) -> Option<String> {
            Some("parrot".to_owned())
        }
    }

    /// What comes back for what is sent, as (type, data).
    fn answered(sent: Vec<u8>) -> Vec<(String, Value)> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let (mut client, server) = duplex(1 << 22);
            client.write_all(&sent).await.unwrap();
            let mut got = Vec::new();
            client.shutdown().await.unwrap();
            talk(server, Arc::new(Parrot)).await.unwrap_or_default();
            client.read_to_end(&mut got).await.unwrap();
            let mut rest = got.as_slice();
            let mut events = Vec::new();
            while let Some(event) = event::read(&mut rest).await.unwrap() {
                events.push((event.kind, Value::from(event.data)));
            }
            events
        })
    }

    fn chunk(form: &str, payload: &[u8]) -> Vec<u8> {
        let head = format!(
            "{{\"type\":\"audio-chunk\",\"data\":{form},\"payload_length\":{}}}\n",
            payload.len()
        );
        [head.as_bytes(), payload].concat()
    }

    const FORM: &str = r#"{"rate":16000,"width":2,"channels":1}"#;
    const STOP: &[u8] = b"{\"type\":\"audio-stop\"}\n";

    #[test]
    fn an_utterance_is_answered_with_its_words_and_whose_they_are() {
        let begin = b"{\"type\":\"transcribe\"}\n{\"type\":\"audio-start\"}\n";
        let sent = [begin, &*chunk(FORM, &[0, 0x40, 1, 0]), &chunk(FORM, &[2, 0]), STOP].concat();
        let got = answered([sent.clone(), b"{\"type\":\"ping\"}\n".to_vec(), sent].concat());
        let kinds: Vec<&str> = got.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, ["transcript", "pong", "transcript"]);
        let wanted = json!({
            "text": "3 samples from 0.5", "language": "en", "context": { "speaker": { "name": "Ava" } },
        });
        assert!(got[0].1 == wanted && got[2].1 == wanted, "{got:?}");
    }

    #[test]
    fn what_is_offered_is_told_and_what_cannot_be_understood_too() {
        let got = answered(b"{\"type\":\"describe\"}\n{\"type\":\"strange\"}\n".to_vec());
        assert_eq!(got.len(), 1);
        assert_eq!(got[0].1["asr"][0]["models"][0]["name"], "parrot");
        let other = r#"{"rate":44100,"width":2,"channels":1}"#;
        let long: Vec<u8> = (0..70).flat_map(|_| chunk(FORM, &vec![1; SECOND_BYTES])).collect();
        for sent in [STOP.to_vec(), chunk(other, &[0; 8]), chunk("{}", &[0; 8]), long] {
            let got = answered([sent.as_slice(), STOP].concat());
            let (kind, reply) = got.last().unwrap();
            assert_eq!(kind, "error", "{got:?}");
            assert!(reply["text"].is_string() && reply["code"] == "not-understood");
        }
    }
}
