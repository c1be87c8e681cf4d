//! ONNX Runtime: one environment per process, sessions that compute the same thing every time.
//!
//! Every model that is an `.onnx` file runs through here: face detection and embedding, voice
//! activity, sentence embeddings. The library is loaded at run time (crate `ort`, `load-dynamic`) from
//! beside the executable, so one binary serves machines with and without a GPU: the GPU build of ONNX
//! Runtime put into the same place brings its execution providers with it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ndarray::{ArrayD, ArrayView, ArrayViewD, Dimension};
use ort::environment::Environment;
use ort::ep::{self, ExecutionProvider, ExecutionProviderDispatch};
use ort::logging::LogLevel;
use ort::session::SessionInputValue;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::value::{DynValue, TensorRef};

pub use crate::config::sections::Device;
use crate::runtime::crash_history::Rest;
use crate::runtime::crash_journal::{self, Network};

/// Threads inside one model call: a constant, because it decides the last bits of the result.
pub const INTRA_OP_THREADS: usize = 1;

/// File name of the library. `ort` 2.0.0-rc.15 with `api-31` refuses anything older than 1.31.
pub const LIBRARY: &str = "libonnxruntime.so.1.31.1";

/// Keeps ONNX Runtime silent where it is `1`.
///
/// Its makers' own builds for Linux report processes, machines and models over the network from 1.29 on, and keep what they
/// could not send in `~/.cache/Microsoft`. The first report is made while the library starts, so that what its interface
/// offers against that ([`ort::environment::EnvironmentBuilder::with_telemetry`]) comes too late.
const SILENT: &str = "ORT_DISABLE_TELEMETRY";

/// Has ONNX Runtime report nothing to anybody; without it no model is opened.
///
/// # Safety
/// There are no other threads: they might read the environment while it changes.
pub unsafe fn keep_silent() {
    // SAFETY: the caller sees to that.
    unsafe { std::env::set_var(SILENT, "1") };
}

/// Where the library lies, relative to the executable's folder: `target/<profile>/engramd`,
/// `target/<profile>/deps/<test>`, `/usr/bin/engramd`.
const LIBRARY_DIRS: [&str; 3] = ["../native/lib", "../../native/lib", "../lib/engram"];

/// What goes wrong between a model file and its outputs.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// No usable ONNX Runtime.
    #[error(
        "loading ONNX Runtime ({LIBRARY}): {reasons}; run `make setup` in a checkout, or `make install` for /usr/lib/engram"
    )]
    Library {
        /// One reason per place that was tried.
        reasons: String,
    },
    /// The model file is not there.
    #[error("opening the model {path}: no such file; run `engramd models fetch`", path = .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// It crashed the process again and again.
    #[error(
        "opening the model {path}: {rest}; `engramd models verify` tells whether the file is what it should be; see crashes.json in the state directory", path = .path.display()
    )]
    LeftOut {
        /// The file.
        path: PathBuf,
        /// For how long.
        rest: Rest,
    },
    /// The file is no model that ONNX Runtime can run.
    #[error(
        "opening the model {path}: {reason}; run `engramd models verify`, then `engramd models fetch`", path = .path.display()
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// What ONNX Runtime said.
        reason: String,
    },
    /// The model refused its inputs or failed while running.
    #[error(
        "running the model {model}: {reason}; check with `engramd models verify` that it is the file the manifest names"
    )]
    Run {
        /// File name of the model.
        model: String,
        /// What ONNX Runtime said.
        reason: String,
    },
    /// The model ran, but gave other outputs than its job demands.
    #[error(
        "reading output {output:?} of the model {model}: {reason}; check with `engramd models verify` that it is the file the manifest names"
    )]
    Output {
        /// File name of the model.
        model: String,
        /// Name of the output.
        output: String,
        /// Expected and found.
        reason: String,
    },
}

/// One input: a dense row-major tensor.
#[derive(Clone, Debug)]
pub enum Tensor<'a> {
    /// `f32` values.
    F32(ArrayViewD<'a, f32>),
    /// `i64` values (token ids, masks, sample rates).
    I64(ArrayViewD<'a, i64>),
    /// What a model gave before.
    Held(&'a Held),
}

/// An output that stays where ONNX Runtime has it, to go into a model again: a decoder's caches.
#[derive(Debug)]
pub struct Held {
    value: DynValue,
    model: String,
    output: String,
}

impl Held {
    /// Its values.
    ///
    /// # Errors
    /// [`RuntimeError::Output`] when they are not `f32`.
    pub fn values(&self) -> Result<ArrayViewD<'_, f32>, RuntimeError> {
        self.value.try_extract_array::<f32>().map_err(|error| RuntimeError::Output {
            model: self.model.clone(),
            output: self.output.clone(),
            reason: error.to_string(),
        })
    }
}

impl<'a> From<&'a Held> for Tensor<'a> {
    fn from(held: &'a Held) -> Self {
        Self::Held(held)
    }
}

