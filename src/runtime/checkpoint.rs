//! PyTorch checkpoints (`torch.save`), read without running what their pickle says.
//!
//! Two containers exist: a ZIP archive since PyTorch 1.6, before that a row of pickles followed by the
//! raw storages. `candle-core` interprets the pickle as data: it builds objects of its own and calls nothing.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use candle_core::pickle::{Object, PthTensors, Stack};
use candle_core::{DType, Device};
use sha2::{Digest, Sha256};

use crate::ids::ModelHash;

/// A checkpoint that cannot be read or does not fit its network.
#[derive(Debug, thiserror::Error)]
#[error("reading the checkpoint {path}: {reason}; run `engramd models verify`, then `engramd models fetch`", path = .path.display())]
pub struct CheckpointError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

/// One tensor, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight {
    /// Its shape; empty for a scalar.
    pub shape: Vec<usize>,
    /// Its values; integers (counters) are converted.
    pub values: Vec<f32>,
}

/// Tensors by key.
pub type Weights = BTreeMap<String, Weight>;

/// What of the tensors that a network computes with is missing, misshapen or no number; a sentence each.
#[must_use]
pub fn misfits(weights: &Weights, wanted: &BTreeMap<String, Vec<usize>>) -> Vec<String> {
    let mut faults = Vec::new();
    for (key, shape) in wanted {
        match weights.get(key) {
            None => faults.push(format!("{key} {shape:?} is missing")),
            Some(weight) if &weight.shape != shape => {
                faults.push(format!("{key} is {:?} instead of {shape:?}", weight.shape));
            }
            Some(weight) if weight.values.len() != shape.iter().product::<usize>() => {
                faults.push(format!("{key} has {} values", weight.values.len()));
            }
            Some(weight) if weight.values.iter().any(|value| !value.is_finite()) => {
                faults.push(format!("{key} holds values that are no numbers"));
            }
            Some(_) => {}
        }
    }
    faults
}

/// The error of weights that are not those of `network`, unless there are no faults; names the first of them.
///
/// # Errors
/// When there are faults.
pub fn fitting(network: &str, faults: &[String]) -> Result<(), CheckpointError> {
    const SHOWN: usize = 12;
    if faults.is_empty() {
        return Ok(());
    }
    let shown = faults[..faults.len().min(SHOWN)].join(", ");
    let more = faults.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let reason = format!("it is no {network}: {shown}{more}");
    Err(CheckpointError { path: PathBuf::from("(weights)"), reason })
}

/// Checkpoints larger than this are refused, bytes.
const MAX_BYTES: u64 = 1 << 30;

/// How a checkpoint from before PyTorch 1.6 begins: pickles of its magic number and of protocol 1001.
const LEGACY_HEAD: [u8; 20] = [
    0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e, 0x80,
    0x02, 0x4d, 0xe9, 0x03,
];

/// Reads every tensor of a `state_dict`, which is the whole file or its entry `key`.
///
/// # Errors
/// When the file is absent, too large, no checkpoint, or truncated.
pub fn read(path: &Path, key: Option<&str>) -> Result<Weights, CheckpointError> {
    let fail = |reason: String| CheckpointError { path: path.to_owned(), reason };
    let length = std::fs::metadata(path).map_err(|error| fail(error.to_string()))?.len();
    if length > MAX_BYTES {
        return Err(fail(format!(
            "{length} bytes are more than the {MAX_BYTES} that are accepted"
        )));
    }
    // candle's reader indexes tuples without asking for their length: a damaged file makes it panic.
    catch_unwind(AssertUnwindSafe(|| {
        let mut head = [0; 20];
        let mut file = std::fs::File::open(path).map_err(|error| error.to_string())?;
        match file.read_exact(&mut head) {
            Ok(()) if head == LEGACY_HEAD => read_legacy(&mut BufReader::new(file), key),
            _ => read_zip(path, key),
        }
    }))
    .unwrap_or_else(|_| Err("its pickle is damaged".to_owned()))
    .map_err(fail)
}

