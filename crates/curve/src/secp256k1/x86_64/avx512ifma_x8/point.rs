//! Points in eight lanes: loading, and addition across lanes.

use core::arch::x86_64::*;

use super::{LANES, field::Field};
use crate::lanes::{field::Products, limbs_of, points};

pub(super) type AffineLanes = points::AffineLanes<Field>;
pub(super) type JacobianLanes = points::JacobianLanes<Field>;

impl JacobianLanes {
    /// Adds the points of lanes i and `i ^ BIT`: 9M + 3S, as each lane also computes the values that its partner needs.
    ///
    /// The formula is that of [`Self::add_as`] for two Jacobian points: U = X Z'^2, S = Y Z'^3.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn add_swapped<const BIT: i64>(&self) -> Self {
        let zz = self.z.square();
        let zzz = zz.mul(&self.z);
        let u = self.x.mul(&zz.swapped::<BIT>());
        let s = self.y.mul(&zzz.swapped::<BIT>());
        let h = u.swapped::<BIT>().minus::<1, 1, 2>(&u); // size 3
        let r = s.swapped::<BIT>().minus::<1, 1, 2>(&s); // size 3
        let hh = h.square();
        let hhh = h.mul(&hh);
        let v = u.mul(&hh);
        let x = r.square().minus_twice(&hhh, &v); // size 5
        let y = Field::sum_of_products(&r, &v.minus::<1, 1, 6>(&x), &s, &hhh.negate::<2>());
        let z = self.z.mul(&self.z.swapped::<BIT>()).mul(&h);
        Self { x, y, z }
    }
}

impl AffineLanes {
    /// Converts eight rows of eight words x, y, below p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn from_rows(rows: [__m512i; LANES]) -> Self {
        Self::from_words(transpose(rows))
    }

    /// Converts eight vectors of words x, y, below p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn from_words(w: [__m512i; LANES]) -> Self {
        Self {
            x: Field::strict(limbs_of([w[0], w[1], w[2], w[3]])),
            y: Field::strict(limbs_of([w[4], w[5], w[6], w[7]])),
        }
    }
}

/// Transposes eight rows of eight words.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn transpose(r: [__m512i; LANES]) -> [__m512i; LANES] {
    // Transpose pairs of words, then pairs of 128-bit blocks twice.
    let pairs: [__m512i; LANES] = core::array::from_fn(|i| {
        let (a, b) = (r[i / 2 * 2], r[i / 2 * 2 + 1]);
        if i % 2 == 0 {
            _mm512_unpacklo_epi64(a, b)
        } else {
            _mm512_unpackhi_epi64(a, b)
        }
    });
    // pairs[2 p + q]: words of rows 2p, 2p + 1 at positions q, q + 2, q + 4, q + 6.
    let mut out = [_mm512_setzero_si512(); LANES];
    for q in 0..2 {
        let even01 = _mm512_shuffle_i64x2::<0x88>(pairs[q], pairs[2 + q]); // positions q, q + 4 of rows 0 to 3
        let odd01 = _mm512_shuffle_i64x2::<0xdd>(pairs[q], pairs[2 + q]); // positions q + 2, q + 6
        let even23 = _mm512_shuffle_i64x2::<0x88>(pairs[4 + q], pairs[6 + q]);
        let odd23 = _mm512_shuffle_i64x2::<0xdd>(pairs[4 + q], pairs[6 + q]);
        out[q] = _mm512_shuffle_i64x2::<0x88>(even01, even23);
        out[q + 4] = _mm512_shuffle_i64x2::<0xdd>(even01, even23);
        out[q + 2] = _mm512_shuffle_i64x2::<0x88>(odd01, odd23);
        out[q + 6] = _mm512_shuffle_i64x2::<0xdd>(odd01, odd23);
    }
    out
}
