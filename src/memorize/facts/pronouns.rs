//! Whom and what a note means by a pronoun, where it leaves no doubt, and of whom the second half of a sentence tells:
//! "The drill isn't in the lab any more, Ava took it to the shed", "She likes soup and hates mushrooms".
//!
//! The words meant take the pronoun's place; the grammar reads the clause like any other. A note that asks, supposes or
//! quotes is left as it is, as is one that named two that may be meant.

use super::phrase::{
    self, Clause, Word, is_capital, is_number, is_several, located, noun_phrase, thing,
};
use super::stated::Context;
use super::words::{
    AUXILIARIES, BETWEEN, BRINGS, CARRYING, DETERMINERS, FILLERS, HAVING, KEEPS, LEADS, NO_NAMES,
    NOW, OTHER_PREPOSITIONS, PEOPLE, PERSONS, PREPOSITIONS, PUTS, REMOVES, RESTS, SAID_OF, SAYING,
    SOMEBODY, STANDS, STOPS, SUBORDINATE, THIRD_PERSON, TURNED,
};
use crate::memory::natures::{HOUSES, RELATIONS, ROOMS, is_trade_word};

/// Longest name of somebody, words.
const LONGEST_NAME: usize = 3;
/// Of a note with more parts than this, what is meant is not looked for: each part is held against all before it.
const MOST_PARTS: usize = 64;

/// The clauses of a note, its pronouns resolved as far as it is short enough.
pub(super) fn resolved(
    text: &str,
    clauses: Vec<Vec<Word>>,
    context: &Context<'_>,
) -> Vec<Vec<Word>> {
    let ands = clauses.iter().flatten().filter(|word| word.lower == "and").count();
    if clauses.len() + ands > MOST_PARTS {
        return clauses;
    }
    let quotes = |word: &Word| SAYING.has(&word.lower);
    let quoted =
        text.contains(['"', '\u{201c}', '\u{201d}']) || clauses.iter().flatten().any(quotes);
    if quoted || !phrase::is_plain(text) {
        return clauses;
    }
    let mut earlier: Vec<Vec<Word>> = Vec::new();
    let mut found = Vec::new();
    for clause in clauses {
        let mut whole: Vec<Word> = Vec::new();
        for (nth, part) in clause.split(|word| word.lower == "and").enumerate() {
            let mut part = part.to_vec();
            if nth > 0 {
                whole.push(Word::plain("and"));
                give_subject(&whole, &mut part, context);
                give_thing(&whole, &mut part);
            }
            name_person(&earlier, &mut part, context);
            name_thing(&earlier, &mut part);
            whole.extend(part.iter().cloned());
            earlier.push(part);
        }
        found.push(whole);
    }
    found
}

/// "Ava likes soup and hates mushrooms": the second half is about Ava, too.
fn give_subject(before: &[Word], part: &mut Vec<Word>, context: &Context<'_>) {
    let Some(verb) = part.first().map(|word| word.lower.as_str()) else { return };
    let name = name_at(before);
    let (Some(first), Some(does)) = (name.first(), verb_behind(&before[name.len()..])) else {
        return;
    };
    let is_other = |word: &Word| SUBORDINATE.has(&word.lower);
    if before.iter().any(is_other) || is_opening(&first.lower) || tells_of_other(before, name) {
        return;
    }
    let said = THIRD_PERSON.iter().any(|(_, third)| *third == verb);
    let told = SAID_OF.iter().any(|(words, ..)| words.split(' ').next() == Some(does));
    let alone = !before[name.len()..].iter().any(|word| is_capital(&word.spelled));
    let put = (PUTS.has(verb) || BRINGS.has(verb)) && alone;
    if said && told && is_known(name, context) || put {
        part.splice(0..0, name.iter().cloned());
    }
}

/// "The lamp is mended and hangs in the hall": the second half is about the lamp, too.
fn give_thing(before: &[Word], part: &mut Vec<Word>) {
    let Some(verb) = part.first().map(|word| word.lower.as_str()) else { return };
    let goes_on = matches!(verb, "is" | "are" | "has" | "have" | "left" | "went" | "moved");
    let mut parts = before.split(|word| word.lower == "and").rev();
    let Some(told) = parts.find(|told| !told.is_empty()) else { return };
    if !goes_on && !STANDS.has(verb) {
        return;
    }
    let begin = told.iter().take_while(|word| FILLERS.has(&word.lower)).count();
    let told = &told[begin..];
    let lower: Vec<&str> = told.iter().map(|word| word.lower.as_str()).collect();
    let spelled: Vec<&str> = told.iter().map(|word| word.spelled.as_str()).collect();
    let len = name_of_thing(&lower);
    let name = Clause { lower: &lower[..len], spelled: &spelled[..len], cased: true };
    let Some(thing) = thing(name, false) else { return };
    let does = lower.get(len).is_some_and(|next| is_doing(next));
    let agrees = match lower.get(len).copied() {
        Some("is" | "was" | "has") => !thing.several,
        Some("are" | "were" | "have") => thing.several,
        _ => true,
    };
    let somebody = thing.key.split(' ').next_back().is_some_and(is_somebody);
    if does && agrees && !somebody {
        part.splice(0..0, told[..len].iter().cloned());
    }
}

