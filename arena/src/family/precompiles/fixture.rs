//! Inputs of the benchmark fixtures in ethereum/execution-specs (`arena/ops/eest.toml`), with outputs from slow code.

use std::ops::Range;
use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail, ensure};
use num_bigint::BigUint;
use serde_json::Value;

use super::{address, bytes, inputs};
use crate::kernel::Precompile;
use crate::ops::{Input, Op};
use crate::random::Random;
use crate::truth::curve::{BLS_G1, BLS_G2, BN254_G1, BN254_G2};
use crate::truth::precompiles::{Case, be, bls, bn254, msm, output, point, sum};
use crate::truth::unhex;

/// Named parts of a case, each of the same form as a case.
const NAMES: [(&str, &str); 7] = [
    // The example of EIP-152 after the number of rounds: the state, message, length and flag of the hash of "abc".
    (
        "abc",
        "48c9bdf267e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5\
         d182e6ad7f520e511f6c3e2b8c68059b6bbd41fbabd9831f79217e1319cde05b+616263+00*125+03+00*15+01",
    ),
    // A word of a modulus of `mod_*_base_heavy`.
    ("z31", "00+ff*31"),
    // Generators of BLS12-381 (EIP-2537).
    (
        "g1",
        "00*16+17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb\
         +00*16+08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1",
    ),
    (
        "g2",
        "00*16+024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8\
         +00*16+13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e\
         +00*16+0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801\
         +00*16+0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be",
    ),
    // Other points of the two groups, from ethereum/bls12-381-tests.
    (
        "p1",
        "00*16+112b98340eee2777cc3c14163dea3ec97977ac3dc5c70da32e6e87578f44912e902ccef9efe28d4a78b8999dfbca9426\
         +00*16+186b28d92356c4dfec4b5201ad099dbdede3781f8998ddf929b4cd7756192185ca7b8f4ef7088f813270ac3d48868a21",
    ),
    (
        "p2",
        "00*16+103121a2ceaae586d240843a398967325f8eb5a93e8fea99b62b9f88d8556c80dd726a4b30e84a36eeabaf3592937f27\
         +00*16+086b990f3da2aeac0a36143b7d7c824428215140db1bb859338764cb58458f081d92664f9053b50b3fbd2e4723121b68\
         +00*16+0f9e7ba9a86a8f7624aa2b42dcc8772e1af4ae115685e60abc2c9b90242167acef3d0be4050bf935eed7c3b6fc7ba77e\
         +00*16+0d22c3652d0dc6f0fc9316e14268477c2049ef772e852108d269d9c38dba1d4802e8dae479818184c08f9a569d878451",
    ),
    // The order of both groups.
    (
        "q",
        "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001",
    ),
];

/// Geth's vectors of MODEXP, which have the inputs of the fixtures `mod_vul_*`.
static MODEXP: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../../../vectors/precompiles/geth/modexp_eip7883.json");
    // The vectors are compiled in and read by every test.
    serde_json::from_str(text).unwrap_or_else(|error| unreachable!("vectors: {error}"))
});

/// Discrete logarithms of the pairs of `test_alt_bn128_benchmark`, drawn there with the seed 42.
const PAIRS: [[u32; 2]; 24] = [
    [0xa3b1_799e, 0x1c80_3180],
    [0x0667_1ad2, 0xbdd6_40fc],
    [0x4668_5258, 0x3eb1_3b91],
    [0x3924_56df, 0x23b8_c1ea],
    [0xbc89_60aa, 0x1a3d_1fa8],
    [0xad3c_2d6e, 0xbd9c_66b4],
    [0xe465_e151, 0x8b9d_2435],
    [0x1641_9f83, 0x972a_846a],
    [0x6c03_119a, 0x0822_e8f4],
    [0x07a0_ca6f, 0x17fc_695b],
    [0x37f8_a88c, 0x3b8f_aa19],
    [0x815e_f6d2, 0x9a1d_e645],
    [0x06cb_0fb4, 0x8fad_c1a7],
    [0x32e7_062a, 0xb74d_0fb2],
    [0xa65e_d38a, 0xb38a_088d],
    [0x8b81_48f7, 0x6b65_a6a5],
    [0x386e_cbe1, 0x72ff_5d2b],
    [0x96da_1dad, 0x4737_8191],
    [0xcf36_d58c, 0xde8a_774c],
    [0x01a9_e720, 0xc241_330c],
    [0xce4a_2bbe, 0x28df_6ec5],
    [0xb2b9_437b, 0x6c30_7512],
    [0x571a_a877, 0x4722_938a],
    [0x27cd_8131, 0x371e_cd7c],
];

