//! From text to clauses, and from words to names of things and places.
//!
//! Only what is stated plainly passes: questions, and sentences that say what may or usually is, have no clauses.

use std::ops::Range;

use super::words::{
    ADVERBS, BARE_NO_PLACES, DENIED, DENYING, DETERMINERS, FALSE, FILLERS, HEDGES, HEDGING,
    INDEFINITE, JOINTS, LEADS, MONTHS, NAMES_TOO, NO_PLACES, NO_THINGS, NOUNS_IN_ING, NUMBERS,
    OTHER_PREPOSITIONS, PARTS, PREPOSITIONS, PURPOSES, SAYING, STOPS, TAGS, TAKING_BACK, TIMES,
    TOMORROW, TOWARDS, TRADES, WITH_TO,
};
use super::{LONGEST, SLOT_CHARS};
use crate::ids::EntityId;
use crate::memory::natures::RELATIONS;
use crate::text::sentences;

/// Words of a sentence up to which one hedge makes all of it uncertain; speech without full stops is longer.
const ONE_SENTENCE: usize = 25;
/// Words after a verb of saying that tell to whom it was said, and that verb: "told my sister".
const LONGEST_ADDRESS: usize = 3;
/// Words from a denial to its "that": "not the case that".
const DENIAL: usize = 4;
/// Longest place, words: "on the lower shelf of the cupboard in the kitchen".
const LONGEST_PLACE: usize = 12;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// In lower case.
    pub(super) lower: String,
    /// As it was written.
    pub(super) spelled: String,
    /// A comma or the like follows.
    ends: bool,
}

impl Word {
    /// A word behind which a clause goes on.
    pub(super) fn plain(spelled: &str) -> Self {
        Self { lower: spelled.to_lowercase(), spelled: spelled.to_owned(), ends: false }
    }
}

/// A stretch of words in both spellings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clause<'a> {
    /// In lower case, contractions undone.
    pub(super) lower: &'a [&'a str],
    /// The same as they were written.
    pub(super) spelled: &'a [&'a str],
    /// Whether somebody who writes capitals wrote the whole of it.
    pub(super) cased: bool,
}

impl<'a> Clause<'a> {
    pub(super) fn len(self) -> usize {
        self.lower.len()
    }

    /// Words of it.
    pub(super) fn part(self, range: Range<usize>) -> Self {
        let range = range.start.min(self.len())..range.end.min(self.len());
        Self { lower: &self.lower[range.clone()], spelled: &self.spelled[range], ..self }
    }

    /// All words from one on.
    pub(super) fn from(self, start: usize) -> Self {
        self.part(start..self.len())
    }

    /// As it was written.
    pub(super) fn text(self) -> String {
        self.spelled.join(" ")
    }

    /// Without the words that change nothing about what comes.
    fn plain(mut self) -> Self {
        loop {
            let skip = match self.lower {
                [first, ..] if FILLERS.has(first) => 1,
                [first, second, ..] if is_day([*first, *second]) => 2,
                _ => return self,
            };
            self = self.from(skip);
        }
    }
}

/// "This morning", "last night", "on Monday".
fn is_day([first, second]: [&str; 2]) -> bool {
    matches!(first, "this" | "last" | "on" | "at" | "yesterday") && is_time(second)
}

pub(super) fn is_capital(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

pub(super) fn is_time(word: &str) -> bool {
    TIMES.has(word) || word.strip_suffix('s').is_some_and(|one| TIMES.has(one))
}

pub(super) fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) || NUMBERS.has(word)
}

