//! Eight recoveries side by side: one signature a 64-bit lane, AVX-512 IFMA.
//!
//! Layout: a field element of eight lanes is 5 vectors of 52-bit limbs, least significant first ("strict": every limb is
//! below 2^52, so the value is below 2^260). The multiplier reads only the low 52 bits of a limb, so nothing is lazy
//! here: sums and differences carry at once. Values are not reduced below p; the bound of each is given in units of
//! 2^256 ("size"), as sixteen fit.
//!
//! All lanes take the same steps: digits come from a regular recoding (odd, never zero), so there is nothing to skip and
//! no point at infinity to begin with. The formulas are incomplete: where a sum meets its own addend, the lane's Z
//! becomes 0 and stays 0, and the caller computes that lane again by the portable way. Only crafted signatures get there.
//!
//! Source: [GK12] (52-bit limbs and fused multiply-add), [JT09] algorithm 6 (regular recoding), dbl-2009-l and
//! madd-2004-hmv of [EFD] for a = 0.
//! Constant time: no, public data only.

use core::arch::x86_64::*;

use super::super::{
    field::FieldElement,
    group::{Affine, BETA, Curve, Jacobian},
    multiply::{GENERATOR_ENTRIES, GeneratorTable},
    scalar::Signed128,
};

/// Lanes of a vector.
pub(crate) const LANES: usize = 8;

const LIMB_MASK: i64 = (1 << 52) - 1;
/// 2^256 mod p.
const FOLD: i64 = 0x1_0000_03d1;

/// Eight field elements, one a lane.
#[derive(Clone, Copy)]
struct Field([__m512i; 5]);

/// `k * p` in limbs that are not carried, so that each limb of a smaller value can be taken from it: what is added
/// before a subtraction. The sum of the limbs' values is exact; negative limbs are settled by the carry.
const fn multiple_of_p(k: i64) -> [i64; 5] {
    [
        k * ((1 << 52) - 0x1_0000_03d1),
        k * LIMB_MASK,
        k * LIMB_MASK,
        k * LIMB_MASK,
        k * ((1 << 48) - 1),
    ]
}

impl Field {
    /// From limbs that may be negative or above 2^52, of a value in 0..2^260.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn carried(mut limbs: [__m512i; 5]) -> Self {
        let mask = _mm512_set1_epi64(LIMB_MASK);
        for i in 0..4 {
            limbs[i + 1] = _mm512_add_epi64(limbs[i + 1], _mm512_srai_epi64::<52>(limbs[i]));
            limbs[i] = _mm512_and_si512(limbs[i], mask);
        }
        Self(limbs)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn splat(words: [u64; 4]) -> Self {
        Self(limbs_of(words.map(|w| _mm512_set1_epi64(w.cast_signed()))))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn load(words: &[[u64; 4]; LANES]) -> Self {
        Self(limbs_of(core::array::from_fn(|i| {
            load(&core::array::from_fn(|lane| words[lane][i]))
        })))
    }

    /// The values reduced below p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn store(self) -> [[u64; 4]; LANES] {
        let limbs = self.0.map(|limb| store(limb));
        core::array::from_fn(|lane| {
            let l: [u64; 5] = core::array::from_fn(|i| limbs[i][lane]);
            reduce(
                [
                    l[0] | l[1] << 52,
                    l[1] >> 12 | l[2] << 40,
                    l[2] >> 24 | l[3] << 28,
                    l[3] >> 36 | l[4] << 16,
                ],
                l[4] >> 48,
            )
        })
    }

    /// The product, of size 1 (below 2^256 + 2^75).
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn mul(&self, other: &Self) -> Self {
        let (a, b) = (&self.0, &other.0);
        let mut low = [_mm512_setzero_si512(); 10];
        let mut high = [_mm512_setzero_si512(); 10];
        for i in 0..5 {
            for j in 0..5 {
                low[i + j] = _mm512_madd52lo_epu64(low[i + j], a[i], b[j]);
                high[i + j + 1] = _mm512_madd52hi_epu64(high[i + j + 1], a[i], b[j]);
            }
        }
        fold(core::array::from_fn(|i| _mm512_add_epi64(low[i], high[i])))
    }

