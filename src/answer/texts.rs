//! "What did the sign on the left say?": words in view, out of what was read.
//!
//! A question is one of these when it names what carries words (a sign, a label, a display), or asks what is written or was
//! read. The rest of its words choose among the texts; where none fits, nothing is answered, only told what was read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::geometry::third;
use crate::ids::{SessionId, SourceId, TrackId};
use crate::language::Language;
use crate::language::parse::Word;
use crate::memory::model::TextTrackRow;
use crate::memory::{PerceptFilter, is_kin, stems};
use crate::time::Span;

use super::question::{self, Parsed, Subject, is, is_asking, is_grammar};
use super::reading::{GATHERED, Reading, hull, touch};
use super::reply::Reply;
use super::wording::{list, sentence};

/// Texts told in one answer, at most.
const TOLD: usize = 8;
/// The same words of one camera read again within so long hung there all the while, seconds.
const STAY_SECS: f64 = 600.0;
/// Words that are quoted may differ from what was read in this share of letters.
const MAY_DIFFER: f64 = 0.25;
/// A telephone number has so many digits at least.
const PHONE_DIGITS: usize = 6;

/// A text, from the first look that read it to the last.
struct Text {
    says: String,
    source: SourceId,
    span: Span,
    side: Side,
    confidence: f32,
    /// What its first look left.
    row: Arc<TextTrackRow>,
}

/// A third of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Middle,
    Right,
}

impl Side {
    /// With the list of words that name it.
    const ALL: [(Self, &str, &str); 3] = [
        (Self::Left, "left_side", "on the left"),
        (Self::Middle, "middle", "in the middle"),
        (Self::Right, "right_side", "on the right"),
    ];

    fn of(row: &TextTrackRow) -> Self {
        let share = row.track.place.centre().x / row.track.picture.0.max(1) as f32;
        Self::ALL[third(share)].0
    }

    fn words(self) -> &'static str {
        Self::ALL.iter().find(|(side, ..)| *side == self).map_or("", |(.., words)| words)
    }
}

/// What of texts is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Words,
    Whether,
    When,
    Where,
    Count,
}

/// A question about words in view.
#[derive(Debug)]
struct Question {
    wanted: Wanted,
    /// What the sign is said to say.
    quoted: Option<String>,
    /// What it is about: stems.
    about: Vec<String>,
    /// A telephone number is asked for.
    is_phone: bool,
    side: Option<Side>,
    first: bool,
    last: bool,
}

/// The reply to a question about words in view; `None` of others, and where none were ever read.
pub(super) fn asked(
    reading: &Reading,
    language: Option<&Language>,
    text: &str,
    parsed: &Parsed,
) -> Option<Reply> {
    let about_somebody = |one: &Subject| matches!(one, Subject::Known { .. });
    if parsed.subjects.iter().any(about_somebody) {
        return None;
    }
    let text = &text[..text.floor_char_boundary(question::MAX_BYTES)];
    let question = Question::read(language?, text, parsed)?;
    let all = texts(reading);
    (!all.is_empty()).then(|| question.reply(reading, all))
}

/// What was read in the times that are asked, by start.
fn texts(reading: &Reading) -> Vec<Text> {
    // What hangs somewhere was read before the time that is asked, perhaps.
    let span = reading.spans.as_deref().and_then(hull);
    let span = span.map(|span| Span::new(span.start.plus_secs(-STAY_SECS), span.end));
    let rows = reading.view.text_tracks(&PerceptFilter { span, ..PerceptFilter::default() });
    let mut tracks: Vec<Text> = Vec::new();
    let mut begun: BTreeMap<(SessionId, TrackId), usize> = BTreeMap::new();
    for row in rows.into_iter().filter(|row| row.track.span.start <= reading.now()) {
        let track = &row.track;
        let known = begun.get(&(row.clip.session, track.id)).and_then(|at| tracks.get_mut(*at));
        if let Some(text) = known {
            text.span.end = text.span.end.max(track.span.end);
            text.says.clone_from(&track.text);
            text.confidence = track.confidence;
            continue;
        }
        begun.insert((row.clip.session, track.id), tracks.len());
        tracks.push(Text {
            says: track.text.clone(),
            source: track.source.clone(),
            span: track.span,
            side: Side::of(&row),
            confidence: track.confidence,
            row: Arc::clone(&row),
        });
    }
    let mut found: Vec<Text> = Vec::new();
    // Of the same words of one camera the newest: they come by start.
    let mut newest: BTreeMap<(SourceId, String), usize> = BTreeMap::new();
    for text in tracks {
        let key = (text.source.clone(), letters(&text.says));
        let known = newest.get(&key).and_then(|at| found.get_mut(*at));
        match known.filter(|known| text.span.start.secs_since(known.span.end) <= STAY_SECS) {
            Some(known) => known.span.end = known.span.end.max(text.span.end),
            None => {
                newest.insert(key, found.len());
                found.push(text);
            }
        }
    }
    if let Some(spans) = reading.spans.as_deref() {
        found.retain(|text| spans.iter().any(|span| touch(*span, text.span)));
    }
    found
}

