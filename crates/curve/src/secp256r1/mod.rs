//! ECDSA over secp256r1 (P-256): verification, for the EVM's precompile 0x100 and for passkeys. Variable-time: the
//! inputs are public.
//!
//! Source: \[SEC1\] §4.1.4, \[SEC2\] §2.4.2 (parameters), \[HMV04\] algorithm 3.51 (interleaving).

#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use core::fmt;

use crate::{
    field::Field,
    group::{Affine, Curve, Jacobian, interleave, odd_multiples, wnaf},
    montgomery::{Element, Kernel, Modulus, Portable},
    words,
};
#[cfg(target_arch = "x86_64")]
use lydite_hash::cpu::Adx;

/// The reason why a signature is rejected.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// r or s is 0, or not below the order n.
    SignatureOutOfRange,
    /// A coordinate of the public key is not below the field prime.
    CoordinateOutOfRange,
    /// The public key is not on the curve, or is infinity.
    NotOnCurve,
    /// The signature is well-formed but not valid for this key and hash.
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
            Self::Mismatch => "secp256r1: signature is not valid for this public key and hash",
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

/// A representation of field elements in Montgomery form.
trait Coordinate: Field {
    /// The kernel for arithmetic modulo the order.
    type Kernel: Kernel;

    /// Wraps a value in Montgomery form, as little-endian words. It must be below p.
    fn from_montgomery(words: [u64; 4]) -> Self;

    /// Converts 32 big-endian bytes. Returns `None` if the integer is not below p.
    fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let words = words::from_be(bytes);
        let below = words.iter().rev().lt(P::P.iter().rev());
        below.then(|| Self::from_montgomery(words).mul(&Self::from_montgomery(P::R2)))
    }
}

impl<K: Kernel> Coordinate for Element<P, K> {
    type Kernel = K;

    #[inline]
    fn from_montgomery(words: [u64; 4]) -> Self {
        Self::from_montgomery(words)
    }
}

#[derive(Clone, Copy)]
struct Secp256r1<F>(core::marker::PhantomData<F>);

impl<F: Coordinate> Curve for Secp256r1<F> {
    type Field = F;
    const A_IS_MINUS_3: bool = true;

    fn b() -> F {
        // 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b
        F::from_montgomery([
            0xd89c_df62_29c4_bddf,
            0xacf0_05cd_7884_3090,
            0xe5a2_20ab_f721_2ed6,
            0xdc30_061d_0487_4834,
        ])
    }
}

/// Odd multiples 1, 3, 5, ... of the generator: x, y in Montgomery form, 32 little-endian bytes each. Written by
/// `examples/generate_tables.rs`.
static GENERATOR: &[[u8; 64]] = include_bytes!("generator.bin").as_chunks().0;
const GENERATOR_WINDOW: u32 = 12;
/// Entries of the table of odd multiples of the public key: window 5.
const KEY_ENTRIES: usize = 8;
const KEY_WINDOW: u32 = 5;
/// Number of digits of a scalar.
const DIGITS: usize = 257;

fn generator_multiple<F: Coordinate>(index: usize) -> Affine<Secp256r1<F>> {
    let words = GENERATOR[index].as_chunks::<8>().0;
    let [x, y] = [0, 4].map(|from| {
        F::from_montgomery(core::array::from_fn(|i| {
            u64::from_le_bytes(words[from + i])
        }))
    });
    Affine { x, y }
}

/// Computes `a G + b P`.
fn multiply_add<F: Coordinate>(
    a: &[u64; 4],
    b: &[u64; 4],
    p: &Affine<Secp256r1<F>>,
) -> Jacobian<Secp256r1<F>> {
    let (table, scale) = odd_multiples::<_, KEY_ENTRIES>(p);
    // Rescale to this curve, because the isomorphic one has a different a.
    let z = scale.invert();
    let table = table.map(|p| p.scaled(&z));
    let mut digits = [wnaf::<DIGITS>(a, GENERATOR_WINDOW), wnaf(b, KEY_WINDOW)];
    interleave(&mut digits, |multiplier, digit| {
        let index = usize::from(digit.unsigned_abs() / 2);
        let point = match multiplier {
            0 => generator_multiple(index),
            _ => table[index],
        };
        (point.negate_if(digit < 0), None)
    })
}

fn verify_with<F: Coordinate>(
    public_key: &[u8; 64],
    hash: &[u8; 32],
    r: &[u8; 32],
    s: &[u8; 32],
) -> Result<(), Error> {
    let nonzero = |bytes| {
        Element::<N, F::Kernel>::from_bytes(bytes)
            .filter(|scalar| !scalar.is_zero())
            .ok_or(Error::SignatureOutOfRange)
    };
    let (r_scalar, s) = (nonzero(r)?, nonzero(s)?);
    let coordinates = public_key.as_chunks::<32>().0;
    let [x, y] = [0, 1].map(|i| F::from_bytes(&coordinates[i]));
    let key = Affine::<Secp256r1<F>> {
        x: x.ok_or(Error::CoordinateOutOfRange)?,
        y: y.ok_or(Error::CoordinateOutOfRange)?,
    };
    // The curve has no point with x = y = 0, so this also rejects infinity.
    if !key.is_on_curve() {
        return Err(Error::NotOnCurve);
    }
    let s_inverse = s.invert();
    let u1 = Element::from_bytes_reduced(hash).mul(&s_inverse);
    let u2 = r_scalar.mul(&s_inverse);
    let sum = multiply_add(&u1.to_words(), &u2.to_words(), &key);
    if sum.is_infinity() {
        return Err(Error::Mismatch);
    }
    // Check X / Z^2 = r or r + n without a division.
    let zz = sum.z.square();
    let has_x = |x: Option<F>| x.is_some_and(|x| x.mul(&zz) == sum.x);
    if has_x(F::from_bytes(r)) || has_x(beyond_order(r)) {
        Ok(())
    } else {
        Err(Error::Mismatch)
    }
}

/// Returns `r + n` if it is below p.
fn beyond_order<F: Coordinate>(r: &[u8; 32]) -> Option<F> {
    let (sum, carry) = words::add(&words::from_be(r), &N::P);
    (!carry).then(|| F::from_bytes(&words::to_be(&sum)))?
}

/// A field implementation. A value exists only if the CPU supports it.
#[derive(Clone, Copy, Debug)]
enum Backend {
    /// On every target.
    Portable,
    /// BMI2 and ADX.
    #[cfg(target_arch = "x86_64")]
    Adx(Adx),
}

impl Backend {
    /// Returns the fastest backend for this CPU.
    fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(adx) = Adx::detect() {
            return Self::Adx(adx);
        }
        Self::Portable
    }

    fn verify(
        self,
        public_key: &[u8; 64],
        hash: &[u8; 32],
        r: &[u8; 32],
        s: &[u8; 32],
    ) -> Result<(), Error> {
        match self {
            Self::Portable => verify_with::<Element<P, Portable>>(public_key, hash, r, s),
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) => verify_with::<x86_64::adx::Element>(public_key, hash, r, s),
        }
    }
}

/// Verifies the signature (r, s) of a 32-byte hash with the public key x || y. All are big-endian. s may be high.
///
/// # Errors
/// [`Error::SignatureOutOfRange`], [`Error::CoordinateOutOfRange`], [`Error::NotOnCurve`] or [`Error::Mismatch`].
pub fn verify(
    public_key: &[u8; 64],
    hash: &[u8; 32],
    r: &[u8; 32],
    s: &[u8; 32],
) -> Result<(), Error> {
    Backend::detect().verify(public_key, hash, r, s)
}
