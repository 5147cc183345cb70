//! Modular inversion with the divsteps of Bernstein and Yang. Constant-time; see [`lehmer`](crate::lehmer) for public
//! numbers.
//!
//! Numbers have five signed 62-bit limbs. A batch runs 59 divsteps on the low words of f and g only and collects them as
//! a 2x2 matrix scaled by 2^62. It then applies the matrix to the full f and g, and, modulo the modulus, to the
//! coefficients d and e.
//!
//! Source: [BY19] §§8-11 (divsteps, transition matrices); the half-delta variant (start at delta = 1/2), for which 590
//! divsteps suffice for 256-bit inputs, and the signed62 layout with its bounds come from libsecp256k1's
//! `doc/safegcd_implementation.md` [LIBSECP-GCD].
//!
//! Invariants: f, g, d, e are in (-2 m, m) between batches, for the modulus m; limbs 0 to 3 are in [0, 2^62), limb 4 is
//! signed.

use crate::words;

/// The low 62 bits set.
const M62: u64 = u64::MAX >> 2;

/// A number in signed 62-bit limbs: `sum limbs[i] * 2^(62 i)`.
pub(crate) type Signed62 = [i64; 5];

/// An odd modulus of at most 256 bits.
pub(crate) struct Modulus {
    pub(crate) value: Signed62,
    /// `value^-1 mod 2^62`.
    pub(crate) inverse: u64,
}

/// The product of a batch of divsteps, scaled by 2^62: `(f, g) <- ((u f + v g), (q f + r g)) / 2^62`.
#[derive(Clone, Copy)]
struct Transition {
    u: i64,
    v: i64,
    q: i64,
    r: i64,
}

/// Converts four words, least significant first.
#[inline(always)]
pub(crate) const fn to_signed62(w: &[u64; 4]) -> Signed62 {
    [
        (w[0] & M62) as i64,
        ((w[0] >> 62 | w[1] << 2) & M62) as i64,
        ((w[1] >> 60 | w[2] << 4) & M62) as i64,
        ((w[2] >> 58 | w[3] << 6) & M62) as i64,
        (w[3] >> 56) as i64,
    ]
}

/// Converts a number in [0, 2^256) to four words, least significant first.
#[inline(always)]
pub(crate) fn from_signed62(s: &Signed62) -> [u64; 4] {
    let s = s.map(|limb| limb as u64);
    [
        s[0] | s[1] << 62,
        s[1] >> 2 | s[2] << 60,
        s[2] >> 4 | s[3] << 58,
        s[3] >> 6 | s[4] << 56,
    ]
}

/// Runs 59 divsteps on the low words, without branches. `zeta` is -(delta + 1/2).
#[inline(always)]
fn divsteps(mut zeta: i64, f0: u64, g0: u64) -> (i64, Transition) {
    // The matrix starts as 8 times the identity; 59 doublings bring the scale to 2^62.
    let (mut u, mut v, mut q, mut r) = (8u64, 0u64, 0u64, 8u64);
    let (mut f, mut g) = (f0, g0);
    for _ in 0..59 {
        // Masks: delta > 0 (zeta negative), and g odd.
        let positive = sign_mask(zeta) as u64;
        let odd = core::hint::black_box((g & 1).wrapping_neg());
        // g <- g -/+ f if g is odd.
        g = g.wrapping_add(((f ^ positive).wrapping_sub(positive)) & odd);
        q = q.wrapping_add(((u ^ positive).wrapping_sub(positive)) & odd);
        r = r.wrapping_add(((v ^ positive).wrapping_sub(positive)) & odd);
        // If both: delta <- 1 - delta and f <- old g (the new g plus f). Otherwise delta <- 1 + delta.
        let swap = positive & odd;
        zeta = (zeta ^ swap as i64).wrapping_sub(1);
        f = f.wrapping_add(g & swap);
        u = u.wrapping_add(q & swap);
        v = v.wrapping_add(r & swap);
        g >>= 1;
        u <<= 1;
        v <<= 1;
    }
    let [u, v, q, r] = [u, v, q, r].map(|word| word as i64);
    (zeta, Transition { u, v, q, r })
}

/// All ones if negative, else zero; opaque to the optimiser.
#[inline(always)]
fn sign_mask(a: i64) -> i64 {
    core::hint::black_box(a >> 63)
}

