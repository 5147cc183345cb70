//! Any bytes as a signature and a public key: what the strict decoder accepts encodes to the same bytes and is read alike by
//! the compatible one; verification alone and in a batch agree, and nothing made up is valid.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::xmss::{Claim, LeanSigTest, PublicKey, Signature, verify_batch};

fuzz_target!(|data: &[u8]| {
    let Some((key, rest)) = data.split_at_checked(PublicKey::<LeanSigTest>::LENGTH) else {
        return;
    };
    if let Ok(key) = PublicKey::<LeanSigTest>::from_bytes(key) {
        assert_eq!(
            PublicKey::from_bytes_leansig_compatible(&key.to_bytes()),
            Ok(key)
        );
    }
    let strict = Signature::<LeanSigTest>::from_bytes(rest);
    let compatible = Signature::<LeanSigTest>::from_bytes_leansig_compatible(rest);
    if let Ok(signature) = &strict {
        assert_eq!(signature.to_bytes(), rest);
        assert_eq!(compatible.as_ref(), Ok(signature));
    }
    let (Ok(key), Ok(signature)) = (
        PublicKey::<LeanSigTest>::from_bytes_leansig_compatible(key),
        compatible,
    ) else {
        return;
    };
    let claim = Claim {
        public_key: &key,
        epoch: u32::from(data[0]),
        message: &[7; 32],
        signature: &signature,
    };
    assert!(!key.verify(claim.epoch, claim.message, &signature));
    assert_eq!(verify_batch(&[claim; 2]), [false; 2]);
});
