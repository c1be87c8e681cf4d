//! `engramd remember | forget | pin | name | feedback`: what changes the memory, done by the daemon, or in the store
//! itself with `--data-dir`.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgGroup, Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::context::Context;
use super::times::{TimeArg, between};
use super::{documents, print, reader, sample};
use crate::ids::EntityId;

/// Tell something to remember.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd remember \"Ava likes oat milk.\" --about Ava
  engramd remember --fact cup location \"in the kitchen\"
  engramd remember --fact Zoe likes jazz                 of somebody nobody has met, too
  engramd remember \"Ben was in Bonn.\" --start yesterday
  engramd remember \"The delivery comes at noon.\" --start \"2026-03-03 12:00\" --pinned
  engramd remember --file manual.pdf                     told again, it is told anew: engramd documents

A file is text, Markdown (.md) or a PDF whose text can be copied, 16 MiB at most. Its passages are noted with their places,
and answers quote them: manual.pdf (“Cleaning”, page 3, line 12). Commands that go to a daemon send 4 MiB of text at most.")]
pub(super) struct RememberArgs {
    /// What to remember; with --fact, the sentence that states it [default: the fact].
    #[arg(required_unless_present_any = ["fact", "file"], conflicts_with = "file")]
    text: Vec<String>,
    /// What is true of whom or what; a new value of location, name, home or job ends the old one.
    #[arg(long, num_args = 3, action = clap::ArgAction::Set, value_names = ["SUBJECT", "ATTRIBUTE", "VALUE"])]
    fact: Option<Vec<String>>,
    /// A document.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fact", "entities", "end"])]
    file: Option<PathBuf>,
    /// What the document is called [default: its file].
    #[arg(long = "as", value_name = "NAME", requires = "file")]
    called: Option<String>,
    /// When it happened or will: RFC 3339, a date, a local date with a time, or words like "yesterday 14:00"; a day is
    /// meant as a whole [default: now].
    #[arg(long, value_name = "T", value_parser = TimeArg::parse)]
    start: Option<TimeArg>,
    /// Until when.
    #[arg(long, value_name = "T", value_parser = TimeArg::parse, requires = "start")]
    end: Option<TimeArg>,
    /// Whom or what it is about: ids, names (of people nobody has met, too: with a capital), or what things are called;
    /// repeatable.
    #[arg(long = "about", value_name = "WHO")]
    entities: Vec<String>,
    /// Forgetting leaves it.
    #[arg(long)]
    pinned: bool,
}

/// Erase an entity, a memory, facts or a stretch of time. It really is erased, at every time.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd forget --entity person_4
  engramd forget --entity \"red mug\"             a thing, by the plain word for it
  engramd forget --memory memory_17
  engramd forget --document manual.pdf
  engramd forget --fact Ava likes \"?\"             what states that; \"?\": whatever it is
  engramd forget --start 2026-03-02T17:00:00Z --end 2026-03-02T18:00:00Z
  engramd forget --start yesterday --end \"today 14:00\"
  engramd forget --entity person_4 --dry-run     what would go; nothing does",
    group = ArgGroup::new("what").required(true).multiple(true)
        .args(["entity", "memory", "fact", "document", "start", "end"]))]
pub(super) struct ForgetArgs {
    /// Erase nothing, and count what would go.
    #[arg(long)]
    dry_run: bool,
    /// Everything about this person, place or thing: an id, a name (of people nobody has met, too), or what a thing or a
    /// place is called; letter case and articles do not matter.
    #[arg(long, value_name = "WHO", conflicts_with_all = ["memory", "fact", "document", "start", "end"])]
    entity: Option<String>,
    /// This memory.
    #[arg(long, value_name = "ID", conflicts_with_all = ["fact", "document", "start", "end"])]
    memory: Option<String>,
    /// What states facts like this one, now or earlier, and the notes that say it again; "?": whatever it is.
    #[arg(long, num_args = 3, action = clap::ArgAction::Set, value_names = ["SUBJECT", "ATTRIBUTE", "VALUE"],
        conflicts_with_all = ["document", "start", "end"])]
    fact: Option<Vec<String>>,
    /// All passages of this document: `engramd documents` tells which there are.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["start", "end"])]
    document: Option<String>,
    /// Everything from here (RFC 3339, a date, a local date with a time, or words like "yesterday"; of a day its
    /// beginning) …
    #[arg(long, value_name = "T", value_parser = TimeArg::parse, requires = "end")]
    start: Option<TimeArg>,
    /// … to here (of a day its end).
    #[arg(long, value_name = "T", value_parser = TimeArg::parse, requires = "start")]
    end: Option<TimeArg>,
}