    /// The square, of size 1.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn square(&self) -> Self {
        let a = &self.0;
        let mut low = [_mm512_setzero_si512(); 10];
        let mut high = [_mm512_setzero_si512(); 10];
        for i in 0..5 {
            for j in i + 1..5 {
                low[i + j] = _mm512_madd52lo_epu64(low[i + j], a[i], a[j]);
                high[i + j + 1] = _mm512_madd52hi_epu64(high[i + j + 1], a[i], a[j]);
            }
        }
        let mut t: [_; 10] = core::array::from_fn(|i| {
            let cross = _mm512_add_epi64(low[i], high[i]);
            _mm512_add_epi64(cross, cross)
        });
        for i in 0..5 {
            t[2 * i] = _mm512_madd52lo_epu64(t[2 * i], a[i], a[i]);
            t[2 * i + 1] = _mm512_madd52hi_epu64(t[2 * i + 1], a[i], a[i]);
        }
        fold(t)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn square_times(mut self, n: usize) -> Self {
        for _ in 0..n {
            self = self.square();
        }
        self
    }

    /// `a * self`, of a times the size.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn times<const A: u32>(&self) -> Self {
        Self::carried(self.0.map(|x| scaled::<A>(x)))
    }

    /// `a * self - b * other`, where `SIZE` is above the size of `b * other`; of the size of `a * self` plus `SIZE`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn minus<const A: u32, const B: u32, const SIZE: i64>(&self, other: &Self) -> Self {
        let bias = const { multiple_of_p(SIZE) };
        Self::carried(core::array::from_fn(|i| {
            let positive = _mm512_add_epi64(scaled::<A>(self.0[i]), _mm512_set1_epi64(bias[i]));
            _mm512_sub_epi64(positive, scaled::<B>(other.0[i]))
        }))
    }

    /// `self - b - 2 c`, where `b + 2 c` is of size 3; of size 4 more than `self`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn minus_twice(&self, b: &Self, c: &Self) -> Self {
        let bias = const { multiple_of_p(4) };
        Self::carried(core::array::from_fn(|i| {
            let positive = _mm512_add_epi64(self.0[i], _mm512_set1_epi64(bias[i]));
            _mm512_sub_epi64(positive, _mm512_add_epi64(b.0[i], scaled::<2>(c.0[i])))
        }))
    }

    /// The negative in the lanes of `mask`, of size 3 at most; `self` is of size below 2.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn negate_where(&self, mask: __mmask8) -> Self {
        let bias = const { multiple_of_p(3) };
        Self::carried(core::array::from_fn(|i| {
            _mm512_mask_sub_epi64(self.0[i], mask, _mm512_set1_epi64(bias[i]), self.0[i])
        }))
    }

    /// `yes` in the lanes of `mask`, `self` in the others.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn select(&self, mask: __mmask8, yes: &Self) -> Self {
        Self(core::array::from_fn(|i| {
            _mm512_mask_mov_epi64(self.0[i], mask, yes.0[i])
        }))
    }
}

/// `A * x` for a limb, by doubling and adding.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn scaled<const A: u32>(x: __m512i) -> __m512i {
    let mut out = x;
    for bit in (0..A.ilog2()).rev() {
        out = _mm512_add_epi64(out, out);
        if A >> bit & 1 == 1 {
            out = _mm512_add_epi64(out, x);
        }
    }
    out
}

/// Words of 64 bits to limbs of 52.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn limbs_of(w: [__m512i; 4]) -> [__m512i; 5] {
    let mask = _mm512_set1_epi64(LIMB_MASK);
    [
        _mm512_and_si512(w[0], mask),
        _mm512_and_si512(
            _mm512_or_si512(_mm512_srli_epi64::<52>(w[0]), _mm512_slli_epi64::<12>(w[1])),
            mask,
        ),
        _mm512_and_si512(
            _mm512_or_si512(_mm512_srli_epi64::<40>(w[1]), _mm512_slli_epi64::<24>(w[2])),
            mask,
        ),
        _mm512_and_si512(
            _mm512_or_si512(_mm512_srli_epi64::<28>(w[2]), _mm512_slli_epi64::<36>(w[3])),
            mask,
        ),
        _mm512_srli_epi64::<16>(w[3]),
    ]
}

