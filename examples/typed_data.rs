//! Sign an EIP-712 document as a wallet does for `eth_signTypedData_v4`, and recover the signer as a server does.

use std::error::Error;

use lydite::prelude::*;

const DOCUMENT: &str = r#"{
    "types": {
        "EIP712Domain": [{ "name": "name", "type": "string" }, { "name": "chainId", "type": "uint256" }],
        "Order": [{ "name": "item", "type": "string" }, { "name": "amount", "type": "uint256" }]
    },
    "primaryType": "Order",
    "domain": { "name": "Shop", "chainId": 1 },
    "message": { "item": "lydite", "amount": "3" }
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    // A published test key: the hash of "cow". Never derive a key from a word.
    let key = SecretKey::from_bytes(&keccak256(b"cow"))?;
    let hash = TypedData::from_json(DOCUMENT)?.signing_hash();
    let signature = key.sign_prehash(&hash.0);

    let signer = secp256k1::recover_address(&hash.0, &signature)?;
    assert_eq!(signer, key.public_key().to_address());
    println!(
        "{signer} signed {}",
        hex::encode_prefixed(signature.to_bytes65())
    );
    Ok(())
}
