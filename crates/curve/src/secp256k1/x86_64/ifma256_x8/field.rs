//! Field elements in eight lanes.
//!
//! Layout: five limbs of 52 bits, least significant first, as in `avx512ifma_x8`, with the same bounds. Limbs are
//! strict, that is, below 2^52, and sums carry immediately. AVX2 has no arithmetic shift of 64-bit lanes, so no limb is
//! ever negative: differences add a multiple of p that exceeds the subtrahend limb by limb.
//!
//! An element of magnitude m ([`LazyField`]) is below m (2^256 + 2^73). `docs/internals/eight-lane-field.md` derives the
//! bounds.

use core::arch::{asm, x86_64::*};

use super::super::{
    super::field::{FieldElement, P},
    field_x8::FieldX8,
};
use crate::{
    field::LazyField,
    lanes::{LANES, LIMB_MASK, limbs},
};

/// 2^256 mod p.
const R_MOD_P: i64 = 0x1_0000_03d1;
/// The bits of the top limb below 2^256.
const TOP_MASK: i64 = (1 << 48) - 1;
/// The limbs of p.
const MODULUS: [i64; 5] = limbs(&P);

/// The limbs of four elements.
type Limbs = [__m256i; 5];
/// The columns of a product of four elements: column k has the weight 2^(52 k).
type Columns = [__m256i; 10];

/// Eight field elements, one per lane. Only the dispatch uses this type, after checking that the CPU has AVX2, and the
/// multiplier in the form `VEX`.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Element<const VEX: bool>([Limbs; 2]);

/// The limbs of an element: `[lane / 4][limb][lane % 4]`.
pub(super) type Lanes = [[[u64; 4]; 5]; 2];

