//! The `.msg` language of ROS 1 and ROS 2, with the types it uses behind separator lines
//! (<https://docs.ros.org/en/rolling/Concepts/Basic/About-Interfaces.html>, `gendeps --cat`).

use std::collections::{BTreeMap, VecDeque};

use super::built_in;
use super::types::{Definition, Field, Form, MAX_TYPES, MessageType, Shape, Wire, short_name};

/// Parses a concatenated definition.
pub(super) fn parse(schema: &str, wire: Wire, text: &str) -> Result<Definition, String> {
    let root = short_name(schema);
    let mut texts = sections(&root, text);
    let mut types = Vec::new();
    let mut places = BTreeMap::from([(root.clone(), 0)]);
    let mut wanted = VecDeque::from([root]);
    // Types are numbered in the order in which they are first used.
    while let Some(name) = wanted.pop_front() {
        let lines = match texts.remove(&name) {
            Some(lines) => lines,
            None => built_in::ros(&name, wire)
                .map(str::to_owned)
                .ok_or_else(|| format!("{name} is used and not defined"))?,
        };
        let mut fields = Vec::new();
        for line in lines.lines() {
            let Some(parsed) = field(line)? else { continue };
            let form = match primitive(parsed.base, wire) {
                Some(form) => form,
                None => {
                    let full = resolve(parsed.base, &name);
                    let next = places.len();
                    let place = *places.entry(full.clone()).or_insert_with(|| {
                        wanted.push_back(full);
                        next
                    });
                    Form::Record(place)
                }
            };
            fields.push(Field {
                name: parsed.name.to_owned(),
                number: 0,
                form,
                shape: parsed.shape,
            });
        }
        types.push(MessageType { name, fields });
        if places.len() > MAX_TYPES {
            return Err(format!("more than {MAX_TYPES} types"));
        }
    }
    Ok(Definition { types, wire })
}

/// The text of each type by its short name.
fn sections(root: &str, text: &str) -> BTreeMap<String, String> {
    let mut sections = BTreeMap::new();
    let (mut name, mut lines) = (root.to_owned(), String::new());
    for line in text.lines() {
        if line.starts_with("===") {
            sections.entry(std::mem::take(&mut name)).or_insert(std::mem::take(&mut lines));
        } else if let Some(named) = line.strip_prefix("MSG:").filter(|_| lines.trim().is_empty()) {
            name = short_name(named.trim());
        } else {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    sections.entry(name).or_insert(lines);
    sections
}

struct Parsed<'a> {
    base: &'a str,
    shape: Shape,
    name: &'a str,
}

/// One line; `None` where it has no field (empty, comment, constant).
fn field(line: &str) -> Result<Option<Parsed<'_>>, String> {
    let line = line.split('#').next().unwrap_or_default().trim();
    let Some((kind, rest)) = line.split_once(char::is_whitespace) else {
        return if line.is_empty() { Ok(None) } else { Err(format!("no field in {line:?}")) };
    };
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    if after.trim_start().starts_with('=') {
        return Ok(None); // a constant
    }
    if name.is_empty() {
        return Err(format!("no field name in {line:?}"));
    }
    let (base, shape) = match kind.strip_suffix(']').and_then(|kind| kind.rsplit_once('[')) {
        None => (kind, Shape::One),
        Some((base, "")) => (base, Shape::Sequence),
        Some((base, count)) if count.starts_with("<=") => (base, Shape::Sequence),
        Some((base, count)) => {
            let count = count.parse().map_err(|_| format!("array of {count:?} in {line:?}"))?;
            (base, Shape::Array(count))
        }
    };
    Ok(Some(Parsed { base, shape, name }))
}

fn primitive(base: &str, wire: Wire) -> Option<Form> {
    let integer = |bytes, signed| Some(Form::Integer { bytes, signed });
    match base.split("<=").next().unwrap_or_default() {
        "bool" => Some(Form::Bool),
        "uint8" | "char" | "byte" | "octet" => integer(1, false),
        "int8" => integer(1, true),
        "uint16" => integer(2, false),
        "int16" => integer(2, true),
        "uint32" => integer(4, false),
        "int32" => integer(4, true),
        "uint64" => integer(8, false),
        "int64" => integer(8, true),
        "float32" => Some(Form::Float { bytes: 4 }),
        "float64" => Some(Form::Float { bytes: 8 }),
        "string" => Some(Form::Text),
        "time" if wire == Wire::Ros1 => Some(Form::Time { signed: false }),
        "duration" if wire == Wire::Ros1 => Some(Form::Time { signed: true }),
        _ => None,
    }
}

/// The full name of a type that `user` names.
fn resolve(base: &str, user: &str) -> String {
    let short = short_name(base);
    match user.split_once('/') {
        _ if short.contains('/') => short,
        _ if short == "Header" => "std_msgs/Header".to_owned(),
        Some((package, _)) => format!("{package}/{short}"),
        None => short,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const TEXT: &str = "# a comment\nHeader header\nuint8 KIND=3\nstring NAME = a#b\n\
        float64[9] k # row major\nstring<=12[<=4] names\nPart[] parts\nint32 count 5\n\
        ================================================================================\n\
        MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n\
        ===\nMSG: mine/Part\nduration d\nbyte[] data\n";

    #[test]
    fn a_concatenated_definition_is_understood() {
        let found = parse("mine/Thing", Wire::Ros1, TEXT).unwrap();
        let names: Vec<_> = found.types.iter().map(|kind| kind.name.as_str()).collect();
        assert_eq!(names, ["mine/Thing", "std_msgs/Header", "mine/Part"]);
        let told: Vec<_> = found.types[0]
            .fields
            .iter()
            .map(|field| (field.name.as_str(), field.form, field.shape))
            .collect();
        assert_eq!(
            told,
            [
                ("header", Form::Record(1), Shape::One),
                ("k", Form::Float { bytes: 8 }, Shape::Array(9)),
                ("names", Form::Text, Shape::Sequence),
                ("parts", Form::Record(2), Shape::Sequence),
                ("count", Form::Integer { bytes: 4, signed: true }, Shape::One),
            ]
        );
        assert_eq!(found.types[1].fields[1].form, Form::Time { signed: false });
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = parse("mine/msg/Thing", Wire::Cdr, "other/Gone g").unwrap_err();
        assert_eq!(error, "other/Gone is used and not defined");
        assert!(parse("mine/msg/Thing", Wire::Cdr, "int32").is_err());
        assert!(parse("mine/msg/Thing", Wire::Cdr, "int32[x] a").is_err());
        assert!(parse("mine/msg/Thing", Wire::Cdr, "builtin_interfaces/Time stamp").is_ok());
    }
}