/// Decodes a case: terms joined by `+`, each of them hexadecimal or a name, repeated if `*` and a number follow.
pub fn decode(text: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for term in text.split('+') {
        let (unit, count) = match term.split_once('*') {
            Some((unit, count)) => (unit, count.parse()?),
            None => (term, 1),
        };
        let unit = match NAMES.iter().find(|(name, _)| *name == unit) {
            Some((_, text)) => decode(text)?,
            None => unhex(unit.as_bytes())?,
        };
        bytes.extend(unit.repeat(count));
    }
    Ok(bytes)
}

/// The input of a fixture.
pub fn item(kernel: Precompile, op: &Op) -> Result<Vec<u8>> {
    match kernel {
        Precompile::Modexp => {
            let mut item = match op.case.strip_prefix("geth ") {
                Some(name) => {
                    let mut vectors = MODEXP.as_array().context("vectors")?.iter();
                    let found = vectors.find(|vector| vector["Name"] == name);
                    bytes(&found.context("no such vector")?["Input"])?
                }
                None => {
                    let parts: Vec<Vec<u8>> =
                        op.case.split(' ').map(decode).collect::<Result<_>>()?;
                    ensure!(parts.len() == 3, "expected base, exponent and modulus");
                    let lengths = parts
                        .iter()
                        .flat_map(|part| be(&BigUint::from(part.len()), 32));
                    let lengths: Vec<u8> = lengths.collect();
                    [lengths, parts.concat()].concat()
                }
            };
            let end = item
                .iter()
                .rposition(|byte| *byte != 0)
                .map_or(0, |at| at + 1);
            item.truncate(end);
            Ok(item)
        }
        Precompile::Bn254Pairing => {
            let pairs = PAIRS.iter().take(op.size).flat_map(|[a, b]| {
                let left = BN254_G1.generate(&BigUint::from(*a));
                let right = BN254_G2.generate(&BigUint::from(*b));
                [bn254(&left, 1), bn254(&right, 2)].concat()
            });
            Ok(pairs.collect())
        }
        _ => Ok(decode(&op.case)?.repeat(op.size.max(1))),
    }
}

/// The fixture's input with its output.
pub fn published(kernel: Precompile, op: &Op) -> Result<Case> {
    case(op, item(kernel, op)?)
}

/// A random input of the same cost.
pub fn similar(kernel: Precompile, op: &Op, random: &mut Random) -> Result<Case> {
    let mut item = item(kernel, op)?;
    let Some(window) = window(kernel, &item)? else {
        let drawn = Op {
            input: Input::Varied,
            case: String::new(),
            ..op.clone()
        };
        return inputs::draw(kernel, &drawn, random);
    };
    let random = random.bytes(window.len());
    item[window].copy_from_slice(&random);
    case(op, item)
}

/// The bytes of an input that can have any value at the same cost, if it has such bytes.
fn window(kernel: Precompile, item: &[u8]) -> Result<Option<Range<usize>>> {
    let end = item.len();
    Ok(Some(match kernel {
        Precompile::Modexp => 96..96 + length(item, 0)?,
        Precompile::Bn254Mul => {
            let zeros = item[64..].iter().take_while(|byte| **byte == 0).count();
            64 + zeros..end
        }
        Precompile::Blake2f => 4..196,
        Precompile::BlsG1Msm | Precompile::BlsG2Msm => end - 32..end,
        Precompile::Ecrecover | Precompile::P256Verify => 0..32,
        Precompile::Sha256 | Precompile::Ripemd160 | Precompile::Identity => 0..end,
        Precompile::Bn254Add
        | Precompile::BlsG1Add
        | Precompile::BlsG2Add
        | Precompile::Bn254Pairing
        | Precompile::BlsPairing => return Ok(None),
        Precompile::Kzg | Precompile::BlsMap => bail!("no fixtures of {kernel:?}"),
    }))
}

