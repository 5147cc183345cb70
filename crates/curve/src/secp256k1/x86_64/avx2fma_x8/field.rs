//! Field arithmetic in eight lanes, in double-precision floating point. `docs/internals/eight-lane-field.md` derives the
//! bounds.

use core::{arch::x86_64::*, mem::MaybeUninit};

use super::{
    super::{super::field::FieldElement, field_x8::FieldX8},
    element::{BITS, Element, Lanes, Limbs, R_MOD_P, ROUND_51, ROUND_52, power},
    kernel,
};
use crate::{field::LazyField, lanes::LANES, mask::Mask};

/// Added to a number, rounds it to an integer.
const ROUND: f64 = 1.5 * power(52);

#[inline]
#[target_feature(enable = "avx2,fma")]
fn splat_bits(x: u64) -> __m256i {
    _mm256_set1_epi64x(x.cast_signed())
}

/// Converts integers below 2^52, minus `bias`.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn to_float(x: __m256i, bias: f64) -> __m256d {
    let offset = _mm256_castpd_si256(_mm256_set1_pd(power(52)));
    _mm256_sub_pd(
        _mm256_castsi256_pd(_mm256_or_si256(x, offset)),
        _mm256_set1_pd(power(52) + bias),
    )
}

/// Restores the invariant. Limbs must be at most 2^53.
///
/// All limbs but the top one carry at the same time, so that limbs 1 to 3 may exceed 2^50 by the carry, at most 2^3.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn carried(mut l: Limbs) -> Limbs {
    let above = |x, round: f64| {
        let round = _mm256_set1_pd(round);
        _mm256_sub_pd(_mm256_add_pd(x, round), round)
    };
    let carry = [0, 1, 2, 3].map(|i| above(l[i], ROUND_51));
    for (i, carry) in carry.into_iter().enumerate() {
        l[i] = _mm256_sub_pd(l[i], carry);
    }
    for (i, carry) in carry.into_iter().enumerate() {
        l[i + 1] = _mm256_fmadd_pd(carry, _mm256_set1_pd(power(-BITS)), l[i + 1]);
    }
    let carry = above(l[4], ROUND_52);
    l[4] = _mm256_sub_pd(l[4], carry);
    l[0] = _mm256_fmadd_pd(carry, _mm256_set1_pd(R_MOD_P * power(-BITS - 1)), l[0]);
    l
}

/// Half of the element. Limbs 0 and 4 are at most 2^52, the others 2^51: [`carried`] must follow.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn halved(l: &Limbs) -> Limbs {
    let round = _mm256_set1_pd(ROUND);
    let halves = l.map(|x| _mm256_mul_pd(x, _mm256_set1_pd(0.5)));
    let mut out = halves.map(|x| _mm256_sub_pd(_mm256_add_pd(x, round), round));
    let rest: [__m256d; 5] = core::array::from_fn(|i| _mm256_sub_pd(halves[i], out[i]));
    for i in 0..4 {
        out[i] = _mm256_fmadd_pd(rest[i + 1], _mm256_set1_pd(power(BITS)), out[i]);
    }
    // 1/2 = 2^255 - (R_MOD_P - 1) / 2 (mod p).
    out[4] = _mm256_fmadd_pd(rest[0], _mm256_set1_pd(power(BITS + 1)), out[4]);
    out[0] = _mm256_fmadd_pd(rest[0], _mm256_set1_pd(1.0 - R_MOD_P), out[0]);
    out
}

