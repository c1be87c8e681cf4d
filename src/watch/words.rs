//! Rules in words: "tell me when somebody unknown is in the kitchen after 22:00".
//!
//! The sentence is parsed as questions and notes are, into clauses with roles. The clause behind "when" says what has to happen, to
//! whom and where; the one before it what is to be done then. Which words say which stands in `words.toml`. A rule does all that its
//! sentence says, or there is none: what is left unread is named, with what was understood.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

use jiff::civil::Time;
use jiff::tz::TimeZone;

use crate::language::Language;
use crate::language::clause::{Clause, Role, Tree};
use crate::language::lists::Lists;
use crate::language::parse::Word;
use crate::language::thesaurus::field;
use crate::memory::{Happening, Hours, Rule};
use crate::recall::lexer::{quoted_ranges, tokens};
use crate::recall::time_expr::{Precision, TimeExpr, When, duration_secs, told_expressions};
use crate::text::capitalised;
use crate::time::{Span, Timestamp};

/// "After 22:00" of an evening lasts until this hour.
const NIGHT_ENDS: i8 = 6;
/// From this hour on it is evening.
const EVENING: i8 = 18;
/// What lasts less is a moment, seconds.
const MOMENT_SECS: f64 = 120.0;
/// So much before and after it is kept where a recording is asked for, seconds.
const SNAPSHOT_SECS: f64 = 15.0;
/// What is said to last longer reaches into no end, seconds.
const OPEN_SECS: f64 = 400.0 * 86_400.0;

/// Why a sentence is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}; {}", self.said())]
pub struct Unread {
    /// What is missing or was not understood.
    pub why: String,
    /// What was: "Ava", "comes".
    pub understood: Vec<String>,
}

impl Unread {
    fn said(&self) -> String {
        match self.understood.is_empty() {
            true => {
                "nothing of it was understood as a rule (for example: \"tell me when Ava comes\")"
                    .to_owned()
            }
            false => format!("understood was: {}", self.understood.join(", ")),
        }
    }
}

fn is(list: &str, word: &str) -> bool {
    static ENGLISH: OnceLock<Lists> = OnceLock::new();
    let lists =
        ENGLISH.get_or_init(|| toml::from_str(include_str!("words.toml")).unwrap_or_default());
    lists.is(list, word)
}

/// The rule that a sentence is; times are read against `now`. `names`: words of names that are known, in lower case.
///
/// # Errors
/// [`Unread`].
pub fn rule(
    text: &str,
    language: &Language,
    names: &BTreeSet<String>,
    (now, zone): (Timestamp, &TimeZone),
) -> Result<Rule, Unread> {
    let text = sentence(text);
    let words = language.parse(&text, &|word| names.contains(word));
    let tree = Tree::new(&words);
    let clauses = tree.clauses();
    let mut times = told_expressions(&text, now, zone);
    times.retain(|time| matches!(time.when, When::Span { .. } | When::Spans { .. }));
    let mut reading = Reading {
        text: &text,
        language,
        names,
        tree: &tree,
        clauses: &clauses,
        times,
        length: length(&text),
        read: vec![false; words.len()],
        understood: Vec::new(),
    };
    reading.rule(now, zone)
}

/// With a capital and a full stop, which the parser goes by.
fn sentence(text: &str) -> String {
    format!("{}.", capitalised(text.trim().trim_end_matches(['.', '!', '?'])))
}

/// How long something is to last, and where that stands.
fn length(text: &str) -> Option<(Range<usize>, f64)> {
    let secs = duration_secs(text)?;
    let places: Vec<Range<usize>> = tokens(text).into_iter().map(|token| token.range).collect();
    let tells = |from: usize, to: usize| duration_secs(&text[from..to]) == Some(secs);
    let from = places.iter().map(|place| place.start).rfind(|from| tells(*from, text.len()))?;
    let to = places.iter().map(|place| place.end).find(|to| *to > from && tells(from, *to))?;
    Some((from..to, secs))
}

