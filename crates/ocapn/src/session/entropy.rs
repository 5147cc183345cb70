//! A generator of secrets from the caller's seed.
use lydite_hash::sha256;
use zeroize::Zeroize as _;

/// Hashes a secret state into outputs, and the state into its successor, so that a later state does not reveal earlier
/// outputs. SHA-256 is used as a pseudorandom function of 33 bytes.
pub(super) struct Entropy([u8; 32]);

impl Entropy {
    pub const fn new(seed: [u8; 32]) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> [u8; 32] {
        let output = self.hash(1);
        let mut successor = self.hash(0);
        self.0.copy_from_slice(&successor);
        successor.zeroize();
        output
    }

    fn hash(&self, domain: u8) -> [u8; 32] {
        let mut input = [0; 33];
        input[0] = domain;
        input[1..].copy_from_slice(&self.0);
        let digest = sha256(&input);
        input.zeroize();
        digest
    }
}

impl Drop for Entropy {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}
