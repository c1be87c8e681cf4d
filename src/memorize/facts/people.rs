//! What is said of people: what they like, where they live and work, who they are and to whom.

use super::phrase::{Clause, is_capital, is_number, is_place, noun_phrase};
use super::stated::{Context, Stated};
use super::words::{
    BETWEEN, DETERMINERS, ENDS, LEAVES, MONTHS, NO_FIRMS, NO_HOMES, NO_JOBS, NO_NAMES, NOT_LIKED,
    OTHER_PREPOSITIONS, PREPOSITIONS, SAID_OF, SAID_OF_WHAT_IS_ONES, SOMEONES, STOPS, THIRD_PERSON,
    TRADES, WORDINGS, Worded,
};
use super::{LONGEST, SLOT_CHARS, fact};
use crate::ids::EntityId;
use crate::memory::model::FactAction;
use crate::memory::natures::{RELATIONS, STATES, attribute_meant, is_trade_word, opposite};

/// Longest name of somebody, words.
const LONGEST_NAME: usize = 4;
/// Oldest age that is believed, years.
const OLDEST: u32 = 130;

/// Whether a statement holds, is denied, or is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Polarity {
    Holds,
    Denied,
    Over,
}

/// What a clause says of people.
pub(super) fn said_of_people(clause: Clause<'_>, context: &Context<'_>) -> Vec<Stated> {
    if let Some((owner, rest)) = owner(clause, context) {
        let (mut found, whole) = of_what_is_ones(owner, rest, context);
        // "My wife Eva likes tea" says it of Eva, too.
        found.extend(whole.and_then(|rest| said_of_one(rest, context)));
        return found;
    }
    said_of_one(clause, context).into_iter().collect()
}

/// Whose something is: "my", "Ava's", and what comes then.
fn owner<'a>(clause: Clause<'a>, context: &Context<'_>) -> Option<(EntityId, Clause<'a>)> {
    if let ["my", _, ..] = clause.lower {
        return Some((context.speaker?, clause.from(1)));
    }
    let at = clause.lower.iter().take(LONGEST_NAME).position(|word| word.ends_with("'s"))?;
    Some((context.person(&bare(&clause.lower[..=at]))?, clause.from(at + 1)))
}

/// The words without the 's of the last.
fn bare<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut words = words.to_vec();
    if let Some(last) = words.last_mut() {
        let word: &'a str = last;
        *last = word.strip_suffix("'s").unwrap_or(word);
    }
    words
}

/// "Ava's phone number is 555-1", "my favourite colour is green", "my wife is called Eva"; and what is said of somebody
/// who is named on the way.
fn of_what_is_ones<'a>(
    owner: EntityId,
    rest: Clause<'a>,
    context: &Context<'_>,
) -> (Vec<Stated>, Option<Clause<'a>>) {
    for (words, attribute, worded) in SAID_OF_WHAT_IS_ONES {
        if let Some(after) = after(rest, words)
            && !is_denied(after)
            && let Some(value) = value(after, worded, context)
        {
            return (stated(owner, attribute, value, Polarity::Holds), None);
        }
    }
    if let Some(found) = favourite(owner, rest, context) {
        return (found, None);
    }
    kin(owner, rest, context)
}

/// "Favourite colour is green."
fn favourite(owner: EntityId, rest: Clause<'_>, context: &Context<'_>) -> Option<Vec<Stated>> {
    matches!(*rest.lower.first()?, "favourite" | "favorite").then_some(())?;
    let is = rest.lower.iter().take(LONGEST).position(|word| matches!(*word, "is" | "are"))?;
    let after = Some(rest.from(is + 1)).filter(|after| is > 1 && !is_denied(*after))?;
    let value = value(after, Worded::Liked, context)?;
    Some(stated(owner, &attribute_meant(&rest.lower[..is].join(" ")), value, Polarity::Holds))
}

/// "Wife is called Eva", "sister's name is Clara", "wife Eva …".
fn kin<'a>(
    owner: EntityId,
    rest: Clause<'a>,
    context: &Context<'_>,
) -> (Vec<Stated>, Option<Clause<'a>>) {
    let nothing = (Vec::new(), None);
    let Some(first) = rest.lower.first() else { return nothing };
    let relation = first.strip_suffix("'s").unwrap_or(first);
    if !RELATIONS.contains(&relation) {
        return nothing;
    }
    let (named, whole) = match rest.lower {
        [_, "is", "called" | "named", ..] if relation == *first => (rest.from(3), None),
        [_, "name", "is", ..] if relation != *first => (rest.from(3), None),
        // "Is German": of somebody known alone.
        [_, "is", ..] if relation == *first => match somebody(rest.from(2), context) {
            Some((Some(_), _)) => (rest.from(2), None),
            _ => return nothing,
        },
        [_, _, ..] if relation == *first => (rest.from(1), Some(rest.from(1))),
        _ => return nothing,
    };
    let Some((known, name)) = somebody(named, context) else { return nothing };
    let found = match known {
        Some(person) => {
            let value = format!("{relation} of <{owner}>");
            stated(person, "relation", value, Polarity::Holds)
        }
        None => stated(owner, relation, name, Polarity::Holds),
    };
    (found, whole)
}

