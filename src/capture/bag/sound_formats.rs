//! How the sound of a bag's topics is coded: the message tells, or an `AudioInfo` beside it, or the bytes.

use std::sync::Arc;

use super::connection::{Connection, Container, Found};
use super::decode::field::Refused;
use super::decode::message::{Decoded, SoundCoding};
use super::decode::role::{Kind, Role};
use crate::capture::audio::sound::{Sample, SoundFormat};
use crate::capture::error::CaptureError;
use crate::config::{SampleForm, TopicSound};

/// AudioInfo messages are latched at the beginning; after this many other messages they are no longer looked for.
const LOOKED_THROUGH: usize = 2_000;

/// How topics of sound are coded, as far as their own messages do not tell it.
#[derive(Clone, Debug, Default)]
pub(in crate::capture::bag) struct SoundFormats {
    /// What the AudioInfo messages say, by their topic.
    told: Vec<(Arc<str>, Result<SoundCoding, String>)>,
    /// What the user says, by the topic of the sound.
    said: Vec<(String, Result<SoundCoding, String>)>,
}

/// What the user says of a topic's sound.
fn format_of(sound: &TopicSound) -> SoundFormat {
    let sample = match sound.sample {
        SampleForm::U8 => Sample::U8,
        SampleForm::S16Le => Sample::S16Le,
        SampleForm::S24Le => Sample::S24Le,
        SampleForm::S32Le => Sample::S32Le,
        SampleForm::F32Le => Sample::F32Le,
    };
    SoundFormat { rate: sound.rate, channels: sound.channels, sample }
}

impl SoundFormats {
    /// Reads the AudioInfo topics, if there are any.
    pub(in crate::capture::bag) fn of_bag(bag: &dyn Container) -> Result<Self, CaptureError> {
        let tells = |connection: &Connection| connection.role == Some(Role::AudioInfo);
        let mut expected: Vec<_> = bag.connections();
        expected.retain(|connection| tells(connection));
        expected.sort_by(|a, b| a.topic.cmp(&b.topic));
        expected.dedup_by(|a, b| a.topic == b.topic);
        let mut formats = Self::default();
        if expected.is_empty() {
            return Ok(formats);
        }
        let is_sound = |connection: &Connection| {
            connection.role.and_then(Role::kind) == Some(Kind::Microphone)
        };
        let mut reader = bag.reader(&|connection| tells(connection) || is_sound(connection))?;
        for _ in 0..LOOKED_THROUGH {
            let Some(found) = reader.next() else { break };
            let Found::Message(message) = found else { continue };
            let topic = &message.connection.topic;
            if !tells(&message.connection) || formats.told.iter().any(|(told, _)| told == topic) {
                continue;
            }
            let coding = match message.connection.decode(&message.data) {
                Some(Ok(Decoded::SoundInfo(coding))) => Ok(coding),
                Some(Err(Refused::Malformed(why) | Refused::Undecodable(why))) => {
                    Err(format!("{topic}: {why}"))
                }
                _ => continue,
            };
            formats.told.push((Arc::clone(topic), coding));
            if formats.told.len() == expected.len() {
                break;
            }
        }
        Ok(formats)
    }

    /// The same, and what the user says.
    pub(in crate::capture::bag) fn with(&self, sound: &[TopicSound]) -> Self {
        let said = |one: &TopicSound| (one.topic.clone(), Ok(SoundCoding::Pcm(format_of(one))));
        Self { told: self.told.clone(), said: sound.iter().map(said).collect() }
    }

    /// What the user says of an audio topic, else the AudioInfo beside it, else the only one there is.
    fn told(&self, topic: &str) -> Option<&Result<SoundCoding, String>> {
        if let Some((_, coding)) = self.said.iter().find(|(said, _)| said == topic) {
            return Some(coding);
        }
        let folder =
            |topic: &str| topic.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let beside = self.told.iter().find(|(told, _)| folder(told) == folder(topic));
        match (beside, self.told.as_slice()) {
            (Some((_, coding)), _) | (None, [(_, coding)]) => Some(coding),
            _ => None,
        }
    }

    /// The coding of an audio topic: what the user or an AudioInfo says, else what its first bytes look like; an error when that
    /// cannot be decoded.
    pub(in crate::capture::bag) fn of_topic(
        &self,
        topic: &str,
        begin: &[u8],
    ) -> Result<SoundCoding, String> {
        match self.told(topic) {
            Some(coding) => coding.clone(),
            None if looks_like_mp3(begin) => Ok(SoundCoding::Mp3),
            None => Ok(SoundCoding::Pcm(SoundFormat::default())),
        }
    }

    /// The format that is taken for an audio topic's where nothing says it; `None`: something does.
    pub(in crate::capture::bag) fn assumed(
        &self,
        topic: &str,
        begin: &[u8],
    ) -> Option<SoundFormat> {
        (self.told(topic).is_none() && !looks_like_mp3(begin)).then(SoundFormat::default)
    }

    /// How long a message's sound lasts, where that can be told without decoding it; else 0.
    pub(in crate::capture::bag) fn secs(
        &self,
        topic: &str,
        told: Option<&SoundCoding>,
        bytes: &[u8],
    ) -> f64 {
        let coding = told.map_or_else(|| self.of_topic(topic, bytes), |told| Ok(told.clone()));
        if let Ok(SoundCoding::Pcm(format)) = coding { format.secs(bytes.len()) } else { 0.0 }
    }
}

/// Whether bytes begin with an ID3 tag or two MPEG audio frames, one right behind the other.
fn looks_like_mp3(bytes: &[u8]) -> bool {
    let next = |at: usize| bytes.get(at..).and_then(frame_bytes);
    bytes.starts_with(b"ID3")
        || next(0).is_some_and(|length| length == bytes.len() || next(length).is_some())
}

/// Length of the MPEG-1/2 layer 3 frame that begins here (ISO/IEC 11172-3, 2.4.2.3).
fn frame_bytes(bytes: &[u8]) -> Option<usize> {
    const KBPS_1: [usize; 15] = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
    const KBPS_2: [usize; 15] = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
    let [sync, version, sizes, _] = *bytes.first_chunk::<4>()?;
    // 11 bits of sync, layer 3 (01).
    if sync != 0xff || version & 0xe6 != 0xe2 {
        return None;
    }
    let rates = [44_100, 48_000, 32_000];
    let (rate, table, samples) = match version >> 3 & 3 {
        3 => (1, KBPS_1, 144_000),
        2 => (2, KBPS_2, 72_000),
        0 => (4, KBPS_2, 72_000),
        _ => return None,
    };
    let rate = rates.get(usize::from(sizes >> 2 & 3))? / rate;
    let kbps = table.get(usize::from(sizes >> 4)).filter(|kbps| **kbps > 0)?;
    Some(samples * kbps / rate + usize::from(sizes >> 1 & 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mp3_is_told_from_samples() {
        // MPEG-1 layer 3, 128 kbit/s, 44.1 kHz: 417 bytes.
        let mut two = vec![0; 417 * 2];
        for at in [0, 417] {
            two[at..at + 3].copy_from_slice(&[0xff, 0xfb, 0x90]);
        }
        assert!(looks_like_mp3(&two));
        assert!(looks_like_mp3(&two[..417]));
        assert!(looks_like_mp3(&two[..500]));
        two[417] = 0;
        assert!(!looks_like_mp3(&two[..500]), "nothing begins behind the first");
        assert!(!looks_like_mp3(&[0xff, 0xfb, 0x90, 0, 1, 2, 3]));
        assert!(!looks_like_mp3(&[0; 3200]));
        assert!(!looks_like_mp3(&[]));
    }
}
