//! ECDSA over secp256r1 (P-256): verification, as the EVM's precompile 0x100 and passkeys need it. Variable-time: the
//! inputs are public.
//!
//! Source: \[SEC1\] §4.1.4, \[SEC2\] §2.4.2 (parameters), \[HMV04\] algorithm 3.51 (interleaving).

#[cfg(test)]
mod tests;

use core::fmt;

#[cfg(target_arch = "x86_64")]
use crate::{cpu, montgomery::Adx};
use crate::{
    field::Field,
    group::{Affine, Curve, Jacobian, wnaf},
    montgomery::{Element, Kernel, Modulus, Portable},
};

/// Why a signature is not accepted.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// r or s is 0 or not below the order n.
    SignatureOutOfRange,
    /// A coordinate of the public key is not below the field prime.
    CoordinateOutOfRange,
    /// The public key is not a point of the curve, or infinity.
    NotOnCurve,
    /// The signature is well-formed but not one of this key for this hash.
    Mismatch,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SignatureOutOfRange => "secp256r1: r or s is not in [1, n - 1]",
            Self::CoordinateOutOfRange => {
                "secp256r1: public key coordinate is not below the field prime"
            }
            Self::NotOnCurve => "secp256r1: public key is not on the curve",
            Self::Mismatch => "secp256r1: signature does not belong to this key and hash",
        })
    }
}

impl core::error::Error for Error {}

/// The field prime.
#[derive(Clone, Copy)]
struct P;

impl Modulus for P {
    const P: [u64; 4] = [u64::MAX, 0xffff_ffff, 0, 0xffff_ffff_0000_0001];
}

/// The order of the group.
#[derive(Clone, Copy)]
struct N;

impl Modulus for N {
    const P: [u64; 4] = [
        0xf3b9_cac2_fc63_2551,
        0xbce6_faad_a717_9e84,
        u64::MAX,
        0xffff_ffff_0000_0000,
    ];
}

#[derive(Clone, Copy)]
struct Secp256r1<K>(core::marker::PhantomData<K>);

impl<K: Kernel> Curve for Secp256r1<K> {
    type Field = Element<P, K>;
    const A_IS_MINUS_3: bool = true;

    fn b() -> Element<P, K> {
        const {
            Element::constant([
                0x3bce_3c3e_27d2_604b,
                0x651d_06b0_cc53_b0f6,
                0xb3eb_bd55_7698_86bc,
                0x5ac6_35d8_aa3a_93e7,
            ])
        }
    }
}

/// Odd multiples 1, 3, 5, ... of the generator: x, y in Montgomery form, 32 little-endian bytes each.
/// Written by `examples/generate_tables.rs`.
static GENERATOR: &[[u8; 64]] = include_bytes!("generator.bin").as_chunks().0;
const GENERATOR_WINDOW: u32 = 8;
/// Entries of the table of odd multiples of the public key: window 5.
const KEY_ENTRIES: usize = 8;
const KEY_WINDOW: u32 = 5;
/// Digits of a scalar.
const DIGITS: usize = 257;

fn generator_multiple<K: Kernel>(index: usize) -> Affine<Secp256r1<K>> {
    let words = GENERATOR[index].as_chunks::<8>().0;
    let element = |from: usize| {
        Element::from_montgomery(core::array::from_fn(|i| {
            u64::from_le_bytes(words[from + i])
        }))
    };
    Affine {
        x: element(0),
        y: element(4),
    }
}

/// `P, 3 P, 5 P, ...`, with one inversion. The order is a large prime, so none is infinity.
fn odd_multiples<K: Kernel>(p: &Affine<Secp256r1<K>>) -> [Affine<Secp256r1<K>>; KEY_ENTRIES] {
    let mut sums = [Jacobian::from(*p); KEY_ENTRIES];
    let double = sums[0].double();
    for i in 1..KEY_ENTRIES {
        sums[i] = sums[i - 1].add(&double);
    }
    let mut before = [Element::ONE; KEY_ENTRIES];
    let mut product = Element::ONE;
    for (before, sum) in before.iter_mut().zip(&sums) {
        *before = product;
        product = product.mul(&sum.z);
    }
    let mut inverse = product.invert();
    let mut table = [*p; KEY_ENTRIES];
    for i in (0..KEY_ENTRIES).rev() {
        let z_inverse = inverse.mul(&before[i]);
        inverse = inverse.mul(&sums[i].z);
        let square = z_inverse.square();
        table[i] = Affine {
            x: sums[i].x.mul(&square),
            y: sums[i].y.mul(&square.mul(&z_inverse)),
        };
    }
    table
}