/// Every clause of a text that states something plainly.
pub(super) fn clauses(text: &str) -> Vec<Vec<Word>> {
    let mut found = Vec::new();
    for statement in statements(text) {
        let mut words = words_of(statement);
        if statement.ends_with('?') {
            let tag = TAGS.iter().find(|tag| ends_with(&words, tag));
            let Some(tag) = tag else { continue };
            words.truncate(words.len() - tag.len());
        }
        let all = words.len() <= ONE_SENTENCE;
        if all && is_hedged(&words) {
            continue;
        }
        let mut parts: Vec<Vec<Word>> = Vec::new();
        let mut clause: Vec<Word> = Vec::new();
        for word in words {
            let (joint, ends) = (JOINTS.has(&word.lower), word.ends);
            if !joint {
                clause.push(word);
            }
            if joint || ends {
                parts.push(std::mem::take(&mut clause));
            }
        }
        parts.push(clause);
        if parts.iter().any(|clause| is_later(clause) && clause.iter().all(is_of_time)) {
            continue;
        }
        parts.retain(|clause| !clause.is_empty() && !is_later(clause));
        parts.retain(|clause| all || !is_hedged(clause));
        found.append(&mut parts);
    }
    found
}

/// Whether a text neither asks nor says what may be: [`clauses`] leaves none of it out.
pub(super) fn is_plain(text: &str) -> bool {
    let is_sure = |words: &[Word]| !is_hedged(words) && !is_later(words);
    statements(text).all(|one| !one.ends_with('?') && is_sure(&words_of(one)))
}

/// "Ben said", "she told me", not "as I said": an "I" that comes then is not whoever speaks.
pub(super) fn quotes_another(words: &[Word]) -> bool {
    let said = words.iter().rposition(|word| SAYING.has(&word.lower));
    let own = |at: usize| at > 0 && matches!(words[at - 1].lower.as_str(), "i" | "you");
    said.is_some_and(|at| at + LONGEST_ADDRESS >= words.len() && !own(at))
}

