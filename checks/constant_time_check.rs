//! Checks that no branch and no memory address depends on a secret. Run under valgrind; see `docs/constant-time.md`.
//!
//! With the argument `leak` it branches on a secret on purpose. Valgrind must report this; otherwise the check is not
//! effective.

#[cfg(lydite_constant_time_check)]
fn main() {
    use lydite_curve::secp256k1::{
        PublicKey, SecretKey, Signature, public_key_batch, sign_prehash_batch,
    };
    use lydite_hash::memcheck;

    /// The keys of a batch, so that vector code is used for it.
    const LANES: usize = 8;
    assert!(memcheck::is_running(), "to be run under valgrind");
    if std::env::args().nth(1).as_deref() == Some("leak") {
        let secret = std::hint::black_box([7u8; 32]);
        memcheck::set_undefined(&secret);
        if secret[0] & 1 == 0 {
            println!("even");
        }
        return;
    }
    let mut keys = Vec::new();
    for i in 0..LANES as u8 - 1 {
        let secret = std::hint::black_box([i + 1; 32]);
        let hash = [i; 32];
        memcheck::set_undefined(&secret);
        // Only the result of the range check becomes public.
        let Ok(key) = SecretKey::from_bytes(&secret) else {
            continue;
        };
        let public_key = key.public_key();
        let signature = key.sign_prehash(&hash);
        // Published values are public.
        memcheck::set_defined(&public_key);
        memcheck::set_defined(&signature);
        println!("{public_key:?} {signature:02x?}");
        // A peer's key is public. The shared point is secret until it is printed.
        let shared = key.diffie_hellman(&PublicKey::GENERATOR);
        let hashed = shared.sha256();
        memcheck::set_defined(shared.x());
        memcheck::set_defined(&hashed);
        assert_eq!(shared.x()[..], public_key.to_bytes()[..32]);
        println!("{hashed:02x?}");
        keys.push(key);
    }
    let digits = std::hint::black_box([b'a'; 64]);
    let text = std::str::from_utf8(&digits).unwrap_or_default();
    memcheck::set_undefined(&digits);
    keys.extend(text.parse::<SecretKey>());
    let mut public_keys = [PublicKey::GENERATOR; LANES];
    let mut signatures = [Signature::default(); LANES];
    let done = public_key_batch(&keys, &mut public_keys)
        .and_then(|()| sign_prehash_batch(&keys, &[[1; 32]; LANES], &mut signatures));
    memcheck::set_defined(&public_keys);
    memcheck::set_defined(&signatures);
    println!(
        "{done:?} {:?} {:02x?}",
        public_keys[LANES - 1],
        signatures[LANES - 1]
    );
}

#[cfg(not(lydite_constant_time_check))]
fn main() {
    eprintln!(
        "build it with RUSTFLAGS='--cfg lydite_constant_time_check'; see docs/constant-time.md"
    );
}
