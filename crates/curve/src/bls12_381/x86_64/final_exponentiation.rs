//! The hard part of the final exponentiation, over any implementation of Fp12.

use super::super::endomorphism::X;

/// Raises f, in the cyclotomic subgroup, to the power `3 (p^4 - p^2 + 1) / r`. Source: \[HHT20\].
#[inline(always)]
pub(super) fn hard_part<F: Copy>(
    f: &F,
    mul: impl Fn(&F, &F) -> F,
    square_times: impl Fn(&F, usize) -> F,
    conjugate: impl Fn(&F) -> F,
    frobenius: impl Fn(&F, usize) -> F,
) -> F {
    // f^-X
    let power = |f: &F| {
        let (mut power, mut count) = (*f, 0);
        for bit in (0..X.ilog2()).rev() {
            count += 1;
            if X >> bit & 1 == 1 {
                power = mul(&square_times(&power, count), f);
                count = 0;
            }
        }
        conjugate(&square_times(&power, count))
    };
    // (x - 1)^2 (x + p) (x^2 + p^2 - 1) + 3
    let y = mul(&power(f), &conjugate(f));
    let y = mul(&power(&y), &conjugate(&y));
    let y = mul(&power(&y), &frobenius(&y, 1));
    let z = power(&power(&y));
    let z = mul(&mul(&z, &frobenius(&y, 2)), &conjugate(&y));
    mul(&z, &mul(&square_times(f, 1), f))
}
