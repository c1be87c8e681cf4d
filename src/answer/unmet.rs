//! Somebody of whom was only told, and whom nobody met: what notes tell of their coming, going and staying, where percepts
//! have nothing to tell. Whether somebody was seen or heard no note tells.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, telling_stems};
use crate::names::{folded, is_title, may_be_one, parted, title};
use crate::recall::lexer::{Token, tokens};
use crate::recall::time_expr::{is_number, time_expressions};
use crate::text::sentences;

use super::doer;
use super::events::{leaves, words_of};
use super::facts::tell;
use super::near::{is_word, told_otherwise};
use super::question::{Ask, Order, Parsed, Subject, is_calendar, is_grammar, listed};
use super::reading::{Reading, touch};
use super::remembered::time_told;
use super::reply::Reply;
use super::told_place;
use super::whereabouts::is_preposition;

/// Notes with the names that are looked at.
const LOOKED_AT: usize = 200;
/// What notes tell of somebody is so for so much.
const SURE: f32 = 0.7;
/// Of seeing and hearing.
const SENSES: &str = "see saw seen sees seeing sight sighted view visible camera picture screen watch watched watching spot \
    spotted notice noticed hear heard hears hearing voice voices speak spoke spoken speaks talk talked talks say said says";
/// Words that need not be in what answers.
const ASIDE: &str = "went goes gone get gets got take took taken still yet already last first morning afternoon evening night \
    day time which way room place";
/// Verbs of coming and going, and others that tell the same.
const MOVING: [(&str, &str); 4] =
    [("arrive", "come"), ("come", "arrive visit"), ("visit", "come"), ("return", "back")];
/// What somebody does who is here now and then.
const PRESENCE: &str = "here come comes came visit visits visited rounds round work works worked call calls stay stays stayed";
/// Words of a habit.
const HABIT: &str = "every each daily weekly monthly fortnightly twice weekdays weekends mondays tuesdays wednesdays thursdays \
    fridays saturdays sundays mornings afternoons evenings";
/// Before the end of a stay.
const UNTIL: &str = "until till";
/// Lengths of time.
const UNITS: &str =
    "minute minutes hour hours day days night nights week weeks month months year years";
/// What makes a sentence say what was not so.
const NOT: &str =
    "not never no nobody didn't doesn't isn't hasn't wasn't won't can't couldn't don't";
/// What is asked of somebody's work.
const WORKING: &str = "work works working employed job staff";

/// Whether somebody of that name was spoken of. A title does not count, but another title is another one's.
pub(super) fn is_told_of(reading: &Reading, name: &str) -> bool {
    let folded = folded(name);
    let Some((_, bare)) = parted(&folded) else { return reading.view.is_mentioned(name) };
    if !reading.view.is_mentioned(bare) {
        return false;
    }
    let hits = reading.view.lexical(bare, LOOKED_AT, &Filter::default()).into_iter();
    let mut rows = hits.filter_map(|(id, _)| reading.view.memory(id));
    rows.any(|row| is_named(&tokens(&reading.rendered(&row.text)), name))
}

/// Whether a text names somebody by that name: with its title, or without any.
pub(super) fn is_named(text: &[Token], name: &str) -> bool {
    let name = folded(name);
    let (own, plain) = parted(&name).map_or((None, name.as_str()), |(own, bare)| (Some(own), bare));
    let parts: Vec<&str> = plain.split(' ').collect();
    (0..text.len()).any(|at| {
        let run = text.get(at..at + parts.len()).unwrap_or_default();
        let is_it = run.len() == parts.len()
            && run.iter().zip(&parts).all(|(token, part)| bare(&token.word) == *part);
        let before = at.checked_sub(1).and_then(|before| title(&text[before].word));
        let may_be = match (own, before) {
            (Some(own), Some(before)) => may_be_one(own, before),
            _ => true,
        };
        is_it && may_be
    })
}

