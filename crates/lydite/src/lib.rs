//! Fast byte-level primitives for Ethereum and OCapN.
//!
//! This crate re-exports the Lydite crates.
//!
//! | module | contents | feature |
//! |---|---|---|
//! | [`bytes`] | hexadecimal, 256-bit integers, addresses | `serde`, `alloy-primitives` for conversions |
//! | [`hash`] | Keccak-256 (single, streaming, batch), SHA-256, RIPEMD-160, BLAKE2b's compression, SHAKE128 (batch) | `std` for `std::io::Write` |
//! | [`curve`] | secp256k1 (sign, verify, recover, one or many; Diffie-Hellman), bn254, secp256r1, modular exponentiation, BLS12-381 | `curve`; `bls12-381`; `rayon`; `rand_core`; `serde`; `signature` for the traits of that crate |
//! | [`evm`] | RLP, ABI, transactions, EIP-191, EIP-712, roots of tries, precompiled contracts | `evm`; `json` for typed data from JSON; `serde` for contract interfaces, transactions, logs and typed data in JSON; `precompile` |
//! | [`ocapn`] | OCapN: the Syrup codec, the CapTP messages | `ocapn`; `derive` for user-defined types; `serde` |
//! | [`xmss`] | Generalized XMSS of lean Ethereum: keys, signatures | `xmss`; `rayon` for all cores; `std` for key files |
//!
//! [`prelude`] has the names that most programs need.
//!
//! The default features are `bls12-381`, `curve`, `derive`, `evm`, `json`, `ocapn`, `precompile` and `xmss`. `bls12-381`
//! needs a C compiler. The crates are `no_std` and need `alloc`; the features `rayon` and `std` need `std`.
//!
#![cfg_attr(
    feature = "evm",
    doc = r#"
The transaction of EIP-155's example, decoded:

```
use lydite::bytes::hex;
use lydite::evm::tx::TransactionRef;

let raw = hex::decode(
    "0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc\
     2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a\
     3b6d83",
)?;
let transaction = TransactionRef::decode(&raw)?;

println!("hash    {}", hex::encode_prefixed(transaction.hash()));
println!("sender  {}", transaction.sender()?);
assert_eq!(transaction.nonce, 9);
assert_eq!(transaction.sender()?.to_string(), "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F");
# Ok::<(), Box<dyn std::error::Error>>(())
```
"#
)]
#![no_std]

pub mod prelude;

pub use lydite_bytes as bytes;
#[cfg(feature = "curve")]
pub use lydite_curve as curve;
#[cfg(feature = "evm")]
pub use lydite_evm as evm;
pub use lydite_hash as hash;
#[cfg(feature = "ocapn")]
pub use lydite_ocapn as ocapn;
#[cfg(feature = "xmss")]
pub use lydite_xmss as xmss;

/// Runs the README's example as a test.
#[cfg(all(doctest, feature = "evm"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
