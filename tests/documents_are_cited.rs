//! `remember --file`: passages of a text, a Markdown file and a PDF are noted with their places, answers cite them, what is told
//! again is told anew, and a forgotten document is gone.

use lopdf::content::{Content, Operation};
use lopdf::{Dictionary, Document, Object, Stream, dictionary};
use serde_json::{Value, json};

use crate::support::broker::wait_for;
use crate::support::daemon::{Daemon, embedded};
use crate::support::{Robot, need};

const MANUAL: &str = "# Robot 9000

## Cleaning

Empty the dust box after every third run.

Wash the filter under cold water once a week, and let it dry for a day.

## Battery

The battery lasts ninety minutes. It is charged within four hours.

## Warranty

The warranty covers two years.
";

/// Writes a file beside the store; its path.
fn file(robot: &Robot, name: &str, bytes: &[u8]) -> String {
    let path = robot.dir.path().with_extension("files");
    std::fs::create_dir_all(&path).unwrap();
    let path = path.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

fn refused(robot: &Robot, args: &[&str]) -> String {
    let done = robot.run(args);
    assert_eq!(done.status.code(), Some(1), "{args:?}");
    String::from_utf8_lossy(&done.stderr).into_owned()
}

/// A PDF with a page of lines each: the size of the letters, and the words.
fn pdf(pages: &[&[(i64, &str)]]) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let tree = document.new_object_id();
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica", "Encoding" => "WinAnsiEncoding",
    });
    let resources = document.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let mut kids = Vec::new();
    for lines in pages {
        let mut operations = vec![Operation::new("BT", vec![])];
        let mut y = 760;
        for (size, words) in *lines {
            operations.push(Operation::new("Tf", vec!["F1".into(), (*size).into()]));
            let matrix = [1, 0, 0, 1, 60, y].map(Object::from).to_vec();
            operations.push(Operation::new("Tm", matrix));
            operations.push(Operation::new("Tj", vec![Object::string_literal(*words)]));
            y -= if words.ends_with('.') { 40 } else { 14 };
        }
        operations.push(Operation::new("ET", vec![]));
        let content = Content { operations }.encode().unwrap();
        let content = document.add_object(Stream::new(Dictionary::new(), content));
        let page = document.add_object(dictionary! {
            "Type" => "Page", "Parent" => tree, "Contents" => content, "Resources" => resources,
            "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
        });
        kids.push(Object::from(page));
    }
    let count = kids.len() as i64;
    let pages = dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count };
    document.objects.insert(tree, Object::Dictionary(pages));
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_manual_is_cited_told_anew_and_forgotten() {
    let robot = Robot::new("edge");
    let manual = file(&robot, "manual.md", MANUAL.as_bytes());
    let told = robot.json(&["remember", "--file", &manual, "--json"]);
    assert_eq!(
        (&told["document"], &told["new"]),
        (&"manual.md".into(), &told["passages"]),
        "{told}"
    );
    let ask = |question: &str| robot.json(&["ask", question, "--json"]);
    let answer = ask("How often must the filter be washed?");
    let place = &answer["evidence"][0]["document"];
    assert_eq!(
        (&place["document"], &place["heading"]),
        (&"manual.md".into(), &"Cleaning".into()),
        "{answer}"
    );
    assert_eq!((&place["line"], &place["page"]), (&5.into(), &Value::Null), "{answer}");
    let said = answer["answer"].as_str().unwrap();
    assert!(said.starts_with("manual.md (\u{201c}Cleaning\u{201d}, lines 5 to 7): "), "{said}");
    assert!(said.contains("once a week"), "{said}");

    // What somebody said of it comes first; a document does not speak for the room.
    robot.json(&["remember", "Ava washed the filter yesterday.", "--json"]);
    let answer = ask("Who washed the filter?");
    assert!(answer["answer"].as_str().unwrap().contains("Ava"), "{answer}");

    // Told again with another battery: the rest stays under its ids, with its new lines.
    let ids = || {
        let query = "SELECT heading, memory, line FROM passages ORDER BY number";
        robot.json(&["sql", query, "--json"])["rows"].as_array().unwrap().clone()
    };
    let before = ids();
    let other = format!("Read this first.\n\n{}", MANUAL.replace("ninety minutes", "two hours"));
    file(&robot, "manual.md", other.as_bytes());
    let told = robot.json(&["remember", "--file", &manual, "--json"]);
    assert_eq!(
        (&told["new"], &told["same"], &told["gone"]),
        (&2.into(), &2.into(), &1.into()),
        "{told}"
    );
    let after = ids();
    let of = |rows: &[Value], heading: &str| {
        rows.iter().find(|row| row[0] == heading).map(|row| (row[1].clone(), row[2].clone()))
    };
    let ((was, line), (is, now)) =
        (of(&before, "Warranty").unwrap(), of(&after, "Warranty").unwrap());
    assert_eq!((was, line.as_i64().unwrap() + 2), (is, now.as_i64().unwrap()));
    assert_ne!(of(&before, "Battery"), of(&after, "Battery"));
    let battery = ask("How long does the battery last?");
    let said = battery["answer"].as_str().unwrap();
    assert!(said.contains("two hours") && !said.contains("ninety"), "{said}");

    let listed = robot.json(&["documents", "--json"]);
    assert_eq!(listed["documents"].as_array().unwrap().len(), 1, "{listed}");
    robot.json(&["forget", "--document", "manual.md", "--json"]);
    assert_eq!(robot.json(&["documents", "--json"]), json!({ "documents": [] }));
    let gone = ask("How long does the battery last?");
    assert_eq!(gone["abstained"], true, "{gone}");
    let bytes = std::fs::read(robot.dir.path().join("engram.db")).unwrap();
    for word in ["ninety minutes", "two hours", "manual.md"] {
        assert!(!bytes.windows(word.len()).any(|part| part == word.as_bytes()), "{word}");
    }
    let again = refused(&robot, &["forget", "--document", "manual.md"]);
    assert!(again.contains("document called \"manual.md\""), "{again}");
}