/// Calls `read` with the clause, and with what stands between its "and"s: "the salt and the pepper are here", "the keys are
/// here and I like tea".
pub(super) fn read_clause<T>(words: &[Word], mut read: impl FnMut(Clause<'_>) -> Vec<T>) -> Vec<T> {
    let lower: Vec<&str> = words.iter().map(|word| word.lower.as_str()).collect();
    // Capitals throughout tell no more than none.
    let spelled: Vec<&str> = match is_shouted(words) {
        true => lower.clone(),
        false => words.iter().map(|word| word.spelled.as_str()).collect(),
    };
    // Whoever mentions somebody by an id writes capitals.
    let capitals = |word: &&str| is_capital(word) || word.parse::<EntityId>().is_ok();
    let cased = spelled.iter().any(capitals);
    let whole = Clause { lower: &lower, spelled: &spelled, cased };
    let mut found = read(whole.plain());
    // What the whole says begins with its first part.
    let first = found.is_empty();
    let ands: Vec<usize> = (0..lower.len()).filter(|at| lower[*at] == "and").collect();
    let mut from = 0;
    for at in ands.iter().copied().chain([lower.len()]).filter(|_| !ands.is_empty()) {
        if first || from > 0 {
            found.extend(read(whole.part(from..at).plain()));
        }
        from = at + 1;
    }
    found
}

/// Who says it, where the whole clause tells that: "…, says Ava".
pub(super) fn said_by(words: &[Word]) -> Option<Vec<&str>> {
    let [verb, name @ ..] = words else { return None };
    let is_name = |word: &Word| is_capital(&word.spelled) || word.lower.parse::<EntityId>().is_ok();
    let named = SAYING.has(&verb.lower) && !name.is_empty() && name.iter().all(is_name);
    named.then(|| name.iter().map(|word| word.lower.as_str()).collect())
}

/// "MY WIFE LIKES TEA".
fn is_shouted(words: &[Word]) -> bool {
    // These were contracted.
    let undone = |word: &str| matches!(word, "is" | "am" | "are" | "have" | "not");
    let capital = |word: &Word| !word.spelled.contains(char::is_lowercase);
    let letters = |word: &Word| word.spelled.chars().filter(|c| c.is_uppercase()).count();
    words.len() > 2
        && words.iter().all(|word| capital(word) || undone(&word.spelled))
        && words.iter().filter(|word| letters(word) > 1).count() > 1
}

/// What stands between full stops and semicolons, each with its mark.
fn statements(text: &str) -> impl Iterator<Item = &str> {
    sentences(text).flat_map(|sentence| sentence.split_inclusive(';'))
}

/// The words of a sentence, contractions undone.
fn words_of(sentence: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for raw in sentence.split_whitespace() {
        let bare = raw.replace(['<', '>'], "").replace('\u{2019}', "'");
        let spelled = bare.trim_matches(|c: char| !c.is_alphanumeric() && c != '+');
        let after = bare.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
        let ends = bare[after..].contains([',', ':', ')', '–', '—']);
        if bare.starts_with('(') || spelled.is_empty() {
            words.last_mut().into_iter().for_each(|last| last.ends = true);
        }
        if !spelled.chars().any(char::is_alphanumeric) {
            continue;
        }
        let (first, second) = undone(spelled);
        words.push(Word { lower: first.to_lowercase(), spelled: first, ends: false });
        if let Some(second) = second {
            words.push(Word { lower: second.to_owned(), spelled: second.to_owned(), ends: false });
        }
        words.last_mut().into_iter().for_each(|last| last.ends = ends);
    }
    undo_is(&mut words);
    words
}

/// "Don't" → "do", "not".
fn undone(word: &str) -> (String, Option<&'static str>) {
    const WHOLE: [(&str, &str, &str); 3] =
        [("can't", "can", "not"), ("cannot", "can", "not"), ("won't", "will", "not")];
    const ENDS: [(&str, &str); 4] = [("n't", "not"), ("'m", "am"), ("'re", "are"), ("'ve", "have")];
    const WITH_IS: [&str; 8] = ["it", "he", "she", "there", "that", "what", "who", "where"];
    let lower = word.to_lowercase();
    if let Some((_, first, second)) = WHOLE.iter().find(|(whole, ..)| *whole == lower) {
        return ((*first).to_owned(), Some(*second));
    }
    if lower.strip_suffix("'s").is_some_and(|bare| WITH_IS.contains(&bare)) {
        return (word[..word.len() - 2].to_owned(), Some("is"));
    }
    let short = ENDS.iter().find(|(end, _)| lower.ends_with(*end) && lower.len() > end.len());
    match short.filter(|_| word.is_ascii()) {
        Some((end, second)) => (word[..word.len() - end.len()].to_owned(), Some(*second)),
        None => (word.to_owned(), None),
    }
}

/// "The mug's in the sink", "Ava's a nurse": that "'s" is no possessive.
fn undo_is(words: &mut Vec<Word>) {
    let mut at = 0;
    while at + 1 < words.len() {
        let next = words[at + 1].lower.as_str();
        let is = matches!(next, "not" | "a" | "an" | "called") || PREPOSITIONS.has(next);
        let word = &mut words[at];
        if is && !word.ends && word.lower.len() > 2 && word.lower.ends_with("'s") {
            word.lower.truncate(word.lower.len() - 2);
            word.spelled.truncate(word.spelled.len() - 2);
            let (lower, spelled) = ("is".to_owned(), "is".to_owned());
            words.insert(at + 1, Word { lower, spelled, ends: false });
        }
        at += 1;
    }
}

fn ends_with(words: &[Word], tag: &[&str]) -> bool {
    words.len() > tag.len()
        && words[words.len() - tag.len()..].iter().zip(tag).all(|(word, one)| word.lower == *one)
}

/// Whether a clause tells of the next day: "the painters start tomorrow, so …".
fn is_later(words: &[Word]) -> bool {
    words.iter().any(|word| TOMORROW.has(&word.lower))
}

fn is_of_time(word: &Word) -> bool {
    TOMORROW.has(&word.lower) || FILLERS.has(&word.lower) || is_time(&word.lower)
}

fn is_hedged(words: &[Word]) -> bool {
    let shouted = is_shouted(words);
    let one = |word: &Word| {
        let name = NAMES_TOO.has(&word.lower) && is_capital(&word.spelled) && !shouted;
        let short = word.lower.ends_with("'ll") || word.lower.ends_with("'d");
        short || (HEDGES.has(&word.lower) && !name)
    };
    let two =
        |pair: &[Word]| HEDGING.iter().any(|[a, b]| pair[0].lower == *a && pair[1].lower == *b);
    words.iter().any(one)
        || words.windows(2).any(two)
        || is_denied(words)
        || TAKING_BACK.iter().any(|end| ends_with(words, end))
}

/// "It is not true that the fork is in the sink and …": all that follows is denied.
fn is_denied(words: &[Word]) -> bool {
    let denies = |word: &Word| DENYING.has(&word.lower);
    (1..words.len()).filter(|at| words[*at].lower == "that").any(|that| {
        let what = &words[that - 1].lower;
        let before = &words[that.saturating_sub(DENIAL)..that - 1];
        FALSE.has(what) || (DENIED.has(what) && before.iter().any(denies))
    })
}

/// How many words at the beginning name one thing or place: a determiner, nouns, "of" and more of them.
pub(super) fn noun_phrase(words: &[&str]) -> usize {
    let start = usize::from(words.first().is_some_and(|word| DETERMINERS.has(word)));
    let mut end = start;
    while let Some(word) = words.get(end) {
        let after_of = end > start && words[end - 1] == "of";
        let article = DETERMINERS.has(word) && !after_of;
        let other = STOPS.has(word) || PREPOSITIONS.has(word) || OTHER_PREPOSITIONS.has(word);
        let next = words.get(end + 1);
        let day = matches!(*word, "last" | "next") && next.is_some_and(|next| is_time(next))
            || *word == "right" && next == Some(&"now");
        let since = end > start && is_number(word) && next.is_some_and(|next| is_time(next));
        let doing = end > start
            && word.ends_with("ing")
            && !NOUNS_IN_ING.has(word)
            && !is_purpose(words[end - 1], word, next.copied());
        if article || other || day || since || doing {
            break;
        }
        end += 1;
    }
    while end > start && words[end - 1] == "of" {
        end -= 1;
    }
    if end == start { 0 } else { end }
}

/// Whether a word in -ing tells what a thing is for and belongs to its name: "Ava's reading glasses", "the old sewing
/// machine"; not "the bike in the yard waiting for you".
fn is_purpose(before: &str, word: &str, next: Option<&str>) -> bool {
    let ends = [DETERMINERS, STOPS, PREPOSITIONS, OTHER_PREPOSITIONS, ADVERBS, LEADS];
    let is_noun =
        |next: &str| !ends.iter().any(|list| list.has(next)) && !is_number(next) && !is_time(next);
    match before.ends_with("'s") {
        true => next.is_none_or(is_noun),
        false => PURPOSES.has(word) && next.is_some_and(is_noun),
    }
}

/// Whether a noun is of several: "lamps", not "glass", "bus", "lens".
pub(super) fn is_several(noun: &str) -> bool {
    let one = ["ss", "us", "'s", "lens", "gas", "canvas", "atlas"];
    noun.ends_with('s') && !one.iter().any(|end| noun.ends_with(end))
}

/// The words of a name without its determiner, and the one that it is about: "box" of "the box of pens".
fn nouns<'w, 'a>(words: &'w [&'a str]) -> Option<(&'w [&'a str], &'a str)> {
    let nouns = match words {
        [first, rest @ ..] if DETERMINERS.has(first) => rest,
        all => all,
    };
    let of = nouns.iter().position(|word| *word == "of").unwrap_or(nouns.len());
    nouns[..of].last().map(|head| (nouns, *head))
}

