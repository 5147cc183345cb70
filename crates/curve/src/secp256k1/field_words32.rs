//! Products in the field of secp256k1 where the widest product of the machine has 64 bits: 32-bit targets and WebAssembly,
//! on which a product of 128 bits is a call of four and their carries.
//!
//! Elements stay five limbs of 52 bits (see [`super::field`]); each limb is split into two of 26 bits on the way in, so
//! that a column of the schoolbook product, ten products at most, fits 64 bits. Of an operand of magnitude 8 the upper
//! halves have 30 bits (the topmost 26), the lower ones 26: no column is above 5 (2^60 + 2^52) < 2^63. The columns are
//! folded with 2^260 = 0x1000003D10 (mod p) while they are summed: the method of libsecp256k1's `field_10x26`
//! [LIBSECP].
//!
//! Constant time.

/// 26 ones.
const M: u64 = (1 << 26) - 1;
/// 2^260 mod p in two limbs.
const FOLD: [u64; 2] = [0x3D10, 0x400];

type Limbs = [u64; 10];

#[inline(always)]
fn split(a: &[u64; 5]) -> Limbs {
    let [a, b, c, d, e] = *a;
    [
        a & M,
        a >> 26,
        b & M,
        b >> 26,
        c & M,
        c >> 26,
        d & M,
        d >> 26,
        e & M,
        e >> 26,
    ]
}

/// Column k of the product.
#[inline(always)]
fn column(a: &Limbs, b: &Limbs, k: usize) -> u64 {
    let mut sum = 0;
    let mut i = k.saturating_sub(9);
    while i <= k && i <= 9 {
        sum += a[i] * b[k - i];
        i += 1;
    }
    sum
}

/// Column k of the square.
#[inline(always)]
fn column_of_square(a: &Limbs, doubled: &Limbs, k: usize) -> u64 {
    let mut sum = 0;
    let mut i = k.saturating_sub(9);
    while 2 * i < k {
        sum += doubled[i] * a[k - i];
        i += 1;
    }
    if k.is_multiple_of(2) {
        sum += a[k / 2] * a[k / 2];
    }
    sum
}

/// Reduces 19 columns below 2^63 to magnitude 1: `high` walks columns 9 to 18 and `low` 0 to 8, each joined by what
/// `high` holds ten columns further up.
#[inline(always)]
fn reduce(c: impl Fn(usize) -> u64) -> [u64; 5] {
    let mut r = [0; 10];
    let mut high = c(9);
    let top = high & M;
    high >>= 26;
    let mut low = 0;
    macro_rules! fold {
        ($($k:literal)*) => {$(
            high += c($k + 10);
            let folded = high & M;
            high >>= 26;
            low += c($k) + folded * FOLD[0];
            r[$k] = low & M;
            low >>= 26;
            low += folded * FOLD[1];
        )*};
    }
    fold!(0 1 2 3 4 5 6 7 8);
    // Column 9: what is left of `high` is below 2^27.
    low += high * FOLD[0] + top;
    r[9] = low & (M >> 4);
    low >>= 22;
    low += high * (FOLD[1] << 4);
    // What is above 2^256 is below 2^43.
    let mut carry = r[0] + low * (FOLD[0] >> 4);
    r[0] = carry & M;
    carry >>= 26;
    carry += r[1] + low * (FOLD[1] >> 4);
    r[1] = carry & M;
    r[2] += carry >> 26;
    [
        r[0] | r[1] << 26,
        r[2] + (r[3] << 26),
        r[4] | r[5] << 26,
        r[6] | r[7] << 26,
        r[8] | r[9] << 26,
    ]
}

/// Product; both magnitudes at most 8.
pub(super) fn multiply(a: &[u64; 5], b: &[u64; 5]) -> [u64; 5] {
    let (a, b) = (split(a), split(b));
    reduce(|k| column(&a, &b, k))
}

/// Square; magnitude at most 8.
pub(super) fn square(a: &[u64; 5]) -> [u64; 5] {
    let a = split(a);
    let doubled = a.map(|limb| limb * 2);
    reduce(|k| column_of_square(&a, &doubled, k))
}

/// `a b + c d`; the products of the magnitudes add up to at most 64.
pub(super) fn sum_of_products(a: &[u64; 5], b: &[u64; 5], c: &[u64; 5], d: &[u64; 5]) -> [u64; 5] {
    let (a, b, c, d) = (split(a), split(b), split(c), split(d));
    reduce(|k| column(&a, &b, k) + column(&c, &d, k))
}

/// `a b + c^2`; the products of the magnitudes add up to at most 64.
pub(super) fn product_plus_square(a: &[u64; 5], b: &[u64; 5], c: &[u64; 5]) -> [u64; 5] {
    let (a, b, c) = (split(a), split(b), split(c));
    let doubled = c.map(|limb| limb * 2);
    reduce(|k| column(&a, &b, k) + column_of_square(&c, &doubled, k))
}
