//! Precompiled contracts. The first byte of the data selects the contract, the second the fork, the third the source of
//! the input: the rest of the data, recombined pieces of known vectors, or one vector with some bytes changed.
//!
//! Slow arithmetic predicts which calls must fail; another implementation or an algebraic identity predicts the output.
//! Gas used stays within the limit, and a failed call returns no output.

use std::sync::{LazyLock, OnceLock};

use k256::ecdsa::{RecoveryId, VerifyingKey};
use lydite::evm::precompile::{Error, Fork, GasUsed, Precompile};
use lydite::hash::keccak256;
use num_bigint::BigUint;
use p256::ecdsa::signature::hazmat::PrehashVerifier;
use sha2::Digest;

/// Gas limit that bounds the rounds of BLAKE2 F and the work of modexp.
const GAS: u64 = 400_000;
/// Gas limit that allows multi-scalar multiplications and pairings of more points than any implementation handles at
/// once.
const GAS_OF_MANY: u64 = 1_200_000;

fn run(
    precompile: Precompile,
    input: &[u8],
    gas: u64,
    fork: Fork,
) -> Result<(GasUsed, Vec<u8>), Error> {
    let mut out = vec![1, 2, 3];
    let used = precompile.run(input, gas, fork, &mut out);
    assert!(used.map_or_else(|_| out.is_empty(), |used| used <= gas));
    used.map(|used| (used, out))
}

/// The output of a call that cannot fail.
fn output(precompile: Precompile, input: &[u8]) -> Vec<u8> {
    run(precompile, input, u64::MAX, Fork::Osaka)
        .expect("a valid input")
        .1
}

fn padded(input: &[u8], at: usize, length: usize) -> Vec<u8> {
    let rest = input.get(at..).unwrap_or_default();
    let mut bytes = rest[..rest.len().min(length)].to_vec();
    bytes.resize(length, 0);
    bytes
}

fn number(input: &[u8], at: usize, length: usize) -> BigUint {
    BigUint::from_bytes_be(&padded(input, at, length))
}

fn zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// The inputs of the valid and invalid vectors of Geth and c-kzg.
fn read_vectors(precompile: Precompile) -> Vec<Vec<u8>> {
    macro_rules! geth {
        ($($name:literal),*) => {
            &[$(include_str!(concat!("../../vectors/precompiles/geth/", $name, ".json"))),*]
        };
    }
    let files: &[&str] = match precompile {
        Precompile::EcRecover => geth!("ecRecover"),
        Precompile::Modexp => geth!("modexp"),
        Precompile::Bn254Add => geth!("bn256Add"),
        Precompile::Bn254Mul => geth!("bn256ScalarMul"),
        Precompile::Bn254Pairing => geth!("bn256Pairing"),
        Precompile::Blake2F => geth!("blake2F", "fail-blake2f"),
        Precompile::PointEvaluation => geth!("pointEvaluation"),
        Precompile::Bls12G1Add => geth!("blsG1Add", "fail-blsG1Add"),
        Precompile::Bls12G1Msm => geth!("blsG1Mul", "fail-blsG1Mul", "fail-blsG1MultiExp"),
        Precompile::Bls12G2Add => geth!("blsG2Add", "fail-blsG2Add"),
        Precompile::Bls12G2Msm => geth!("blsG2Mul", "fail-blsG2Mul", "fail-blsG2MultiExp"),
        Precompile::Bls12Pairing => geth!("blsPairing", "fail-blsPairing"),
        Precompile::Bls12MapFpToG1 => geth!("blsMapG1", "fail-blsMapG1"),
        Precompile::Bls12MapFp2ToG2 => geth!("blsMapG2", "fail-blsMapG2"),
        Precompile::P256Verify => geth!("p256Verify"),
        _ => &[],
    };
    let cases = |text| serde_json::from_str::<Vec<serde_json::Value>>(text).expect("JSON");
    let hex = |case: &serde_json::Value| lydite::bytes::hex::decode(case.as_str()?).ok();
    let mut inputs: Vec<_> = files
        .iter()
        .flat_map(|text| cases(text))
        .filter_map(|case| hex(&case["Input"]))
        .collect();
    if precompile == Precompile::PointEvaluation {
        for case in cases(include_str!("../../vectors/precompiles/kzg.json")) {
            let parts = ["commitment", "z", "y", "proof"].map(|name| hex(&case[name]));
            if let [Some(commitment), Some(z), Some(y), Some(proof)] = parts {
                let hash = versioned_hash(&commitment);
                inputs.push([&hash[..], &z, &y, &commitment, &proof].concat());
            }
        }
    }
    inputs
}