/// Converts four little-endian words of four lanes. The values must be below p.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn load(words: [&[u64; 4]; LANES / 2]) -> Limbs {
    let mut w = [_mm256_setzero_si256(); 4];
    for (i, w) in w.iter_mut().enumerate() {
        let [a, b, c, d] = words.map(|words| words[i].cast_signed());
        *w = _mm256_setr_epi64x(a, b, c, d);
    }
    let mask = splat_bits((1 << BITS) - 1);
    let or = |a, b| _mm256_and_si256(_mm256_or_si256(a, b), mask);
    let bits = [
        _mm256_and_si256(w[0], mask),
        or(_mm256_srli_epi64::<51>(w[0]), _mm256_slli_epi64::<13>(w[1])),
        or(_mm256_srli_epi64::<38>(w[1]), _mm256_slli_epi64::<26>(w[2])),
        or(_mm256_srli_epi64::<25>(w[2]), _mm256_slli_epi64::<39>(w[3])),
        _mm256_srli_epi64::<12>(w[3]),
    ];
    let mut limbs = [_mm256_setzero_pd(); 5];
    for (limb, bits) in limbs.iter_mut().zip(bits) {
        *limb = to_float(bits, 0.0);
    }
    carried(halved(&limbs))
}

/// Returns the limbs that have in lane l what `lanes[l]` has there.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn gather([a, b, c, d]: [&[[f64; 4]; 5]; LANES / 2]) -> Limbs {
    let mut limbs = [_mm256_setzero_pd(); 5];
    for (i, limb) in limbs.iter_mut().enumerate() {
        *limb = _mm256_setr_pd(a[i][0], b[i][1], c[i][2], d[i][3]);
    }
    limbs
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn bits_of(masks: [u64; LANES / 2]) -> __m256d {
    let [a, b, c, d] = masks.map(u64::cast_signed);
    _mm256_castsi256_pd(_mm256_setr_epi64x(a, b, c, d))
}

/// Changes the sign in the lanes whose mask is all ones.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn negate_where(limbs: &Limbs, masks: [u64; LANES / 2]) -> Limbs {
    let sign = _mm256_and_pd(bits_of(masks), _mm256_set1_pd(-0.0));
    let mut out = *limbs;
    for limb in &mut out {
        *limb = _mm256_xor_pd(*limb, sign);
    }
    out
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn select(masks: [u64; LANES / 2], yes: &Limbs, no: &Limbs) -> Limbs {
    let mask = bits_of(masks);
    let mut out = *no;
    for (out, yes) in out.iter_mut().zip(yes) {
        *out = _mm256_blendv_pd(*out, *yes, mask);
    }
    out
}

impl Element {
    /// Multiplies by 3 / 2.
    #[inline(always)]
    fn add_half(&mut self) {
        for limbs in &mut self.0 {
            // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
            *limbs = unsafe { sum(limbs, &halved(limbs)) };
        }
    }

    #[inline(always)]
    fn sub_assign(&mut self, other: &Self) {
        for (limbs, other) in self.0.iter_mut().zip(&other.0) {
            // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
            *limbs = unsafe { difference(limbs, other) };
        }
    }
}

/// Returns what a function of the kernel, called by `write`, writes to this address.
#[inline(always)]
fn written(write: impl FnOnce(*mut Element)) -> Element {
    let mut out = MaybeUninit::uninit();
    write(out.as_mut_ptr());
    // SAFETY: the functions of the kernel write a whole element.
    unsafe { out.assume_init() }
}

/// Returns the value with these limbs, below p.
fn words_of(limbs: [f64; 5]) -> [u64; 4] {
    // The value is below 2^257 in absolute value. Three rounds bring it to 0..2^256: the first may leave it negative by
    // a multiple of R_MOD_P, the second a negative limb 0.
    const MASK: i64 = (1 << BITS) - 1;
    // Not by `as`, which would compare with the range of the integers.
    // SAFETY: limbs are integers below 2^52.
    let mut l = limbs.map(|limb| 2 * unsafe { limb.to_int_unchecked::<i64>() });
    for _ in 0..3 {
        for i in 0..4 {
            l[i + 1] += l[i] >> BITS;
            l[i] &= MASK;
        }
        // 2^256 = R_MOD_P (mod p). Also if the shift, which rounds down, gives a negative number.
        l[0] += (l[4] >> (BITS + 1)) * R_MOD_P as i64;
        l[4] &= 2 * MASK + 1;
    }
    let l = l.map(i64::cast_unsigned);
    let words = [
        l[0] | l[1] << 51,
        l[1] >> 13 | l[2] << 38,
        l[2] >> 26 | l[3] << 25,
        l[3] >> 39 | l[4] << 12,
    ];
    // Below 2^256: subtract p at most once.
    let (mut difference, mut carry) = ([0; 4], R_MOD_P as u64);
    for (i, word) in difference.iter_mut().enumerate() {
        let over;
        (*word, over) = words[i].overflowing_add(carry);
        carry = u64::from(over);
    }
    let above = Mask::from_bit(carry);
    core::array::from_fn(|i| above.select(difference[i], words[i]))
}

