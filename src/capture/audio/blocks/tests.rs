use super::*;
use proptest::prelude::*;

const MS: i64 = 1_000_000;

fn ms(ms: i64) -> Timestamp {
    Timestamp::from_nanos(ms * MS)
}

fn blocks(stamps: Stamps) -> Blocks {
    Blocks::new(SourceId::new("m"), stamps)
}

const ALL: [Stamps; 3] = [Stamps::Exact, Stamps::AtCapture, Stamps::AtArrival];

#[test]
fn a_gap_starts_a_new_count_and_jitter_does_not() {
    for stamps in ALL {
        let (mut blocks, mut out) = (blocks(stamps), Vec::new());
        blocks.push(ms(0), &[0.0; 2000], &mut out);
        blocks.push(ms(125 + 39), &[0.0; 2000], &mut out);
        blocks.push(ms(5000), &[0.0; 1600], &mut out);
        blocks.flush(&mut out);
        let told: Vec<_> = out.iter().map(|b| (b.at, b.samples.len())).collect();
        // The rest before the gap is shorter.
        let expected = [(ms(0), 1600), (ms(100), 1600), (ms(200), 800), (ms(5000), 1600)];
        assert_eq!(told, expected, "{stamps:?}");
    }
}

#[test]
fn exact_sound_that_goes_back_is_cut_where_it_overlaps() {
    let (mut blocks, mut out) = (blocks(Stamps::Exact), Vec::new());
    assert_eq!(blocks.push(ms(0), &[0.0; 1600], &mut out), 0);
    assert_eq!(blocks.push(ms(50), &[0.0; 1600], &mut out), 800);
    assert_eq!(blocks.push(ms(-5000), &[0.0; 1600], &mut out), 1600);
    blocks.flush(&mut out);
    assert_eq!(out[1].at, ms(100));
    assert_eq!(out[1].samples.len(), 800);
}

#[test]
fn sound_that_was_heard_long_before_is_left_out_of_every_stream() {
    for stamps in ALL {
        let (mut blocks, mut out) = (blocks(stamps), Vec::new());
        for n in 0..30 {
            assert_eq!(blocks.push(ms(n * 100), &[0.0; 1600], &mut out), 0, "{stamps:?}");
        }
        assert_eq!(blocks.push(ms(0), &[0.0; 1600], &mut out), 1600, "{stamps:?}");
        blocks.flush(&mut out);
        assert_eq!(out.len(), 30, "{stamps:?}");
    }
}

/// Messages of 100 ms whose samples are numbered: (true time, stamp), nanoseconds.
type Delivered = Vec<(i64, i64)>;

fn delivered(secs: i64, stamp: impl Fn(i64) -> i64) -> Delivered {
    let mut last = i64::MIN;
    let log = |n: i64| {
        let at = n * 100 * MS;
        last = stamp(at).max(last.saturating_add(50_000));
        (at, last)
    };
    (0..secs * 10).map(log).collect()
}

/// A delay that looks random, exponential with this mean, 200 ms at most.
fn delay(at: i64, mean_ms: f64) -> i64 {
    let mixed = (at / MS).cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40;
    let share = (mixed as f64 + 1.0) / f64::from(1 << 24);
    ((-share.ln() * mean_ms).min(200.0) * MS as f64) as i64
}

/// What came of it: the greatest error of a block's time and the greatest seam between two blocks, milliseconds.
/// Every sample must have come out once, in order.
fn errors(stamps: Stamps, all: &Delivered, what: &str) -> (i64, i64) {
    let (mut blocks, mut out) = (blocks(stamps), Vec::new());
    for (n, (_, stamp)) in all.iter().enumerate() {
        let samples: Vec<f32> = (n * 1600..(n + 1) * 1600).map(|k| k as f32).collect();
        let left_out = blocks.push(Timestamp::from_nanos(*stamp), &samples, &mut out);
        assert_eq!(left_out, 0, "{what}: message {n}");
        assert!(blocks.waiting.len() < MOST_WAITING + 1600, "{what}");
    }
    blocks.flush(&mut out);
    let (mut next, mut error, mut seam) = (0_usize, 0, 0);
    let mut end = out[0].at.as_nanos();
    for block in &out {
        let numbered = |(k, v): (usize, &f32)| *v == (next + k) as f32;
        assert!(block.samples.iter().enumerate().all(numbered), "{what}: at sample {next}");
        let within = (next % 1600) as i64 * SAMPLE_NANOS;
        let at = block.at.as_nanos();
        error = error.max((at - all[next / 1600].0 - within).abs());
        seam = seam.max((at - end).abs());
        end = block.end().as_nanos();
        next += block.samples.len();
    }
    assert_eq!(next, all.len() * 1600, "{what}: every sample");
    (error / MS, seam / MS)
}

