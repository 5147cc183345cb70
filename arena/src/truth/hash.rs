//! SHA-256, RIPEMD-160 and the BLAKE2b compression function F, written from their specifications.

use num_bigint::BigUint;

/// The first 64 primes.
const PRIMES: [u32; 64] = [
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
    101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193,
    197, 199, 211, 223, 227, 229, 233, 239, 241, 251, 257, 263, 269, 271, 277, 281, 283, 293, 307,
    311,
];

/// The lowest 32 bits.
fn low(value: &BigUint) -> u32 {
    value.iter_u32_digits().next().unwrap_or(0)
}

/// Pads a message with 0x80, zeros, and its length in bits.
fn padded(message: &[u8], length: [u8; 8]) -> Vec<u8> {
    let mut out = [message, &[0x80]].concat();
    out.resize((out.len() + 8).next_multiple_of(64) - 8, 0);
    out.extend(length);
    out
}

/// SHA-256 (FIPS 180-4). The constants are the first 32 bits of the fractional parts of roots of primes.
pub fn sha256(message: &[u8]) -> [u8; 32] {
    let constants = PRIMES.map(|prime| low(&(BigUint::from(prime) << 96u32).cbrt()));
    let mut state: [u32; 8] =
        std::array::from_fn(|i| low(&(BigUint::from(PRIMES[i]) << 64u32).sqrt()));
    for block in padded(message, (message.len() as u64 * 8).to_be_bytes()).chunks(64) {
        let mut w = [0u32; 64];
        for t in 0..64 {
            w[t] = match t {
                0..16 => block[4 * t..4 * t + 4]
                    .iter()
                    .fold(0, |word, b| word << 8 | u32::from(*b)),
                _ => {
                    let (x, y) = (w[t - 15], w[t - 2]);
                    let s0 = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
                    let s1 = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
                    w[t - 16]
                        .wrapping_add(s0)
                        .wrapping_add(w[t - 7])
                        .wrapping_add(s1)
                }
            };
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for t in 0..64 {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let t1 = [s1, (e & f) ^ (!e & g), constants[t], w[t]]
                .iter()
                .fold(h, |x, y| x.wrapping_add(*y));
            let t2 = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(t1), c, b, a, t1.wrapping_add(t2));
        }
        for (word, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word = word.wrapping_add(new);
        }
    }
    let mut out = [0; 32];
    for (bytes, word) in out.chunks_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    out
}

/// RIPEMD-160 (Dobbertin, Bosselaers and Preneel, "RIPEMD-160: A Strengthened Version of RIPEMD", 1996).
pub fn ripemd160(message: &[u8]) -> [u8; 20] {
    /// Rotations by round and message word.
    const ROTATE: [[u32; 16]; 5] = [
        [11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8],
        [12, 13, 11, 15, 6, 9, 9, 7, 12, 15, 11, 13, 7, 8, 7, 7],
        [13, 15, 14, 11, 7, 7, 6, 8, 13, 14, 13, 12, 5, 5, 6, 9],
        [14, 11, 12, 14, 8, 6, 5, 5, 15, 12, 15, 14, 9, 9, 8, 6],
        [15, 12, 13, 13, 9, 5, 8, 6, 14, 11, 12, 11, 8, 6, 5, 5],
    ];
    const RHO: [usize; 16] = [7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8];
    let function = |round: usize, x: u32, y: u32, z: u32| match round {
        0 => x ^ y ^ z,
        1 => (x & y) | (!x & z),
        2 => (x | !y) ^ z,
        3 => (x & z) | (y & !z),
        _ => x ^ (y | !z),
    };
    // 2^30 times the square or cube roots of 2, 3, 5 and 7.
    let constant = |left: bool, round: usize| match (left, round) {
        (true, 0) | (false, 4) => 0,
        (true, _) => low(&(BigUint::from(PRIMES[round - 1]) << 60u32).sqrt()),
        (false, _) => low(&(BigUint::from(PRIMES[round]) << 90u32).cbrt()),
    };
    let line = |left: bool, state: [u32; 5], words: &[u32]| {
        let [mut a, mut b, mut c, mut d, mut e] = state;
        let mut order: [usize; 16] =
            std::array::from_fn(|i| if left { i } else { (9 * i + 5) % 16 });
        for (round, rotate) in ROTATE.iter().enumerate() {
            let k = constant(left, round);
            for &word in &order {
                let f = function(if left { round } else { 4 - round }, b, c, d);
                let t = a.wrapping_add(f).wrapping_add(words[word]).wrapping_add(k);
                let t = t.rotate_left(rotate[word]).wrapping_add(e);
                (a, e, d, c, b) = (e, d, c.rotate_left(10), b, t);
            }
            order = order.map(|i| RHO[i]);
        }
        [a, b, c, d, e]
    };
    let mut state: [u32; 5] = [
        0x6745_2301,
        0xefcd_ab89,
        0x98ba_dcfe,
        0x1032_5476,
        0xc3d2_e1f0,
    ];
    for block in padded(message, (message.len() as u64 * 8).to_le_bytes()).chunks(64) {
        let words: Vec<u32> = block
            .chunks(4)
            .map(|word| {
                word.iter()
                    .rev()
                    .fold(0, |word, b| word << 8 | u32::from(*b))
            })
            .collect();
        let (l, r) = (line(true, state, &words), line(false, state, &words));
        state = std::array::from_fn(|i| {
            let at = |i: usize| i % 5;
            state[at(i + 1)]
                .wrapping_add(l[at(i + 2)])
                .wrapping_add(r[at(i + 3)])
        });
    }
    let mut out = [0; 20];
    for (bytes, word) in out.chunks_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    out
}

