//! From a question, its persons, times and quotations folded, to what it asks.

use crate::answer::meaning::{Asking, Kind};
use crate::language::Language;
use crate::language::clause::{Clause, Kind as Hangs, Role, Wanted};
use crate::language::lexicon::Lexicon;
use crate::recall::time_expr::{TimeExpr, When};

use super::clothes;
use super::folded::Folded;
use super::of_things::of_things;
use super::told::Told;
use super::{Act, Ask, Order, Parsed, Subject, is};

/// The finished question.
pub(super) fn parsed(folded: &Folded<'_>, language: &Language) -> Parsed {
    let times = folded.times();
    let mut sentence = folded.read(language);
    if let Some(start) = framed(&Told::of(language, &sentence)) {
        sentence = folded.part(start..folded.whole().end).read(language);
    }
    let told = Told::of(language, &sentence);
    let question = Question::of(&told, &times);
    let ask = question.ask();
    let mut content = told.forms(&question.matter);
    if ask == Ask::Search && content.is_empty() {
        // "Why did Ava leave early?"
        let all: Vec<usize> = told.all().filter(|&at| told.is_matter(at)).collect();
        content = told.forms(&all);
    }
    Parsed {
        ask,
        unread: None,
        topic: question.topic.iter().filter_map(|&at| told.word_of_topic(at)).collect(),
        quotes: told.quotes().map(str::to_owned).collect(),
        content,
        past: question.is_past(),
        yes_no: question.kind == Kind::Whether && told.has_verb() && !question.orders(),
        things: of_things(&question),
        worn: clothes::worn(&question),
        subjects: question.subjects,
        times,
    }
}

/// Where the question begins within "Could you tell me whether …", or behind a greeting and a time in front.
pub(super) fn framed(told: &Told<'_>) -> Option<usize> {
    let is_comma = |at: usize| told.tag(at) == ",";
    let before = |&at: &usize| {
        let addressed = at > 0 && told.subject(at).is_some() && is_comma(at + 1);
        let timed = told.is_time(at);
        addressed || timed || is_comma(at) || told.is("greeting", at)
    };
    let lexicon = Lexicon::english();
    let grammar = |at: usize| {
        matches!(told.tag(at), "TO" | "RP" | "IN" | "MD" | "," | "UH" | "PRP" | "DT")
            || ["light", "robot", "speaker"].iter().any(|list| lexicon.is(list, told.lemma(at)))
    };
    let frames = |at: usize| grammar(at) || told.is_any(&["frames", "greeting"], at);
    let asks = |&at: &usize| told.tag(at).starts_with('W') || told.is("whether", at);
    let begins = told
        .all()
        .find(asks)
        .filter(|&at| (0..at).all(frames) && (0..at).any(|at| told.is("frames", at)));
    let begins = begins.map(|at| at + usize::from(told.is("whether", at)));
    // "Of all people, who talked most?"
    let idle = |at: usize| !told.tells(at) && told.subject(at).is_none() && !told.tree.is_verb(at);
    let behind = told.all().skip(1).find(|at| is_comma(at - 1) && asks(at));
    let begins = begins.or(behind.filter(|&at| (0..at).all(idle)));
    let from = begins.or_else(|| told.all().find(|at| !before(at))).filter(|&at| at > 0)?;
    told.sentence.words.get(from).map(|word| word.span.start)
}

/// Whether a question lacks no predicate: "When did Mary?" does.
pub(super) fn is_whole(folded: &Folded<'_>, language: &Language) -> bool {
    let sentence = folded.read(language);
    let told = Told::of(language, &sentence);
    let Some((main, asking)) = asking(&told) else { return true };
    let clause = &told.clauses[main];
    let verb = told.verb(clause);
    let asked = asking.as_ref().and_then(|asking| asking.asked);
    let measures = |at: usize| asked.is_some_and(|asked| asked + 1 == at);
    let says = |(role, at): &(Role, usize)| {
        let timed = told.is_time(*at);
        *role != Role::Agent && !timed && !told.tag(*at).starts_with('W') && !measures(*at)
    };
    let bare = !clause.roles.iter().any(says);
    let needs_no_more =
        |kind| matches!(kind, Kind::Person | Kind::Place | Kind::Thing | Kind::Whose | Kind::Which);
    if told.is("doing", verb) {
        !bare || clause.verbs.len() > 1 || told.under(verb, &["aux"]).next().is_some()
    } else if told.is("being", verb) {
        !bare || asking.is_some_and(|asking| needs_no_more(asking.kind))
    } else {
        told.tree.is_verb(verb)
    }
}

