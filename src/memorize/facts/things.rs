//! Where things are said to be, to have been put, and to be no longer.

use super::fact;
use super::owned::{LOCATION, called};
use super::read::Passage;
use super::stated::Stated;
use crate::language::clause::{Clause, Role};
use crate::language::lexicon::Lexicon;
use crate::language::thesaurus::field;
use crate::memory::model::FactAction;
use crate::memory::placed_by;
use crate::text::capitalised;

/// What lies about somewhere.
const THINGS: [u8; 8] = [
    field::ANIMAL,
    field::ARTIFACT,
    field::COMMUNICATION,
    field::FOOD,
    field::OBJECT,
    field::PLANT,
    field::GOODS,
    field::SUBSTANCE,
];
/// Where something lies.
const PLACES: [u8; 5] =
    [field::ARTIFACT, field::GROUP, field::LOCATION, field::OBJECT, field::PLANT];

/// A thing that is told of.
struct Thing {
    /// What facts call it.
    key: String,
    /// What sentences do.
    worded: String,
    /// One of its kind, not the one.
    is_indefinite: bool,
    are_several: bool,
}

/// What a clause says of where things are.
pub(super) fn whereabouts(passage: &Passage<'_>, clause: &Clause) -> Vec<Stated> {
    if passage.is_ahead(clause) {
        return Vec::new();
    }
    let lexicon = Lexicon::english();
    let verb = clause.predicate.replace(' ', "_");
    let agents = || things(passage, clause, &Role::Agent);
    let objects = || things(passage, clause, &Role::Object);
    let place = place(passage, clause);
    if verb == "be" && clause.all(&Role::Agent).next().is_none() {
        let Some(place) = place else { return Vec::new() };
        return match clause.negated {
            true => over(&objects(), &place),
            false => there(&objects(), &place, None),
        };
    }
    let is_passive = clause.passive;
    let is_gone = |at: usize| {
        [passage.lemma(at), &passage.form(at)].iter().any(|word| lexicon.is("missing", word))
    };
    // "Is gone", "is missing": the verb itself says it.
    let is_bare = is_passive || clause.all(&Role::Object).next().is_none();
    let is_over = place.is_none() && passage.is_present(clause) && !clause.negated;
    if is_gone(clause.head) && is_bare && is_over {
        return over(&if is_passive { objects() } else { agents() }, "");
    }
    if (lexicon.is("resting", &verb) || is_passive && lexicon.is("settled", &verb))
        && passage.is_present(clause)
    {
        let things = if is_passive { objects() } else { agents() };
        let beside = clause.all(&Role::Object).find(|_| !is_passive);
        let is_gone = beside.into_iter().chain(clause.all(&Role::Adverb)).any(is_gone);
        let is_here = clause.all(&Role::Adverb).any(|at| lexicon.is("present", passage.lemma(at)));
        return match (clause.negated, place) {
            (false, None) if is_gone => over(&things, ""),
            (true, None) if is_here => over(&things, ""),
            (true, Some(place)) => over(&things, &place),
            (false, Some(place))
                if beside.is_none_or(|at| lexicon.is("sides", passage.lemma(at))) =>
            {
                there(&things, &place, None)
            }
            _ => Vec::new(),
        };
    }
    if clause.negated {
        return Vec::new();
    }
    if lexicon.is("placing", &verb) && clause.all(&Role::Object).next().is_some() {
        return match (place, left(passage, clause)) {
            (Some(place), _) => there(&objects(), &place, doer(passage, clause)),
            (None, Some(from)) => over(&objects(), &from),
            _ => Vec::new(),
        };
    }
    match place {
        Some(place) if lexicon.is("going", &verb) => there(&agents(), &place, None),
        _ => Vec::new(),
    }
}

fn there(things: &[Thing], place: &str, who: Option<String>) -> Vec<Stated> {
    let one = |thing: &Thing| {
        let are = if thing.are_several { "are" } else { "is" };
        let plain = format!("{} {are} {place}.", thing.worded);
        let text = who
            .as_ref()
            .map_or_else(|| plain.clone(), |who| placed_by(&plain, who, thing.are_several));
        let wish = thing.is_indefinite.then_some(FactAction::Add);
        Stated { fact: fact(thing.key.clone(), LOCATION, place.to_owned()), text, wish }
    };
    things.iter().map(one).collect()
}

fn over(things: &[Thing], place: &str) -> Vec<Stated> {
    let one = |thing: &Thing| Stated {
        fact: fact(thing.key.clone(), LOCATION, place.to_owned()),
        text: String::new(),
        wish: Some(FactAction::Retire),
    };
    things.iter().map(one).collect()
}