impl Question {
    /// `None`: it is about something else.
    fn read(language: &Language, text: &str, parsed: &Parsed) -> Option<Self> {
        let words = language.parse(text, &|_| false);
        let noun = |word: &Word| word.tag.starts_with("NN");
        let sign = words.iter().position(|word| noun(word) && is("signs", &word.lemma));
        if sign.is_some_and(|at| is_spoken_of(&words, at)) {
            return None;
        }
        let lettered = words.iter().position(|word| {
            word.tag == "VBN" && is("lettered", &word.lemma)
                || word.is_verb() && is("robot_reads", &word.lemma) && reads_itself(&words)
        });
        if sign.is_none() && lettered.is_none() {
            return None;
        }
        let quote = parsed.quotes.first().cloned();
        let literal = sign.and_then(|at| saying(&words, at));
        let until = match (&quote, literal) {
            (None, Some(from)) => from,
            _ => words.len(),
        };
        let quoted = quote.or_else(|| {
            let from = words.get(literal?)?.span.start;
            let said = text[from..].trim_matches(|c: char| !c.is_alphanumeric());
            (!said.is_empty()).then(|| said.to_owned())
        });
        let timed =
            |word: &Word| parsed.times.iter().any(|time| time.range.contains(&word.span.start));
        let open: Vec<&Word> =
            words[..until].iter().filter(|word| quoted_holds_not(&quoted, word)).collect();
        let matter = |word: &&&Word| {
            let lists = ["signs", "lettered", "robot_reads", "left_side", "right_side", "middle"];
            let kind = ["NN", "JJ", "CD", "VB", "FW"].iter().any(|tag| word.tag.starts_with(tag));
            let form = word.form.to_lowercase();
            kind && !timed(word)
                && !is_asking(&word.lemma)
                && !is_asking(&form)
                && !is_grammar(&form)
                && !lists.iter().any(|list| is(list, &word.lemma) || is(list, &form))
        };
        let about: Vec<&&Word> = open.iter().filter(matter).collect();
        let is_phone = about.iter().any(|word| is("phones", &word.lemma));
        let about = about.into_iter().filter(|word| !is("phones", &word.lemma));
        let has = |list: &str| {
            open.iter().any(|word| {
                !timed(word) && (is(list, &word.lemma) || is(list, &word.form.to_lowercase()))
            })
        };
        let side = Side::ALL.iter().find(|(_, list, _)| has(list)).map(|(side, ..)| *side);
        Some(Self {
            wanted: wanted(&words),
            quoted,
            about: about.flat_map(|word| stems(&word.lemma)).collect(),
            is_phone,
            side,
            first: has("first"),
            last: has("last"),
        })
    }

    /// How many of the question's words a text holds; `None`: it is another one.
    fn fits(&self, text: &Text) -> Option<usize> {
        if self.side.is_some_and(|side| side != text.side) {
            return None;
        }
        if self.is_phone && text.says.chars().filter(char::is_ascii_digit).count() < PHONE_DIGITS {
            return None;
        }
        if let Some(quoted) = &self.quoted {
            let (said, read) = (letters(quoted), letters(&text.says));
            let most = MAY_DIFFER * said.chars().count().max(read.chars().count()) as f64;
            let near = strsim::levenshtein(&said, &read) as f64 <= most;
            return (near || !said.is_empty() && read.contains(&said)).then_some(0);
        }
        let mut held = stems(&text.says);
        held.extend(stems(&text.source.as_str().replace(['_', '-', '/'], " ")));
        let holds = |word: &&String| held.iter().any(|one| is_kin(word, one));
        let held = self.about.iter().filter(holds).count();
        (held > 0 || self.about.is_empty()).then_some(held)
    }

