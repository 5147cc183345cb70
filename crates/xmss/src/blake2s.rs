//! The BLAKE2s-256 hashes of leanVM's XMSS: `BLAKE2s-256(tweak 16 | parameter 16 | payload)`, cut to 16 bytes, or 24 for
//! a randomness. A word is four bytes, little-endian.
//!
//! A tweak is `0 | type | 0 0 | place u32 | 0 0 0 0 | index u32`, little-endian:
//!
//! | type | place | index | payload |
//! |---|---|---|---|
//! | 0, start of a chain | chain | epoch | seed |
//! | 1, step of a chain | 8 * chain + position before the step | epoch | value |
//! | 2, leaf | 0 | epoch | ends of the chains |
//! | 3, node | level | position | children |
//! | 4, message | 0 | epoch | message, randomness, 8 zero bytes |
//! | 5, parameter, hashed under the parameter 0 | 0 | 0 | seed |
//! | 6, node below which the key has no epochs | level | position | seed |
//! | 7, randomness | counter | epoch | seed, message |
//!
//! Constant time: no branch or address depends on an input.
//!
//! Source: \[LEANVM\], \[XMSS-SPEC\].

use lydite_hash::blake2s;
use rand_core::Rng;

use crate::hash::{
    ChainPosition, DIGEST_WORDS, Digest, MESSAGE_WORDS, PARAMETER_WORDS, Parameter,
    RANDOMNESS_WORDS, Randomness, TweakHash,
};
use crate::poseidon::{Backend, LANES, Lanes};
use crate::prf::{Prf, PrfKey};

/// What a hash is for: the type in its tweak.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Use {
    Start,
    Step,
    Leaf,
    Node,
    Message,
    Parameter,
    Filler,
    Randomness,
}

/// Words in a digest and in a parameter.
const WORDS: usize = 4;
/// Words in tweak and parameter.
const PREFIX: usize = 8;
/// Bytes in a block.
const BLOCK: u64 = blake2s::BLOCK as u64;

/// The kernel that belongs to a backend.
fn kernel(backend: Backend) -> blake2s::Backend {
    match backend {
        Backend::Portable => blake2s::Backend::Portable,
        #[cfg(target_arch = "x86_64")]
        Backend::Avx2(_) => blake2s::Backend::available()
            .find(|kernel| matches!(kernel, blake2s::Backend::Avx2(_)))
            .unwrap_or(blake2s::Backend::Portable),
        #[cfg(target_arch = "x86_64")]
        Backend::Avx512(_) => blake2s::Backend::detect(),
    }
}

fn word(bytes: &[u8; 32], i: usize) -> u32 {
    u32::from_le_bytes(bytes.as_chunks().0[i])
}

fn initial() -> Lanes<8> {
    Lanes(blake2s::INITIAL.map(|word| [word; LANES]))
}

/// Writes tweaks and parameters to the start of a block.
#[inline]
fn prefix(
    block: &mut [[u32; LANES]],
    purpose: Use,
    places: &[u32; LANES],
    indices: &[u32; LANES],
    parameter: &Lanes<PARAMETER_WORDS>,
) {
    block[0] = [(purpose as u32) << 8; LANES];
    block[1] = *places;
    block[2] = [0; LANES];
    block[3] = *indices;
    block[WORDS..PREFIX].copy_from_slice(&parameter.0[..WORDS]);
}

/// The first words of a state as a digest.
#[inline]
fn digest(state: &Lanes<8>) -> Lanes<DIGEST_WORDS> {
    let mut out = Lanes::ZERO;
    out.0[..WORDS].copy_from_slice(&state.0[..WORDS]);
    out
}

/// Hashes one input of `payload` words.
fn hash_one(
    purpose: Use,
    place: u32,
    index: u32,
    parameter: &Parameter,
    payload: impl ExactSizeIterator<Item = u32>,
) -> [u32; 8] {
    let total = 4 * (PREFIX + payload.len()) as u64;
    let tweak = [(purpose as u32) << 8, place, 0, index];
    let mut words = tweak
        .into_iter()
        .chain(parameter[..WORDS].iter().copied())
        .chain(payload);
    let mut state = blake2s::INITIAL;
    let mut counter = 0;
    while counter < total {
        let block = core::array::from_fn(|_| words.next().unwrap_or(0));
        counter = total.min(counter + BLOCK);
        blake2s::compress(&mut state, &block, counter, counter == total);
    }
    state
}

