//! The compression function F of BLAKE2b with a variable number of rounds, for the EVM's precompile 0x09.
//!
//! Source: \[RFC7693\] §3.2, \[EIP-152\].

#[cfg(test)]
mod reference;

/// Updates `h` by compressing the message block `m`, with offset counters `t` and the flag of the last block.
///
/// ```
/// // BLAKE2b-512 of "abc" (RFC 7693, appendix A): one block, 12 rounds.
/// let mut h = [
///     0x6a09e667f2bdc948, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
///     0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
/// ];
/// let mut m = [0; 16];
/// m[0] = u64::from_le_bytes(*b"abc\0\0\0\0\0");
/// lydite_hash::blake2b_compress(12, &mut h, &m, [3, 0], true);
/// assert_eq!(h[0].to_le_bytes()[..4], [0xba, 0x80, 0xa5, 0x3f]);
/// ```
pub fn blake2b_compress(rounds: u32, h: &mut [u64; 8], m: &[u64; 16], t: [u64; 2], last: bool) {
    let mut v = [0; 16];
    v[..8].copy_from_slice(h);
    v[8..].copy_from_slice(&IV);
    v[12] ^= t[0];
    v[13] ^= t[1];
    if last {
        v[14] = !v[14];
    }
    mix(rounds, &mut v, m);
    for i in 0..8 {
        h[i] ^= v[i] ^ v[i + 8];
    }
}

const IV: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

macro_rules! g {
    ($v:ident, $m:ident, $a:literal $b:literal $c:literal $d:literal, $x:literal $y:literal) => {
        $v[$a] = $v[$a].wrapping_add($m[$x]).wrapping_add($v[$b]);
        $v[$d] = ($v[$d] ^ $v[$a]).rotate_right(32);
        $v[$c] = $v[$c].wrapping_add($v[$d]);
        $v[$b] = ($v[$b] ^ $v[$c]).rotate_right(24);
        $v[$a] = $v[$a].wrapping_add($m[$y]).wrapping_add($v[$b]);
        $v[$d] = ($v[$d] ^ $v[$a]).rotate_right(16);
        $v[$c] = $v[$c].wrapping_add($v[$d]);
        $v[$b] = ($v[$b] ^ $v[$c]).rotate_right(63);
    };
}

/// A round with one row of the schedule SIGMA.
macro_rules! round {
    ($v:ident, $m:ident, $s0:literal $s1:literal $s2:literal $s3:literal $s4:literal $s5:literal $s6:literal $s7:literal
     $s8:literal $s9:literal $s10:literal $s11:literal $s12:literal $s13:literal $s14:literal $s15:literal) => {
        g!($v, $m, 0 4 8 12, $s0 $s1);
        g!($v, $m, 1 5 9 13, $s2 $s3);
        g!($v, $m, 2 6 10 14, $s4 $s5);
        g!($v, $m, 3 7 11 15, $s6 $s7);
        g!($v, $m, 0 5 10 15, $s8 $s9);
        g!($v, $m, 1 6 11 12, $s10 $s11);
        g!($v, $m, 2 7 8 13, $s12 $s13);
        g!($v, $m, 3 4 9 14, $s14 $s15);
    };
}

fn mix(rounds: u32, v: &mut [u64; 16], m: &[u64; 16]) {
    let mut w = *v;
    let mut left = rounds;
    // The schedule repeats after ten rounds; straight-line code for each of them addresses the message words directly.
    macro_rules! next {
        ($($s:literal)*) => {
            if left == 0 {
                break;
            }
            left -= 1;
            round!(w, m, $($s)*);
        };
    }
    loop {
        next!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        next!(14 10 4 8 9 15 13 6 1 12 0 2 11 7 5 3);
        next!(11 8 12 0 5 2 15 13 10 14 3 6 7 1 9 4);
        next!(7 9 3 1 13 12 11 14 2 6 5 10 4 0 15 8);
        next!(9 0 5 7 2 4 10 15 14 1 11 12 6 8 3 13);
        next!(2 12 6 10 0 11 8 3 4 13 7 5 15 14 1 9);
        next!(12 5 1 15 14 13 4 10 0 7 6 3 9 2 8 11);
        next!(13 11 7 14 12 1 3 9 5 0 15 4 8 6 2 10);
        next!(6 15 14 9 11 3 0 8 12 2 13 7 1 4 10 5);
        next!(10 2 8 4 7 6 1 5 15 11 9 14 3 12 13 0);
    }
    *v = w;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// [EIP-152], test vectors 4 to 8: "abc" with some numbers of rounds; the first word of each.
    #[test]
    fn vectors_of_eip_152() {
        let mut start = IV;
        start[0] ^= 0x0101_0040;
        let mut m = [0; 16];
        m[0] = 0x63_6261;
        for (rounds, last, first) in [
            (0, true, "08c9bcf367e6096a"),
            (12, true, "ba80a53f981c4d0d"),
            (12, false, "75ab69d3190a562c"),
            (1, true, "b63a380cb2897d52"),
        ] {
            let mut h = start;
            blake2b_compress(rounds, &mut h, &m, [3, 0], last);
            assert_eq!(std::format!("{:016x}", h[0].swap_bytes()), first);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 4 } else { 256 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]
        #[test]
        fn any_input_is_that_of_the_reference(
            rounds in 0u32..40, h: [u64; 8], m: [u64; 16], t: [u64; 2], last: bool,
        ) {
            let (mut ours, mut theirs) = (h, h);
            blake2b_compress(rounds, &mut ours, &m, t, last);
            reference::compress(rounds, &mut theirs, &m, t, last);
            prop_assert_eq!(ours, theirs);
        }
    }
}