/// Reduces ten columns (below 2^57 each) modulo p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn fold(mut t: [__m512i; 10]) -> Field {
    let mask = _mm512_set1_epi64(LIMB_MASK);
    // The upper half has to be strict to be multiplied; what the lower half carries into it must be there first.
    for i in 4..9 {
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64::<52>(t[i]));
        t[i] = _mm512_and_si512(t[i], mask);
    }
    // 2^260 = 16 * FOLD (mod p).
    let factor = _mm512_set1_epi64(16 * FOLD);
    let mut out = [t[0], t[1], t[2], t[3], t[4]];
    let mut carry = _mm512_setzero_si512();
    for i in 0..5 {
        out[i] = _mm512_madd52lo_epu64(_mm512_add_epi64(out[i], carry), t[5 + i], factor);
        carry = _mm512_madd52hi_epu64(_mm512_setzero_si512(), t[5 + i], factor);
    }
    for i in 0..4 {
        out[i + 1] = _mm512_add_epi64(out[i + 1], _mm512_srli_epi64::<52>(out[i]));
        out[i] = _mm512_and_si512(out[i], mask);
    }
    // What stands above 2^256: 48 bits of the top limb belong below it.
    let above = _mm512_add_epi64(
        _mm512_srli_epi64::<48>(out[4]),
        _mm512_slli_epi64::<4>(carry),
    );
    out[4] = _mm512_and_si512(out[4], _mm512_set1_epi64((1 << 48) - 1));
    out[0] = _mm512_madd52lo_epu64(out[0], above, _mm512_set1_epi64(FOLD));
    out[1] = _mm512_madd52hi_epu64(out[1], above, _mm512_set1_epi64(FOLD));
    Field::carried(out)
}

