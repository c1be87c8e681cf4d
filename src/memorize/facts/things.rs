//! Where things are said to be, to have been put, and to be no longer.

use super::again::OLD_PLACE;
use super::fact;
use super::owned::{LOCATION, called};
use super::phrase::{
    Clause, Thing, destination, is_capital, is_number, left_for, located, noun_phrase, place,
    things,
};
use super::stated::{Context, Stated};
use super::words::{
    AUXILIARIES, AWAY_FROM, BETWEEN, BRINGS, DETERMINERS, GONE, KEEPS, LEADS, LEFT_BEHIND,
    NO_NAMES, NOW, PERSONS, PLACED, PUTS, REMOVES, REPORTS, RESTS, RIDES, SOMEBODY, STANDS, TRADES,
};
use crate::ids::EntityId;
use crate::memory::model::FactAction;
use crate::memory::natures::RELATIONS;
use crate::memory::placed_by;

/// Longest name of somebody unknown, words.
const LONGEST_NAME: usize = 4;

/// What a clause says of where things are.
pub(super) fn whereabouts(clause: Clause<'_>, context: &Context<'_>) -> Vec<Stated> {
    if let ["there", "is" | "are", ..] = clause.lower {
        return there_is(clause.from(2), context);
    }
    let at_verb = |at: usize| {
        let found = moved(clause, at, context)
            .or_else(|| is_somewhere(clause, at, context))
            .or_else(|| stands(clause, at, context))
            .or_else(|| was_put(clause, at, context))
            .or_else(|| somebody_put(clause, at, context));
        found.filter(|found| !found.is_empty())
    };
    let reports = clause.lower.first().is_some_and(|first| REPORTS.has(first));
    let begun = || reports.then(|| somebody_put(clause, 0, context)).flatten();
    (1..clause.len()).find_map(at_verb).or_else(begun).unwrap_or_default()
}

/// "The salt is in the cupboard, the pepper on the table": the second half of it, whose verb stands in the first.
pub(super) fn gapped(clause: Clause<'_>, context: &Context<'_>) -> Vec<Stated> {
    let whole = |rest: Clause<'_>| {
        let read = place(rest.lower).filter(|place| place.end == rest.len());
        read.and_then(|_| located(rest))
    };
    let found = split(clause, false, whole);
    found.map(|(things, place)| there(&things, &place, None, context)).unwrap_or_default()
}

/// Whether it is denied, and what comes after the adverbs.
fn polarity(mut clause: Clause<'_>) -> (bool, Clause<'_>) {
    let mut denied = false;
    loop {
        let skip = match clause.lower {
            ["no", "longer", ..] => 2,
            ["not" | "no", ..] => 1,
            [first, ..] if BETWEEN.has(first) => 1,
            _ => return (denied, clause),
        };
        denied |= matches!(clause.lower, ["not" | "no", ..]);
        clause = clause.from(skip);
    }
}

/// "There is a hammer in the toolbox", "there is no milk in the fridge".
fn there_is(clause: Clause<'_>, context: &Context<'_>) -> Vec<Stated> {
    let (denied, rest) = polarity(clause);
    let Some((things, place)) = split(rest, true, located) else { return Vec::new() };
    match denied {
        true => over(&things, &place, context),
        false => there(&things, &place, None, context),
    }
}

/// "The keys are now in the drawer", "my phone is not on the desk any more", "the torch is gone".
fn is_somewhere(clause: Clause<'_>, at: usize, context: &Context<'_>) -> Option<Vec<Stated>> {
    matches!(clause.lower[at], "is" | "are").then_some(())?;
    let things = things(clause.part(0..at), false);
    let (denied, mut rest) = polarity(clause.from(at + 1));
    let first = *rest.lower.first()?;
    if (GONE.has(first) && !denied) || (denied && matches!(first, "there" | "here")) {
        return Some(over(&things, "", context));
    }
    let brought = BRINGS.has(first);
    if PLACED.has(first) || RESTS.has(first) {
        rest = rest.from(1);
    }
    let place = match rest.lower {
        ["back", "where", ..] => OLD_PLACE.to_owned(),
        _ if brought => destination(rest)?,
        _ => located(rest)?,
    };
    Some(match denied {
        true => over(&things, &place, context),
        false => there(&things, &place, None, context),
    })
}

