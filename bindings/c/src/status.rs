//! Status codes, and the message of the last error.

use std::{
    cell::RefCell,
    ffi::c_char,
    fmt::{Display, Write},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// 0 on success, or one of the LYDITE_ERROR_ constants.
pub type lydite_status = i32;

/// An argument is invalid: a NULL pointer where bytes are required, or a number that is not allowed.
pub const LYDITE_ERROR_ARGUMENT: lydite_status = -1;
/// The buffer is too small; *written is the required size.
pub const LYDITE_ERROR_BUFFER_TOO_SMALL: lydite_status = -2;
/// The input bytes or text are malformed.
pub const LYDITE_ERROR_DECODE: lydite_status = -3;
/// A value does not fit its type.
pub const LYDITE_ERROR_ENCODE: lydite_status = -4;
/// A signature or key is invalid.
pub const LYDITE_ERROR_SIGNATURE: lydite_status = -5;
/// The precompiled contract failed: all gas is consumed.
pub const LYDITE_ERROR_PRECOMPILE: lydite_status = -6;
/// A bug in Lydite; please report it.
pub const LYDITE_ERROR_INTERNAL: lydite_status = -7;
/// A key file cannot be written, read or used: the epoch is spent or not one of the key's, the process was forked from
/// the one that opened the key, or one of the key's files is damaged, was replaced or is accessible to other users.
pub const LYDITE_ERROR_KEY_FILE: lydite_status = -8;

/// Version of this interface, incremented when a function changes or is removed.
pub const LYDITE_ABI_VERSION: u32 = 1;

/// The LYDITE_ABI_VERSION that the library was built with.
#[unsafe(no_mangle)]
pub extern "C" fn lydite_abi_version() -> u32 {
    LYDITE_ABI_VERSION
}

/// Why a call failed. The message is in the thread-local buffer.
pub struct Failure {
    pub status: lydite_status,
}

/// A NUL-terminated error message, truncated to fit.
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

/// The message of the last failed call on this thread, or an empty string if none has failed.
///
/// NUL-terminated. Valid until the next failure on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn lydite_last_error() -> *const c_char {
    LAST.with(|last| last.as_ptr().cast::<c_char>().cast_const())
}

/// Creates a failure with this status, and stores its message for [`lydite_last_error`].
#[cold]
pub fn failure(status: lydite_status, reason: impl Display) -> Failure {
    LAST.with_borrow_mut(|text| {
        text.length = 0;
        text.bytes[0] = 0;
        // Writing to the buffer cannot fail: the buffer truncates.
        let _ = write!(text, "{reason}");
    });
    Failure { status }
}

/// Returns the status of `run`. A panic is a bug, reported as an internal error: it must not unwind into C.
pub fn guard(run: impl FnOnce() -> Result<(), Failure>) -> lydite_status {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => 0,
        Ok(Err(failure)) => failure.status,
        Err(_) => failure(LYDITE_ERROR_INTERNAL, "internal error: panic").status,
    }
}
