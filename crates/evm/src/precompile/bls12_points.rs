//! Points of BLS12-381 in the format of the precompiles, with each field element padded to 64 bytes by 16 leading
//! zeros, and the code shared by both groups.

use super::{Error, Fork, GasUsed, charge, put, since};

/// Length of a field element in bytes, padded and unpadded.
const PADDED: usize = 64;
const UNPADDED: usize = 48;

/// Checks that the padding of each field element is zero.
pub(super) fn check_padding(padded: &[u8]) -> Result<(), Error> {
    let mut elements = padded.as_chunks::<PADDED>().0.iter();
    let zeros = |element: &[u8; PADDED]| {
        let padding = element.first_chunk().copied();
        padding.map(u128::from_ne_bytes) == Some(0)
    };
    elements.all(zeros).then_some(()).ok_or(Error::Padding)
}

/// Removes the padding of each field element.
pub(super) fn unpad(padded: &[u8], out: &mut [u8]) {
    debug_assert_eq!(padded.len() / PADDED, out.len() / UNPADDED);
    let elements = padded.as_chunks::<PADDED>().0;
    for (element, out) in elements.iter().zip(out.as_chunks_mut::<UNPADDED>().0) {
        out.copy_from_slice(&element[PADDED - UNPADDED..]);
    }
}

/// Returns the gas of a multi-scalar multiplication: the price per pair, minus a discount. Discounts are in thousandths
/// of the price, for 1 to 128 pairs; the last applies to more pairs.
pub(super) fn msm_gas(pairs: usize, price: u64, discounts: &[u16; 128]) -> GasUsed {
    let Some(index) = pairs.checked_sub(1) else {
        return 0;
    };
    let discount = discounts[index.min(discounts.len() - 1)];
    (pairs as u64 * price).saturating_mul(discount.into()) / 1000
}

macro_rules! group {
    ($group:ident, $unpadded:ident, $msm:ident) => {
        pub(super) mod $group {
            use alloc::vec::Vec;

            use lydite_curve::bls12_381::{$msm, $unpadded};

            use super::{
                Error, Fork, GasUsed, PADDED, UNPADDED, charge, check_padding, put, since, unpad,
            };

            /// Length of a point in bytes.
            pub(in super::super) const LENGTH: usize = $unpadded / UNPADDED * PADDED;

            /// Removes the padding of a point. The padding must have been checked.
            pub(in super::super) fn read(point: &[u8; LENGTH]) -> [u8; $unpadded] {
                let mut out = [0; $unpadded];
                unpad(point, &mut out);
                out
            }

            pub(in super::super) fn write(point: &[u8; $unpadded], out: &mut Vec<u8>) {
                let mut padded = [0; LENGTH];
                let elements = padded.as_chunks_mut::<PADDED>().0.iter_mut();
                for (padded, element) in elements.zip(point.as_chunks::<UNPADDED>().0) {
                    padded[PADDED - UNPADDED..].copy_from_slice(element);
                }
                put(out, &padded);
            }

            /// Computes the sum of products of points with scalars of 32 bytes.
            pub(in super::super) fn msm(
                input: &[u8],
                gas: fn(usize) -> GasUsed,
                gas_limit: u64,
                fork: Fork,
                out: &mut Vec<u8>,
            ) -> Result<GasUsed, Error> {
                out.clear();
                since(Fork::Prague, fork)?;
                let (pairs, rest) = input.as_chunks::<{ LENGTH + 32 }>();
                let gas = charge(gas(pairs.len()), gas_limit)?;
                if pairs.is_empty() || !rest.is_empty() {
                    return Err(Error::InputLength);
                }
                for pair in pairs {
                    check_padding(&pair[..LENGTH])?;
                }
                let items = pairs.iter().filter_map(|pair| {
                    let (point, scalar) = pair.split_first_chunk()?;
                    Some((read(point), *scalar.first_chunk()?))
                });
                write(&$msm(items)?, out);
                Ok(gas)
            }
        }
    };
}

group!(g1, G1_LENGTH, g1_msm);
group!(g2, G2_LENGTH, g2_msm);
