//! `engramd people`: who is known, why, and the user's own word on it.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::context::Context;
use super::print;
use super::reader::{self, Reader};
use super::times::{AsOfArg, known};
use crate::daemon::assemble::open_store;
use crate::daemon::overrule::overrule;
use crate::identify::{MatchThresholds, PendingIdentities, Resolver, identity_rows};
use crate::ids::EntityId;
use crate::memory::model::PersonProfile;
use crate::mqtt::message::{People, QueryVerb};
use crate::time::Timestamp;

/// Who is known: names, faces, voices, when seen and how long.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  engramd people
  engramd people --named --json
  engramd people --why person_4
  engramd people merge person_4 Ava
  engramd people split voice_3
  engramd people --as-of 2026-03-02T18:00:00Z --data-dir /var/lib/engram"
)]
pub(super) struct PeopleArgs {
    #[command(subcommand)]
    change: Option<Change>,
    /// Only those with a name.
    #[arg(long)]
    named: bool,
    /// Why the faces and voices of this one are taken for one person.
    #[arg(long, value_name = "WHO", conflicts_with = "named")]
    why: Option<String>,
    /// What was known at that time or after that commit (seq:N).
    #[arg(long, value_name = "T|seq:N", value_parser = AsOfArg::parse)]
    as_of: Option<AsOfArg>,
}

/// Overrules what the evidence says. It sticks.
#[derive(Debug, Subcommand)]
enum Change {
    /// These are one person; the named one's id stays, else the oldest.
    Merge {
        /// Names or ids.
        #[arg(required = true, num_args = 2.., value_name = "WHO")]
        who: Vec<String>,
    },
    /// These faces and voices, or people that were merged into another, are somebody else.
    Split {
        /// `face_N`, `voice_N`, or a `person_N` that was merged into another.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}

pub(super) fn run(args: &PeopleArgs, context: &Context) -> anyhow::Result<u8> {
    if let Some(change) = &args.change {
        return overruled(change, context);
    }
    let arguments = json!({ "named": args.named, "why": args.why, "as_of": known(args.as_of.as_ref(), context)? });
    let people = Reader::open(context)?.query(QueryVerb::People, &arguments)?;
    if context.json {
        print::json(&people)?;
        return Ok(0);
    }
    if args.why.is_some() {
        return reasons(&people);
    }
    let people: Vec<PersonProfile> = serde_json::from_value(print::for_people(people))?;
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
            number(&person.faces, &person.unmatchable),
            number(&person.voices, &person.unmatchable),
            person.aliases.join(" "),
        ]);
    }
    print::line(table)?;
    Ok(0)
}

/// How many faces or voices, and whether the models that run cannot match them.
fn number(parts: &[EntityId], unmatchable: &[EntityId]) -> String {
    let lost = parts.iter().any(|part| unmatchable.contains(part));
    let note = if lost { " (unmatchable)" } else { "" };
    format!("{}{note}", parts.len())
}

/// Whom `people --why` tells of.
fn headline(document: &Value) -> String {
    let words = [&document["id"], &document["name"]].map(print::text);
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
}

/// `people --why`, for people.
fn reasons(document: &Value) -> anyhow::Result<u8> {
    let text = |value: &Value| print::text(value);
    let rows = |key: &str| document[key].as_array().cloned().unwrap_or_default();
    let said = |row: &Value| if row["decreed"] == true { " (the user's word)" } else { "" };
    print::line(headline(document))?;
    for row in rows("names") {
        let by = row["by"].as_str().map(|voice| format!(" by {voice}")).unwrap_or_default();
        print::line(format!("  name {}: {}{by}", text(&row["name"]), text(&row["source"])))?;
    }
    for row in rows("parts") {
        let (part, reason) = (text(&row["part"]), text(&row["reason"]));
        let exemplars = text(&row["exemplars"]);
        print::line(format!("  {part}{}: {reason}; {exemplars} exemplars", said(&row)))?;
    }
    let unmatchable: Vec<String> = rows("unmatchable").iter().map(print::text).collect();
    if !unmatchable.is_empty() {
        let which = unmatchable.join(", ");
        print::line(format!(
            "  unmatchable: {which}: another model runs, and nothing was kept that it could learn from"
        ))?;
    }
    for row in rows("merges") {
        let (from, into) = (text(&row["from"]), text(&row["into"]));
        print::line(format!("  {from} is {into}{}: {}", said(&row), text(&row["reason"])))?;
    }
    let secs = |value: &Value| format!("{:.1} s", value.as_f64().unwrap_or(0.0));
    for row in rows("links") {
        let (face, voice) = (text(&row["face"]), text(&row["voice"]));
        let (support, against) = (secs(&row["support_secs"]), secs(&row["against_secs"]));
        let verdict = if row["same_person"] == true { "one" } else { "not one" };
        let names = match row["names"].as_str() {
            Some(names) => format!(", and {names} names given"),
            None => String::new(),
        };
        print::line(format!(
            "  {face} and {voice} ({verdict}): {support} for, {against} against{names}"
        ))?;
    }
    for row in rows("different") {
        let (a, b) = (text(&row["a"]), text(&row["b"]));
        print::line(format!("  {a} and {b} were there at once for {}", secs(&row["secs"])))?;
    }
    for other in rows("same_name") {
        print::line(format!("  {} gave the same name", text(&other)))?;
    }
    Ok(0)
}

fn overruled(change: &Change, context: &Context) -> anyhow::Result<u8> {
    let request = match change {
        Change::Merge { who } => People { id: None, merge: who.clone(), split: vec![] },
        Change::Split { ids } => People { id: None, merge: vec![], split: ids.clone() },
    };
    let done = match &context.data_dir {
        Some(_) => {
            let memory = open_store(&context.config)?;
            let view = memory.view();
            let at = view.newest_time().unwrap_or_else(Timestamp::wall_clock);
            // Nothing is compared here: the thresholds do not matter.
            let unknown = MatchThresholds::UNKNOWN;
            let rows = identity_rows(&view);
            let settings = &context.config.identity;
            let undecided = PendingIdentities::default();
            let mut who = Resolver::from_rows(&rows, undecided, settings, unknown, unknown);
            overrule(&memory, &mut who, &request, at)?
        }
        None => reader::command(context, "people", &serde_json::to_value(&request)?)?,
    };
    if context.json {
        print::json(&done)?;
    } else if let Some(into) = done.get("into") {
        print::line(format!("they are {}", print::text(into)))?;
    } else {
        let persons = done["persons"].as_array().cloned().unwrap_or_default();
        let persons: Vec<String> = persons.iter().map(print::text).collect();
        print::line(format!("somebody else: {}", persons.join(", ")))?;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_told_commands_no_terminal() {
        assert_eq!(headline(&json!({ "id": "person_1", "name": null })), "person_1");
        let named = json!({ "id": "person_1", "name": "\u{1b}[2JAva" });
        assert_eq!(headline(&named), "person_1, \\u{1b}[2JAva");
    }
}
