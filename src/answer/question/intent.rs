//! From the pieces of a question to what it asks.

use super::pieces::{Piece, Sentence, is_grammar};
use super::words::{
    ARRIVED, AUX, LEFT, PRESENT, SAID, SEEN, SPOKE, WH, Words, act, listed, order, strip_openings,
};
use super::{Act, Ask, Order, Parsed, Subject, predicate};
use crate::recall::time_expr::{TimeExpr, When};

/// The finished question.
pub(super) fn parsed(mut sentence: Sentence) -> Parsed {
    strip_openings(&mut sentence);
    let words = Words::of(&sentence);
    let now = sentence.times.iter().any(|t| t.when == When::Now);
    let past_verb = words.any(&[
        "was", "were", "did", "had", "saw", "came", "went", "spoke", "said", "left", "talked",
        "appeared", "arrived", "been", "has", "have", "happened", "heard",
    ]);
    let present = now
        || !past_verb
            && sentence.times.is_empty()
            && (words.any(&["is", "are", "am", "'s"])
                || words.runs(&["can you see", "do you see", "you see"]));
    let said_at = words.words.iter().position(|w| listed(SAID, w) || matches!(*w, "about"));
    let (subjects, mut topic) = split_topic(&sentence, said_at);
    if topic.is_empty() && sentence.quotes.is_empty() && words.any_of(SAID) {
        // "When was dinner mentioned?"
        topic = content(&sentence);
        topic.retain(|word| !is_percept_word(word));
    }
    let mut ask = ask(&words, &sentence, present, &topic, &subjects);
    let yes_no = listed(AUX, words.at(0));
    let past = past_verb && !words.any(&["has", "have", "been"]);
    let mut content = content(&sentence);
    let of_a_deed = predicate::is_of_a_deed(&words, &content);
    if of_a_deed {
        ask = predicate::beyond_presence(ask);
    }
    let times = used_times(&sentence);
    let of_event = |time: &TimeExpr| time.is_told() || matches!(time.when, When::Event { .. });
    let open = !content.is_empty() || !topic.is_empty() || times.iter().any(of_event);
    if open && matches!(ask, Ask::Who { .. } | Ask::Now) && predicate::is_ahead(&words) {
        // Nobody has seen or heard it yet.
        ask = Ask::Search;
    }
    let of_a_thing = matches!(ask, Ask::Where { .. }) && predicate::is_thing_of_a_deed(&words);
    if content.is_empty() && !subjects.is_empty() && (ask == Ask::Search || of_a_thing) {
        // "What did Ava give to Ben?"
        ask = Ask::Search;
        content.extend(predicate::plain_deed(&words));
    }
    Parsed {
        ask,
        subjects,
        times,
        unread: None,
        topic,
        quotes: sentence.quotes,
        content,
        past,
        yes_no,
    }
}

/// Times that were not taken by a description.
fn used_times(sentence: &Sentence) -> Vec<TimeExpr> {
    sentence
        .pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Time(index) => sentence.times.get(*index).cloned(),
            _ => None,
        })
        .collect()
}

/// Subjects before the words "about", "said"; content words and names behind them.
fn split_topic(sentence: &Sentence, said_at: Option<usize>) -> (Vec<Subject>, Vec<String>) {
    let mut subjects = Vec::new();
    let mut topic = Vec::new();
    let about = sentence.pieces.iter().position(|p| matches!(p, Piece::Word(w) if w == "about"));
    let know = matches!(about, Some(at) if sentence.pieces[..at].iter().any(|p| matches!(p, Piece::Word(w) if matches!(w.as_str(), "know" | "tell" | "remember"))))
        && !sentence.pieces.iter().any(|p| matches!(p, Piece::Word(w) if matches!(w.as_str(), "say" | "said" | "talk" | "talked" | "spoke")));
    for (at, piece) in sentence.pieces.iter().enumerate() {
        let by = at > 0
            && matches!(&sentence.pieces[at - 1], Piece::Word(w) if matches!(w.as_str(), "by" | "from"));
        // "Who said Ava …" speaks of her; "what did you say to Ava" does not.
        let behind_about = !know && about.is_some_and(|about| at > about) && !by;
        let inside_words = said_at.is_some_and(|said| at > said)
            && !by
            && !(at > 0
                && matches!(&sentence.pieces[at - 1], Piece::Word(w) if matches!(w.as_str(), "to" | "with" | "told")))
            && (!subjects.is_empty()
                || matches!(sentence.pieces.first(), Some(Piece::Word(w)) if w == "who"));
        match piece {
            Piece::Subject(index) => {
                let subject = &sentence.subjects[*index];
                if behind_about || inside_words {
                    if let Subject::Known { text, .. } | Subject::Unknown(text) = subject {
                        topic.push(text.to_lowercase());
                    }
                } else {
                    subjects.push(subject.clone());
                }
            }
            Piece::Word(word)
                if said_at.is_some_and(|said| at > said)
                    && !is_grammar(word)
                    && !is_frame(word) =>
            {
                topic.push(word.clone());
            }
            _ => {}
        }
    }
    (subjects, topic)
}