/// SHA-256 over the file: the model's identity.
///
/// # Errors
/// When it cannot be read.
pub fn file_hash(path: &Path) -> Result<ModelHash, CheckpointError> {
    let fail = |error: std::io::Error| CheckpointError {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    let mut file = std::fs::File::open(path).map_err(fail)?;
    let mut digest = Sha256::new();
    std::io::copy(&mut file, &mut digest).map_err(fail)?;
    Ok(ModelHash(digest.finalize().into()))
}

fn read_zip(path: &Path, key: Option<&str>) -> Result<Weights, String> {
    let tensors = PthTensors::new(path, key).map_err(|error| error.to_string())?;
    let mut names: Vec<&String> = tensors.tensor_infos().keys().collect();
    names.sort();
    let mut weights = Weights::new();
    for name in names {
        let tensor = tensors
            .get(name)
            .and_then(|tensor| tensor.ok_or_else(|| candle_core::Error::Msg("vanished".to_owned())))
            .map_err(|error| format!("{name}: {error}"))?;
        weights.insert(name.clone(), weight(&tensor).map_err(|error| format!("{name}: {error}"))?);
    }
    Ok(weights)
}

fn weight(tensor: &candle_core::Tensor) -> candle_core::Result<Weight> {
    let shape = tensor.dims().to_vec();
    let values = tensor.to_dtype(DType::F32)?.to_device(&Device::Cpu)?.flatten_all()?.to_vec1()?;
    Ok(Weight { shape, values })
}

/// A tensor's place in a legacy file.
struct Place {
    name: String,
    shape: Vec<usize>,
    storage: String,
    offset: usize,
}

/// Reads what follows [`LEGACY_HEAD`]: the end of the protocol's pickle, machine facts, the object, the
/// list of storages; then per storage its length (u64, little endian) and its values.
fn read_legacy(reader: &mut impl BufRead, key: Option<&str>) -> Result<Weights, String> {
    let mut stop = [0];
    reader.read_exact(&mut stop).map_err(|error| error.to_string())?;
    let _machine = pickle(reader)?;
    let mut object = pickle(reader)?;
    if let Some(key) = key {
        object = entries(object)?
            .into_iter()
            .find_map(|(name, value)| (name == Object::Unicode(key.to_owned())).then_some(value))
            .ok_or_else(|| format!("it has no entry {key:?}"))?;
    }
    let mut places = Vec::new();
    for (name, value) in entries(object)? {
        if let (Object::Unicode(name), Object::Reduce { args, .. }) = (name, value) {
            places.extend(place(name, *args));
        }
    }
    let Object::List(order) = pickle(reader)? else {
        return Err("it has no list of storages".to_owned());
    };
    let mut weights = Weights::new();
    for storage in order {
        let Object::Unicode(storage) = storage else {
            return Err("a storage's name is no text".to_owned());
        };
        let mut count = [0; 8];
        reader.read_exact(&mut count).map_err(|error| error.to_string())?;
        let count = u64::from_le_bytes(count);
        let mine: Vec<&Place> = places.iter().filter(|place| place.storage == storage).collect();
        // Storages nobody asked for (an optimiser's) are passed over; all legacy ones here are f32.
        let mut bytes = Vec::new();
        let wanted =
            count.checked_mul(4).filter(|n| *n <= MAX_BYTES).ok_or("a storage is too large")?;
        reader.by_ref().take(wanted).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        if bytes.len() as u64 != wanted {
            return Err("it is truncated".to_owned());
        }
        for place in mine {
            let length: usize = place.shape.iter().product();
            let range = place.offset.checked_mul(4).zip((place.offset + length).checked_mul(4));
            let part = range
                .and_then(|(from, to)| bytes.get(from..to))
                .ok_or_else(|| format!("{} lies outside its storage", place.name))?;
            let values = part
                .chunks_exact(4)
                .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                .collect();
            weights.insert(place.name.clone(), Weight { shape: place.shape.clone(), values });
        }
        if weights.len() == places.len() {
            break;
        }
    }
    Ok(weights)
}

fn pickle(reader: &mut impl BufRead) -> Result<Object, String> {
    let mut stack = Stack::empty();
    stack.read_loop(reader).and_then(|()| stack.finalize()).map_err(|error| error.to_string())
}

fn entries(object: Object) -> Result<Vec<(Object, Object)>, String> {
    match object {
        Object::Dict(entries) => Ok(entries),
        _ => Err("it is no dictionary of tensors".to_owned()),
    }
}

/// The arguments of `torch._utils._rebuild_tensor_v2`: storage, offset, size, stride, …; contiguous f32 only.
fn place(name: String, args: Object) -> Option<Place> {
    let mut args = args.tuple().ok()?.into_iter();
    let storage = args.next()?.persistent_load().ok()?.tuple().ok()?;
    let offset = usize::try_from(args.next()?.int_or_long().ok()?).ok()?;
    let shape = numbers(args.next()?)?;
    let stride = numbers(args.next()?)?;
    let mut dense = 1;
    for (size, step) in shape.iter().zip(&stride).rev() {
        if *size > 1 && *step != dense {
            return None;
        }
        dense = dense.checked_mul(*size)?;
    }
    let (_, class) = storage.get(1)?.clone().class().ok()?;
    let storage = storage.get(2)?.clone().unicode().ok()?;
    (class == "FloatStorage").then_some(Place { name, shape, storage, offset })
}

fn numbers(object: Object) -> Option<Vec<usize>> {
    object
        .tuple()
        .ok()?
        .into_iter()
        .map(|n| n.int_or_long().ok().and_then(|n| usize::try_from(n).ok()))
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn garbage_is_an_error_and_not_a_crash() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.ckpt");
        let mut legacy = LEGACY_HEAD.to_vec();
        legacy.extend_from_slice(b".\x80\x02}.\x80\x02]q\x00X\xff\xff\xff\x7f");
        for bytes in [&b""[..], b"PK\x03\x04", b"RIFF\0\0\0\0WAVE", &LEGACY_HEAD, &legacy] {
            std::fs::write(&path, bytes).unwrap();
            assert!(read(&path, None).is_err());
        }
        assert!(read(&dir.path().join("none"), None).is_err());
    }
}
