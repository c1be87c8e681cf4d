//! How a recording's topic of sound is coded: `/mic:=S16LE,44100,2`.

use serde::{Deserialize, Serialize};

/// Form of a sample, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleForm {
    /// Unsigned 8 bits.
    U8,
    /// Signed 16 bits.
    S16Le,
    /// Signed 24 bits in 3 bytes.
    S24Le,
    /// Signed 32 bits.
    S32Le,
    /// 32-bit float, [-1, 1].
    F32Le,
}

impl SampleForm {
    /// Every form with its name, which is GStreamer's.
    const NAMED: [(&str, Self); 5] = [
        ("U8", Self::U8),
        ("S16LE", Self::S16Le),
        ("S24LE", Self::S24Le),
        ("S32LE", Self::S32Le),
        ("F32LE", Self::F32Le),
    ];

    fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, form)| *form == self).map_or("", |(name, _)| name)
    }
}

/// What a topic's sound is, in text `TOPIC:=FORMAT,RATE,CHANNELS`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TopicSound {
    /// The topic's name in the recording.
    pub topic: String,
    /// Form of its samples.
    pub sample: SampleForm,
    /// Samples per second and channel, 4000–384000.
    pub rate: u32,
    /// Interleaved channels, 1–64.
    pub channels: u16,
}

impl TopicSound {
    /// Reads `TOPIC:=FORMAT,RATE,CHANNELS`.
    ///
    /// # Errors
    /// A sentence that says how to write it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let how = || {
            format!(
                "{text:?} tells of no sound; write TOPIC:=FORMAT,RATE,CHANNELS such as \"/mic:=S16LE,44100,2\""
            )
        };
        let (topic, sound) = text.split_once(":=").ok_or_else(how)?;
        let parts: Vec<&str> = sound.split(',').map(str::trim).collect();
        let [form, rate, channels] = parts.as_slice() else { return Err(how()) };
        if topic.is_empty() {
            return Err(how());
        }
        let named = SampleForm::NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(form));
        let Some((_, sample)) = named else {
            let names = SampleForm::NAMED.map(|(name, _)| name).join(", ");
            return Err(format!("in {text:?}, {form:?} is none of the formats {names}"));
        };
        let rate = rate.parse::<u32>().ok().filter(|rate| (4_000..=384_000).contains(rate));
        let Some(rate) = rate else {
            return Err(format!("in {text:?}, the rate must be 4000–384000 (Hz)"));
        };
        let channels = channels.parse::<u16>().ok().filter(|channels| (1..=64).contains(channels));
        let Some(channels) = channels else {
            return Err(format!("in {text:?}, the number of channels must be 1–64"));
        };
        Ok(Self { topic: topic.to_owned(), sample: *sample, rate, channels })
    }
}

impl TryFrom<String> for TopicSound {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<TopicSound> for String {
    fn from(sound: TopicSound) -> Self {
        let TopicSound { topic, sample, rate, channels } = sound;
        format!("{topic}:={},{rate},{channels}", sample.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_says_what_is_wrong() {
        let topic = "/mic".to_owned();
        let sound = TopicSound { topic, sample: SampleForm::S16Le, rate: 44_100, channels: 2 };
        assert_eq!(String::from(sound.clone()), "/mic:=S16LE,44100,2");
        assert_eq!(TopicSound::parse("/mic:=s16le, 44100, 2"), Ok(sound));
        for (text, says) in [
            ("/mic", "tells of no sound; write TOPIC:=FORMAT,RATE,CHANNELS"),
            ("/mic:=S16LE", "tells of no sound"),
            (":=S16LE,44100,2", "tells of no sound"),
            ("/mic:=MP3,44100,2", "\"MP3\" is none of the formats U8, S16LE, S24LE, S32LE, F32LE"),
            ("/mic:=S16LE,44,2", "the rate must be 4000–384000 (Hz)"),
            ("/mic:=S16LE,44100,0", "the number of channels must be 1–64"),
            ("/mic:=S16LE,44100,two", "the number of channels must be 1–64"),
        ] {
            let error = TopicSound::parse(text).err().unwrap_or_default();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
