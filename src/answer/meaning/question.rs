//! A question, read: what kind of thing it wants to know, of what, and when.

use std::collections::BTreeSet;

use compact_str::CompactString;

use crate::language::clause::{Clause, Kind as ClauseKind, Role, Tree, Wanted};
use crate::language::parse::Word;
use crate::language::thesaurus::Part;
use crate::recall::time_expr::{TimeExpr, When, combined_span, time_expressions};
use crate::time::{Span, Timestamp};

use super::asking::Asking;
pub(super) use super::asking::Kind;
use crate::language::lexicon::Lexicon;
use crate::language::text::{Reader, Term};

/// A question in parts.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) text: String,
    pub(super) words: Vec<Word>,
    pub(super) clauses: Vec<Clause>,
    /// The clause that asks.
    pub(super) main: usize,
    pub(super) kind: Kind,
    /// The question word.
    pub(super) asked: Option<usize>,
    /// What it is to its clause.
    pub(super) hole: Option<Role>,
    /// The lemma of the noun that it is said with.
    pub(super) noun: Option<CompactString>,
    /// What it is about, less the words of the asking and of times.
    pub(super) terms: Vec<Term>,
    /// Which terms say it: the verb, or what stands behind a light one.
    pub(super) keys: Vec<usize>,
    /// The time it names.
    pub(super) span: Option<Span>,
    /// It is about what was.
    pub(super) is_past: bool,
    /// Words of it describe somebody whom it does not name.
    pub(super) is_described: bool,
    lemmas: BTreeSet<String>,
}

impl Question {
    pub(super) fn read(reader: &Reader<'_>, text: &str, now: Timestamp) -> Self {
        let words = parts(reader, text);
        let tree = Tree::new(&words);
        let mut clauses = tree.clauses();
        let times = time_expressions(text, now, reader.zone);
        let (main, wanted) = tree.wanted(&clauses).unwrap_or((0, Wanted::Whether));
        let main = reported(&words, &clauses, main, &wanted);
        let mut terms = reader.terms(&tree, &clauses);
        terms.retain(|term| !times.iter().any(|time| is_plain_time(time, &words[term.at])));
        let mut out = Asking { kind: Kind::Whether, asked: None, hole: None, noun: None };
        if let Wanted::Part { word, role, noun } = wanted {
            out = Asking::of(reader.language, &words, (word, noun), role);
            let of_asking = |term: &Term| {
                term.at == word
                    || term.at == word + 1
                        && (out.measures()
                            || out.kind == Kind::Reason && words[word].lemma == "how")
                    || out.kind == Kind::Reason && term.lemma == "reason"
                    || out.kind == Kind::Amount && Lexicon::english().is("money", &term.lemma)
                    || Lexicon::english().is("sorts", &term.lemma) && term.at < word + 3
                    || out.kind == Kind::Frequency && term.lemma == "time"
                    || matches!(out.kind, Kind::Which | Kind::Time | Kind::Duration)
                        && Some(term.at) == out.noun
            };
            terms.retain(|term| !of_asking(term));
        } else if words.iter().any(|word| word.lemma == "or") {
            out.kind = Kind::Choice;
        }
        if let Some(clause) = clauses.get_mut(main) {
            place_beside_subject(&tree, clause, out.asked, &times);
        }
        let clause = clauses.get(main);
        let keys = clause.map_or_else(Vec::new, |clause| keys(&tree, clause, &terms, out.kind));
        let is_past = clause.is_some_and(|clause| {
            let first = clause.verbs.first().copied().unwrap_or(clause.head);
            let past = |at: usize| words[at].tag == "VBD";
            past(first) || tree.of(first, &["aux", "auxpass"]).any(past)
        });
        let Asking { kind, asked, hole, noun } = out;
        Self {
            lemmas: words.iter().map(|word| word.lemma.to_string()).collect(),
            span: combined_span(&times).map(|(span, _)| span),
            text: text.to_owned(),
            clauses,
            main,
            kind,
            asked,
            hole,
            noun: noun.map(|at| words[at].lemma.clone()),
            terms,
            keys,
            is_past,
            is_described: false,
            words,
        }
    }

    /// Whether the word stands in it, by its lemma.
    pub(super) fn has(&self, lemma: &str) -> bool {
        self.lemmas.contains(lemma)
    }

    /// Whether the word stands in it as it is written, in any case.
    pub(super) fn says(&self, form: &str) -> bool {
        self.words.iter().any(|word| word.form.eq_ignore_ascii_case(form))
    }

    /// Whether it asks for what was so until something else came: "Where did Ava live before?"
    pub(super) fn asks_before(&self) -> bool {
        let adverb =
            |word: &Word| word.label == "advmod" && Lexicon::english().is("earlier", &word.lemma);
        let last = self.words.iter().rev().find(|word| word.label != "punct");
        self.words.iter().any(adverb)
            || last.is_some_and(|word| Lexicon::english().is("earlier", &word.lemma))
    }

    pub(super) fn clause(&self) -> Option<&Clause> {
        self.clauses.get(self.main)
    }