/// The clause that asks, and what its question word asks for; without one it asks whether.
fn asking(told: &Told<'_>) -> Option<(usize, Option<Asking>)> {
    let (main, wanted) = told.tree.wanted(&told.clauses)?;
    let of = |word, noun, role| Asking::of(told.language, &told.sentence.words, (word, noun), role);
    let first = told.all().find(|&at| told.tag(at) != "IN");
    let asking = match wanted {
        Wanted::Part { word, role, noun } => Some(of(word, noun, role)),
        Wanted::Whether => {
            let first = first.filter(|&at| told.tag(at).starts_with('W'));
            first.map(|word| of(word, None, Role::Adverb))
        }
    };
    Some((main, asking))
}

/// A question in parts; words by their place.
pub(super) struct Question<'a> {
    pub(super) told: &'a Told<'a>,
    times: &'a [TimeExpr],
    pub(super) kind: Kind,
    pub(super) asking: Option<Asking>,
    /// The clause that tells what is asked, and its verb.
    pub(super) clause: Option<&'a Clause>,
    pub(super) verb: usize,
    /// What that clause hangs on: "the last time that Ava spoke".
    hangs_on: Option<usize>,
    /// The verb of the whole.
    root: usize,
    act: Option<Act>,
    pub(super) order: Order,
    subjects: Vec<Subject>,
    topic: Vec<usize>,
    /// What percepts do not tell; where there is something, their words beside it, too.
    matter: Vec<usize>,
    /// It asks for a deed that is no presence.
    is_deed: bool,
}

impl<'a> Question<'a> {
    fn of(told: &'a Told<'a>, times: &'a [TimeExpr]) -> Self {
        let (main, asking) = asking(told).unwrap_or((0, None));
        let main = told.clauses.get(main);
        let inner = main.and_then(|main| inner(told, main));
        let hangs_on = inner.map(|(at, _)| at);
        let clause = inner.map(|(_, clause)| clause).or(main);
        let verb = clause.map_or(0, |clause| told.verb(clause));
        let topic = if is_about_person(told) { Vec::new() } else { told.topic() };
        let somebody = |at: usize| match told.subject(at) {
            Some(subject) => Some(subject.clone()),
            None => told.is("anybody", at).then_some(Subject::Anybody),
        };
        let act = clause.and_then(|clause| told.act(clause));
        let is_deed = clause.is_some_and(|clause| told.is_deed(clause));
        // "Who went to Bonn?"
        let is_other = is_deed && act.is_none() && !told.is("said", verb) || is_ahead(told);
        let tells = |&at: &usize| {
            told.tells(at) || at == verb && is_other && clause.is_some() && !told.is("staying", at)
        };
        let more = told.all().any(|at| tells(&at));
        Self {
            kind: kind(told, asking.as_ref(), hangs_on),
            order: told.order(&topic),
            subjects: told.all().filter(|at| !topic.contains(at)).filter_map(somebody).collect(),
            matter: told.all().filter(|at| tells(at) || more && told.is_matter(*at)).collect(),
            root: main.map_or(0, |main| main.head),
            told,
            times,
            asking,
            clause,
            verb,
            hangs_on,
            act,
            topic,
            is_deed,
        }
    }

    fn ask(&self) -> Ask {
        let is_event = |time: &TimeExpr| matches!(time.when, When::Event { .. });
        let open = !self.matter.is_empty() || self.is_of_words() || self.times.iter().any(is_event);
        let ahead = is_ahead(self.told);
        match self.asked() {
            // "Where is the thing that Ava gave to Ben?"
            Ask::Where { .. } if self.hangs_on.is_some_and(|at| self.told.is("things", at)) => {
                Ask::Search
            }
            // Nobody has seen or heard it yet.
            Ask::Who { .. } | Ask::Now if ahead && open => Ask::Search,
            ask @ Ask::When { .. } if ahead => beyond_presence(ask),
            ask if self.is_deed => beyond_presence(ask),
            ask => ask,
        }
    }

