//! RustCrypto's `digest` traits for the streaming hashers, so that they fit generic code: HMAC, ECDSA, Merkle trees.

use sha2::digest::{
    FixedOutput, FixedOutputReset, HashMarker, Output, OutputSizeUser, Reset, Update,
    common::BlockSizeUser,
    consts::{U32, U64, U136},
};

use crate::{Keccak256, Sha256};

macro_rules! digest {
    ($($hasher:ty, $block:ty;)*) => {$(
        impl HashMarker for $hasher {}

        impl OutputSizeUser for $hasher {
            type OutputSize = U32;
        }

        impl BlockSizeUser for $hasher {
            type BlockSize = $block;
        }

        impl Update for $hasher {
            #[inline]
            fn update(&mut self, data: &[u8]) {
                self.update(data);
            }
        }

        impl Reset for $hasher {
            #[inline]
            fn reset(&mut self) {
                *self = Self::new();
            }
        }

        impl FixedOutput for $hasher {
            #[inline]
            fn finalize_into(self, out: &mut Output<Self>) {
                out.copy_from_slice(&self.finalize());
            }
        }

        impl FixedOutputReset for $hasher {
            #[inline]
            fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
                core::mem::take(self).finalize_into(out);
            }
        }
    )*};
}

digest! {
    Keccak256, U136;
    Sha256, U64;
}

#[cfg(test)]
mod tests {
    use sha2::digest::Digest;

    /// Hashes like generic code does, and reuses the hasher.
    fn hashes<D: Digest + super::FixedOutputReset>(data: &[u8]) -> [[u8; 32]; 3] {
        let mut hasher = D::new_with_prefix(&data[..data.len() / 3]);
        Digest::update(&mut hasher, &data[data.len() / 3..]);
        let first = hasher.finalize_reset();
        Digest::update(&mut hasher, data);
        Digest::reset(&mut hasher);
        Digest::update(&mut hasher, data);
        [first, hasher.finalize(), D::digest(data)].map(|digest| {
            let mut bytes = [0; 32];
            bytes.copy_from_slice(&digest);
            bytes
        })
    }

    #[test]
    fn digests_of_generic_code() {
        for length in [0, 1, 63, 64, 65, 135, 136, 137, 1000] {
            let data: std::vec::Vec<u8> = (0..length).map(|i| i as u8).collect();
            assert_eq!(
                hashes::<crate::Keccak256>(&data),
                [crate::keccak256(&data); 3]
            );
            assert_eq!(hashes::<crate::Sha256>(&data), [crate::sha256(&data); 3]);
        }
    }
}