#[inline]
#[target_feature(enable = "avx2")]
fn splat(x: i64) -> __m256i {
    _mm256_set1_epi64x(x)
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(a: __m256i, b: __m256i) -> __m256i {
    _mm256_add_epi64(a, b)
}

/// Adds the product of the lower 52 bits of two factors to `sum`: its lower 52 bits, or with `HIGH` those above.
///
/// Assembly, because only it can require the form: the compiler would use the one of AVX-512 wherever that is enabled.
#[inline]
#[target_feature(enable = "avx2")]
fn multiply<const VEX: bool, const HIGH: bool>(sum: &mut __m256i, a: __m256i, b: __m256i) {
    macro_rules! instruction {
        ($form:literal, $name:literal) => {
            asm!(
                concat!("{{", $form, "}} ", $name, " {0}, {1}, {2}"),
                inout(ymm_reg) *sum,
                in(ymm_reg) a,
                in(ymm_reg) b,
                options(pure, nomem, nostack, preserves_flags)
            )
        };
    }
    // SAFETY: the dispatch has checked that the CPU has the instruction. It reads and writes only registers.
    unsafe {
        match (VEX, HIGH) {
            (true, false) => instruction!("vex", "vpmadd52luq"),
            (true, true) => instruction!("vex", "vpmadd52huq"),
            (false, false) => instruction!("evex", "vpmadd52luq"),
            (false, true) => instruction!("evex", "vpmadd52huq"),
        }
    }
}

/// Carries limbs below 2^63. The value must be below 2^260.
#[inline]
#[target_feature(enable = "avx2")]
fn carried(mut limbs: Limbs) -> Limbs {
    for i in 0..4 {
        limbs[i + 1] = add(limbs[i + 1], _mm256_srli_epi64::<52>(limbs[i]));
        limbs[i] = _mm256_and_si256(limbs[i], splat(LIMB_MASK));
    }
    limbs
}

/// Column K of the product: at most `9 (2^52 - 1)`. With `SQUARE`, only the products of two different limbs, each once.
#[inline]
#[target_feature(enable = "avx2")]
fn column<const VEX: bool, const SQUARE: bool, const K: usize>(a: &Limbs, b: &Limbs) -> __m256i {
    let mut sums = [_mm256_setzero_si256(); 2];
    for i in 0..5 {
        if i <= K && K - i < 5 && (!SQUARE || 2 * i < K) {
            multiply::<VEX, false>(&mut sums[0], a[i], b[K - i]);
        }
        if i < K && K - i <= 5 && (!SQUARE || 2 * i + 1 < K) {
            multiply::<VEX, true>(&mut sums[1], a[i], b[K - 1 - i]);
        }
    }
    add(sums[0], sums[1])
}

#[inline]
#[target_feature(enable = "avx2")]
fn columns<const VEX: bool, const SQUARE: bool>(a: &Limbs, b: &Limbs) -> Columns {
    [
        column::<VEX, SQUARE, 0>(a, b),
        column::<VEX, SQUARE, 1>(a, b),
        column::<VEX, SQUARE, 2>(a, b),
        column::<VEX, SQUARE, 3>(a, b),
        column::<VEX, SQUARE, 4>(a, b),
        column::<VEX, SQUARE, 5>(a, b),
        column::<VEX, SQUARE, 6>(a, b),
        column::<VEX, SQUARE, 7>(a, b),
        column::<VEX, SQUARE, 8>(a, b),
        column::<VEX, SQUARE, 9>(a, b),
    ]
}

/// The columns of a square.
#[inline]
#[target_feature(enable = "avx2")]
fn square_columns<const VEX: bool>(a: &Limbs) -> Columns {
    let mut t = columns::<VEX, true>(a, a);
    for column in &mut t {
        *column = add(*column, *column);
    }
    for i in 0..5 {
        multiply::<VEX, false>(&mut t[2 * i], a[i], a[i]);
        multiply::<VEX, true>(&mut t[2 * i + 1], a[i], a[i]);
    }
    t
}

/// Reduces ten columns, each below 2^59, modulo p, to magnitude 1. The value must be below 2^520.
#[inline]
#[target_feature(enable = "avx2")]
fn fold<const VEX: bool>(mut t: Columns) -> Limbs {
    let mask = splat(LIMB_MASK);
    // The limbs of the upper half must be strict before they are multiplied, so the lower half's carry is added first.
    for i in 4..9 {
        t[i + 1] = add(t[i + 1], _mm256_srli_epi64::<52>(t[i]));
        t[i] = _mm256_and_si256(t[i], mask);
    }
    // 2^260 = 16 * R_MOD_P (mod p).
    let factor = splat(16 * R_MOD_P);
    let mut out = [t[0], t[1], t[2], t[3], t[4]];
    let mut carry = _mm256_setzero_si256();
    for i in 0..5 {
        out[i] = add(out[i], carry);
        multiply::<VEX, false>(&mut out[i], t[5 + i], factor);
        carry = _mm256_setzero_si256();
        multiply::<VEX, true>(&mut carry, t[5 + i], factor);
    }
    for i in 0..4 {
        out[i + 1] = add(out[i + 1], _mm256_srli_epi64::<52>(out[i]));
        out[i] = _mm256_and_si256(out[i], mask);
    }
    // Fold the part above 2^256: the top limb keeps 48 bits.
    let above = add(
        _mm256_srli_epi64::<48>(out[4]),
        _mm256_slli_epi64::<4>(carry),
    );
    out[4] = _mm256_and_si256(out[4], splat(TOP_MASK));
    multiply::<VEX, false>(&mut out[0], above, splat(R_MOD_P));
    multiply::<VEX, true>(&mut out[1], above, splat(R_MOD_P));
    carried(out)
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn mul<const VEX: bool>(a: &Element<VEX>, b: &Element<VEX>) -> Element<VEX> {
    let ([a0, a1], [b0, b1]) = (&a.0, &b.0);
    let (first, second) = (columns::<VEX, false>(a0, b0), columns::<VEX, false>(a1, b1));
    // The CPU computes both reductions, which are long chains, at the same time.
    Element([fold::<VEX>(first), fold::<VEX>(second)])
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn square<const VEX: bool>(a: &Element<VEX>) -> Element<VEX> {
    let [first, second] = [
        square_columns::<VEX>(&a.0[0]),
        square_columns::<VEX>(&a.0[1]),
    ];
    Element([fold::<VEX>(first), fold::<VEX>(second)])
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum(a: &Limbs, b: &Limbs) -> Limbs {
    let mut sum = *a;
    for (sum, b) in sum.iter_mut().zip(b) {
        *sum = add(*sum, *b);
    }
    carried(sum)
}

/// `a - b + K p`, where K is above the magnitude of b, and at least 2. So every limb of `K p` is above that of b.
#[inline]
#[target_feature(enable = "avx2")]
fn difference(a: &Limbs, b: &Limbs, k: i64) -> Limbs {
    let mut difference = *a;
    for i in 0..5 {
        difference[i] = _mm256_sub_epi64(add(a[i], splat(k * MODULUS[i])), b[i]);
    }
    carried(difference)
}

#[inline]
#[target_feature(enable = "avx2")]
fn half(limbs: &Limbs) -> Limbs {
    // Adds p to odd values, then shifts.
    let odd = _mm256_sub_epi64(splat(0), _mm256_and_si256(limbs[0], splat(1)));
    let mut even = *limbs;
    for (limb, p) in even.iter_mut().zip(MODULUS) {
        *limb = add(*limb, _mm256_and_si256(odd, splat(p)));
    }
    let mut half = carried(even);
    for i in 0..5 {
        let above = half.get(i + 1).copied().unwrap_or(splat(0));
        half[i] = add(
            _mm256_srli_epi64::<1>(half[i]),
            _mm256_slli_epi64::<51>(_mm256_and_si256(above, splat(1))),
        );
    }
    half
}

#[inline]
#[target_feature(enable = "avx2")]
fn select(masks: [u64; LANES / 2], yes: &Limbs, no: &Limbs) -> Limbs {
    let [a, b, c, d] = masks.map(u64::cast_signed);
    let mask = _mm256_setr_epi64x(a, b, c, d);
    let mut out = *no;
    for (out, yes) in out.iter_mut().zip(yes) {
        *out = _mm256_blendv_epi8(*out, *yes, mask);
    }
    out
}

/// Converts four words of four lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn load(words: [&[u64; 4]; LANES / 2]) -> Limbs {
    let mut w = [splat(0); 4];
    for (i, w) in w.iter_mut().enumerate() {
        let [a, b, c, d] = words.map(|words| words[i].cast_signed());
        *w = _mm256_setr_epi64x(a, b, c, d);
    }
    let mask = splat(LIMB_MASK);
    let or = |a, b| _mm256_and_si256(_mm256_or_si256(a, b), mask);
    [
        _mm256_and_si256(w[0], mask),
        or(_mm256_srli_epi64::<52>(w[0]), _mm256_slli_epi64::<12>(w[1])),
        or(_mm256_srli_epi64::<40>(w[1]), _mm256_slli_epi64::<24>(w[2])),
        or(_mm256_srli_epi64::<28>(w[2]), _mm256_slli_epi64::<36>(w[3])),
        _mm256_srli_epi64::<16>(w[3]),
    ]
}

/// Returns the limbs that have in lane l what `lanes[l]` has there.
#[inline]
#[target_feature(enable = "avx2")]
fn gather(lanes: [&[[u64; 4]; 5]; LANES / 2]) -> Limbs {
    let mut limbs = [splat(0); 5];
    for (i, limb) in limbs.iter_mut().enumerate() {
        let [a, b, c, d] = lanes;
        *limb = _mm256_setr_epi64x(
            a[i][0].cast_signed(),
            b[i][1].cast_signed(),
            c[i][2].cast_signed(),
            d[i][3].cast_signed(),
        );
    }
    limbs
}

impl<const VEX: bool> Element<VEX> {
    /// Returns the limbs of all lanes.
    #[inline(always)]
    pub(super) fn lanes(&self) -> &Lanes {
        // SAFETY: a vector has the layout of an array of its lanes, at a stricter alignment.
        unsafe { &*(&raw const self.0).cast::<Lanes>() }
    }

    #[cfg(test)]
    pub(super) fn from_lanes(lanes: Lanes) -> Self {
        // SAFETY: a vector has the layout of an array of its lanes.
        Self(unsafe { core::mem::transmute::<Lanes, [Limbs; 2]>(lanes) })
    }
}

impl<const VEX: bool> LazyField for Element<VEX> {
    const ZERO: Self = constant([0; 5]);
    const ONE: Self = constant([1, 0, 0, 0, 0]);

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        let ([a, b], [c, d]) = (&self.0, &other.0);
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2.
        Self(unsafe { [sum(a, c), sum(b, d)] })
    }

    #[inline(always)]
    fn sub(&self, other: &Self, magnitude: u32) -> Self {
        let k = i64::from(magnitude + 1);
        let ([a, b], [c, d]) = (&self.0, &other.0);
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2.
        Self(unsafe { [difference(a, c, k), difference(b, d, k)] })
    }

    #[inline(always)]
    fn negate(&self, magnitude: u32) -> Self {
        Self::ZERO.sub(self, magnitude)
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and the multiplier.
        unsafe { mul(self, other) }
    }

    #[inline(always)]
    fn square(&self) -> Self {
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and the multiplier.
        unsafe { square(self) }
    }

    #[inline(always)]
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and the multiplier.
        unsafe { difference_of_products(a, b, c, d) }
    }

    #[inline(always)]
    fn product_minus_square(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        Self::difference_of_products(a, &b.sub(c, 7), d, d)
    }

    #[inline(always)]
    fn half(&self) -> Self {
        let [a, b] = &self.0;
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2.
        Self(unsafe { [half(a), half(b)] })
    }

    fn invert(&self) -> Self {
        Self::load(
            &self
                .store(8)
                .map(|x| x.invert_vartime().normalize().to_words()),
        )
    }

    fn is_zero(&self) -> bool {
        self.store(8).iter().all(FieldElement::is_zero_vartime)
    }
}

/// `4 p 2^260`, which exceeds every product of magnitudes up to 63, in columns that each exceed those of a product.
const COLUMNS: [i64; 10] = {
    let mut columns = [0; 10];
    let mut k = 0;
    while k < 10 {
        if k >= 5 {
            columns[k] = 4 * MODULUS[k - 5];
        }
        if k < 9 {
            columns[k] += 1 << 57;
        }
        if k > 0 {
            columns[k] -= 1 << 5;
        }
        k += 1;
    }
    columns
};

/// The columns of `a b - c d`, plus [`COLUMNS`].
#[inline]
#[target_feature(enable = "avx2")]
fn difference_columns<const VEX: bool>(a: &Limbs, b: &Limbs, c: &Limbs, d: &Limbs) -> Columns {
    let mut t = columns::<VEX, false>(a, b);
    let minus = columns::<VEX, false>(c, d);
    for k in 0..10 {
        t[k] = _mm256_sub_epi64(add(t[k], splat(COLUMNS[k])), minus[k]);
    }
    t
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn difference_of_products<const VEX: bool>(
    a: &Element<VEX>,
    b: &Element<VEX>,
    c: &Element<VEX>,
    d: &Element<VEX>,
) -> Element<VEX> {
    let first = difference_columns::<VEX>(&a.0[0], &b.0[0], &c.0[0], &d.0[0]);
    let second = difference_columns::<VEX>(&a.0[1], &b.0[1], &c.0[1], &d.0[1]);
    Element([fold::<VEX>(first), fold::<VEX>(second)])
}

impl<const VEX: bool> FieldX8 for Element<VEX> {
    #[inline(always)]
    fn load(words: &[[u64; 4]; LANES]) -> Self {
        let [a, b, c, d, e, f, g, h] = words;
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2.
        Self(unsafe { [load([a, b, c, d]), load([e, f, g, h])] })
    }

    #[inline(always)]
    fn store(&self, magnitude: u32) -> [FieldElement; LANES] {
        let limbs = self.lanes();
        core::array::from_fn(|lane| {
            FieldElement::with_magnitude(limbs[lane / 4].map(|limb| limb[lane % 4]), magnitude)
        })
    }

    #[inline(always)]
    fn gather(entries: [&Self; LANES]) -> Self {
        let [a, b, c, d, e, f, g, h] = entries.map(Self::lanes);
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2.
        Self(unsafe {
            [
                gather([&a[0], &b[0], &c[0], &d[0]]),
                gather([&e[1], &f[1], &g[1], &h[1]]),
            ]
        })
    }

    #[inline(always)]
    fn negate_where(&self, masks: [u64; LANES]) -> Self {
        self.select(masks, &self.negate(3))
    }

    #[inline(always)]
    fn select(&self, [a, b, c, d, e, f, g, h]: [u64; LANES], yes: &Self) -> Self {
        let (no, yes) = (&self.0, &yes.0);
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2.
        Self(unsafe {
            [
                select([a, b, c, d], &yes[0], &no[0]),
                select([e, f, g, h], &yes[1], &no[1]),
            ]
        })
    }
}

/// Returns the element with these limbs in all lanes.
const fn constant<const VEX: bool>(limbs: [u64; 5]) -> Element<VEX> {
    let mut lanes = [[0; 4]; 5];
    let mut i = 0;
    while i < 5 {
        lanes[i] = [limbs[i]; 4];
        i += 1;
    }
    // SAFETY: a vector has the layout of an array of its lanes.
    Element(unsafe { core::mem::transmute::<Lanes, [Limbs; 2]>([lanes; 2]) })
}
