//! Generalized XMSS as in leanSig c08a3ba: a port of `vectors/xmss/check_vectors.py` with key generation and signing
//! added. Slow and readable; tested against leanSig's own output.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, ensure};
use chacha20::ChaCha12Rng;
use rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;
use tiny_keccak::{Hasher as _, Shake, Xof as _};

/// The KoalaBear prime, 2^31 - 2^24 + 1.
pub const P: u64 = 0x7f00_0001;

/// Eight field elements.
pub type Digest = [u64; 8];
/// The public parameter, which separates the hashes of different keys.
pub type Parameter = [u64; 5];

static CONSTANTS: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../../vectors/xmss/constants.json");
    // The constants are compiled in and read by every test.
    serde_json::from_str(text).unwrap_or_else(|error| unreachable!("embedded vectors: {error}"))
});

fn power(base: u64, exponent: u64) -> u64 {
    (0..exponent.ilog2() + 1).rev().fold(1, |power, bit| {
        let square = power * power % P;
        if exponent >> bit & 1 == 1 {
            square * base % P
        } else {
            square
        }
    })
}

type Matrix = Vec<Vec<u64>>;

/// A permutation as specified in its paper: four full rounds, the partial rounds, four full rounds. Each round adds
/// constants, cubes all elements (in a partial round only the first), and applies a matrix.
pub struct Permutation {
    rounds: Vec<Vec<u64>>,
    full: Matrix,
    partial: Matrix,
    /// Whether the matrix of the full rounds is also applied before the first round.
    leading: bool,
}

/// Poseidon of width 16 and 24.
pub static POSEIDON1: LazyLock<[Permutation; 2]> =
    LazyLock::new(|| [16, 24].map(Permutation::poseidon1));
/// Poseidon2 of width 16 and 24, with the constants of Plonky3 2117e4b: those of Poseidon's stream, full rounds first.
pub static POSEIDON2: LazyLock<[Permutation; 2]> =
    LazyLock::new(|| [16, 24].map(Permutation::poseidon2));

impl Permutation {
    fn poseidon1(width: usize) -> Self {
        let constants = &CONSTANTS[format!("poseidon1_{width}")];
        let numbers = |value: &Value| -> Vec<u64> {
            let list = value.as_array().into_iter().flatten();
            list.filter_map(Value::as_u64).collect()
        };
        let rounds = constants["round_constants"].as_array();
        let row = numbers(&constants["mds_circulant_first_row"]);
        let matrix: Matrix = (0..width)
            .map(|i| (0..width).map(|j| row[(j + width - i) % width]).collect())
            .collect();
        Self {
            rounds: rounds.into_iter().flatten().map(numbers).collect(),
            full: matrix.clone(),
            partial: matrix,
            leading: false,
        }
    }

    fn poseidon2(width: usize) -> Self {
        let stream = Self::poseidon1(width).rounds;
        let partial_rounds = stream.len() - 8;
        let mut rounds = stream[..4].to_vec();
        for constant in stream[8..].iter().flatten().take(partial_rounds) {
            let mut round = vec![0; width];
            round[0] = *constant;
            rounds.push(round);
        }
        rounds.extend_from_slice(&stream[4..8]);
        // Blocks of the circulant matrix of 2, 3, 1, 1, doubled on the diagonal of blocks.
        let full = (0..width)
            .map(|i| {
                let four = |j: usize| [2, 3, 1, 1][(j + 4 - i % 4) % 4];
                (0..width)
                    .map(|j| four(j % 4) * if i / 4 == j / 4 { 2 } else { 1 })
                    .collect()
            })
            .collect();
        // 1 everywhere, plus Plonky3's values on the diagonal: small numbers, powers of 1/2, and their negatives.
        let half = |exponent| power(P / 2 + 1, exponent);
        let mut diagonal = vec![P - 2, 1, 2, half(1), 3, 4, P - half(1), P - 3, P - 4];
        let (positive, negative): (&[u64], &[u64]) = match width {
            16 => (&[8, 3, 24], &[8, 3, 4, 24]),
            _ => (&[8, 2, 3, 4, 5, 6, 24], &[8, 3, 4, 5, 6, 7, 9, 24]),
        };
        diagonal.extend(positive.iter().map(|&exponent| half(exponent)));
        diagonal.extend(negative.iter().map(|&exponent| P - half(exponent)));
        let partial = (0..width)
            .map(|i| {
                let one = |j| if i == j { 1 + diagonal[i] } else { 1 };
                (0..width).map(one).collect()
            })
            .collect();
        Self {
            rounds,
            full,
            partial,
            leading: true,
        }
    }

    /// Number of elements of a state.
    pub fn width(&self) -> usize {
        self.full.len()
    }

