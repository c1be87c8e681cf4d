//! Answers from what was seen and heard: a question taken apart, and the family that it belongs to.

use crate::ids::{EntityId, EntityKind};
use crate::language::Language;
use crate::recall::time_expr::TimeExpr;

use super::persons::{self, Names};
use super::question::{self, Act, Ask, Parsed, Subject};
use super::reading::Reading;
use super::reply::Reply;
use super::{
    actions, asked, clothes, counts, facts, objects, presence, said, sounds, texts, things,
};
use super::{when, who};

/// How likely a memory that holds a clause's words tells of the event that it means.
const RIGHT_EVENT: f32 = 0.7;

/// What percepts say to a question.
pub(super) struct Perceived {
    /// With the times of the question.
    pub(super) reading: Reading,
    pub(super) parsed: Parsed,
    /// Whom it names.
    pub(super) people: Vec<EntityId>,
    pub(super) reply: Reply,
    /// Memories have nothing to add: the question is about a thing that a detector saw, or means a time or somebody that cannot
    /// be made out.
    is_settled: bool,
    /// Nothing that is quoted of a memory answers it either: it is about words in view, and they are another's, or about what
    /// somebody did, and nobody knows who.
    pub(super) is_final: bool,
}

impl Perceived {
    /// Whether that answers it.
    pub(super) fn answers(&self) -> bool {
        !self.reply.abstained && (self.is_settled || !self.is_open())
    }

    /// Whether eyes and ears were asked for all of it: sentences made of what they perceived have nothing to add.
    pub(super) fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Whether percepts leave open what was asked: nothing was seen or heard of it, or the question holds more than they
    /// can tell. Of coming and going notes tell, too.
    pub(super) fn is_open(&self) -> bool {
        let (parsed, reply) = (&self.parsed, &self.reply);
        let moved = matches!(
            parsed.ask,
            Ask::When { act: Act::Arrived | Act::Left, .. }
                | Ask::Who { act: Act::Arrived | Act::Left, .. }
                | Ask::Did { act: Act::Arrived | Act::Left }
        );
        if self.is_plain() && !moved || parsed.content.iter().any(|word| word == "empty") {
            return false;
        }
        match &parsed.ask {
            Ask::Now => false,
            Ask::Search | Ask::When { act: Act::Other, .. } => true,
            _ => reply.evidence.is_empty(),
        }
    }

    /// Whether the question holds nothing that percepts cannot tell.
    pub(super) fn is_plain(&self) -> bool {
        let parsed = &self.parsed;
        let strange = parsed.subjects.iter().any(|one| matches!(one, Subject::Unknown(_)));
        let said = !parsed.topic.is_empty() || !parsed.quotes.is_empty();
        !strange && !said && parsed.content.is_empty()
    }
}

/// Takes a question apart and answers it from percepts; the reply abstains where they do not tell.
pub(super) fn perceived(
    mut reading: Reading,
    language: Option<&Language>,
    text: &str,
) -> Perceived {
    let view = reading.view.clone();
    let names = Names { view: &view, language };
    let find = |name: &str| names.find(name);
    let zone = reading.wording.zone.clone();
    let parsed = question::parse(language, &view.with_ids(text), reading.now(), &zone, &find);
    let not_understood = parsed.unread.as_deref().map(asked::not_understood);
    let is_final = false;
    let spans = not_understood.map_or_else(|| asked::spans(&reading, &names, &parsed.times), Err);
    let found = match spans {
        Ok(spans) => {
            reading.spans = spans;
            if let Some(reply) = texts::asked(&reading, language, text, &parsed) {
                let people = Vec::new();
                let is_settled = true;
                return Perceived { reading, parsed, people, reply, is_settled, is_final: true };
            }
            if let Some(reply) = sounds::asked(&reading, language, text, &parsed) {
                let people = Vec::new();
                return Perceived { reading, parsed, people, reply, is_settled: true, is_final };
            }
            if let Some(reply) = things::asked(&reading, &names, language, &parsed) {
                let people = Vec::new();
                return Perceived { reading, parsed, people, reply, is_settled: true, is_final };
            }
            if let Some(reply) = clothes::asked(&reading, &parsed) {
                let people = Vec::new();
                return Perceived { reading, parsed, people, reply, is_settled: true, is_final };
            }
            persons(&reading, &names, &parsed.subjects)
        }
        Err(reply) => {
            let people = persons(&reading, &names, &parsed.subjects).unwrap_or_default();
            return Perceived { reading, parsed, people, reply, is_settled: true, is_final };
        }
    };
    match found {
        Ok(people) => {
            if let Some(reply) = actions::asked(&reading, language, text, &parsed, &people) {
                // (A memory that somebody did it tells no more of whom the question names.)
                let is_final = reply.abstained;
                return Perceived { reading, parsed, people, reply, is_settled: true, is_final };
            }
            if people.is_empty()
                && parsed.yes_no
                && let Some(reply) = objects::whether(&reading, &parsed.content)
            {
                return Perceived { reading, parsed, people, reply, is_settled: true, is_final };
            }
            if people.is_empty()
                && matches!(parsed.ask, Ask::Where { .. })
                && let Some(reply) = objects::of_no_such_colour(&reading, &parsed.content)
            {
                return Perceived { reading, parsed, people, reply, is_settled: true, is_final };
            }
            let usual = people.first().and_then(|id| facts::usual(&reading, *id, &parsed));
            let mut reply = usual.unwrap_or_else(|| dispatch(&reading, &names, &parsed, &people));
            if parsed.times.iter().any(TimeExpr::is_told) {
                reply.confidence *= RIGHT_EVENT;
            }
            Perceived { reading, parsed, people, reply, is_settled: false, is_final }
        }
        Err(unknown) => {
            let never = persons::never_met(&reading, &parsed);
            let reply = never.or_else(|| facts::named_then(&reading, &parsed)).unwrap_or(unknown);
            Perceived { reading, parsed, people: Vec::new(), reply, is_settled: true, is_final }
        }
    }
}