/// A value below 2^260, as its low 256 bits and what stands above them, reduced below p.
fn reduce(low: [u64; 4], above: u64) -> [u64; 4] {
    let add = |words: [u64; 4], addend: u64| {
        let (mut out, mut carry) = (words, u128::from(addend));
        for word in &mut out {
            carry += u128::from(*word);
            *word = carry as u64;
            carry >>= 64;
        }
        (out, carry != 0)
    };
    let fold = FOLD.cast_unsigned();
    let (mut words, overflow) = add(low, above * fold);
    if overflow {
        words = add(words, fold).0; // the first sum wrapped to below 2^37: no second overflow
    }
    // words - p = words + FOLD - 2^256.
    match add(words, fold) {
        (reduced, true) => reduced,
        (_, false) => words,
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn load(lanes: &[u64; LANES]) -> __m512i {
    // SAFETY: the reference is valid for reads of 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn store(vector: __m512i) -> [u64; LANES] {
    let mut lanes = [0; LANES];
    // SAFETY: the reference is valid for writes of 64 bytes, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), vector) };
    lanes
}

/// Points of eight lanes, affine.
#[derive(Clone, Copy)]
struct AffineLanes {
    x: Field,
    y: Field,
}

/// Points of eight lanes, Jacobian; x and y of size 10 at most, z of size 2.
#[derive(Clone, Copy)]
struct JacobianLanes {
    x: Field,
    y: Field,
    z: Field,
}

impl JacobianLanes {
    /// dbl-2009-l, with D as a product: 3M + 4S.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn double(&self) -> Self {
        let b = self.y.square();
        let e = self.x.square().times::<3>();
        let xb = self.x.mul(&b); // D = 4 X B
        let ee = e.square();
        let x = ee.minus::<1, 8, 9>(&xb); // size 10
        let y = e
            .mul(&xb.minus::<12, 1, 2>(&ee))
            .minus::<1, 8, 9>(&b.square()); // E (D - X3) - 8 B^2, size 10
        Self {
            x,
            y,
            z: self.y.mul(&self.z).times::<2>(),
        }
    }

    /// madd-2004-hmv: 8M + 3S. `z` is this point's Z as the addend's curve sees it. Also returns Z3 / Z1.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add_as(&self, other: &AffineLanes, z: &Field) -> (Self, Field) {
        let zz = z.square();
        let h = other.x.mul(&zz).minus::<1, 1, 11>(&self.x); // size 12
        let r = other.y.mul(&zz.mul(z)).minus::<1, 1, 11>(&self.y); // size 12
        let hh = h.square();
        let hhh = h.mul(&hh);
        let v = self.x.mul(&hh);
        let x = r.square().minus_twice(&hhh, &v); // size 5
        let y = r
            .mul(&v.minus::<1, 1, 6>(&x))
            .minus::<1, 1, 2>(&self.y.mul(&hhh)); // size 3
        (
            Self {
                x,
                y,
                z: self.z.mul(&h),
            },
            h,
        )
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add(&self, other: &AffineLanes) -> Self {
        self.add_as(other, &self.z).0
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn select(&self, mask: __mmask8, yes: &Self) -> Self {
        Self {
            x: self.x.select(mask, &yes.x),
            y: self.y.select(mask, &yes.y),
            z: self.z.select(mask, &yes.z),
        }
    }
}

/// Square roots of `x^3 + 7`; a lane where there is none holds anything.
///
/// The exponent (p + 1) / 4 has three runs of ones, of 223, 22 and 2 bits. Source: [LIBSECP] `field_impl.h`.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn lift_x(x: &[[u64; 4]; LANES]) -> [[u64; 4]; LANES] {
    let x = Field::load(x);
    let seven = Field::splat([7, 0, 0, 0]);
    let cube = x.square().mul(&x);
    let a = Field::carried(core::array::from_fn(|i| {
        _mm512_add_epi64(cube.0[i], seven.0[i])
    }));
    let x2 = a.square().mul(&a);
    let x3 = x2.square().mul(&a);
    let x6 = x3.square_times(3).mul(&x3);
    let x9 = x6.square_times(3).mul(&x3);
    let x11 = x9.square_times(2).mul(&x2);
    let x22 = x11.square_times(11).mul(&x11);
    let x44 = x22.square_times(22).mul(&x22);
    let x88 = x44.square_times(44).mul(&x44);
    let x176 = x88.square_times(88).mul(&x88);
    let x220 = x176.square_times(44).mul(&x44);
    let x223 = x220.square_times(3).mul(&x3);
    x223.square_times(23)
        .mul(&x22)
        .square_times(6)
        .mul(&x2)
        .square_times(2)
        .store()
}

/// Entries of the table of P: the odd multiples up to 15.
const ENTRIES: usize = 8;
/// Bits from one digit of a multiplier of P to the next.
const WINDOW: usize = 4;
/// Bits from one digit of a multiplier of G to the next: the static table's odd multiples are below `2^STATIC_WINDOW`.
const STATIC_WINDOW: usize = GENERATOR_ENTRIES.ilog2() as usize + 1;

/// Odd digits of eight 128-bit multipliers, `W` bits apart: the absolute values' table indices and the signs; and the
/// lanes where the multiplier was even, so that 1 was added.
///
/// Source: [JT09] algorithm 6.
struct Digits<const COUNT: usize> {
    indices: [[u64; LANES]; COUNT],
    negative: [__mmask8; COUNT],
    even: __mmask8,
    even_negative: __mmask8,
}

impl<const COUNT: usize> Digits<COUNT> {
    fn new(window: usize, multipliers: [Signed128; LANES]) -> Self {
        let mut out = Self {
            indices: [[0; LANES]; COUNT],
            negative: [0; COUNT],
            even: 0,
            even_negative: 0,
        };
        for (lane, k) in multipliers.iter().enumerate() {
            let even = u8::from(k.magnitude & 1 == 0);
            out.even |= even << lane;
            out.even_negative |= u8::from(k.negative) << lane;
            // 2^128 - 1 is odd: no overflow.
            let mut rest = k.magnitude | 1;
            for i in 0..COUNT {
                // All digits but the last: the low W + 1 bits, less 2^W; what is left stays odd.
                let (digit, negative) = if i + 1 < COUNT {
                    let low = (rest & ((2 << window) - 1)) as i64 - (1 << window);
                    rest = (rest >> window) | 1;
                    (low.unsigned_abs(), low < 0)
                } else {
                    (rest as u64, false)
                };
                out.indices[i][lane] = digit / 2;
                out.negative[i] |= u8::from(negative != k.negative) << lane;
            }
        }
        out
    }
}

/// The table of P's odd multiples, of size 1, and of the endomorphism's images: `(x, y)` and `beta x`.
struct Table {
    points: [AffineLanes; ENTRIES],
    beta_x: [Field; ENTRIES],
}

impl Table {
    /// The table on an isomorphic curve, and the scale: a point there with Z is the point with `Z * scale` here.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn new<C: Curve>(p: &AffineLanes) -> (Self, Field) {
        let one = Field::splat([1, 0, 0, 0]);
        let double = JacobianLanes {
            x: p.x,
            y: p.y,
            z: one,
        }
        .double();
        // On the curve isomorphic by the Z of 2 P, 2 P itself is affine.
        let step = AffineLanes {
            x: double.x,
            y: double.y,
        };
        let zz = double.z.square();
        let first = AffineLanes {
            x: p.x.mul(&zz),
            y: p.y.mul(&zz.mul(&double.z)),
        };
        let mut sum = JacobianLanes {
            x: first.x,
            y: first.y,
            z: one,
        };
        let mut points = [first; ENTRIES];
        let mut ratios = [one; ENTRIES];
        for i in 1..ENTRIES {
            (sum, ratios[i]) = sum.add_as(&step, &sum.z);
            points[i] = AffineLanes { x: sum.x, y: sum.y };
        }
        // Bring all to the Z of the last: entry i has to be scaled by the product of the ratios after it.
        let mut scale = one;
        for i in (0..ENTRIES).rev() {
            let square = scale.square();
            points[i] = AffineLanes {
                x: points[i].x.mul(&square),
                y: points[i].y.mul(&square.mul(&scale)),
            };
            scale = scale.mul(&ratios[i]);
        }
        let beta = Field::splat(BETA.to_words());
        let beta_x = core::array::from_fn(|i| points[i].x.mul(&beta));
        (Self { points, beta_x }, sum.z.mul(&double.z))
    }

    /// Each lane's own entry, or its image by the endomorphism.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn entry<const IMAGE: bool>(&self, indices: &[u64; LANES], negative: __mmask8) -> AffineLanes {
        let index = load(indices);
        let x_of = |i: usize| {
            if IMAGE {
                self.beta_x[i]
            } else {
                self.points[i].x
            }
        };
        let mut out = AffineLanes {
            x: x_of(0),
            y: self.points[0].y,
        };
        for i in 1..ENTRIES {
            let here = _mm512_cmpeq_epi64_mask(index, _mm512_set1_epi64(i as i64));
            out = AffineLanes {
                x: out.x.select(here, &x_of(i)),
                y: out.y.select(here, &self.points[i].y),
            };
        }
        AffineLanes {
            x: out.x,
            y: out.y.negate_where(negative),
        }
    }
}

