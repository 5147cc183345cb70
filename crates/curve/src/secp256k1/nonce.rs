//! Deterministic nonces: RFC 6979 with HMAC-SHA256.
//!
//! Source: [RFC6979] §3.2. The hash is reduced modulo n (`bits2octets`), as in libsecp256k1 and k256. HMAC calls
//! SHA-256's compression function directly: every message here has 32, 33 or 97 bytes, so the padding is fixed, and the
//! two states of a key are reused. Constant time: yes, except for the number of rejected candidates, which is public.

use lydite_hash::SHA256_INITIAL;
use sha2::block_api::compress256;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::scalar::Scalar;

/// HMAC-SHA256 with a 32-byte key: the two states after the padded key's block.
#[derive(Zeroize, ZeroizeOnDrop)]
struct Hmac {
    inner: [u32; 8],
    outer: [u32; 8],
}

impl Hmac {
    fn new(key: &[u8; 32]) -> Self {
        let state_after = |pad: u8| {
            let mut block = [[pad; 64]];
            for (byte, key) in block[0].iter_mut().zip(key) {
                *byte ^= key;
            }
            let mut state = SHA256_INITIAL;
            compress256(&mut state, &block);
            block.zeroize();
            state
        };
        Self {
            inner: state_after(0x36),
            outer: state_after(0x5c),
        }
    }

    /// Computes the MAC of the first `length` bytes of `blocks`.
    fn mac<const BLOCKS: usize>(&self, mut blocks: [[u8; 64]; BLOCKS], length: usize) -> [u8; 32] {
        let mut state = self.inner;
        pad(blocks.as_flattened_mut(), length);
        compress256(&mut state, &blocks);
        blocks.zeroize();
        let mut block = [[0u8; 64]];
        block[0][..32].copy_from_slice(&to_bytes(&state));
        pad(&mut block[0], 32);
        state = self.outer;
        compress256(&mut state, &block);
        let code = to_bytes(&state);
        block.zeroize();
        state.zeroize();
        code
    }

    /// Computes the MAC of 32 bytes.
    fn mac_value(&self, value: &[u8; 32]) -> [u8; 32] {
        let mut blocks = [[0; 64]];
        blocks[0][..32].copy_from_slice(value);
        self.mac(blocks, 32)
    }

    /// Computes the MAC of `value || tag || key || hash`.
    fn mac_seed(&self, value: &[u8; 32], tag: u8, key: &[u8; 32], hash: &[u8; 32]) -> [u8; 32] {
        let mut blocks = [[0; 64]; 2];
        let bytes = blocks.as_flattened_mut();
        bytes[..32].copy_from_slice(value);
        bytes[32] = tag;
        bytes[33..65].copy_from_slice(key);
        bytes[65..97].copy_from_slice(hash);
        let code = self.mac(blocks, 97);
        blocks.zeroize();
        code
    }
}

/// Pads a message of `length` bytes that follows one block.
fn pad(blocks: &mut [u8], length: usize) {
    let bits = (64 + length as u64) * 8;
    let end = blocks.len();
    blocks[length] = 0x80;
    blocks[end - 8..].copy_from_slice(&bits.to_be_bytes());
}

fn to_bytes(state: &[u32; 8]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (bytes, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    bytes
}

/// The nonce candidates of RFC 6979 for a key and a hash, both below n.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Nonces {
    hmac: Hmac,
    value: [u8; 32],
    started: bool,
}

impl Nonces {
    pub(crate) fn new(key: &[u8; 32], hash: &[u8; 32]) -> Self {
        let mut value = [1; 32];
        let mut hmac_key = [0; 32];
        let mut hmac = Hmac::new(&hmac_key);
        for tag in [0, 1] {
            hmac_key = hmac.mac_seed(&value, tag, key, hash);
            hmac = Hmac::new(&hmac_key);
            value = hmac.mac_value(&value);
        }
        hmac_key.zeroize();
        Self {
            hmac,
            value,
            started: false,
        }
    }

    /// Returns the next nonce in [1, n - 1].
    pub(crate) fn next_nonce(&mut self) -> Scalar {
        loop {
            if self.started {
                let mut blocks = [[0; 64]];
                blocks[0][..32].copy_from_slice(&self.value);
                let mut key = self.hmac.mac(blocks, 33);
                self.hmac = Hmac::new(&key);
                self.value = self.hmac.mac_value(&self.value);
                blocks.zeroize();
                key.zeroize();
            }
            self.started = true;
            self.value = self.hmac.mac_value(&self.value);
            if let Some(nonce) = Scalar::from_bytes_nonzero(&self.value) {
                return nonce;
            }
        }
    }
}