/// `a G + b P`.
fn multiply_add<K: Kernel>(
    a: &[u64; 4],
    b: &[u64; 4],
    p: &Affine<Secp256r1<K>>,
) -> Jacobian<Secp256r1<K>> {
    let table = odd_multiples(p);
    let (a, length_a) = wnaf::<DIGITS>(a, GENERATOR_WINDOW);
    let (b, length_b) = wnaf::<DIGITS>(b, KEY_WINDOW);
    let mut sum = Jacobian::INFINITY;
    for i in (0..length_a.max(length_b)).rev() {
        sum = sum.double();
        let index = |digit: i16| usize::from(digit.unsigned_abs() / 2);
        if b[i] != 0 {
            sum = sum.add_affine(&table[index(b[i])].negate_if(b[i] < 0));
        }
        if a[i] != 0 {
            sum = sum.add_affine(&generator_multiple(index(a[i])).negate_if(a[i] < 0));
        }
    }
    sum
}

fn verify_with<K: Kernel>(
    public_key: &[u8; 64],
    hash: &[u8; 32],
    r: &[u8; 32],
    s: &[u8; 32],
) -> Result<(), Error> {
    let nonzero = |bytes| {
        Element::<N, K>::from_bytes(bytes)
            .filter(|scalar| !scalar.is_zero())
            .ok_or(Error::SignatureOutOfRange)
    };
    let (r_scalar, s) = (nonzero(r)?, nonzero(s)?);
    let coordinates = public_key.as_chunks::<32>().0;
    let [x, y] = [0, 1].map(|i| Element::from_bytes(&coordinates[i]));
    let key = Affine::<Secp256r1<K>> {
        x: x.ok_or(Error::CoordinateOutOfRange)?,
        y: y.ok_or(Error::CoordinateOutOfRange)?,
    };
    // The curve has no point with x = 0 and y = 0, so that infinity is refused too.
    if !key.is_on_curve() {
        return Err(Error::NotOnCurve);
    }
    let s_inverse = s.invert();
    let u1 = Element::<N, K>::from_bytes_reduced(hash).mul(&s_inverse);
    let u2 = r_scalar.mul(&s_inverse);
    let sum = multiply_add(&u1.to_words(), &u2.to_words(), &key);
    if sum.is_infinity() {
        return Err(Error::Mismatch);
    }
    // X / Z^2 = r or r + n, without the division.
    let zz = sum.z.square();
    let has_x = |x: Option<Element<P, K>>| x.is_some_and(|x| x.mul(&zz) == sum.x);
    if has_x(Element::from_bytes(r)) || has_x(beyond_order(r)) {
        Ok(())
    } else {
        Err(Error::Mismatch)
    }
}

/// `r + n` if that is below p.
fn beyond_order<K: Kernel>(r: &[u8; 32]) -> Option<Element<P, K>> {
    let (mut words, mut carry) = (crate::words_from_be(r), false);
    for (word, n) in words.iter_mut().zip(N::P) {
        let (sum, first) = word.overflowing_add(n);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        (*word, carry) = (sum, first | second);
    }
    (!carry).then(|| Element::from_bytes(&crate::words_to_be(&words)))?
}

/// Verifies the signature (r, s) on a 32-byte hash by the public key x || y; all big-endian. s may be high.
///
/// # Errors
/// [`Error::SignatureOutOfRange`], [`Error::CoordinateOutOfRange`], [`Error::NotOnCurve`] or [`Error::Mismatch`].
pub fn verify(
    public_key: &[u8; 64],
    hash: &[u8; 32],
    r: &[u8; 32],
    s: &[u8; 32],
) -> Result<(), Error> {
    #[cfg(target_arch = "x86_64")]
    if cpu::has_adx() {
        return verify_with::<Adx>(public_key, hash, r, s);
    }
    verify_with::<Portable>(public_key, hash, r, s)
}
