//! XMSS on BLAKE2s as in leanVM: a port of `vectors/xmss/leanvm_statement.py`. Readable and slow; tested against the
//! published cases.

use anyhow::{Context as _, Result, ensure};

/// Chains of an epoch.
const CHAINS: usize = 42;
/// Steps from the start of a chain to its end.
const STEPS: u32 = 7;
/// Height of the tree.
const HEIGHT: u32 = 32;
/// Length of a public key in bytes.
pub const PUBLIC_KEY: usize = 32;
/// Length of a signature in bytes.
pub const SIGNATURE: usize = 1208;

/// What a hash is for.
#[derive(Clone, Copy)]
enum Kind {
    Prf,
    Chain,
    Leaf,
    Node,
    Encoding,
    Parameter,
    Filler,
    Randomizer,
}

type Digest = [u8; 16];

/// BLAKE2s-256 as in RFC 7693.
mod blake2s {
    use super::super::hash::SIGMA;

    const IV: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    fn compress(h: &mut [u32; 8], block: &[u8; 64], counter: u64, last: bool) {
        let m: Vec<u32> = block
            .as_chunks()
            .0
            .iter()
            .map(|word| u32::from_le_bytes(*word))
            .collect();
        let mut v = [*h, IV].concat();
        v[12] ^= counter as u32;
        v[13] ^= (counter >> 32) as u32;
        if last {
            v[14] = !v[14];
        }
        for s in SIGMA {
            let columns = [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]];
            let diagonals = [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]];
            for (i, [a, b, c, d]) in columns.into_iter().chain(diagonals).enumerate() {
                for (x, r, t) in [(s[2 * i], 16, 12), (s[2 * i + 1], 8, 7)] {
                    v[a] = v[a].wrapping_add(v[b]).wrapping_add(m[x]);
                    v[d] = (v[d] ^ v[a]).rotate_right(r);
                    v[c] = v[c].wrapping_add(v[d]);
                    v[b] = (v[b] ^ v[c]).rotate_right(t);
                }
            }
        }
        for i in 0..8 {
            h[i] ^= v[i] ^ v[i + 8];
        }
    }

    pub fn hash(data: &[u8]) -> [u8; 32] {
        let mut h = IV;
        h[0] ^= 0x0101_0020;
        let blocks = data.len().div_ceil(64).max(1);
        for i in 0..blocks {
            let part = &data[64 * i..data.len().min(64 * (i + 1))];
            let mut block = [0; 64];
            block[..part.len()].copy_from_slice(part);
            let counter = 64 * i + part.len();
            compress(&mut h, &block, counter as u64, i + 1 == blocks);
        }
        let mut digest = [0; 32];
        for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(h) {
            *bytes = word.to_le_bytes();
        }
        digest
    }
}

fn tweak_hash(
    parameter: &Digest,
    kind: Kind,
    place: u32,
    index: u32,
    payload: &[&[u8]],
) -> [u8; 32] {
    let tweak = [
        [0, kind as u8, 0, 0],
        place.to_le_bytes(),
        [0; 4],
        index.to_le_bytes(),
    ];
    blake2s::hash(&[tweak.as_flattened(), parameter, &payload.concat()].concat())
}

fn first<const N: usize>(digest: [u8; 32]) -> [u8; N] {
    std::array::from_fn(|i| digest[i])
}

/// Walks a chain.
fn walk(parameter: &Digest, epoch: u32, chain: usize, steps: u32, start: Digest) -> Digest {
    (0..steps).fold(start, |value, step| {
        let place = 8 * chain as u32 + step;
        first(tweak_hash(parameter, Kind::Chain, place, epoch, &[&value]))
    })
}

/// The digits of a message, if it has a codeword.
fn encode(
    parameter: &Digest,
    message: &[u8; 32],
    randomizer: &[u8; 24],
    epoch: u32,
) -> Option<Vec<u32>> {
    let payload: [&[u8]; 3] = [message, randomizer, &[0; 8]];
    let digest = tweak_hash(parameter, Kind::Encoding, 0, epoch, &payload);
    let mut digits = Vec::new();
    for half in digest[..16].as_chunks().0 {
        let word = u64::from_le_bytes(*half);
        if word >> 63 == 1 {
            return None;
        }
        digits.extend((0..21).map(|i| (word >> (3 * i) & 7) as u32));
    }
    (digits.iter().sum::<u32>() == 195).then_some(digits)
}

/// A secret key.
pub struct Key {
    seed: [u8; 32],
    parameter: Digest,
    start: u64,
    /// From the leaves to the root, the nodes with epochs of the key below them, and their siblings.
    layers: Vec<Layer>,
}

/// Nodes of a level from a position on.
struct Layer {
    start: u64,
    nodes: Vec<Digest>,
}

impl Layer {
    fn node(&self, position: u64) -> Result<&Digest> {
        let index = position
            .checked_sub(self.start)
            .context("a node before the layer")?;
        self.nodes
            .get(index as usize)
            .context("a node after the layer")
    }
}

