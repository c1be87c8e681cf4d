//! Parts of MCAP files as one MCAP file: messages go over as they are.

use std::collections::BTreeMap;
use std::io::Cursor;

use mcap::records::MessageHeader;
use mcap::{McapResult, Message, MessageStream, WriteOptions};

use crate::time::{Span, Timestamp};

/// Messages that tell how those of another topic are to be read: they stand for all that comes after them.
const DECLARATIONS: [&str; 2] = ["audio_common_msgs/msg/AudioInfo", "sensor_msgs/msg/CameraInfo"];
/// A chunk is closed at this size.
const CHUNK_BYTES: u64 = 4 << 20;

/// A file that is put together.
pub(super) struct Cut {
    writer: mcap::Writer<Cursor<Vec<u8>>>,
    /// Next sequence number of each channel.
    sequences: BTreeMap<u16, u32>,
    /// From the first to just after the last message, declarations aside.
    span: Option<Span>,
}

impl Cut {
    pub(super) fn new() -> McapResult<Self> {
        let options = WriteOptions::new()
            .profile("ros2")
            .library(concat!("engram ", env!("CARGO_PKG_VERSION")))
            // Pictures are packed already, and sound hardly packs.
            .compression(None)
            .chunk_size(Some(CHUNK_BYTES));
        let writer = options.create(Cursor::new(Vec::new()))?;
        Ok(Self { writer, sequences: BTreeMap::new(), span: None })
    }

    /// Takes over the messages of a file that `keeps` says yes to; declarations before `from` count from there on.
    pub(super) fn take(
        &mut self,
        file: &[u8],
        from: Timestamp,
        keeps: impl Fn(Timestamp) -> bool,
    ) -> McapResult<()> {
        for message in MessageStream::new(file)? {
            let message = message?;
            let at = Timestamp::from_nanos(i64::try_from(message.log_time).unwrap_or(i64::MAX));
            let schema = message.channel.schema.as_ref();
            let declares = schema.is_some_and(|one| DECLARATIONS.contains(&one.name.as_str()));
            if declares {
                self.put(&message, at.max(from))?;
            } else if keeps(at) {
                self.put(&message, at)?;
                let end = Timestamp::from_nanos(at.as_nanos().saturating_add(1));
                let span = self.span.get_or_insert(Span::new(at, end));
                *span = Span::new(span.start.min(at), span.end.max(end));
            }
        }
        Ok(())
    }

    fn put(&mut self, message: &Message<'_>, at: Timestamp) -> McapResult<()> {
        let channel = &message.channel;
        let schema = match &channel.schema {
            Some(one) => self.writer.add_schema(&one.name, &one.encoding, &one.data)?,
            None => 0,
        };
        let channel_id = self.writer.add_channel(
            schema,
            &channel.topic,
            &channel.message_encoding,
            &channel.metadata,
        )?;
        let next = self.sequences.entry(channel_id).or_default();
        let sequence = *next;
        *next = next.wrapping_add(1);
        let nanos = u64::try_from(at.as_nanos()).unwrap_or(0);
        let header = MessageHeader { channel_id, sequence, log_time: nanos, publish_time: nanos };
        self.writer.write_to_known_channel(&header, &message.data)
    }

    /// What it covers, and the file; `None`: nothing was taken over.
    pub(super) fn finish(mut self) -> McapResult<Option<(Span, Vec<u8>)>> {
        self.writer.finish()?;
        let file = self.writer.into_inner().into_inner();
        Ok(self.span.map(|span| (span, file)))
    }
}
