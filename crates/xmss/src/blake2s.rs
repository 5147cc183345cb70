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
    ChainPositions, DIGEST_WORDS, Digest, MESSAGE_WORDS, PARAMETER_WORDS, Parameter,
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
        #[cfg(target_arch = "aarch64")]
        Backend::Neon(_) => blake2s::Backend::detect(),
    }
}

fn word(bytes: &[u8; 32], i: usize) -> u32 {
    u32::from_le_bytes(bytes.as_chunks().0[i])
}

/// Values of one word in all lanes.
type Column = [u32; LANES];

static ZERO: Column = [0; LANES];

/// The first word of a tweak.
fn tweak(purpose: Use) -> u32 {
    (purpose as u32) << 8
}

/// Tweak and parameter. The kernels read words where they are: vectors that were written in parts a moment ago would have
/// to wait for the memory.
#[inline]
fn prefix<'a>(
    purpose: &'a Column,
    places: &'a Column,
    indices: &'a Column,
    Lanes([p0, p1, p2, p3, _]): &'a Lanes<PARAMETER_WORDS>,
) -> [&'a Column; PREFIX] {
    [purpose, places, &ZERO, indices, p0, p1, p2, p3]
}

/// A block of tweak, parameter and the first words of a payload.
#[inline]
fn block<'a, const W: usize, const N: usize>(
    prefix: [&'a Column; PREFIX],
    payload: [&'a Column; N],
) -> [&'a Column; W] {
    const { assert!(W == PREFIX + N) };
    core::array::from_fn(|i| {
        if i < PREFIX {
            prefix[i]
        } else {
            payload[i - PREFIX]
        }
    })
}

/// The words of a digest.
#[inline]
fn words(digest: &Lanes<DIGEST_WORDS>) -> [&Column; WORDS] {
    core::array::from_fn(|i| &digest.0[i])
}

/// The digest of a message of one block.
#[inline]
fn hash<const W: usize>(backend: Backend, block: [&Column; W]) -> Lanes<DIGEST_WORDS> {
    let mut out = Lanes::ZERO;
    let digest = &mut out.0.as_chunks_mut::<WORDS>().0[0];
    kernel(backend).compress_first(block, 4 * W as u64, true, digest);
    out
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
    let mut words = [tweak(purpose), place, 0, index]
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

    fn steps(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        at: &mut ChainPositions,
        count: u32,
        value: &mut Lanes<DIGEST_WORDS>,
    ) {
        let kernel = kernel(backend);
        let purpose = [tweak(Use::Step); LANES];
        // Values and places alternate between two buffers: a step does not wait for what was just written.
        let place = |l: usize| at.chains[l].wrapping_mul(8).wrapping_add(at.positions[l]);
        let mut places: [Column; 2] =
            [0, 1].map(|step| core::array::from_fn(|l| place(l).wrapping_add(step)));
        let [mut now, mut then] = places.each_mut();
        let mut other = Lanes::<WORDS>::ZERO;
        let (mut from, mut to) = (&mut value.0.as_chunks_mut::<WORDS>().0[0], &mut other.0);
        for _ in 0..count {
            let prefix = prefix(&purpose, now, &at.epochs, parameter);
            kernel.compress_first(block::<12, 4>(prefix, from.each_ref()), 48, true, to);
            *now = now.map(|place| place.wrapping_add(2));
            (now, then) = (then, now);
            (from, to) = (to, from);
        }
        if count % 2 == 1 {
            value.0[..WORDS].copy_from_slice(&other.0);
        }
        at.positions = at.positions.map(|position| position.wrapping_add(count));
    }

    fn node(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        level: u8,
        positions: &[u32; LANES],
        children: [&Lanes<DIGEST_WORDS>; 2],
    ) -> Lanes<DIGEST_WORDS> {
        let (purpose, level) = ([tweak(Use::Node); LANES], [u32::from(level); LANES]);
        let [left, right] = children.map(words);
        let payload: [&Column; 8] =
            core::array::from_fn(|i| if i < WORDS { left[i] } else { right[i - WORDS] });
        let prefix = prefix(&purpose, &level, positions, parameter);
        hash(backend, block::<16, 8>(prefix, payload))
    }

    fn leaf(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        epochs: &[u32; LANES],
        ends: &[Lanes<DIGEST_WORDS>],
    ) -> Lanes<DIGEST_WORDS> {
        let total = 4 * (PREFIX + WORDS * ends.len()) as u64;
        let purpose = [tweak(Use::Leaf); LANES];
        let mut columns = prefix(&purpose, &ZERO, epochs, parameter)
            .into_iter()
            .chain(ends.iter().flat_map(words));
        let mut state = Lanes(blake2s::INITIAL.map(|word| [word; LANES]));
        let mut counter = 0;
        while counter < total {
            let block: [&Column; 16] = core::array::from_fn(|_| columns.next().unwrap_or(&ZERO));
            counter = total.min(counter + BLOCK);
            kernel(backend).compress_lanes(&mut state.0, block, counter, counter == total);
        }
        digest(&state)
    }

    fn absorb(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        epochs: &[u32; LANES],
        message: &Lanes<MESSAGE_WORDS>,
    ) -> Lanes<8> {
        let purpose = [tweak(Use::Message); LANES];
        let prefix = prefix(&purpose, &ZERO, epochs, parameter);
        let payload: [&Column; 8] = core::array::from_fn(|i| &message.0[i]);
        let mut state = Lanes::ZERO;
        kernel(backend).compress_first(block::<16, 8>(prefix, payload), BLOCK, false, &mut state.0);
        state
    }

    #[inline]
    fn message(
        backend: Backend,
        absorbed: &Lanes<8>,
        randomness: &Lanes<RANDOMNESS_WORDS>,
    ) -> Lanes<DIGEST_WORDS> {
        let mut state = *absorbed;
        let block: [&Column; 6] = core::array::from_fn(|i| &randomness.0[i]);
        kernel(backend).compress_lanes(&mut state.0, block, BLOCK + 32, true);
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
    /// The words of a seed or a message.
    fn columns(bytes: &[u8; 32]) -> Lanes<8> {
        Lanes(core::array::from_fn(|i| [word(bytes, i); LANES]))
    }

    fn seed(key: &PrfKey) -> impl ExactSizeIterator<Item = u32> {
        (0..8).map(|i| word(key, i))
    }
}

impl Prf for Blake2sPrf {
    const DERIVES_ALL: bool = true;
    type Trials = Trials;

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
        chains: impl IntoIterator<Item = [u8; LANES]>,
        out: &mut [Lanes<DIGEST_WORDS>],
    ) {
        let (seed, parameter) = (Self::columns(key), Lanes::splat(parameter));
        let purpose = [tweak(Use::Start); LANES];
        for (chains, out) in chains.into_iter().zip(out) {
            let places = chains.map(u32::from);
            let prefix = prefix(&purpose, &places, epochs, &parameter);
            *out = hash(Backend::detect(), block::<16, 8>(prefix, seed.0.each_ref()));
        }
    }

    fn trials(key: &PrfKey, parameter: &Parameter, epoch: u32, message: &[u8; 32]) -> Trials {
        Trials {
            seed: Self::columns(key),
            parameter: Lanes::splat(parameter),
            epochs: [epoch; LANES],
            message: Self::columns(message),
        }
    }

    fn randomness<H: TweakHash>(trials: &mut Trials, first: u64) -> Lanes<RANDOMNESS_WORDS> {
        let kernel = blake2s::Backend::detect();
        let purpose = [tweak(Use::Randomness); LANES];
        let counters = core::array::from_fn(|l| (first as u32).wrapping_add(l as u32));
        let prefix = prefix(&purpose, &counters, &trials.epochs, &trials.parameter);
        let mut state = Lanes::<8>::ZERO;
        let first = block::<16, 8>(prefix, trials.seed.0.each_ref());
        kernel.compress_first(first, BLOCK, false, &mut state.0);
        kernel.compress_lanes(&mut state.0, trials.message.0.each_ref(), BLOCK + 32, true);
        let mut out = Lanes::ZERO;
        out.0[..6].copy_from_slice(&state.0[..6]);
        out
    }
}

/// What randomnesses are computed from.
pub struct Trials {
    seed: Lanes<8>,
    parameter: Lanes<PARAMETER_WORDS>,
    epochs: Column,
    message: Lanes<8>,
}

#[cfg(test)]
mod tests;
