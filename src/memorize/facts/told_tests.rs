//! What sentences state, and what states nothing.

#![allow(clippy::unwrap_used)]

use jiff::tz::TimeZone;

use super::stated::{Context, Stated};
use super::told::FactReader;
use crate::ids::{EntityId, EntityKind};
use crate::language::tests::shared;
use crate::memory::model::{FactAction, NameRow, NameSource};
use crate::memory::{Memory, StoreOptions, who_placed};
use crate::time::Timestamp;

/// A reader of facts, where the models are.
pub(crate) fn reader() -> Option<FactReader> {
    Some(FactReader::new(shared()?, TimeZone::UTC))
}

/// What each text states where `person_1` is Ava and `person_2` Ben Holt, said by Ava or told by nobody in particular.
fn facts(texts: &[&str], by_ava: bool) -> Option<Vec<Vec<String>>> {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    let at = Timestamp::from_nanos(1_764_000_000_000_000_000);
    let mut draft = memory.begin(at);
    for name in ["Ava", "Ben Holt"] {
        let entity = draft.new_entity(EntityKind::Person);
        let (name, source) = (name.to_owned(), NameSource::Told);
        draft.name(NameRow { entity, name, since: at, source, turn: None });
    }
    draft.commit().unwrap();
    let view = memory.view();
    let speaker = by_ava.then_some(EntityId::new(EntityKind::Person, 1));
    let context = Context { view: &view, speaker };
    let reader = reader()?;
    let read = |text: &&str| reader.stated(text, at, &context).iter().map(worded).collect();
    Some(texts.iter().map(read).collect())
}

/// "mug | location | in the sink | by Ben"; `over:` of what is no more, `also:` of what stands beside.
fn worded(one: &Stated) -> String {
    let lead = match one.wish {
        Some(FactAction::Retire) => "over: ",
        Some(_) => "also: ",
        None => "",
    };
    let who = who_placed(&one.text).map(|who| format!(" | by {who}")).unwrap_or_default();
    let fact = &one.fact;
    format!("{lead}{} | {} | {}{who}", fact.subject, fact.attribute, fact.value)
}

fn check(table: &[(&str, &str)], by_ava: bool) {
    let texts: Vec<&str> = table.iter().map(|(text, _)| *text).collect();
    let Some(found) = facts(&texts, by_ava) else { return };
    for ((text, wanted), found) in table.iter().zip(found) {
        assert_eq!(found.join(" & "), *wanted, "{text}");
    }
}

#[test]
fn things_are_where_they_are_said_to_be() {
    let table = [
        ("The keys are in the top drawer", "keys | location | in the top drawer"),
        ("The drill is now in the garage.", "drill | location | in the garage"),
        ("The ladder stands behind the house", "ladder | location | behind the house"),
        ("The coat hangs in the closet", "coat | location | in the closet"),
        ("The car is parked in the garage", "car | location | in the garage"),
        ("The bike is outside", "bike | location | outside"),
        ("The ring is next to the sink", "ring | location | next to the sink"),
        ("The remote is on top of the wardrobe", "remote | location | on top of the wardrobe"),
        ("The bag is at the end of the hall", "bag | location | at the end of the hall"),
        ("The laptop is in room 5", "laptop | location | in room 5"),
        ("The laptop is on Dr. Brown's desk.", "laptop | location | on Dr. Brown's desk"),
        (
            "The spare key to the front door is in the blue tin",
            "spare key to the front door | location | in the blue tin",
        ),
        ("Grandma's ring is in the safe", "grandma's ring | location | in the safe"),
        ("Ava’s umbrella is in the hall", "ava's umbrella | location | in the hall"),
        ("The mug's in the sink", "mug | location | in the sink"),
        ("We keep the scissors in the drawer", "scissors | location | in the drawer"),
        ("The phone is on the desk since yesterday", "phone | location | on the desk"),
        ("The bike is in the yard waiting for you", "bike | location | in the yard"),
        (
            "Ava's reading glasses are on the piano",
            "ava's reading glasses | location | on the piano",
        ),
        ("The old sewing machine is in the attic", "old sewing machine | location | in the attic"),
        (
            "The mug with the broken handle is in the sink",
            "mug with the broken handle | location | in the sink",
        ),
        ("There is a hammer in the toolbox", "also: hammer | location | in the toolbox"),
        ("There are two plates on the table", "also: plates | location | on the table"),
        ("The lamps are in the cellar", "lamps | location | in the cellar"),
        (
            "The salt and the pepper are on the table",
            "salt | location | on the table & pepper | location | on the table",
        ),
    ];
    check(&table, false);
}

