//! Status codes, and the text of the last error.

use std::{
    cell::RefCell,
    ffi::c_char,
    fmt::{Display, Write},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// 0, or one of the LYDITE_ERROR_ constants.
pub type lydite_status = i32;

/// A NULL pointer where bytes are needed, or a number that cannot be.
pub const LYDITE_ERROR_ARGUMENT: lydite_status = -1;
/// The buffer is too small; *written is the size needed.
pub const LYDITE_ERROR_BUFFER_TOO_SMALL: lydite_status = -2;
/// Bytes or text that are not what they should be.
pub const LYDITE_ERROR_DECODE: lydite_status = -3;
/// A value that does not fit its type.
pub const LYDITE_ERROR_ENCODE: lydite_status = -4;
/// A signature or key that is not valid.
pub const LYDITE_ERROR_SIGNATURE: lydite_status = -5;
/// The precompile fails: all gas is burnt.
pub const LYDITE_ERROR_PRECOMPILE: lydite_status = -6;
/// A defect of Lydite; please report it.
pub const LYDITE_ERROR_INTERNAL: lydite_status = -7;
/// A key file that cannot be written, read or used: the epoch is spent or outside the key's, the process was forked from the
/// one that opened it, or one of its files is damaged, replaced or open to others.
pub const LYDITE_ERROR_KEY_FILE: lydite_status = -8;

/// Version of this interface: raised when a function changes or goes.
pub const LYDITE_ABI_VERSION: u32 = 1;

/// The LYDITE_ABI_VERSION that the library was built with.
#[unsafe(no_mangle)]
pub extern "C" fn lydite_abi_version() -> u32 {
    LYDITE_ABI_VERSION
}

/// Why a call fails.
pub struct Failure {
    pub status: lydite_status,
}

/// The text of an error, cut to fit, with a NUL behind it.
struct Text {
    bytes: [u8; 256],
    length: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = self.bytes.len() - 1 - self.length;
        let mut cut = text.len().min(room);
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        self.bytes[self.length..self.length + cut].copy_from_slice(&text.as_bytes()[..cut]);
        self.length += cut;
        self.bytes[self.length] = 0;
        Ok(())
    }
}

thread_local! {
    static LAST: RefCell<Text> = const { RefCell::new(Text { bytes: [0; 256], length: 0 }) };
}

/// What was wrong in the last call on this thread that failed; empty if none has. Holds until the next failure.
#[unsafe(no_mangle)]
pub extern "C" fn lydite_last_error() -> *const c_char {
    LAST.with(|last| last.as_ptr().cast::<c_char>().cast_const())
}

/// An error of this class, whose text is kept.
#[cold]
pub fn failure(status: lydite_status, reason: impl Display) -> Failure {
    LAST.with_borrow_mut(|text| {
        text.length = 0;
        text.bytes[0] = 0;
        // Writing to the buffer cannot fail: it cuts.
        let _ = write!(text, "{reason}");
    });
    Failure { status }
}

/// The status of what `run` gives. A panic is a defect, not something to unwind into C with.
pub fn guard(run: impl FnOnce() -> Result<(), Failure>) -> lydite_status {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => 0,
        Ok(Err(failure)) => failure.status,
        Err(_) => failure(LYDITE_ERROR_INTERNAL, "panic").status,
    }
}
