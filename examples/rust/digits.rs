//! Reads handwritten digits with Tern's C API: `digits MODEL DRAWINGS`. The format of DRAWINGS is that of
//! examples/c/digits.c. Two threads share the digits; each has a clone of the predictor.
//!
//!     rustc -O digits.rs -l tern     # -L native=DIR if libtern.so is in another folder

use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_void};
use std::{env, fs, process, ptr, thread};

/// The functions of tern/tern.h that this program uses. Handles are opaque, so c_void stands for each of them.
mod ffi {
    use super::*;
    #[link(name = "tern")]
    extern "C" {
        pub fn tern_status_message(status: *const c_void) -> *const c_char;
        pub fn tern_status_free(status: *mut c_void);
        pub fn tern_config_new() -> *mut c_void;
        pub fn tern_config_free(config: *mut c_void);
        pub fn tern_config_set_model_path(config: *mut c_void, path: *const c_char);
        pub fn tern_config_set_threads(config: *mut c_void, count: i32);
        pub fn tern_predictor_create(config: *const c_void, out: *mut *mut c_void) -> *mut c_void;
        pub fn tern_predictor_clone(predictor: *const c_void, out: *mut *mut c_void) -> *mut c_void;
        pub fn tern_predictor_free(predictor: *mut c_void);
        pub fn tern_predictor_run(predictor: *mut c_void, options: *const c_void) -> *mut c_void;
        pub fn tern_predictor_input(predictor: *mut c_void, name: *const c_char, out: *mut *mut c_void) -> *mut c_void;
        pub fn tern_predictor_output_at(predictor: *mut c_void, index: usize) -> *mut c_void;
        pub fn tern_port_copy_from(
            port: *mut c_void, dtype: i32, data: *const c_void, bytes: usize, dims: *const i64, rank: usize,
        ) -> *mut c_void;
        pub fn tern_port_size(port: *const c_void) -> usize;
        pub fn tern_port_copy_to(port: *const c_void, dtype: i32, out: *mut c_void, bytes: usize) -> *mut c_void;
    }
}

const F32: i32 = 1; // TERN_F32
const SIDE: usize = 28;

/// Turns a TernStatus*, which this function frees, into a Result.
fn check(status: *mut c_void) -> Result<(), String> {
    if status.is_null() {
        return Ok(());
    }
    let message = unsafe { CStr::from_ptr(ffi::tern_status_message(status)) }.to_string_lossy().into_owned();
    unsafe { ffi::tern_status_free(status) };
    Err(message)
}

/// Owns a TernPredictor. One thread at a time may use it, so it is Send but not Sync.
struct Predictor(*mut c_void);
unsafe impl Send for Predictor {}

impl Drop for Predictor {
    fn drop(&mut self) {
        unsafe { ffi::tern_predictor_free(self.0) }
    }
}

impl Predictor {
    fn load(path: &str) -> Result<Predictor, String> {
        let path = CString::new(path).map_err(|e| e.to_string())?;
        let mut out = ptr::null_mut();
        let status = unsafe {
            let config = ffi::tern_config_new();
            ffi::tern_config_set_model_path(config, path.as_ptr());
            ffi::tern_config_set_threads(config, 1);
            let status = ffi::tern_predictor_create(config, &mut out);
            ffi::tern_config_free(config);
            status
        };
        check(status).map(|()| Predictor(out))
    }

    fn try_clone(&self) -> Result<Predictor, String> {
        let mut out = ptr::null_mut();
        check(unsafe { ffi::tern_predictor_clone(self.0, &mut out) }).map(|()| Predictor(out))
    }

    /// Returns ten probabilities per digit.
    fn classify(&mut self, pixels: &[f32]) -> Result<Vec<f32>, String> {
        let dims = [(pixels.len() / (SIDE * SIDE)) as i64, 1, SIDE as i64, SIDE as i64];
        let name = CString::new("image").unwrap();
        let mut image = ptr::null_mut();
        unsafe {
            check(ffi::tern_predictor_input(self.0, name.as_ptr(), &mut image))?;
            let bytes = pixels.len() * 4;
            check(ffi::tern_port_copy_from(image, F32, pixels.as_ptr().cast(), bytes, dims.as_ptr(), dims.len()))?;
            check(ffi::tern_predictor_run(self.0, ptr::null()))?;
            let port = ffi::tern_predictor_output_at(self.0, 0);
            let mut out = vec![0f32; ffi::tern_port_size(port)];
            check(ffi::tern_port_copy_to(port, F32, out.as_mut_ptr().cast(), out.len() * 4))?;
            Ok(out)
        }
    }
}

fn read_drawings(path: &str) -> Result<Vec<f32>, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let shade = |c: char| ".-+#".find(c).map(|at| at as f32 / 3.0);
    let pixels: Option<Vec<f32>> = text.chars().filter(|c| !c.is_whitespace()).map(shade).collect();
    pixels.filter(|p| p.len() % (SIDE * SIDE) == 0).ok_or(format!("{path} has no drawings of 28x28"))
}

fn run(model: &str, drawings: &str) -> Result<(), String> {
    let pixels = read_drawings(drawings)?;
    let digits = pixels.len() / (SIDE * SIDE);
    let first = Predictor::load(model)?;
    let second = first.try_clone()?;
    let halves = pixels.split_at(digits / 2 * SIDE * SIDE);
    let results = thread::scope(|scope| {
        let work = [(first, halves.0), (second, halves.1)];
        let threads = work.map(|(mut predictor, part)| scope.spawn(move || predictor.classify(part)));
        threads.map(|thread| thread.join().unwrap())
    });
    for result in results {
        for row in result?.chunks(10) {
            let best = (0..10).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
            println!("{best} {:.3}", row[best]);
        }
    }
    Ok(())
}

fn main() {
    let args: Vec<String> = env::args().collect();
    if args.len() != 3 {
        eprintln!("usage: digits MODEL DRAWINGS");
        process::exit(2);
    }
    if let Err(message) = run(&args[1], &args[2]) {
        eprintln!("{message}");
        process::exit(2);
    }
}