    /// Applies the permutation in place.
    pub fn permute(&self, state: &mut Vec<u64>) {
        if self.leading {
            *state = times(&self.full, state);
        }
        let last = self.rounds.len() - 4;
        for (round, constants) in self.rounds.iter().enumerate() {
            for (x, constant) in state.iter_mut().zip(constants) {
                *x = (*x + constant) % P;
            }
            let full = round < 4 || round >= last;
            let cubed = if full { state.len() } else { 1 };
            for x in &mut state[..cubed] {
                *x = *x * *x % P * *x % P;
            }
            *state = times(if full { &self.full } else { &self.partial }, state);
        }
    }
}

fn times(matrix: &Matrix, state: &[u64]) -> Vec<u64> {
    // Sums of three products of 31-bit numbers and a remainder stay below 2^64.
    let three = |(a, b): (&[u64], &[u64])| a.iter().zip(b).map(|(a, b)| a * b).sum::<u64>();
    matrix
        .iter()
        .map(|row| {
            let products = row.chunks(3).zip(state.chunks(3)).map(three);
            products.fold(0, |sum, products| (sum + products) % P)
        })
        .collect()
}

/// The first elements of the permutation of the zero-padded input, plus the input.
fn compress(permutation: &Permutation, input: &[u64]) -> Vec<u64> {
    let mut padded = input.to_vec();
    padded.resize(permutation.full.len(), 0);
    let mut state = padded.clone();
    permutation.permute(&mut state);
    state
        .iter()
        .zip(&padded)
        .map(|(a, b)| (a + b) % P)
        .collect()
}

fn digest(elements: &[u64]) -> Digest {
    std::array::from_fn(|i| elements[i])
}

/// The digits of an integer in base p, least significant first.
fn digits(mut integer: u128, count: usize) -> Vec<u64> {
    let mut digits = Vec::new();
    for _ in 0..count {
        digits.push((integer % u128::from(P)) as u64);
        integer /= u128::from(P);
    }
    digits
}

/// The value of a chain at `position`, computed from the previous one.
fn step(parameter: &Parameter, epoch: u32, chain: usize, position: u64, value: &Digest) -> Digest {
    let tweak = u128::from(epoch) << 24 | (chain as u128) << 16 | u128::from(position) << 8;
    let input = [&value[..], parameter, &digits(tweak, 2)].concat();
    digest(&compress(&POSEIDON1[0], &input))
}

/// Hashes the children of a tree node.
fn node(parameter: &Parameter, level: u32, position: u64, children: &[Digest]) -> Digest {
    let tweak = u128::from(level) << 40 | u128::from(position) << 8 | 1;
    let input = [&parameter[..], &digits(tweak, 2), children.as_flattened()].concat();
    digest(&compress(&POSEIDON1[1], &input))
}

/// Hashes chain ends to a leaf with a sponge in overwrite mode, whose state starts with nine capacity elements.
fn leaf(parameter: &Parameter, epoch: u32, ends: &[Digest]) -> Digest {
    let lengths = [5, 2, ends.len() as u128, 8];
    let lengths = lengths.iter().fold(0, |sum, length| sum << 32 | length);
    let mut state = compress(&POSEIDON1[1], &digits(lengths, 24));
    let tweak = digits(u128::from(epoch) << 8 | 1, 2);
    let input = [&parameter[..], &tweak, ends.as_flattened()].concat();
    for block in input.chunks(15) {
        let mut rate = block.to_vec();
        rate.resize(15, 0);
        state.truncate(9);
        state.extend(rate);
        POSEIDON1[1].permute(&mut state);
    }
    digest(&state[9..])
}

/// The codeword of a message: octal digits that must add up to `sum`; `None` if they do not.
fn encode(
    scheme: Scheme,
    parameter: &Parameter,
    epoch: u32,
    rho: &[u64],
    message: &[u8; 32],
) -> Option<Vec<u64>> {
    let mut integer = num_bigint::BigUint::from_bytes_le(message);
    let mut elements = Vec::new();
    for _ in 0..9 {
        elements.extend((&integer % P).to_u64_digits().first().copied().or(Some(0)));
        integer /= P;
    }
    let tweak = digits(u128::from(epoch) << 8 | 2, 2);
    let hash = compress(
        &POSEIDON1[1],
        &[&elements[..], parameter, &tweak, rho].concat(),
    );
    let mut codeword = Vec::new();
    for element in &hash[..scheme.chains.div_ceil(8)] {
        if *element == P - 1 {
            return None;
        }
        codeword.extend((0..8).map(|i| ((element / 127) >> (3 * i)) & 7));
    }
    codeword.truncate(scheme.chains);
    (codeword.iter().sum::<u64>() == scheme.sum).then_some(codeword)
}

