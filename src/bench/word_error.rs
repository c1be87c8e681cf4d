//! Word error rate: recognised words against what was said, as NIST's `sclite` counts them, after both are written alike.

/// What became of the words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// Words that were said.
    pub said: usize,
    /// Said, and another was written.
    pub substitutions: usize,
    /// Said, and none was written.
    pub deletions: usize,
    /// Written, and none was said.
    pub insertions: usize,
}

impl Edits {
    /// Errors per word that was said; `None` where nothing was.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let errors = self.substitutions + self.deletions + self.insertions;
        (self.said > 0).then(|| errors as f64 / self.said as f64)
    }

    /// Adds the counts of other words.
    pub fn add(&mut self, other: Self) {
        self.said += other.said;
        self.substitutions += other.substitutions;
        self.deletions += other.deletions;
        self.insertions += other.insertions;
    }
}

/// One place of an alignment: the index of the word that was said, and of the one that was written.
pub type Pair = (Option<usize>, Option<usize>);

/// What `sclite` takes another word for, …
const SUBSTITUTION: u32 = 4;
/// … and one too many or too few.
const GAP: u32 = 3;

/// Aligns at the least cost (Levenshtein with `sclite`'s weights); words are equal or not. Costs time and memory as `said`
/// by `written`.
#[must_use]
pub fn align(said: &[String], written: &[String]) -> Vec<Pair> {
    let width = written.len() + 1;
    let mut costs = vec![0_u32; (said.len() + 1) * width];
    let cell = |i: usize, j: usize| i * width + j;
    let differ = |i: usize, j: usize| if said[i] == written[j] { 0 } else { SUBSTITUTION };
    for i in 0..=said.len() {
        for j in 0..=written.len() {
            costs[cell(i, j)] = match (i, j) {
                (0, j) => j as u32 * GAP,
                (i, 0) => i as u32 * GAP,
                (i, j) => (costs[cell(i - 1, j - 1)] + differ(i - 1, j - 1))
                    .min(costs[cell(i - 1, j)] + GAP)
                    .min(costs[cell(i, j - 1)] + GAP),
            };
        }
    }
    let (mut i, mut j) = (said.len(), written.len());
    let mut pairs = Vec::new();
    while i > 0 || j > 0 {
        let here = costs[cell(i, j)];
        let both = i > 0 && j > 0 && costs[cell(i - 1, j - 1)] + differ(i - 1, j - 1) == here;
        if both {
            (i, j) = (i - 1, j - 1);
            pairs.push((Some(i), Some(j)));
        } else if i > 0 && costs[cell(i - 1, j)] + GAP == here {
            i -= 1;
            pairs.push((Some(i), None));
        } else {
            j -= 1;
            pairs.push((None, Some(j)));
        }
    }
    pairs.reverse();
    pairs
}

/// Counts an alignment.
#[must_use]
pub fn count(pairs: &[Pair], said: &[String], written: &[String]) -> Edits {
    let mut edits = Edits { said: said.len(), ..Edits::default() };
    for pair in pairs {
        match pair {
            (Some(i), Some(j)) => edits.substitutions += usize::from(said[*i] != written[*j]),
            (Some(_), None) => edits.deletions += 1,
            (None, Some(_)) => edits.insertions += 1,
            (None, None) => {}
        }
    }
    edits
}

/// The words of a text, written alike: small letters without punctuation but the apostrophes in contractions, numbers
/// spelled out, titles in full. What a recogniser says beside words, in brackets, is left out.
#[must_use]
pub fn normalised(text: &str) -> Vec<String> {
    let mut plain = String::with_capacity(text.len());
    let mut depth = 0_u32;
    for letter in text.chars() {
        match letter {
            '[' | '(' | '<' => depth += 1,
            ']' | ')' | '>' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            '\u{2019}' => plain.push('\''),
            '-' | '\u{2010}'..='\u{2015}' | '/' => plain.push(' '),
            '$' | '%' | '&' | '+' => plain.extend([' ', letter, ' ']),
            letter => plain.extend(letter.to_lowercase()),
        }
    }
    plain.split_whitespace().flat_map(word).collect()
}

/// What one word between blanks is written as.
fn word(raw: &str) -> Vec<String> {
    let inner = |letter: char| letter.is_alphanumeric();
    let Some(start) = raw.find(|c: char| inner(c) || "$%&+".contains(c)) else { return Vec::new() };
    let raw = raw[start..].trim_end_matches(|c: char| !inner(c) && !"$%&+".contains(c));
    let owned = |words: &str| words.split(' ').map(str::to_owned).collect();
    match raw {
        "mr" => return owned("mister"),
        "mrs" => return owned("missus"),
        "dr" => return owned("doctor"),
        "st" => return owned("saint"),
        "prof" => return owned("professor"),
        "$" => return owned("dollars"),
        "%" => return owned("percent"),
        "&" => return owned("and"),
        "+" => return owned("plus"),
        "ok" => return owned("okay"),
        _ => {}
    }
    if raw.contains(|c: char| c.is_ascii_digit()) {
        return number(raw);
    }
    let kept: String = raw.chars().filter(|c| inner(*c) || *c == '\'').collect();
    if kept.is_empty() { Vec::new() } else { vec![kept] }
}

