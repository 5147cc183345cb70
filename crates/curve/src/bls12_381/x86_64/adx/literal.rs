//! Numbers modulo p at compile time.

use super::field::{Fp, INVERSE, P, Words, difference};
use crate::words::multiply_add;

/// 2^768 mod p.
const R2: Words = [
    0xf4df_1f34_1c34_1746,
    0x0a76_e6a6_09d1_04f1,
    0x8de5_476c_4c95_b6d5,
    0x67eb_88a9_939d_83c0,
    0x9a79_3e85_b519_952d,
    0x1198_8fe5_92ca_e3aa,
];

/// Converts a number below p, in 96 hexadecimal digits, at compile time.
pub(super) const fn constant(digits: &str) -> Fp {
    let digits = digits.as_bytes();
    assert!(digits.len() == 96);
    let (mut words, mut i) = ([0; 6], 0);
    while i < 96 {
        let digit = match digits[i] {
            digit @ b'0'..=b'9' => digit - b'0',
            digit => digit - b'a' + 10,
        };
        words[5 - i / 16] = words[5 - i / 16] << 4 | digit as u64;
        i += 1;
    }
    Fp::from_montgomery(to_montgomery(&words))
}

/// Converts a small number at compile time.
pub(super) const fn small(n: i64) -> Fp {
    let words = to_montgomery(&[n.unsigned_abs(), 0, 0, 0, 0, 0]);
    Fp::from_montgomery(if n < 0 {
        difference(&P, &words).0
    } else {
        words
    })
}

/// `2^384 a mod p`: the Montgomery product with [`R2`], word by word.
const fn to_montgomery(a: &Words) -> Words {
    let (mut t, mut i) = ([0; 7], 0);
    while i < 6 {
        add_multiple(&mut t, a[i], &R2);
        let quotient = t[0].wrapping_mul(INVERSE);
        add_multiple(&mut t, quotient, &P);
        t = [t[1], t[2], t[3], t[4], t[5], t[6], 0];
        i += 1;
    }
    let words = [t[0], t[1], t[2], t[3], t[4], t[5]];
    let (reduced, borrow) = difference(&words, &P);
    if borrow { words } else { reduced }
}

/// Adds `a b`. The sum is below 2^448.
const fn add_multiple(t: &mut [u64; 7], a: u64, b: &Words) {
    let (mut carry, mut i) = (0, 0);
    while i < 6 {
        (t[i], carry) = multiply_add(a, b[i], t[i], carry);
        i += 1;
    }
    t[6] += carry;
}
