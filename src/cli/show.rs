//! `engramd show`: everything about one thing; a contact sheet of all persons.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::context::Context;
use super::print::{self, Paint};
use super::reader::Reader;
use super::sheet;
use super::times::{AsOfArg, known};
use crate::mqtt::message::{AsOf, QueryVerb};

/// Everything about one entity, clip, session, memory or answer; a sheet of all faces.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd show Ava
  engramd show s1/3                              a clip: who was seen and what was said
  engramd show memory_17
  engramd show people --out people.jpg           a contact sheet; or .png, .html
  engramd show graph --out g.svg                 the memory graph; or .dot, .html")]
pub(super) struct ShowArgs {
    /// A name or id: Ava, person_4, face_1, s1, s1/3, memory_17, answer_5; `people`, `graph`.
    what: String,
    /// Write the picture there (people: .jpg, .png, .html; graph: .svg, .dot, .html).
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// What was known at that time or after that commit (seq:N).
    #[arg(long, value_name = "T|seq:N", value_parser = AsOfArg::parse)]
    as_of: Option<AsOfArg>,
}

pub(super) fn run(args: &ShowArgs, context: &Context) -> anyhow::Result<u8> {
    let as_of = known(args.as_of.as_ref(), context)?;
    let mut reader = Reader::open(context)?;
    match (args.what.as_str(), &args.out) {
        ("graph", Some(out)) => return graph(as_of, out, &mut reader),
        ("people", _) | (_, None) => {}
        (what, Some(_)) => bail!("--out is for `show people` and `show graph`; {what} is text"),
    }
    let arguments = json!({ "what": args.what, "as_of": as_of });
    let shown = reader.query(QueryVerb::Show, &arguments)?;
    if let Some(out) = &args.out {
        return contact_sheet(&shown, out, &mut reader);
    }
    if context.json {
        print::json(&shown)?;
    } else {
        print::line(for_people(&shown, &context.config.timezone(), Paint::for_stdout()))?;
    }
    Ok(0)
}

fn graph(as_of: Option<AsOf>, out: &Path, reader: &mut Reader) -> anyhow::Result<u8> {
    let format = out.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
    if !["svg", "dot", "html"].contains(&format) {
        bail!("{}: the graph is written as .svg, .dot or .html", out.display());
    }
    let arguments = json!({ "what": "graph", "format": format, "as_of": as_of });
    let shown = reader.query(QueryVerb::Show, &arguments)?;
    std::fs::write(out, shown["text"].as_str().unwrap_or_default())
        .with_context(|| format!("writing the graph {}", out.display()))?;
    print::line(format!("the memory graph in {}", out.display()))?;
    Ok(0)
}

fn contact_sheet(shown: &Value, out: &Path, reader: &mut Reader) -> anyhow::Result<u8> {
    let mut fetch = |digest: &str| reader.media(digest);
    let people = sheet::gather(shown, &mut fetch)?;
    let kind = out.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
    let doing = || format!("writing the contact sheet {}", out.display());
    match kind {
        "html" => std::fs::write(out, sheet::html(&people)).with_context(doing)?,
        "jpg" | "jpeg" | "png" => sheet::image(&people).save(out).with_context(doing)?,
        _ => bail!("{}: a contact sheet is written as .jpg, .png or .html", out.display()),
    }
    print::line(format!("{} persons in {}", people.len(), out.display()))?;
    Ok(0)
}

fn for_people(shown: &Value, zone: &TimeZone, paint: Paint) -> String {
    match shown["kind"].as_str() {
        Some("entity") => entity(shown, zone, paint),
        Some("clip") => clip(shown, zone, paint),
        Some("memory") => memory(shown, zone, paint),
        _ => serde_json::to_string_pretty(shown).unwrap_or_default(),
    }
}

