//! The inputs that `bench worst` tries: valid calls of a precompile, as texts that a row with `input = "fixture"` can have
//! as its `case`.
//!
//! An input consists of fields: numbers with a few bit patterns that are expensive somewhere (full, sparse, with leading
//! zeros), and choices between points. Precompiles are left out if the arena's reference code cannot compute their
//! outputs: KZG and the maps to curves.

use anyhow::{Context as _, Result};
use num_bigint::BigUint;

use super::{address, fixture, precompile};
use crate::change::Change;
use crate::kernel::{Kernel, Precompile};
use crate::ops::{self, Input, Op};
use crate::random::Random;
use crate::truth::curve::{BLS_G1, BLS_G2, BN254_G1, Curve, P256, Point};
use crate::truth::hex;
use crate::truth::precompiles::{Case, be, bls, bn254, gas};

/// The inputs of one precompile.
pub struct Space {
    /// A row of the precompile, for what all its inputs have in common.
    row: Op,
    fields: Vec<Field>,
    separator: &'static str,
}

/// The values of a field.
enum Field {
    /// A big-endian number, or data, of `least` to `most` bytes.
    Number { least: usize, most: usize },
    /// Texts, such as points.
    Choice(Vec<String>),
    /// How often the input is repeated.
    Repeat(&'static [usize]),
}

/// The value of each field.
#[derive(Clone)]
pub struct Values(Vec<Value>);

#[derive(Clone)]
enum Value {
    Number(Number),
    Index(usize),
}

/// Zeros, then a first byte, equal bytes and a last byte.
#[derive(Clone)]
struct Number {
    len: usize,
    zeros: usize,
    head: u8,
    fill: u8,
    tail: u8,
}

impl Number {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.fill; self.len];
        if let Some(last) = bytes.last_mut() {
            *last = self.tail;
        }
        let zeros = self.zeros.min(self.len);
        bytes[..zeros].fill(0);
        if let Some(first) = bytes.get_mut(zeros) {
            *first = self.head;
        }
        bytes
    }
}

/// Numbers of points with a discount that the arena knows, and numbers of pairs.
const TERMS: [usize; 5] = [1, 2, 16, 64, 128];
const PAIRS: [usize; 8] = [1, 2, 3, 4, 6, 8, 12, 24];
/// Lengths at which implementations change their algorithm.
const LENGTHS: [usize; 14] = [0, 1, 8, 16, 31, 32, 33, 64, 96, 128, 192, 256, 512, 1024];

/// All precompiles that can be searched.
pub fn spaces() -> Result<Vec<Space>> {
    let word = || Field::Number {
        least: 32,
        most: 32,
    };
    let any = |most| Field::Number { least: 0, most };
    let bn254 = || points(&BN254_G1, |point| bn254(point, 1));
    let g1 = || points(&BLS_G1, |point| bls(point, 1));
    let g2 = || points(&BLS_G2, |point| bls(point, 2));
    let fields: Vec<(Precompile, Vec<Field>)> = vec![
        (
            Precompile::Ecrecover,
            vec![
                word(),
                Field::Choice(vec!["00*31+1b".into(), "00*31+1c".into()]),
                word(),
                word(),
            ],
        ),
        (Precompile::Sha256, vec![any(4096)]),
        (Precompile::Ripemd160, vec![any(4096)]),
        (Precompile::Identity, vec![any(4096)]),
        // EIP-7823 limits the lengths.
        (Precompile::Modexp, vec![any(1024), any(1024), any(1024)]),
        (Precompile::Bn254Add, vec![bn254(), bn254()]),
        (Precompile::Bn254Mul, vec![bn254(), word()]),
        (Precompile::Bn254Pairing, vec![Field::Repeat(&PAIRS)]),
        (
            Precompile::Blake2f,
            vec![
                Field::Number { least: 4, most: 4 },
                Field::Choice(vec!["abc".into()]),
            ],
        ),
        (Precompile::BlsG1Add, vec![g1(), g1()]),
        (Precompile::BlsG2Add, vec![g2(), g2()]),
        (
            Precompile::BlsG1Msm,
            vec![g1(), word(), Field::Repeat(&TERMS)],
        ),
        (
            Precompile::BlsG2Msm,
            vec![g2(), word(), Field::Repeat(&TERMS)],
        ),
        (
            Precompile::BlsPairing,
            vec![
                Field::Choice(vec!["g1".into()]),
                Field::Choice(vec!["g2".into()]),
                Field::Repeat(&PAIRS),
            ],
        ),
        (Precompile::P256Verify, vec![word(), word(), word(), keys()]),
    ];
    let space = |(kernel, fields): (Precompile, Vec<Field>)| {
        let has_kernel = |op: &&Op| op.kernel == Kernel::Precompile(kernel);
        let row = ops::catalogue().iter().find(has_kernel).context("a row")?;
        let row = Op {
            input: Input::Fixture,
            like: String::new(),
            change: Change::None,
            ..row.clone()
        };
        let separator = match kernel {
            Precompile::Modexp => " ",
            _ => "+",
        };
        Ok(Space {
            row,
            fields,
            separator,
        })
    };
    fields.into_iter().map(space).collect()
}

