//! Operating points of an embedding model from a labelled folder: `engramd calibrate faces|voices`.
//!
//! Gives the text of `calibration/thresholds/<model>.toml` and, as SVG, the two curves that it was read from:
//! ROC (true over false accepts) and DET (false rejects over false accepts, both on logarithmic scales;
//! Martin et al. 1997).

use std::fmt::Write as _;

use super::verify::{Compared, Verification};

/// Pairs of one person from which the weakest twentieth can be told, …
const LEAST_SAME: usize = 40;
/// … and of two, of which one in a thousand counts.
const LEAST_OTHER: usize = 1_000;

/// What the scores of a folder suggest. Cosines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperatingPoints {
    /// From here on the same.
    pub accept: f32,
    /// Below it surely another.
    pub maybe: f32,
    /// By how much the best must beat the second best.
    pub margin: f32,
    /// From here on two galleries are one.
    pub merge: f32,
}

/// Whether there are pairs enough to read operating points off.
///
/// # Errors
/// What is missing and what brings it, in words.
pub fn enough(figures: &Verification) -> Result<(), String> {
    let (same, other) = (figures.same_pairs, figures.pairs.saturating_sub(figures.same_pairs));
    if same >= LEAST_SAME && other >= LEAST_OTHER {
        return Ok(());
    }
    Err(format!(
        "{same} pairs of one person (of at least {LEAST_SAME}) and {other} of two (of at least {LEAST_OTHER}) are too few to read thresholds off, and nothing was written; add persons, or samples of each: ten with five each are enough ({})",
        left_out(figures)
    ))
}

/// How many samples of the folder count for nothing, and why.
#[must_use]
pub fn left_out(figures: &Verification) -> String {
    match figures.skipped {
        0 => "none left out".to_owned(),
        some => format!("{some} left out: no face, or too little speech, in them"),
    }
}

/// Reads the operating points off scores in falling order; `None` where one of both sides is empty.
///
/// Where nearly all same pairs score above all others, `accept` lies midway and `maybe` at the most alike
/// strangers (one in a thousand); where they overlap, `accept` keeps all but one in a thousand strangers out
/// and `maybe` all but one in a hundred.
#[must_use]
pub fn operating_points(scores: &[(f32, bool)]) -> Option<OperatingPoints> {
    let side = |same: bool| -> Vec<f32> {
        scores.iter().filter(|(_, own)| *own == same).map(|(cosine, _)| *cosine).collect()
    };
    let (same, other) = (side(true), side(false));
    // falling order: share 0 is the highest
    let at = |of: &[f32], share: f64| of.get((share * of.len() as f64) as usize).copied();
    let strangers = at(&other, 0.001)?;
    let (weak, middle) = (at(&same, 0.95)?, at(&same, 0.5)?);
    let (accept, maybe) = if weak > strangers {
        (0.5 * (weak + strangers), strangers)
    } else {
        (strangers, at(&other, 0.01)?.min(strangers))
    };
    let apart = (middle - at(&other, 0.5)?).max(0.0);
    let merge = accept + 0.3 * (1.0 - accept);
    Some(OperatingPoints { accept, maybe, margin: 0.12 * apart, merge })
}

/// Where the median and the 99 % quantile stand among [`SHARES`](super::verify::SHARES), and how many standard deviations of a
/// normal distribution lie between them.
const MEDIAN: usize = 4;
const MOST: usize = 7;
const MOST_DEVIATIONS: f32 = 2.326;

/// The text of a thresholds file.
#[must_use]
pub fn thresholds_toml(compared: &Compared, points: OperatingPoints, how: &str) -> String {
    let figures = &compared.verification;
    let OperatingPoints { accept, maybe, margin, merge } = points;
    let interval = figures.eer_ci95.map_or_else(String::new, |[low, high]| {
        format!(" (95 % interval by identity {low:.4} to {high:.4})")
    });
    let min_norm = compared.min_norm.map_or_else(String::new, |norm| {
        format!("min_norm = {norm:?}   # a raw embedding no longer than this is of nobody (not measured anew)\n")
    });
    let how = how.replace(['"', '\\'], "'");
    format!(
        "# Cosine of two embeddings of {model}; written by `engramd calibrate`.
model = \"{model}\"
sha256 = \"{hash}\"
metric = \"cosine\"
accept = {accept:.3}   # at least this: the same
maybe = {maybe:.3}    # below this: surely another; between: decided later, by more evidence
margin = {margin:.3}   # the best match must lead the second best by this much
merge = {merge:.3}    # two galleries this alike are one
{min_norm}eer = {eer:.4}
eer_threshold = {threshold:.3}
pairs = {pairs}
how = \"{how}: {identities} identities, {samples} samples, {same} pairs of one identity{interval}\"

# Pairs of two identities: what a chance match among many is reckoned from.
[others]
mean = {median:.3}
deviation = {deviation:.3}
",
        median = figures.other[MEDIAN],
        deviation = (figures.other[MOST] - figures.other[MEDIAN]) / MOST_DEVIATIONS,
        model = figures.model,
        hash = compared.hash,
        eer = figures.eer,
        threshold = figures.threshold,
        pairs = figures.pairs,
        identities = figures.identities,
        samples = figures.samples,
        same = figures.same_pairs,
    )
}

