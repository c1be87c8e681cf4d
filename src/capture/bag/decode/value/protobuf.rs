//! Protocol Buffers' wire format (<https://protobuf.dev/programming-guides/encoding/>).

use std::borrow::Cow;

use super::values::{Budget, Value};
use crate::capture::bag::decode::definition::types::{Definition, Field, Form, Shape};

/// A field's value as it lies on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture::bag) enum Wired<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

/// The fields of a message, in order; ends after the first error.
pub(in crate::capture::bag) fn fields(bytes: &[u8]) -> Fields<'_> {
    Fields { rest: bytes }
}

/// See [`fields`].
#[derive(Debug)]
pub(in crate::capture::bag) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Wired<'a>), String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let found = self.field();
        if found.is_err() {
            self.rest = &[];
        }
        Some(found)
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Result<(u32, Wired<'a>), String> {
        let tag = varint(&mut self.rest)?;
        let number = u32::try_from(tag >> 3).map_err(|_| format!("field number {}", tag >> 3))?;
        let wired = match tag & 7 {
            0 => Wired::Varint(varint(&mut self.rest)?),
            1 => Wired::Fixed64(u64::from_le_bytes(chunk(&mut self.rest)?)),
            2 => {
                let length = varint(&mut self.rest)?;
                let taken =
                    usize::try_from(length).ok().and_then(|n| self.rest.split_at_checked(n));
                let Some((bytes, rest)) = taken else {
                    return Err(format!("{length} bytes were due, {} are left", self.rest.len()));
                };
                self.rest = rest;
                Wired::Bytes(bytes)
            }
            5 => Wired::Fixed32(u32::from_le_bytes(chunk(&mut self.rest)?)),
            other => return Err(format!("wire type {other} of field {number}")),
        };
        Ok((number, wired))
    }
}

fn chunk<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], String> {
    let (taken, after) = rest.split_first_chunk::<N>().ok_or("it ends in a number")?;
    *rest = after;
    Ok(*taken)
}

fn varint(rest: &mut &[u8]) -> Result<u64, String> {
    let mut value = 0_u64;
    for place in 0..10 {
        let [byte] = chunk::<1>(rest)?;
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("a number of more than 10 bytes".to_owned())
}

/// Messages in messages that are not there: so many are filled in, one in the other.
const MAX_ABSENT: usize = 4;

/// Takes a message apart along its definition; unknown fields are passed over, missing ones have
/// their default.
pub(super) fn walk<'a>(definition: &'a Definition, data: &'a [u8]) -> Result<Value<'a>, String> {
    Walk { definition, budget: Budget::default(), absent: Vec::new() }.record(0, data)
}

struct Walk<'a> {
    definition: &'a Definition,
    budget: Budget,
    /// Types of the messages that are being filled in, the outermost first.
    absent: Vec<usize>,
}

