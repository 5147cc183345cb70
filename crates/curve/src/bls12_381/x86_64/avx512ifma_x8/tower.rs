//! Fp12 = Fp2\[w\]/(w^6 - xi) with xi = 1 + u, in eight lanes: lane k holds the coefficient of w^k.

use blst::{blst_fp2, blst_fp6, blst_fp12};

use super::{
    super::super::fields::{Element, Fp2},
    field::Fp2Lanes,
    products::{Factor, Loose, Operand},
};
use crate::{
    field::LazyField,
    lanes::{
        LANES,
        tower::{EVEN, ODD, ROTATED, SPLAT, SQUARE},
    },
};

/// An element of Fp12, below 4 p. Lanes 6 and 7 are zero modulo p.
#[derive(Clone, Copy)]
pub(super) struct Fp12(Factor);

impl Fp12 {
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(f: &blst_fp12) -> Self {
        let [even, odd] = &f.fp6;
        Self(Factor::new(&Fp2Lanes::load(&core::array::from_fn(|k| {
            let half = if k % 2 == 0 { even } else { odd };
            half.fp2.get(k / 2).map_or(Fp2::ZERO, |c| Element(*c))
        }))))
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn store(&self) -> blst_fp12 {
        let lanes = self.0.element().store();
        let half = |odd: usize| blst_fp6 {
            fp2: core::array::from_fn::<blst_fp2, 3, _>(|i| lanes[2 * i + odd].0),
        };
        blst_fp12 {
            fp6: [half(0), half(1)],
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, other: &Self) -> Self {
        let (a, b) = (&self.0, &other.0);
        let xb = Loose::each(|i| b.limb(i).times_xi::<1>()).factor::<4>();
        let x: [_; 6] = core::array::from_fn(|n| Operand::new([a, a], &SPLAT[n]));
        let y: [_; 6] = core::array::from_fn(|n| Operand::new([b, &xb], &ROTATED[n]));
        Self(Loose::dot(&x, &y).factor::<1>())
    }

    /// Multiplies by `l[2] + l[0] w^2 + l[1] w^3`, where the lanes of the line start at `first`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul_by_line(&self, line: &Factor, first: usize) -> Self {
        let f = &self.0;
        let xf = Loose::each(|i| f.limb(i).times_xi::<1>()).factor::<4>();
        let x: [_; 3] = core::array::from_fn(|n| Operand::new([line, line], &SPLAT[first + n]));
        let y = [2, 3, 0].map(|n| Operand::new([f, &xf], &ROTATED[n]));
        Self(Loose::dot(&x, &y).factor::<1>())
    }

    /// Multiplies by `l[1] + l[0] w^2 + w^3`, where the lanes of the line start at `first`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul_by_monic_line(&self, line: &Factor, first: usize) -> Self {
        let f = &self.0;
        let xf = Loose::each(|i| f.limb(i).times_xi::<1>()).factor::<4>();
        let x: [_; 2] = core::array::from_fn(|n| Operand::new([line, line], &SPLAT[first + n]));
        let y = [2, 0].map(|n| Operand::new([f, &xf], &ROTATED[n]));
        let product = Loose::dot(&x, &y);
        let sum = Loose::each(|i| {
            let rotated = f.limb(i).permuted_with(xf.limb(i), &ROTATED[3]);
            product.limb(i).plus(rotated).plus(Loose::multiple::<1>(i))
        });
        Self(sum.reduce::<382, 0>().factor::<0>())
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&self) -> Self {
        let f = &self.0;
        let twice = Loose::each(|i| f.limb(i).times::<2>()).factor::<0>();
        let xf = Loose::each(|i| f.limb(i).times_xi::<1>()).factor::<4>();
        let x = SQUARE.each_ref().map(|[x, _]| Operand::new([f, &twice], x));
        let y = SQUARE.each_ref().map(|[_, y]| Operand::new([f, &xf], y));
        Self(Loose::dot(&x, &y).factor::<1>())
    }

    /// The square of an element of the cyclotomic subgroup. Source: \[GS10\] §3.2.
    ///
    /// The pairs (a, b) = (f\[j\], f\[j + 3\]) are elements of Fp4 = Fp2\[s\]/(s^2 - xi), with squares `(a + b)(a + xi
    /// b) - a b - xi a b` and `2 a b`. Both products are computed in parallel.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn cyclotomic_square(&self) -> Self {
        const A: [u64; LANES] = [0, 0, 1, 1, 2, 2, 6, 6];
        const B: [u64; LANES] = [3, 3, 4, 4, 5, 5, 6, 6];
        /// The lane of `a b` that each result lane needs.
        const PRODUCT: [u64; LANES] = [1, 5, 3, 1, 5, 3, 6, 6];
        let f = &self.0;
        let x = Loose::each(|i| {
            let f = f.limb(i);
            f.permuted(&A).plus_where::<EVEN>(f.permuted(&B))
        });
        let y = Loose::each(|i| {
            let (a, b) = (f.limb(i).permuted(&A), f.limb(i).permuted(&B));
            b.select(EVEN, a.plus(b.times_xi::<1>()))
        });
        let product = Loose::product(&x.factor::<0>(), &y.factor::<4>());
        let square = Loose::each(|i| {
            let (sum, twice) = (product.limb(i), f.limb(i).times::<2>());
            let ab = sum.permuted(&PRODUCT);
            let xi_ab = ab.times_xi::<1>();
            // 3 t - 2 f in even lanes, 3 t + 2 f in odd ones.
            let t = ab
                .select(0b10, xi_ab)
                .times::<2>()
                .select(EVEN, sum.minus(ab.plus(xi_ab)));
            // Even lanes are at least -9.1 p - 2 f, and f is below 3.5 p there; odd lanes are below 12.1 p + 2 f.
            let rest = Loose::multiple::<17>(i)
                .minus_where::<EVEN>(twice)
                .plus_where::<ODD>(twice);
            t.times::<3>().plus(rest)
        });
        Self(square.reduce::<382, 0>().factor::<0>())
    }

    /// Squares an element of the cyclotomic subgroup n times.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn cyclotomic_square_times(&self, n: usize) -> Self {
        let mut power = *self;
        for _ in 0..n {
            power = power.cyclotomic_square();
        }
        power
    }

    /// The p^6-th power. In the cyclotomic subgroup this is the inverse.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn conjugate(&self) -> Self {
        let f = &self.0;
        let limbs = Loose::each(|i| {
            let f = f.limb(i);
            f.select(ODD, Loose::multiple::<4>(i).minus(f))
        });
        Self(limbs.factor::<0>())
    }
}
