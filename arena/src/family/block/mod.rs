//! The `block` family: a node's work on a block.

mod real;
mod receipts;

use anyhow::{Context as _, Result, bail};
use num_bigint::BigUint;

use super::element::Elements;
use super::mainnet::{secret_key, sender, transaction};
use crate::kernel::Block;
use crate::ops::{Input, Op};
use crate::random::Random;
use crate::truth::receipts::{Log, Receipt, read, roots};
use crate::truth::token::{CODE, State, TOKEN};
use crate::truth::transaction::Signed;
use crate::truth::{Expected, keccak256, rlp, secp256k1, trie};
use crate::wire::{Reader, lp};

impl Elements for Block {
    fn published(&self, op: &Op) -> Result<Vec<Vec<u8>>> {
        let blocks = real::blocks()?.iter();
        let item = |block: &real::Block| match self {
            Self::Senders | Self::TransactionsRoot => Ok(block.transactions.to_vec()),
            Self::ReceiptsRoot => Ok(block.receipts.to_vec()),
            Self::Body => Ok([&lp(block.transactions)[..], block.receipts].concat()),
            Self::Execution | Self::Import => bail!("no real blocks for kernel {}", op.kernel),
        };
        blocks.map(item).collect()
    }

    fn element(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        match self {
            Self::Senders => Ok(lp(transaction(random)?)),
            Self::TransactionsRoot => {
                let block = (0..128).map(|_| Ok(lp(transaction(random)?)));
                Ok(block.collect::<Result<Vec<_>>>()?.concat())
            }
            Self::ReceiptsRoot => Ok(receipts::draw(200, random)),
            Self::Execution => calls(random),
            Self::Import => import(op.size, random),
            Self::Body => bail!("no generator for kernel {}", op.kernel),
        }
    }

    fn output(&self, op: &Op, item: &[u8]) -> Result<Expected> {
        let bytes = output(*self, item).with_context(|| op.kernel.name())?;
        Ok(Expected::of(&[bytes]))
    }

    fn is_prefixed(&self, op: &Op) -> bool {
        *self == Self::Senders && op.input == Input::Varied
    }
}

/// The expected output of an item.
fn output(kernel: Block, item: &[u8]) -> Result<Vec<u8>> {
    let mut reader = Reader(item);
    match kernel {
        Block::Senders => {
            let mut out = Vec::new();
            for raw in lps(&mut reader)? {
                out.extend(keccak256(raw));
                out.extend(sender(raw).or_else(|_| real::sender(raw))?);
            }
            Ok(out)
        }
        Block::TransactionsRoot => Ok(trie::ordered_root(&lps(&mut reader)?).to_vec()),
        Block::ReceiptsRoot => Ok(roots(&read(&mut reader)?)),
        Block::Body => {
            let (transactions, receipts) = (reader.lp()?, reader.rest());
            let parts = [
                output(Block::Senders, transactions)?,
                output(Block::TransactionsRoot, transactions)?,
                output(Block::ReceiptsRoot, receipts)?,
            ];
            Ok(parts.concat())
        }
        Block::Execution => outputs_of_calls(&mut reader),
        Block::Import => imported(&mut reader),
    }
}

/// The byte strings that remain, each with its length.
fn lps<'a>(reader: &mut Reader<'a>) -> Result<Vec<&'a [u8]>> {
    let mut list = Vec::new();
    while !reader.0.is_empty() {
        list.push(reader.lp()?);
    }
    Ok(list)
}

// Blocks of calls

/// Recipient and call data of a transaction: a transfer of Ether or of tokens to another account, or a permit.
fn call(other: &[u8], random: &mut Random) -> Result<(Vec<u8>, Vec<u8>)> {
    let amount = [vec![0; 24], random.bytes(8)].concat();
    Ok(match random.below(100) {
        0..25 => (other.to_vec(), Vec::new()),
        25..88 => {
            let data = [[0; 12].as_slice(), other, &amount].concat();
            (TOKEN.to_vec(), data)
        }
        _ => {
            let key = secret_key(random);
            let hash = random.bytes(32);
            let signature = secp256k1::sign(&key, &hash)?;
            let v = [[0; 31].as_slice(), &[27 + signature[64]]].concat();
            let rs = signature[..64].to_vec();
            (TOKEN.to_vec(), [hash, v, rs, amount].concat())
        }
    })
}

/// `lp(code)`, then 64 times (from 20 bytes, to 20 bytes, `lp(call data)`).
fn calls(random: &mut Random) -> Result<Vec<u8>> {
    let accounts: Vec<Vec<u8>> = (0..24).map(|_| random.bytes(20)).collect();
    let mut out = lp(CODE);
    for _ in 0..64 {
        let from = &accounts[random.below(accounts.len())];
        let other = &accounts[random.below(accounts.len())];
        let (to, data) = call(other, random)?;
        out.extend([from.clone(), to, lp(&data)].concat());
    }
    Ok(out)
}