/// The versioned hash of a commitment (EIP-4844).
fn versioned_hash(commitment: &[u8]) -> Vec<u8> {
    let mut hash = sha2::Sha256::digest(commitment).to_vec();
    hash[0] = 1;
    hash
}

/// The lengths of the parts of an input; the sequence repeats.
fn layout(precompile: Precompile) -> &'static [usize] {
    match precompile {
        Precompile::Bn254Add | Precompile::Bls12MapFpToG1 => &[64],
        Precompile::Bn254Mul => &[64, 32],
        Precompile::Bn254Pairing => &[64, 128],
        Precompile::Blake2F => &[4, 64, 128, 16, 1],
        Precompile::PointEvaluation => &[32, 32, 32, 48, 48],
        Precompile::Bls12G1Add | Precompile::Bls12MapFp2ToG2 => &[128],
        Precompile::Bls12G2Add => &[256],
        Precompile::Bls12G1Msm => &[128, 32],
        Precompile::Bls12G2Msm => &[256, 32],
        Precompile::Bls12Pairing => &[128, 256],
        _ => &[32],
    }
}

/// Known data for a precompile: whole inputs, and the pieces that occur in them for each part of its layout.
struct Known {
    inputs: Vec<Vec<u8>>,
    pieces: Vec<Vec<Vec<u8>>>,
}

impl Known {
    fn new(precompile: Precompile) -> Self {
        let (inputs, layout) = (read_vectors(precompile), layout(precompile));
        let mut pieces: Vec<Vec<_>> = layout.iter().map(|length| vec![vec![0; *length]]).collect();
        for (part, length) in layout.iter().enumerate() {
            if *length == 32 {
                let order = lydite::curve::bls12_381::kzg::ORDER.to_vec();
                let before = (BigUint::from_bytes_be(&order) - 1u8).to_bytes_be();
                pieces[part].extend([order, before, vec![255; 32]]);
            }
        }
        for mut input in inputs.iter().map(Vec::as_slice) {
            for (part, length) in layout.iter().enumerate().cycle() {
                let Some((piece, rest)) = input.split_at_checked(*length) else {
                    break;
                };
                // A piece is selected by one byte.
                if pieces[part].len() < 256 && !pieces[part].iter().any(|known| known == piece) {
                    pieces[part].push(piece.to_vec());
                }
                input = rest;
            }
        }
        Self { inputs, pieces }
    }

    fn of(precompile: Precompile) -> &'static Self {
        static ALL: LazyLock<Vec<(Precompile, OnceLock<Known>)>> =
            LazyLock::new(|| Precompile::ALL.map(|each| (each, OnceLock::new())).into());
        let known = ALL.iter().find(|(each, _)| *each == precompile);
        let (_, known) = known.expect("in the list of all");
        known.get_or_init(|| Self::new(precompile))
    }

    /// Composes an input from pieces, selecting each with one byte.
    fn compose(&self, precompile: Precompile, choices: &[u8]) -> Vec<u8> {
        let parts = self.pieces.iter().cycle();
        let mut input: Vec<u8> = choices
            .iter()
            .zip(parts)
            .flat_map(|(choice, part)| part[usize::from(*choice) % part.len()].iter().copied())
            .collect();
        if precompile == Precompile::PointEvaluation && input.len() >= 144 {
            let hash = versioned_hash(&input[96..144]);
            input[..32].copy_from_slice(&hash);
        }
        input
    }
}

/// A vector with some bytes changed: two bytes select the position, one is XORed in. Two remaining bytes select a
/// length.
fn changed(vector: &[u8], mut changes: &[u8]) -> Vec<u8> {
    let mut input = vector.to_vec();
    while let [high, low, value, rest @ ..] = changes {
        let at = usize::from(u16::from_be_bytes([*high, *low]));
        if let Some(length) = std::num::NonZero::new(input.len()) {
            input[at % length] ^= value;
        }
        changes = rest;
    }
    if let [high, low] = changes {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        input.resize(length % 2048, 0);
    }
    input
}