/// Whether a part behind the first tells of somebody else: "… and her sister hates mushrooms".
fn tells_of_other(before: &[Word], name: &[Word]) -> bool {
    let other = |part: &[Word]| {
        let does = part.first().is_some_and(|first| is_verb(&first.lower));
        let who = |word: &Word| is_capital(&word.spelled) || is_somebody(&word.lower);
        let tells = |word: &Word| who(word) || is_verb(&word.lower);
        !does && name_at(part) != name && part.iter().any(tells)
    };
    before.split(|word| word.lower == "and").skip(1).any(other)
}

fn is_verb(word: &str) -> bool {
    is_doing(word)
        || THIRD_PERSON.iter().any(|(_, third)| *third == word)
        || SAID_OF.iter().any(|(words, ..)| words.split(' ').next() == Some(word))
}

/// The capitalised words that a clause begins with; none of a genitive.
fn name_at(words: &[Word]) -> &[Word] {
    let len = words.iter().take_while(|word| is_capital(&word.spelled)).count();
    let name = &words[..len];
    let genitive = name.iter().any(|word| word.lower.ends_with("'s"));
    if genitive || len > LONGEST_NAME { &[] } else { name }
}

/// The verb behind a name.
fn verb_behind(words: &[Word]) -> Option<&str> {
    let aside = |word: &&Word| BETWEEN.has(&word.lower) || AUXILIARIES.has(&word.lower);
    words.iter().find(|word| !aside(word)).map(|word| word.lower.as_str())
}

fn is_known(name: &[Word], context: &Context<'_>) -> bool {
    let words: Vec<&str> = name.iter().map(|word| word.lower.as_str()).collect();
    context.person(&words).is_some()
}

/// "She stays at home", "Her desk is upstairs", where one person alone was told of.
fn name_person(earlier: &[Vec<Word>], part: &mut [Word], context: &Context<'_>) {
    let at = part.iter().take_while(|word| FILLERS.has(&word.lower)).count();
    let Some(word) = part.get(at).map(|word| word.lower.as_str()) else { return };
    let genitive = matches!(word, "his" | "her");
    if !genitive && !matches!(word, "he" | "she") {
        return;
    }
    let Some(mut name) = person_told_of(earlier, context) else { return };
    if genitive {
        name.push_str("'s");
    }
    part[at] = Word::plain(&name);
}

/// The one person of whom the clauses tell; `None`: somebody else may be meant.
fn person_told_of(earlier: &[Vec<Word>], context: &Context<'_>) -> Option<String> {
    let mut told: Option<String> = None;
    for clause in earlier {
        let name = name_at(clause);
        let verb = verb_behind(&clause[name.len()..]).filter(|_| !name.is_empty());
        // "Ava is a nurse": that is Ava. "Ava is a friend of the plumber": the plumber is somebody else.
        let is = matches!(verb, Some("is" | "was" | "works"));
        let mut aside = false;
        let mut at = 0;
        while at < clause.len() {
            let run = &clause[at..];
            let len = run.iter().take_while(|word| is_capital(&word.spelled)).count();
            let lower = run[0].lower.as_str();
            if len == 0 || lower == "i" || phrase::is_time(lower) || at == 0 && is_opening(lower) {
                let leads = PREPOSITIONS.has(lower) || OTHER_PREPOSITIONS.has(lower);
                aside = lower != "as" && (aside || lower == "of" || leads);
                if is_somebody(lower) && (aside || !is) {
                    return None;
                }
                at += 1;
                continue;
            }
            let text: Vec<&str> = run[..len].iter().map(|word| word.spelled.as_str()).collect();
            let text = text.join(" ");
            let begins = at == 0 && name.len() == len && verb.is_some();
            let same = told.as_ref().is_some_and(|told| *told == text);
            let first = told.is_none() && (begins || is_known(&run[..len], context));
            if !same && !first {
                return None;
            }
            told = Some(text);
            at += len;
        }
    }
    told
}