impl<'a, D: Dimension> From<ArrayView<'a, f32, D>> for Tensor<'a> {
    fn from(view: ArrayView<'a, f32, D>) -> Self {
        Self::F32(view.into_dyn())
    }
}

impl<'a, D: Dimension> From<ArrayView<'a, i64, D>> for Tensor<'a> {
    fn from(view: ArrayView<'a, i64, D>) -> Self {
        Self::I64(view.into_dyn())
    }
}

/// A loaded model. `Send`; one per worker thread.
#[derive(Debug)]
pub struct Session {
    inner: ort::session::Session,
    model: String,
    device: Device,
    network: Network,
}

/// Opens a model on `device` with `threads` intra-op threads.
///
/// `threads` must be a constant of the model, not of the machine: how a sum is split over threads
/// decides its last bit. Inter-op is sequential and deterministic kernels are asked for.
///
/// # Errors
/// [`RuntimeError::Library`] without ONNX Runtime, [`RuntimeError::Missing`] and
/// [`RuntimeError::Open`] for a file that is absent or no usable model. A GPU that cannot be used is
/// no error: the session falls back to the CPU and says so in the log.
pub fn open(path: &Path, threads: usize, device: Device) -> Result<Session, RuntimeError> {
    open_with(path, threads, device, false)
}

/// As [`open`], for a file that declares its outputs for one size of input though it takes any: ONNX Runtime would warn of
/// each of them in each run.
///
/// # Errors
/// As [`open`].
pub fn open_of_any_size(
    path: &Path,
    threads: usize,
    device: Device,
) -> Result<Session, RuntimeError> {
    open_with(path, threads, device, true)
}

fn open_with(
    path: &Path,
    threads: usize,
    device: Device,
    of_any_size: bool,
) -> Result<Session, RuntimeError> {
    let environment = environment()?;
    let options = || -> Result<SessionBuilder, String> {
        let plain = builder(environment, threads)?;
        if !of_any_size {
            return Ok(plain);
        }
        plain.with_log_level(LogLevel::Error).map_err(|error| error.to_string())
    };
    if !path.is_file() {
        return Err(RuntimeError::Missing { path: path.to_owned() });
    }
    if let Some(rest) = crash_journal::left_out(path) {
        return Err(RuntimeError::LeftOut { path: path.to_owned(), rest });
    }
    let network = Network::of_file(path);
    let _runs = network.opens();
    let fail = |reason: String| RuntimeError::Open { path: path.to_owned(), reason };
    for (name, candidate, provider) in providers(device) {
        let opened = options().and_then(|mut builder| {
            provider.register(&mut builder).map_err(|error| error.to_string())?;
            builder.commit_from_file(path).map_err(|error| error.to_string())
        });
        match opened {
            Ok(inner) => return Ok(Session::new(inner, path, candidate)),
            Err(reason) => tracing::warn!(
                model = %path.display(), provider = name, reason, "GPU not usable, trying the next device"
            ),
        }
    }
    let inner = options()
        .and_then(|mut builder| builder.commit_from_file(path).map_err(|error| error.to_string()))
        .map_err(fail)?;
    Ok(Session::new(inner, path, Device::Cpu))
}

impl Session {
    fn new(inner: ort::session::Session, path: &Path, device: Device) -> Self {
        let model = path
            .file_name()
            .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        tracing::debug!(model, ?device, "model opened");
        Self { inner, model, device, network: Network::of_file(path) }
    }

    /// File name of the model.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// What it really runs on; never [`Device::Auto`].
    #[must_use]
    pub fn device(&self) -> Device {
        self.device
    }

    /// Name and shape of every input, in the model's order; -1 marks a free dimension.
    #[must_use]
    pub fn inputs(&self) -> Vec<(String, Vec<i64>)> {
        outlets(self.inner.inputs())
    }

    /// Name and shape of every output, in the model's order; -1 marks a free dimension.
    #[must_use]
    pub fn outputs(&self) -> Vec<(String, Vec<i64>)> {
        outlets(self.inner.outputs())
    }

    /// What whoever wrote the file noted in it under that key.
    #[must_use]
    pub fn metadata(&self, key: &str) -> Option<String> {
        self.inner.metadata().ok()?.custom(key)
    }