/// A prime field, the layout of its elements in an input, and the curves over it and over its extension by i^2 = -1.
struct Field {
    prime: BigUint,
    /// Bytes per element, and how many leading ones are zero padding.
    length: usize,
    zeros: usize,
    /// Whether the imaginary part comes first.
    swapped: bool,
    /// y^2 = x^3 + b: b of the curve, and the two parts of b over the extension.
    b: [BigUint; 3],
}

static BN254: LazyLock<Field> = LazyLock::new(|| {
    let hex = |text: &[u8]| BigUint::parse_bytes(text, 16).expect("digits");
    Field {
        prime: hex(b"30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47"),
        length: 32,
        zeros: 0,
        swapped: true,
        // 3, and 3 / (9 + i).
        b: [
            hex(b"3"),
            hex(b"2b149d40ceb8aaae81be18991be06ac3b5b4c5e559dbefa33267e6dc24a138e5"),
            hex(b"9713b03af0fed4cd2cafadeed8fdf4a74fa084e52d1852e4a2bd0685c315d2"),
        ],
    }
});

static BLS: LazyLock<Field> = LazyLock::new(|| {
    let prime = b"1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";
    Field {
        prime: BigUint::parse_bytes(prime, 16).expect("digits"),
        length: 64,
        zeros: 16,
        swapped: false,
        // 4, and 4 + 4 i.
        b: [4u8, 4, 4].map(BigUint::from),
    }
});

impl Field {
    fn element(&self, bytes: &[u8]) -> Option<BigUint> {
        let value = BigUint::from_bytes_be(bytes);
        (zero(&bytes[..self.zeros]) && value < self.prime).then_some(value)
    }

    fn elements(&self, bytes: &[u8]) -> Option<Vec<BigUint>> {
        let elements = bytes.chunks(self.length);
        elements.map(|bytes| self.element(bytes)).collect()
    }

    /// The real and imaginary part of a pair.
    fn parts<'a>(&self, pair: &'a [BigUint]) -> [&'a BigUint; 2] {
        let swapped = usize::from(self.swapped);
        [&pair[swapped], &pair[1 - swapped]]
    }

    fn times(&self, [a, b]: [&BigUint; 2], [c, d]: [&BigUint; 2]) -> [BigUint; 2] {
        let real = a * c + (&self.prime - b) * d;
        [real % &self.prime, (a * d + b * c) % &self.prime]
    }

    /// Whether it is a point on the curve over the field (two elements) or over its extension (four).
    fn point(&self, bytes: &[u8]) -> bool {
        let Some(elements) = self.elements(bytes) else {
            return false;
        };
        if zero(bytes) {
            return true;
        }
        let p = &self.prime;
        if let [x, y] = &elements[..] {
            return y * y % p == (x * x * x + &self.b[0]) % p;
        }
        let (x, y) = elements.split_at(2);
        let (x, y) = (self.parts(x), self.parts(y));
        let square = self.times(x, x);
        let [real, imaginary] = self.times([&square[0], &square[1]], x);
        let right = [(real + &self.b[1]) % p, (imaginary + &self.b[2]) % p];
        self.times(y, y) == right
    }

    /// Checks pairs of one point on each curve.
    fn pairs(&self, input: &[u8]) -> bool {
        let mut pairs = input.chunks_exact(6 * self.length);
        pairs.all(|pair| {
            let (left, right) = pair.split_at(2 * self.length);
            self.point(left) && self.point(right)
        })
    }

    /// The same pairs with the first point of each negated: appended to the original pairs, their product is one.
    fn negated(&self, input: &[u8]) -> Vec<u8> {
        let mut input = input.to_vec();
        for pair in input.chunks_exact_mut(6 * self.length) {
            let y = &mut pair[self.length + self.zeros..2 * self.length];
            if !zero(y) {
                let negated = (&self.prime - BigUint::from_bytes_be(y)).to_bytes_be();
                let (high, low) = y.split_at_mut(y.len() - negated.len());
                high.fill(0);
                low.copy_from_slice(&negated);
            }
        }
        input
    }
}

