//! Hex and addresses from text: accepted text encodes back to itself; rejected hex has an invalid character or an odd
//! length.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::bytes::{Address, hex};

fuzz_target!(|data: &[u8]| {
    let text = hex::encode(data);
    assert!(text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f')));
    assert_eq!(hex::decode(&text).unwrap(), data);
    let digits = data.strip_prefix(b"0x").unwrap_or(data);
    if let Ok(bytes) = hex::decode(data) {
        assert_eq!(hex::encode(bytes).as_bytes(), digits.to_ascii_lowercase());
    } else {
        assert!(digits.len() % 2 == 1 || !digits.iter().all(u8::is_ascii_hexdigit));
    }
    if let Ok(text) = str::from_utf8(data) {
        address(text);
    }
});

fn address(text: &str) {
    let lower = Address::from_hex(text);
    if let Ok(address) = lower {
        let checksummed = address.to_checksum();
        assert!(
            checksummed.eq_ignore_ascii_case(text) || checksummed[2..].eq_ignore_ascii_case(text)
        );
        assert_eq!(Address::parse_checksummed(&checksummed), Ok(address));
    }
    if let Ok(address) = Address::parse_checksummed(text) {
        assert_eq!(lower, Ok(address));
        assert!(
            address
                .to_checksum()
                .ends_with(text.strip_prefix("0x").unwrap_or(text))
        );
    }
}
