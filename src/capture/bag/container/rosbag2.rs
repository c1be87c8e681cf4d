//! rosbag2 bags: a folder with `metadata.yaml` and one or more files (SQLite or MCAP, packed or not),
//! played as one.
//!
//! The metadata tells the files and their packing; where it is missing or broken, the files in the folder
//! count, in the order of their numbers. A file that it does not name is read, too (a recorder that was killed has not
//! written of its last one), but no copy of one that it names, and none of the same time: messages that it alone has
//! are damage. Messages that are packed one by one are known by their first bytes, whoever says nothing of it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yaml_rust2::parser::{Event, Parser};
use yaml_rust2::{Yaml, YamlLoader};

use super::merged::Merged;
use super::open::open_file;
use super::segments::{MAX_CHUNK_BYTES, note};
use super::{copies, mcap, sqlite};
use crate::capture::bag::connection::{BagReader, Connection, Container, Found, Message};
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;
use crate::time::Span;

/// Metadata longer than this is refused.
const MAX_METADATA_BYTES: u64 = 16 << 20;
/// Metadata nested deeper is refused: a recorder's is nested 8 deep.
const MAX_METADATA_NESTING: usize = 64;
/// A packed file may unpack to this much.
const MAX_UNPACKED_BYTES: u64 = 64 << 30;
/// What every zstd frame begins with. CDR begins with a zero.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// A zstd frame's header is no longer than this.
const FRAME_HEAD: u64 = 18;

/// What `metadata.yaml` says.
#[derive(Debug, Default)]
pub(in crate::capture::bag) struct Metadata {
    files: Vec<String>,
    packed_messages: bool,
}

impl Metadata {
    fn read(path: &Path) -> Result<Self, String> {
        let mut text = String::new();
        let file = File::open(path).map_err(|error| error.to_string())?;
        file.take(MAX_METADATA_BYTES)
            .read_to_string(&mut text)
            .map_err(|error| error.to_string())?;
        Self::parse(&text)
    }

    /// Reads the text of `metadata.yaml`.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(in crate::capture::bag) fn parse(text: &str) -> Result<Self, String> {
        refuse_bombs(text)?;
        let documents = YamlLoader::load_from_str(text).map_err(|error| error.to_string())?;
        let bag =
            documents.first().map_or(&Yaml::BadValue, |all| &all["rosbag2_bagfile_information"]);
        let files = bag["relative_file_paths"].as_vec();
        let files = files.ok_or("it names no files (relative_file_paths)")?;
        let mode = bag["compression_mode"].as_str().unwrap_or_default();
        Ok(Self {
            files: files.iter().filter_map(Yaml::as_str).map(str::to_owned).collect(),
            packed_messages: mode.eq_ignore_ascii_case("message"),
        })
    }

    /// Of the folder that a single file lies in, where it names that file.
    fn beside(file: &Path) -> Option<Self> {
        let metadata = Self::read(&file.with_file_name("metadata.yaml")).ok()?;
        let names = |name: &String| Path::new(name).file_name() == file.file_name();
        metadata.files.iter().any(names).then_some(metadata)
    }

    /// The files that it names, in the bag's folder; each once, however often it is named.
    pub(in crate::capture::bag) fn files_in(&self, folder: &Path) -> Vec<PathBuf> {
        let mut files = BTreeSet::new();
        let named = self.files.iter().filter_map(|name| inside(folder, name));
        named.filter(|file| files.insert(file.clone())).collect()
    }
}

/// Refuses what the loader would not survive: it recurses into what is nested, and copies what has an anchor.
fn refuse_bombs(text: &str) -> Result<(), String> {
    let mut parser = Parser::new_from_str(text);
    let mut depth = 0_usize;
    loop {
        let (event, _) = parser.next_token().map_err(|error| error.to_string())?;
        let anchor = match event {
            Event::StreamEnd => return Ok(()),
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                depth += 1;
                anchor
            }
            Event::SequenceEnd | Event::MappingEnd => {
                depth = depth.saturating_sub(1);
                0
            }
            Event::Scalar(_, _, anchor, _) => anchor,
            _ => 0,
        };
        if anchor > 0 {
            return Err("it has anchors".to_owned());
        }
        if depth > MAX_METADATA_NESTING {
            return Err(format!("it is nested more than {MAX_METADATA_NESTING} deep"));
        }
    }
}

