//! RIPEMD-160, for the EVM's precompile 0x03.
//!
//! The two lines of each block are independent, so their steps are interleaved: each is a chain of dependent
//! operations, and the CPU executes both in parallel.
//!
//! Source: \[RIPEMD160\]; `reference.rs` follows its pseudo-code. Constant time: no secret-dependent branch or address.

mod dispatch;
#[cfg(test)]
mod reference;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use dispatch::Backend;

/// Computes RIPEMD-160 of `data`.
///
/// ```
/// let digest = lydite_hash::ripemd160(b"abc");
/// assert_eq!(digest[..4], [0x8e, 0xb2, 0x08, 0xf7]);
/// ```
#[must_use]
pub fn ripemd160(data: &[u8]) -> [u8; 20] {
    Backend::detect().digest(data)
}

const INITIAL: [u32; 5] = [
    0x6745_2301,
    0xefcd_ab89,
    0x98ba_dcfe,
    0x1032_5476,
    0xc3d2_e1f0,
];

/// Adds the five functions of three words to `t`. Few operations depend on `x`, the most recent word; `t` is known
/// before it.
trait Functions {
    #[inline(always)]
    fn f1(t: u32, x: u32, y: u32, z: u32) -> u32 {
        t.wrapping_add(x ^ (y ^ z))
    }

    #[inline(always)]
    fn f2(t: u32, x: u32, y: u32, z: u32) -> u32 {
        t.wrapping_add(((y ^ z) & x) ^ z)
    }

    #[inline(always)]
    fn f3(t: u32, x: u32, y: u32, z: u32) -> u32 {
        t.wrapping_add((x | !y) ^ z)
    }

    #[inline(always)]
    fn f4(t: u32, x: u32, y: u32, z: u32) -> u32 {
        t.wrapping_add(((x ^ y) & z) ^ y)
    }

    #[inline(always)]
    fn f5(t: u32, x: u32, y: u32, z: u32) -> u32 {
        t.wrapping_add(x ^ (y | !z))
    }
}

/// Leaves the order of operations to the compiler.
struct Plain;

impl Functions for Plain {}

#[inline(always)]
fn digest<F: Functions>(data: &[u8]) -> [u8; 20] {
    let (blocks, rest) = data.as_chunks::<64>();
    // The rest, a 1 bit, zeros, and the length in bits: one or two blocks.
    let mut padded = [0; 128];
    padded[..rest.len()].copy_from_slice(rest);
    padded[rest.len()] = 0x80;
    let used = if rest.len() < 56 { 64 } else { 128 };
    padded[used - 8..used].copy_from_slice(&(data.len() as u64).wrapping_mul(8).to_le_bytes());
    let mut state = INITIAL;
    for block in blocks.iter().chain(padded[..used].as_chunks().0) {
        compress::<F>(&mut state, block);
    }
    let mut digest = [0; 20];
    for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *bytes = word.to_le_bytes();
    }
    digest
}

macro_rules! step {
    ($f:path, $k:literal, $x:expr, $s:literal, $a:ident $b:ident $c:ident $d:ident $e:ident) => {
        $a = $f($a.wrapping_add($x).wrapping_add($k), $b, $c, $d)
            .rotate_left($s)
            .wrapping_add($e);
        $c = $c.rotate_left(10);
    };
}

/// Sixteen interleaved steps of both lines. For each step: word and rotation of the left line, then of the right line.
macro_rules! round {
    ($x:ident, $f:ident $k:literal, $g:ident $l:literal,
     [$a:ident $b:ident $c:ident $d:ident $e:ident] [$p:ident $q:ident $r:ident $s:ident $t:ident]) => {};
    ($x:ident, $f:ident $k:literal, $g:ident $l:literal,
     [$a:ident $b:ident $c:ident $d:ident $e:ident] [$p:ident $q:ident $r:ident $s:ident $t:ident]
     $i:literal $n:literal $j:literal $m:literal, $($rest:tt)*) => {
        step!(F::$f, $k, $x[$i], $n, $a $b $c $d $e);
        step!(F::$g, $l, $x[$j], $m, $p $q $r $s $t);
        round!($x, $f $k, $g $l, [$e $a $b $c $d] [$t $p $q $r $s] $($rest)*);
    };
}