    fn asked(&self) -> Ask {
        if self.told.sentence.words.is_empty() {
            return Ask::Search;
        }
        if let Some(found) = self.never().or_else(|| self.measured()).or_else(|| self.named()) {
            return found;
        }
        let order = self.order;
        match self.kind {
            Kind::Which | Kind::Whose if self.asks_for_room() => Ask::Where { order },
            Kind::Which if self.is_noun(&["persons", "several"]) => self.who(),
            Kind::Person | Kind::Whose => self.who(),
            Kind::Thing | Kind::Which => self.what(),
            Kind::Time => Ask::When { act: self.act_or(Act::Other), order, ago: false },
            Kind::Place => Ask::Where { order },
            Kind::Whether | Kind::Choice if self.orders() => self.ordered(),
            Kind::Whether | Kind::Choice => self.whether(),
            _ => Ask::Search,
        }
    }

    /// Whether the noun behind the question word stands in one of those lists.
    fn is_noun(&self, lists: &[&str]) -> bool {
        let noun = self.asking.as_ref().and_then(|asking| asking.noun);
        noun.is_some_and(|at| self.told.is_any(lists, at))
    }

    fn persons(&self) -> usize {
        self.subjects.iter().filter(|one| **one != Subject::Anybody).count()
    }

    pub(super) fn is_of_words(&self) -> bool {
        !self.topic.is_empty() || self.told.quotes().next().is_some()
    }

    fn act_or(&self, other: Act) -> Act {
        self.act.unwrap_or(if self.told.says() { Act::Spoke } else { other })
    }

    /// Whether the robot does it.
    pub(super) fn is_of_robot(&self) -> bool {
        self.clause.is_some_and(|clause| clause.all(&Role::Agent).any(|at| self.told.is_robot(at)))
    }

    /// The word that tells the tense.
    fn finite(&self) -> usize {
        let first = self.clause.map_or(0, |clause| clause.verbs.first().copied().unwrap_or(0));
        self.told.under(first, &["aux", "auxpass"]).next().unwrap_or(first)
    }

    fn is_perfect(&self) -> bool {
        let been = self.told.under(self.verb, &["aux"]).any(|at| self.told.tag(at) == "VBN");
        let has = self.told.is("having", self.finite()) && !self.told.is("having", self.verb);
        been || has
    }

    fn is_past(&self) -> bool {
        self.told.tag(self.finite()) == "VBD" && !self.is_perfect()
    }

    /// It asks for what is so now.
    pub(super) fn is_present(&self) -> bool {
        let (told, finite) = (self.told, self.finite());
        let present = matches!(told.tag(finite), "VBZ" | "VBP") || told.is("able", finite);
        let now = self.times.iter().any(|time| time.when == When::Now);
        now || self.times.is_empty() && present && !self.is_perfect()
    }

    /// It orders instead of asking.
    pub(super) fn orders(&self) -> bool {
        let (told, root) = (self.told, self.root);
        let mut before = told.under(root, &["nsubj", "nsubjpass", "aux", "expl"]);
        matches!(told.tag(root), "VB" | "VBP") && before.next().is_none()
            || told.is_any(&["summing", "quoting", "listing"], 0)
    }

    /// Who was only heard, or only seen; of somebody: whether ever seen.
    fn never(&self) -> Option<Ask> {
        let (never_seen, never_heard) = self.told.never();
        match self.kind {
            Kind::Whether if self.persons() > 0 => {
                never_seen.then_some(Ask::Ever { act: Act::Seen })
            }
            Kind::Whether | Kind::Person | Kind::Whose | Kind::Which if never_heard => {
                Some(Ask::NeverSpoke)
            }
            Kind::Whether | Kind::Person | Kind::Whose | Kind::Which => {
                never_seen.then_some(Ask::NeverSeen)
            }
            _ => None,
        }
    }

