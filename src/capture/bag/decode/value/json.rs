//! JSON messages (RFC 8259), which carry their names themselves.

use std::borrow::Cow;

use super::values::{Budget, Value};

/// Longer messages are refused: parsed, JSON takes many times its length.
const MAX_BYTES: usize = 64 << 20;

/// Takes a message apart. (serde_json refuses more than 128 levels by itself.)
pub(super) fn walk(data: &[u8]) -> Result<Value<'static>, String> {
    if data.len() > MAX_BYTES {
        return Err(format!("{} bytes of JSON, the cap is {MAX_BYTES}", data.len()));
    }
    let parsed = serde_json::from_slice(data).map_err(|error| error.to_string())?;
    convert(parsed, &mut Budget::default())
}

fn convert(json: serde_json::Value, budget: &mut Budget) -> Result<Value<'static>, String> {
    use serde_json::Value as Json;
    budget.value()?;
    Ok(match json {
        Json::Null => Value::Bool(false),
        Json::Bool(value) => Value::Bool(value),
        Json::Number(number) => match number.as_i64() {
            Some(value) => Value::Integer(value),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::Text(Cow::Owned(text)),
        Json::Array(list) => {
            budget.enter()?;
            let list =
                list.into_iter().map(|one| convert(one, budget)).collect::<Result<_, _>>()?;
            budget.leave();
            Value::List(list)
        }
        Json::Object(fields) => {
            budget.enter()?;
            let mut named = Vec::with_capacity(fields.len());
            for (name, value) in fields {
                named.push((Cow::Owned(name), convert(value, budget)?));
            }
            budget.leave();
            Value::Record(named)
        }
    })
}
