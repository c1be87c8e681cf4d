//! `engramd calibrate`: measures this machine's models on labelled folders.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde_json::json;

use super::{Context, print};
use crate::bench::{calibration, verify};

/// Measure matching thresholds on a labelled folder; writes <model>.toml and a plot.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd calibrate faces photos/            photos/<person>/*.jpg
  engramd calibrate voices voices/ --secs 3
  engramd calibrate faces photos/ --out /etc/engram/calibration/thresholds

A file in /etc/engram/calibration/thresholds or /var/lib/engram/calibration/thresholds comes before the one
that the program was built with.")]
pub(super) struct CalibrateArgs {
    /// What the samples are.
    #[arg(value_enum)]
    modality: Modality,
    /// A folder with one folder per person.
    dir: PathBuf,
    /// Take only the middle seconds of each utterance: turns are shorter than recordings.
    #[arg(long, value_name = "S")]
    secs: Option<f64>,
    /// Where the files go.
    #[arg(long, value_name = "DIR", default_value = "calibration/thresholds")]
    out: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Modality {
    Faces,
    Voices,
}

pub(super) fn run(args: &CalibrateArgs, context: &Context) -> anyhow::Result<u8> {
    let compared = match args.modality {
        Modality::Faces => verify::faces(&context.config, &args.dir)?,
        Modality::Voices => verify::voices(&context.config, &args.dir, args.secs)?,
    };
    let points = calibration::operating_points(&compared.scores)
        .context("there are no pairs of one identity, or none of two")?;
    let length = args.secs.map_or_else(String::new, |secs| format!(", {secs} s each"));
    let how = format!("folder {}{length}", args.dir.display());
    let model = &compared.verification.model;
    let (toml, svg) =
        (args.out.join(format!("{model}.toml")), args.out.join(format!("{model}.svg")));
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("making the folder {}", args.out.display()))?;
    for (path, text) in [
        (&toml, calibration::thresholds_toml(&compared, points, &how)),
        (&svg, calibration::plot_svg(&compared)),
    ] {
        std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    if context.json {
        print::json(&json!({
            "model": model,
            "accept": points.accept,
            "maybe": points.maybe,
            "margin": points.margin,
            "merge": points.merge,
            "eer": compared.verification.eer,
            "eer_ci95": compared.verification.eer_ci95,
            "pairs": compared.verification.pairs,
            "thresholds": toml,
            "plot": svg,
        }))?;
    } else {
        print::line(format!(
            "{model}: equal error {:.2} %, accept {:.3}, maybe {:.3}; {} and {}",
            100.0 * compared.verification.eer,
            points.accept,
            points.maybe,
            toml.display(),
            svg.display()
        ))?;
    }
    Ok(0)
}