#[test]
fn things_are_where_they_are_said_to_have_gone() {
    let table = [
        ("The keys turned up under the sofa", "keys | location | under the sofa"),
        ("I found the keys behind the sofa", "keys | location | behind the sofa"),
        ("Moved the chairs to the hall", "chairs | location | at the hall"),
        ("The car has gone to Kiel", "car | location | at Kiel"),
    ];
    check(&table, false);
}

#[test]
fn whoever_put_a_thing_somewhere_is_kept() {
    let table = [
        ("Ava put the drill in the shed", "drill | location | in the shed | by <person_1>"),
        ("Ben put the saw in Ava's room", "saw | location | in Ava's room | by Ben"),
        ("The plumber left his bag in the hall", "bag | location | in the hall | by the plumber"),
        ("Ben took the mug to the office", "mug | location | at the office | by Ben"),
        (
            "Ben keeps his bicycle in the cellar.",
            "ben's bicycle | location | in the cellar | by Ben",
        ),
        ("Ava left her bag in the hall", "ava's bag | location | in the hall | by <person_1>"),
        (
            "Ben put his keys and wallet on the desk",
            "ben's keys | location | on the desk | by Ben & ben's wallet | location | on the desk | by Ben",
        ),
        ("Ben took his coat from the hall", "over: ben's coat | location | the hall"),
        ("Someone left his hat on the bench", "hat | location | on the bench"),
        ("I put his keys in the drawer", "keys | location | in the drawer"),
        (
            "Ava moved the saw from the shed to the garage",
            "saw | location | at the garage | by <person_1>",
        ),
        ("The book was put on the shelf by Ben", "book | location | on the shelf | by Ben"),
        ("The book was put on the shelf by the window", "book | location | on the shelf"),
        ("Someone took the umbrella to the car", "umbrella | location | at the car"),
        ("I put the drill under the bench", "drill | location | under the bench"),
        ("The stapler was put on the shelf", "stapler | location | on the shelf"),
        ("The red drill was moved to the cellar", "red drill | location | at the cellar"),
        (
            "<person_2> puts the red mug on the shelf.",
            "red mug | location | on the shelf | by <person_2>",
        ),
    ];
    check(&table, false);
}

#[test]
fn what_is_no_more_is_over() {
    let table = [
        ("The keys are not in the drawer any more", "over: keys | location | in the drawer"),
        ("The lamp is no longer in the hall", "over: lamp | location | in the hall"),
        ("The cup isn't on the table", "over: cup | location | on the table"),
        ("The torch is gone", "over: torch | location | "),
        ("The mug is missing", "over: mug | location | "),
        ("My keys aren't here any more", "over: keys | location | "),
        ("There is no milk in the fridge", "over: milk | location | in the fridge"),
        ("Ben took the keys out of the drawer", "over: keys | location | the drawer"),
        ("Ava no longer likes jazz", "over: person_1 | likes | jazz"),
        ("I no longer like jazz, says Zoe.", ""),
        ("Ava doesn't like coffee any more", "over: person_1 | likes | coffee"),
        ("Ava is no longer vegetarian", "over: person_1 | status | vegetarian"),
        ("Ava doesn't live in Bonn", "over: person_1 | home | Bonn"),
        ("Ava moved out of Bonn", "over: person_1 | home | Bonn"),
        ("Ava isn't a nurse any more", "over: person_1 | job | nurse"),
    ];
    check(&table, false);
}