/// Infinity, and points with small, large and opposite logarithms.
fn points(curve: &Curve, write: impl Fn(&Point) -> Vec<u8>) -> Field {
    let [one, two, large] = [1u64, 2, u64::MAX].map(|k| curve.generate(&BigUint::from(k)));
    let opposite = curve.negate(&one);
    let points = [None, one, two, large, opposite];
    Field::Choice(
        points
            .iter()
            .map(|point| run_lengths(&write(point)))
            .collect(),
    )
}

/// Public keys of P-256.
fn keys() -> Field {
    let key = |k: u64| {
        let (x, y) = P256.generate(&BigUint::from(k)).unwrap_or_default();
        let coordinates = [x, y].concat();
        let bytes: Vec<u8> = coordinates.iter().flat_map(|c| be(c, 32)).collect();
        run_lengths(&bytes)
    };
    Field::Choice([1, 2, u64::MAX].map(key).to_vec())
}

/// Bytes as a case, with repeated bytes as `xx*n`.
fn run_lengths(bytes: &[u8]) -> String {
    let mut terms: Vec<String> = Vec::new();
    let mut other = String::new();
    for run in bytes.chunk_by(|a, b| a == b) {
        if run.len() < 4 {
            other += &hex(run);
            continue;
        }
        if !other.is_empty() {
            terms.push(std::mem::take(&mut other));
        }
        terms.push(format!("{}*{}", hex(&run[..1]), run.len()));
    }
    if !other.is_empty() {
        terms.push(other);
    }
    terms.join("+")
}

impl Field {
    fn draw(&self, random: &mut Random) -> Value {
        match self {
            Self::Number { least, most } => Value::Number(number(*least, *most, random)),
            Self::Choice(texts) => Value::Index(random.below(texts.len())),
            Self::Repeat(counts) => Value::Index(random.below(counts.len())),
        }
    }

    /// A value that differs in one property.
    fn vary(&self, value: &Value, random: &mut Random) -> Value {
        let (Self::Number { least, most }, Value::Number(old)) = (self, value) else {
            return self.draw(random);
        };
        let drawn = number(*least, *most, random);
        let mut new = old.clone();
        match random.below(5) {
            0 => {
                let near = [
                    old.len + 1,
                    old.len.saturating_sub(1),
                    old.len + 8,
                    old.len * 2,
                    old.len / 2,
                    drawn.len,
                ];
                new.len = random.pick(&near).clamp(*least, *most);
            }
            1 => new.zeros = drawn.zeros,
            2 => new.head = drawn.head,
            3 => new.fill = drawn.fill,
            _ => new.tail = drawn.tail,
        }
        Value::Number(new)
    }

    /// The text in the case; `None` for a number of repetitions.
    fn text(&self, value: &Value) -> Option<String> {
        match (self, value) {
            (_, Value::Number(number)) => Some(run_lengths(&number.bytes())),
            (Self::Choice(texts), Value::Index(index)) => Some(texts[*index].clone()),
            _ => None,
        }
    }
}

