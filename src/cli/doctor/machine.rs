//! The machine itself: devices, clock, rights.

use std::fs;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::slice;
use std::time::Duration;

use super::{Finding, Verdict, microphone};
use crate::capture::{CameraAddress, CaptureError, camera_address, without_pipeline};
use crate::config::{Camera, Config, find_file};
use crate::time::Timestamp;

/// How long a network camera may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(2);
/// Where network cameras listen unless their address tells.
const PORTS: [(&str, u16); 5] =
    [("rtsp", 554), ("rtspt", 554), ("rtsps", 554), ("http", 80), ("https", 443)];
/// Of a source that only its pipeline knows.
pub(super) const BUILT: &str = "its pipeline can be built; not tried";
/// The clock of a machine without a battery begins before this: 2025-01-01.
const CLOCK_FROM: i64 = 1_735_689_600_000_000_000;
/// What synchronised clocks leave behind: systemd-timesyncd, chrony, ntpd.
const SYNCHRONISED: [&str; 3] =
    ["/run/systemd/timesync/synchronized", "/run/chrony/chronyd.pid", "/run/ntpd.pid"];

/// Cameras and microphones, configured and there.
pub(super) fn devices(config: &Config) -> Vec<Finding> {
    let mut findings: Vec<Finding> = config.camera.iter().map(camera).collect();
    let cameras = nodes("/dev", "video");
    if config.camera.is_empty() {
        findings.push(unused("cameras", cameras.len(), "[[camera]]"));
    }
    findings.extend(microphone::microphones(config));
    findings.extend(gpu());
    findings
}

/// What is there and not in the configuration.
pub(super) fn unused(what: &'static str, there: usize, section: &str) -> Finding {
    let found = match there {
        0 => "none configured, none on this machine".to_owned(),
        there => format!("none configured; {there} devices are there: name them in {section}"),
    };
    Finding::ok("devices", what, found)
}

fn camera(camera: &Camera) -> Finding {
    let what = format!("camera {}", camera.id);
    if let Some((_, error)) = without_pipeline(slice::from_ref(camera), &[]).pop() {
        return unbuilt(what, &error, "pipeline in [[camera]]");
    }
    match camera_address(camera) {
        CameraAddress::Device(path) => node(&what, Path::new(&path), "video"),
        CameraAddress::Network(uri) => network(&what, &uri),
        CameraAddress::File(path) if path.is_file() => {
            Finding::ok("devices", what, path.display().to_string())
        }
        CameraAddress::File(path) => {
            let found = format!("{} is no file", path.display());
            let cure = "correct its uri in [[camera]]";
            Finding::bad(Verdict::Failure, "devices", what, found, cure)
        }
        CameraAddress::Other(_) => Finding::ok("devices", what, BUILT),
    }
}

/// A pipeline that the daemon could not start.
pub(super) fn unbuilt(what: String, error: &CaptureError, key: &str) -> Finding {
    let cure = format!("correct its {key}, or install what it needs");
    Finding::bad(Verdict::Failure, "devices", what, error.to_string(), cure)
}

/// A device file that this user must be able to read and write.
pub(super) fn node(what: &str, path: &Path, group: &str) -> Finding {
    let shown = path.display();
    let Ok(meta) = fs::metadata(path) else {
        let cure =
            "plug it in, or correct its name; udev rules give names that stay (70-engram.rules)";
        return Finding::bad(
            Verdict::Failure,
            "devices",
            what,
            format!("{shown} is not there"),
            cure,
        );
    };
    if !meta.file_type().is_char_device() {
        let found = format!("{shown} is no device");
        return Finding::bad(Verdict::Failure, "devices", what, found, "correct its name");
    }
    let access = rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK;
    if rustix::fs::access(path, access).is_err() {
        let found = format!("{shown} cannot be opened by this user");
        let cure =
            format!("run as the daemon's user, or: usermod -aG {group} <user>, and log in again");
        return Finding::bad(Verdict::Failure, "devices", what, found, cure);
    }
    Finding::ok("devices", what, shown.to_string())
}