    /// Runs the model on named inputs and gives the named `f32` outputs, in the order asked for.
    ///
    /// # Errors
    /// [`RuntimeError::Run`] when the model refuses the inputs, [`RuntimeError::Output`] when an
    /// output is absent or not `f32`.
    pub fn run<const N: usize>(
        &mut self,
        inputs: &[(&str, Tensor<'_>)],
        outputs: [&str; N],
    ) -> Result<[ArrayD<f32>; N], RuntimeError> {
        let mut arrays = self.run_named(inputs, &outputs)?.into_iter();
        Ok(std::array::from_fn(|_| arrays.next().unwrap_or_default()))
    }

    /// As [`Session::run`], with a number of outputs known only at run time.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn run_named(
        &mut self,
        inputs: &[(&str, Tensor<'_>)],
        outputs: &[&str],
    ) -> Result<Vec<ArrayD<f32>>, RuntimeError> {
        self.run_held(inputs, outputs)?.iter().map(|held| Ok(held.values()?.to_owned())).collect()
    }

    /// As [`Session::run_named`], with the outputs left where they are.
    ///
    /// # Errors
    /// [`RuntimeError::Run`] when the model refuses the inputs, [`RuntimeError::Output`] when an output is absent.
    pub fn run_held(
        &mut self,
        inputs: &[(&str, Tensor<'_>)],
        outputs: &[&str],
    ) -> Result<Vec<Held>, RuntimeError> {
        let model = &self.model;
        let fail = |error: ort::Error| RuntimeError::Run {
            model: model.clone(),
            reason: error.to_string(),
        };
        let mut values: Vec<(Cow<'_, str>, SessionInputValue<'_>)> =
            Vec::with_capacity(inputs.len());
        for (name, tensor) in inputs {
            let value = match tensor {
                Tensor::F32(view) => TensorRef::from_array_view(view.clone()).map_err(fail)?.into(),
                Tensor::I64(view) => TensorRef::from_array_view(view.clone()).map_err(fail)?.into(),
                Tensor::Held(held) => (&held.value).into(),
            };
            values.push((Cow::Borrowed(*name), value));
        }
        let running = self.network.runs();
        let mut results = self.inner.run(values).map_err(fail)?;
        drop(running);
        outputs
            .iter()
            .map(|output| {
                let (model, output) = (model.clone(), (*output).to_owned());
                match results.remove(&output) {
                    Some(value) => Ok(Held { value, model, output }),
                    None => {
                        let reason = "the model has none".to_owned();
                        Err(RuntimeError::Output { model, output, reason })
                    }
                }
            })
            .collect()
    }
}

fn outlets(outlets: &[ort::value::Outlet]) -> Vec<(String, Vec<i64>)> {
    outlets
        .iter()
        .map(|outlet| {
            let shape = outlet.dtype().tensor_shape().map(|s| s.to_vec()).unwrap_or_default();
            (outlet.name().to_owned(), shape)
        })
        .collect()
}

/// Session options that make a run repeatable.
fn builder(environment: &Environment, threads: usize) -> Result<SessionBuilder, String> {
    let text = |error: ort::Error<SessionBuilder>| error.to_string();
    ort::session::Session::builder(environment)
        .map_err(|error| error.to_string())?
        .with_optimization_level(GraphOptimizationLevel::All)
        .map_err(text)?
        .with_intra_threads(threads.max(1))
        .map_err(text)?
        .with_inter_threads(1)
        .map_err(text)?
        .with_parallel_execution(false)
        .map_err(text)?
        .with_deterministic_compute(true)
        .map_err(text)?
        // A waiting thread must not burn the core that another stage needs.
        .with_intra_op_spinning(false)
        .map_err(text)?
        // Memory plans are kept per input shape; batches of faces come in every size.
        .with_memory_pattern(false)
        .map_err(text)?
        // On x86-64 without VNNI sums of int8 products would be cut at 16 bits: other vectors there than elsewhere, and
        // worse ones (LoCoMo, evidence among the first 20: .830 for .834).
        .with_precise_qmm()
        .map_err(text)
}

/// The folder of TensorRT's engines, once it was named.
static ENGINES: OnceLock<PathBuf> = OnceLock::new();

/// Has TensorRT keep the engines that it compiles in this folder, which is made where the one above it is there. The
/// first call counts, for the models that are opened after it. Without a folder every start compiles them anew.
pub fn keep_engines_in(folder: &Path) {
    match std::fs::create_dir(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => tracing::warn!(
            folder = %folder.display(), %error, "TensorRT's engines cannot be kept, every start compiles them anew"
        ),
        _ => {
            ENGINES.get_or_init(|| folder.to_owned());
        }
    }
}

/// The device for a network whose inputs change their shape from call to call: TensorRT would compile an engine for each.
#[must_use]
pub const fn for_changing_shapes(device: Device) -> Device {
    match device {
        Device::TensorRt => Device::Cuda,
        device => device,
    }
}

/// Whether networks may run on a GPU, for which they are compiled at their first run.
#[must_use]
pub fn has_gpu(device: Device) -> bool {
    environment().is_ok() && !providers(device).is_empty()
}

/// The GPU providers to try, best first: those that this ONNX Runtime was built with.
fn providers(device: Device) -> Vec<(&'static str, Device, ExecutionProviderDispatch)> {
    // Without a path it would keep engines in the working directory: a service's is no place for them.
    let tensorrt = || match ENGINES.get() {
        Some(folder) => ep::TensorRT::default()
            .with_engine_cache(true)
            .with_engine_cache_path(folder.display())
            .build(),
        None => ep::TensorRT::default().build(),
    };
    // Full precision and no timing-based choice of kernels: the same result at every start.
    let cuda = || {
        ep::CUDA::default()
            .with_tf32(false)
            .with_conv_algorithm_search(ep::cuda::ConvAlgorithmSearch::Heuristic)
            .build()
    };
    let built_with_cuda = ep::CUDA::is_available().unwrap_or(false);
    let built_with_tensorrt = ep::TensorRT::is_available().unwrap_or(false);
    let mut found = Vec::new();
    if device == Device::TensorRt && built_with_tensorrt {
        found.push(("TensorRT", Device::TensorRt, tensorrt()));
    }
    if device != Device::Cpu && built_with_cuda {
        found.push(("CUDA", Device::Cuda, cuda()));
    }
    if found.is_empty() && matches!(device, Device::Cuda | Device::TensorRt) {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            tracing::warn!(
                ?device,
                "this ONNX Runtime has no GPU support, models run on the CPU; install onnxruntime-gpu's libraries beside it"
            );
        });
    }
    found
}

/// The process's only environment, made at first use and kept until the process ends.
fn environment() -> Result<&'static Environment, RuntimeError> {
    static ENVIRONMENT: OnceLock<Result<Environment, String>> = OnceLock::new();
    ENVIRONMENT
        .get_or_init(load)
        .as_ref()
        .map_err(|reasons| RuntimeError::Library { reasons: reasons.clone() })
}

fn load() -> Result<Environment, String> {
    if std::env::var_os(SILENT).is_none_or(|value| value != "1") {
        return Err(format!(
            "it would report to its makers; set {SILENT}=1 before the program starts"
        ));
    }
    let mut reasons = Vec::new();
    for path in library_places() {
        if path.is_absolute() && !path.is_file() {
            reasons.push(format!("{} is not there", path.display()));
            continue;
        }
        match ort::init_from(&path) {
            Ok(builder) => {
                return builder
                    .with_name("engram")
                    .with_telemetry(false)
                    .build()
                    .map_err(|error| format!("{}: {error}", path.display()));
            }
            Err(error) => reasons.push(error.to_string()),
        }
    }
    Err(reasons.join("; "))
}

/// Beside the executable first, then the plain name for the system's loader.
fn library_places() -> Vec<PathBuf> {
    let exe_dir = std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_owned));
    exe_dir
        .iter()
        .flat_map(|dir| LIBRARY_DIRS.iter().map(|relative| dir.join(relative).join(LIBRARY)))
        .chain([PathBuf::from(LIBRARY)])
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_model_names_the_file_and_the_cure() {
        let error = open(Path::new("/nowhere/face.onnx"), 1, Device::Auto).unwrap_err().to_string();
        assert!(error.contains("/nowhere/face.onnx"), "{error}");
        assert!(error.contains("engramd models fetch"), "{error}");
    }

    #[test]
    fn the_engines_folder_is_made_below_one_that_is_there() {
        let dir = tempfile::tempdir().unwrap();
        keep_engines_in(&dir.path().join("absent/tensorrt"));
        assert!(!dir.path().join("absent").exists());
        let folder = dir.path().join("tensorrt");
        keep_engines_in(&folder);
        keep_engines_in(&folder);
        assert!(folder.is_dir());
    }

    #[test]
    fn shapes_that_change_are_nothing_for_tensorrt() {
        let devices = [Device::Auto, Device::Cpu, Device::Cuda, Device::TensorRt];
        let wanted = [Device::Auto, Device::Cpu, Device::Cuda, Device::Cuda];
        assert_eq!(devices.map(for_changing_shapes), wanted);
    }

    #[test]
    fn a_damaged_model_is_an_error_and_not_a_crash() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("broken.onnx");
        std::fs::write(&path, b"this is no protobuf").unwrap();
        let error = open(&path, 1, Device::Auto).unwrap_err();
        assert!(matches!(error, RuntimeError::Open { .. }), "{error}");
    }
}