/// What a watch does when it fires, beside telling of it.
#[derive(Debug, Default)]
struct Deed {
    say: Option<String>,
    /// A part of the ring is kept.
    keeps: bool,
}

struct Reading<'a> {
    text: &'a str,
    language: &'a Language,
    names: &'a BTreeSet<String>,
    tree: &'a Tree<'a>,
    clauses: &'a [Clause],
    times: Vec<TimeExpr>,
    length: Option<(Range<usize>, f64)>,
    /// Which words of the sentence have a part in the rule.
    read: Vec<bool>,
    understood: Vec<String>,
}

impl Reading<'_> {
    fn word(&self, at: usize) -> &Word {
        &self.tree.words[at]
    }

    fn lemma(&self, at: usize) -> &str {
        &self.word(at).lemma
    }

    fn fail<T>(&self, why: impl Into<String>) -> Result<T, Unread> {
        Err(Unread { why: why.into(), understood: self.understood.clone() })
    }

    fn understand(&mut self, what: impl Into<String>) {
        self.understood.push(what.into());
    }

    fn rule(&mut self, now: Timestamp, zone: &TimeZone) -> Result<Rule, Unread> {
        let Some(condition) = self.condition() else {
            return self.fail("nothing in it says when");
        };
        let clause = &self.clauses[condition].clone();
        if clause.negated {
            return self.fail("a watch waits for what happens, not for what does not");
        }
        if clause.verbs.iter().all(|&verb| self.word(verb).tag == "VBD") {
            return self.fail("it tells of what was; a watch waits for what comes");
        }
        let (what, whose) = self.happening(clause)?;
        let who = self.whom(whose, what)?;
        let (hours, until) = self.hours(now, zone)?;
        let place = self.place(clause);
        let once = self.once();
        let Deed { say, keeps } = self.deed(condition, &who)?;
        self.all_is_read(clause)?;
        let for_secs =
            self.length.as_ref().filter(|_| what == Happening::Stays).map(|(_, secs)| *secs);
        if what == Happening::Stays && for_secs.is_none() {
            return self.fail("it does not say for how long");
        }
        if what == Happening::Moves && (place.is_some() || for_secs.is_some()) {
            return self.fail(
                "of a thing only that it is moved can be waited for, not where or for how long",
            );
        }
        let between = hours;
        Ok(Rule {
            who,
            what,
            place,
            for_secs,
            between,
            cooldown_secs: None,
            until,
            say,
            snapshot_secs: keeps.then_some(SNAPSHOT_SECS),
            once,
        })
    }

    /// The clause that says what has to happen: the one behind "when"; or the only one.
    fn condition(&mut self) -> Option<usize> {
        let marked = self.clauses.iter().position(|clause| {
            let first = self.first_of(clause);
            let begins = self.tree.of(clause.head, &["mark", "advmod"]);
            let mark = begins.chain(first.checked_sub(1)).find(|&at| {
                at < clause.head && is("when", self.lemma(at)) && self.is_conjunction(at)
            });
            mark.is_some()
        });
        let alone = || {
            let mains: Vec<usize> = (0..self.clauses.len())
                .filter(|&at| {
                    let predicate = self.predicate(&self.clauses[at]);
                    !is("telling", &predicate) && !is("reminding", &predicate)
                })
                .collect();
            let alone = mains.first().copied().filter(|_| self.clauses.len() == 1)?;
            let verbs = &self.clauses[alone].verbs;
            verbs.iter().any(|&verb| self.tree.is_verb(verb)).then_some(alone)
        };
        let found = marked.or_else(alone)?;
        let clause = &self.clauses[found];
        let verbs = clause.verbs.clone();
        verbs.into_iter().for_each(|at| self.read[at] = true);
        Some(found)
    }

    /// "Once" and "time" begin a clause only before one.
    fn is_conjunction(&self, at: usize) -> bool {
        let word = self.word(at);
        matches!(word.tag.as_str(), "WRB" | "IN")
            || matches!(word.lemma.as_str(), "soon" | "time" | "once")
    }

    fn first_of(&self, clause: &Clause) -> usize {
        self.tree.below(clause.head).into_iter().min().unwrap_or(clause.head)
    }

    /// "show_up" of "shows up".
    fn predicate(&self, clause: &Clause) -> String {
        clause.predicate.replace(' ', "_")
    }

    /// What has to happen, and to which word.
    fn happening(&mut self, clause: &Clause) -> Result<(Happening, usize), Unread> {
        let predicate = self.predicate(clause);
        let plain = predicate.split('_').next().unwrap_or_default().to_owned();
        let agent = clause.all(&Role::Agent).next();
        let object = clause.all(&Role::Object).next();
        // "When there is somebody in the kitchen".
        let exists = self.tree.of(clause.head, &["expl"]).next().is_some();
        let subject = if clause.passive || exists { object } else { agent };
        if clause.all(&Role::Agent).count() > 1
            || clause.passive && clause.all(&Role::Object).count() > 1
        {
            return self.fail("it is about several; set a watch for each");
        }
        let does = |list: &str| is(list, &predicate) || is(list, &plain);
        let shown = |this: &mut Self, what: Happening, at: usize| {
            this.understand(what.word().to_owned());
            Ok((what, at))
        };
        let lasts = self.length.is_some();
        // "When you see Ava", "when Ava is seen"; "when you hear Ben".
        let sensed = if clause.passive { object } else { object.filter(|_| self.is_robot(agent)) };
        for (list, what) in [("sees", Happening::Comes), ("hears", Happening::Speaks)] {
            if let Some(sensed) = sensed.filter(|_| does(list)) {
                agent.into_iter().for_each(|at| self.read[at] = true);
                return shown(self, what, sensed);
            }
        }
        let Some(subject) = subject else {
            return self.fail("it does not say who");
        };
        if self.is_thing(subject) {
            let gone = || clause.roles.iter().any(|(_, at)| is("absent", self.lemma(*at)));
            if does("moves") || does("being") && gone() {
                self.read_absent(clause);
                return shown(self, Happening::Moves, subject);
            }
            let words = self.phrase_words(subject);
            return self.fail(format!(
                "of {words:?} it can only be told that it is moved, and who it is only by a name"
            ));
        }
        if does("being") {
            let behind = |list: &str| clause.roles.iter().any(|(_, at)| is(list, self.lemma(*at)));
            let what = match (behind("absent"), lasts) {
                (true, _) => Happening::Leaves,
                (false, true) => Happening::Stays,
                (false, false) => Happening::Comes,
            };
            let placed = clause.roles.iter().any(|(role, at)| match role {
                Role::Oblique(word) => is("places", word),
                Role::Adverb | Role::Object => is("present", self.lemma(*at)),
                _ => false,
            });
            let around = self.tree.words.iter().any(|word| is("present", &word.lemma));
            if what == Happening::Comes && !placed && !around {
                return self.fail("it does not say what has to happen");
            }
            self.read_absent(clause);
            return shown(self, what, subject);
        }
        let order: [(&str, Happening); 5] = [
            ("comes", Happening::Comes),
            ("leaves", Happening::Leaves),
            ("stays", Happening::Stays),
            ("speaks", Happening::Speaks),
            ("falls", Happening::Falls),
        ];
        let found = order
            .into_iter()
            .find(|(list, _)| is(list, &predicate))
            .or_else(|| order.into_iter().find(|(list, _)| is(list, &plain)));
        match found {
            Some((_, what)) => shown(self, what, subject),
            None => {
                let verb =
                    clause.verbs.last().map_or("", |&at| self.word(at).form.as_str()).to_owned();
                self.fail(format!(
                    "{verb:?} is nothing that a watch waits for: it waits for who comes, leaves, stays or speaks, and what is moved"
                ))
            }
        }
    }

    fn read_absent(&mut self, clause: &Clause) {
        for (_, at) in &clause.roles {
            if is("absent", self.lemma(*at)) || is("present", self.lemma(*at)) {
                self.read[*at] = true;
            }
        }
    }

    fn is_robot(&self, agent: Option<usize>) -> bool {
        agent.is_none_or(|at| matches!(self.lemma(at), "you" | "it" | "robot"))
    }

    /// A noun that is no name and no person.
    fn is_thing(&self, at: usize) -> bool {
        let person = || self.language.thesaurus.is_of(self.lemma(at), field::PERSON);
        self.word(at).tag.starts_with("NN")
            && !self.is_name(at)
            && !self.is_somebody(at)
            && !person()
    }

    /// One that is known, or is written as one.
    fn is_name(&self, at: usize) -> bool {
        let word = self.word(at);
        word.tag.starts_with("NNP") && word.form.starts_with(char::is_uppercase)
            || self.names.contains(word.form.to_lowercase().as_str())
    }

    fn is_somebody(&self, at: usize) -> bool {
        is("anybody", self.lemma(at)) || is("stranger", self.lemma(at))
    }

    /// The words of a phrase, without articles and what hangs on it by a preposition.
    fn phrase(&self, head: usize) -> Vec<usize> {
        let is_own = |at: &usize| {
            let word = self.word(*at);
            let beside = matches!(
                word.label.as_str(),
                "det" | "prep" | "advmod" | "mark" | "npadvmod" | "predet"
            );
            *at == head || !beside && word.tag != "PRP$"
        };
        // What hangs on a word that is left out goes with it.
        let mut own: Vec<usize> = Vec::new();
        for at in self.tree.phrase(head) {
            let path = self.tree.above(at);
            let up_to = path.iter().take_while(|one| **one != head);
            if up_to.chain([&head]).all(is_own) {
                own.push(at);
            }
        }
        own
    }

    fn phrase_words(&self, head: usize) -> String {
        let own = self.phrase(head);
        let (Some(first), Some(last)) = (own.first(), own.last()) else { return String::new() };
        let (from, to) = (self.word(*first).span.start, self.word(*last).span.end);
        self.text[from..to].to_owned()
    }

    /// Whom a rule means by a word.
    fn whom(&mut self, at: usize, what: Happening) -> Result<String, Unread> {
        let at = self.antecedent(at);
        let below = self.tree.below(at);
        let unnamed = below.iter().any(|&one| is("unknown", self.lemma(one)));
        // "Somebody whom I do not know".
        let denied = below
            .iter()
            .any(|&one| self.lemma(one) == "know" && self.tree.of(one, &["neg"]).next().is_some());
        let name: Vec<usize> =
            self.phrase(at).into_iter().filter(|&one| self.is_name(one)).collect();
        let who = if self.is_name(at) && what != Happening::Moves {
            name.iter().for_each(|&one| self.read[one] = true);
            self.read[at] = true;
            let form = |one: &usize| self.word(*one).form.clone();
            name.iter().map(form).collect::<Vec<_>>().join(" ")
        } else if is("stranger", self.lemma(at)) || self.is_somebody(at) && (unnamed || denied) {
            below.iter().filter(|_| denied).for_each(|&one| self.read[one] = true);
            below.iter().for_each(|&one| self.read[one] |= is("unknown", self.lemma(one)));
            self.read[at] = true;
            "unknown".to_owned()
        } else if is("anybody", self.lemma(at)) && what != Happening::Moves {
            self.read[at] = true;
            "anybody".to_owned()
        } else if what == Happening::Moves {
            self.phrase(at).into_iter().for_each(|one| self.read[one] = true);
            self.phrase_words(at)
        } else {
            let words = self.phrase_words(at);
            let person = self.language.thesaurus.is_of(self.lemma(at), field::PERSON);
            let by = if person { "say who that is by a name" } else { "say who by a name" };
            return self.fail(format!(
                "whom {words:?} means is not known; {by}, or \"somebody\", or \"a stranger\""
            ));
        };
        self.understand(who.clone());
        Ok(who)
    }

    /// Whom a pronoun stands for: whoever is named before it.
    fn antecedent(&mut self, at: usize) -> usize {
        if !matches!(self.lemma(at), "he" | "she" | "they" | "him" | "her" | "them" | "it") {
            return at;
        }
        let before = (0..self.tree.words.len())
            .filter(|&one| one != at)
            .find(|&one| self.is_name(one) && self.word(one).label != "compound");
        self.read[at] |= before.is_some();
        before.unwrap_or(at)
    }

    /// Where it has to happen.
    fn place(&mut self, clause: &Clause) -> Option<String> {
        let entered = is("entering", clause.predicate.split(' ').next().unwrap_or_default());
        for (role, at) in clause.roles.clone() {
            let around = is("nowhere", self.lemma(at));
            if matches!(role, Role::Adverb | Role::Object) && around {
                self.read[at] = true;
                continue;
            }
            let word = match role {
                Role::Oblique(word) => word,
                Role::Object if entered && !clause.passive => "in".into(),
                _ => continue,
            };
            if self.is_timed(at) || !word.split(' ').all(|one| is("places", one)) {
                continue;
            }
            if around {
                self.read[at] = true;
                continue;
            }
            self.phrase(at).into_iter().for_each(|one| self.read[one] = true);
            let place = self.phrase_words(at);
            self.understand(format!("{word} {place}"));
            return Some(place);
        }
        None
    }

    /// Whether a word belongs to a time or a length of time.
    fn is_timed(&self, at: usize) -> bool {
        let span = &self.word(at).span;
        let within = |range: &Range<usize>| range.start < span.end && span.start < range.end;
        self.times.iter().any(|time| within(&time.range))
            || self.length.as_ref().is_some_and(|(range, _)| within(range))
    }

    /// In which hours, and until when.
    fn hours(
        &mut self,
        now: Timestamp,
        zone: &TimeZone,
    ) -> Result<(Option<Hours>, Option<Timestamp>), Unread> {
        let (mut hours, mut until) = (None, None);
        let lasts = self.length.as_ref().map(|(range, _)| range.clone());
        for time in self.times.clone() {
            if lasts
                .as_ref()
                .is_some_and(|own| own.start < time.range.end && time.range.start < own.end)
            {
                continue;
            }
            let words = self.text[time.range.clone()].trim().to_owned();
            let first = words.split_whitespace().next().unwrap_or_default().to_lowercase();
            let span = match &time.when {
                When::Span { span, precision } => (*span, *precision),
                When::Spans { spans, precision } if spans.len() == 1 => (spans[0], *precision),
                _ => return self.fail(format!("{words:?} is no part of every day")),
            };
            let ends = is("until", &first);
            if ends || span.1 >= Precision::Day {
                if span.0.end <= now || span.0.start > now && !ends {
                    return self
                        .fail(format!("{words:?} is not from now on: a watch begins at once"));
                }
                until = Some(span.0.end);
            } else {
                hours = Some(self.daily(span.0, (&first, &words), now, zone)?);
            }
            self.understand(words);
        }
        Ok((hours, until))
    }

    /// A stretch of the clock as a part of every day.
    fn daily(
        &self,
        span: Span,
        (first, words): (&str, &str),
        now: Timestamp,
        zone: &TimeZone,
    ) -> Result<Hours, Unread> {
        let time = |at: Timestamp| at.to_jiff().to_zoned(zone.clone()).time();
        let hour = |hour: i8| Time::new(hour, 0, 0, 0).unwrap_or_default();
        // The moment that bounds it: "22:00" of "after 22:00".
        let point = || {
            let (_, rest) = words.split_once(' ')?;
            let found = told_expressions(&format!("at {rest}"), now, zone).into_iter().next()?;
            match found.when {
                When::Span { span, .. } => Some(time(span.start)),
                _ => None,
            }
        };
        let secs = span.end.secs_since(span.start);
        let whole = (MOMENT_SECS..OPEN_SECS).contains(&secs) && !is("bounding", first);
        let (from, to) = if whole {
            (time(span.start), time(span.end))
        } else if is("onwards", first)
            && let Some(from) = point()
        {
            (from, hour(if from.hour() >= EVENING { NIGHT_ENDS } else { 0 }))
        } else if is("upto", first)
            && let Some(to) = point()
        {
            (hour(0), to)
        } else {
            return self.fail(format!("{words:?} is one moment; say between which hours"));
        };
        let text =
            format!("{:02}:{:02}-{:02}:{:02}", from.hour(), from.minute(), to.hour(), to.minute());
        text.parse().or_else(|_| self.fail(format!("{words:?} are no hours")))
    }

    /// Whether it is wanted only the first time.
    fn once(&mut self) -> bool {
        let mut once = false;
        for at in 0..self.tree.words.len() {
            let before_time = self.tree.words.get(at + 1).is_some_and(|next| next.lemma == "time");
            let lemma = self.lemma(at);
            let alone = lemma == "once" && !self.is_mark(at);
            if alone || matches!(lemma, "first" | "next") && before_time {
                (once, self.read[at]) = (true, true);
            }
        }
        if once {
            self.understand("once");
        }
        once
    }

    fn is_mark(&self, at: usize) -> bool {
        matches!(self.word(at).label.as_str(), "mark") || self.word(at).tag == "IN"
    }

    /// What the robot is to say then; nothing where it is only to tell.
    fn deed(&mut self, condition: usize, who: &str) -> Result<Deed, Unread> {
        let inside: BTreeSet<usize> =
            self.tree.below(self.clauses[condition].head).into_iter().collect();
        let outer: Vec<Clause> = self
            .clauses
            .iter()
            .enumerate()
            .filter(|(at, clause)| *at != condition && !inside.contains(&clause.head))
            .map(|(_, clause)| clause.clone())
            .collect();
        let Some(main) = outer.first() else { return Ok(Deed::default()) };
        let says = |text: String| Deed { say: Some(text), keeps: false };
        let verb = self.lemma(main.verbs[0]).to_owned();
        let quoted = quoted_ranges(self.text).into_iter().next();
        if is("saying", &verb)
            && let Some(range) = quoted
        {
            let said = self.text[range].trim().to_owned();
            (0..self.read.len()).for_each(|at| self.read[at] |= !inside.contains(&at));
            self.understand(format!("says {said:?}"));
            return Ok(says(said));
        }
        if is("reminding", &verb) {
            return self.reminder(main, &inside, who).map(says);
        }
        let kept: Vec<Option<usize>> = outer.iter().map(|clause| self.kept(clause)).collect();
        let told = |clause: &Clause| is("telling", self.lemma(clause.verbs[0]));
        if !outer.iter().zip(&kept).all(|(clause, kept)| kept.is_some() || told(clause)) {
            return self.fail(format!(
                "{verb:?} is nothing that a watch does: it tells, says what it is given to say, and keeps a recording"
            ));
        }
        let keeps = kept.iter().any(Option::is_some);
        if keeps {
            self.understand("keeps a recording");
        }
        for at in kept.into_iter().flatten() {
            let phrase = self.tree.below(at);
            phrase
                .into_iter()
                .filter(|at| !inside.contains(at))
                .for_each(|at| self.read[at] = true);
        }
        let telling: Vec<usize> = outer.iter().flat_map(|clause| clause.verbs.clone()).collect();
        telling.into_iter().for_each(|at| self.read[at] = true);
        Ok(Deed { say: None, keeps })
    }

    /// Where a clause says that what is seen and heard is to be kept: its verb, or what it is to keep.
    fn kept(&self, clause: &Clause) -> Option<usize> {
        let verb = clause.verbs[0];
        if is("recording", self.lemma(verb)) {
            return Some(verb);
        }
        let mut objects = self.tree.of(verb, &["dobj"]);
        objects.find(|&at| is("keeping", self.lemma(verb)) && is("kept", self.lemma(at)))
    }

    /// "Remind Ava of the keys", "remind Ava to take the keys".
    fn reminder(
        &mut self,
        main: &Clause,
        inside: &BTreeSet<usize>,
        who: &str,
    ) -> Result<String, Unread> {
        let verb = main.verbs[0];
        let whom = self.tree.of(verb, &["dobj", "dative", "nsubj"]).next();
        let whom = whom.map(|at| self.antecedent(at));
        let whom = whom.map(|at| self.phrase_words(at)).unwrap_or_default();
        let begins = self
            .tree
            .words
            .iter()
            .enumerate()
            .skip(verb + 1)
            .find(|(at, word)| !inside.contains(at) && is("reminded", &word.lemma));
        let Some((begin, word)) = begins else {
            return self.fail("it does not say of what");
        };
        // Up to the condition, or to the end where that stands in front.
        let first = inside.iter().next().copied().unwrap_or(usize::MAX);
        let end = if first > begin { first } else { self.tree.words.len() };
        let last = (begin..end).rev().find(|&at| {
            let word = self.word(at);
            word.tag.chars().all(char::is_alphabetic) && !is("when", &word.lemma)
        });
        let Some(last) = last.filter(|last| *last > begin) else {
            return self.fail("it does not say of what");
        };
        let keeps = matches!(word.lemma.as_str(), "to" | "that");
        let from = if keeps { word.span.start } else { self.word(begin + 1).span.start };
        let what = self.text[from..self.word(last).span.end].trim().to_owned();
        self.mark(verb..last + 1);
        let me = is("addressed", &whom.to_lowercase());
        let addressed = if me { who } else { whom.as_str() };
        let called = if matches!(addressed, "anybody" | "unknown") { "" } else { addressed };
        let said = match called.is_empty() {
            true => format!("Remember {what}."),
            false => format!("{called}, remember {what}."),
        };
        self.understand(format!("says {said:?}"));
        Ok(said)
    }

    fn mark(&mut self, words: Range<usize>) {
        for at in words {
            if let Some(read) = self.read.get_mut(at) {
                *read = true;
            }
        }
    }

    /// Every word that carries meaning has a part in the rule.
    fn all_is_read(&mut self, condition: &Clause) -> Result<(), Unread> {
        let lasting =
            |this: &Self, at: usize| this.length.is_some() && is("lengths", this.lemma(at));
        let left = (0..self.tree.words.len()).find(|&at| {
            let word = self.word(at);
            let grammar = matches!(
                word.tag.as_str(),
                "DT" | "IN"
                    | "TO"
                    | "CC"
                    | "PRP"
                    | "PRP$"
                    | "MD"
                    | "WRB"
                    | "RP"
                    | "EX"
                    | "POS"
                    | "UH"
            ) || !word.tag.starts_with(char::is_alphabetic);
            let auxiliary = matches!(word.label.as_str(), "aux" | "auxpass" | "prt");
            !(self.read[at]
                || grammar
                || auxiliary
                || self.is_timed(at)
                || lasting(self, at)
                || is("idle", &word.lemma)
                || condition.verbs.contains(&at))
        });
        match left {
            Some(at) => {
                let word = self.word(at).form.clone();
                self.fail(format!("what {word:?} has to do with it is not understood"))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::language::tests::shared;

    const NOW: &str = "2026-03-02T17:30:00Z";

    fn read(text: &str) -> Option<Result<Rule, Unread>> {
        let language = shared()?;
        let names = ["ava", "ben", "lind"].map(str::to_owned).into_iter().collect();
        let now = Timestamp::parse(NOW).unwrap();
        Some(rule(text, &language, &names, (now, &TimeZone::UTC)))
    }

    /// A rule in a line: who, what, where, for how long, when, what is said, once.
    fn line(rule: &Rule) -> String {
        let mut line = format!("{} {}", rule.who, rule.what.word());
        for part in [
            rule.place.as_ref().map(|place| format!("in {place}")),
            rule.for_secs.map(|secs| format!("for {secs}")),
            rule.between.map(|hours| hours.to_string()),
            rule.until.map(|until| format!("until {until}")),
            rule.say.as_ref().map(|say| format!("says {say}")),
            rule.snapshot_secs.map(|_| "kept".to_owned()),
            rule.once.then(|| "once".to_owned()),
        ] {
            part.into_iter().for_each(|part| line.push_str(&format!(", {part}")));
        }
        line
    }

    #[test]
    fn sentences_become_rules_by_their_clauses_and_roles() {
        for (text, wanted) in [
            ("tell me when Ava comes", "Ava comes"),
            ("Tell me when ava shows up.", "ava comes"),
            (
                "when somebody unknown is in the kitchen after 22:00",
                "unknown comes, in kitchen, 22:00-06:00",
            ),
            (
                "Alert me if a stranger comes into the hall between 22:00 and 6:00",
                "unknown comes, in hall, 22:00-06:00",
            ),
            ("Let me know when somebody I don't know comes.", "unknown comes"),
            ("if Ben stays longer than ten minutes", "Ben stays, for 600"),
            (
                "Let me know if Ben is in the office for more than half an hour.",
                "Ben stays, in office, for 1800",
            ),
            ("remind Ava of the keys when she comes", "Ava comes, says Ava, remember the keys."),
            (
                "When Ava leaves, remind her to take the keys.",
                "Ava leaves, says Ava, remember to take the keys.",
            ),
            ("Say \"Welcome home\" when Ben arrives.", "Ben comes, says Welcome home"),
            ("Tell me when the red mug is moved.", "red mug moves"),
            ("tell me when my red mug is gone", "red mug moves"),
            ("Notify me as soon as Ava is back.", "Ava comes"),
            ("Warn me if anybody speaks in the office", "anybody speaks, in office"),
            ("Tell me when you see Ava Lind.", "Ava Lind comes"),
            ("Tell me when somebody falls.", "anybody falls"),
            ("Alert me if Ava falls down in the kitchen", "Ava falls, in kitchen"),
            ("Tell me when there is somebody in the kitchen.", "anybody comes, in kitchen"),
            ("Tell me when someone enters the kitchen.", "anybody comes, in kitchen"),
            ("Tell me once when Ben leaves the house.", "Ben leaves, once"),
            ("The next time Ava comes, tell me.", "Ava comes, once"),
            ("I want to know when Ben gets home.", "Ben comes"),
            ("Record it when somebody unknown comes.", "unknown comes, kept"),
            ("Keep a recording when Ben leaves.", "Ben leaves, kept"),
            (
                "Tell me and save a clip when a stranger enters the hall.",
                "unknown comes, in hall, kept",
            ),
            ("Take a snapshot of it when the red mug is moved.", "red mug moves, kept"),
            ("Tell me whenever a person is seen in the hall.", "anybody comes, in hall"),
        ] {
            let Some(found) = read(text) else { return };
            assert_eq!(found.as_ref().map(line), Ok(wanted.to_owned()), "{text}: {found:?}");
        }
    }

    #[test]
    fn what_is_no_rule_is_refused_with_what_was_understood() {
        for (text, why, understood) in [
            (
                "Open the door when Ava comes.",
                "\"open\" is nothing that a watch does",
                vec!["comes", "Ava"],
            ),
            (
                "Tell me when Ava comes with a dog.",
                "what \"dog\" has to do with it",
                vec!["comes", "Ava"],
            ),
            ("Tell me if Ava does not come.", "for what does not", vec![]),
            ("Tell me when Ava and Ben come.", "about several", vec![]),
            ("Tell me when my mother comes.", "whom \"mother\" means is not known", vec!["comes"]),
            ("Tell me when it rains.", "\"rains\" is nothing that a watch waits for", vec![]),
            ("Tell me when Ava stays.", "for how long", vec!["stays", "Ava"]),
            ("Where is Ava?", "nothing in it says when", vec![]),
            ("Ava came yesterday.", "a watch waits for what comes", vec![]),
            ("", "nothing in it says when", vec![]),
        ] {
            let Some(found) = read(text) else { return };
            let refused = found.unwrap_err();
            assert!(refused.why.contains(why), "{text}: {refused}");
            assert_eq!(refused.understood, understood, "{text}");
        }
    }
}
