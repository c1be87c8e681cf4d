//! What is true of somebody: facts with an attribute and a value answer before any sentence is quoted.
//!
//! "Where does Ava live?", "Does Ben like wine?", "Who is Ava's sister?" are told as of the time that the question
//! means.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::model::{Fact, MemoryKind, MemoryRow};
use crate::memory::natures::{RELATION, RELATIONS, STATUS, is_single_valued, opposite};
use crate::memory::{Filter, stems, telling_stems};
use crate::mention;
use crate::recall::time_expr::{combined_span, time_expressions};
use crate::time::Timestamp;

use super::document::Evidence;
use super::noted::Noted;
use super::persons::Names;
use super::phrase::{as_spelled, asked_for, phrase, whether};
use super::question::{AboutFact, Subject};
use super::reading::Reading;
use super::remembered::{Asked, Fit, remembered};
use super::reply::Reply;
use super::wording::{list, sentence};

/// Kinds of memories that state facts.
const STATING: [MemoryKind; 3] = [MemoryKind::Semantic, MemoryKind::Note, MemoryKind::Reflection];
/// Statements with words of a value that are looked at.
const LOOKED_AT: usize = 50;
/// Values told of one attribute, at most.
const MOST_VALUES: usize = 6;
/// What was told is so for so much.
const SURE: f32 = 0.9;
/// For so much of it, where it has one source only.
const WEAK: f32 = 0.8;
/// Oldest age that is believed, years.
const OLDEST: i16 = 130;
/// What is told beside an attribute of which nothing is known.
const BESIDE: [(&str, &str); 6] = [
    ("age", "birthday"),
    ("birthday", "age"),
    ("home", "address"),
    ("address", "home"),
    ("job", "employer"),
    ("employer", "job"),
];

/// Whether facts alone tell it: percepts and what only sounds like it do not.
pub(super) fn is_slot(asked: &AboutFact) -> bool {
    match asked {
        AboutFact::Value { attribute, .. } => {
            let attribute = attribute.as_str();
            // Things are somewhere, too.
            is_single_valued(attribute) && !["location", "position"].contains(&attribute)
                || opposite(attribute).is_some()
                || RELATIONS.contains(&attribute)
                || [STATUS, RELATION, "allergy"].contains(&attribute)
        }
        AboutFact::Holds { .. } | AboutFact::Whom { .. } => true,
    }
}

/// That it is not known, and what is known beside it; `None`: it is not known of whom it is asked.
pub(super) fn not_known(
    reading: &Reading,
    names: &Names<'_>,
    (asked, text): (&AboutFact, &str),
    past: bool,
) -> Option<Reply> {
    let facts = Facts::new(reading, names, text, past);
    match asked {
        AboutFact::Value { who, attribute } => {
            let who = facts.person(who)?;
            let lead = asked_for(&reading.name(who), attribute, past);
            Some(facts.only(&lead, who, facts.beside(who, attribute)))
        }
        AboutFact::Holds { who, attribute, value } => {
            Some(facts.not_known_whether(facts.person(who)?, attribute, value))
        }
        AboutFact::Whom { attribute, value } => {
            let value = match attribute == RELATION {
                true => facts.relation_named(value)?,
                false => as_spelled(text, value).unwrap_or(value).to_owned(),
            };
            let asked = phrase("who", attribute, &value, past);
            Some(Reply::unknown(&format!("I don't know {asked}.")))
        }
    }
}

