//! Words that a recording holds in writing: given to the turn that they were heard in, else a turn of their own.
//!
//! A turn of their own has words and a time, but no voice: nobody is said to have spoken them. All by the times
//! alone, so that the same recording gives the same turns.

use crate::ids::TurnId;
use crate::media::ToldWords;
use crate::percept::{SpeechTurn, Transcript};
use crate::time::Span;

/// A recogniser that tells no times is done with a turn so long after its end at most, seconds.
const SLOWEST_SECS: f64 = 3.0;
/// Words with times belong to a turn that covers so much of the shorter of both.
const COVERED: f64 = 0.5;

/// Puts the words into the turns of a clip that ended in it; what belongs to none becomes a turn behind them.
pub(in crate::daemon::ingest) fn give_words(turns: &mut Vec<SpeechTurn>, mut told: Vec<ToldWords>) {
    told.sort_by(|a, b| {
        (a.span.end, a.span.start, &a.source, &a.text).cmp(&(
            b.span.end,
            b.span.start,
            &b.source,
            &b.text,
        ))
    });
    let heard = turns.len();
    for words in told {
        let fitting = turns.iter().take(heard).enumerate();
        let fitting = fitting.filter_map(|(at, turn)| Some((belongs(turn, words.span)?, at)));
        // The first of equals.
        let best = fitting.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        match best.and_then(|(_, at)| turns.get_mut(at)) {
            Some(turn) => add(turn, &words),
            None => turns.push(alone(words)),
        }
    }
}

/// How well words of that time fit a turn; `None`: not at all.
fn belongs(turn: &SpeechTurn, words: Span) -> Option<f64> {
    if turn.own {
        return None;
    }
    let length = words.secs();
    if length > 0.0 {
        let common = turn.span.overlap_secs(words);
        return (common >= COVERED * length.min(turn.span.secs())).then_some(common);
    }
    // Told when the recogniser was done: of the turns before, the last.
    let late = words.end.secs_since(turn.span.end);
    (turn.span.start <= words.end && late <= SLOWEST_SECS).then_some(-late.max(0.0))
}

fn add(turn: &mut SpeechTurn, words: &ToldWords) {
    let known = turn.words.get_or_insert_with(|| transcript(String::new(), words));
    if !known.text.is_empty() {
        known.text.push(' ');
    }
    known.text.push_str(&words.text);
}

fn transcript(text: String, words: &ToldWords) -> Transcript {
    // Who understood them is the topic.
    Transcript { text, words: Vec::new(), language: None, engine: words.source.to_string() }
}

pub(in crate::daemon::ingest) fn alone(words: ToldWords) -> SpeechTurn {
    SpeechTurn {
        id: TurnId::default(),
        source: words.source.clone(),
        span: words.span,
        speech_secs: words.span.secs(),
        level_dbfs: 0.0,
        embedding: None,
        words: Some(transcript(words.text.clone(), &words)),
        overlapped: false,
        distinct: None,
        own: false,
        sound: std::sync::Arc::from([]),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::SourceId;
    use crate::time::Timestamp;

    fn span(from: f64, to: f64) -> Span {
        Span::new(Timestamp::EPOCH.plus_secs(from), Timestamp::EPOCH.plus_secs(to))
    }

    fn told(from: f64, to: f64, text: &str) -> ToldWords {
        ToldWords { source: SourceId::new("/asr"), span: span(from, to), text: text.to_owned() }
    }

    fn heard(from: f64, to: f64) -> SpeechTurn {
        let source = SourceId::new("/mic");
        SpeechTurn { source, words: None, ..alone(told(from, to, "")) }
    }

    /// Source and words of each turn.
    fn given(mut turns: Vec<SpeechTurn>, told: Vec<ToldWords>) -> Vec<(String, Option<String>)> {
        give_words(&mut turns, told);
        let text = |turn: SpeechTurn| turn.words.map(|words| words.text);
        turns.into_iter().map(|turn| (turn.source.to_string(), text(turn))).collect()
    }

    #[test]
    fn words_go_to_the_turn_that_they_were_said_in_whatever_their_order() {
        let turns = || vec![heard(1.0, 3.0), heard(4.0, 6.0), heard(20.0, 21.0)];
        let words = vec![
            told(6.9, 6.9, "second"),
            told(1.0, 2.0, "the"),
            told(2.0, 3.1, "first"),
            told(12.0, 13.0, "heard by nobody"),
        ];
        let some = |source: &str, text: &str| (source.to_owned(), Some(text.to_owned()));
        let expected = vec![
            some("/mic", "the first"),
            some("/mic", "second"),
            ("/mic".to_owned(), None),
            some("/asr", "heard by nobody"),
        ];
        assert_eq!(given(turns(), words.clone()), expected);
        assert_eq!(given(turns(), words.into_iter().rev().collect()), expected);
    }

    #[test]
    fn the_robots_own_speech_takes_no_words_and_words_alone_have_no_voice() {
        let mut own = heard(1.0, 3.0);
        own.own = true;
        let mut turns = vec![own];
        give_words(&mut turns, vec![told(3.5, 3.5, "hello")]);
        assert_eq!(turns[0].words, None);
        assert_eq!((turns[1].span, turns[1].embedding.clone()), (span(3.5, 3.5), None));
        assert_eq!(turns[1].words.as_ref().unwrap().engine, "/asr");
        assert!(given(Vec::new(), Vec::new()).is_empty());
    }
}
