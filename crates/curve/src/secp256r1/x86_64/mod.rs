//! The field by instructions of x86-64.

pub(super) mod adx;
