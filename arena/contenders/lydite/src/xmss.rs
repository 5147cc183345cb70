//! The `xmss` family.
//!
//! Rows run on the main thread only; rows named `_2t` run in a pool of two threads. Keys that a row signs with are
//! generated outside the clock, once per seed.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use arena_kit::xmss::{Origin, Verdicts, key, origin, sign};
use arena_kit::{Op, Output, Reader, Sum, negative, op};
use lydite::hash::{sha3_256, shake128_batch};
use lydite_xmss::poseidon::{Backend, LANES, Lanes};
use lydite_xmss::rand_core::SeedableRng as _;
use lydite_xmss::store::KeyFile;
use lydite_xmss::{
    ChaCha12Rng, Claim, HashSig2025, LeanSig46x8, LeanSig46x10, LeanSig46x18, LeanSigProd,
    LeanSigTest, LeanVm, Message, PublicKey, Scheme, SecretKey, Signature, verify_batch,
};

/// Number of consecutive permutations in a call.
const LANES_TURNS: usize = 32;
const SINGLE_TURNS: usize = 64;
/// Chains per epoch in the rows of the pseudorandom function.
const CHAINS: u8 = 46;

pub fn ops() -> Vec<Op> {
    // Limits one-thread rows to one thread, see lydite_xmss's `parallel`. Only fails if a global pool already exists.
    let _ = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global();
    let backend = Backend::detect();
    let mut ops = vec![
        lanes("poseidon1_16_lanes", move |s| {
            backend.poseidon1_16(s);
        }),
        lanes("poseidon1_24_lanes", move |s| {
            backend.poseidon1_24(s);
        }),
        lanes("poseidon2_16_lanes", move |s| {
            backend.poseidon2_16(s);
        }),
        lanes("poseidon2_24_lanes", move |s| {
            backend.poseidon2_24(s);
        }),
        single("poseidon1_16_single", move |s| {
            backend.poseidon1_16_one(s);
        }),
        single("poseidon1_24_single", move |s| {
            backend.poseidon1_24_one(s);
        }),
        single("poseidon2_16_single", move |s| {
            backend.poseidon2_16_one(s);
        }),
        single("poseidon2_24_single", move |s| {
            backend.poseidon2_24_one(s);
        }),
        pseudorandom_function(),
    ];
    ops.extend([
        keygen::<LeanSigTest>("xmss_keygen_test", 1),
        keygen::<LeanSig46x8>("xmss_keygen_46_8", 1),
        keygen::<LeanSig46x10>("xmss_keygen_46_10", 1),
        keygen::<LeanSig46x10>("xmss_keygen_46_10_2t", 2),
        keygen::<LeanSig46x18>("xmss_keygen_46_18", 1),
        keygen::<LeanSig46x18>("xmss_keygen_46_18_2t", 2),
        keygen::<LeanSigProd>("xmss_keygen_prod", 1),
        keygen::<LeanSigProd>("xmss_keygen_prod_2t", 2),
        keygen::<LeanVm>("xmss_keygen_leanvm", 1),
        report("xmss_report_keygen", 1),
        report("xmss_report_keygen_2t", 2),
        sign("xmss_sign_test", generate, signature::<LeanSigTest>),
        sign("xmss_sign_46_8", generate, signature::<LeanSig46x8>),
        sign("xmss_sign_leanvm", generate, signature::<LeanVm>),
        verify::<LeanVm>("xmss_verify_leanvm"),
        negative("xmss_verify_leanvm", |item| {
            Signature::<LeanVm>::from_bytes(item).is_ok()
        }),
        batch::<LeanVm>("xmss_verify_leanvm_batch", 1),
        verify::<LeanSigTest>("xmss_verify_test"),
        verify::<LeanSig46x8>("xmss_verify_46_8"),
        verify::<LeanSigProd>("xmss_verify_prod"),
        negative("xmss_verify_prod", |item| {
            Signature::<LeanSigProd>::from_bytes(item).is_ok()
        }),
        batch::<LeanSigProd>("xmss_verify_prod_batch", 1),
        batch::<LeanSigProd>("xmss_verify_prod_batch_2t", 2),
        advance("xmss_advance_46_10", 1),
        advance("xmss_advance_46_10_2t", 2),
        load::<LeanSig46x18>("xmss_load_46_18"),
        load::<LeanSigProd>("xmss_load_prod"),
        save::<LeanSig46x18>("xmss_save_46_18"),
        save::<LeanSigProd>("xmss_save_prod"),
    ]);
    ops
}

