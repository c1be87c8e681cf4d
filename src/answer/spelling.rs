//! A question in which words are misspelt is asked again with the words that were most likely meant, where as it was put
//! nobody knows the answer.

use crate::memory::{View, is_misspelt, stems};
use crate::names::among;
use crate::recall::lexer::tokens;

use super::question::is_grammar;
use super::reply::Reply;

/// Words that begin questions.
const ASKING: &str = "where what when which whose there does have";
/// So short a word of these may be misspelt, too.
const SHORTEST: usize = 4;
/// How much confidence is left where a word was taken for another.
const TAKEN: f32 = 0.8;

/// A question with other words.
pub(super) struct Respelled {
    pub(super) text: String,
    /// Each word that was written, and which it was taken for.
    words: Vec<(String, String)>,
}

/// The question with the words that were most likely meant; `None` where none is misspelt. Names are left alone.
pub(super) fn respelled(view: &View, question: &str) -> Option<Respelled> {
    let head = &question[..question.floor_char_boundary(super::question::MAX_BYTES)];
    let (mut text, mut words, mut from) = (String::new(), Vec::new(), 0);
    for (place, token) in tokens(head).iter().enumerate() {
        let name = token.quoted || token.capital && place > 0;
        if name || is_grammar(&token.word) {
            continue;
        }
        let Some(meant) = asking(&token.word, place).or_else(|| view.spelled(&token.word)) else {
            continue;
        };
        text.push_str(&head[from..token.range.start]);
        text.push_str(&meant);
        from = token.range.end;
        words.push((token.word.clone(), meant));
    }
    text.push_str(&head[from..]);
    (!words.is_empty()).then_some(Respelled { text, words })
}

/// The word that a question begins with.
fn asking(word: &str, place: usize) -> Option<String> {
    let may_be = place == 0 && word.chars().count() >= SHORTEST && !among(ASKING, word);
    let meant = ASKING.split_whitespace().find(|meant| is_misspelt(word, meant));
    meant.filter(|_| may_be).map(str::to_owned)
}

impl Respelled {
    /// The answer to it, where it rests on the words that were meant; else the one to the question as it was put.
    pub(super) fn better(&self, as_put: Reply, reply: Reply) -> Reply {
        let told: Vec<String> = reply.evidence.iter().flat_map(|item| stems(&item.text)).collect();
        let is_held = |word: &str| stems(word).iter().all(|stem| told.contains(stem));
        let taken: Vec<&(String, String)> =
            self.words.iter().filter(|(_, meant)| !among(ASKING, meant)).collect();
        if reply.abstained || !taken.iter().all(|(_, meant)| is_held(meant)) {
            return as_put;
        }
        let words: Vec<String> = taken
            .iter()
            .map(|(word, meant)| format!("\u{201c}{word}\u{201d} for \u{201c}{meant}\u{201d}"))
            .collect();
        match words.is_empty() {
            true => reply,
            false => Reply {
                text: format!("I take {}: {}", super::wording::list(&words), reply.text),
                confidence: reply.confidence * TAKEN,
                ..reply
            },
        }
    }
}
