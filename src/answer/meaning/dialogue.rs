//! What is said in talk: whom "I" and "you" mean, what was said before it, and fragments made whole by the question that
//! they reply to ("Where are the pills?" – "On the fridge.").

use std::ops::Range;

use compact_str::CompactString;

use crate::language::clause::{Role, Tree, Wanted};
use crate::language::parse::Word;
use crate::time::{Span, Timestamp};

use super::wording::{capitalised, uncapitalised};
use crate::language::lexicon::Lexicon;
use crate::language::text::{Before, Reader, Sentence, Term, Voice, sentences};

/// One turn of talk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// The name of who spoke; `None`: nobody knows.
    pub speaker: Option<String>,
    /// The words.
    pub text: String,
}

/// Of a text that was heard: who spoke, and what was said right before it, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Heard {
    /// The name of who spoke; `None`: nobody knows.
    pub speaker: Option<String>,
    /// What was said right before it, oldest first.
    pub before: Vec<Line>,
}

/// A longer pause ends a talk, seconds.
pub const PAUSE_SECS: f64 = 15.0;
/// So many lines before it are read with an utterance.
const BEFORE: usize = 8;

impl Heard {
    /// The utterance at that place of a talk, its lines in the order of time.
    #[must_use]
    pub fn at(lines: &[(Span, Line)], at: usize) -> Self {
        let pause = |later: usize| lines[later].0.start.secs_since(lines[later - 1].0.end);
        let mut first = at;
        while first > 0 && at - first < BEFORE && pause(first) <= PAUSE_SECS {
            first -= 1;
        }
        let before = lines[first..at].iter().map(|(_, line)| line.clone()).collect();
        Self { speaker: lines[at].1.speaker.clone(), before }
    }
}

/// An utterance, read behind what was said before it.
pub(super) struct Utterance {
    pub(super) sentences: Vec<Sentence>,
    /// Terms of what was said before.
    pub(super) around: Vec<Term>,
    /// The words, made whole.
    pub(super) text: String,
    /// Which of the lines before it replies to.
    pub(super) replies_to: Option<usize>,
    /// The question word of what it replies to, its lemma.
    pub(super) asked: Option<CompactString>,
    /// Somebody had asked why.
    pub(super) is_reason: bool,
}

impl Utterance {
    /// What was told, not heard.
    pub(super) fn told(sentences: Vec<Sentence>, text: &str) -> Self {
        Self {
            sentences,
            around: Vec::new(),
            text: text.to_owned(),
            replies_to: None,
            asked: None,
            is_reason: false,
        }
    }

    pub(super) fn read(reader: &Reader<'_>, heard: &Heard, text: &str, at: Timestamp) -> Self {
        let speaker = heard.speaker.as_deref();
        let whole = whole(reader, &heard.before, speaker, text);
        let is_reason = heard.before.last().is_some_and(|line| {
            line.speaker.as_deref() != speaker && asks_why(&reader.parsed(&line.text))
        });
        let why = heard.before.len().checked_sub(1).filter(|_| is_reason);
        let replies_to = whole.as_ref().map(|(line, _)| *line).or(why);
        let asked = replies_to.and_then(|line| {
            let words = reader.parsed(&heard.before[line].text);
            words.iter().find(|word| word.tag.starts_with('W')).map(|word| word.lemma.clone())
        });
        let text = whole.map_or_else(|| text.to_owned(), |(_, text)| text);
        let (mut before, around) = match points_back(&reader.parsed(&text)) {
            true => read_lines(reader, &heard.before),
            false => (Before::default(), Vec::new()),
        };
        let voice = voice(reader, &heard.before, speaker, &text);
        let sentences = reader.read_after(&mut before, &voice, &text, at);
        Self { sentences, around, text, replies_to, asked, is_reason }
    }
}

