//! RLP items of any shape: accepted input is canonical, so writing its events again yields the same bytes.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::{
    bytes::U256,
    evm::rlp::{self, Event},
};

/// Encodes a payload according to appendix B of the yellow paper.
fn wrap(payload: Vec<u8>, offset: u8) -> Vec<u8> {
    let mut out = if payload.len() < 56 {
        vec![offset + payload.len() as u8]
    } else {
        let length: Vec<u8> = payload
            .len()
            .to_be_bytes()
            .into_iter()
            .skip_while(|&b| b == 0)
            .collect();
        [vec![offset + 55 + length.len() as u8], length].concat()
    };
    out.extend(payload);
    out
}

fuzz_target!(|data: &[u8]| {
    let mut open = vec![Vec::new()];
    let mut accepted = true;
    for event in rlp::items(data) {
        match event {
            Ok(Event::String(&[byte])) if byte < 0x80 => open.last_mut().unwrap().push(byte),
            Ok(Event::String(bytes)) => open.last_mut().unwrap().extend(wrap(bytes.to_vec(), 0x80)),
            Ok(Event::List) => open.push(Vec::new()),
            Ok(Event::End) => {
                let list = wrap(open.pop().unwrap(), 0xc0);
                open.last_mut().unwrap().extend(list);
            }
            Err(_) => accepted = false,
        }
    }
    if accepted {
        assert_eq!(open, [data]);
    }
    let number: Result<U256, _> = rlp::decode(data);
    if let Ok(number) = number {
        assert_eq!(rlp::encode(&number), data);
    }
});
