//! Whether a quoted sentence tells of the deed that is asked for: that somebody bought the van does not tell who stole it.

use crate::memory::model::MemoryRow;
use crate::memory::telling_stems;
use crate::names::is_title;
use crate::recall::lexer::{Token, tokens};
use crate::recall::time_expr::time_expressions;

use super::demands::{Demands, is_plain};
use super::document::Evidence;
use super::facts::tell;
use super::near::{Sought, Told, is_word};
use super::question::{is_grammar, listed};
use super::reading::Reading;
use super::reply::Reply;
use super::whereabouts::is_preposition;

/// Verbs that stand for any other.
const LIGHT: &str =
    "do does did done have has had be been happen happened like mean get got go goes went";
/// What stands between "who" and what somebody did.
const BESIDE_WHO: &str = "else all has have had";
/// What stands between a name and what somebody did.
const ADVERBS: &str = "ever last first then also still never usually often and";
/// Begins a question for a deed of somebody who is named behind it.
const DOING: &str = "did does do has have had";
/// Says that something has to be done, before "to" and the verb.
const MODAL: &str = "need needs";
/// Join verbs.
const JOINING: &str = "or and";
/// What stands between "who" and what somebody is going to do.
const WILL: &str = "will would";
/// The same with a verb behind it: "is going to", "is looking after".
const BEING: &str = "is are was were am";
/// Behind that and before "to".
const GOING: &str = "going coming about supposed";
/// What begins a clause that tells which one is meant.
const WHICH: &str = "who that which whose";
/// What stands behind a deed and tells neither what it was done to nor where.
const ASIDE: &str =
    "earlier later early late back home alone together afterwards outside inside twice";
/// What helps a verb.
const HELPERS: &str = "is are was were am be been being got gets has have had will would can could may might must should \
    going also already just then still never always often usually only finally both all";
/// Of these, what makes a verb passive.
const PASSIVES: &str = "is are was were be been being got gets";
/// What two do to each other, whoever is named first.
const MUTUAL: &str = "meet met marry married swap swapped exchange exchanged play played talk talked speak spoken chat chatted \
    argue argued fight fought quarrel quarrelled hug hugged dance danced share shared see seen";
/// What a sentence holds that tells of company.
const COMPANY: &str = "with and together both";
/// How much confidence is left where not the best memory answers, but another.
const SECOND: f32 = 0.8;
/// How far a question for a deed begins behind its first word, at most.
const FIRST_WORDS: usize = 4;

/// A deed that is asked for.
#[derive(Clone, Debug, PartialEq)]
struct Deed {
    /// Its verb, as it is written.
    verb: String,
    /// Other verbs that would do: "take or borrow".
    others: Vec<String>,
    /// It is asked who did it.
    who: bool,
    /// With somebody.
    with: bool,
    /// Words of what it was done to, or where.
    objects: Vec<String>,
    /// Somebody is named behind it.
    named: bool,
    /// Whom the question names, lower case.
    names: Vec<String>,
    /// Of these, who is to have done it.
    doers: Vec<String>,
    /// In what other words it may be told.
    sought: Sought,
}

/// The reply from memories; where what answers tells of another deed, of one done to something else, or not who did it,
/// the next that tells it, or that it is not known.
pub(super) fn checked(reading: &Reading, question: &str, told: Reply) -> Reply {
    let times = time_expressions(question, reading.now(), &reading.wording.zone);
    let timed = |token: &Token| times.iter().any(|time| time.range.contains(&token.range.start));
    let deed = deed(&tokens(question), &timed);
    if told.abstained {
        return told;
    }
    let demands = Demands::of(reading, question);
    let plain = |item: &Evidence| reading.view.memory(item.memory?).filter(|row| is_plain(row));
    let amiss = |row: &MemoryRow| {
        let sentence = || tokens(&reading.rendered(&row.text));
        let of_the_deed = || deed.as_ref()?.amiss(&sentence(), &demands);
        demands.unmet(reading, row).or_else(of_the_deed)
    };
    let Some(row) = told.evidence.first().and_then(plain) else { return told };
    let Some(lead) = amiss(&row) else { return told };
    let tells_it = |item: &Evidence| plain(item).filter(|row| amiss(row).is_none());
    if (deed.is_some() || demands.has_needs())
        && let Some(row) = told.evidence.iter().find_map(tells_it)
    {
        let mut evidence = told.evidence;
        // What answers stands first.
        evidence.sort_by_key(|item| item.memory != Some(row.id));
        let reply = Reply::known(tell(reading, &row), row.entities.clone(), evidence);
        return Reply { confidence: told.confidence * SECOND, ..reply };
    }
    let text = format!("{lead}; what I remember of it: {}", told.text);
    Reply { evidence: told.evidence, entities: told.entities, ..Reply::unknown(&text) }
}

