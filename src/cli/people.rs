//! `engramd people`: who is known.

use clap::Args;
use serde_json::json;

use super::reader::Reader;
use super::{Context, print};
use crate::memory::model::PersonProfile;
use crate::mqtt::message::{AsOf, QueryVerb};

/// Who is known: names, faces, voices, when seen and how long.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd people
  engramd people --named --json
  engramd people --as-of 2026-03-02T18:00:00Z --data-dir /var/lib/engram")]
pub(super) struct PeopleArgs {
    /// Only those with a name.
    #[arg(long)]
    named: bool,
    /// What was known at that time or after that commit (seq:N).
    #[arg(long, value_name = "T|seq:N", value_parser = AsOf::parse)]
    as_of: Option<AsOf>,
}

pub(super) fn run(args: &PeopleArgs, context: &Context) -> anyhow::Result<u8> {
    let arguments = json!({ "named": args.named, "as_of": args.as_of });
    let people = Reader::open(context)?.query(QueryVerb::People, &arguments)?;
    if context.json {
        print::json(&people)?;
        return Ok(0);
    }
    let people: Vec<PersonProfile> = serde_json::from_value(people)?;
    if people.is_empty() {
        print::line("nobody is known yet")?;
        return Ok(0);
    }
    let zone = context.config.timezone();
    let mut table = print::table([
        "id",
        "name",
        "first seen",
        "last seen",
        "in view",
        "spoke",
        "faces",
        "voices",
        "also",
    ]);
    for person in people {
        let time = |at: Option<_>| at.map(|at| print::local(at, &zone)).unwrap_or_default();
        table.add_row([
            person.id.to_string(),
            person.name.unwrap_or_default(),
            time(person.first_seen),
            time(person.last_seen),
            print::duration(person.seen_secs),
            print::duration(person.spoken_secs),
            person.faces.len().to_string(),
            person.voices.len().to_string(),
            person.aliases.join(" "),
        ]);
    }
    print::line(table)?;
    Ok(0)
}
