//! The words of a question with names, times and quotations folded into single pieces.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::ids::{EntityId, EntityKind};
use crate::names::{PLAIN_NAMES, is_title};
use crate::recall::lexer::{Token, quoted_ranges, tokens};
use crate::recall::time_expr::TimeExpr;

use super::Subject;
use super::words::listed;
use crate::answer::phrase::is_determiner;

/// Words of a name behind its title, at most.
const LONGEST_BEHIND_TITLE: usize = 3;
/// Nouns of things that have a number for a name.
const NUMBERED: &str = "area bay bed block box building bus cabin case chapter class corridor crate desk door dock exit flat \
    flight floor form gate grade group hall house lab lane level line locker number page pier platform pool rack \
    road room route row seat section sector shelf showcase site stage stall stand station street studio table team \
    terminal tower track train tram unit ward year zone";

/// A word, or something that counts as one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// A plain word, lower case.
    Word(String),
    /// Somebody: index into [`Sentence::subjects`].
    Subject(usize),
    /// A time: index into [`Sentence::times`].
    Time(usize),
    /// A quotation: index into [`Sentence::quotes`].
    Quote(usize),
}

/// A question as pieces.
#[derive(Clone, Debug)]
pub(super) struct Sentence {
    pub(super) pieces: Vec<Piece>,
    pub(super) subjects: Vec<Subject>,
    pub(super) times: Vec<TimeExpr>,
    pub(super) quotes: Vec<String>,
}

impl Sentence {
    pub(super) fn read(
        text: &str,
        times: Vec<TimeExpr>,
        name: &dyn Fn(&str) -> Option<EntityId>,
    ) -> Self {
        let words = tokens(text);
        let quoted: Vec<_> =
            quoted_ranges(text).into_iter().filter(|range| !range.is_empty()).collect();
        let mut sentence =
            Self { pieces: Vec::new(), subjects: Vec::new(), times, quotes: Vec::new() };
        let mut at = 0;
        let mut last_time = None;
        while at < words.len() {
            let token = &words[at];
            if let Some(range) =
                quoted.iter().find(|q| q.start <= token.range.start && token.range.end <= q.end)
            {
                sentence.pieces.push(Piece::Quote(sentence.quotes.len()));
                sentence.quotes.push(text[range.clone()].trim().to_owned());
                while words.get(at).is_some_and(|t| t.range.end <= range.end) {
                    at += 1;
                }
                continue;
            }
            let time = sentence.times.iter().position(|t| t.range.contains(&token.range.start));
            if let Some(time) = time {
                if last_time != Some(time) {
                    sentence.pieces.push(Piece::Time(time));
                    last_time = Some(time);
                }
                at += 1;
                continue;
            }
            if let Some((subject, taken, possessive)) = somebody(&words, at, name) {
                sentence.push_subject(subject);
                if possessive {
                    sentence.pieces.push(Piece::Word("'s".into()));
                }
                at += taken;
                continue;
            }
            sentence.push_word(token);
            at += 1;
        }
        sentence
    }

    fn push_subject(&mut self, subject: Subject) {
        self.pieces.push(Piece::Subject(self.subjects.len()));
        self.subjects.push(subject);
    }

    fn push_word(&mut self, token: &Token) {
        match token.word.as_str() {
            "anybody" | "anyone" | "somebody" | "someone" | "everybody" | "everyone" => {
                self.push_subject(Subject::Anybody);
                return;
            }
            _ => {}
        }
        for word in expanded(&token.word) {
            self.pieces.push(Piece::Word(word.to_owned()));
        }
    }
}

/// Contractions written out.
fn expanded(word: &str) -> Vec<&str> {
    match word {
        "can't" => return vec!["can", "not"],
        "won't" => return vec!["will", "not"],
        "i'm" => return vec!["i", "am"],
        _ => {}
    }
    if let Some(verb) = word.strip_suffix("n't") {
        return vec![verb, "not"];
    }
    for (suffix, full) in [("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'d", "did")] {
        if let Some(head) = word.strip_suffix(suffix) {
            return vec![head, full];
        }
    }
    match word.strip_suffix("'s") {
        Some(
            head @ ("who" | "what" | "where" | "when" | "how" | "there" | "it" | "that" | "he"
            | "she" | "here"),
        ) => {
            vec![head, "is"]
        }
        Some(head) => vec![head, "'s"],
        None => vec![word],
    }
}