/// What lines spoke of, and the terms of the last of them.
fn read_lines(reader: &Reader<'_>, lines: &[Line]) -> (Before, Vec<Term>) {
    let (mut before, mut around) = (Before::default(), Vec::new());
    for (number, line) in lines.iter().enumerate() {
        let (earlier, speaker) = (&lines[..number], line.speaker.as_deref());
        let text = match whole(reader, earlier, speaker, &line.text) {
            Some((_, text)) => text,
            None => line.text.clone(),
        };
        let voice = voice(reader, earlier, speaker, &text);
        let sentences = reader.read_for_names(&mut before, &voice, &text);
        if number + AROUND >= lines.len() {
            around.extend(sentences.into_iter().flat_map(|sentence| sentence.terms));
        }
    }
    (before, around)
}

/// Whether words mean what was spoken of before: by a pronoun, or since they are no sentence.
fn points_back(words: &[Word]) -> bool {
    let lexicon = Lexicon::english();
    let points = |word: &Word| {
        ["he", "she", "things"].iter().any(|list| lexicon.is(list, &word.lemma))
            || lexicon.is("pointing", &word.lemma) && word.tag == "DT"
            || lexicon.is("ones", &word.lemma)
    };
    let is_whole = |range: Range<usize>| words[range].iter().any(Word::is_verb);
    words.iter().any(points) || !sentences(words).into_iter().all(is_whole)
}

/// The words of so many lines before it may stand for its own.
const AROUND: usize = 4;
/// So many lines may lie between a question and what replies to it.
const WAITS: usize = 3;

/// A fragment made whole by the newest question, and which line that is; `None`: it is whole, or nobody asked.
fn whole(
    reader: &Reader<'_>,
    before: &[Line],
    speaker: Option<&str>,
    text: &str,
) -> Option<(usize, String)> {
    let words = reader.parsed(text);
    let is_own = |line: &Line| line.speaker.as_deref() == speaker;
    for (at, line) in before.iter().enumerate().rev().take(WAITS) {
        let is_next = at + 1 == before.len();
        // Nobody replies to oneself, but somebody may put right what another replied.
        if is_next && is_own(line) {
            continue;
        }
        let Some(fragment) = Fragment::of(&words, text, is_next) else { continue };
        let asking = reader.parsed(&line.text);
        let question = Question::of(&line.text, &asking, !is_own(line));
        let question = question.or_else(|| Question::bare(reader, &before[..at], line, speaker));
        let Some(question) = question else { continue };
        if !is_next && !fragment.fits(&asking, &words) {
            return None;
        }
        let told = question.told(&fragment)?;
        let rest = text.get(fragment.end..).unwrap_or("");
        return Some((at, format!("{told}{rest}")));
    }
    None
}

/// The part of a text that is no sentence.
struct Fragment {
    text: String,
    /// Its words, and where they end in the text.
    range: Range<usize>,
    end: usize,
    /// Who does it, where it says no more: "I can".
    is_doer: bool,
    /// A number of what the question counts.
    is_number: bool,
}

impl Fragment {
    /// The first sentence that holds something, if it is none; `of_piece`: or what stands before its first comma.
    fn of(words: &[Word], text: &str, of_piece: bool) -> Option<Self> {
        let holds = |word: &Word| {
            ["NN", "CD", "PRP", "JJ"].iter().any(|tag| word.tag.starts_with(tag))
                || Lexicon::english().is("spots", &word.lemma)
        };
        let mut range = sentences(words)
            .into_iter()
            .find(|range| words[range.clone()].iter().any(|word| holds(word) || word.is_verb()))?;
        // "No, in the shed": what stands before the comma says nothing of it.
        while range.len() > 1 && is_aside(&words[range.start]) {
            range.start += 1;
        }
        if words.get(range.end - 1)?.form == "?" {
            return None;
        }
        let comma = words[range.clone()].iter().position(|word| word.form == ",");
        if let Some(comma) = comma.filter(|_| of_piece) {
            range.end = range.start + comma;
        }
        let inside = &words[range.clone()];
        let said = || inside.iter().filter(|word| word.label != "punct");
        let verbs: Vec<&Word> = inside.iter().filter(|word| word.is_verb()).collect();
        let light = verbs.iter().all(|word| Lexicon::english().is("light", &word.lemma));
        let is_doer = !verbs.is_empty()
            && light
            && said().count() == 1 + verbs.len()
            && said().next().is_some_and(holds);
        let is_fragment = inside.iter().any(holds) && (verbs.is_empty() || is_doer);
        let last = said().next_back()?.span.end;
        let cut = if is_doer { said().next()?.span.end } else { last };
        let first = inside.first()?;
        let text = text.get(first.span.start..cut)?;
        let is_name = first.tag.starts_with("NNP") || first.form == "I";
        let text = if is_name { text.to_owned() } else { uncapitalised(text) };
        let is_number =
            said().all(|word| !word.tag.starts_with("NN")) && said().any(|word| word.tag == "CD");
        is_fragment.then_some(Self { text, range, end: last, is_doer, is_number })
    }

