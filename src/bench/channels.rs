//! Clean speech as other rooms, other microphones and lines deliver it: the same from the same seed.
//!
//! - **far**: a room by the image method (Allen and Berkley 1979): a shoebox of 4–8 x 3–6 x 2.5–3 m, T60 0.3–0.6 s
//!   (Sabine), the microphone 2–4 m away.
//! - **noise**: pink noise at 5–20 dB below the speech, as noise is added in augmenting (Snyder et al. 2018), there from
//!   recordings.
//! - **far and noisy**: both, the noise at 12 dB.
//! - **telephone**: 300–3400 Hz, 8 kHz, G.711 (mu-law, ITU-T G.711).
//!
//! Made from clean speech, they are easier than another day's microphone: only real recordings tell that.

use realfft::RealFftPlanner;
use serde::Serialize;

use super::random::SplitMix64;
use crate::media::SAMPLE_RATE;

/// m/s.
const SOUND_SPEED: f64 = 343.0;
/// Noise of [`Channel::FarNoisy`] lies so far below the speech, dB.
const FAR_NOISE_DB: f64 = 12.0;

/// A way from the mouth to the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// As recorded.
    Clean,
    /// From across a room.
    Far,
    /// Beside noise.
    Noisy,
    /// From across a room, beside noise.
    FarNoisy,
    /// Over a telephone.
    Telephone,
}

impl Channel {
    /// All, the clean one first.
    pub const ALL: [Self; 5] =
        [Self::Clean, Self::Far, Self::Noisy, Self::FarNoisy, Self::Telephone];

    /// Its name in tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Far => "far",
            Self::Noisy => "noisy",
            Self::FarNoisy => "far_noisy",
            Self::Telephone => "telephone",
        }
    }

    /// The sound (16 kHz mono) after the channel: as long, as loud.
    #[must_use]
    pub fn apply(self, sound: &[f32], seed: u64) -> Vec<f32> {
        // Each channel draws numbers of its own.
        let mut random = SplitMix64::new(seed ^ ((self as u64 + 1) << 48));
        let heard = match self {
            Self::Clean => sound.to_vec(),
            Self::Far => reverberated(sound, &mut random),
            Self::Noisy => {
                let below = 5.0 + 15.0 * random.unit();
                noisy(sound, below, &mut random)
            }
            Self::FarNoisy => {
                let far = reverberated(sound, &mut random);
                noisy(&far, FAR_NOISE_DB, &mut random)
            }
            Self::Telephone => telephone(sound),
        };
        as_loud(heard, sound)
    }
}

fn power(sound: &[f32]) -> f64 {
    let sum: f64 = sound.iter().map(|v| f64::from(*v) * f64::from(*v)).sum();
    sum / sound.len().max(1) as f64
}

fn as_loud(mut heard: Vec<f32>, sound: &[f32]) -> Vec<f32> {
    let gain = (power(sound) / power(&heard).max(1e-20)).sqrt() as f32;
    heard.iter_mut().for_each(|v| *v *= gain);
    heard
}

/// The sound in a room drawn by `random`; the direct sound is not delayed.
fn reverberated(sound: &[f32], random: &mut SplitMix64) -> Vec<f32> {
    let mut between = |low: f64, high: f64| low + (high - low) * random.unit();
    let room = [between(4.0, 8.0), between(3.0, 6.0), between(2.5, 3.0)];
    let t60 = between(0.3, 0.6);
    let distance = between(2.0, 4.0);
    // Inside, at least 0.3 m from every wall; the mouth at random, the microphone in a drawn direction from it.
    let inside = |place: &[f64; 3]| {
        place.iter().zip(&room).all(|(at, side)| (0.3..=side - 0.3).contains(at))
    };
    let (mut mouth, mut microphone) = ([0.5, 0.5, 1.2], [2.5, 0.5, 1.2]);
    for _ in 0..1000 {
        let from = [between(0.3, room[0] - 0.3), between(0.3, room[1] - 0.3), between(1.0, 1.8)];
        let away = [between(-1.0, 1.0), between(-1.0, 1.0), between(-0.2, 0.2)];
        let length = away.iter().map(|v| v * v).sum::<f64>().sqrt().max(1e-6);
        let [x, y, z] = away.map(|v| v * distance / length);
        let to = [from[0] + x, from[1] + y, from[2] + z];
        if inside(&from) && inside(&to) {
            (mouth, microphone) = (from, to);
            break;
        }
    }
    convolved(sound, &impulse_response(room, mouth, microphone, t60))
}