/// The persons a question names, in order; the first is its subject.
fn persons(
    reading: &Reading,
    names: &Names<'_>,
    subjects: &[Subject],
) -> Result<Vec<EntityId>, Reply> {
    let mut found = Vec::new();
    for subject in subjects {
        match subject {
            Subject::Anybody => {}
            Subject::Described(told) if told.clause == question::Clause::Other => {
                let known = found.clone();
                let others: Vec<EntityId> = reading
                    .seen(None)
                    .into_iter()
                    .map(|(id, _)| id)
                    .filter(|id| !known.contains(id))
                    .collect();
                found.extend(others.first().filter(|_| others.len() == 1));
            }
            subject => found.push(names.person(reading, subject)?),
        }
    }
    Ok(found)
}

fn dispatch(reading: &Reading, names: &Names<'_>, parsed: &Parsed, ids: &[EntityId]) -> Reply {
    let first = ids.first().copied();
    let is_thing = |id: &EntityId| !Reading::is_person(*id);
    let is_object = |id: EntityId| id.kind == EntityKind::Object;
    let pair = match ids {
        [a, b] if !is_thing(a) && !is_thing(b) && a != b => Some((*a, *b)),
        _ => None,
    };
    let met = |meant| match pair {
        Some(pair) => presence::met(reading, pair, meant),
        None => Reply::unknown("I don't know whom you mean."),
    };
    match &parsed.ask {
        Ask::Now => who::now(reading, first),
        Ask::Who { act, order } => {
            let mut not = ids.to_vec();
            not.extend(asked::hosts(reading, names, &parsed.times));
            who::who(reading, *act, *order, &not)
        }
        Ask::WhoSaid => said::who_said(reading, parsed),
        Ask::SaidWhat { order } => said::said_what(reading, parsed, *order, first),
        Ask::When { act, order, ago: false } if pair.is_some() && *act != Act::Spoke => {
            met(presence::Meant::When(*order))
        }
        Ask::HowOften { act } if pair.is_some() && *act != Act::Spoke => {
            met(presence::Meant::HowOften)
        }
        Ask::HowLong { act } if pair.is_some() && *act != Act::Spoke => {
            met(presence::Meant::HowLong)
        }
        Ask::When { act, order, ago } if first.is_some() || anybody(parsed, *act) => {
            when::when(reading, parsed, *act, *order, *ago, first)
        }
        Ask::When { .. } => Reply::nothing(),
        Ask::HowOften { act } => counts::often(reading, parsed, *act, first),
        Ask::HowMany { act } => counts::many(reading, *act),
        Ask::HowLong { act } => counts::long(reading, *act, first),
        Ask::Where { .. } if parsed.content.is_empty() && first.is_some_and(is_object) => {
            first.map_or_else(Reply::nothing, |id| objects::where_object(reading, id))
        }
        Ask::Where { order } => match first.filter(|id| !is_thing(id)) {
            Some(id) if parsed.content.is_empty() => facts::where_person(reading, id, *order),
            _ if parsed.content.is_empty() => {
                Reply::unknown("I don't know what you are looking for.")
            }
            // "Where does Ben go to school?" looks for no thing.
            Some(_) => Reply::nothing(),
            None => objects::where_called(reading, &parsed.content).unwrap_or_else(Reply::nothing),
        },
        Ask::With { talked } => match first {
            Some(id) => presence::with(reading, id, *talked),
            None => Reply::unknown("I don't know whom you mean."),
        },
        Ask::NeverSeen => match first {
            Some(id) => presence::ever(reading, id, Act::Seen),
            None => presence::list_never_seen(reading),
        },
        Ask::Alone => match first {
            Some(id) => presence::alone(reading, id),
            None => Reply::unknown("I don't know whom you mean."),
        },
        Ask::NeverSpoke => presence::list_never_spoke(reading),
        Ask::Ever { act } => match first {
            Some(id) if is_object(id) => objects::seen_object(reading, id),
            Some(id) => presence::ever(reading, id, *act),
            None => presence::did(reading, parsed, *act, None),
        },
        Ask::Did { act } => presence::did(reading, parsed, *act, first),
        Ask::Together => match ids {
            [a, b, ..] => presence::together(reading, *a, *b),
            [a] => presence::with(reading, *a, false),
            [] => Reply::unknown("I don't know whom you mean."),
        },
        Ask::WhoIs => match first {
            Some(id) => facts::who_is(reading, id),
            None => Reply::unknown("I don't know whom you mean."),
        },
        Ask::About => match first {
            Some(id) => facts::about(reading, id),
            None => Reply::nothing(),
        },
        Ask::Summary => facts::summary(reading, first),
        Ask::Everybody => facts::everybody(reading),
        Ask::Search => match (parsed.matter().is_empty(), first) {
            (true, Some(id)) => facts::about(reading, id),
            (true, None) => Reply::unknown("I don't understand the question."),
            // The memories are asked.
            (false, _) => Reply::nothing(),
        },
    }
}

/// Whether "when" without a person can be told from percepts: somebody's speech or presence.
fn anybody(parsed: &Parsed, act: Act) -> bool {
    match act {
        Act::Spoke => true,
        Act::Other => parsed.content.iter().any(|word| word == "empty"),
        _ => parsed.content.is_empty() || parsed.content.iter().any(|word| word == "empty"),
    }
}
