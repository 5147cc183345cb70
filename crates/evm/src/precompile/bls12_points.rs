//! Points of BLS12-381 as the precompiles have them: each field element in 64 bytes, the first 16 of them zeros.

use super::Error;

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

macro_rules! group {
    ($group:ident, $unpadded:ident) => {
        pub(super) mod $group {
            use alloc::vec::Vec;

            use lydite_curve::bls12_381::$unpadded;

            use super::{super::Error, PADDED, UNPADDED, unpad};

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
        }
    };
}

group!(g1, G1_LENGTH);
group!(g2, G2_LENGTH);
