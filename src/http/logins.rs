//! Who is logged in, and how often a password may be tried.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::accounts::{AccountError, digest, random};

/// Logins at the same time; then the one that was not used for longest ends.
const MAX_LOGINS: usize = 1024;
/// Passwords that may be tried at once …
const ATTEMPTS: f64 = 5.0;
/// … and until the next one after that.
const SECS_PER_ATTEMPT: f64 = 12.0;
/// Addresses, and names, that are watched at the same time.
const MAX_WATCHED: usize = 4096;

#[derive(Debug)]
struct Login {
    user: Arc<str>,
    began: Instant,
    used: Instant,
}

/// The logins, by the SHA-256 of what the cookie holds.
#[derive(Debug)]
pub(super) struct Logins {
    idle: Duration,
    longest: Duration,
    open: Mutex<HashMap<[u8; 32], Login>>,
}

impl Logins {
    /// They end when not used for `idle`, and `longest` after they began.
    pub(super) fn new(idle: Duration, longest: Duration) -> Self {
        Self { idle, longest, open: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], Login>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A user logs in; gives what the cookie is to hold.
    pub(super) fn begin(&self, user: Arc<str>, now: Instant) -> Result<String, AccountError> {
        let cookie = hex::encode(random::<32>()?);
        let mut open = self.lock();
        open.retain(|_, login| self.goes_on(login, now));
        if open.len() >= MAX_LOGINS {
            let oldest = open.iter().min_by_key(|(_, login)| login.used).map(|(key, _)| *key);
            oldest.map(|key| open.remove(&key));
        }
        open.insert(digest(&cookie), Login { user, began: now, used: now });
        Ok(cookie)
    }

    /// Whose login a cookie is; counts as a use of it.
    pub(super) fn find(&self, cookie: &str, now: Instant) -> Option<([u8; 32], Arc<str>)> {
        let key = digest(cookie);
        let mut open = self.lock();
        let login = open.get_mut(&key).filter(|login| self.goes_on(login, now))?;
        login.used = now;
        Some((key, Arc::clone(&login.user)))
    }

    /// Whether a login goes on; looking is no use of it.
    pub(super) fn has(&self, key: &[u8; 32], now: Instant) -> bool {
        self.lock().get(key).is_some_and(|login| self.goes_on(login, now))
    }

    /// It ends.
    pub(super) fn end(&self, key: &[u8; 32]) {
        self.lock().remove(key);
    }

    fn goes_on(&self, login: &Login, now: Instant) -> bool {
        now.saturating_duration_since(login.used) < self.idle
            && now.saturating_duration_since(login.began) < self.longest
    }
}

/// Attempts left, and when that was.
#[derive(Clone, Copy, Debug)]
struct Left {
    attempts: f64,
    at: Instant,
}

/// How often something may be tried, for each key (token buckets).
#[derive(Debug)]
pub(super) struct Attempts<K>(Mutex<HashMap<K, Left>>);

impl<K: Eq + Hash> Default for Attempts<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash + Clone> Attempts<K> {
    /// One more attempt; false: not before some seconds have passed.
    pub(super) fn take(&self, key: K, now: Instant) -> bool {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let level = |left: &Left| {
            let secs = now.saturating_duration_since(left.at).as_secs_f64();
            (left.attempts + secs / SECS_PER_ATTEMPT).min(ATTEMPTS)
        };
        if watched.len() >= MAX_WATCHED && !watched.contains_key(&key) {
            watched.retain(|_, left| level(left) < ATTEMPTS);
            if watched.len() >= MAX_WATCHED {
                // A flood of made-up keys: the one that has most left goes.
                let most = watched.iter().max_by(|(_, a), (_, b)| level(a).total_cmp(&level(b)));
                let most = most.map(|(key, _)| key.clone());
                most.map(|key| watched.remove(&key));
            }
        }
        let left = watched.entry(key).or_insert(Left { attempts: ATTEMPTS, at: now });
        *left = Left { attempts: level(left), at: now };
        let may = left.attempts >= 1.0;
        if may {
            left.attempts -= 1.0;
        }
        may
    }

    /// The last attempt was right, and does not count.
    pub(super) fn give_back(&self, key: &K) {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = watched.get_mut(key) {
            left.attempts = (left.attempts + 1.0).min(ATTEMPTS);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn a_login_ends_when_it_is_not_used_and_after_a_time_in_any_case() {
        let logins = Logins::new(secs(60), secs(100));
        let now = Instant::now();
        let cookie = logins.begin("ava".into(), now).unwrap();
        let (key, user) = logins.find(&cookie, now + secs(50)).unwrap();
        assert_eq!(&*user, "ava");
        assert!(logins.has(&key, now + secs(99)), "it was used meanwhile");
        assert!(!logins.has(&key, now + secs(101)), "it was used, but it is too old");
        assert!(logins.find(&cookie, now + secs(111)).is_none());
        let other = logins.begin("ben".into(), now).unwrap();
        assert!(logins.find(&other, now + secs(61)).is_none(), "nobody used it");
        let (key, _) = logins.find(&cookie, now + secs(51)).unwrap();
        logins.end(&key);
        assert!(logins.find(&cookie, now + secs(51)).is_none());
        assert!(logins.find("guessed", now).is_none());
    }

    #[test]
    fn logins_are_bounded() {
        let logins = Logins::new(secs(60), secs(60));
        let now = Instant::now();
        for _ in 0..MAX_LOGINS + 10 {
            logins.begin("ava".into(), now).unwrap();
        }
        assert_eq!(logins.lock().len(), MAX_LOGINS);
    }

    #[test]
    fn a_password_cannot_be_tried_often() {
        let attempts = Attempts::default();
        let now = Instant::now();
        let tried = |now| (0..100).filter(|_| attempts.take("ava", now)).count();
        assert_eq!(tried(now), 5);
        assert_eq!(tried(now + secs(13)), 1);
        assert!(attempts.take("ben", now));
        attempts.give_back(&"ava");
        assert_eq!(tried(now + secs(13)), 1);
        let many = Attempts::default();
        let taken = (0..3 * MAX_WATCHED).filter(|key| many.take(*key, now)).count();
        assert_eq!(taken, 3 * MAX_WATCHED, "each of them is new");
        assert!(many.0.lock().unwrap().len() <= MAX_WATCHED);
    }
}
