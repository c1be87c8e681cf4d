//! A text as its clauses, for what it states: whom it names stands under stand-ins of one word, pronouns for whom they mean.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;

use super::SLOT_CHARS;
use super::stated::Context;
use crate::ids::EntityId;
use crate::language::Language;
use crate::language::clause::{Clause, Kind, Role, Tree};
use crate::language::lexicon::Lexicon;
use crate::language::parse::Word;
use crate::language::parses::Parses;
use crate::language::text::{Before, Reader, Sentence, Vocabulary, Voice};
use crate::language::thesaurus::{Part, field};
use crate::mention;
use crate::text::capitalised;
use crate::time::Timestamp;

/// So many senses of a noun are common.
const SENSES: usize = 4;
/// Longest name of somebody, words.
const LONGEST_NAME: usize = 4;

/// A text, read.
pub(super) struct Text<'a> {
    pub(super) language: &'a Language,
    pub(super) context: &'a Context<'a>,
    at: Timestamp,
    /// With stand-ins.
    text: String,
    /// Who stands under which word, in lower case.
    people: BTreeMap<String, EntityId>,
    sentences: Vec<Sentence>,
}

impl<'a> Text<'a> {
    /// What was told at `at`.
    pub(super) fn read(
        text: &str,
        at: Timestamp,
        context: &'a Context<'a>,
        language: &'a Language,
        zone: &TimeZone,
    ) -> Self {
        let mut people = BTreeMap::new();
        let shouted = !text.chars().any(char::is_lowercase);
        let lower = shouted.then(|| text.to_lowercase());
        let text = stand_ins(lower.as_deref().unwrap_or(text), context, &mut people);
        let speaker = context.speaker.map(|id| stand_in(id, &mut people).to_lowercase());
        let (vocabulary, parses) = (Vocabulary::default(), Parses::default());
        let known: BTreeSet<String> = people.keys().cloned().collect();
        let reader =
            Reader { language, names: &known, zone, vocabulary: &vocabulary, parses: &parses };
        let strangers = strangers(&reader.parsed(&text), language);
        let names: BTreeSet<String> = known.iter().cloned().chain(strangers).collect();
        let reader = Reader { names: &names, ..reader };
        let voice = Voice { speaker: speaker.map(Into::into), addressee: None };
        let sentences = reader.read_after(&mut Before::default(), &voice, &text, at);
        Self { language, context, at, text, people, sentences }
    }

    /// Its sentences.
    pub(super) fn passages(&self) -> impl Iterator<Item = Passage<'_>> {
        (0..self.sentences.len()).map(|number| {
            let sentence = &self.sentences[number];
            Passage { text: self, number, sentence, tree: Tree::new(&sentence.words) }
        })
    }

    /// Words with the names of those whose stand-ins are there.
    fn named(&self, text: &str, name: impl Fn(EntityId) -> String) -> String {
        let mut out = String::with_capacity(text.len());
        for (at, part) in text.split(' ').enumerate() {
            let end = part.find(|c: char| !c.is_alphanumeric()).unwrap_or(part.len());
            let (word, rest) = part.split_at(end);
            out.push_str(if at > 0 { " " } else { "" });
            match self.people.get(&word.to_lowercase()) {
                Some(id) => out.push_str(&name(*id)),
                None => out.push_str(word),
            }
            out.push_str(rest);
        }
        out
    }
}