/// Columns of elements, each a little-endian word.
struct Columns<const N: usize>(Vec<Lanes<N>>);

impl<const N: usize> Output for Columns<N> {
    fn add(&self, sum: &mut Sum) {
        for column in self.0.iter().flat_map(|lanes| &lanes.0) {
            for pair in column.as_chunks::<2>().0 {
                sum.word(u64::from(pair[0]) | u64::from(pair[1]) << 32);
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        let columns = self.0.iter().flat_map(|lanes| &lanes.0);
        out.extend(columns.flatten().flat_map(|word| word.to_le_bytes()));
        true
    }
}

/// Applies the rule `le16@0` to an element; the result stays below the modulus.
fn set_low_16(element: &mut u32, word: u32) {
    *element = *element >> 16 << 16 | word >> 16;
}

fn lanes<const N: usize>(
    name: &'static str,
    permute: impl Fn(&mut Lanes<N>) + Copy + 'static,
) -> Op {
    op(name, |r| {
        let mut state = Lanes::<N>::ZERO;
        for word in state.0.as_flattened_mut() {
            *word = r.u32()?;
        }
        Some(state)
    })
    .change("le16@0", |state, word| set_low_16(&mut state.0[0][0], word))
    .reuse(
        || Columns(vec![Lanes::ZERO]),
        move |input, out| {
            let state = &mut out.0[0];
            *state = *input;
            for _ in 0..LANES_TURNS {
                permute(state);
            }
        },
    )
}

/// Elements, each a little-endian word.
struct Elements<const N: usize>([u32; N]);

impl<const N: usize> Output for Elements<N> {
    fn add(&self, sum: &mut Sum) {
        for pair in self.0.as_chunks::<2>().0 {
            sum.word(u64::from(pair[0]) | u64::from(pair[1]) << 32);
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend(self.0.iter().flat_map(|word| word.to_le_bytes()));
        true
    }
}

fn single<const N: usize>(
    name: &'static str,
    permute: impl Fn(&mut [u32; N]) + Copy + 'static,
) -> Op {
    op(name, |r| {
        let mut state = [0; N];
        for word in &mut state {
            *word = r.u32()?;
        }
        Some(state)
    })
    .change("le16@0", |state, word| set_low_16(&mut state[0], word))
    .reuse(
        || Elements([0; N]),
        move |input, out| {
            out.0 = *input;
            for _ in 0..SINGLE_TURNS {
                permute(&mut out.0);
            }
        },
    )
}

/// What leanSig's pseudorandom function hashes: a domain, the tag of chain starts, key, epoch and chain.
fn prf_inputs(key: &[u8; 32], first: u32) -> [[u8; 61]; LANES] {
    const DOMAIN: [u8; 16] = [
        0xae, 0xae, 0x22, 0xff, 0x00, 0x01, 0xfa, 0xff, 0x21, 0xaf, 0x12, 0x00, 0x01, 0x11, 0xff,
        0x00,
    ];
    std::array::from_fn(|l| {
        let mut input = [0; 61];
        input[..16].copy_from_slice(&DOMAIN);
        input[17..49].copy_from_slice(key);
        input[49..53].copy_from_slice(&(first + l as u32).to_be_bytes());
        input
    })
}

fn pseudorandom_function() -> Op {
    const MODULUS: u128 = 0x7f00_0001;
    op("xmss_prf", |r| Some((r.array::<32>()?, r.u32()?)))
        .change("le@0", |(key, _), word| {
            key[..4].copy_from_slice(&word.to_le_bytes());
        })
        .reuse(
            || Columns(vec![Lanes::<8>::ZERO; usize::from(CHAINS)]),
            |(key, first), out| {
                let mut inputs = prf_inputs(key, *first);
                let mut output = [[0; 128]; LANES];
                for (chain, out) in (0..CHAINS).zip(&mut out.0) {
                    for input in &mut inputs {
                        input[60] = chain;
                    }
                    // Of equal lengths, so this cannot fail.
                    let _ = shake128_batch(&inputs.each_ref().map(|i| &i[..]), &mut output);
                    for (l, output) in output.iter().enumerate() {
                        for (column, word) in out.0.iter_mut().zip(output.as_chunks().0) {
                            column[l] = (u128::from_be_bytes(*word) % MODULUS) as u32;
                        }
                    }
                }
            },
        )
}

/// Runs `work` on the given number of threads.
fn on<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    static TWO: OnceLock<Option<rayon::ThreadPool>> = OnceLock::new();
    let two = TWO.get_or_init(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
        pool.build().ok()
    });
    match two.as_ref().filter(|_| threads == 2) {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

fn generate<S: Scheme>((seed, start, count): Origin) -> Option<SecretKey<S>> {
    if S::NAME == LeanVm::NAME {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        return SecretKey::from_seed(&bytes, start..start + count, &()).ok();
    }
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    SecretKey::generate(&mut rng, start..start + count, &()).ok()
}

fn keygen<S: Scheme>(name: &'static str, threads: usize) -> Op {
    op(name, origin).call(move |&origin| {
        let key = on(threads, || generate::<S>(origin))?;
        Some(key.public_key().ok()?.to_bytes())
    })
}

fn report(name: &'static str, threads: usize) -> Op {
    op(name, |r| r.array()).call(move |seed: &[u8; 32]| {
        let key = on(threads, || {
            SecretKey::<HashSig2025>::from_seed(seed, 0..1024, &())
        });
        let public_key = key.ok()?.public_key().ok()?;
        Some(sha3_256(&public_key.to_montgomery_bytes()))
    })
}

fn signature<S: Scheme>(key: &SecretKey<S>, epoch: u32, message: &Message) -> Option<Vec<u8>> {
    Some(key.sign(epoch, message).ok()?.to_bytes())
}

/// A claim with owned parts.
type Owned<S> = (PublicKey<S>, u32, Message, Signature<S>);

fn claim<S: Scheme>(r: &mut Reader) -> Option<Owned<S>> {
    let public_key = PublicKey::from_bytes(r.take(PublicKey::<S>::LENGTH)?).ok()?;
    let (epoch, message) = (r.u32()?, r.array()?);
    let signature = Signature::from_bytes(r.take(Signature::<S>::LENGTH)?).ok()?;
    Some((public_key, epoch, message, signature))
}

fn verify<S: Scheme>(name: &'static str) -> Op {
    op(name, claim::<S>).call(|(public_key, epoch, message, signature)| {
        [u8::from(public_key.verify(*epoch, message, signature))]
    })
}

fn batch<S: Scheme>(names: &'static str, threads: usize) -> Op {
    op(names, |r| r.until_empty(claim::<S>)).call(move |owned: &Vec<Owned<S>>| {
        let claims: Vec<_> = owned
            .iter()
            .map(|(public_key, epoch, message, signature)| Claim {
                public_key,
                epoch: *epoch,
                message,
                signature,
            })
            .collect();
        Verdicts(on(threads, || verify_batch(&claims)))
    })
}

fn advance(name: &'static str, threads: usize) -> Op {
    op(name, |r| key(r, generate::<LeanSig46x10>)).call(move |key| {
        let mut key = SecretKey::to_owned(key);
        let next = key.prepared().end as u32;
        on(threads, || key.prepare(next)).ok()?;
        Some(sha3_256(key.as_bytes()))
    })
}

/// A unique path for a key file of this process.
fn place() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("arena-lydite-{}-{count}.key", std::process::id());
    std::env::temp_dir().join(name)
}

fn remove(path: &PathBuf) {
    let mut record = path.clone().into_os_string();
    record.push(".epoch");
    let _ = std::fs::remove_file(path);
    let _ = std::fs::remove_file(record);
}

/// A key file that is removed on drop.
struct Stored(PathBuf);

impl Drop for Stored {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn load<S: Scheme>(name: &'static str) -> Op {
    op(name, |r| {
        let stored = Stored(place());
        KeyFile::create(&stored.0, key(r, generate::<S>)?).ok()?;
        Some(stored)
    })
    .call(|stored| {
        let file = KeyFile::<S>::open(&stored.0).ok()?;
        Some(file.key().public_key().ok()?.to_bytes())
    })
}

fn save<S: Scheme>(name: &'static str) -> Op {
    op(name, |r| Some((place(), key(r, generate::<S>)?))).call(|(path, key)| {
        KeyFile::create(path, key).ok()?;
        let length = std::fs::metadata(path).ok()?.len();
        remove(path);
        Some(length.to_le_bytes())
    })
}
