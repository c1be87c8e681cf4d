//! Events of the Wyoming protocol (<https://github.com/OHF-Voice/wyoming>): a line of JSON, then, as it says, more JSON and bytes.

use std::io;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
};

/// A line, and the JSON behind it, have no more bytes …
const MAX_JSON_BYTES: usize = 64 * 1024;
/// … and what comes with it no more: half a minute of sound at once.
const MAX_PAYLOAD_BYTES: usize = 1 << 20;
/// The version of the protocol that is spoken.
const VERSION: &str = "1.5.3";

/// An event.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Event {
    /// Its type.
    pub(super) kind: String,
    /// What it says.
    pub(super) data: Map<String, Value>,
    /// What comes with it.
    pub(super) payload: Vec<u8>,
}

/// The line that an event begins with.
#[derive(Debug, Deserialize)]
struct Head {
    r#type: String,
    #[serde(default)]
    data: Option<Map<String, Value>>,
    #[serde(default)]
    data_length: Option<usize>,
    #[serde(default)]
    payload_length: Option<usize>,
}

/// Reads the next event; `None`: whoever spoke has gone.
///
/// # Errors
/// When it is no event, or one that is too large, or the connection fails.
pub(super) async fn read(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Event>> {
    let mut line = Vec::new();
    let most = MAX_JSON_BYTES as u64 + 1;
    (&mut *reader).take(most).read_until(b'\n', &mut line).await?;
    if line.is_empty() {
        return Ok(None);
    }
    let Head { r#type: kind, data, data_length, payload_length } = head(&line)?;
    let mut data = data.unwrap_or_default();
    let more = bytes(reader, data_length.unwrap_or_default()).await?;
    if !more.is_empty() {
        data.extend(serde_json::from_slice::<Map<String, Value>>(&more)?);
    }
    let payload = bytes(reader, payload_length.unwrap_or_default()).await?;
    Ok(Some(Event { kind, data, payload }))
}

/// Reads the line of an event.
fn head(line: &[u8]) -> io::Result<Head> {
    let wrong = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why);
    if line.len() > MAX_JSON_BYTES {
        return Err(wrong("the line is too long"));
    }
    let head: Head = serde_json::from_slice(line)?;
    let fits = head.data_length.unwrap_or_default() <= MAX_JSON_BYTES
        && head.payload_length.unwrap_or_default() <= MAX_PAYLOAD_BYTES;
    if fits { Ok(head) } else { Err(wrong("the event is too large")) }
}

async fn bytes(reader: &mut (impl AsyncBufRead + Unpin), count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    reader.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// Writes an event without bytes.
///
/// # Errors
/// When the connection fails.
pub(super) async fn write(
    writer: &mut (impl AsyncWrite + Unpin),
    kind: &str,
    data: &Value,
) -> io::Result<()> {
    let data = data.to_string();
    let head = json!({ "type": kind, "version": VERSION, "data_length": data.len() });
    writer.write_all(format!("{head}\n{data}").as_bytes()).await?;
    writer.flush().await
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> io::Result<Option<Event>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut reader = bytes;
        runtime.block_on(read(&mut reader))
    }

    #[test]
    fn events_are_lines_with_data_and_bytes_behind_them() {
        let mut wire = b"{\"type\":\"audio-chunk\",\"data\":{\"rate\":16000},".to_vec();
        wire.extend(b"\"data_length\":11,\"payload_length\":3}\n{\"width\":2}abcrest");
        let event = of(&wire).unwrap().unwrap();
        assert_eq!((event.kind.as_str(), event.payload.as_slice()), ("audio-chunk", &b"abc"[..]));
        assert_eq!(Value::from(event.data), json!({ "rate": 16_000, "width": 2 }));
        assert_eq!(of(b"").unwrap(), None);
        let plain = of(b"{\"type\":\"describe\",\"version\":\"1.0\"}\n").unwrap().unwrap();
        assert_eq!(plain, Event { kind: "describe".to_owned(), ..Event::default() });
    }

    #[test]
    fn what_is_no_event_or_too_large_is_refused() {
        let long = [b"{\"type\":\"".to_vec(), vec![b'a'; 70_000], b"\"}\n".to_vec()].concat();
        for wire in [
            &b"GET / HTTP/1.1\r\n"[..],
            b"\n",
            b"{}\n",
            b"{\"type\":\"x\",\"payload_length\":5}\nabc",
            b"{\"type\":\"x\",\"payload_length\":99999999999}\n",
            b"{\"type\":\"x\",\"data_length\":3}\n[1]",
            b"\xff\xfe\n",
            &long,
        ] {
            assert!(
                of(wire).is_err(),
                "{:?}",
                String::from_utf8_lossy(&wire[..wire.len().min(40)])
            );
        }
    }
}
