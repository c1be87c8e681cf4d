//! `engramd identify`: whose face, whose voice is this?

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde_json::{Value, json};

use super::connection::Connection;
use super::context::Context;
use super::{print, sample};
use crate::daemon::assemble::{catalogue, read_store};
use crate::daemon::identify::{Identified, Match, Shown, identify};
use crate::daemon::ingest::PerceiverSet;
use crate::daemon::resolver::resolver;
use crate::identify::{PendingIdentities, SharedResolver};
use crate::mqtt::message::Identify;

/// How long the daemon may take.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);

/// Whose face or voice is this? The best matches among all who are known. Nothing of the sample is kept.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd identify --photo visitor.jpg
  engramd identify --voice answerphone.wav
  engramd identify --photo visitor.jpg --json

The photo (JPEG, PNG) shows one face, or one that is far larger than the others; of the sound (anything that plays) the
first 30 seconds are heard, and one voice speaks in it. A score is a cosine of the network that is named; the first match
is taken for the one shown where its score reaches the threshold and leads the second by the margin, as for cameras and
microphones. A daemon also answers on the topic `identify`, and on POST /api/identify.")]
#[group(required = true)]
pub(super) struct IdentifyArgs {
    /// A picture with the one face.
    #[arg(long, value_name = "FILE", conflicts_with = "voice")]
    photo: Option<PathBuf>,
    /// A recording of the one voice.
    #[arg(long, value_name = "FILE")]
    voice: Option<PathBuf>,
}

pub(super) fn run(args: &IdentifyArgs, context: &Context) -> anyhow::Result<u8> {
    let request = Identify {
        id: None,
        photo: args.photo.as_deref().map(sample::photo).transpose()?,
        voice: args.voice.as_deref().map(sample::voice).transpose()?,
    };
    let document = match &context.data_dir {
        Some(_) => json!(in_store(&request, context)?),
        None => {
            let payload = serde_json::to_value(&request)?;
            Connection::open(context)?.request("identify", &payload, TIMEOUT)?
        }
    };
    if context.json {
        print::json(&document)?;
        return Ok(0);
    }
    show(&print::for_people(document))?;
    Ok(0)
}

/// In a store that is only read.
fn in_store(request: &Identify, context: &Context) -> anyhow::Result<Identified> {
    let config = &context.config;
    let memory = read_store(config)?;
    let perceivers = PerceiverSet::choose(config, &catalogue(config)?)?;
    let known = resolver(config, &memory, &perceivers, PendingIdentities::default());
    let guesses = SharedResolver::new(known).guesses();
    Ok(identify(request, &perceivers, &guesses, &memory.view())?)
}

fn show(document: &Value) -> anyhow::Result<()> {
    let found: Identified =
        serde_json::from_value(document.clone()).context("reading the reply to identify")?;
    let (what, whats) = match found.what {
        Shown::Face => ("face", "faces"),
        Shown::Voice => ("voice", "voices"),
    };
    print::line(match (found.person, found.matches.first()) {
        (Some(_), Some(first)) => format!("This is {}.", called(first)),
        (None, Some(first)) if first.score >= found.threshold => {
            "This may be one of several; none is clearly before the others.".to_owned()
        }
        (None, Some(first)) if first.score >= found.maybe => {
            format!("This may be {}; it is not like enough to say.", called(first))
        }
        (None, Some(_)) => "This is nobody who is known.".to_owned(),
        (_, None) => format!("No {what} is known yet."),
    })?;
    if !found.matches.is_empty() {
        let mut table = print::table(["who", what, "score", "sure"]);
        for one in &found.matches {
            let sure = format!("{:.0} %", 100.0 * one.confidence);
            table.add_row([called(one), one.part.to_string(), format!("{:.3}", one.score), sure]);
        }
        print::line(table)?;
        print::line(format!(
            "of {} {whats}; taken for one from {:.3} on if it leads by {:.3}, nobody below {:.3} ({})",
            found.known, found.threshold, found.margin, found.maybe, found.model
        ))?;
    }
    Ok(())
}

fn called(one: &Match) -> String {
    let id = one.person.unwrap_or(one.part).to_string();
    one.name.as_ref().map_or_else(|| id.clone(), |name| format!("{name} ({id})"))
}