/// A thing that is told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thing {
    /// What facts call it. Number is part of the name: "the lamps" are not "the lamp", and what is told of the several
    /// says nothing of the one, nor the other way round.
    pub(super) key: String,
    /// The same for a sentence: "The red mug", "Ava's mug".
    pub(super) worded: String,
    /// It may be another one of its kind.
    pub(super) indefinite: bool,
    /// There are several.
    pub(super) several: bool,
    /// It is whoever speaks's own.
    pub(super) own: bool,
    /// It is his or hers of whom the clause tells.
    pub(super) theirs: bool,
}

/// The thing that all those words name; `bare`: it needs no determiner.
pub(super) fn thing(clause: Clause<'_>, bare: bool) -> Option<Thing> {
    let Some((name, rest)) = joined(clause) else { return named(clause, bare) };
    let thing = named(name, bare)?;
    let rest = rest.lower.join(" ");
    let (key, worded) = (format!("{} {rest}", thing.key), format!("{} {rest}", thing.worded));
    (key.chars().count() <= SLOT_CHARS).then_some(Thing { key, worded, ..thing })
}

/// "The spare key" and "to the front door", "the mug" and "with the blue handle".
fn joined(clause: Clause<'_>) -> Option<(Clause<'_>, Clause<'_>)> {
    let joint = |word: &&str| matches!(*word, "to" | "for" | "with");
    let at = clause.lower.iter().position(joint)?;
    let (name, rest) = (clause.part(0..at), clause.from(at));
    let which = rest.lower.get(1).is_some_and(|first| DETERMINERS.has(first));
    (which && noun_phrase(&rest.lower[1..]) + 1 == rest.len()).then_some((name, rest))
}