/// Who put it there, where that is told: a mention, or plain words.
fn doer(passage: &Passage<'_>, clause: &Clause) -> Option<String> {
    let who = clause.all(&Role::Agent).next()?;
    if let Some(id) = passage.person(who) {
        return Some(format!("<{id}>"));
    }
    let unknown = Lexicon::english().is("anybody", passage.lemma(who));
    let is_it = (passage.is_somebody(who) || passage.tag(who) == "NNP")
        && !passage.tag(who).starts_with("PRP")
        && !unknown;
    let words = passage.phrase(who, |_| false);
    let words = passage.tree.of(who, &["det"]).chain(words).collect::<Vec<_>>();
    passage.told(&words).filter(|_| is_it).map(|text| match passage.tag(who).starts_with("NNP") {
        true => text,
        false => text.to_lowercase(),
    })
}

fn things(passage: &Passage<'_>, clause: &Clause, role: &Role) -> Vec<Thing> {
    let heads: Vec<usize> = clause.all(role).collect();
    let mut found: Vec<Thing> = Vec::new();
    for &at in &heads {
        // "My bag and scarf".
        let owner = match passage.is_bare(at) {
            true => heads.first().and_then(|&first| passage.owner(first)),
            false => passage.owner(at),
        };
        // What hangs on an object may tell where it is put.
        let one = match passage.tag(at).starts_with("PRP") {
            true => {
                passage.meant(at).and_then(|(of, noun)| thing(&of, noun, of.owner(noun), false))
            }
            false => thing(passage, at, owner, *role == Role::Agent || clause.passive),
        };
        let Some(mut one) = one else { return Vec::new() };
        // "The salt and pepper": the second is as definite as the first.
        one.is_indefinite = found.first().map_or(one.is_indefinite, |first| first.is_indefinite);
        found.push(one);
    }
    found
}

fn thing(
    passage: &Passage<'_>,
    noun: usize,
    owner: Option<usize>,
    is_whole: bool,
) -> Option<Thing> {
    let tag = passage.tag(noun);
    let is_thing = tag.starts_with("NN")
        && !passage.is_somebody(noun)
        && !passage.is_time(noun)
        && (!tag.starts_with("NNP") || !passage.is_bare(noun))
        && passage.is_of(noun, &THINGS);
    if !is_thing {
        return None;
    }
    let lexicon = Lexicon::english();
    let inner = |joint: &str| is_whole || !lexicon.is("positions", joint) && joint != "for";
    let mut words = passage.phrase(noun, inner);
    let whose = owner.map_or_else(Vec::new, |owner| passage.tree.below(owner));
    let is_number = |word: usize| word < noun && passage.sentence.words[word].label == "nummod";
    words.retain(|&word| !is_number(word) && !whose.contains(&word));
    // "The red mug rack", where the rack stands apart in the tree.
    let articles = words.iter().take_while(|&&word| passage.tag(word) == "DT").count();
    let lead = words.drain(..articles).next();
    let name = passage.told(&words)?;
    let key = name.to_lowercase();
    // "Shelf14" is none, whatever the parser takes it for.
    let form = passage.form(noun);
    let are_several = tag.ends_with('S') && (form.ends_with('s') || form != passage.lemma(noun));
    let article = passage.tree.of(noun, &["det", "nummod"]).next().or(lead);
    let is_definite = article.is_some_and(|at| lexicon.is("definite", passage.lemma(at)));
    let (key, worded) = match owner {
        None => (key, format!("The {name}")),
        Some(owner) => match passage.person(owner) {
            Some(id) => called(id, &key, passage.text.context.view),
            None if passage.tag(owner).starts_with("PRP") => {
                let meant =
                    passage.sentence.terms.iter().find(|term| term.at == owner && term.is_name);
                match meant {
                    Some(term) => (
                        format!("{}'s {key}", term.lemma),
                        format!("{}'s {name}", capitalised(&term.lemma)),
                    ),
                    None => (key, format!("The {name}")),
                }
            }
            None => {
                let whose = passage.told(&passage.phrase(owner, |_| false))?;
                let whose = whose.strip_suffix("'s").unwrap_or(&whose);
                (
                    format!("{}'s {key}", whose.to_lowercase()),
                    format!("{}'s {name}", capitalised(whose)),
                )
            }
        },
    };
    // "Box 12" is the one, "boards" are some.
    let is_indefinite = owner.is_none() && !is_definite && (article.is_some() || are_several);
    Some(Thing { key, worded, is_indefinite, are_several })
}