impl LazyField for Element {
    const ZERO: Self = constant([0.0; 5]);
    const ONE: Self = constant([(1.0 - R_MOD_P) / 2.0, 0.0, 0.0, 0.0, power(BITS)]);

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        let ([a, b], [c, d]) = (&self.0, &other.0);
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        Self(unsafe { [sum(a, c), sum(b, d)] })
    }

    #[inline(always)]
    fn sub(&self, other: &Self, _: u32) -> Self {
        let ([a, b], [c, d]) = (&self.0, &other.0);
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        Self(unsafe { [difference(a, c), difference(b, d)] })
    }

    #[inline(always)]
    fn negate(&self, _: u32) -> Self {
        Self::ZERO.sub(self, 1)
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        // SAFETY: the dispatch has checked that the CPU has AVX2 and FMA; the addresses are those of elements.
        written(|out| unsafe { kernel::mul(out, self, other) })
    }

    #[inline(always)]
    fn square(&self) -> Self {
        // SAFETY: the dispatch has checked that the CPU has AVX2 and FMA; the addresses are those of elements.
        written(|out| unsafe { kernel::square(out, self) })
    }

    #[inline(always)]
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        let subtrahend = c.mul(d);
        // SAFETY: the dispatch has checked that the CPU has AVX2 and FMA; the addresses are those of elements.
        written(|out| unsafe { kernel::mul_sub(out, a, b, &subtrahend) })
    }

    #[inline(always)]
    fn product_minus_square(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        let (difference, subtrahend) = (b.sub(c, 1), d.square());
        // SAFETY: the dispatch has checked that the CPU has AVX2 and FMA; the addresses are those of elements.
        written(|out| unsafe { kernel::mul_sub(out, a, &difference, &subtrahend) })
    }

    #[inline(always)]
    fn half(&self) -> Self {
        let [a, b] = &self.0;
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        Self(unsafe { [carried(halved(a)), carried(halved(b))] })
    }

    /// The general formula with fewer carries, and without the copies of elements that functions return.
    #[inline(always)]
    fn double_point([x, y, z]: [&mut Self; 3]) -> bool {
        let [x, y, z] = [&raw mut *x, &raw mut *y, &raw mut *z];
        let mut places = [MaybeUninit::<Self>::uninit(); 4];
        let [yy, yyyy, e, d] = places.each_mut().map(MaybeUninit::as_mut_ptr);
        // SAFETY: the dispatch has checked that the CPU has AVX2 and FMA; the addresses are those of elements, which
        // are written before they are read, and no reference to them is in use.
        unsafe {
            kernel::square(yy, y);
            kernel::square(yyyy, yy);
            kernel::square(e, x);
            (*e).add_half();
            kernel::mul(d, x, yy);
            kernel::mul(z, y, z);
            kernel::square_minus_twice(x, e, d);
            (*d).sub_assign(&*x);
            kernel::mul_sub(y, e, d, yyyy);
        }
        true
    }

    /// The general formula with fewer carries, and without the copies of elements that functions return.
    #[inline(always)]
    fn add_point(
        [x, y, z]: [&mut Self; 3],
        [other_x, other_y]: [&Self; 2],
        other_z: Option<&Self>,
    ) -> Option<Self> {
        let [x, y, z] = [&raw mut *x, &raw mut *y, &raw mut *z];
        let other_z = other_z.map_or(z.cast_const(), |z| z);
        let mut places = [MaybeUninit::<Self>::uninit(); 8];
        let [zz, zzz, h, r, hh, hhh, v, yhhh] = places.each_mut().map(MaybeUninit::as_mut_ptr);
        // SAFETY: the dispatch has checked that the CPU has AVX2 and FMA; the addresses are those of elements, which
        // are written before they are read, and no reference to them is in use.
        unsafe {
            kernel::square(zz, other_z);
            kernel::mul(zzz, zz, other_z);
            kernel::mul_sub(h, other_x, zz, x);
            kernel::mul_sub(r, other_y, zzz, y);
            kernel::square(hh, h);
            kernel::mul(hhh, h, hh);
            kernel::mul(v, x, hh);
            kernel::mul(z, z, h);
            kernel::mul(yhhh, y, hhh);
            kernel::square_minus_twice(x, r, v);
            (*x).sub_assign(&*hhh);
            (*v).sub_assign(&*x);
            kernel::mul_sub(y, r, v, yhhh);
            Some(*h)
        }
    }

    fn invert(&self) -> Self {
        Self::load(
            &self
                .store(1)
                .map(|x| x.invert_vartime().normalize().to_words()),
        )
    }

    fn is_zero(&self) -> bool {
        self.store(1).iter().all(FieldElement::is_zero_vartime)
    }
}

