//! What a sentence has in common with a question: the features of the model that picks one.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::language::clause::{Role, Tree};
use crate::language::parse::Word;
use crate::language::thesaurus::{Part, field};
use crate::recall::time_expr::{Precision, TimeExpr, When};
use crate::time::Timestamp;

use super::corpus::{Corpus, Note};
use super::question::{Kind, Question};
use crate::language::lexicon::Lexicon;
use crate::language::text::{Sentence, Term};

/// What a sentence is judged by.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Features {
    /// Share of the question's weight that the note holds, near words in part.
    pub(super) cover: f32,
    /// … that the sentence holds word for word.
    pub(super) exact: f32,
    /// … that the note does not hold.
    missing: f32,
    /// Names of the question that the note does not hold.
    pub(super) names: f32,
    /// How far what is said of it is from what is asked; 0 where the question's verb says nothing.
    pub(super) other_predicate: f32,
    /// The question says something of it.
    has_predicate: f32,
    /// It is told in the clause that holds most of the question.
    pub(super) in_place: f32,
    /// The contrary is told.
    contrary: f32,
    /// One denies what the other does not.
    pub(super) denied: f32,
    /// Who does it there is who does it in the question; is another.
    same_doer: f32,
    pub(super) other_doer: f32,
    /// The thing that the question is about is missing.
    pub(super) lacks_theme: f32,
    /// Names of the asking clause that the note leaves out, where the sentence names somebody else.
    pub(super) stranger: f32,
    /// The thing that the question is about is told with another attribute ("the rye bread").
    pub(super) other_sort: f32,
    /// How near it is by the lexicon's frames.
    frame: f32,
    /// Share that stands in one clause.
    in_clause: f32,
    /// Whether something there is of the kind that is asked for.
    pub(super) value: f32,
    /// How much there is that the question does not say.
    pub(super) fresh: f32,
    /// It is in the time asked for; it is in another.
    in_time: f32,
    out_of_time: f32,
    /// It is a plan, and the question is about what was; the other way round.
    planned: f32,
    /// Of the vectors.
    pub(super) cosine: f32,
    /// How far behind the best.
    pub(super) behind_cover: f32,
    pub(super) behind_cosine: f32,
    /// How far before the next best note.
    pub(super) ahead_cover: f32,
    pub(super) ahead_cosine: f32,
    /// 0 the oldest note, 1 the newest.
    recent: f32,
}

/// Kinds that have a bias of their own.
const KINDS: [(Kind, &str); 12] = [
    (Kind::Person, "person"),
    (Kind::Whose, "whose"),
    (Kind::Place, "place"),
    (Kind::Time, "time"),
    (Kind::Duration, "duration"),
    (Kind::Frequency, "frequency"),
    (Kind::Count, "count"),
    (Kind::Amount, "amount"),
    (Kind::Reason, "reason"),
    (Kind::Manner, "manner"),
    (Kind::Which, "which"),
    (Kind::Thing, "thing"),
];

/// The names of all but the biases of kinds, as in `weights.toml`.
const NAMES: [&str; 33] = [
    "cover",
    "exact",
    "missing",
    "names",
    "other_predicate",
    "has_predicate",
    "in_place",
    "contrary",
    "denied",
    "same_doer",
    "other_doer",
    "lacks_theme",
    "stranger",
    "other_sort",
    "frame",
    "in_clause",
    "value",
    "fresh",
    "in_time",
    "out_of_time",
    "planned",
    "cosine",
    "cover_cosine",
    "cover_predicate",
    "behind_cover",
    "behind_cosine",
    "ahead_cover",
    "ahead_cosine",
    "recent",
    "lacks_kind",
    "tells_nothing",
    "lacks_number",
    "bias",
];

impl Features {
    /// In the order of [`NAMES`].
    fn values(&self, kind: Kind) -> [f32; NAMES.len()] {
        let is_number = matches!(kind, Kind::Count | Kind::Amount);
        [
            self.cover,
            self.exact,
            self.missing,
            self.names,
            self.other_predicate,
            self.has_predicate,
            self.in_place,
            self.contrary,
            self.denied,
            self.same_doer,
            self.other_doer,
            self.lacks_theme,
            self.stranger,
            self.other_sort,
            self.frame,
            self.in_clause,
            self.value,
            self.fresh,
            self.in_time,
            self.out_of_time,
            self.planned,
            self.cosine,
            self.cover * self.cosine,
            self.cover * self.in_place,
            self.behind_cover,
            self.behind_cosine,
            self.ahead_cover,
            self.ahead_cosine,
            self.recent,
            f32::from(kind == Kind::Which && self.value < 0.25),
            f32::from(self.fresh <= 0.0 && kind != Kind::Time),
            f32::from(is_number && self.value < 0.5),
            1.0,
        ]
    }