/// A folder's files as one container.
#[derive(Debug)]
pub(in crate::capture::bag) struct Split {
    parts: Vec<Box<dyn Container>>,
    /// What is not read, and why.
    left_out: Vec<(String, Box<dyn Container>)>,
    /// That of the folder and of all files.
    damage: Vec<(Cause, String)>,
    own: usize,
}

impl Split {
    /// Opens every file of a folder.
    ///
    /// # Errors
    /// When none of its files can be opened.
    pub(in crate::capture::bag) fn of(folder: &Path) -> Result<Self, CaptureError> {
        let mut damage = Vec::new();
        let metadata = Metadata::read(&folder.join("metadata.yaml")).unwrap_or_else(|why| {
            note(&mut damage, Cause::BadMessage, format!("metadata.yaml: {why}"));
            Metadata::default()
        });
        let (mut files, mut unnamed) = (metadata.files_in(folder), numbered(folder)?);
        if files.is_empty() {
            files = std::mem::take(&mut unnamed);
            // A recorder packs a file that is complete, and removes it then.
            files.retain(|file| !(is_packed(file) && file.with_extension("").exists()));
        }
        let is_copy = |file: &Path| files.iter().any(|one| is_copy_of(file, one) && one.exists());
        unnamed.retain(|file| !is_copy(file));
        let named = files.len();
        let (mut parts, mut failed) = (Vec::<Box<dyn Container>>::new(), None);
        let mut left_out = Vec::new();
        for (place, file) in files.into_iter().chain(unnamed).enumerate() {
            match part(&file, metadata.packed_messages) {
                Ok(part) if place >= named && is_beside_one(&parts, &*part) => {
                    let name = file.file_name().unwrap_or_default().display();
                    let why = format!(
                        "{name}: metadata.yaml does not name it, but others of the same time; play it by itself"
                    );
                    tracing::info!(%why, "left out");
                    left_out.push((why, part));
                }
                Ok(part) => {
                    if place >= named {
                        tracing::info!(file = %file.display(), "read, though metadata.yaml does not name it");
                    }
                    parts.push(part);
                }
                Err(error) => {
                    note(&mut damage, Cause::Truncated, error.to_string());
                    failed.get_or_insert(error);
                }
            }
        }
        if parts.is_empty() {
            let reason = "no bag file (.db3, .mcap) lies in this folder".to_owned();
            let nothing = CaptureError::Unreadable { path: folder.to_owned(), reason };
            return Err(failed.unwrap_or(nothing));
        }
        let own = damage.len();
        damage.extend(parts.iter().flat_map(|part| part.damage().iter().cloned()));
        Ok(Self { parts, left_out, damage, own })
    }
}

/// Whether a part was recorded at the same time as one of the others.
fn is_beside_one(parts: &[Box<dyn Container>], part: &dyn Container) -> bool {
    let Some(span) = part.span() else { return false };
    parts.iter().filter_map(|other| other.span()).any(|other| other.is_beside(span))
}

/// A bag file's name without what it ends in; `None`: it is no bag file.
fn stem(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy();
    let ends_in = |end: &&str| name.to_ascii_lowercase().ends_with(*end);
    let end = [".db3", ".mcap", ".db3.zstd", ".mcap.zstd"].into_iter().find(ends_in)?;
    name.get(..name.len() - end.len()).map(str::to_owned)
}

