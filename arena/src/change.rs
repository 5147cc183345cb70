//! Change rules, which make the items of a timed batch unpredictable.
//!
//! `run <n> <seed>` starts a sequence of 32-bit words that depends on the seed alone. Before call `k` the contender
//! sets two to eight bytes of item `k mod items` to the `k`-th word, inside the clock. The rule says which bytes are
//! set and how. It belongs to the row and is chosen so that every word keeps the item valid and its cost typical.
//! Because a change *sets* the bytes, earlier changes have no effect, and two contenders with the same `n` and seed
//! must report the same checksum. The driver applies the rule to the bytes of the items and computes or compares the
//! checksum.
//!
//! Sequence: the 32-bit linear congruential generator of PCG (O'Neill 2014).

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;

use crate::truth::Reader;

const MULTIPLIER: u32 = 747_796_405;
const INCREMENT: u32 = 2_891_336_453;
/// Difference between the words of neighbouring elements: 2^32 divided by the golden ratio.
const ELEMENT: u32 = 0x9e37_79b9;

/// The words of a batch; `x_0` belongs to call 0.
#[derive(Clone, Debug)]
pub struct Words(u32);

impl Words {
    /// The sequence of a seed.
    pub fn new(seed: u32) -> Self {
        Self(seed)
    }
}

impl Iterator for Words {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.0 = self.0.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        Some(self.0)
    }
}

/// The word of element `index` in a call whose word is `x`.
pub fn element_word(x: u32, index: usize) -> u32 {
    x.wrapping_add((index as u32).wrapping_mul(ELEMENT))
}

/// Encoding of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Four bytes, little-endian.
    Le,
    /// Four bytes, big-endian.
    Be,
    /// The upper half of the word in two bytes, little-endian.
    Le16,
    /// Eight octal digits in ASCII, the lowest three bits first.
    Digits,
}

/// The change rule of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Change {
    /// Items do not change, because no change would keep them valid.
    #[default]
    None,
    /// Sets the window at `offset` to a word.
    Set {
        /// Encoding of the word.
        kind: Kind,
        /// Byte offset from the start of the element's window region, or from its end if negative.
        offset: i32,
    },
}

impl FromStr for Change {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "none" {
            return Ok(Self::None);
        }
        let (kind, offset) = text.split_once('@').with_context(|| {
            format!("expected `none` or `<kind>@<offset>` as a change rule, found {text:?}")
        })?;
        let kind = match kind {
            "le" => Kind::Le,
            "be" => Kind::Be,
            "le16" => Kind::Le16,
            "digits" => Kind::Digits,
            other => bail!(
                "expected `le`, `be`, `le16` or `digits` before the @ of a change rule, found {other:?}"
            ),
        };
        let offset = offset.parse().with_context(|| {
            format!("expected a number after the @ of a change rule, found {offset:?}")
        })?;
        Ok(Self::Set { kind, offset })
    }
}

impl TryFrom<String> for Change {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Set { kind, offset } = self else {
            return f.write_str("none");
        };
        let kind = match kind {
            Kind::Le => "le",
            Kind::Be => "be",
            Kind::Le16 => "le16",
            Kind::Digits => "digits",
        };
        write!(f, "{kind}@{offset}")
    }
}

impl Change {
    /// Whether items change.
    pub fn is_some(self) -> bool {
        self != Self::None
    }

    /// Sets the window of one element; does nothing if the element is too short for it.
    pub fn set(self, element: &mut [u8], word: u32) {
        let Self::Set { kind, offset } = self else {
            return;
        };
        let bytes: &[u8] = match kind {
            Kind::Le => &word.to_le_bytes(),
            Kind::Be => &word.to_be_bytes(),
            Kind::Le16 => &((word >> 16) as u16).to_le_bytes(),
            Kind::Digits => {
                &std::array::from_fn::<u8, 8, _>(|j| b'0' + (word >> (3 * j) & 7) as u8)
            }
        };
        let from_end = if offset < 0 { element.len() } else { 0 };
        let start = usize::try_from(from_end as i64 + i64::from(offset)).ok();
        let window = start.and_then(|start| element.get_mut(start..)?.get_mut(..bytes.len()));
        if let Some(window) = window {
            window.copy_from_slice(bytes);
        }
    }

