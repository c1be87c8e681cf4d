//! The tools of the `tools` protocol. They read, and nothing else: whatever a model is talked into, it cannot
//! change the memory.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::answer::asked;
use crate::answer::builtin::Vectors;
use crate::answer::document::Evidence;
use crate::answer::persons::Names;
use crate::answer::reading::hull;
use crate::answer::reply::Reply;
use crate::answer::{facts, who};
use crate::ids::{ClipId, EntityId, SourceId};
use crate::llm::{Message, Part, Role, Tool, ToolCall, json as loose};
use crate::memory::model::{Clip, MemoryKind};
use crate::memory::{Filter, Order, PresentFrame, PresentTrack, SqlLimits, sql_views};
use crate::recall::Query;
use crate::recall::time_expr::time_expressions;
use crate::time::{Span, Timestamp};

use super::Asking;
use super::conversation::one_line;
use super::verdict::WRITTEN;

/// Memories per search.
const FINDS: usize = 8;
/// Lines of a timeline or a clip.
const LINES: usize = 40;
/// Rows of a query, and how long it may take.
const ROWS: usize = 40;
const SQL_TIME: Duration = Duration::from_secs(1);
/// Characters of a query's result.
const TABLE_CHARS: usize = 4000;
/// Pictures of a clip.
const PICTURES: usize = 2;
/// Pictures of the open window.
const LOOK_PICTURES: usize = 4;
/// Their names.
const TOOLS: [&str; 7] = ["search", "person", "timeline", "where_is", "look", "clip", "sql"];
/// What `sql` is.
static SQL: LazyLock<String> = LazyLock::new(|| {
    format!(
        "One SELECT on the views {}. Times are nanoseconds since 1970. Good for counting and sums.",
        sql_views()
    )
});

/// What the model may call.
pub(super) fn offered(with_sql: bool) -> Vec<Tool> {
    let text = |what: &str| json!({ "type": "string", "description": what });
    let object = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required });
    let time =
        "A time in words, such as \"yesterday evening\", \"17:30 to 18:00\", \"before Ava left\"";
    let mut tools = vec![
        Tool {
            name: "search",
            description: "Memories that fit a text, by meaning and by words. What was shown before is left out.",
            parameters: object(
                json!({
                    "text": text("What to look for"),
                    "time": text(time),
                    "entity": text("Only about this person or thing: a name or an id such as person_4"),
                    "place": text("Only what happened at this place or tells of it: a name or an id such as place_2"),
                    "kind": { "type": "string", "enum": MemoryKind::ALL.map(MemoryKind::word) },
                }),
                &["text"],
            ),
        },
        Tool {
            name: "person",
            description: "All that is known of a person: names, when seen and heard, facts, newest memories.",
            parameters: object(
                json!({ "who": text("A name or an id such as person_4") }),
                &["who"],
            ),
        },
        Tool {
            name: "timeline",
            description: "Who was seen and who spoke when, in order of time.",
            parameters: object(
                json!({ "entity": text("Only this person: a name or an id"), "time": text(time) }),
                &[],
            ),
        },
        Tool {
            name: "where_is",
            description: "Where a thing was last said or seen to be.",
            parameters: object(json!({ "object": text("The thing") }), &["object"]),
        },
        Tool {
            name: "look",
            description: "What the robot sees and hears just now, with pictures.",
            parameters: object(json!({}), &[]),
        },
        Tool {
            name: "clip",
            description: "A second look at an old stretch of time: everything remembered of it, with pictures.",
            parameters: object(json!({ "id": text("The clip's id, such as s1/4") }), &["id"]),
        },
    ];
    if with_sql {
        tools.push(Tool {
            name: "sql",
            description: &SQL,
            parameters: object(json!({ "query": text("SQLite") }), &["query"]),
        });
    }
    tools
}

/// What a tool gives: text, pictures, how many finds.
struct Given {
    text: String,
    pictures: Vec<Part>,
    found: usize,
}

impl Given {
    fn lines(lines: Vec<String>) -> Self {
        let found = lines.len();
        Self { text: lines.join("\n"), pictures: Vec::new(), found }
    }
}