/// "The ladder stands behind the house", "the coat does not hang in the hall any more", "the torch has disappeared", "the
/// keys turned up under the sofa".
fn stands(clause: Clause<'_>, at: usize, context: &Context<'_>) -> Option<Vec<Stated>> {
    let here = clause.from(at);
    let things = || things(clause.part(0..at), false);
    match here.lower {
        ["disappeared" | "vanished", ..] => Some(over(&things(), "", context)),
        ["has" | "have", "disappeared" | "vanished" | "gone", ..] => {
            Some(over(&things(), "", context))
        }
        ["does" | "do", "not", verb, ..] if STANDS.has(verb) => {
            Some(over(&things(), &located(here.from(3))?, context))
        }
        ["no", "longer", verb, ..] if STANDS.has(verb) => {
            Some(over(&things(), &located(here.from(3))?, context))
        }
        [verb, ..] if STANDS.has(verb) => {
            Some(there(&things(), &located(here.from(1))?, None, context))
        }
        ["turned" | "showed", "up", ..] => {
            let things: Vec<Thing> = things().into_iter().filter(|one| !is_person(one)).collect();
            Some(there(&things, &located(here.from(2))?, None, context))
        }
        _ => None,
    }
}

/// "The stapler was put on the shelf by Ben", "the saw has been taken from the shed".
fn was_put(clause: Clause<'_>, at: usize, context: &Context<'_>) -> Option<Vec<Stated>> {
    let here = clause.from(at);
    let skip = match here.lower {
        ["has" | "have", "been", ..] => 2,
        ["has" | "have", "just" | "already" | "now", "been", ..] => 3,
        ["was" | "were" | "got", ..] => 1,
        _ => return None,
    };
    let (denied, rest) = polarity(here.from(skip));
    let verb = *rest.lower.first().filter(|_| !denied)?;
    let things = things(clause.part(0..at), false);
    let (who, what) = agent(rest.from(1), context);
    if REMOVES.has(verb)
        && let Some(place) = taken_from(what)
    {
        return Some(over(&things, &place, context));
    }
    let place = match verb {
        verb if BRINGS.has(verb) => destination(past_origin(what)),
        verb if PLACED.has(verb) || verb == "found" => located(what),
        _ => None,
    };
    Some(there(&things, &place?, who.as_deref(), context))
}

/// "… in the drawer by Ben", "… by Ben in the drawer": who, and the rest.
fn agent<'a>(clause: Clause<'a>, context: &Context<'_>) -> (Option<String>, Clause<'a>) {
    let by = clause.lower.iter().position(|word| *word == "by");
    let Some(by) = by else { return (None, clause) };
    let name = clause.from(by + 1);
    let whom = |name: Clause<'_>| actor(name, context).flatten().filter(|who| is_somebody(who));
    if by > 0 {
        let who = whom(name);
        let rest = if who.is_some() { clause.part(0..by) } else { clause };
        return (who, rest);
    }
    let mut lengths = (1..=name.len().min(LONGEST_NAME)).rev();
    let named = |len: usize| {
        let who = whom(name.part(0..len))?;
        place(&name.lower[len..]).map(|_| (Some(who), name.from(len)))
    };
    lengths.find_map(named).unwrap_or((None, clause))
}

/// Whether what stands after "by" is no place: "by Ben", "by the plumber", not "by the window".
fn is_somebody(who: &str) -> bool {
    let somebody = |head: &str| TRADES.has(head) || RELATIONS.contains(&head);
    who.starts_with('<') || is_capital(who) || who.rsplit(' ').next().is_some_and(somebody)
}

