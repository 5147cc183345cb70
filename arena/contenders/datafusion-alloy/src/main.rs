//! DataFusion with functions on alloy, as a Rust user writes them: logs decoded by alloy-dyn-abi, sums of 256-bit integers.
//! On one thread.

#[path = "../../lydite-sql/src/engine.rs"]
mod engine;

use std::sync::{Arc, LazyLock};

use alloy_dyn_abi::{DynSolEvent, Specifier as _};
use alloy_json_abi::Event;
use alloy_primitives::{B256, U256};
use arena_kit::locked_version;
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, FixedSizeBinaryArray, StringArray, StructArray,
    builder::FixedSizeBinaryBuilder, builder::NullBufferBuilder, cast::AsArray as _,
};
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use datafusion::common::{Result, ScalarValue, exec_datafusion_err};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, EmitTo, GroupsAccumulator,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::prelude::SessionContext;

static TRANSFER: LazyLock<Option<DynSolEvent>> = LazyLock::new(|| {
    let event = "event Transfer(address indexed from, address indexed to, uint256 value)";
    Event::parse(event).ok()?.resolve().ok()
});

/// A 256-bit integer as 32 bytes, and an address.
const WORD: DataType = DataType::FixedSizeBinary(32);
const ADDRESS: DataType = DataType::FixedSizeBinary(20);

fn transfer_fields() -> Fields {
    let field = |name: &str, data_type| Field::new(name, data_type, true);
    Fields::from(vec![
        field("from", ADDRESS),
        field("to", ADDRESS),
        field("value", WORD),
    ])
}

/// `decode_transfer(topic0, topic1, topic2, topic3, data)`; null for other events.
#[derive(Debug, PartialEq, Eq, Hash)]
struct DecodeTransfer(Signature);

impl ScalarUDFImpl for DecodeTransfer {
    fn name(&self) -> &str {
        "decode_transfer"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Struct(transfer_fields()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let event = TRANSFER.as_ref();
        let event = event.ok_or_else(|| exec_datafusion_err!("the event is not valid"))?;
        let columns = ColumnarValue::values_to_arrays(&args.args)?;
        let columns: Vec<_> = columns
            .iter()
            .map(|column| column.as_binary_view())
            .collect();
        let [topic0, topic1, topic2, topic3, data] = columns[..] else {
            return Err(exec_datafusion_err!("expected five columns"));
        };
        let rows = data.len();
        let mut from = FixedSizeBinaryBuilder::with_capacity(rows, 20);
        let mut to = FixedSizeBinaryBuilder::with_capacity(rows, 20);
        let mut value = FixedSizeBinaryBuilder::with_capacity(rows, 32);
        let mut valid = NullBufferBuilder::new(rows);
        let selector = event.topic_0();
        for row in 0..rows {
            let is_transfer = topic0.is_valid(row)
                && selector.is_some_and(|selector| selector == topic0.value(row))
                && topic2.is_valid(row)
                && topic3.is_null(row);
            let decoded = is_transfer.then(|| {
                let topics = [topic0, topic1, topic2];
                let topics = topics.map(|topic| B256::try_from(topic.value(row)));
                let topics = topics
                    .into_iter()
                    .collect::<std::result::Result<Vec<_>, _>>();
                let log = event.decode_log_parts(topics.ok()?, data.value(row)).ok()?;
                let [sender, recipient] = &log.indexed[..] else {
                    return None;
                };
                let amount = log.body.first()?.as_uint()?.0;
                Some((sender.as_address()?, recipient.as_address()?, amount))
            });
            valid.append(matches!(decoded, Some(Some(_))));
            match decoded.flatten() {
                Some((sender, recipient, amount)) => {
                    from.append_value(sender)?;
                    to.append_value(recipient)?;
                    value.append_value(amount.to_be_bytes::<32>())?;
                }
                None => {
                    from.append_null();
                    to.append_null();
                    value.append_null();
                }
            }
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(from.finish()),
            Arc::new(to.finish()),
            Arc::new(value.finish()),
        ];
        let logs = StructArray::try_new(transfer_fields(), columns, valid.finish())?;
        Ok(ColumnarValue::Array(Arc::new(logs)))
    }
}

/// `uint256_to_string(word)`: decimal.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Text(Signature);

impl ScalarUDFImpl for Text {
    fn name(&self) -> &str {
        "uint256_to_string"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns = ColumnarValue::values_to_arrays(&args.args)?;
        let words = columns[0].as_fixed_size_binary().iter();
        let texts = words.map(|word| word.map(|word| U256::from_be_slice(word).to_string()));
        Ok(ColumnarValue::Array(Arc::new(
            texts.collect::<StringArray>(),
        )))
    }
}

/// `uint256_sum(word)`.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Sum(Signature);

impl AggregateUDFImpl for Sum {
    fn name(&self) -> &str {
        "uint256_sum"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(WORD)
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(One(Groups(vec![U256::ZERO]))))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs) -> bool {
        true
    }

