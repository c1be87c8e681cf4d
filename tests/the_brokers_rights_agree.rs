//! The rules for EMQX give the rights that those for Mosquitto give. Mosquitto's are tried on a real one
//! (`src/mqtt/tests/rights.rs`); EMQX is not run, so its file is held to the same table.

use std::collections::BTreeSet;

/// The robot that both files have as their example.
const ROBOT: &str = "kitchen-9f3c";
/// Stands for every user in a rule that is not one's alone.
const EVERYBODY: &str = "everybody";
/// Stands for the user's own name in such a rule's topic.
const OWN_NAME: &str = "<own name>";

/// Who, `publish` or `subscribe`, which topics.
type Rights = BTreeSet<(String, &'static str, String)>;

fn mosquitto() -> Rights {
    let robot = include_str!("../config/mosquitto/robot.acl").replace("ROBOT", ROBOT);
    let rules = include_str!("../config/mosquitto/engram.acl").to_owned() + &robot;
    let mut rights = Rights::new();
    let mut user = None;
    for line in rules.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (who, access, topic) = match words[..] {
            ["user", name] => {
                user = Some(name.to_owned());
                continue;
            }
            ["topic", access, topic] => {
                (user.clone().expect("nobody without a name has rights"), access, topic)
            }
            ["pattern", access, topic] => (EVERYBODY.to_owned(), access, topic),
            _ => panic!("{line}"),
        };
        let actions: &[&str] = match access {
            "read" => &["subscribe"],
            "write" => &["publish"],
            "readwrite" => &["publish", "subscribe"],
            _ => panic!("{line}"),
        };
        let topic = topic.replace("%u", OWN_NAME);
        rights.extend(actions.iter().map(|action| (who.clone(), *action, topic.clone())));
    }
    rights
}

fn emqx() -> Rights {
    let lines = include_str!("../config/emqx/acl.conf").lines();
    let code: Vec<&str> = lines.filter(|line| !line.starts_with('%')).collect();
    let code = code.join("\n");
    let mut rest = code.trim();
    let mut rules = Vec::new();
    while !rest.is_empty() {
        rules.push(term(&mut rest));
        rest = rest.strip_prefix('.').expect("a dot behind each rule").trim_start();
    }
    let nothing_else = Term::Tuple(vec![Term::Atom("deny".into()), Term::Atom("all".into())]);
    assert_eq!(rules.pop(), Some(nothing_else), "what no rule allows is refused");
    let mut rights = Rights::new();
    for rule in rules {
        let Term::Tuple(parts) = &rule else { panic!("{rule:?}") };
        let [Term::Atom(verdict), who, Term::Atom(action), Term::List(topics)] = &parts[..] else {
            panic!("{parts:?}")
        };
        assert_eq!(verdict, "allow", "{parts:?}");
        let actions: &[&str] = match action.as_str() {
            "subscribe" => &["subscribe"],
            "publish" => &["publish"],
            "all" => &["publish", "subscribe"],
            _ => panic!("{parts:?}"),
        };
        for topic in topics {
            let Term::Text(topic) = topic else { panic!("{topic:?}") };
            let topic = topic.replace("${username}", OWN_NAME);
            rights.extend(actions.iter().map(|action| (name(who), *action, topic.clone())));
        }
    }
    rights
}

/// Of whom an Erlang rule speaks: `all` or `{username, "name"}`.
fn name(who: &Term) -> String {
    match who {
        Term::Atom(all) if all == "all" => EVERYBODY.to_owned(),
        Term::Tuple(parts) => match &parts[..] {
            [Term::Atom(kind), Term::Text(name)] if kind == "username" => name.clone(),
            _ => panic!("{who:?}"),
        },
        _ => panic!("{who:?}"),
    }
}

/// As much of Erlang as rules are written in.
#[derive(Debug, PartialEq)]
enum Term {
    Atom(String),
    Text(String),
    Tuple(Vec<Term>),
    List(Vec<Term>),
}

/// The term at the beginning of `rest`, which goes on behind it.
fn term(rest: &mut &str) -> Term {
    if after(rest, "{") {
        return Term::Tuple(members(rest, "}"));
    }
    if after(rest, "[") {
        return Term::List(members(rest, "]"));
    }
    if after(rest, "\"") {
        let (text, behind) = rest.split_once('"').expect("a closing quote");
        let text = Term::Text(text.to_owned());
        *rest = behind;
        return text;
    }
    let letters = rest.chars().take_while(|letter| letter.is_ascii_lowercase()).count();
    assert!(letters > 0, "no term at {rest:?}");
    let (atom, behind) = rest.split_at(letters);
    let atom = Term::Atom(atom.to_owned());
    *rest = behind;
    atom
}

/// The terms up to `end`, with commas between them.
fn members(rest: &mut &str, end: &str) -> Vec<Term> {
    let mut members = Vec::new();
    while !after(rest, end) {
        members.push(term(rest));
        after(rest, ",");
    }
    members
}

/// Goes on behind `mark` and the spaces around it, where it comes next.
fn after(rest: &mut &str, mark: &str) -> bool {
    let here = rest.trim_start();
    let behind = here.strip_prefix(mark);
    // A space within a text is part of it.
    *rest = behind.map_or(here, |behind| if mark == "\"" { behind } else { behind.trim_start() });
    behind.is_some()
}

#[test]
fn emqx_gives_the_rights_that_mosquitto_gives() {
    let (mosquitto, emqx) = (mosquitto(), emqx());
    let unlike: Vec<_> = mosquitto.symmetric_difference(&emqx).collect();
    assert!(unlike.is_empty(), "one file has, and the other has not: {unlike:?}");
    assert!(mosquitto.len() > 20, "{mosquitto:?}");
}

#[test]
fn only_the_operator_and_the_robot_itself_may_change_a_memory() {
    for command in [
        "query", "remember", "forget", "pin", "name", "people", "feedback", "privacy", "snapshot",
        "watch",
    ] {
        let topic = format!("engram/+/{command}");
        for rights in [mosquitto(), emqx()] {
            let may = rights.iter().filter(|(_, action, at)| *action == "publish" && *at == topic);
            assert_eq!(may.map(|(who, ..)| who.as_str()).collect::<Vec<_>>(), ["operator"]);
            let of_robots = rights.iter().filter(|(_, _, at)| at.starts_with("engram/kitchen"));
            assert!(of_robots.clone().count() > 0);
            assert!(of_robots.into_iter().all(|(who, ..)| who == ROBOT));
        }
    }
}
