//! Compares Lydite's precompiles with revm's: outputs, gas, and which inputs fail, on random and crafted inputs. No
//! hook is installed in this process, so revm computes with its default libraries.
#![allow(clippy::unwrap_used)]

use lydite::evm::precompile::{Fork, Precompile};
use lydite_alloy::spec_id;
use proptest::{prelude::*, sample::Index};
use revm::precompile::{PrecompileHalt, PrecompileSpecId, PrecompileStatus, Precompiles};

fn compare(
    precompile: Precompile,
    input: &[u8],
    gas_limit: u64,
    fork: Fork,
) -> Result<(), TestCaseError> {
    let set = Precompiles::new(PrecompileSpecId::from_spec_id(spec_id(fork)));
    let address = precompile.address().0.into();
    let mut out = Vec::new();
    let ours = precompile.run(input, gas_limit, fork, &mut out);
    let Some(theirs) = set.get(&address) else {
        prop_assert_eq!(ours, Err(lydite::evm::precompile::Error::NotActive));
        return Ok(());
    };
    let theirs = theirs.execute(input, gas_limit, 0).unwrap();
    match ours {
        Ok(gas) => {
            prop_assert!(
                theirs.status == PrecompileStatus::Success,
                "{:?}: {:?}",
                precompile,
                theirs
            );
            prop_assert_eq!(
                (gas, &out[..]),
                (theirs.gas_used, &theirs.bytes[..]),
                "{:?}",
                precompile
            );
        }
        Err(error) => {
            // Input that is too long for modexp may also be too expensive, and revm checks some lengths before the gas.
            let halted = matches!(&theirs.status, PrecompileStatus::Halt(reason)
                if precompile == Precompile::Modexp
                    || matches!(
                        reason,
                        PrecompileHalt::Bls12381G1MsmInputLength
                            | PrecompileHalt::Bls12381G2MsmInputLength
                            | PrecompileHalt::Bls12381PairingInputLength
                    )
                    || reason.is_oog() == (error == lydite::evm::precompile::Error::OutOfGas));
            prop_assert!(halted, "{:?}: {:?} {:?}", precompile, error, theirs);
        }
    }
    Ok(())
}

fn vectors() -> Vec<(Precompile, Vec<u8>)> {
    let read = |name: &str| -> Vec<serde_json::Value> {
        let path = format!(
            "{}/vectors/precompiles/{name}.json",
            env!("CARGO_MANIFEST_DIR")
        );
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let mut all: Vec<_> = read("report")
        .iter()
        .map(|case| {
            let number = case["addr"].as_u64().unwrap() as u16;
            let input = lydite::bytes::hex::decode(case["input"].as_str().unwrap()).unwrap();
            (Precompile::at(number, Fork::Osaka).unwrap(), input)
        })
        .collect();
    for (file, precompile) in [
        ("modexp_eip7883", Precompile::Modexp),
        ("bn256Add", Precompile::Bn254Add),
        ("bn256ScalarMul", Precompile::Bn254Mul),
        ("bn256Pairing", Precompile::Bn254Pairing),
        ("ecRecover", Precompile::EcRecover),
        ("p256Verify", Precompile::P256Verify),
        ("blsG1Mul", Precompile::Bls12G1Msm),
        ("blsG2Mul", Precompile::Bls12G2Msm),
    ] {
        all.extend(read(&format!("geth/{file}")).iter().take(40).map(|case| {
            let input = lydite::bytes::hex::decode(case["Input"].as_str().unwrap()).unwrap();
            (precompile, input)
        }));
    }
    // Short inputs only: debug builds run all of them.
    all.retain(|(_, input)| input.len() <= 1600);
    all
}

fn fork() -> impl Strategy<Value = Fork> {
    // revm's Constantinople is Petersburg.
    any::<Index>().prop_map(|index| *index.get(&Fork::ALL))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Inputs that are valid except for a few changed, missing or added bytes.
    #[test]
    fn near_valid_inputs(
        which: Index,
        fork in fork(),
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 0..3),
        length in prop_oneof![6 => Just(None), 1 => (0usize..700).prop_map(Some)],
        gas in prop_oneof![4 => Just(20_000_000u64), 1 => 0..60_000u64],
    ) {
        thread_local!(static VECTORS: Vec<(Precompile, Vec<u8>)> = vectors());
        let (precompile, mut input) = VECTORS.with(|all| which.get(all).clone());
        for (at, value) in changes {
            if !input.is_empty() {
                *at.get_mut(&mut input) = value;
            }
        }
        input.resize(length.unwrap_or(input.len()), 0);
        // So many rounds would take minutes.
        if precompile == Precompile::Blake2F && input.len() == 213 {
            input[..2].fill(0);
        }
        compare(precompile, &input, gas, fork)?;
    }

    /// Random scalars and numbers, with the points of the vectors.
    #[test]
    fn random_scalars(scalar: [u8; 32], hash: [u8; 32], r: [u8; 32], s: [u8; 32], odd: bool) {
        let mut generator = [0; 64];
        (generator[31], generator[63]) = (1, 2);
        compare(Precompile::Bn254Mul, &[&generator[..], &scalar].concat(), 10_000, Fork::Osaka)?;
        let mut v = [0; 32];
        v[31] = 27 + u8::from(odd);
        compare(Precompile::EcRecover, &[hash, v, r, s].concat(), 10_000, Fork::Osaka)?;
        compare(Precompile::Sha256, &[hash, v, r, s].concat(), 10_000, Fork::Osaka)?;
        compare(Precompile::Ripemd160, &[hash, v, r].concat(), 10_000, Fork::Osaka)?;
    }

    #[test]
    fn modexp_of_random_lengths(
        base in proptest::collection::vec(any::<u8>(), 0..100),
        exponent in proptest::collection::vec(any::<u8>(), 0..40),
        modulus in proptest::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(0)], 0..100),
        cut in 0usize..20,
        fork in fork(),
    ) {
        let mut input = vec![0; 96];
        (input[31], input[63], input[95]) = (base.len() as u8, exponent.len() as u8, modulus.len() as u8);
        input.extend([base, exponent, modulus].concat());
        input.truncate(input.len().saturating_sub(if cut < 5 { cut } else { 0 }));
        compare(Precompile::Modexp, &input, 5_000_000, fork)?;
    }
}

#[test]
fn every_short_vector_at_every_fork() {
    for (precompile, input) in vectors() {
        for fork in Fork::ALL {
            compare(precompile, &input, 30_000_000, fork).unwrap();
        }
    }
}