/// Somebody whom the clause begins with: known, and by what name.
fn somebody(clause: Clause<'_>, context: &Context<'_>) -> Option<(Option<EntityId>, String)> {
    let known = (1..=clause.len().min(LONGEST_NAME))
        .rev()
        .find_map(|len| Some((len, context.person(&clause.lower[..len])?)));
    let capital = |word: &&&str| is_capital(word);
    let named = clause.spelled.iter().take_while(capital).count().min(LONGEST_NAME);
    // "Ben Holt's neighbour": neither Ben nor Ben Holt.
    let length = known.map_or(named, |(len, _)| len.max(named));
    let genitive = |word: &&str| word.ends_with("'s");
    if length == 0 || clause.lower.iter().take(length + 1).any(genitive) {
        return None;
    }
    match known.filter(|(len, _)| *len >= named) {
        Some((len, person)) => Some((Some(person), clause.part(0..len).text())),
        None => Some((None, clause.part(0..length).text())),
    }
}

/// "Ava no longer lives in Bonn", "I like green tea".
fn said_of_one(clause: Clause<'_>, context: &Context<'_>) -> Option<Stated> {
    let (who, rest) = match clause.lower {
        ["i", ..] => (context.speaker?, clause.from(1)),
        _ => (1..=clause.len().min(LONGEST_NAME))
            .rev()
            .find_map(|len| Some((context.person(&clause.lower[..len])?, clause.from(len))))?,
    };
    let (polarity, verb, rest) = verb(rest)?;
    // The verb in the form that the patterns have.
    let lower: Vec<&str> = std::iter::once(verb).chain(rest.lower.iter().copied()).collect();
    let spelled: Vec<&str> = std::iter::once(verb).chain(rest.spelled.iter().copied()).collect();
    let said = Clause { lower: &lower, spelled: &spelled, cased: clause.cased };
    for words in LEAVES {
        let left = after(said, words).and_then(|left| value(left, Worded::Town, context));
        if let Some(left) = left.filter(|_| polarity == Polarity::Holds) {
            return stated(who, "home", left, Polarity::Over).pop();
        }
    }
    let from_town = after(said, "moved from").and_then(|rest| {
        let to = rest.lower.iter().position(|word| *word == "to")?;
        value(rest.from(to + 1), Worded::NewTown, context)
    });
    if let Some(town) = from_town {
        return stated(who, "home", town, polarity).pop();
    }
    SAID_OF.iter().find_map(|(words, attribute, worded)| {
        let after = after(said, words)?;
        let value = value(after, *worded, context)?;
        stated(who, attribute, value, polarity).pop()
    })
}

/// The verb as one says it of others, what came before it, and what comes after.
fn verb(clause: Clause<'_>) -> Option<(Polarity, &str, Clause<'_>)> {
    let mut rest = unsaid(clause);
    let mut polarity = Polarity::Holds;
    match rest.lower {
        ["no", "longer", ..] => (polarity, rest) = (Polarity::Over, rest.from(2)),
        ["does" | "do", "not", ..] => (polarity, rest) = (Polarity::Denied, rest.from(2)),
        ["has" | "have", ..] => rest = rest.from(1),
        _ => {}
    }
    rest = unsaid(rest);
    let first = *rest.lower.first()?;
    let verb = THIRD_PERSON.iter().find(|(own, _)| *own == first).map_or(first, |(_, verb)| *verb);
    rest = unsaid(rest.from(1));
    match rest.lower {
        ["no", "longer", ..] => (polarity, rest) = (Polarity::Over, unsaid(rest.from(2))),
        // "Can not stand" is a verb.
        ["not", ..] if verb != "can" => (polarity, rest) = (Polarity::Denied, unsaid(rest.from(1))),
        _ => {}
    }
    let kept = match rest.lower {
        [kept @ .., "any", "more" | "longer"] | [kept @ .., "anymore"] => kept.len(),
        all => all.len(),
    };
    if kept < rest.len() && polarity == Polarity::Denied {
        polarity = Polarity::Over;
    }
    Some((polarity, verb, rest.part(0..kept)))
}

