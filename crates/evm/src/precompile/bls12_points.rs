//! Points of BLS12-381 as the precompiles have them: each field element in 64 bytes, the first 16 of them zeros; and what
//! is the same in both groups.

use super::{Error, Fork, GasUsed, charge, since};

/// Bytes of a field element, padded and not.
const PADDED: usize = 64;
const UNPADDED: usize = 48;

/// Takes the padding away from each field element.
pub(super) fn unpad(padded: &[u8], out: &mut [u8]) -> Result<(), Error> {
    debug_assert_eq!(padded.len() / PADDED, out.len() / UNPADDED);
    let elements = padded.as_chunks::<PADDED>().0;
    for (element, out) in elements.iter().zip(out.as_chunks_mut::<UNPADDED>().0) {
        let (zeros, rest) = element.split_at(PADDED - UNPADDED);
        if zeros.iter().any(|byte| *byte != 0) {
            return Err(Error::Padding);
        }
        out.copy_from_slice(rest);
    }
    Ok(())
}

/// The gas of a sum of so many products: the price of one pair, less a discount. Discounts are in thousandths of the
/// price, for 1 to 128 pairs; the last is that for more.
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

            use super::{Error, Fork, GasUsed, PADDED, UNPADDED, charge, since, unpad};

            /// Bytes of a point.
            pub(in super::super) const LENGTH: usize = $unpadded / UNPADDED * PADDED;

            pub(in super::super) fn read(point: &[u8; LENGTH]) -> Result<[u8; $unpadded], Error> {
                let mut out = [0; $unpadded];
                unpad(point, &mut out)?;
                Ok(out)
            }

            pub(in super::super) fn write(point: &[u8; $unpadded], out: &mut Vec<u8>) {
                for element in point.as_chunks::<UNPADDED>().0 {
                    out.extend_from_slice(&[0; PADDED - UNPADDED]);
                    out.extend_from_slice(element);
                }
            }

            /// The sum of the products of a point and a scalar of 32 bytes each.
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
                let mut failed = None;
                let items = pairs.iter().map_while(|pair| {
                    let (point, scalar) = pair.split_first_chunk()?;
                    match read(point) {
                        Ok(point) => Some((point, *scalar.first_chunk()?)),
                        Err(error) => {
                            failed = Some(error);
                            None
                        }
                    }
                });
                let sum = $msm(items);
                if let Some(error) = failed {
                    return Err(error);
                }
                write(&sum?, out);
                Ok(gas)
            }
        }
    };
}

group!(g1, G1_LENGTH, g1_msm);
group!(g2, G2_LENGTH, g2_msm);
