//! Names that are given in speech: "my name is Ava", "everybody calls me Ava", "this is my brother Ben", or "Ava." in reply
//! to "what's your name?".
//!
//! Conservative: a wrong name is worse than none. Two things are asked of a sentence. What stands before the form: a
//! speaker's own words begin there, or behind an interjection or a courtesy; whatever else leads into it (a verb of saying,
//! a condition, a question, a denial, a quotation mark) makes it somebody else's words, or no statement. And what stands in
//! the name's place: a capital where capitals tell something, and an end behind it.

use crate::names::among;
use crate::text::capitalised;

/// What follows "I am" and is no name, where capitals tell nothing: adjectives and adverbs of state, nations, days, function
/// words.
const NO_NAME: &str = "a able about afraid again all almost alone already also always american an and angry as at australian \
    austrian awake aware away back bad because becoming being belgian better bored british busy but canadian \
    certain chinese close cold coming concerned confused convinced cooking cool curious czech danish dead \
    depressed different doing done down driving drunk dutch eating either english european even ever excited \
    exhausted fine finished finnish for free french friday from full german getting giving glad god going gonna \
    good grateful great greek happy having he hear her here his home hot how hungarian hungry hurt if ill \
    important in indian inside interested into irish it italian its japanese just kidding late leaving left like \
    living lonely looking lost lucky mad making married me mexican mine monday more my near never new nice no \
    nobody norwegian not nothing now of off ok okay old on one only open or our out outside over pleased polish \
    portuguese pretty proud quite reading ready really right robot running russian sad safe saturday saying \
    scared scottish serious she sick single sleepy so some somewhere sorry spanish speaking still strong stuck \
    sunday sure surprised swedish swiss taking talking tall telling terrible thankful that the their there they \
    thinking thirsty this thursday tired to today tomorrow too trying tuesday turkish ugly ukrainian under \
    unknown up upset used very waiting walking we weak wednesday well welsh what when where who why with without \
    wondering working worried writing wrong yes you young your yours";

/// First names that are hardly ever anything else, for text without capitals.
const FIRST_NAMES: &str = "aaron abigail adam adrian alan albert alex alexander alice amanda amelia amy andrea andrew angela anna anne \
    anthony arthur ava barbara benjamin betty brandon brenda brian bruce bryan carl carlos carol caroline \
    catherine charles charlotte cheryl christina christine christopher claire cynthia daniel david deborah debra \
    dennis diana diane donald donna dorothy douglas dylan edward elena elizabeth ella emily emma eric ethan \
    eugene evelyn frances gabriel gary george gerald gloria gregory hannah harold heather helen henry isabella \
    jack jacob jacqueline james janet janice jason jeffrey jennifer jeremy jerry jessica joan john jonathan \
    jordan jose joseph joshua joyce juan judith judy julia julie justin karen katherine kathleen keith kelly \
    kenneth kevin kimberly kyle larry laura lauren lawrence leo leon liam linda lisa logan louis lucas lucy luke \
    madison margaret maria marie marilyn martha martin mary matthew megan melissa mia michael michelle mike \
    nancy natalie nathan nicholas nicole noah nora oliver olivia oscar pamela patricia patrick paul peter philip \
    rachel ralph randy raymond rebecca richard robert roger ronald rosa roy russell ruth ryan samantha samuel \
    sandra sara sarah scott sean sharon shirley simon sophia sophie stephanie stephen steven susan teresa \
    theresa thomas timothy tom tyler victoria vincent walter wayne william zachary zoe";

/// Whether a lower-case word is a first name, and hardly ever anything else.
pub(super) fn is_first_name(word: &str) -> bool {
    among(FIRST_NAMES, word)
}

/// Words that may follow a name without a mark between.
const AFTER_NAME: &str = "but by from hello here hi i i'm nice speaking the what who your";
/// What begins a clause of its own behind "and".
const CLAUSES: &str = "i i'm i've i'd my this we it it's you the he she they";
/// What may stand before a form in its own clause: interjections, greetings, courtesies, conjunctions.
const OPENERS: &str = "hi hello hey hallo well so and but yes yeah yep no oh ah um uh er okay ok right good morning evening \
    afternoon day there everyone everybody all sure actually please thanks thank you greetings welcome sorry";
