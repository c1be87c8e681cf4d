//! What a question asks of things in view: which, what became of them, and where.

use crate::answer::meaning::Kind;
use crate::colour::Colour;
use crate::language::clause::{Clause, Role};

use super::ask::Question;
use super::told::Told;
use super::{Act, Order, Side, describe, is};

/// What of things is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::answer) enum Wanted {
    /// How many are seen at once.
    Count,
    /// Whether it was so.
    Whether,
    /// Who did it.
    Who,
    /// With what somebody did it; what is seen there.
    What,
    When,
    /// What colour it is.
    Colour,
}

/// What becomes of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::answer) enum Deed {
    /// It is there.
    Seen,
    /// Somebody takes it away, brings it, has it, lays it down.
    Taken,
    Brought,
    Held,
    Put,
    Moved,
    /// It comes into view, or out of it.
    Appeared,
    Vanished,
}

/// What is said of a thing by a verb of being.
const PREDICATED: &[&str] = &["acomp", "attr", "oprd"];

impl Deed {
    /// The lists of what is done with a thing.
    const BY_VERB: [(&str, Self); 7] = [
        ("takes", Self::Taken),
        ("brings", Self::Brought),
        ("holds", Self::Held),
        ("puts", Self::Put),
        ("shifts", Self::Moved),
        ("appears", Self::Appeared),
        ("vanishes", Self::Vanished),
    ];
}

/// How a thing stands to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::answer) enum Beside {
    /// It stands on it, or lies in it: in a picture that is one.
    On,
    Near,
}

/// A noun behind what makes its name, lemmas, and the colours that are told of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::answer) struct Named {
    pub(in crate::answer) noun: Vec<String>,
    pub(in crate::answer) colours: Vec<Colour>,
}

/// A question about things.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::answer) struct OfThings {
    pub(in crate::answer) wanted: Wanted,
    pub(in crate::answer) deed: Deed,
    /// The noun that tells which, behind what makes its name, lemmas: "tennis ball". Empty: whatever it is.
    pub(in crate::answer) noun: Vec<String>,
    /// Colours that it must have: "the red one".
    pub(in crate::answer) colours: Vec<Colour>,
    /// "on the table": how, and the noun as above, with its colours.
    pub(in crate::answer) beside: Option<(Beside, Named)>,
    pub(in crate::answer) side: Option<Side>,
    /// Which of several times.
    pub(in crate::answer) order: Order,
    /// It asks for what is so now.
    pub(in crate::answer) is_now: bool,
}

/// `None`: it asks for something else, or more than eyes can tell.
pub(super) fn of_things(question: &Question<'_>) -> Option<OfThings> {
    let (told, clause) = (question.told, question.clause?);
    if question.is_of_words() || told.says() || question.orders() {
        return None;
    }
    if let Some(coloured) = of_colour(question) {
        return Some(coloured);
    }
    let in_hands = question.asking.as_ref().and_then(|asking| asking.noun);
    let in_hands = question.kind == Kind::Whose && in_hands.is_some_and(|at| told.is("hands", at));
    let deed = if in_hands { Deed::Held } else { deed(told, clause)? };
    let has_noun = question.asking.as_ref().is_some_and(|asking| asking.noun.is_some());
    let wanted = match question.kind {
        Kind::Count => Wanted::Count,
        // "How many chairs …": chairing is a deed, too.
        Kind::Frequency if has_noun => Wanted::Count,
        Kind::Person => Wanted::Who,
        Kind::Whose if in_hands => Wanted::Who,
        Kind::Thing | Kind::Which => Wanted::What,
        Kind::Time => Wanted::When,
        Kind::Whether => Wanted::Whether,
        _ => return None,
    };
    // "Do you have a cup?" asks the robot.
    if question.is_of_robot() && deed != Deed::Seen {
        return None;
    }
    let noun = thing(question, clause, deed)?;
    let side = describe::side(told);
    let beside = beside(told, noun);
    let mut named = noun.map_or_else(|| Some(Named::default()), |at| name(told, at))?;
    if wanted == Wanted::Whether {
        // "Is the cup red?"
        let said = told.under(told.verb(clause), PREDICATED);
        named.colours.extend(said.filter_map(|at| Colour::named(&told.form(at))));
    }
    // "What is it?", "What is a cup?"
    let open = wanted == Wanted::What && deed == Deed::Seen;
    let told_where = side.is_some() || beside.is_some();
    let which = question.kind == Kind::Which && noun.is_some();
    if open && !(which || told_where && named.noun.is_empty()) {
        return None;
    }
    let idle = matches!(wanted, Wanted::Who | Wanted::When | Wanted::Whether) && noun.is_none();
    let is_now = deed == Deed::Seen && question.is_present();
    let order = question.order;
    let Named { noun, colours } = named;
    (!idle).then_some(OfThings { wanted, deed, noun, colours, beside, side, order, is_now })
}

/// "What colour is the cup?", "What is the colour of the cup on the table?"
fn of_colour(question: &Question<'_>) -> Option<OfThings> {
    let told = question.told;
    let asks = matches!(question.kind, Kind::Which | Kind::Thing);
    let is_colour = |at: &usize| told.is("colouring", *at);
    let colour = told.all().find(is_colour).filter(|_| asks && told.is("being", question.verb))?;
    let noun = told.all().find(|&at| at > colour && is_thing(told, at))?;
    let Named { noun: named, colours } = name(told, noun)?;
    Some(OfThings {
        wanted: Wanted::Colour,
        deed: Deed::Seen,
        noun: named,
        colours,
        beside: beside(told, Some(noun)),
        side: describe::side(told),
        order: question.order,
        is_now: false,
    })
}

