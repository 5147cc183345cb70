//! Wipes secrets from the stack.
//!
//! Long-lived secret values are wiped explicitly. The compiler may also copy them to the stack, and these copies have
//! no name. So functions that handle secrets are called out of line, and the caller then overwrites the stack below its
//! own frame.

/// Number of bytes to overwrite: more than the deepest calls in this crate use, which are those of the kernels.
const DEPTH: usize = 48 << 10;

/// Overwrites the part of the stack used by earlier calls that have returned.
#[inline(never)]
pub(crate) fn wipe_stack() {
    core::hint::black_box(&mut [0_u8; DEPTH]);
}