/// Whether the call must succeed, given enough gas, or fail. `None` if that depends on subgroup membership or a
/// pairing.
fn must_succeed(precompile: Precompile, input: &[u8], fork: Fork) -> Option<bool> {
    // A necessary condition, and whether it is sufficient.
    let (necessary, sufficient) = match precompile {
        Precompile::EcRecover
        | Precompile::Sha256
        | Precompile::Ripemd160
        | Precompile::Identity
        | Precompile::P256Verify => (true, true),
        Precompile::Modexp => {
            let long = |at| number(input, at, 32) > BigUint::from(1024u32);
            (
                fork < Fork::Osaka || ![0, 32, 64].into_iter().any(long),
                true,
            )
        }
        Precompile::Bn254Add => {
            let [p, q] = [0, 64].map(|at| BN254.point(&padded(input, at, 64)));
            (p && q, true)
        }
        Precompile::Bn254Mul => (BN254.point(&padded(input, 0, 64)), true),
        Precompile::Bn254Pairing => (
            input.len() % 192 == 0 && BN254.pairs(input),
            input.chunks_exact(192).all(|pair| zero(&pair[64..])),
        ),
        Precompile::Blake2F => (input.len() == 213 && input[212] <= 1, true),
        Precompile::PointEvaluation => {
            let hash = |commitment: &[u8]| sha2::Sha256::digest(commitment)[1..] == input[1..32];
            let order = BigUint::from_bytes_be(&lydite::curve::bls12_381::kzg::ORDER);
            let right = input.len() == 192
                && input[0] == 1
                && hash(&input[96..144])
                && [32, 64].into_iter().all(|at| number(input, at, 32) < order);
            (right, false)
        }
        Precompile::Bls12G1Add => (
            input.len() == 256 && input.chunks(128).all(|point| BLS.point(point)),
            true,
        ),
        Precompile::Bls12G2Add => (
            input.len() == 512 && input.chunks(256).all(|point| BLS.point(point)),
            true,
        ),
        Precompile::Bls12G1Msm | Precompile::Bls12G2Msm => {
            let point = if precompile == Precompile::Bls12G1Msm {
                128
            } else {
                256
            };
            let mut pairs = input.chunks(point + 32);
            (
                !input.is_empty()
                    && input.len() % (point + 32) == 0
                    && pairs.all(|pair| BLS.point(&pair[..point])),
                input
                    .chunks(point + 32)
                    .all(|pair| zero(&pair[..point.min(pair.len())])),
            )
        }
        Precompile::Bls12Pairing => (
            !input.is_empty() && input.len() % 384 == 0 && BLS.pairs(input),
            zero(input),
        ),
        Precompile::Bls12MapFpToG1 => (input.len() == 64 && BLS.elements(input).is_some(), true),
        Precompile::Bls12MapFp2ToG2 => (input.len() == 128 && BLS.elements(input).is_some(), true),
        _ => return None,
    };
    match (necessary, sufficient) {
        (false, _) => Some(false),
        (true, true) => Some(true),
        (true, false) => None,
    }
}

fn modexp(input: &[u8], out: &[u8]) {
    let length = |at| number(input, at, 32);
    let (base, exponent, modulus) = (length(0), length(32), length(64));
    let small = BigUint::from(300u32);
    if base > small || exponent > small || modulus > small {
        return;
    }
    let [base, exponent, modulus] = [base, exponent, modulus]
        .map(|length| length.to_u64_digits().first().map_or(0, |l| *l as usize));
    let (b, e) = (number(input, 96, base), number(input, 96 + base, exponent));
    let m = number(input, 96 + base + exponent, modulus);
    let expected = if m == BigUint::ZERO {
        m
    } else {
        b.modpow(&e, &m)
    };
    assert_eq!(
        (out.len(), BigUint::from_bytes_be(out)),
        (modulus, expected)
    );
}