/// Whether a word with which a sentence begins is no name.
fn is_opening(word: &str) -> bool {
    let lists = [DETERMINERS, FILLERS, NO_NAMES, SOMEBODY, PREPOSITIONS, OTHER_PREPOSITIONS, STOPS];
    lists.iter().any(|list| list.has(word)) || is_number(word)
}

fn is_somebody(word: &str) -> bool {
    is_trade_word(word) || RELATIONS.contains(&word) || PERSONS.has(word)
}

/// Whether the clauses tell of several who may be meant by "they": "Ava and Ben", "the visitors".
fn tells_of_people(clauses: &[Vec<Word>]) -> bool {
    let is_name = |clause: &Vec<Word>| {
        let is_none = |first: &Word| is_opening(&first.lower) || phrase::is_time(&first.lower);
        let first = name_at(clause).first().filter(|first| !is_none(first));
        first.is_some() && name_at(clause).len() == clause.len()
    };
    let several = |word: &Word| {
        PEOPLE.has(&word.lower) || word.lower.strip_suffix('s').is_some_and(is_somebody)
    };
    clauses.iter().any(|clause| is_name(clause) || clause.iter().any(several))
}

/// "It hangs on the wall", "… took it to the shed", where one thing alone was told of.
fn name_thing(earlier: &[Vec<Word>], part: &mut Vec<Word>) {
    let begin = part.iter().take_while(|word| FILLERS.has(&word.lower)).count();
    let does = |word: &Word| {
        let verb = word.lower.as_str();
        PUTS.has(verb) || BRINGS.has(verb) || REMOVES.has(verb) || KEEPS.has(verb)
    };
    let is_pronoun = |at: usize| matches!(part[at].lower.as_str(), "it" | "they" | "them");
    let opens = |at: usize| at == begin && part[at].lower != "them";
    let put = |at: usize| at > 0 && part[at].lower != "they" && does(&part[at - 1]);
    let at = (0..part.len()).find(|at| is_pronoun(*at) && (opens(*at) || put(*at)));
    let Some(at) = at else { return };
    let several = part[at].lower != "it";
    if several && tells_of_people(earlier) {
        return;
    }
    let told = things_told_of(earlier);
    let moved = at > begin || part.iter().any(|word| NOW.has(&word.lower));
    let Some((meant, placed)) = the_one(&told, several, moved) else { return };
    // "The drill is in the box. It is on the shelf": the box may be.
    if at > begin || !placed {
        part.splice(at..=at, meant.words.iter().cloned());
    }
}

/// A thing that the clauses tell of.
struct Told {
    words: Vec<Word>,
    key: String,
    several: bool,
    role: Role,
    /// It was told where it is.
    placed: bool,
}

/// What a thing is in its clause.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The clause tells what it is or does.
    Doing,
    /// Something is done to it.
    Done,
    /// It stands behind a preposition, or nobody can tell.
    Aside,
}

/// The one that "it", or "they", means, and whether it was told where it is. `moved`: what "it" means was put somewhere, or is
/// somewhere else now.
fn the_one(told: &[Told], several: bool, moved: bool) -> Option<(&Told, bool)> {
    let fit: Vec<&Told> = told.iter().filter(|one| one.several == several).collect();
    let meant = *fit.iter().rfind(|one| one.role != Role::Aside)?;
    // "Ava put a belt on the saw. It …", not "Ava left a bag in the hall. Ben put it …"
    let rival = |one: &Told| {
        one.role != Role::Aside || meant.role == Role::Done && !(moved && is_room(&one.key))
    };
    let others: Vec<&Told> = fit.iter().copied().filter(|one| one.key != meant.key).collect();
    let placed = fit.iter().any(|one| one.key == meant.key && one.placed);
    // No box is meant by "they".
    let elsewhere = several && others.is_empty();
    (!others.iter().any(|one| rival(one))).then_some((meant, placed && !elsewhere))
}

/// Whether what is called so cannot be carried: "the cloakroom".
fn is_room(key: &str) -> bool {
    let noun = key.split(' ').next_back().unwrap_or_default();
    let listed = |list: &str| list.split_ascii_whitespace().any(|room| room == noun);
    listed(ROOMS) || listed(HOUSES) || noun.ends_with("room")
}

