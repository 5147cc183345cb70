//! Sixteen permutations of Poseidon2 at once with AVX-512: element `i` of state `l` is 32-bit word `l` of vector `i`.
//!
//! Both linear layers of Poseidon2 take a few additions and shifts per element [POSEIDON2 §5], which is less work than
//! the products of [`super::avx512_x16`], so this kernel goes round by round. Elements are in Montgomery form and below
//! p between the steps. An addition takes three instructions. Division by 2^k needs no product either: p = 127 * 2^24 +
//! 1, so for x = 2^k h + l with l < 2^k, x / 2^k = h - 127 * 2^(24 - k) l modulo p.
//!
//! Constant time: no branch or address depends on an element.

use core::arch::x86_64::*;

use super::super::Lanes;
use super::super::tables::{POSEIDON2_16, POSEIDON2_24, Specification};
use super::avx512_x16::{Halves, Numbers, halves, join, load, reduce, signed, splat, store, upper};
use crate::koalabear::{MODULUS, R, mul};

/// Round constants in Montgomery form, minus p. Adding one to an element below p gives a value above -p and below p.
struct Constants<const W: usize, const P: usize> {
    full: [[i32; W]; 8],
    partial: [i32; P],
}

impl<const W: usize, const P: usize> Constants<W, P> {
    const fn new(specification: &Specification<W, P>) -> Self {
        let mut constants = Self {
            full: [[0; W]; 8],
            partial: [0; P],
        };
        let mut round = 0;
        while round < 8 {
            let mut i = 0;
            while i < W {
                constants.full[round][i] = less_modulus(specification.full[round][i]);
                i += 1;
            }
            round += 1;
        }
        round = 0;
        while round < P {
            constants.partial[round] = less_modulus(specification.partial[round][0]);
            round += 1;
        }
        constants
    }
}

const fn less_modulus(constant: u32) -> i32 {
    mul(constant, R).cast_signed() - MODULUS.cast_signed()
}

/// 2^64 mod p, the representative of least magnitude.
const R_SQUARED: i64 = signed(mul(R, R));

/// Reduces x, which must be above -p and below p, to a value that is not negative and below p.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn canonical(x: __m512i, n: &Numbers) -> __m512i {
    _mm512_min_epu32(x, _mm512_add_epi32(x, n.modulus))
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn add(a: __m512i, b: __m512i, n: &Numbers) -> __m512i {
    let sum = _mm512_add_epi32(a, b);
    _mm512_min_epu32(sum, _mm512_sub_epi32(sum, n.modulus))
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn sub(a: __m512i, b: __m512i, n: &Numbers) -> __m512i {
    canonical(_mm512_sub_epi32(a, b), n)
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn double(x: __m512i, n: &Numbers) -> __m512i {
    add(x, x, n)
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn half(x: __m512i, n: &Numbers) -> __m512i {
    let odd = _mm512_test_epi32_mask(x, splat(1));
    _mm512_srli_epi32::<1>(_mm512_mask_add_epi32(x, odd, x, n.modulus))
}

/// Returns h and 127 * 2^(24 - k) l for x = 2^k h + l and 2 <= k <= 24. These are below 2^29 and below p. `UP` is 8 -
/// k, or 24 - k if k is above 8.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn shifted<const K: u32, const UP: u32>(x: __m512i) -> [__m512i; 2] {
    let high = _mm512_srli_epi32::<K>(x);
    let low = if K <= 8 {
        // l is in the lowest byte, and only that byte is multiplied.
        let product = _mm512_maddubs_epi16(_mm512_slli_epi32::<UP>(x), splat(127));
        _mm512_slli_epi32::<16>(product)
    } else {
        let low = _mm512_and_si512(_mm512_slli_epi32::<UP>(x), splat(0x00ff_ffff));
        _mm512_sub_epi32(_mm512_slli_epi32::<7>(low), low)
    };
    [high, low]
}

/// `t` + x / 2^K.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn plus<const K: u32, const UP: u32>(t: __m512i, x: __m512i, n: &Numbers) -> __m512i {
    let [high, low] = shifted::<K, UP>(x);
    add(t, sub(high, low, n), n)
}

/// `t` - x / 2^K.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn minus<const K: u32, const UP: u32>(t: __m512i, x: __m512i, n: &Numbers) -> __m512i {
    let [high, low] = shifted::<K, UP>(x);
    add(t, sub(low, high, n), n)
}

/// x^3 for x above -p and below p.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn cube(x: __m512i, n: &Numbers) -> __m512i {
    let one = |x| {
        let square = upper(reduce(_mm512_mul_epi32(x, x), n));
        reduce(_mm512_mul_epi32(square, x), n)
    };
    let x = halves(x);
    let cube = Halves {
        even: one(x.even),
        odd: one(x.odd),
    };
    canonical(join(cube), n)
}

/// circ(2 M_4, M_4, ...) with M_4 = circ(2, 3, 1, 1).
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn full_layer<const W: usize>(state: &mut [__m512i; W], n: &Numbers) {
    for x in state.chunks_exact_mut(4) {
        let [a, b] = [add(x[0], x[1], n), add(x[2], x[3], n)];
        let all = add(a, b, n);
        let [one, three] = [add(all, x[1], n), add(all, x[3], n)];
        x[3] = add(three, double(x[0], n), n);
        x[1] = add(one, double(x[2], n), n);
        x[0] = add(one, a, n);
        x[2] = add(three, b, n);
    }
    let mut sums = [state[0], state[1], state[2], state[3]];
    for x in state[4..].chunks_exact(4) {
        for (sum, x) in sums.iter_mut().zip(x) {
            *sum = add(*sum, *x, n);
        }
    }
    for x in state.chunks_exact_mut(4) {
        for (x, sum) in x.iter_mut().zip(sums) {
            *x = add(*x, sum, n);
        }
    }
}