/// Each lane's own entry of the static table of G (`half` 0) or 2^128 G (1).
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn static_entry(
    table: GeneratorTable<'_>,
    half: usize,
    indices: &[u64; LANES],
    negative: __mmask8,
) -> AffineLanes {
    let rows: [__m512i; LANES] = core::array::from_fn(|lane| {
        let entry: &[u8; 64] = &table.0[half * GENERATOR_ENTRIES + indices[lane] as usize];
        // SAFETY: the reference is valid for reads of 64 bytes, and the load needs no alignment.
        unsafe { _mm512_loadu_si512(entry.as_ptr().cast()) }
    });
    let w = transpose(rows);
    let x = Field(limbs_of([w[0], w[1], w[2], w[3]]));
    let y = Field(limbs_of([w[4], w[5], w[6], w[7]]));
    AffineLanes {
        x,
        y: y.negate_where(negative),
    }
}

/// Eight rows of eight words to eight columns.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn transpose(r: [__m512i; LANES]) -> [__m512i; LANES] {
    // Pairs of words, then pairs of 128-bit blocks, twice.
    let pairs: [__m512i; LANES] = core::array::from_fn(|i| {
        let (a, b) = (r[i / 2 * 2], r[i / 2 * 2 + 1]);
        if i % 2 == 0 {
            _mm512_unpacklo_epi64(a, b)
        } else {
            _mm512_unpackhi_epi64(a, b)
        }
    });
    // pairs[2 p + q]: words of rows 2p, 2p + 1 at the positions q, q + 2, q + 4, q + 6.
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