fn digest_one(state: [u32; 8]) -> Digest {
    core::array::from_fn(|i| if i < WORDS { state[i] } else { 0 })
}

/// The hash of leanVM's XMSS.
pub enum Blake2sHash {}

impl TweakHash for Blake2sHash {
    const DIGEST: usize = WORDS;
    const PARAMETER: usize = WORDS;
    const RANDOMNESS: usize = 6;
    /// The state after the first block: tweak, parameter and message.
    type Absorbed = Lanes<8>;

    fn is_word(_: u32) -> bool {
        true
    }

    fn reduce(word: u32) -> u32 {
        word
    }

    fn draw<G: Rng + ?Sized>(rng: &mut G) -> u32 {
        rng.next_u32()
    }

    fn word_from_bytes([a, b, c, d, ..]: [u8; 16]) -> u32 {
        u32::from_le_bytes([a, b, c, d])
    }

    fn message_words(message: &[u8; 32]) -> [u32; MESSAGE_WORDS] {
        core::array::from_fn(|i| if i < 8 { word(message, i) } else { 0 })
    }

    #[inline]
    fn step(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        positions: &[ChainPosition; LANES],
        value: &mut Lanes<DIGEST_WORDS>,
    ) {
        // A position is that after the step.
        let places = positions.map(|at| {
            (u32::from(at.chain) * 8)
                .wrapping_add(u32::from(at.position))
                .wrapping_sub(1)
        });
        let epochs = positions.map(|at| at.epoch);
        let mut block = Lanes::<{ PREFIX + WORDS }>::ZERO;
        prefix(&mut block.0, Use::Step, &places, &epochs, parameter);
        block.0[PREFIX..].copy_from_slice(&value.0[..WORDS]);
        let mut state = initial();
        kernel(backend).compress_lanes(&mut state.0, &block.0, 48, true);
        *value = digest(&state);
    }

    fn node(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        level: u8,
        positions: &[u32; LANES],
        children: [&Lanes<DIGEST_WORDS>; 2],
    ) -> Lanes<DIGEST_WORDS> {
        let mut block = Lanes::<16>::ZERO;
        let levels = [u32::from(level); LANES];
        prefix(&mut block.0, Use::Node, &levels, positions, parameter);
        for (words, child) in block.0[PREFIX..].chunks_mut(WORDS).zip(children) {
            words.copy_from_slice(&child.0[..WORDS]);
        }
        let mut state = initial();
        kernel(backend).compress_lanes(&mut state.0, &block.0, BLOCK, true);
        digest(&state)
    }

    fn leaf(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        epochs: &[u32; LANES],
        ends: &[Lanes<DIGEST_WORDS>],
    ) -> Lanes<DIGEST_WORDS> {
        let total = 4 * (PREFIX + WORDS * ends.len()) as u64;
        let mut block = Lanes::<16>::ZERO;
        prefix(&mut block.0, Use::Leaf, &[0; LANES], epochs, parameter);
        let mut ends = ends.iter();
        let (mut filled, mut counter) = (PREFIX, 0);
        let mut state = initial();
        while counter < total {
            for words in block.0[filled..].chunks_mut(WORDS) {
                match ends.next() {
                    Some(end) => words.copy_from_slice(&end.0[..WORDS]),
                    None => words.fill([0; LANES]),
                }
            }
            filled = 0;
            counter = total.min(counter + BLOCK);
            kernel(backend).compress_lanes(&mut state.0, &block.0, counter, counter == total);
        }
        digest(&state)
    }

    fn absorb(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        epochs: &[u32; LANES],
        message: &Lanes<MESSAGE_WORDS>,
    ) -> Lanes<8> {
        let mut block = Lanes::<16>::ZERO;
        prefix(&mut block.0, Use::Message, &[0; LANES], epochs, parameter);
        block.0[PREFIX..].copy_from_slice(&message.0[..8]);
        let mut state = initial();
        kernel(backend).compress_lanes(&mut state.0, &block.0, BLOCK, false);
        state
    }

    #[inline]
    fn message(
        backend: Backend,
        absorbed: &Lanes<8>,
        randomness: &Lanes<RANDOMNESS_WORDS>,
    ) -> Lanes<DIGEST_WORDS> {
        let mut state = *absorbed;
        if let Some(block) = randomness.0.first_chunk::<6>() {
            kernel(backend).compress_lanes(&mut state.0, block, BLOCK + 32, true);
        }
        digest(&state)
    }