/// The things that the clauses tell of, in order.
fn things_told_of(earlier: &[Vec<Word>]) -> Vec<Told> {
    let mut found = Vec::new();
    for clause in earlier {
        let lower: Vec<&str> = clause.iter().map(|word| word.lower.as_str()).collect();
        let spelled: Vec<&str> = clause.iter().map(|word| word.spelled.as_str()).collect();
        let whole = Clause { lower: &lower, spelled: &spelled, cased: true };
        let mut at = 0;
        while at < lower.len() {
            let owner = lower[at].ends_with("'s");
            // "Ava takes sleeping pills."
            let participle = is_doing(lower[at]) || lower[at].ends_with("ed");
            let bare = at > 0 && HAVING.has(lower[at - 1]) && !participle;
            let named = DETERMINERS.has(lower[at]) || is_number(lower[at]) || owner;
            let len = if named || bare { name_of_thing(&lower[at..]) } else { 0 };
            let owned = lower[at..at + len].iter().any(|word| word.ends_with("'s"));
            let len = if named || !owned { len } else { 0 };
            let thing = thing(whole.part(at..at + len), !named).filter(|_| len > 0);
            if let Some(thing) = thing.filter(|thing| named || thing.several) {
                let role = if named { role(&lower, at, at + len) } else { Role::Done };
                let role = if thing.theirs { Role::Aside } else { role };
                let placed = role == Role::Doing && is_placed(whole.from(at + len));
                let mut words = clause[at..at + len].to_vec();
                if DETERMINERS.has(&words[0].lower) {
                    words[0] = Word::plain(lower[at]);
                }
                if !named {
                    words.insert(0, owner_at(clause, at - 1));
                }
                // "A delivery of oak boards came. They …": the boards.
                let of = lower[at..at + len].iter().position(|word| *word == "of");
                let inner = of.filter(|_| !thing.several).map(|of| &clause[at + of + 1..at + len]);
                if let Some(inner) =
                    inner.filter(|inner| inner.last().is_some_and(|word| is_several(&word.lower)))
                {
                    let names: Vec<&str> = inner.iter().map(|word| word.lower.as_str()).collect();
                    let mut words = inner.to_vec();
                    if !DETERMINERS.has(&inner[0].lower) {
                        words.insert(0, Word::plain("some"));
                    }
                    let key = names.join(" ");
                    found.push(Told { words, key, several: true, role, placed: false });
                }
                found.push(Told { words, key: thing.key, several: thing.several, role, placed });
            }
            at += len.max(1);
        }
    }
    found
}

/// "Ava's" where she alone stands before that verb, else "some".
fn owner_at(clause: &[Word], verb: usize) -> Word {
    match name_at(clause) {
        [first, rest @ ..] if rest.len() + 1 == verb && !is_opening(&first.lower) => {
            let name = clause[..verb].iter().map(|word| word.spelled.as_str());
            Word::plain(&format!("{}'s", name.collect::<Vec<_>>().join(" ")))
        }
        _ => Word::plain("some"),
    }
}

/// How many words name a thing, up to the verb or the "back" behind it.
fn name_of_thing(words: &[&str]) -> usize {
    let ends = |at: &usize| {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let more = noun_phrase(&words[at + 1..]) > 0;
        // "The coat stands are here", "the top left drawer".
        let noun = is_being(next) || more && !DETERMINERS.has(next) && !is_number(next);
        let verb = is_doing(words[*at]) || LEADS.has(words[*at]);
        let turned = TURNED.has(words[*at]) && next == "up";
        *at > 1 && (verb && !noun || turned)
    };
    let len = noun_phrase(words);
    (0..len).find(ends).unwrap_or(len)
}

fn is_being(word: &str) -> bool {
    matches!(word, "is" | "are" | "was" | "were" | "has" | "have" | "does" | "do")
}

fn is_doing(word: &str) -> bool {
    let lists = [PUTS, BRINGS, REMOVES, KEEPS, STANDS, CARRYING];
    is_being(word) || lists.iter().any(|list| list.has(word))
}

/// What the words from there to there are in their clause.
fn role(lower: &[&str], from: usize, to: usize) -> Role {
    let next = lower.get(to).copied();
    let opens = lower[..from].iter().all(|word| FILLERS.has(word));
    // "The red box (and the green box …)" has no verb of its own.
    let does = next.is_none_or(|next| is_doing(next) || TURNED.has(next));
    let sound = !lower[from..to].iter().any(|word| word.ends_with("ly"));
    let verb = from.checked_sub(1).map(|at| lower[at]);
    match verb {
        _ if !sound => Role::Aside,
        _ if opens && does => Role::Doing,
        Some(verb) if is_doing(verb) && !next.is_some_and(is_doing) => Role::Done,
        _ => Role::Aside,
    }
}

/// Whether what follows a thing tells where it is.
fn is_placed(rest: Clause<'_>) -> bool {
    let verb = |word: &&&str| is_doing(word) || RESTS.has(word) || BETWEEN.has(word);
    let skip = rest.lower.iter().take_while(verb).count();
    skip > 0 && located(rest.from(skip)).is_some()
}