    /// Changes all elements of an item for a call whose word is `x`.
    pub fn apply(self, kernel: &str, elements: usize, item: &mut [u8], x: u32) -> Result<()> {
        if self == Self::None {
            return Ok(());
        }
        for (index, region) in regions(kernel, elements, item)?.into_iter().enumerate() {
            self.set(&mut item[region], element_word(x, index));
        }
        Ok(())
    }
}

/// The byte range of each element that offsets refer to (docs/adding-a-contender.md, "Change rules").
pub fn regions(kernel: &str, elements: usize, item: &[u8]) -> Result<Vec<Range<usize>>> {
    let kernel = kernel.strip_suffix("_heads").unwrap_or(kernel);
    let mut reader = Reader(item);
    let at = |reader: &Reader<'_>| item.len() - reader.0.len();
    let lp = |reader: &mut Reader<'_>| -> Result<Range<usize>> {
        let len = reader.lp()?.len();
        let end = at(reader);
        Ok(end - len..end)
    };
    let mut found = Vec::with_capacity(elements);
    // In these kernels `elements` only counts operations; the call works on the whole item.
    if elements == 1 && !is_prefixed(kernel, 1) || counts(kernel) {
        found.push(0..item.len());
        return Ok(found);
    }
    match kernel {
        "keccak256_batch" => {
            for _ in 0..reader.u32()? {
                found.push(lp(&mut reader)?);
            }
        }
        "abi_encode_dynamic" => {
            for _ in 0..elements {
                let start = at(&reader);
                reader.lp()?;
                reader.lp()?;
                let count = reader.u32()?;
                reader.take(32 * count)?;
                found.push(start..at(&reader));
            }
        }
        "rlp_encode_eip1559_tx" | "rlp_encode_eip1559_tx_typed" | "tx_hash_eip1559" => {
            for _ in 0..elements {
                let start = at(&reader);
                reader.take(8 + 8 + 16 + 16 + 8 + 20 + 32)?;
                reader.lp()?;
                for _ in 0..reader.u32()? {
                    reader.take(20)?;
                    let count = reader.u32()?;
                    reader.take(32 * count)?;
                }
                found.push(start..at(&reader));
            }
        }
        "syrup_encode_typed_skill" | "syrup_roundtrip_struct" | "syrup_roundtrip_struct_owned" => {
            let (texts, rest) = match kernel {
                "syrup_encode_typed_skill" => (2, 3 * 8),
                _ => (1, 8 + 1),
            };
            for _ in 0..elements {
                let start = at(&reader);
                for _ in 0..texts {
                    reader.lp()?;
                }
                reader.take(rest)?;
                found.push(start..at(&reader));
            }
        }
        _ if is_prefixed(kernel, elements) => {
            for _ in 0..elements {
                found.push(lp(&mut reader)?);
            }
        }
        _ => {
            ensure!(
                item.len().is_multiple_of(elements),
                "{kernel}: {} bytes are not {elements} elements of one size",
                item.len()
            );
            let size = item.len() / elements;
            reader.rest();
            found.extend((0..elements).map(|i| i * size..(i + 1) * size));
        }
    }
    ensure!(
        reader.0.is_empty(),
        "{kernel}: the item has bytes left over"
    );
    Ok(found)
}

/// Whether an item of a kernel is a single element, regardless of the number of operations a call counts as.
fn counts(kernel: &str) -> bool {
    ["poseidon", "xmss_", "syrup_stream"]
        .iter()
        .any(|name| kernel.starts_with(name))
}