impl Deed {
    /// Why a sentence does not tell of it; `None`: it does.
    fn amiss(&self, sentence: &[Token], demands: &Demands) -> Option<&'static str> {
        let holds = |word: &String| sentence.iter().any(|token| is_word(word, token));
        let told_of =
            |noun: &String| holds(noun) || Sought::noun(noun).told(&[], sentence).is_some();
        let of_another = !self.objects.is_empty() && !self.objects.iter().any(told_of);
        let alone = !sentence.iter().any(|token| listed(COMPANY, &token.word));
        let place = |verb: &String| sentence.iter().position(|token| is_word(verb, token));
        // Of all that was asked, or not at all.
        let of_something = !self.objects.is_empty() || self.named || self.is_wish();
        let whole = of_something && self.objects.iter().all(told_of);
        // "Ava is in charge" needs not tell of what.
        let open = |told: &Told| told.alone && self.names.iter().any(holds);
        let otherwise = self.sought.told(&self.objects, sentence);
        let otherwise = otherwise.filter(|told| whole || open(told));
        let verb = place(&self.verb).or_else(|| self.others.iter().find_map(place));
        let verb = verb.filter(|_| !of_another && !self.sought.is_phrase());
        let by_verb = verb.map(|at| Told::directly(sentence, at));
        let told = || by_verb.into_iter().chain(otherwise);
        let Some(best) = told().find(|told| told.by_somebody).or_else(|| told().next()) else {
            let ruled = whole && !self.who && demands.is_ruled_by(sentence);
            return (!ruled).then_some("I don't know");
        };
        if otherwise.is_none() && self.is_of_somebody_else(sentence) {
            return Some("I don't know");
        }
        let nobody = self.with && alone || self.who && !best.by_somebody;
        nobody.then_some("I don't know who it was")
    }

    /// Whether another one is named who does it, wherever the sentence tells of it.
    fn is_of_somebody_else(&self, sentence: &[Token]) -> bool {
        let is_it = |at: &usize| is_word(&self.verb, &sentence[*at]);
        let own = |token: &&Token| self.doers.iter().any(|doer| is_word(doer, token));
        let another = |at: usize| {
            let named = doers(sentence, at);
            !named.is_empty() && !named.iter().any(own)
        };
        let mut places = (0..sentence.len()).filter(is_it).peekable();
        let told = places.peek().is_some() && !self.doers.is_empty();
        told && !listed(MUTUAL, &self.verb) && places.all(another)
    }

    /// "What did she want?" needs nothing that it was done to.
    fn is_wish(&self) -> bool {
        !self.who && listed("want wanted wants", &self.verb)
    }
}