    /// How many, how often, how long.
    fn measured(&self) -> Option<Ask> {
        let ago = |act| Ask::When { act, order: Order::Last, ago: true };
        let seen = self.act.unwrap_or(Act::Seen);
        Some(match self.kind {
            Kind::Duration | Kind::Amount if self.told.has("ago") => {
                ago(self.act.unwrap_or(Act::Present))
            }
            // "How long has Ben been gone?"
            Kind::Duration if self.act == Some(Act::Left) => ago(Act::Left),
            Kind::Duration => Ask::HowLong { act: self.act_or(Act::Seen) },
            Kind::Amount if seen == Act::Spoke || self.is_noun(&["moments"]) => {
                Ask::HowLong { act: seen }
            }
            Kind::Frequency | Kind::Count if self.is_noun(&["speakers"]) => {
                Ask::HowMany { act: Act::Spoke }
            }
            Kind::Count if self.is_noun(&["words"]) => Ask::HowOften { act: Act::Spoke },
            Kind::Count if self.is_noun(&["faces"]) => Ask::HowMany { act: Act::Seen },
            Kind::Frequency => Ask::HowOften { act: self.act_or(Act::Seen) },
            Kind::Count if self.is_noun(&["often"]) => {
                Ask::HowOften { act: self.act_or(Act::Seen) }
            }
            Kind::Count => {
                let noun = self.asking.as_ref().is_some_and(|asking| asking.noun.is_some());
                let persons = !noun || self.is_noun(&["persons", "several", "counted"]);
                let act = self.act.unwrap_or(Act::Present);
                if persons { Ask::HowMany { act } } else { Ask::Search }
            }
            _ => return None,
        })
    }

    /// "What is the name of person 4?", "Do you know Ava?"
    fn named(&self) -> Option<Ask> {
        let told = self.told;
        let of = |at: usize| told.under(at, &["prep"]).flat_map(|at| told.under(at, &["pobj"]));
        let mut named = told.all().filter(|&at| told.is("naming", at));
        let theirs = named
            .any(|at| told.under(at, &["poss"]).chain(of(at)).any(|at| told.subject(at).is_some()));
        let known = self.persons() == 1 && told.is("acquainted", self.verb) && !self.is_of_words();
        let met = known && told.under(self.verb, &["dobj"]).any(|at| told.subject(at).is_some());
        let asks = self.kind == Kind::Thing && theirs || self.kind == Kind::Whether && met;
        asks.then_some(Ask::WhoIs)
    }

    /// Whether company is asked for, and whether by talk.
    fn company(&self) -> Option<bool> {
        let told = self.told;
        let to = |at: usize| told.is("addressing", at) && told.tag(at) != "TO";
        let talked = told.is("spoke", self.verb) && told.all().any(to);
        (talked || told.has("company")).then_some(talked)
    }

    fn who(&self) -> Ask {
        let (told, persons, order) = (self.told, self.persons(), self.order);
        let act = self.act.or(told.says().then_some(Act::Spoke));
        let quoted = told.quotes().next().is_some();
        if self.is_of_words() && (act == Some(Act::Spoke) || quoted) {
            return Ask::WhoSaid;
        }
        // "Whom did Ava see?", "Who else was there?"
        let meets = act == Some(Act::Seen)
            && self.clause.is_some_and(|clause| {
                let asked = |at: usize| told.tag(at).starts_with('W');
                !clause.passive
                    && clause.all(&Role::Agent).any(|at| told.subject(at).is_some())
                    && clause.all(&Role::Object).any(asked)
            });
        let more = told.has("besides") && matches!(act, Some(Act::Seen | Act::Present));
        let company = self.company().or((meets || more).then_some(false));
        if let Some(talked) = company.filter(|_| persons > 0) {
            return Ask::With { talked };
        }
        let plain = self.act.is_none() && self.matter.is_empty();
        if persons > 0 && plain && (told.is("being", self.verb) || self.times.is_empty()) {
            return Ask::WhoIs;
        }
        if persons == 0 && told.is("knowing", self.verb) {
            return Ask::Everybody;
        }
        let about_somebody = self.act.is_some() || company.is_some() || told.has("anybody");
        if self.is_present() && self.kind == Kind::Whose && !self.matter.is_empty() {
            return Ask::Search;
        }
        if self.is_present() && persons == 0 && order == Order::Any && about_somebody {
            let speaks = act == Some(Act::Spoke) && told.tag(self.verb) == "VBG";
            let last = Ask::Who { act: Act::Spoke, order: Order::Last };
            return if speaks { last } else { Ask::Now };
        }
        match act {
            None if !self.matter.is_empty() => Ask::Search,
            act => Ask::Who { act: act.unwrap_or(Act::Present), order },
        }
    }