/// A length in the head of an input of modexp.
fn length(item: &[u8], at: usize) -> Result<usize> {
    Ok(usize::try_from(BigUint::from_bytes_be(&item[at..at + 32]))?)
}

/// An input with its output.
fn case(op: &Op, item: Vec<u8>) -> Result<Case> {
    let address = address(op)?;
    let output = match address {
        0x05 => {
            // Missing bytes at the end of the input are zeros.
            let lengths = [length(&item, 0)?, length(&item, 32)?, length(&item, 64)?];
            let mut whole = item.clone();
            whole.resize(96 + lengths.iter().sum::<usize>(), 0);
            let case = output(address, &whole)?.context("no output")?;
            return Ok(Case { item, ..case });
        }
        0x06 => bn254(&sum(&BN254_G1, &item, 32)?, 1),
        0x07 => {
            let (left, scalar) = item.split_at(64);
            let point = point(&BN254_G1, left, 32)?;
            let product = BN254_G1.multiply(&BigUint::from_bytes_be(scalar), &point);
            bn254(&product, 1)
        }
        0x0b => bls(&sum(&BLS_G1, &item, 64)?, 1),
        0x0d => bls(&sum(&BLS_G2, &item, 64)?, 2),
        0x0c => bls(&msm(&BLS_G1, &item, 128)?, 1),
        0x0e => bls(&msm(&BLS_G2, &item, 256)?, 2),
        // No product is one: the logarithms are positive, and the sum of their products is far below the order.
        0x08 | 0x0f => vec![0; 32],
        _ => return output(address, &item)?.context("no output"),
    };
    Ok(Case::success(item, output))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::family::precompiles::precompile;
    use crate::ops::catalogue;
    use crate::truth::hex;

    fn of(id: &str) -> Case {
        let op = catalogue().iter().find(|op| op.id == id).unwrap();
        published(precompile(op).unwrap(), op).unwrap()
    }

    #[test]
    fn cases_are_decoded() {
        assert_eq!(hex(&decode("01*2+z31+ff").unwrap())[..8], *"010100ff");
        assert_eq!(decode("abc").unwrap().len(), 209);
        for name in ["1", "g3", "ff*"] {
            assert!(decode(name).is_err(), "{name}");
        }
        let even = of("eest_modexp_mod_even_8b_exp_896");
        // The zero at the modulus's end is left out.
        assert_eq!(even.item.len(), 96 + 8 + 112 + 7);
        assert_eq!(even.parts[1].len(), 8);
    }

    #[test]
    fn fixtures_have_the_outputs_of_the_curves() {
        // The group's order times a point is infinity.
        assert!(of("eest_bls12_g1_msm_16").parts[1].iter().all(|b| *b == 0));
        let sum = curve_sum();
        assert_eq!(of("eest_bls12_381_g1add").parts[1], sum);
        let one = be(&BigUint::from(1u8), 32);
        assert_eq!(of("eest_p256verify").parts[1], one);
        assert!(of("eest_p256verify_wrong_endianness").parts[1].is_empty());
        assert!(
            of("eest_alt_bn128_mul_infinities_32_byte_scalar").parts[1]
                .iter()
                .all(|b| *b == 0)
        );
    }

    /// The generator plus `p1`, with the operands exchanged.
    fn curve_sum() -> Vec<u8> {
        let item = decode("p1+g1").unwrap();
        bls(&sum(&BLS_G1, &item, 64).unwrap(), 1)
    }
}
