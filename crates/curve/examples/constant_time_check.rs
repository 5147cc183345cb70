//! Does anything branch on, or address memory by, a secret? To be run under valgrind; see `docs/constant-time.md`.
//!
//! With the argument `leak` it branches on a secret on purpose: then valgrind must complain, or the check checks nothing.

#[cfg(lydite_constant_time_check)]
fn main() {
    use lydite_curve::{memcheck, secp256k1::SecretKey};

    assert!(memcheck::is_running(), "to be run under valgrind");
    if std::env::args().nth(1).as_deref() == Some("leak") {
        let secret = std::hint::black_box([7u8; 32]);
        memcheck::set_undefined(&secret);
        if secret[0] & 1 == 0 {
            println!("even");
        }
        return;
    }
    for i in 0..20 {
        let secret = std::hint::black_box([i + 1; 32]);
        let hash = [i; 32];
        memcheck::set_undefined(&secret);
        // Only whether it is in range leaves the secret world.
        let Ok(key) = SecretKey::from_bytes(&secret) else {
            continue;
        };
        let public_key = key.public_key();
        let signature = key.sign_prehash(&hash);
        // What is published is public.
        memcheck::set_defined(&public_key);
        memcheck::set_defined(&signature);
        println!("{public_key:?} {signature:02x?}");
    }
}

#[cfg(not(lydite_constant_time_check))]
fn main() {
    eprintln!(
        "build it with RUSTFLAGS='--cfg lydite_constant_time_check'; see docs/constant-time.md"
    );
}
