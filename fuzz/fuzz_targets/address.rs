//! Addresses from text.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::bytes::Address;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    if let Ok(address) = Address::from_hex(text) {
        let checksummed = address.to_checksum();
        assert!(
            checksummed.eq_ignore_ascii_case(text) || checksummed[2..].eq_ignore_ascii_case(text)
        );
        assert_eq!(Address::parse_checksummed(&checksummed), Ok(address));
    }
    if let Ok(address) = Address::parse_checksummed(text) {
        assert!(
            address
                .to_checksum()
                .ends_with(text.strip_prefix("0x").unwrap_or(text))
        );
    }
});