    /// Whether it is what the question asks for.
    fn fits(&self, question: &[Word], words: &[Word]) -> bool {
        let words = &words[self.range.clone()];
        let lexicon = Lexicon::english();
        let has = |tag: &str| words.iter().any(|word| word.tag.starts_with(tag));
        let asked = question.iter().find(|word| word.tag.starts_with('W'));
        match asked.map_or("", |word| word.lemma.as_str()) {
            "where" => words.iter().any(|word| {
                word.label == "prep" && lexicon.is("places", &word.lemma)
                    || lexicon.is("spots", &word.lemma)
            }),
            "when" => has("CD") || has("NNP"),
            "how" => has("CD"),
            _ => false,
        }
    }
}

fn is_aside(word: &Word) -> bool {
    matches!(word.tag.as_str(), "UH" | "," | ":") || word.label == "punct" || word.label == "intj"
}

/// What a fragment may reply to, said as who replies would say it.
struct Question {
    /// The clause without what is asked for.
    rest: String,
    /// What is counted or chosen from: "tins of epoxy".
    counted: String,
    /// The question word is who or what does it.
    of_subject: bool,
}

impl Question {
    /// A whole one; `turned`: somebody else asks it.
    fn of(text: &str, words: &[Word], turned: bool) -> Option<Self> {
        let tree = Tree::new(words);
        let clauses = tree.clauses();
        let (main, Wanted::Part { word: asked, noun, .. }) = tree.wanted(&clauses)? else {
            return None;
        };
        let clause = clauses.get(main)?;
        if !clause.verbs.iter().any(|&at| tree.is_verb(at)) {
            return None;
        }
        let mut top = asked;
        while words[top].head != top && !clause.verbs.contains(&words[top].head) {
            top = words[top].head;
        }
        let phrase = if clause.verbs.contains(&top) { vec![asked] } else { tree.below(top) };
        let root = tree.root(asked);
        let mut bearers = clause.all(&Role::Agent).chain(clause.all(&Role::Object));
        let subject = bearers.find(|at| words[*at].label.starts_with("nsubj"));
        let of_subject = subject.is_none_or(|at| phrase.contains(&at));
        let of_question = |at: &usize| {
            tree.root(*at) == root
                && !phrase.contains(at)
                && !is_aside(&words[*at])
                && words[*at].label != "cc"
        };
        let mut rest: Vec<usize> = (0..words.len()).filter(of_question).collect();
        if let Some(subject) = subject.filter(|_| !of_subject) {
            let front = tree.below(subject);
            rest.sort_by_key(|at| (!front.contains(at), *at));
        }
        let say = |all: &[usize]| {
            let form = |at: &usize| text.get(words[*at].span.clone()).unwrap_or("");
            joined(all.iter().map(form).map(|form| if turned { other(form) } else { form }))
        };
        let counts = |at: &usize| noun.is_some_and(|noun| *at >= noun);
        let counted: Vec<usize> = phrase.iter().copied().filter(counts).collect();
        Some(Self { rest: say(&rest), counted: say(&counted), of_subject })
    }

