//! Defaults that depend on the machine: the robot's name, its time zone, where its memory lies.

use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::{Config, ConfigError};
use crate::encryption::StoreKey;

/// Where a packaged daemon keeps its memory.
const SYSTEM_STATE: &str = "/var/lib/engram";

/// Folders in which relative file names of the configuration are looked up, besides the state directory.
const SYSTEM_CONFIG: &str = "/etc/engram";
const SYSTEM_SHARE: &str = "/usr/share/engram";

impl Config {
    /// Fills in `robot.id`, `robot.timezone` and `store.dir` where they are not set.
    #[must_use]
    pub fn resolved(mut self) -> Self {
        self.robot.id.get_or_insert_with(default_robot_id);
        self.robot.timezone.get_or_insert_with(system_timezone);
        self.store.dir.get_or_insert_with(default_store_dir);
        self
    }

    /// The robot's name in topics: `robot.id`, else host name and 4 hex digits of the machine id.
    #[must_use]
    pub fn robot_id(&self) -> String {
        self.robot.id.clone().unwrap_or_else(default_robot_id)
    }

    /// The time zone in which "yesterday" is meant: `robot.timezone`, else the system's, else UTC.
    #[must_use]
    pub fn timezone(&self) -> jiff::tz::TimeZone {
        let name = self.robot.timezone.clone().unwrap_or_else(system_timezone);
        jiff::tz::TimeZone::get(&name).unwrap_or(jiff::tz::TimeZone::UTC)
    }

    /// The folder of the memory: `store.dir`, else `/var/lib/engram` where it can be used, else
    /// `$XDG_STATE_HOME/engram`.
    #[must_use]
    pub fn store_dir(&self) -> PathBuf {
        self.store.dir.clone().unwrap_or_else(default_store_dir)
    }
}

/// Whether `id` can be a level of a topic: `[a-z0-9_-]{1,64}`.
pub(super) fn is_robot_id(id: &str) -> bool {
    (1..=64).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b))
}

fn default_robot_id() -> String {
    let host = hostname::get()
        .map_or_else(|_| "robot".to_owned(), |name| name.to_string_lossy().into_owned());
    let machine = ["/etc/machine-id", "/var/lib/dbus/machine-id"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok())
        .unwrap_or_default();
    robot_id_of(&host, machine.trim())
}

/// Host name cut to what topics may hold, and the first 4 digits of the machine id.
fn robot_id_of(host: &str, machine: &str) -> String {
    let short = host.split('.').next().unwrap_or_default().to_lowercase();
    let name: String = short
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .take(59)
        .collect();
    let name = if name.is_empty() { "robot" } else { &name };
    let digits: String = machine.chars().filter(char::is_ascii_hexdigit).take(4).collect();
    if digits.len() == 4 {
        format!("{name}-{}", digits.to_lowercase())
    } else {
        format!("{name}-0000")
    }
}

fn system_timezone() -> String {
    let zone = jiff::tz::TimeZone::system();
    zone.iana_name()
        .filter(|name| jiff::tz::TimeZone::get(name).is_ok())
        .unwrap_or("UTC")
        .to_owned()
}

fn default_store_dir() -> PathBuf {
    let system = Path::new(SYSTEM_STATE);
    let usable = rustix::fs::access(system, rustix::fs::Access::WRITE_OK).is_ok();
    if usable {
        return system.to_owned();
    }
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".local/state"));
    std::env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .filter(|dir| dir.is_absolute())
        .or_else(home)
        .map_or_else(|| system.to_owned(), |state| state.join("engram"))
}

/// Finds a file that the configuration names: absolute as it is; relative ones among systemd's
/// credentials, in `/etc/engram`, in the state directory, in `/usr/share/engram`.
#[must_use]
pub fn find_file(file: &Path, state_dir: Option<&Path>) -> Option<PathBuf> {
    if file.is_absolute() {
        return file.exists().then(|| file.to_owned());
    }
    let credentials = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
    [
        credentials,
        Some(SYSTEM_CONFIG.into()),
        Some(state_dir.map_or_else(default_store_dir, Path::to_owned)),
        Some(SYSTEM_SHARE.into()),
    ]
    .into_iter()
    .flatten()
    .map(|dir| dir.join(file))
    .find(|path| path.exists())
}

impl Config {
    /// The key under which the store is encrypted; `None`: it is not.
    ///
    /// # Errors
    /// When its file cannot be read, or holds no key.
    pub fn store_key(&self) -> Result<Option<StoreKey>, ConfigError> {
        let Some(file) = &self.store.key_file else { return Ok(None) };
        let text =
            Zeroizing::new(read_secret("key of the store", file, self.store.dir.as_deref())?);
        let key = StoreKey::parse(&text);
        key.map(Some).map_err(|source| ConfigError::Key { path: file.clone(), source })
    }
}

/// Reads a password or key from its file, without the line end.
///
/// # Errors
/// [`ConfigError::Secret`] when the file cannot be read.
pub fn read_secret(
    what: &'static str,
    file: &Path,
    state_dir: Option<&Path>,
) -> Result<String, ConfigError> {
    let path = find_file(file, state_dir).unwrap_or_else(|| file.to_owned());
    let text = std::fs::read_to_string(&path).map_err(|source| ConfigError::Secret {
        what,
        path,
        source,
    })?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn robot_ids_fit_into_topics() {
        assert_eq!(robot_id_of("Kitchen.local", "9F3c51aa"), "kitchen-9f3c");
        assert_eq!(robot_id_of("Küche #2", ""), "k-che--2-0000");
        assert_eq!(robot_id_of("", "abcd"), "robot-abcd");
        assert!(is_robot_id(&default_robot_id()));
        for bad in ["", "Robot", "a/b", "a+b", "ä"] {
            assert!(!is_robot_id(bad), "{bad}");
        }
    }

    #[test]
    fn resolving_fills_every_gap_and_changes_nothing_else() {
        let resolved = Config::default().resolved();
        assert!(resolved.robot.id.is_some() && resolved.robot.timezone.is_some());
        assert!(resolved.store.dir.as_ref().is_some_and(|dir| dir.is_absolute()));
        assert_eq!(resolved.clone().resolved(), resolved);
        assert_eq!(resolved.window, Config::default().window);
    }
}