/// "Ben put the saw in Ava's room", "someone took the umbrella to the car", "we keep the scissors in the drawer".
fn somebody_put(clause: Clause<'_>, at: usize, context: &Context<'_>) -> Option<Vec<Stated>> {
    let verb = clause.lower[at];
    let rest = clause.from(at + 1);
    let rest = match rest.lower {
        ["back" | "down" | "up" | "away" | "out", next, ..] if DETERMINERS.has(next) => {
            rest.from(1)
        }
        _ => rest,
    };
    let (puts, brings) = (PUTS.has(verb) || KEEPS.has(verb), BRINGS.has(verb));
    if !puts && !brings && !REMOVES.has(verb) && verb != "found" {
        return None;
    }
    let doer = match at {
        // "Moved the chairs to the hall."
        0 => context.speaker.map(|id| format!("<{id}>")),
        _ => actor(clause.part(0..at), context)?,
    };
    if verb == "found" {
        return found(rest, context);
    }
    let who = doer.clone().filter(|_| !KEEPS.has(verb));
    let owned = |things: Vec<Thing>| of_doer(things, doer.as_deref(), context);
    if puts {
        let (things, place) = split(rest, false, located)?;
        let left = matches!(verb, "left" | "leaves");
        let own = |thing: &Thing| LEFT_BEHIND.has(&thing.key);
        return (!left || !things.iter().any(own))
            .then(|| there(&owned(things), &place, who.as_deref(), context));
    }
    if let Some((things, place)) = split(rest, false, taken_from).filter(|_| REMOVES.has(verb)) {
        return Some(over(&owned(things), &place, context));
    }
    let (things, place) =
        split(rest, false, |clause| destination(past_origin(clause))).filter(|_| brings)?;
    let ride = |thing: &Thing| matches!(verb, "took" | "takes" | "taken") && RIDES.has(&thing.key);
    (!things.iter().any(ride)).then(|| there(&owned(things), &place, who.as_deref(), context))
}

/// "Ben put his saw in the shed": it is Ben's, as far as he has a name and does not tell it himself.
fn of_doer(mut things: Vec<Thing>, doer: Option<&str>, context: &Context<'_>) -> Vec<Thing> {
    let Some(doer) = doer else { return things };
    let person = doer.trim_matches(['<', '>']).parse::<EntityId>().ok();
    let named = person.is_some() || is_capital(doer) && !doer.contains("'s ");
    if !named || person.is_some() && person == context.speaker {
        return things;
    }
    for thing in things.iter_mut().filter(|thing| thing.theirs) {
        (thing.key, thing.worded) = match person {
            Some(owner) => called(owner, &thing.key, context.view),
            None => (
                format!("{}'s {}", doer.to_lowercase(), thing.key),
                format!("{doer}'s {}", thing.key),
            ),
        };
    }
    things
}

/// "I found the keys under the sofa": nobody put them there; "… a mistake in the letter" tells of no thing that was lost.
fn found(clause: Clause<'_>, context: &Context<'_>) -> Option<Vec<Stated>> {
    let (things, place) = split(clause, false, located)?;
    let known = things.iter().all(|thing| !thing.indefinite && !is_person(thing));
    known.then(|| there(&things, &place, None, context))
}

/// Whether what is called so is somebody: "the old lady".
fn is_person(thing: &Thing) -> bool {
    thing.key.split(' ').next_back().is_some_and(|head| PERSONS.has(head) || TRADES.has(head))
}

/// "The drill moved to the garage", "the coins have moved from the safe to showcase 3", "the portrait has gone to Bath", "…
/// left for the gallery", "… is on loan to the gallery".
fn moved(clause: Clause<'_>, at: usize, context: &Context<'_>) -> Option<Vec<Stated>> {
    let (has, is) = match clause.lower[at] {
        "has" | "have" => (true, false),
        "is" | "are" => (false, true),
        _ => (false, false),
    };
    let rest = clause.from(at + usize::from(has || is));
    let aside = rest.lower.iter().take_while(|word| BETWEEN.has(word) || NOW.has(word)).count();
    let rest = rest.from(aside);
    let to = match rest.lower {
        ["moved", ..] if !is => past_origin(rest.from(1)),
        ["gone", ..] if has || is => rest.from(1),
        ["went" | "left", ..] if !has && !is => rest.from(1),
        ["left", "for", ..] if has => rest.from(1),
        ["on", "loan", ..] if is => rest.from(2),
        _ => return None,
    };
    let to = to.from(to.lower.iter().take_while(|word| LEADS.has(word)).count());
    let [towards, words @ ..] = to.lower else { return None };
    let place = match (rest.lower[0], *towards) {
        ("left", "for") => left_for(to),
        ("moved" | "gone" | "went", "to" | "into" | "onto") | ("on", _) => destination(to),
        _ => None,
    }?;
    // "The meeting moved to Tuesday", "the milk has gone to waste".
    let name = to.part(1..1 + noun_phrase(words));
    let sound = name.lower.first().is_some_and(|first| DETERMINERS.has(first))
        || name.spelled.iter().any(|word| is_capital(word) || is_number(word));
    let things = things(clause.part(0..at), false);
    (sound && !things.iter().any(is_person)).then(|| there(&things, &place, None, context))
}

