#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn table_holds_odd_multiples() {
    let g = generator_multiple::<Element<P, Portable>>(0);
    assert!(g.is_on_curve());
    let double = Jacobian::from(g).double();
    let mut multiple = Jacobian::from(g);
    for i in 0..GENERATOR.len() {
        let entry = generator_multiple::<Element<P, Portable>>(i);
        assert!(multiple.equals(&entry.into()), "{i}");
        multiple = multiple.add(&double);
    }
    assert_eq!(GENERATOR.len(), 1 << (GENERATOR_WINDOW - 2));
    // [SEC2] §2.4.2.
    assert_eq!(
        g.x.to_bytes(),
        hex_literal::hex!("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
    );
}

/// For each field representation: multiples for which a partial sum equals its addend, or the sum is infinity, and
/// large ones.
fn sums_of_multiples<F: Coordinate>() {
    let words = |k: u64, negative: bool| {
        let mut borrow = false;
        let mut words = if negative { N::P } else { [0; 4] };
        if negative {
            (words[0], borrow) = words[0].overflowing_sub(k);
        } else {
            words[0] = k;
        }
        assert!(!borrow);
        words
    };
    let generator = generator_multiple::<F>(0);
    // k G for small k, by repeated addition.
    let mut multiples = alloc::vec![Jacobian::INFINITY];
    for k in 0..20 * 16 {
        multiples.push(multiples[k].add_affine(&generator));
    }
    for k in 1..16 {
        let point = multiples[k].to_affine().unwrap();
        for a in 0..20 {
            for b in 0..20 {
                for (negative_a, negative_b) in
                    [(false, false), (false, true), (true, false), (true, true)]
                {
                    let sum = multiply_add(&words(a, negative_a), &words(b, negative_b), &point);
                    let sign = |k: u64, negative| if negative { -(k as i64) } else { k as i64 };
                    let expected = sign(a, negative_a) + sign(b, negative_b) * k as i64;
                    let mut multiple = multiples[expected.unsigned_abs() as usize];
                    if expected < 0 {
                        multiple.y = multiple.y.negate();
                    }
                    assert!(sum.equals(&multiple), "{expected} = {a} + {b} * {k}");
                }
            }
        }
    }
}

#[test]
fn exceptional_sums() {
    sums_of_multiples::<Element<P, Portable>>();
    #[cfg(target_arch = "x86_64")]
    if let Backend::Adx(_) = Backend::detect() {
        sums_of_multiples::<x86_64::adx::Element>();
    }
}

/// The x coordinate of the nonce point may be r + n.
///
/// r = 3 is the smallest r for which r + n is the x coordinate of a point R. With s = 2, the hash h = 0x11 and y of R
/// even or odd, the key is (s R - h G) / r; computed by a short program from the formulas of \[SEC1\] §4.1.6.
#[test]
fn r_beyond_the_order() {
    let key = hex_literal::hex!(
        "a31e91a7deffa3346016421d4bec13c21a44ba38e50fe6d742e63b8da337f316"
        "881db8efd967967694da70270470c3a958bd4934965f591d9153effd1c70f71e"
    );
    let scalar = |k: u8| {
        let mut bytes = [0; 32];
        bytes[31] = k;
        bytes
    };
    let all = |hash: u8, r: u8, s: u8| {
        let (hash, r, s) = (scalar(hash), scalar(r), scalar(s));
        let verified = Backend::Portable.verify(&key, &hash, &r, &s);
        assert_eq!(verify(&key, &hash, &r, &s), verified);
        verified
    };
    assert_eq!(all(0x11, 3, 2), Ok(()));
    for (hash, r, s) in [(0x10, 3, 2), (0x11, 2, 2), (0x11, 4, 2), (0x11, 3, 1)] {
        assert_eq!(all(hash, r, s), Err(Error::Mismatch), "{hash} {r} {s}");
    }
    // r + n is below p only for r below p - n.
    let p_minus_n =
        hex_literal::hex!("000000000000000000000000000000004319055358e8617b0c46353d039cdaae");
    assert!(beyond_order::<Element<P, Portable>>(&p_minus_n).is_none());
    let mut last = p_minus_n;
    last[31] -= 1;
    assert!(beyond_order::<Element<P, Portable>>(&last).is_some());
}
