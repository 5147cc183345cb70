//! A field in eight lanes and the curve over it, for the kernels without AVX-512.

use core::marker::PhantomData;

use super::super::field::FieldElement;
use crate::{
    field::LazyField,
    group::{Affine, Curve},
    lanes::LANES,
};

/// Elements of secp256k1's field in eight lanes. An implementation may use the instructions of its kernel cell, whose
/// functions are the only users.
pub(super) trait FieldX8: LazyField {
    /// Converts four little-endian words a lane. The values must be below p.
    fn load(words: &[[u64; 4]; LANES]) -> Self;
    /// Converts each lane. The magnitude must be at most the given one.
    fn store(&self, magnitude: u32) -> [FieldElement; LANES];
    /// Returns the element that has in each lane what `entries[lane]` has in it.
    fn gather(entries: [&Self; LANES]) -> Self;
    /// Changes the sign in the lanes whose mask is all ones; the other masks are 0. The magnitude must be at most 3, and
    /// is then at most 4.
    fn negate_where(&self, masks: [u64; LANES]) -> Self;
    /// Squares n times.
    #[inline(always)]
    fn square_times(&self, n: u32) -> Self {
        (0..n).fold(*self, |power, _| power.square())
    }

    /// Returns `yes` in the lanes whose mask is all ones, `self` in the others, whose mask is 0.
    fn select(&self, masks: [u64; LANES], yes: &Self) -> Self;

    #[inline(always)]
    fn splat(words: [u64; 4]) -> Self {
        Self::load(&[words; LANES])
    }
}

/// The curve in eight lanes.
#[derive(Clone, Copy)]
pub(super) struct CurveX8<F>(PhantomData<F>);

impl<F: FieldX8> Curve for CurveX8<F> {
    type Field = F;
    const A_IS_MINUS_3: bool = false;

    fn b() -> F {
        F::splat([7, 0, 0, 0])
    }
}

/// Negates the points in the lanes whose mask is all ones; the other masks are 0.
#[inline(always)]
pub(super) fn negate_where<F: FieldX8>(
    point: Affine<CurveX8<F>>,
    masks: [u64; LANES],
) -> Affine<CurveX8<F>> {
    Affine {
        x: point.x,
        y: point.y.negate_where(masks),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use num_bigint::BigUint;

    use super::{super::super::tests::to_big, *};

    /// p, as little-endian words.
    pub(in super::super) const P: [u64; 4] = [0xffff_fffe_ffff_fc2f, u64::MAX, u64::MAX, u64::MAX];

    /// A field whose representation the tests can read.
    pub(in super::super) trait Inspect: FieldX8 {
        /// Returns each lane's value modulo p, and asserts the limits that products rely on for this magnitude.
        fn values(&self, magnitude: u32) -> [BigUint; LANES];
    }

    fn stored(element: &impl FieldX8, magnitude: u32) -> [BigUint; LANES] {
        let elements = element.store(magnitude);
        elements.map(|x| to_big(&x.normalize().to_words()))
    }

    /// Compares every operation on elements of this magnitude, at most 4, with integer arithmetic.
    pub(in super::super) fn check<F: Inspect>(a: &F, b: &F, magnitude: u32) {
        let p = to_big(&P);
        let (x, y) = (a.values(magnitude), b.values(magnitude));
        let same = |name: &str, got: F, magnitude: u32, expected: &dyn Fn(usize) -> BigUint| {
            let expected: [BigUint; LANES] = core::array::from_fn(|i| expected(i) % &p);
            assert_eq!(got.values(magnitude), expected, "{name} {x:x?} {y:x?}");
            assert_eq!(stored(&got, magnitude), expected, "store {name}");
        };
        let minus = |x: &BigUint| &p - x;
        let m = magnitude;
        same("mul", a.mul(b), 1, &|i| &x[i] * &y[i]);
        same("square", a.square(), 1, &|i| &x[i] * &x[i]);
        same("add", a.add(b), 2 * m, &|i| &x[i] + &y[i]);
        same("sub", a.sub(b, m), 2 * m + 1, &|i| &x[i] + minus(&y[i]));
        same("negate", a.negate(m), m + 1, &|i| minus(&x[i]));
        same("half", a.half(), m / 2 + 1, &|i| &x[i] * ((&p + 1u8) >> 1));
        same("one", a.mul(&F::ONE), 1, &|i| x[i].clone());
        same("zero", a.mul(&F::ZERO), 1, &|_| BigUint::ZERO);
        // One factor of the second product has magnitude 1.
        let c = a.mul(b);
        same(
            "difference_of_products",
            F::difference_of_products(a, b, &c, b),
            1,
            &|i| &x[i] * &y[i] + minus(&(&x[i] * &y[i] * &y[i] % &p)),
        );
        same(
            "product_minus_square",
            F::product_minus_square(a, &c, b, &c),
            2,
            &|i| {
                let c = &x[i] * &y[i] % &p;
                &x[i] * (&c + minus(&y[i])) + minus(&(&c * &c % &p))
            },
        );
        let mask = |lane: usize| lane.is_multiple_of(3);
        let masks = core::array::from_fn(|lane| u64::from(mask(lane)).wrapping_neg());
        same("select", a.select(masks, b), m, &|i| {
            if mask(i) { y[i].clone() } else { x[i].clone() }
        });
        if m <= 3 {
            same("negate_where", a.negate_where(masks), 4, &|i| {
                if mask(i) { minus(&x[i]) } else { x[i].clone() }
            });
        }
        same(
            "gather",
            F::gather(core::array::from_fn(|i| if mask(i) { b } else { a })),
            m,
            &|i| {
                if mask(i) { y[i].clone() } else { x[i].clone() }
            },
        );
        let zeros = a.sub(a, m);
        assert!(zeros.is_zero() && !F::ONE.is_zero());
        let inverses = a.invert();
        same("invert", inverses.mul(a), 1, &|i| {
            BigUint::from(u8::from(x[i] != BigUint::ZERO))
        });
    }
}
