//! Several channels → one, so that whoever speaks is heard whatever the channels are.
//!
//! The mean of the channels is right where all hear the same. Where it loses most of what the loudest of them hears (the
//! others are silent, or of opposite phase), that channel alone is taken, until the mean does not lose it any more.

/// What is chosen is looked at again after so many samples of a channel.
const LOOK_SAMPLES: usize = 1_600;
/// What was heard counts for half after so many looks.
const HALF_LOOKS: f32 = 5.0;
/// The mean is left when it has less than this of the loudest channel's energy: -10 dB …
const LEAVE: f32 = 0.1;
/// … and taken again when it has more than this: -7 dB.
const COME_BACK: f32 = 0.2;
/// What has less energy than this for a sample (-60 dB of full scale) is no reason to choose anew.
const QUIET: f32 = 1e-6;

/// One microphone's channels on their way into one. What comes out depends on the samples alone, however they are cut
/// into runs.
#[derive(Clone, Debug)]
pub(in crate::capture) struct Downmix {
    channels: usize,
    /// Energies of the channels, and that of their mean last; older ones count less.
    energies: Vec<f32>,
    /// The same since the last look.
    now: Vec<f32>,
    looked: usize,
    /// The channel that is taken; `None`: the mean.
    chosen: Option<usize>,
    /// That of the look before: over the first samples one goes into the other.
    before: Option<usize>,
}

impl Downmix {
    /// For so many interleaved channels.
    pub(in crate::capture) fn new(channels: usize) -> Self {
        let channels = channels.max(1);
        let energies = vec![0.0; channels + 1];
        let now = energies.clone();
        Self { channels, energies, now, looked: 0, chosen: None, before: None }
    }

    /// How many channels it takes.
    pub(in crate::capture) fn channels(&self) -> usize {
        self.channels
    }

    /// One sample of each channel, [-1, 1], → one.
    pub(in crate::capture) fn mix(&mut self, samples: &[f32]) -> f32 {
        if self.channels == 1 {
            return samples.first().copied().unwrap_or(0.0);
        }
        let mean = samples.iter().sum::<f32>() / self.channels as f32;
        for (energy, sample) in self.now.iter_mut().zip(samples.iter().chain([&mean])) {
            *energy += sample * sample;
        }
        let of = |chosen: Option<usize>| {
            chosen.and_then(|channel| samples.get(channel)).copied().unwrap_or(mean)
        };
        let mixed = if self.chosen == self.before {
            of(self.chosen)
        } else {
            let share = self.looked as f32 / LOOK_SAMPLES as f32;
            of(self.before) * (1.0 - share) + of(self.chosen) * share
        };
        self.looked += 1;
        if self.looked == LOOK_SAMPLES {
            self.look();
        }
        mixed
    }

    fn look(&mut self) {
        self.looked = 0;
        self.before = self.chosen;
        let kept = (-1.0 / HALF_LOOKS).exp2();
        for (energy, now) in self.energies.iter_mut().zip(&mut self.now) {
            *energy = *energy * kept + std::mem::take(now);
        }
        let Some((mean, channels)) = self.energies.split_last() else { return };
        let loudest = channels.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        let Some((loudest, energy)) = loudest else { return };
        if *energy < QUIET * LOOK_SAMPLES as f32 {
            return;
        }
        let least = if self.chosen.is_some() { COME_BACK } else { LEAVE };
        self.chosen = match self.chosen {
            _ if *mean >= least * *energy => None,
            // Another one must be twice as loud.
            Some(own) if channels.get(own).is_some_and(|own| *energy < 2.0 * own) => Some(own),
            _ => Some(loudest),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(n: usize) -> f32 {
        (n as f32 * 0.2).sin() * 0.3
    }

    /// How loud it is after the first second, against the tone: 1 is as loud.
    fn heard(channels: usize, samples: impl Fn(usize, usize) -> f32) -> f32 {
        let mut mix = Downmix::new(channels);
        let all: Vec<f32> = (0..48_000)
            .map(|n| mix.mix(&(0..channels).map(|c| samples(n, c)).collect::<Vec<_>>()))
            .collect();
        let energy =
            |of: &dyn Fn(usize) -> f32| (16_000..48_000).map(of).map(|s| s * s).sum::<f32>();
        (energy(&|n| all[n]) / energy(&tone)).sqrt()
    }

    #[test]
    fn whoever_speaks_is_heard_on_whatever_channel() {
        let near = |value: f32, other: f32| (value - other).abs() < 0.02;
        assert!(near(heard(1, |n, _| tone(n)), 1.0));
        assert!(near(heard(2, |n, _| tone(n)), 1.0));
        assert!(near(heard(2, |n, c| if c == 0 { tone(n) } else { 0.0 }), 0.5), "as it always was");
        assert!(near(heard(2, |n, c| if c == 0 { tone(n) } else { -tone(n) }), 1.0));
        for speaking in 0..4 {
            assert!(near(heard(4, |n, c| if c == speaking { tone(n) } else { 0.0 }), 1.0));
        }
        assert!(near(heard(6, |n, c| if c == 2 { tone(n) } else { 0.001 }), 1.0));
        assert!(near(heard(4, |n, _| tone(n)), 1.0));
        assert!(near(heard(3, |_, _| 0.0), 0.0));
    }

    #[test]
    fn a_change_of_channel_makes_no_click_and_the_cut_into_runs_no_difference() {
        let mut mix = Downmix::new(2);
        let mut last = 0.0;
        for n in 0..64_000 {
            let second = if n < 32_000 { tone(n) } else { -tone(n) };
            let mixed = mix.mix(&[tone(n), second]);
            // What the mean jumps by when the phase turns is the sound's own; nothing else may be as steep.
            assert!(n == 32_000 || (mixed - last).abs() < 0.07, "{n}: {last} {mixed}");
            last = mixed;
        }
    }
}
