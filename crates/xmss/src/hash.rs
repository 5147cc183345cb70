//! Tweakable hashes, for chains, trees and messages.
//!
//! All process [`LANES`] inputs at once. A word is a `u32`: a field element for the Poseidon hashes, four bytes for BLAKE2s ([`crate::blake2s`]). A digest has
//! [`TweakHash::DIGEST`] words; arrays have the length of the longest digest, and words after a digest's end are zero.

use core::marker::PhantomData;

use rand_core::Rng;

use crate::koalabear::{self, MODULUS, tweak_digits};
use crate::poseidon::{Backend, LANES, Lanes, Permutation, Poseidon1, Poseidon2, leaf_capacity};

/// Words in the longest digest.
pub const DIGEST_WORDS: usize = 8;
/// Words in the longest public parameter.
pub const PARAMETER_WORDS: usize = 5;
/// Words in the longest randomness of a message hash.
pub const RANDOMNESS_WORDS: usize = 7;
/// Words in a message prepared for hashing.
pub const MESSAGE_WORDS: usize = 9;

/// A node of a tree or a value in a chain.
pub type Digest = [u32; DIGEST_WORDS];
/// Separates the hashes of one key from those of another.
pub type Parameter = [u32; PARAMETER_WORDS];
/// The input that a signer varies until the message can be encoded.
pub type Randomness = [u32; RANDOMNESS_WORDS];

/// A position in a hash chain in each lane.
#[derive(Clone, Copy, Debug)]
pub struct ChainPositions {
    /// The epoch that the chain belongs to.
    pub epochs: [u32; LANES],
    /// The chain's index, below 256.
    pub chains: [u32; LANES],
    /// The value's position in the chain, below 256.
    pub positions: [u32; LANES],
}

/// A tweakable hash function: every input includes its position in the scheme.
pub trait TweakHash: Send + Sync + 'static {
    /// Words in a digest, at most [`DIGEST_WORDS`].
    const DIGEST: usize;
    /// Words in a public parameter, at most [`PARAMETER_WORDS`].
    const PARAMETER: usize;
    /// Words in a randomness, at most [`RANDOMNESS_WORDS`].
    const RANDOMNESS: usize;
    /// What a message hash computes before it needs the randomness.
    type Absorbed;

    /// Whether a word is valid in a digest, a parameter or a randomness.
    fn is_word(word: u32) -> bool;
    /// The word that the reference implementation decodes from `word`.
    fn reduce(word: u32) -> u32;
    /// Draws a word from a random number generator like the reference implementation.
    fn draw<G: Rng + ?Sized>(rng: &mut G) -> u32;
    /// Converts 16 bytes of pseudorandom output to a word.
    fn word_from_bytes(bytes: [u8; 16]) -> u32;
    /// Converts a message to words.
    fn message_words(message: &[u8; 32]) -> [u32; MESSAGE_WORDS];

    /// Takes `count` steps in each chain, from the value at the position.
    fn steps(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        at: &mut ChainPositions,
        count: u32,
        value: &mut Lanes<DIGEST_WORDS>,
    );
    /// Computes the parents at `positions` of `level` (leaves are level 0).
    fn node(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        level: u8,
        positions: &[u32; LANES],
        children: [&Lanes<DIGEST_WORDS>; 2],
    ) -> Lanes<DIGEST_WORDS>;
    /// Computes the leaf of each epoch from the ends of its chains.
    fn leaf(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        epochs: &[u32; LANES],
        ends: &[Lanes<DIGEST_WORDS>],
    ) -> Lanes<DIGEST_WORDS>;
    /// Starts hashing messages, so that a signer can try many randomnesses.
    fn absorb(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        epochs: &[u32; LANES],
        message: &Lanes<MESSAGE_WORDS>,
    ) -> Self::Absorbed;
    /// Finishes hashing messages. The encoding derives its digits from the result.
    fn message(
        backend: Backend,
        absorbed: &Self::Absorbed,
        randomness: &Lanes<RANDOMNESS_WORDS>,
    ) -> Lanes<DIGEST_WORDS>;

    /// [`Self::absorb`] and [`Self::message`] for a single input.
    fn message_one(
        backend: Backend,
        parameter: &Parameter,
        epoch: u32,
        randomness: &Randomness,
        message: &[u32; MESSAGE_WORDS],
    ) -> Digest;
    /// [`Self::node`] for a single input.
    fn node_one(
        backend: Backend,
        parameter: &Parameter,
        level: u8,
        position: u32,
        children: [&Digest; 2],
    ) -> Digest;
    /// [`Self::leaf`] for a single input.
    fn leaf_one(backend: Backend, parameter: &Parameter, epoch: u32, ends: &[Digest]) -> Digest;
}

