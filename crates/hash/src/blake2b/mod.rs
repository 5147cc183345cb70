//! The compression function F of BLAKE2b with a variable number of rounds, for the EVM's precompile 0x09.
//!
//! Source: \[RFC7693\] §3.2, \[EIP-152\].

mod dispatch;
mod portable;
#[cfg(test)]
mod reference;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use dispatch::Backend;

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
    compress(Backend::detect(), rounds, h, m, t, last);
}

#[inline]
fn compress(
    backend: Backend,
    rounds: u32,
    h: &mut [u64; 8],
    m: &[u64; 16],
    t: [u64; 2],
    last: bool,
) {
    let ends = [t[0], t[1], if last { u64::MAX } else { 0 }, 0];
    backend.compress(rounds, h, m, &ends);
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

/// The schedule, \[RFC7693\] §2.7: the message words of each round. It repeats after ten rounds.
const SIGMA: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

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
            let mut theirs = h;
            reference::compress(rounds, &mut theirs, &m, t, last);
            for backend in Backend::available() {
                let mut ours = h;
                compress(backend, rounds, &mut ours, &m, t, last);
                prop_assert_eq!(ours, theirs, "{:?}", backend);
            }
        }
    }
}