/// Prefix of every input of the pseudorandom function.
const DOMAIN: [u8; 16] = [
    0xae, 0xae, 0x22, 0xff, 0x00, 0x01, 0xfa, 0xff, 0x21, 0xaf, 0x12, 0x00, 0x01, 0x11, 0xff, 0x00,
];

fn prf(parts: &[&[u8]], count: usize) -> Vec<u64> {
    let mut shake = Shake::v128();
    shake.update(&DOMAIN);
    for part in parts {
        shake.update(part);
    }
    let mut output = vec![0; 16 * count];
    shake.squeeze(&mut output);
    let words = output.as_chunks().0.iter();
    words
        .map(|word| (u128::from_be_bytes(*word) % u128::from(P)) as u64)
        .collect()
}

/// The first value of a chain.
pub fn chain_start(key: &[u8], epoch: u32, chain: usize) -> Digest {
    let parts: [&[u8]; 4] = [
        &[0],
        key,
        &epoch.to_be_bytes(),
        &(chain as u64).to_be_bytes(),
    ];
    digest(&prf(&parts, 8))
}

/// Parameters of a scheme.
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    /// Hash chains per epoch.
    pub chains: usize,
    /// Sum of the digits of a codeword.
    pub sum: u64,
    /// Base-2 logarithm of the number of epochs.
    pub log_lifetime: u32,
}

impl Scheme {
    /// The parameters with 46 chains.
    pub const fn chains46(log_lifetime: u32) -> Self {
        Self {
            chains: 46,
            sum: 200,
            log_lifetime,
        }
    }

    /// The test parameters.
    pub const TEST: Self = Self {
        chains: 4,
        sum: 6,
        log_lifetime: 8,
    };

    /// Bytes of a signature.
    #[cfg(test)]
    pub const fn signature_len(&self) -> usize {
        40 + 32 * (self.log_lifetime as usize + self.chains)
    }

    /// Whether the bytes are the canonical encoding of a signature, valid or not.
    #[cfg(test)]
    pub fn decodes(&self, bytes: &[u8]) -> bool {
        let word =
            |at: usize| u64::from(u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i])));
        let hashes = 40 + 32 * u64::from(self.log_lifetime);
        bytes.len() == self.signature_len()
            && (word(0), word(32), word(36)) == (36, hashes, 4)
            && (4..32)
                .chain(40..bytes.len())
                .step_by(4)
                .all(|at| word(at) < P)
    }
}

/// A key that covers all epochs of a scheme.
pub struct Key {
    scheme: Scheme,
    prf_key: [u8; 32],
    parameter: Parameter,
    /// Tree layers from the leaves to the root.
    layers: Vec<Vec<Digest>>,
}

fn bytes<'a>(elements: impl IntoIterator<Item = &'a u64>) -> Vec<u8> {
    let words = elements.into_iter().map(|element| *element as u32);
    words.flat_map(u32::to_le_bytes).collect()
}

impl Key {
    /// Generates the key for the seed of rand's `StdRng::seed_from_u64`. A tree of all epochs draws nothing beyond
    /// this.
    pub fn new(scheme: Scheme, seed: u64) -> Self {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        // The drawn numbers are Montgomery forms.
        let from_montgomery = power((1 << 32) % P, P - 2);
        let parameter = std::array::from_fn(|_| {
            loop {
                let word = u64::from(rng.next_u32() >> 1);
                if word < P {
                    return word * from_montgomery % P;
                }
            }
        });
        let prf_key: [u8; 32] = std::array::from_fn(|_| rng.next_u32() as u8);
        let leaves = (0..1_u32 << scheme.log_lifetime).map(|epoch| {
            let ends: Vec<Digest> = (0..scheme.chains)
                .map(|chain| {
                    let start = chain_start(&prf_key, epoch, chain);
                    (1..8).fold(start, |value, position| {
                        step(&parameter, epoch, chain, position, &value)
                    })
                })
                .collect();
            leaf(&parameter, epoch, &ends)
        });
        let mut layers: Vec<Vec<Digest>> = vec![leaves.collect()];
        for level in 1..=scheme.log_lifetime {
            let below = layers.last().into_iter().flat_map(|layer| layer.chunks(2));
            let layer = (0..).zip(below);
            layers.push(
                layer
                    .map(|(position, children)| node(&parameter, level, position, children))
                    .collect(),
            );
        }
        Self {
            scheme,
            prf_key,
            parameter,
            layers,
        }
    }

    /// The public key: root and parameter.
    pub fn public_key(&self) -> Vec<u8> {
        let root = self.layers.last().into_iter().flatten().flatten();
        bytes(root.chain(&self.parameter))
    }