/// Whether a network camera listens. User and password in its address are not shown.
fn network(what: &str, uri: &str) -> Finding {
    let (scheme, rest) = uri.split_once("://").unwrap_or(("", uri));
    let Some(port) = PORTS.iter().find(|(name, _)| *name == scheme).map(|(_, port)| port) else {
        return Finding::ok("devices", what, format!("{scheme}, not tried"));
    };
    let host = rest.split(['/', '?']).next().unwrap_or(rest);
    let host = host.rsplit('@').next().unwrap_or(host);
    let address = match host.rsplit_once(':') {
        Some((_, digits)) if digits.bytes().all(|digit| digit.is_ascii_digit()) => host.to_owned(),
        _ => format!("{host}:{port}"),
    };
    let reached = address
        .to_socket_addrs()
        .map_err(|error| error.to_string())
        .and_then(|mut all| all.next().ok_or_else(|| "no address".to_owned()))
        .and_then(|at| TcpStream::connect_timeout(&at, CONNECT).map_err(|error| error.to_string()));
    match reached {
        Ok(_) => Finding::ok("devices", what, format!("{address} answers")),
        Err(error) => {
            let cure =
                "check its address, its power and the network; the daemon tries again by itself";
            Finding::bad(Verdict::Warning, "devices", what, format!("{address}: {error}"), cure)
        }
    }
}

/// A GPU that is there and cannot be used.
fn gpu() -> Option<Finding> {
    let path = Path::new("/dev/nvidia0");
    if !path.exists() {
        return None;
    }
    let found = node("GPU", path, "video");
    if found.verdict != Verdict::Ok || tch::Cuda::is_available() {
        return Some(found);
    }
    let cure = "everything runs on the CPU; benches/gpu.md says what a GPU build needs";
    Some(Finding::bad(Verdict::Warning, "devices", "GPU", "there, but libtorch is the CPU's", cure))
}

