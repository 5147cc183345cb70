//! Hex: what is accepted encodes back to itself, what is refused has a wrong character where the error says.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::bytes::hex;

fuzz_target!(|data: &[u8]| {
    let text = hex::encode(data);
    assert!(text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f')));
    assert_eq!(hex::decode(&text).unwrap(), data);
    if let Ok(bytes) = hex::decode(data) {
        let digits = data.strip_prefix(b"0x").unwrap_or(data);
        assert_eq!(hex::encode(bytes).as_bytes(), digits.to_ascii_lowercase());
    } else {
        let digits = data.strip_prefix(b"0x").unwrap_or(data);
        assert!(digits.len() % 2 == 1 || !digits.iter().all(u8::is_ascii_hexdigit));
    }
});
