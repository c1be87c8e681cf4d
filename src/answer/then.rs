//! A time that is over, of which a question asks what was done: "Why did the alarm go off on the 15th?" What was told to
//! have happened on the 7th does not tell it; what was so before may still have been so.

use crate::memory::model::MemoryRow;
use crate::recall::lexer::{Token, tokens};
use crate::time::{Span, Timestamp};

use super::question::listed;
use super::reading::{Reading, hull, touch};
use super::remembered::time_told;

/// What begins another clause, whose time is told by what happened.
const CLAUSES: &str = "before after when while during since until till by";
/// Questions for the time or the place itself.
const OTHERS: &str = "when where";
/// What is asked of a stretch of time.
const STRETCHED: &str = "long often old";
/// What lasts is no deed.
const LASTING: &str =
    "have need want know live work own like stay sleep wear look sit stand keep feel mean cost";
const BEING: &str = "is are was were has have had did does do will can could should would may";
/// Words of a sentence of what is over; so are those that end in "ed".
const PAST: &str = "was were had did went came gave took got made broke fell bought brought said saw left put told found kept \
    lost sent met rang ate drank wrote drove flew ran";
const ENDED: &str = "ed";
/// Words of what is so again and again.
const HABIT: &str = "every each always usually often daily weekly";
/// A longer time is no occasion.
const LONGEST_SECS: f64 = 8.0 * 86_400.0;
/// Of less than a day, what was told so much earlier or later may be meant: the night, on the morning after.
const AROUND_SECS: f64 = 12.0 * 3600.0;
/// What is told so much later, and tells no time, is of another one.
const AFTERWARDS_SECS: f64 = 36.0 * 3600.0;
const DAY_SECS: f64 = 86_400.0;

/// A time that is over.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Then {
    /// At least one.
    spans: Vec<Span>,
    end: Timestamp,
}

impl Then {
    /// The time of a question for what was done then.
    pub(super) fn asked(reading: &Reading, question: &[Token]) -> Option<Self> {
        let spans = reading.spans.clone()?;
        let whole = hull(&spans)?;
        let over = whole.end <= reading.now() && whole.secs() <= LONGEST_SECS;
        let around = |span: Span| {
            let more = if whole.secs() < DAY_SECS { AROUND_SECS } else { 0.0 };
            Span::new(span.start.plus_secs(-more), span.end.plus_secs(more))
        };
        let spans = spans.into_iter().map(around).collect();
        (over && is_of_a_deed(question)).then_some(Self { spans, end: whole.end })
    }

    /// Whether a memory is of that time; `None`: it may hold then.
    pub(super) fn is_of(&self, reading: &Reading, row: &MemoryRow) -> Option<bool> {
        let told = time_told(reading, row);
        let touches = |span: &Span| touch(*span, told) || touch(*span, row.span);
        if self.spans.iter().any(touches) {
            return Some(true);
        }
        let words = tokens(&reading.rendered(&row.text));
        let any = |list: &str| words.iter().any(|token| listed(list, &token.word));
        let later = row.span.start > self.end.plus_secs(AFTERWARDS_SECS) && !any(HABIT);
        let ended = |token: &Token| token.word.len() > 4 && token.word.ends_with(ENDED);
        let past = any(PAST) || words.iter().any(ended);
        (later || past).then_some(false)
    }
}

/// "Who broke it?", "What did Ava bake?", "How many came?"
fn is_of_a_deed(question: &[Token]) -> bool {
    let word = |at: usize| question.get(at).map_or("", |token| token.word.as_str());
    let clause = question.iter().any(|token| listed(CLAUSES, &token.word));
    if clause || listed(OTHERS, word(0)) || word(0) == "how" && listed(STRETCHED, word(1)) {
        return false;
    }
    let lasts = question.iter().any(|token| listed(LASTING, &token.word));
    let did = question.iter().take(4).any(|token| token.word == "did");
    match word(0) {
        "who" => did && !lasts || !listed(BEING, word(1)),
        "how" => listed("many much", word(1)) && (!lasts || word(1) == "many"),
        _ => did && !lasts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_of_a_deed_or_of_what_lasts() {
        for (question, wanted) in [
            ("Why did the bell ring on the 15th?", true),
            ("Who broke the vase on Friday?", true),
            ("How many parcels came on Friday?", true),
            ("What did Jun bake on Friday?", true),
            ("What did Jun have on Friday?", false),
            ("Why was Jun in bed on Friday?", false),
            ("When did the bell ring on Friday?", false),
            ("Where did Jun go on Friday?", false),
            ("How long did Jun bake on Friday?", false),
            ("What did Jun bake on Friday before he left?", false),
            ("Who is here on Friday?", false),
            ("", false),
        ] {
            assert_eq!(is_of_a_deed(&tokens(question)), wanted, "{question}");
        }
    }
}
