//! The hook that revm calls for the computations of its precompiles.

use lydite::{
    curve::{
        bls12_381::{self, G1_LENGTH, G2_LENGTH, kzg},
        bn254, modexp,
        secp256k1::{self, Signature},
        secp256r1,
    },
    hash,
};
use revm::precompile::{
    Crypto, PrecompileHalt,
    bls12_381::{G1Point, G1PointScalar, G2Point, G2PointScalar},
    install_crypto,
};

/// Makes revm use [`LyditeCrypto`] in this process. Returns `false` if revm already has an implementation, which the
/// first precompile call or the first installation sets.
pub(crate) fn install() -> bool {
    install_crypto(LyditeCrypto)
}

/// Lydite's hashes and curves for revm's precompiles.
#[derive(Clone, Copy, Debug)]
pub struct LyditeCrypto;

fn bn254_halt(error: bn254::Error) -> PrecompileHalt {
    match error {
        bn254::Error::CoordinateOutOfRange => PrecompileHalt::Bn254FieldPointNotAMember,
        _ => PrecompileHalt::Bn254AffineGFailedToCreate,
    }
}

fn g1_halt(error: bls12_381::Error) -> PrecompileHalt {
    match error {
        bls12_381::Error::NotOnCurve => PrecompileHalt::Bls12381G1NotOnCurve,
        bls12_381::Error::NotInSubgroup => PrecompileHalt::Bls12381G1NotInSubgroup,
        _ => PrecompileHalt::NonCanonicalFp,
    }
}

fn g2_halt(error: bls12_381::Error) -> PrecompileHalt {
    match error {
        bls12_381::Error::NotOnCurve => PrecompileHalt::Bls12381G2NotOnCurve,
        bls12_381::Error::NotInSubgroup => PrecompileHalt::Bls12381G2NotInSubgroup,
        _ => PrecompileHalt::NonCanonicalFp,
    }
}

fn g1((x, y): &G1Point) -> [u8; G1_LENGTH] {
    concatenated(&[x, y])
}

fn g2((x0, x1, y0, y1): &G2Point) -> [u8; G2_LENGTH] {
    concatenated(&[x0, x1, y0, y1])
}

fn concatenated<const N: usize>(parts: &[&[u8; 48]]) -> [u8; N] {
    let mut bytes = [0; N];
    for (bytes, part) in bytes.as_chunks_mut::<48>().0.iter_mut().zip(parts) {
        *bytes = **part;
    }
    bytes
}

/// Converts a slice from revm to an array. revm passes slices of these lengths.
fn array<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], PrecompileHalt> {
    bytes
        .try_into()
        .map_err(|_| PrecompileHalt::other_static("unexpected input length"))
}

/// Yields the points up to the first that revm rejects, and stores the reason in `halt`.
fn until_halt<'a, T>(
    pairs: &'a mut dyn Iterator<Item = Result<T, PrecompileHalt>>,
    halt: &'a mut Option<PrecompileHalt>,
) -> impl Iterator<Item = T> + 'a {
    pairs.map_while(|pair| pair.map_err(|error| *halt = Some(error)).ok())
}

impl Crypto for LyditeCrypto {
    fn sha256(&self, input: &[u8]) -> [u8; 32] {
        hash::sha256(input)
    }

    fn ripemd160(&self, input: &[u8]) -> [u8; 32] {
        let mut word = [0; 32];
        word[12..].copy_from_slice(&hash::ripemd160(input));
        word
    }

    fn bn254_g1_add(&self, p: &[u8], q: &[u8]) -> Result<[u8; 64], PrecompileHalt> {
        bn254::add(array(p)?, array(q)?).map_err(bn254_halt)
    }

    fn bn254_g1_mul(&self, point: &[u8], scalar: &[u8]) -> Result<[u8; 64], PrecompileHalt> {
        bn254::multiply(array(point)?, array(scalar)?).map_err(bn254_halt)
    }

    fn bn254_pairing_check(&self, pairs: &[(&[u8], &[u8])]) -> Result<bool, PrecompileHalt> {
        let mut halt = None;
        let answer = bn254::pairing_check(pairs.iter().map_while(|(p, q)| {
            array(p)
                .and_then(|p| Ok((p, array(q)?)))
                .map_err(|error| halt = Some(error))
                .ok()
        }));
        halt.map_or(answer.map_err(bn254_halt), Err)
    }

