//! The files of users and tokens: a line for each, `NAME:ROLES:SECRET`. Reading them is a pure function over text.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use argon2::password_hash::{PasswordHash, PasswordHasher as _, SaltString};
use argon2::{Argon2, PasswordVerifier as _};
use sha2::{Digest, Sha256};

use super::visitor::{Role, Roles};

/// What every token begins with, so that those who look for lost ones find it.
const TOKEN_PREFIX: &str = "engram_";

/// Why a line, or a secret for one, is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    /// Not three parts.
    #[error("line {line} is not NAME:ROLES:SECRET; `engramd users` makes such lines")]
    Form {
        /// Which.
        line: usize,
    },
    /// A name that cannot be.
    #[error("the name {0:?} must be 1–64 of a–z, A–Z, 0–9, `.`, `_` and `-`")]
    Name(String),
    /// Two lines for one.
    #[error("line {line}: {name:?} stands in an earlier line, too")]
    Twice {
        /// Which.
        line: usize,
        /// Who.
        name: String,
    },
    /// Roles that there are not.
    #[error("{0:?} is no role; there are look, ask, operate, erase")]
    Role(String),
    /// No roles at all.
    #[error("{0:?} has no role; give one of look, ask, operate, erase")]
    NoRole(String),
    /// A secret that nothing fits.
    #[error("line {line}: the last part is no {what}; `engramd users` makes it")]
    Secret {
        /// Which.
        line: usize,
        /// What it is to be.
        what: &'static str,
    },
    /// A password that anybody guesses.
    #[error("the password has {0} characters; take at least 8")]
    Short(usize),
    /// No hash could be made.
    #[error("hashing the password: {0}")]
    Hash(String),
    /// The system has no randomness.
    #[error("reading random bytes: {0}")]
    Random(String),
}

/// Somebody who may log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct User {
    pub(super) roles: Roles,
    /// Argon2id, as a PHC string.
    hash: String,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) name: Arc<str>,
    pub(super) roles: Roles,
}

/// Everybody who may come in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Accounts {
    users: BTreeMap<Arc<str>, User>,
    /// By the SHA-256 of the token.
    tokens: HashMap<[u8; 32], Token>,
}

impl Accounts {
    /// Reads both files.
    pub(super) fn parse(users: &str, tokens: &str) -> Result<Self, AccountError> {
        let mut accounts = Self::default();
        for (line, name, roles, secret) in lines(users)? {
            if PasswordHash::new(secret).is_err() || !secret.starts_with("$argon2id$") {
                return Err(AccountError::Secret { line, what: "Argon2id hash of a password" });
            }
            let user = User { roles, hash: secret.to_owned() };
            accounts.users.insert(name.into(), user);
        }
        for (line, name, roles, secret) in lines(tokens)? {
            let mut hash = [0; 32];
            hex::decode_to_slice(secret, &mut hash)
                .map_err(|_| AccountError::Secret { line, what: "SHA-256 of a token" })?;
            accounts.tokens.insert(hash, Token { name: name.into(), roles });
        }
        Ok(accounts)
    }

    /// Whether nobody at all may come in.
    pub(super) fn is_empty(&self) -> bool {
        self.users.is_empty() && self.tokens.is_empty()
    }

    /// A user, by name.
    pub(super) fn user(&self, name: &str) -> Option<(Arc<str>, Roles)> {
        self.users.get_key_value(name).map(|(name, user)| (Arc::clone(name), user.roles))
    }

    /// Whose token that is.
    pub(super) fn token(&self, token: &str) -> Option<&Token> {
        self.tokens.get(&digest(token))
    }

    /// Whether a program of that name may still come in, and what it may.
    pub(super) fn program(&self, name: &str) -> Option<Roles> {
        self.tokens.values().find(|token| *token.name == *name).map(|token| token.roles)
    }

    /// Whether that is the user's password. Takes some tens of milliseconds and 19 MiB, for a name that nobody has, too.
    pub(super) fn is_password(&self, name: &str, password: &str) -> bool {
        /// Of a password that nobody knows.
        const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        let user = self.users.get(name);
        let hash = user.map_or(NOBODY, |user| &user.hash);
        let fits = PasswordHash::new(hash)
            .and_then(|hash| Argon2::default().verify_password(password.as_bytes(), &hash));
        user.is_some() && fits.is_ok()
    }
}