fn ecrecover(input: &[u8]) -> Option<Vec<u8>> {
    let input = padded(input, 0, 128);
    if input[32..63] != [0; 31] || !matches!(input[63], 27 | 28) {
        return None;
    }
    let signature = k256::ecdsa::Signature::from_slice(&input[64..]).ok()?;
    let id = RecoveryId::from_byte(input[63] - 27)?;
    let key = VerifyingKey::recover_from_prehash(&input[..32], &signature, id).ok()?;
    let point = key.to_sec1_point(false);
    let hash = keccak256(&point.as_bytes()[1..]);
    Some([&[0; 12], &hash[12..]].concat())
}

fn p256(input: &[u8]) -> bool {
    if input.len() != 160 {
        return false;
    }
    let key = [&[4], &input[96..]].concat();
    let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(&key);
    let signature = p256::ecdsa::Signature::from_slice(&input[32..96]);
    key.is_ok_and(|key| {
        signature.is_ok_and(|signature| key.verify_prehash(&input[..32], &signature).is_ok())
    })
}

/// The compression function of RFC 7693, section 3.2, with the given number of rounds.
fn blake2f(input: &[u8]) -> Vec<u8> {
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
    // The fractional parts of the square roots of the first eight primes.
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
    let rounds = input[..4]
        .iter()
        .fold(0, |n, byte| n << 8 | usize::from(*byte));
    let words: Vec<u64> = input[4..212]
        .as_chunks()
        .0
        .iter()
        .map(|word| u64::from_le_bytes(*word))
        .collect();
    let (h, rest) = words.split_at(8);
    let (m, t) = rest.split_at(16);
    let mut v = [h, &IV].concat();
    v[12] ^= t[0];
    v[13] ^= t[1];
    if input[212] == 1 {
        v[14] = !v[14];
    }
    for round in 0..rounds {
        let s = &SIGMA[round % 10];
        for i in 0..8 {
            // Columns, then diagonals.
            let at = |row: usize| 4 * row + (i + if i < 4 { 0 } else { row }) % 4;
            let [a, b, c, d] = [at(0), at(1), at(2), at(3)];
            for (word, [first, second]) in [(2 * i, [32, 24]), (2 * i + 1, [16, 63])] {
                v[a] = v[a].wrapping_add(v[b]).wrapping_add(m[s[word]]);
                v[d] = (v[d] ^ v[a]).rotate_right(first);
                v[c] = v[c].wrapping_add(v[d]);
                v[b] = (v[b] ^ v[c]).rotate_right(second);
            }
        }
    }
    (0..8)
        .flat_map(|i| (h[i] ^ v[i] ^ v[i + 8]).to_le_bytes())
        .collect()
}

/// Asserts that a single point is accepted as a subgroup member, and that the subgroup's order times the point is
/// infinity.
fn in_subgroup(msm: Precompile, point: &[u8]) {
    let order = padded(&lydite::curve::bls12_381::kzg::ORDER, 0, 32);
    assert!(zero(&output(msm, &[point, &order].concat())));
}

/// Asserts that the output for many points is the sum of the outputs for each.
fn sum_of_products(msm: Precompile, add: Precompile, input: &[u8], out: &[u8]) {
    let mut sum = vec![0; out.len()];
    for product in input.chunks_exact(out.len() + 32) {
        sum = output(add, &[sum, output(msm, product)].concat());
    }
    assert_eq!(out, sum);
    in_subgroup(msm, out);
}