/// What notes tell of whom nobody met. `None`: they tell nothing of it, or it is asked what was seen or heard.
pub(super) fn told_of(reading: &Reading, parsed: &Parsed, text: &str) -> Option<Reply> {
    let question = tokens(text);
    if question.iter().any(|token| listed(SENSES, &token.word)) {
        return None;
    }
    let who = named(reading, &parsed.subjects)?;
    let times = time_expressions(text, reading.now(), &reading.wording.zone);
    let timed = |token: &Token| times.iter().any(|time| time.range.contains(&token.range.start));
    let is_name = |word: &str| {
        let parts = |name: &String| folded(name).split(' ').any(|part| part == word);
        is_title(word) || who.iter().flatten().any(parts)
    };
    let telling = |token: &&Token| {
        let word = bare(&token.word);
        let held = is_grammar(word) && word != "come";
        let aside = held || is_preposition(word) || listed(ASIDE, word);
        !timed(token) && !aside && !is_name(word) && !telling_stems(word).is_empty()
    };
    let words = question.iter().filter(telling).map(|token| bare(&token.word).to_owned()).collect();
    let asked = Asked { reading, who, words, order: parsed.order };
    match &parsed.ask {
        Ask::Where { .. } => match asked.who.as_slice() {
            [names] if asked.words.is_empty() && told_place::is_asked(reading, parsed) => {
                told_place::of(reading, names, false)
            }
            _ => None,
        },
        Ask::HowOften { .. } => asked.habit(),
        Ask::HowLong { .. } => asked.stretch(),
        Ask::Who { .. } => asked.somebody_else(false),
        Ask::With { .. } => asked.somebody_else(true),
        Ask::When { .. } => asked.event(parsed.past),
        _ if parsed.yes_no => asked.whether(&question),
        _ => None,
    }
}

/// By what names those are known whom a question names; `None` where nobody was told of one of them.
fn named(reading: &Reading, subjects: &[Subject]) -> Option<Vec<Vec<String>>> {
    let mut who = Vec::new();
    for subject in subjects {
        match subject {
            Subject::Unknown(name) => {
                let id = name.contains('_') || name.ends_with(|c: char| c.is_ascii_digit());
                (!id && is_told_of(reading, name)).then_some(())?;
                who.push(vec![name.clone()]);
            }
            Subject::Known { id, .. } => {
                let names = reading.view.names(*id);
                let names: Vec<String> = names.iter().map(|row| row.name.clone()).collect();
                (!names.is_empty()).then_some(())?;
                who.push(names);
            }
            Subject::Anybody => {}
            Subject::Described(_) | Subject::Robot | Subject::Asker => return None,
        }
    }
    (!who.is_empty()).then_some(who)
}

/// A question of somebody whom nobody met.
struct Asked<'a> {
    reading: &'a Reading,
    /// The names of each one, in the order of the question.
    who: Vec<Vec<String>>,
    /// Its other telling words; the verb first.
    words: Vec<String>,
    order: Order,
}

/// A note with its text.
type Note = (Arc<MemoryRow>, String);

