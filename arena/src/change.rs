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
use std::str::FromStr;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

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
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

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
}