/// Keep a memory whatever fades and ages, or let it go its way again; `forget` takes it all the same.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd pin memory_17
  engramd pin memory_17 --off     it may fade again")]
pub(super) struct PinArgs {
    /// Which memory: its id.
    memory: String,
    /// Pinned no longer.
    #[arg(long)]
    off: bool,
}

/// Give somebody a name; show a picture of them, or play their voice, so that they are known by it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd name person_4 Ava
  engramd name Ava \"Ava Lind\"
  engramd name --photo ava.jpg --voice ava.wav Ava     known before they come
  engramd name --photo ava2.jpg --of Ava               one more picture of somebody known
  engramd name --self --voice robot.wav                the robot's own voice: nobody comes of it
  engramd name voice_7 media                           a television: no person, no fact comes of it
  engramd name --voice tv.wav media                    the same before it is heard
  engramd name here kitchen                            where the robot is now, with poses or without

The photo (JPEG, PNG) shows one face, or one that is far larger than the others; of the sound (anything that plays) the
first 30 seconds are heard, and one voice speaks in it. Somebody who has the name already, or is clearly the one shown,
learns; else it is somebody new.")]
pub(super) struct NameArgs {
    /// Who (an id, or the present name), then what to call them; with --photo or --voice only the name.
    words: Vec<String>,
    /// A picture with the one face.
    #[arg(long, value_name = "FILE", conflicts_with = "robot")]
    photo: Option<PathBuf>,
    /// A recording of the one voice.
    #[arg(long, value_name = "FILE")]
    voice: Option<PathBuf>,
    /// The sample is of somebody who is known already: an id, or a name.
    #[arg(long, value_name = "WHO", conflicts_with = "robot")]
    of: Option<String>,
    /// The voice is the robot's own.
    #[arg(long = "self", requires = "voice", conflicts_with = "words")]
    robot: bool,
}

/// Say whether an answer was right.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd feedback answer_5 right
  engramd feedback answer_5 wrong \"It was Ben.\"")]