/// What the facts say; `None`: they say nothing of it. `past`: the question is in the past tense.
pub(super) fn told(
    reading: &Reading,
    names: &Names<'_>,
    (asked, text): (&AboutFact, &str),
    past: bool,
) -> Option<Reply> {
    let facts = Facts::new(reading, names, text, past);
    match asked {
        AboutFact::Value { who, attribute } => match (facts.person(who), who) {
            (Some(id), _) => facts.value(id, attribute).or_else(|| facts.noted(id, attribute)),
            (None, Subject::Unknown(name)) => {
                let noted = Noted::called(reading, name);
                past.then(|| noted.of_once(attribute)).flatten().or_else(|| noted.of(attribute))
            }
            (None, _) => None,
        },
        AboutFact::Holds { who, attribute, value } => {
            facts.holds(facts.person(who)?, attribute, value)
        }
        AboutFact::Whom { attribute, value } => facts.whom(attribute, value),
    }
}

/// The facts as one question reads them.
struct Facts<'a> {
    reading: &'a Reading,
    names: &'a Names<'a>,
    /// The question.
    text: &'a str,
    /// What held at any time until now is asked for, first what is over.
    past: bool,
}

type Rows = Vec<Arc<MemoryRow>>;

impl<'a> Facts<'a> {
    /// A question in the past tense asks for what is over, unless it names the time.
    fn new(reading: &'a Reading, names: &'a Names<'a>, text: &'a str, past: bool) -> Self {
        Self { reading, names, text, past: past && reading.spans.is_none() }
    }

    fn person(&self, subject: &Subject) -> Option<EntityId> {
        self.names.known_person(self.reading, subject)
    }

    fn at(&self) -> Timestamp {
        self.reading.time_asked()
    }

    fn is_over(&self, row: &MemoryRow) -> bool {
        row.valid_to.is_some_and(|end| end <= self.at())
    }

    fn holds_then(&self, row: &MemoryRow) -> bool {
        row.valid_from <= self.at() && !self.is_over(row)
    }

    /// What is stated of that attribute, newest first.
    fn of(&self, who: EntityId, attribute: &str) -> Rows {
        let view = &self.reading.view;
        let rows = match self.past {
            // The profile is read from the facts alone.
            false => {
                let facts = view.profile(who, Some(self.at())).facts.into_iter();
                facts.filter_map(|fact| view.memory(fact.memory)).collect()
            }
            true => view.memories(&Filter {
                kinds: STATING.to_vec(),
                entities: vec![who],
                ..Filter::default()
            }),
        };
        let mut rows = self.about(rows, attribute);
        let same: BTreeSet<EntityId> = view.same_as(who).into_iter().collect();
        rows.retain(|row| subject(row).is_some_and(|id| same.contains(&id)));
        rows
    }

    /// What is stated of that attribute with words of the value, of anybody, newest first; what is over, too.
    fn with(&self, attribute: &str, value: &str) -> Rows {
        let filter = Filter { kinds: STATING.to_vec(), ..Filter::default() };
        let hits = self.reading.view.lexical(value, LOOKED_AT, &filter).into_iter();
        let rows = hits.filter_map(|(id, _)| self.reading.view.memory(id)).collect();
        let mut rows = self.about(rows, attribute);
        rows.retain(|row| self.same(row, value));
        rows
    }

    fn about(&self, mut rows: Rows, attribute: &str) -> Rows {
        let asked = stems(&attribute.replace('_', " "));
        let is_meant = |fact: &Fact| {
            let told = stems(&fact.attribute.replace('_', " "));
            told.iter().all(|stem| asked.contains(stem))
                || asked.iter().all(|stem| told.contains(stem))
        };
        rows.retain(|row| {
            row.fact.as_ref().is_some_and(is_meant) && row.valid_from <= self.reading.now()
        });
        rows.sort_by_key(|row| Reverse((row.valid_from, row.id)));
        rows
    }

    /// The value with names, spelled as it was told.
    fn value_of(&self, row: &MemoryRow) -> String {
        let Some(fact) = &row.fact else { return String::new() };
        let value = match fact.value.parse::<EntityId>() {
            Ok(id) => self.reading.name(id),
            Err(_) => mention::render(&fact.value, |id| self.reading.name(id)),
        };
        let text = self.reading.rendered(&row.text);
        as_spelled(&text, &value).map_or_else(|| value.clone(), str::to_owned)
    }