/// `a[0] P + a[1] lambda P + b[0] G + b[1] 2^128 G` for each lane. A lane whose Z is 0 met an exceptional case and has
/// to be computed in another way.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn multiply_add<C: Curve>(
    points: &[Affine<C>; LANES],
    a: &[[Signed128; 2]; LANES],
    generator: GeneratorTable<'_>,
    b: &[[Signed128; 2]; LANES],
) -> [Jacobian<C>; LANES] {
    const DIGITS: usize = 128 / WINDOW;
    const STATIC_DIGITS: usize = 128_usize.div_ceil(STATIC_WINDOW);
    let p = AffineLanes {
        x: Field::load(&core::array::from_fn(|lane| {
            points[lane].x.normalize().to_words()
        })),
        y: Field::load(&core::array::from_fn(|lane| {
            points[lane].y.normalize().to_words()
        })),
    };
    let (table, scale) = Table::new::<C>(&p);
    let a: [Digits<DIGITS>; 2] =
        core::array::from_fn(|i| Digits::new(WINDOW, core::array::from_fn(|lane| a[lane][i])));
    let b: [Digits<STATIC_DIGITS>; 2] = core::array::from_fn(|i| {
        Digits::new(STATIC_WINDOW, core::array::from_fn(|lane| b[lane][i]))
    });

    let mut sum = JacobianLanes {
        x: p.x,
        y: p.y,
        z: Field::splat([1, 0, 0, 0]),
    };
    for position in (0..=WINDOW * (DIGITS - 1)).rev() {
        let first = position == WINDOW * (DIGITS - 1);
        if !first {
            sum = sum.double();
        }
        if position % WINDOW == 0 {
            let i = position / WINDOW;
            let entry = table.entry::<false>(&a[0].indices[i], a[0].negative[i]);
            if first {
                (sum.x, sum.y) = (entry.x, entry.y);
            } else {
                sum = sum.add(&entry);
            }
            sum = sum.add(&table.entry::<true>(&a[1].indices[i], a[1].negative[i]));
        }
        if position % STATIC_WINDOW == 0 {
            let i = position / STATIC_WINDOW;
            for (half, digits) in b.iter().enumerate() {
                let entry = static_entry(generator, half, &digits.indices[i], digits.negative[i]);
                sum = sum.add_as(&entry, &sum.z.mul(&scale)).0;
            }
        }
    }
    // Take back what made even multipliers odd.
    let first = [0; LANES];
    for (image, digits) in a.iter().enumerate() {
        let entry = if image == 0 {
            table.entry::<false>(&first, !digits.even_negative)
        } else {
            table.entry::<true>(&first, !digits.even_negative)
        };
        sum = sum.select(digits.even, &sum.add(&entry));
    }
    for (half, digits) in b.iter().enumerate() {
        let entry = static_entry(generator, half, &first, !digits.even_negative);
        sum = sum.select(digits.even, &sum.add_as(&entry, &sum.z.mul(&scale)).0);
    }
    let (x, y, z) = (sum.x.store(), sum.y.store(), sum.z.mul(&scale).store());
    core::array::from_fn(|lane| {
        Jacobian::new(
            FieldElement::from_words(x[lane]),
            FieldElement::from_words(y[lane]),
            FieldElement::from_words(z[lane]),
        )
    })
}
