//! The contract that generated blocks call, and what the EVM does with it: balances, storage, logs and gas.
//!
//! Gas costs nothing in these blocks. Its amounts count, since receipts contain them. Source: Yellow Paper, appendices
//! G and H; EIP-2200, EIP-2929, EIP-3529.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};
use num_bigint::BigUint;

use super::{keccak256, rlp, secp256k1, trie};
use crate::wire::{be32, wrap};

/// Address of the contract.
pub const TOKEN: [u8; 20] = [0xc0; 20];

/// A minimal token. `(to, amount)` moves an amount (balances wrap around and are not checked) and returns the
/// recipient's balance. `(hash, v, r, s, amount)` stores the allowance given by the signer to the caller, and returns
/// the signer. Balances are stored at keccak256(owner, 0), allowances at keccak256(owner, caller), like Solidity
/// mappings.
pub const CODE: &[u8] = &[
    0x36, 0x60, 160, 0x14, 0x60, 65, 0x57, // CALLDATASIZE, 160, EQ, permit, JUMPI
    0x33, 0x5f, 0x52, // memory[0] = CALLER; memory[32] is 0
    0x60, 64, 0x5f, 0x20, // KECCAK256
    0x80, 0x54, 0x60, 32, 0x35, 0x90, 0x03, 0x90, 0x55, // storage[hash] -= amount
    0x5f, 0x35, 0x5f, 0x52, // memory[0] = to
    0x60, 64, 0x5f, 0x20, // KECCAK256
    0x80, 0x54, 0x60, 32, 0x35, 0x01, // storage[hash] + amount
    0x80, 0x91, 0x55, // duplicate the balance, store it
    0x60, 32, 0x35, 0x60, 32, 0x52, // memory[32] = amount
    0x5f, 0x35, 0x33, // to, CALLER
    0x63, 0xdd, 0xf2, 0x52, 0xad, // the first bytes of Transfer's topic
    0x60, 32, 0x60, 32, 0xa3, // LOG3 of the amount
    0x5f, 0x52, 0x60, 32, 0x5f, 0xf3, // return the balance
    0x5b, // permit
    0x60, 128, 0x5f, 0x5f, 0x37, // CALLDATACOPY of hash, v, r, s
    0x60, 32, 0x5f, 0x60, 128, 0x5f, 0x60, 1, 0x5a, 0xfa, 0x50, // memory[0] = ECRECOVER
    0x33, 0x60, 32, 0x52, // memory[32] = CALLER
    0x60, 128, 0x35, 0x60, 64, 0x5f, 0x20, 0x55, // storage[keccak256] = amount
    0x60, 32, 0x5f, 0xf3, // return the signer
];
/// Position of `permit` in the code.
const PERMIT: usize = 65;

/// The accounts and the contract's storage.
#[derive(Default)]
pub struct State {
    /// The accounts by address.
    pub accounts: BTreeMap<[u8; 20], Account>,
    storage: BTreeMap<[u8; 32], BigUint>,
}

/// An account.
#[derive(Default)]
pub struct Account {
    /// Number of its transactions.
    pub nonce: u64,
    /// Its wei.
    pub balance: BigUint,
}

/// The effects of a call.
pub struct Outcome {
    /// The word that the contract returns; zeros for a transfer of Ether.
    pub output: [u8; 32],
    /// The gas used by the transaction.
    pub gas: u64,
    /// Topics and data of the contract's log.
    pub log: Option<([[u8; 32]; 3], [u8; 32])>,
}

impl State {
    /// Executes a transaction whose nonce is the sender's.
    pub fn transact(
        &mut self,
        from: [u8; 20],
        to: [u8; 20],
        value: &BigUint,
        data: &[u8],
    ) -> Result<Outcome> {
        let sender = self.accounts.entry(from).or_default();
        ensure!(sender.balance >= *value, "the sender has too little");
        sender.nonce += 1;
        sender.balance -= value;
        self.accounts.entry(to).or_default().balance += value;

        let mut access = Access {
            storage: &mut self.storage,
            original: BTreeMap::new(),
            gas: 21_000,
            refund: 0,
        };
        let zeros = data.iter().filter(|byte| **byte == 0).count();
        access.gas += (4 * zeros + 16 * (data.len() - zeros)) as i64;
        let mut outcome = Outcome {
            output: [0; 32],
            gas: 0,
            log: None,
        };
        if to == TOKEN {
            access.gas += opcodes(0..=6);
            let caller = word(&from);
            match data.len() {
                64 => {
                    access.gas += opcodes(7..=PERMIT - 1) + memory(2);
                    let (recipient, amount) = (array(&data[..32])?, &data[32..]);
                    let number = BigUint::from_bytes_be(amount);
                    let old = access.load(slot(&caller, &[0; 32]));
                    let negative = (BigUint::from(1u8) << 256) - &number;
                    access.store(slot(&caller, &[0; 32]), wrap(&(old + negative)));
                    let old = access.load(slot(&recipient, &[0; 32]));
                    let new = wrap(&(old + &number));
                    outcome.output = array(&be32(&new))?;
                    access.store(slot(&recipient, &[0; 32]), new);
                    let topic = word(&[0xdd, 0xf2, 0x52, 0xad]);
                    outcome.log = Some(([topic, caller, recipient], array(amount)?));
                }
                160 => {
                    access.gas += opcodes(PERMIT..=CODE.len() - 1) + memory(4);
                    // The precompile is warm.
                    access.gas += 100 + 3000;
                    let signature = [&data[64..128], &[data[63] - 27]].concat();
                    let key = secp256k1::recover(&data[..32], &signature)?;
                    outcome.output = word(&secp256k1::address(&key));
                    let amount = BigUint::from_bytes_be(&data[128..]);
                    access.store(slot(&outcome.output, &caller), amount);
                }
                other => bail!("{other} bytes of call data"),
            }
        }
        // EIP-3529: at most a fifth is refunded.
        access.gas -= access.refund.min(access.gas / 5);
        outcome.gas = access.gas.try_into()?;
        Ok(outcome)
    }

