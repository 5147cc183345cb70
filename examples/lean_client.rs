//! A lean-consensus client's signing, moved from leanVM's crates to Lydite: `client` calls what it called before, and
//! `lean` has the signatures of leanVM's facade `lean_multisig_api` (at 0568584d), except aggregation, which is a prover's
//! work.
//!
//! `cargo run -p lydite-examples --bin lean_client`

use std::error::Error;

/// What the client used from `lean_multisig_api`, on Lydite.
mod lean {
    use std::error::Error;
    use std::ops::RangeInclusive;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use lydite::xmss::{self, LeanVm, PublicKey};

    /// What is signed: a message at a slot.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub struct Claim {
        message: [u8; 32],
        slot: u32,
    }

    impl Claim {
        pub const fn new(message: [u8; 32], slot: u32) -> Self {
            Self { message, slot }
        }
    }

    /// A signature with its claim and its signer.
    pub struct Signature {
        claim: Claim,
        public_key: PublicKey<LeanVm>,
        signature: xmss::Signature<LeanVm>,
    }

    /// A key for a range of slots. Like leanVM's, it keeps no record of what it signed; `lydite::xmss::store::KeyFile` does.
    pub struct SecretKey(Mutex<xmss::SecretKey<LeanVm>>);

    impl SecretKey {
        pub fn from_seed(
            seed: [u8; 32],
            slots: RangeInclusive<u32>,
        ) -> Result<Self, Box<dyn Error>> {
            let epochs = u64::from(*slots.start())..u64::from(*slots.end()) + 1;
            let key = xmss::SecretKey::from_seed(&seed, epochs, &())?;
            Ok(Self(Mutex::new(key)))
        }

        pub fn public_key(&self) -> Result<Vec<u8>, Box<dyn Error>> {
            Ok(self.key().public_key()?.to_bytes())
        }

        pub fn slots(&self) -> RangeInclusive<u32> {
            let active = self.key().active();
            active.start as u32..=(active.end - 1) as u32
        }

        /// Computes what signing at this slot needs, if it is beyond what the key holds. Slots go forward.
        pub fn prepare(&self, slot: u32) -> Result<(), Box<dyn Error>> {
            Ok(self.key().prepare(slot)?)
        }

        pub fn sign(&self, claim: &Claim) -> Result<Signature, Box<dyn Error>> {
            let mut key = self.key();
            key.prepare(claim.slot)?;
            Ok(Signature {
                claim: *claim,
                public_key: key.public_key()?,
                signature: key.sign(claim.slot, &claim.message)?,
            })
        }

        fn key(&self) -> MutexGuard<'_, xmss::SecretKey<LeanVm>> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// Whether a signature is valid for a claim and by the expected signer.
    pub fn verify(signature: &Signature, expected: &[Vec<u8>], claim: &Claim) -> bool {
        let signer = signature.public_key.to_bytes();
        signature.claim == *claim
            && expected.iter().all(|key| *key == signer)
            && !expected.is_empty()
            && (signature.public_key).verify(claim.slot, &claim.message, &signature.signature)
    }
}

/// The client: attests at every slot of its key.
fn client() -> Result<(), Box<dyn Error>> {
    // The seed of the published test cases; a client takes one from the operating system.
    let seed = std::array::from_fn(|i| i as u8);
    let key = lean::SecretKey::from_seed(seed, 0..=3)?;
    let public_key = key.public_key()?;
    println!("public key {}", lydite::bytes::hex::encode(&public_key));
    for slot in key.slots() {
        key.prepare(slot)?;
        let claim = lean::Claim::new([0x11; 32], slot);
        let signature = key.sign(&claim)?;
        let valid = lean::verify(&signature, std::slice::from_ref(&public_key), &claim);
        println!("slot {slot}: {}", if valid { "valid" } else { "not valid" });
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    client()
}
