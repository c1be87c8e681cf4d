//! Persons told by what they did: "the person who spoke first", "the woman on the left", "the one who said
//! hello". Only what percepts can decide is taken apart; other words stay as they are.

use super::pieces::{Piece, Sentence};
use super::{Order, Subject};

/// A side of the picture, as the camera sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Left.
    Left,
    /// Right.
    Right,
    /// Between others.
    Middle,
}

/// What tells the person.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    /// Spoke first, last, most, …; `Any` with a time: spoke then.
    Spoke(Order),
    /// Was seen first, last, longest, …; `Any` with a time: was seen then.
    Seen(Order),
    /// Came first, last; `Any` with a time: came then.
    Arrived(Order),
    /// Went first, last; `Any` with a time: went then.
    Left(Order),
    /// Said these content words, or the quotation.
    Said {
        /// Content words.
        words: Vec<String>,
        /// Verbatim.
        quote: Option<String>,
    },
    /// Was there together with another.
    With(Box<Subject>),
    /// Was alone in view.
    Alone,
    /// Was heard and never seen.
    NeverSeen,
    /// Was seen and never heard.
    NeverSpoke,
    /// Stood on that side of the picture.
    Side(Side),
    /// Everybody but this one.
    Other,
    /// Looks: "in the grey coat". Percepts do not tell; facts may.
    Looks(Vec<String>),
}

/// A person told by a description.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// As written.
    pub text: String,
    /// What tells the person.
    pub clause: Clause,
    /// Time of the clause: index into [`super::Parsed::times`] before they were cut; kept as the expression.
    pub time: Option<crate::recall::time_expr::TimeExpr>,
}

/// What a person may be called.
pub(in crate::answer) const NOUNS: [&str; 32] = [
    "person",
    "man",
    "woman",
    "girl",
    "boy",
    "guy",
    "lady",
    "child",
    "kid",
    "one",
    "voice",
    "speaker",
    "gentleman",
    "human",
    "individual",
    "visitor",
    "guest",
    "stranger",
    "face",
    "people",
    "men",
    "women",
    "persons",
    "somebody",
    "someone",
    "baby",
    "teenager",
    "fellow",
    "adult",
    "male",
    "female",
    "narrator",
];

/// Words that may end a question after a description: the main predicate.
const PREDICATE: [&str; 45] = [
    "leave", "left", "arrive", "arrived", "seen", "visible", "there", "here", "speak", "spoke",
    "say", "said", "talk", "talked", "appear", "appeared", "last", "first", "present", "heard",
    "come", "came", "go", "went", "in", "on", "with", "together", "be", "been", "was", "is", "has",
    "have", "does", "did", "look", "show", "enter", "talking", "speaking", "saying", "stay",
    "alone", "were",
];

/// Folds every description into a subject.
pub(super) fn find(sentence: &mut Sentence) {
    let mut at = 0;
    while at < sentence.pieces.len() {
        let Some((description, taken)) = description(sentence, at) else {
            at += 1;
            continue;
        };
        let index = sentence.subjects.len();
        sentence.subjects.push(Subject::Described(description));
        sentence.pieces.splice(at..at + taken, [Piece::Subject(index)]);
        at += 1;
    }
}

/// The description that begins with piece `at`, and the pieces it takes.
fn description(sentence: &Sentence, at: usize) -> Option<(Description, usize)> {
    let word = |i: usize| word_at(sentence, at + i);
    let mut skip = 0;
    let mut order = Order::Any;
    let mut other = false;
    let mut looks = Vec::new();
    match word(0)? {
        "the" | "that" | "a" | "this" => skip += 1,
        "whoever" => {
            return relative(sentence, at, at + 1)
                .map(|(clause, time, end)| made(sentence, at, end, clause, time));
        }
        _ => return None,
    }
    // Adjectives up to the noun.
    loop {
        let next = word(skip)?;
        if let Some(found) = ordinal(next) {
            order = found;
        } else if next == "other" {
            other = true;
        } else if NOUNS.contains(&next) {
            break;
        } else if skip < 4 && super::pieces::is_grammar(next) {
            return None;
        } else if skip < 4 {
            looks.push(next.to_owned());
        } else {
            return None;
        }
        skip += 1;
    }
    let noun = word(skip)?.to_owned();
    skip += 1;
    let after = at + skip;
    if let Some((clause, time, end)) = relative(sentence, at, after) {
        let clause = with_order(clause, order);
        return Some(made(sentence, at, end, clause, time));
    }
    if other {
        return Some(made(sentence, at, after, Clause::Other, None));
    }
    let speaks = matches!(noun.as_str(), "speaker" | "voice" | "narrator");
    if order != Order::Any {
        let verb = word_at(sentence, after);
        // "the first person seen / to speak / speaking"
        let (clause, used) = match (verb, word_at(sentence, after + 1)) {
            (Some("to"), Some("speak" | "talk" | "say")) => (Clause::Spoke(order), 2),
            (Some("to"), Some("arrive" | "appear" | "come" | "enter")) => {
                (Clause::Arrived(order), 2)
            }
            (Some("to"), Some("leave" | "go")) => (Clause::Left(order), 2),
            (Some("seen" | "visible"), _) => (Clause::Seen(order), 1),
            (Some("heard"), _) => (Clause::Spoke(order), 1),
            (Some("you"), Some("saw" | "see")) => (Clause::Seen(order), 2),
            (Some("you"), Some("heard" | "hear")) => (Clause::Spoke(order), 2),
            _ if speaks => (Clause::Spoke(order), 0),
            _ => (Clause::Seen(order), 0),
        };
        return Some(made(sentence, at, after + used, clause, None));
    }
    if !looks.is_empty() && word(0) != Some("a") && noun != "one" {
        return Some(made(sentence, at, after, Clause::Looks(looks), None));
    }
    None
}