/// The text with one word for each person that it names; whom it stands for.
fn stand_ins(text: &str, context: &Context<'_>, people: &mut BTreeMap<String, EntityId>) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut from = 0;
    for one in mention::spelled(text) {
        let known = one.id.filter(|id| context.view.knows(*id)).map(|id| context.view.resolve(id));
        let Some(id) = known else { continue };
        plain.push_str(&text[from..one.range.start]);
        plain.push_str(&stand_in(id, people));
        from = one.range.end;
    }
    plain.push_str(&text[from..]);
    let plain = plain.replace('\u{2019}', "'");
    let has_capitals = plain.chars().any(char::is_uppercase);
    let words: Vec<std::ops::Range<usize>> = words(&plain).collect();
    let mut out = String::with_capacity(plain.len());
    let (mut at, mut from) = (0, 0);
    while at < words.len() {
        let found = (1..=LONGEST_NAME.min(words.len() - at)).rev().find_map(|count| {
            let range = words[at].start..words[at + count - 1].end;
            let parts: Vec<&str> =
                words[at..at + count].iter().map(|word| &plain[word.clone()]).collect();
            let capital = |word: &&str| word.starts_with(char::is_uppercase);
            let joined = plain[range.clone()] == parts.join(" ");
            let may = joined && (!has_capitals || parts.iter().all(capital));
            let parts: Vec<String> = parts.iter().map(|part| part.to_lowercase()).collect();
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            let id = context.person(&parts).filter(|_| may)?;
            Some((count, range, id))
        });
        if let Some((count, range, id)) = found {
            out.push_str(&plain[from..range.start]);
            out.push_str(&stand_in(id, people));
            from = range.end;
            at += count;
        } else {
            at += 1;
        }
    }
    out.push_str(&plain[from..]);
    out
}

/// Where the words of a text stand.
fn words(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let mut at = 0;
    text.split(|c: char| !c.is_alphanumeric()).filter_map(move |word| {
        let start = at + text[at..].find(word)?;
        at = start + word.len();
        (!word.is_empty()).then_some(start..at)
    })
}

/// The word that somebody stands under: "Person2".
fn stand_in(id: EntityId, people: &mut BTreeMap<String, EntityId>) -> String {
    let word: String = id.to_string().chars().filter(|c| c.is_alphanumeric()).collect();
    people.insert(word.clone(), id);
    capitalised(&word)
}

/// Names of people whom nobody knows, who do something or have something; in lower case.
fn strangers(words: &[Word], language: &Language) -> BTreeSet<String> {
    let does = |label: &str| matches!(label, "nsubj" | "nsubjpass" | "poss" | "dative");
    let is_site = |word: &Word| {
        let sites = [field::LOCATION, field::GROUP, field::TIME];
        sites.iter().any(|field| language.thesaurus.is_of(&word.lemma, *field))
    };
    let is_stranger = |word: &&Word| word.tag == "NNP" && does(&word.label) && !is_site(word);
    words.iter().filter(is_stranger).map(|word| word.lemma.to_string()).collect()
}

/// One sentence of a text.
pub(super) struct Passage<'a> {
    pub(super) text: &'a Text<'a>,
    number: usize,
    pub(super) sentence: &'a Sentence,
    pub(super) tree: Tree<'a>,
}

