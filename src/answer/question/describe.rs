//! Persons told by what they did: "the person who spoke first", "the woman on the left", "the one who said hello". Only what
//! percepts can decide is taken apart.

use std::ops::Range;

use crate::language::Language;
use crate::language::clause::{Clause as Words, Role};

use super::folded::{Folded, Piece};
use super::told::Told;
use super::{Act, Clause, Description, Order, Side, Subject, is};

/// Descriptions in one question, at most.
const MOST: usize = 4;
/// In a question of more words none is looked for: each way to part it costs two parses.
const LONGEST: usize = 60;
/// What an adjective or noun before a noun is to it.
const NAMING: &[&str] = &["amod", "compound"];

/// Folds every description, the last first: "the man with the woman who spoke first".
pub(super) fn fold(folded: &mut Folded<'_>, language: &Language) {
    // Without such a word nothing is parsed.
    let may_be =
        |word: &str| ["persons", "whoever", "first", "last"].iter().any(|list| is(list, word));
    let mut words = folded.written().split(|c: char| !c.is_alphanumeric());
    if !words.any(|word| may_be(&word.to_lowercase())) {
        return;
    }
    for _ in 0..MOST {
        let sentence = folded.read(language);
        let told = Told::of(language, &sentence);
        if told.all().len() > LONGEST {
            return;
        }
        let found = told.all().rev().find_map(|head| described(folded, &told, head));
        let Some((range, description)) = found else { return };
        folded.fold(range, Piece::Subject(Subject::Described(description)));
    }
}

/// The description around a noun of persons: as much of what follows it as leaves a whole question, since the parser often
/// takes the verb of the question for a part of it.
fn described(
    folded: &Folded<'_>,
    told: &Told<'_>,
    head: usize,
) -> Option<(Range<usize>, Description)> {
    // "the first to arrive"
    let bare = || told.order_of(head).is_some() && told.under(head, &["relcl"]).next().is_some();
    let begin = match told.is("whoever", head) {
        true => head,
        // Several are no one person.
        false if told.tag(head) == "NNS" || !told.is("persons", head) && !bare() => return None,
        false => told.under(head, &["det"]).find(|&at| at < head && told.tag(at) != "WDT")?,
    };
    let words = &told.sentence.words;
    let last = told.all().rev().find(|&at| told.label(at) != "punct")?;
    // "… who asked about the keys | first appear", "… who spoke | still here": beside the verb of the question.
    let is_beside = |end: usize| match told.order_of(end) {
        Some(_) => {
            let before = end.saturating_sub(1);
            let strange = told.order_of(before).is_some() || told.tells(before);
            end > head + 1 && (strange || told.sentence.pieces[before].is_some())
        }
        None => told.is("framing", end),
    };
    let made = |end: usize| {
        let range = words[begin].span.start..words[end].span.end;
        let description = read(&folded.part(range.clone()), told.language)?;
        // A time alone tells somebody only where the question goes on.
        let timed = description.time.is_some() && description.clause == Clause::Seen(Order::Any);
        let mut rest = folded.clone();
        rest.fold(range.clone(), Piece::Subject(Subject::Anybody));
        let whole = range == folded.whole() || super::ask::is_whole(&rest, told.language);
        (whole && !(timed && end == head + 1 && end == last)).then_some((range, description))
    };
    (head..=last).rev().filter(|&end| !is_beside(end)).find_map(made)
}

/// A description that stands alone.
fn read(part: &Folded<'_>, language: &Language) -> Option<Description> {
    let sentence = part.read(language);
    let told = Told::of(language, &sentence);
    let root = told.all().find(|&at| told.head(at) == at)?;
    let whoever = told.is("whoever", 0);
    let is_noun = whoever || told.is("persons", root) || told.order_of(root).is_some();
    if !is_noun || told.all().any(|at| told.tree.root(at) != root) {
        return None;
    }
    let clause = match told.clauses.iter().find(|one| whoever || one.head != root) {
        Some(clause) => by_clause(&told, clause)?,
        None => by_noun(&told, root)?,
    };
    let time = part.times().into_iter().next();
    Some(Description { text: part.written().to_owned(), clause, time })
}

/// "… who spoke first"
fn by_clause(told: &Told<'_>, clause: &Words) -> Option<Clause> {
    let topic = told.topic();
    let quote = told.quotes().next().map(str::to_owned);
    let worn = || clause.all(&Role::Object).flat_map(|at| told.tree.phrase(at));
    match told.never() {
        (true, _) => return Some(Clause::NeverSeen),
        (_, true) => return Some(Clause::NeverSpoke),
        _ => {}
    }
    if let Some(other) = told.companion().filter(|_| topic.is_empty()) {
        return Some(Clause::With(Box::new(other.clone())));
    } else if let Some(side) = side(told) {
        return Some(Clause::Side(side));
    } else if told.has("alone") {
        return Some(Clause::Alone);
    } else if quote.is_some() || !topic.is_empty() {
        let words = topic.iter().filter_map(|&at| told.word_of_topic(at)).collect();
        return Some(Clause::Said { words, quote });
    } else if told.is("looks", told.verb(clause)) {
        return looks(told, worn());
    } else if told.is_deed(clause) {
        return None;
    }
    let order = told.order(&topic);
    Some(match told.act(clause).or(told.says().then_some(Act::Spoke))? {
        Act::Spoke => Clause::Spoke(order),
        Act::Arrived => Clause::Arrived(order),
        Act::Left => Clause::Left(order),
        Act::Seen | Act::Present | Act::Other => Clause::Seen(order),
    })
}

/// "the first speaker", "the woman in the grey coat", "the other one"
fn by_noun(told: &Told<'_>, root: usize) -> Option<Clause> {
    let order = told.order(&[]);
    let timed = told.sentence.pieces.iter().any(|piece| matches!(piece, Some(Piece::Time(_))));
    let worn = told.under(root, &["prep"]).filter(|&at| is("looks", told.lemma(at)));
    let worn = looks(told, worn.flat_map(|at| told.tree.below(at)));
    if let Some(other) = told.companion() {
        return Some(Clause::With(Box::new(other.clone())));
    } else if let Some(side) = side(told) {
        return Some(Clause::Side(side));
    } else if told.has("others") {
        return Some(Clause::Other);
    } else if worn.is_some() {
        return worn;
    } else if order != Order::Any || timed {
        let speaks = told.is("speakers", root);
        return Some(if speaks { Clause::Spoke(order) } else { Clause::Seen(order) });
    }
    let named = looks(told, told.under(root, NAMING));
    named.filter(|_| told.tag(root) == "NN" && !told.is("unsure", 0))
}

/// What somebody looks like, by the telling ones of those words.
fn looks(told: &Told<'_>, words: impl Iterator<Item = usize>) -> Option<Clause> {
    let mut words: Vec<usize> = words.filter(|&at| told.tells(at)).collect();
    words.sort_unstable();
    (!words.is_empty()).then(|| Clause::Looks(told.forms(&words)))
}

/// "on the left", "to the right of …"
pub(super) fn side(told: &Told<'_>) -> Option<Side> {
    const SIDES: [(&str, Side); 3] =
        [("left_side", Side::Left), ("right_side", Side::Right), ("middle", Side::Middle)];
    let is_placed =
        |at: &usize| told.label(*at) == "pobj" && told.under(*at, &["det"]).next().is_some();
    let of = |at: usize| SIDES.iter().find(|(list, _)| told.is(list, at)).map(|(_, side)| *side);
    told.all().filter(is_placed).find_map(of)
}
