//! The hook that alloy-consensus calls to recover the sender of a transaction.

use std::sync::Arc;

use alloy_consensus::crypto::{CryptoProvider, RecoveryError, install_default_provider};
use alloy_primitives::Address;
use lydite::curve::secp256k1::{self, PublicKey, Signature};

/// Makes alloy-consensus use [`LyditeProvider`] in this process. Returns `false` if a provider is already installed.
pub(crate) fn install() -> bool {
    install_default_provider(Arc::new(LyditeProvider)).is_ok()
}

/// Signature recovery and verification for alloy-consensus with Lydite's secp256k1. Accepts high s, as the trait
/// requires.
#[derive(Clone, Copy, Debug)]
pub struct LyditeProvider;

impl CryptoProvider for LyditeProvider {
    fn recover_signer_unchecked(
        &self,
        signature: &[u8; 65],
        hash: &[u8; 32],
    ) -> Result<Address, RecoveryError> {
        #[cfg(test)]
        crate::calls::count(&crate::calls::RECOVER);
        Signature::from_bytes65(signature)
            .and_then(|signature| secp256k1::recover_address(hash, &signature))
            .map(|address| Address::new(address.0))
            .map_err(|_| RecoveryError::new())
    }

    fn verify_and_compute_signer_unchecked(
        &self,
        public_key: &[u8; 65],
        bytes: &[u8; 64],
        hash: &[u8; 32],
    ) -> Result<Address, RecoveryError> {
        #[cfg(test)]
        crate::calls::count(&crate::calls::VERIFY);
        let signature = Signature::from_bytes64(bytes);
        PublicKey::from_sec1_bytes(public_key)
            .and_then(|key| {
                secp256k1::verify(&key, hash, &signature)?;
                Ok(Address::new(key.to_address().0))
            })
            .map_err(|_| RecoveryError::new())
    }
}