/// The deed that a question asks for: "Who stole the van?", "What did Ava lose?" `timed`: whether a word is of a time.
fn deed(question: &[Token], timed: &dyn Fn(&Token) -> bool) -> Option<Deed> {
    let who = question.first()?.word == "who";
    let (mut helped, mut doers) = (0, Vec::new());
    let begin = if who {
        let beside = |token: &&Token| listed(BESIDE_WHO, &token.word);
        let begin = 1 + question[1..].iter().take_while(beside).count();
        helped = helping(&question[begin..]);
        begin + helped
    } else {
        let mut head = question.iter().take(FIRST_WORDS);
        let at = 1 + head.position(|token| listed(DOING, &token.word))?;
        let name = |token: &&Token| token.capital && !token.word.ends_with("'s");
        let names = question[at..].iter().take_while(|t| name(t) || listed(ADVERBS, &t.word));
        let taken = names.count();
        question.get(at).filter(name)?;
        let named = question[at..at + taken].iter().filter(name);
        doers = named.filter(|token| !is_title(&token.word)).collect();
        let behind = at + taken;
        let word = |at: usize| question.get(at).map_or("", |token| token.word.as_str());
        if listed(MODAL, word(behind)) && word(behind + 1) == "to" { behind + 2 } else { behind }
    };
    let verb = &question.get(begin)?.word;
    // Who needs to buy shoes needs shoes.
    let modal = helped == 0 && begin > 1 && question[begin - 1].word == "to";
    let modal = modal.then(|| question[begin - 2].word.clone());
    let sought = Sought::by(question, begin);
    // Of what nobody has done yet a sentence may tell in any words.
    let known = helped == 0 || sought.is_known();
    let is_verb = known && !listed(LIGHT, verb) && !is_grammar(verb) && !verb.contains('\'');
    let is_object = |token: &&Token| {
        let word = token.word.as_str();
        let name = token.capital || token.quoted || timed(token);
        let aside = is_grammar(word) || is_preposition(word) || listed(ASIDE, word);
        let part = sought.has(word) || word.ends_with("ly");
        !name && !aside && !part && !telling_stems(word).is_empty()
    };
    let is_name = |token: &&Token| {
        token.capital && !token.quoted && !timed(token) && !is_grammar(&token.word)
    };
    let joined = question[begin + 1..].chunks_exact(2);
    let joined = joined.take_while(|two| listed(JOINING, &two[0].word) && !two[1].capital);
    let mut others: Vec<String> = joined.map(|two| two[1].word.clone()).collect();
    let behind = &question[begin + 1 + 2 * others.len()..];
    others.extend(modal);
    let meant = by_clause(behind);
    let told = behind.iter().enumerate().filter(|(at, _)| Some(*at) != meant);
    let objects = told.map(|(_, token)| token).filter(is_object);
    let objects = objects.map(|token| token.word.clone()).collect();
    let with = who && question.windows(2).any(|two| two[0].word == "with" && two[1].capital);
    let named = behind.iter().any(|token| is_name(&token));
    let bare = |token: &Token| token.word.trim_end_matches("'s").to_owned();
    // A name in a clause that tells a time, too: "while Ava was in Bonn".
    let names = question[1..].iter().filter(|token| token.capital && !is_grammar(&token.word));
    let names = names.map(bare).collect();
    let doers = doers.into_iter().map(bare).collect();
    let verb = verb.clone();
    is_verb.then_some(Deed { verb, others, who, with, objects, named, names, doers, sought })
}

/// Whoever is named right before a verb: "Ava and Ben" of "Ava and Ben are flying"; nobody before a passive.
fn doers(sentence: &[Token], verb: usize) -> Vec<&Token> {
    let helps = |token: &&Token| !token.stop && listed(HELPERS, &token.word);
    let end = verb - sentence[..verb].iter().rev().take_while(helps).count();
    let being = sentence[end..verb].iter().any(|token| listed(PASSIVES, &token.word));
    if being && !sentence[verb].word.ends_with("ing") {
        return Vec::new();
    }
    let (mut named, mut joined) = (Vec::new(), false);
    for token in sentence[..end].iter().rev() {
        match token.word.as_str() {
            "and" if !token.stop => joined = true,
            title if is_title(title) => {}
            word if token.capital && !is_grammar(word) && (joined || !token.stop) => {
                named.push(token);
            }
            _ => break,
        }
    }
    named
}

/// How many words help the verb behind "who": "will", "is going to", "is" of "is looking".
fn helping(question: &[Token]) -> usize {
    let word = |at: usize| question.get(at).map_or("", |token| token.word.as_str());
    let is = listed(BEING, word(0));
    match (word(1), word(2)) {
        (going, "to") if is && listed(GOING, going) => 3,
        (verb, _) if is && verb.ends_with("ing") => 1,
        _ if listed(WILL, word(0)) => 1,
        _ => 0,
    }
}

