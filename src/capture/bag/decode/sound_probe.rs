//! Sound of which nothing says how it is coded is taken for what `audio_common` records by itself. How fast its bytes
//! come shows whether that can be.

use std::fmt;

use crate::capture::audio::sound::SoundFormat;
use crate::time::Timestamp;

/// It is judged by so many seconds of it.
const LONG_ENOUGH_SECS: f64 = 5.0;
/// What comes by so much more or less than should is no jitter.
const MOST_OFF: f64 = 0.3;
/// Nothing for longer than this is a pause: what came before it does not count.
const PAUSE_SECS: f64 = 2.0;
/// Rates and numbers of channels that microphones have; the likelier of two of as many bytes comes first.
const USUAL: [(u32, u16); 9] = [
    (8_000, 1),
    (16_000, 2),
    (22_050, 1),
    (32_000, 1),
    (44_100, 1),
    (48_000, 1),
    (44_100, 2),
    (48_000, 2),
    (16_000, 6),
];
/// As far from one of [`USUAL`] it may be that.
const MOST_OFF_USUAL: f64 = 0.1;

/// A topic's sound, until it is judged.
#[derive(Debug)]
pub(in crate::capture::bag) struct SoundProbe {
    format: SoundFormat,
    run: Option<Run>,
    judged: bool,
}

/// Pieces of sound without a pause between them.
#[derive(Debug)]
struct Run {
    /// Times of the first and the last piece.
    first: Timestamp,
    last: Timestamp,
    /// Bytes before the last piece, and of it.
    before: usize,
    piece: usize,
}

/// It can't be coded as it is taken to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::capture::bag) struct Contradiction {
    /// How fast its bytes come.
    pub(in crate::capture::bag) bytes_per_sec: f64,
    /// How fast they should.
    pub(in crate::capture::bag) expected: f64,
    /// Samples per second and channels of 16 bits that would be as many bytes.
    pub(in crate::capture::bag) likely: Option<(u32, u16)>,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes_per_sec, expected, likely } = self;
        write!(
            f,
            "nothing says how this sound is coded; it is taken for 16 bits, 16 kHz, mono, which is {expected:.0} bytes a \
             second, but {bytes_per_sec:.0} come"
        )?;
        let Some((rate, channels)) = likely else { return Ok(()) };
        write!(f, ", as 16 bits at {rate} Hz on {channels} channel(s) would")
    }
}

impl SoundProbe {
    /// Of a topic that is taken to be coded so.
    pub(in crate::capture::bag) fn new(format: SoundFormat) -> Self {
        Self { format, run: None, judged: false }
    }

    /// Counts a piece of so many bytes; once, when enough has come, what is wrong.
    pub(in crate::capture::bag) fn take(
        &mut self,
        at: Timestamp,
        bytes: usize,
    ) -> Option<Contradiction> {
        if self.judged {
            return None;
        }
        let goes_on = self.run.as_ref().is_some_and(|run| {
            let most = PAUSE_SECS.max(2.0 * self.format.secs(run.piece));
            (0.0..=most).contains(&at.secs_since(run.last))
        });
        let Some(run) = self.run.as_mut().filter(|_| goes_on) else {
            self.run = Some(Run { first: at, last: at, before: 0, piece: bytes });
            return None;
        };
        run.before += run.piece;
        (run.last, run.piece) = (at, bytes);
        let secs = at.secs_since(run.first);
        if secs < LONG_ENOUGH_SECS {
            return None;
        }
        self.judged = true;
        let bytes_per_sec = run.before as f64 / secs;
        let SoundFormat { rate, channels, sample } = &self.format;
        let expected = f64::from(*rate) * f64::from(*channels) * sample.bytes() as f64;
        let off = |expected: f64| (bytes_per_sec / expected - 1.0).abs();
        if off(expected) <= MOST_OFF {
            return None;
        }
        let off_usual =
            |(rate, channels): &(u32, u16)| off(2.0 * f64::from(*rate) * f64::from(*channels));
        let nearest = USUAL.into_iter().min_by(|a, b| off_usual(a).total_cmp(&off_usual(b)));
        let likely = nearest.filter(|usual| off_usual(usual) < MOST_OFF_USUAL);
        Some(Contradiction { bytes_per_sec, expected, likely })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// What is said of pieces that came at these times, seconds.
    fn said(pieces: impl IntoIterator<Item = (f64, usize)>) -> Vec<Contradiction> {
        let mut assumed = SoundProbe::new(SoundFormat::default());
        let take = |(at, bytes)| assumed.take(Timestamp::EPOCH.plus_secs(at), bytes);
        pieces.into_iter().filter_map(take).collect()
    }

    /// So many seconds of sound of so many bytes a second, in pieces of 100 ms.
    fn steady(secs: u32, bytes_per_sec: usize) -> impl Iterator<Item = (f64, usize)> {
        (0..secs * 10).map(move |n| (f64::from(n) * 0.1, bytes_per_sec / 10))
    }

    #[test]
    fn sound_that_comes_far_too_fast_or_slowly_is_doubted_once() {
        for (bytes_per_sec, likely) in [
            (176_400, Some((44_100, 2))),
            (96_000, Some((48_000, 1))),
            (64_000, Some((16_000, 2))),
            (16_000, Some((8_000, 1))),
            (1_000_000, None),
        ] {
            let said = said(steady(30, bytes_per_sec));
            let [Contradiction { likely: found, expected, .. }] = said.as_slice() else {
                panic!("{bytes_per_sec}: {said:?}")
            };
            assert_eq!((*found, *expected), (likely, 32_000.0), "{bytes_per_sec}");
        }
        let text = said(steady(6, 176_400))[0].to_string();
        assert!(text.contains("which is 32000 bytes a second, but 176400 come"), "{text}");
        assert!(text.ends_with("as 16 bits at 44100 Hz on 2 channel(s) would"), "{text}");
    }

    #[test]
    fn what_can_be_is_not_doubted() {
        let is_doubted = |pieces: Vec<(f64, usize)>| !said(pieces).is_empty();
        assert!(!is_doubted(steady(30, 32_000).collect()));
        assert!(!is_doubted(steady(30, 40_000).collect()), "a quarter more is no proof");
        assert!(!is_doubted(steady(5, 176_400).collect()), "too short");
        // Somebody pushes a button to talk: a second of sound, three of nothing.
        let at = |n: u32| f64::from(n / 10 * 4) + f64::from(n % 10) * 0.1;
        assert!(!is_doubted((0..80).map(|n| (at(n), 3_200)).collect()));
        // Long pieces are no pauses, and bursts are no more bytes.
        assert!(!is_doubted((0..10_u32).map(|n| (f64::from(n) * 8.0, 8 * 32_000)).collect()));
        assert!(!is_doubted((0..300_u32).map(|n| (f64::from(n / 10), 3_200)).collect()));
    }
}