    /// The features by name, those of the question's kind among them.
    pub(super) fn named(&self, kind: Kind) -> Vec<(&'static str, f32)> {
        let mut out: Vec<_> = NAMES.into_iter().zip(self.values(kind)).collect();
        out.extend(KINDS.iter().filter(|(of, _)| *of == kind).map(|(_, name)| (*name, 1.0)));
        out
    }

    /// The log odds against nothing of it.
    pub(super) fn score(&self, kind: Kind) -> f32 {
        static WEIGHTS: OnceLock<Weights> = OnceLock::new();
        let Weights { of, kinds } = WEIGHTS.get_or_init(Weights::fitted);
        let all: f32 = of.iter().zip(self.values(kind)).map(|(weight, value)| weight * value).sum();
        let own = KINDS.iter().position(|(of, _)| *of == kind).map(|at| kinds[at]);
        all + own.unwrap_or(0.0)
    }
}

/// The fitted weights: of [`NAMES`], and of [`KINDS`].
struct Weights {
    of: [f32; NAMES.len()],
    kinds: [f32; KINDS.len()],
}

impl Weights {
    fn fitted() -> Self {
        let weights = weights();
        let weight = |name: &str| weights.get(name).copied().unwrap_or(0.0);
        Self { of: NAMES.map(weight), kinds: KINDS.map(|(_, name)| weight(name)) }
    }
}

/// The fitted weights, by the name of the feature.
fn weights() -> BTreeMap<String, f32> {
    toml::from_str(include_str!("weights.toml")).unwrap_or_default()
}

/// The features of a sentence beside a question, and the word that fills its hole.
pub(super) fn judge(
    corpus: &Corpus<'_>,
    question: &Question,
    (note, number): (usize, usize),
    sentence: &Sentence,
) -> (Features, Option<usize>) {
    let likeness = &corpus.likeness;
    let whole = &corpus.notes[note];
    let mut features = Features::default();
    let mut total = 0.0;
    let mut matched: Vec<Match> = Vec::with_capacity(question.terms.len());
    for term in &question.terms {
        let weight = share(corpus, question, term);
        let (here, at) = nearest(corpus, question, term, sentence);
        let others = || likeness.best(term, whole.read.terms_beside(Some(number))) * 0.75;
        let around = if here < 0.75 { others() } else { 0.0 };
        let (near, at) = if around > here { (around, None) } else { (here, at) };
        total += weight;
        features.cover += weight * near;
        features.exact += if here >= 0.95 { weight } else { 0.0 };
        if near < 0.3 {
            features.missing += weight;
            features.names += f32::from(term.is_name);
        }
        matched.push((near, at));
    }
    if total > 0.0 {
        features.cover /= total;
        features.exact /= total;
        features.missing /= total;
    }
    let clause = densest(corpus, question, sentence, &matched, &mut features);
    said(corpus, question, sentence, &matched, clause, &mut features);
    done_by(corpus, question, sentence, clause, &mut features);
    timed(question, sentence, whole.told, clause, &mut features);
    features.cosine = match (question.is_described, &whole.heard) {
        (true, _) => whole.cosine.max(UNCERTAIN),
        (false, Some(_)) => whole.cosine.max(UNCERTAIN * features.cover),
        (false, None) => whole.cosine,
    };
    features.recent = note as f32 / corpus.notes.len() as f32;
    features.lacks_theme = f32::from(lacks_theme(question, &matched));
    features.stranger = stranger(corpus, question, sentence, &matched);
    features.other_sort = other_sort(question, sentence, &matched);
    let hits: Vec<usize> = matched.iter().filter_map(|(_, at)| *at).collect();
    let is_new = |(at, term): &(usize, &Term)| {
        !hits.contains(at) && !question.terms.iter().any(|asked| asked.lemma == term.lemma)
    };
    let fresh = sentence.terms.iter().enumerate().filter(is_new).count();
    features.fresh = (fresh.min(FRESH) as f32) / FRESH as f32;
    let (fits, value) = value(corpus, question, whole, sentence, &hits, clause);
    features.value = fits;
    (features, value)
}