/// Files of a folder whose names begin so, in order.
pub(super) fn nodes(dir: &str, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// Memories are as right as the clock.
pub(super) fn clock(now: Timestamp) -> Vec<Finding> {
    if now.as_nanos() < CLOCK_FROM {
        let cure = "set it: timedatectl set-ntp true, or date -s; a robot without network needs a clock with a battery";
        return vec![Finding::bad(Verdict::Failure, "clock", "time", now.to_string(), cure)];
    }
    let mut findings = vec![Finding::ok("clock", "time", now.to_string())];
    findings.push(match SYNCHRONISED.iter().find(|path| Path::new(path).exists()) {
        Some(path) => Finding::ok("clock", "synchronised", *path),
        None => Finding::bad(
            Verdict::Warning,
            "clock",
            "synchronised",
            "no sign of systemd-timesyncd, chrony or ntpd",
            "timedatectl set-ntp true, or apt-get install chrony; a jump begins a new session",
        ),
    });
    findings
}

/// Who can read what nobody should.
pub(super) fn rights(config: &Config, store: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Ok(meta) = fs::metadata(store) {
        let mode = meta.mode() & 0o777;
        findings.push(if mode & 0o077 == 0 {
            Finding::ok("rights", "store", format!("{mode:04o}"))
        } else {
            let found = format!("{} is open to others ({mode:04o})", store.display());
            let cure = format!("chmod 700 {}", store.display());
            Finding::bad(Verdict::Warning, "rights", "store", found, cure)
        });
        findings.extend(open_files(store));
    }
    for (key, file) in secrets(config) {
        let Some(file) = file else { continue };
        let Some(path) = find_file(file, config.store.dir.as_deref()) else { continue };
        findings.push(secret(key, &path));
    }
    findings
}

/// The keys that name a file with a secret in it.
fn secrets(config: &Config) -> [(&'static str, &Option<PathBuf>); 8] {
    [
        ("store.key_file", &config.store.key_file),
        ("mqtt.password_file", &config.mqtt.password_file),
        ("http.tls_key_file", &config.http.tls_key_file),
        ("mqtt.client_key_file", &config.mqtt.client_key_file),
        ("llm.api_key_file", &config.llm.api_key_file),
        ("memorizer.api_key_file", &config.memorizer.api_key_file),
        ("transcriber.api_key_file", &config.transcriber.api_key_file),
        ("embedder.api_key_file", &config.embedder.api_key_file),
    ]
}

/// Files of the store that others can read; one word for all of them.
fn open_files(store: &Path) -> Option<Finding> {
    let entries = fs::read_dir(store).into_iter().flatten().flatten();
    let mut open: Vec<String> = entries
        .filter(|entry| {
            entry.metadata().is_ok_and(|meta| meta.is_file() && meta.mode() & 0o077 != 0)
        })
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    open.sort();
    if open.is_empty() {
        return None;
    }
    let cure = format!("chmod -R go= {}", store.display());
    let found = format!("others can read {}", open.join(", "));
    Some(Finding::bad(Verdict::Warning, "rights", "files of the store", found, cure))
}

fn secret(key: &str, path: &Path) -> Finding {
    let shown = path.display();
    match fs::File::open(path).and_then(|file| file.metadata()) {
        Err(error) => {
            let cure =
                "let the daemon's user read it, or hand it over by LoadCredential (password.conf)";
            Finding::bad(Verdict::Failure, "rights", key, format!("{shown}: {error}"), cure)
        }
        Ok(meta) if meta.mode() & 0o007 != 0 => {
            let found = format!("everybody can read {shown}");
            Finding::bad(Verdict::Warning, "rights", key, found, format!("chmod 600 {shown}"))
        }
        Ok(_) => Finding::ok("rights", key, shown.to_string()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::config::key_paths;

    fn with_camera(uri: &str) -> Finding {
        camera(&Camera {
            id: "front".into(),
            pipeline: None,
            uri: Some(uri.into()),
            calibration_file: None,
        })
    }

    #[test]
    fn a_camera_that_is_not_there_is_named_with_its_cure() {
        for uri in
            ["/dev/video_of_nobody", "/nowhere/film.mp4", "file:///nowhere/film.mp4", "/dev/disk"]
        {
            let finding = with_camera(uri);
            assert_eq!(finding.verdict, Verdict::Failure, "{finding:?}");
            assert!(finding.cure.is_some());
        }
        assert_eq!(with_camera("/dev/null").verdict, Verdict::Ok);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let schemes = ["rtsp", "http"];
        let look = || {
            schemes.map(|scheme| {
                with_camera(&format!("{scheme}://user:secret@127.0.0.1:{port}/stream?x=a:b"))
            })
        };
        let open = look();
        assert!(open.iter().all(|one| one.verdict == Verdict::Ok), "{open:?}");
        drop(listener);
        let closed = look();
        assert!(closed.iter().all(|one| one.verdict == Verdict::Warning), "{closed:?}");
        assert!(!format!("{open:?}{closed:?}").contains("secret"));
    }

    #[test]
    fn a_pipeline_that_cannot_be_built_is_a_failure() {
        let of = |pipeline: &str| {
            let (id, pipeline) = ("front".into(), Some(pipeline.into()));
            camera(&Camera { id, pipeline, uri: None, calibration_file: None }).verdict
        };
        assert_eq!(of("test"), Verdict::Ok);
        assert_eq!(of("videotestsrc ! appsink name=video"), Verdict::Ok);
        assert_eq!(of("nosuchelement ! appsink name=video"), Verdict::Failure);
        assert_eq!(of("/nowhere/x.launch"), Verdict::Failure);
        assert_eq!(of("videotestsrc ! videoconvert"), Verdict::Failure);
    }

    #[test]
    fn a_clock_without_battery_is_a_failure() {
        assert_eq!(clock(Timestamp::from_nanos(5_000_000_000))[0].verdict, Verdict::Failure);
        assert_eq!(clock(Timestamp::from_nanos(CLOCK_FROM + 1))[0].verdict, Verdict::Ok);
    }

    #[test]
    fn every_key_that_names_a_secret_is_looked_at() {
        let config = Config::default();
        let looked_at = secrets(&config).map(|(key, _)| key);
        for key in key_paths() {
            if key.ends_with("key_file") || key.ends_with("password_file") {
                assert!(looked_at.contains(&key.as_str()), "{key}");
            }
        }
    }

    #[test]
    fn what_others_can_read_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let key = dir.path().join("llm.key");
        fs::write(&key, "secret").unwrap();
        let mut config = Config::default();
        config.llm.api_key_file = Some(key.clone());
        mode(dir.path(), 0o700);
        mode(&key, 0o600);
        let good = rights(&config, dir.path());
        assert!(good.iter().all(|one| one.verdict == Verdict::Ok), "{good:?}");
        mode(dir.path(), 0o755);
        mode(&key, 0o644);
        let bad = rights(&config, dir.path());
        assert_eq!(bad.iter().filter(|one| one.verdict == Verdict::Warning).count(), 3, "{bad:?}");
        assert!(bad.iter().all(|one| one.cure.as_ref().is_some_and(|cure| cure.contains("chmod"))));
    }
}