impl Key {
    /// The seed of a key origin: its word, and zeros.
    pub fn new(word: u64, start: u64, count: u64) -> Result<Self> {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&word.to_le_bytes());
        Self::from_seed(seed, start, count)
    }

    fn from_seed(seed: [u8; 32], start: u64, count: u64) -> Result<Self> {
        ensure!(
            count > 0 && start + count <= 1 << HEIGHT,
            "{count} epochs from {start}"
        );
        let parameter = first(tweak_hash(&[0; 16], Kind::Parameter, 0, 0, &[&seed]));
        let mut key = Self {
            seed,
            parameter,
            start,
            layers: Vec::new(),
        };
        let mut nodes = Vec::new();
        for epoch in start..start + count {
            let epoch = epoch as u32;
            let ends: Vec<_> = (0..CHAINS)
                .map(|chain| {
                    walk(
                        &parameter,
                        epoch,
                        chain,
                        STEPS,
                        key.chain_start(epoch, chain),
                    )
                })
                .collect();
            let leaf = tweak_hash(&parameter, Kind::Leaf, 0, epoch, &[ends.as_flattened()]);
            nodes.push(first(leaf));
        }
        let mut at = start;
        for level in 0..HEIGHT {
            let filler = |position: u64| {
                let digest = tweak_hash(&parameter, Kind::Filler, level, position as u32, &[&seed]);
                first(digest)
            };
            if at % 2 == 1 {
                at -= 1;
                nodes.insert(0, filler(at));
            }
            if nodes.len() % 2 == 1 {
                nodes.push(filler(at + nodes.len() as u64));
            }
            let parents = (at / 2..).zip(nodes.chunks(2)).map(|(position, pair)| {
                let payload = [&pair[0][..], &pair[1]];
                first(tweak_hash(
                    &parameter,
                    Kind::Node,
                    level + 1,
                    position as u32,
                    &payload,
                ))
            });
            let parents = parents.collect();
            key.layers.push(Layer { start: at, nodes });
            (at, nodes) = (at / 2, parents);
        }
        key.layers.push(Layer { start: at, nodes });
        Ok(key)
    }

    fn chain_start(&self, epoch: u32, chain: usize) -> Digest {
        let digest = tweak_hash(
            &self.parameter,
            Kind::Prf,
            chain as u32,
            epoch,
            &[&self.seed],
        );
        first(digest)
    }

    /// The public key: root and parameter.
    pub fn public_key(&self) -> Result<Vec<u8>> {
        let root = self.layers.last().context("no root")?.node(0)?;
        Ok([root, &self.parameter].map(|part| &part[..]).concat())
    }

    /// Signs with the first randomizer that gives a codeword.
    pub fn sign(&self, epoch: u32, message: &[u8; 32]) -> Result<Vec<u8>> {
        ensure!(u64::from(epoch) >= self.start, "epoch {epoch}");
        let found = (0..=u32::MAX).find_map(|trial| {
            let payload: [&[u8]; 2] = [&self.seed, message];
            let digest = tweak_hash(&self.parameter, Kind::Randomizer, trial, epoch, &payload);
            let randomizer = first(digest);
            Some((
                randomizer,
                encode(&self.parameter, message, &randomizer, epoch)?,
            ))
        });
        let (randomizer, digits) = found.context("no codeword")?;
        let mut signature = Vec::with_capacity(SIGNATURE);
        for (chain, &digit) in digits.iter().enumerate() {
            let start = self.chain_start(epoch, chain);
            signature.extend(walk(&self.parameter, epoch, chain, digit, start));
        }
        signature.extend(randomizer);
        for level in 0..HEIGHT {
            let sibling = u64::from(epoch) >> level ^ 1;
            signature.extend(self.layers[level as usize].node(sibling)?);
        }
        Ok(signature)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::Value;

    use super::*;
    use crate::truth::unhex;

    #[test]
    fn published_hashes_keys_and_signatures() {
        let text = include_str!("../../../vectors/xmss/leanvm.json");
        let file: Value = serde_json::from_str(text).unwrap();
        let bytes = |value: &Value| unhex(value.as_str().unwrap().as_bytes()).unwrap();
        for case in file["blake2s"].as_array().unwrap() {
            let data = bytes(&case["input"]["data"]);
            assert_eq!(blake2s::hash(&data)[..], bytes(&case["output"]));
        }
        let (mut keys, mut signatures) = (0, 0);
        for case in ["key_gen", "sign"]
            .into_iter()
            .flat_map(|kind| file[kind].as_array().unwrap())
        {
            if case["output"].is_null() {
                continue;
            }
            let input = &case["input"];
            let number = |name: &str| input[name].as_u64();
            let seed = bytes(&input["seed"]).try_into().unwrap();
            let (first, last) = (number("epoch_start").unwrap(), number("epoch_end").unwrap());
            let key = Key::from_seed(seed, first, last - first + 1).unwrap();
            let output = if let Some(epoch) = number("epoch") {
                signatures += 1;
                key.sign(epoch as u32, &bytes(&input["message"]).try_into().unwrap())
                    .unwrap()
            } else {
                keys += 1;
                key.public_key().unwrap()
            };
            assert_eq!(output, bytes(&case["output"]), "{}", case["name"]);
        }
        assert!(keys >= 8 && signatures >= 5);
    }
}