/// A name or id from `at` on: whom it means, tokens taken, and whether it stands in the genitive.
fn somebody(
    words: &[Token],
    at: usize,
    name: &dyn Fn(&str) -> Option<EntityId>,
) -> Option<(Subject, usize, bool)> {
    for count in (1..=3.min(words.len() - at)).rev() {
        let run = &words[at..at + count];
        // The full stop of "Dr. Novak" ends nothing.
        if run[..count - 1].iter().any(|t| t.stop && !is_title(&t.word)) {
            continue;
        }
        let joined = run.iter().map(|t| t.word.as_str()).collect::<Vec<_>>().join(" ");
        let (bare, possessive) = match joined
            .strip_suffix("'s")
            .or_else(|| joined.strip_suffix("s'").filter(|_| count == 1))
        {
            Some(bare) => (bare.to_owned(), true),
            None => (joined.clone(), false),
        };
        if count == 1 && !may_be_name(words, at, &bare) {
            continue;
        }
        if let Some(id) = name(&bare) {
            let text = run.iter().map(|t| t.word.as_str()).collect::<Vec<_>>().join(" ");
            return Some((
                Subject::Known { id, text: text.trim_end_matches("'s").to_owned() },
                count,
                possessive,
            ));
        }
    }
    numbered(words, at, name).or_else(|| titled(words, at)).or_else(|| unknown_name(words, at))
}

/// "Mrs Miller", "Dr. Anna Hart": the title belongs to the name, which nobody bears with that title.
fn titled(words: &[Token], at: usize) -> Option<(Subject, usize, bool)> {
    let title = words.get(at).filter(|token| token.capital && is_title(&token.word))?;
    let mut name = original_case(title, &title.word);
    let (mut taken, mut possessive) = (1, false);
    while taken <= LONGEST_BEHIND_TITLE
        && !possessive
        && let Some(token) = words.get(at + taken)
    {
        let word = token.word.trim_end_matches("'s");
        let named = token.capital && !is_grammar(word) && !is_title(word);
        let ended = taken > 1 && (words[at + taken - 1].stop || is_calendar(word));
        if !named || ended || expanded(word).len() > 1 {
            break;
        }
        name = format!("{name} {}", original_case(token, word));
        possessive = token.word.ends_with("'s");
        taken += 1;
    }
    (taken > 1 && !is_shouted(words)).then_some((Subject::Unknown(name), taken, possessive))
}

/// Whether most words begin with a capital, though they need not: then it tells no name.
fn is_shouted(words: &[Token]) -> bool {
    let needs_none =
        |token: &&Token| token.capital && !is_calendar(&token.word) && !is_title(&token.word);
    let capitals = words.iter().skip(1).filter(needs_none).count();
    capitals * 2 > words.len() && words.len() > 3
}

/// "Class 2a", "Room 4", "Ward B": the name of a thing.
fn is_numbered_thing(words: &[Token], at: usize) -> bool {
    let number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let next = words.get(at + 1).filter(|_| !words[at].stop && listed(NUMBERED, &words[at].word));
    next.is_some_and(|next| number(&next.word) || next.capital && next.word.chars().count() == 1)
}

/// Names that are plain words, too, must be written with a capital, and not at the head.
fn may_be_name(words: &[Token], at: usize, bare: &str) -> bool {
    let plain = PLAIN_NAMES.contains(&bare) || is_grammar(bare);
    !plain || (words[at].capital && at > 0)
}

