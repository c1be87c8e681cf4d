//! ROS 1 serialization and ROS 2's CDR (DDSI-RTPS 2.3, 10.2; plain XCDR1): one walk, because they differ
//! only in alignment, byte order and the zero behind a text.

use std::borrow::Cow;

use super::values::{Budget, Value};
use crate::capture::bag::decode::definition::types::{Definition, Form, Shape, Wire};

/// Takes a message apart along its definition.
pub(super) fn walk<'a>(definition: &'a Definition, data: &'a [u8]) -> Result<Value<'a>, String> {
    let (cdr, big_endian, body) = match definition.wire {
        Wire::Cdr => {
            let Some((&[_, form, _, _], body)) = data.split_first_chunk::<4>() else {
                return Err(format!("{} bytes are no CDR message", data.len()));
            };
            match form {
                0x00 => (true, true, body),
                0x01 => (true, false, body),
                other => return Err(format!("encapsulation {other:#04x} is no plain CDR")),
            }
        }
        _ => (false, false, data),
    };
    let mut walk = Walk { definition, body, at: 0, cdr, big_endian, budget: Budget::default() };
    walk.record(0)
}

struct Walk<'a> {
    definition: &'a Definition,
    body: &'a [u8],
    at: usize,
    cdr: bool,
    big_endian: bool,
    budget: Budget,
}

impl<'a> Walk<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.body.len());
        let Some(end) = end else {
            return Err(format!("it ends at byte {}, {length} more were due", self.body.len()));
        };
        let taken = &self.body[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// CDR puts numbers at multiples of their size.
    fn align(&mut self, to: usize) {
        if self.cdr {
            self.at = self.at.next_multiple_of(to.max(1));
        }
    }

    fn bits(&mut self, bytes: usize) -> Result<u64, String> {
        self.align(bytes);
        let taken = self.take(bytes)?;
        let place = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
        Ok(if self.big_endian {
            taken.iter().fold(0, place)
        } else {
            taken.iter().rev().fold(0, place)
        })
    }

    fn count(&mut self) -> Result<usize, String> {
        self.bits(4).and_then(|count| usize::try_from(count).map_err(|error| error.to_string()))
    }

    fn record(&mut self, place: usize) -> Result<Value<'a>, String> {
        let definition = self.definition;
        let kind = definition.types.get(place).ok_or("a type that is not there")?;
        self.budget.enter()?;
        self.budget.value()?;
        let mut fields = Vec::with_capacity(kind.fields.len());
        for field in &kind.fields {
            let value = self
                .shaped(field.form, field.shape)
                .map_err(|why| format!("{}.{}: {why}", kind.name, field.name))?;
            fields.push((Cow::Borrowed(field.name.as_str()), value));
        }
        if kind.fields.is_empty() && self.cdr {
            self.take(1)?; // IDL knows no empty structs: a byte stands in
        }
        self.budget.leave();
        Ok(Value::Record(fields))
    }

    fn shaped(&mut self, form: Form, shape: Shape) -> Result<Value<'a>, String> {
        let count = match shape {
            Shape::One => return self.one(form),
            Shape::Array(count) => count,
            Shape::Sequence => self.count()?,
        };
        if matches!(form, Form::Integer { bytes: 1, .. }) {
            return Ok(Value::Bytes(Cow::Borrowed(self.take(count)?)));
        }
        // A claim of more than there are bytes fails at the end of the bytes, not in the allocator.
        let mut list = Vec::with_capacity(count.min(1 << 10));
        for _ in 0..count {
            list.push(self.one(form)?);
        }
        Ok(Value::List(list))
    }

    fn one(&mut self, form: Form) -> Result<Value<'a>, String> {
        self.budget.value()?;
        Ok(match form {
            Form::Bool => Value::Bool(self.bits(1)? != 0),
            Form::Integer { bytes, signed } => {
                let bits = self.bits(bytes)?;
                let unused = 64 - 8 * u32::try_from(bytes).unwrap_or(8);
                Value::Integer(if signed {
                    (bits.cast_signed() << unused) >> unused
                } else {
                    i64::try_from(bits).unwrap_or(i64::MAX)
                })
            }
            Form::Float { bytes: 4 } => {
                let bits = u32::try_from(self.bits(4)?).unwrap_or_default();
                Value::Float(f64::from(f32::from_bits(bits)))
            }
            Form::Float { .. } => Value::Float(f64::from_bits(self.bits(8)?)),
            Form::Text => {
                let length = self.count()?;
                let bytes = self.take(length)?;
                let bytes =
                    if self.cdr { bytes.strip_suffix(&[0]).unwrap_or(bytes) } else { bytes };
                Value::Text(String::from_utf8_lossy(bytes))
            }
            Form::Time { signed } => {
                let (secs, nanos) = (self.bits(4)?, self.bits(4)?);
                let whole = |bits: u64| -> i64 {
                    let bits = u32::try_from(bits).unwrap_or_default();
                    if signed { i64::from(bits.cast_signed()) } else { i64::from(bits) }
                };
                Value::Time(whole(secs) * 1_000_000_000 + whole(nanos))
            }
            Form::Record(place) => self.record(place)?,
            Form::Varint { .. } | Form::Bytes => return Err("a protobuf field in ROS".to_owned()),
        })
    }
}
