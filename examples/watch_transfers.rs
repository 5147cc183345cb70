//! Read a token's `Transfer` events from logs: `topic topic topic data` a line on standard input, in hexadecimal.

use std::error::Error;
use std::io::{self, BufRead as _};

use lydite::bytes::{B256, hex};
use lydite::evm::abi::EventCodec;

fn main() -> Result<(), Box<dyn Error>> {
    let transfer =
        EventCodec::parse("Transfer(address indexed from, address indexed to, uint256 value)")?;
    for (number, line) in io::stdin().lock().lines().enumerate() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some((data, topics)) = words.split_last() else {
            continue;
        };
        let topics: Vec<B256> = topics
            .iter()
            .map(|topic| topic.parse())
            .collect::<Result<_, _>>()?;
        if topics.first() != Some(transfer.topic()) {
            continue;
        }
        let values = transfer
            .decode(&topics, &hex::decode(data)?)
            .map_err(|error| format!("line {}: {error}", number + 1))?;
        let [from, to, value] = &values[..] else {
            continue;
        };
        println!("{from} sent {value} to {to}");
    }
    Ok(())
}
