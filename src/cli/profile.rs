//! `engramd profile`: who somebody is and what is true of them.

use clap::Args;
use serde_json::json;

use super::context::Context;
use super::print;
use super::reader::Reader;
use super::times::{AsOfArg, TimeArg, known};
use crate::memory::Profile;
use crate::mqtt::message::QueryVerb;
use crate::time::Timestamp;

/// Who somebody is and what is true of them: names, times, facts, habits, company.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd profile Ava
  engramd profile person_4 --json
  engramd profile Ava --at 2026-03-02T18:00:00Z          what was true then
  engramd profile Ava --as-of 2026-03-02T18:00:00Z       what was known then")]
pub(super) struct ProfileArgs {
    /// A name or an id.
    #[arg(value_name = "WHO")]
    who: String,
    /// What was true at that time [default: what still holds].
    #[arg(long, value_name = "T", value_parser = TimeArg::parse)]
    at: Option<TimeArg>,
    /// What was known at that time or after that commit (seq:N).
    #[arg(long, value_name = "T|seq:N", value_parser = AsOfArg::parse)]
    as_of: Option<AsOfArg>,
}

pub(super) fn run(args: &ProfileArgs, context: &Context) -> anyhow::Result<u8> {
    let at = args.at.as_ref().map(|at| at.start(context)).transpose()?;
    let arguments =
        json!({ "who": args.who, "at": at, "as_of": known(args.as_of.as_ref(), context)? });
    let document = Reader::open(context)?.query(QueryVerb::Profile, &arguments)?;
    if context.json {
        print::json(&document)?;
        return Ok(0);
    }
    let profile: Profile = serde_json::from_value(print::for_people(document))?;
    let zone = context.config.timezone();
    let time =
        |at: Option<Timestamp>| at.map_or_else(|| "never".to_owned(), |at| print::local(at, &zone));
    let person = &profile.person;
    let also = match person.aliases.as_slice() {
        [] => String::new(),
        aliases => format!(", also {}", aliases.join(", ")),
    };
    print::line(format!("{} ({}{also})", profile.called(), person.id))?;
    print::line(format!(
        "first {}, last {}; in view {}, spoke {}",
        time(person.first_seen),
        time(person.last_seen),
        print::duration(person.seen_secs),
        print::duration(person.spoken_secs)
    ))?;
    if !profile.facts.is_empty() {
        let mut table = print::table(["attribute", "value", "since", "sure", "memory"]);
        for fact in &profile.facts {
            let sure = format!("{:.2}{}", fact.confidence, if fact.weak { " weak" } else { "" });
            table.add_row([
                fact.attribute.replace('_', " "),
                fact.value.clone(),
                print::local(fact.since, &zone),
                sure,
                fact.memory.to_string(),
            ]);
        }
        print::line(table)?;
    }
    for note in &profile.notes {
        print::line(format!("{}  {}", print::local(note.at, &zone), note.text))?;
    }
    Ok(0)
}
