//! The C side of PocketSphinx (0.8+5prealpha, Debian 12), looked up at run time.
//!
//! Only what a transcription needs, wrapped so that no pointer leaves this file.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

use libloading::Library;

/// What is loaded, with the functions used.
pub(super) struct Decoder {
    functions: Functions,
    config: *mut c_void,
    decoder: *mut c_void,
    // Dropped last: the functions live in them.
    _libraries: Libraries,
}

/// The two libraries.
struct Libraries {
    pocketsphinx: Library,
    sphinxbase: Library,
}

/// One entry of the best path: a word or filler, its first and last frame, its posterior (0–1).
pub(super) struct Segment {
    pub(super) word: String,
    pub(super) first: i32,
    pub(super) last: i32,
    pub(super) posterior: f64,
}

macro_rules! functions {
    ($($field:ident : $library:ident . $symbol:literal = $type:ty),* $(,)?) => {
        struct Functions { $($field: $type),* }
        impl Functions {
            fn find(libraries: &Libraries) -> Result<Self, String> {
                $(
                    // SAFETY: the types are those of the headers of Debian's 0.8+5prealpha; the libraries
                    // outlive the pointers (both live in `Decoder`).
                    let $field: $type = unsafe {
                        *libraries.$library.get::<$type>($symbol).map_err(|error| error.to_string())?
                    };
                )*
                Ok(Self { $($field),* })
            }
        }
    };
}

functions! {
    args: pocketsphinx.b"ps_args\0" = unsafe extern "C" fn() -> *const c_void,
    init: pocketsphinx.b"ps_init\0" = unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    free: pocketsphinx.b"ps_free\0" = unsafe extern "C" fn(*mut c_void) -> c_int,
    start_stream: pocketsphinx.b"ps_start_stream\0" = unsafe extern "C" fn(*mut c_void) -> c_int,
    start: pocketsphinx.b"ps_start_utt\0" = unsafe extern "C" fn(*mut c_void) -> c_int,
    process: pocketsphinx.b"ps_process_raw\0" = unsafe extern "C" fn(*mut c_void, *const i16, usize, c_int, c_int) -> c_int,
    end: pocketsphinx.b"ps_end_utt\0" = unsafe extern "C" fn(*mut c_void) -> c_int,
    hypothesis: pocketsphinx.b"ps_get_hyp\0" = unsafe extern "C" fn(*mut c_void, *mut i32) -> *const c_char,
    logmath: pocketsphinx.b"ps_get_logmath\0" = unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    segments: pocketsphinx.b"ps_seg_iter\0" = unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    next: pocketsphinx.b"ps_seg_next\0" = unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    word: pocketsphinx.b"ps_seg_word\0" = unsafe extern "C" fn(*mut c_void) -> *const c_char,
    frames: pocketsphinx.b"ps_seg_frames\0" = unsafe extern "C" fn(*mut c_void, *mut c_int, *mut c_int),
    posterior: pocketsphinx.b"ps_seg_prob\0" = unsafe extern "C" fn(*mut c_void, *mut i32, *mut i32, *mut i32) -> i32,
    parse: sphinxbase.b"cmd_ln_parse_r\0" = unsafe extern "C" fn(*mut c_void, *const c_void, i32, *mut *mut c_char, i32) -> *mut c_void,
    free_config: sphinxbase.b"cmd_ln_free_r\0" = unsafe extern "C" fn(*mut c_void) -> c_int,
    exp: sphinxbase.b"logmath_exp\0" = unsafe extern "C" fn(*mut c_void, c_int) -> f64,
    report_to: sphinxbase.b"err_set_callback\0" = unsafe extern "C" fn(*mut c_void, *mut c_void),
    print_to: sphinxbase.b"err_set_logfp\0" = unsafe extern "C" fn(*mut libc::FILE),
}

/// Where the library prints to: one file for the whole process. One that it opens itself (`-logfn`) is each thread's own,
/// and stays open.
fn nowhere() -> *mut libc::FILE {
    static FILE: OnceLock<usize> = OnceLock::new();
    // SAFETY: both strings end with NUL; what comes back is a file or null, which the library takes for no file.
    let open = || unsafe { libc::fopen(c"/dev/null".as_ptr(), c"w".as_ptr()) } as usize;
    *FILE.get_or_init(open) as *mut libc::FILE
}

