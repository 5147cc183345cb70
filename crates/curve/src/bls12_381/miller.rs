//! What all Miller loops share: their steps, and the lines of the fixed points of KZG.

use blst::blst_fp;

use super::endomorphism::X;

/// A step of the Miller loop. Each step has a line.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Step {
    /// Doubles the point. f is squared before, unless it is still 1.
    Double,
    Add,
}

/// Runs a Miller loop: squares f where needed, and calls `multiply` with the number of each step and the step.
/// `multiply` must multiply f by the lines of that step.
#[inline(always)]
pub(super) fn each_step<F>(
    f: &mut F,
    square: impl Fn(&F) -> F,
    mut multiply: impl FnMut(&mut F, usize, Step),
) {
    for (i, step) in steps().enumerate() {
        if step == Step::Double && i > 0 {
            *f = square(f);
        }
        multiply(f, i, step);
    }
}

/// Returns the steps that compute X times a point.
fn steps() -> impl Iterator<Item = Step> {
    (0..X.ilog2()).rev().flat_map(|bit| {
        let add = (X >> bit & 1 == 1).then_some(Step::Add);
        [Some(Step::Double), add].into_iter().flatten()
    })
}

/// Number of lines of a Miller loop.
#[cfg(target_arch = "x86_64")]
pub(super) const LINES: usize = 68;

/// Lines `b x / y w^2 + c / y + w^3` at (x, y) of the Miller loops with -G2 and with tau G2. b and c are stored as 24
/// little-endian words in blst's form. Written by `examples/generate_tables.rs`.
const TABLES: [&[[u8; 192]]; 2] = [
    include_bytes!("negated_generator.bin").as_chunks().0,
    include_bytes!("tau.bin").as_chunks().0,
];

/// Returns the real or imaginary part of one of the two coefficients of a line with one of the two points.
pub(super) const fn line_part(
    point: usize,
    line: usize,
    coefficient: usize,
    part: usize,
) -> blst_fp {
    let words = TABLES[point][line].as_chunks::<8>().0;
    let (mut l, mut i) = ([0; 6], 0);
    while i < 6 {
        l[i] = u64::from_le_bytes(words[12 * coefficient + 6 * part + i]);
        i += 1;
    }
    blst_fp { l }
}
