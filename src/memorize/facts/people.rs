//! What is said of people: what they like, where they live and work, who they are and to whom.

use super::fact;
use super::read::Passage;
use super::stated::Stated;
use crate::ids::EntityId;
use crate::language::clause::{Clause, Role};
use crate::language::lexicon::Lexicon;
use crate::language::thesaurus::field;
use crate::memory::model::FactAction;
use crate::memory::natures::{
    RELATION, RELATIONS, STATES, STATUS, attribute_meant, is_single_valued, opposite,
};

/// Oldest age that is believed, years.
const OLDEST: u32 = 130;
/// Fewest digits of a number that somebody is called at.
const DIGITS: usize = 3;

/// What a clause says of people.
pub(super) fn said_of_people(passage: &Passage<'_>, clause: &Clause) -> Vec<Stated> {
    let mut found = Vec::new();
    for who in clause.all(&Role::Agent).chain(clause.all(&Role::Object).filter(|_| clause.passive))
    {
        if let Some(person) = passage.person(who) {
            found.extend(of_somebody(passage, clause, person));
        } else if let Some(owner) = passage.owner(who).and_then(|owner| passage.person(owner)) {
            found.extend(of_what_is_ones(passage, clause, who, owner));
        }
    }
    found
}

/// "Ava no longer lives in Bonn", "I like green tea", "Ava is a nurse".
fn of_somebody(passage: &Passage<'_>, clause: &Clause, who: EntityId) -> Vec<Stated> {
    let lexicon = Lexicon::english();
    let verb = clause.predicate.replace(' ', "_");
    let mut found = Vec::new();
    // "Is married", whose verb is a state.
    if clause.passive && passage.is_present(clause) {
        let state = value(passage, STATUS, clause.head);
        found.extend(state.and_then(|state| stated(passage, clause, who, STATUS, state, false)));
    }
    for (role, at) in &clause.roles {
        let joint = match role {
            Role::Object if clause.passive && verb != "be" && passage.person(*at) == Some(who) => {
                continue;
            }
            Role::Object => "",
            Role::Oblique(joint) => joint,
            _ => continue,
        };
        let joint = joint.replace(' ', "_");
        let attributes = lexicon.attributes(&verb, &joint);
        let value = attributes.filter_map(|(attribute, is_left)| {
            let value = value(passage, attribute, *at)?;
            stated(passage, clause, who, attribute, value, is_left)
        });
        // Of what it may tell, the first that the value fits.
        found.extend(value.take(1));
    }
    found
}

/// "Ava's phone number is 555-1", "my favourite colour is green", "my wife is called Eva".
fn of_what_is_ones(
    passage: &Passage<'_>,
    clause: &Clause,
    what: usize,
    owner: EntityId,
) -> Vec<Stated> {
    let Some(name) = passage.told(&passage.phrase(what, |_| false)) else { return Vec::new() };
    let attribute = attribute_meant(&name);
    let relation = RELATIONS.contains(&attribute.as_str());
    if !relation && (!is_single_valued(&attribute) || attribute == super::owned::LOCATION) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (role, at) in &clause.roles {
        if !matches!(role, Role::Object | Role::Oblique(_)) || *at == what {
            continue;
        }
        if relation && let Some(person) = passage.person(*at) {
            let value = format!("{attribute} of <{owner}>");
            found.extend(stated(passage, clause, person, RELATION, value, false));
        } else if let Some(value) = value(passage, &attribute, *at) {
            found.extend(stated(passage, clause, owner, &attribute, value, false));
        }
        break;
    }
    // "My wife Eva likes tea."
    if relation && let Some(named) = passage.tree.of(what, &["appos"]).next() {
        let value = value(passage, &attribute, named);
        found.extend(
            value.and_then(|value| stated(passage, clause, owner, &attribute, value, false)),
        );
    }
    found
}

/// A statement of somebody. What is denied of a liking is the opposite; what is denied of a home is over.
fn stated(
    passage: &Passage<'_>,
    clause: &Clause,
    who: EntityId,
    attribute: &str,
    value: String,
    is_left: bool,
) -> Option<Stated> {
    if attribute != "birthday" && passage.is_ahead(clause) {
        return None;
    }
    let ends = is_left || passage.is_over(clause);
    let attribute = match opposite(attribute) {
        Some(opposite) if clause.negated && !ends => opposite,
        _ => attribute,
    };
    let denied = clause.negated && opposite(attribute).is_none();
    if ends || denied {
        let known = ends || is_single_valued(attribute) || attribute == STATUS;
        let fact = fact(who.to_string(), attribute, value);
        return known.then(|| Stated { fact, text: String::new(), wish: Some(FactAction::Retire) });
    }
    let text = match Lexicon::english().worded(attribute) {
        Some(verb) => format!("<{who}> {verb} {value}."),
        None => format!("<{who}>'s {} is {value}.", attribute.replace('_', " ")),
    };
    Some(Stated { fact: fact(who.to_string(), attribute, value), text, wish: None })
}