/// How near a term of the question is to the nearest of a note, and that term where it stands in the sentence.
type Match = (f32, Option<usize>);

/// The vector of a question that describes somebody is of the description, that of a remark knows not of what it is: they
/// tell nothing.
const UNCERTAIN: f32 = 0.65;
/// More new words than so many count no more.
const FRESH: usize = 4;

/// Whether the thing that the question is about stands nowhere in the note.
fn lacks_theme(question: &Question, matched: &[Match]) -> bool {
    let roles = question.clause().map_or(&[][..], |clause| &clause.roles);
    let of_main = |term: &Term| {
        roles.iter().any(|(role, at)| *at == term.at && matches!(role, Role::Agent | Role::Object))
    };
    question.terms.iter().enumerate().any(|(at, term)| {
        term.part == Part::Noun
            && !term.is_name
            && !question.keys.contains(&at)
            && of_main(term)
            && matched[at].0 < 0.5
    })
}

/// How many names of the clause that asks are left out where others are named.
fn stranger(
    corpus: &Corpus<'_>,
    question: &Question,
    sentence: &Sentence,
    matched: &[Match],
) -> f32 {
    let is_left_out = |(at, term): &(usize, &Term)| {
        term.is_name && term.clause == Some(question.main) && matched[*at].0 < 0.3
    };
    let left_out = question.terms.iter().enumerate().filter(is_left_out).count();
    let is_other = |term: &&Term| term.is_name && corpus.likeness.is_person(term);
    let names_others = sentence
        .terms
        .iter()
        .filter(is_other)
        .any(|told| !question.terms.iter().any(|asked| corpus.likeness.of(asked, told) > 0.5));
    if names_others { left_out as f32 } else { 0.0 }
}

/// Whether a noun of the question stands there with an attribute, and with none that the question gives it.
fn other_sort(question: &Question, sentence: &Sentence, matched: &[Match]) -> f32 {
    let asked = Tree::new(&question.words);
    let told = Tree::new(&sentence.words);
    let of = |tree: &Tree<'_>, at: usize| tree.of(at, &["amod", "compound"]).collect::<Vec<_>>();
    let is_other = |(at, term): (usize, &Term)| {
        let (near, Some(there)) = matched[at] else { return false };
        let mine = of(&asked, term.at);
        let given = question.terms.iter().enumerate().filter(|(_, one)| mine.contains(&one.at));
        let mut given = given.map(|(at, _)| matched[at].0).peekable();
        near > 0.8
            && term.part == Part::Noun
            && given.peek().is_some()
            && given.all(|near| near < 0.4)
            && !of(&told, sentence.terms[there].at).is_empty()
    };
    f32::from(question.terms.iter().enumerate().any(is_other))
}

/// Whether who does it is the one whom the question names.
fn done_by(
    corpus: &Corpus<'_>,
    question: &Question,
    sentence: &Sentence,
    clause: Option<usize>,
    features: &mut Features,
) {
    let does = |term: &&Term| {
        term.role == Some(Role::Agent) && (term.is_name || corpus.likeness.is_person(term))
    };
    let asked = question.terms.iter().filter(does);
    let told: Vec<&Term> =
        sentence.terms.iter().filter(|term| term.clause == clause).filter(does).collect();
    for asked in asked {
        let near = corpus.likeness.best(asked, told.iter().copied());
        features.same_doer = features.same_doer.max(f32::from(near > 0.6));
        features.other_doer = features.other_doer.max(f32::from(near < 0.6 && !told.is_empty()));
    }
}

/// Whether it is of the time that the question names, and a plan where that asks for one.
fn timed(
    question: &Question,
    sentence: &Sentence,
    told: Timestamp,
    clause: Option<usize>,
    features: &mut Features,
) {
    if let Some(asked) = question.span {
        let (own, is_said) = sentence.time(told);
        match own.start < asked.end && asked.start <= own.end {
            true => features.in_time = 1.0,
            false => features.out_of_time = if is_said { 1.0 } else { 0.7 },
        }
    }
    let told = clause.and_then(|clause| sentence.clauses.get(clause));
    let is_plan = told.is_some_and(|told| matches!(told.modal.as_deref(), Some("will" | "shall")));
    features.planned = f32::from(is_plan && question.is_past);
}