    /// The state root. All storage is the contract's, which is one of the accounts.
    pub fn root(&self) -> [u8; 32] {
        let slots = self.storage.iter();
        let slots = slots.filter(|(_, value)| **value != BigUint::ZERO);
        let storage = trie::secure_root(slots.map(|(slot, value)| (slot, rlp::number(value))));
        let accounts = self.accounts.iter().map(|(address, account)| {
            let (storage, code) = if *address == TOKEN {
                (storage, CODE)
            } else {
                (trie::secure_root::<&[u8], &[u8]>([]), &[][..])
            };
            let account = rlp::list(&[
                rlp::number(&account.nonce.into()),
                rlp::number(&account.balance),
                rlp::text(&storage),
                rlp::text(&keccak256(code)),
            ]);
            (address, account)
        });
        trie::secure_root(accounts)
    }
}

/// The storage during a transaction.
struct Access<'a> {
    storage: &'a mut BTreeMap<[u8; 32], BigUint>,
    /// The value of each accessed slot before the transaction.
    original: BTreeMap<[u8; 32], BigUint>,
    gas: i64,
    refund: i64,
}

impl Access<'_> {
    /// The value of a slot, and whether it has been accessed before. Adds the gas of a first access (EIP-2929).
    fn touch(&mut self, slot: [u8; 32]) -> (BigUint, bool) {
        let value = self.storage.get(&slot).cloned().unwrap_or_default();
        let accessed = self.original.contains_key(&slot);
        if !accessed {
            self.gas += 2100;
            self.original.insert(slot, value.clone());
        }
        (value, accessed)
    }

    /// SLOAD.
    fn load(&mut self, slot: [u8; 32]) -> BigUint {
        let (value, accessed) = self.touch(slot);
        if accessed {
            self.gas += 100;
        }
        value
    }

    /// SSTORE.
    fn store(&mut self, slot: [u8; 32], new: BigUint) {
        let zero = BigUint::ZERO;
        let (current, _) = self.touch(slot);
        let original = &self.original[&slot];
        if current == new || current != *original {
            self.gas += 100;
        } else {
            self.gas += if *original == zero { 20_000 } else { 2_900 };
        }
        if current != new {
            if *original != zero {
                self.refund += 4_800 * (i64::from(new == zero) - i64::from(current == zero));
            }
            if new == *original && current != *original {
                self.refund += if *original == zero { 19_900 } else { 2_800 };
            }
        }
        self.storage.insert(slot, new);
    }
}

/// Gas of the instructions of a part of [`CODE`], without memory, storage and calls.
fn opcodes(part: std::ops::RangeInclusive<usize>) -> i64 {
    let mut gas = 0;
    let mut at = *part.start();
    while at <= *part.end() {
        gas += match CODE[at] {
            0x30..=0x3a if CODE[at] != 0x35 && CODE[at] != 0x37 => 2,
            0x50 | 0x5a | 0x5f => 2,
            // Two words are hashed.
            0x20 => 30 + 2 * 6,
            // Four words are copied.
            0x37 => 3 + 4 * 3,
            0x54 | 0x55 | 0xf3 | 0xfa => 0,
            0x57 => 10,
            0x5b => 1,
            // Three topics and 32 bytes.
            0xa3 => 375 + 3 * 375 + 32 * 8,
            _ => 3,
        };
        at += match CODE[at] {
            push @ 0x60..0x80 => usize::from(push - 0x5f),
            _ => 0,
        };
        at += 1;
    }
    gas
}

/// Gas of the first words of memory.
fn memory(words: i64) -> i64 {
    3 * words + words * words / 512
}

fn word(bytes: &[u8]) -> [u8; 32] {
    let mut word = [0; 32];
    word[32 - bytes.len()..].copy_from_slice(bytes);
    word
}

fn array(bytes: &[u8]) -> Result<[u8; 32]> {
    bytes.try_into().context("expected 32 bytes")
}

fn slot(key: &[u8; 32], map: &[u8; 32]) -> [u8; 32] {
    keccak256(&[*key, *map].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jump_lands() {
        assert_eq!(usize::from(CODE[5]), PERMIT);
        assert_eq!(CODE[PERMIT], 0x5b);
    }
}
