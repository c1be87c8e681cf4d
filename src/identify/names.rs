//! Names that speakers give themselves: "my name is Ava", "I'm Ava", "call me Ava", "this is Ava speaking".
//!
//! Conservative: a wrong name is worse than none. With casing, a name starts with a capital and ends the phrase;
//! without (some recognisers write lower case only) "I am …" needs a common first name.

/// Words that follow "I am" and are no names.
const NO_NAME: &[&str] = &[
    "a",
    "able",
    "about",
    "afraid",
    "again",
    "all",
    "almost",
    "alone",
    "already",
    "also",
    "always",
    "an",
    "and",
    "angry",
    "as",
    "at",
    "awake",
    "aware",
    "away",
    "back",
    "bad",
    "because",
    "becoming",
    "being",
    "better",
    "bored",
    "busy",
    "but",
    "certain",
    "close",
    "cold",
    "coming",
    "concerned",
    "confused",
    "convinced",
    "cool",
    "cooking",
    "curious",
    "dead",
    "depressed",
    "different",
    "doing",
    "done",
    "down",
    "driving",
    "drunk",
    "eating",
    "either",
    "english",
    "even",
    "ever",
    "excited",
    "exhausted",
    "fine",
    "finished",
    "for",
    "free",
    "french",
    "from",
    "full",
    "german",
    "getting",
    "giving",
    "glad",
    "god",
    "going",
    "gonna",
    "good",
    "grateful",
    "great",
    "happy",
    "having",
    "he",
    "hear",
    "her",
    "here",
    "his",
    "home",
    "hot",
    "how",
    "hungry",
    "hurt",
    "if",
    "ill",
    "important",
    "in",
    "inside",
    "interested",
    "into",
    "it",
    "italian",
    "its",
    "just",
    "kidding",
    "late",
    "leaving",
    "left",
    "like",
    "living",
    "lonely",
    "looking",
    "lost",
    "lucky",
    "mad",
    "making",
    "married",
    "me",
    "mine",
    "more",
    "my",
    "near",
    "never",
    "new",
    "nice",
    "no",
    "nobody",
    "not",
    "nothing",
    "now",
    "of",
    "off",
    "ok",
    "okay",
    "old",
    "on",
    "one",
    "only",
    "open",
    "or",
    "our",
    "out",
    "outside",
    "over",
    "pleased",
    "pretty",
    "proud",
    "quite",
    "ready",
    "really",
    "reading",
    "right",
    "robot",
    "running",
    "sad",
    "safe",
    "saying",
    "scared",
    "serious",
    "she",
    "sick",
    "single",
    "sleepy",
    "so",
    "some",
    "somewhere",
    "sorry",
    "spanish",
    "speaking",
    "still",
    "strong",
    "stuck",
    "sure",
    "surprised",
    "taking",
    "talking",
    "tall",
    "telling",
    "terrible",
    "thankful",
    "that",
    "the",
    "their",
    "there",
    "they",
    "thinking",
    "thirsty",
    "this",
    "tired",
    "to",
    "today",
    "tomorrow",
    "too",
    "trying",
    "ugly",
    "under",
    "unknown",
    "up",
    "upset",
    "used",
    "very",
    "waiting",
    "walking",
    "we",
    "weak",
    "well",
    "what",
    "when",
    "where",
    "who",
    "why",
    "with",
    "without",
    "wondering",
    "working",
    "worried",
    "writing",
    "wrong",
    "yes",
    "you",
    "young",
    "your",
    "yours",
];

/// First names that are hardly ever anything else, for text without casing.
const FIRST_NAMES: &[&str] = &[
    "aaron",
    "abigail",
    "adam",
    "adrian",
    "alan",
    "albert",
    "alex",
    "alexander",
    "alice",
    "amanda",
    "amelia",
    "amy",
    "andrea",
    "andrew",
    "angela",
    "anna",
    "anne",
    "anthony",
    "arthur",
    "ava",
    "barbara",
    "benjamin",
    "betty",
    "brandon",
    "brenda",
    "brian",
    "bruce",
    "bryan",
    "carl",
    "carlos",
    "carol",
    "caroline",
    "catherine",
    "charles",
    "charlotte",
    "cheryl",
    "christina",
    "christine",
    "christopher",
    "claire",
    "cynthia",
    "daniel",
    "david",
    "deborah",
    "debra",
    "dennis",
    "diana",
    "diane",
    "donald",
    "donna",
    "dorothy",
    "douglas",
    "dylan",
    "edward",
    "elena",
    "elizabeth",
    "ella",
    "emily",
    "emma",
    "eric",
    "ethan",
    "eugene",
    "evelyn",
    "frances",
    "gabriel",
    "gary",
    "george",
    "gerald",
    "gloria",
    "gregory",
    "hannah",
    "harold",
    "heather",
    "helen",
    "henry",
    "isabella",
    "jack",
    "jacob",
    "jacqueline",
    "james",
    "janet",
    "janice",
    "jason",
    "jeffrey",
    "jennifer",
    "jeremy",
    "jerry",
    "jessica",
    "joan",
    "john",
    "jonathan",
    "jordan",
    "jose",
    "joseph",
    "joshua",
    "joyce",
    "juan",
    "judith",
    "judy",
    "julia",
    "julie",
    "justin",
    "karen",
    "katherine",
    "kathleen",
    "keith",
    "kelly",
    "kenneth",
    "kevin",
    "kimberly",
    "kyle",
    "larry",
    "laura",
    "lauren",
    "lawrence",
    "leo",
    "leon",
    "liam",
    "linda",
    "lisa",
    "logan",
    "louis",
    "lucas",
    "lucy",
    "luke",
    "madison",
    "margaret",
    "maria",
    "marie",
    "marilyn",
    "martha",
    "martin",
    "mary",
    "matthew",
    "megan",
    "melissa",
    "mia",
    "michael",
    "michelle",
    "mike",
    "nancy",
    "natalie",
    "nathan",
    "nicholas",
    "nicole",
    "noah",
    "nora",
    "oliver",
    "olivia",
    "oscar",
    "pamela",
    "patricia",
    "patrick",
    "paul",
    "peter",
    "philip",
    "rachel",
    "ralph",
    "randy",
    "raymond",
    "rebecca",
    "richard",
    "robert",
    "roger",
    "ronald",
    "rosa",
    "roy",
    "russell",
    "ruth",
    "ryan",
    "samantha",
    "samuel",
    "sandra",
    "sara",
    "sarah",
    "scott",
    "sean",
    "sharon",
    "shirley",
    "simon",
    "sophia",
    "sophie",
    "stephanie",
    "stephen",
    "steven",
    "susan",
    "teresa",
    "theresa",
    "thomas",
    "timothy",
    "tom",
    "tyler",
    "victoria",
    "vincent",
    "walter",
    "wayne",
    "william",
    "zachary",
    "zoe",
];

