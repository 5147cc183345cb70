//! bn254 (alt_bn128): addition, multiplication and the pairing check of the EVM's precompiles 0x06, 0x07 and 0x08.
//!
//! Points are encoded as in EIP-196 and EIP-197: coordinates of 32 big-endian bytes, those of Fp2 with the imaginary
//! part first; infinity is all zeros. Everything is variable-time: the inputs are public.
//!
//! ```
//! use lydite_curve::bn254;
//!
//! let mut generator = [0; 64];
//! (generator[31], generator[63]) = (1, 2);
//! let mut two = [0; 32];
//! two[31] = 2;
//! assert_eq!(bn254::add(&generator, &generator)?, bn254::multiply(&generator, &two)?);
//! assert!(bn254::pairing_check([])?);
//! # Ok::<(), bn254::Error>(())
//! ```

mod dispatch;
mod multiply;
mod pairing;
#[cfg(test)]
mod tests;
mod tower;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use core::fmt;

use crate::{
    group::{self, Affine, Curve},
    montgomery::{Element, Kernel, Modulus},
};
use dispatch::Backend;
use pairing::Pair;
use tower::{Fp2, Fp12};

/// The reason why an input is rejected.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A coordinate is not below the field prime.
    CoordinateOutOfRange,
    /// The coordinates are not on the curve, or not on its twist.
    NotOnCurve,
    /// A point of the twist is not in the subgroup of order r.
    NotInSubgroup,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CoordinateOutOfRange => "bn254: coordinate is not below the field prime",
            Self::NotOnCurve => "bn254: point is not on the curve",
            Self::NotInSubgroup => "bn254: G2 point is not in the subgroup of order r",
        })
    }
}

impl core::error::Error for Error {}

/// The field prime p.
#[derive(Clone, Copy)]
pub(crate) struct P;

impl Modulus for P {
    const P: [u64; 4] = [
        0x3c20_8c16_d87c_fd47,
        0x9781_6a91_6871_ca8d,
        0xb850_45b6_8181_585d,
        0x3064_4e72_e131_a029,
    ];
}

/// The field of G1.
pub(crate) type Fp<K> = Element<P, K>;

/// The curve y^2 = x^3 + 3.
#[derive(Clone, Copy)]
pub(crate) struct G1<K>(core::marker::PhantomData<K>);

impl<K: Kernel> Curve for G1<K> {
    type Field = Fp<K>;
    const A_IS_MINUS_3: bool = false;

    fn b() -> Fp<K> {
        const { Fp::constant([3, 0, 0, 0]) }
    }
}

/// The twist y^2 = x^3 + 3 / xi.
#[derive(Clone, Copy)]
pub(crate) struct G2<K>(core::marker::PhantomData<K>);

impl<K: Kernel> Curve for G2<K> {
    type Field = Fp2<K>;
    const A_IS_MINUS_3: bool = false;

    fn b() -> Fp2<K> {
        const {
            Fp2::constant(
                [
                    0x3267_e6dc_24a1_38e5,
                    0xb5b4_c5e5_59db_efa3,
                    0x81be_1899_1be0_6ac3,
                    0x2b14_9d40_ceb8_aaae,
                ],
                [
                    0xe4a2_bd06_85c3_15d2,
                    0xa74f_a084_e52d_1852,
                    0xcd2c_afad_eed8_fdf4,
                    0x0097_13b0_3af0_fed4,
                ],
            )
        }
    }
}

fn read_field<K: Kernel>(bytes: &[u8; 32]) -> Result<Fp<K>, Error> {
    Fp::from_bytes(bytes).ok_or(Error::CoordinateOutOfRange)
}

/// Decodes a point of G1; `None` is infinity.
fn read_g1<K: Kernel>(bytes: &[u8; 64]) -> Result<Option<Affine<G1<K>>>, Error> {
    if *bytes == [0; 64] {
        return Ok(None);
    }
    let words = bytes.as_chunks::<32>().0;
    let (x, y) = (read_field(&words[0])?, read_field(&words[1])?);
    Affine::checked(x, y, Error::NotOnCurve).map(Some)
}

/// Decodes a point of the twist, which need not be in G2; `None` is infinity.
fn read_twist<K: Kernel>(bytes: &[u8; 128]) -> Result<Option<Affine<G2<K>>>, Error> {
    if *bytes == [0; 128] {
        return Ok(None);
    }
    let words = bytes.as_chunks::<32>().0;
    let [x, y] = [0, 2].map(|i| {
        Ok(Fp2 {
            c1: read_field(&words[i])?,
            c0: read_field(&words[i + 1])?,
        })
    });
    Affine::checked(x?, y?, Error::NotOnCurve).map(Some)
}