    /// Signs with the lowest counter that gives a codeword.
    pub fn sign(&self, epoch: u32, message: &[u8; 32]) -> Result<Vec<u8>> {
        ensure!(epoch >> self.scheme.log_lifetime == 0, "no such epoch");
        let (rho, codeword) = (0..100_000_u64)
            .find_map(|counter| {
                let parts: [&[u8]; 5] = [
                    &[1],
                    &self.prf_key,
                    &epoch.to_be_bytes(),
                    message,
                    &counter.to_be_bytes(),
                ];
                let rho = prf(&parts, 7);
                let codeword = encode(self.scheme, &self.parameter, epoch, &rho, message)?;
                Some((rho, codeword))
            })
            .context("no codeword")?;
        let path = (0..).zip(&self.layers[..self.scheme.log_lifetime as usize]);
        let path = path.map(|(level, layer)| &layer[(epoch >> level ^ 1) as usize]);
        let hashes = codeword.iter().enumerate().map(|(chain, &steps)| {
            let start = chain_start(&self.prf_key, epoch, chain);
            (1..=steps).fold(start, |value, position| {
                step(&self.parameter, epoch, chain, position, &value)
            })
        });
        let hashes_at = 40 + 32 * self.scheme.log_lifetime;
        Ok([
            36_u32.to_le_bytes().to_vec(),
            bytes(&rho),
            hashes_at.to_le_bytes().to_vec(),
            4_u32.to_le_bytes().to_vec(),
            bytes(path.flatten()),
            bytes(hashes.collect::<Vec<_>>().as_flattened()),
        ]
        .concat())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::truth::unhex;

    fn file(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    fn list(value: &Value) -> Vec<u64> {
        let list = value.as_array().unwrap().iter();
        list.map(|number| number.as_u64().unwrap()).collect()
    }

    fn bytes_of(value: &Value) -> Vec<u8> {
        unhex(value.as_str().unwrap().as_bytes()).unwrap()
    }

    #[test]
    fn permutations_are_leansigs_and_plonky3s() {
        let vectors = file(include_str!("../../../vectors/xmss/primitives.json"));
        for permutation in &*POSEIDON1 {
            let name = format!("poseidon1_koalabear_{}", permutation.full.len());
            for vector in vectors[name].as_array().unwrap() {
                let mut state = list(&vector["in"]);
                permutation.permute(&mut state);
                assert_eq!(state, list(&vector["out"]));
            }
        }
        // Plonky3's tests of p3-koala-bear 0.9 use other round constants: there the constants of the partial rounds
        // come fifth. The matrices are the same.
        let input = [
            894848333, 1437655012, 1200606629, 1690012884, 71131202, 1749206695, 1717947831,
            120589055, 19776022, 42382981, 1831865506, 724844064, 171220207, 1299207443, 227047920,
            1783754913,
        ];
        let output = [
            1934285469, 604889435, 133449501, 1026180808, 1830659359, 176667110, 1391183747,
            351743874, 1238264085, 1292768839, 2023573270, 1201586780, 1360691759, 1230682461,
            748270449, 651545025,
        ];
        let mut permutation = Permutation::poseidon2(16);
        let stream = Permutation::poseidon1(16).rounds.concat();
        for (round, constants) in permutation.rounds[4..].iter_mut().enumerate() {
            if round < 20 {
                constants[0] = stream[64 + round];
            } else {
                constants.copy_from_slice(&stream[84 + 16 * (round - 20)..][..16]);
            }
        }
        let mut state = input.to_vec();
        permutation.permute(&mut state);
        assert_eq!(state, output);
    }

    #[test]
    fn keys_and_signatures_are_leansigs() {
        let test = include_str!("../../../vectors/xmss/test_2e8_dim4_full.json");
        let dim46 = include_str!("../../../vectors/xmss/dim46_2e8_full.json");
        for (text, scheme, seed) in [
            (test, Scheme::TEST, 1001),
            (dim46, Scheme::chains46(8), 1003),
        ] {
            let vectors = file(text);
            let key = Key::new(scheme, seed);
            assert_eq!(key.public_key(), bytes_of(&vectors["pk_ssz"]));
            for entry in vectors["signatures"].as_array().unwrap().iter().take(6) {
                let message = bytes_of(&entry["message"]).try_into().unwrap();
                let epoch = entry["epoch"].as_u64().unwrap() as u32;
                let signature = bytes_of(&entry["sig_ssz"]);
                assert_eq!(key.sign(epoch, &message).unwrap(), signature);
                assert!(scheme.decodes(&signature));
            }
        }
    }
}
