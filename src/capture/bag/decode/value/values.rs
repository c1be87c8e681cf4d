//! One form for a message's values.

use std::borrow::Cow;

use base64::Engine as _;

use crate::time::Timestamp;

/// Records in records; deeper ones are damage.
const MAX_DEPTH: u32 = 32;

/// Values in one message, byte arrays counted as one.
const MAX_VALUES: usize = 1 << 20;

/// One value of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// True or false.
    Bool(bool),
    /// Any integer; unsigned 64-bit ones above `i64::MAX` are cut to it.
    Integer(i64),
    /// Any float.
    Float(f64),
    /// Text; what is not UTF-8 is replaced.
    Text(Cow<'a, str>),
    /// An array of bytes.
    Bytes(Cow<'a, [u8]>),
    /// ROS 1: nanoseconds.
    Time(i64),
    /// An array of anything else.
    List(Vec<Value<'a>>),
    /// Values by their names.
    Record(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// The value of that name; `None` where there is none, or this is no record.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        let Self::Record(fields) = self else { return None };
        fields.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// The value down that path, e.g. `pose.pose.position`.
    #[must_use]
    pub fn at(&self, path: &str) -> Option<&Value<'a>> {
        path.split('.').try_fold(self, |value, name| value.get(name))
    }

    /// As a number.
    #[must_use]
    pub fn float(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            Self::Integer(value) => Some(*value as f64),
            _ => None,
        }
    }

    /// As an integer.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Bool(value) => Some(i64::from(*value)),
            Self::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(*value as i64),
            _ => None,
        }
    }

    /// As a size or count.
    #[must_use]
    pub fn count(&self) -> Option<u32> {
        self.integer().and_then(|value| u32::try_from(value).ok())
    }

    /// As text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// As a list of values.
    #[must_use]
    pub fn list(&self) -> Option<&[Value<'a>]> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    /// As bytes: a byte array, JSON's Base64 text, or JSON's list of numbers.
    #[must_use]
    pub fn into_bytes(self) -> Option<Cow<'a, [u8]>> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Text(text) => base64::engine::general_purpose::STANDARD
                .decode(text.as_bytes())
                .ok()
                .map(Cow::Owned),
            Self::List(list) => {
                let byte = |value: &Value<'_>| value.integer().and_then(|v| u8::try_from(v).ok());
                list.iter().map(byte).collect::<Option<Vec<_>>>().map(Cow::Owned)
            }
            _ => None,
        }
    }

    /// Takes the value of that name out.
    #[must_use]
    pub fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let Self::Record(fields) = self else { return None };
        let (_, value) = fields.iter_mut().find(|(own, _)| own == name)?;
        Some(std::mem::replace(value, Value::Bool(false)))
    }

    /// As an instant: ROS 1's `time`, ROS 2's `sec, nanosec`, protobuf's `seconds, nanos`, Foxglove's
    /// `sec, nsec`. `None` where it is none, or zero, which means "not set".
    #[must_use]
    pub fn instant(&self) -> Option<Timestamp> {
        let nanos = match self {
            Self::Time(nanos) => *nanos,
            Self::Record(_) => {
                let part = |names: [&str; 3]| {
                    names.into_iter().find_map(|name| self.get(name)).map(|v| v.integer())
                };
                let secs = part(["sec", "seconds", "secs"])??;
                // Protobuf leaves out what is zero; ours fills it in, others may not.
                let nanos = part(["nanosec", "nanos", "nsec"]).flatten().unwrap_or(0);
                secs.checked_mul(1_000_000_000)?.checked_add(nanos)?
            }
            _ => return None,
        };
        (nanos != 0).then_some(Timestamp::from_nanos(nanos))
    }
}

/// Counts values and depth, so that no claim of a message can take memory or stack.
#[derive(Debug)]
pub(super) struct Budget {
    values: usize,
    depth: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self { values: MAX_VALUES, depth: MAX_DEPTH }
    }
}

impl Budget {
    pub(super) fn value(&mut self) -> Result<(), String> {
        self.values = self.values.checked_sub(1).ok_or("more values than a message may have")?;
        Ok(())
    }

    pub(super) fn enter(&mut self) -> Result<(), String> {
        self.depth = self.depth.checked_sub(1).ok_or("records nested too deeply")?;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth += 1;
    }
}
