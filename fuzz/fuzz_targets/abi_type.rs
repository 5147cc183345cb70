//! Type strings, signatures and values as text.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::evm::abi::{Codec, Signature, Type, Value};

fuzz_target!(|text: &str| {
    if let Ok(ty) = Type::parse(text) {
        let canonical = ty.to_string();
        assert_eq!(Type::parse(&canonical), Ok(ty));
        let _ = Codec::parse(&canonical);
    }
    let _ = Signature::parse(text);
    if let Some((ty, value)) = text.split_once('=') {
        let Ok(ty) = Type::parse(ty) else { return };
        if let Ok(value) = Value::parse(&ty, value) {
            assert_eq!(Value::parse(&ty, &value.to_string()), Ok(value));
        }
    }
});