    fn what(&self) -> Ask {
        let (told, verb) = (self.told, self.verb);
        if is_about_person(told) {
            return Ask::About;
        }
        if self.act_or(Act::Other) == Act::Spoke {
            return Ask::SaidWhat { order: self.order };
        }
        let nobody = self.persons() == 0;
        let asked = told.under(verb, &["aux"]).next().is_some();
        let happens = if told.is("doing", verb) {
            // "What does Ava do for a living?" asks what is so.
            asked && (self.is_past() || told.tag(verb) == "VBG")
        } else if told.is("being", verb) {
            told.has("happening")
        } else if told.is("going", verb) {
            nobody && self.matter.is_empty()
        } else {
            told.is("happening", verb) || self.is_of_robot() && self.act == Some(Act::Seen)
        };
        match happens {
            true if nobody && self.is_present() => Ask::Now,
            true => Ask::Summary,
            false => Ask::Search,
        }
    }

    fn ordered(&self) -> Ask {
        let (told, persons) = (self.told, self.persons());
        let several = told.has_any(&["several", "persons", "naming"]);
        let lists = told.is("listing", self.root) || told.is("listing", 0);
        // "Give me everything Ava said.", not "Tell me a joke."
        let says = told.has_any(&["quoting", "words"]) || told.says() && self.verb != self.root;
        if told.has("summing") {
            Ask::Summary
        } else if persons > 0 && is_about_person(told) {
            Ask::About
        } else if says {
            Ask::SaidWhat { order: self.order }
        } else if lists && several && self.times.is_empty() {
            Ask::Everybody
        } else if lists && several {
            Ask::Who { act: self.act.unwrap_or(Act::Present), order: Order::Any }
        } else if lists && persons > 0 {
            Ask::About
        } else {
            Ask::Search
        }
    }

    fn whether(&self) -> Ask {
        let (told, persons, act) = (self.told, self.persons(), self.act);
        let (present, plain) = (self.is_present(), self.matter.is_empty());
        let company = self.company().is_some();
        let says = told.says() && self.is_of_words();
        let listed = |at: usize| told.subject(at).is_some() && told.label(at) == "conj";
        let places = told.has_any(&["room", "nobody", "several", "persons", "empty"]);
        let somebody = !self.subjects.is_empty() || places;
        let seen = matches!(act, Some(Act::Present | Act::Seen | Act::Spoke));
        let ever = told.has("ever") || self.is_of_robot() && self.times.is_empty();
        let met = act.is_some() || told.is("knowing", self.verb);
        if persons >= 2 && (company || told.all().any(listed)) && !told.says() {
            Ask::Together
        } else if told.has("alone") {
            if present || persons == 0 { Ask::Now } else { Ask::Alone }
        } else if persons > 0 && met && ever && !says && !present {
            Ask::Ever { act: if act == Some(Act::Spoke) { Act::Spoke } else { Act::Seen } }
        } else if persons == 1 && company && !present && plain {
            Ask::With { talked: false }
        } else if present && somebody && seen {
            Ask::Now
        } else if says || self.act_or(Act::Other) == Act::Spoke && (act.is_some() || somebody) {
            Ask::Did { act: Act::Spoke }
        } else if !told.has_verb() && told.has("happening") {
            // "Anything new since Friday?"
            Ask::Summary
        } else if !told.has_verb() && persons > 0 && plain {
            Ask::About
        } else {
            act.filter(|_| somebody).map_or(Ask::Search, |act| Ask::Did { act })
        }
    }

    /// "In which room is the insulin?" asks where it is.
    fn asks_for_room(&self) -> bool {
        let (told, lexicon) = (self.told, Lexicon::english());
        let Some(asking) = &self.asking else { return false };
        let inside = |at: usize| {
            let open = told.under(at, &["pobj"]).next().is_none() || asking.asked == Some(at + 1);
            matches!(told.tag(at), "IN" | "RP") && open && lexicon.is("settings", told.lemma(at))
        };
        let room = asking.noun.is_some_and(|at| lexicon.is("sites", told.lemma(at)));
        room && lexicon.is("whereabouts", told.lemma(self.verb)) && told.all().any(inside)
    }
}

