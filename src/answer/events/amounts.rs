//! Numbers that were told, of days or of money: how many there were on a day or on several, on which of two days there
//! were more, and which of two things cost more.

use std::collections::BTreeMap;
use std::ops::Range;

use super::clause::{Clause, Sentence, Word, words_of};
use super::cues::{holds, with_alike};
use super::{Asked, Event, event, notes, quoting};
use crate::answer::demands::{MONEY, SIGNS};
use crate::answer::near::is_word;
use crate::answer::question::{is_grammar, listed};
use crate::answer::reading::{Reading, touch};
use crate::answer::reply::Reply;
use crate::answer::wording::{list, sentence};
use crate::recall::lexer::Token;
use crate::text::sentences;
use crate::time::Span;

/// So far behind its number stands what is counted, at most.
const COUNTED: usize = 3;
/// Of these, percepts tell the number.
pub(super) const PERSONS: &str = "people persons person faces men women voices speakers";
/// What tells no more than that somebody or something was there.
pub(super) const BEING: &str = "count counted together altogether total combined";
/// Verbs of who is counted.
pub(super) const CAME: &str = "came visited";
const NUMBERS: &str = "zero one two three four five six seven eight nine ten eleven twelve";
const MORE: &str = "more";
const FEWER: &str = "fewer less";
const DEAR: &str = "dearer pricier costlier expensive";
const CHEAP: &str = "cheaper";

/// A number that was told of a time.
struct Count {
    number: f64,
    event: Event,
}

/// What notes tell of numbers. `None`: it is not asked, or not told.
pub(super) fn told_of(asked: &Asked<'_>) -> Option<Reply> {
    how_many(asked).or_else(|| more_than(asked)).or_else(|| dearer(asked))
}

/// "How many visitors came on the 3rd?", "… on the 3rd and the 4th together?" Only of what is counted day by day.
fn how_many(asked: &Asked<'_>) -> Option<Reply> {
    let of_number = (asked.word(0), asked.word(1)) == ("how", "many");
    let nouns = asked.words.get(2..).filter(|_| of_number)?.iter();
    let is_noun = |token: &&Token| {
        let verb = is_grammar(&token.word) || listed(CAME, &token.word);
        !verb && !asked.is_timed(token)
    };
    let nouns = nouns.take_while(is_noun);
    let behind = 2 + nouns.count();
    let noun = asked.word(behind - 1);
    let rest = Clause::of(&asked.part(behind..asked.words.len()));
    let others = rest.words.iter().any(|word| !listed(BEING, word));
    let spans = asked.times(0..asked.words.len());
    if behind == 2 || others || !rest.names.is_empty() || spans.is_empty() || listed(PERSONS, noun)
    {
        return None;
    }
    let counts = counts(asked.reading, noun);
    if counts.len() < 2 {
        return None;
    }
    let days: Vec<Vec<&Count>> = spans.iter().map(|span| within(&counts, *span)).collect();
    if days.iter().any(Vec::is_empty) {
        let text = format!("I don't know how many: I was told no number of {noun} of that time.");
        return Some(Reply::unknown(&text));
    }
    let days: Vec<&Count> = days.into_iter().flatten().collect();
    let events: Vec<&Event> = days.iter().map(|count| &count.event).collect();
    let lead = match days.as_slice() {
        [one] => format!("{} {noun}, as far as I know.", one.number),
        several => {
            let sum: f64 = several.iter().map(|count| count.number).sum();
            let each: Vec<String> = several.iter().map(|one| on_day(asked.reading, one)).collect();
            format!("{sum} {noun} in all, as far as I know: {}.", list(&each))
        }
    };
    Some(quoting(asked.reading, &lead, &events))
}

fn on_day(reading: &Reading, count: &Count) -> String {
    format!("{} on {}", count.number, reading.wording.date(count.event.time.start))
}