#[test]
fn delivery_tears_no_sound() {
    // Whole after 100 ms, then taken with the others of its burst.
    let batch = |every: i64| {
        move |at: i64| (at + (every + 100) * MS - 1) / (every * MS) * (every * MS) - 100 * MS
    };
    let stall = |at: i64| {
        let since = at % (4000 * MS);
        if (1..400 * MS).contains(&since) { at - since + 400 * MS } else { at }
    };
    let uneven = |at: i64| at + delay(at, 200.0) * 60 / 200 - 30 * MS;
    // What is delivered, of which the times may lie off by so much, and are moved by so much at once, milliseconds.
    let cases: [(&str, Delivered, i64, i64); 8] = [
        ("in time", delivered(60, |at| at), 0, 0),
        ("jitter of 15 ms", delivered(60, |at| at + delay(at, 15.0)), 45, 45),
        ("jitter of 30 ms", delivered(60, |at| at + delay(at, 30.0)), 60, 45),
        ("stalls of 0.4 s", delivered(60, stall), 1, 0),
        ("bursts of 250 ms", delivered(60, batch(250)), 45, 45),
        ("bursts of 500 ms", delivered(60, batch(500)), 45, 45),
        ("bursts of 1000 ms", delivered(60, batch(1000)), 45, 45),
        ("stamps 30 ms off", delivered(60, uneven), 75, 45),
    ];
    for (what, all, most_error, most_seam) in cases {
        let (error, seam) = errors(Stamps::AtArrival, &all, what);
        assert!(error <= most_error, "{what}: {error} ms off");
        assert!(seam <= most_seam, "{what}: moved by {seam} ms");
    }
}

#[test]
fn jitter_of_capture_and_clocks_that_drift_lose_nothing() {
    for stamps in [Stamps::AtCapture, Stamps::AtArrival] {
        for ppm in [-100, 100] {
            let what = format!("{stamps:?}, {ppm} ppm");
            // The true time is the stamp's: the microphone's clock is the one that runs wrong.
            let drifting = (0..9_000).map(|n| n * 100 * MS + n * 100 * ppm);
            let drifting: Delivered = drifting.map(|at| (at, at)).collect();
            let (error, seam) = errors(stamps, &drifting, &what);
            assert!(error <= 45 && seam <= 45, "{what}: {error} ms off, moved by {seam} ms");
            assert!(seam >= 20, "{what}: it was made good");
        }
        let jitter = |at: i64| at + (at / (100 * MS) * 37 % 61 - 30) * MS;
        let jitter = delivered(60, jitter);
        let (error, seam) = errors(stamps, &jitter, "30 ms to both sides");
        assert!(error <= 75 && seam <= 45, "{stamps:?}: {error} ms off, moved by {seam} ms");
    }
}

#[test]
fn missing_samples_are_a_gap() {
    for (stamps, gap_ms) in [
        (Stamps::AtArrival, 3000),
        (Stamps::AtCapture, 3000),
        (Stamps::AtArrival, 300),
        (Stamps::AtCapture, 300),
        (Stamps::Exact, 300),
    ] {
        let late = |at: i64| if at < 5000 * MS { at } else { at + gap_ms * MS };
        let all: Delivered =
            (0..100).map(|n| n * 100 * MS).map(|at| (late(at), late(at))).collect();
        let what = format!("{stamps:?}, {gap_ms} ms");
        assert_eq!(errors(stamps, &all, &what), (0, gap_ms), "{what}");
    }
}

proptest! {
    /// However the sound is portioned, the same blocks come out and no sample is lost.
    #[test]
    fn portions_do_not_matter(
        portions in proptest::collection::vec(1_usize..5000, 1..20),
        stamps in proptest::sample::select(ALL.to_vec()),
    ) {
        let whole: Vec<f32> = (0..portions.iter().sum()).map(|n| n as f32).collect();
        let mut blocks = blocks(stamps);
        let (mut out, mut from) = (Vec::new(), 0);
        for portion in portions {
            let stamp = Timestamp::from_nanos(from as i64 * SAMPLE_NANOS);
            blocks.push(stamp, &whole[from..from + portion], &mut out);
            from += portion;
        }
        blocks.flush(&mut out);
        let mut next = 0;
        for block in &out {
            prop_assert_eq!(block.at.as_nanos(), next as i64 * SAMPLE_NANOS);
            prop_assert_eq!(&block.samples[..], &whole[next..next + block.samples.len()]);
            next += block.samples.len();
        }
        prop_assert_eq!(next, whole.len());
    }
}
