//! Fp12 = Fp2\[w\]/(w^6 - xi) with xi = 1 + u, over eight lanes: lane k is the coefficient of w^k.

use core::arch::x86_64::*;

use blst::{blst_fp2, blst_fp6, blst_fp12};

use super::{
    super::super::fields::Fp2,
    field::Fp2Lanes,
    products::{Factor, Limb, Loose, Operand},
};
use crate::{
    field::LazyField,
    lanes::LANES,
    tower_lanes::{ROTATED, SPLAT, SQUARE},
};

/// Lanes 1, 3, 5.
const ODD: __mmask8 = 0b10_1010;
/// Lanes 0, 1, 2.
const LOW: __mmask8 = 0b111;

/// An element; lanes 6 and 7 are zero modulo p. Below 4 p.
#[derive(Clone, Copy)]
pub(super) struct Fp12(Factor);

impl Fp12 {
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(f: &blst_fp12) -> Self {
        let [even, odd] = &f.fp6;
        Self(Factor::new(&Fp2Lanes::load(&core::array::from_fn(|k| {
            let half = if k % 2 == 0 { even } else { odd };
            half.fp2.get(k / 2).map_or(Fp2::ZERO, |c| Fp2(*c))
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
        let xb = Loose::each(|i| b.limb(i).times_xi()).factor::<4>();
        let x: [_; 6] = core::array::from_fn(|n| Operand::new([a, a], &SPLAT[n]));
        let y: [_; 6] = core::array::from_fn(|n| Operand::new([b, &xb], &ROTATED[n]));
        Self(Loose::dot(&x, &y).factor::<1>())
    }

    /// Times `l[2] + l[0] w^2 + l[1] w^3`, from the lanes of the line that begin with `first`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul_by_line(&self, line: &Factor, first: usize) -> Self {
        let f = &self.0;
        let xf = Loose::each(|i| f.limb(i).times_xi()).factor::<4>();
        let x: [_; 3] = core::array::from_fn(|n| Operand::new([line, line], &SPLAT[first + n]));
        let y = [2, 3, 0].map(|n| Operand::new([f, &xf], &ROTATED[n]));
        Self(Loose::dot(&x, &y).factor::<1>())
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&self) -> Self {
        let f = &self.0;
        let twice = Loose::each(|i| f.limb(i).times::<2>()).factor::<0>();
        let xf = Loose::each(|i| f.limb(i).times_xi()).factor::<4>();
        let x = SQUARE.each_ref().map(|[x, _]| Operand::new([f, &twice], x));
        let y = SQUARE.each_ref().map(|[_, y]| Operand::new([f, &xf], y));
        Self(Loose::dot(&x, &y).factor::<1>())
    }

    /// The square of an element of the cyclotomic subgroup. Source: \[GS10\] §3.2.
    ///
    /// The pairs (a, b) = (f\[j\], f\[j + 3\]) are elements of Fp4 = Fp2\[s\]/(s^2 - xi), with squares
    /// `(a + b)(a + xi b) - a b - xi a b` and `2 a b`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn cyclotomic_square(&self) -> Self {
        const FIRST: [u64; LANES] = [0, 1, 2, 0, 1, 2, 6, 6];
        const SECOND: [u64; LANES] = [3, 4, 5, 6, 6, 6, 6, 6];
        /// Where `a b` and `(a + b)(a + xi b)` go.
        const PRODUCT: [u64; LANES] = [3, 5, 4, 3, 5, 4, 6, 6];
        const SUM: [u64; LANES] = [0, 6, 1, 6, 2, 6, 6, 6];
        let f = &self.0;
        let x = Loose::each(|i| {
            let f = f.limb(i);
            f.permuted(&FIRST).plus(f.permuted(&SECOND).only(LOW))
        });
        let y = Loose::each(|i| {
            let f = f.limb(i);
            f.plus(f.permuted(&SECOND).times_xi().only(LOW))
        });
        let product = Loose::product(&x.factor::<0>(), &y.factor::<4>());
        // 3 t - 2 f in even lanes, 3 t + 2 f in odd ones.
        let square = Loose::each(|i| {
            let (limb, f) = (product.limb(i), f.limb(i));
            let (ab, sum) = (limb.permuted(&PRODUCT), limb.permuted(&SUM));
            let xi_ab = ab.times_xi();
            let even = sum.minus(ab.plus(xi_ab)).times::<3>().minus(f.plus(f));
            let odd = ab.select(0b10, xi_ab).times::<6>().plus(f.plus(f));
            even.select(ODD, odd)
        });
        Self(square.settled::<16>())
    }

    /// The p^6-th power; in the cyclotomic subgroup the inverse.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn conjugate(&self) -> Self {
        let f = &self.0;
        let limbs = Loose::each(|i| {
            let f = f.limb(i);
            f.select(ODD, Limb::multiple::<4>(i).minus(f))
        });
        Self(limbs.factor::<0>())
    }
}
