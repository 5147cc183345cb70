//! leanVM's XMSS on the crate blake2, one hash after another.

use arena_kit::xmss::{Origin, Verdicts, origin, sign};
use arena_kit::{Reader, negative, op};
use blake2::{Blake2s256, Digest as _};

const CHAINS: u32 = 42;
const STEPS: u32 = 7;
const HEIGHT: u32 = 32;
const TARGET_SUM: u32 = 195;

/// Types of tweaks.
const PRF: u8 = 0;
const CHAIN: u8 = 1;
const LEAF: u8 = 2;
const NODE: u8 = 3;
const ENCODING: u8 = 4;
const PARAMETER: u8 = 5;
const FILLER: u8 = 6;
const RANDOMIZER: u8 = 7;

type Node = [u8; 16];
type Seed = [u8; 32];
type Message = [u8; 32];
type Randomizer = [u8; 24];

fn main() {
    let ops = vec![
        op("xmss_keygen_leanvm", origin).call(|&origin| Key::new(origin).public_key()),
        sign(
            "xmss_sign_leanvm",
            |origin| Some(Key::new(origin)),
            Key::sign,
        ),
        op("xmss_verify_leanvm", Claim::read).call(|claim| [u8::from(claim.verify())]),
        op("xmss_verify_leanvm_batch", |r| r.until_empty(Claim::read))
            .call(|claims: &Vec<Claim>| Verdicts(claims.iter().map(Claim::verify).collect())),
        negative("xmss_verify_leanvm", |item| {
            let mut reader = Reader::new(item);
            Signature::read(&mut reader).is_some() && reader.is_empty()
        }),
    ];
    let lockfile = include_str!("../../Cargo.lock");
    arena_kit::run(
        "blake2-xmss",
        arena_kit::locked_version(lockfile, "blake2"),
        ops,
    );
}

/// A hash that has absorbed tweak and parameter.
fn start(parameter: &Node, kind: u8, place: u32, index: u32) -> Blake2s256 {
    let mut prefix = [0; 32];
    prefix[1] = kind;
    prefix[4..8].copy_from_slice(&place.to_le_bytes());
    prefix[12..16].copy_from_slice(&index.to_le_bytes());
    prefix[16..].copy_from_slice(parameter);
    Blake2s256::new_with_prefix(prefix)
}

/// The first bytes of a digest.
fn finish<const N: usize>(hash: Blake2s256) -> [u8; N] {
    let digest: [u8; 32] = hash.finalize().into();
    std::array::from_fn(|i| digest[i])
}

fn hash<const N: usize>(
    parameter: &Node,
    kind: u8,
    place: u32,
    index: u32,
    payload: &[u8],
) -> [u8; N] {
    finish(start(parameter, kind, place, index).chain_update(payload))
}

/// Walks a chain from one position to another.
fn walk(parameter: &Node, epoch: u32, chain: u32, from: u32, to: u32, value: Node) -> Node {
    (from..to).fold(value, |value, at| {
        hash(parameter, CHAIN, 8 * chain + at, epoch, &value)
    })
}

fn leaf(parameter: &Node, epoch: u32, ends: impl Iterator<Item = Node>) -> Node {
    let mut hash = start(parameter, LEAF, 0, epoch);
    for end in ends {
        hash.update(end);
    }
    finish(hash)
}

fn node(parameter: &Node, level: u32, position: u32, children: [&Node; 2]) -> Node {
    let hash = start(parameter, NODE, level, position).chain_update(children[0]);
    finish(hash.chain_update(children[1]))
}

/// The state of a message's hash before the randomizer.
fn absorb(parameter: &Node, epoch: u32, message: &Message) -> Blake2s256 {
    start(parameter, ENCODING, 0, epoch).chain_update(message)
}

/// The digits, if the message has a codeword with this randomizer.
fn encode(absorbed: &Blake2s256, randomizer: &Randomizer) -> Option<[u32; CHAINS as usize]> {
    let mut payload = [0; 32];
    payload[..24].copy_from_slice(randomizer);
    let digest: [u8; 16] = finish(absorbed.clone().chain_update(payload));
    let words: [u64; 2] = std::array::from_fn(|i| u64::from_le_bytes(digest.as_chunks().0[i]));
    if (words[0] | words[1]) >> 63 == 1 {
        return None;
    }
    let digits: [u32; CHAINS as usize] =
        std::array::from_fn(|i| (words[i / 21] >> (3 * (i % 21)) & 7) as u32);
    (digits.iter().sum::<u32>() == TARGET_SUM).then_some(digits)
}