/// False and true accepts, 0–1, at every score, from strict to lenient.
fn curve(scores: &[(f32, bool)]) -> Vec<(f64, f64)> {
    let same = scores.iter().filter(|(_, own)| *own).count().max(1) as f64;
    let other = scores.iter().filter(|(_, own)| !own).count().max(1) as f64;
    let (mut right, mut wrong) = (0.0, 0.0);
    let mut points = vec![(0.0, 0.0)];
    for alike in scores.chunk_by(|a, b| a.0 == b.0) {
        for (_, own) in alike {
            *if *own { &mut right } else { &mut wrong } += 1.0;
        }
        points.push((wrong / other, right / same));
    }
    points
}

/// ROC (left) and DET (right) as one SVG picture, 760x400.
#[must_use]
pub fn plot_svg(compared: &Compared) -> String {
    const SIDE: f64 = 300.0;
    const TOP: f64 = 50.0;
    let points = curve(&compared.scores);
    let figures = &compared.verification;
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"400\" font-family=\"sans-serif\" font-size=\"12\">
<rect width=\"760\" height=\"400\" fill=\"white\"/>\n",
    );
    // 0.1 % to 100 %, logarithmic
    let log = |rate: f64| (rate.max(1e-3).log10() + 3.0) / 3.0;
    let panels = [
        (60.0, "false accepts", "true accepts", points.clone()),
        (
            430.0,
            "false accepts (log)",
            "false rejects (log)",
            points.iter().map(|(wrong, right)| (log(*wrong), log(1.0 - right))).collect(),
        ),
    ];
    for (left, across, up, line) in panels {
        let place = |(x, y): &(f64, f64)| (left + SIDE * x, TOP + SIDE * (1.0 - y));
        let path: Vec<String> =
            line.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        // writing to a String does not fail
        write!(
            svg,
            "<rect x=\"{left}\" y=\"{TOP}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" stroke=\"#888\"/>
<polyline points=\"{}\" fill=\"none\" stroke=\"#06c\" stroke-width=\"2\"/>
<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{across}</text>
<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" transform=\"rotate(-90 {} {})\">{up}</text>\n",
            path.join(" "),
            left + SIDE / 2.0,
            TOP + SIDE + 22.0,
            left - 12.0,
            TOP + SIDE / 2.0,
            left - 12.0,
            TOP + SIDE / 2.0,
        )
        .ok();
    }
    write!(
        svg,
        "<text x=\"60\" y=\"28\" font-size=\"15\">{}: equal error {:.2} % at {:.3}, {} pairs; logarithmic scales from 0.1 % to 100 %</text>\n</svg>\n",
        figures.model,
        100.0 * figures.eer,
        figures.threshold,
        figures.pairs
    )
    .ok();
    svg
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::ModelHash;
    use crate::models::Thresholds;
    use proptest::prelude::*;
    use std::path::Path;

    fn compared(mut scores: Vec<(f32, bool)>) -> Compared {
        scores.sort_by(|a, b| b.0.total_cmp(&a.0));
        let verification = Verification {
            model: "mobilefacenet".into(),
            pairs: scores.len(),
            eer_ci95: Some([0.01, 0.02]),
            ..Verification::default()
        };
        Compared { verification, scores, hash: ModelHash([7; 32]), min_norm: Some(10.0) }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let scores = (0..100).map(|n| (n as f32 / 100.0, n >= 50)).collect();
        let compared = compared(scores);
        let points = operating_points(&compared.scores).unwrap();
        assert!(points.maybe <= points.accept && points.accept < points.merge);
        assert!(points.accept > 0.48 && points.accept < 0.56, "{points:?}");
        let text = thresholds_toml(&compared, points, "a \"folder\"");
        let read = Thresholds::parse(&text, Path::new("t.toml")).unwrap();
        assert!((read.accept - points.accept).abs() < 1e-3);
        assert_eq!((read.sha256, read.min_norm), (Some(ModelHash([7; 32])), Some(10.0)));
        let svg = plot_svg(&compared);
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.trim_end().ends_with("</svg>"));
    }

    #[test]
    fn too_few_pairs_are_refused_with_what_is_missing_and_what_was_left_out() {
        // So many people with so many samples each.
        let folder = |people: usize, each: usize| Verification {
            pairs: people * each * (people * each - 1) / 2,
            same_pairs: people * each * (each - 1) / 2,
            skipped: 2,
            ..Verification::default()
        };
        assert_eq!(enough(&folder(10, 5)), Ok(()));
        let few = enough(&folder(3, 5)).unwrap_err();
        assert!(few.contains("30 pairs of one person (of at least 40) and 75 of two"), "{few}");
        assert!(few.contains("ten with five each are enough (2 left out"), "{few}");
        assert!(enough(&folder(60, 1)).is_err(), "strangers alone");
        assert!(enough(&folder(2, 20)).is_err(), "hardly any strangers");
    }

    proptest! {
        #[test]
        fn operating_points_are_always_in_order(
            scores in proptest::collection::vec((-1.0_f32..1.0, any::<bool>()), 0..200)
        ) {
            let compared = compared(scores.clone());
            let both = scores.iter().any(|s| s.1) && scores.iter().any(|s| !s.1);
            let points = operating_points(&compared.scores);
            prop_assert_eq!(points.is_some(), both);
            if let Some(points) = points {
                prop_assert!(points.maybe <= points.accept && points.accept <= points.merge);
                let text = thresholds_toml(&compared, points, "x");
                prop_assert!(Thresholds::parse(&text, Path::new("t")).is_ok(), "{}", text);
            }
            let line = curve(&compared.scores);
            prop_assert!(line.windows(2).all(|p| p[0].0 <= p[1].0 && p[0].1 <= p[1].1));
        }
    }
}
