//! Text to words as the model was trained on: spaces, then what sticks to a word in front, behind and within; and the
//! model's own list of contractions and abbreviations.

use std::collections::HashMap;
use std::ops::Range;

use super::hash;
use super::weights::{Value, WeightsError};

/// Attributes of an exception in the model's file: the word as written, its normal form.
const ORTH: u64 = 65;
const NORM: u64 = 67;

/// One word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// As written.
    pub form: String,
    /// Normal form: lower case, one spelling, "n't" as "not".
    pub norm: String,
    /// Bytes of the text.
    pub span: Range<usize>,
    /// A space stands behind it.
    pub space: bool,
}

/// Spellings that are one to the model, whatever its table says.
const NORMS: &[(&str, &str)] = &[
    ("'s", "'s"),
    ("'S", "'s"),
    ("’s", "'s"),
    ("’S", "'s"),
    ("’", "'"),
    ("‘", "'"),
    ("´", "'"),
    ("`", "'"),
    ("”", "\""),
    ("“", "\""),
    ("''", "\""),
    ("``", "\""),
    ("´´", "\""),
    ("„", "\""),
    ("»", "\""),
    ("«", "\""),
    ("‘‘", "\""),
    ("’’", "\""),
    ("…", "..."),
    ("—", "-"),
    ("–", "-"),
    ("--", "-"),
    ("---", "-"),
    ("——", "-"),
    ("€", "$"),
    ("£", "$"),
    ("¥", "$"),
    ("฿", "$"),
    ("US$", "$"),
    ("C$", "$"),
    ("A$", "$"),
    ("₺", "$"),
    ("₹", "$"),
    ("৳", "$"),
    ("₩", "$"),
    ("Mex$", "$"),
    ("₣", "$"),
    ("E£", "$"),
];

/// Units that come off a number.
const UNITS: &[&str] = &[
    "km", "km²", "km³", "m", "m²", "m³", "dm", "dm²", "dm³", "cm", "cm²", "cm³", "mm", "mm²",
    "mm³", "ha", "µm", "nm", "yd", "in", "ft", "kg", "g", "mg", "µg", "t", "lb", "oz", "m/s",
    "km/h", "mph", "hPa", "Pa", "mbar", "mb", "MB", "kb", "KB", "gb", "GB", "tb", "TB", "T", "G",
    "M", "K", "%",
];

/// Parts of words that are written in one: form, and normal form where it is another.
type Exceptions = HashMap<String, Vec<(String, Option<String>)>>;

/// Cuts text into [`Token`]s.
#[derive(Debug)]
pub struct Tokenizer {
    exceptions: Exceptions,
    /// By the number of the form.
    norms: HashMap<u64, String>,
}

impl Tokenizer {
    /// From the bytes of `tokenizer` and `vocab/lookups.bin`.
    ///
    /// # Errors
    /// They are no such files.
    pub fn read(rules: &[u8], lookups: &[u8]) -> Result<Self, WeightsError> {
        let exceptions =
            read_exceptions(rules).map_err(|why| WeightsError { file: "tokenizer", why })?;
        let norms =
            read_norms(lookups).map_err(|why| WeightsError { file: "vocab/lookups.bin", why })?;
        Ok(Self { exceptions, norms })
    }

    /// The words of the text, in order. White space is no word.
    #[must_use]
    pub fn tokens(&self, text: &str) -> Vec<Token> {
        let mut out = Vec::new();
        let mut at = 0;
        for piece in text.split_inclusive(char::is_whitespace) {
            let word = piece.trim_end_matches(char::is_whitespace);
            if word.is_empty() {
                if let Some(last) = out.last_mut().filter(|_| !piece.is_empty()) {
                    let last: &mut Token = last;
                    last.space = true;
                }
            } else {
                self.cut(text, at..at + word.len(), &mut out);
                if let Some(last) = out.last_mut() {
                    last.space = word.len() < piece.len();
                }
            }
            at += piece.len();
        }
        out
    }