/// And before "call me", besides.
const ALLOWING: &str = "you can may could just simply do please";
/// Who calls somebody something.
const CALLERS: &str = "everybody everyone they people folks friends family colleagues";
/// May stand between them and the verb, or before them.
const BESIDE_CALLERS: &str = "my all most just usually always simply only mostly";
/// Whoever uses one of these says what is said, thought or supposed.
const REPORTING: &str = "say says said saying tell tells told telling ask asks asked think thinks thought believe believes \
    believed know knows knew hear hears heard shout shouts shouted claim claims claimed write writes wrote swear swore wish \
    suppose imagine pretend guess doubt hope goes reply replied answer answered explain explained whisper whispered \
    remember dream dreamt dreamed if whether unless until when whenever while once that because like as";
/// Behind a name: the speaker of what was quoted.
const PRONOUNS: &str = "he she they i we it";

/// What a name was given to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Introduced {
    /// The speaker.
    Speaker(String),
    /// Somebody else who is there: "this is my brother Ben".
    Other(String),
}

#[derive(Debug)]
struct Token<'a> {
    /// Letters, apostrophes and hyphens of the word.
    word: &'a str,
    /// Lower case, curly apostrophes made straight.
    lower: String,
    /// The first mark that ends the phrase after it.
    mark: Option<char>,
    /// It stands between quotation marks, and something stands outside of them.
    quoted: bool,
}

impl Token<'_> {
    fn capital(&self) -> bool {
        self.word.starts_with(char::is_uppercase)
    }

    fn ends_sentence(&self) -> bool {
        self.mark.is_some_and(|mark| matches!(mark, '.' | '!' | '?' | '\u{2026}'))
            && !crate::names::is_title(&self.lower)
    }
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let is_quote =
        |c: char| matches!(c, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}');
    let whole = text.trim();
    let all_quoted = whole.starts_with(is_quote)
        && whole.ends_with(is_quote)
        && whole.chars().filter(|c| is_quote(*c)).count() == 2;
    let mut inside = false;
    let mut found = Vec::new();
    for raw in text.split_whitespace() {
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric());
        let (head, tail) = raw.split_once(word).unwrap_or(("", ""));
        inside ^= head.chars().filter(|c| is_quote(*c)).count() % 2 == 1;
        if !word.is_empty() {
            found.push(Token {
                word,
                lower: word.to_lowercase().replace('\u{2019}', "'"),
                mark: tail.chars().find(|c| ",.!?;:\u{2026}".contains(*c)),
                quoted: inside && !all_quoted,
            });
        }
        inside ^= tail.chars().filter(|c| is_quote(*c)).count() % 2 == 1;
    }
    found
}

/// What is read of one turn.
struct Turn<'a> {
    tokens: Vec<Token<'a>>,
    /// Capitals are used, and not throughout.
    cased: bool,
    /// Some word but the first has none: a capital tells a name.
    telling: bool,
    is_known: &'a dyn Fn(&str) -> bool,
}

/// The name the speaker gives himself or herself, if any: "I'm Ava" → `Ava`.
#[must_use]
pub fn said_name(text: &str) -> Option<String> {
    match introduced(text, false, &|_| false) {
        Some(Introduced::Speaker(name)) => Some(name),
        _ => None,
    }
}

