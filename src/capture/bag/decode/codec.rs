//! Compressed streams in bags → pictures and sound with their capture times.

use std::collections::BTreeMap;

use super::message::{SoundCoding, VideoCodec};
use crate::capture::audio::downmix::Downmix;
use crate::capture::audio::sound::Resampled;
use crate::capture::gst::colour::Pictures;
use crate::capture::gst::sample::floats;
use crate::capture::gst::stream::{StreamDecoder, StreamKind, nanos};
use crate::media::Picture;
use crate::time::Timestamp;

/// A picture may come out this many packets after its own; then it is lost.
const MAX_DELAY_PACKETS: u64 = 64;
/// Distance of the packets on the decoder's own clock.
const PACKET_NANOS: u64 = 40_000_000;

/// A picture out of a stream.
pub(in crate::capture::bag) struct Shown {
    pub(in crate::capture::bag) at: Timestamp,
    pub(in crate::capture::bag) number: u64,
    pub(in crate::capture::bag) width: u32,
    pub(in crate::capture::bag) height: u32,
    pub(in crate::capture::bag) picture: Picture,
}

/// A picture on its way through the decoder.
struct Inside {
    at: Timestamp,
    number: u64,
    /// It comes in time to be shown; others are decoded because later ones build upon them.
    kept: bool,
}

/// One topic's video.
pub(in crate::capture::bag) struct VideoStream {
    codec: VideoCodec,
    decoder: Option<StreamDecoder>,
    /// Packets pushed into the decoder.
    pushed: u64,
    /// Packets whose picture is not out yet.
    pending: BTreeMap<u64, Inside>,
    /// Packets left out since the last key frame that could be used.
    without_key: u64,
    broken: Option<String>,
    pictures: Pictures,
}

impl VideoStream {
    pub(in crate::capture::bag) fn new(codec: VideoCodec) -> Self {
        Self {
            codec,
            decoder: None,
            pushed: 0,
            pending: BTreeMap::new(),
            without_key: 0,
            broken: None,
            pictures: Pictures::default(),
        }
    }

    /// Capture time of the earliest picture that is still inside and will be shown.
    pub(in crate::capture::bag) fn oldest(&self) -> Option<Timestamp> {
        self.pending.values().filter(|inside| inside.kept).map(|inside| inside.at).min()
    }

    /// Decodes the packet of frame `number`; pictures that are ready and `kept` go to `out`.
    ///
    /// # Errors
    /// What could not be decoded; the stream goes on with the next key frame.
    pub(in crate::capture::bag) fn push(
        &mut self,
        codec: VideoCodec,
        at: Timestamp,
        number: u64,
        kept: bool,
        packet: &[u8],
        out: &mut Vec<Shown>,
    ) -> Result<(), String> {
        if let Some(why) = &self.broken {
            return Err(why.clone());
        }
        if codec != self.codec {
            self.finish(out);
            self.codec = codec;
        }
        let mut lost = Vec::new();
        if self.decoder.is_none() {
            if !begins(codec, packet) {
                self.without_key += 1;
                return Ok(());
            }
            if self.without_key > 0 {
                lost.push(format!("{} packets before a key frame", self.without_key));
                self.without_key = 0;
            }
            match StreamDecoder::start(kind(codec)) {
                Ok(decoder) => self.decoder = Some(decoder),
                Err(error) => {
                    self.broken = Some(error.to_string());
                    return Err(error.to_string());
                }
            }
        }
        let Some(decoder) = &mut self.decoder else { return Ok(()) };
        self.pending.insert(self.pushed, Inside { at, number, kept });
        let mut samples = Vec::new();
        let result = decoder.push((self.pushed + 1) * PACKET_NANOS, packet, &mut samples);
        lost.extend(decoder.faults());
        self.pushed += 1;
        lost.extend(self.take(samples, out));
        let overdue = self.pushed.saturating_sub(MAX_DELAY_PACKETS);
        let kept = self.pending.split_off(&overdue);
        if !self.pending.is_empty() {
            lost.push(format!("{} packets gave no picture", self.pending.len()));
        }
        self.pending = kept;
        if let Err(why) = result {
            lost.push(why);
            self.restart();
        }
        if lost.is_empty() { Ok(()) } else { Err(lost.join("; ")) }
    }