impl<'a> Walk<'a> {
    fn record(&mut self, place: usize, data: &'a [u8]) -> Result<Value<'a>, String> {
        let definition = self.definition;
        let kind = definition.types.get(place).ok_or("a type that is not there")?;
        self.budget.enter()?;
        let mut values: Vec<Option<Value<'a>>> = vec![None; kind.fields.len()];
        for found in fields(data) {
            let (number, wired) = found.map_err(|why| format!("{}: {why}", kind.name))?;
            let Some(index) = kind.fields.iter().position(|field| field.number == number) else {
                continue;
            };
            let (Some(field), Some(slot)) = (kind.fields.get(index), values.get_mut(index)) else {
                continue;
            };
            self.field(field, wired, slot)
                .map_err(|why| format!("{}.{}: {why}", kind.name, field.name))?;
        }
        let mut named = Vec::with_capacity(kind.fields.len());
        for (field, value) in kind.fields.iter().zip(values) {
            self.budget.value()?;
            let value = match value {
                Some(value) => Some(value),
                None => self.absent(field)?,
            };
            if let Some(value) = value {
                named.push((Cow::Borrowed(field.name.as_str()), value));
            }
        }
        self.budget.leave();
        Ok(Value::Record(named))
    }

    fn field(
        &mut self,
        field: &'a Field,
        wired: Wired<'a>,
        slot: &mut Option<Value<'a>>,
    ) -> Result<(), String> {
        if field.shape == Shape::One {
            *slot = Some(self.one(field.form, wired)?);
            return Ok(());
        }
        let Value::List(list) = slot.get_or_insert(Value::List(Vec::new())) else { return Ok(()) };
        match (field.form, wired) {
            (Form::Text | Form::Bytes | Form::Record(_), _) | (_, Wired::Varint(_)) => {}
            // Numbers may be packed into one run of bytes.
            (form, Wired::Bytes(mut packed)) => {
                while !packed.is_empty() {
                    let wired = match form {
                        Form::Float { bytes: 4 } | Form::Integer { bytes: 4, .. } => {
                            Wired::Fixed32(u32::from_le_bytes(chunk(&mut packed)?))
                        }
                        Form::Float { .. } | Form::Integer { .. } => {
                            Wired::Fixed64(u64::from_le_bytes(chunk(&mut packed)?))
                        }
                        _ => Wired::Varint(varint(&mut packed)?),
                    };
                    list.push(self.one(form, wired)?);
                }
                return Ok(());
            }
            _ => {}
        }
        list.push(self.one(field.form, wired)?);
        Ok(())
    }

    fn one(&mut self, form: Form, wired: Wired<'a>) -> Result<Value<'a>, String> {
        self.budget.value()?;
        Ok(match (form, wired) {
            (Form::Bool, Wired::Varint(bits)) => Value::Bool(bits != 0),
            (Form::Varint { zigzag: true, .. }, Wired::Varint(bits)) => {
                Value::Integer((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed())
            }
            (Form::Varint { signed: true, .. }, Wired::Varint(bits)) => {
                Value::Integer(bits.cast_signed())
            }
            (Form::Varint { .. }, Wired::Varint(bits))
            | (Form::Integer { signed: false, .. }, Wired::Fixed64(bits)) => {
                Value::Integer(i64::try_from(bits).unwrap_or(i64::MAX))
            }
            (Form::Integer { signed: true, .. }, Wired::Fixed64(bits)) => {
                Value::Integer(bits.cast_signed())
            }
            (Form::Integer { signed, .. }, Wired::Fixed32(bits)) => {
                Value::Integer(if signed { i64::from(bits.cast_signed()) } else { i64::from(bits) })
            }
            (Form::Float { .. }, Wired::Fixed64(bits)) => Value::Float(f64::from_bits(bits)),
            (Form::Float { .. }, Wired::Fixed32(bits)) => {
                Value::Float(f64::from(f32::from_bits(bits)))
            }
            (Form::Text, Wired::Bytes(bytes)) => Value::Text(String::from_utf8_lossy(bytes)),
            (Form::Bytes, Wired::Bytes(bytes)) => Value::Bytes(Cow::Borrowed(bytes)),
            (Form::Record(place), Wired::Bytes(bytes)) => self.record(place, bytes)?,
            (form, wired) => return Err(format!("{wired:?} for {form:?}")),
        })
    }

    /// What proto3 means by a field that is not there: zero, empty, or a message of such.
    fn absent(&mut self, field: &Field) -> Result<Option<Value<'a>>, String> {
        if field.shape != Shape::One {
            return Ok(Some(Value::List(Vec::new())));
        }
        Ok(match field.form {
            Form::Bool => Some(Value::Bool(false)),
            Form::Integer { .. } | Form::Varint { .. } => Some(Value::Integer(0)),
            Form::Float { .. } => Some(Value::Float(0.0)),
            Form::Text => Some(Value::Text(Cow::Borrowed(""))),
            Form::Bytes => Some(Value::Bytes(Cow::Borrowed(&[]))),
            Form::Time { .. } => None,
            // One inside itself would have no end.
            Form::Record(place) if self.absent.contains(&place) => None,
            Form::Record(_) if self.absent.len() >= MAX_ABSENT => None,
            Form::Record(place) => {
                self.absent.push(place);
                let filled = self.record(place, &[])?;
                self.absent.pop();
                Some(filled)
            }
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::capture::bag::decode::definition::types::{MessageType, Wire};

    /// A tree of poses: `Node { Point at; Node child; repeated Node more; }`, `Point { double x; }`.
    fn tree() -> Definition {
        let field =
            |name: &str, number, form, shape| Field { name: name.to_owned(), number, form, shape };
        let node = vec![
            field("at", 1, Form::Record(1), Shape::One),
            field("child", 2, Form::Record(0), Shape::One),
            field("more", 3, Form::Record(0), Shape::Sequence),
        ];
        let point = vec![field("x", 1, Form::Float { bytes: 8 }, Shape::One)];
        let types = [("Node", node), ("Point", point)];
        let types = types.map(|(name, fields)| MessageType { name: name.to_owned(), fields });
        Definition { types: types.into(), wire: Wire::Protobuf }
    }

    #[test]
    fn a_message_that_is_not_there_is_one_of_zeros() {
        let tree = tree();
        let empty = walk(&tree, &[]).unwrap();
        assert_eq!(empty.at("at.x"), Some(&Value::Float(0.0)));
        // A type inside itself is filled in once.
        assert_eq!(empty.at("child.at.x"), Some(&Value::Float(0.0)));
        assert_eq!(empty.at("child.child"), None);
        assert_eq!(empty.get("more"), Some(&Value::List(Vec::new())));
        // In one that is there, what is missing is filled in, too.
        let child = [0x12, 2, 0x0a, 0];
        assert_eq!(walk(&tree, &child).unwrap().at("child.at.x"), Some(&Value::Float(0.0)));
    }
}
