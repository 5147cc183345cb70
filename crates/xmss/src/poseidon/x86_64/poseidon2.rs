//! Poseidon2 in vectors: element `i` of state `l` is 32-bit word `l` of vector `i`.
//!
//! Both linear layers of Poseidon2 take a few additions and shifts per element [POSEIDON2 §5], which is less work than
//! the products of [`super::poseidon1`], so this kernel goes round by round. Elements are in Montgomery form and below
//! p between the steps. An addition takes three instructions. Division by 2^k needs no product either: p = 127 * 2^24 +
//! 1, so for x = 2^k h + l with l < 2^k, x / 2^k = h - 127 * 2^(24 - k) l modulo p.
//!
//! Constant time: no branch or address depends on an element.

use super::super::Lanes;
use super::super::tables::{POSEIDON2_16, POSEIDON2_24, Specification};
use super::poseidon1::{self, Halves, Numbers, halves, join, reduce};
use super::vectors::Vectors;
use crate::koalabear::{MODULUS, R, mul, signed};

/// The constants for width 16.
pub(super) static WIDTH_16: Constants<16, 20> = Constants::new(&POSEIDON2_16);
/// The constants for width 24.
pub(super) static WIDTH_24: Constants<24, 23> = Constants::new(&POSEIDON2_24);

