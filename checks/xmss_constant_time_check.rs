//! Checks that no branch or memory address depends on a secret. Run it under valgrind; see `docs/constant-time.md`.

#[cfg(lydite_constant_time_check)]
fn main() {
    use lydite_hash::memcheck;
    use lydite_xmss::{LeanSig46x8, LeanSigTest, LeanVm, Scheme, SecretKey};

    /// Signs with a key whose PRF key is marked secret, and moves its window.
    fn check<S: Scheme>(epochs: u32) {
        let made = SecretKey::<S>::from_seed(&[7; 32], 0..256, &());
        let Some(bytes) = made.ok().map(|key| key.as_bytes().to_vec()) else {
            panic!("no key");
        };
        memcheck::set_undefined(&bytes[..32]);
        let Ok(key) = SecretKey::<S, _>::from_bytes(bytes) else {
            panic!("not decoded");
        };
        for epoch in 0..epochs {
            let Ok(signature) = key.sign(epoch, &[1; 32]) else {
                panic!("not signed");
            };
            let public_key = key.public_key();
            assert!(
                public_key.is_ok_and(|public_key| public_key.verify(epoch, &[1; 32], &signature))
            );
        }
        let mut key = key.to_owned();
        if let Some(mut next) = key.next_tree() {
            next.work(usize::MAX);
            assert!(key.advance(next).is_ok());
        }
        let window = &key.as_bytes()[key.as_bytes().len() - 32..];
        memcheck::set_defined(window);
        println!("{window:02x?}");
    }

    assert!(memcheck::is_running(), "to be run under valgrind");
    check::<LeanSigTest>(6);
    check::<LeanSig46x8>(2);
    check::<LeanVm>(1);
}

#[cfg(not(lydite_constant_time_check))]
fn main() {
    eprintln!(
        "build it with RUSTFLAGS='--cfg lydite_constant_time_check'; see docs/constant-time.md"
    );
}