/// By its name: what it unpacks to is of one name with it, a copy (`run_0.copy.mcap`) has something behind it.
fn is_copy_of(file: &Path, other: &Path) -> bool {
    stem(file).zip(stem(other)).is_some_and(|(own, other)| {
        own.strip_prefix(&other).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

fn is_packed(file: &Path) -> bool {
    file.extension().is_some_and(|text| text.eq_ignore_ascii_case("zstd"))
}

/// Whether a folder holds a bag, or something else.
///
/// # Errors
/// When it cannot be listed.
pub fn is_bag_folder(folder: &Path) -> Result<bool, CaptureError> {
    Ok(folder.join("metadata.yaml").is_file() || !numbered(folder)?.is_empty())
}

/// The file of that name in the folder. Old bags put the folder's name before it; nothing leads out.
fn inside(folder: &Path, name: &str) -> Option<PathBuf> {
    Some(folder.join(Path::new(name).file_name()?))
}

/// The folder's bag files in the order of their numbers (`bag_2` before `bag_10`).
fn numbered(folder: &Path) -> Result<Vec<PathBuf>, CaptureError> {
    let io = |source| CaptureError::Io { path: folder.to_owned(), source };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(io)?
        .into_iter()
        .map(|entry| entry.path())
        .filter(|path| stem(path).is_some())
        .collect();
    files.sort_by_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stem = stem(path).unwrap_or_default();
        let number = stem.rsplit('_').next().and_then(|text| text.parse::<u64>().ok());
        (number, name)
    });
    Ok(files)
}

/// Opens a single file; `None`: it is no bag.
///
/// # Errors
/// When it cannot be read, or claims to be a bag and is not.
pub(in crate::capture::bag) fn alone(
    file: &Path,
) -> Result<Option<Box<dyn Container>>, CaptureError> {
    let Some(inner) = open_file(file)? else { return Ok(None) };
    let all = Metadata::beside(file).is_some_and(|metadata| metadata.packed_messages);
    Ok(Some(Box::new(Packed { inner, all, _copy: None })))
}

/// Opens one file of a bag, unpacked to a temporary one where it must be.
fn part(file: &Path, packed_messages: bool) -> Result<Box<dyn Container>, CaptureError> {
    if is_packed(file) {
        let (copy, unpacked) = unpack_file(file)?;
        // What was packed as a file was not packed by message.
        return Ok(if mcap::is_mcap(&unpacked)? {
            Box::new(Packed {
                inner: Box::new(Arc::new(mcap::Index::of(&unpacked)?)),
                all: false,
                _copy: Some(copy),
            })
        } else {
            Box::new(Arc::new(sqlite::Index::of(&unpacked, Some(copy))?))
        });
    }
    let inner = open_file(file)?.ok_or_else(|| CaptureError::Unreadable {
        path: file.to_owned(),
        reason: "it is neither SQLite nor MCAP".to_owned(),
    })?;
    Ok(Box::new(Packed { inner, all: packed_messages, _copy: None }))
}

/// Unpacks `name.db3.zstd` into a temporary folder.
fn unpack_file(file: &Path) -> Result<(tempfile::TempDir, PathBuf), CaptureError> {
    let io = |source| CaptureError::Io { path: file.to_owned(), source };
    let copy = copies::folder_for(file, unpacked_bytes(file).map_err(io)?)?;
    let unpacked = copy.path().join(Path::new(file.file_stem().unwrap_or_default()));
    let packed = File::open(file).map_err(io)?;
    let mut target = File::create(&unpacked).map_err(io)?;
    unpack(packed, &mut target, MAX_UNPACKED_BYTES).map_err(io)?;
    Ok((copy, unpacked))
}

/// How much a packed file unpacks to, as its first frame says; at least what it takes packed.
fn unpacked_bytes(file: &Path) -> std::io::Result<u64> {
    let mut begin = Vec::new();
    let opened = File::open(file)?;
    let packed = opened.metadata()?.len();
    opened.take(FRAME_HEAD).read_to_end(&mut begin)?;
    let told = zstd::zstd_safe::get_frame_content_size(&begin).ok().flatten().unwrap_or(0);
    Ok(told.clamp(packed, MAX_UNPACKED_BYTES.max(packed)))
}

/// Unpacks zstd into `target`, up to `most` bytes. What comes out before an error is used: the part's own
/// reader says where it ends.
///
/// # Errors
/// Those of writing.
pub(in crate::capture::bag) fn unpack(
    packed: impl Read,
    target: &mut impl Write,
    most: u64,
) -> std::io::Result<()> {
    let mut decoder = zstd::Decoder::new(packed)?;
    let (mut buffer, mut written) = (vec![0; 1 << 20], 0_u64);
    while let Ok(read @ 1..) = decoder.read(&mut buffer) {
        written += read as u64;
        if written > most {
            break;
        }
        target.write_all(&buffer[..read])?;
    }
    Ok(())
}

/// Unpacks one zstd message, up to `most` bytes.
///
/// # Errors
/// Where it does not unpack.
pub(in crate::capture::bag) fn unpack_message(packed: &[u8], most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let decoder = zstd::Decoder::new(packed).map_err(|error| error.to_string())?;
    decoder.take(most).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// A container that may be packed as a whole or by message (`compression_mode`), in whatever storage.
#[derive(Debug)]
struct Packed {
    inner: Box<dyn Container>,
    /// Each of its messages is packed; else those are that look so.
    all: bool,
    /// Where it was unpacked to; goes with it.
    _copy: Option<tempfile::TempDir>,
}

impl Container for Packed {
    fn connections(&self) -> Vec<Arc<Connection>> {
        self.inner.connections()
    }

    fn span(&self) -> Option<Span> {
        self.inner.span()
    }

    fn damage(&self) -> &[(Cause, String)] {
        self.inner.damage()
    }

    fn reader(
        &self,
        wanted: &dyn Fn(&Connection) -> bool,
    ) -> Result<Box<dyn BagReader>, CaptureError> {
        Ok(Box::new(Unpacking { reader: self.inner.reader(wanted)?, all: self.all }))
    }
}

/// Unpacks the packed ones of the messages that a reader finds.
struct Unpacking {
    reader: Box<dyn BagReader>,
    /// Each is packed.
    all: bool,
}

/// Whether a message looks as if it were packed, where CDR is written.
fn looks_packed(Message { connection, data, .. }: &Message) -> bool {
    *connection.encoding == *"cdr" && data.starts_with(&ZSTD_MAGIC)
}

impl BagReader for Unpacking {
    fn next(&mut self) -> Option<Found> {
        Some(match self.reader.next()? {
            Found::Message(message) if self.all || looks_packed(&message) => {
                match unpack_message(&message.data, MAX_CHUNK_BYTES) {
                    Ok(data) => Found::Message(Message { data, ..message }),
                    Err(why) => {
                        let Message { connection, log_time, .. } = message;
                        let place = format!("{} at {log_time}: {why}", connection.topic);
                        Found::Damaged(Cause::BadMessage, place)
                    }
                }
            }
            found => found,
        })
    }
}

impl Container for Split {
    fn connections(&self) -> Vec<Arc<Connection>> {
        self.parts.iter().flat_map(|part| part.connections()).collect()
    }

    fn span(&self) -> Option<Span> {
        self.parts
            .iter()
            .filter_map(|part| part.span())
            .reduce(|a, b| Span::new(a.start.min(b.start), a.end.max(b.end)))
    }

    fn damage(&self) -> &[(Cause, String)] {
        &self.damage
    }

    fn reader(
        &self,
        wanted: &dyn Fn(&Connection) -> bool,
    ) -> Result<Box<dyn BagReader>, CaptureError> {
        let flaws = self.damage.iter().take(self.own).cloned().collect();
        let readers = self.parts.iter().map(|part| part.reader(wanted));
        let left_out =
            self.left_out.iter().map(|(why, part)| Ok((why.clone(), part.reader(wanted)?)));
        let left_out = left_out.collect::<Result<Vec<_>, CaptureError>>()?;
        Ok(Box::new(Merged::of(flaws, readers.collect::<Result<_, _>>()?, left_out)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn files_are_those_that_the_metadata_names_else_those_that_are_there() {
        let text = "rosbag2_bagfile_information:\n  compression_mode: MESSAGE\n  \
                    relative_file_paths:\n  - run/run_0.db3\n  - run_1.db3\n";
        let metadata = Metadata::parse(text).unwrap();
        assert_eq!(metadata.files, ["run/run_0.db3", "run_1.db3"]);
        assert!(metadata.packed_messages);
        assert!(Metadata::parse("a: [").is_err());
        assert!(Metadata::parse("").is_err());
        let twice = Metadata {
            files: vec!["b".into(), "run/a".into(), "b".into(), "a".into()],
            ..metadata
        };
        assert_eq!(twice.files_in(Path::new("/x")), [Path::new("/x/b"), Path::new("/x/a")]);
        let leads_out = inside(Path::new("/bag"), "../../etc/run_0.db3");
        assert_eq!(leads_out, Some(PathBuf::from("/bag/run_0.db3")));

        let folder = tempfile::tempdir().unwrap();
        for name in ["run_10.db3", "run_2.db3", "notes.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = numbered(folder.path()).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["run_2.db3", "run_10.db3"]);
    }

    #[test]
    fn a_copy_is_told_from_the_next_file_whatever_the_folder_is_called() {
        let is_copy = |file: &str, other: &str| is_copy_of(Path::new(file), Path::new(other));
        assert!(is_copy("run_0.mcap.zstd", "run_0.mcap") && is_copy("run_0.db3", "run_0.db3.zstd"));
        assert!(is_copy("run_0.copy.mcap", "run_0.mcap") && is_copy("RUN.DB3", "RUN.db3"));
        assert!(!is_copy("run_0.mcap", "run_0.copy.mcap"));
        // `ros2 bag record -o run_0.5mps`
        assert!(!is_copy("run_0.5mps_1.mcap", "run_0.5mps_0.mcap"));
        assert!(!is_copy("run_10.mcap", "run_1.mcap"));

        let folder = tempfile::tempdir().unwrap();
        for name in ["run_0.5mps_10.db3", "run_0.5mps_2.db3"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = numbered(folder.path()).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["run_0.5mps_2.db3", "run_0.5mps_10.db3"]);
    }

    #[test]
    fn without_metadata_what_lies_there_packed_and_unpacked_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = crate::capture::bag::seeds::mcap(None);
        let packed = zstd::encode_all(bytes.as_slice(), 0).unwrap();
        std::fs::write(folder.path().join("run_0.mcap"), bytes).unwrap();
        // The recorder was killed while it packed.
        std::fs::write(folder.path().join("run_0.mcap.zstd"), &packed[..packed.len() / 2]).unwrap();
        let split = Split::of(folder.path()).unwrap();
        let mut reader = split.reader(&|_| true).unwrap();
        let mut messages = 0;
        while let Some(found) = reader.next() {
            messages += usize::from(matches!(found, Found::Message(_)));
        }
        assert_eq!(messages, crate::capture::bag::seeds::MESSAGES);
        // That there is no metadata.
        assert_eq!(split.damage().len(), 1, "{:?}", split.damage());
    }

    #[test]
    fn metadata_that_takes_stack_or_memory_is_refused() {
        let named = "rosbag2_bagfile_information:\n  relative_file_paths: [run_0.db3]\n";
        assert!(Metadata::parse(named).is_ok());
        let lists = "- ".repeat(1_000_000);
        let keys = "? ".repeat(1_000_000);
        let copies = format!("{named}a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n");
        for text in [lists, keys, copies] {
            assert!(Metadata::parse(&text).is_err());
        }
    }
}
