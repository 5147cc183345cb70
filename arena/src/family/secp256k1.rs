//! The `secp256k1` family: signatures, recovery, public keys and ECDH, single and in batches.

use anyhow::{Result, bail};
use num_bigint::BigUint;

use super::draw::{secret_key, wrong};
use super::element::{Elements, read};
use super::vectors::{bytes, input};
use crate::kernel::Secp256k1;
use crate::ops::Op;
use crate::random::Random;
use crate::truth::secp256k1::{output, public_key, recover, sign};
use crate::truth::{Expected, unhex};
use crate::wire::be32;

impl Elements for Secp256k1 {
    fn published(&self, op: &Op) -> Result<Vec<Vec<u8>>> {
        let input = input("secp256k1_sign");
        let (key, hash) = (bytes(&input["privkey"])?, bytes(&input["msg_hash"])?);
        let element = match self {
            Self::Sign | Self::SignRecover => [key, hash].concat(),
            Self::Recover => {
                let signature = sign(&key, &hash)?;
                [hash, signature.to_vec()].concat()
            }
            _ => bail!("no report input for kernel {}", op.kernel),
        };
        Ok(vec![element.repeat(op.ops_per_call)])
    }

    fn element(&self, _op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        let key = secret_key(random);
        Ok(match self {
            Self::Sign | Self::SignBatch | Self::SignRecover => [key, random.bytes(32)].concat(),
            Self::Recover | Self::RecoverBatch => {
                let hash = random.bytes(32);
                let signature = sign(&key, &hash)?;
                [hash, signature.to_vec()].concat()
            }
            Self::Verify | Self::VerifyBatch => {
                let mut hash = random.bytes(32);
                let signature = sign(&key, &hash)?;
                if wrong(random) {
                    hash[31] ^= 1;
                }
                let public = public_key(&key)?;
                [hash.as_slice(), &signature[..64], public.as_slice()].concat()
            }
            Self::PublicKey | Self::PublicKeyBatch => key,
            Self::Ecdh => {
                let other = secret_key(random);
                [key.as_slice(), public_key(&other)?.as_slice()].concat()
            }
        })
    }

    fn output(&self, op: &Op, item: &[u8]) -> Result<Expected> {
        let parts = read(op, item, |reader| {
            let parts = (0..op.ops_per_call).map(|_| output(*self, reader));
            parts.collect::<Result<Vec<_>>>()
        });
        Ok(Expected::of(&parts?))
    }

    fn malformed(&self, decoder: &str) -> Result<Vec<Vec<u8>>> {
        match decoder {
            "neg:secp256k1_recover" => malformed_signatures(),
            other => bail!("no malformed inputs for {other}"),
        }
    }
}

/// Hashes with signatures whose numbers or recovery id are out of range, or whose point is not on the curve.
fn malformed_signatures() -> Result<Vec<Vec<u8>>> {
    let order = unhex(b"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")?;
    let hash = Random::new(3).bytes(32);
    let good = sign(&secret_key(&mut Random::new(4)), &hash)?;
    let (r, s, v) = (&good[..32], &good[32..64], &good[64..]);
    let item = |r: &[u8], s: &[u8], v: &[u8]| [&hash, r, s, v].concat();
    let zero = [0; 32];
    let mut bad = vec![
        item(&zero, s, v),
        item(r, &zero, v),
        item(&zero, &zero, v),
        item(&order, s, v),
        item(r, &order, v),
        item(&[0xff; 32], s, v),
        item(r, &[0xff; 32], v),
        item(r, s, &[4]),
        item(r, s, &[5]),
        item(r, s, &[29]),
        item(r, s, &[255]),
        // r + n is not an x coordinate, because it exceeds the field prime.
        item(r, s, &[2]),
        item(r, s, &[3]),
    ];
    // x coordinates that are not on the curve.
    bad.extend(
        (1..40u64)
            .map(|x| be32(&BigUint::from(x)))
            .filter(|x| recover(&hash, &[x, s, v].concat()).is_err())
            .take(4)
            .map(|x| item(&x, s, v)),
    );
    Ok(bad)
}