/// The name that is given in a turn, and to whom.
///
/// `asked`: somebody else asked for it just before ([`asks_for_name`]). `is_known` tells of a word whether somebody known
/// is called so: where capitals tell nothing such a word is a name.
#[must_use]
pub fn introduced(text: &str, asked: bool, is_known: &dyn Fn(&str) -> bool) -> Option<Introduced> {
    let tokens = tokens(text);
    let lower = text.chars().any(char::is_lowercase);
    let cased = lower && text.chars().any(char::is_uppercase);
    let plain = |token: &Token<'_>| token.word.starts_with(char::is_lowercase);
    let telling = cased && tokens.iter().any(plain);
    let turn = Turn { tokens, cased, telling, is_known };
    if let Some(name) = (0..turn.tokens.len()).find_map(|at| turn.own_name(at, asked)) {
        return Some(Introduced::Speaker(name));
    }
    if asked && let Some(name) = turn.reply() {
        return Some(Introduced::Speaker(name));
    }
    (0..turn.tokens.len()).find_map(|at| turn.other_name(at)).map(Introduced::Other)
}

/// Whether a turn ends by asking whoever hears it for a name: "what's your name?", "and you are?".
#[must_use]
pub fn asks_for_name(text: &str) -> bool {
    let tokens = tokens(text);
    let last = tokens.iter().rposition(|token| token.ends_sentence());
    let ends = if last.is_some_and(|at| at + 1 == tokens.len()) { last } else { None };
    let before = tokens[..ends.unwrap_or(tokens.len())].iter().rposition(Token::ends_sentence);
    let asked = &tokens[before.map_or(0, |at| at + 1)..];
    let Some(end) = asked.last() else { return false };
    if end.mark.is_some_and(|mark| mark != '?') {
        return false;
    }
    let words: Vec<&str> = asked.iter().map(|token| token.lower.as_str()).collect();
    let question = end.mark == Some('?') || words[0].starts_with("wh");
    let has = |run: &[&str]| words.windows(run.len()).any(|some| some == run);
    let name = words.windows(2).position(|run| run == ["your", "name"]).is_some_and(|at| {
        let behind = &words[at + 2..];
        asked[at + 1].mark.is_some() || behind.iter().all(|word| among("again please then", word))
    });
    let who = has(&["who", "are", "you"])
        || has(&["who's", "speaking"])
        || has(&["who's", "this"])
        || has(&["who", "is", "this"])
        || has(&["who", "is", "speaking"])
        || has(&["who", "am", "i"]);
    let called = words[0].starts_with("what") && (has(&["call", "you"]) || has(&["you", "called"]));
    let are = words.ends_with(&["you", "are"]) && words.len() <= 3;
    question && (name || who && words.len() <= 6 || called || are)
}