/// Whether each element of a kernel is one byte string preceded by its length.
pub fn is_prefixed(kernel: &str, elements: usize) -> bool {
    match kernel {
        "abi_decode_dynamic"
        | "abi_decode_dynamic_strict"
        | "rlp_decode_u256"
        | "tx_hash_batch"
        | "alloy_senders" => true,
        "abi_decode_runtime" => elements > 1,
        "syrup_encode_typed_export" | "syrup_encode_typed_skill" | "syrup_reencode" => false,
        "syrup_roundtrip_struct" | "syrup_roundtrip_struct_owned" => false,
        _ => kernel.starts_with("syrup_"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use crate::generate::{Selection, truth_of, with_truth};
    use crate::ops::catalogue;

    #[test]
    fn words_are_the_published_ones() {
        // These values are also in docs/adding-a-contender.md for kits; they were computed in Python.
        for (seed, want) in [
            (0, [0xac56_4b05, 0x4712_a88e, 0x21dd_796b]),
            (1, [0xd8e8_c2ba, 0x4180_6e87, 0xec83_3178]),
            (u32::MAX, [0x7fc3_d350, 0x4ca4_e295, 0x5737_c15e]),
        ] {
            assert_eq!(Words::new(seed).take(3).collect::<Vec<_>>(), want);
        }
        assert_eq!(element_word(0x4180_6e87, 0), 0x4180_6e87);
        assert_eq!(element_word(0x4180_6e87, 1), 0xdfb7_e840);
        assert_eq!(element_word(0x4180_6e87, 63), 0x3127_630e);
    }

    #[test]
    fn windows_are_set_where_there_is_room() {
        let set = |rule: &str, len: usize| {
            let mut element = vec![b'.'; len];
            rule.parse::<Change>()
                .unwrap()
                .set(&mut element, 0x4180_6e87);
            element
        };
        assert_eq!(set("le@1", 6), b".\x87\x6e\x80\x41.");
        assert_eq!(set("be@1", 6), b".\x41\x80\x6e\x87.");
        assert_eq!(set("le@-4", 6), b"..\x87\x6e\x80\x41");
        assert_eq!(set("le16@1", 4), b".\x80\x41.");
        assert_eq!(set("digits@0", 9), b"70276004.");
        assert_eq!(set("digits@-8", 8), b"70276004");
        for (rule, len) in [
            ("le@0", 3),
            ("le@-4", 3),
            ("digits@1", 8),
            ("be@9", 4),
            ("none", 9),
        ] {
            assert_eq!(set(rule, len), vec![b'.'; len], "{rule}");
        }
    }

    #[test]
    fn rules_are_parsed_and_printed() {
        for rule in ["none", "le@0", "be@-4", "le16@-9", "digits@12"] {
            assert_eq!(rule.parse::<Change>().unwrap().to_string(), rule);
        }
        for (rule, message) in [
            ("", "expected `none`"),
            ("le", "expected `none`"),
            ("xe@0", "expected `le`"),
            ("le@x", "expected a number"),
        ] {
            let error = rule.parse::<Change>().unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
    }

    #[test]
    fn rules_keep_items_valid() {
        // Every changed item still has an output, which in most rows differs from that of the unchanged item.
        for op in catalogue().iter().filter(|op| op.change.is_some()) {
            let (items, before) = with_truth(op, Selection::Probe { round: 9, count: 2 }).unwrap();
            let mut x = Words::new(7);
            for (mut item, before) in items.into_iter().zip(before) {
                let x = x.next().unwrap();
                op.change
                    .apply(&op.kernel, op.ops_per_call, &mut item, x)
                    .unwrap();
                let after =
                    truth_of(op, &item).unwrap_or_else(|error| panic!("{}: {error:#}", op.id));
                // A recovered signer does not depend on the hash, and failing inputs still fail.
                let constant = op.kernel == "secp256k1_sign_recover" || op.id.contains("_fail_");
                if let Some(after) = after {
                    assert_eq!(after == before, constant, "{}", op.id);
                }
            }
        }
    }
}
