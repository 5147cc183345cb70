//! Sign an ERC-2612 permit and encode the call that presents it to the token.

use std::error::Error;

use lydite::prelude::*;

typed_struct! {
    struct Permit { owner: Address, spender: Address, value: U256, nonce: U256, deadline: U256 }
}

fn main() -> Result<(), Box<dyn Error>> {
    let key = SecretKey::from_bytes(&keccak256(b"cow"))?;
    let (owner, spender) = (key.public_key().to_address(), [0x22; 20].into());
    let (value, nonce, deadline) = (U256::from(10u64.pow(6)), U256::ZERO, U256::MAX);
    let domain = Domain {
        name: Some("Token"),
        version: Some("1"),
        chain_id: Some(U256::ONE),
        verifying_contract: Some([0x11; 20].into()),
        ..Domain::default()
    };
    #[rustfmt::skip]
    let hash = domain.signing_hash(&Permit { owner, spender, value, nonce, deadline });
    let signature = key.sign_prehash(&hash.0).to_bytes65();
    let r = B256::try_from(&signature[..32])?;
    let s = B256::try_from(&signature[32..64])?;

    let function = "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)";
    let v = 27 + signature[64];
    let arguments = (owner, spender, value, deadline, v, r, s);
    let call = abi::encode_call(abi::selector(function)?, &arguments);
    println!("{}", hex::encode_prefixed(call));
    Ok(())
}