    /// Gives out what is still inside; the number of packets that gave no picture.
    pub(in crate::capture::bag) fn finish(&mut self, out: &mut Vec<Shown>) -> u64 {
        let mut samples = Vec::new();
        if let Some(decoder) = &mut self.decoder {
            decoder.finish(&mut samples);
        }
        self.take(samples, out);
        let lost = self.pending.len() as u64 + self.without_key;
        self.without_key = 0;
        self.restart();
        lost
    }

    fn restart(&mut self) {
        self.decoder = None;
        self.pending.clear();
        self.pushed = 0;
    }

    fn take(&mut self, samples: Vec<gstreamer::Sample>, out: &mut Vec<Shown>) -> Option<String> {
        let mut lost = None;
        for sample in samples {
            let packet = nanos(&sample).and_then(|nanos| (nanos / PACKET_NANOS).checked_sub(1));
            let Some(inside) = packet.and_then(|packet| self.pending.remove(&packet)) else {
                lost.get_or_insert("a picture that belongs to no packet".to_owned());
                continue;
            };
            let Inside { at, number, kept: true } = inside else { continue };
            match self.pictures.take(&sample) {
                Ok((width, height, picture)) => {
                    out.push(Shown { at, number, width, height, picture });
                }
                Err(why) => {
                    lost.get_or_insert(why);
                }
            }
        }
        lost
    }
}

fn kind(codec: VideoCodec) -> StreamKind {
    let stream = |name, caps: &str, decoder| StreamKind {
        name,
        caps: caps.to_owned(),
        decoder,
        video: true,
    };
    // One thread: with more, libav holds pictures back and gives them out as its threads please.
    match codec {
        VideoCodec::H264 => stream(
            "H.264",
            "video/x-h264,stream-format=byte-stream,alignment=au",
            "h264parse ! avdec_h264 max-threads=1",
        ),
        VideoCodec::H265 => stream(
            "H.265",
            "video/x-h265,stream-format=byte-stream,alignment=au",
            "h265parse ! avdec_h265 max-threads=1",
        ),
        VideoCodec::Vp9 => stream("VP9", "video/x-vp9", "vp9dec threads=1"),
        VideoCodec::Av1 => {
            stream("AV1", "video/x-av1,stream-format=obu-stream,alignment=tu", "av1dec")
        }
    }
}

/// Whether decoding can begin with this packet.
fn begins(codec: VideoCodec, packet: &[u8]) -> bool {
    match codec {
        // A sequence parameter set or an instantaneous refresh.
        VideoCodec::H264 => units(packet).any(|unit| matches!(unit & 0x1f, 5 | 7)),
        // A video or sequence parameter set, or a random access point.
        VideoCodec::H265 => units(packet).any(|unit| matches!(unit >> 1 & 0x3f, 16..=21 | 32 | 33)),
        VideoCodec::Vp9 | VideoCodec::Av1 => true,
    }
}

/// The first byte of each NAL unit of an Annex B stream.
fn units(packet: &[u8]) -> impl Iterator<Item = u8> {
    packet.windows(4).filter_map(|window| match window {
        [0, 0, 1, unit] => Some(*unit),
        _ => None,
    })
}

/// One topic's sound.
pub(in crate::capture::bag) enum SoundStream {
    Pcm(Box<Resampled>),
    Compressed(Box<CompressedSound>),
}

/// What a run of sound gives: its samples at 16 kHz and the capture time of the first.
pub(in crate::capture::bag) type Heard = (Timestamp, Vec<f32>);

impl SoundStream {
    /// For sound of that coding.
    ///
    /// # Errors
    /// When it cannot be decoded here.
    pub(in crate::capture::bag) fn new(coding: &SoundCoding) -> Result<Self, String> {
        Ok(match coding {
            SoundCoding::Pcm(format) => Self::Pcm(Box::new(Resampled::new(format.clone())?)),
            compressed => {
                let decoder = StreamDecoder::start(sound_kind(compressed));
                let decoder = decoder.map_err(|error| error.to_string())?;
                Self::Compressed(Box::new(CompressedSound {
                    decoder,
                    base: None,
                    last: 0,
                    mix: None,
                }))
            }
        })
    }

