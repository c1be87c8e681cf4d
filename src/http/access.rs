//! Who may come in: users, tokens and logins, as they are now.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwap;
use tokio::sync::Semaphore;

use super::HttpError;
use super::accounts::{AccountError, Accounts};
use super::logins::{Attempts, Logins};
use super::visitor::{Known, Roles, Visitor};
use crate::config::{Config, find_file};

/// The files are looked at anew at most so often.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Passwords that are looked at at the same time; each takes 19 MiB.
const HASHING: usize = 2;

/// Where users and tokens stand.
#[derive(Debug)]
struct Files {
    users: Option<PathBuf>,
    tokens: Option<PathBuf>,
    /// When they were looked at, and when each was changed last.
    looked: Mutex<(Instant, [Option<SystemTime>; 2])>,
}

/// Who may come in.
#[derive(Debug)]
pub(super) struct Access {
    /// `None`: whoever reaches it may do everything.
    files: Option<Files>,
    accounts: ArcSwap<Accounts>,
    logins: Logins,
    by_address: Attempts<IpAddr>,
    by_name: Attempts<String>,
    hashing: Semaphore,
}

/// Why nobody is logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoLogin {
    /// Name or password is wrong.
    Wrong,
    /// It was tried too often.
    TooOften,
    /// The system failed.
    Failed,
}

impl Access {
    /// Reads the files that the configuration names.
    pub(super) fn open(config: &Config) -> Result<Self, HttpError> {
        let http = &config.http;
        let found = |file: &PathBuf| {
            find_file(file, config.store.dir.as_deref()).unwrap_or_else(|| file.clone())
        };
        let files = http.has_users().then(|| Files {
            users: http.users_file.as_ref().map(found),
            tokens: http.tokens_file.as_ref().map(found),
            looked: Mutex::new((Instant::now(), [None; 2])),
        });
        let mut accounts = Accounts::default();
        if let Some(files) = &files {
            accounts = files.read()?;
            if accounts.is_empty() {
                return Err(HttpError::NoUsers);
            }
            files.is_changed();
        }
        let secs = |secs: f64| Duration::try_from_secs_f64(secs).unwrap_or(Duration::MAX);
        Ok(Self {
            files,
            accounts: ArcSwap::from_pointee(accounts),
            logins: Logins::new(secs(http.idle_secs), secs(http.login_secs)),
            by_address: Attempts::default(),
            by_name: Attempts::default(),
            hashing: Semaphore::new(HASHING),
        })
    }

    /// Whether anybody must say who they are.
    pub(super) fn has_users(&self) -> bool {
        self.files.is_some()
    }

    /// Everybody, as the files are now; a file that is wrong now leaves those of before.
    fn accounts(&self) -> Arc<Accounts> {
        if let Some(files) = &self.files
            && files.is_changed()
        {
            match files.read() {
                Ok(new) => {
                    tracing::info!("users and tokens were read anew");
                    self.accounts.store(Arc::new(new));
                }
                Err(error) => tracing::error!("{error}; the users of before stay"),
            }
        }
        self.accounts.load_full()
    }

    /// Who comes with that cookie or that token; a token comes first.
    pub(super) fn visitor(
        &self,
        token: Option<&str>,
        cookie: Option<&str>,
        address: IpAddr,
        secure: bool,
    ) -> Visitor {
        let nobody =
            Visitor { name: None, roles: Roles::default(), known: Known::Not, address, secure };
        if self.files.is_none() {
            return Visitor { roles: Roles::all(), known: Known::Open, ..nobody };
        }
        let accounts = self.accounts();
        if let Some(token) = token {
            return match accounts.token(token) {
                Some(token) => Visitor {
                    name: Some(Arc::clone(&token.name)),
                    roles: token.roles,
                    known: Known::Token,
                    ..nobody
                },
                None => nobody,
            };
        }
        let login = cookie.and_then(|cookie| self.logins.find(cookie, Instant::now()));
        let Some((key, user)) = login else { return nobody };
        match accounts.user(&user) {
            Some((name, roles)) => {
                Visitor { name: Some(name), roles, known: Known::Login(key), ..nobody }
            }
            // Taken out of the file since.
            None => nobody,
        }
    }

    /// Whether somebody who came may still what they could then.
    pub(super) fn still_knows(&self, visitor: &Visitor) -> bool {
        let name = visitor.name.as_deref().unwrap_or_default();
        match &visitor.known {
            Known::Open => true,
            Known::Not => false,
            Known::Token => self.accounts().program(name) == Some(visitor.roles),
            Known::Login(key) => {
                let user = self.accounts().user(name);
                user.is_some_and(|(_, roles)| roles == visitor.roles)
                    && self.logins.has(key, Instant::now())
            }
        }
    }

    /// Logs a user in; gives what the cookie is to hold.
    pub(super) async fn log_in(
        self: &Arc<Self>,
        name: String,
        password: String,
        address: IpAddr,
    ) -> Result<String, NoLogin> {
        let now = Instant::now();
        // Both count, also when one of them is used up already.
        let by_address = self.by_address.take(address, now);
        let by_name = self.by_name.take(name.clone(), now);
        if !(by_address && by_name) {
            tracing::warn!(%address, "Too many logins were tried.");
            return Err(NoLogin::TooOften);
        }
        let Ok(_permit) = self.hashing.acquire().await else { return Err(NoLogin::Failed) };
        let accounts = self.accounts();
        let tried = name.clone();
        let fits =
            tokio::task::spawn_blocking(move || accounts.is_password(&tried, &password)).await;
        if !fits.map_err(|_| NoLogin::Failed)? {
            tracing::warn!(%address, "A login was refused: wrong name or password.");
            return Err(NoLogin::Wrong);
        }
        self.by_address.give_back(&address);
        self.by_name.give_back(&name);
        self.logins.begin(name.into(), Instant::now()).map_err(|_| NoLogin::Failed)
    }

    /// The login ends.
    pub(super) fn log_out(&self, visitor: &Visitor) {
        if let Known::Login(key) = &visitor.known {
            self.logins.end(key);
        }
    }
}

impl Files {
    fn read(&self) -> Result<Accounts, HttpError> {
        let text = |file: &Option<PathBuf>| match file {
            None => Ok(String::new()),
            Some(path) => fs::read_to_string(path)
                .map_err(|source| HttpError::File { path: path.clone(), source }),
        };
        let (users, tokens) = (text(&self.users)?, text(&self.tokens)?);
        let wrong = |file: &Option<PathBuf>| {
            let path = file.clone().unwrap_or_default();
            move |source: AccountError| HttpError::Accounts { path, source }
        };
        // Each by itself first, so that the error names the right one.
        Accounts::parse(&users, "").map_err(wrong(&self.users))?;
        Accounts::parse(&users, &tokens).map_err(wrong(&self.tokens))
    }

    /// Whether one of them is another than when this was asked last.
    fn is_changed(&self) -> bool {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, before) = &mut *looked;
        let first = before.iter().all(Option::is_none);
        if !first && at.elapsed() < LOOK_EVERY {
            return false;
        }
        *at = Instant::now();
        let changed = |file: &Option<PathBuf>| {
            let path: &Path = file.as_deref()?;
            fs::metadata(path).and_then(|file| file.modified()).ok()
        };
        let now = [changed(&self.users), changed(&self.tokens)];
        std::mem::replace(before, now) != now
    }
}