/// How much a term of the question counts.
fn share(corpus: &Corpus<'_>, question: &Question, term: &Term) -> f32 {
    let rarity = corpus.likeness.rarity(&term.lemma);
    let light = Lexicon::english().is("light", &question.words[term.at].lemma);
    rarity
        * match term.part {
            Part::Verb if light => 0.105,
            Part::Verb => 0.7,
            Part::Adverb => 0.3,
            Part::Noun | Part::Adjective => 1.0,
        }
}

/// The term of a sentence that is nearest to one of the question; one in the contrary role is worth less.
fn nearest(
    corpus: &Corpus<'_>,
    question: &Question,
    term: &Term,
    sentence: &Sentence,
) -> (f32, Option<usize>) {
    let is_person = term.is_name || corpus.likeness.is_person(term);
    let mut best = (0.0, None);
    for (at, told) in sentence.terms.iter().enumerate() {
        let mut near = corpus.likeness.of(term, told);
        let is_so = || {
            tells_attribute(corpus, term, sentence, told)
                || denies_contrary(corpus, question, term, sentence, told)
        };
        if near < ATTRIBUTE && is_so() {
            near = ATTRIBUTE;
        }
        if near > 0.0 && is_person && !question.is_being() && are_reversed(term, told) {
            let clause = told.clause.and_then(|clause| sentence.clauses.get(clause));
            if clause.is_some_and(|clause| clause.predicate != "be") {
                near *= 0.8;
            }
        }
        if near > best.0 {
            best = (near, Some(at));
        }
    }
    best
}

/// What tells an attribute without its name is so near to it.
const ATTRIBUTE: f32 = 0.85;

/// Whether a word tells what the other asks for: "is a tailor" a job, "is 31" and "turns ten" an age.
fn tells_attribute(corpus: &Corpus<'_>, asked: &Term, sentence: &Sentence, told: &Term) -> bool {
    let lexicon = Lexicon::english();
    let Some(clause) = told.clause.and_then(|clause| sentence.clauses.get(clause)) else {
        return false;
    };
    let is_said = told.role == Some(Role::Object)
        && clause.all(&Role::Object).any(|object| object == told.at);
    if !is_said || told.is_name {
        return false;
    }
    let thesaurus = &corpus.likeness.language.thesaurus;
    let verb = sentence.verb(clause);
    if lexicon.is("occupation", &asked.lemma) {
        let is_person = told.part == Part::Noun && thesaurus.is_of(&told.lemma, field::PERSON);
        return verb == "be" && is_person && !thesaurus.is_a(&told.lemma, "relative");
    }
    let is_number = sentence.words[told.at].tag == "CD";
    lexicon.is("ageing", &asked.lemma) && is_number && matches!(verb, "be" | "turn" | "become")
}

/// Whether one is the contrary of the other and one of them is denied: "does not like" for "dislikes".
fn denies_contrary(
    corpus: &Corpus<'_>,
    question: &Question,
    asked: &Term,
    sentence: &Sentence,
    told: &Term,
) -> bool {
    let clauses = question.clause().zip(told.clause.and_then(|at| sentence.clauses.get(at)));
    asked.part == Part::Verb
        && told.part == Part::Verb
        && clauses.is_some_and(|(of_asked, of_told)| {
            of_asked.negated != sentence.is_denied(of_told)
                && corpus.likeness.is_contrary(asked, told)
        })
}

fn are_reversed(one: &Term, other: &Term) -> bool {
    let does = |role: &Option<Role>| *role == Some(Role::Agent);
    let bears = |role: &Option<Role>| matches!(role, Some(Role::Object | Role::Recipient));
    does(&one.role) && bears(&other.role) || bears(&one.role) && does(&other.role)
}

/// The clause that holds most of the question.
fn densest(
    corpus: &Corpus<'_>,
    question: &Question,
    sentence: &Sentence,
    matched: &[Match],
    features: &mut Features,
) -> Option<usize> {
    let mut held = BTreeMap::<usize, f32>::new();
    let mut total = 0.0;
    for (term, (near, at)) in question.terms.iter().zip(matched) {
        let rarity = corpus.likeness.rarity(&term.lemma);
        total += rarity;
        if let Some(clause) = at.and_then(|at| sentence.terms[at].clause) {
            *held.entry(clause).or_default() += near * rarity;
        }
    }
    let best = held.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
    let (&clause, &most) = best?;
    features.in_clause = most / total.max(0.1);
    Some(clause)
}

