//! Server-sent events (WHATWG HTML, 9.2): bytes in, the `data` of each event out.

/// Longer events are a fault.
const MAX_EVENT_BYTES: usize = 4 << 20;

/// Takes bytes in whatever pieces they come.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: String,
    has_data: bool,
    /// The last byte was a carriage return: a line feed after it belongs to it.
    after_return: bool,
}

impl Events {
    /// The events that `bytes` complete.
    ///
    /// # Errors
    /// When an event is larger than any server's.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        for &byte in bytes {
            let feed_of_return = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            match byte {
                b'\n' if feed_of_return => {}
                b'\n' | b'\r' => found.extend(self.end_line()),
                _ => self.line.push(byte),
            }
            if self.line.len() + self.data.len() > MAX_EVENT_BYTES {
                return Err(format!("an event is larger than {MAX_EVENT_BYTES} bytes"));
            }
        }
        Ok(found)
    }

    /// What the end of the stream leaves: servers forget the last empty line.
    pub(super) fn finish(&mut self) -> Option<String> {
        let whole = if self.line.is_empty() { None } else { self.end_line() };
        whole.or_else(|| self.end_line())
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return std::mem::take(&mut self.has_data).then_some(data);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
        if let Some(data) = line.strip_prefix("data:") {
            if self.has_data {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
            self.has_data = true;
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = "\u{feff}: hello\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nevent: x\nid: 7\n\ndata:zwei ä\n\ndata: [DONE]";

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = Events::default();
        let mut found: Vec<String> =
            pieces.iter().flat_map(|piece| events.push(piece).unwrap()).collect();
        found.extend(events.finish());
        found
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(cuts in proptest::collection::vec(0..STREAM.len(), 0..8)) {
            let mut cuts = cuts;
            cuts.extend([0, STREAM.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> =
                cuts.windows(2).map(|pair| &STREAM.as_bytes()[pair[0]..pair[1]]).collect();
            prop_assert_eq!(all(&pieces), ["{\"a\":\n1}", "zwei ä", "[DONE]"]);
        }

        #[test]
        fn no_bytes_upset_it(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let mut events = Events::default();
            events.push(&bytes).unwrap();
            events.finish();
        }
    }

    #[test]
    fn an_endless_event_is_a_fault() {
        let mut events = Events::default();
        let piece = vec![b'x'; 1 << 20];
        assert!((0..8).any(|_| events.push(&piece).is_err()));
    }
}
