//! Exact sums of 256-bit integers.

use std::hash::Hash;
use std::mem::size_of;
use std::sync::Arc;

use arrow_array::{
    Array as _, ArrayRef, BooleanArray, FixedSizeBinaryArray, builder::FixedSizeBinaryBuilder,
};
use arrow_schema::{DataType, Field, FieldRef};
use datafusion_common::{Result, ScalarValue, exec_datafusion_err, not_impl_err, plan_err};
use datafusion_expr::{
    Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
    function::{AccumulatorArgs, StateFieldsArgs},
};
use lydite_arrow::{ByteColumn, Integers, Uint256Sum, is_bytes};
use lydite_bytes::U256;

/// Returns `uint256_sum` and `int256_sum`.
pub(crate) fn functions() -> [Sum; 2] {
    let function = |name, signed| Sum {
        name,
        signed,
        signature: Signature::user_defined(Volatility::Immutable),
    };
    [function("uint256_sum", false), function("int256_sum", true)]
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sum {
    name: &'static str,
    signed: bool,
    signature: Signature,
}

impl Sum {
    fn groups(&self) -> Groups {
        Groups {
            integers: match self.signed {
                true => Integers::Int256,
                false => Integers::Uint256,
            },
            groups: Vec::new(),
        }
    }
}

impl AggregateUDFImpl for Sum {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, found: &[DataType]) -> Result<Vec<DataType>> {
        match found {
            [word] if is_bytes(word) => Ok(vec![word.clone()]),
            [other] => plan_err!("{}: expected a word of 32 bytes, found {other}", self.name),
            _ => plan_err!(
                "{}: expected (word), found {} arguments",
                self.name,
                found.len()
            ),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::FixedSizeBinary(32))
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return not_impl_err!("{}: DISTINCT", self.name);
        }
        let mut groups = self.groups();
        groups.groups.push(Group::default());
        Ok(Box::new(One(groups)))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let name = format!("{}[sum]", args.name);
        let state = Field::new(name, DataType::FixedSizeBinary(STATE as i32), false);
        Ok(vec![Arc::new(state)])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(self.groups()))
    }
}

/// Length of an encoded group.
const STATE: usize = 56;

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    sum: Uint256Sum,
    words: u64,
    /// Number of values that are not words.
    invalid: u64,
}

impl Group {
    fn total(&self, integers: Integers) -> Option<U256> {
        let total = || self.sum.total(integers);
        (self.words > 0 && self.invalid == 0).then(total).flatten()
    }

    fn merge(&mut self, other: Self) {
        self.sum.merge(other.sum);
        self.words += other.words;
        self.invalid += other.invalid;
    }

    fn encode(&self) -> [u8; STATE] {
        let mut bytes = [0; STATE];
        bytes[..8].copy_from_slice(&self.words.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.invalid.to_be_bytes());
        bytes[16..].copy_from_slice(&self.sum.to_be_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.split_first_chunk()?;
        let (invalid, sum) = rest.split_first_chunk()?;
        Some(Self {
            sum: Uint256Sum::from_be_slice(sum)?,
            words: u64::from_be_bytes(*words),
            invalid: u64::from_be_bytes(*invalid),
        })
    }
}

/// The sums of all groups.
#[derive(Debug)]
struct Groups {
    integers: Integers,
    groups: Vec<Group>,
}

impl Groups {
    fn add(&self, group: &mut Group, word: Option<U256>) {
        match word {
            Some(word) => {
                group.sum.add(word, self.integers);
                group.words += 1;
            }
            None => group.invalid += 1,
        }
    }
}

/// Returns the rows that are not null: the word, or `None` for a value that is not 32 bytes.
fn words(array: &ArrayRef) -> Result<impl Iterator<Item = (usize, Option<U256>)>> {
    let column = ByteColumn::try_new(array).map_err(|error| exec_datafusion_err!("{error}"))?;
    Ok(
        (0..column.len()).filter_map(move |row| match column.get(row) {
            Some(bytes) => {
                let word = bytes.try_into().ok();
                Some((row, word.map(|word: &[u8; 32]| U256::from_be_bytes(*word))))
            }
            None => column.is_invalid(row).then_some((row, None)),
        }),
    )
}

/// Returns the groups of a state.
fn states(array: &ArrayRef) -> Result<Vec<Group>> {
    let column = ByteColumn::try_new(array).map_err(|error| exec_datafusion_err!("{error}"))?;
    let groups = (0..column.len()).map(|row| column.get(row).and_then(Group::decode));
    let groups: Option<Vec<Group>> = groups.collect();
    groups.ok_or_else(|| exec_datafusion_err!("the state of a sum is not valid"))
}

fn encode(groups: &[Group]) -> ArrayRef {
    let bytes: Vec<u8> = groups.iter().flat_map(Group::encode).collect();
    Arc::new(FixedSizeBinaryArray::new(STATE as i32, bytes.into(), None))
}

fn is_selected(filter: Option<&BooleanArray>, row: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.groups.resize(total_num_groups, Group::default());
        let mut groups = std::mem::take(&mut self.groups);
        for (row, word) in words(&values[0])? {
            if is_selected(opt_filter, row) {
                self.add(&mut groups[group_indices[row]], word);
            }
        }
        self.groups = groups;
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let groups = emit_to.take_needed(&mut self.groups);
        let mut sums = FixedSizeBinaryBuilder::with_capacity(groups.len(), 32);
        for group in groups {
            match group.total(self.integers) {
                Some(sum) => sums.append_value(sum.to_be_bytes())?,
                None => sums.append_null(),
            }
        }
        Ok(Arc::new(sums.finish()))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![encode(&emit_to.take_needed(&mut self.groups))])
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.groups.resize(total_num_groups, Group::default());
        for (state, index) in states(&values[0])?.into_iter().zip(group_indices) {
            self.groups[*index].merge(state);
        }
        Ok(())
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let mut groups = vec![Group::default(); values[0].len()];
        for (row, word) in words(&values[0])? {
            if is_selected(opt_filter, row) {
                self.add(&mut groups[row], word);
            }
        }
        Ok(vec![encode(&groups)])
    }

    fn size(&self) -> usize {
        self.groups.capacity() * size_of::<Group>()
    }
}

/// The sum of one group, of all rows or of a window.
#[derive(Debug)]
struct One(Groups);

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let group_indices = vec![0; values[0].len()];
        GroupsAccumulator::update_batch(&mut self.0, values, &group_indices, None, 1)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let total = self.0.groups[0].total(self.0.integers);
        let word = total.map(|total| total.to_be_bytes().to_vec());
        Ok(ScalarValue::FixedSizeBinary(32, word))
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.0.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let state = self.0.groups[0].encode().to_vec();
        Ok(vec![ScalarValue::FixedSizeBinary(
            STATE as i32,
            Some(state),
        )])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let group_indices = vec![0; states[0].len()];
        GroupsAccumulator::merge_batch(&mut self.0, states, &group_indices, 1)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let integers = self.0.integers;
        let group = &mut self.0.groups[0];
        for (_, word) in words(&values[0])? {
            match word {
                Some(word) => {
                    group.sum.remove(word, integers);
                    group.words -= 1;
                }
                None => group.invalid -= 1,
            }
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }
}
