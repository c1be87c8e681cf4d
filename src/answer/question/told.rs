//! What the clauses of a question tell: who did what of all that eyes and ears notice, in which order, what was said of
//! what, and whether it is another deed.

use crate::language::Language;
use crate::language::clause::{Clause, Kind, Role, Tree};
use crate::language::lexicon::Lexicon;
use crate::language::thesaurus::Part;

use super::folded::{Piece, Sentence};
use super::{Act, Order, Subject, is, is_asking, is_grammar};

/// Which list tells which act, the more telling first; what moves somebody stands before the rest.
const ACTS: [(&str, Act); 6] = [
    ("arrived", Act::Arrived),
    ("left", Act::Left),
    ("spoke", Act::Spoke),
    ("seen", Act::Seen),
    ("present", Act::Present),
    ("empty", Act::Present),
];
/// Those of them that are told by verbs alone.
const MOVES: usize = 2;
const ORDERS: [(&str, Order); 6] = [
    ("first", Order::First),
    ("last", Order::Last),
    ("second", Order::Second),
    ("third", Order::Third),
    ("most", Order::Most),
    ("least", Order::Least),
];
/// What is said of somebody beside a verb.
const BESIDE: &[&str] =
    &["advmod", "acomp", "attr", "oprd", "prep", "npadvmod", "pcomp", "prt", "expl"];
/// What an adjective of order may stand before, to tell which one: "last term" tells when.
const ORDERED: &[&str] =
    &["ordered", "persons", "words", "things", "said", "seen", "arrived", "left"];

/// A parsed question; words by their place in it.
pub(super) struct Told<'a> {
    pub(super) language: &'a Language,
    pub(super) sentence: &'a Sentence,
    pub(super) tree: Tree<'a>,
    pub(super) clauses: Vec<Clause>,
}

impl<'a> Told<'a> {
    pub(super) fn of(language: &'a Language, sentence: &'a Sentence) -> Self {
        let tree = Tree::new(&sentence.words);
        let clauses = tree.clauses();
        Self { language, sentence, tree, clauses }
    }

    /// All words.
    pub(super) fn all(&self) -> std::ops::Range<usize> {
        0..self.sentence.words.len()
    }

    pub(super) fn lemma(&self, at: usize) -> &str {
        self.sentence.words.get(at).map_or("", |word| &word.lemma)
    }

    pub(super) fn tag(&self, at: usize) -> &str {
        self.sentence.words.get(at).map_or("", |word| &word.tag)
    }

    pub(super) fn label(&self, at: usize) -> &str {
        self.sentence.words.get(at).map_or("", |word| &word.label)
    }

    pub(super) fn head(&self, at: usize) -> usize {
        self.sentence.words[at].head
    }

    /// As written, in lower case.
    pub(super) fn form(&self, at: usize) -> String {
        self.sentence
            .words
            .get(at)
            .map_or_else(String::new, |word| word.form.as_str().to_lowercase())
    }

    pub(super) fn forms(&self, words: &[usize]) -> Vec<String> {
        words.iter().map(|&at| self.form(at)).collect()
    }

