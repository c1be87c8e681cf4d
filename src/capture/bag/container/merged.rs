//! Several readers as one. What is left out is read beside them, to see whether anything is lost with it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::capture::bag::connection::{BagReader, Found, Message};
use crate::capture::damage::Cause;
use crate::time::Timestamp;

/// Several readers' messages in log-time order (ties: as the readers come).
pub(in crate::capture::bag) struct Merged {
    flaws: VecDeque<(Cause, String)>,
    inputs: Vec<Input>,
    latest: Latest,
}

struct Input {
    reader: Box<dyn BagReader>,
    head: Option<Message>,
    /// Which file it is and why, where its messages are left out.
    left_out: Option<String>,
}

impl Input {
    fn of(reader: Box<dyn BagReader>, left_out: Option<String>) -> Self {
        Self { reader, head: None, left_out }
    }
}

impl Merged {
    /// `flaws` are told first. A message that several of `readers` have is handed out once. Of `left_out` nothing is handed out; the first message of such a reader that none of
    /// `readers` has is damage, with the words beside it.
    pub(in crate::capture::bag) fn of(
        flaws: VecDeque<(Cause, String)>,
        readers: Vec<Box<dyn BagReader>>,
        left_out: Vec<(String, Box<dyn BagReader>)>,
    ) -> Self {
        let is_kept = !left_out.is_empty() || readers.len() > 1;
        let latest = Latest { is_kept, ..Latest::default() };
        let read = readers.into_iter().map(|reader| Input::of(reader, None));
        let not_read = left_out.into_iter().map(|(why, reader)| Input::of(reader, Some(why)));
        // Behind the others: of one instant, theirs are read first.
        Self { flaws, inputs: read.chain(not_read).collect(), latest }
    }

    /// Reads on where no message waits; what a reader finds damaged is told, unless it is left out.
    fn fill(&mut self) -> Option<Found> {
        let mut index = 0;
        while let Some(input) = self.inputs.get_mut(index) {
            if input.head.is_some() {
                index += 1;
                continue;
            }
            match input.reader.next() {
                Some(Found::Message(message)) => input.head = Some(message),
                Some(damaged) if input.left_out.is_none() => return Some(damaged),
                Some(_) => {}
                None => drop(self.inputs.remove(index)),
            }
        }
        None
    }
}

impl BagReader for Merged {
    fn next(&mut self) -> Option<Found> {
        if let Some((cause, place)) = self.flaws.pop_front() {
            return Some(Found::Damaged(cause, place));
        }
        loop {
            if let Some(damaged) = self.fill() {
                return Some(damaged);
            }
            let heads = self.inputs.iter().enumerate();
            let heads = heads.filter_map(|(index, one)| Some((one.head.as_ref()?.log_time, index)));
            let (_, index) = heads.min()?;
            let input = self.inputs.get_mut(index)?;
            let message = input.head.take()?;
            match &input.left_out {
                // What several files hold is one message.
                None if self.latest.has(&message) => {}
                None => {
                    self.latest.take(&message);
                    return Some(Found::Message(message));
                }
                Some(_) if self.latest.has(&message) => {}
                Some(why) => {
                    let why =
                        format!("{} at {} in {why}", message.connection.topic, message.log_time);
                    drop(self.inputs.remove(index));
                    return Some(Found::Damaged(Cause::LeftOut, why));
                }
            }
        }
    }
}

/// What messages of one instant are told apart by: topic, length and checksum.
type Print = (Arc<str>, usize, u32);

fn print(Message { connection, data, .. }: &Message) -> Print {
    (Arc::clone(&connection.topic), data.len(), crc32fast::hash(data))
}

/// The messages of the latest instant.
#[derive(Default)]
struct Latest {
    /// Nobody asks otherwise.
    is_kept: bool,
    at: Option<Timestamp>,
    seen: BTreeSet<Print>,
}

impl Latest {
    fn take(&mut self, message: &Message) {
        if !self.is_kept {
            return;
        }
        if self.at != Some(message.log_time) {
            self.at = Some(message.log_time);
            self.seen.clear();
        }
        self.seen.insert(print(message));
    }

    fn has(&self, message: &Message) -> bool {
        self.at == Some(message.log_time) && self.seen.contains(&print(message))
    }
}