    pub(super) fn is_being(&self) -> bool {
        self.clause().is_some_and(|clause| clause.predicate == "be")
    }

    /// Of which moment it asks: the end of the past it names, else now.
    pub(super) fn moment(&self, now: Timestamp) -> Timestamp {
        match self.span {
            Some(span) if span.start < now => span.end.plus_secs(-1.0).min(now),
            _ => now,
        }
    }

    /// Whether it names a time in which that lies.
    pub(super) fn covers(&self, span: Span) -> bool {
        self.span.is_none_or(|asked| span.start < asked.end && asked.start <= span.end)
    }

    /// What says it, and what it is said of, without words that say little.
    pub(super) fn parts(&self) -> (Vec<&Term>, Vec<&Term>) {
        let lexicon = Lexicon::english();
        let says_little = |term: &Term| {
            term.part == Part::Adverb
                || term.part == Part::Verb && lexicon.is("light", &self.words[term.at].lemma)
        };
        let keys = self.keys.iter().map(|&key| &self.terms[key]).collect();
        let others = self.terms.iter().enumerate();
        let others = others.filter(|(at, term)| !self.keys.contains(at) && !says_little(term));
        (keys, others.map(|(_, term)| term).collect())
    }

    /// Terms of the phrase under a word.
    pub(super) fn phrase(&self, head: usize) -> Vec<&Term> {
        let words = Tree::new(&self.words).phrase(head);
        self.terms.iter().filter(|term| words.contains(&term.at)).collect()
    }

    /// What it asks about: subject of being, else object; and the lemma of its head.
    pub(super) fn theme(&self) -> Option<(Vec<&Term>, &str)> {
        let clause = self.clause()?;
        let tree = Tree::new(&self.words);
        let mut aside: Vec<usize> = self.asked.into_iter().collect();
        if let Some(asked) = self.asked {
            let up = self.words[asked].head;
            aside.extend(Some(up).filter(|up| self.words[*up].tag.starts_with("NN")));
        }
        let is_free = |at: &usize| !aside.contains(at) && !self.words[*at].tag.starts_with('W');
        let agents: Vec<usize> = clause.all(&Role::Agent).filter(is_free).collect();
        let is_thing = |at: &usize| is_free(at) && !self.words[*at].tag.starts_with("JJ");
        let objects: Vec<usize> = clause.all(&Role::Object).filter(is_thing).collect();
        let head = match self.is_being() {
            true => *agents.first().or(objects.first())?,
            false => *objects.first().or(agents.first())?,
        };
        let mut words = tree.phrase(head);
        let obliques = clause.roles.iter().filter(|(role, _)| matches!(role, Role::Oblique(_)));
        for (_, oblique) in obliques {
            let cut = tree.phrase(*oblique);
            words.retain(|word| !cut.contains(word));
        }
        let mut terms: Vec<&Term> =
            self.terms.iter().filter(|term| words.contains(&term.at)).collect();
        // Whose it is, where somebody keeps it.
        if !self.is_being() && objects.first() == Some(&head) {
            terms
                .extend(self.terms.iter().filter(|term| term.is_name && agents.contains(&term.at)));
        }
        (!terms.is_empty()).then(|| (terms, self.words[head].lemma.as_str()))
    }

    /// The clause behind "before", "after", "when": its word, and its terms and those of the rest.
    pub(super) fn beside(&self) -> Option<(&str, Vec<&Term>, Vec<&Term>)> {
        let lexicon = Lexicon::english();
        let adverbial = self.clauses.iter().find_map(|clause| match &clause.kind {
            ClauseKind::Adverbial(mark) if lexicon.is("joins", mark) => Some((clause.head, mark)),
            _ => None,
        });
        // "before the attic"
        let phrase = || {
            let joins = |word: &&Word| word.label == "prep" && lexicon.is("joins", &word.lemma);
            let joint = self.words.iter().find(joins)?;
            let at = self.words.iter().position(|word| word.span == joint.span)?;
            let is_told = self.terms.iter().any(|term| self.words[term.at].head == at);
            is_told.then_some((at, &joint.lemma))
        };
        let (head, mark) = adverbial.or_else(phrase)?;
        let below = Tree::new(&self.words).below(head);
        let (inner, outer) = self.terms.iter().partition(|term| below.contains(&term.at));
        Some((mark, inner, outer))
    }
}

/// The words of a question; what stands before it ("On Friday, where was Ava?") is parsed as a sentence of its own.
fn parts(reader: &Reader<'_>, text: &str) -> Vec<Word> {
    let parse = |part: &str| reader.language.parse(part, &|name| reader.is_name(name));
    let Some(at) = question_behind(text) else { return parse(text) };
    let mut words = parse(&text[..at]);
    let before = words.len();
    for mut word in parse(&text[at..]) {
        word.head += before;
        word.span = word.span.start + at..word.span.end + at;
        words.push(word);
    }
    words
}