/// The message words of each round of BLAKE2b and BLAKE2s (RFC 7693, section 2.7).
pub(super) const SIGMA: [[usize; 16]; 10] = [
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

/// BLAKE2b F (EIP-152): the new state for a 213-byte input, whose final flag must be 0 or 1.
pub fn blake2f(input: &[u8; 213]) -> Vec<u8> {
    let word = |at: usize| {
        input[at..at + 8]
            .iter()
            .rev()
            .fold(0u64, |word, b| word << 8 | u64::from(*b))
    };
    let rounds = input[..4]
        .iter()
        .fold(0usize, |n, b| n << 8 | usize::from(*b));
    let h: [u64; 8] = std::array::from_fn(|i| word(4 + 8 * i));
    let m: [u64; 16] = std::array::from_fn(|i| word(68 + 8 * i));
    // The first 64 bits of the fractional parts of the square roots of the first primes.
    let iv = |i: usize| {
        let root = (BigUint::from(PRIMES[i]) << 128u32).sqrt();
        root.iter_u64_digits().next().unwrap_or(0)
    };
    let mut v: [u64; 16] = std::array::from_fn(|i| if i < 8 { h[i] } else { iv(i - 8) });
    v[12] ^= word(196);
    v[13] ^= word(204);
    if input[212] == 1 {
        v[14] = !v[14];
    }
    for round in 0..rounds {
        let s = &SIGMA[round % 10];
        let mut mix = |[a, b, c, d]: [usize; 4], x: u64, y: u64| {
            for (add, first, second) in [(x, 32, 24), (y, 16, 63)] {
                v[a] = v[a].wrapping_add(v[b]).wrapping_add(add);
                v[d] = (v[d] ^ v[a]).rotate_right(first);
                v[c] = v[c].wrapping_add(v[d]);
                v[b] = (v[b] ^ v[c]).rotate_right(second);
            }
        };
        for i in 0..4 {
            mix([i, 4 + i, 8 + i, 12 + i], m[s[2 * i]], m[s[2 * i + 1]]);
        }
        for i in 0..4 {
            let at = [i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4];
            mix(at, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
        }
    }
    (0..8)
        .flat_map(|i| (h[i] ^ v[i] ^ v[i + 8]).to_le_bytes())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::hex;

    #[test]
    fn hashes_are_the_published_ones() {
        // Test vectors of FIPS 180-4 and of the page of RIPEMD-160's authors.
        assert_eq!(
            hex(&sha256(b"abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            hex(&ripemd160(b"abc")),
            "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"
        );
        assert_eq!(
            hex(&ripemd160(b"")),
            "9c1185a5c5e9fc54612808977ee8f548b2258d31"
        );
    }
}
