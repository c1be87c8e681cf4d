//! Follow-ups: a question that leaves out, or points to, what the one before it named, made whole: "And where is she now?",
//! "Since when?", "And the red one?". The words of the one before stand in for what is missing; nothing is looked up.

use std::collections::BTreeSet;
use std::ops::Range;

use compact_str::CompactString;

use crate::language::clause::{Clause, Role, Tree};
use crate::language::parse::Word;
use crate::language::thesaurus::field;
use crate::recall::time_expr::time_expressions;
use crate::time::Timestamp;

use super::Meaning;
use super::wording::capitalised;
use crate::language::lexicon::Lexicon;

/// What was asked before, whole, and what was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The question, as it was understood.
    pub question: String,
    /// The value of the answer, without what was quoted: "In the sink"; empty where there was none.
    pub value: String,
}

/// A parsed text.
struct Text<'a> {
    text: &'a str,
    words: Vec<Word>,
}

impl Text<'_> {
    fn tree(&self) -> Tree<'_> {
        Tree::new(&self.words)
    }

    /// Bytes of a phrase.
    fn span(&self, head: usize) -> Range<usize> {
        let words = self.tree().phrase(head);
        let first = words.first().map_or(0, |&at| self.words[at].span.start);
        first..words.last().map_or(first, |&at| self.words[at].span.end)
    }

    /// Bytes of a noun with the article in front of it.
    fn bare(&self, at: usize) -> Range<usize> {
        let article = at.checked_sub(1).filter(|&before| self.words[before].tag == "DT");
        self.words[article.unwrap_or(at)].span.start..self.words[at].span.end
    }

    fn say(&self, head: usize) -> &str {
        self.text.get(self.span(head)).unwrap_or("")
    }

    fn lower(&self, at: usize) -> String {
        self.words.get(at).map_or_else(String::new, |word| word.form.as_str().to_lowercase())
    }
}

/// What stands where in the question before.
struct Before<'a> {
    text: Text<'a>,
    clause: Option<Clause>,
    /// The question word's phrase: "how long".
    asking: Range<usize>,
    /// Heads of people and of other things, the likeliest last.
    people: Vec<usize>,
    things: Vec<usize>,
    /// What is counted or chosen from: "how many glasses".
    counted: Vec<usize>,
    /// Names of nobody who was met: a pet's, a boat's.
    named: Vec<usize>,
    /// The head of where.
    place: Option<(CompactString, usize)>,
}

impl Meaning {
    /// A question made whole by the one before it; `None`: it is whole. `people`: names that are known, in lower case.
    #[must_use]
    pub fn completed(
        &self,
        question: &str,
        before: &Turn,
        people: &BTreeSet<String>,
        now: Timestamp,
    ) -> Option<String> {
        let texts = [before.question.as_str(), before.value.as_str(), question];
        let mut names = super::names_in(texts.into_iter(), &self.language);
        names.extend(people.iter().cloned());
        let parse = |text: &str| self.language.parse(text, &|name| names.contains(name));
        let rest = without_joint(question);
        let asked = Text { text: rest, words: parse(rest) };
        let known = Before::read(self, &before.question, parse(&before.question), &names, people);
        let is_whole = asked.words.iter().any(Word::is_verb);
        if is_whole {
            return pointed(&asked, &known, before, &names);
        }
        fragment(self, &asked, &known, before, &names, now)
    }
}

/// A question without "and", "but", "what about" in front.
fn without_joint(question: &str) -> &str {
    let lexicon = Lexicon::english();
    let mut rest = question.trim();
    loop {
        let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let next = behind.trim_start_matches([' ', ',']);
        let is_joint = lexicon.is("joints", &word.to_lowercase()) && !next.is_empty();
        let lower = rest.to_lowercase();
        let about = ["what about ", "how about "].iter().find(|start| lower.starts_with(**start));
        rest = match (is_joint, about) {
            (true, _) => next,
            (false, Some(about)) => &rest[about.len()..],
            (false, None) => return rest,
        };
    }
}