/// Decodes a pair; `None` if one of its points is infinity. Otherwise the Miller loop checks whether the point of the
/// twist is in G2.
fn read_pair<K: Kernel>(p: &[u8; 64], q: &[u8; 128]) -> Result<Option<Pair<K>>, Error> {
    match (read_g1::<K>(p)?, read_twist::<K>(q)?) {
        (Some(p), Some(q)) => Ok(Some(Pair::new(p, q))),
        (None, Some(q)) if !pairing::is_in_subgroup(&q) => Err(Error::NotInSubgroup),
        _ => Ok(None),
    }
}

fn write_g1<K: Kernel>(point: Option<Affine<G1<K>>>) -> [u8; 64] {
    let mut bytes = [0; 64];
    if let Some(point) = point {
        bytes[..32].copy_from_slice(&point.x.to_bytes());
        bytes[32..].copy_from_slice(&point.y.to_bytes());
    }
    bytes
}

fn add_with<K: Kernel>(p: &[u8; 64], q: &[u8; 64]) -> Result<[u8; 64], Error> {
    let (p, q) = (read_g1::<K>(p)?, read_g1::<K>(q)?);
    Ok(write_g1(group::add_affine(p, q)))
}

fn multiply_with<K: Kernel>(p: &[u8; 64], scalar: &[u8; 32]) -> Result<[u8; 64], Error> {
    let Some(p) = read_g1::<K>(p)? else {
        return Ok([0; 64]);
    };
    Ok(write_g1(multiply::multiply(&p, scalar).to_affine()))
}

/// Number of pairs per Miller loop. More pairs take several loops, whose results are multiplied.
const CHUNK: usize = 8;

/// The pairing check, with these implementations of the functions of [`pairing`].
fn pairing_check_with<'a, K: Kernel>(
    pairs: impl IntoIterator<Item = (&'a [u8; 64], &'a [u8; 128])>,
    miller_loop: impl Fn(&mut [Pair<K>]) -> Option<Fp12<K>>,
    final_exponentiation_is_one: impl Fn(&Fp12<K>) -> bool,
) -> Result<bool, Error> {
    let mut product = Fp12::ONE;
    let (mut items, mut count) = ([Pair::EMPTY; CHUNK], 0);
    let mut pairs = pairs.into_iter();
    loop {
        let pair = pairs.next().map(|(p, q)| read_pair(p, q)).transpose()?;
        if let Some(Some(pair)) = pair {
            items[count] = pair;
            count += 1;
        }
        if pair.is_none() && count == 1 && product == Fp12::ONE {
            // The pairing of two finite points is never one.
            let in_subgroup = pairing::is_in_subgroup(&items[0].q);
            return if in_subgroup {
                Ok(false)
            } else {
                Err(Error::NotInSubgroup)
            };
        }
        if count == CHUNK || pair.is_none() && count > 0 {
            let value = miller_loop(&mut items[..count]).ok_or(Error::NotInSubgroup)?;
            product = product.mul(&value);
            count = 0;
        }
        if pair.is_none() {
            break;
        }
    }
    Ok(product == Fp12::ONE || final_exponentiation_is_one(&product))
}

/// Adds P and Q.
///
/// # Errors
/// [`Error::CoordinateOutOfRange`] or [`Error::NotOnCurve`] if a point is invalid.
pub fn add(p: &[u8; 64], q: &[u8; 64]) -> Result<[u8; 64], Error> {
    Backend::detect().add(p, q)
}

/// Multiplies P by `scalar`, any 256-bit integer, big-endian.
///
/// # Errors
/// [`Error::CoordinateOutOfRange`] or [`Error::NotOnCurve`] if the point is invalid.
pub fn multiply(p: &[u8; 64], scalar: &[u8; 32]) -> Result<[u8; 64], Error> {
    Backend::detect().multiply(p, scalar)
}

/// Checks whether the product of the pairings of these pairs, each of a point of G1 and one of G2, is one.
///
/// # Errors
/// Any [`Error`] if a pair is invalid. Within each eight pairs, the coordinates are checked before the subgroups.
pub fn pairing_check<'a>(
    pairs: impl IntoIterator<Item = (&'a [u8; 64], &'a [u8; 128])>,
) -> Result<bool, Error> {
    Backend::detect().pairing_check(pairs)
}
