//! One form for letters that Unicode can write in several ways: NFC (UAX #15), on the way in.
//!
//! "José" is four letters, or five where the accent is a letter of its own (macOS and some keyboards write so). What is
//! kept, asked for and forgotten is all of one form, so that it is found.

use std::borrow::Cow;

use serde_json::Value;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// The text in NFC; borrowed where it is that already.
#[must_use]
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}

/// A payload, plain text or JSON, with all its texts in NFC, whether its letters are written out or as `\u0301`.
#[must_use]
pub fn composed_payload(text: &str) -> Cow<'_, str> {
    let composed = composed(text);
    if !composed.contains("\\u") {
        return composed;
    }
    match serde_json::from_str::<Value>(&composed) {
        Ok(mut value) => {
            compose(&mut value);
            Cow::Owned(value.to_string())
        }
        Err(_) => composed,
    }
}

fn compose(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(other) = composed(text) {
                *text = other;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(compose),
        Value::Object(fields) => fields.values_mut().for_each(compose),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_accent_of_its_own_joins_its_letter_wherever_it_is_written() {
        assert_eq!(composed("Jose\u{301}"), "Jos\u{e9}");
        assert!(matches!(composed("Jos\u{e9}"), Cow::Borrowed(_)));
        assert_eq!(composed("\u{1112}\u{1161}\u{11ab}"), "\u{d55c}");
        let payload = "{\"text\":\"Jose\\u0301 and Zoe\u{308}\",\"n\":1.5}";
        assert_eq!(composed_payload(payload), "{\"text\":\"Jos\u{e9} and Zo\u{eb}\",\"n\":1.5}");
        assert_eq!(composed_payload("what is \\u0301?"), "what is \\u0301?");
    }
}