impl<'a> Before<'a> {
    fn read(
        meaning: &Meaning,
        text: &'a str,
        words: Vec<Word>,
        names: &BTreeSet<String>,
        people: &BTreeSet<String>,
    ) -> Self {
        let met = people;
        let text = Text { text, words };
        let tree = text.tree();
        let clauses = tree.clauses();
        let main = tree.wanted(&clauses).map_or(0, |(main, _)| main);
        let clause = clauses.get(main).cloned();
        let thesaurus = &meaning.language.thesaurus;
        let (mut people, mut things, mut place) = (Vec::new(), Vec::new(), None);
        for clause in &clauses {
            for (role, at) in &clause.roles {
                let word = &text.words[*at];
                if !word.tag.starts_with("NN") {
                    continue;
                }
                // A name behind "to" or "in" is a place's, unless somebody has it.
                let is_aside =
                    matches!(role, Role::Oblique(of) if !matches!(of.as_str(), "with" | "for"));
                let is_person = met.contains(word.lemma.as_str())
                    || names.contains(word.lemma.as_str()) && !is_aside
                    || thesaurus.is_of(&word.lemma, field::PERSON);
                let is_time = thesaurus.is_of(&word.lemma, field::TIME);
                match role {
                    Role::Oblique(of) if Lexicon::english().is("settings", of) && !is_person => {
                        if !is_time {
                            place = Some((of.clone(), *at));
                        }
                    }
                    _ if is_person => people.push(*at),
                    _ if is_time => {}
                    _ => things.push(*at),
                }
            }
        }
        // Owners: "Ava's bike".
        let owners: Vec<usize> = (0..text.words.len())
            .filter(|&at| {
                text.words[at].label == "poss" && names.contains(text.words[at].lemma.as_str())
            })
            .collect();
        if people.is_empty() {
            people = owners;
        }
        let is_asking = |at: &usize| text.words[*at].tag.starts_with('W');
        // "How many glasses": the glasses, without the question word, behind all others.
        let (counted, others): (Vec<usize>, Vec<usize>) =
            things.into_iter().partition(|at| tree.phrase(*at).iter().any(is_asking));
        let things = others;
        let asking = (0..text.words.len()).find(is_asking).map_or(0..0, |at| {
            let measured = text.words.get(at + 1).is_some_and(|next| {
                next.head != at
                    && matches!(next.tag.as_str(), "RB" | "JJ")
                    && text.lower(at) == "how"
            });
            let end = if measured { at + 1 } else { at };
            text.words[at].span.start..text.words[end].span.end
        });
        drop(tree);
        let named = people.iter().copied().filter(|&at| {
            let word = &text.words[at];
            word.tag.starts_with("NNP") && !met.contains(word.lemma.as_str())
        });
        let named = named.collect();
        Self { text, clause, asking, people, things, counted, named, place }
    }

    /// The name of whom "he" or "she" means: who was the answer to "who", else whom the question names last.
    fn person(&self, turn: &Turn, names: &BTreeSet<String>) -> Option<String> {
        let asks_who = matches!(self.text.text.get(self.asking.clone()), Some("Who" | "who"));
        let of_value = || {
            let mut words = turn.value.split(|c: char| !c.is_alphanumeric());
            let is_name = |word: &&str| {
                names.contains(&word.to_lowercase())
                    || asks_who && word.starts_with(char::is_uppercase)
            };
            words.find(is_name).map(str::to_owned)
        };
        let named = || self.people.last().map(|&at| self.text.say(at).to_owned());
        match asks_who {
            true => of_value().or_else(named),
            false => named().or_else(of_value),
        }
    }

    /// What "it" means: what the question is about, else what was answered.
    fn thing(&self, turn: &Turn) -> Option<String> {
        let asked = self.things.first().map(|&at| self.text.say(at).to_owned());
        let counted = || {
            let noun = self.counted.first().map(|&at| self.text.words[at].form.clone())?;
            Some(format!("the {noun}"))
        };
        let named = || self.named.first().map(|&at| self.text.say(at).to_owned());
        let asked = asked.or_else(counted).or_else(named);
        let answered = || (!turn.value.is_empty()).then(|| small(&turn.value));
        asked.or_else(answered)
    }

    /// Where "there" is.
    fn spot(&self, turn: &Turn) -> Option<String> {
        let asked = self.place.as_ref().map(|(of, at)| format!("{of} {}", self.text.say(*at)));
        let is_place = self
            .text
            .text
            .get(self.asking.clone())
            .is_some_and(|word| word.eq_ignore_ascii_case("where"));
        let answered = (is_place && !turn.value.is_empty()).then(|| small(&turn.value));
        answered.or(asked)
    }
}