fn with_order(clause: Clause, order: Order) -> Clause {
    if order == Order::Any {
        return clause;
    }
    match clause {
        Clause::Spoke(Order::Any) => Clause::Spoke(order),
        Clause::Seen(Order::Any) => Clause::Seen(order),
        Clause::Arrived(Order::Any) => Clause::Arrived(order),
        Clause::Left(Order::Any) => Clause::Left(order),
        other => other,
    }
}

fn made(
    sentence: &Sentence,
    from: usize,
    end: usize,
    clause: Clause,
    time: Option<usize>,
) -> (Description, usize) {
    let text =
        sentence.pieces[from..end].iter().map(|p| shown(sentence, p)).collect::<Vec<_>>().join(" ");
    let time = time.and_then(|i| sentence.times.get(i)).cloned();
    (Description { text, clause, time }, end - from)
}

fn shown(sentence: &Sentence, piece: &Piece) -> String {
    match piece {
        Piece::Word(word) => word.clone(),
        Piece::Subject(index) => match &sentence.subjects[*index] {
            Subject::Known { text, .. } | Subject::Unknown(text) => text.clone(),
            Subject::Described(inner) => inner.text.clone(),
            _ => "somebody".into(),
        },
        Piece::Time(_) => "then".into(),
        Piece::Quote(index) => format!("\u{201c}{}\u{201d}", sentence.quotes[*index]),
    }
}

fn word_at(sentence: &Sentence, at: usize) -> Option<&str> {
    match sentence.pieces.get(at)? {
        Piece::Word(word) => Some(word),
        _ => None,
    }
}

pub(super) fn ordinal(word: &str) -> Option<Order> {
    Some(match word {
        "first" | "1st" => Order::First,
        "second" | "2nd" => Order::Second,
        "third" | "3rd" => Order::Third,
        "last" | "final" => Order::Last,
        "most" | "longest" => Order::Most,
        "least" | "shortest" => Order::Least,
        _ => return None,
    })
}

type Told = (Clause, Option<usize>, usize);

/// What follows the noun: "who spoke first", "on the left", "with Ava", "in the grey coat", a time.
/// Gives the clause, its time and the first piece after it.
fn relative(sentence: &Sentence, noun: usize, at: usize) -> Option<Told> {
    let word = |i: usize| word_at(sentence, at + i);
    let piece = |i: usize| sentence.pieces.get(at + i);
    if let Some(Piece::Time(time)) = piece(0)
        && !question_ends(sentence, at)
    {
        return Some((Clause::Seen(Order::Any), Some(*time), at + 1));
    }
    match word(0)? {
        "who" | "that" | "which" | "whom" => clause(sentence, noun, at + 1),
        "on" | "at" | "to" | "in" if side(sentence, at).is_some() => {
            let (side, end) = side(sentence, at)?;
            let (time, end) = time_after(sentence, end);
            Some((Clause::Side(side), time, end))
        }
        "with" | "beside" | "near" if matches!(piece(1), Some(Piece::Subject(_))) => {
            companion(sentence, at + 1)
        }
        "next" if word(1) == Some("to") && matches!(piece(2), Some(Piece::Subject(_))) => {
            companion(sentence, at + 2)
        }
        "speaking" | "talking" => {
            let (time, end) = time_after(sentence, at + 1);
            time.is_some().then_some((Clause::Spoke(Order::Any), time, end))
        }
        "visible" | "seen" if matches!(piece(1), Some(Piece::Time(_))) => {
            let (time, end) = time_after(sentence, at + 1);
            Some((Clause::Seen(Order::Any), time, end))
        }
        "saying" => clause(sentence, noun, at),
        "in" | "with" | "wearing" => looks(sentence, at + 1),
        _ => None,
    }
}

