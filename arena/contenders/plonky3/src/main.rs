//! Plonky3's permutations over KoalaBear, and SHAKE128 as used by leanSig's pseudorandom function.

use arena_kit::{Op, Output, Sum, op};
use p3_field::{Field, PackedValue, PrimeCharacteristicRing as _, PrimeField32 as _};
use p3_koala_bear::{
    KOALABEAR_POSEIDON1_RC_16, KOALABEAR_POSEIDON1_RC_24, KoalaBear, Poseidon2KoalaBear,
    default_koalabear_poseidon1_16, default_koalabear_poseidon1_24,
};
use p3_poseidon2::ExternalLayerConstants;
use p3_symmetric::Permutation;
use sha3::Shake128;
use sha3::digest::{ExtendableOutput as _, Update as _, XofReader as _};

/// A vector of field elements, as wide as the build's instruction set allows.
type Packing = <KoalaBear as Field>::Packing;

/// Number of parallel states.
const STATES: usize = 16;
/// Number of consecutive permutations in a call.
const LANES_TURNS: usize = 32;
const SINGLE_TURNS: usize = 64;
/// Chains per epoch.
const CHAINS: usize = 46;

fn main() {
    let (full, partial) = constants(&KOALABEAR_POSEIDON1_RC_16, 20);
    let poseidon2_16 = Poseidon2KoalaBear::<16>::new(full, partial);
    let (full, partial) = constants(&KOALABEAR_POSEIDON1_RC_24, 23);
    let poseidon2_24 = Poseidon2KoalaBear::<24>::new(full, partial);
    let ops = vec![
        lanes("poseidon1_16_lanes", default_koalabear_poseidon1_16()),
        lanes("poseidon1_24_lanes", default_koalabear_poseidon1_24()),
        lanes("poseidon2_16_lanes", poseidon2_16.clone()),
        lanes("poseidon2_24_lanes", poseidon2_24.clone()),
        single("poseidon1_16_single", default_koalabear_poseidon1_16()),
        single("poseidon1_24_single", default_koalabear_poseidon1_24()),
        single("poseidon2_16_single", poseidon2_16),
        single("poseidon2_24_single", poseidon2_24),
        pseudorandom_function(),
    ];
    let lockfile = include_str!("../../Cargo.lock");
    let version = arena_kit::locked_version(lockfile, "p3-koala-bear");
    arena_kit::run("plonky3", version, ops);
}

/// The constants of Plonky3 2117e4b: from the same stream, but full rounds first.
fn constants<const N: usize>(
    stream: &[[KoalaBear; N]],
    partial: usize,
) -> (ExternalLayerConstants<KoalaBear, N>, Vec<KoalaBear>) {
    let (full, rest) = stream.split_at(8);
    (
        ExternalLayerConstants::new(full[..4].to_vec(), full[4..].to_vec()),
        rest.as_flattened()[..partial].to_vec(),
    )
}

/// Sixteen states in columns, in groups of the vector width.
struct Columns<const N: usize>(Vec<[Packing; N]>);

impl<const N: usize> Columns<N> {
    fn column(&self, i: usize) -> impl Iterator<Item = u32> {
        self.0
            .iter()
            .flat_map(move |group| group[i].as_slice())
            .map(|element| element.as_canonical_u32())
    }
}