impl FieldX8 for Element {
    #[inline(always)]
    fn load(words: &[[u64; 4]; LANES]) -> Self {
        let [a, b, c, d, e, f, g, h] = words;
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        Self(unsafe { [load([a, b, c, d]), load([e, f, g, h])] })
    }

    #[inline(always)]
    fn store(&self, _: u32) -> [FieldElement; LANES] {
        let limbs = self.lanes();
        core::array::from_fn(|lane| {
            FieldElement::from_words(words_of(limbs[lane / 4].map(|limb| limb[lane % 4])))
        })
    }

    #[inline(always)]
    fn square_times(&self, n: u32) -> Self {
        let mut power = *self;
        for _ in 0..n {
            let power = &raw mut power;
            // SAFETY: the dispatch has checked that the CPU has AVX2 and FMA; the addresses are those of elements.
            unsafe { kernel::square(power, power) };
        }
        power
    }

    #[inline(always)]
    fn gather(entries: [&Self; LANES]) -> Self {
        let [a, b, c, d, e, f, g, h] = entries.map(Self::lanes);
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        Self(unsafe {
            [
                gather([&a[0], &b[0], &c[0], &d[0]]),
                gather([&e[1], &f[1], &g[1], &h[1]]),
            ]
        })
    }

    #[inline(always)]
    fn negate_where(&self, [a, b, c, d, e, f, g, h]: [u64; LANES]) -> Self {
        let [first, second] = &self.0;
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        Self(unsafe {
            [
                negate_where(first, [a, b, c, d]),
                negate_where(second, [e, f, g, h]),
            ]
        })
    }

    #[inline(always)]
    fn select(&self, [a, b, c, d, e, f, g, h]: [u64; LANES], yes: &Self) -> Self {
        let (no, yes) = (&self.0, &yes.0);
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        Self(unsafe {
            [
                select([a, b, c, d], &yes[0], &no[0]),
                select([e, f, g, h], &yes[1], &no[1]),
            ]
        })
    }
}

/// Returns the element with these limbs in all lanes.
const fn constant(limbs: [f64; 5]) -> Element {
    let mut lanes = [[0.0; 4]; 5];
    let mut i = 0;
    while i < 5 {
        lanes[i] = [limbs[i]; 4];
        i += 1;
    }
    // SAFETY: a vector has the layout of an array of its lanes.
    Element(unsafe { core::mem::transmute::<Lanes, [Limbs; 2]>([lanes; 2]) })
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn sum(a: &Limbs, b: &Limbs) -> Limbs {
    let mut sum = *a;
    for (sum, b) in sum.iter_mut().zip(b) {
        *sum = _mm256_add_pd(*sum, *b);
    }
    carried(sum)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn difference(a: &Limbs, b: &Limbs) -> Limbs {
    let mut difference = *a;
    for (difference, b) in difference.iter_mut().zip(b) {
        *difference = _mm256_sub_pd(*difference, *b);
    }
    carried(difference)
}