    /// What hangs on a word with one of those labels.
    pub(super) fn under(
        &self,
        at: usize,
        labels: &'static [&'static str],
    ) -> impl Iterator<Item = usize> + '_ {
        let under = if self.all().contains(&at) { self.tree.under(at) } else { &[] };
        under.iter().copied().filter(|&at| labels.contains(&self.label(at)))
    }

    /// Whether a word stands in a list, by its lemma, as written, or with the one behind it; what stands for something
    /// does not.
    pub(super) fn is(&self, list: &str, at: usize) -> bool {
        let plain = self.sentence.pieces.get(at).is_some_and(Option::is_none);
        let lemma = self.lemma(at);
        let both = || format!("{lemma}_{}", self.lemma(at + 1));
        plain && (is(list, lemma) || is(list, &self.form(at)) || is(list, &both()))
    }

    pub(super) fn is_any(&self, lists: &[&str], at: usize) -> bool {
        lists.iter().any(|list| self.is(list, at))
    }

    /// Whether any word stands in a list.
    pub(super) fn has(&self, list: &str) -> bool {
        self.all().any(|at| self.is(list, at))
    }

    pub(super) fn has_any(&self, lists: &[&str]) -> bool {
        lists.iter().any(|list| self.has(list))
    }

    pub(super) fn has_verb(&self) -> bool {
        self.all().any(|at| self.tree.is_verb(at))
    }

    pub(super) fn subject(&self, at: usize) -> Option<&'a Subject> {
        match self.sentence.pieces.get(at)? {
            Some(Piece::Subject(subject)) => Some(subject),
            _ => None,
        }
    }

    pub(super) fn is_time(&self, at: usize) -> bool {
        matches!(self.sentence.pieces.get(at), Some(Some(Piece::Time(_))))
    }

    pub(super) fn quotes(&self) -> impl Iterator<Item = &'a str> {
        self.sentence.pieces.iter().flatten().filter_map(|piece| match piece {
            Piece::Quote(quote) => Some(quote.as_str()),
            _ => None,
        })
    }

    pub(super) fn is_robot(&self, at: usize) -> bool {
        Lexicon::english().is("robot", self.lemma(at))
    }

    /// The last verb of a clause, which carries the meaning.
    pub(super) fn verb(&self, clause: &Clause) -> usize {
        clause.verbs.last().copied().unwrap_or(clause.head)
    }

    /// What stands behind a preposition, with that.
    pub(super) fn obliques<'b>(
        &self,
        clause: &'b Clause,
    ) -> impl Iterator<Item = (&'b str, usize)> {
        clause.roles.iter().filter_map(|(role, at)| match role {
            Role::Oblique(name) => Some((name.as_str(), *at)),
            _ => None,
        })
    }

    /// What somebody does in a clause, where eyes and ears can tell: by its verb, else by what is said with one of being.
    pub(super) fn act(&self, clause: &Clause) -> Option<Act> {
        let by_verb = clause.verbs.iter().rev().find_map(|&verb| self.act_of(clause, verb));
        let stays = |&verb: &usize| self.is_any(&["staying", "company"], verb);
        if by_verb.is_some() || !clause.verbs.iter().all(stays) {
            return by_verb;
        }
        let (agents, others): (Vec<_>, Vec<_>) =
            clause.roles.iter().partition(|(role, _)| *role == Role::Agent);
        let mut said: Vec<usize> = others.iter().map(|(_, at)| *at).collect();
        said.extend(clause.verbs.iter().flat_map(|&verb| self.under(verb, BESIDE)));
        let within = clause.roles.iter().flat_map(|(_, at)| self.under(*at, BESIDE));
        said.extend(within.flat_map(|at| self.tree.below(at)));
        let told = |(list, _): &&(&str, Act)| said.iter().any(|&at| self.is(list, at));
        // "When was Ava's first appearance?"
        let named = |(list, _): &&(&str, Act)| agents.iter().any(|(_, at)| self.is(list, *at));
        let (_, act) = ACTS[MOVES..].iter().find(told).or_else(|| ACTS.iter().find(named))?;
        // "When did Ben get here?"
        let reaches = *act == Act::Present && self.is("reaching", self.verb(clause));
        Some(if reaches { Act::Arrived } else { *act })
    }

    fn act_of(&self, clause: &Clause, verb: usize) -> Option<Act> {
        let parts = self.under(verb, &["prt", "prep", "advmod"]);
        let joined = parts.map(|at| format!("{}_{}", self.lemma(verb), self.lemma(at)));
        let joined: Vec<String> = joined.collect();
        let is_joined = |list: &str| joined.iter().any(|joined| is(list, joined));
        let whole = ACTS.iter().find(|(list, _)| is_joined(list));
        let (_, act) = whole.or_else(|| ACTS.iter().find(|(list, _)| self.is(list, verb)))?;
        let elsewhere = |list: &str| {
            let bound = |at: usize| !self.is_place(at) && !self.is_time(at);
            self.obliques(clause).any(|(name, at)| is(list, name) && bound(at))
        };
        // "Who is coming?" has not come yet.
        let goes_on = self.tag(verb) == "VBG"
            && self.under(verb, &["aux"]).any(|at| matches!(self.tag(at), "VBZ" | "VBP"));
        let is_other = match act {
            Act::Arrived => goes_on || elsewhere("origins"),
            Act::Left => goes_on || elsewhere("bound"),
            _ => false,
        };
        (!is_other && !is_joined("happening")).then_some(*act)
    }

    /// Whether words of saying stand in it.
    pub(super) fn says(&self) -> bool {
        let noun = |at: usize| self.is("words", at) && self.tag(at).starts_with("NN");
        self.all().any(|at| self.is("said", at) || noun(at))
    }

    /// Which of several a word tells.
    pub(super) fn order_of(&self, at: usize) -> Option<Order> {
        ORDERS.iter().find(|(list, _)| self.is(list, at)).map(|(_, order)| *order)
    }

    /// Which of several is meant, by the words that are not in `aside`.
    pub(super) fn order(&self, aside: &[usize]) -> Order {
        let of_time = |at: usize| self.label(at) == "amod" && !self.is_any(ORDERED, self.head(at));
        let words = self.all().filter(|at| !aside.contains(at) && !of_time(*at));
        let told: Vec<Order> = words.filter_map(|at| self.order_of(at)).collect();
        let mut orders = ORDERS.iter().map(|(_, order)| *order);
        orders.find(|order| told.contains(order)).unwrap_or_default()
    }

    /// The words that tell what was said: what is said, and what is spoken about.
    pub(super) fn topic(&self) -> Vec<usize> {
        let mut out: Vec<usize> = Vec::new();
        for clause in &self.clauses {
            let verbs = |list: &str| clause.verbs.iter().any(|&verb| self.is(list, verb));
            let says = verbs("said");
            if !says && !verbs("spoke") && !self.has("words") {
                continue;
            }
            let is_about = |name: &str| is("about", name) || says && is("requesting", name);
            let about = self.obliques(clause).filter(|(name, _)| name.split(' ').any(is_about));
            out.extend(about.flat_map(|(_, at)| self.tree.below(at)));
            // Somebody who is no person of ours: "What did the plumber say?"
            let agents = clause.all(&Role::Agent).flat_map(|at| self.tree.phrase(at));
            out.extend(agents.filter(|&at| self.tells(at)));
            if !says {
                continue;
            }
            // "What did you tell Ava?": she is told, not spoken of.
            let is_said = |at: &usize| {
                let addressed = self.subject(*at).is_some() && verbs("telling");
                let open = self.is_any(&["things", "words", "anybody"], *at);
                !addressed && !open && !self.tag(*at).starts_with('W')
            };
            out.extend(
                clause.all(&Role::Object).filter(is_said).flat_map(|at| self.tree.below(at)),
            );
            let inner = self.clauses.iter().filter(
                |one| matches!(one.kind, Kind::Complement(verb) if clause.verbs.contains(&verb)),
            );
            let inner = inner.map(|one| self.tree.below(one.head));
            let asks = |all: &Vec<usize>| all.iter().any(|&at| self.tag(at).starts_with('W'));
            out.extend(inner.filter(|all| !asks(all)).flatten());
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    /// What a word of the topic says: itself, or the name that it stands for.
    pub(super) fn word_of_topic(&self, at: usize) -> Option<String> {
        match self.subject(at) {
            Some(Subject::Known { text, .. } | Subject::Unknown(text)) => Some(text.to_lowercase()),
            _ => (self.tells(at) || self.is("greeting", at)).then(|| self.form(at)),
        }
    }

    /// Whether a word tells of the matter of a question: no word of grammar, none of seeing and hearing, nothing that stands
    /// for something.
    pub(super) fn tells(&self, at: usize) -> bool {
        let (lexicon, lemma) = (Lexicon::english(), self.lemma(at));
        let light = lexicon.is("light", lemma) && self.tag(at) != "NN";
        let known = is_asking(lemma) || is_asking(&self.form(at));
        let grammar = lexicon.is("grammar", lemma) && !is("habits", lemma);
        self.is_open(at) && !known && !light && !grammar
    }

    /// Whether a word is of the matter of a question that asks for more than percepts.
    pub(super) fn is_matter(&self, at: usize) -> bool {
        let form = self.form(at);
        self.is_open(at) && !is_grammar(&form) && !is("greeting", &form) && !is("anybody", &form)
    }

    fn is_open(&self, at: usize) -> bool {
        let (tag, label) = (self.tag(at), self.label(at));
        let plain = self.sentence.pieces.get(at).is_some_and(Option::is_none);
        let open = Part::of_tag(tag).is_some() || matches!(tag, "CD" | "FW" | "UH");
        let word = self.lemma(at).chars().any(char::is_alphanumeric);
        plain && open && word && label != "neg" && !label.starts_with("aux")
    }

    /// Whether it is a room or a house, which one enters and leaves.
    fn is_place(&self, at: usize) -> bool {
        let is_a = |class| self.language.thesaurus.is_a(self.lemma(at), class);
        Lexicon::english().all("entered").any(is_a) || is("present", self.lemma(at))
    }

    /// Whether a clause tells of a deed that is no presence: by its verb, by what it is done to, or by a state.
    pub(super) fn is_deed(&self, clause: &Clause) -> bool {
        let tells = |at: usize| {
            let beside = self.tag(at).starts_with("RB") || self.tag(at) == "CD";
            self.tells(at)
                && !beside
                && !self.is_place(at)
                && !self.is_any(&["empty", "silent"], at)
        };
        let bare = |at: usize| self.under(at, &["det", "poss"]).next().is_none();
        let part = |(role, at): &(Role, usize)| match role {
            Role::Agent | Role::Object | Role::Recipient => {
                self.tree.phrase(*at).into_iter().any(tells)
            }
            // "on holiday", "at school"
            Role::Oblique(name) => is("states", name) && bare(*at) && tells(*at),
            Role::Adverb => false,
        };
        let verb = self.verb(clause);
        let moves = self.is_any(&["left", "arrived"], verb) && !self.is("happening", verb);
        let does = tells(verb) && !self.is("staying", verb);
        does || moves && self.act(clause).is_none() || clause.roles.iter().any(part)
    }

    /// With whom somebody is or talks: the person behind "with", or who talks to the one described.
    pub(super) fn companion(&self) -> Option<&'a Subject> {
        let beside = |at: &usize| {
            let head = self.head(*at);
            let next = is("beside", self.lemma(head)) || head > 0 && self.is("company", head - 1);
            self.label(*at) == "pobj" && next
        };
        let behind = self.all().filter(beside).find_map(|at| self.subject(at));
        let open =
            |at: usize| self.is("addressing", at) && self.under(at, &["pobj"]).next().is_none();
        let mut talks = self.clauses.iter().filter(|one| self.is("spoke", self.verb(one)));
        behind.or_else(|| {
            let talks = talks.next().filter(|_| self.all().any(open))?;
            talks.all(&Role::Agent).find_map(|at| self.subject(at))
        })
    }

    /// Whether it says that somebody was never seen, and that somebody was never heard.
    pub(super) fn never(&self) -> (bool, bool) {
        let (mut never_seen, mut never_heard) = (false, false);
        for clause in &self.clauses {
            let verb = self.verb(clause);
            let without = self.tree.above(clause.head).iter().any(|&at| self.is("without", at));
            let only = self.under(verb, &["advmod"]).any(|at| self.is("only", at));
            // "off screen", "out of view"
            let sight = |at: usize| self.tree.below(at).iter().any(|&at| self.is("seen", at));
            let mut beside =
                clause.verbs.iter().flat_map(|&at| self.under(at, &["prep", "advmod"]));
            let hidden = beside.any(|at| self.is("hidden", at) && sight(at));
            // "Didn't you see Ava?" asks as "Did you see Ava?".
            let begins = verb == 0 || self.label(0).starts_with("aux") && self.head(0) == verb;
            let denied = clause.negated && !(begins && self.label(1) == "neg") || without;
            let (seen, heard) = match self.act(clause) {
                _ if self.tree.under(verb).iter().any(|&at| self.is("silent", at)) => (false, true),
                Some(Act::Seen | Act::Present) => (denied, false),
                Some(Act::Spoke) => (only, denied && !only),
                _ => (false, denied && self.is("said", verb)),
            };
            never_seen |= seen || hidden;
            never_heard |= heard;
        }
        (never_seen, never_heard)
    }
}