    /// How long a message of so many bytes lasts; of compressed sound, which comes in short packets, nobody knows.
    pub(in crate::capture::bag) fn secs(&self, bytes: usize) -> f64 {
        match self {
            Self::Pcm(resampled) => resampled.secs(bytes),
            Self::Compressed(_) => 0.0,
        }
    }

    /// Decodes bytes whose first sample was captured at `at`.
    ///
    /// # Errors
    /// What could not be decoded.
    pub(in crate::capture::bag) fn push(
        &mut self,
        at: Timestamp,
        bytes: &[u8],
    ) -> Result<Vec<Heard>, String> {
        match self {
            Self::Pcm(resampled) => {
                let (samples, earlier_secs) = resampled.take(bytes)?;
                Ok(vec![(at.plus_secs(-earlier_secs), samples)])
            }
            Self::Compressed(sound) => sound.push(at, bytes),
        }
    }

    /// What is still inside; `end`: where the sound before it ended.
    pub(in crate::capture::bag) fn finish(&mut self, end: Timestamp) -> Vec<Heard> {
        match self {
            Self::Pcm(resampled) => {
                resampled.finish().map(|samples| vec![(end, samples)]).unwrap_or_default()
            }
            Self::Compressed(sound) => {
                let mut samples = Vec::new();
                sound.decoder.finish(&mut samples);
                sound.heard(&samples)
            }
        }
    }
}

fn sound_kind(coding: &SoundCoding) -> StreamKind {
    let stream = |name, caps: String, decoder| StreamKind { name, caps, decoder, video: false };
    match coding {
        SoundCoding::Aac => stream(
            "AAC",
            "audio/mpeg,mpegversion=4,stream-format=adts".to_owned(),
            "aacparse ! avdec_aac",
        ),
        SoundCoding::Opus(channels) => stream(
            "Opus",
            format!("audio/x-opus,channel-mapping-family=0,channels={channels},rate=48000"),
            "opusdec",
        ),
        SoundCoding::Mp3 | SoundCoding::Pcm(_) => stream(
            "MP3",
            "audio/mpeg,mpegversion=1,layer=3,parsed=false".to_owned(),
            "mpegaudioparse ! mpg123audiodec",
        ),
    }
}

/// A compressed stream of sound.
pub(in crate::capture::bag) struct CompressedSound {
    decoder: StreamDecoder,
    /// Capture time of the first packet.
    base: Option<Timestamp>,
    /// Time of the last packet on the decoder's clock: it must not go back.
    last: u64,
    mix: Option<Downmix>,
}

impl CompressedSound {
    fn push(&mut self, at: Timestamp, bytes: &[u8]) -> Result<Vec<Heard>, String> {
        let base = *self.base.get_or_insert(at);
        let since = at.as_nanos().saturating_sub(base.as_nanos());
        self.last = self.last.max(u64::try_from(since).unwrap_or(0));
        let mut samples = Vec::new();
        let result = self.decoder.push(self.last, bytes, &mut samples);
        let heard = self.heard(&samples);
        let faults = self.decoder.faults();
        if result.is_err() {
            // A decoder that gave up is replaced by a new one; what it knew of the stream is lost.
            self.decoder =
                StreamDecoder::start(self.decoder.kind().clone()).map_err(|e| e.to_string())?;
            self.base = None;
            self.last = 0;
        }
        // What was heard before the fault is not lost with it.
        match result.err().or_else(|| faults.into_iter().next()) {
            Some(why) if heard.is_empty() => Err(why),
            _ => Ok(heard),
        }
    }

    fn heard(&mut self, samples: &[gstreamer::Sample]) -> Vec<Heard> {
        let base = self.base.unwrap_or(Timestamp::EPOCH).as_nanos();
        let mix = &mut self.mix;
        samples
            .iter()
            .filter_map(|sample| {
                let nanos = i64::try_from(nanos(sample)?).ok()?;
                Some((Timestamp::from_nanos(base.saturating_add(nanos)), floats(sample, mix).ok()?))
            })
            .collect()
    }
}