impl Turn<'_> {
    fn is(&self, at: usize, list: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| among(list, &token.lower))
    }

    fn run(&self, at: usize, words: &[&str]) -> bool {
        let here = self.tokens.get(at..at + words.len());
        here.is_some_and(|here| {
            here.iter().zip(words).all(|(token, word)| token.lower == *word)
                && here[..words.len().saturating_sub(1)].iter().all(|token| token.mark.is_none())
        })
    }

    /// Whether the speaker's own words begin at token `at`: nothing leads into it but what opens a sentence, and nothing in
    /// the sentence before it is a verb of saying or a condition. `besides`: more words that may stand before it.
    fn is_own(&self, at: usize, besides: &str) -> bool {
        if self.tokens[at].quoted {
            return false;
        }
        let sentence =
            self.tokens[..at].iter().rposition(Token::ends_sentence).map_or(0, |end| end + 1);
        let clause = self.tokens[..at]
            .iter()
            .rposition(|token| token.mark.is_some())
            .map_or(0, |end| end + 1);
        let clause = clause.max(sentence);
        let opens = (clause..at).all(|at| self.is(at, OPENERS) || self.is(at, besides));
        opens && !(sentence..at).any(|at| self.is(at, REPORTING))
    }

    /// Whether "…, he said" follows the token before `end`.
    fn is_reported(&self, end: usize) -> bool {
        let subject = self.is(end, PRONOUNS) || self.tokens.get(end).is_some_and(Token::capital);
        let marked =
            self.tokens.get(end.wrapping_sub(1)).is_some_and(|token| token.mark == Some(','));
        marked && subject && self.is(end + 1, REPORTING)
    }

    /// The name that the speaker has by a form which begins at token `at`.
    fn own_name(&self, at: usize, asked: bool) -> Option<String> {
        // Where the name begins, and whether the form is plain enough for any word.
        let (begin, plain) = if self.run(at, &["my", "name", "is"]) {
            (at + 3, true)
        } else if self.run(at, &["my", "name's"]) {
            (at + 2, true)
        } else if let Some(be) = [2, 1]
            .into_iter()
            .find(|be| if *be == 2 { self.run(at, &["i", "am"]) } else { self.run(at, &["i'm"]) })
        {
            let called = self.run(at + be, &["called"]);
            let known = self.run(at + be, &["known", "as"]);
            match (called, known) {
                (true, _) => (at + be + 1, true),
                (_, true) => (at + be + 2, true),
                _ => (at + be, false),
            }
        } else if self.run(at, &["i", "go", "by"]) {
            (at + 3, self.cased)
        } else if let Some(me) = self.calls_me(at) {
            (me + 1, self.cased)
        } else {
            return self.announced(at, asked);
        };
        let besides = if self.calls_me(at).is_some() { ALLOWING } else { "" };
        if !self.is_own(at, besides) || self.tokens[begin - 1].mark.is_some() {
            return None;
        }
        let (name, end) = self.name_at(begin, plain)?;
        (!self.is_reported(end)).then_some(name)
    }

    /// "call me", "everybody calls me" from token `at` on: where "me" stands.
    fn calls_me(&self, at: usize) -> Option<usize> {
        if self.run(at, &["call", "me"]) {
            return Some(at + 1);
        }
        let mut verb = at;
        while self.is(verb, BESIDE_CALLERS) {
            verb += 1;
        }
        if !self.is(verb, CALLERS) {
            return None;
        }
        verb += 1;
        while self.is(verb, BESIDE_CALLERS) {
            verb += 1;
        }
        (self.run(verb, &["call", "me"]) || self.run(verb, &["calls", "me"])).then_some(verb + 1)
    }

    /// "this is Ava speaking", "it's Ava here", "Ava here"; "it's Ava" in reply.
    fn announced(&self, at: usize, asked: bool) -> Option<String> {
        let led = if self.run(at, &["this", "is"]) || self.run(at, &["it", "is"]) {
            2
        } else {
            usize::from(self.run(at, &["it's"]))
        };
        if !self.is_own(at, "") {
            return None;
        }
        let (name, end) = match led {
            0 => {
                let first = self.tokens.get(at)?;
                if !(self.is_known)(first.word) && !among(FIRST_NAMES, &first.lower) {
                    return None;
                }
                (capitalised(first.word), at + 1)
            }
            _ => self.capitals(at + led)?,
        };
        let behind = self.is(end, "here speaking calling")
            && self.tokens[end - 1].mark.is_none()
            && (end + 1 == self.tokens.len() || self.tokens[end].mark.is_some());
        let replied =
            asked && led > 0 && (end == self.tokens.len() || self.tokens[end - 1].mark.is_some());
        (behind || replied).then_some(name)
    }

    /// The name that a reply to the question for it is.
    fn reply(&self) -> Option<String> {
        let mut at = 0;
        while self.is(at, OPENERS) {
            at += 1;
        }
        let first = self.tokens.get(at)?;
        if !(self.cased || among(FIRST_NAMES, &first.lower) || (self.is_known)(first.word)) {
            return None;
        }
        let (name, end) =
            if self.cased { self.capitals(at)? } else { (capitalised(first.word), at + 1) };
        let last = &self.tokens[end - 1];
        let asks = last.mark == Some('?');
        let over = end == self.tokens.len() || last.mark.is_some() || self.is(end, "is will and");
        (over && !asks && !self.is_reported(end)).then_some(name)
    }

    /// Somebody whom the speaker introduces: "this is my brother Ben", "meet my wife Eva".
    fn other_name(&self, at: usize) -> Option<String> {
        let led = [&["this", "is", "my"][..], &["these", "are", "my"], &["meet", "my"]];
        let led = led.into_iter().find(|led| self.run(at, led))?;
        if !self.cased || !self.is_own(at, "") {
            return None;
        }
        // What somebody is to the speaker: one to three words in small letters.
        let noun = at + led.len();
        let begin =
            (noun + 1..noun + 4).find(|at| self.tokens.get(*at).is_some_and(Token::capital))?;
        let relation = &self.tokens[noun..begin];
        if relation.iter().any(|token| token.capital() || token.ends_sentence()) {
            return None;
        }
        // "… my brother's house in Paris", "… my first time with Ben": the noun is not what is called so.
        if relation.last().is_none_or(|token| among(NO_NAME, &token.lower)) {
            return None;
        }
        let (name, end) = self.capitals(begin)?;
        (self.is_over(end) && !self.is_reported(end)).then_some(name)
    }

    /// The name at token `begin`, and where it ends; `plain`: behind this form any word that ends the phrase is one.
    fn name_at(&self, begin: usize, plain: bool) -> Option<(String, usize)> {
        let first = self.tokens.get(begin)?;
        if self.cased {
            let participle =
                |word: &str| word.len() > 5 && (word.ends_with("ing") || word.ends_with("ed"));
            if !self.telling && !plain && participle(&first.lower) {
                return None;
            }
            let (name, end) = self.capitals(begin)?;
            // In a plain form whatever follows in small letters is the sentence going on.
            return (plain && self.telling && !self.is_owner(end - 1) || self.is_over(end))
                .then_some((name, end));
        }
        if !is_word(first) || among(NO_NAME, &first.lower) {
            return None;
        }
        let common = among(FIRST_NAMES, &first.lower) || (self.is_known)(first.word);
        let over = self.is_over(begin + 1);
        (plain && (common || over) || common && over)
            .then(|| (capitalised(&first.lower), begin + 1))
    }

    /// Words with a capital from token `begin` on: at most a title and three, and where they end.
    fn capitals(&self, begin: usize) -> Option<(String, usize)> {
        let title = usize::from(self.tokens.get(begin).is_some_and(|token| {
            token.capital() && crate::names::is_title(&token.lower) && token.mark != Some(',')
        }));
        let first = self.tokens.get(begin + title)?;
        if !is_word(first) || !first.capital() || among(NO_NAME, &first.lower) {
            return None;
        }
        let mut end = begin + title + 1;
        while end < begin + title + 3
            && self.tokens[end - 1].mark.is_none()
            && self.tokens.get(end).is_some_and(|token| {
                token.capital()
                    && is_word(token)
                    && !among("i", &token.lower)
                    && !among(NO_NAME, &token.lower)
            })
        {
            end += 1;
        }
        if self.is_owner(end) && self.tokens[end - 1].mark.is_none() {
            return None;
        }
        let words: Vec<&str> = self.tokens[begin..end].iter().map(|token| token.word).collect();
        Some((words.join(" "), end))
    }

    /// Whether token `at` is somebody's, in the genitive.
    fn is_owner(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.capital() && token.lower.ends_with("'s"))
    }

    /// Whether the phrase is over before token `end`.
    fn is_over(&self, end: usize) -> bool {
        if end >= self.tokens.len() || self.tokens[end - 1].mark.is_some() {
            return true;
        }
        self.is(end, AFTER_NAME) || self.is(end, "and") && self.is(end + 1, CLAUSES)
    }
}

