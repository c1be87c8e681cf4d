//! Protocol Buffers' wire format (<https://protobuf.dev/programming-guides/encoding/>).

use std::borrow::Cow;

use super::{Budget, Value};
use crate::capture::bag::definition::{Definition, Field, Form, Shape};

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

/// Takes a message apart along its definition; unknown fields are passed over, missing ones have
/// their default.
pub(super) fn walk<'a>(definition: &'a Definition, data: &'a [u8]) -> Result<Value<'a>, String> {
    Walk { definition, budget: Budget::default() }.record(0, data)
}

struct Walk<'a> {
    definition: &'a Definition,
    budget: Budget,
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
            if let Some(value) = value.or_else(|| default(field)) {
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
}

/// What proto3 means by a field that is not there.
fn default(field: &Field) -> Option<Value<'static>> {
    if field.shape != Shape::One {
        return Some(Value::List(Vec::new()));
    }
    Some(match field.form {
        Form::Bool => Value::Bool(false),
        Form::Integer { .. } | Form::Varint { .. } => Value::Integer(0),
        Form::Float { .. } => Value::Float(0.0),
        Form::Text => Value::Text(Cow::Borrowed("")),
        Form::Bytes => Value::Bytes(Cow::Borrowed(&[])),
        Form::Time { .. } | Form::Record(_) => return None,
    })
}