pub(super) struct FeedbackArgs {
    /// The answer's id.
    answer: String,
    /// Whether it was right.
    #[arg(value_enum)]
    verdict: VerdictName,
    /// What would have been right.
    comment: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum VerdictName {
    Right,
    Wrong,
}

pub(super) fn remember(args: RememberArgs, context: &Context) -> anyhow::Result<u8> {
    let (start, end) = match (&args.start, &args.end) {
        (Some(start), Some(end)) => between(Some(start), Some(end), context)?,
        (Some(start), None) => {
            let span = start.span(context)?;
            (Some(span.start), Some(span.end))
        }
        (None, _) => (None, None),
    };
    // (A document is told at a moment.)
    let end = end.filter(|end| Some(*end) != start && args.file.is_none());
    let of_file = |file: &PathBuf| documents::of_file(file, args.called.as_deref());
    let document = args.file.as_ref().map(of_file).transpose()?;
    let payload = given([
        ("text", json!((!args.text.is_empty()).then(|| args.text.join(" ")))),
        ("fact", json!(args.fact.as_deref().and_then(triple))),
        ("document", json!(document)),
        ("start", json!(start)),
        ("end", json!(end)),
        ("entities", json!(args.entities)),
        ("pinned", json!(args.pinned)),
    ]);
    done("remember", &payload, context)
}

/// Subject, attribute, value.
pub(super) fn triple(words: &[String]) -> Option<Value> {
    let [subject, attribute, value] = words else { return None };
    Some(json!({ "subject": subject, "attribute": attribute, "value": value }))
}

pub(super) fn forget(args: ForgetArgs, context: &Context) -> anyhow::Result<u8> {
    let (start, end) = between(args.start.as_ref(), args.end.as_ref(), context)?;
    let payload = given([
        ("entity", json!(args.entity)),
        ("memory", json!(args.memory)),
        ("fact", json!(args.fact.as_deref().and_then(triple))),
        ("document", json!(args.document)),
        ("start", json!(start)),
        ("end", json!(end)),
        ("dry_run", json!(args.dry_run.then_some(true))),
    ]);
    if args.dry_run {
        return counted(&reader::command(context, "forget", &payload)?, context);
    }
    done("forget", &payload, context)
}

pub(super) fn pin(args: &PinArgs, context: &Context) -> anyhow::Result<u8> {
    let payload = json!({ "memory": args.memory, "pinned": !args.off });
    done("pin", &payload, context)
}

/// What would go, a line for each count that is not nought.
fn counted(reply: &Value, context: &Context) -> anyhow::Result<u8> {
    if context.json {
        print::json(reply)?;
        return Ok(0);
    }
    print::line("This would be erased; nothing is:")?;
    for (what, count) in reply.as_object().into_iter().flatten() {
        if count.as_f64().is_some_and(|count| count > 0.0) {
            print::line(format!("  {:<14} {count}", what.replace('_', " ")))?;
        }
    }
    Ok(0)
}

pub(super) fn name(args: NameArgs, context: &Context) -> anyhow::Result<u8> {
    let NameArgs { words, photo, voice, of, robot } = args;
    let wrong =
        |why: &str| clap::Error::raw(ErrorKind::MissingRequiredArgument, format!("{why}\n"));
    let name = (!words.is_empty()).then(|| words.join(" "));
    let (entity, name) = if photo.is_none() && voice.is_none() {
        let [who, name @ ..] = words.as_slice() else {
            return Err(wrong("name whom? for example: engramd name person_4 Ava").into());
        };
        if of.is_some() || name.is_empty() {
            let why = "say whom and what to call them, for example: engramd name person_4 Ava; --of goes with --photo and --voice";
            return Err(wrong(why).into());
        }
        (Some(who.clone()), Some(name.join(" ")))
    } else if robot {
        (Some(EntityId::ROBOT.to_string()), None)
    } else if of.is_none() && name.is_none() {
        let why = "whose face or voice is it? give a name, or --of WHO, or --self";
        return Err(wrong(why).into());
    } else {
        (of, name)
    };
    let payload = given([
        ("entity", json!(entity)),
        ("name", json!(name)),
        ("photo", json!(photo.as_deref().map(sample::photo).transpose()?)),
        ("voice", json!(voice.as_deref().map(sample::voice).transpose()?)),
    ]);
    done("name", &payload, context)
}

pub(super) fn feedback(args: FeedbackArgs, context: &Context) -> anyhow::Result<u8> {
    let verdict = match args.verdict {
        VerdictName::Right => "right",
        VerdictName::Wrong => "wrong",
    };
    let payload = given([
        ("answer", json!(args.answer)),
        ("verdict", json!(verdict)),
        ("comment", json!(args.comment)),
    ]);
    done("feedback", &payload, context)
}

/// The fields that say something.
fn given<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(fields.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
}

pub(super) fn done(topic: &str, payload: &Value, context: &Context) -> anyhow::Result<u8> {
    let reply = reader::command(context, topic, payload)?;
    if context.json {
        print::json(&reply)?;
        return Ok(0);
    }
    let said = reply.as_object().into_iter().flatten();
    let said: Vec<String> = said
        .filter(|(key, _)| !["id", "ok"].contains(&key.as_str()))
        .filter(|(_, value)| !value.is_null() && value.as_array().is_none_or(|all| !all.is_empty()))
        .map(|(key, value)| format!("{key} {}", print::text(value)))
        .collect();
    print::line(if said.is_empty() { "done".to_owned() } else { said.join(", ") })?;
    Ok(0)
}