/// Where the question begins that stands behind a comma or a sentence.
fn question_behind(text: &str) -> Option<usize> {
    let lexicon = Lexicon::english();
    let asks = |rest: &str| {
        let word = rest.split(|c: char| !c.is_alphabetic()).next().unwrap_or("");
        lexicon.is("asking", &word.to_lowercase())
    };
    let ends = text.match_indices([',', '.', ';', '\u{2013}', '\u{2014}']);
    let mut behind = ends.filter_map(|(at, sign)| {
        let rest = &text[at + sign.len()..];
        let start = text.len() - rest.trim_start().len();
        (start > at + sign.len() && asks(&text[start..])).then_some(start)
    });
    behind.next().filter(|_| !asks(text))
}

/// The clause that asks, where it is what somebody says: "How long did Ava say that it takes?"
fn reported(words: &[Word], clauses: &[Clause], main: usize, wanted: &Wanted) -> usize {
    let Some(clause) = clauses.get(main) else { return main };
    let verb = clause.verbs.last().copied().unwrap_or(clause.head);
    let is_adverb = matches!(wanted, Wanted::Part { role: Role::Adverb, .. });
    if !is_adverb || !Lexicon::english().is("reporting", &words[verb].lemma) {
        return main;
    }
    let inner = clauses.iter().position(|one| one.kind == ClauseKind::Complement(verb));
    inner.unwrap_or(main)
}

/// Whether a word is of a time that the clock or the calendar tells.
fn is_plain_time(time: &TimeExpr, word: &Word) -> bool {
    time.range.contains(&word.span.start) && !matches!(time.when, When::Event { .. })
}

/// "Is the drill in the van?": the place hangs on the subject; it is what is asked.
fn place_beside_subject(
    tree: &Tree<'_>,
    clause: &mut Clause,
    asked: Option<usize>,
    times: &[TimeExpr],
) {
    let timed =
        |at: usize| times.iter().any(|time| time.range.contains(&tree.words[at].span.start));
    let placed = |(role, at): &(Role, usize)| matches!(role, Role::Oblique(_)) && !timed(*at);
    let complement = clause.all(&Role::Object).any(|at| Some(at) != asked);
    if clause.predicate != "be" || complement || clause.roles.iter().any(placed) {
        return;
    }
    let agents: Vec<usize> = clause.all(&Role::Agent).collect();
    for preposition in agents.iter().flat_map(|&agent| tree.of(agent, &["prep"])) {
        let lemma = &tree.words[preposition].lemma;
        if Lexicon::english().is("settings", lemma) {
            for object in tree.of(preposition, &["pobj"]) {
                clause.roles.push((Role::Oblique(lemma.clone()), object));
            }
        }
    }
}

fn keys(tree: &Tree<'_>, clause: &Clause, terms: &[Term], kind: Kind) -> Vec<usize> {
    let lexicon = Lexicon::english();
    let is_light = |at: usize| {
        let lemma = &tree.words[at].lemma;
        lexicon.is("light", lemma) && !(lemma == "have" && kind == Kind::Whether)
    };
    let last = clause.verbs.last().copied().unwrap_or(clause.head);
    let verb = terms.iter().position(|term| term.at == last && term.part == Part::Verb);
    if let Some(verb) = verb.filter(|_| !is_light(last)) {
        return vec![verb];
    }
    let said = clause.all(&Role::Object);
    let said: Vec<usize> = said
        .filter_map(|at| terms.iter().position(|term| term.at == at && !term.is_name))
        .collect();
    if !said.is_empty() {
        return said;
    }
    // "What is Ava's job?": the attribute.
    let agents: Vec<usize> = clause.all(&Role::Agent).collect();
    let is_owned = |at: &usize| tree.of(*at, &["poss", "prep"]).next().is_some();
    let attribute = agents.iter().copied().filter(is_owned).find_map(|at| {
        terms.iter().position(|term| term.at == at && term.part == Part::Noun && !term.is_name)
    });
    if kind != Kind::Whether
        && kind != Kind::Place
        && clause.predicate == "be"
        && attribute.is_some()
    {
        return attribute.into_iter().collect();
    }
    // "What does Ava do for a living?"
    let beside = clause.roles.iter().filter(|(role, _)| matches!(role, Role::Oblique(_)));
    let beside = beside.filter_map(|(_, at)| {
        terms.iter().position(|term| term.at == *at && !term.is_name && term.part == Part::Noun)
    });
    let beside: Vec<usize> = beside.collect();
    if clause.predicate == "do" && kind != Kind::Whether && !beside.is_empty() {
        return beside;
    }
    // "Is the lift working again?" where "working" was taken for a part of the subject.
    let theme: Vec<usize> = agents.iter().flat_map(|&agent| tree.phrase(agent)).collect();
    let said = |term: &&Term| {
        let word = &tree.words[term.at];
        let behind = word.tag == "VBG" && !agents.contains(&term.at) && word.head < term.at;
        !term.is_name
            && matches!(term.part, Part::Verb | Part::Adjective)
            && !is_light(term.at)
            && (!theme.contains(&term.at) || behind)
    };
    terms.iter().position(|term| said(&term)).into_iter().collect()
}