/// A word with digits, spelled out: cardinal and ordinal numbers, years, times of the day, decimals; letters stay.
fn number(raw: &str) -> Vec<String> {
    let raw = raw.replace(',', "");
    if let Some((hour, minute)) = raw.split_once(':')
        && let (Ok(hour), Ok(minute)) = (hour.parse::<u64>(), minute.parse::<u64>())
    {
        let mut words = cardinal(hour);
        match minute {
            0 => {}
            1..=9 => words.extend(["oh".to_owned()].into_iter().chain(cardinal(minute))),
            _ => words.extend(cardinal(minute)),
        }
        return words;
    }
    let mut words = Vec::new();
    let mut rest = raw.as_str();
    while let Some(first) = rest.chars().next() {
        let digits = first.is_ascii_digit();
        let same = |c: char| c.is_ascii_digit() == digits;
        let (run, after) = rest.split_at(rest.find(|c| !same(c)).unwrap_or(rest.len()));
        rest = after;
        if !digits {
            let letters: String = run.chars().filter(|c| c.is_alphanumeric()).collect();
            if run == "." {
                words.push("point".to_owned());
            } else if !letters.is_empty() {
                words.push(letters);
            }
            continue;
        }
        let spelled = spelled(run);
        let ordinal = ["st", "nd", "rd", "th"].iter().find(|end| rest.starts_with(*end));
        match ordinal {
            Some(end) if rest.len() == end.len() => {
                rest = "";
                words.extend(ordinal_of(spelled));
            }
            _ => words.extend(spelled),
        }
    }
    words
}

/// Digits as they are said: years by their halves, long ones and those that begin with 0 digit by digit.
fn spelled(run: &str) -> Vec<String> {
    let one_by_one = || run.bytes().flat_map(|digit| cardinal(u64::from(digit - b'0'))).collect();
    if run.len() > 1 && run.starts_with('0') {
        return one_by_one();
    }
    match run.parse::<u64>() {
        Ok(year @ 1100..=1999) if year % 100 >= 10 => {
            [cardinal(year / 100), cardinal(year % 100)].concat()
        }
        Ok(value @ 0..=999_999_999) => cardinal(value),
        _ => one_by_one(),
    }
}

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

fn cardinal(value: u64) -> Vec<String> {
    let with = |name: &str, size: u64| {
        let mut words = cardinal(value / size);
        words.push(name.to_owned());
        if !value.is_multiple_of(size) {
            words.extend(cardinal(value % size));
        }
        words
    };
    match value {
        0..=19 => vec![SMALL[value as usize].to_owned()],
        20..=99 => {
            let mut words = vec![TENS[(value / 10) as usize].to_owned()];
            if !value.is_multiple_of(10) {
                words.extend(cardinal(value % 10));
            }
            words
        }
        100..=999 => with("hundred", 100),
        1_000..=999_999 => with("thousand", 1_000),
        _ => with("million", 1_000_000),
    }
}

fn ordinal_of(mut words: Vec<String>) -> Vec<String> {
    if let Some(last) = words.last_mut() {
        *last = match last.as_str() {
            "one" => "first".to_owned(),
            "two" => "second".to_owned(),
            "three" => "third".to_owned(),
            "five" => "fifth".to_owned(),
            "eight" => "eighth".to_owned(),
            "nine" => "ninth".to_owned(),
            "twelve" => "twelfth".to_owned(),
            tens if tens.ends_with('y') => format!("{}ieth", &tens[..tens.len() - 1]),
            other => format!("{other}th"),
        };
    }
    words
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn edits(said: &str, written: &str) -> Edits {
        let (said, written) = (words(said), words(written));
        count(&align(&said, &written), &said, &written)
    }

    #[test]
    fn errors_are_counted_by_kind() {
        let all = edits("the red mug is in the sink", "the red much is in sink now");
        assert_eq!(all, Edits { said: 7, substitutions: 1, deletions: 1, insertions: 1 });
        assert!((all.rate().unwrap() - 3.0 / 7.0).abs() < 1e-12);
        assert_eq!(edits("", "a b").insertions, 2);
        assert_eq!(edits("", "a").rate(), None);
        assert_eq!(edits("a b c", "a b c").rate(), Some(0.0));
        assert_eq!(edits("a b", "").deletions, 2);
    }

    #[test]
    fn an_alignment_pairs_every_word_once_and_in_order() {
        let (said, written) = (words("one two three four"), words("two tree four five"));
        let pairs = align(&said, &written);
        let of =
            |side: fn(&Pair) -> Option<usize>| pairs.iter().filter_map(side).collect::<Vec<_>>();
        assert_eq!(of(|pair| pair.0), [0, 1, 2, 3]);
        assert_eq!(of(|pair| pair.1), [0, 1, 2, 3]);
        assert!(pairs.contains(&(Some(1), Some(0))) && pairs.contains(&(None, Some(3))));
    }

    #[test]
    fn texts_are_written_alike() {
        for (text, wanted) in [
            (
                "Mr. Dashwood\u{2019}s ill-disposed, he said!",
                "mister dashwood's ill disposed he said",
            ),
            (
                "It's 10:30, on the 21st of May 1964.",
                "it's ten thirty on the twenty first of may nineteen sixty four",
            ),
            ("at 3:00 or 10:05", "at three or ten oh five"),
            (
                "12,345 people, 2.5%",
                "twelve thousand three hundred forty five people two point five percent",
            ),
            ("room 007, 2024", "room zero zero seven two thousand twenty four"),
            ("[laughs] OK (music) 3rd", "okay third"),
            ("'Tis -- \"so\"", "tis so"),
            ("B12 & 100", "b twelve and one hundred"),
            ("20th 12th", "twentieth twelfth"),
        ] {
            assert_eq!(normalised(text).join(" "), wanted, "{text}");
        }
        assert!(normalised(" .,;! ").is_empty());
    }
}
