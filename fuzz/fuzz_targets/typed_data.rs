//! EIP-712 documents: no panic, and the same document hashes the same.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::evm::eip712::TypedData;

fuzz_target!(|text: &str| {
    if let Ok(data) = TypedData::from_json(text) {
        assert_eq!(
            TypedData::from_json(text).unwrap().signing_hash(),
            data.signing_hash()
        );
        assert!(data.encode_type().starts_with(data.primary_type()));
    }
});
