//! A secret key with some bytes changed: it is rejected, or it signs (or returns an error) without a panic, and its
//! public key is decoded or rejected. What the strict decoder accepts, the compatible one decodes to the same key.
#![no_main]
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use lydite::xmss::{LeanSigTest, SecretKey};

fuzz_target!(|data: &[u8]| {
    static KEY: OnceLock<Vec<u8>> = OnceLock::new();
    let key = KEY.get_or_init(|| {
        SecretKey::<LeanSigTest>::from_seed(&[1; 32], 16..64, &())
            .map(|key| key.as_bytes().to_vec())
            .unwrap_or_default()
    });
    // The data unchanged,
    let _ = SecretKey::<LeanSigTest, _>::from_bytes(data);
    // and as changes to a valid key: position, byte.
    let mut key = key.clone();
    let (changes, rest) = data.as_chunks::<3>();
    for [low, high, byte] in changes {
        let place = usize::from(u16::from_le_bytes([*low, *high])) % key.len();
        key[place] = *byte;
    }
    if rest.len() == 1 {
        key.truncate(usize::from(rest[0]) * 16);
    }
    if let Ok(key) = SecretKey::<LeanSigTest, _>::from_bytes(key.as_slice()) {
        let compatible = SecretKey::<LeanSigTest, _>::from_bytes_leansig_compatible(key.as_bytes());
        let compatible = compatible.expect("accepted by the strict decoder");
        assert_eq!(key.prepared(), compatible.prepared());
        if let Ok(public) = key.public_key() {
            assert_eq!(compatible.public_key(), Ok(public));
        }
        let epoch = key.prepared().start as u32;
        let _ = key.public_key();
        let _ = key.check_nodes();
        let _ = key.sign(epoch, &[2; 32]);
        let _ = key.sign(epoch + 100, &[2; 32]);
    }
});