/// The value of an attribute, where what stands there can be one.
fn value(passage: &Passage<'_>, attribute: &str, at: usize) -> Option<String> {
    let words = || passage.phrase(at, |_| true);
    let (tag, lemma) = (passage.tag(at), passage.lemma(at));
    let language = passage.text.language;
    let is_noun = tag.starts_with("NN");
    let is_name = tag.starts_with("NNP");
    let text = || passage.told(&words());
    let figures = |text: &str| text.chars().filter(char::is_ascii_digit).count();
    match attribute {
        "age" => {
            // "42", "42 years old".
            let counted =
                || passage.tree.below(at).into_iter().find(|&word| passage.tag(word) == "CD");
            let old = tag == "CD" || Lexicon::english().is("ageing", lemma);
            let years = passage.written(&[counted().filter(|_| old)?]);
            years.parse::<u32>().ok().filter(|years| *years <= OLDEST).map(|_| years)
        }
        "phone" => {
            let behind =
                (at..passage.sentence.words.len()).take_while(|&word| passage.tag(word) == "CD");
            let mut words = words();
            words.extend(behind);
            words.sort_unstable();
            words.dedup();
            let plain = |text: &String| text.chars().all(|c| !c.is_alphabetic());
            passage.told(&words).filter(|text| figures(text) >= DIGITS && plain(text))
        }
        "email" => text().filter(|text| text.contains('@')),
        "birthday" => {
            let dated = |word: &usize| {
                let word = &passage.sentence.words[*word];
                figures(&word.form) > 0 || language.is_of_calendar(&word.lemma)
            };
            text().filter(|_| words().iter().any(dated))
        }
        "address" => text().filter(|text| {
            let told = |c: char| c.is_uppercase() || c.is_ascii_digit();
            (is_noun || tag == "CD") && text.split(' ').any(|word| word.starts_with(told))
        }),
        "home" | "birthplace" => {
            let is_place = is_name
                || is_noun
                    && language.thesaurus.is_of(lemma, field::LOCATION)
                    && passage.is_bare(at);
            text().filter(|_| is_place && !passage.is_time(at) && passage.person(at).is_none())
        }
        "job" => {
            let is_trade =
                Lexicon::english().all("trades").any(|class| language.thesaurus.is_a(lemma, class));
            let plain = passage.tree.of(at, &["amod"]).next().is_none();
            text().filter(|_| {
                is_noun
                    && is_trade
                    && plain
                    && passage.owner(at).is_none_or(|owner| passage.tag(owner) == "PRP$")
            })
        }
        "employer" => {
            const FIRMS: [u8; 3] = [field::ARTIFACT, field::GROUP, field::LOCATION];
            text()
                .filter(|_| is_name || is_noun && passage.is_of(at, &FIRMS) && !passage.is_time(at))
        }
        STATUS => {
            let state = passage.form(at);
            let known = STATES.iter().any(|family| family.contains(&state.as_str()));
            known.then_some(state)
        }
        RELATION => {
            let (owner, relation) = (
                passage.owner(at).or_else(|| {
                    let of =
                        passage.tree.of(at, &["prep"]).find(|&at| passage.lemma(at) == "of")?;
                    passage.tree.of(of, &["pobj"]).next()
                })?,
                lemma,
            );
            let alone = passage.tree.of(at, &["appos"]).next().is_none();
            let whose = match passage.person(owner) {
                Some(id) => format!("<{id}>"),
                None => passage.written(&[owner]),
            };
            let named = passage.person(owner).is_some() || passage.tag(owner).starts_with("NNP");
            (alone && named && RELATIONS.contains(&relation))
                .then(|| format!("{relation} of {whose}"))
        }
        "name" => text().filter(|_| is_name),
        _ if RELATIONS.contains(&attribute) => text().filter(|_| is_name),
        _ => {
            let is_it = is_noun || tag == "VBG" || attribute.starts_with("favourite_");
            let article =
                passage.tree.of(at, &["det", "poss"]).filter(|&word| passage.tag(word) == "PRP$");
            let words: Vec<usize> = article.chain(words()).collect();
            passage.told(&words).filter(|_| is_it && passage.person(at).is_none())
        }
    }
}