/// Without words that change nothing.
fn unsaid(mut clause: Clause<'_>) -> Clause<'_> {
    while clause.lower.first().is_some_and(|first| BETWEEN.has(first)) {
        clause = clause.from(1);
    }
    clause
}

fn is_denied(clause: Clause<'_>) -> bool {
    matches!(clause.lower.first(), Some(&("not" | "no" | "never")))
}

/// What comes after those words, where the clause begins with them.
fn after<'a>(clause: Clause<'a>, words: &str) -> Option<Clause<'a>> {
    let count = words.split(' ').count();
    let begins = clause.len() >= count
        && words.split(' ').zip(clause.lower).all(|(word, other)| word == *other);
    begins.then(|| unsaid(clause.from(count)))
}

/// A statement of somebody. What is denied of a liking is the opposite; what is denied of a home is over.
fn stated(who: EntityId, attribute: &str, value: String, polarity: Polarity) -> Vec<Stated> {
    let attribute = match (polarity, opposite(attribute)) {
        (Polarity::Denied, Some(opposite)) => opposite,
        (Polarity::Denied, None) if !ENDS.contains(&attribute) => return Vec::new(),
        _ => attribute,
    };
    let over =
        polarity == Polarity::Over || (polarity == Polarity::Denied && ENDS.contains(&attribute));
    if over {
        let fact = fact(who.to_string(), attribute, value);
        return vec![Stated { fact, text: String::new(), wish: Some(FactAction::Retire) }];
    }
    let text = match WORDINGS.iter().find(|(one, _)| *one == attribute) {
        Some((_, verb)) => format!("<{who}> {verb} {value}."),
        None => format!("<{who}>'s {} is {value}.", attribute.replace('_', " ")),
    };
    vec![Stated { fact: fact(who.to_string(), attribute, value), text, wish: None }]
}