/// Lowest byte of a tweak: the use of the hash.
const CHAIN: u64 = 0;
const TREE: u64 = 1;
const MESSAGE: u64 = 2;

fn tree_tweak(level: u8, position: u32) -> u64 {
    u64::from(level) << 40 | u64::from(position) << 8 | TREE
}

fn message_tweak(epoch: u32) -> u64 {
    u64::from(epoch) << 8 | MESSAGE
}

/// The tweak of the step that leads to the position.
fn chain_tweak(at: &ChainPositions, l: usize) -> u64 {
    u64::from(at.epochs[l]) << 24
        | u64::from(at.chains[l] & 0xff) << 16
        | u64::from(at.positions[l] & 0xff) << 8
        | CHAIN
}

/// The two field elements of each tweak.
fn tweaks(integers: impl Iterator<Item = u64>) -> Lanes<2> {
    let mut tweaks = Lanes::ZERO;
    for (l, integer) in integers.take(LANES).enumerate() {
        tweaks.set(l, &tweak_digits(integer));
    }
    tweaks
}

/// a + b mod p in each lane.
#[inline]
fn add(sum: &mut [u32; LANES], other: &[u32; LANES]) {
    for (a, b) in sum.iter_mut().zip(other) {
        let sum = *a + b;
        *a = koalabear::subtract_modulus(sum);
    }
}

/// Number of elements that a permutation of width 24 absorbs, and number in its capacity.
const RATE: usize = 15;
const CAPACITY: usize = 9;

/// The differences between the two Poseidon constructions.
pub(crate) trait Construction: Permutation<24, 23> + Send + Sync + 'static {
    /// Whether a chain's value or a message comes before parameter and tweak, and the randomness after them. Otherwise
    /// the order is reversed.
    const VALUE_FIRST: bool;
    /// Start of the capacity and of the rate in the state of a leaf's sponge.
    const CAPACITY_AT: usize;
    const RATE_AT: usize;
    /// Whether a leaf's sponge adds to the rate instead of overwriting it.
    const ADDS: bool;

    fn narrow(backend: Backend, state: &mut Lanes<16>);
    fn wide(backend: Backend, state: &mut Lanes<24>);
    fn wide_one(backend: Backend, state: &mut [u32; 24]);
}

impl Construction for Poseidon1 {
    const VALUE_FIRST: bool = true;
    const CAPACITY_AT: usize = 0;
    const RATE_AT: usize = CAPACITY;
    const ADDS: bool = false;

    #[inline]
    fn narrow(backend: Backend, state: &mut Lanes<16>) {
        backend.poseidon1_16(state);
    }
    #[inline]
    fn wide(backend: Backend, state: &mut Lanes<24>) {
        backend.poseidon1_24(state);
    }
    #[inline]
    fn wide_one(backend: Backend, state: &mut [u32; 24]) {
        backend.poseidon1_24_one(state);
    }
}

impl Construction for Poseidon2 {
    const VALUE_FIRST: bool = false;
    const CAPACITY_AT: usize = RATE;
    const RATE_AT: usize = 0;
    const ADDS: bool = true;

    #[inline]
    fn narrow(backend: Backend, state: &mut Lanes<16>) {
        backend.poseidon2_16(state);
    }
    #[inline]
    fn wide(backend: Backend, state: &mut Lanes<24>) {
        backend.poseidon2_24(state);
    }
    #[inline]
    fn wide_one(backend: Backend, state: &mut [u32; 24]) {
        backend.poseidon2_24_one(state);
    }
}

/// Orders a value, its randomness, parameter and tweak.
#[inline]
fn around<'a, K: Construction, T>(
    value: &'a [T],
    [parameter, tweak]: [&'a [T]; 2],
    randomness: &'a [T],
) -> [&'a [T]; 4] {
    if K::VALUE_FIRST {
        [value, parameter, tweak, randomness]
    } else {
        [randomness, parameter, tweak, value]
    }
}