    fn message_one(
        _: Backend,
        parameter: &Parameter,
        epoch: u32,
        randomness: &Randomness,
        message: &[u32; MESSAGE_WORDS],
    ) -> Digest {
        let payload: [u32; 16] = core::array::from_fn(|i| match i {
            0..8 => message[i],
            8..14 => randomness[i - 8],
            _ => 0,
        });
        digest_one(hash_one(
            Use::Message,
            0,
            epoch,
            parameter,
            payload.into_iter(),
        ))
    }

    fn node_one(
        _: Backend,
        parameter: &Parameter,
        level: u8,
        position: u32,
        [left, right]: [&Digest; 2],
    ) -> Digest {
        let payload: [u32; 8] =
            core::array::from_fn(|i| if i < WORDS { left[i] } else { right[i - WORDS] });
        let level = u32::from(level);
        digest_one(hash_one(
            Use::Node,
            level,
            position,
            parameter,
            payload.into_iter(),
        ))
    }

    fn leaf_one(_: Backend, parameter: &Parameter, epoch: u32, ends: &[Digest]) -> Digest {
        let words = (0..WORDS * ends.len()).map(|i| ends[i / WORDS][i % WORDS]);
        digest_one(hash_one(Use::Leaf, 0, epoch, parameter, words))
    }
}

/// The pseudorandom function of leanVM's XMSS, whose key is the seed of the whole key. Its blocks stay on the stack, which
/// callers overwrite (`wipe.rs`).
pub enum Blake2sPrf {}

impl Blake2sPrf {
    /// A block of tweak, parameter and seed.
    fn block(
        purpose: Use,
        key: &PrfKey,
        places: &[u32; LANES],
        epochs: &[u32; LANES],
        parameter: &Parameter,
    ) -> Lanes<16> {
        let mut block = Lanes::<16>::ZERO;
        prefix(
            &mut block.0,
            purpose,
            places,
            epochs,
            &Lanes::splat(parameter),
        );
        for (i, column) in block.0[PREFIX..].iter_mut().enumerate() {
            *column = [word(key, i); LANES];
        }
        block
    }

    fn seed(key: &PrfKey) -> impl ExactSizeIterator<Item = u32> {
        (0..8).map(|i| word(key, i))
    }
}

impl Prf for Blake2sPrf {
    const DERIVES_ALL: bool = true;

    fn parameter(key: &PrfKey) -> Parameter {
        let zero = Parameter::default();
        let state = hash_one(Use::Parameter, 0, 0, &zero, Self::seed(key));
        core::array::from_fn(|i| if i < WORDS { state[i] } else { 0 })
    }

    fn filler(key: &PrfKey, parameter: &Parameter, level: u8, position: u32) -> Digest {
        let level = u32::from(level);
        let state = hash_one(Use::Filler, level, position, parameter, Self::seed(key));
        digest_one(state)
    }

    fn starts<H: TweakHash>(
        key: &PrfKey,
        parameter: &Parameter,
        epochs: &[u32; LANES],
        chains: &[u8; LANES],
    ) -> Lanes<DIGEST_WORDS> {
        let block = Self::block(Use::Start, key, &chains.map(u32::from), epochs, parameter);
        let mut state = initial();
        blake2s::Backend::detect().compress_lanes(&mut state.0, &block.0, BLOCK, true);
        digest(&state)
    }

    fn randomness<H: TweakHash>(
        key: &PrfKey,
        parameter: &Parameter,
        epoch: u32,
        message: &[u8; 32],
        first: u64,
    ) -> Lanes<RANDOMNESS_WORDS> {
        let counters = core::array::from_fn(|l| (first as u32).wrapping_add(l as u32));
        let block = Self::block(Use::Randomness, key, &counters, &[epoch; LANES], parameter);
        let mut state = initial();
        let kernel = blake2s::Backend::detect();
        kernel.compress_lanes(&mut state.0, &block.0, BLOCK, false);
        let second: [_; 8] = core::array::from_fn(|i| [word(message, i); LANES]);
        kernel.compress_lanes(&mut state.0, &second, BLOCK + 32, true);
        let mut out = Lanes::ZERO;
        out.0[..6].copy_from_slice(&state.0[..6]);
        out
    }
}

#[cfg(test)]
mod tests;