/// Words that frame a question without being its matter.
fn is_frame(word: &str) -> bool {
    matches!(
        word,
        "recording"
            | "video"
            | "session"
            | "exact"
            | "exactly"
            | "sentence"
            | "sentences"
            | "thing"
            | "things"
            | "moment"
            | "loud"
            | "aloud"
            | "verbatim"
            | "day"
            | "hour"
            | "minute"
            | "minutes"
            | "second"
            | "seconds"
    )
}

/// Content words outside names, times and quotations.
fn content(sentence: &Sentence) -> Vec<String> {
    sentence
        .pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Word(word) if !is_grammar(word) && !is_frame(word) => Some(word.clone()),
            _ => None,
        })
        .collect()
}

fn ask(
    words: &Words<'_>,
    sentence: &Sentence,
    present: bool,
    topic: &[String],
    subjects: &[Subject],
) -> Ask {
    let about_topic = !topic.is_empty() || !sentence.quotes.is_empty();
    let persons =
        subjects.iter().any(|s| !matches!(s, Subject::Anybody | Subject::Robot | Subject::Asker));
    let verb = act(words);
    if words.words.is_empty() {
        return Ask::Search;
    }
    if let Some(found) = never(words, persons) {
        return found;
    }
    if let Some(found) = counts(words, verb) {
        return found;
    }
    let lead = lead(words);
    let with =
        words.any(&["with", "together", "beside", "alongside", "near", "accompanied", "company"])
            || words.runs(&["who else", "next to"]);
    // "What is the name of Ava's cat?" asks for no name of hers.
    let named = words.runs(&["what is the name of", "name of @"]) && persons;
    let of_theirs = words.run("name of @ 's");
    if named && !of_theirs || words.run("@ 's name") || words.run("who is called") {
        return Ask::WhoIs;
    }
    match lead {
        "who" | "whom" | "whose" | "which" => {
            who(words, verb, present, about_topic, persons, with, sentence)
        }
        "what" => what(words, verb, present, sentence, persons),
        "when" => when(words, verb),
        "where" => Ask::Where { order: order(words) },
        "how" => Ask::Search,
        _ => other(words, verb, present, about_topic, persons, with, sentence),
    }
}

/// Words for being seen, coming and going: no topic of speech.
pub(super) fn is_percept_word(word: &str) -> bool {
    [SPOKE, ARRIVED, LEFT, SEEN, PRESENT].iter().any(|set| listed(set, word))
        || matches!(word, "total" | "altogether" | "today's" | "earliest" | "latest" | "longest")
}

/// The word that says what kind of question it is.
fn lead<'a>(words: &'a Words<'_>) -> &'a str {
    if words.runs(&[
        "what time",
        "which time",
        "what day",
        "which day",
        "what date",
        "which date",
        "what moment",
        "since when",
        "which year",
        "what year",
    ]) {
        return "when";
    }
    let first = words.at(0);
    if listed(WH, first) {
        return if matches!(first, "what" | "which")
            && matches!(
                words.at(1),
                "person"
                    | "people"
                    | "persons"
                    | "man"
                    | "woman"
                    | "men"
                    | "women"
                    | "voice"
                    | "voices"
                    | "speaker"
                    | "one"
                    | "faces"
                    | "face"
            ) {
            "who"
        } else if first == "which" && !words.runs(&["which of"]) {
            "what"
        } else {
            first
        };
    }
    if listed(AUX, first) {
        return first;
    }
    // "With whom was Ava?", "At the end, who was there?", "Yesterday, what did Ben say?"
    words.words.iter().find(|w| listed(WH, w)).copied().unwrap_or(first)
}