/// Permutes the concatenated parts, adds the input, and returns the first `digest` elements.
#[inline]
fn compress<const W: usize>(
    digest: usize,
    parts: [&[[u32; LANES]]; 4],
    permute: impl Fn(&mut Lanes<W>),
) -> Lanes<DIGEST_WORDS> {
    let mut input = Lanes::ZERO;
    let mut length = 0;
    for part in parts {
        input.0[length..][..part.len()].copy_from_slice(part);
        length += part.len();
    }
    let mut state = input;
    permute(&mut state);
    let mut out = Lanes::ZERO;
    for i in 0..digest {
        out.0[i] = state.0[i];
        add(&mut out.0[i], &input.0[i]);
    }
    out
}

/// [`compress`] for a single state of width 24.
fn compress_one<K: Construction>(backend: Backend, digest: usize, parts: [&[u32]; 4]) -> Digest {
    let mut input = [0; 24];
    for (place, element) in input.iter_mut().zip(parts.into_iter().flatten()) {
        *place = *element;
    }
    let mut state = input;
    K::wide_one(backend, &mut state);
    let mut out = [0; DIGEST_WORDS];
    for i in 0..digest {
        out[i] = koalabear::add(state[i], input[i]);
    }
    out
}

/// Number of permutations for a leaf whose chain ends have `elements` elements in total.
const fn blocks(elements: usize) -> usize {
    (PARAMETER_WORDS + 2 + elements).div_ceil(RATE)
}

/// [`Poseidon1Hash`] or [`Poseidon2Hash`].
///
/// Both compress a node as `parameter | tweak | left | right`. A leaf's sponge absorbs `parameter | tweak | ends`, 15
/// elements per permutation, and its capacity holds a hash of the lengths.
pub struct PoseidonHash<K, const D: usize, const R: usize, const V: usize>(PhantomData<K>);

/// Poseidon as in leanSig c08a3ba: digests of `D` elements, randomness of `R`, leaves of `V` chains.
///
/// A chain step compresses `value | parameter | tweak`, a message hash `message | parameter | tweak | randomness`. A
/// leaf's capacity comes first, and its sponge overwrites the rate.
pub type Poseidon1Hash<const D: usize, const R: usize, const V: usize> =
    PoseidonHash<Poseidon1, D, R, V>;

/// Poseidon2 as in hash-sig e66a485: digests of `D` elements, randomness of `R`.
///
/// A chain step compresses `parameter | tweak | value`, a message hash `randomness | parameter | tweak | message`. A
/// leaf's capacity comes last. The `V` in it is the number of chains without checksum, although all chains are
/// absorbed, by addition.
pub type Poseidon2Hash<const D: usize, const R: usize, const V: usize> =
    PoseidonHash<Poseidon2, D, R, V>;

