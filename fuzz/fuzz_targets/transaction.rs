//! Transactions: accepted input encodes back to the same bytes; the view agrees with the owned form.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::{
    bytes::B256,
    evm::tx::{self, Transaction, TransactionRef},
    hash::keccak256,
};

fuzz_target!(|data: &[u8]| {
    let view = TransactionRef::decode(data);
    let mut hashes = [Ok(B256::ZERO); 3];
    tx::hashes(&[data, &[], data], &mut hashes).unwrap();
    assert_eq!(hashes[0], hashes[2]);
    assert_eq!(hashes[0], view.map(|view| view.hash()));
    match Transaction::decode(data) {
        Ok(tx) => {
            assert_eq!(tx.encode(), data);
            assert_eq!(tx.hash(), keccak256(data));
            let view = view.unwrap();
            assert_eq!(view.hash(), tx.hash());
            assert_eq!(view.sender(), tx.sender());
        }
        Err(error) => assert_eq!(view.err(), Some(error)),
    }
    let _ = TransactionRef::decode_pooled(data);
});
