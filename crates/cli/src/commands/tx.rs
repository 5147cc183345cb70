//! `lydite tx`

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use lydite::bytes::hex;
use lydite::evm::tx::{TransactionRef, TransactionType};
use serde_json::{Value, json};

use crate::{Answer, input, output::Output};

/// Decode transactions
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print all fields of a signed transaction of type 0 to 4, its hash and its sender; exit code 1 if its signature
    /// is invalid
    Decode {
        /// Transaction in hexadecimal (default: standard input)
        transaction: Option<String>,
        /// Read the input as raw bytes instead of hexadecimal
        #[arg(long)]
        raw: bool,
    },
}

/// Amounts are decimal: JSON numbers up to 64 bits, strings above.
pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    let Command::Decode { transaction, raw } = &arguments.command;
    let data = input::data(transaction.as_deref(), *raw)?;
    let tx = TransactionRef::decode(&data).context("not a transaction")?;
    let sender = tx.sender();

    let mut fields: Vec<(&'static str, Value)> = vec![
        ("type", (tx.kind as u8).into()),
        ("hash", hex::encode_prefixed(tx.hash()).into()),
        (
            "sender",
            sender.map_or(Value::Null, |sender| sender.to_checksum().into()),
        ),
        ("chainId", tx.chain_id.into()),
        ("nonce", tx.nonce.into()),
    ];
    if matches!(tx.kind, TransactionType::Legacy | TransactionType::Eip2930) {
        fields.push(("gasPrice", tx.max_fee_per_gas.to_string().into()));
    } else {
        fields.push((
            "maxPriorityFeePerGas",
            tx.max_priority_fee_per_gas.to_string().into(),
        ));
        fields.push(("maxFeePerGas", tx.max_fee_per_gas.to_string().into()));
    }
    fields.extend([
        ("gasLimit", tx.gas_limit.into()),
        (
            "to",
            tx.to.map_or(Value::Null, |to| to.to_checksum().into()),
        ),
        ("value", tx.value.to_string().into()),
        ("data", hex::encode_prefixed(tx.data).into()),
    ]);
    if tx.kind != TransactionType::Legacy {
        let items = tx.access_list.iter().map(|item| {
            let keys: Vec<String> = item
                .storage_keys
                .iter()
                .map(|key| key.to_string())
                .collect();
            json!({"address": item.address.to_checksum(), "storageKeys": keys})
        });
        fields.push(("accessList", items.collect()));
    }
    if tx.kind == TransactionType::Eip4844 {
        let hashes = tx
            .blob_versioned_hashes
            .iter()
            .map(|hash| Value::from(hash.to_string()));
        fields.push((
            "maxFeePerBlobGas",
            tx.max_fee_per_blob_gas.to_string().into(),
        ));
        fields.push(("blobVersionedHashes", hashes.collect()));
    }
    if tx.kind == TransactionType::Eip7702 {
        let authorizations = tx.authorization_list.iter().map(|one| {
            json!({
                "chainId": one.chain_id.to_string(),
                "address": one.address.to_checksum(),
                "nonce": one.nonce,
                "yParity": one.y_parity,
                "r": hex::encode_prefixed(one.r.to_be_bytes()),
                "s": hex::encode_prefixed(one.s.to_be_bytes()),
                "authority": one.authority().ok().map(|authority| authority.to_checksum()),
            })
        });
        fields.push(("authorizationList", authorizations.collect()));
    }
    fields.extend([
        ("r", hex::encode_prefixed(tx.signature.r()).into()),
        ("s", hex::encode_prefixed(tx.signature.s()).into()),
        ("yParity", tx.signature.recovery_id().into()),
    ]);
    output.fields(&fields)?;
    Ok(if sender.is_ok() {
        Answer::Yes
    } else {
        Answer::No
    })
}
