//! Arbitrary bytes as a signature and a public key, and a valid signature with some bytes changed. What the strict
//! decoder accepts encodes to the same bytes, and the compatible decoder returns the same value; single and batch
//! verification agree; only the unchanged signature is valid, except that this small instantiation has just 84 codewords,
//! so that one randomiser in 4096 gives the same one.
#![no_main]
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use lydite::xmss::{Claim, LeanSigTest, PublicKey, SecretKey, Signature, verify_batch};

const MESSAGE: [u8; 32] = [7; 32];

/// Where a signature has its randomiser: after the offset of the path, seven field elements.
const RANDOMISER: core::ops::Range<usize> = 4..32;

/// A public key, and its signature of the message for epoch 3.
fn good() -> &'static (Vec<u8>, Vec<u8>) {
    static GOOD: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    GOOD.get_or_init(|| {
        let key = SecretKey::<LeanSigTest>::from_seed(&[7; 32], 0..32, &()).expect("a key");
        let signature = key.sign(3, &MESSAGE).expect("prepared");
        let public = key.public_key().expect("a public key");
        (public.to_bytes().into(), signature.to_bytes())
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((&source, data)) = data.split_first() else {
        return;
    };
    let (good_key, good_signature) = good();
    if source % 2 == 0 {
        if let Some((key, signature)) = data.split_at_checked(PublicKey::<LeanSigTest>::LENGTH) {
            check(key, u32::from(source), signature);
        }
        return;
    }
    let (mut key, mut signature) = (good_key.clone(), good_signature.clone());
    let (changes, _) = data.as_chunks::<3>();
    for [low, high, change] in changes {
        let at = usize::from(u16::from_le_bytes([*low, *high])) % (key.len() + signature.len());
        match at.checked_sub(key.len()) {
            Some(at) => signature[at] ^= change,
            None => key[at] ^= change,
        }
    }
    // The first epoch is the correct one.
    let epoch = 3 + u32::from(source / 2);
    let valid = check(&key, epoch, &signature);
    let same = epoch == 3 && key == *good_key && signature == *good_signature;
    if !valid || same {
        assert_eq!(valid, same);
        return;
    }
    signature[RANDOMISER].copy_from_slice(&good_signature[RANDOMISER]);
    assert!(epoch == 3 && key == *good_key && signature == *good_signature);
});

/// Whether all words are below the field's prime; the offsets among them are.
fn canonical(bytes: &[u8]) -> bool {
    let (words, _) = bytes.as_chunks();
    words
        .iter()
        .all(|word| u32::from_le_bytes(*word) < 0x7f00_0001)
}

fn check(key: &[u8], epoch: u32, signature: &[u8]) -> bool {
    let strict_key = PublicKey::<LeanSigTest>::from_bytes(key);
    if let Ok(key) = strict_key {
        assert!(canonical(&key.to_bytes()));
        assert_eq!(
            PublicKey::from_bytes_leansig_compatible(&key.to_bytes()),
            Ok(key)
        );
    }
    let strict = Signature::<LeanSigTest>::from_bytes(signature);
    let compatible = Signature::<LeanSigTest>::from_bytes_leansig_compatible(signature);
    if let Ok(strict) = &strict {
        assert!(canonical(signature));
        assert_eq!(strict.to_bytes(), signature);
        assert_eq!(compatible.as_ref(), Ok(strict));
    }
    let strict = strict_key.is_ok() && strict.is_ok();
    let (Ok(key), Ok(signature)) = (
        PublicKey::<LeanSigTest>::from_bytes_leansig_compatible(key),
        compatible,
    ) else {
        return false;
    };
    let claim = Claim {
        public_key: &key,
        epoch,
        message: &MESSAGE,
        signature: &signature,
    };
    let valid = key.verify(epoch, &MESSAGE, &signature);
    assert_eq!(verify_batch(&[claim; 2]), [valid; 2]);
    valid && strict
}