/// What is asked for, where the noun that the asking clause hangs on tells it, too: "the last time that …".
fn kind(told: &Told<'_>, asking: Option<&Asking>, hangs_on: Option<usize>) -> Kind {
    let kind = asking.map_or(Kind::Whether, |asking| asking.kind);
    let counts = |at: usize| told.is("counted", at);
    let is_moment = |at: &usize| told.is("moments", *at);
    match hangs_on {
        Some(at) if counts(at) && told.tag(at).starts_with("NN") => Kind::Count,
        // "What is the total time that …"
        Some(at) if is_moment(&at) && told.under(at, &["amod"]).any(counts) => Kind::Duration,
        Some(at) if is_moment(&at) && kind != Kind::Duration => Kind::Time,
        _ => {
            let noun = asking.and_then(|asking| asking.noun).filter(is_moment);
            let which = matches!(kind, Kind::Which | Kind::Thing);
            if noun.is_some() && which { Kind::Time } else { kind }
        }
    }
}

/// The clause that hangs on "the first time that …", "the last thing that …", "anybody whom …", "it was … that", and the
/// word that it hangs on.
fn inner<'a>(told: &'a Told<'a>, clause: &'a Clause) -> Option<(usize, &'a Clause)> {
    const NOUNS: &[&str] =
        &["moments", "things", "words", "counted", "anybody", "several", "first", "last"];
    let is_being = told.is("being", told.verb(clause));
    let is_it =
        is_being && told.under(clause.head, &["nsubj"]).any(|at| told.is("empty_subject", at));
    let hangs = |one: &&Clause| match &one.kind {
        Hangs::Relative(noun) => {
            let held = || clause.roles.iter().any(|(_, at)| at == noun);
            told.is_any(NOUNS, *noun) && (is_being || held() || told.tree.root(*noun) == *noun)
        }
        Hangs::Complement(verb) => is_it && clause.verbs.contains(verb),
        Hangs::Adverbial(mark) if is("ago", mark) => told.is("passing", told.verb(clause)),
        Hangs::Adverbial(_) => is_it,
        _ => false,
    };
    let found = told.clauses.iter().find(hangs)?;
    match found.kind {
        Hangs::Relative(noun) => Some((noun, found)),
        _ => Some((clause.head, found)),
    }
}

/// "What do you know about Ava?", "Tell me about Ava."
fn is_about_person(told: &Told<'_>) -> bool {
    let about = |at: usize| {
        let head = told.head(at);
        let told_of = told.is("listing", head) && told.label(at) == "dobj";
        let behind = is("about", told.lemma(head)) || told_of;
        told.subject(at).is_some() && behind
    };
    let asks = |clause: &Clause| {
        let own = |at: usize| told.is_robot(at) || told.tag(at).starts_with('W');
        told.is_any(&["knowing", "listing"], clause.head)
            && clause.all(&Role::Agent).all(own)
            && told.tree.below(clause.head).into_iter().any(about)
    };
    told.clauses.iter().any(asks) && !told.has("words")
}

/// "Who is going to speak?", "Who will come?"
fn is_ahead(told: &Told<'_>) -> bool {
    let goes = |at: usize| {
        let going = told.is("going", at) && told.tag(at) == "VBG";
        going && told.under(at, &["xcomp"]).next().is_some()
    };
    let will = |clause: &Clause| clause.modal.as_ref().is_some_and(|modal| is("ahead", modal));
    told.clauses.iter().any(will) || told.all().any(goes)
}

/// What is asked where the verb is of another deed: memories tell it, percepts do not.
fn beyond_presence(ask: Ask) -> Ask {
    match ask {
        Ask::Who { act: Act::Spoke, .. }
        | Ask::When { act: Act::Spoke, .. }
        | Ask::HowOften { act: Act::Spoke }
        | Ask::HowMany { act: Act::Spoke }
        | Ask::HowLong { act: Act::Spoke }
        | Ask::Did { act: Act::Spoke } => ask,
        // "How long ago did Ava fall?"
        Ask::When { order, ago, .. } => Ask::When { act: Act::Other, order, ago },
        Ask::Who { .. }
        | Ask::HowOften { .. }
        | Ask::HowMany { .. }
        | Ask::HowLong { .. }
        | Ask::Did { .. }
        | Ask::With { talked: false }
        | Ask::Together
        | Ask::Now => Ask::Search,
        other => other,
    }
}