fn question_ends(sentence: &Sentence, at: usize) -> bool {
    at + 1 >= sentence.pieces.len()
}

fn companion(sentence: &Sentence, at: usize) -> Option<Told> {
    let Some(Piece::Subject(index)) = sentence.pieces.get(at) else { return None };
    let with = Clause::With(Box::new(sentence.subjects.get(*index)?.clone()));
    let (time, end) = time_after(sentence, at + 1);
    Some((with, time, end))
}

/// A time, taken only when more of the question follows or nothing came before it.
fn time_after(sentence: &Sentence, at: usize) -> (Option<usize>, usize) {
    match sentence.pieces.get(at) {
        Some(Piece::Time(index)) => (Some(*index), at + 1),
        _ => (None, at),
    }
}

fn side(sentence: &Sentence, at: usize) -> Option<(Side, usize)> {
    let word = |i: usize| word_at(sentence, at + i);
    if !matches!(word(0)?, "on" | "at" | "to" | "in") || word(1)? != "the" {
        return None;
    }
    let side = match word(2)? {
        "left" => Side::Left,
        "right" => Side::Right,
        "middle" | "centre" | "center" => Side::Middle,
        _ => return None,
    };
    let tail = usize::from(matches!(word(3), Some("side")));
    let of = if word(3 + tail) == Some("of") && word(4 + tail) == Some("the") { 3 } else { 0 };
    Some((side, at + 3 + tail + of))
}

fn looks(sentence: &Sentence, at: usize) -> Option<Told> {
    let mut words = Vec::new();
    let mut end = at;
    while let Some(word) = word_at(sentence, end) {
        if matches!(word, "the" | "a" | "an" | "her" | "his") && words.is_empty() {
            end += 1;
            continue;
        }
        if super::pieces::is_grammar(word) && !matches!(word, "and") || PREDICATE.contains(&word) {
            break;
        }
        if word != "and" {
            words.push(word.to_owned());
        }
        end += 1;
    }
    (!words.is_empty()).then_some((Clause::Looks(words), None, end))
}

/// The clause after "who".
fn clause(sentence: &Sentence, noun: usize, at: usize) -> Option<Told> {
    let mut at = at;
    let word = |i: usize| word_at(sentence, i);
    let mut order = Order::Any;
    let mut negated = false;
    // Auxiliaries and adverbs before the verb.
    loop {
        match word(at)? {
            "was" | "were" | "is" | "has" | "have" | "had" | "did" | "been" | "you" | "i"
            | "we" | "only" | "ever" | "also" | "are" | "could" | "be" => {
                at += 1;
            }
            "never" | "not" => {
                negated = true;
                at += 1;
            }
            next if ordinal(next).is_some() && word(at + 1).is_some() => {
                order = ordinal(next)?;
                at += 1;
            }
            _ => break,
        }
    }
    let verb = word(at)?;
    let only = (noun..at).any(|i| word(i) == Some("only"));
    let after = at + 1;
    match verb {
        "seen" | "visible" | "see" | "saw" | "shown" if negated => {
            Some((Clause::NeverSeen, None, after))
        }
        "heard" | "hear" if only => Some((Clause::NeverSeen, None, after)),
        "spoke" | "speak" | "spoken" | "say" | "said" | "heard" | "hear" | "talk" | "speaking"
        | "talking"
            if negated =>
        {
            let end = after + usize::from(matches!(word(after), Some("anything" | "a")));
            Some((Clause::NeverSpoke, None, end))
        }
        "silent" | "quiet" => Some((Clause::NeverSpoke, None, after)),
        "alone" => Some(timed(sentence, Clause::Alone, after)),
        "spoke" | "speaks" | "speak" | "talked" | "talks" | "talk" | "speaking" | "talking"
        | "spoken" | "heard" | "hear"
            if matches!(word(after), Some("about" | "of")) =>
        {
            said(sentence, noun, after + 1)
        }
        "spoke" | "speaks" | "talked" | "talks" | "talk" | "speak" | "speaking" | "talking"
        | "spoken" | "heard" | "hear" => {
            if matches!(word(after), Some("to" | "with"))
                && matches!(sentence.pieces.get(after + 1), Some(Piece::Subject(_)))
            {
                return companion(sentence, after + 1);
            }
            Some(ordered(sentence, Clause::Spoke, order, after))
        }
        "seen" | "visible" | "there" | "here" | "see" | "saw" | "present" | "shown" => {
            if matches!(word(after), Some("with" | "together" | "beside")) {
                let skip = if word(after) == Some("together") { 2 } else { 1 };
                if matches!(sentence.pieces.get(after + skip), Some(Piece::Subject(_))) {
                    return companion(sentence, after + skip);
                }
            }
            let after = match word(after) {
                Some("alone") => return Some(timed(sentence, Clause::Alone, after + 1)),
                _ => after,
            };
            Some(ordered(sentence, Clause::Seen, order, after))
        }
        "appeared" | "arrived" | "came" | "entered" | "appears" | "joined" => {
            let particle = usize::from(matches!(word(after), Some("in" | "here" | "up" | "into")));
            Some(ordered(sentence, Clause::Arrived, order, after + particle))
        }
        "left" | "went" | "disappeared" => {
            let particle = usize::from(matches!(word(after), Some("away" | "out" | "home")));
            Some(ordered(sentence, Clause::Left, order, after + particle))
        }
        "said" | "says" | "say" | "mentioned" | "mentions" | "asked" | "told" | "saying"
        | "sang" | "quoted" => {
            if order != Order::Any && sentence.pieces.get(after).is_none() {
                return Some((Clause::Spoke(order), None, after));
            }
            said(sentence, noun, after)
        }
        "with" => companion(sentence, after),
        "on" | "at" | "to" | "in" if side(sentence, at).is_some() => {
            let (side, end) = side(sentence, at)?;
            Some(timed(sentence, Clause::Side(side), end))
        }
        "wore" | "wears" | "wearing" => looks(sentence, after),
        _ => None,
    }
}