// SAFETY: a decoder holds no thread-local state and is used by one thread at a time (`&mut self`).
unsafe impl Send for Decoder {}

impl Decoder {
    /// Loads the libraries and makes a decoder with the options `-name value …`.
    pub(super) fn open(options: &[String]) -> Result<Self, String> {
        let load = |names: [&str; 2]| {
            let mut reasons = Vec::new();
            for name in names {
                // SAFETY: the distribution's own libraries; their initialisers do nothing.
                match unsafe { Library::new(name) } {
                    Ok(library) => return Ok(library),
                    Err(error) => reasons.push(error.to_string()),
                }
            }
            Err(reasons.join("; "))
        };
        let sphinxbase = load(["libsphinxbase.so.3", "libsphinxbase.so"])?;
        let pocketsphinx = load(["libpocketsphinx.so.3", "libpocketsphinx.so"])?;
        let libraries = Libraries { pocketsphinx, sphinxbase };
        let functions = Functions::find(&libraries)?;
        let arguments: Vec<CString> = std::iter::once("engram")
            .chain(options.iter().map(String::as_str))
            .map(|text| CString::new(text).map_err(|_| format!("the option {text:?} has a NUL")))
            .collect::<Result<_, _>>()?;
        let mut pointers: Vec<*mut c_char> =
            arguments.iter().map(|text| text.as_ptr().cast_mut()).collect();
        let count = pointers.len() as i32;
        // SAFETY: `pointers` and what they point to live through the call, which copies the values; the file is never
        // closed. Without a callback nothing is reported, by any thread; but the options are printed all the same.
        let (config, decoder) = unsafe {
            (functions.report_to)(null_mut(), null_mut());
            (functions.print_to)(nowhere());
            let config =
                (functions.parse)(null_mut(), (functions.args)(), count, pointers.as_mut_ptr(), 1);
            if config.is_null() {
                return Err("it refused its options".to_owned());
            }
            (config, (functions.init)(config))
        };
        if decoder.is_null() {
            // SAFETY: `config` came from `cmd_ln_parse_r` and is not used again.
            unsafe { (functions.free_config)(config) };
            return Err("it could not load its model".to_owned());
        }
        Ok(Self { functions, config, decoder, _libraries: libraries })
    }

    /// Decodes one whole utterance: everything carried over from earlier ones is reset first.
    pub(super) fn decode(&mut self, pcm: &[i16]) -> Result<Vec<Segment>, String> {
        let f = &self.functions;
        let check = |what: &str, code: c_int| {
            if code < 0 { Err(format!("{what} failed ({code})")) } else { Ok(()) }
        };
        // SAFETY: `decoder` is alive; `pcm` lives through the call; the segment iterator is walked to its
        // end, where `ps_seg_next` frees it; words are copied at once.
        unsafe {
            check("starting the stream", (f.start_stream)(self.decoder))?;
            check("starting the utterance", (f.start)(self.decoder))?;
            // The last 1: this is the whole utterance, so the cepstral mean is its own.
            let taken = (f.process)(self.decoder, pcm.as_ptr(), pcm.len(), 0, 1);
            let ended = (f.end)(self.decoder);
            check("reading the sound", taken)?;
            check("ending the utterance", ended)?;
            let mut found = Vec::new();
            if (f.hypothesis)(self.decoder, null_mut()).is_null() {
                return Ok(found);
            }
            let math = (f.logmath)(self.decoder);
            let mut segment = (f.segments)(self.decoder);
            while !segment.is_null() {
                let word = (f.word)(segment);
                if !word.is_null() {
                    let (mut first, mut last) = (0, 0);
                    (f.frames)(segment, &raw mut first, &raw mut last);
                    let log = (f.posterior)(segment, null_mut(), null_mut(), null_mut());
                    found.push(Segment {
                        word: CStr::from_ptr(word).to_string_lossy().into_owned(),
                        first,
                        last,
                        posterior: (f.exp)(math, log),
                    });
                }
                segment = (f.next)(segment);
            }
            Ok(found)
        }
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: both came from the library, are freed once and not used again. `ps_init` retains the
        // configuration, so each has its own count.
        unsafe {
            (self.functions.free)(self.decoder);
            (self.functions.free_config)(self.config);
        }
    }
}