/// The partial layer, all ones plus a diagonal, for all elements except the first: `t`, the sum of all elements, plus
/// each element times its diagonal entry.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn partial_layer<const W: usize>(x: &mut [__m512i; W], t: __m512i, n: &Numbers) {
    x[1] = add(t, x[1], n);
    x[2] = add(t, double(x[2], n), n);
    x[3] = add(t, half(x[3], n), n);
    x[4] = add(add(t, x[4], n), double(x[4], n), n);
    x[5] = add(t, double(double(x[5], n), n), n);
    x[6] = sub(t, half(x[6], n), n);
    x[7] = sub(sub(t, x[7], n), double(x[7], n), n);
    x[8] = sub(t, double(double(x[8], n), n), n);
    x[9] = plus::<8, 0>(t, x[9], n);
    if W == 16 {
        x[10] = plus::<3, 5>(t, x[10], n);
        x[11] = plus::<24, 0>(t, x[11], n);
        x[12] = minus::<8, 0>(t, x[12], n);
        x[13] = minus::<3, 5>(t, x[13], n);
        x[14] = minus::<4, 4>(t, x[14], n);
        x[15] = minus::<24, 0>(t, x[15], n);
    } else {
        x[10] = plus::<2, 6>(t, x[10], n);
        x[11] = plus::<3, 5>(t, x[11], n);
        x[12] = plus::<4, 4>(t, x[12], n);
        x[13] = plus::<5, 3>(t, x[13], n);
        x[14] = plus::<6, 2>(t, x[14], n);
        x[15] = plus::<24, 0>(t, x[15], n);
        x[16] = minus::<8, 0>(t, x[16], n);
        x[17] = minus::<3, 5>(t, x[17], n);
        x[18] = minus::<4, 4>(t, x[18], n);
        x[19] = minus::<5, 3>(t, x[19], n);
        x[20] = minus::<6, 2>(t, x[20], n);
        x[21] = minus::<7, 1>(t, x[21], n);
        x[22] = minus::<9, 15>(t, x[22], n);
        x[23] = minus::<24, 0>(t, x[23], n);
    }
}

/// The sum of all elements except the first.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn sum_of_others<const W: usize>(x: &[__m512i; W], n: &Numbers) -> __m512i {
    let mut sums = [x[4], x[1], x[2], x[3]];
    for i in 5..W {
        sums[i % 4] = add(sums[i % 4], x[i], n);
    }
    add(add(sums[0], sums[1], n), add(sums[2], sums[3], n), n)
}

/// Expands the body for every index of the state, so that the state stays in registers.
macro_rules! every {
    ($width:ident, $i:ident => $body:expr) => {
        every!(@ $width, $i, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23)
    };
    (@ $width:ident, $i:ident, $body:expr, $($index:literal)*) => {
        $({
            const $i: usize = $index;
            if $i < $width {
                $body
            }
        })*
    };
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn permute<const W: usize, const P: usize>(lanes: &mut Lanes<W>, constants: &Constants<W, P>) {
    let n = &Numbers::new();
    let r_squared = _mm512_set1_epi64(R_SQUARED);
    let mut state = [_mm512_setzero_si512(); W];
    every!(W, I => {
        let integer = halves(load(&lanes.0[I]));
        let product = Halves {
            even: reduce(_mm512_mul_epi32(integer.even, r_squared), n),
            odd: reduce(_mm512_mul_epi32(integer.odd, r_squared), n),
        };
        state[I] = canonical(join(product), n);
    });
    // The full layer and the S-boxes of full rounds each occur only once in the code.
    for round in 0..=8 {
        full_layer(&mut state, n);
        if round == 4 {
            for constant in &constants.partial {
                let others = sum_of_others(&state, n);
                let y = cube(_mm512_add_epi32(state[0], splat(*constant)), n);
                // The first element is the sum of all elements minus 2 y.
                state[0] = sub(others, y, n);
                partial_layer(&mut state, add(others, y, n), n);
            }
        }
        let Some(constants) = constants.full.get(round) else {
            break;
        };
        every!(W, I => state[I] = cube(_mm512_add_epi32(state[I], splat(constants[I])), n));
    }
    every!(W, I => {
        let integer = Halves {
            even: reduce(_mm512_maskz_mov_epi32(0x5555, state[I]), n),
            odd: reduce(upper(state[I]), n),
        };
        store(&mut lanes.0[I], canonical(join(integer), n));
    });
}

macro_rules! kernels {
    ($($name:ident: $specification:ident, $width:literal, $rounds:literal;)*) => {
        $(
            #[target_feature(enable = "avx512f,avx512bw")]
            pub(in super::super) fn $name(state: &mut Lanes<$width>) {
                static CONSTANTS: Constants<$width, $rounds> = Constants::new(&$specification);
                permute(state, &CONSTANTS);
            }
        )*
    };
}

kernels! {
    poseidon2_16: POSEIDON2_16, 16, 20;
    poseidon2_24: POSEIDON2_24, 24, 23;
}