impl<const N: usize> Output for Columns<N> {
    fn add(&self, sum: &mut Sum) {
        for i in 0..N {
            for (l, word) in self.column(i).enumerate() {
                sum.word(u64::from(word) << (32 * (l & 1)));
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        for i in 0..N {
            out.extend(self.column(i).flat_map(u32::to_le_bytes));
        }
        true
    }
}

/// Applies the rule `le16@0` to an element; the result stays below the modulus.
fn set_low_16(element: &mut KoalaBear, word: u32) {
    *element = KoalaBear::from_u32(element.as_canonical_u32() >> 16 << 16 | word >> 16);
}

fn lanes<const N: usize>(
    name: &'static str,
    permutation: impl Permutation<[Packing; N]> + 'static,
) -> Op {
    let permutation: &'static _ = Box::leak(Box::new(permutation));
    op(name, |r| {
        let mut groups = vec![[Packing::ZERO; N]; STATES / Packing::WIDTH];
        for i in 0..N {
            for group in &mut groups {
                for element in group[i].as_slice_mut() {
                    *element = KoalaBear::from_u32(r.u32()?);
                }
            }
        }
        Some(groups)
    })
    .change("le16@0", |groups, word| {
        if let Some(element) = groups[0][0].as_slice_mut().first_mut() {
            set_low_16(element, word);
        }
    })
    .reuse(
        || Columns(vec![[Packing::ZERO; N]; STATES / Packing::WIDTH]),
        move |input, out| {
            for (input, state) in input.iter().zip(&mut out.0) {
                *state = *input;
                for _ in 0..LANES_TURNS {
                    permutation.permute_mut(state);
                }
            }
        },
    )
}

/// A single state.
struct Elements<const N: usize>([KoalaBear; N]);

impl<const N: usize> Output for Elements<N> {
    fn add(&self, sum: &mut Sum) {
        for (i, element) in self.0.iter().enumerate() {
            sum.word(u64::from(element.as_canonical_u32()) << (32 * (i & 1)));
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        let words = self.0.iter().map(|element| element.as_canonical_u32());
        out.extend(words.flat_map(u32::to_le_bytes));
        true
    }
}

fn single<const N: usize>(
    name: &'static str,
    permutation: impl Permutation<[KoalaBear; N]> + 'static,
) -> Op {
    let permutation: &'static _ = Box::leak(Box::new(permutation));
    op(name, |r| {
        let mut state = [KoalaBear::ZERO; N];
        for element in &mut state {
            *element = KoalaBear::from_u32(r.u32()?);
        }
        Some(state)
    })
    .change("le16@0", |state, word| set_low_16(&mut state[0], word))
    .reuse(
        || Elements([KoalaBear::ZERO; N]),
        move |input, out| {
            out.0 = *input;
            for _ in 0..SINGLE_TURNS {
                permutation.permute_mut(&mut out.0);
            }
        },
    )
}

/// Chain starts in columns, as integers.
struct Starts(Vec<[[u32; STATES]; 8]>);

impl Output for Starts {
    fn add(&self, sum: &mut Sum) {
        for pair in self.0.as_flattened().as_flattened().as_chunks::<2>().0 {
            sum.word(u64::from(pair[0]) | u64::from(pair[1]) << 32);
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        let words = self.0.as_flattened().as_flattened();
        out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        true
    }
}

/// Prefix of every input.
const DOMAIN: [u8; 16] = [
    0xae, 0xae, 0x22, 0xff, 0x00, 0x01, 0xfa, 0xff, 0x21, 0xaf, 0x12, 0x00, 0x01, 0x11, 0xff, 0x00,
];

fn pseudorandom_function() -> Op {
    op("xmss_prf", |r| Some((r.array::<32>()?, r.u32()?)))
        .change("le@0", |(key, _), word| {
            key[..4].copy_from_slice(&word.to_le_bytes());
        })
        .reuse(
            || Starts(vec![[[0; STATES]; 8]; CHAINS]),
            |(key, first), out| {
                for (chain, out) in (0_u64..).zip(&mut out.0) {
                    for (l, epoch) in (*first..).take(STATES).enumerate() {
                        let mut hasher = Shake128::default();
                        hasher.update(&DOMAIN);
                        hasher.update(&[0]);
                        hasher.update(key);
                        hasher.update(&epoch.to_be_bytes());
                        hasher.update(&chain.to_be_bytes());
                        let mut output = [0; 128];
                        hasher.finalize_xof().read(&mut output);
                        for (column, word) in out.iter_mut().zip(output.as_chunks().0) {
                            let modulus = u128::from(KoalaBear::ORDER_U32);
                            column[l] = (u128::from_be_bytes(*word) % modulus) as u32;
                        }
                    }
                }
            },
        )
}