/// How near what the sentence says is to what the question says.
fn said(
    corpus: &Corpus<'_>,
    question: &Question,
    sentence: &Sentence,
    matched: &[Match],
    clause: Option<usize>,
    features: &mut Features,
) {
    let lexicon = Lexicon::english();
    let told = clause.and_then(|clause| sentence.clauses.get(clause));
    let mut near = 0.0_f32;
    for &key in &question.keys {
        let term = &question.terms[key];
        near = near.max(matched[key].0);
        let is_mine = |at: usize| sentence.terms[at].clause == clause;
        if matched[key].1.is_some_and(is_mine) {
            features.in_place = features.in_place.max(matched[key].0);
        }
        let frames = sentence.terms.iter().map(|told| corpus.likeness.framed(term, told));
        features.frame = frames.fold(features.frame, f32::max);
        let contrary =
            |told: &&Term| told.lemma != term.lemma && corpus.likeness.is_contrary(term, told);
        let mut mine = sentence.terms.iter().filter(|term| term.clause == clause);
        features.contrary = features.contrary.max(f32::from(mine.any(|told| contrary(&told))));
    }
    if !question.keys.is_empty() {
        features.has_predicate = 1.0;
        features.other_predicate = 1.0 - near;
    }
    if let (Some(told), Some(asked)) = (told, question.clause()) {
        if question.keys.is_empty() || !question.is_being() {
            let frame = lexicon.near(verb_of(&asked.predicate), verb_of(&told.predicate));
            features.frame = features.frame.max(frame);
        }
        let is_denied = sentence.is_denied(told) != (features.contrary > 0.0 && near <= ATTRIBUTE);
        features.denied = f32::from(is_denied != asked.negated);
    }
}

/// A predicate without its particle.
fn verb_of(predicate: &str) -> &str {
    predicate.split(' ').next().unwrap_or("")
}

