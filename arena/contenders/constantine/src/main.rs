//! Constantine as a contender: the precompiles of its C interface.

use std::cell::OnceCell;
use std::ffi::{CString, c_char};
use std::ptr;

use arena_kit::{Bytes, Held, Op, Reader, modexp_lengths, op, precompile, run};

/// `ctt_eth_kzg_context`, whose fields the C interface does not declare.
#[repr(C)]
struct Context {
    _private: [u8; 0],
}

/// A precompile of the C interface. It returns a `ctt_evm_status`, an enumeration in one byte.
type Precompile = unsafe extern "C" fn(*mut u8, usize, *const u8, usize) -> u8;

/// Declares functions of `constantine/protocols/ethereum_evm_precompiles.h`, which all have the same parameters.
macro_rules! precompiles {
    ($($name:ident)*) => {
        unsafe extern "C" {
            $(fn $name(r: *mut u8, r_len: usize, inputs: *const u8, inputs_len: usize) -> u8;)*
        }
    };
}
precompiles! {
    ctt_eth_evm_sha256
    ctt_eth_evm_ripemd160
    ctt_eth_evm_modexp
    ctt_eth_evm_bn254_g1add
    ctt_eth_evm_bn254_g1mul
    ctt_eth_evm_bn254_ecpairingcheck
    ctt_eth_evm_bls12381_g1add
    ctt_eth_evm_bls12381_g1msm
    ctt_eth_evm_bls12381_g2add
    ctt_eth_evm_bls12381_g2msm
    ctt_eth_evm_bls12381_pairingcheck
    ctt_eth_evm_bls12381_map_fp_to_g1
    ctt_eth_evm_bls12381_map_fp2_to_g2
}

// The precompile that has another parameter, and a function of `constantine/protocols/ethereum_eip4844_kzg.h`.
unsafe extern "C" {
    fn ctt_eth_evm_kzg_point_evaluation(
        ctx: *const Context,
        r: *mut u8,
        r_len: usize,
        inputs: *const u8,
        inputs_len: usize,
    ) -> u8;
    fn ctt_eth_kzg_context_new(ctx: *mut *mut Context, filepath: *const c_char, format: u8) -> u8;
}

/// `cttEVM_Success` and `cttEthTS_Success`.
const SUCCESS: u8 = 0;

/// `cttEthTSFormat_ckzg4844`.
const CKZG4844: u8 = 0;

/// The precompiles whose output has a fixed length: name, function and this length.
const FIXED: [(&str, Precompile, usize); 12] = [
    ("precompile_02", ctt_eth_evm_sha256, 32),
    ("precompile_03", ctt_eth_evm_ripemd160, 32),
    ("precompile_06", ctt_eth_evm_bn254_g1add, 64),
    ("precompile_07", ctt_eth_evm_bn254_g1mul, 64),
    ("precompile_08", ctt_eth_evm_bn254_ecpairingcheck, 32),
    ("precompile_0b", ctt_eth_evm_bls12381_g1add, 128),
    ("precompile_0c", ctt_eth_evm_bls12381_g1msm, 128),
    ("precompile_0d", ctt_eth_evm_bls12381_g2add, 256),
    ("precompile_0e", ctt_eth_evm_bls12381_g2msm, 256),
    ("precompile_0f", ctt_eth_evm_bls12381_pairingcheck, 32),
    ("precompile_10", ctt_eth_evm_bls12381_map_fp_to_g1, 128),
    ("precompile_11", ctt_eth_evm_bls12381_map_fp2_to_g2, 256),
];

/// Runs one of the functions declared by `precompiles!`. Returns whether it succeeded.
fn succeeds(function: Precompile, input: &[u8], out: &mut [u8]) -> bool {
    // SAFETY: `function` writes at most `out.len()` bytes to `out`, reads at most `input.len()` bytes of `input`, and
    // checks both lengths itself.
    let status = unsafe { function(out.as_mut_ptr(), out.len(), input.as_ptr(), input.len()) };
    status == SUCCESS
}

/// Like [`succeeds`], with a new vector of `length` bytes for the output.
fn output(function: Precompile, input: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut out = vec![0; length];
    succeeds(function, input, &mut out).then_some(out)
}

/// Modular exponentiation. The library keeps operands on the stack and requires that its caller limits their lengths.
fn modexp(input: &[u8]) -> Option<Vec<u8>> {
    let [_, _, modulus] = modexp_lengths(input)?;
    output(ctt_eth_evm_modexp, input, modulus)
}

/// Loads Ethereum's trusted setup from the checkout. The context is never freed.
fn context() -> Option<*const Context> {
    let home = std::env::var("CONSTANTINE_HOME").ok()?;
    let file = "constantine/commitments_setups/trusted_setup_ethereum_kzg4844_reference.dat";
    let path = CString::new(format!("{home}/{file}")).ok()?;
    let mut context = ptr::null_mut();
    // SAFETY: `context` is a local variable to write a pointer to, and `path` ends with a zero byte.
    let status = unsafe { ctt_eth_kzg_context_new(&mut context, path.as_ptr(), CKZG4844) };
    if status != SUCCESS {
        eprintln!("expected a trusted setup in {path:?}, found status {status}");
        return None;
    }
    Some(context)
}

/// `context` must come from [`context`].
fn point_evaluation(context: *const Context, input: &[u8]) -> Option<Vec<u8>> {
    let mut out = vec![0; 64];
    // SAFETY: `context` comes from `ctt_eth_kzg_context_new`, is never freed and is only read. The function writes at
    // most `out.len()` bytes to `out`, reads at most `input.len()` bytes of `input`, and checks both lengths itself.
    let status = unsafe {
        ctt_eth_evm_kzg_point_evaluation(
            context,
            out.as_mut_ptr(),
            out.len(),
            input.as_ptr(),
            input.len(),
        )
    };
    (status == SUCCESS).then_some(out)
}

/// Like [`precompile`]. The trusted setup is loaded when the first item is read, which is not timed, so that launches
/// for other operations do not wait for it.
fn kzg() -> Op {
    let setup = OnceCell::new();
    op("precompile_0a", move |reader| {
        let context = (*setup.get_or_init(context))?;
        Some((context, reader.whole()?))
    })
    .raw()
    .call(|(context, input): &(*const Context, Bytes)| {
        let output = point_evaluation(*context, input);
        let status = [u8::from(output.is_some())];
        (status, Held(output.unwrap_or_default()))
    })
}

/// A hash whose output is written to reused memory.
fn hash_into(name: &'static str, function: Precompile) -> Op {
    op(name, Reader::whole).raw().reuse(
        || [0; 32],
        move |input, out: &mut [u8; 32]| [u8::from(succeeds(function, input, out))],
    )
}

fn main() {
    let mut ops = Vec::from(FIXED.map(|(name, function, length)| {
        precompile(name, move |input| output(function, input, length))
    }));
    ops.push(hash_into("precompile_02_into", ctt_eth_evm_sha256));
    ops.push(hash_into("precompile_03_into", ctt_eth_evm_ripemd160));
    ops.push(precompile("precompile_05", modexp));
    ops.push(kzg());
    run(
        "constantine",
        // Set by the build to the version of the checkout.
        option_env!("CONSTANTINE_VERSION").unwrap_or("unknown"),
        ops,
    );
}
