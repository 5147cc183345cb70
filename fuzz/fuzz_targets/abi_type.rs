//! Type strings, signatures, values as text, and event logs.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::{
    bytes::{B256, FixedBytes},
    evm::abi::{Codec, EventCodec, Signature, Type, Value},
};

fuzz_target!(|data: &[u8]| {
    let text = data.split(|byte| *byte == 0).next().unwrap_or_default();
    let rest = data.get(text.len() + 1..).unwrap_or_default();
    let Ok(text) = str::from_utf8(text) else {
        return;
    };
    if let Ok(ty) = Type::parse(text) {
        let canonical = ty.to_string();
        assert_eq!(Type::parse(&canonical), Ok(ty));
        let _ = Codec::parse(&canonical);
    }
    if let Ok(signature) = Signature::parse(text) {
        let canonical = signature.to_string();
        let again = Signature::parse(&canonical).expect("canonical");
        assert_eq!(again.to_string(), canonical);
    }
    if let Ok(event) = EventCodec::parse(text) {
        log(&event, rest);
    }
    if let Some((ty, value)) = text.split_once('=') {
        let Ok(ty) = Type::parse(ty) else { return };
        if let Ok(value) = Value::parse(&ty, value) {
            assert_eq!(Value::parse(&ty, &value.to_string()), Ok(value));
        }
    }
});

/// A log: the number of topics besides topic 0, the topics, the data.
fn log(event: &EventCodec, bytes: &[u8]) {
    let Some((&count, bytes)) = bytes.split_first() else {
        return;
    };
    let (words, _) = bytes.as_chunks::<32>();
    let count = usize::from(count % 5).min(words.len());
    let mut topics: Vec<B256> = words[..count].iter().copied().map(FixedBytes).collect();
    if !event.is_anonymous() {
        topics.insert(0, *event.topic());
    }
    if let Ok(values) = event.decode(&topics, &bytes[32 * count..]) {
        assert_eq!(values.len(), event.signature().inputs.len());
    }
}