#[test]
fn a_note_means_by_a_pronoun_what_it_named() {
    let table = [
        (
            "The drill is not in the lab any more, Zoe took it to the shed.",
            "over: drill | location | in the lab & drill | location | at the shed | by Zoe",
        ),
        (
            "Zoe gave the torque wrench back to Max this morning. It hangs on the pegboard now.",
            "torque wrench | location | on the pegboard",
        ),
        (
            "The courier brought four parcels for Zoe, they are in the office.",
            "also: parcels | location | in the office",
        ),
        (
            "The new lens came with the post, it's lying on the desk.",
            "new lens | location | on the desk",
        ),
        ("Zoe found the key and put it in the drawer.", "key | location | in the drawer | by Zoe"),
        (
            "Ava is vegetarian. She likes soup and hates mushrooms.",
            "person_1 | status | vegetarian & person_1 | likes | soup & person_1 | dislikes | mushrooms",
        ),
        (
            "Ava lives in Bonn and works as a nurse",
            "person_1 | home | Bonn & person_1 | job | nurse",
        ),
        ("Zoe designs chairs. Her desk is in the hall.", "zoe's desk | location | in the hall"),
        (
            "Zoe's gloves turned up in the shed. They're on the bench now.",
            "zoe's gloves | location | in the shed & zoe's gloves | location | on the bench",
        ),
        (
            "Somebody left a bag in the cloakroom. Ben put it in the cupboard.",
            "also: bag | location | in the cloakroom & also: bag | location | in the cupboard | by Ben",
        ),
        (
            "Zoe takes sleeping pills. They are kept in the top drawer.",
            "also: sleeping pills | location | in the top drawer",
        ),
        ("The lamp is mended and hangs in the hall.", "lamp | location | in the hall"),
        ("The visitor is here and stands in the hall.", ""),
        (
            "The drill is in the box. It is on the shelf.",
            "drill | location | in the box & drill | location | on the shelf",
        ),
        ("Ava met Ben Holt. He likes tea.", "person_2 | likes | tea"),
        ("Ava is a nurse. She likes soup.", "person_1 | job | nurse & person_1 | likes | soup"),
        (
            "Ava likes soup and her sister hates mushrooms and works as a nurse",
            "person_1 | likes | soup",
        ),
        (
            "Ava likes soup and fresh bread and hates mushrooms",
            "person_1 | likes | soup & person_1 | likes | fresh bread & person_1 | dislikes | mushrooms",
        ),
        (
            "Ava and Ben Holt bought some chairs. They are in the hall.",
            "also: chairs | location | in the hall",
        ),
        (
            "The visitors brought two lamps. They are in the hall.",
            "also: lamps | location | in the hall",
        ),
        ("Ava said she likes tea.", ""),
        ("Where is the drill? It is in the shed.", "drill | location | in the shed"),
        ("Maybe the drill broke. It is in the shed.", "drill | location | in the shed"),
        ("It is in the shed.", ""),
        ("Zoe found the key and didn't put it in the drawer.", ""),
    ];
    check(&table, false);
}