/// Words that may follow a name in text without punctuation.
const AFTER_NAME: &[&str] = &[
    "and", "but", "from", "hello", "here", "hi", "i", "i'm", "nice", "speaking", "the", "what",
    "who", "your",
];

struct Token<'a> {
    /// Letters, apostrophes and hyphens of the word.
    word: &'a str,
    /// Lower case, curly apostrophes made straight.
    lower: String,
    /// Punctuation ends the phrase after it.
    ends: bool,
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    text.split_whitespace()
        .filter_map(|raw| {
            let word = raw.trim_matches(|c: char| !c.is_alphanumeric());
            let tail = raw.rsplit_once(word).map_or("", |(_, tail)| tail);
            (!word.is_empty()).then(|| Token {
                word,
                lower: word.to_lowercase().replace('\u{2019}', "'"),
                ends: tail.contains([',', '.', '!', '?', ';', ':', '\u{2026}']),
            })
        })
        .collect()
}

/// The name the speaker gives himself or herself, if any: "I'm Ava" → `Ava`.
#[must_use]
pub fn said_name(text: &str) -> Option<String> {
    let tokens = tokens(text);
    let upper = text.chars().any(char::is_uppercase);
    let cased = upper && text.chars().any(char::is_lowercase);
    let is = |at: usize, words: &[&str]| {
        tokens.get(at).is_some_and(|token| words.contains(&token.lower.as_str()))
    };
    let ended = |at: usize| tokens.get(at).is_some_and(|token| token.ends);
    for at in 0..tokens.len() {
        // how the name is announced: where it begins, and whether the form is plain enough for any word
        let (begin, plain) = if is(at, &["my"]) && is(at + 1, &["name"]) && is(at + 2, &["is"]) {
            (at + 3, true)
        } else if is(at, &["my"]) && is(at + 1, &["name's"]) {
            (at + 2, true)
        } else if is(at, &["call"])
            && is(at + 1, &["me"])
            && (at == 0 || !is(at - 1, &["to", "don't", "not"]))
        {
            (at + 2, cased)
        } else if is(at, &["i"]) && is(at + 1, &["am"]) {
            (at + 2, false)
        } else if is(at, &["i'm"]) {
            (at + 1, false)
        } else if is(at, &["this"]) && is(at + 1, &["is"]) && is(at + 3, &["speaking", "here"]) {
            (at + 2, cased)
        } else {
            continue;
        };
        if begin == 0 || ended(begin - 1) {
            continue;
        }
        let Some(first) = tokens.get(begin) else { continue };
        let letters = first.word.chars().all(|c| c.is_alphabetic() || c == '-' || c == '\'');
        if !letters
            || first.word.chars().count() < 2
            || is(begin, NO_NAME)
            || first.lower.contains('\'')
        {
            continue;
        }
        let capital = |token: &Token<'_>| token.word.chars().next().is_some_and(char::is_uppercase);
        if !cased {
            let common = is(begin, FIRST_NAMES);
            let over = begin + 1 == tokens.len() || first.ends || is(begin + 1, AFTER_NAME);
            if plain && (common || over) || common && over {
                return Some(titled(&first.lower));
            }
            continue;
        }
        if !capital(first) {
            continue;
        }
        // a surname may follow; then the phrase must end
        let mut end = begin + 1;
        let mut name = first.word.to_owned();
        while end < tokens.len()
            && end < begin + 3
            && !tokens[end - 1].ends
            && capital(&tokens[end])
            && !is(end, &["i", "i'm"])
            && !is(end, NO_NAME)
        {
            name = format!("{name} {}", tokens[end].word);
            end += 1;
        }
        let over = end == tokens.len() || tokens[end - 1].ends || is(end, AFTER_NAME);
        if over {
            return Some(name);
        }
    }
    None
}

fn titled(lower: &str) -> String {
    let mut chars = lower.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::said_name;

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