fn number(least: usize, most: usize, random: &mut Random) -> Number {
    let len = match random.below(2) {
        0 => random.pick(&LENGTHS).clamp(least, most),
        _ => random.between(least, most),
    };
    let zeros = match random.below(3) {
        0 => random.between(0, len),
        _ => 0,
    };
    let [head, fill, tail] = [(); 3].map(|()| {
        let other = random.word() as u8;
        random.pick(&[0, 1, 0x80, 0xff, 0xff, other])
    });
    Number {
        len,
        zeros,
        head,
        fill,
        tail,
    }
}

impl Space {
    /// The precompile's name: the kernel of its rows without `evm_`.
    pub fn name(&self) -> &str {
        let kernel = self.row.kernel.name();
        kernel.strip_prefix("evm_").unwrap_or(kernel)
    }

    /// A random input.
    pub fn draw(&self, random: &mut Random) -> Values {
        Values(self.fields.iter().map(|field| field.draw(random)).collect())
    }

    /// An input that differs in one field.
    pub fn vary(&self, values: &Values, random: &mut Random) -> Values {
        let mut new = values.clone();
        let at = random.below(self.fields.len());
        new.0[at] = self.fields[at].vary(&values.0[at], random);
        new
    }

    /// The row with this input.
    pub fn row(&self, values: &Values) -> Op {
        let fields = || self.fields.iter().zip(&values.0);
        let texts: Vec<String> = fields()
            .filter_map(|(field, value)| field.text(value))
            .collect();
        let size = fields().find_map(|(field, value)| match (field, value) {
            (Field::Repeat(counts), Value::Index(index)) => Some(counts[*index]),
            _ => None,
        });
        // A term without bytes is written as no term.
        let texts = texts
            .iter()
            .filter(|text| !text.is_empty() || self.separator == " ");
        Op {
            case: texts
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(self.separator),
            size: size.unwrap_or_default(),
            ..self.row.clone()
        }
    }
}

/// The input of a row of [`Space::row`], and its gas.
pub fn input(row: &Op) -> Result<(Vec<u8>, u64)> {
    let item = fixture::item(precompile(row)?, row)?;
    let gas = gas(address(row)?, &item)?;
    Ok((item, gas))
}

/// The same with its output, which can take a second to compute.
pub fn case(row: &Op) -> Result<Case> {
    fixture::published(precompile(row)?, row)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn bytes_are_written_as_cases() {
        for (bytes, text) in [
            (&[0, 0, 0, 0, 0, 7][..], "00*5+07"),
            (&[1, 2, 2, 2, 2], "01+02*4"),
            (&[1, 1, 1, 2], "01010102"),
            (&[], ""),
        ] {
            assert_eq!(run_lengths(bytes), text);
            assert_eq!(fixture::decode(text).unwrap(), bytes);
        }
    }

    #[test]
    fn every_input_is_valid_and_can_be_a_row() {
        for space in spaces().unwrap() {
            let mut random = Random::new(1);
            let mut values = space.draw(&mut random);
            let mut different = std::collections::BTreeSet::new();
            for _ in 0..30 {
                values = space.vary(&values, &mut random);
                let row = space.row(&values);
                let (item, gas) = input(&row).unwrap();
                assert!(item.len() < 1 << 17, "{}", space.name());
                assert!(gas > 0 || space.name() == "blake2f", "{}", row.case);
                different.insert((row.case, row.size));
            }
            assert!(different.len() > 4, "{}", space.name());
            // The reference code takes minutes for the most expensive inputs.
            let cheap = (0..1000).find_map(|_| {
                let row = space.row(&space.draw(&mut random));
                let (_, gas) = input(&row).unwrap();
                (gas < 300_000).then_some(row)
            });
            let row = cheap.unwrap();
            assert!(case(&row).unwrap().succeeds(), "{}", space.name());
        }
    }

    #[test]
    fn a_seed_gives_one_sequence() {
        let space = spaces().unwrap().swap_remove(4);
        let cases = |seed| {
            let mut random = Random::new(seed);
            let draw = |_| space.row(&space.draw(&mut random)).case;
            (0..20).map(draw).collect::<Vec<_>>()
        };
        assert_eq!(cases(1), cases(1));
        assert_ne!(cases(1), cases(2));
    }
}