fn never(words: &Words<'_>, persons: bool) -> Option<Ask> {
    let not = words.any(&["never", "not", "without", "nobody", "no"]);
    let heard = words
        .any(&["heard", "hear", "speak", "spoke", "voice", "voices", "talk", "talked", "spoken"]);
    let seen = words.any(&[
        "seen", "see", "saw", "visible", "camera", "screen", "shown", "picture", "appear",
        "appeared", "appears", "view", "face", "sight", "showed", "seeing",
    ]);
    let yes_no = listed(AUX, words.at(0)) || words.at(0) == "@";
    let only_heard = words.runs(&[
        "only heard",
        "only hear",
        "just heard",
        "only a voice",
        "heard only",
        "only ever heard",
        "only be heard",
        "only voices",
        "only known by voice",
        "off screen",
        "off camera",
        "out of view",
        "out of sight",
    ]);
    let place = |set: &[&str]| words.words.iter().position(|w| set.contains(w));
    let seen_at = place(&["seen", "visible", "saw", "see"]);
    let heard_at = place(&["heard", "hear", "speak", "spoke", "talk", "talked", "spoken"]);
    let not_at = place(&["never", "not", "without"]);
    let seen_not_heard =
        not && seen_at.is_some() && heard_at.is_some() && seen_at < heard_at && not_at > seen_at;
    if seen_not_heard
        || (not && heard && !seen)
            && words.runs(&[
                "never spoke",
                "not speak",
                "never speak",
                "never heard",
                "not say",
                "said nothing",
                "never said",
                "never say",
                "never talked",
                "not talk",
                "never talk",
                "never spoken",
                "not spoken",
                "not heard",
                "not hear",
                "never hear",
            ])
    {
        let only_question = !words.any(&["what", "when", "where", "how"]);
        if only_question && !(persons && yes_no) {
            return Some(Ask::NeverSpoke);
        }
    }
    if words.runs(&[
        "was silent",
        "were silent",
        "stayed silent",
        "remained silent",
        "kept quiet",
        "said nothing",
    ]) && !persons
    {
        return Some(Ask::NeverSpoke);
    }
    if only_heard && (!persons || !yes_no)
        || words.any(&["never", "not", "without"])
            && seen
            && !seen_not_heard
            && !words.any(&["when", "where", "how"])
    {
        if persons && (yes_no || words.any(&["ever"])) {
            return Some(Ask::Ever { act: Act::Seen });
        }
        return Some(Ask::NeverSeen);
    }
    if only_heard {
        return Some(Ask::NeverSeen);
    }
    let asks_ever = words.any(&["ever", "before", "already"])
        || words.runs(&[
            "have you seen",
            "have you met",
            "have you heard",
            "did you see @",
            "do you know @",
            "have you got to know",
        ]);
    let ever = yes_no && asks_ever;
    if ever
        && persons
        && !words.any(&["together"])
        && (seen
            || heard
            || words.any(&["met", "meet", "know", "known", "here", "there", "speak", "say"]))
    {
        if words.runs(&["do you know @"]) && words.words.len() <= 4 {
            return Some(Ask::WhoIs);
        }
        // "Did Ava ever say hello" asks for words.
        if words.any_of(SAID) && words.any(&["say", "said", "mention", "mentioned", "ask"]) {
            return None;
        }
        let act = if heard && !seen { Act::Spoke } else { Act::Seen };
        return Some(Ask::Ever { act });
    }
    None
}

fn counts(words: &Words<'_>, verb: Option<Act>) -> Option<Ask> {
    let persons = [
        "people",
        "persons",
        "person",
        "faces",
        "men",
        "women",
        "visitors",
        "guests",
        "speakers",
        "voices",
        "humans",
        "others",
        "different",
        "individuals",
        "of",
    ];
    if let Some(at) = words.find("how many").or_else(|| words.find("number of")) {
        let next = words.at(at + 2);
        if matches!(next, "times" | "appearances" | "visits" | "occasions")
            || next == "separate"
            || words.runs(&["different times", "many times"])
        {
            return Some(Ask::HowOften { act: often_act(words, verb) });
        }
        if matches!(next, "seconds" | "minutes" | "hours" | "secs" | "days") {
            return Some(Ask::HowLong { act: verb.unwrap_or(Act::Seen) });
        }
        if matches!(next, "turns" | "utterances" | "sentences" | "remarks") {
            return Some(Ask::HowOften { act: Act::Spoke });
        }
        if persons.contains(&next) || persons.contains(&words.at(at + 3)) {
            let act = match (next, words.at(at + 3)) {
                ("speakers" | "voices", _) | (_, "speakers" | "voices") => Act::Spoke,
                ("faces", _) | (_, "faces") => Act::Seen,
                _ => verb.unwrap_or(Act::Present),
            };
            return Some(Ask::HowMany { act });
        }
        return None;
    }
    if words.runs(&["how often", "how frequently"]) {
        return Some(Ask::HowOften { act: often_act(words, verb) });
    }
    if words.runs(&[
        "how long ago",
        "how long since",
        "how long is it since",
        "how long has it been since",
        "how long since",
    ]) || words.run("how long") && words.any(&["ago"])
    {
        return Some(Ask::When {
            act: verb.unwrap_or(Act::Present),
            order: Order::Last,
            ago: true,
        });
    }
    let long = words.runs(&[
        "how long",
        "how much time",
        "what length of time",
        "total time",
        "for what time",
        "how much of the time",
        "how much did",
        "how much does",
    ]);
    long.then(|| Ask::HowLong { act: verb.unwrap_or(Act::Seen) })
}