/// Words of a value: up to one that ends it.
fn run(clause: Clause<'_>) -> Clause<'_> {
    let len = clause.lower.iter().take_while(|word| !STOPS.has(word)).take(LONGEST).count();
    clause.part(0..len)
}

/// The value that the clause begins with.
fn value(clause: Clause<'_>, worded: Worded, context: &Context<'_>) -> Option<String> {
    let first = *clause.lower.first()?;
    let found = match worded {
        Worded::Liked => {
            let liked = run(clause);
            let next = clause.lower.get(liked.len());
            let whole = next.is_none_or(|next| STOPS.has(next));
            let other = NOT_LIKED.has(first) || liked.lower.iter().any(|word| SOMEONES.has(word));
            (whole && !other).then(|| context.owned(&liked.text()))?
        }
        Worded::Town => town(clause)?,
        Worded::NewTown => {
            let town = town(clause)?;
            let fits = |word: &str| {
                let plain = !DETERMINERS.has(word) && !word.ends_with("'s");
                plain && (is_capital(word) || !clause.cased)
            };
            town.split(' ').all(fits).then_some(town)?
        }
        Worded::Job => {
            let job = job(clause)?;
            let trade = DETERMINERS.has(first) || TRADES.has(job.lower.last()?);
            trade.then(|| job.text())?
        }
        Worded::KnownJob => job(clause).filter(|job| is_trade(*job))?.text(),
        Worded::Trade => {
            let job = job(clause)?;
            (matches!(first, "a" | "an" | "our") && is_trade(job)).then(|| job.text())?
        }
        Worded::Firm => {
            let name = clause.part(0..noun_phrase(clause.lower));
            let firm = undetermined(name);
            let sound = is_place(name.lower) && !NO_FIRMS.has(firm.lower.first()?);
            sound.then(|| firm.text())?
        }
        Worded::Name => {
            let name = run(clause);
            name.spelled.iter().all(|word| is_capital(word)).then(|| name.text())?
        }
        Worded::Years => years(clause)?,
        Worded::Date => date(clause)?,
        Worded::State => {
            let state = undetermined(clause);
            let word = *state.lower.first()?;
            let known = STATES.iter().any(|family| family.contains(&word));
            (known && run(state).len() == 1).then(|| word.to_owned())?
        }
        Worded::Whose => whose(clause, context)?,
        Worded::Number => number(clause)?,
        Worded::Address => address(clause)?,
        Worded::Email => email(clause)?,
    };
    (!found.is_empty() && found.chars().count() <= SLOT_CHARS).then_some(found)
}

fn undetermined(clause: Clause<'_>) -> Clause<'_> {
    clause.from(usize::from(clause.lower.first().is_some_and(|word| DETERMINERS.has(word))))
}

/// "Bad Honnef"; of "a flat in Bonn", Bonn.
fn town(clause: Clause<'_>) -> Option<String> {
    let len = noun_phrase(clause.lower);
    let name = clause.part(0..len);
    let determined = name.lower.first().is_some_and(|word| DETERMINERS.has(word));
    if determined && clause.lower.get(len) == Some(&"in") {
        return town(clause.from(len + 1));
    }
    let home = !NO_HOMES.has(name.lower.last()?);
    (home && len <= LONGEST && is_place(name.lower)).then(|| name.text())
}

/// "A night nurse at the hospital" → "night nurse".
fn job(clause: Clause<'_>) -> Option<Clause<'_>> {
    let job = run(undetermined(clause));
    let preposition = |word: &&str| PREPOSITIONS.has(word) || OTHER_PREPOSITIONS.has(word);
    let len = job.lower.iter().position(preposition).unwrap_or(job.len());
    (len > 0).then(|| job.part(0..len))
}

/// "Night nurse", "teacher of music", "metalworker"; not "friend of a nurse", "bad cook".
fn is_trade(job: Clause<'_>) -> bool {
    let head = job.lower.iter().take_while(|word| **word != "of").last();
    head.is_some_and(|head| is_trade_word(head)) && !job.lower.iter().any(|word| NO_JOBS.has(word))
}

/// "5 High Street", "Rose Cottage"; not "home", "on the list".
fn address(clause: Clause<'_>) -> Option<String> {
    let address = run(clause);
    let told = |word: &&str| is_capital(word) || is_number(&word.to_lowercase());
    let sound = address.spelled.iter().any(told) && !PREPOSITIONS.has(clause.lower.first()?);
    sound.then(|| address.text())
}

/// "ava@example.org", "ava at example dot org".
fn email(clause: Clause<'_>) -> Option<String> {
    let first = clause.part(0..1).text();
    if first.contains('@') {
        return Some(first);
    }
    let len = clause.lower.iter().take_while(|word| !STOPS.has(word)).count();
    let spoken = clause.part(0..len);
    let sound = ["at", "dot"].iter().all(|word| spoken.lower.contains(word));
    sound.then(|| spoken.text())
}

/// "42", "42 years old".
fn years(clause: Clause<'_>) -> Option<String> {
    let years: u32 = clause.lower.first()?.parse().ok()?;
    let alone = match &clause.lower[1..] {
        [] | ["years" | "year", "old" | "of", ..] => true,
        [next, ..] => STOPS.has(next),
    };
    (alone && years <= OLDEST).then(|| years.to_string())
}

/// "12 May", "the 3rd of June 1984": with a day or a month, not "tomorrow".
fn date(clause: Clause<'_>) -> Option<String> {
    let clause = match clause.lower {
        ["on" | "in", ..] => undetermined(clause.from(1)),
        _ => undetermined(clause),
    };
    let date = run(clause);
    let digit = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let month = |word: &&str| MONTHS.has(word);
    let lower = || date.lower.iter();
    let sound = lower().any(|word| digit(word) || month(word))
        && lower().all(|word| digit(word) || month(word) || *word == "of" || *word == "the");
    sound.then(|| date.text())
}

/// "555-1", "+49 170 123".
fn number(clause: Clause<'_>) -> Option<String> {
    let number = |word: &&&str| {
        let fits = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '/' | '.');
        word.chars().all(fits)
    };
    let len = clause.lower.iter().take_while(number).count();
    let text = clause.part(0..len).text();
    // "300 euros" is no number that somebody has.
    let ends =
        |next: &&str| STOPS.has(next) || PREPOSITIONS.has(next) || OTHER_PREPOSITIONS.has(next);
    let alone = clause.lower.get(len).is_none_or(ends);
    (alone && text.chars().filter(char::is_ascii_digit).count() > 2).then_some(text)
}

/// "Ben's sister", "the sister of Ben", "my sister" → "sister of <person_2>".
fn whose(clause: Clause<'_>, context: &Context<'_>) -> Option<String> {
    let (relation, owner, rest) = match clause.lower {
        ["my", relation, ..] => {
            let owner = format!("<{}>", context.speaker?);
            (*relation, owner, clause.from(2))
        }
        ["the" | "a", relation, "of", ..] => {
            let name = run(clause.from(3));
            (*relation, called(name, context)?, clause.from(3 + name.len()))
        }
        _ => {
            let at = clause.lower.iter().position(|word| word.ends_with("'s"))?;
            let owner = called(clause.part(0..at + 1), context)?;
            (*clause.lower.get(at + 1)?, owner, clause.from(at + 2))
        }
    };
    // "Ben's sister Clara" says it of somebody else.
    let sound = RELATIONS.contains(&relation) && run(rest).len() == 0;
    sound.then(|| format!("{relation} of {owner}"))
}

/// Whom those words ("Ben", "Ben's") name: a mention, or the name of somebody who is not known.
fn called(name: Clause<'_>, context: &Context<'_>) -> Option<String> {
    if let Some(person) = context.person(&bare(name.lower)) {
        return Some(format!("<{person}>"));
    }
    let (first, last) = (name.lower.first()?, bare(name.spelled).pop()?);
    let named = name.len() == 1 && is_capital(last) && !NO_NAMES.has(first);
    named.then(|| last.to_owned())
}