#[test]
fn what_is_told_plainly_of_people_becomes_slots() {
    let table = [
        ("Ava likes oat milk.", "person_1 | likes | oat milk"),
        ("Yesterday it rained; Ben Holt really loves Running", "person_2 | likes | Running"),
        (
            "ava dislikes onions and garlic",
            "person_1 | dislikes | onions & person_1 | dislikes | garlic",
        ),
        ("<person_2> hates Mondays", "person_2 | dislikes | Mondays"),
        ("Ava doesn't like coffee", "person_1 | dislikes | coffee"),
        ("Ava now lives in Bad Honnef.", "person_1 | home | Bad Honnef"),
        ("Ava lives in a flat in Cologne", "person_1 | home | Cologne"),
        ("Ava moved to Munich", "person_1 | home | Munich"),
        ("Ava has moved from Bonn to Munich", "person_1 | home | Munich"),
        ("Ben Holt works as a night nurse", "person_2 | job | night nurse"),
        ("Ava is a teacher", "person_1 | job | teacher"),
        ("Ava is our metalworker.", "person_1 | job | metalworker"),
        ("Ava is our neighbour", ""),
        ("Ava is a troublemaker", ""),
        ("Ava is a teacher of music", "person_1 | job | teacher of music"),
        ("Ava's job is nurse", "person_1 | job | nurse"),
        ("Ava lives at 5 High Street", "person_1 | address | 5 High Street"),
        ("Ava's email is ava@example.org.", "person_1 | email | ava@example.org"),
        ("Ava works for Siemens", "person_1 | employer | Siemens"),
        ("Ava works at the hospital", "person_1 | employer | hospital"),
        ("Ava is 42 years old", "person_1 | age | 42"),
        ("Ava's phone number is 555-1", "person_1 | phone | 555-1"),
        ("Ava's birthday is on the 12th of May", "person_1 | birthday | 12th of May"),
        ("Ava's favorite color is dark green", "person_1 | favourite_colour | dark green"),
        ("Ava is vegetarian", "person_1 | status | vegetarian"),
        ("Ava is Ben Holt's sister.", "person_1 | relation | sister of <person_2>"),
        ("Ben Holt is Ava’s brother", "person_2 | relation | brother of <person_1>"),
        ("Ava is Clara's friend and tall", "person_1 | relation | friend of Clara"),
        ("Ben Holt's wife is called Mia", "person_2 | wife | Mia"),
        ("person_2 is called Old Ben", "person_2 | name | Old Ben"),
    ];
    check(&table, false);
}

#[test]
fn a_speaker_speaks_of_oneself() {
    let table = [
        (
            "I put the red mug on the kitchen table.",
            "red mug | location | on the kitchen table | by <person_1>",
        ),
        (
            "I put my keys in my coat pocket",
            "ava's keys | location | in Ava's coat pocket | by <person_1>",
        ),
        (
            "My bag and scarf and the lamp are in the hall",
            "ava's bag | location | in the hall & ava's scarf | location | in the hall & lamp | location | in the hall",
        ),
        ("My torch is not in my bag any more", "over: ava's torch | location | in Ava's bag"),
        (
            "I put the milk in the fridge yesterday evening",
            "milk | location | in the fridge | by <person_1>",
        ),
        ("I don't like onions", "person_1 | dislikes | onions"),
        ("I'm a plumber", "person_1 | job | plumber"),
        ("I am 42", "person_1 | age | 42"),
        ("i live in bonn", "person_1 | home | bonn"),
        ("i moved to bonn", "person_1 | home | bonn"),
        ("As I said, I live in Bonn", "person_1 | home | Bonn"),
        ("I like my new car", "person_1 | likes | Ava's new car"),
        ("my phone number is 0170 1234567", "person_1 | phone | 0170 1234567"),
        ("My birthday is in March", "person_1 | birthday | March"),
        ("MY BROTHER LIKES TEA AND I LIKE GREEN TEA", "person_1 | likes | green tea"),
        ("I LIVE IN BONN", "person_1 | home | bonn"),
        ("My wife is called Ava Stone", "person_1 | wife | Ava Stone"),
        ("My wife Eva likes tea", "person_1 | wife | Eva"),
        ("Ben Holt is my brother", "person_2 | relation | brother of <person_1>"),
        (
            "so the keys are in the drawer and i like green tea",
            "keys | location | in the drawer & person_1 | likes | green tea",
        ),
    ];
    check(&table, true);
}

#[test]
fn whatever_is_told_is_read_to_its_end() {
    let texts = crate::language::tests::endless();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let Some(found) = facts(&texts, true) else { return };
    assert_eq!(found.len(), texts.len());
}

