//! Who comes, and what they may.

use std::net::IpAddr;
use std::sync::Arc;

/// A right, as on the broker (docs/mqtt.md, Rights).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// See: events, pictures, how it is, and everything that is read (`query`).
    Look,
    /// Ask questions.
    Ask,
    /// Tell, name, correct, judge, switch microphones, steer a replay.
    Operate,
    /// Forget.
    Erase,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Look, Self::Ask, Self::Operate, Self::Erase];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Ask => "ask",
            Self::Operate => "operate",
            Self::Erase => "erase",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }
}

/// Some rights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles(u8);

impl Roles {
    /// Every right.
    #[must_use]
    pub fn all() -> Self {
        Role::ALL.into_iter().collect()
    }

    /// Whether that one is among them.
    #[must_use]
    pub fn has(self, role: Role) -> bool {
        self.0 & (1 << role as u8) != 0
    }

    /// Their words, in a fixed order.
    #[must_use]
    pub fn words(self) -> Vec<&'static str> {
        Role::ALL.into_iter().filter(|role| self.has(*role)).map(Role::word).collect()
    }
}

impl FromIterator<Role> for Roles {
    fn from_iter<I: IntoIterator<Item = Role>>(roles: I) -> Self {
        Self(roles.into_iter().fold(0, |bits, role| bits | 1 << role as u8))
    }
}

/// How somebody is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Nobody needs to say who they are.
    Open,
    /// By a cookie, whose name in the table of logins this is.
    Login([u8; 32]),
    /// By a token.
    Token,
    /// Not at all.
    Not,
}

/// Who sent a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Visitor {
    /// User, or name of the token.
    pub(super) name: Option<Arc<str>>,
    pub(super) roles: Roles,
    pub(super) known: Known,
    /// Where the request came from; behind a trusted proxy, before it.
    pub(super) address: IpAddr,
    /// Whether it came over https, at the latest up to a trusted proxy.
    pub(super) secure: bool,
}

impl Visitor {
    /// By whom the limits of rate go, and to whom alone the rounds of an answer are told.
    pub(super) fn asker(&self) -> Arc<str> {
        match &self.name {
            Some(name) => Arc::clone(name),
            None => self.address.to_string().into(),
        }
    }
}
