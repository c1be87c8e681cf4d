//! Protobuf's `FileDescriptorSet` (descriptor.proto), as MCAP carries it.

use std::collections::{BTreeMap, VecDeque};

use super::types::{Definition, Field, Form, MAX_TYPES, MessageType, Shape, Wire};
use crate::capture::bag::decode::value::protobuf::{Wired, fields};

/// Messages in messages in a descriptor; protobuf's own limit is 32.
const MAX_NESTING: u32 = 32;

/// Parses the set and takes out the type of that name with everything it uses.
pub(super) fn parse(schema: &str, set: &[u8]) -> Result<Definition, String> {
    let mut declared = BTreeMap::new();
    for (number, file) in each(set)? {
        if number == 1 {
            gather_file(file, &mut declared)?;
        }
    }
    let mut places = BTreeMap::from([(schema.to_owned(), 0)]);
    let mut wanted = VecDeque::from([schema.to_owned()]);
    let mut types = Vec::new();
    while let Some(name) = wanted.pop_front() {
        let Some(declared) = declared.get(&name) else {
            return Err(format!("{name} is used and not defined"));
        };
        let mut fields = Vec::new();
        for field in declared {
            let form = match field.form(&mut places, &mut wanted) {
                Some(form) => form,
                None => continue, // a group: skipped on the wire
            };
            let shape = if field.repeated { Shape::Sequence } else { Shape::One };
            fields.push(Field { name: field.name.clone(), number: field.number, form, shape });
        }
        types.push(MessageType { name, fields });
    }
    Ok(Definition { types, wire: Wire::Protobuf })
}

/// Its length-delimited fields.
fn each(bytes: &[u8]) -> Result<Vec<(u32, &[u8])>, String> {
    let mut found = Vec::new();
    for field in fields(bytes) {
        if let (number, Wired::Bytes(bytes)) = field? {
            found.push((number, bytes));
        }
    }
    Ok(found)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

struct Declared {
    name: String,
    number: u32,
    repeated: bool,
    /// `FieldDescriptorProto.Type`.
    kind: u64,
    type_name: String,
}

impl Declared {
    fn form(
        &self,
        places: &mut BTreeMap<String, usize>,
        wanted: &mut VecDeque<String>,
    ) -> Option<Form> {
        let varint = |signed, zigzag| Form::Varint { signed, zigzag };
        Some(match self.kind {
            1 => Form::Float { bytes: 8 },
            2 => Form::Float { bytes: 4 },
            3 | 5 | 14 => varint(true, false),
            4 | 13 => varint(false, false),
            6 => Form::Integer { bytes: 8, signed: false },
            7 => Form::Integer { bytes: 4, signed: false },
            8 => Form::Bool,
            9 => Form::Text,
            11 => {
                let name = self.type_name.trim_start_matches('.').to_owned();
                let next = places.len();
                Form::Record(*places.entry(name.clone()).or_insert_with(|| {
                    wanted.push_back(name);
                    next
                }))
            }
            12 => Form::Bytes,
            15 => Form::Integer { bytes: 4, signed: true },
            16 => Form::Integer { bytes: 8, signed: true },
            17 | 18 => varint(true, true),
            _ => return None,
        })
    }
}

type Messages = BTreeMap<String, Vec<Declared>>;

/// `FileDescriptorProto`: package = 2, message_type = 4.
fn gather_file(file: &[u8], declared: &mut Messages) -> Result<(), String> {
    let fields = each(file)?;
    let package = fields.iter().find(|(number, _)| *number == 2);
    let package = package.map(|(_, bytes)| text(bytes)).unwrap_or_default();
    for (_, message) in fields.iter().filter(|(number, _)| *number == 4) {
        gather_message(message, &package, 0, declared)?;
    }
    Ok(())
}

/// `DescriptorProto`: name = 1, field = 2, nested_type = 3.
fn gather_message(
    message: &[u8],
    scope: &str,
    nesting: u32,
    declared: &mut Messages,
) -> Result<(), String> {
    if nesting > MAX_NESTING || declared.len() >= MAX_TYPES {
        return Err("a descriptor nested too deeply or with too many types".to_owned());
    }
    let parts = each(message)?;
    let name = parts.iter().find(|(number, _)| *number == 1);
    let name = name.map(|(_, bytes)| text(bytes)).unwrap_or_default();
    let full = if scope.is_empty() { name } else { format!("{scope}.{name}") };
    let mut own = Vec::new();
    for (number, bytes) in parts {
        match number {
            2 => own.push(field(bytes)?),
            3 => gather_message(bytes, &full, nesting + 1, declared)?,
            _ => {}
        }
    }
    declared.entry(full).or_insert(own);
    Ok(())
}

/// `FieldDescriptorProto`: name = 1, number = 3, label = 4, type = 5, type_name = 6.
fn field(bytes: &[u8]) -> Result<Declared, String> {
    let mut declared = Declared {
        name: String::new(),
        number: 0,
        repeated: false,
        kind: 0,
        type_name: String::new(),
    };
    for part in fields(bytes) {
        match part? {
            (1, Wired::Bytes(bytes)) => declared.name = text(bytes),
            (3, Wired::Varint(number)) => {
                declared.number = u32::try_from(number).unwrap_or_default();
            }
            (4, Wired::Varint(label)) => declared.repeated = label == 3,
            (5, Wired::Varint(kind)) => declared.kind = kind,
            (6, Wired::Bytes(bytes)) => declared.type_name = text(bytes),
            _ => {}
        }
    }
    Ok(declared)
}
