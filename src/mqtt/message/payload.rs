//! Reading requests: bytes of a command topic become a [`Request`] or a [`Refusal`].

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Refusal;
use super::replay::{ReplayCommand, ReplayRate, ReplayVerb};
use super::request::{
    Ask, Forget, Identify, MAX_CONVERSATION, Name, Pattern, People, Pose, Query, Remember, Request,
    Snapshot, Speaking, Triple,
};
use super::watch::Watch;
use crate::mqtt::topics::{Command, is_request_id};
use crate::mqtt::{MAX_SAMPLES_BYTES, MAX_TEXT_BYTES, MOST_SNAPSHOT_SECS};
use crate::text::composed_payload;
use crate::time::Timestamp;

/// A payload as far as it could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The request's id, when one could be read, even out of a refused request.
    pub id: Option<String>,
    /// What is to be done.
    pub request: Result<Request, Refusal>,
}

/// Reads the payload of a command topic. `json_claimed`: the message says it is JSON (v5 content type).
#[must_use]
pub fn parse(command: Command, payload: &[u8], json_claimed: bool) -> Parsed {
    let id = match request_id(payload) {
        Ok(id) => id,
        Err(refusal) => return Parsed { id: None, request: Err(refusal) },
    };
    Parsed { id, request: read(command, payload, json_claimed) }
}

/// The `id` of a JSON payload, whatever else is in it.
///
/// # Errors
/// [`RefusalCode::BadRequest`](super::RefusalCode::BadRequest) when there is one that cannot be part of a topic.
pub fn request_id(payload: &[u8]) -> Result<Option<String>, Refusal> {
    #[derive(Deserialize)]
    struct OnlyId {
        id: Option<String>,
    }
    let id = serde_json::from_slice::<OnlyId>(payload).ok().and_then(|only| only.id);
    match id {
        Some(id) if !is_request_id(&id) => Err(Refusal::bad_request(
            "`id` must have 1–128 bytes, must not be \"-\", and must not hold `/`, `+`, `#` or control characters",
        )),
        id => Ok(id),
    }
}

