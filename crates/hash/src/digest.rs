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
                self.reset();
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
                self.clone().finalize_into(out);
                self.reset();
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
    use super::*;
    use hmac::{KeyInit, Mac, SimpleHmac};
    use sha2::digest::Digest;
    use std::vec::Vec;

    /// Hashes like generic code does, and reuses the hasher.
    fn hashes<D: Digest + FixedOutputReset>(data: &[u8]) -> [Vec<u8>; 4] {
        let mut hasher = D::new_with_prefix(&data[..data.len() / 3]);
        Digest::update(&mut hasher, &data[data.len() / 3..]);
        let first = hasher.finalize_reset();
        Digest::update(&mut hasher, data);
        let second = hasher.finalize_reset();
        Digest::update(&mut hasher, data);
        Digest::reset(&mut hasher);
        Digest::update(&mut hasher, data);
        [first, second, hasher.finalize(), D::digest(data)].map(|digest| digest.to_vec())
    }

    fn hmac<D: Digest + BlockSizeUser>(key: &[u8], data: &[u8]) -> Option<Vec<u8>> {
        let mac = SimpleHmac::<D>::new_from_slice(key).ok()?;
        Some(mac.chain_update(data).finalize().into_bytes().to_vec())
    }

    /// Lengths around the block sizes; an HMAC key that is longer than a block is hashed first.
    #[test]
    fn digests_of_generic_code() {
        for length in [0, 1, 63, 64, 65, 135, 136, 137, 1000] {
            let data: Vec<u8> = (0..length).map(|i| i as u8).collect();
            assert_eq!(hashes::<Keccak256>(&data), hashes::<sha3::Keccak256>(&data));
            assert_eq!(hashes::<Sha256>(&data), hashes::<sha2::Sha256>(&data));
            let ours = hmac::<Keccak256>(&data, b"message");
            assert_eq!(ours, hmac::<sha3::Keccak256>(&data, b"message"));
            let ours = hmac::<Sha256>(&data, b"message");
            assert_eq!(ours, hmac::<sha2::Sha256>(&data, b"message"));
            assert!(ours.is_some());
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(Keccak256::block_size(), sha3::Keccak256::block_size());
        assert_eq!(Sha256::block_size(), sha2::Sha256::block_size());
    }
}
