//! `engramd watch`: standing questions.

use clap::error::ErrorKind;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use super::context::Context;
use super::print;
use super::reader::{self, Reader};
use super::times::TimeArg;
use crate::daemon::queries::Watches;
use crate::ids::WatchId;
use crate::memory::{Hours, Rule};
use crate::mqtt::message::QueryVerb;

/// Tell me when somebody comes, leaves, stays or speaks, or when a thing is moved.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd watch add Ava comes
  engramd watch add unknown comes --where kitchen --between 22:00-06:00
  engramd watch add Ben stays --for 600 --say \"Ben, it is late.\"
  engramd watch add \"red mug\" moves --once
  engramd watch add \"tell me when somebody unknown is in the kitchen after 22:00\"
  engramd watch add \"remind Ava of the keys when she comes\"
  engramd watch list
  engramd watch remove watch_2

Each firing is published on event/watch, and kept: `engramd watch list --firings 20`.")]
pub(super) struct WatchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Set one.
    Add(Box<AddArgs>),
    /// Which there are, and when they fired.
    List(ListArgs),
    /// Take one away. What it told of stays.
    Remove {
        /// Its id.
        id: WatchId,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum HappeningName {
    Comes,
    Leaves,
    Stays,
    Speaks,
    Moves,
    Falls,
}

#[derive(Debug, Args)]
struct AddArgs {
    /// Who and what: a name or an id, `anybody`, or `unknown` (whoever has no name), then comes, leaves, stays, speaks,
    /// falls, or moves (a thing, by what it is called); or the whole rule, in a sentence.
    #[arg(required = true, value_name = "WHO WHAT | WORDS")]
    rule: Vec<String>,
    /// Only there: a camera, a microphone, or a place.
    #[arg(long = "where", value_name = "PLACE")]
    place: Option<String>,
    /// Of `stays`: for how long, seconds.
    #[arg(long = "for", value_name = "SECS")]
    for_secs: Option<f64>,
    /// Only in these hours, local time: 22:00-06:00.
    #[arg(long, value_name = "HOURS")]
    between: Option<Hours>,
    /// Not again within so long, seconds [default: 60 for `speaks`, else 0].
    #[arg(long, value_name = "SECS")]
    cooldown: Option<f64>,
    /// Nothing later than that: RFC 3339, a local date with a time, or words like "tomorrow 18:00".
    #[arg(long, value_name = "T", value_parser = TimeArg::parse)]
    until: Option<TimeArg>,
    /// What the robot is to say then.
    #[arg(long, value_name = "TEXT")]
    say: Option<String>,
    /// Keep so much of the ring before it and after it, seconds: engramd snapshot.
    #[arg(long, value_name = "SECS")]
    snapshot: Option<f64>,
    /// Only the first time.
    #[arg(long)]
    once: bool,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Of each the newest so many firings.
    #[arg(long, value_name = "N", default_value_t = 0)]
    firings: usize,
}

pub(super) fn run(args: &WatchArgs, context: &Context) -> anyhow::Result<u8> {
    match &args.what {
        What::Add(args) => add(args, context),
        What::List(args) => list(args, context),
        What::Remove { id } => change(&json!({ "remove": id }), "removed", context),
    }
}

fn add(args: &AddArgs, context: &Context) -> anyhow::Result<u8> {
    let in_parts = match args.rule.as_slice() {
        [who, what] => HappeningName::from_str(what, true).ok().map(|what| (who, what)),
        _ => None,
    };
    let Some((who, what)) = in_parts else { return in_words(args, context) };
    let what = match what {
        HappeningName::Comes => "comes",
        HappeningName::Leaves => "leaves",
        HappeningName::Stays => "stays",
        HappeningName::Speaks => "speaks",
        HappeningName::Moves => "moves",
        HappeningName::Falls => "falls",
    };
    let until = args.until.as_ref().map(|until| until.span(context)).transpose()?;
    let mut rule = json!({ "who": who, "what": what });
    for (key, value) in [
        ("where", json!(args.place)),
        ("for_secs", json!(args.for_secs)),
        ("between", json!(args.between)),
        ("cooldown_secs", json!(args.cooldown)),
        ("until", json!(until.map(|span| span.end))),
        ("say", json!(args.say)),
        ("snapshot_secs", json!(args.snapshot)),
        ("once", json!(args.once.then_some(true))),
    ] {
        if !value.is_null() {
            rule[key] = value;
        }
    }
    change(&json!({ "add": rule }), "set", context)
}

/// A rule in a sentence says all that the options say.
fn in_words(args: &AddArgs, context: &Context) -> anyhow::Result<u8> {
    let optional = args.place.is_some()
        || args.for_secs.is_some()
        || args.between.is_some()
        || args.cooldown.is_some()
        || args.until.is_some()
        || args.say.is_some()
        || args.snapshot.is_some()
        || args.once;
    if optional {
        let why = "options go with WHO and WHAT (comes, leaves, stays, speaks, moves, falls); a sentence says all of it itself\n";
        return Err(clap::Error::raw(ErrorKind::ArgumentConflict, why).into());
    }
    change(&json!({ "words": args.rule.join(" ") }), "set", context)
}

fn change(payload: &serde_json::Value, done: &str, context: &Context) -> anyhow::Result<u8> {
    let reply = reader::command(context, "watch", payload)?;
    if context.json {
        print::json(&reply)?;
    } else {
        let rule = serde_json::from_value::<Rule>(reply["rule"].clone()).ok();
        let rule = rule.map(|rule| format!(": {}", print::visible(&rule_in_words(&rule))));
        let id = reply["watch"].as_str().unwrap_or_default();
        print::line(format!("{id} {done}{}", rule.unwrap_or_default()))?;
    }
    Ok(0)
}

fn list(args: &ListArgs, context: &Context) -> anyhow::Result<u8> {
    let arguments = json!({ "limit": args.firings.max(1) });
    let document = Reader::open(context)?.query(QueryVerb::Watches, &arguments)?;
    if context.json {
        print::json(&document)?;
        return Ok(0);
    }
    let found: Watches = serde_json::from_value(print::for_people(document))?;
    if found.watches.is_empty() {
        print::line("no watch is set: engramd watch add Ava comes")?;
        return Ok(0);
    }
    let zone = context.config.timezone();
    let mut table = print::table(["id", "rule", "fired", "last"]);
    for watch in &found.watches {
        let last = watch.firings.last().map(|firing| print::local(firing.at, &zone));
        table.add_row([
            watch.id.to_string(),
            rule_in_words(&watch.rule),
            watch.fired.to_string(),
            last.unwrap_or_default(),
        ]);
    }
    print::line(table)?;
    for watch in found.watches.iter().filter(|_| args.firings > 0) {
        for firing in &watch.firings {
            let who = firing.name.as_ref().or(firing.entity.as_ref());
            print::line(format!(
                "{}  {}  {}  {}  {}",
                print::local(firing.at, &zone),
                watch.id,
                who.cloned().unwrap_or_default(),
                firing.source.clone().unwrap_or_default(),
                firing.state.word(),
            ))?;
        }
    }
    Ok(0)
}

/// The rule in a line.
fn rule_in_words(rule: &Rule) -> String {
    let mut line = format!("{} {}", rule.who, rule.what.word());
    if let Some(secs) = rule.for_secs {
        line.push_str(&format!(" for {}", print::duration(secs)));
    }
    if let Some(place) = &rule.place {
        line.push_str(&format!(", {place}"));
    }
    if let Some(hours) = rule.between {
        line.push_str(&format!(", {hours}"));
    }
    if let Some(say) = &rule.say {
        line.push_str(&format!(", says {say:?}"));
    }
    if let Some(secs) = rule.snapshot_secs {
        line.push_str(&format!(", keeps {} around it", print::duration(secs)));
    }
    if rule.once {
        line.push_str(", once");
    }
    line
}