fn read(command: Command, payload: &[u8], json_claimed: bool) -> Result<Request, Refusal> {
    if let Command::Replay(verb) = command {
        return replay(verb, payload).map(Request::Replay);
    }
    if payload.is_empty() {
        return Err(Refusal::bad_request("the payload is empty"));
    }
    let most = match command {
        Command::Name | Command::Identify | Command::Remember => MAX_SAMPLES_BYTES,
        _ => MAX_TEXT_BYTES,
    };
    if payload.len() > most + 8 * 1024 {
        return Err(too_large(payload.len(), most));
    }
    let text = std::str::from_utf8(payload).map_err(|error| {
        Refusal::bad_request(format!(
            "the payload is not UTF-8 text: byte {} begins no character",
            error.valid_up_to()
        ))
    })?;
    let text = composed_payload(text.trim_start_matches('\u{feff}').trim());
    let text = text.as_ref();
    match command {
        Command::Ask => ask(text, json_claimed).map(Request::Ask),
        Command::Remember => remember(text).map(Request::Remember),
        Command::Forget => forget(text).map(Request::Forget),
        Command::Pin => object(text, r#"{"memory":"memory_17","pinned":true}"#).map(Request::Pin),
        Command::Name => name(text).map(Request::Name),
        Command::Identify => identify(text).map(Request::Identify),
        Command::People => people(text).map(Request::People),
        Command::Feedback => {
            object(text, r#"{"answer":"answer_5","verdict":"right"}"#).map(Request::Feedback)
        }
        Command::Query => query(text).map(Request::Query),
        Command::Pose => {
            let example =
                r#"{"x":1.0,"y":2.0,"yaw":0.5,"frame":"map","stamp":"2026-03-02T17:30:00Z"}"#;
            object::<Pose>(text, example).map(|pose| Request::Pose(pose.into()))
        }
        Command::Speaking => speaking(text).map(Request::Speaking),
        Command::Privacy => object(text, r#"{"microphones":false}"#).map(Request::Privacy),
        Command::Snapshot => snapshot(text).map(Request::Snapshot),
        Command::Watch => {
            let watch: Watch = object(text, r#"{"add":{"who":"Ava","what":"comes"}}"#)?;
            watch.check().map(|()| Request::Watch(watch))
        }
        Command::Replay(verb) => replay(verb, payload).map(Request::Replay),
    }
}

fn too_large(bytes: usize, most: usize) -> Refusal {
    Refusal::too_large(format!(
        "{bytes} bytes are more than the {most} that are worked on; shorten it"
    ))
}

/// A text field that must say something and stay below the limit.
fn said(what: &str, text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::bad_request(format!("{what} is empty")));
    }
    if text.len() > MAX_TEXT_BYTES {
        return Err(too_large(text.len(), MAX_TEXT_BYTES));
    }
    Ok(())
}

fn object<T: DeserializeOwned>(text: &str, example: &str) -> Result<T, Refusal> {
    if !text.starts_with('{') {
        return Err(Refusal::bad_request(format!(
            "the payload must be a JSON object such as {example}"
        )));
    }
    serde_json::from_str(text).map_err(|error| {
        let what = if error.is_data() { "does not fit" } else { "is not valid JSON" };
        Refusal::bad_request(format!("the payload {what}: {error}; write for example {example}"))
    })
}

fn ask(text: &str, json_claimed: bool) -> Result<Ask, Refusal> {
    // Flow editors and templates send a text as JSON writes it, with its quotation marks.
    let quoted = text.starts_with('"').then(|| serde_json::from_str::<String>(text).ok()).flatten();
    let ask = if let Some(question) = &quoted {
        Ask::plain(question.trim())
    } else if text.starts_with('{') || json_claimed {
        object(text, r#"{"question":"Who was here?","id":"q1"}"#)?
    } else {
        Ask::plain(text)
    };
    said("the question", &ask.question)?;
    if ask.deadline_ms == Some(0) {
        return Err(Refusal::bad_request("`deadline_ms` must be at least 1"));
    }
    let is_name = |name: &String| !name.is_empty() && name.len() <= MAX_CONVERSATION;
    if ask.conversation.as_ref().is_some_and(|name| !is_name(name)) {
        return Err(Refusal::bad_request(format!(
            "`conversation` must have 1 to {MAX_CONVERSATION} bytes"
        )));
    }
    Ok(ask)
}

fn remember(text: &str) -> Result<Remember, Refusal> {
    let remember: Remember = object(text, r#"{"text":"Ava likes oat milk."}"#)?;
    if let Some(text) = &remember.text {
        said("`text`", text)?;
    }
    if let Some(document) = &remember.document {
        let Remember { text, fact, end, entities, .. } = &remember;
        if text.is_some() || fact.is_some() || end.is_some() || !entities.is_empty() {
            return Err(Refusal::bad_request(
                "`document` goes with `start` and `pinned` alone: what it is about is read in it",
            ));
        }
        document.check()?;
        return Ok(remember);
    }
    match &remember.fact {
        Some(fact) => stated(fact)?,
        None if remember.text.is_none() => {
            return Err(Refusal::bad_request(
                "missing field `text`, `fact`, or `document`; write for example {\"text\":\"Ava likes oat milk.\"}",
            ));
        }
        None => {}
    }
    ordered(remember.start, remember.end)?;
    if remember.start.is_none() && remember.end.is_some() {
        return Err(Refusal::bad_request("`end` needs a `start`"));
    }
    Ok(remember)
}

/// Longest part of a fact, bytes.
const MAX_PART_BYTES: usize = 200;

fn stated(fact: &Triple) -> Result<(), Refusal> {
    let Triple { subject, attribute, value } = fact;
    for (field, text) in [("`subject`", subject), ("`attribute`", attribute), ("`value`", value)] {
        said(field, text)?;
        if text.len() > MAX_PART_BYTES || text.contains(char::is_control) {
            return Err(Refusal::bad_request(format!(
                "{field} must have at most {MAX_PART_BYTES} bytes and no control characters"
            )));
        }
    }
    Ok(())
}

fn forget(text: &str) -> Result<Forget, Refusal> {
    let forget: Forget = object(text, r#"{"entity":"person_4"}"#)?;
    let span = (forget.start, forget.end);
    let chosen = [
        forget.entity.is_some(),
        forget.memory.is_some(),
        forget.fact.is_some(),
        forget.document.is_some(),
        span.0.is_some() || span.1.is_some(),
    ];
    if chosen.iter().filter(|one| **one).count() != 1 || span.0.is_some() != span.1.is_some() {
        return Err(Refusal::bad_request(
            "give exactly one of `entity`, `memory`, `fact`, `document`, or `start` with `end`",
        ));
    }
    if forget.fact.as_ref().is_some_and(Pattern::is_open) {
        return Err(Refusal::bad_request(
            "say of the `fact` at least one of `subject`, `attribute`, `value`",
        ));
    }
    ordered(span.0, span.1)?;
    Ok(forget)
}

fn name(text: &str) -> Result<Name, Refusal> {
    let mut name: Name = object(text, r#"{"entity":"person_4","name":"Ava"}"#)?;
    let bad = |message: &str| Err(Refusal::bad_request(message));
    for (field, text) in [("`entity`", &name.entity), ("`name`", &name.name)] {
        if let Some(text) = text {
            said(field, text)?;
        }
    }
    let strange = |c: char| c.is_control() || c == '<' || c == '>';
    if name.name.as_ref().is_some_and(|name| name.len() > 200 || name.contains(strange)) {
        return bad("`name` must have at most 200 bytes and no `<`, `>` or control characters");
    }
    let samples = name.photo.is_some() || name.voice.is_some();
    match (&name.entity, &name.name) {
        (Some(entity), name) if entity.trim() == "self" && (!samples || name.is_some()) => {
            return bad("the robot is `self` and gets no name; give `voice` to teach its voice");
        }
        (Some(entity), _) if entity.trim() == "self" && name.photo.is_some() => {
            return bad("`self` has a voice, and no face; leave `photo` out");
        }
        (None, None) => return bad("give `name`, or `entity` with `photo` or `voice`"),
        (None, Some(_)) if !samples => return bad("missing field `entity`: whom to name"),
        (Some(_), None) if !samples => return bad("missing field `name`: what to call them"),
        _ => {}
    }
    name.name = name.name.map(|name| name.trim().to_owned());
    Ok(name)
}

fn identify(text: &str) -> Result<Identify, Refusal> {
    let identify: Identify = object(text, r#"{"photo":"/9j/4AAQ…"}"#)?;
    match (&identify.photo, &identify.voice) {
        (Some(sample), None) | (None, Some(sample)) if !sample.trim().is_empty() => Ok(identify),
        (Some(_), Some(_)) | (None, None) => {
            Err(Refusal::bad_request("give exactly one of `photo` and `voice`"))
        }
        _ => Err(Refusal::bad_request("the sample is empty")),
    }
}

fn people(text: &str) -> Result<People, Refusal> {
    let people: People = object(text, r#"{"merge":["person_1","person_4"]}"#)?;
    let chosen = (people.merge.len(), people.split.len());
    if !matches!(chosen, (2.., 0) | (0, 1..)) {
        return Err(Refusal::bad_request(
            "give either `merge` with two or more people, or `split` with one or more faces and voices",
        ));
    }
    for word in people.merge.iter().chain(&people.split) {
        said("one of the words", word)?;
    }
    Ok(people)
}

fn snapshot(text: &str) -> Result<Snapshot, Refusal> {
    let snapshot: Snapshot = object(text, r#"{"secs":30}"#)?;
    let chosen = [snapshot.secs.is_some(), snapshot.start.is_some(), snapshot.remove.is_some()];
    let has_end = snapshot.end.is_some() && snapshot.start.is_none();
    if chosen.iter().filter(|one| **one).count() > 1 || has_end {
        return Err(Refusal::bad_request(
            "give at most one of `secs`, `start` (with `end`), and `remove`",
        ));
    }
    if snapshot.secs.is_some_and(|secs| !(secs > 0.0 && secs <= MOST_SNAPSHOT_SECS)) {
        return Err(Refusal::bad_request(format!(
            "`secs` must be above 0, and {MOST_SNAPSHOT_SECS} at most"
        )));
    }
    ordered(snapshot.start, snapshot.end)?;
    Ok(snapshot)
}

fn query(text: &str) -> Result<Query, Refusal> {
    let query: Query = object(text, r#"{"verb":"people","args":{}}"#)?;
    if query.args.is_object() || query.args.is_null() {
        Ok(query)
    } else {
        Err(Refusal::bad_request("`args` must be an object"))
    }
}

fn speaking(text: &str) -> Result<Speaking, Refusal> {
    let speaking: Speaking = object(text, r#"{"start":"2026-03-02T17:30:00Z","text":"Hello!"}"#)?;
    ordered(Some(speaking.start), speaking.end)?;
    if let Some(text) = &speaking.text {
        said("`text`", text)?;
    }
    Ok(speaking)
}

/// Nothing ends before it begins.
///
/// # Errors
/// `bad_request` where it does.
pub fn ordered(start: Option<Timestamp>, end: Option<Timestamp>) -> Result<(), Refusal> {
    match (start, end) {
        (Some(start), Some(end)) if end < start => {
            Err(Refusal::bad_request(format!("`end` ({end}) is before `start` ({start})")))
        }
        _ => Ok(()),
    }
}

fn replay(verb: ReplayVerb, payload: &[u8]) -> Result<ReplayCommand, Refusal> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "every verb may carry an id; it is read by `request_id`")]
    struct Args {
        id: Option<String>,
        rate: Option<ReplayRate>,
        time: Option<Timestamp>,
        count: Option<u32>,
        recording: Option<String>,
        #[serde(default)]
        again: bool,
    }
    let text = std::str::from_utf8(payload)
        .map_err(|_| Refusal::bad_request("the payload is not UTF-8 text"))?
        .trim();
    let example = match verb {
        ReplayVerb::Rate => r#"{"rate":4} or {"rate":"max"}"#,
        ReplayVerb::Seek => r#"{"time":"2026-03-02T17:30:00Z"}"#,
        ReplayVerb::Burst => r#"{"count":10}"#,
        ReplayVerb::Play => r#"{"recording":"home.mp4"}"#,
        ReplayVerb::Pause | ReplayVerb::Resume | ReplayVerb::Step | ReplayVerb::Stop => "{}",
    };
    let args: Args = object(if text.is_empty() { "{}" } else { text }, example)?;
    let missing = || Refusal::bad_request(format!("write for example {example}"));
    Ok(match verb {
        ReplayVerb::Pause => ReplayCommand::Pause,
        ReplayVerb::Resume => ReplayCommand::Resume,
        ReplayVerb::Step => ReplayCommand::Step,
        ReplayVerb::Stop => ReplayCommand::Stop,
        ReplayVerb::Rate => ReplayCommand::Rate(args.rate.ok_or_else(missing)?),
        ReplayVerb::Seek => ReplayCommand::Seek(args.time.ok_or_else(missing)?),
        ReplayVerb::Burst => {
            ReplayCommand::Burst(args.count.filter(|count| *count > 0).ok_or_else(missing)?)
        }
        ReplayVerb::Play => ReplayCommand::Play {
            recording: args.recording.ok_or_else(missing)?,
            again: args.again,
        },
    })
}

/// What fuzzing and mutations start from: the place of the command in [`exercise`]'s list, then the payload.
#[cfg(test)]
pub(crate) const REQUEST_SEEDS: [&str; 11] = [
    "\u{0}{\"question\":\"Who was here?\",\"as_of\":{\"seq\":3},\"id\":\"a\"}",
    "\u{1}{\"text\":\"x\",\"pinned\":true,\"entities\":[\"Ava\"],\"fact\":{\"subject\":\"x\",\"attribute\":\"y\",\"value\":\"z\"}}",
    "\u{1}{\"document\":{\"name\":\"a.md\",\"passages\":[{\"text\":\"b\",\"heading\":null,\"page\":1,\"line\":2,\"last_line\":3}]}}",
    "\u{2}{\"start\":5000000000,\"end\":\"2026-03-02T17:30:00Z\"}",
    "\u{4}{\"merge\":[\"person_1\",\"Ava\"]}",
    "\u{6}{\"verb\":\"timeline\",\"args\":{\"day\":\"2026-03-02\"}}",
    "\u{7}{\"x\":1,\"y\":-2.5e0,\"yaw\":0,\"frame\":\"map\",\"stamp\":5000000000}",
    "\u{c}{\"rate\":\"max\"}",
    "\u{11}{\"add\":{\"who\":\"Ava\",\"what\":\"stays\",\"for_secs\":6e2,\"between\":\"22:00-06:00\"}}",
    "\u{12}{\"photo\":\"/9j/4AAQ\",\"id\":\"a\"}",
    "\u{13}{\"memory\":\"memory_17\",\"pinned\":false}",
];

/// Reads a payload that nobody vouches for; the first byte chooses the command, its highest bit says that JSON is
/// claimed. For fuzzing.
pub fn exercise(bytes: &[u8]) {
    const COMMANDS: [Command; 22] = [
        Command::Ask,
        Command::Remember,
        Command::Forget,
        Command::Name,
        Command::People,
        Command::Feedback,
        Command::Query,
        Command::Pose,
        Command::Speaking,
        Command::Privacy,
        Command::Replay(ReplayVerb::Pause),
        Command::Replay(ReplayVerb::Resume),
        Command::Replay(ReplayVerb::Rate),
        Command::Replay(ReplayVerb::Seek),
        Command::Replay(ReplayVerb::Step),
        Command::Replay(ReplayVerb::Burst),
        Command::Replay(ReplayVerb::Stop),
        Command::Watch,
        Command::Identify,
        Command::Pin,
        Command::Replay(ReplayVerb::Play),
        Command::Snapshot,
    ];
    let Some((choice, payload)) = bytes.split_first() else { return };
    if let Some(command) = COMMANDS.get(usize::from(choice & 0x7f) % COMMANDS.len()) {
        let _ = parse(*command, payload, choice & 0x80 != 0);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::Seq;
    use crate::mqtt::RefusalCode;
    use crate::mqtt::message::{AsOf, Effort};
    use proptest::prelude::*;

    fn ok(command: Command, payload: &str) -> Request {
        parse(command, payload.as_bytes(), false).request.unwrap()
    }

    fn code(command: Command, payload: &[u8]) -> RefusalCode {
        parse(command, payload, false).request.unwrap_err().code
    }

    #[test]
    fn a_question_is_json_or_plain_text() {
        assert_eq!(ok(Command::Ask, " Who was here?\n"), Request::Ask(Ask::plain("Who was here?")));
        let quoted = r#""Who was \"here\"? ""#;
        assert_eq!(ok(Command::Ask, quoted), Request::Ask(Ask::plain("Who was \"here\"?")));
        // A question that begins with a quotation is none that JSON wrote.
        let quoting = r#""Hello" was said by whom?"#;
        assert_eq!(ok(Command::Ask, quoting), Request::Ask(Ask::plain(quoting)));
        let full = r#"{"question":"Who?","id":"q1","as_of":"seq:41","now":1772472600000000000,"effort":"deep","deadline_ms":500}"#;
        let Request::Ask(ask) = ok(Command::Ask, full) else { panic!() };
        assert_eq!(ask.as_of, Some(AsOf::Seq(Seq(41))));
        assert_eq!(ask.now.unwrap().to_string(), "2026-03-02T17:30:00.000000000Z");
        assert_eq!((ask.effort, ask.deadline_ms()), (Effort::Deep, 500));
        assert_eq!(Ask::plain("x").deadline_ms(), 2_000);
    }

    #[test]
    fn bad_questions_are_refused_by_kind() {
        use RefusalCode::{BadRequest, TooLarge};
        for payload in [
            &b""[..],
            b"  \n",
            b"\xff\xfe?",
            b"{\"question\":",
            b"{}",
            b"{\"question\":\"\"}",
            b"{\"question\":7}",
            b"{\"question\":\"a\",\"asof\":1}",
            b"{\"question\":\"a\",\"as_of\":\"yesterday\"}",
            b"{\"question\":\"a\",\"id\":\"a/b\"}",
            b"{\"question\":\"a\",\"effort\":\"hard\"}",
            b"{\"question\":\"a\",\"deadline_ms\":0}",
        ] {
            assert_eq!(
                code(Command::Ask, payload),
                BadRequest,
                "{}",
                String::from_utf8_lossy(payload)
            );
        }
        assert_eq!(code(Command::Ask, &vec![b'a'; 5_000_000]), TooLarge);
        let claimed = parse(Command::Ask, b"Who?", true);
        assert_eq!(claimed.request.unwrap_err().code, BadRequest);
    }

    #[test]
    fn a_refused_request_keeps_its_id() {
        let long = format!(r#"{{"question":"{}","id":"big"}}"#, "a".repeat(5_000_000));
        assert_eq!(parse(Command::Ask, long.as_bytes(), false).id.as_deref(), Some("big"));
        let wrong = parse(Command::Name, br#"{"id":"n1","entity":"person_1"}"#, false);
        assert_eq!(wrong.id.as_deref(), Some("n1"));
        assert!(wrong.request.unwrap_err().message.contains("missing field `name`"));
    }

    #[test]
    fn points_of_history_have_four_forms() {
        let at = |nanos| AsOf::Time(Timestamp::from_nanos(nanos));
        for (text, means) in [
            ("41", AsOf::Seq(Seq(41))),
            ("seq:41", AsOf::Seq(Seq(41))),
            ("1772472600000000000", at(1_772_472_600_000_000_000)),
            ("2026-03-02T17:30:00Z", at(1_772_472_600_000_000_000)),
            ("-5", at(-5)),
        ] {
            assert_eq!(AsOf::parse(text), Ok(means), "{text}");
        }
        assert_eq!(serde_json::from_str::<AsOf>(r#"{"seq":9}"#).unwrap(), AsOf::Seq(Seq(9)));
    }

    #[test]
    fn commands_say_exactly_what_they_mean() {
        use Command::{Feedback, Forget, Name, People, Pose, Query, Remember, Replay, Speaking};
        ok(Remember, r#"{"text":"Ava likes oat milk.","entities":["person_1"],"pinned":true}"#);
        ok(Remember, r#"{"fact":{"subject":"cup","attribute":"location","value":"kitchen"}}"#);
        ok(
            Remember,
            r#"{"text":"A cup!","fact":{"subject":"cup","attribute":"location","value":"kitchen"}}"#,
        );
        ok(Forget, r#"{"start":"2026-03-02T17:30:00Z","end":"2026-03-02T17:31:00Z"}"#);
        ok(Forget, r#"{"fact":{"subject":"Ava","attribute":"likes","value":"?"}}"#);
        ok(Name, r#"{"entity":"person_4","name":"Ava"}"#);
        ok(Name, r#"{"name":"Ava","photo":"aGVsbG8=","voice":"aGVsbG8="}"#);
        ok(Name, r#"{"entity":"Ava","photo":"aGVsbG8="}"#);
        ok(Name, r#"{"entity":"self","voice":"aGVsbG8="}"#);
        ok(People, r#"{"merge":["person_4","Ava"]}"#);
        ok(People, r#"{"split":["voice_3"]}"#);
        ok(Feedback, r#"{"answer":"answer_5","verdict":"wrong","comment":"It was Ben."}"#);
        ok(Query, r#"{"verb":"people"}"#);
        ok(Pose, r#"{"x":1,"y":2,"yaw":0,"frame":"map","stamp":5000000000}"#);
        ok(Speaking, r#"{"start":5000000000}"#);
        assert_eq!(
            ok(Replay(ReplayVerb::Rate), r#"{"rate":"max"}"#),
            Request::Replay(ReplayCommand::Rate(ReplayRate::Max))
        );
        assert_eq!(ok(Replay(ReplayVerb::Pause), ""), Request::Replay(ReplayCommand::Pause));
        let (recording, again) = ("home.mp4".to_owned(), true);
        assert_eq!(
            ok(Replay(ReplayVerb::Play), r#"{"recording":"home.mp4","again":true}"#),
            Request::Replay(ReplayCommand::Play { recording, again })
        );
        for (command, payload) in [
            (Remember, "plain text"),
            (Remember, r#"{"text":"a","start":9000000000,"end":8000000000}"#),
            (Remember, r#"{"pinned":true}"#),
            (Remember, r#"{"text":"","fact":{"subject":"a","attribute":"b","value":"c"}}"#),
            (Remember, r#"{"fact":{"subject":"a","attribute":"b"}}"#),
            (Remember, r#"{"fact":{"subject":"a","attribute":" ","value":"c"}}"#),
            (Remember, r#"{"fact":{"subject":"a","attribute":"b","value":"c\nd"}}"#),
            (Remember, r#"{"fact":{"subject":"a","attribute":"b","value":"c","who":"d"}}"#),
            (Forget, "{}"),
            (Forget, r#"{"entity":"a","memory":"b"}"#),
            (Forget, r#"{"fact":{"subject":"?","value":" "}}"#),
            (Forget, r#"{"fact":{"subject":"a"},"memory":"b"}"#),
            (Forget, r#"{"fact":{"who":"a"}}"#),
            (Forget, r#"{"start":5000000000}"#),
            (Name, r#"{"entity":"person_4","name":" "}"#),
            (Name, r#"{"name":"Ava"}"#),
            (Name, r#"{"photo":"aGVsbG8="}"#),
            (Name, r#"{"entity":"self","name":"Ava"}"#),
            (Name, r#"{"entity":"self","photo":"aGVsbG8="}"#),
            (People, r#"{"merge":["person_4"]}"#),
            (People, r#"{"merge":["person_4","Ava"],"split":["voice_3"]}"#),
            (Name, r#"{"entity":"person_4","name":"<person_5>"}"#),
            (Feedback, r#"{"answer":"answer_5","verdict":"maybe"}"#),
            (Query, r#"{"verb":"drop"}"#),
            (Query, r#"{"verb":"people","args":[1]}"#),
            (Pose, r#"{"x":1}"#),
            (Speaking, r#"{"start":"soon"}"#),
            (Replay(ReplayVerb::Rate), r#"{"rate":0}"#),
            (Replay(ReplayVerb::Rate), r#"{"rate":1e-300}"#),
            (Replay(ReplayVerb::Rate), r#"{"rate":1e9}"#),
            (Replay(ReplayVerb::Rate), ""),
            (Replay(ReplayVerb::Burst), r#"{"count":0}"#),
            (Replay(ReplayVerb::Play), ""),
        ] {
            assert_eq!(code(command, payload.as_bytes()), RefusalCode::BadRequest, "{payload}");
        }
    }

    #[test]
    fn a_refused_replay_command_shows_how_its_verb_is_written() {
        for (verb, payload, example) in [
            (ReplayVerb::Rate, r#"{"rate":-1}"#, r#"{"rate":4}"#),
            (ReplayVerb::Rate, "", r#"{"rate":4}"#),
            (ReplayVerb::Burst, r#"{"count":-3}"#, r#"{"count":10}"#),
            (ReplayVerb::Seek, r#"{"time":"soon"}"#, r#"{"time":"2026-"#),
        ] {
            let refusal =
                parse(Command::Replay(verb), payload.as_bytes(), true).request.unwrap_err();
            assert!(refusal.message.contains(example), "{payload}: {}", refusal.message);
        }
    }

    proptest! {
        #[test]
        fn no_payload_makes_the_parser_fall_over(payload: Vec<u8>, claimed: bool) {
            for command in [Command::Ask, Command::Forget, Command::Query, Command::Replay(ReplayVerb::Seek)] {
                let _ = parse(command, &payload, claimed);
            }
        }

        #[test]
        fn a_written_question_is_read_back(question in "[a-zA-Z ?]{0,40}[a-z]", id in "[a-z0-9_.-]{2,20}", deadline in 1u64..100_000) {
            let ask = Ask { id: Some(id.clone()), deadline_ms: Some(deadline), ..Ask::plain(&question) };
            let parsed = parse(Command::Ask, &serde_json::to_vec(&ask).unwrap(), true);
            prop_assert_eq!(parsed, Parsed { id: Some(id), request: Ok(Request::Ask(ask)) });
        }
    }

    #[test]
    fn mutated_requests_never_panic() {
        let seeds: Vec<_> = REQUEST_SEEDS.iter().map(|seed| seed.as_bytes().to_vec()).collect();
        crate::capture::bag::mutations::hold("requests", 20_000, &seeds, exercise);
    }
}