/// The thing that all those words name, without what tells of it behind its name.
fn named(clause: Clause<'_>, bare: bool) -> Option<Thing> {
    let skip = match clause.lower {
        ["all" | "both", next, ..] if DETERMINERS.has(next) => 1,
        _ => 0,
    };
    let clause = clause.from(skip);
    if noun_phrase(clause.lower) != clause.len() {
        return None;
    }
    let determiner = clause.lower.first().copied().filter(|word| DETERMINERS.has(word));
    let mut name = clause.from(usize::from(determiner.is_some()));
    let counted = matches!(name.lower, [first, _, ..] if is_number(first));
    if counted {
        name = name.from(1);
    }
    let (all, head) = nouns(name.lower)?;
    let owned = all.len() > 1 && all[..all.len() - 1].iter().any(|word| word.ends_with("'s"));
    let named = determiner.is_some() || owned || counted || bare;
    // A vacuum cleaner is a thing.
    let trade = all.len() == 1 && TRADES.has(head);
    let somebody = trade || NO_THINGS.has(head) || RELATIONS.contains(&head);
    let odd = is_number(head) || is_time(head) || head.ends_with("'s");
    let key = all.join(" ");
    if !named || somebody || odd || all.len() > LONGEST || key.chars().count() > SLOT_CHARS {
        return None;
    }
    let several = is_several(head);
    let worded = match determiner.is_none() && owned {
        true => capitalised(&name.text()),
        false => format!("The {key}"),
    };
    let indefinite = determiner.is_none_or(|word| INDEFINITE.has(word)) && !owned;
    let own = determiner == Some("my");
    let theirs = matches!(determiner, Some("his" | "her"));
    Some(Thing { key, worded, indefinite, several, own, theirs })
}