    fn reply(&self, reading: &Reading, all: Vec<Text>) -> Reply {
        let fits: Vec<Option<usize>> = all.iter().map(|text| self.fits(text)).collect();
        let Some(best) = fits.iter().flatten().max().copied() else {
            return unknown(reading, &all);
        };
        let mut chosen: Vec<&Text> = all
            .iter()
            .zip(&fits)
            .filter(|(_, fit)| **fit == Some(best))
            .map(|(text, _)| text)
            .collect();
        if self.first {
            chosen.truncate(1);
        } else if self.last {
            chosen.drain(..chosen.len() - 1);
        }
        let told = match self.wanted {
            Wanted::Words => said(reading, &chosen),
            Wanted::Whether => format!("yes, {}", said(reading, &chosen)),
            Wanted::When => when(reading, &chosen),
            Wanted::Where => {
                let place = |text: &&Text| format!("{} was {}", quoted(text), place(text));
                let places: Vec<String> = chosen.iter().take(TOLD).map(place).collect();
                format!("{}.", list(&places))
            }
            Wanted::Count => format!("{}: {}", chosen.len(), said(reading, &chosen)),
        };
        let evidence = chosen.iter().take(GATHERED);
        let evidence =
            evidence.map(|text| reading.read_evidence(&text.row, text.span, text.confidence));
        Reply::known(sentence(&told), Vec::new(), evidence.collect())
    }
}

/// Nothing that was read fits; what was read is told all the same.
fn unknown(reading: &Reading, all: &[Text]) -> Reply {
    let newest = &all[all.len().saturating_sub(TOLD)..];
    let newest: Vec<&Text> = newest.iter().collect();
    let told = said(reading, &newest);
    Reply::unknown(&format!("I don't know: I read nothing like that; what comes nearest: {told}"))
}

/// "I read “Push to open” on the left in view of door at 17:30:02."
fn said(reading: &Reading, texts: &[&Text]) -> String {
    let one = |text: &&Text| {
        format!("{} {} {}", quoted(text), place(text), reading.wording.at(text.span.start))
    };
    let all: Vec<String> = texts.iter().take(TOLD).map(one).collect();
    let more = texts.len().saturating_sub(TOLD);
    let more = if more > 0 { format!(" And {more} more.") } else { String::new() };
    format!("I read {}.{more}", list(&all))
}

fn when(reading: &Reading, texts: &[&Text]) -> String {
    let one = |text: &&Text| format!("{} {}", quoted(text), reading.wording.stretch(text.span));
    let all: Vec<String> = texts.iter().take(TOLD).map(one).collect();
    format!("I read {}.", list(&all))
}

fn quoted(text: &Text) -> String {
    format!("\u{201c}{}\u{201d}", text.says)
}

fn place(text: &Text) -> String {
    format!("{} in view of {}", text.side.words(), text.source)
}

/// Letters and digits, lower case: spaces between words are read or not.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a word is no part of what is quoted.
fn quoted_holds_not(quoted: &Option<String>, word: &Word) -> bool {
    let held = |quoted: &String| letters(quoted).contains(&letters(&word.form));
    !quoted.as_ref().is_some_and(held)
}

/// "What did Ben say about the sign?" asks for his words.
fn is_spoken_of(words: &[Word], sign: usize) -> bool {
    let head = words[sign].head;
    let verb = words.get(head).map_or(head, |word| word.head);
    is("about", &words[head].lemma) && words.get(verb).is_some_and(|verb| is("said", &verb.lemma))
}

/// "What did you read?"
fn reads_itself(words: &[Word]) -> bool {
    words.iter().any(|word| word.lemma == "you" && word.label.starts_with("nsubj"))
}

/// Where the words begin that a sign is said to say: "a sign that says wet floor", "the sign saying wet floor".
fn saying(words: &[Word], sign: usize) -> Option<usize> {
    let says = |at: usize| {
        let word = words.get(at)?;
        let is_relative =
            matches!(word.tag.as_str(), "WDT" | "WP" | "IN") && is("relative", &word.lemma);
        let verb = at + usize::from(is_relative);
        let says = words.get(verb)?;
        let is_said = is("said", &says.lemma)
            || is("robot_reads", &says.lemma)
            || is("lettered", &says.lemma);
        (says.is_verb() && is_said && (is_relative || says.tag == "VBG")).then_some(verb + 1)
    };
    says(sign + 1).filter(|from| *from < words.len())
}

fn wanted(words: &[Word]) -> Wanted {
    let form = |at: usize| {
        words.get(at).map_or_else(String::new, |word| word.form.as_str().to_lowercase())
    };
    let asks = words.iter().take(3).any(|word| word.tag.starts_with('W'));
    match (form(0).as_str(), form(1).as_str()) {
        ("how", "many") => Wanted::Count,
        ("when", _) => Wanted::When,
        ("where", _) => Wanted::Where,
        _ if asks || !words.first().is_some_and(Word::is_verb) => Wanted::Words,
        _ => Wanted::Whether,
    }
}