/// The response of a shoebox room by the image method, from the direct sound on, `t60` seconds long. Metres.
fn impulse_response(room: [f64; 3], mouth: [f64; 3], microphone: [f64; 3], t60: f64) -> Vec<f32> {
    let rate = f64::from(SAMPLE_RATE);
    let volume = room[0] * room[1] * room[2];
    let surface = 2.0 * (room[0] * room[1] + room[1] * room[2] + room[0] * room[2]);
    let absorbed = (0.161 * volume / (surface * t60)).clamp(0.01, 0.99);
    let reflected = (1.0 - absorbed).sqrt();
    let length = (t60 * rate) as usize;
    let mut response = vec![0.0_f64; length];
    let apart = |a: &[f64; 3], b: &[f64; 3]| {
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    let first = (apart(&mouth, &microphone) / SOUND_SPEED * rate).round() as usize;
    let reach = t60 * SOUND_SPEED + apart(&mouth, &microphone);
    // Along one axis: where the images are, and how often each was reflected.
    let images = |axis: usize| -> Vec<(f64, i32)> {
        let count = (reach / (2.0 * room[axis])).ceil() as i32;
        (-count..=count)
            .flat_map(|n| {
                let shift = 2.0 * f64::from(n) * room[axis];
                [(shift + mouth[axis], 2 * n.abs()), (shift - mouth[axis], (2 * n - 1).abs())]
            })
            .map(|(at, walls)| (at - microphone[axis], walls))
            .collect()
    };
    let (along, across, up) = (images(0), images(1), images(2));
    for (x, walls_x) in &along {
        for (y, walls_y) in &across {
            for (z, walls_z) in &up {
                let distance = (x * x + y * y + z * z).sqrt().max(0.1);
                let at = (distance / SOUND_SPEED * rate).round() as usize;
                if let Some(sum) = at.checked_sub(first).and_then(|at| response.get_mut(at)) {
                    *sum += reflected.powi(walls_x + walls_y + walls_z) / distance;
                }
            }
        }
    }
    response.into_iter().map(|v| v as f32).collect()
}

/// As long as `sound`.
fn convolved(sound: &[f32], response: &[f32]) -> Vec<f32> {
    let length = (sound.len() + response.len()).next_power_of_two();
    let other = spectrum_of(response, length);
    let mut own = spectrum_of(sound, length);
    own.iter_mut().zip(&other).for_each(|(a, b)| *a *= *b);
    let mut heard = sound_of(own, length);
    heard.truncate(sound.len());
    heard
}

type Bins = Vec<realfft::num_complex::Complex<f32>>;

fn spectrum_of(sound: &[f32], length: usize) -> Bins {
    let transform = RealFftPlanner::<f32>::new().plan_fft_forward(length);
    let mut padded = sound.to_vec();
    padded.resize(length, 0.0);
    let mut bins = transform.make_output_vec();
    // The lengths are the planner's own.
    let _ = transform.process(&mut padded, &mut bins);
    bins
}

fn sound_of(mut bins: Bins, length: usize) -> Vec<f32> {
    let transform = RealFftPlanner::<f32>::new().plan_fft_inverse(length);
    let mut sound = transform.make_output_vec();
    if let Some(first) = bins.first_mut() {
        first.im = 0.0;
    }
    if let Some(last) = bins.last_mut() {
        last.im = 0.0;
    }
    let _ = transform.process(&mut bins, &mut sound);
    let scale = 1.0 / length as f32;
    sound.iter_mut().for_each(|v| *v *= scale);
    sound
}

/// The sound with pink noise `below_db` below it.
fn noisy(sound: &[f32], below_db: f64, random: &mut SplitMix64) -> Vec<f32> {
    let length = sound.len().next_power_of_two().max(2);
    let white: Vec<f32> = (0..length).map(|_| random.gaussian()).collect();
    let mut bins = spectrum_of(&white, length);
    // Power falls as 1 / f; below 20 Hz nothing.
    let lowest = (20 * length).div_ceil(SAMPLE_RATE as usize).max(1);
    for (n, bin) in bins.iter_mut().enumerate() {
        *bin *= if n < lowest { 0.0 } else { 1.0 / (n as f32).sqrt() };
    }
    let mut noise = sound_of(bins, length);
    noise.truncate(sound.len());
    let wanted = power(sound) * 10.0_f64.powf(-below_db / 10.0);
    let gain = (wanted / power(&noise).max(1e-20)).sqrt() as f32;
    sound.iter().zip(&noise).map(|(v, n)| v + gain * n).collect()
}

/// The telephone's band at 8 kHz, through G.711's mu-law and back.
fn telephone(sound: &[f32]) -> Vec<f32> {
    let band = |sound: &[f32], low: f64, high: f64| {
        let length = sound.len().next_power_of_two().max(2);
        let mut bins = spectrum_of(sound, length);
        for (n, bin) in bins.iter_mut().enumerate() {
            let hertz = n as f64 * f64::from(SAMPLE_RATE) / length as f64;
            if !(low..=high).contains(&hertz) {
                *bin *= 0.0;
            }
        }
        let mut passed = sound_of(bins, length);
        passed.truncate(sound.len());
        passed
    };
    let narrow = band(sound, 300.0, 3400.0);
    let peak = narrow.iter().fold(1e-6_f32, |most, v| most.max(v.abs()));
    let coded: Vec<f32> = narrow
        .iter()
        .enumerate()
        .map(|(n, v)| if n % 2 == 0 { 2.0 * peak * mu_law(v / peak) } else { 0.0 })
        .collect();
    band(&coded, 0.0, 3999.0)
}

/// A sample of -1..1 as the eight bits of mu-law keep it.
fn mu_law(value: f32) -> f32 {
    const MU: f32 = 255.0;
    let coded = (1.0 + MU * value.abs().min(1.0)).ln() / (1.0 + MU).ln();
    let kept = (coded * 127.0).round() / 127.0;
    value.signum() * ((1.0 + MU).powf(kept) - 1.0) / MU
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(hertz: f64, secs: f64) -> Vec<f32> {
        let turn = std::f64::consts::TAU * hertz / f64::from(SAMPLE_RATE);
        (0..(secs * f64::from(SAMPLE_RATE)) as usize)
            .map(|n| (0.1 * (turn * n as f64).sin()) as f32)
            .collect()
    }

    fn decibels(of: f64, to: f64) -> f64 {
        10.0 * (of / to).log10()
    }

    #[test]
    fn channels_keep_length_and_loudness_and_are_the_same_every_time() {
        let sound = tone(440.0, 1.0);
        for channel in Channel::ALL {
            let heard = channel.apply(&sound, 7);
            assert_eq!(heard.len(), sound.len(), "{channel:?}");
            assert!(decibels(power(&heard), power(&sound)).abs() < 0.1, "{channel:?}");
            assert_eq!(heard, channel.apply(&sound, 7), "{channel:?}");
            let other = channel.apply(&sound, 8);
            let drawn = !matches!(channel, Channel::Clean | Channel::Telephone);
            assert_eq!(heard != other, drawn, "{channel:?}");
        }
    }

    #[test]
    fn a_room_goes_on_for_as_long_as_it_says() {
        let (room, mouth, microphone) = ([5.0, 4.0, 2.7], [1.0, 1.0, 1.5], [3.5, 2.0, 1.2]);
        for t60 in [0.3, 0.6] {
            let response = impulse_response(room, mouth, microphone, t60);
            assert!(response[0] > 0.2, "the direct sound comes first: {}", response[0]);
            // Schroeder's integral falls by 20 dB within a third of the time of 60, were the sound diffuse; between
            // walls as alike as these it falls slower than the formula says.
            let left = |from: usize| power(&response[from..]) * (response.len() - from) as f64;
            let fallen = -decibels(left(response.len() / 3), left(0));
            assert!((10.0..30.0).contains(&fallen), "{t60}: {fallen}");
        }
    }

    #[test]
    fn noise_lies_as_far_below_as_was_asked() {
        let sound = tone(440.0, 2.0);
        let heard = noisy(&sound, 10.0, &mut SplitMix64::new(1));
        let added: Vec<f32> = heard.iter().zip(&sound).map(|(h, s)| h - s).collect();
        assert!((decibels(power(&sound), power(&added)) - 10.0).abs() < 0.1);
    }

    #[test]
    fn a_telephone_passes_its_band_alone() {
        for (hertz, passes) in [(100.0, false), (1000.0, true), (3000.0, true), (5000.0, false)] {
            let sound = tone(hertz, 1.0);
            let both: Vec<f32> = sound.iter().zip(tone(1500.0, 1.0)).map(|(a, b)| a + b).collect();
            let heard = telephone(&both);
            // what is left at the frequency
            let turn = std::f64::consts::TAU * hertz / f64::from(SAMPLE_RATE);
            let (re, im) = heard.iter().enumerate().fold((0.0, 0.0), |(re, im), (n, v)| {
                let (sin, cos) = (turn * n as f64).sin_cos();
                (re + f64::from(*v) * cos, im + f64::from(*v) * sin)
            });
            let left = 2.0 * (re * re + im * im).sqrt() / heard.len() as f64;
            assert_eq!(left > 0.05, passes, "{hertz}: {left}");
        }
        for value in [0.0, 0.001, 0.02, 0.3, 1.0] {
            assert!((mu_law(value) - value).abs() <= 0.025 * value + 0.001, "{value}");
            assert_eq!(mu_law(-value), -mu_law(value));
        }
    }
}