/// The pronouns of a whole question replaced.
fn pointed(
    asked: &Text<'_>,
    known: &Before<'_>,
    turn: &Turn,
    names: &BTreeSet<String>,
) -> Option<String> {
    let lexicon = Lexicon::english();
    let mut out: Vec<(Range<usize>, String)> = Vec::new();
    let mut named = false;
    for (at, word) in asked.words.iter().enumerate() {
        let lower = asked.lower(at);
        named |= names.contains(word.lemma.as_str()) && word.tag.starts_with("NNP");
        let is = |list: &str| lexicon.is(list, &lower);
        let owns = word.tag == "PRP$";
        // "before that"
        let behind = at > 0 && lexicon.is("earlier", &asked.lower(at - 1)) && is("pointing");
        if behind {
            out.push((word.span.clone(), String::new()));
            continue;
        }
        let meant = if (is("he") || is("she")) && !named {
            known.person(turn, names)
        } else if is("things") && word.tag.starts_with("PRP")
            || is("pointing") && word.label != "det"
        {
            known.thing(turn)
        } else if lower == "there" && word.label != "expl" {
            known.spot(turn)
        } else {
            None
        };
        if let Some(meant) = meant {
            let of = if owns { format!("{meant}'s") } else { meant };
            out.push((word.span.clone(), of));
        } else if is("ones") {
            out.extend(one(asked, known, at));
        }
    }
    let changed =
        !out.is_empty() || asked.text.len() < turn.question.len() && starts_low(asked.text);
    changed.then(|| capitalised(&replaced(asked.text, out)).replace(" ?", "?"))
}

fn starts_low(text: &str) -> bool {
    text.starts_with(char::is_lowercase)
}

/// "the red one": the noun of the question before stands for "one".
fn one(asked: &Text<'_>, known: &Before<'_>, at: usize) -> Option<(Range<usize>, String)> {
    let thing = known.things.first().copied()?;
    Some((asked.words[at].span.clone(), known.text.words[thing].form.to_string()))
}

/// "her brother": whose.
fn owner_replaced(
    asked: &Text<'_>,
    known: &Before<'_>,
    turn: &Turn,
    names: &BTreeSet<String>,
) -> String {
    let lexicon = Lexicon::english();
    let owner = asked.words.iter().find(|word| {
        let lower = word.form.to_lowercase();
        word.tag == "PRP$" && (lexicon.is("he", &lower) || lexicon.is("she", &lower))
    });
    let meant = owner.and_then(|word| Some((word.span.clone(), known.person(turn, names)?)));
    meant.map_or_else(
        || asked.text.to_owned(),
        |(span, name)| replaced(asked.text, vec![(span, format!("{name}'s"))]),
    )
}