impl Asking<'_> {
    /// Carries out a call; gives the messages that answer it and how much was found.
    pub(super) fn call(&mut self, call: &ToolCall) -> (Vec<Message>, usize) {
        let given = self.carry_out(call).unwrap_or_else(|fault| Given {
            text: format!("error: {fault}"),
            pictures: Vec::new(),
            found: 0,
        });
        let text = if given.text.is_empty() {
            "nothing new was found; try other words, another tool, or answer".to_owned()
        } else {
            format!("<<<RECORDS\n{}\nRECORDS>>>", given.text)
        };
        // A call that was written as words is answered with words.
        let result = if call.id == WRITTEN {
            Message::text(Role::User, format!("Result of {}:\n{text}", call.name))
        } else {
            Message::result(call, text)
        };
        let mut messages = vec![result];
        if !given.pictures.is_empty() {
            let mut parts = vec![Part::Text(format!("Pictures of {}:", call.name))];
            parts.extend(given.pictures);
            messages.push(Message::parts(Role::User, parts));
        }
        (messages, given.found)
    }

    fn carry_out(&mut self, call: &ToolCall) -> Result<Given, String> {
        let arguments = if call.arguments.trim().is_empty() {
            json!({})
        } else {
            loose::object(&call.arguments)
                .ok_or_else(|| format!("the arguments of {} are no JSON object", call.name))?
        };
        let text = |key: &str| {
            arguments
                .get(key)
                .and_then(Value::as_str)
                .map(str::trim)
                .filter(|text| !text.is_empty())
        };
        let need = |key: &str| text(key).ok_or_else(|| format!("{} needs {key:?}", call.name));
        match call.name.as_str() {
            "search" => self.search(
                need("text")?,
                text("time"),
                text("entity"),
                text("place"),
                text("kind"),
            ),
            "person" => {
                let who = need("who").or_else(|_| need("id")).or_else(|_| need("name"))?;
                let id = self.entity(who)?;
                self.person(id)
            }
            "timeline" => self.timeline(text("entity"), text("time").or_else(|| text("span"))),
            "where_is" => {
                let thing = need("object")?;
                let text = format!("Where is {thing}?");
                let mut vectors = Vectors::new(self.answerer);
                let reply = self.answerer.told(self.pinned, &text, &mut vectors);
                Ok(Given::lines(self.told("where_is", reply)))
            }
            "look" => Ok(self.look()),
            "clip" => self.clip(need("id")?),
            "sql" if self.may_sql() => self.sql(need("query")?),
            other => {
                let known = TOOLS.into_iter().filter(|tool| *tool != "sql" || self.may_sql());
                let known: Vec<&str> = known.collect();
                Err(format!("there is no tool {other:?}; there are {}", known.join(", ")))
            }
        }
    }

    fn entity(&self, word: &str) -> Result<EntityId, String> {
        let names = Names { view: &self.pinned.view, language: self.answerer.language() };
        let word = word.trim_matches(['<', '>']).to_lowercase();
        names.find(&word).ok_or_else(|| format!("nobody and nothing is called {word:?}"))
    }

    /// The stretch that a time in words means.
    fn span(&self, text: &str) -> Result<Span, String> {
        let names = Names { view: &self.pinned.view, language: self.answerer.language() };
        if let Ok(at) = Timestamp::parse(text) {
            return Ok(Span::new(at.plus_secs(-30.0), at.plus_secs(30.0)));
        }
        let found = time_expressions(text, self.reading.now(), &self.answerer.zone);
        let spans = asked::spans(&self.reading, &names, &found).map_err(|reply| reply.text)?;
        spans
            .as_deref()
            .and_then(hull)
            .ok_or_else(|| format!("the time {text:?} is not understood"))
    }

    fn search(
        &mut self,
        text: &str,
        time: Option<&str>,
        entity: Option<&str>,
        place: Option<&str>,
        kind: Option<&str>,
    ) -> Result<Given, String> {
        let span = time.map(|time| self.span(time)).transpose()?;
        let entities = entity.map(|word| self.entity(word)).transpose()?;
        let kind = kind.map(|word| {
            MemoryKind::from_word(word).ok_or_else(|| {
                let kinds = MemoryKind::ALL.map(MemoryKind::word).join(", ");
                format!("there is no kind {word:?}; there are {kinds}")
            })
        });
        let mut query = Query {
            vector: self.embed(text),
            text: text.to_owned(),
            span,
            strict: span.is_some() || entities.is_some() || place.is_some(),
            entities: entities.into_iter().collect(),
            place: place.map(str::to_owned),
            kinds: kind.transpose()?.into_iter().collect(),
            exclude: self.shown.memories(),
            k: FINDS,
            ..Query::default()
        };
        let mut lines = self.find(&query);
        if lines.is_empty() && query.strict {
            query.strict = false;
            lines = self.find(&query);
            if !lines.is_empty() {
                let head = "(nothing new with that time, entity and place; without them:)";
                lines.insert(0, head.to_owned());
            }
        }
        Ok(Given::lines(lines))
    }

    fn person(&mut self, id: EntityId) -> Result<Given, String> {
        let known = facts::who_is(&self.reading, id);
        let mut lines = self.told("person", known);
        let about = facts::about(&self.reading, id);
        lines.extend(self.told("person", about));
        let newest = Filter {
            entities: vec![id],
            limit: Some(FINDS * 2),
            order: Order::NewestFirst,
            ..Filter::default()
        };
        let now = self.reading.now();
        for row in self.pinned.view.memories(&newest).iter().filter(|row| row.span.start <= now) {
            lines.extend(self.show(self.reading.memory_evidence(row, row.confidence)));
        }
        Ok(Given::lines(lines))
    }

    /// A built-in reply as a record, then its evidence.
    fn told(&mut self, tool: &str, reply: Reply) -> Vec<String> {
        if reply.abstained {
            return Vec::new();
        }
        let spans: Vec<Span> =
            reply.evidence.iter().map(|one| Span::new(one.start, one.end)).collect();
        let now = self.reading.now();
        let span = hull(&spans).unwrap_or_else(|| Span::new(now, now));
        let record = self.record(tool, reply.text, span, reply.entities);
        let mut lines: Vec<String> = self.show(record).into_iter().collect();
        for evidence in reply.evidence {
            if evidence.memory.is_some() {
                lines.extend(self.show(evidence));
            }
        }
        lines
    }

    fn record(&self, tool: &str, text: String, span: Span, entities: Vec<EntityId>) -> Evidence {
        Evidence {
            memory: None,
            kind: tool.to_owned(),
            text,
            start: span.start,
            end: span.end,
            clip: None,
            entities,
            score: 0.8,
            document: None,
        }
    }

    fn timeline(&mut self, entity: Option<&str>, time: Option<&str>) -> Result<Given, String> {
        let entity = entity.map(|word| self.entity(word)).transpose()?;
        let span = time.map(|time| self.span(time)).transpose()?;
        let spans = span.map(|span| [span]);
        let spans = spans.as_ref().map(<[Span; 1]>::as_slice);
        let mut events: Vec<(Span, EntityId, String)> = Vec::new();
        for run in self.reading.appearances(entity, spans) {
            let name = self.pinned.view.display_name(run.who);
            let text = format!("{name} in view for {:.0} s", run.span.secs());
            events.push((run.span, run.who, text));
        }
        for spoken in self.reading.spoken(entity, spans) {
            let who =
                spoken.who.map_or("somebody".to_owned(), |id| self.pinned.view.display_name(id));
            let words = spoken.words.as_deref().unwrap_or("(words not understood)");
            let text = format!("{who} said: {}", one_line(words));
            events.push((spoken.span, spoken.who.unwrap_or(EntityId::ROBOT), text));
        }
        events.sort_by(|a, b| (a.0.start, &a.2).cmp(&(b.0.start, &b.2)));
        let left_out = events.len().saturating_sub(LINES);
        // The newest are wanted more often.
        events.drain(..left_out);
        let Some((first, ..)) = events.first() else { return Ok(Given::lines(Vec::new())) };
        let whole =
            Span::new(first.start, events.iter().map(|e| e.0.end).max().unwrap_or(first.end));
        let mut entities: Vec<EntityId> = events.iter().map(|event| event.1).collect();
        entities.retain(|id| *id != EntityId::ROBOT);
        entities.sort_unstable();
        entities.dedup();
        let lines: Vec<String> = events
            .iter()
            .map(|(span, _, text)| format!("{} {text}", self.at(span.start)))
            .collect();
        let found = lines.len();
        let record = self.record("timeline", lines.join("; "), whole, entities);
        let key = self.shown.record(record);
        let head = if left_out > 0 {
            format!("{key} ({left_out} older left out):")
        } else {
            format!("{key}:")
        };
        Ok(Given { text: format!("{head}\n{}", lines.join("\n")), pictures: Vec::new(), found })
    }

    fn look(&mut self) -> Given {
        let reply = who::now(&self.reading, None);
        let mut lines = self.told("look", reply);
        let now = self.reading.now();
        let recent = [Span::new(now.plus_secs(-30.0), now.plus_secs(0.001))];
        let heard: Vec<String> = self
            .reading
            .spoken(None, Some(&recent))
            .iter()
            .filter_map(|spoken| {
                let who = spoken
                    .who
                    .map_or("somebody".to_owned(), |id| self.pinned.view.display_name(id));
                let open = spoken.row.is_none().then_some("(not understood yet)");
                let words = one_line(spoken.words.as_deref().or(open)?);
                Some(format!("{} {who} said: {words}", self.at(spoken.span.start)))
            })
            .collect();
        if !heard.is_empty() {
            let record = self.record("look", heard.join("; "), recent[0], Vec::new());
            lines.extend(self.show(record));
        }
        let followed = self.followed();
        if !followed.is_empty() {
            let record = self.record("look", followed.join("; "), recent[0], Vec::new());
            lines.extend(self.show(record));
        }
        let frames = self.open_frames();
        if !frames.is_empty() {
            let taken =
                frames.iter().map(|frame| format!("{} {}", frame.source, self.at(frame.at)));
            lines.push(format!("Pictures of just now: {}", taken.collect::<Vec<_>>().join(", ")));
            let pictures = frames.into_iter().map(|frame| Part::Picture(frame.jpeg)).collect();
            return Given { pictures, ..Given::lines(lines) };
        }
        let newest = self.pinned.view.last_clip(None, |clip| clip.span.start <= now);
        let pictures = newest.as_ref().map(|clip| self.pictures(clip)).unwrap_or_default();
        if let Some(clip) = newest.filter(|_| !pictures.is_empty()) {
            let (from, to) = (self.at(clip.span.start), self.at(clip.span.end));
            lines.push(format!(
                "No camera looks just now; pictures of {} ({from} to {to})",
                clip.id
            ));
        }
        Given { pictures, ..Given::lines(lines) }
    }

    /// Faces that are followed in the open window, and whom they look like so far.
    fn followed(&self) -> Vec<String> {
        let tracks = self.reading.present.iter().flat_map(|present| &present.tracks);
        let line = |track: &PresentTrack| {
            let like = match (track.provisional, track.similarity) {
                (Some(id), Some(cosine)) => {
                    let name = self.pinned.view.display_name(self.pinned.view.resolve(id));
                    format!("looks like {name} ({cosine:.2})")
                }
                _ => "looks like nobody known".to_owned(),
            };
            let since = self.at(track.since);
            format!("{}: {} in view since {since}, {like}", track.source, track.handle)
        };
        tracks.map(line).collect()
    }

    /// The open window's frames, in time order: each camera's newest, then what there is room for. None for a
    /// question about the past, which they are not of, and where no camera runs.
    fn open_frames(&self) -> Vec<PresentFrame> {
        let past = self.question.as_of.is_some() || self.question.now.is_some();
        if past || !self.rounds.settings.pictures {
            return Vec::new();
        }
        let mut frames = self.memory.present().frames();
        let newest: BTreeMap<SourceId, Timestamp> =
            frames.iter().map(|frame| (frame.source.clone(), frame.at)).collect();
        let is_newest = |frame: &PresentFrame| newest.get(&frame.source) == Some(&frame.at);
        frames.sort_by_key(|frame| (Reverse(is_newest(frame)), Reverse(frame.at)));
        frames.truncate(LOOK_PICTURES);
        frames.sort_by(|a, b| (a.at, &a.source).cmp(&(b.at, &b.source)));
        frames
    }

    fn clip(&mut self, id: &str) -> Result<Given, String> {
        let id: ClipId = id.trim().parse().map_err(|error| format!("{error}"))?;
        let clip = self.pinned.view.clip(id).filter(|clip| clip.span.start <= self.reading.now());
        let clip = clip.ok_or_else(|| format!("there is no clip {id}"))?;
        let filter = Filter { clip: Some(id), limit: Some(LINES), ..Filter::default() };
        let mut lines = Vec::new();
        for row in self.pinned.view.memories(&filter) {
            lines.extend(self.show(self.reading.memory_evidence(&row, row.confidence)));
        }
        let (from, to) = (self.at(clip.span.start), self.at(clip.span.end));
        lines.insert(0, format!("{id} is from {from} to {to}"));
        Ok(Given { pictures: self.pictures(&clip), ..Given::lines(lines) })
    }

    fn pictures(&self, clip: &Clip) -> Vec<Part> {
        if !self.rounds.settings.pictures {
            return Vec::new();
        }
        let frames = clip.key_frames.iter().take(PICTURES);
        frames
            .filter_map(|(_, _, digest)| self.memory.media(digest).ok().flatten())
            .map(|jpeg| Part::Picture(jpeg.into()))
            .collect()
    }

    fn sql(&mut self, query: &str) -> Result<Given, String> {
        let limits = SqlLimits { rows: ROWS, time: SQL_TIME.min(self.budget.left()) };
        let table = self.memory.sql_at(&self.pinned.view, query, limits);
        let table = table.map_err(|error| error.to_string())?;
        let rows: Vec<String> = table.rows.iter().map(|row| json!(row).to_string()).collect();
        let found = rows.len();
        let mut text = format!("{}\n{}", json!(table.columns), rows.join("\n"));
        text.truncate(text.floor_char_boundary(TABLE_CHARS));
        let now = self.reading.now();
        let record = self.record("sql", text.replace('\n', "; "), Span::new(now, now), Vec::new());
        let key = self.shown.record(record);
        let more = if table.truncated { "\n(more rows were left out)" } else { "" };
        Ok(Given { text: format!("{key}:\n{text}{more}"), pictures: Vec::new(), found })
    }
}