    fn same(&self, row: &MemoryRow, value: &str) -> bool {
        words(&self.value_of(row)) == words(value)
    }

    fn phrase(&self, row: &MemoryRow, value: &str) -> String {
        let attribute = row.fact.as_ref().map(|fact| fact.attribute.as_str()).unwrap_or_default();
        let who = subject(row).map(|id| self.reading.name(id)).unwrap_or_default();
        phrase(&who, attribute, value, self.is_over(row))
    }

    /// "Ava lives in Munich (known since …)".
    fn with_time(&self, row: &MemoryRow) -> String {
        let moment = |at| self.reading.wording.moment(at);
        let held = match row.valid_to.filter(|_| self.is_over(row)) {
            Some(end) => format!("from {} until {}", moment(row.valid_from), moment(end)),
            None => format!("known since {}", moment(row.valid_from)),
        };
        format!("{} ({held})", self.phrase(row, &self.value_of(row)))
    }

    /// All values together where there are several: "Ava likes tea and jazz".
    fn together(&self, rows: &[Arc<MemoryRow>]) -> Option<String> {
        let row = rows.first()?;
        if rows.len() == 1 {
            return Some(self.with_time(row));
        }
        let attribute = |row: &MemoryRow| row.fact.as_ref().map(|fact| fact.attribute.clone());
        let one = rows.iter().all(|other| {
            attribute(other) == attribute(row) && self.is_over(other) == self.is_over(row)
        });
        let values: Vec<String> = rows.iter().map(|row| self.value_of(row)).collect();
        Some(match one && row.fact.as_ref().is_some_and(|fact| fact.attribute != "relation") {
            true => self.phrase(row, &list(&values)),
            false => list(&rows.iter().map(|row| self.with_time(row)).collect::<Vec<_>>()),
        })
    }

    fn evidence(&self, rows: &[Arc<MemoryRow>]) -> Vec<Evidence> {
        rows.iter().map(|row| self.reading.memory_evidence(row, row.confidence)).collect()
    }

    fn known(&self, text: &str, rows: &[Arc<MemoryRow>]) -> Reply {
        let mut who: Vec<EntityId> = rows.iter().filter_map(|row| subject(row)).collect();
        who.dedup();
        let who = who.into_iter().map(|id| self.reading.view.resolve(id)).collect();
        let weak = rows.iter().all(|row| self.reading.view.is_weak(row));
        let reply = Reply::known(sentence(&format!("{text}.")), who, self.evidence(rows));
        Reply { confidence: reply.confidence * if weak { SURE * WEAK } else { SURE }, ..reply }
    }

    fn unknown(&self, text: &str, who: &[EntityId], rows: &[Arc<MemoryRow>]) -> Reply {
        Reply { evidence: self.evidence(rows), ..Reply::unknown(text).about(who) }
    }

    /// That something is not known of somebody, and what else is.
    fn only(&self, lead: &str, who: EntityId, mut rows: Rows) -> Reply {
        rows.truncate(MOST_VALUES);
        let text = match self.together(&rows) {
            Some(known) => format!("I don't know {lead}; I know that {known}."),
            None => format!("I don't know {lead}."),
        };
        self.unknown(&text, &[who], &rows)
    }

    fn not_known_whether(&self, who: EntityId, attribute: &str, value: &str) -> Reply {
        let name = self.reading.name(who);
        let rows = match attribute {
            RELATION => self.between(who, value),
            other => self.beside(who, other),
        };
        let named = self.relation_named(value).filter(|_| attribute == RELATION);
        let value = named.as_deref().or_else(|| as_spelled(self.text, value)).unwrap_or(value);
        let lead = format!("whether {}", whether(&name, attribute, value, self.past));
        self.only(&lead, who, rows)
    }

