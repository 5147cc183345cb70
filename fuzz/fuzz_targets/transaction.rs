//! Transactions: what is accepted encodes back to the same bytes; the view agrees with the owned form.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::{
    evm::tx::{Transaction, TransactionRef},
    hash::keccak256,
};

fuzz_target!(|data: &[u8]| {
    let view = TransactionRef::decode(data);
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
