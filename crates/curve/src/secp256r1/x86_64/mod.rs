//! x86-64 field implementation.

pub(super) mod adx;