#[test]
fn a_pdf_is_read_with_pages_and_headings_and_what_is_none_is_refused() {
    let robot = Robot::new("edge");
    let bytes = pdf(&[
        &[
            (18, "Coffee machine"),
            (10, "Fill the tank with fresh water. The tank holds"),
            (10, "one and a half litres."),
        ],
        &[(18, "Descaling"), (10, "Descale the machine every three months with citric acid.")],
    ]);
    let path = file(&robot, "coffee.pdf", &bytes);
    robot.json(&["remember", "--file", &path, "--json"]);
    let answer = robot.json(&["ask", "How often must the machine be descaled?", "--json"]);
    let place = &answer["evidence"][0]["document"];
    let wanted = json!({ "document": "coffee.pdf", "heading": "Descaling", "page": 2, "line": 2, "last_line": 2 });
    assert_eq!(*place, wanted, "{answer}");
    let tank = robot.json(&["sql", "SELECT text FROM passages ORDER BY number", "--json"]);
    let text = tank["rows"][0][0].as_str().unwrap();
    assert!(text.ends_with("The tank holds one and a half litres."), "{text}");

    let say = |name: &str, bytes: &[u8]| {
        let path = file(&robot, name, bytes);
        refused(&robot, &["remember", "--file", &path])
    };
    assert!(
        say("scan.pdf", &pdf(&[&[], &[]])).contains("its 2 pages are pictures without letters")
    );
    assert!(
        say("broken.pdf", b"%PDF-1.7\nnothing of it is there").contains("no PDF that can be read")
    );
    let nested = [b"%PDF-1.4\n1 0 obj\n".as_slice(), &b"[".repeat(2_000_000)].concat();
    assert!(say("nested.pdf", &nested).contains("nested.pdf"));
    assert!(say("half.pdf", &bytes[..bytes.len() / 2]).contains("half.pdf"));
    assert!(say("blank.txt", b" \n\n ").contains("no words in it"));
    assert!(say("latin.txt", b"caf\xe9 au lait").contains("byte 3 begins no character"));
    assert!(refused(&robot, &["remember", "--file", "/nowhere.md"]).contains("/nowhere.md"));
    assert_eq!(robot.json(&["documents", "--json"])["documents"][0]["pages"], 2);
}

#[test]
fn a_document_is_told_to_the_daemon_that_runs() {
    need!("models");
    let (robot, _, port) = embedded();
    let _daemon = Daemon::start(&robot, &["run"]);
    wait_for("the broker", 60, || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
    let manual = file(&robot, "manual.md", MANUAL.as_bytes());
    let told = robot.json(&["remember", "--file", &manual, "--as", "the manual", "--json"]);
    assert_eq!((&told["ok"], &told["document"]), (&true.into(), &"the manual".into()), "{told}");
    let answer = robot.json(&["ask", "How long is the warranty?", "--json"]);
    assert_eq!(answer["evidence"][0]["document"]["heading"], "Warranty", "{answer}");
    let forgotten = robot.json(&["forget", "--document", "the manual", "--json"]);
    assert_eq!(forgotten["ok"], true, "{forgotten}");
}
