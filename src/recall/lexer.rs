//! Words of a question with their places: the first step of both question and time parsing.

use std::ops::Range;

/// A word of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Lower case, typographic apostrophes made plain.
    pub word: String,
    /// Bytes of the original text.
    pub range: Range<usize>,
    /// It begins with an upper-case letter in the original.
    pub capital: bool,
    /// It stands inside quotation marks.
    pub quoted: bool,
    /// A comma, semicolon, full stop, question mark or the like follows it.
    pub stop: bool,
}

/// The words of `text` in reading order. Letters, digits and `_` make words; `:`, `.`, `-`, `/`, `+` and
/// apostrophes join them where they stand between two of those (`-` and `+` only between digits).
/// `17:30-17:35` becomes three tokens with `to` in the middle.
#[must_use]
pub fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let quotes = quoted_ranges(text);
    let end_of = |index: usize| chars.get(index).map_or(text.len(), |(at, _)| *at);
    let mut found: Vec<Token> = Vec::new();
    let mut index = 0;
    while index < chars.len() {
        if !is_word(chars[index].1) {
            if is_stop(chars[index].1)
                && let Some(last) = found.last_mut()
            {
                last.stop = true;
            }
            index += 1;
            continue;
        }
        let start = index;
        while index < chars.len() && (is_word(chars[index].1) || joins(&chars, index)) {
            index += 1;
        }
        let range = chars[start].0..end_of(index);
        let quoted = quotes.iter().any(|q| q.start <= range.start && range.end <= q.end);
        push_word(&mut found, text, range, quoted);
    }
    found
}

fn push_word(found: &mut Vec<Token>, text: &str, range: Range<usize>, quoted: bool) {
    let raw = &text[range.clone()];
    if let Some((first, second)) = raw.split_once('-')
        && (first.contains(':') || second.contains(':'))
        && !first.contains(['T', 't'])
        && !second.contains('-')
    {
        let (cut, after) = (range.start + first.len(), range.start + first.len() + 1);
        push_word(found, text, range.start..cut, quoted);
        found.push(Token {
            word: "to".into(),
            range: cut..after,
            capital: false,
            quoted,
            stop: false,
        });
        push_word(found, text, after..range.end, quoted);
        return;
    }
    let capital = raw.chars().next().is_some_and(char::is_uppercase);
    let word = raw.to_lowercase().replace(['\u{2019}', '\u{02bc}'], "'");
    let word = match word.as_str() {
        "a.m" => "am".into(),
        "p.m" => "pm".into(),
        _ => word,
    };
    found.push(Token { word, range, capital, quoted, stop: false });
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_stop(c: char) -> bool {
    matches!(c, ',' | ';' | '.' | '?' | '!' | ':' | '\n' | '؟' | '،')
}

fn joins(chars: &[(usize, char)], index: usize) -> bool {
    let (Some((_, before)), Some((_, after))) =
        (index.checked_sub(1).and_then(|i| chars.get(i)), chars.get(index + 1))
    else {
        return false;
    };
    match chars[index].1 {
        '\'' | '\u{2019}' | '\u{02bc}' => is_word(*before) && after.is_alphabetic(),
        ':' | '.' | '/' => is_word(*before) && is_word(*after),
        '-' | '+' => before.is_ascii_digit() && after.is_ascii_digit(),
        _ => false,
    }
}

/// The insides of quotation marks: `"…"`, `“…”`, `«…»`, and `'…'` at word borders.
#[must_use]
pub fn quoted_ranges(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(char, usize)> = None;
    let mut before = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map_or(' ', |(_, next)| *next);
        match open {
            None => {
                let closes_with = match c {
                    '"' => Some('"'),
                    '\u{201c}' | '\u{201e}' => Some('\u{201d}'),
                    '«' => Some('»'),
                    '\'' | '\u{2018}' if !is_word(before) && is_word(after) => {
                        Some(if c == '\'' { '\'' } else { '\u{2019}' })
                    }
                    _ => None,
                };
                open = closes_with.map(|close| (close, at + c.len_utf8()));
            }
            Some((close, start)) if c == close => {
                let inner_apostrophe = matches!(c, '\'' | '\u{2019}') && is_word(after);
                if !inner_apostrophe {
                    found.push(start..at);
                    open = None;
                }
            }
            Some(_) => {}
        }
        before = c;
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|t| t.word).collect()
    }

    #[test]
    fn words_keep_what_belongs_together() {
        assert_eq!(
            words("Who's there at 17:30:05, p.m., or 2026-03-02T17:30:00+01:00?"),
            ["who's", "there", "at", "17:30:05", "pm", "or", "2026-03-02t17:30:00+01:00"]
        );
        assert_eq!(
            words("from 17:30-17:35 twenty-five"),
            ["from", "17:30", "to", "17:35", "twenty", "five"]
        );
        assert_eq!(words("Ava\u{2019}s <person_4>"), ["ava's", "person_4"]);
        assert!(words("  \u{1F600} ?! \u{0000} ").is_empty());
    }

    #[test]
    fn quoted_words_are_known() {
        let text = "who said \"see you tomorrow\" and 'it's mine'?";
        let quoted: Vec<_> =
            tokens(text).into_iter().filter(|t| t.quoted).map(|t| t.word).collect();
        assert_eq!(quoted, ["see", "you", "tomorrow", "it's", "mine"]);
        assert!(quoted_ranges("Ava's and Ben's things").is_empty());
    }
}
