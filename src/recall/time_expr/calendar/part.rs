//! Parts of a day: "morning", "late in the evening", "overnight", "at dusk".

use jiff::civil::Time;

use crate::recall::lexer::Token;

/// A part of the day. Those of light and dark are wide enough for every season.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::recall::time_expr) enum Part {
    SmallHours,
    EarlyMorning,
    Dawn,
    Morning,
    LateMorning,
    Lunchtime,
    Daytime,
    Afternoon,
    EarlyAfternoon,
    LateAfternoon,
    Dusk,
    Evening,
    EarlyEvening,
    LateEvening,
    Night,
    /// The night that ends on the day.
    LastNight,
}

impl Part {
    pub(in crate::recall::time_expr) fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "morning" => Self::Morning,
            "lunchtime" => Self::Lunchtime,
            "daytime" => Self::Daytime,
            "afternoon" => Self::Afternoon,
            "evening" => Self::Evening,
            "night" | "nighttime" => Self::Night,
            _ => return Self::from_light(word),
        })
    }

    /// Those that are told by the light; they stand behind "at" and "before" without an article.
    fn from_light(word: &str) -> Option<Self> {
        Some(match word {
            "dawn" | "daybreak" | "sunrise" => Self::Dawn,
            "dusk" | "sunset" | "nightfall" | "twilight" => Self::Dusk,
            _ => return None,
        })
    }

    /// "early" before it.
    pub(super) fn early(self) -> Self {
        match self {
            Self::Morning => Self::EarlyMorning,
            Self::Afternoon => Self::EarlyAfternoon,
            Self::Evening => Self::EarlyEvening,
            other => other,
        }
    }

    /// "late" before it.
    pub(super) fn late(self) -> Self {
        match self {
            Self::Morning => Self::LateMorning,
            Self::Afternoon => Self::LateAfternoon,
            Self::Evening => Self::LateEvening,
            other => other,
        }
    }

    /// First and last time of day, and on which day each lies against the named one.
    pub(in crate::recall::time_expr) fn borders(self) -> ((i64, Time), (i64, Time)) {
        let at = |hour: i8| Time::new(hour, 0, 0, 0).unwrap_or(Time::MIN);
        let within = |from: i8, to: i8| ((0, at(from)), (0, at(to)));
        let until_midnight = |from: i8| ((0, at(from)), (1, at(0)));
        match self {
            Self::SmallHours => within(0, 6),
            Self::EarlyMorning => within(4, 9),
            Self::Dawn => within(4, 8),
            Self::Morning => within(4, 12),
            Self::LateMorning => within(10, 12),
            Self::Lunchtime => within(11, 14),
            Self::Daytime => within(6, 20),
            Self::Afternoon => within(12, 18),
            Self::EarlyAfternoon => within(12, 15),
            Self::LateAfternoon => within(15, 18),
            Self::Dusk => within(16, 22),
            Self::Evening => until_midnight(17),
            Self::EarlyEvening => within(17, 20),
            Self::LateEvening => until_midnight(20),
            Self::Night => ((0, at(20)), (1, at(6))),
            Self::LastNight => ((-1, at(18)), (0, at(6))),
        }
    }

    /// Whether a clock time without am or pm in this part means the second half of the day.
    pub(in crate::recall::time_expr) fn afternoon(self, hour: u8) -> bool {
        match self {
            Self::SmallHours
            | Self::EarlyMorning
            | Self::Dawn
            | Self::Morning
            | Self::LateMorning => false,
            Self::Lunchtime | Self::Daytime => !(7..12).contains(&hour),
            Self::Afternoon
            | Self::EarlyAfternoon
            | Self::LateAfternoon
            | Self::Dusk
            | Self::Evening
            | Self::EarlyEvening
            | Self::LateEvening => true,
            Self::Night | Self::LastNight => (6..12).contains(&hour),
        }
    }
}

/// "morning", "in the evening", "late at night", "overnight" from token `at` on, and the tokens taken.
pub(super) fn part(tokens: &[Token], at: usize) -> Option<(Part, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    if word(0) == Some("overnight") {
        return Some((Part::Night, 1));
    }
    let shade = |i: usize| word(i).filter(|w| matches!(*w, "early" | "late"));
    let before = shade(0);
    let mut skip = usize::from(before.is_some());
    skip += match (word(skip), word(skip + 1)) {
        (Some("in" | "during"), Some("the")) => 2,
        (Some("at"), Some(what)) if what == "night" || Part::from_light(what).is_some() => 1,
        (Some("the"), _) => 1,
        _ => 0,
    };
    let shaded = before.or_else(|| shade(skip));
    skip += usize::from(before.is_none() && shaded.is_some());
    let hours = |i: usize| word(i) == Some("hours");
    if shaded == Some("early") && hours(skip) {
        return Some((Part::SmallHours, skip + 1));
    }
    if word(skip) == Some("small") && hours(skip + 1) {
        return Some((Part::SmallHours, skip + 2));
    }
    let token = tokens.get(at + skip)?;
    let part = Part::from_word(&token.word)
        // "Dawn" is a name.
        .filter(|_| !token.capital || Part::from_light(&token.word).is_none())?;
    let part = match shaded {
        Some("early") => part.early(),
        Some(_) => part.late(),
        None => part,
    };
    Some((part, skip + 1))
}

/// "on the morning" is that of a day which is told behind it ("of 1 March"), or of something that happened.
pub(super) fn needs_day(tokens: &[Token], at: usize) -> bool {
    let word = |i: usize| tokens.get(i).map(|t| t.word.as_str());
    word(at) == Some("the") && at.checked_sub(1).and_then(word) == Some("on")
}

/// A part of a day that is not named, by the word before it: "in the morning", "at night", "before dawn",
/// "overnight", "all evening"; and the tokens taken.
pub(super) fn alone(tokens: &[Token], at: usize) -> Option<(Part, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let before = at.checked_sub(1).and_then(|i| tokens.get(i)).map_or("", |t| t.word.as_str());
    let first = word(0)?;
    match first {
        "overnight" => {
            let adjective =
                matches!(before, "a" | "an" | "the" | "about" | "my" | "his" | "her" | "our");
            return (!adjective).then_some((Part::LastNight, 1));
        }
        "the" if before == "during" && word(1) == Some("day") && word(2) != Some("of") => {
            return Some((Part::Daytime, 2));
        }
        "the" => {
            let placed = matches!(
                before,
                "in" | "on"
                    | "of"
                    | "during"
                    | "since"
                    | "over"
                    | "before"
                    | "after"
                    | "until"
                    | "till"
                    | "by"
                    | "towards"
            );
            let whole = usize::from(matches!(word(1), Some("whole" | "entire")));
            if whole == 1 {
                return part(tokens, at + 2).map(|(part, taken)| (part, taken + 2));
            }
            return part(tokens, at).filter(|_| placed);
        }
        "all" => {
            return part(tokens, at + 1)
                .filter(|(_, taken)| *taken == 1)
                .map(|(part, taken)| (part, taken + 1));
        }
        "early" | "late" => return part(tokens, at).filter(|(_, taken)| *taken > 2),
        _ => {}
    }
    let token = tokens.get(at)?;
    let light = Part::from_light(first)
        .or_else(|| Part::from_word(first).filter(|p| *p == Part::Lunchtime))
        .filter(|_| !token.capital);
    let placed = matches!(
        before,
        "at" | "before" | "after" | "since" | "until" | "till" | "by" | "around" | "towards"
    );
    if placed && let Some(part) = light {
        return Some((part, 1));
    }
    (before == "at" && first == "night").then_some((Part::Night, 1))
}