    /// "How much?", "Since when?": of what was said before it.
    fn bare(
        reader: &Reader<'_>,
        before: &[Line],
        line: &Line,
        speaker: Option<&str>,
    ) -> Option<Self> {
        let words = reader.parsed(&line.text);
        let asks = words.iter().any(|word| word.tag.starts_with('W'));
        let said = before.last().filter(|said| asks && said.speaker != line.speaker)?;
        let told = reader.parsed(&said.text);
        let range = sentences(&told).into_iter().next_back()?;
        let inside = &told[range];
        let asks_too = inside.last().is_some_and(|word| word.form == "?");
        if asks_too || !inside.iter().any(Word::is_verb) {
            return None;
        }
        let is_own = said.speaker.as_deref() == speaker;
        let mut spoken = inside.iter().filter(|word| word.label != "punct");
        let first = spoken.clone().next()?.span.start;
        let last = spoken.next_back()?.span.end;
        let words = said.text.get(first..last)?.split(' ');
        let rest = words.map(|word| if is_own { word } else { other(word) });
        let rest = rest.collect::<Vec<_>>().join(" ");
        Some(Self { rest, counted: String::new(), of_subject: false })
    }

    /// What the fragment says with it.
    fn told(&self, fragment: &Fragment) -> Option<String> {
        let Self { rest, counted, of_subject } = self;
        if fragment.is_doer && !of_subject {
            return None;
        }
        // "What is it for?" – "For the trip."
        let first = fragment.text.split(' ').next().unwrap_or("");
        let front = rest.strip_suffix(first).filter(|front| front.ends_with(' '));
        let rest = front.unwrap_or(rest).trim_end();
        let counted = if fragment.is_number { counted.as_str() } else { "" };
        let told = match of_subject {
            true => format!("{} {counted} {rest}", capitalised(&fragment.text)),
            false => format!("{} {} {counted}", capitalised(rest), fragment.text),
        };
        Some(told.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// "Why not?", "How come?"
fn asks_why(words: &[Word]) -> bool {
    let begins = |at: usize, lemma: &str| words.get(at).is_some_and(|word| word.lemma == lemma);
    let said = words.iter().position(|word| !is_aside(word) && word.label != "cc").unwrap_or(0);
    begins(said, "why") || begins(said, "how") && begins(said + 1, "come")
}

/// Words with a space between, but for what is written together: "it's".
fn joined<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let mut out = String::new();
    for word in words {
        if !out.is_empty() && !word.contains(['\'', '\u{2019}']) {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// A word as the other one would say it: "you" of "I".
fn other(word: &str) -> &str {
    Lexicon::english().turned(&uncapitalised(word)).unwrap_or(word)
}

/// Who speaks, and to whom: to whom the words name in front or at the end, else to who spoke last.
fn voice(reader: &Reader<'_>, before: &[Line], speaker: Option<&str>, text: &str) -> Voice {
    let named = called(text).filter(|name| reader.is_name(name));
    let others = || {
        let last = before.iter().rev().filter_map(|line| line.speaker.as_deref());
        last.clone().find(|one| Some(*one) != speaker).map(str::to_owned)
    };
    let first = |name: &str| name.split(' ').next().unwrap_or("").to_lowercase().into();
    Voice { speaker: speaker.map(first), addressee: named.or_else(others).as_deref().map(first) }
}

/// The word that a comma sets off in front or at the end, in lower case.
fn called(text: &str) -> Option<String> {
    let (first, last) = (text.split_once(',')?.0, text.rsplit_once(',')?.1);
    let word = |piece: &str| {
        let piece = piece.trim_matches(|c: char| !c.is_alphanumeric());
        (!piece.is_empty() && !piece.contains(' ')).then(|| piece.to_lowercase())
    };
    word(first).or_else(|| word(last))
}