    fn create_groups_accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Groups(Vec::new())))
    }
}

/// The sum of each group, which is also the state.
#[derive(Debug)]
struct Groups(Vec<U256>);

impl Groups {
    fn emit(&mut self, emit_to: EmitTo) -> ArrayRef {
        let sums = emit_to.take_needed(&mut self.0);
        let bytes: Vec<u8> = sums.iter().flat_map(U256::to_be_bytes::<32>).collect();
        Arc::new(FixedSizeBinaryArray::new(32, bytes.into(), None))
    }
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.0.resize(total_num_groups, U256::ZERO);
        let words = values[0].as_fixed_size_binary().iter();
        for (row, (word, group)) in words.zip(group_indices).enumerate() {
            let selected =
                opt_filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
            if let Some(word) = word.filter(|_| selected) {
                let sum = self.0[*group].checked_add(U256::from_be_slice(word));
                self.0[*group] = sum.ok_or_else(|| exec_datafusion_err!("the sum overflows"))?;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        Ok(self.emit(emit_to))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.emit(emit_to)])
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.update_batch(values, group_indices, None, total_num_groups)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows: Vec<usize> = (0..values[0].len()).collect();
        let mut each = Self(Vec::new());
        each.update_batch(values, &rows, opt_filter, rows.len())?;
        each.state(EmitTo::All)
    }

    fn size(&self) -> usize {
        self.0.capacity() * size_of::<U256>()
    }
}

/// The sum of one group.
#[derive(Debug)]
struct One(Groups);

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let group_indices = vec![0; values[0].len()];
        GroupsAccumulator::update_batch(&mut self.0, values, &group_indices, None, 1)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sum = self.0.0[0].to_be_bytes::<32>().to_vec();
        Ok(ScalarValue::FixedSizeBinary(32, Some(sum)))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![Accumulator::evaluate(self)?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        Accumulator::update_batch(self, states)
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.0.size()
    }
}

fn register(context: &mut SessionContext) -> Option<()> {
    let exact = |types| Signature::exact(types, Volatility::Immutable);
    // The engine reads byte strings of any type as views.
    let decode = DecodeTransfer(exact(vec![DataType::BinaryView; 5]));
    context.register_udf(ScalarUDF::new_from_impl(decode));
    context.register_udf(ScalarUDF::new_from_impl(Text(exact(vec![WORD]))));
    context.register_udaf(AggregateUDF::new_from_impl(Sum(exact(vec![WORD]))));
    Some(())
}

fn main() {
    let lock = include_str!("../Cargo.lock");
    let versions = format!(
        "DataFusion {}, alloy-dyn-abi {}",
        datafusion::DATAFUSION_VERSION,
        locked_version(lock, "alloy-dyn-abi")
    );
    let zero = format!("arrow_cast(X'{}', 'FixedSizeBinary(32)')", "0".repeat(64));
    engine::run(
        "datafusion-alloy",
        &versions,
        register,
        "decode_transfer(topic0, topic1, topic2, topic3, data)",
        &zero,
    );
}