    fn secp256k1_ecrecover(
        &self,
        signature: &[u8; 64],
        recovery_id: u8,
        hash: &[u8; 32],
    ) -> Result<[u8; 32], PrecompileHalt> {
        #[cfg(test)]
        crate::calls::count(&crate::calls::PRECOMPILE);
        let halves = signature.as_chunks::<32>().0;
        let signature = Signature::new(halves[0], halves[1], recovery_id);
        let address = secp256k1::recover_address(hash, &signature)
            .map_err(|_| PrecompileHalt::Secp256k1RecoverFailed)?;
        let mut word = [0; 32];
        word[12..].copy_from_slice(&address.0);
        Ok(word)
    }

    fn modexp(
        &self,
        base: &[u8],
        exponent: &[u8],
        modulus: &[u8],
    ) -> Result<Vec<u8>, PrecompileHalt> {
        let mut out = vec![0; modulus.len()];
        modexp::modexp(base, exponent, modulus, &mut out);
        Ok(out)
    }

    fn blake2_compress(&self, rounds: u32, h: &mut [u64; 8], m: &[u64; 16], t: &[u64; 2], f: bool) {
        hash::blake2b_compress(rounds, h, m, *t, f);
    }

    fn secp256r1_verify_signature(
        &self,
        hash: &[u8; 32],
        signature: &[u8; 64],
        public_key: &[u8; 64],
    ) -> bool {
        let halves = signature.as_chunks::<32>().0;
        secp256r1::verify(public_key, hash, &halves[0], &halves[1]).is_ok()
    }

    fn verify_kzg_proof(
        &self,
        z: &[u8; 32],
        y: &[u8; 32],
        commitment: &[u8; 48],
        proof: &[u8; 48],
    ) -> Result<(), PrecompileHalt> {
        kzg::verify_proof(commitment, z, y, proof)
            .map_err(|_| PrecompileHalt::BlobVerifyKzgProofFailed)
    }

    fn bls12_381_g1_add(&self, p: G1Point, q: G1Point) -> Result<[u8; 96], PrecompileHalt> {
        bls12_381::g1_add(&g1(&p), &g1(&q)).map_err(g1_halt)
    }

    fn bls12_381_g1_msm(
        &self,
        pairs: &mut dyn Iterator<Item = Result<G1PointScalar, PrecompileHalt>>,
    ) -> Result<[u8; 96], PrecompileHalt> {
        let mut halt = None;
        let pairs = until_halt(pairs, &mut halt).map(|(point, scalar)| (g1(&point), scalar));
        let sum = bls12_381::g1_msm(pairs);
        halt.map_or(sum.map_err(g1_halt), Err)
    }

    fn bls12_381_g2_add(&self, p: G2Point, q: G2Point) -> Result<[u8; 192], PrecompileHalt> {
        bls12_381::g2_add(&g2(&p), &g2(&q)).map_err(g2_halt)
    }

    fn bls12_381_g2_msm(
        &self,
        pairs: &mut dyn Iterator<Item = Result<G2PointScalar, PrecompileHalt>>,
    ) -> Result<[u8; 192], PrecompileHalt> {
        let mut halt = None;
        let pairs = until_halt(pairs, &mut halt).map(|(point, scalar)| (g2(&point), scalar));
        let sum = bls12_381::g2_msm(pairs);
        halt.map_or(sum.map_err(g2_halt), Err)
    }

    fn bls12_381_pairing_check(
        &self,
        pairs: &[(G1Point, G2Point)],
    ) -> Result<bool, PrecompileHalt> {
        bls12_381::pairing_check(pairs.iter().map(|(p, q)| (g1(p), g2(q)))).map_err(g1_halt)
    }

    fn bls12_381_fp_to_g1(&self, element: &[u8; 48]) -> Result<[u8; 96], PrecompileHalt> {
        bls12_381::map_fp_to_g1(element).map_err(g1_halt)
    }

    fn bls12_381_fp2_to_g2(
        &self,
        (c0, c1): ([u8; 48], [u8; 48]),
    ) -> Result<[u8; 192], PrecompileHalt> {
        bls12_381::map_fp2_to_g2(&concatenated(&[&c0, &c1])).map_err(g2_halt)
    }
}
