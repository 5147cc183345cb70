//! Code that uses alloy, with Lydite underneath: one line, before the first transaction.

use std::error::Error;

use alloy_consensus::transaction::SignerRecoverable as _;
use alloy_consensus::{EthereumTxEnvelope, TxEip4844};
use alloy_eips::eip2718::Decodable2718 as _;
use alloy_primitives::{eip191_hash_message, hex};

/// A transaction of the test network Hoodi.
const RAW: [u8; 114] = hex!(
    "02f86f83088bb082027b843b9aca0084b3dcc26482520894f944a4f7a4ffa792363b23459f24aaf85dd8dc178080c001a0345b658e49cabd19"
    "7451b390aa2571ae4fed6b74c1c818ba0d4eeca6f757e753a0680a06b178aa731e9b24ac434572f2f9deb7783b24327a2b179de4e1c7b7ae66"
);

fn main() -> Result<(), Box<dyn Error>> {
    println!("{:?}", lydite_alloy::install());

    let transaction: EthereumTxEnvelope<TxEip4844> = EthereumTxEnvelope::decode_2718_exact(&RAW)?;
    println!("sender {}", transaction.recover_signer()?);
    println!("hash of a message {}", eip191_hash_message("hello"));
    Ok(())
}
