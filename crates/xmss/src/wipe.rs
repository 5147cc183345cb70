//! Secrets on the stack.
//!
//! Values that are secret are wiped by name where they live long; the copies that compilers make of them on the stack have no
//! name. So what made them is called out of line, and its caller then overwrites the stack below itself.

/// Bytes that are overwritten: more than the deepest calls here use, those of the kernels.
const DEPTH: usize = 48 << 10;

/// Overwrites the part of the stack that earlier calls, now over, have used.
#[inline(never)]
pub(crate) fn wipe_stack() {
    core::hint::black_box(&mut [0_u8; DEPTH]);
}