fn timed(sentence: &Sentence, clause: Clause, end: usize) -> Told {
    let (time, end) = time_after(sentence, end);
    (clause, time, end)
}

/// "spoke first", "spoke the most", "was seen at 17:30", "was there for the longest time".
fn ordered(
    sentence: &Sentence,
    make: impl Fn(Order) -> Clause,
    mut order: Order,
    mut end: usize,
) -> Told {
    let word = |i: usize| word_at(sentence, i);
    let skip = match (word(end), word(end + 1)) {
        (Some("for"), Some("the")) => 2,
        (Some("the"), _) => 1,
        _ => 0,
    };
    if let Some(found) = word(end + skip).and_then(ordinal)
        && (skip > 0 || order == Order::Any)
    // "the person who spoke first seen?" keeps "first"; "was seen last" does not look further.
    {
        order = found;
        end += skip + 1;
        if matches!(word(end), Some("time" | "often" | "of")) {
            end += 1;
        }
    }
    let (time, end) = time_after(sentence, end);
    (make(order), time, end)
}

/// What was said: the quotation, or the words up to the main predicate.
fn said(sentence: &Sentence, noun: usize, at: usize) -> Option<Told> {
    let mut end = at;
    let mut words = Vec::new();
    let inverted = noun > 0
        && sentence.pieces[..noun].iter().any(
            |p| matches!(p, Piece::Word(w) if matches!(w.as_str(), "did" | "was" | "were" | "is" | "has" | "does" | "often" | "long" | "are" | "have")),
        );
    while let Some(piece) = sentence.pieces.get(end) {
        match piece {
            Piece::Quote(index) => {
                let quote = sentence.quotes.get(*index)?.clone();
                return Some(timed(
                    sentence,
                    Clause::Said { words: Vec::new(), quote: Some(quote) },
                    end + 1,
                ));
            }
            Piece::Time(_) if words.is_empty() => return None,
            Piece::Time(index) => {
                return Some((Clause::Said { words, quote: None }, Some(*index), end + 1));
            }
            Piece::Word(word) => {
                let rest = &sentence.pieces[end..];
                let closes = inverted
                    && !words.is_empty()
                    && rest
                        .iter()
                        .all(|p| !matches!(p, Piece::Word(w) if !PREDICATE.contains(&w.as_str())));
                if closes {
                    break;
                }
                if !super::pieces::is_grammar(word) {
                    words.push(word.clone());
                }
            }
            Piece::Subject(index) => {
                if let Subject::Known { text, .. } | Subject::Unknown(text) =
                    &sentence.subjects[*index]
                {
                    words.push(text.to_lowercase());
                }
            }
        }
        end += 1;
    }
    (!words.is_empty()).then_some((Clause::Said { words, quote: None }, None, end))
}