/// The lines of a file that say something: number, name, roles, secret.
fn lines(text: &str) -> Result<Vec<(usize, &str, Roles, &str)>, AccountError> {
    let mut found: Vec<(usize, &str, Roles, &str)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let (line, number) = (line.trim(), at + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let parts: Vec<&str> = line.splitn(3, ':').map(str::trim).collect();
        let [name, words, secret] = parts[..] else {
            return Err(AccountError::Form { line: number });
        };
        check_name(name)?;
        if found.iter().any(|(_, known, _, _)| *known == name) {
            return Err(AccountError::Twice { line: number, name: name.to_owned() });
        }
        found.push((number, name, roles(name, words.split(','))?, secret));
    }
    Ok(found)
}

fn check_name(name: &str) -> Result<(), AccountError> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if (1..=64).contains(&name.len()) && name.bytes().all(fits) {
        Ok(())
    } else {
        Err(AccountError::Name(name.to_owned()))
    }
}

/// Reads the words of roles.
fn roles<'a>(name: &str, words: impl Iterator<Item = &'a str>) -> Result<Roles, AccountError> {
    let words = words.map(str::trim).filter(|word| !word.is_empty());
    let roles: Roles = words
        .map(|word| Role::from_word(word).ok_or_else(|| AccountError::Role(word.to_owned())))
        .collect::<Result<_, _>>()?;
    if roles == Roles::default() { Err(AccountError::NoRole(name.to_owned())) } else { Ok(roles) }
}

/// The line of the users' file for that name, those roles and that password.
///
/// # Errors
/// [`AccountError`], for a name or a password that cannot be.
pub fn user_line(name: &str, roles: Roles, password: &str) -> Result<String, AccountError> {
    check_name(name)?;
    let length = password.chars().count();
    if length < 8 {
        return Err(AccountError::Short(length));
    }
    let failed = |error: argon2::password_hash::Error| AccountError::Hash(error.to_string());
    let salt = SaltString::encode_b64(&random::<16>()?).map_err(failed)?;
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt).map_err(failed)?;
    Ok(format!("{name}:{}:{hash}", roles.words().join(",")))
}

/// A new token, and the line of the tokens' file for it.
///
/// # Errors
/// [`AccountError`], for a name that cannot be.
pub fn token_line(name: &str, roles: Roles) -> Result<(String, String), AccountError> {
    check_name(name)?;
    let token = format!("{TOKEN_PREFIX}{}", hex::encode(random::<32>()?));
    let line = format!("{name}:{}:{}", roles.words().join(","), hex::encode(digest(&token)));
    Ok((token, line))
}

/// What stands for a secret of 256 random bits.
pub(super) fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}

/// Random bytes.
pub(super) fn random<const N: usize>() -> Result<[u8; N], AccountError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| AccountError::Random(error.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn look() -> Roles {
        [Role::Look].into_iter().collect()
    }

    #[test]
    fn lines_that_are_made_are_read_again() {
        let user = user_line("ava", Roles::all(), "correct horse").unwrap();
        let (token, line) = token_line("cron", look()).unwrap();
        assert!(
            user.starts_with("ava:look,ask,operate,erase:$argon2id$v=19$m=19456,t=2,p=1$"),
            "{user}"
        );
        assert!(!line.contains(&token[7..]), "the token itself is nowhere kept");
        let accounts = Accounts::parse(&format!("# people\n\n{user}\n"), &line).unwrap();
        assert!(accounts.is_password("ava", "correct horse"));
        assert!(!accounts.is_password("ava", "correct hors"));
        assert!(!accounts.is_password("ben", "correct horse"));
        assert_eq!(accounts.user("ava").unwrap().1, Roles::all());
        assert_eq!(accounts.token(&token).unwrap().roles, look());
        assert_eq!(accounts.token("engram_0"), None);
    }

    #[test]
    fn what_is_wrong_with_a_line_is_told() {
        let hash = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        for (users, why) in [
            ("ava:look".to_owned(), "line 1 is not NAME:ROLES:SECRET"),
            (format!("# \nava:lok:{hash}"), "\"lok\" is no role"),
            (format!("ava::{hash}"), "has no role"),
            (format!("a/b:look:{hash}"), "must be 1–64"),
            (
                format!("ava:look:{hash}\nava:ask:{hash}"),
                "line 2: \"ava\" stands in an earlier line",
            ),
            ("ava:look:secret".to_owned(), "line 1: the last part is no Argon2id hash"),
        ] {
            let error = Accounts::parse(&users, "").unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        assert!(Accounts::parse("", "cron:ask:abc").unwrap_err().to_string().contains("SHA-256"));
        assert_eq!(user_line("ava", look(), "short"), Err(AccountError::Short(5)));
    }
}