    fn cut(&self, text: &str, mut span: Range<usize>, out: &mut Vec<Token>) {
        let mut behind = Vec::new();
        loop {
            let rest = &text[span.clone()];
            if rest.is_empty() || self.exceptions.contains_key(rest) {
                break;
            }
            let front = prefix(rest);
            if front > 0 && front < rest.len() && self.exceptions.contains_key(&rest[front..]) {
                out.push(self.token(text, span.start..span.start + front));
                span.start += front;
                break;
            }
            let back = suffix(&rest[front..]);
            if back > 0
                && back < rest.len()
                && self.exceptions.contains_key(&rest[..rest.len() - back])
            {
                behind.push(span.end - back..span.end);
                span.end -= back;
                break;
            }
            if front + back == 0 {
                break;
            }
            if front > 0 {
                out.push(self.token(text, span.start..span.start + front));
                span.start += front;
            }
            if back > 0 {
                behind.push(span.end - back..span.end);
                span.end -= back;
            }
        }
        self.middle(text, span, out);
        out.extend(behind.into_iter().rev().map(|span| self.token(text, span)));
    }

    /// What is left when nothing sticks to it any more.
    fn middle(&self, text: &str, span: Range<usize>, out: &mut Vec<Token>) {
        let word = &text[span.clone()];
        if word.is_empty() {
            return;
        }
        if let Some(parts) = self.exceptions.get(word) {
            let mut at = span.start;
            for (form, norm) in parts {
                let mut token = self.token(text, at..at + form.len());
                if let Some(norm) = norm {
                    norm.clone_into(&mut token.norm);
                }
                at += form.len();
                out.push(token);
            }
            return;
        }
        if is_address(word) {
            out.push(self.token(text, span));
            return;
        }
        let mut from = 0;
        for infix in infixes(word) {
            if infix.start > from {
                out.push(self.token(text, span.start + from..span.start + infix.start));
            }
            out.push(self.token(text, span.start + infix.start..span.start + infix.end));
            from = infix.end;
        }
        if from < word.len() {
            out.push(self.token(text, span.start + from..span.end));
        }
    }

    fn token(&self, text: &str, span: Range<usize>) -> Token {
        let form = text[span.clone()].to_owned();
        let norm = self.norms.get(&hash::of_string(&form)).cloned().unwrap_or_else(|| {
            NORMS
                .iter()
                .find(|(written, _)| *written == form)
                .map_or_else(|| form.to_lowercase(), |(_, norm)| (*norm).into())
        });
        Token { form, norm, span, space: false }
    }
}

fn read_exceptions(bytes: &[u8]) -> Result<Exceptions, String> {
    let file = Value::read(bytes)?;
    let entries =
        file.get("exceptions").and_then(Value::map).ok_or("it has no map `exceptions`")?;
    let mut out = HashMap::new();
    for (word, parts) in entries {
        let word = word.text().ok_or("an exception that is no text")?;
        let parts: Vec<_> = parts
            .list()
            .unwrap_or_default()
            .iter()
            .filter_map(|part| {
                let attribute = |number| {
                    part.map()?
                        .iter()
                        .find(|(key, _)| key.number() == Some(number))
                        .and_then(|(_, v)| v.text())
                };
                Some((attribute(ORTH)?.to_owned(), attribute(NORM).map(str::to_owned)))
            })
            .collect();
        if parts.iter().map(|(form, _)| form.as_str()).collect::<String>() != word {
            return Err(format!("the parts of `{word}` are not the word"));
        }
        out.insert(word.to_owned(), parts);
    }
    Ok(out)
}

fn read_norms(bytes: &[u8]) -> Result<HashMap<u64, String>, String> {
    let file = Value::read(bytes)?;
    let entries =
        file.get("lexeme_norm").and_then(Value::map).ok_or("it has no map `lexeme_norm`")?;
    entries
        .iter()
        .map(|(key, norm)| match (key.number(), norm.text()) {
            (Some(key), Some(norm)) => Ok((key, norm.to_owned())),
            _ => Err("a norm that is no text under a number".to_owned()),
        })
        .collect()
}

/// Marks that come off in front and behind.
fn is_mark(letter: char) -> bool {
    is_symbol(letter) || "…,:;!?¿¡()[]{}<>_#*&·'\"”“`‘´’‚„»«$£€¥₹".contains(letter)
}