/// Appearing counts as being seen.
fn often_act(words: &Words<'_>, verb: Option<Act>) -> Act {
    match verb {
        Some(act) => act,
        None if words.any_of(SAID) => Act::Spoke,
        None => Act::Seen,
    }
}

fn who(
    words: &Words<'_>,
    verb: Option<Act>,
    present: bool,
    about_topic: bool,
    persons: bool,
    with: bool,
    sentence: &Sentence,
) -> Ask {
    let order = order(words);
    let talked_to = persons
        && words.runs(&[
            "talk to",
            "talked to",
            "speak to",
            "spoke to",
            "talk with",
            "talking to",
            "speak with",
            "talked with",
            "spoke with",
            "talking with",
            "speaking to",
            "speaking with",
            "conversation with",
            "to whom",
            "whom did @ talk",
            "answer @",
        ]);
    if talked_to {
        return Ask::With { talked: true };
    }
    let company = words.runs(&[
        "who did @ meet",
        "whom did @ meet",
        "who did @ see",
        "whom did @ see",
        "who accompanied",
        "who was @ with",
    ]);
    if persons && (with || company) && !(words.any_of(SAID) && about_topic) {
        return Ask::With { talked: false };
    }
    let speaks_of = words.any(&[
        "said",
        "say",
        "says",
        "mentioned",
        "mention",
        "asked",
        "saying",
        "told",
        "ask",
        "mentions",
        "asks",
        "whose",
    ]) || words.runs(&[
        "talked about",
        "spoke about",
        "talking about",
        "speaking about",
        "talk about",
        "speak about",
        "spoke of",
        "talked of",
        "speaks about",
        "talks about",
    ]) || !sentence.quotes.is_empty();
    if speaks_of && about_topic {
        return Ask::WhoSaid;
    }
    if persons
        && matches!(verb, None | Some(Act::Present))
        && (words.runs(&["who is @", "who 's @", "who was @", "who are @"])
            || words.at(0) == "who" && words.at(1) == "@")
        && content(sentence).is_empty()
    {
        return Ask::WhoIs;
    }
    if !persons
        && (words.runs(&[
            "do you know",
            "you know",
            "have you met",
            "have you ever met",
            "have you seen so far",
        ]) || words.run("have you seen"))
    {
        return Ask::Everybody;
    }
    let is_thing = |word: &String| !is_percept_word(word);
    let of_a_thing = words.at(0) == "whose" && content(sentence).iter().any(is_thing);
    if present && of_a_thing || asks_who_dwells(words) {
        return Ask::Search;
    }
    let speaking = words.any(&["speaking", "talking"]);
    if present
        && !persons
        && order == Order::Any
        && !about_topic
        && (verb.is_some() || words.run("is @") || speaking)
    {
        return if speaking { Ask::Who { act: Act::Spoke, order: Order::Last } } else { Ask::Now };
    }
    match verb {
        Some(act) => Ask::Who { act, order },
        None if !content(sentence).is_empty() => Ask::Search,
        None if !used_times(sentence).is_empty() => Ask::Who { act: Act::Present, order },
        None if persons => Ask::WhoIs,
        None => Ask::Who { act: Act::Present, order },
    }
}

/// "Who sits in the front office?" asks what is so, not who is seen there.
fn asks_who_dwells(words: &Words<'_>) -> bool {
    let dwells = listed("sits works lives sleeps", words.at(1));
    words.at(0) == "who" && dwells && !words.any(&["here", "there"])
}