    /// What is known of somebody that is near an attribute: its own values, the opposite's, a kindred one's.
    fn beside(&self, who: EntityId, attribute: &str) -> Rows {
        let kindred = BESIDE.iter().find(|(one, _)| *one == attribute).map(|(_, other)| *other);
        let all = [Some(attribute), opposite(attribute), kindred];
        let mut rows: Rows = Vec::new();
        for row in all.into_iter().flatten().flat_map(|one| self.of(who, one)) {
            if !rows.iter().any(|known| known.id == row.id) {
                rows.push(row);
            }
        }
        rows
    }

    /// What somebody and whoever "sister of Ava" names are to each other.
    fn between(&self, who: EntityId, relation: &str) -> Rows {
        let Some(other) = relation.split_once(" of ").and_then(|(_, name)| self.named(name)) else {
            return Vec::new();
        };
        let mut rows: Rows = Vec::new();
        for (one, to) in [(who, other), (other, who)] {
            let end = format!(" of {}", self.reading.name(to));
            let of_them = |row: &Arc<MemoryRow>| self.value_of(row).ends_with(&end);
            rows.extend(self.of(one, RELATION).into_iter().filter(of_them));
        }
        rows
    }

    /// "sister of ava", with the name of somebody who is known as it is spelled.
    fn relation_named(&self, relation: &str) -> Option<String> {
        let (relation, name) = relation.split_once(" of ")?;
        Some(format!("{relation} of {}", self.reading.name(self.named(name)?)))
    }

    /// The person of that name.
    fn named(&self, name: &str) -> Option<EntityId> {
        self.reading.view.find_by_name(name).into_iter().find(|id| Reading::is_person(*id))
    }

    /// How old somebody is then whose birthday is known with its year.
    fn by_birthday(&self, who: EntityId) -> Option<Reply> {
        let row = self.of(who, "birthday").into_iter().next()?;
        let value = self.value_of(&row);
        let mut numbers = value.split(|c: char| !c.is_ascii_digit());
        let year: i16 = numbers.find(|digits| digits.len() == 4)?.parse().ok()?;
        let zone = &self.reading.wording.zone;
        let (span, _) = combined_span(&time_expressions(&value, self.at(), zone))?;
        let date = |at: Timestamp| at.to_jiff().to_zoned(zone.clone()).date();
        let (born, today) = (date(span.start), date(self.at()));
        let one_day = born.year() == year && date(span.end.plus_secs(-1.0)) == born;
        let before = (today.month(), today.day()) < (born.month(), born.day());
        let years = today.year() - born.year() - i16::from(before);
        (one_day && (0..=OLDEST).contains(&years)).then_some(())?;
        let age = phrase(&self.reading.name(who), "age", &years.to_string(), false);
        Some(self.known(&format!("{age}: {}", self.with_time(&row)), std::slice::from_ref(&row)))
    }

    fn value(&self, who: EntityId, attribute: &str) -> Option<Reply> {
        let mut rows = self.of(who, attribute);
        if rows.is_empty() && attribute == "age" {
            return self.by_birthday(who);
        }
        if self.past && rows.iter().any(|row| self.is_over(row)) {
            rows.retain(|row| self.is_over(row));
        }
        let single = |row: &Arc<MemoryRow>| {
            row.fact.as_ref().is_some_and(|fact| is_single_valued(&fact.attribute))
        };
        rows.truncate(if rows.first().is_some_and(single) { 1 } else { MOST_VALUES });
        Some(self.known(&self.together(&rows)?, &rows))
    }

    /// What a note tells of it in its own words; not where a fact told it once, and it is over.
    fn noted(&self, who: EntityId, attribute: &str) -> Option<Reply> {
        let ever = Self { past: true, ..*self };
        let fresh = ever.of(who, attribute).is_empty();
        let noted = fresh.then(|| Noted::known(self.reading, who))?;
        if self.past { noted.of_once(attribute) } else { noted.of(attribute) }
    }