/// Where it is, or was brought, with the preposition: "in the top drawer".
fn place(passage: &Passage<'_>, clause: &Clause) -> Option<String> {
    let lexicon = Lexicon::english();
    let mut found: Vec<String> = Vec::new();
    let is_side = |at: usize| lexicon.is("sides", passage.lemma(at));
    let objects = clause.all(&Role::Object).filter(|&at| !clause.passive && !is_side(at));
    let hang = clause.verbs.iter().copied().chain(objects);
    for on in hang {
        for &at in passage.tree.under(on) {
            let word = &passage.sentence.words[at];
            let begins =
                matches!(word.label.as_str(), "prep" | "advmod" | "prt" | "dative" | "acomp")
                    && at > clause.head.min(on);
            if begins && let Some(place) = one_place(passage, at) {
                found.push(place);
            } else if begins
                && word.label == "advmod"
                && lexicon.is("spots", &word.lemma)
                && !lexicon.is("present", &word.lemma)
            {
                found.push(word.lemma.to_string());
            }
        }
    }
    let text = found.join(" ");
    (!text.is_empty()).then_some(text)
}

/// The place that a preposition begins.
fn one_place(passage: &Passage<'_>, at: usize) -> Option<String> {
    let lexicon = Lexicon::english();
    let word = &passage.sentence.words[at];
    // "Down to the cellar", "up in the attic"; "next to" is one.
    let object = passage.tree.of(at, &["pobj"]).next();
    let Some(object) = object else {
        let next = passage.tree.of(at, &["prep"]).next()?;
        let joined = format!("{}_{}", word.lemma, passage.lemma(next));
        return match lexicon.is("positions", &joined) {
            true => {
                let object = passage.tree.of(next, &["pobj"]).next()?;
                let text = format!("{} {}", word.lemma, passage.told(&passage.tree_text(next))?);
                is_place(passage, object).then_some(text)
            }
            false => one_place(passage, next),
        };
    };
    if !lexicon.is("positions", &word.lemma) || !is_place(passage, object) {
        return None;
    }
    let words: Vec<usize> = passage.tree_text(at);
    let text = passage.told(&words)?;
    let towards = lexicon.towards(&word.lemma);
    Some(match towards.and_then(|there| Some((there, text.split_once(' ')?))) {
        Some((there, (_, rest))) => format!("{there} {rest}"),
        None => text,
    })
}

pub(super) fn is_place(passage: &Passage<'_>, noun: usize) -> bool {
    let tag = passage.tag(noun);
    let of = passage.tree.of(noun, &["prep"]).find(|&at| passage.lemma(at) == "of");
    // "At the end of the hall": a place as the hall is.
    if let Some(whole) = of.and_then(|of| passage.tree.of(of, &["pobj"]).next()) {
        return is_place(passage, whole);
    }
    let is_noun = tag.starts_with("NN") || tag.starts_with("JJ") && !passage.is_bare(noun);
    let is_somewhere =
        tag.starts_with("NNP") || passage.is_of(noun, &PLACES) || passage.is_room(noun);
    is_noun && is_somewhere && !passage.is_time(noun) && !passage.is_somebody(noun)
}

/// From where it was taken: "out of the drawer".
fn left(passage: &Passage<'_>, clause: &Clause) -> Option<String> {
    let from = clause.roles.iter().find_map(|(role, word)| match role {
        Role::Oblique(joint) if Lexicon::english().is("away_from", &joint.replace(' ', "_")) => {
            Some(*word)
        }
        _ => None,
    })?;
    let article: Vec<usize> = passage.tree.of(from, &["det", "poss"]).collect();
    let words: Vec<usize> = article.into_iter().chain(passage.phrase(from, |_| true)).collect();
    passage.told(&words).filter(|_| is_place(passage, from))
}

impl Passage<'_> {
    /// The words under a preposition, without clauses and what is beside.
    fn tree_text(&self, at: usize) -> Vec<usize> {
        let mut out = vec![at];
        let mut done = 0;
        while let Some(&word) = out.get(done) {
            done += 1;
            for &next in self.tree.under(word) {
                let label = self.sentence.words[next].label.as_str();
                let beside = matches!(
                    label,
                    "relcl"
                        | "acl"
                        | "advcl"
                        | "appos"
                        | "punct"
                        | "cc"
                        | "conj"
                        | "ccomp"
                        | "parataxis"
                        | "npadvmod"
                );
                let timed = label == "prep"
                    && self.tree.of(next, &["pobj"]).any(|object| self.is_time(object));
                if !beside && !timed {
                    out.push(next);
                }
            }
        }
        out.sort_unstable();
        out
    }
}