/// Whether something in the sentence is what is asked for, 0 to 1, and the word of it.
fn value(
    corpus: &Corpus<'_>,
    question: &Question,
    whole: &Note,
    sentence: &Sentence,
    hits: &[usize],
    clause: Option<usize>,
) -> (f32, Option<usize>) {
    let lexicon = Lexicon::english();
    let likeness = &corpus.likeness;
    let is_new = |term: &Term| !question.terms.iter().any(|asked| asked.lemma == term.lemma);
    let fresh = || {
        let terms = sentence.terms.iter().enumerate();
        terms.filter(|(at, term)| !hits.contains(at) && is_new(term)).map(|(_, term)| term)
    };
    let counts = |word: &Word| {
        word.tag == "CD" || lexicon.is("units", &word.lemma) || lexicon.is("repeated", &word.lemma)
    };
    let says = |is: bool, other: f32| (if is { 1.0 } else { other }, None);
    match question.kind {
        Kind::Person | Kind::Whose => {
            // "my sister Siobhán" is nobody new where she is asked about.
            let tree = Tree::new(&sentence.words);
            let met: Vec<usize> = hits
                .iter()
                .map(|&hit| &sentence.terms[hit])
                .filter(|term| term.is_name)
                .map(|term| term.at)
                .collect();
            let is_met = |term: &&Term| {
                let beside = tree.of(term.at, &["appos", "compound", "nmod"]);
                let head = sentence.words[term.at].head;
                let under =
                    matches!(sentence.words[term.at].label.as_str(), "appos" | "compound" | "nmod");
                beside.chain(Some(head).filter(|_| under)).any(|at| met.contains(&at))
            };
            let people = || fresh().filter(|term| likeness.is_person(term) && !is_met(term));
            if question.is_being() && question.hole != Some(Role::Agent) {
                return (0.8, people().find(|term| term.is_name).map(|term| term.at));
            }
            let owns = |term: &&Term| {
                question.kind == Kind::Person && sentence.words[term.at].label == "poss"
            };
            let fits =
                |term: &&Term| term.clause == clause && term.role == question.hole && !owns(term);
            match people().find(fits) {
                Some(term) => (1.0, Some(term.at)),
                None => people().next().map_or((0.0, None), |term| (0.6, Some(term.at))),
            }
        }
        Kind::Place => place(question, sentence, clause).unwrap_or((0.1, None)),
        Kind::Time => {
            let by_clock = question.noun.as_deref() == Some("time");
            let is_clock = |time: &TimeExpr| match &time.when {
                When::Span { precision, .. } => *precision < Precision::Day,
                _ => false,
            };
            says(!by_clock || sentence.times.iter().any(is_clock), 0.3)
        }
        Kind::Duration | Kind::Frequency => says(sentence.words.iter().any(counts), 0.2),
        Kind::Count | Kind::Amount => {
            let of_age = question.terms.iter().find(|term| lexicon.is("ageing", &term.lemma));
            if let Some(asked) = of_age.filter(|_| question.kind == Kind::Amount) {
                let is_it = |term: &Term| {
                    lexicon.is("ageing", &term.lemma)
                        || tells_attribute(corpus, asked, sentence, term)
                };
                return says(sentence.terms.iter().any(is_it), 0.0);
            }
            let number = |word: &Word| {
                word.tag == "CD"
                    || question.kind == Kind::Count && lexicon.is("numbers", &word.lemma)
            };
            says(sentence.words.iter().any(number), 0.2)
        }
        Kind::Which => {
            let noun = question.noun.as_deref().unwrap_or("");
            let thesaurus = &likeness.language.thesaurus;
            let wants_person = thesaurus.is_of(noun, field::PERSON);
            let is = |term: &Term| {
                term.lemma == noun
                    || is_new(term) && !term.is_name && thesaurus.is_a(&term.lemma, noun)
                    || wants_person && is_new(term) && likeness.is_person(term)
            };
            let mut terms = sentence.terms.iter().enumerate().filter(|(at, _)| !hits.contains(at));
            let is_any = lexicon.is("anything", noun)
                && fresh().any(|term| term.part == Part::Noun && !likeness.is_person(term));
            // What is told of an attribute is of its kind, or it is another one.
            let is_attribute = thesaurus.is_of(noun, field::ATTRIBUTE);
            says(is_any || terms.any(|(_, term)| is(term)), if is_attribute { 0.1 } else { 0.3 })
        }
        Kind::Reason => {
            let tells = sentence.words.iter().any(|word| lexicon.is("reasons", &word.lemma));
            says(tells || whole.read.is_reason, 0.4)
        }
        Kind::Manner | Kind::Thing | Kind::Whether | Kind::Choice => {
            // What fills the hole, for the front of the answer; whether it does is not judged by it.
            let fills = |term: &&Term| {
                question.kind == Kind::Thing
                    && term.clause == clause
                    && term.part == Part::Noun
                    && sentence.words[term.at].tag != "CD"
                    && term.role == question.hole
            };
            let value = fresh().find(fills).map(|term| term.at);
            (if fresh().next().is_some() { 0.8 } else { 0.2 }, value)
        }
    }
}

/// A phrase of place that the question does not name.
fn place(
    question: &Question,
    sentence: &Sentence,
    clause: Option<usize>,
) -> Option<(f32, Option<usize>)> {
    let lexicon = Lexicon::english();
    let timed = |at: usize| {
        let start = sentence.words[at].span.start;
        sentence.times.iter().any(|time| time.range.contains(&start))
    };
    let mut best: Option<(f32, Option<usize>)> = None;
    for (at, told) in sentence.clauses.iter().enumerate() {
        for (role, word) in &told.roles {
            let is = match role {
                Role::Oblique(of) => lexicon.is("places", &of.replace(' ', "_")),
                Role::Adverb => lexicon.is("spots", &sentence.words[*word].lemma),
                _ => false,
            };
            let worth = if Some(at) == clause { 1.0 } else { 0.8 };
            let is_asked =
                question.terms.iter().any(|term| term.lemma == sentence.words[*word].lemma);
            // "wait for her"
            let is_somebody = sentence.words[*word].tag.starts_with("PRP");
            if is
                && !is_asked
                && !is_somebody
                && !timed(*word)
                && best.is_none_or(|(most, _)| worth > most)
            {
                best = Some((worth, Some(*word)));
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_feature_has_a_weight_and_every_weight_a_feature() {
        let of = |(kind, _): &(Kind, &str)| Features::default().named(*kind);
        let features: BTreeSet<&str> = KINDS.iter().flat_map(of).map(|(name, _)| name).collect();
        let weights = weights();
        let fitted: BTreeSet<&str> = weights.keys().map(String::as_str).collect();
        assert_eq!(features, fitted);
    }
}