/// Signs and pictures, which never belong to a word.
fn is_symbol(letter: char) -> bool {
    matches!(letter, '\u{2100}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' | '°' | '©' | '®' | '¦')
        && !letter.is_alphanumeric()
}

/// Bytes that come off in front.
fn prefix(word: &str) -> usize {
    let Some(first) = word.chars().next() else { return 0 };
    let dots = word.len() - word.trim_start_matches('.').len();
    if dots >= 2 {
        return dots;
    }
    let next_is_digit = word[first.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
    match first {
        '§' | '%' | '=' | '—' | '–' => first.len_utf8(),
        '+' if !next_is_digit => 1,
        _ if is_mark(first) => first.len_utf8(),
        _ => 0,
    }
}

/// Bytes that come off behind.
fn suffix(word: &str) -> usize {
    let Some(last) = word.chars().next_back() else { return 0 };
    let dots = word.len() - word.trim_end_matches('.').len();
    if dots >= 2 {
        return dots;
    }
    for ending in ["'s", "'S", "’s", "’S"] {
        if word.ends_with(ending) {
            return ending.len();
        }
    }
    let before = &word[..word.len() - last.len_utf8()];
    let mut two = before.chars().rev();
    let (one, other) = (two.next(), two.next());
    match last {
        '—' | '–' => last.len_utf8(),
        '+' if one.is_some_and(|c| c.is_ascii_digit()) => 1,
        '.' => usize::from(
            one.is_some_and(|c| {
                c.is_numeric() || c.is_lowercase() || "%²-+".contains(c) || is_mark(c)
            }) || one.is_some_and(char::is_uppercase) && other.is_some_and(char::is_uppercase),
        ),
        _ if is_mark(last) => last.len_utf8(),
        _ => UNITS
            .iter()
            .filter(|unit| {
                word.strip_suffix(**unit)
                    .is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_digit()))
            })
            .map(|unit| unit.len())
            .max()
            .unwrap_or(0),
    }
}

/// Marks within a word that part it: "ten–twelve", "left.Then", "and/or", "well-known".
fn infixes(word: &str) -> Vec<Range<usize>> {
    let letters: Vec<(usize, char)> = word.char_indices().collect();
    let mut out = Vec::new();
    let mut i = 0;
    while i < letters.len() {
        let (at, letter) = letters[i];
        let run = letters[i..].iter().take_while(|(_, c)| *c == letter).count();
        let before = i.checked_sub(1).map(|i| letters[i].1);
        let after = |count: usize| letters.get(i + count).map(|(_, c)| *c);
        let between = |left: fn(char) -> bool, right: fn(char) -> bool, count| {
            before.is_some_and(left) && after(count).is_some_and(right)
        };
        let quoted = |c: char| "'\"”“`‘´’‚„»«".contains(c);
        let count = match letter {
            '.' if run >= 2 => run,
            '…' => 1,
            _ if is_symbol(letter) => 1,
            '+' | '*' | '^'
                if between(|c| c.is_ascii_digit(), |c| c.is_ascii_digit() || c == '-', 1) =>
            {
                1
            }
            '-' if between(|c| c.is_ascii_digit(), |c| c.is_ascii_digit() || c == '-', 1) => 1,
            '.' if before.is_some_and(|c| c.is_lowercase() || quoted(c))
                && after(1).is_some_and(|c| c.is_uppercase() || quoted(c)) =>
            {
                1
            }
            ',' if between(char::is_alphabetic, char::is_alphabetic, 1) => 1,
            '-' if run <= 3 && between(char::is_alphanumeric, char::is_alphabetic, run) => run,
            '–' | '—' | '~'
                if run <= 2 && between(char::is_alphanumeric, char::is_alphabetic, run) =>
            {
                run
            }
            ':' | '<' | '>' | '=' | '/'
                if between(char::is_alphanumeric, char::is_alphabetic, 1) =>
            {
                1
            }
            _ => 0,
        };
        if count > 0 {
            out.push(at..letters.get(i + count).map_or(word.len(), |(at, _)| *at));
        }
        i += count.max(1);
    }
    out
}

/// An address of the web or of mail stays one word.
fn is_address(word: &str) -> bool {
    word.contains("://") || word.starts_with("www.") || word.contains('@') && word.contains('.')
}
