//! Where things and people were told to be: of each sentence, which clause puts what where.

use crate::language::Language;
use crate::language::clause::{Clause, Role, Tree};
use crate::language::thesaurus::{Part, field};
use crate::time::Timestamp;

use super::likeness::ALIKE;
use crate::language::lexicon::Lexicon;
use crate::language::text::Sentence;

/// One thing at one place, as a clause tells it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) sentence: usize,
    /// Terms of what is there, and the word that they hang on.
    pub(super) theme: Vec<usize>,
    pub(super) head: usize,
    /// From when on.
    pub(super) since: Timestamp,
    /// The head of where; the verb, where it is only told to be back.
    pub(super) at: usize,
    /// The lemma of the verb that tells it, or of the noun: "home".
    pub(super) said: String,
    /// What stands before it: "in"; empty before "upstairs".
    pub(super) preposition: String,
    pub(super) is_denied: bool,
    /// It came back there, or just back.
    pub(super) is_back: bool,
    /// Nothing is told but that it is back.
    pub(super) is_only_back: bool,
}

impl Place {
    /// Whether it is told with that verb, or one of its frame: "lives", "home".
    pub(super) fn is_told_with(&self, verb: &str) -> bool {
        self.said == verb || Lexicon::english().near(verb, &self.said) >= ALIKE
    }
}

/// Verbs that put or leave something somewhere, by the thesaurus.
const PLACING: &[u8] = &[field::CONTACT, field::MOTION, field::POSSESSION, field::STATIVE];

/// The places of a text's sentences; `is_person` tells people by a term of its sentence.
pub(super) fn places_of(
    sentences: &[Sentence],
    told: Timestamp,
    language: &Language,
    is_person: &dyn Fn(&Sentence, usize) -> bool,
) -> Vec<Place> {
    let mut out = Vec::new();
    for (at, sentence) in sentences.iter().enumerate().filter(|(_, sentence)| !sentence.asks) {
        let site = Site { language, sentence, is_person };
        for (clause, told_in) in sentence.clauses.iter().enumerate() {
            let since = sentence.time_of(clause, told).0.start;
            let base = Place {
                sentence: at,
                theme: Vec::new(),
                head: 0,
                since,
                at: 0,
                said: sentence.verb(told_in).to_owned(),
                preposition: String::new(),
                is_denied: sentence.is_denied(told_in),
                is_back: is_back(sentence, told_in),
                is_only_back: false,
            };
            site.clause(told_in, &base, &mut out);
        }
    }
    out
}

/// Whether a clause tells that somebody or something came or was brought back.
pub(super) fn is_back(sentence: &Sentence, clause: &Clause) -> bool {
    let mut adverbs = clause.all(&Role::Adverb);
    adverbs.any(|at| sentence.words[at].lemma == "back")
        || clause.predicate.ends_with(" back")
        || sentence.verb(clause) == "return"
}

struct Site<'a> {
    language: &'a Language,
    sentence: &'a Sentence,
    is_person: &'a dyn Fn(&Sentence, usize) -> bool,
}

impl Site<'_> {
    fn clause(&self, clause: &Clause, base: &Place, out: &mut Vec<Place>) {
        let sentence = self.sentence;
        let verb = sentence.verb(clause);
        let fields = self.language.thesaurus.fields(verb, Part::Verb);
        let is_being = verb == "be";
        if !is_being && !fields.iter().take(4).any(|of| PLACING.contains(of)) {
            return;
        }
        let agents: Vec<usize> = clause.all(&Role::Agent).collect();
        let objects: Vec<usize> = clause.all(&Role::Object).collect();
        if is_being && let Some(place) = self.stated(&agents, &objects, base) {
            out.push(place);
            return;
        }
        let said_of_it = objects.iter().any(|&at| sentence.words[at].tag.starts_with("JJ"));
        let themes = match (is_being, agents.is_empty(), objects.is_empty()) {
            (true, true, _) | (false, _, false) => &objects,
            (true, false, false) if !said_of_it => return,
            _ => &agents,
        };
        let moves = fields.contains(&field::MOTION) && objects.is_empty();
        let goes_to = !is_being || !said_of_it;
        let mut is_placed = false;
        for (role, at) in &clause.roles {
            let gives = fields.iter().take(2).any(|of| PLACING.contains(of));
            let Some(preposition) = self.place(role, *at, moves, gives) else { continue };
            if preposition == "to" && !goes_to {
                continue;
            }
            let is_body = self.language.thesaurus.is_of(&sentence.words[*at].lemma, field::BODY);
            if themes.contains(at) || is_body && fields.contains(&field::CONSUMPTION) {
                continue;
            }
            is_placed = true;
            let place = Place { at: *at, preposition, ..base.clone() };
            out.extend(self.themed(themes, &place));
        }
        if base.is_back && !is_placed {
            let at = clause.verbs.last().copied().unwrap_or(clause.head);
            out.extend(self.themed(themes, &Place { at, is_only_back: true, ..base.clone() }));
        }
    }

    /// "Ava's home is Bonn."
    fn stated(&self, agents: &[usize], objects: &[usize], base: &Place) -> Option<Place> {
        let (&site, &value) = (agents.first()?, objects.first()?);
        if !Lexicon::english().is("sites", &self.sentence.words[site].lemma) {
            return None;
        }
        let tree = Tree::new(&self.sentence.words);
        let owner = tree.of(site, &["poss", "compound", "amod", "nmod"]).next()?;
        let theme = self.sentence.phrase(owner);
        let said = self.sentence.words[site].lemma.to_string();
        let place = Place { theme, head: owner, at: value, said, ..base.clone() };
        (!place.theme.is_empty()).then_some(place)
    }

    fn themed<'s>(
        &'s self,
        themes: &'s [usize],
        place: &'s Place,
    ) -> impl Iterator<Item = Place> + 's {
        let of = |head: usize| Place { theme: self.sentence.phrase(head), head, ..place.clone() };
        themes.iter().map(move |&head| of(head)).filter(|place| !place.theme.is_empty())
    }

    /// The preposition, if the phrase tells a place; `moves`: somebody goes; `gives`: something changes hands.
    fn place(&self, role: &Role, at: usize, moves: bool, gives: bool) -> Option<String> {
        let lexicon = Lexicon::english();
        let word = &self.sentence.words[at];
        let timed = self.sentence.times.iter().any(|time| time.range.contains(&word.span.start));
        if timed || self.language.thesaurus.is_of(&word.lemma, field::TIME) {
            return None;
        }
        match role {
            Role::Oblique(all) => {
                let words =
                    all.split(' ').filter(|word| !matches!(*word, "back" | "up" | "down" | "out"));
                let preposition = words.collect::<Vec<_>>().join(" ");
                let of_somebody = || {
                    self.sentence
                        .terms
                        .iter()
                        .any(|term| term.at == at && (self.is_person)(self.sentence, term.at))
                };
                let fits = match preposition.as_str() {
                    "with" => of_somebody(),
                    "for" => moves && word.tag.starts_with("NNP"),
                    "to" => !word.tag.starts_with("VB"),
                    other => lexicon.is("places", &other.replace(' ', "_")),
                };
                fits.then_some(preposition)
            }
            Role::Adverb if lexicon.is("spots", &word.lemma) => Some(String::new()),
            Role::Recipient if gives => Some("with".to_owned()),
            _ => None,
        }
    }
}
