//! JSON out of free text: models wrap it in fences, words and thinking, and leave commas and quotes astray.

use serde_json::Value;

/// Deeper nesting is no reply of ours.
const MAX_DEPTH: usize = 64;

/// The first JSON object in `text`, as written or mended: trailing commas, single quotes, Python's words,
/// comments, raw line ends in strings, and a cut-off end are put right.
#[must_use]
pub fn object(text: &str) -> Option<Value> {
    candidates(text).find_map(|found| {
        let value = serde_json::from_str(found).ok().or_else(|| mended(found));
        value.filter(Value::is_object)
    })
}

/// Where an object may begin, the whole text after it.
fn candidates(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{').take(16).flat_map(|(at, _)| {
        let rest = &text[at..];
        [balanced(rest), Some(rest)].into_iter().flatten()
    })
}

/// Up to the brace that closes the first one.
fn balanced(text: &str) -> Option<&str> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(&text[..=at]);
                }
            }
            _ => {}
        }
    }
    None
}

fn mended(text: &str) -> Option<Value> {
    let mut mender = Mender { rest: text.chars().peekable() };
    mender.value(0)
}

/// Reads what is nearly JSON.
struct Mender<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl Mender<'_> {
    fn skip(&mut self) {
        loop {
            while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
            match self.rest.peek() {
                Some('#') => while self.rest.next_if(|c| *c != '\n').is_some() {},
                Some('/') => {
                    let mut ahead = self.rest.clone();
                    ahead.next();
                    match ahead.next() {
                        Some('/') => while self.rest.next_if(|c| *c != '\n').is_some() {},
                        Some('*') => {
                            let mut before = ' ';
                            self.rest.next();
                            self.rest.next();
                            for c in self.rest.by_ref() {
                                if before == '*' && c == '/' {
                                    break;
                                }
                                before = c;
                            }
                        }
                        _ => return,
                    }
                }
                _ => return,
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip();
        match self.rest.peek()? {
            '{' => self.object(depth),
            '[' => self.array(depth),
            '"' | '\'' | '\u{201c}' => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.rest.next();
        let mut members = serde_json::Map::new();
        loop {
            self.skip();
            match self.rest.peek() {
                None => break,
                Some('}') => {
                    self.rest.next();
                    break;
                }
                Some(',') => {
                    self.rest.next();
                    continue;
                }
                Some(_) => {}
            }
            let key = match self.rest.peek() {
                Some('"' | '\'' | '\u{201c}') => self.string()?,
                _ => self.bare()?,
            };
            self.skip();
            if self.rest.next_if_eq(&':').is_none() {
                // Cut off within a key: what was read so far stands.
                return self.rest.peek().is_none().then_some(Value::Object(members));
            }
            match self.value(depth + 1) {
                Some(value) => {
                    members.insert(key, value);
                }
                None if self.rest.peek().is_none() => break,
                None => return None,
            }
        }
        Some(Value::Object(members))
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        self.rest.next();
        let mut items = Vec::new();
        loop {
            self.skip();
            match self.rest.peek() {
                None => break,
                Some(']') => {
                    self.rest.next();
                    break;
                }
                Some(',') => {
                    self.rest.next();
                    continue;
                }
                Some(_) => {}
            }
            match self.value(depth + 1) {
                Some(value) => items.push(value),
                None if self.rest.peek().is_none() => break,
                None => return None,
            }
        }
        Some(Value::Array(items))
    }

    /// A quoted string; a quote that no comma, colon or bracket follows belongs to it.
    fn string(&mut self) -> Option<String> {
        let open = self.rest.next()?;
        let close = if open == '\u{201c}' { '\u{201d}' } else { open };
        let mut out = String::new();
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => out.push(self.escape()?),
                c if c == close => {
                    let mut ahead = self.rest.clone();
                    let next = ahead.find(|c| !c.is_whitespace());
                    if matches!(next, None | Some(',' | ':' | '}' | ']' | '/' | '#')) {
                        return Some(out);
                    }
                    out.push(c);
                }
                c => out.push(c),
            }
        }
        Some(out)
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.rest.next().unwrap_or(' ') {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' | 'f' => ' ',
            'u' => {
                let mut digits = String::new();
                for _ in 0..4 {
                    digits.extend(self.rest.next_if(char::is_ascii_hexdigit));
                }
                u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap_or('\u{fffd}')
            }
            other => other,
        })
    }

    fn bare(&mut self) -> Option<String> {
        let mut out = String::new();
        while let Some(c) =
            self.rest.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+'))
        {
            out.push(c);
        }
        (!out.is_empty()).then_some(out)
    }

    fn word(&mut self) -> Option<Value> {
        let word = self.bare()?;
        Some(match word.as_str() {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" | "undefined" | "NaN" => Value::Null,
            number => serde_json::from_str::<serde_json::Number>(number.trim_start_matches('+'))
                .map_or_else(|_| Value::String(word.clone()), Value::Number),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_models_write_is_read() {
        let wanted = json!({"a": "it's \"so\"", "b": [1, 2.5, true, null]});
        for text in [
            r#"{"a":"it's \"so\"","b":[1,2.5,true,null]}"#,
            "Here you are:\n```json\n{\"a\": \"it's \\\"so\\\"\", \"b\": [1, 2.5, true, null,],}\n```\nDone {x}.",
            "{'a': 'it's \"so\"', 'b': [1, 2.5, True, None]}",
            "{a: \"it's \"so\"\", // why not\n b: [1, 2.5, true, null]}",
            "{\"a\":\"it's \\\"so\\\"\",\"b\":[1,2.5,true,null",
            "<think>{no}</think> {\"a\":\"it's \\\"so\\\"\",\"b\":[1,2.5,true,null]}",
        ] {
            let found = object(text.rsplit("</think>").next().unwrap());
            assert_eq!(found, Some(wanted.clone()), "{text}");
        }
        assert_eq!(object("{\"a\": \"two\nlines\"}"), Some(json!({"a": "two\nlines"})));
        for text in ["", "no json", "[1,2]", "{{{{", "}{"] {
            assert!(object(text).is_none_or(|value| value == json!({})), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_upsets_it(text in "[{}\\[\\]\"',:a1\\\\ \n/*#]{0,80}") {
            let _ = object(&text);
        }

        #[test]
        fn real_json_comes_back_as_it_is(words in proptest::collection::vec("[ -~äöü\n]{0,12}", 0..6)) {
            let value = json!({ "words": words, "n": 3 });
            prop_assert_eq!(object(&format!("x {value} y")), Some(value));
        }
    }
}
