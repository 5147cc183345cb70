//! The pseudorandom function that generates chain starts and the randomness of messages.

use lydite_hash::shake128_batch;
use zeroize::{Zeroize, Zeroizing};

use crate::hash::{DIGEST_WORDS, Digest, Parameter, RANDOMNESS_WORDS, TweakHash};
use crate::poseidon::{LANES, Lanes};

/// A key of the pseudorandom function.
pub type PrfKey = [u8; 32];

/// A pseudorandom function that computes [`LANES`] values at once.
pub trait Prf: Send + Sync + 'static {
    /// Whether all of a key follows from the PRF key. If so, a key covers exactly the epochs that were asked for, and the
    /// nodes beside them come from [`Self::filler`]. Otherwise a key covers whole bottom trees, and its parameter and the
    /// nodes beside them are drawn at random.
    const DERIVES_ALL: bool;
    /// What the randomnesses of one message are computed from. Secret: on the stack, which callers overwrite.
    type Trials;

    /// Returns the public parameter, if [`Self::DERIVES_ALL`].
    fn parameter(key: &PrfKey) -> Parameter;

    /// Returns the node at `position` of `level`, below which the key has no epochs, if [`Self::DERIVES_ALL`].
    fn filler(key: &PrfKey, parameter: &Parameter, level: u8, position: u32) -> Digest;

    /// Computes the starts of chains in these epochs, [`LANES`] chains for each output.
    fn starts<H: TweakHash>(
        key: &PrfKey,
        parameter: &Parameter,
        epochs: &[u32; LANES],
        chains: impl IntoIterator<Item = [u8; LANES]>,
        out: &mut [Lanes<DIGEST_WORDS>],
    );

    /// Prepares the randomnesses of a message.
    fn trials(key: &PrfKey, parameter: &Parameter, epoch: u32, message: &[u8; 32]) -> Self::Trials;

    /// Returns the randomness for counters `first`, `first + 1`, and so on.
    fn randomness<H: TweakHash>(trials: &mut Self::Trials, first: u64) -> Lanes<RANDOMNESS_WORDS>;
}

/// SHAKE128 of a domain, the key and the purpose of the value. Each word is derived from the next 16 bytes of output.
pub enum Shake {}

/// The first bytes of every input.
const DOMAIN: [u8; 16] = [
    0xae, 0xae, 0x22, 0xff, 0x00, 0x01, 0xfa, 0xff, 0x21, 0xaf, 0x12, 0x00, 0x01, 0x11, 0xff, 0x00,
];

impl Prf for Shake {
    const DERIVES_ALL: bool = false;
    type Trials = Zeroizing<[[u8; 93]; LANES]>;

    fn parameter(_: &PrfKey) -> Parameter {
        Parameter::default()
    }

    fn filler(_: &PrfKey, _: &Parameter, _: u8, _: u32) -> Digest {
        Digest::default()
    }

    fn starts<H: TweakHash>(
        key: &PrfKey,
        _: &Parameter,
        epochs: &[u32; LANES],
        chains: impl IntoIterator<Item = [u8; LANES]>,
        out: &mut [Lanes<DIGEST_WORDS>],
    ) {
        let mut inputs = inputs::<61>(0, key);
        for (chains, out) in chains.into_iter().zip(out) {
            for ((input, epoch), chain) in inputs.iter_mut().zip(epochs).zip(chains) {
                input[49..53].copy_from_slice(&epoch.to_be_bytes());
                input[53..].copy_from_slice(&u64::from(chain).to_be_bytes());
            }
            *out = words::<H, 61, DIGEST_WORDS>(&inputs, H::DIGEST);
        }
    }

    fn trials(key: &PrfKey, _: &Parameter, epoch: u32, message: &[u8; 32]) -> Self::Trials {
        let mut inputs = inputs::<93>(1, key);
        for input in inputs.iter_mut() {
            input[49..53].copy_from_slice(&epoch.to_be_bytes());
            input[53..85].copy_from_slice(message);
        }
        inputs
    }

    fn randomness<H: TweakHash>(inputs: &mut Self::Trials, first: u64) -> Lanes<RANDOMNESS_WORDS> {
        for (counter, input) in (first..).zip(inputs.iter_mut()) {
            input[85..].copy_from_slice(&counter.to_be_bytes());
        }
        words::<H, 93, RANDOMNESS_WORDS>(inputs, H::RANDOMNESS)
    }
}

/// Inputs with the first 49 bytes set.
fn inputs<const N: usize>(tag: u8, key: &PrfKey) -> Zeroizing<[[u8; N]; LANES]> {
    let mut input = [0; N];
    input[..16].copy_from_slice(&DOMAIN);
    input[16] = tag;
    input[17..49].copy_from_slice(key);
    let inputs = Zeroizing::new([input; LANES]);
    input.zeroize();
    inputs
}

/// Returns the first `count` words of each input's output.
fn words<H: TweakHash, const N: usize, const W: usize>(
    inputs: &[[u8; N]; LANES],
    count: usize,
) -> Lanes<W> {
    let mut output = Zeroizing::new([[0; 16 * DIGEST_WORDS]; LANES]);
    let inputs = inputs.each_ref().map(|input| &input[..]);
    // The inputs have equal lengths, so this cannot fail.
    let _ = shake128_batch(&inputs, &mut *output);
    let mut words = Lanes::ZERO;
    for (l, output) in output.iter().enumerate() {
        for (column, bytes) in words.0.iter_mut().zip(output.as_chunks().0).take(count) {
            column[l] = H::word_from_bytes(*bytes);
        }
    }
    words
}