fn entity(shown: &Value, zone: &TimeZone, paint: Paint) -> String {
    let profile = &shown["profile"];
    let id = print::text(&profile["id"]);
    let name = print::text(&profile["name"]);
    let title = if name.is_empty() { id } else { format!("{name} ({id})") };
    let mut out = vec![paint.bold(&title)];
    let mut say = |what: &str, text: String| {
        if !text.is_empty() {
            out.push(format!("  {:<12} {text}", what));
        }
    };
    say("also", print::text(&profile["aliases"]));
    say("faces", print::text(&profile["faces"]));
    say("voices", print::text(&profile["voices"]));
    say("first seen", print::local_of(&profile["first_seen"], zone));
    say("last seen", print::local_of(&profile["last_seen"], zone));
    say("in view", print::duration(profile["seen_secs"].as_f64().unwrap_or_default()));
    say("spoke", print::duration(profile["spoken_secs"].as_f64().unwrap_or_default()));
    for part in shown["belongs"].as_array().into_iter().flatten() {
        say(&print::text(&part["part"]), print::text(&part["reason"]));
    }
    for pair in shown["evidence"].as_array().into_iter().flatten() {
        let secs = |key: &str| pair[key].as_f64().unwrap_or_default();
        let text = format!(
            "{:.1} s for, {:.1} s against {}",
            secs("support_secs"),
            secs("against_secs"),
            print::text(&pair["face"])
        );
        say(&print::text(&pair["voice"]), text);
    }
    out.push(memories(&shown["memories"], zone, paint));
    out.join("\n")
}

fn clip(shown: &Value, zone: &TimeZone, paint: Paint) -> String {
    let clip = &shown["clip"];
    let title = format!(
        "{}  {} – {}",
        print::text(&clip["id"]),
        print::local_of(&clip["span"]["start"], zone),
        print::local_of(&clip["span"]["end"], zone)
    );
    let mut table = print::table(["when", "until", "what", "who", "words"]);
    for (list, what) in
        [("tracks", "seen"), ("objects", "seen"), ("texts", "read"), ("turns", "spoke")]
    {
        for row in shown[list].as_array().into_iter().flatten() {
            let known = [&row["name"], &row["person"], &row["label"]];
            let who = known.into_iter().find(|who| !who.is_null());
            let nobody = if list == "texts" { "" } else { "unknown" };
            let words = if list == "texts" { &row["text"] } else { &row["words"] };
            table.add_row([
                print::local_of(&row["start"], zone),
                print::local_of(&row["end"], zone),
                format!("{what} {}", print::text(&row["source"])),
                who.map_or_else(|| nobody.to_owned(), print::text),
                print::text(words),
            ]);
        }
    }
    format!("{}\n{table}\n{}", paint.bold(&title), memories(&shown["memories"], zone, paint))
}

fn memory(shown: &Value, zone: &TimeZone, paint: Paint) -> String {
    let row = &shown["memory"];
    let fields = [
        ("id", print::text(&row["id"])),
        ("kind", print::text(&row["kind"])),
        ("when", print::local_of(&row["span"]["start"], zone)),
        ("clip", print::text(&row["clip"])),
        ("about", print::text(&row["entities"])),
        ("origin", print::text(&row["origin"])),
        ("known since", print::local_of(&shown["recorded"], zone)),
        ("closed", print::text(&shown["retirement"]["reason"])),
    ];
    let fields = fields.into_iter().filter(|(_, text)| !text.is_empty());
    let lines: Vec<String> = fields.map(|(key, text)| format!("  {key:<12} {text}")).collect();
    format!("{}\n{}", paint.bold(&print::text(&shown["text"])), lines.join("\n"))
}

fn memories(list: &Value, zone: &TimeZone, paint: Paint) -> String {
    let line = |row: &Value| {
        format!(
            "  {}  {}",
            paint.dim(&print::local_of(&row["start"], zone)),
            print::text(&row["text"])
        )
    };
    list.as_array().into_iter().flatten().map(line).collect::<Vec<_>>().join("\n")
}