/// `(f, g) <- t (f, g) / 2^62`.
#[inline(always)]
fn update_fg(f: &mut Signed62, g: &mut Signed62, t: &Transition) {
    let mut cf = words::signed_product(t.u, f[0]) + words::signed_product(t.v, g[0]);
    let mut cg = words::signed_product(t.q, f[0]) + words::signed_product(t.r, g[0]);
    // The low 62 bits are zero by construction.
    cf >>= 62;
    cg >>= 62;
    for i in 1..5 {
        cf += words::signed_product(t.u, f[i]) + words::signed_product(t.v, g[i]);
        cg += words::signed_product(t.q, f[i]) + words::signed_product(t.r, g[i]);
        f[i - 1] = (cf as u64 & M62) as i64;
        g[i - 1] = (cg as u64 & M62) as i64;
        cf >>= 62;
        cg >>= 62;
    }
    f[4] = cf as i64;
    g[4] = cg as i64;
}

/// `(d, e) <- t (d, e) / 2^62` modulo the modulus, keeping both in (-2 m, m).
#[inline(always)]
fn update_de(d: &mut Signed62, e: &mut Signed62, t: &Transition, modulus: &Modulus) {
    let m = &modulus.value;
    // Add the modulus once if d (e) is negative, and the multiple that clears the low 62 bits.
    let (sd, se) = (sign_mask(d[4]), sign_mask(e[4]));
    let mut md = (t.u & sd) + (t.v & se);
    let mut me = (t.q & sd) + (t.r & se);
    let mut cd = words::signed_product(t.u, d[0]) + words::signed_product(t.v, e[0]);
    let mut ce = words::signed_product(t.q, d[0]) + words::signed_product(t.r, e[0]);
    md -= (modulus
        .inverse
        .wrapping_mul(cd as u64)
        .wrapping_add(md as u64)
        & M62) as i64;
    me -= (modulus
        .inverse
        .wrapping_mul(ce as u64)
        .wrapping_add(me as u64)
        & M62) as i64;
    cd += words::signed_product(m[0], md);
    ce += words::signed_product(m[0], me);
    cd >>= 62;
    ce >>= 62;
    for i in 1..5 {
        cd += words::signed_product(t.u, d[i])
            + words::signed_product(t.v, e[i])
            + words::signed_product(m[i], md);
        ce += words::signed_product(t.q, d[i])
            + words::signed_product(t.r, e[i])
            + words::signed_product(m[i], me);
        d[i - 1] = (cd as u64 & M62) as i64;
        e[i - 1] = (ce as u64 & M62) as i64;
        cd >>= 62;
        ce >>= 62;
    }
    d[4] = cd as i64;
    e[4] = ce as i64;
}

/// Brings d from (-2 m, m) to [0, m), negating it first if `sign` is negative.
#[inline(always)]
fn finish(d: &Signed62, sign: i64, modulus: &Modulus) -> Signed62 {
    let m = &modulus.value;
    let mut r = *d;
    let add = sign_mask(r[4]);
    let negate = sign_mask(sign);
    for i in 0..5 {
        r[i] = ((r[i] + (m[i] & add)) ^ negate) - negate;
    }
    carry(&mut r);
    let add = sign_mask(r[4]);
    for i in 0..5 {
        r[i] += m[i] & add;
    }
    carry(&mut r);
    r
}

#[inline(always)]
fn carry(r: &mut Signed62) {
    for i in 0..4 {
        r[i + 1] += r[i] >> 62;
        r[i] &= M62 as i64;
    }
}

/// Computes `x^-1` modulo the modulus for x in [0, modulus); 0 for x = 0. Constant-time.
pub(crate) fn invert(x: &Signed62, modulus: &Modulus) -> Signed62 {
    let (mut d, mut e) = ([0; 5], [1, 0, 0, 0, 0]);
    let (mut f, mut g) = (modulus.value, *x);
    let mut zeta = -1;
    for _ in 0..10 {
        let (next, t) = divsteps(zeta, f[0] as u64, g[0] as u64);
        zeta = next;
        update_de(&mut d, &mut e, &t, modulus);
        update_fg(&mut f, &mut g, &t);
    }
    // g is 0, f is +-1 (or +-modulus for x = 0), and d is f / x.
    finish(&d, f[4], modulus)
}