/// What becomes of the thing: by the verb with its particle, or by one of being and seeing.
fn deed(told: &Told<'_>, clause: &Clause) -> Option<Deed> {
    let verb = told.verb(clause);
    let with = told.obliques(clause).any(|(name, at)| name == "with" && is_thing(told, at));
    match told.act(clause) {
        Some(Act::Left) if with => return Some(Deed::Taken),
        Some(Act::Arrived) if with => return Some(Deed::Brought),
        _ => {}
    }
    let parts = told.under(verb, &["prt", "prep", "advmod"]);
    let joined: Vec<String> =
        parts.map(|at| format!("{}_{}", told.lemma(verb), told.lemma(at))).collect();
    let is_joined = |list: &str| joined.iter().any(|joined| is(list, joined));
    let is_verb = |list: &str| told.is(list, verb);
    let has_object = clause.all(&Role::Object).any(|at| is_thing(told, at)) || clause.passive;
    let fits = |deed: Deed| match deed {
        Deed::Appeared | Deed::Vanished => !has_object || deed == Deed::Vanished && clause.passive,
        _ => true,
    };
    let by = |is_of: &dyn Fn(&str) -> bool| {
        let mut deeds = Deed::BY_VERB.iter().filter(|(_, deed)| fits(*deed));
        deeds.find(|(list, _)| is_of(list)).map(|(_, deed)| *deed)
    };
    let found = by(&is_joined).or_else(|| by(&is_verb));
    // "When did the cup leave?", "What is missing?"
    let left = found == Some(Deed::Put) && !has_object && told.act(clause) == Some(Act::Left);
    if left {
        return Some(Deed::Vanished);
    }
    let being =
        told.is("being", verb) || told.tree.under(verb).iter().any(|&at| told.label(at) == "expl");
    let seen =
        matches!(told.act(clause), Some(Act::Seen | Act::Present)) && is("seen", told.lemma(verb));
    found.or((being || seen || told.is("staying", verb)).then_some(Deed::Seen))
}

/// The word for the thing; `Some(None)`: whatever it is, `None`: it is about something else.
fn thing(question: &Question<'_>, clause: &Clause, deed: Deed) -> Option<Option<usize>> {
    let told = question.told;
    let asked = question.asking.as_ref().and_then(|asking| asking.noun);
    let is_of_noun = matches!(question.kind, Kind::Count | Kind::Frequency | Kind::Which);
    let asked = asked.filter(|_| is_of_noun);
    if let Some(at) = asked {
        return is_thing(told, at).then_some(Some(at));
    }
    let object = clause.all(&Role::Object).find(|&at| is_thing(told, at));
    let agent = || {
        let moves = matches!(deed, Deed::Seen | Deed::Appeared | Deed::Vanished | Deed::Moved);
        let held = question.kind == Kind::Whose;
        clause.all(&Role::Agent).find(|&at| (moves || held) && is_thing(told, at))
    };
    let with = || told.obliques(clause).find(|(name, at)| *name == "with" && is_thing(told, *at));
    let found = object.or_else(agent).or_else(|| with().map(|(_, at)| at));
    // "Who has the time?" is no thing either, but no detector calls anything so.
    let open = question.kind == Kind::Thing;
    (found.is_some() || open).then_some(found)
}

/// Whether a word may be a thing's.
fn is_thing(told: &Told<'_>, at: usize) -> bool {
    let noun = told.tag(at).starts_with("NN");
    let plain = told.subject(at).is_none() && !told.is_time(at);
    noun && plain
        && !told.is_any(&["persons", "several"], at)
        && (told.tells(at) || told.is("items", at))
}

/// A noun behind what makes its name, and its colours; no noun for any thing. `None`: it is described by what no detector tells, or somebody's.
fn name(told: &Told<'_>, at: usize) -> Option<Named> {
    if told.under(at, &["poss"]).next().is_some() {
        return None;
    }
    let idle = |at: usize| {
        told.is("counted", at)
            || told.order_of(at).is_some()
            || told.is("framing", at)
            || told.tag(at) == "CD"
    };
    let mut words: Vec<usize> = told
        .under(at, &["compound", "amod", "nmod"])
        .filter(|&word| word < at && !idle(word))
        .collect();
    let colour = |word: &usize| Colour::named(&told.form(*word));
    let colours = words.iter().filter_map(colour).collect();
    words.retain(|word| colour(word).is_none());
    if told.is("items", at) {
        return Some(Named { noun: Vec::new(), colours });
    }
    words.push(at);
    let noun = words.into_iter().map(|word| told.lemma(word).to_lowercase()).collect();
    Some(Named { noun, colours })
}

/// Beside what it is said to be, `of` being the thing itself.
fn beside(told: &Told<'_>, of: Option<usize>) -> Option<(Beside, Named)> {
    const HOW: [(&str, Beside); 3] =
        [("upon", Beside::On), ("within", Beside::On), ("nearby", Beside::Near)];
    told.all().find_map(|at| {
        let is_side = told.is_any(&["left_side", "right_side", "middle"], at);
        let named = is_thing(told, at) && !told.is("items", at) && !is_side;
        if told.label(at) != "pobj" || Some(at) == of || !named {
            return None;
        }
        let preposition = told.head(at);
        // "next to the cup"
        let words = [preposition, told.head(preposition)];
        let how = |word: &usize| HOW.iter().find(|(list, _)| told.is(list, *word));
        let (_, how) = words.iter().find_map(how)?;
        Some((*how, name(told, at)?))
    })
}