    fn holds(&self, who: EntityId, attribute: &str, value: &str) -> Option<Reply> {
        let mut rows = self.of(who, attribute);
        rows.extend(opposite(attribute).map(|other| self.of(who, other)).into_iter().flatten());
        rows.sort_by_key(|row| Reverse((row.valid_from, row.id)));
        let of = |row: &MemoryRow, attribute: &str| {
            row.fact.as_ref().is_some_and(|fact| fact.attribute == attribute)
        };
        let against = |row: &MemoryRow| opposite(attribute).is_some_and(|other| of(row, other));
        if let Some(row) = rows.iter().find(|row| self.same(row, value)) {
            let lead = if against(row) { "no" } else { "yes" };
            return Some(
                self.known(&format!("{lead}, {}", self.with_time(row)), std::slice::from_ref(row)),
            );
        }
        rows.retain(|row| !against(row) && self.holds_then(row));
        let was = self.with(attribute, value).into_iter().find(|row| {
            self.is_over(row) && subject(row).map(|id| self.reading.view.resolve(id)) == Some(who)
        });
        let number = |text: &str| text.parse::<u32>().is_ok();
        let other_number =
            rows.first().is_some_and(|row| number(value) && number(&self.value_of(row)));
        if let Some(row) = rows.first().filter(|_| was.is_some() || other_number) {
            let told: Rows = [Some(row.clone()), was.clone()].into_iter().flatten().collect();
            let text = list(&told.iter().map(|row| self.with_time(row)).collect::<Vec<_>>());
            return Some(self.known(&format!("no, {text}"), &told));
        }
        if let Some(row) = was {
            let text = format!("not any more, as far as I know: {}", self.with_time(&row));
            return Some(self.known(&text, &[row]));
        }
        // Who is whose sister is not told by the words alone.
        if attribute == RELATION {
            return Some(self.not_known_whether(who, attribute, value));
        }
        if rows.is_empty() || attribute == "job" {
            return None;
        }
        // Somebody may have said it in words that no fact was made of.
        let asked = Asked::words(value, std::slice::from_ref(&who), self.reading);
        if let Ok(reply) = remembered(self.reading, &asked, None, Fit::SLOT)
            && !reply.abstained
        {
            return Some(reply);
        }
        rows.truncate(MOST_VALUES);
        let text = format!("I don't know; I know that {}.", self.together(&rows)?);
        Some(self.unknown(&text, &[who], &rows))
    }

    fn whom(&self, attribute: &str, value: &str) -> Option<Reply> {
        let mut rows = self.with(attribute, value);
        rows.retain(|row| subject(row).is_some_and(Reading::is_person));
        let (mut over, mut holding): (Rows, Rows) =
            rows.into_iter().partition(|row| self.is_over(row));
        holding.retain(|row| row.valid_from <= self.at());
        if self.past {
            holding.append(&mut over);
        }
        holding.truncate(MOST_VALUES);
        over.truncate(MOST_VALUES);
        if let Some(text) = self.each(&holding) {
            return Some(self.known(&text, &holding));
        }
        let text = format!("I don't know of anybody now; {}.", self.each(&over)?);
        let mut who: Vec<EntityId> = over.iter().filter_map(|row| subject(row)).collect();
        who.dedup();
        Some(self.unknown(&text, &who, &over))
    }

    fn each(&self, rows: &[Arc<MemoryRow>]) -> Option<String> {
        let each: Vec<String> = rows.iter().map(|row| self.with_time(row)).collect();
        (!each.is_empty()).then(|| list(&each))
    }
}

/// Of whom the fact is.
fn subject(row: &MemoryRow) -> Option<EntityId> {
    row.fact.as_ref()?.subject.parse().ok()
}

/// The telling words of a value.
fn words(value: &str) -> BTreeSet<String> {
    telling_stems(value).into_iter().collect()
}