/// The 32-byte return value of each call.
fn outputs_of_calls(reader: &mut Reader<'_>) -> Result<Vec<u8>> {
    anyhow::ensure!(reader.lp()? == CODE, "another contract");
    let mut state = State::default();
    let mut out = Vec::new();
    while !reader.0.is_empty() {
        let (from, to, data) = (reader.array()?, reader.array()?, reader.lp()?);
        // Balances of Ether are not part of the output.
        let outcome = state.transact(*from, *to, &BigUint::ZERO, data)?;
        out.extend(outcome.output);
    }
    Ok(out)
}

// Imported blocks

/// The wei that each account has before the block.
fn funds() -> BigUint {
    BigUint::from(1u8) << 100
}

/// `lp(code)`, the number of accounts (u32) and their addresses, then `lp(raw transaction)` for each transaction.
fn import(transactions: usize, random: &mut Random) -> Result<Vec<u8>> {
    let mut accounts = (0..transactions * 3 / 8)
        .map(|_| {
            let key = secret_key(random);
            let address = secp256k1::address(&secp256k1::public_key(&key)?);
            Ok((key, address, 0u64))
        })
        .collect::<Result<Vec<_>>>()?;
    let addresses: Vec<[u8; 20]> = accounts.iter().map(|(_, address, _)| *address).collect();
    let mut out = lp(CODE);
    out.extend((addresses.len() as u32).to_le_bytes());
    out.extend(addresses.as_flattened());
    for _ in 0..transactions {
        let other = addresses[random.below(addresses.len())];
        let (to, data) = call(&other, random)?;
        let at = random.below(accounts.len());
        let (key, _, nonce) = &mut accounts[at];
        let value = if data.is_empty() { random.word() } else { 0 };
        let [nonce_field, zero, one, gas, value] =
            [*nonce, 0, 1, 200_000, value].map(|number| rlp::number(&number.into()));
        *nonce += 1;
        let [to, data] = [to, data].map(|bytes| rlp::text(&bytes));
        let sign = |preimage: &[u8]| secp256k1::sign(key, &keccak256(preimage));
        let signed = |mut fields: Vec<Vec<u8>>, v: u64, signature: [u8; 65]| {
            let (r, s) = signature[..64].split_at(32);
            fields.push(rlp::number(&v.into()));
            fields.extend([r, s].map(|bytes| rlp::number(&BigUint::from_bytes_be(bytes))));
            rlp::list(&fields)
        };
        // Legacy transactions and those of type 2, in the shares of mainnet.
        let raw = if random.below(100) < 20 {
            let fields = vec![nonce_field, zero.clone(), gas, to, value, data];
            let with_chain = [&fields[..], &[one, zero.clone(), zero]].concat();
            let signature = sign(&rlp::list(&with_chain))?;
            signed(fields, 37 + u64::from(signature[64]), signature)
        } else {
            let fields = vec![
                one,
                nonce_field,
                zero.clone(),
                zero,
                gas,
                to,
                value,
                data,
                rlp::list(&[]),
            ];
            let signature = sign(&[&[2], rlp::list(&fields).as_slice()].concat())?;
            let body = signed(fields, signature[64].into(), signature);
            [&[2], body.as_slice()].concat()
        };
        out.extend(lp(&raw));
    }
    Ok(out)
}

/// Hash and sender of each transaction, the transactions root, the receipts root, the block's bloom filter, and the root
/// of the state after the block.
fn imported(reader: &mut Reader<'_>) -> Result<Vec<u8>> {
    anyhow::ensure!(reader.lp()? == CODE, "another contract");
    let mut state = State::default();
    state.accounts.entry(TOKEN).or_default();
    for _ in 0..reader.u32()? {
        let account = state.accounts.entry(*reader.array()?).or_default();
        account.balance = funds();
    }
    let (mut out, mut raw, mut receipts) = (Vec::new(), Vec::new(), Vec::<Receipt>::new());
    let mut gas = 0;
    while !reader.0.is_empty() {
        let bytes = reader.lp()?;
        let signed = Signed::decode(bytes)?;
        let sender = signed.sender()?;
        anyhow::ensure!(state.accounts[&sender].nonce == signed.nonce, "nonce");
        out.extend(keccak256(bytes));
        out.extend(sender);
        raw.push(bytes);
        let outcome = state.transact(sender, signed.to, &signed.value, &signed.data)?;
        anyhow::ensure!(outcome.gas <= signed.gas_limit, "out of gas");
        gas += outcome.gas;
        let logs = outcome.log.into_iter().map(|(topics, data)| Log {
            address: TOKEN,
            topics: topics.to_vec(),
            data: data.to_vec(),
        });
        receipts.push(Receipt {
            kind: signed.kind,
            success: true,
            gas,
            logs: logs.collect(),
        });
    }
    out.extend(trie::ordered_root(&raw));
    out.extend(roots(&receipts));
    out.extend(state.root());
    Ok(out)
}
