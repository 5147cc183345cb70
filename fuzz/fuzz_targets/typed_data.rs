//! EIP-712 documents: the hashes of accepted documents match the specification, and prepared types give the same
//! hashes.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::evm::eip712::{TypedData, TypedSchema};
use lydite_fuzz::typed_data;
use serde_json::Value;

fuzz_target!(|text: &str| {
    let Ok(data) = TypedData::from_json(text) else {
        // The type definitions alone are also decoded.
        let _ = TypedSchema::from_json(text);
        return;
    };
    assert!(data.encode_type().starts_with(data.primary_type()));
    let document: Value = serde_json::from_str(text).expect("accepted, so JSON");
    let (separator, message) = typed_data::hash(&document);
    assert_eq!(*data.domain_separator(), separator);
    assert_eq!(*data.hash_struct(), message);
    let schema = TypedSchema::from_json(&document["types"].to_string()).expect("accepted types");
    // A message of the domain's type may be missing or empty, and the types need not declare it.
    if data.primary_type() != "EIP712Domain" {
        let again = schema.hash_struct(data.primary_type(), &document["message"].to_string());
        assert_eq!(again, Ok(data.hash_struct()));
    }
});