#[inline(always)]
fn compress<F: Functions>(state: &mut [u32; 5], block: &[u8; 64]) {
    let words = block.as_chunks::<4>().0;
    let x: [u32; 16] = core::array::from_fn(|i| u32::from_le_bytes(words[i]));
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    let [mut p, mut q, mut r, mut s, mut t] = *state;
    round!(x, f1 0, f5 0x50a2_8be6, [a b c d e] [p q r s t]
        0 11 5 8, 1 14 14 9, 2 15 7 9, 3 12 0 11, 4 5 9 13, 5 8 2 15, 6 7 11 15, 7 9 4 5,
        8 11 13 7, 9 13 6 7, 10 14 15 8, 11 15 8 11, 12 6 1 14, 13 7 10 14, 14 9 3 12, 15 8 12 6,);
    round!(x, f2 0x5a82_7999, f4 0x5c4d_d124, [e a b c d] [t p q r s]
        7 7 6 9, 4 6 11 13, 13 8 3 15, 1 13 7 7, 10 11 0 12, 6 9 13 8, 15 7 5 9, 3 15 10 11,
        12 7 14 7, 0 12 15 7, 9 15 8 12, 5 9 12 7, 2 11 4 6, 14 7 9 15, 11 13 1 13, 8 12 2 11,);
    round!(x, f3 0x6ed9_eba1, f3 0x6d70_3ef3, [d e a b c] [s t p q r]
        3 11 15 9, 10 13 5 7, 14 6 1 15, 4 7 3 11, 9 14 7 8, 15 9 14 6, 8 13 6 6, 1 15 9 14,
        2 14 11 12, 7 8 8 13, 0 13 12 5, 6 6 2 14, 13 5 10 13, 11 12 0 13, 5 7 4 7, 12 5 13 5,);
    round!(x, f4 0x8f1b_bcdc, f2 0x7a6d_76e9, [c d e a b] [r s t p q]
        1 11 8 15, 9 12 6 5, 11 14 4 8, 10 15 1 11, 0 14 3 14, 8 15 11 14, 12 9 15 6, 4 8 0 14,
        13 9 5 6, 3 14 12 9, 7 5 2 12, 15 6 13 9, 14 8 9 12, 5 6 7 5, 6 5 10 15, 2 12 14 8,);
    round!(x, f5 0xa953_fd4e, f1 0, [b c d e a] [q r s t p]
        4 9 12 8, 0 15 15 5, 5 5 10 12, 9 11 4 9, 7 6 1 12, 12 8 5 5, 2 13 8 14, 10 12 7 6,
        14 5 6 8, 1 12 2 13, 3 13 13 6, 8 14 14 5, 11 11 0 15, 6 8 3 13, 15 5 9 11, 13 6 11 11,);
    let [h0, h1, h2, h3, h4] = *state;
    *state = [
        h1.wrapping_add(c).wrapping_add(s),
        h2.wrapping_add(d).wrapping_add(t),
        h3.wrapping_add(e).wrapping_add(p),
        h4.wrapping_add(a).wrapping_add(q),
        h0.wrapping_add(b).wrapping_add(r),
    ];
}

#[cfg(test)]
mod tests {
    use std::{format, string::String, vec::Vec};

    use proptest::prelude::*;

    use super::*;

    fn hex(digest: [u8; 20]) -> String {
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The examples of [RIPEMD160], appendix B.
    #[test]
    fn published_examples() {
        let digits = b"1234567890".repeat(8);
        let million = b"a".repeat(1_000_000);
        let examples: [(&[u8], &str); 9] = [
            (b"", "9c1185a5c5e9fc54612808977ee8f548b2258d31"),
            (b"a", "0bdc9d2d256b3ee9daae347be6f4dc835a467ffe"),
            (b"abc", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"),
            (
                b"message digest",
                "5d0689ef49d2fae572b881b123a85ffa21595f36",
            ),
            (
                b"abcdefghijklmnopqrstuvwxyz",
                "f71c27109c692c1b56bbdceb5b9d2865b3708dbc",
            ),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "12a053384a9c0c88e405a06c27dcf49ada62eb2b",
            ),
            (
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "b0e20b6e3116640286ed3a87a5713079b21f5189",
            ),
            (&digits, "9b752e45573d4b39f4dbd3323cab82bf63326bfb"),
            (&million, "52783243c1697bdbe16d37f97f68f08325dc1528"),
        ];
        // The last example is too long for Miri.
        let examples = &examples[..if cfg!(miri) { 8 } else { 9 }];
        for backend in Backend::available() {
            for &(message, digest) in examples {
                assert_eq!(hex(backend.digest(message)), digest, "{backend:?}");
            }
        }
    }

    #[test]
    fn every_length_is_that_of_the_reference() {
        let data: Vec<u8> = (0..300u32).map(|i| (i * 7 + 3) as u8).collect();
        for length in (0..data.len()).step_by(if cfg!(miri) { 37 } else { 1 }) {
            let expected = reference::ripemd160(&data[..length]);
            assert_eq!(ripemd160(&data[..length]), expected, "{length}");
            for backend in Backend::available() {
                assert_eq!(
                    backend.digest(&data[..length]),
                    expected,
                    "{backend:?} {length}"
                );
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 4 } else { 256 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]
        #[test]
        fn any_input_is_that_of_the_reference(data in proptest::collection::vec(any::<u8>(), 0..500)) {
            let expected = reference::ripemd160(&data);
            for backend in Backend::available() {
                prop_assert_eq!(backend.digest(&data), expected, "{:?}", backend);
            }
        }
    }
}