/// "person 4", "person number 4", "unknown person 4", "person_4".
fn numbered(
    words: &[Token],
    at: usize,
    name: &dyn Fn(&str) -> Option<EntityId>,
) -> Option<(Subject, usize, bool)> {
    let skip = usize::from(matches!(words[at].word.as_str(), "unknown" | "unnamed" | "the"));
    let word = |i: usize| words.get(at + i).map(|t| t.word.trim_end_matches("'s"));
    let possessive = |i: usize| words.get(at + i).is_some_and(|t| t.word.ends_with("'s"));
    let first = word(skip)?;
    if let Ok(id) = first.parse::<EntityId>()
        && first.contains('_')
    {
        let subject = match name(first) {
            Some(id) => Subject::Known { id, text: first.to_owned() },
            None => Subject::Unknown(id.to_string()),
        };
        return Some((subject, skip + 1, possessive(skip)));
    }
    let kind = EntityKind::ALL
        .into_iter()
        .find(|kind| kind.word() == first && *kind != EntityKind::Robot)?;
    let number_word =
        usize::from(word(skip + 1).is_some_and(|w| matches!(w, "number" | "no" | "nr")));
    let number: u32 = word(skip + 1 + number_word)?.parse().ok()?;
    let id = EntityId::new(kind, number).to_string();
    let subject = match name(&id) {
        Some(known) => Subject::Known { id: known, text: format!("{first} {number}") },
        None => Subject::Unknown(format!("{first} {number}")),
    };
    Some((subject, skip + 2 + number_word, possessive(skip + 1 + number_word)))
}

/// A capitalised word inside the sentence that nobody bears.
fn unknown_name(words: &[Token], at: usize) -> Option<(Subject, usize, bool)> {
    let token = words.get(at)?;
    let word = token.word.trim_end_matches("'s");
    // "the Doctor", "our Captain"
    let office = is_title(word) && at > 0 && is_determiner(&words[at - 1].word);
    if at == 0
        || !token.capital
        || is_shouted(words)
        || office
        || is_numbered_thing(words, at)
        || word.chars().count() < 2
        || is_grammar(word)
        || is_calendar(word)
        || expanded(word).len() > 1
    {
        return None;
    }
    if words[at - 1].stop && words[at - 1].word.chars().count() > 1 && starts_sentence(words, at) {
        return None;
    }
    let original = original_case(token, word);
    Some((Subject::Unknown(original), 1, token.word.ends_with("'s")))
}

/// A question word after a full stop is no name.
fn starts_sentence(words: &[Token], at: usize) -> bool {
    is_grammar(&words[at].word) || expanded(&words[at].word).len() > 1
}

fn original_case(token: &Token, word: &str) -> String {
    let mut chars = word.chars();
    match chars.next() {
        Some(first) if token.capital => first.to_uppercase().chain(chars).collect(),
        _ => word.to_owned(),
    }
}

pub(super) fn is_calendar(word: &str) -> bool {
    matches!(
        word,
        "monday"
            | "tuesday"
            | "wednesday"
            | "thursday"
            | "friday"
            | "saturday"
            | "sunday"
            | "january"
            | "february"
            | "march"
            | "april"
            | "may"
            | "june"
            | "july"
            | "august"
            | "september"
            | "october"
            | "november"
            | "december"
            | "am"
            | "pm"
            | "utc"
            | "gmt"
            | "english"
            | "christmas"
            | "easter"
            | "xmas"
            | "halloween"
            | "thanksgiving"
            | "pentecost"
            | "passover"
            | "ramadan"
            | "hanukkah"
            | "diwali"
            | "tv"
            | "ok"
            | "robot"
            | "engram"
    )
}

/// Words that hold a sentence together: never names, never content.
pub(super) fn is_grammar(word: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        "a about above after again ago all also always am an and another any anything anywhere are around as ask asked \
         asks at away be because been before being beside besides between both but by call called can come could count \
         describe did do does doing done during each either else ever every everything exactly far find first for from \
         gave get give go going got had has have having he hear heard hello her here hers hey hi him his how i if in into \
         is it its just know known last let like list long man many me mention mentioned mentions mine more most much my \
         name never next no nobody not nothing now of off often on once one only or other others our out over own people \
         person persons please quote recently remember said same saw say saying says see seen she should show since so \
         some something somewhere speak speaking speaks spoke spoken still such summarise summarize talk talked talking \
         talks tell than that the their them then there these they this those through time times to today together told \
         tomorrow too under until up us very visible was we were what when where which while who whom whose why will with \
         woman word words would yesterday you your yours 's"
            .split_whitespace()
            .collect()
    });
    WORDS.contains(word)
}
