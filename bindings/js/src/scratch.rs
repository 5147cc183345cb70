//! The buffer that JavaScript and Rust share, and the state kept between calls.

#[cfg(not(feature = "captp"))]
use lydite::evm::abi::{Codec, EventCodec, Type};
#[cfg(not(feature = "captp"))]
use lydite::xmss::named::NamedSigner;
use zeroize::Zeroizing;

#[cfg(not(feature = "captp"))]
use crate::slots::Slots;
use crate::{Operation, failure::Failure};

/// Minimum size of a scratch buffer, in bytes: it fits every output of fixed length, and the text of any error.
pub const MIN_SCRATCH: usize = 4096;

/// The state of one engine: one per JavaScript environment, used only by that environment's thread.
#[derive(Default)]
pub struct State {
    pub scratch: Scratch,
    /// An output that did not fit the scratch buffer, kept until JavaScript has enlarged the buffer.
    pending: Zeroizing<Vec<u8>>,
    #[cfg(not(feature = "captp"))]
    pub codecs: Slots<(Codec, Vec<Type>, Form)>,
    #[cfg(not(feature = "captp"))]
    pub events: Slots<(EventCodec, Form)>,
    #[cfg(not(feature = "captp"))]
    pub keys: Slots<Key>,
    #[cfg(not(target_family = "wasm"))]
    pub files: Slots<Box<dyn lydite::xmss::named::NamedKeyFile>>,
    #[cfg(feature = "captp")]
    pub peer: Option<crate::peer::Peer>,
}

/// Output format of decoded values.
#[cfg(not(feature = "captp"))]
#[derive(Clone, Copy)]
pub struct Form {
    /// Return bytes as hexadecimal text.
    pub hex: bool,
}

/// A key in memory, and the lowest epoch that it may still sign.
#[cfg(not(feature = "captp"))]
pub struct Key {
    pub signer: Box<dyn NamedSigner>,
    pub next: u64,
}

/// The scratch buffer: JavaScript's memory under Node-API, Rust's memory in WebAssembly.
pub struct Scratch {
    start: *mut u8,
    length: usize,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            start: std::ptr::NonNull::dangling().as_ptr(),
            length: 0,
        }
    }
}

impl Scratch {
    fn bytes(&self) -> &[u8] {
        // SAFETY: valid and unaliased by the contract of `State::attach`; the borrow of `self` excludes writers.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: valid and unaliased by the contract of `State::attach`; the borrow of `self` keeps it unique.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }

    /// The input, borrowed so that the other fields of the state stay usable.
    pub fn input(&self, length: usize) -> Result<&[u8], Failure> {
        self.bytes().get(..length).ok_or_else(too_long)
    }
}

#[cold]
fn too_long() -> Failure {
    Failure::argument("input is longer than the scratch buffer")
}

impl State {
    /// Replaces the scratch buffer.
    ///
    /// # Safety
    /// The memory is valid, and neither read nor written by others while an operation runs, until the next `attach` or
    /// [`detach`](Self::detach).
    pub unsafe fn attach(&mut self, start: *mut u8, length: usize) {
        // An empty buffer may be passed as NULL.
        self.scratch = if start.is_null() {
            Scratch::default()
        } else {
            Scratch { start, length }
        };
    }

    /// Removes the scratch buffer.
    #[cfg(not(target_family = "wasm"))]
    pub fn detach(&mut self) {
        self.scratch = Scratch::default();
    }

    /// The input: the first bytes of the scratch buffer.
    pub fn input(&mut self, length: usize) -> Result<&mut [u8], Failure> {
        self.range(0, length)
    }

    /// The input after its first `at` bytes.
    pub fn range(&mut self, at: usize, length: usize) -> Result<&mut [u8], Failure> {
        self.scratch
            .bytes_mut()
            .get_mut(at..)
            .and_then(|rest| rest.get_mut(..length))
            .ok_or_else(too_long)
    }

    /// The input, `count` rows of `size` bytes each.
    pub fn rows(&mut self, count: usize, size: usize) -> Result<&mut [u8], Failure> {
        self.input(count.checked_mul(size).ok_or_else(too_long)?)
    }

    /// One row of the input.
    pub fn array<const N: usize>(&mut self, at: usize) -> Result<[u8; N], Failure> {
        let row = self.range(at, N)?;
        row.try_into().map_err(|_| too_long())
    }

    /// Puts a short output at the start of the scratch buffer and returns its length.
    pub fn put(&mut self, output: &[u8]) -> Result<usize, Failure> {
        self.input(output.len())?.copy_from_slice(output);
        Ok(output.len())
    }

    /// Puts an output of any length at the start of the scratch buffer, or keeps it for [`take`]; returns its length.
    pub fn put_owned(&mut self, output: Vec<u8>) -> Result<usize, Failure> {
        let length = output.len();
        match self.input(length) {
            Ok(place) => place.copy_from_slice(&output),
            Err(_) => self.pending = Zeroizing::new(output),
        }
        Ok(length)
    }

    /// Like [`put_owned`](Self::put_owned), for an output that is wiped after it is taken.
    pub fn put_secret(&mut self, output: Zeroizing<Vec<u8>>) -> Result<usize, Failure> {
        let length = output.len();
        match self.input(length) {
            Ok(place) => place.copy_from_slice(&output),
            Err(_) => self.pending = output,
        }
        Ok(length)
    }

    /// Runs an operation for JavaScript. Returns its result, or a negative error code; the error is then described in
    /// the scratch buffer as offset (or -1), length of the text, text.
    pub fn run(&mut self, operation: Operation, numbers: [u32; 3]) -> i32 {
        let [a, b, c] = numbers.map(|number| number as usize);
        match operation(self, a, b, c) {
            Ok(answer) => match i32::try_from(answer) {
                Ok(answer) => answer,
                Err(_) => self.fail(&Failure::argument("output is longer than 2 GiB")),
            },
            Err(failure) => self.fail(&failure),
        }
    }

    #[cold]
    pub fn fail(&mut self, failure: &Failure) -> i32 {
        let scratch = self.scratch.bytes_mut();
        if let Some((head, text)) = scratch.split_at_mut_checked(8) {
            let mut length = failure.message.len().min(text.len());
            while !failure.message.is_char_boundary(length) {
                length -= 1;
            }
            let offset = failure.offset.and_then(|offset| i32::try_from(offset).ok());
            head[..4].copy_from_slice(&offset.unwrap_or(-1).to_le_bytes());
            head[4..].copy_from_slice(&(length as u32).to_le_bytes());
            text[..length].copy_from_slice(&failure.message.as_bytes()[..length]);
        }
        -(failure.code as i32)
    }
}

/// Copies out the output that did not fit before.
pub fn take(state: &mut State, _: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let output = std::mem::take(&mut state.pending);
    state.put(&output)
}