/// "The salt and the pepper": each of them, or nothing.
pub(super) fn things(clause: Clause<'_>, bare: bool) -> Vec<Thing> {
    let mut found: Vec<Thing> = Vec::new();
    let mut from = 0;
    let len = clause.len();
    for at in (0..len).filter(|at| clause.lower[*at] == "and").chain([len]) {
        let Some(mut thing) = thing(clause.part(from..at), bare || from > 0) else {
            return Vec::new();
        };
        // "My keys and wallet".
        let alone = clause.lower.get(from).is_some_and(|first| DETERMINERS.has(first));
        if let Some(before) = found.last().filter(|_| !alone) {
            thing.own |= before.own;
            thing.theirs |= before.theirs;
        }
        found.push(thing);
        from = at + 1;
    }
    // "The salt and pepper": the second is as definite as the first.
    let first = found.first().is_some_and(|thing| thing.indefinite);
    found.iter_mut().for_each(|thing| thing.indefinite = first);
    found
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// How many words are a preposition: "on", "next to".
fn preposition(words: &[&str]) -> usize {
    match words {
        [word, "to", ..] if WITH_TO.has(word) => 2,
        [word, ..] if PREPOSITIONS.has(word) && !WITH_TO.has(word) => 1,
        _ => 0,
    }
}

/// Whether what a preposition stands before is a place: not "in March", "at ten", "in trouble".
pub(super) fn is_place(words: &[&str]) -> bool {
    let bare = !words.first().is_some_and(|word| DETERMINERS.has(word));
    let Some((all, head)) = nouns(words) else { return false };
    let of = all.iter().position(|word| *word == "of");
    let none = |word: &str| is_time(word) || NO_PLACES.has(word);
    if none(head) || (PARTS.has(head) && of.is_none()) {
        return false;
    }
    // "In the middle of the night".
    if of.is_some_and(|of| !is_part_of(&all[of + 1..])) {
        return false;
    }
    let Some(first) = all.first() else { return false };
    if bare && (none(first) || BARE_NO_PLACES.has(first)) {
        return false;
    }
    if bare && all.len() == 1 && head.ends_with("ing") && !NOUNS_IN_ING.has(head) {
        return false;
    }
    let timed = all.iter().any(|word| is_time(word) || MONTHS.has(word));
    if is_number(first) {
        // "In two boxes", "at 10 Downing Street"; not "at nine sharp", "in 5 minutes".
        let counted = all.len() == 2 && head.ends_with('s');
        return !timed && (counted || all.len() > 2);
    }
    // "In room 5", not "on March 5".
    !(is_number(head) && (all.len() < 2 || timed))
}

fn is_part_of(words: &[&str]) -> bool {
    nouns(words).is_some_and(|(_, head)| !is_time(head))
}

/// The place that the words begin with, with its preposition: which of them.
pub(super) fn place(words: &[&str]) -> Option<Range<usize>> {
    let mut start = 0;
    while let [lead, next, ..] = &words[start..]
        && LEADS.has(lead)
        && (PREPOSITIONS.has(next) || ADVERBS.has(next) || LEADS.has(next))
    {
        start += 1;
    }
    let first = words.get(start)?;
    // "Outside", not "outside the house".
    let alone = ADVERBS.has(first) && noun_phrase(&words[start + 1..]) == 0;
    let end = match alone {
        true => start + 1,
        false => start + one_place(&words[start..])?,
    };
    Some(start..rest_of_place(words, start, end))
}

/// The words of one preposition and what it stands before.
fn one_place(words: &[&str]) -> Option<usize> {
    let before = preposition(words);
    let name = noun_phrase(&words[before..]);
    let sound = before > 0 && name > 0 && is_place(&words[before..before + name]);
    sound.then_some(before + name)
}

/// "On the table" goes on "in the kitchen"; not "in the morning".
fn rest_of_place(words: &[&str], start: usize, mut end: usize) -> usize {
    while let Some(more) = one_place(&words[end..]) {
        if end + more - start > LONGEST_PLACE {
            break;
        }
        end += more;
    }
    end
}

/// Where something is brought to, as the place where it then is: "to the cellar" → "at the cellar".
pub(super) fn destination(clause: Clause<'_>) -> Option<String> {
    let mut start = 0;
    while let [lead, _, ..] = &clause.lower[start..]
        && LEADS.has(lead)
    {
        start += 1;
    }
    let here = clause.from(start);
    let towards = here
        .lower
        .first()
        .and_then(|first| TOWARDS.iter().find(|(word, _)| word == first).map(|(_, place)| *place));
    let Some(preposition) = towards else { return located(clause) };
    let name = noun_phrase(&here.lower[1..]);
    if name == 0 || !is_place(&here.lower[1..1 + name]) {
        return None;
    }
    let end = rest_of_place(here.lower, 0, 1 + name);
    Some(format!("{preposition} {}", here.part(1..end).text()))
}

/// The same of a thing that left: "for the gallery in Bath".
pub(super) fn left_for(clause: Clause<'_>) -> Option<String> {
    let ["for", rest @ ..] = clause.lower else { return None };
    let name = noun_phrase(rest);
    let sound = name > 0 && is_place(&rest[..name]);
    let end = rest_of_place(clause.lower, 0, 1 + name);
    sound.then(|| format!("at {}", clause.part(1..end).text()))
}

/// The place that the clause begins with, in words.
pub(super) fn located(clause: Clause<'_>) -> Option<String> {
    let found = clause.part(place(clause.lower)?);
    let first = found.lower.first()?;
    let towards = TOWARDS.iter().find(|(word, _)| word == first);
    let preposition = towards.map_or(*first, |(_, place)| *place);
    Some(format!("{preposition} {}", found.from(1).text()).trim_end().to_owned())
}
