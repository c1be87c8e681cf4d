//! The time that free text tells, read as a question's is: for whoever recalls instead of asking.

use crate::memory::View;
use crate::recall::time_expr::{time_expressions, unread};
use crate::time::{Span, Timestamp};

use super::asked;
use super::builtin::Answerer;
use super::persons::Names;
use super::question;
use super::reading::{Reading, hull};
use super::wording::{Wording, without};

/// A time that was told in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldTime {
    /// What it covers; of several stretches, all from the first to the last.
    pub span: Span,
    /// The text without it.
    pub rest: String,
}

impl Answerer {
    /// The time that a text tells ("yesterday evening", "before Ava left"), as questions read it: in the robot's zone,
    /// against `now`; `None` where it tells none.
    ///
    /// # Errors
    /// The sentence that says what of it is not understood, or which event the memory does not know.
    pub fn told_time(
        &self,
        view: &View,
        now: Timestamp,
        text: &str,
    ) -> Result<Option<ToldTime>, String> {
        let head = &text[..text.floor_char_boundary(question::MAX_BYTES)];
        let found = time_expressions(head, now, &self.zone);
        if let Some(words) = unread(head, &found) {
            return Err(format!("The time \u{201c}{words}\u{201d} is not understood."));
        }
        let reading = Reading::new(view.clone(), None, Wording { zone: self.zone.clone(), now });
        let names = Names { view, language: self.language() };
        let spans = asked::spans(&reading, &names, &found).map_err(|reply| reply.text)?;
        let span = spans.as_deref().and_then(hull);
        Ok(span.map(|span| ToldTime { span, rest: without(text, &found) }))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::memory::{Memory, StoreOptions};
    use jiff::tz::TimeZone;

    #[test]
    fn a_text_tells_its_time_and_what_else_it_says() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let berlin = Answerer::new(TimeZone::get("Europe/Berlin").unwrap(), 10, None);
        let now = Timestamp::parse("2026-03-06T12:00:00Z").unwrap();
        let told = |text: &str| berlin.told_time(&memory.view(), now, text).unwrap();
        let day = told("What happened on 5 March?").unwrap();
        assert_eq!(day.rest, "What happened");
        assert_eq!(day.span.start, Timestamp::parse("2026-03-04T23:00:00Z").unwrap());
        assert_eq!(day.span.secs(), 86_400.0);
        assert_eq!(told("yesterday").unwrap(), ToldTime { rest: String::new(), ..day.clone() });
        assert_eq!(told("the red mug"), None);
        // An event of somebody unknown is no time.
        let unknown = berlin.told_time(&memory.view(), now, "the mug before Zoe left");
        assert!(unknown.is_err());
    }
}