impl<K: Construction, const D: usize, const R: usize, const V: usize> TweakHash
    for PoseidonHash<K, D, R, V>
{
    const DIGEST: usize = D;
    const PARAMETER: usize = PARAMETER_WORDS;
    const RANDOMNESS: usize = R;
    /// Parameter, tweak and message.
    type Absorbed = (Lanes<PARAMETER_WORDS>, Lanes<2>, Lanes<MESSAGE_WORDS>);

    fn is_word(word: u32) -> bool {
        koalabear::is_canonical(word)
    }

    fn reduce(word: u32) -> u32 {
        word % MODULUS
    }

    fn draw<G: Rng + ?Sized>(rng: &mut G) -> u32 {
        koalabear::draw(rng)
    }

    fn word_from_bytes(bytes: [u8; 16]) -> u32 {
        koalabear::reduce_wide(bytes)
    }

    fn message_words(message: &[u8; 32]) -> [u32; MESSAGE_WORDS] {
        koalabear::message_digits(message)
    }

    #[inline]
    fn steps(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        at: &mut ChainPositions,
        count: u32,
        value: &mut Lanes<DIGEST_WORDS>,
    ) {
        for _ in 0..count {
            at.positions = at.positions.map(|position| position.wrapping_add(1));
            let tweak = tweaks((0..LANES).map(|l| chain_tweak(at, l)));
            let parts = around::<K, _>(&value.0[..D], [&parameter.0, &tweak.0], &[]);
            *value = compress(D, parts, |state| K::narrow(backend, state));
        }
    }

    fn node(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        level: u8,
        positions: &[u32; LANES],
        children: [&Lanes<DIGEST_WORDS>; 2],
    ) -> Lanes<DIGEST_WORDS> {
        let tweak = tweaks(
            positions
                .iter()
                .map(|&position| tree_tweak(level, position)),
        );
        let [left, right] = children.map(|child| &child.0[..D]);
        compress(D, [&parameter.0, &tweak.0, left, right], |state| {
            K::wide(backend, state);
        })
    }

    fn leaf(
        backend: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        epochs: &[u32; LANES],
        ends: &[Lanes<DIGEST_WORDS>],
    ) -> Lanes<DIGEST_WORDS> {
        let tweak = tweaks(epochs.iter().map(|&epoch| tree_tweak(0, epoch)));
        let mut input = parameter
            .0
            .iter()
            .chain(&tweak.0)
            .chain(ends.iter().flat_map(|end| &end.0[..D]));
        let mut state = Lanes::ZERO;
        let capacity = const { leaf_capacity::<K>(D, V) };
        for (column, element) in state.0[K::CAPACITY_AT..].iter_mut().zip(capacity) {
            *column = [element; LANES];
        }
        for _ in 0..blocks(D * ends.len()) {
            for column in &mut state.0[K::RATE_AT..][..RATE] {
                let element = input.next().unwrap_or(&[0; LANES]);
                if K::ADDS {
                    add(column, element);
                } else {
                    *column = *element;
                }
            }
            K::wide(backend, &mut state);
        }
        let mut out = Lanes::ZERO;
        out.0[..D].copy_from_slice(&state.0[K::RATE_AT..][..D]);
        out
    }

    fn absorb(
        _: Backend,
        parameter: &Lanes<PARAMETER_WORDS>,
        epochs: &[u32; LANES],
        message: &Lanes<MESSAGE_WORDS>,
    ) -> Self::Absorbed {
        let tweak = tweaks(epochs.iter().map(|&epoch| message_tweak(epoch)));
        (*parameter, tweak, *message)
    }

    fn message(
        backend: Backend,
        (parameter, tweak, message): &Self::Absorbed,
        randomness: &Lanes<RANDOMNESS_WORDS>,
    ) -> Lanes<DIGEST_WORDS> {
        let parts = around::<K, _>(&message.0, [&parameter.0, &tweak.0], &randomness.0[..R]);
        compress(DIGEST_WORDS, parts, |state| K::wide(backend, state))
    }

    fn message_one(
        backend: Backend,
        parameter: &Parameter,
        epoch: u32,
        randomness: &Randomness,
        message: &[u32; MESSAGE_WORDS],
    ) -> Digest {
        let tweak = tweak_digits(message_tweak(epoch));
        let parts = around::<K, _>(message, [parameter, &tweak], &randomness[..R]);
        compress_one::<K>(backend, DIGEST_WORDS, parts)
    }

    fn node_one(
        backend: Backend,
        parameter: &Parameter,
        level: u8,
        position: u32,
        children: [&Digest; 2],
    ) -> Digest {
        let tweak = tweak_digits(tree_tweak(level, position));
        let [left, right] = children.map(|child| &child[..D]);
        compress_one::<K>(backend, D, [parameter, &tweak, left, right])
    }

    fn leaf_one(backend: Backend, parameter: &Parameter, epoch: u32, ends: &[Digest]) -> Digest {
        let tweak = tweak_digits(tree_tweak(0, epoch));
        let mut input = parameter
            .iter()
            .chain(&tweak)
            .chain(ends.iter().flat_map(|end| &end[..D]));
        let mut state = [0; 24];
        let capacity = const { leaf_capacity::<K>(D, V) };
        state[K::CAPACITY_AT..][..CAPACITY].copy_from_slice(&capacity);
        for _ in 0..blocks(D * ends.len()) {
            for element in &mut state[K::RATE_AT..][..RATE] {
                let next = *input.next().unwrap_or(&0);
                *element = if K::ADDS {
                    koalabear::add(*element, next)
                } else {
                    next
                };
            }
            K::wide_one(backend, &mut state);
        }
        let mut out = [0; DIGEST_WORDS];
        out[..D].copy_from_slice(&state[K::RATE_AT..][..D]);
        out
    }
}