#[test]
fn other_sentences_state_nothing() {
    let texts = [
        "The meeting is at ten",
        "My brother's birthday is in March",
        "The train is in an hour",
        "The party is at nine",
        "The key is in 5 minutes",
        "The film is at half past seven",
        "The pool is open in the summer",
        "The brochure is in general closed on Sundays",
        "My brother is in trouble",
        "The children are at risk of being late",
        "The house is on fire",
        "The book is on loan",
        "It is in the air",
        "Ava is in love",
        "Ava is at home",
        "Maybe I put the passport in the suitcase",
        "The mug might be in the sink",
        "If it rains, the umbrella is in the car",
        "The mug is usually on the shelf",
        "I think the mug is in the sink",
        "The keys are in the drawer or in the hall",
        "We used to keep the tools in the attic",
        "Tomorrow, the keys are in the drawer",
        "The fan is loud, the heater in the hall",
        "The film went to waste",
        "I found a mistake in the letter",
        "Ava will move to Bonn",
        "I would like to go",
        "Is the mug on the table",
        "The mug is on the table, isn't it?",
        "Does anybody know what Ava likes",
        "Is Ava Ben Holt's sister?",
        "Please put the cup in the sink.",
        "Don't put the mug on the table",
        "Ava put the cup in the sink please",
        "She told me: \"Well, my birthday is in March\"",
        "It is not true that the fork is in the sink and the knife is on the table",
        "Nobody said that the fork is in the sink and the knife is on the table",
        "Ben Holt denies that the fork is in the sink and the knife is on the table",
        "My heart is in the right place",
        "Ava lives in her own world",
        "Ava lives in the past",
        "My brother is Ava Stone's neighbour",
        "I did not put the mug on the table",
        "The phone was on the desk",
        "I put up with it in the end",
        "I left the house in the morning",
        "The meeting moved to Tuesday",
        "The meeting moved to the afternoon",
        "I moved to the sofa",
        "Ava moved to sales",
        "<person_2> moved to sales",
        "Ava is a bad cook",
        "Ava is a former teacher",
        "Ava is a friend of a nurse",
        "Ava's job is a nightmare",
        "Ava lives at home",
        "My address is wrong",
        "Ava's email is down",
        "Ava's phone is 300 euros",
        "Ava works at night",
        "Ava works as hard as Ben Holt",
        "Ava is 5 minutes late",
        "Ava is called away",
        "Ava is not Ben Holt's sister",
        "Ava is Ben Holt's sister Clara",
        "Ava likes it",
        "I like your turtles",
        "Clara likes tea",
        "Somebody like Ava lives in Bonn",
        "he is in",
        "",
    ];
    for by_ava in [false, true] {
        let Some(found) = facts(&texts, by_ava) else { return };
        for (text, found) in texts.iter().zip(found) {
            assert_eq!(found, Vec::<String>::new(), "{text}");
        }
    }
}

#[test]
fn who_is_somewhere_says_so_plainly() {
    let dir = tempfile::tempdir().unwrap();
    let view = Memory::open(dir.path(), &StoreOptions::default()).unwrap().view();
    let Some(reader) = reader() else { return };
    let named = |text: &str, overheard| {
        let at = Timestamp::from_nanos(0);
        reader.place_named(text, at, &view, overheard).unwrap_or_default()
    };
    // Told to the robot, and overheard.
    for (text, told, heard) in [
        ("We are in the kitchen now.", "kitchen", "kitchen"),
        ("Ok, now we're in the living room", "living room", "living room"),
        ("This room is the nursery.", "nursery", "nursery"),
        ("This is the larder.", "larder", "larder"),
        ("You are now in our workshop, robot.", "workshop", "workshop"),
        ("We are at the summer house now.", "summer house", "summer house"),
        ("We are at home.", "home", ""),
        ("This is the best cup of all", "", ""),
        ("this is my cup", "", ""),
        ("the kitchen is over there", "", ""),
        ("We are not in the kitchen.", "", ""),
        ("Are we in the kitchen?", "", ""),
        ("Maybe we are in the kitchen.", "", ""),
        ("We are in a hurry.", "", ""),
        ("We are in the middle of dinner.", "", ""),
        ("We are at the end.", "", ""),
        ("We are in trouble", "", ""),
        ("", "", ""),
    ] {
        assert_eq!([named(text, false), named(text, true)], [told, heard], "{text}");
    }
}