/// "Did more people come on the 17th than on the 3rd?"
fn more_than(asked: &Asked<'_>) -> Option<Reply> {
    let at = asked.find(MORE).or_else(|| asked.find(FEWER))?;
    let than = asked.find("than").filter(|than| *than > at + 1)?;
    if !listed("did was were had have has are", asked.word(0)) {
        return None;
    }
    let (noun, more) = (asked.word(at + 1), listed(MORE, asked.word(at)));
    let (one, other) = (asked.times(0..than), asked.times(than + 1..asked.words.len()));
    let ([one], [other]) = (one.as_slice(), other.as_slice()) else { return None };
    let counts = counts(asked.reading, noun);
    let (one, other) = (within(&counts, *one), within(&counts, *other));
    let (first, second) = (*one.first()?, *other.first()?);
    let sum = |days: &[&Count]| days.iter().map(|count| count.number).sum::<f64>();
    let (a, b) = (sum(&one), sum(&other));
    let word = match a.total_cmp(&b) {
        std::cmp::Ordering::Less => "fewer",
        std::cmp::Ordering::Equal => "as many",
        std::cmp::Ordering::Greater => "more",
    };
    let yes = if more { a > b } else { a < b };
    let lead = if yes { "Yes" } else { "No" };
    let told = match (one.len(), other.len()) {
        (1, 1) => {
            let day = |count| on_day(asked.reading, count);
            format!("{}, {}", day(first), day(second))
        }
        _ => format!("{a} against {b}"),
    };
    let lead = format!("{lead}, {word}, as far as I know: {told}.");
    let events: Vec<&Event> = one.iter().chain(&other).map(|count| &count.event).collect();
    Some(quoting(asked.reading, &lead, &events))
}

/// The numbers of things that were told of days, of each day what was told last; by day.
fn counts(reading: &Reading, noun: &str) -> Vec<Count> {
    let mut days: BTreeMap<String, Count> = BTreeMap::new();
    for row in notes(reading, &with_alike(std::iter::once(noun))) {
        let text = reading.rendered(&row.text);
        for written in sentences(&text) {
            let told = Sentence::of(written, Vec::new());
            let Some(number) = number_of(&told.words, noun) else { continue };
            let event = event(reading, &row, written, &told);
            let day = reading.wording.date(event.time.start);
            let newest = |known: &Count| {
                let order = |event: &Event| (event.row.span.start, event.row.id);
                order(&known.event) > order(&event)
            };
            if !event.planned && !days.get(&day).is_some_and(newest) {
                days.insert(day, Count { number, event });
            }
        }
    }
    let mut counts: Vec<Count> = days.into_values().collect();
    counts.sort_by_key(|count| count.event.time.start);
    counts
}

/// Those of the days in that time.
fn within(counts: &[Count], span: Span) -> Vec<&Count> {
    counts.iter().filter(|count| touch(span, count.event.time)).collect()
}