/// Checks the output of a successful call.
fn check(precompile: Precompile, input: &[u8], out: Vec<u8>) {
    let word = |bit: bool| padded(&[], 0, 31).into_iter().chain([bit.into()]).collect();
    let order = || padded(&lydite::curve::bls12_381::kzg::ORDER, 0, 32);
    match precompile {
        Precompile::EcRecover => assert_eq!(out, ecrecover(input).unwrap_or_default()),
        Precompile::Sha256 => assert_eq!(out[..], sha2::Sha256::digest(input)[..]),
        Precompile::Ripemd160 => {
            assert_eq!(out[..12], [0; 12]);
            assert_eq!(out[12..], ripemd::Ripemd160::digest(input)[..]);
        }
        Precompile::Identity => assert_eq!(out, input),
        Precompile::Modexp => modexp(input, &out),
        Precompile::Bn254Add => {
            // P + Q = Q + P.
            let (p, q) = (padded(input, 0, 64), padded(input, 64, 64));
            assert_eq!(output(precompile, &[q, p].concat()), out);
            assert!(BN254.point(&out));
        }
        Precompile::Bn254Mul => {
            // k P + P = (k + 1) P.
            let (p, k) = (padded(input, 0, 64), number(input, 64, 32));
            let sum = output(Precompile::Bn254Add, &[&out[..], &p].concat());
            let next = (k + 1u8).to_bytes_be();
            if next.len() <= 32 {
                let next = [p, vec![0; 32 - next.len()], next].concat();
                assert_eq!(output(precompile, &next), sum);
            }
        }
        Precompile::Bn254Pairing => {
            let both = [input, &BN254.negated(input)].concat();
            assert_eq!(output(precompile, &both), word(true));
            assert!(out == word(true) || out == word(false));
        }
        Precompile::Blake2F => {
            if zero(&input[..2]) {
                assert_eq!(out, blake2f(input));
            }
        }
        Precompile::PointEvaluation => {
            assert_eq!(out, [padded(&[], 0, 30), vec![16, 0], order()].concat());
            // A polynomial has only one value at a point.
            let mut other = input.to_vec();
            other[95] ^= 1;
            assert!(run(precompile, &other, u64::MAX, Fork::Osaka).is_err());
        }
        Precompile::Bls12G1Add | Precompile::Bls12G2Add => {
            let (p, q) = input.split_at(input.len() / 2);
            assert_eq!(output(precompile, &[q, p].concat()), out);
            assert!(BLS.point(&out));
        }
        Precompile::Bls12G1Msm => sum_of_products(precompile, Precompile::Bls12G1Add, input, &out),
        Precompile::Bls12G2Msm => sum_of_products(precompile, Precompile::Bls12G2Add, input, &out),
        Precompile::Bls12MapFpToG1 => in_subgroup(Precompile::Bls12G1Msm, &out),
        Precompile::Bls12MapFp2ToG2 => in_subgroup(Precompile::Bls12G2Msm, &out),
        Precompile::Bls12Pairing => {
            for pair in input.chunks_exact(384) {
                in_subgroup(Precompile::Bls12G1Msm, &pair[..128]);
                in_subgroup(Precompile::Bls12G2Msm, &pair[128..]);
            }
            let both = [input, &BLS.negated(input)].concat();
            assert_eq!(output(precompile, &both), word(true));
            assert!(out == word(true) || out == word(false));
        }
        Precompile::P256Verify => {
            let expected = if p256(input) { word(true) } else { Vec::new() };
            assert_eq!(out, expected);
        }
        _ => {}
    }
}

/// Calls one of the given precompiled contracts.
pub fn call(precompiles: &[Precompile], data: &[u8]) {
    let [which, fork, source, rest @ ..] = data else {
        return;
    };
    let precompile = precompiles[usize::from(*which) % precompiles.len()];
    let fork = Fork::ALL[usize::from(*fork) % Fork::ALL.len()];
    let known = Known::of(precompile);
    let input = match (source % 3, rest) {
        (1, choices) => known.compose(precompile, choices),
        (2, [high, low, changes @ ..]) if !known.inputs.is_empty() => {
            let index = usize::from(u16::from_be_bytes([*high, *low]));
            changed(&known.inputs[index % known.inputs.len()], changes)
        }
        _ => rest.to_vec(),
    };
    let many = matches!(
        precompile,
        Precompile::Bn254Pairing
            | Precompile::Bls12G1Msm
            | Precompile::Bls12G2Msm
            | Precompile::Bls12Pairing
    );
    let result = run(
        precompile,
        &input,
        if many { GAS_OF_MANY } else { GAS },
        fork,
    );
    if fork < precompile.since() {
        assert_eq!(result, Err(Error::NotActive));
        return;
    }
    if result == Err(Error::OutOfGas) {
        return;
    }
    if let Some(success) = must_succeed(precompile, &input, fork) {
        assert_eq!(result.is_ok(), success, "{precompile:?} {result:?}");
    }
    let Ok((gas, out)) = result else {
        return;
    };
    // The call succeeds with exactly the gas that it reports.
    assert_eq!(run(precompile, &input, gas, fork), Ok((gas, out.clone())));
    check(precompile, &input, out);
}