impl Asked<'_> {
    /// The notes that name all of them and hold its words, the newest first. `then`: only of the time asked for.
    fn notes(&self, then: bool) -> Vec<Note> {
        let reading = self.reading;
        let filter = Filter { kinds: vec![MemoryKind::Note], ..Filter::default() };
        let names: Vec<&str> =
            self.who.iter().filter_map(|names| names.first()).map(String::as_str).collect();
        let hits = reading.view.lexical(&names.join(" "), LOOKED_AT, &filter).into_iter();
        let is_then = |row: &MemoryRow| match reading.spans.as_deref().filter(|_| then) {
            Some(spans) => spans.iter().any(|span| touch(*span, time_told(reading, row))),
            None => true,
        };
        let mut notes: Vec<Note> = hits
            .filter_map(|(id, _)| reading.view.memory(id))
            .filter(|row| row.span.start <= reading.now() && is_then(row))
            .map(|row| {
                let text = reading.rendered(&row.text);
                (row, text)
            })
            .filter(|(_, text)| self.fits(&tokens(text)))
            .collect();
        notes.sort_by_key(|(row, _)| Reverse((row.span.start, row.id)));
        if self.order == Order::First {
            notes.reverse();
        }
        notes
    }

    fn fits(&self, text: &[Token]) -> bool {
        let named = |names: &Vec<String>| names.iter().any(|name| is_named(text, name));
        self.who.iter().all(named)
            && self.words.iter().all(|word| self.place_of(word, text).is_some())
    }

    /// Where a text holds a word of the question, or one that tells the same.
    fn place_of(&self, word: &str, text: &[Token]) -> Option<usize> {
        let same = |other: &str| text.iter().position(|token| is_word(other, token));
        let moving = || {
            let kin = telling_stems(word);
            let near = MOVING.iter().filter(|(one, _)| telling_stems(one) == kin);
            near.flat_map(|(_, others)| others.split(' ')).find_map(same)
        };
        same(word).or_else(moving).or_else(|| told_otherwise(word, &self.words, text))
    }

    /// Whether a name is that of the first one of whom it is asked.
    fn is_first(&self, name: &str) -> bool {
        let name = tokens(name);
        let first = self.who.first();
        first.is_some_and(|names| names.iter().any(|one| is_named(&name, one)))
    }

    /// Who does what the question tells, by the sentence of a note that holds its verb, and that sentence.
    fn doer<'t>(&self, text: &'t str) -> Option<(Option<String>, &'t str)> {
        let verb = self.words.first()?;
        sentences(text).find_map(|told| {
            let sentence = tokens(told);
            let at = self.place_of(verb, &sentence)?;
            let before = text.find(told).map_or("", |at| &text[..at]);
            Some((doer::who_does(told, &sentence[at].word, before), told))
        })
    }

    fn quoted(&self, lead: &str, row: &Arc<MemoryRow>) -> Reply {
        let evidence = vec![self.reading.memory_evidence(row, row.confidence)];
        let text = format!("{lead}{}", tell(self.reading, row));
        Reply { confidence: SURE, ..Reply::known(text, row.entities.clone(), evidence) }
    }

    /// "Did Zoe visit Max on Friday?", "Is Zoe still working here?"
    fn whether(&self, question: &[Token]) -> Option<Reply> {
        if question.iter().any(|token| listed("still anymore", &token.word))
            && self.words.iter().all(|word| listed(WORKING, word))
            && let Some(reply) = self.is_over()
        {
            return Some(reply);
        }
        self.notes(true).into_iter().find_map(|(row, text)| {
            let (doer, told) = self.doer(&text)?;
            let sentence = tokens(told);
            let denied = sentence.iter().any(|token| listed(NOT, &token.word));
            let instead = sentence.iter().any(|token| token.word == "instead");
            let by_first = doer.as_deref().is_some_and(|name| self.is_first(name));
            let lead = match (by_first && self.fits(&sentence), denied, doer.is_some() && instead) {
                (true, false, _) => "Yes, as far as I know: ",
                (true, true, _) | (false, _, true) => "No, as far as I know: ",
                (false, _, false) => return None,
            };
            Some(self.quoted(lead, &row))
        })
    }

    /// "Is Zoe still working here?", where it was told that this ends.
    fn is_over(&self) -> Option<Reply> {
        let named = Asked { words: Vec::new(), who: self.who.clone(), ..*self };
        let ends = |(_, text): &Note| leaves(&words_of(text)).is_some();
        let (row, _) = named.notes(false).into_iter().find(ends)?;
        let over = time_told(self.reading, &row).end <= self.reading.now();
        Some(self.quoted(if over { "No, as far as I know: " } else { "" }, &row))
    }

    /// "How often is Zoe here?"
    fn habit(&self) -> Option<Reply> {
        let tells = |(_, text): &Note| {
            sentences(text).any(|told| {
                let sentence = tokens(told);
                let habit = sentence.iter().any(|token| listed(HABIT, &token.word));
                habit && self.is_present(text, told, &sentence)
            })
        };
        let (row, _) = self.notes(false).into_iter().find(tells)?;
        Some(self.quoted("", &row))
    }

    /// Whether a sentence of a note says of the first one that they come, or are here.
    fn is_present(&self, text: &str, told: &str, sentence: &[Token]) -> bool {
        let mut present = sentence.iter().filter(|token| listed(PRESENCE, &token.word));
        let named = self.is_first(told);
        let before = text.find(told).map_or("", |at| &text[..at]);
        let does = |token: &Token| {
            let doer = doer::who_does(told, &token.word, before);
            doer.is_some_and(|name| self.is_first(&name))
        };
        present.any(|token| named || does(token))
    }

    /// "How long was Zoe here?"
    fn stretch(&self) -> Option<Reply> {
        let tells = |(_, text): &Note| {
            sentences(text).any(|told| {
                let sentence = tokens(told);
                let ended = sentence.iter().any(|token| listed(UNTIL, &token.word));
                let unit = |token: &Token| listed(UNITS, &token.word);
                let lasted = sentence.windows(3).any(|three| {
                    let number = is_number(&three[1].word) || listed("a an", &three[1].word);
                    three[0].word == "for" && number && unit(&three[2])
                });
                (ended || lasted) && self.is_present(text, told, &sentence)
            })
        };
        let (row, _) = self.notes(true).into_iter().find(tells)?;
        Some(self.quoted("", &row))
    }

    /// "Who visited Zoe?", "Who went with Zoe to the clinic?" `with`: it is the first one who did it.
    fn somebody_else(&self, with: bool) -> Option<Reply> {
        let own = |word: &str| {
            let parts = |name: &String| folded(name).split(' ').any(|part| part == word);
            self.who.iter().flatten().any(parts)
        };
        let other = |token: &Token| {
            let word = bare(&token.word);
            let none = is_grammar(word) || is_title(word) || is_calendar(word);
            token.capital && !none && !own(word)
        };
        let tells = |(_, text): &Note| {
            let by_first = || {
                let doer = self.doer(text).and_then(|(doer, _)| doer);
                doer.is_some_and(|name| self.is_first(&name))
            };
            tokens(text).iter().any(other) && (with || !by_first())
        };
        let notes = if self.words.is_empty() { Vec::new() } else { self.notes(true) };
        let (row, _) = notes.into_iter().find(tells)?;
        Some(self.quoted("", &row))
    }

    /// "When did Zoe come?", "When does Zoe come?" `past`: it is over.
    fn event(&self, past: bool) -> Option<Reply> {
        let tells = |(row, text): &Note| {
            let zone = &self.reading.wording.zone;
            let timed = || !time_expressions(text, row.span.start, zone).is_empty();
            let doer = self.doer(text).and_then(|(doer, _)| doer);
            doer.is_some_and(|name| self.is_first(&name)) && (past || timed())
        };
        let (row, _) = self.notes(past).into_iter().find(tells)?;
        Some(self.quoted("", &row))
    }
}

/// A word without the "'s" of an owner.
fn bare(word: &str) -> &str {
    word.strip_suffix("'s").unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_does_not_count_and_another_title_is_another_ones() {
        let named = |text: &str, name: &str| is_named(&tokens(text), name);
        assert!(named("Doctor Novak was here.", "Novak"));
        assert!(named("Doctor Novak was here.", "Dr. Novak"));
        assert!(named("That is Novak's bag.", "Doctor Novak"));
        assert!(!named("Mrs Novak was here.", "Mr Novak"));
        assert!(named("Mrs Novak and Mr Novak were here.", "Mr Novak"));
        assert!(!named("The doctor was here.", "Doctor Novak"));
    }
}
