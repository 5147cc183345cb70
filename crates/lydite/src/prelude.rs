//! The names that most programs need, for `use lydite::prelude::*`.
//!
//! These are the types, traits and macros whose names say alone what they are, and the modules whose functions and
//! types are named with the module: `hex::decode`, `abi::encode`, `rlp::Encode`, `syrup::Encode`, `xmss::SecretKey`. A
//! `SecretKey` without a module is one of secp256k1. What belongs to a feature of the crate is here with that feature.
#![cfg_attr(
    feature = "evm",
    doc = r#"
A transfer, signed and decoded again:

```
use lydite::prelude::*;

let key = SecretKey::from_bytes(&keccak256(b"cow"))?;
let token: Address = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2".parse()?;
let receiver = Address([0x22; 20]);
let transfer = TransactionRequest {
    kind: TransactionType::Eip1559,
    chain_id: Some(1),
    max_fee_per_gas: 20_000_000_000,
    gas_limit: 60_000,
    to: Some(token),
    data: abi::encode_call(abi::selector("transfer(address,uint256)")?, &(receiver, U256::ONE)).into(),
    ..TransactionRequest::default()
};
let signed = transfer.sign(&key)?;

let raw = hex::encode_prefixed(signed.encode());
let transaction = Transaction::decode(&hex::decode(&raw)?)?;
assert_eq!(transaction.sender()?, key.public_key().to_address());
# Ok::<(), Box<dyn std::error::Error>>(())
```
"#
)]

pub use crate::bytes::{Address, B256, Bytes, FixedBytes, I256, U256, hex};
#[cfg(feature = "curve")]
pub use crate::curve::secp256k1::{self, PublicKey, SecretKey, Signature};
#[cfg(feature = "json")]
pub use crate::evm::eip712::{TypedData, TypedSchema};
#[cfg(feature = "precompile")]
pub use crate::evm::precompile::{Fork, Precompile};
#[cfg(feature = "evm")]
pub use crate::evm::{
    Log,
    abi::{self, AbiDecode, AbiEncode, AbiType, CallCodec, EventCodec},
    abi_call, abi_event, abi_struct,
    eip712::{Domain, TypedStruct, TypedValue},
    rlp, rlp_struct,
    tx::{Signable, Transaction, TransactionRef, TransactionRequest, TransactionType},
    typed_struct,
};
pub use crate::hash::{Keccak256, keccak256, keccak256_batch, sha256};
#[cfg(feature = "ocapn")]
pub use crate::ocapn::syrup;
#[cfg(feature = "xmss")]
pub use crate::xmss;