/// The number that stands before what is counted; not what "not" stands before.
pub(super) fn number_of(words: &[Word], noun: &str) -> Option<f64> {
    (0..words.len()).find_map(|at| {
        let number = number(&words[at].token.word)?;
        let before = at.checked_sub(1).map_or("", |at| words[at].token.word.as_str());
        let behind = &words[at + 1..words.len().min(at + 1 + COUNTED)];
        (before != "not" && holds(behind, noun).is_some()).then_some(number)
    })
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn number(word: &str) -> Option<f64> {
    let digits: Option<f64> = word.parse().ok().filter(|_| word.starts_with(is_digit));
    let written = || NUMBERS.split(' ').position(|number| number == word);
    digits.or_else(|| written().map(|number| number as f64))
}

/// "Which was more expensive, mending the gate or the new lock?"
fn dearer(asked: &Asked<'_>) -> Option<Reply> {
    let begins = listed("which what", asked.word(0));
    let costs = asked.find("cost costs").and_then(|at| match asked.word(at + 1) {
        "more" => Some(true),
        "less" => Some(false),
        _ => None,
    });
    let of_price = || {
        let dear = asked.find(DEAR).map(|at| asked.word(at.saturating_sub(1)) != "less");
        dear.or_else(|| asked.find(CHEAP).map(|_| false))
    };
    let dear = costs.or_else(of_price).filter(|_| begins)?;
    let or = asked.words.iter().rposition(|token| token.word == "or")?;
    let stop = asked.words.get(..or)?.iter().rposition(|token| token.stop)?;
    let options = [stop + 1..or, or + 1..asked.words.len()];
    let told =
        |option: &Range<usize>| price_of(asked.reading, &Clause::of(&asked.part(option.clone())));
    let (one, other) = (told(&options[0])?, told(&options[1])?);
    if one.money != other.money || one.event.row.id == other.event.row.id {
        return None;
    }
    let order = one.amount.total_cmp(&other.amount);
    let first = match order {
        std::cmp::Ordering::Equal => {
            let lead = format!("Both cost the same, as far as I know: {}.", one.amount);
            return Some(quoting(asked.reading, &lead, &[&one.event, &other.event]));
        }
        order => (order == std::cmp::Ordering::Greater) == dear,
    };
    let (option, one, other) =
        if first { (&options[0], one, other) } else { (&options[1], other, one) };
    let which = sentence(asked.written(option.clone()));
    let lead = format!(
        "{which} was {}, as far as I know: {} against {}.",
        if dear { "more expensive" } else { "cheaper" },
        one.amount,
        other.amount
    );
    Some(quoting(asked.reading, &lead, &[&one.event, &other.event]))
}

/// What something cost.
struct Price {
    amount: f64,
    /// Its currency, as it was told.
    money: String,
    event: Event,
}

/// The price that the newest note about it tells, where it tells one alone.
fn price_of(reading: &Reading, clause: &Clause) -> Option<Price> {
    let found = notes(reading, &clause.query()).into_iter().filter_map(|row| {
        let text = reading.rendered(&row.text);
        let note = Sentence::of(&text, Vec::new());
        let about = note.names(&clause.names) && note.hold(&clause.words).is_some();
        let (amount, money) = price(&text).filter(|_| about)?;
        Some(Price { amount, money, event: event(reading, &row, &text, &note) })
    });
    let telling = !clause.words.is_empty() || !clause.names.is_empty();
    found.max_by_key(|price| (price.event.row.span.start, price.event.row.id)).filter(|_| telling)
}

/// The one price that a text tells.
fn price(text: &str) -> Option<(f64, String)> {
    let words = words_of(text);
    let mut prices = (0..words.len()).filter_map(|at| {
        let amount = number(&words[at].token.word)?;
        let before = at.checked_sub(1).map_or("", |at| words[at].token.word.as_str());
        let sign = text[..words[at].token.range.start].chars().next_back();
        let sign = sign.filter(|sign| SIGNS.contains(sign)).map(String::from);
        let of_money = |word: &&Word| MONEY.split(' ').any(|money| is_word(money, &word.token));
        let named = words.get(at + 1).filter(of_money);
        let money = sign.or_else(|| named.map(|word| word.stem.clone()))?;
        (before != "not").then_some((amount, money))
    });
    let first = prices.next()?;
    prices.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_belongs_to_what_it_stands_before() {
        let told = |text: &str| number_of(&words_of(text), "guests");
        assert_eq!(told("It was 31 guests, not 13."), Some(31.0));
        assert_eq!(told("Twelve hungry guests came."), Some(12.0));
        assert_eq!(told("Not 13 guests."), None);
        assert_eq!(told("13 buns for the many guests."), None);
        assert_eq!(told("The guests came."), None);
    }

    #[test]
    fn a_text_tells_one_price_or_none() {
        assert_eq!(price("It cost £30."), Some((30.0, "£".to_owned())));
        assert_eq!(price("It cost 30 pounds."), Some((30.0, "pound".to_owned())));
        assert_eq!(price("It was 30 pounds, not 20 pounds."), Some((30.0, "pound".to_owned())));
        assert_eq!(price("30 pounds here, 40 pounds there."), None);
        assert_eq!(price("It took 30 days."), None);
    }
}