/// "From the drawer", "out of the hall": the place as one where the thing was.
fn taken_from(clause: Clause<'_>) -> Option<String> {
    let skip = match clause.lower {
        ["out", "of", ..] => 2,
        [first, ..] if AWAY_FROM.has(first) && *first != "of" => 1,
        _ => return None,
    };
    let from = clause.from(skip);
    let name = noun_phrase(from.lower);
    // "From the shed to the garage" tells more.
    let on = matches!(from.lower.get(name), Some(&("to" | "into" | "onto")));
    (name > 0 && !on).then(|| from.part(0..name).text())
}

/// "From the shed to the garage": from "to" on.
fn past_origin(clause: Clause<'_>) -> Clause<'_> {
    let away = clause.lower.first().is_some_and(|first| AWAY_FROM.has(first) || *first == "out");
    let to = clause.lower.iter().position(|word| matches!(*word, "to" | "into" | "onto"));
    match to.filter(|_| away) {
        Some(to) => clause.from(to),
        None => clause,
    }
}

/// The things, and the first place after them that `read` makes out.
fn split<'a>(
    clause: Clause<'a>,
    bare: bool,
    read: impl Fn(Clause<'a>) -> Option<String>,
) -> Option<(Vec<Thing>, String)> {
    (1..clause.len()).find_map(|at| {
        let place = read(clause.from(at))?;
        let things = things(clause.part(0..at), bare);
        (!things.is_empty()).then_some((things, place))
    })
}

/// Who does it: `None`: those words name nobody; `Some(None)`: somebody, nobody knows who.
fn actor(clause: Clause<'_>, context: &Context<'_>) -> Option<Option<String>> {
    let aside = |word: &&&str| AUXILIARIES.has(word);
    let name = clause.part(0..clause.len() - clause.lower.iter().rev().take_while(aside).count());
    match name.lower {
        [] => return None,
        ["i"] => return Some(context.speaker.map(|id| format!("<{id}>"))),
        [one] if SOMEBODY.has(one) => return Some(None),
        words if words.len() > LONGEST_NAME => return None,
        words => {
            if let Some(person) = context.person(words) {
                return Some(Some(format!("<{person}>")));
            }
        }
    }
    let (first, text) = (*name.lower.first()?, name.text());
    let named = name.spelled.iter().all(|word| is_capital(word))
        && !NO_NAMES.has(first)
        && !first.ends_with("ly");
    let whole = noun_phrase(name.lower) == name.len();
    let described = name.len() > 1 && (DETERMINERS.has(first) || first.ends_with("'s"));
    let known = whole && (named || described);
    let text = match DETERMINERS.has(first) {
        true => format!("{first} {}", name.from(1).text()),
        false => text,
    };
    known.then(|| Some(context.owned(&text)))
}

/// What facts call a thing, and how a sentence does: what is whoever speaks's own has its owner's name.
fn named(thing: &Thing, context: &Context<'_>) -> (String, String) {
    match context.speaker.filter(|_| thing.own) {
        Some(owner) => called(owner, &thing.key, context.view),
        None => (thing.key.clone(), thing.worded.clone()),
    }
}

/// What is said of things that are somewhere.
fn there(things: &[Thing], place: &str, who: Option<&str>, context: &Context<'_>) -> Vec<Stated> {
    let place = context.owned(place);
    let one = |thing: &Thing| {
        let verb = if thing.several { "are" } else { "is" };
        let (key, worded) = named(thing, context);
        let plain = format!("{worded} {verb} {place}.");
        let text = who.map_or(plain.clone(), |who| placed_by(&plain, who, thing.several));
        let wish = thing.indefinite.then_some(FactAction::Add);
        Stated { fact: fact(key, LOCATION, place.clone()), text, wish }
    };
    things.iter().map(one).collect()
}

/// What is said of things that are there no longer; an empty place: that they are not where they were.
fn over(things: &[Thing], place: &str, context: &Context<'_>) -> Vec<Stated> {
    let wish = Some(FactAction::Retire);
    let place = context.owned(place);
    let one = |thing: &Thing| {
        let fact = fact(named(thing, context).0, LOCATION, place.clone());
        Stated { fact, text: String::new(), wish }
    };
    things.iter().map(one).collect()
}