/// A question of a few words: what it says takes its place in the question before.
fn fragment(
    meaning: &Meaning,
    asked: &Text<'_>,
    known: &Before<'_>,
    turn: &Turn,
    names: &BTreeSet<String>,
    now: Timestamp,
) -> Option<String> {
    let whose = owner_replaced(asked, known, turn, names);
    let words = whose.trim_end_matches(['?', '!', '.', ' ']);
    let whole = known.text.text.trim_end_matches(['?', '!', '.', ' ']);
    if words.is_empty() {
        return None;
    }
    // "And earlier?"
    if Lexicon::english().is("earlier", &words.to_lowercase()) {
        return Some(format!("{whole} before?"));
    }
    let asks = asked.words.iter().any(|word| word.tag.starts_with('W'));
    // "Who else?"
    if asks && asked.words.iter().any(|word| word.lemma == "else") {
        return Some(others(asked, whole, known));
    }
    if asks {
        return Some(format!("{}?", capitalised(&asked_anew(words, whole, known, turn, names))));
    }
    let times = time_expressions(words, now, &meaning.zone);
    if times.first().is_some_and(|time| time.range.len() + 4 > words.len()) {
        let mut old = time_expressions(whole, now, &meaning.zone);
        let text = match old.pop() {
            Some(time) => replaced(whole, vec![(time.range, words.to_owned())]),
            None => format!("{whole} {words}"),
        };
        return Some(format!("{text}?"));
    }
    let root = asked.words.iter().position(|word| word.label == "ROOT")?;
    // "In the kitchen?"
    if asked.words[root].tag == "IN" {
        let text = match known.place.as_ref() {
            Some((_, at)) => {
                let preposition = known.text.words[*at].head;
                let from = known.text.words[preposition].span.start;
                replaced(whole, vec![(from..known.text.span(*at).end, words.to_owned())])
            }
            None => format!("{whole} {words}"),
        };
        return Some(format!("{text}?"));
    }
    let is_person = names.contains(asked.words[root].lemma.as_str())
        || meaning.language.thesaurus.is_of(&asked.words[root].lemma, field::PERSON);
    let is_one = Lexicon::english().is("ones", &asked.words[root].lemma);
    let owned = asked.words.last().is_some_and(|last| last.tag == "POS")
        || words.ends_with("'s")
        || words.ends_with("\u{2019}s");
    // "And Ben's?": another owner of the same.
    if owned {
        let owner = (0..known.text.words.len()).find(|&at| known.text.words[at].label == "poss")?;
        let mut span = known.text.span(owner);
        let mark = &known.text.text[span.end..];
        if mark.starts_with("'s") || mark.starts_with("\u{2019}s") {
            span.end += mark.find('s').map_or(0, |at| at + 1);
        }
        return Some(format!("{}?", replaced(whole, vec![(span, words.to_owned())])));
    }
    let place = match is_person {
        true => known.people.last().or(known.things.first()),
        false => known.things.first().or(known.people.last()),
    };
    let span = match place {
        Some(&place) => known.text.span(place),
        // "How much did the lamp cost?", where "how much" was taken for a part of the lamp.
        None => known.text.bare(*known.counted.first()?),
    };
    let mut text = words.to_owned();
    if is_one {
        let (range, noun) = one(asked, known, root)?;
        text = replaced(words, vec![(range, noun)]);
    }
    Some(format!("{}?", replaced(whole, vec![(span, text)])))
}

/// "Who else?", "What else?": the question before, or the one that it would be with that hole.
fn others(asked: &Text<'_>, whole: &str, known: &Before<'_>) -> String {
    if !known.asking.is_empty() {
        return known.text.text.to_owned();
    }
    let word = asked.words.first().map_or("", |word| word.form.as_str());
    let at = match word.eq_ignore_ascii_case("who") {
        true => known.people.first(),
        false => known.things.first(),
    };
    match at {
        Some(&at) => {
            let left = replaced(whole, vec![(known.text.span(at), String::new())]);
            let left = left.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("{} {}?", capitalised(word), lowered(&left))
        }
        None => known.text.text.to_owned(),
    }
}

/// With a small letter in front.
fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

/// "Since when?": the question before with other question words.
fn asked_anew(
    words: &str,
    whole: &str,
    known: &Before<'_>,
    turn: &Turn,
    names: &BTreeSet<String>,
) -> String {
    let lexicon = Lexicon::english();
    if known.asking.is_empty() {
        return format!("{words} {}", small(whole));
    }
    let rest = whole[known.asking.end..].trim_start();
    let old = whole[known.asking.clone()].to_lowercase();
    let is_subject = known.clause.as_ref().is_some_and(|clause| {
        clause.all(&Role::Agent).any(|at| {
            known.text.words[at].span.start >= known.asking.start
                && known.text.words[at].span.end <= known.asking.end
        })
    });
    let value = small(&turn.value);
    if is_subject {
        let who = known.person(turn, names).unwrap_or(value);
        return format!("{words} {who} {rest}");
    }
    // What was answered is part of what is asked now: where it is, what he bought.
    let adds = lexicon.is("answered", &old) && !turn.value.is_empty();
    if adds { format!("{words} {rest} {value}") } else { format!("{words} {rest}") }
}

fn replaced(text: &str, mut parts: Vec<(Range<usize>, String)>) -> String {
    parts.sort_by_key(|(range, _)| range.start);
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (range, new) in parts {
        if range.start < at || text.get(range.clone()).is_none() {
            continue;
        }
        out.push_str(&text[at..range.start]);
        out.push_str(&new);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// With a small letter in front, but for names.
fn small(text: &str) -> String {
    let end = text.find(' ').unwrap_or(text.len());
    let (first, rest) = text.split_at(end);
    let lower = first.to_lowercase();
    let is_word = Lexicon::english().is("places", &lower)
        || Lexicon::english().is("asking", &lower)
        || Lexicon::english().is("determiners", &lower);
    if is_word { format!("{lower}{rest}") } else { text.to_owned() }
}