fn what(
    words: &Words<'_>,
    verb: Option<Act>,
    present: bool,
    sentence: &Sentence,
    persons: bool,
) -> Ask {
    if words.any_of(SAID) && !words.runs(&["tell me about"])
        || words.any(&[
            "talk",
            "talked",
            "talking",
            "speak",
            "spoke",
            "speaking",
            "words",
            "heard",
            "hear",
            "quote",
            "utterance",
            "sentence",
        ])
    {
        return Ask::SaidWhat { order: order(words) };
    }
    if words.runs(&["you know about @", "you remember about @", "is known about @"]) {
        return Ask::About;
    }
    if words.any(&[
        "happened",
        "happening",
        "happen",
        "going",
        "summary",
        "occurred",
        "new",
        "events",
    ]) || words.runs(&[
        "did you see",
        "have you seen",
        "did @ do",
        "was @ doing",
        "is @ doing",
        "do you see",
        "can you see",
        "you do",
    ]) {
        if present && !persons && !words.any(&["happened", "new"]) {
            return Ask::Now;
        }
        return Ask::Summary;
    }
    if persons && verb == Some(Act::Spoke) {
        return Ask::SaidWhat { order: order(words) };
    }
    let _ = sentence;
    Ask::Search
}

fn when(words: &Words<'_>, verb: Option<Act>) -> Ask {
    let act = match verb {
        Some(act) => act,
        None if words.any_of(SAID) => Act::Spoke,
        None => Act::Other,
    };
    Ask::When { act, order: order(words), ago: false }
}

fn other(
    words: &Words<'_>,
    verb: Option<Act>,
    present: bool,
    about_topic: bool,
    persons: bool,
    with: bool,
    sentence: &Sentence,
) -> Ask {
    let first = words.at(0);
    if words.runs(&["last time", "first time"]) && !listed(AUX, first) {
        return Ask::When { act: verb.unwrap_or(Act::Present), order: order(words), ago: false };
    }
    if matches!(first, "summarize" | "summarise" | "summary" | "recap")
        || words.runs(&["a summary", "what happened"])
    {
        return Ask::Summary;
    }
    if words.runs(&["tell me about @", "about @", "describe @", "profile of @"])
        && persons
        && !words.any_of("say said saying says")
    {
        return Ask::About;
    }
    if matches!(first, "list" | "name" | "show")
        && words.any(&["people", "persons", "everybody", "everyone", "@", "names"])
    {
        return if sentence.times.is_empty() {
            Ask::Everybody
        } else {
            Ask::Who { act: verb.unwrap_or(Act::Present), order: Order::Any }
        };
    }
    if matches!(first, "quote" | "repeat") || words.runs(&["@ 's words", "words of @"]) {
        return Ask::SaidWhat { order: order(words) };
    }
    if listed(AUX, first) || first == "there" {
        let subjects = sentence.pieces.iter().filter(|p| matches!(p, Piece::Subject(i) if matches!(sentence.subjects[*i], Subject::Known { .. } | Subject::Described(_) | Subject::Unknown(_)))).count();
        if subjects >= 2
            && (with || words.any(&["same", "meet", "met"]) || words.run("@ and @"))
            && !words.any_of(SAID)
        {
            return Ask::Together;
        }
        if words.any(&["alone"]) {
            return if present || subjects == 0 { Ask::Now } else { Ask::Alone };
        }
        let somebody = sentence.pieces.iter().any(|p| matches!(p, Piece::Subject(_)));
        if subjects == 1 && with && !present && content(sentence).is_empty() {
            // "Has Ava been together with anybody?"
            return Ask::With { talked: false };
        }
        if present
            && matches!(verb, Some(Act::Present | Act::Seen))
            && (somebody || words.any(&["nobody", "people", "empty", "room"]))
        {
            return Ask::Now;
        }
        if present && verb == Some(Act::Spoke) && somebody {
            return Ask::Now;
        }
        if words.any_of(SAID) && about_topic || verb == Some(Act::Spoke) {
            return Ask::Did { act: Act::Spoke };
        }
        if somebody || words.any(&["room", "nobody", "people", "empty", "person"]) {
            if let Some(act) = verb {
                return Ask::Did { act };
            }
            if words.any(&["empty"]) {
                return Ask::Did { act: Act::Present };
            }
        }
        return Ask::Search;
    }
    if persons && content(sentence).is_empty() && words.words.len() <= 2 {
        return Ask::About;
    }
    Ask::Search
}