/// The noun of which a clause with a name tells which one is meant: "carer" of "the carer who was in Bonn". A sentence
/// may tell of that one by the clause alone.
fn by_clause(words: &[Token]) -> Option<usize> {
    let at = words.iter().position(|token| listed(WHICH, &token.word) && !token.quoted)?;
    let named = words[at..].iter().any(|token| token.capital);
    at.checked_sub(1).filter(|_| named)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_question_tells_which_deed_it_is_about() {
        let verb = |text: &str| deed(&tokens(text), &|_| false).map(|deed| (deed.verb, deed.who));
        for (text, word, who) in [
            ("Who stole the white van?", "stole", true),
            ("Who else baked the cake?", "baked", true),
            ("Who has repaired the tap?", "repaired", true),
            ("When did Casimir sell the van?", "sell", false),
            ("What did Ines and June bake?", "bake", false),
            ("When did Tove last practise the violin?", "practise", false),
        ] {
            assert_eq!(verb(text), Some((word.to_owned(), who)), "{text}");
        }
        for text in [
            "Who is the lodger?",
            "Who has the thermos?",
            "What did June do on Friday?",
            "Where is the van?",
            "When did you last see Ava?",
            "Who",
            "",
        ] {
            assert_eq!(verb(text), None, "{text}");
        }
    }

    #[test]
    fn what_a_deed_was_done_to_stands_behind_it() {
        let objects = |text: &str| {
            let question = tokens(text);
            let timed = |token: &Token| token.word == "noon";
            deed(&question, &timed).map(|deed| deed.objects.join(" ")).unwrap_or_default()
        };
        for (text, wanted) in [
            ("Who broke the mirror in the hall at noon?", "mirror hall"),
            ("Who drove to the airport?", "airport"),
            ("When did Marika break the mirror?", "mirror"),
            ("Who practised the violin with Tove?", "violin"),
            ("Who phoned earlier?", ""),
            ("Who fell?", ""),
            ("What did Jun bake?", ""),
        ] {
            assert_eq!(objects(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_sentence_tells_of_the_deed_or_not() {
        for (question, sentence, tells) in [
            ("Who practised the violin with Tove?", "Tove practised the violin with Jun.", true),
            ("Who practised the violin with Tove?", "Jun and Tove practised the violin.", true),
            ("Who practised the violin with Tove?", "Tove practised the violin.", false),
            ("Who practised the violin?", "Tove practised the violin.", true),
            ("Who broke the mirror?", "Marika broke the vase.", false),
            ("Who repaired the faucet?", "June fixed the tap.", true),
            ("Who stole the van?", "Casimir bought the van.", false),
            ("Who owns the van?", "The van belongs to Casimir.", true),
            ("Who owns the van?", "The van is Casimir's.", true),
            ("Who donated the loom?", "The loom was a gift from the weavers.", true),
            ("Who donated the loom?", "The loom was sent last week.", false),
            ("Who won at darts?", "June beat Jun at darts.", true),
            ("Who won at darts?", "June beat Jun at chess.", false),
            ("Who is going to replace June?", "Jun takes over from June.", true),
            ("Who is going to replace June?", "June left the choir.", false),
            ("Who looked after the hens?", "Jun looked at the hens.", false),
            ("Who looked after the hens?", "Jun was minding the hens.", true),
            ("Who ran the farm while June was in Osaka?", "June is off. Jun is in charge.", true),
            ("Who ran the farm while June was in Osaka?", "Jun runs the bar.", false),
            ("Who took the place of the cook who was in Osaka?", "Jun is filling in.", true),
            ("Who owns the white van?", "The red van belongs to Casimir.", false),
            ("Who repaired the van?", "Casimir put a new wheel on the van.", true),
            ("What did Jun take or borrow?", "Jun borrowed the saw.", true),
            ("What did Jun want?", "Jun came to return the saw.", true),
            ("What did Jun want?", "Jun lives in Osaka.", false),
            ("When did Jun fly to Osaka?", "June is flying to Osaka, Jun stays here.", false),
            ("When did Jun fly to Osaka?", "June and Jun are flying to Osaka.", true),
            ("When did Jun fly to Osaka?", "June drove Jun home. He flew to Osaka.", true),
            ("When did Jun drive to Osaka?", "June drove to Kyoto. Jun drove to Osaka.", true),
            ("When did Jun meet June in Osaka?", "June met Jun in Osaka.", true),
            ("Has Jun returned the drum?", "June lent Jun the drum.", false),
            ("Has Jun returned the drum?", "Jun gave the drum back.", true),
        ] {
            let deed = deed(&tokens(question), &|_| false).unwrap();
            let amiss = deed.amiss(&tokens(sentence), &Demands::default());
            assert_eq!(amiss.is_none(), tells, "{question} {sentence}");
        }
    }

    #[test]
    fn a_passive_without_a_doer_tells_nobody() {
        let bare = |text: &str, verb: &str| {
            let sentence = tokens(text);
            let at = sentence.iter().position(|token| token.word == verb).unwrap();
            !Told::directly(&sentence, at).by_somebody
        };
        assert!(bare("The tent was lent to Marek.", "lent"));
        assert!(!bare("The tent was lent to Marek by Casimir.", "lent"));
        assert!(!bare("Casimir lent the tent to Marek.", "lent"));
        assert!(!bare("Casimir is lending the tent to Marek.", "lending"));
        assert!(!bare("Casimir is going to lend the tent to Marek.", "lend"));
    }
}
