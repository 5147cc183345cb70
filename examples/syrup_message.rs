//! Write and read an OCapN message in Syrup.

use std::error::Error;

use lydite::ocapn::syrup::{Decode, Encode, decode, encode};

/// `<op:transfer "to" amount ["memo" …]>`
#[derive(Debug, PartialEq, Encode, Decode)]
#[syrup(record = "op:transfer", crate = lydite::ocapn)]
struct Transfer<'a> {
    to: &'a str,
    amount: u64,
    memos: Vec<&'a str>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let sent = Transfer {
        to: "alice",
        amount: 7,
        memos: vec!["rent", "november"],
    };
    let bytes = encode(&sent)?;
    println!("{}", String::from_utf8_lossy(&bytes));
    let received: Transfer = decode(&bytes)?;
    assert_eq!(received, sent);

    // A damaged message names the byte at fault.
    let error = decode::<Transfer>(&bytes[..20])
        .err()
        .ok_or("a cut message was accepted")?;
    println!("cut after 20 bytes: {error}");
    Ok(())
}