/// Whether a token may be a name by its letters.
fn is_word(token: &Token<'_>) -> bool {
    let letters =
        token.word.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '\u{2019}'));
    let short = token.word.chars().count() < 2;
    let elided = ["'s", "'m", "'ll", "'ve", "'re", "'d", "n't"];
    letters && !short && !elided.iter().any(|end| token.lower.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::{Introduced, asks_for_name, introduced, said_name};

    /// Rows of a set: the turn before by somebody else, the turn, the name that it gives its speaker or `-`.
    fn rows(set: &str) -> impl Iterator<Item = (bool, &str, Option<&str>)> {
        set.lines().map(|line| {
            let mut cells = line.split('\t');
            let mut next = || cells.next().unwrap_or_default();
            let (asked, text, name) = (asks_for_name(next()), next(), next());
            (asked, text, (name != "-").then_some(name))
        })
    }

    /// Names found and to be found, names found where there are none or others, and what went wrong.
    fn scored(set: &str) -> (usize, usize, usize, Vec<String>) {
        let (mut right, mut wanted, mut wrong, mut faults) = (0, 0, 0, Vec::new());
        for (asked, text, name) in rows(set) {
            let found = match introduced(text, asked, &|_| false) {
                Some(Introduced::Speaker(name)) => Some(name),
                _ => None,
            };
            wanted += usize::from(name.is_some());
            if found.as_deref() == name {
                right += usize::from(name.is_some());
                continue;
            }
            wrong += usize::from(found.is_some());
            faults.push(format!("{text}: {found:?}, not {name:?}"));
        }
        (right, wanted, wrong, faults)
    }

    #[test]
    fn introductions_nobody_looked_at_are_heard() {
        let (right, wanted, wrong, faults) =
            scored(include_str!("testdata/introductions_held.tsv"));
        assert!(right * 100 >= wanted * 95 && wrong <= 2, "{right} of {wanted}: {faults:#?}");
    }

    #[test]
    fn introductions_are_heard_and_reports_are_not() {
        let (right, wanted, wrong, faults) = scored(include_str!("testdata/introductions_dev.tsv"));
        assert!(right * 100 >= wanted * 97 && wrong == 0, "{right} of {wanted}: {faults:#?}");
    }

    #[test]
    fn somebody_else_is_introduced() {
        for (text, name) in [
            ("This is my brother Ben.", "Ben"),
            ("Hello, this is my new neighbour Agnieszka.", "Agnieszka"),
            ("Meet my wife Eva Novak, she's a doctor.", "Eva Novak"),
        ] {
            let found = introduced(text, false, &|_| false);
            assert_eq!(found, Some(Introduced::Other(name.to_owned())), "{text}");
        }
        for text in [
            "This is my brother.",
            "This is my brother's house in Paris.",
            "He said this is my brother Ben.",
            "This is my first time in Berlin.",
            "Is this my brother Ben?",
        ] {
            assert_eq!(introduced(text, false, &|_| false), None, "{text}");
        }
    }

    #[test]
    fn whoever_is_known_needs_no_capital() {
        let known = |word: &str| word == "siobhan";
        let found = introduced("hello i am siobhan", false, &known);
        assert_eq!(found, Some(Introduced::Speaker("Siobhan".to_owned())));
        assert_eq!(said_name("hello i am siobhan"), None);
    }

    #[test]
    fn names_are_heard_and_moods_are_not() {
        for (text, name) in [
            ("Hello, I am Ava.", "Ava"),
            ("I'm Ava, nice to meet you", "Ava"),
            ("My name is Ava Stone and I live here", "Ava Stone"),
            ("my name is ava", "Ava"),
            ("hello my name is john and i like tea", "John"),
            ("you can call me Ishmael.", "Ishmael"),
            ("This is Robert speaking.", "Robert"),
            ("hello i am peter", "Peter"),
            ("I\u{2019}m Zo\u{eb}!", "Zo\u{eb}"),
        ] {
            assert_eq!(said_name(text).as_deref(), Some(name), "{text}");
        }
        for text in [
            "I am tired",
            "I'm fine, thanks",
            "i am going home",
            "I'm Going Home",
            "i am hungry",
            "i am seven",
            "I am Legend is a film",
            "my name is not important",
            "call me later",
            "I am, Ava, tired",
            "she is Ava",
            "",
            "my name is",
            "I am English.",
            "this is here",
            "please don't call me Bob.",
            "i'm mark my words",
        ] {
            assert_eq!(said_name(text), None, "{text}");
        }
    }
}