impl Passage<'_> {
    pub(super) fn lemma(&self, at: usize) -> &str {
        &self.sentence.words[at].lemma
    }

    /// As written, in lower case.
    pub(super) fn form(&self, at: usize) -> String {
        self.sentence.words[at].form.as_str().to_lowercase()
    }

    pub(super) fn tag(&self, at: usize) -> &str {
        &self.sentence.words[at].tag
    }

    /// Clauses that state that something is so, or that it is not, in order.
    pub(super) fn statements(&self) -> Vec<&Clause> {
        let lexicon = Lexicon::english();
        let unsure = self.sentence.words.iter().any(|word| lexicon.is("unsure", &word.lemma));
        let all = if unsure || self.sentence.asks { &[] } else { &*self.sentence.clauses };
        let mut stated: Vec<&Clause> = all.iter().filter(|clause| self.is_stated(clause)).collect();
        stated.sort_by_key(|clause| clause.head);
        stated
    }

    fn is_stated(&self, clause: &Clause) -> bool {
        let plain = clause.modal.is_none() && clause.verbs.len() == 1 && !self.is_wish(clause);
        let around =
            self.tree.above(clause.head).into_iter().filter_map(|word| {
                self.sentence.clauses.iter().find(|one| one.verbs.contains(&word))
            });
        plain && around.into_iter().all(|one| self.is_asserted(one))
    }

    /// Whether it is told of a time that has not come.
    pub(super) fn is_ahead(&self, clause: &Clause) -> bool {
        let number = self.sentence.clauses.iter().position(|one| one.head == clause.head);
        let at = self.text.at;
        number.is_some_and(|number| self.sentence.time_of(number, at).0.start > at)
    }

    /// "Put the cup in the sink": nobody does it yet.
    fn is_wish(&self, clause: &Clause) -> bool {
        self.tag(clause.head) == "VB" && self.finite(clause).is_none_or(|tag| tag == "VB")
    }

    fn is_asserted(&self, clause: &Clause) -> bool {
        match &clause.kind {
            Kind::Main | Kind::Coordinated => true,
            Kind::Adverbial(joint) => Lexicon::english().is("reasons", joint),
            // "I like tea, says Ava."
            Kind::Complement(_) => clause.all(&Role::Agent).any(|who| {
                Lexicon::english().is("speaker", self.lemma(who)) && self.person(who).is_some()
            }),
            Kind::Relative(_) => false,
        }
    }

    /// The tag of the verb that bears the tense.
    pub(super) fn finite(&self, clause: &Clause) -> Option<&str> {
        let first = *clause.verbs.first()?;
        let helping = self.tree.of(first, &["aux", "auxpass"]).next();
        Some(self.tag(helping.unwrap_or(first)))
    }

    /// It is told as being so now: "is", "has put", not "was".
    pub(super) fn is_present(&self, clause: &Clause) -> bool {
        self.finite(clause).is_some_and(|tag| matches!(tag, "VBZ" | "VBP"))
    }

    /// It is told as being so no more: "no longer", "not … any more".
    pub(super) fn is_over(&self, clause: &Clause) -> bool {
        let ends = |word: &usize| Lexicon::english().is("no_more", &self.form(*word));
        clause.negated && self.tree.below(clause.head).iter().any(ends)
    }

    /// Whom a word names or means.
    pub(super) fn person(&self, at: usize) -> Option<EntityId> {
        let people = &self.text.people;
        people.get(self.lemma(at)).copied().or_else(|| {
            let mut meant = self.sentence.terms.iter().filter(|term| term.at == at && term.is_name);
            meant.find_map(|term| people.get(term.lemma.as_str()).copied())
        })
    }

    /// The possessor of a noun: the word that tells it.
    pub(super) fn owner(&self, noun: usize) -> Option<usize> {
        let part = self.tree.of(noun, &["compound"]).next();
        let of = |noun: usize| self.tree.of(noun, &["poss"]).next();
        of(noun).or_else(|| part.and_then(of))
    }

    /// Whether a noun has no article and no owner of its own.
    pub(super) fn is_bare(&self, noun: usize) -> bool {
        self.tree.of(noun, &["det", "poss", "nummod"]).next().is_none()
    }

    /// Words of a noun's phrase in order: without its article and its owner's; `joined`: prepositions that may hang on it.
    pub(super) fn phrase(&self, noun: usize, joined: impl Fn(&str) -> bool) -> Vec<usize> {
        let mut out = vec![noun];
        for &next in self.tree.under(noun) {
            let word = &self.sentence.words[next];
            let whole = match word.label.as_str() {
                "det" | "poss" | "predet" | "cc" | "conj" | "punct" | "relcl" | "acl" | "appos"
                | "advcl" | "ccomp" | "neg" | "parataxis" | "dep" => false,
                "prep" => next > noun && joined(&word.lemma),
                "advmod" | "npadvmod" => !self.tag(noun).starts_with("NN"),
                _ => true,
            };
            if whole {
                out.extend(self.tree.below(next));
            }
        }
        out.sort_unstable();
        out
    }

    /// The words as they are written.
    pub(super) fn written(&self, words: &[usize]) -> String {
        let all = &self.sentence.words;
        let mut out = String::new();
        for (at, &word) in words.iter().enumerate() {
            let apart = at > 0 && {
                let before = &all[words[at - 1]];
                words[at - 1] + 1 != word || before.span.end < all[word].span.start
            };
            out.push_str(if apart { " " } else { "" });
            out.push_str(&self.text.text[all[word].span.clone()]);
        }
        out
    }

    /// The words as others say them: with names for ids, "Ava's" for "my". `None`: they mean somebody or something that is
    /// not told, or are too many.
    pub(super) fn told(&self, words: &[usize]) -> Option<String> {
        let lexicon = Lexicon::english();
        let view = self.text.context.view;
        let mut parts: Vec<String> = Vec::new();
        for &word in words {
            let pronoun = self.tag(word).starts_with("PRP");
            let whose = self.tag(word) == "PRP$";
            let own = pronoun && lexicon.is("speaker", self.lemma(word));
            let named = || self.person(word).map(|id| format!("{}'s", view.display_name(id)));
            let text = match pronoun {
                true if !own && lexicon.is("things", self.lemma(word)) && whose => {
                    self.written(&[word])
                }
                true if own || whose => named()?,
                true => return None,
                false => self.written(&[word]),
            };
            let glued = parts.last().is_some() && {
                let before = &self.sentence.words[word.saturating_sub(1)];
                word > 0
                    && words.contains(&(word - 1))
                    && before.span.end == self.sentence.words[word].span.start
            };
            match parts.last_mut() {
                Some(last) if glued => last.push_str(&text),
                _ => parts.push(text),
            }
        }
        let text = self.text.named(&parts.join(" "), |id| view.display_name(id));
        (!text.is_empty() && text.chars().count() <= SLOT_CHARS).then_some(text)
    }

    /// Whether a noun is of one of those fields by a common sense, or is no word of the language.
    pub(super) fn is_of(&self, noun: usize, fields: &[u8]) -> bool {
        let word = &self.sentence.words[noun];
        let known = self.text.language.thesaurus.fields(&word.lemma, Part::Noun);
        // "On fire" is nowhere, "at the fire" may be at a hearth.
        let senses = if self.is_bare(noun) && !word.tag.ends_with('S') { 1 } else { SENSES };
        known.is_empty() || known.iter().take(senses).any(|field| fields.contains(field))
    }

    /// Whether it is a room, a building or a tract of land.
    pub(super) fn is_room(&self, noun: usize) -> bool {
        let is_a = |class| self.text.language.thesaurus.is_a(self.lemma(noun), class);
        Lexicon::english().all("rooms").any(is_a)
    }

    pub(super) fn is_somebody(&self, noun: usize) -> bool {
        self.person(noun).is_some()
            || self.text.language.thesaurus.is_of(self.lemma(noun), field::PERSON)
            || self.sentence.terms.iter().any(|term| term.at == noun && term.is_name)
    }

    /// Whether it is said of a time: "at ten", "in the morning".
    pub(super) fn is_time(&self, at: usize) -> bool {
        let span = &self.sentence.words[at].span;
        let timed = self
            .sentence
            .times
            .iter()
            .any(|time| time.range.start < span.end && span.start < time.range.end);
        timed || self.text.language.thesaurus.is_of(self.lemma(at), field::TIME)
    }

    /// The noun that a pronoun means, in this sentence or one before it.
    pub(super) fn meant(&self, at: usize) -> Option<(Passage<'_>, usize)> {
        let term = self.sentence.terms.iter().find(|term| term.at == at && !term.is_name)?;
        let sentences = &self.text.sentences[..=self.number];
        sentences.iter().enumerate().rev().find_map(|(number, sentence)| {
            let before = |word: usize| number < self.number || word < at;
            let is_it = |word: usize| {
                sentence.words[word].lemma == term.lemma
                    && sentence.words[word].tag.starts_with("NN")
            };
            let noun = (0..sentence.words.len()).rev().find(|&word| before(word) && is_it(word))?;
            let tree = Tree::new(&sentence.words);
            Some((Passage { text: self.text, number, sentence, tree }, noun))
        })
    }
}
