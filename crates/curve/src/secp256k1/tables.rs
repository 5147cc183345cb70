//! The precomputed multiples of the generator.
//!
//! `examples/generate_tables.rs` writes the `.bin` files in this directory, using arithmetic other than this crate's. A
//! test recomputes them with this crate's arithmetic and compares.

use super::{generator, generator::CombTable, multiply, multiply::GeneratorTable};

/// Aligned to a cache line, so that no entry straddles two.
#[repr(C, align(64))]
struct Aligned<const LENGTH: usize>([u8; LENGTH]);

static COMB: Aligned<{ 64 * generator::WINDOWS * generator::ENTRIES }> =
    Aligned(*include_bytes!("comb.bin"));
static GENERATOR: Aligned<{ 64 * 2 * multiply::GENERATOR_ENTRIES }> =
    Aligned(*include_bytes!("generator.bin"));

/// For multiplication by secrets: 86 KB.
#[inline(always)]
pub(super) fn comb() -> CombTable<'static> {
    CombTable(COMB.0.as_chunks().0)
}

/// For multiplication by public numbers: 256 KB.
#[inline(always)]
pub(super) fn generator() -> GeneratorTable<'static> {
    GeneratorTable(GENERATOR.0.as_chunks().0)
}
