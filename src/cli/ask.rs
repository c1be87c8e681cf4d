//! `engramd ask`: a question and its answer with evidence.

use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use jiff::tz::TimeZone;
use serde_json::Value;

use super::context::Context;
use super::print::{self, Paint};
use super::reader::Reader;
use super::times::{AsOfArg, TimeArg, known};
use crate::mqtt::message::{Ask, Effort};

/// Ask a question.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd ask \"Who was here this morning?\"
  engramd ask \"When did you last see Ava?\" --now 2026-03-02T18:00:00Z
  engramd ask \"Where is the red mug?\" --as-of seq:41      what it would have said then
  engramd ask \"Why did they leave?\" --effort deep --json
  engramd ask \"And where is she now?\" --conversation me    after another question with --conversation me (the daemon's)")]
pub(super) struct AskArgs {
    /// The question.
    #[arg(required = true)]
    question: Vec<String>,
    /// Answer from what was known at that time or after that commit (seq:N).
    #[arg(long, value_name = "T|seq:N", value_parser = AsOfArg::parse)]
    as_of: Option<AsOfArg>,
    /// What "now" and "yesterday" are meant against (RFC 3339, a date, a local date with a time, or words like "yesterday").
    #[arg(long, value_name = "T", value_parser = TimeArg::parse)]
    now: Option<TimeArg>,
    /// How much thought it is worth.
    #[arg(long, value_enum, default_value = "fast")]
    effort: EffortName,
    /// Time allowed, milliseconds [default: 2000 fast, 30000 deep].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    deadline_ms: Option<u64>,
    /// What it belongs to: it may leave out, or point to, what the question before it in the conversation named.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    conversation: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EffortName {
    Fast,
    Deep,
}

pub(super) fn run(args: &AskArgs, context: &Context) -> anyhow::Result<u8> {
    let effort = match args.effort {
        EffortName::Fast => Effort::Fast,
        EffortName::Deep => Effort::Deep,
    };
    let ask = Ask {
        as_of: known(args.as_of.as_ref(), context)?,
        now: args.now.as_ref().map(|at| at.start(context)).transpose()?,
        effort,
        deadline_ms: args.deadline_ms,
        conversation: args.conversation.clone(),
        ..Ask::plain(&args.question.join(" "))
    };
    let timeout = Duration::from_millis(ask.deadline_ms()) + Duration::from_secs(5);
    let answer = Reader::open_for_recall(context)?.ask(&ask, &context.config, timeout)?;
    if context.json {
        print::json(&answer)?;
    } else {
        print::line(for_people(&answer, &context.config.timezone(), Paint::for_stdout()))?;
    }
    Ok(0)
}

/// Answer, confidence, then the evidence.
fn for_people(answer: &Value, zone: &TimeZone, paint: Paint) -> String {
    let confidence = answer["confidence"].as_f64().unwrap_or_default();
    let how = if answer["abstained"] == true {
        "not known".to_owned()
    } else {
        format!("{:.0} % sure", confidence * 100.0)
    };
    let total = answer["latency_ms"]["total"].as_f64().map(|ms| format!(", {ms:.1} ms"));
    let engine = print::text(&answer["engine"]);
    let about = format!("{how}, {engine}{}", total.unwrap_or_default());
    let mut out = format!("{}\n{}", paint.bold(&print::text(&answer["answer"])), paint.dim(&about));
    let understood = print::text(&answer["understood"]);
    if !understood.is_empty() {
        out.push_str(&format!("\n{}", paint.dim(&format!("understood as: {understood}"))));
    }
    let note = print::text(&answer["note"]);
    if !note.is_empty() {
        out.push_str(&format!("\n{}", paint.dim(&note)));
    }
    let evidence = answer["evidence"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !evidence.is_empty() {
        let mut table = print::table(["when", "what", "clip", "memory", "score"]);
        for row in evidence {
            table.add_row([
                print::local_of(&row["start"], zone),
                print::text(&row["text"]),
                print::text(&row["clip"]),
                print::text(&row["memory"]),
                row["score"].as_f64().map(|score| format!("{score:.2}")).unwrap_or_default(),
            ]);
        }
        out.push_str(&format!("\n\n{table}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_is_shown_with_its_confidence_and_evidence() {
        let answer = json!({
            "answer": "Ava was here.", "confidence": 0.93, "abstained": false, "engine": "builtin",
            "latency_ms": {"total": 4.21},
            "evidence": [{"memory": "memory_1", "text": "Ava said \"hello\".", "start": "2026-03-02T17:30:02Z",
                          "clip": "s1/0", "score": 0.5}]
        });
        let shown = for_people(&answer, &TimeZone::UTC, Paint::plain());
        assert!(shown.starts_with("Ava was here.\n93 % sure, builtin, 4.2 ms\n\n"), "{shown}");
        assert!(shown.contains("2026-03-02 17:30:02"), "{shown}");
        let unknown = json!({"answer": "I do not know.", "abstained": true, "engine": "builtin"});
        let shown = for_people(&unknown, &TimeZone::UTC, Paint::plain());
        assert_eq!(shown, "I do not know.\nnot known, builtin");
        // What a model's server said of itself commands no terminal either.
        let note = json!({ "note": "the server: \u{1b}[2Jno" });
        let shown = for_people(&note, &TimeZone::UTC, Paint::plain());
        assert!(shown.ends_with("\nthe server: \\u{1b}[2Jno"), "{shown}");
    }
}