/// A secret key with all nodes above its epochs.
struct Key {
    seed: Seed,
    parameter: Node,
    /// For each level, the position of the first node, and the nodes.
    layers: Vec<(u64, Vec<Node>)>,
}

impl Key {
    fn new((word, first, count): Origin) -> Self {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&word.to_le_bytes());
        let parameter = hash(&[0; 16], PARAMETER, 0, 0, &seed);
        let leaf = |epoch: u64| {
            let epoch = epoch as u32;
            let ends = (0..CHAINS).map(|chain| {
                let value = hash(&parameter, PRF, chain, epoch, &seed);
                walk(&parameter, epoch, chain, 0, STEPS, value)
            });
            leaf(&parameter, epoch, ends)
        };
        let mut at = first;
        let mut nodes: Vec<Node> = (first..first + count).map(leaf).collect();
        let mut layers = Vec::with_capacity(HEIGHT as usize + 1);
        for level in 0..HEIGHT {
            let filler = |position: u64| hash(&parameter, FILLER, level, position as u32, &seed);
            if at & 1 == 1 {
                at -= 1;
                nodes.insert(0, filler(at));
            }
            if nodes.len() & 1 == 1 {
                nodes.push(filler(at + nodes.len() as u64));
            }
            let pairs = (at / 2..).zip(nodes.as_chunks::<2>().0);
            let above = pairs
                .map(|(position, [left, right])| {
                    node(&parameter, level + 1, position as u32, [left, right])
                })
                .collect();
            layers.push((at, std::mem::replace(&mut nodes, above)));
            at /= 2;
        }
        layers.push((at, nodes));
        Self {
            seed,
            parameter,
            layers,
        }
    }

    fn public_key(&self) -> Option<Vec<u8>> {
        let root = self.layers.last()?.1.first()?;
        Some([*root, self.parameter].concat())
    }

    fn sign(&self, epoch: u32, message: &Message) -> Option<Vec<u8>> {
        let absorbed = absorb(&self.parameter, epoch, message);
        let (randomizer, digits) = (0..=u32::MAX).find_map(|trial| {
            let hash = start(&self.parameter, RANDOMIZER, trial, epoch);
            let randomizer = finish(hash.chain_update(self.seed).chain_update(message));
            Some((randomizer, encode(&absorbed, &randomizer)?))
        })?;
        let mut signature = Vec::with_capacity(1208);
        for (chain, digit) in (0..).zip(digits) {
            let value = hash(&self.parameter, PRF, chain, epoch, &self.seed);
            signature.extend(walk(&self.parameter, epoch, chain, 0, digit, value));
        }
        signature.extend(randomizer);
        for (level, (start, nodes)) in (0..HEIGHT).zip(&self.layers) {
            let sibling = u64::from(epoch) >> level ^ 1;
            signature.extend(nodes.get((sibling - start) as usize)?);
        }
        Some(signature)
    }
}

struct Signature {
    values: [Node; CHAINS as usize],
    randomizer: Randomizer,
    path: [Node; HEIGHT as usize],
}

impl Signature {
    fn read(r: &mut Reader) -> Option<Self> {
        Some(Self {
            values: r
                .take(16 * CHAINS as usize)?
                .as_chunks()
                .0
                .try_into()
                .ok()?,
            randomizer: r.array()?,
            path: r
                .take(16 * HEIGHT as usize)?
                .as_chunks()
                .0
                .try_into()
                .ok()?,
        })
    }
}

/// A signature with what it signs.
struct Claim {
    root: Node,
    parameter: Node,
    epoch: u32,
    message: Message,
    signature: Signature,
}

impl Claim {
    fn read(r: &mut Reader) -> Option<Self> {
        Some(Self {
            root: r.array()?,
            parameter: r.array()?,
            epoch: r.u32()?,
            message: r.array()?,
            signature: Signature::read(r)?,
        })
    }

    fn verify(&self) -> bool {
        let absorbed = absorb(&self.parameter, self.epoch, &self.message);
        let Some(digits) = encode(&absorbed, &self.signature.randomizer) else {
            return false;
        };
        let ends = (0..).zip(digits).zip(self.signature.values);
        let ends = ends.map(|((chain, digit), value)| {
            walk(&self.parameter, self.epoch, chain, digit, STEPS, value)
        });
        let mut top = leaf(&self.parameter, self.epoch, ends);
        for (level, sibling) in (0..).zip(&self.signature.path) {
            let children = if self.epoch >> level & 1 == 0 {
                [&top, sibling]
            } else {
                [sibling, &top]
            };
            let position = (u64::from(self.epoch) >> (level + 1)) as u32;
            top = node(&self.parameter, level + 1, position, children);
        }
        top == self.root
    }
}
