//! Decode a raw transaction and recover who sent it.
//!
//! `cargo run -p lydite-examples --bin recover_sender -- 0x02f86f…`

use std::error::Error;

use lydite::bytes::hex;
use lydite::evm::tx::TransactionRef;

/// A transaction of the test network Hoodi.
const DEFAULT: &str = "0x02f86f83088bb082027b843b9aca0084b3dcc26482520894f944a4f7a4ffa792363b23459f24aaf85dd8dc178080c0\
    01a0345b658e49cabd197451b390aa2571ae4fed6b74c1c818ba0d4eeca6f757e753a0680a06b178aa731e9b24ac434572f2f9deb7783b24327a\
    2b179de4e1c7b7ae66";

fn main() -> Result<(), Box<dyn Error>> {
    let text = std::env::args().nth(1).unwrap_or_else(|| DEFAULT.into());
    let raw = hex::decode(&text)?;
    let transaction = TransactionRef::decode(&raw)?;
    println!("hash    {}", hex::encode_prefixed(transaction.hash()));
    println!("sender  {}", transaction.sender()?);
    println!("nonce   {}", transaction.nonce);
    Ok(())
}