/// Round constants in Montgomery form, minus p. Adding one to an element below p gives a value above -p and below p.
pub(super) struct Constants<const W: usize, const P: usize> {
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
#[inline(always)]
fn canonical<V: Vectors>(x: V::Vector, n: &Numbers<V>) -> V::Vector {
    let v = n.v;
    v.min(x, v.add(x, n.modulus))
}

#[inline(always)]
fn add<V: Vectors>(a: V::Vector, b: V::Vector, n: &Numbers<V>) -> V::Vector {
    let v = n.v;
    let sum = v.add(a, b);
    v.min(sum, v.sub(sum, n.modulus))
}

#[inline(always)]
fn sub<V: Vectors>(a: V::Vector, b: V::Vector, n: &Numbers<V>) -> V::Vector {
    let v = n.v;
    canonical(v.sub(a, b), n)
}

#[inline(always)]
fn double<V: Vectors>(x: V::Vector, n: &Numbers<V>) -> V::Vector {
    add(x, x, n)
}

#[inline(always)]
fn half<V: Vectors>(x: V::Vector, n: &Numbers<V>) -> V::Vector {
    let v = n.v;
    v.shr(v.add_where_odd(x, n.modulus), 1)
}

/// Returns h and 127 * 2^(24 - k) l for x = 2^k h + l and 2 <= k <= 24. These are below 2^29 and below p.
#[inline(always)]
fn shifted<V: Vectors>(x: V::Vector, k: i32, v: V) -> [V::Vector; 2] {
    let high = v.shr(x, k);
    let low = if k <= 8 {
        // l is in the lowest byte, and only that byte is multiplied.
        let product = v.dot8(v.shl(x, 8 - k), v.splat(127));
        v.shl(product, 16)
    } else {
        let low = v.and(v.shl(x, 24 - k), v.splat(0x00ff_ffff));
        v.sub(v.shl(low, 7), low)
    };
    [high, low]
}

/// `t` + x / 2^k.
#[inline(always)]
fn plus<V: Vectors>(t: V::Vector, x: V::Vector, k: i32, n: &Numbers<V>) -> V::Vector {
    let [high, low] = shifted(x, k, n.v);
    add(t, sub(high, low, n), n)
}

/// `t` - x / 2^k.
#[inline(always)]
fn minus<V: Vectors>(t: V::Vector, x: V::Vector, k: i32, n: &Numbers<V>) -> V::Vector {
    let [high, low] = shifted(x, k, n.v);
    add(t, sub(low, high, n), n)
}

/// x^3 for x above -p and below p.
#[inline(always)]
fn cube<V: Vectors>(x: V::Vector, n: &Numbers<V>) -> V::Vector {
    let cube = poseidon1::cube(halves(x, n.v), n);
    canonical(join(cube, n.v), n)
}

/// circ(2 M_4, M_4, ...) with M_4 = circ(2, 3, 1, 1).
#[inline(always)]
fn full_layer<V: Vectors, const W: usize>(state: &mut [V::Vector; W], n: &Numbers<V>) {
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
#[inline(always)]
fn partial_layer<V: Vectors, const W: usize>(x: &mut [V::Vector; W], t: V::Vector, n: &Numbers<V>) {
    x[1] = add(t, x[1], n);
    x[2] = add(t, double(x[2], n), n);
    x[3] = add(t, half(x[3], n), n);
    x[4] = add(add(t, x[4], n), double(x[4], n), n);
    x[5] = add(t, double(double(x[5], n), n), n);
    x[6] = sub(t, half(x[6], n), n);
    x[7] = sub(sub(t, x[7], n), double(x[7], n), n);
    x[8] = sub(t, double(double(x[8], n), n), n);
    x[9] = plus(t, x[9], 8, n);
    if W == 16 {
        x[10] = plus(t, x[10], 3, n);
        x[11] = plus(t, x[11], 24, n);
        x[12] = minus(t, x[12], 8, n);
        x[13] = minus(t, x[13], 3, n);
        x[14] = minus(t, x[14], 4, n);
        x[15] = minus(t, x[15], 24, n);
    } else {
        x[10] = plus(t, x[10], 2, n);
        x[11] = plus(t, x[11], 3, n);
        x[12] = plus(t, x[12], 4, n);
        x[13] = plus(t, x[13], 5, n);
        x[14] = plus(t, x[14], 6, n);
        x[15] = plus(t, x[15], 24, n);
        x[16] = minus(t, x[16], 8, n);
        x[17] = minus(t, x[17], 3, n);
        x[18] = minus(t, x[18], 4, n);
        x[19] = minus(t, x[19], 5, n);
        x[20] = minus(t, x[20], 6, n);
        x[21] = minus(t, x[21], 7, n);
        x[22] = minus(t, x[22], 9, n);
        x[23] = minus(t, x[23], 24, n);
    }
}

/// The sum of all elements except the first.
#[inline(always)]
fn sum_of_others<V: Vectors, const W: usize>(x: &[V::Vector; W], n: &Numbers<V>) -> V::Vector {
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

#[inline(always)]
pub(super) fn permute<V: Vectors, const W: usize, const P: usize>(
    lanes: &mut Lanes<W>,
    constants: &Constants<W, P>,
    v: V,
) {
    let n = &Numbers::new(v);
    let r_squared = v.splat64(R_SQUARED);
    for part in 0..V::PARTS {
        let mut state = [v.splat(0); W];
        every!(W, I => {
            let integer = halves(v.load(&lanes.0[I], part), v);
            let product = Halves {
                even: reduce(v.mul_signed(integer.even, r_squared), n),
                odd: reduce(v.mul_signed(integer.odd, r_squared), n),
            };
            state[I] = canonical(join(product, v), n);
        });
        rounds(&mut state, constants, n);
        every!(W, I => {
            let integer = Halves {
                even: reduce(v.even(state[I]), n),
                odd: reduce(v.upper(state[I]), n),
            };
            v.store(&mut lanes.0[I], part, canonical(join(integer, v), n));
        });
    }
}

#[inline(always)]
fn rounds<V: Vectors, const W: usize, const P: usize>(
    state: &mut [V::Vector; W],
    constants: &Constants<W, P>,
    n: &Numbers<V>,
) {
    let v = n.v;
    // The full layer and the S-boxes of full rounds each occur only once in the code.
    for round in 0..=8 {
        full_layer(state, n);
        if round == 4 {
            for constant in &constants.partial {
                let others = sum_of_others(state, n);
                let y = cube(v.add(state[0], v.splat(*constant)), n);
                // The first element is the sum of all elements minus 2 y.
                state[0] = sub(others, y, n);
                partial_layer(state, add(others, y, n), n);
            }
        }
        let Some(constants) = constants.full.get(round) else {
            break;
        };
        every!(W, I => state[I] = cube(v.add(state[I], v.splat(constants[I])), n));
    }
}
