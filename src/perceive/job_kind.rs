//! Kinds of jobs.

/// What a job is for; in the order in which jobs are taken when several wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobKind {
    /// First words of a turn that goes on, for the open window.
    Guess,
    /// A frame's faces and things.
    Frame,
    /// A turn split by speaker and embedded.
    Voice,
    /// A turn's words.
    Words,
    /// A face compared with a turn.
    Mouth,
    /// A clip's turns heard again, all at once.
    Again,
}

impl JobKind {
    /// How many there are.
    pub const COUNT: usize = 6;
    /// Every kind, the most urgent first.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Guess, Self::Frame, Self::Voice, Self::Words, Self::Mouth, Self::Again];

    /// Its name in metrics and sentences.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Guess => "guess",
            Self::Frame => "frame",
            Self::Voice => "voice",
            Self::Words => "words",
            Self::Mouth => "mouth",
            Self::Again => "again",
        }
    }

    /// Whether it is a second look at what is known already.
    #[must_use]
    pub const fn is_second_look(self) -> bool {
        matches!(self, Self::Mouth | Self::Again)
    }
}
