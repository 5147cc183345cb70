//! Decoding is compared with [`EventCodec`] and [`CallCodec`], which are tested separately, on random signatures, values
//! and damage, and in every type of array.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, FixedSizeBinaryArray,
    Int64Array, LargeBinaryArray, LargeStringArray, ListArray, RecordBatch, StringArray,
    StringViewArray, StructArray, cast::AsArray, new_null_array, types::*,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
use lydite_arrow::{
    ByteColumn, CallDecoder, CallSet, ColumnMap, Error, EventDecoder, EventSet, Failure, Job, Keep,
    Logs, Mode, OnError, Options, Role, RowError, Transform, TransformOptions, Uint256Format,
    encode_calls, encode_values, hashes, senders,
};
use lydite_bytes::{Address, B256, I256, U256, hex};
use lydite_evm::abi::{CallCodec, Codec, EventCodec, Type, Value};
use proptest::{collection::vec, prelude::*};

/// Returns the text of a value in an array, in the form of [`text_of`].
fn text_at(array: &ArrayRef, row: usize) -> String {
    let list = |parts: Vec<String>| format!("[{}]", parts.join(","));
    assert!(array.is_valid(row));
    macro_rules! integer {
        ($type:ty) => {
            array.as_primitive::<$type>().value(row).to_string()
        };
    }
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::UInt8 => integer!(UInt8Type),
        DataType::UInt16 => integer!(UInt16Type),
        DataType::UInt32 => integer!(UInt32Type),
        DataType::UInt64 => integer!(UInt64Type),
        DataType::Int8 => integer!(Int8Type),
        DataType::Int16 => integer!(Int16Type),
        DataType::Int32 => integer!(Int32Type),
        DataType::Int64 => integer!(Int64Type),
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        DataType::Binary => hex::encode(array.as_binary::<i32>().value(row)),
        DataType::FixedSizeBinary(_) => hex::encode(array.as_fixed_size_binary().value(row)),
        DataType::List(_) => {
            let values = array.as_list::<i32>().value(row);
            list((0..values.len()).map(|i| text_at(&values, i)).collect())
        }
        DataType::Struct(_) => {
            let columns = array.as_struct().columns();
            list(columns.iter().map(|column| text_at(column, row)).collect())
        }
        other => panic!("{other}"),
    }
}

/// Wide integers as 32 bytes.
fn text_of(value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Uint(value, ..=64) => value.to_string(),
        Value::Int(value, ..=64) => I256(*value).to_string(),
        Value::Uint(value, _) | Value::Int(value, _) => hex::encode(value.to_be_bytes()),
        Value::Address(address) => hex::encode(address.0),
        Value::FixedBytes(word, len) => hex::encode(&word[..usize::from(*len)]),
        Value::Function(bytes) => hex::encode(bytes),
        Value::Bytes(bytes) => hex::encode(bytes),
        Value::String(text) => text.clone(),
        Value::Array(values) | Value::FixedArray(values) | Value::Tuple(values) => {
            let parts: Vec<String> = values.iter().map(text_of).collect();
            format!("[{}]", parts.join(","))
        }
    }
}

fn value_type() -> impl Strategy<Value = Type> {
    prop_oneof![
        Just(Type::Bool),
        (1..=32u16).prop_map(|n| Type::Uint(8 * n)),
        (1..=32u16).prop_map(|n| Type::Int(8 * n)),
        Just(Type::Address),
        (1..=32u8).prop_map(Type::FixedBytes),
        Just(Type::Function),
    ]
}

fn any_type() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        4 => value_type(),
        1 => Just(Type::Bytes),
        1 => Just(Type::String),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|ty| Type::Array(Box::new(ty))),
            (inner.clone(), 1..3usize).prop_map(|(ty, n)| Type::FixedArray(Box::new(ty), n)),
            vec(inner, 1..4).prop_map(Type::Tuple),
        ]
    })
}

/// A value of a type from random bytes.
fn value(ty: &Type, bytes: &mut impl Iterator<Item = u8>) -> Value {
    let mut next = || bytes.next().unwrap_or_default();
    let mut word = [0; 32];
    word.fill_with(&mut next);
    let number = U256::from_be_bytes(word);
    match ty {
        Type::Bool => Value::Bool(word[0] & 1 == 1),
        Type::Uint(bits) => Value::Uint(number.wrapping_shr(256 - u32::from(*bits)), *bits),
        Type::Int(bits) => {
            let shift = 256 - u32::from(*bits);
            let negative = word[0] & 0x80 != 0 && shift > 0;
            let high = if negative {
                U256::MAX.wrapping_shl(256 - shift)
            } else {
                U256::ZERO
            };
            Value::Int(number.wrapping_shr(shift) | high, *bits)
        }
        Type::Address => Value::Address(Address(*word.last_chunk().unwrap())),
        Type::FixedBytes(len) => {
            word[usize::from(*len)..].fill(0);
            Value::FixedBytes(word, *len)
        }
        Type::Function => Value::Function(*word.first_chunk().unwrap()),
        Type::Bytes => Value::Bytes(word[..usize::from(next() % 33)].into()),
        Type::String => Value::String(hex::encode(&word[..usize::from(next() % 33)])),
        Type::Array(element) => {
            let len = next() % 3;
            Value::Array((0..len).map(|_| value(element, bytes)).collect())
        }
        Type::FixedArray(element, len) => {
            Value::FixedArray((0..*len).map(|_| value(element, bytes)).collect())
        }
        Type::Tuple(members) => {
            Value::Tuple(members.iter().map(|member| value(member, bytes)).collect())
        }
    }
}

fn column(values: &[Option<Vec<u8>>]) -> ByteColumn {
    let array: BinaryArray = values.iter().map(|value| value.as_deref()).collect();
    ByteColumn::try_new(&(Arc::new(array) as ArrayRef)).unwrap()
}

proptest! {
    #[test]
    fn like_event_codec(
        inputs in vec((any_type(), any::<bool>()), 0..6),
        seed in vec(any::<u8>(), 64..2048),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 20),
    ) {
        let mut indexed = 0;
        let inputs: Vec<(Type, bool)> = inputs
            .into_iter()
            .map(|(ty, wanted)| {
                indexed += usize::from(wanted);
                (ty, wanted && indexed <= 3)
            })
            .collect();
        let parts: Vec<String> = inputs
            .iter()
            .map(|(ty, indexed)| format!("{ty}{}", if *indexed { " indexed" } else { "" }))
            .collect();
        let signature = format!("event E({})", parts.join(","));
        let event = EventCodec::parse(&signature).unwrap();
        let in_data = inputs.iter().filter(|(_, indexed)| !indexed);
        let data_codec = Codec::new(&Type::Tuple(in_data.clone().map(|(ty, _)| ty.clone()).collect())).unwrap();

        // Every second row has a changed byte in a topic or in the data.
        let mut bytes = seed.iter().copied().cycle();
        let mut logs: Vec<(Vec<B256>, Vec<u8>)> = Vec::new();
        for (row, (at, byte)) in damage.iter().enumerate() {
            let mut topics = vec![*event.topic()];
            for (ty, _) in inputs.iter().filter(|(_, indexed)| *indexed) {
                let ty = if ty.is_value() { ty.clone() } else { Type::FixedBytes(32) };
                let word = Codec::new(&ty).unwrap().encode(&[value(&ty, &mut bytes)]).unwrap();
                topics.push(B256::from(<[u8; 32]>::try_from(&word[..]).unwrap()));
            }
            let values: Vec<Value> = in_data.clone().map(|(ty, _)| value(ty, &mut bytes)).collect();
            let mut data = data_codec.encode(&values).unwrap();
            if row % 4 == 1 && topics.len() > 1 {
                let topic = 1 + at.index(topics.len() - 1);
                topics[topic].0[at.index(32)] = *byte;
            }
            if row % 4 == 3 && !data.is_empty() {
                let at = at.index(data.len());
                data[at] = *byte;
            }
            if row % 8 == 5 {
                data.truncate(at.index(data.len() + 1));
            }
            logs.push((topics, data));
        }
        let topic = |i: usize| {
            let values: Vec<Option<Vec<u8>>> = logs.iter().map(|(topics, _)| Some(topics.get(i)?.0.to_vec())).collect();
            Some(column(&values))
        };
        let data: Vec<Option<Vec<u8>>> = logs.iter().map(|(_, data)| Some(data.clone())).collect();
        let batch = Logs::try_new(std::array::from_fn(topic), column(&data)).unwrap();

        for mode in [Mode::Strict, Mode::Lenient, Mode::Canonical] {
            let options = Options { mode, ..Options::default() };
            let decoder = EventDecoder::new(event.clone(), &options);
            let rows = decoder.select(&batch);
            prop_assert_eq!(rows.len(), logs.len());
            let decoded = decoder.decode(&batch, &rows);
            for (array, field) in decoded.columns.iter().zip(decoder.fields()) {
                prop_assert_eq!(array.data_type(), field.data_type());
                prop_assert_eq!(array.len(), rows.len());
            }
            let mut failures = decoded.failures.iter();
            for (row, (topics, data)) in logs.iter().enumerate() {
                match event.decode_with(topics, data, mode) {
                    Ok(values) => {
                        for (value, array) in values.iter().zip(&decoded.columns) {
                            prop_assert_eq!(text_at(array, row), text_of(value));
                        }
                    }
                    Err(error) => {
                        let failure = failures.next().unwrap();
                        prop_assert_eq!((failure.row, &failure.error), (row, &RowError::Abi(error)));
                        prop_assert!(decoded.columns.iter().all(|array| array.is_null(row)));
                    }
                }
            }
            prop_assert!(failures.next().is_none());
        }
    }

    #[test]
    fn like_call_codec(inputs in vec(any_type(), 0..5), seed in vec(any::<u8>(), 64..512), cut in any::<prop::sample::Index>()) {
        let types: Vec<String> = inputs.iter().map(Type::to_string).collect();
        let function = CallCodec::parse(&format!("f({})", types.join(","))).unwrap();
        let mut bytes = seed.iter().copied().cycle();
        let values: Vec<Value> = inputs.iter().map(|ty| value(ty, &mut bytes)).collect();
        let data = function.encode(&values).unwrap();
        let short = data[..4 + cut.index(data.len() - 3)].to_vec();
        let input = column(&[Some(data.clone()), None, Some(vec![1, 2, 3]), Some(short.clone()), Some(vec![0; 40])]);

        let set = CallSet::new([CallDecoder::new(function.clone(), &Options::default())]);
        let rows = set.select(&input);
        prop_assert_eq!(&rows[0], &[0, 3]);
        let decoded = set.decoders()[0].decode(&input, &rows[0]);
        for (value, array) in values.iter().zip(&decoded.columns) {
            prop_assert_eq!(text_at(array, 0), text_of(value));
        }
        let first: Vec<ArrayRef> = decoded.columns.iter().map(|column| column.slice(0, 1)).collect();
        let (encoded, failures) = encode_calls(&first, &function).unwrap();
        prop_assert_eq!((encoded.value(0), failures), (&data[..], vec![]));
        let expected: Vec<RowError> = function.decode(&short).err().map(RowError::Abi).into_iter().collect();
        let found: Vec<RowError> = decoded.failures.iter().map(|failure| failure.error.clone()).collect();
        prop_assert_eq!(found, expected);
    }
}

/// Values of other types than the decoded ones, and those that cannot be encoded.
#[test]
fn encoded_values() {
    let integers: ArrayRef = Arc::new(Int64Array::from(vec![Some(5), Some(-1), None, Some(300)]));
    let words = |numbers: &[i64]| -> Vec<Vec<u8>> {
        let word = |number: &i64| {
            let mut word = if *number < 0 { [0xff; 32] } else { [0; 32] };
            word[24..].copy_from_slice(&number.to_be_bytes());
            word.to_vec()
        };
        numbers.iter().map(word).collect()
    };
    let check = |array: &ArrayRef, ty: &str, expected: &[Option<&[u8]>], errors: &[usize]| {
        let (encoded, failures) = encode_values(array, ty).unwrap();
        assert_eq!(encoded.iter().collect::<Vec<_>>(), expected, "{ty}");
        let rows: Vec<usize> = failures.iter().map(|failure| failure.row).collect();
        assert_eq!(rows, errors, "{ty}");
    };
    let expected = words(&[5, -1, 0, 300]);
    let [five, minus, _, large] = [0, 1, 2, 3].map(|row| Some(&expected[row][..]));
    check(&integers, "uint16", &[five, None, None, large], &[1]);
    check(&integers, "int8", &[five, minus, None, None], &[3]);
    let binary: ArrayRef = Arc::new(BinaryArray::from_iter(
        expected.iter().map(|word| Some(word.as_slice())),
    ));
    let zero = Some(&expected[2][..]);
    check(&binary, "int256", &[five, minus, zero, large], &[]);
    check(&binary, "bytes31", &[None; 4], &[0, 1, 2, 3]);

    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), Some(2)]),
        Some(vec![Some(1), None]),
        None,
        Some(vec![Some(1)]),
    ]);
    let pair = words(&[1, 2]).concat();
    let lists: ArrayRef = Arc::new(lists);
    check(
        &lists,
        "uint8[2]",
        &[Some(&pair), None, None, None],
        &[1, 3],
    );
    let nulls = new_null_array(&DataType::Null, 2);
    check(&nulls, "string[]", &[None, None], &[]);

    for (array, ty, text) in [
        (&integers, "string", "expected text for string, found Int64"),
        (
            &lists,
            "(bool,bool)",
            "expected structs with these members for (bool,bool), found",
        ),
    ] {
        let error = encode_values(array, ty).unwrap_err().to_string();
        assert!(error.starts_with(text), "{error}");
    }
    let burn = CallCodec::parse("burn()").unwrap();
    let error = encode_calls(&[integers], &burn).unwrap_err().to_string();
    assert_eq!(error, "values to encode: expected 0, found 1");
}

/// The same values in every type of array, whole and sliced.
#[test]
fn every_array_type() {
    let bytes: [Option<&[u8]>; 4] = [Some(&[0xab; 2]), None, Some(&[0x01, 0xff]), Some(&[7, 8])];
    let texts = bytes.map(|bytes| bytes.map(hex::encode_prefixed));
    let texts: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
    let unprefixed: Vec<Option<&str>> = texts
        .iter()
        .map(|text| text.map(|text| &text[2..]))
        .collect();
    let dictionary: DictionaryArray<Int8Type> = texts.iter().copied().collect();
    let arrays: [ArrayRef; 9] = [
        Arc::new(BinaryArray::from_iter(bytes)),
        Arc::new(LargeBinaryArray::from_iter(bytes)),
        Arc::new(BinaryViewArray::from_iter(bytes)),
        Arc::new(
            FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes.into_iter(), 2).unwrap(),
        ),
        Arc::new(StringArray::from_iter(texts.clone())),
        Arc::new(LargeStringArray::from_iter(texts.clone())),
        Arc::new(StringViewArray::from_iter(texts)),
        Arc::new(StringArray::from_iter(unprefixed)),
        Arc::new(dictionary),
    ];
    for array in arrays {
        for (from, to) in [(0, 4), (1, 4), (2, 3), (2, 2)] {
            let sliced = array.slice(from, to - from);
            let column = ByteColumn::try_new(&sliced).unwrap();
            let found: Vec<Option<&[u8]>> = (0..column.len()).map(|row| column.get(row)).collect();
            assert_eq!(found, bytes[from..to], "{}", array.data_type());
            assert_eq!(column.is_empty(), from == to);
        }
    }
    let nulls = new_null_array(&DataType::Null, 3);
    let column = ByteColumn::try_new(&nulls).unwrap();
    assert_eq!((column.len(), column.get(2)), (3, None));
    let numbers: ArrayRef = Arc::new(arrow_array::UInt8Array::from(vec![1]));
    assert_eq!(
        ByteColumn::try_new(&numbers).unwrap_err(),
        Error::NotBytes(DataType::UInt8)
    );
}

#[test]
fn texts_that_are_not_hexadecimal() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec![
        "0x1", "0xgg", "", "0x", "ff", "0x0x",
    ]));
    let column = ByteColumn::try_new(&texts).unwrap();
    let found: Vec<_> = (0..6)
        .map(|row| (column.get(row), column.is_invalid(row)))
        .collect();
    let empty: Option<&[u8]> = Some(&[]);
    assert_eq!(
        found,
        [
            (None, true),
            (None, true),
            (empty, false),
            (empty, false),
            (Some(&[0xff][..]), false),
            (None, true)
        ]
    );
    let (_, failures) = senders(&column);
    assert_eq!(failures[0].error, RowError::Hexadecimal);
    assert_eq!(failures.len(), 6);
}

const TRANSFER: &str = "event Transfer(address indexed from, address indexed to, uint256 value)";
const NFT_TRANSFER: &str = "Transfer(address indexed from, address indexed to, uint256 indexed id)";

fn transfer_logs() -> Logs {
    let topic = EventCodec::parse(TRANSFER).unwrap().topic().0.to_vec();
    let word = |byte: u8| Some([vec![0; 31], vec![byte]].concat());
    let topics = [
        column(&[
            Some(topic.clone()),
            Some(topic.clone()),
            Some(topic.clone()),
            Some(topic),
            word(1),
            None,
        ]),
        column(&[word(1), word(1), word(1), None, word(1), None]),
        column(&[word(2), word(2), Some(vec![1]), word(2), word(2), None]),
        column(&[None, word(3), Some(vec![]), None, None, None]),
    ];
    let data = column(&[word(7), Some(vec![]), word(7), word(7), word(7), word(7)]);
    Logs::try_new(topics.map(Some), data).unwrap()
}

/// A topic that is not hexadecimal makes a row bad. It does not count as absent.
#[test]
fn topics_that_are_not_hexadecimal() {
    let topic = EventCodec::parse(TRANSFER).unwrap().topic().to_string();
    let word = format!("0x{:064x}", 1);
    let (word, topic, bad) = (Some(&*word), Some(&*topic), Some("0xzz"));
    let texts = |texts: [Option<&str>; 5]| -> ArrayRef { Arc::new(StringArray::from_iter(texts)) };
    let batch = RecordBatch::try_from_iter([
        ("topic0", texts([topic, topic, topic, topic, bad])),
        ("topic1", texts([word, bad, word, word, word])),
        ("topic2", texts([word, word, bad, word, word])),
        ("topic3", texts([None, None, None, bad, None])),
        ("data", texts([word; 5])),
    ])
    .unwrap();
    let logs = Logs::from_batch(&batch, &ColumnMap::default()).unwrap();
    let failure = |row| Failure {
        row,
        error: RowError::Hexadecimal,
    };
    for (signatures, rows) in [
        (&[TRANSFER][..], vec![vec![0, 1, 2, 3]]),
        (&[TRANSFER, NFT_TRANSFER], vec![vec![0, 1, 2], vec![3]]),
        (&[NFT_TRANSFER], vec![vec![1, 2, 3]]),
    ] {
        let decoders = signatures
            .iter()
            .map(|text| EventDecoder::parse(text, &Options::default()).unwrap());
        let set = EventSet::new(decoders).unwrap();
        let (structs, failures) = set.decoders()[0].decode_all(&logs);
        assert_eq!(failures, [1, 2, 3, 4].map(failure));
        assert_eq!(
            structs.null_count(),
            5 - usize::from(signatures[0] == TRANSFER)
        );
        assert_eq!(set.select(&logs).rows, rows);
        let transform = |on_error| {
            let options = TransformOptions {
                on_error,
                ..TransformOptions::default()
            };
            Transform::new(Job::Logs(set.clone()), batch.schema_ref(), options).unwrap()
        };
        let transformed = transform(OnError::Null).apply(&batch).unwrap();
        assert_eq!(transformed.failures, [4, 1, 2, 3].map(failure));
        assert_eq!(transformed.selected, rows.concat().len());
        let dropped = transform(OnError::Drop).apply(&batch).unwrap();
        let valid = dropped
            .batches
            .iter()
            .flatten()
            .map(RecordBatch::num_rows)
            .sum::<usize>();
        assert_eq!(valid, usize::from(signatures[0] == TRANSFER));
        for row in 1..5 {
            let error = transform(OnError::Fail)
                .apply(&batch.slice(row, 1))
                .unwrap_err();
            assert_eq!(error, Error::Row(failure(0)));
        }
        let filtered = transform(OnError::Null).filter(batch.column(0)).unwrap();
        assert_eq!(filtered.true_count(), 5);
    }

    let calls =
        RecordBatch::try_from_iter([("input", texts([bad, None, None, None, None]))]).unwrap();
    let burn = CallDecoder::parse("function burn(uint256 amount)", &Options::default()).unwrap();
    let (_, failures) = burn.decode_all(&ByteColumn::try_new(calls.column(0)).unwrap());
    assert_eq!(failures, [failure(0)]);
    let job = Job::Calls(CallSet::new([burn]));
    let transform = Transform::new(job, calls.schema_ref(), TransformOptions::default()).unwrap();
    assert_eq!(transform.apply(&calls).unwrap().failures, [failure(0)]);
}

/// No two columns of an output have the same name, and views do not keep the rows that were left out.
#[test]
fn columns_of_transformed_batches() {
    let function = "function f(uint256 output_0, uint256 output_a) returns (uint256, uint256 a)";
    let function = CallDecoder::parse(function, &Options::default()).unwrap();
    let word = [0; 32];
    let call = [&function.codec().selector()[..], &word, &word].concat();
    let rows = 0..1000;
    let input = rows
        .clone()
        .map(|row| if row == 500 { call.clone() } else { vec![] });
    let texts = || rows.clone().map(|row| format!("text of row {row}"));
    let views: ArrayRef = Arc::new(StringViewArray::from_iter_values(texts()));
    let field = Arc::new(Field::new("item", DataType::Utf8View, true));
    let offsets = OffsetBuffer::from_lengths([1; 1000]);
    let list: ArrayRef = Arc::new(ListArray::new(field.clone(), offsets, views.clone(), None));
    let batch = RecordBatch::try_from_iter([
        (
            "input",
            Arc::new(BinaryArray::from_iter_values(input)) as ArrayRef,
        ),
        (
            "output",
            Arc::new(BinaryArray::from_iter_values(vec![[0; 64]; 1000])),
        ),
        (
            "binary",
            Arc::new(BinaryViewArray::from_iter_values(texts())),
        ),
        ("views", views.clone()),
        ("list", list.clone()),
        ("struct", Arc::new(StructArray::from(vec![(field, views)]))),
    ])
    .unwrap();
    let job = Job::Calls(CallSet::new([function]).with_results());
    let names = ["binary", "views", "list", "struct"];
    let options = TransformOptions {
        keep: Keep::Named(
            names
                .iter()
                .chain(&names)
                .map(|name| name.to_string())
                .collect(),
        ),
        ..TransformOptions::default()
    };
    let transform = Transform::new(job, batch.schema_ref(), options).unwrap();
    let output = transform.apply(&batch).unwrap().batches.remove(0).unwrap();
    let found: Vec<_> = output
        .schema_ref()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    let decoded = ["output_0", "output_a", "output_0_2", "output_a_2"];
    assert_eq!(found, [names, decoded].concat());
    for name in names {
        let (found, whole) = (
            output.column_by_name(name).unwrap(),
            batch.column_by_name(name).unwrap(),
        );
        assert_eq!(found, &whole.slice(500, 1), "{name}");
        assert!(found.get_buffer_memory_size() < 200, "{name}");
    }
}

/// The same logs in every type of array, with and without nulls, in any order of rows.
#[test]
fn logs_in_every_array_type() {
    let [one, two] = [1, 2].map(|byte| [vec![0; 31], vec![byte]].concat());
    let words = [Some(one), Some(two), Some(vec![0xff; 32]), None];
    let words = words.each_ref().map(|word| word.as_deref());
    let arrays: [ArrayRef; 4] = [
        Arc::new(BinaryArray::from_iter(words)),
        Arc::new(LargeBinaryArray::from_iter(words)),
        Arc::new(BinaryViewArray::from_iter(words)),
        Arc::new(
            FixedSizeBinaryArray::try_from_sparse_iter_with_size(words.into_iter(), 32).unwrap(),
        ),
    ];
    let decoder = EventDecoder::parse(TRANSFER, &Options::default()).unwrap();
    for array in arrays {
        let all = (array.clone(), &[2, 0, 1, 3, 0][..], &[2, 3][..]);
        let valid = (array.slice(0, 2), &[1, 0][..], &[][..]);
        for (array, rows, invalid) in [all, valid] {
            let column = ByteColumn::try_new(&array).unwrap();
            let topics = [true, true, true, false].map(|any| any.then(|| column.clone()));
            let logs = Logs::try_new(topics, column.clone()).unwrap();
            let decoded = decoder.decode(&logs, rows);
            let failures: Vec<usize> = decoded.failures.iter().map(|failure| failure.row).collect();
            assert_eq!(failures, invalid, "{}", array.data_type());
            for (decoded, start) in decoded.columns.iter().zip([12, 12, 0]) {
                let found: Vec<Option<&[u8]>> = decoded.as_fixed_size_binary().iter().collect();
                let value = |row: &usize| (*row < 2).then(|| &column.get(*row).unwrap()[start..]);
                let expected: Vec<Option<&[u8]>> = rows.iter().map(value).collect();
                assert_eq!(found, expected, "{}", array.data_type());
            }
        }
    }
}

#[test]
fn events_with_the_same_topic() {
    let options = Options::default();
    let decoders =
        [TRANSFER, NFT_TRANSFER, TRANSFER].map(|text| EventDecoder::parse(text, &options).unwrap());
    let set = EventSet::new(decoders).unwrap();
    assert_eq!(set.decoders().len(), 2);
    let logs = transfer_logs();
    let selected = set.select(&logs);
    assert_eq!(
        (selected.rows, selected.other_layout),
        (vec![vec![0, 2, 3], vec![1]], 0)
    );
    let decoded = set.decoders()[0].decode(&logs, &[0, 2, 3]);
    let failures: Vec<_> = decoded
        .failures
        .iter()
        .map(|failure| (failure.row, failure.error.to_string()))
        .collect();
    assert_eq!(
        failures,
        [
            (2, "topic2: expected 32 bytes, found 1".into()),
            (3, "topic1: absent, but a later topic is present".into())
        ]
    );
    // All rows as structs: null unless the log is of the event and valid.
    let (structs, failures) = set.decoders()[0].decode_all(&logs);
    let valid: Vec<bool> = (0..6).map(|row| structs.is_valid(row)).collect();
    assert_eq!(valid, [true, false, false, false, false, false]);
    assert_eq!(failures, decoded.failures);
    assert_eq!(
        text_at(structs.column(0), 0),
        text_at(&decoded.columns[0], 0)
    );

    let only = EventSet::new([EventDecoder::parse(NFT_TRANSFER, &options).unwrap()]).unwrap();
    assert_eq!(only.select(&logs).other_layout, 3);

    let anonymous = "event Anonymous(uint256 value) anonymous";
    let anonymous = EventDecoder::parse(anonymous, &options).unwrap();
    let both = [anonymous, EventDecoder::parse(TRANSFER, &options).unwrap()];
    let error = EventSet::new(both.clone()).unwrap_err().to_string();
    assert_eq!(
        error,
        "signature `Anonymous(uint256)`: an anonymous event must be decoded alone"
    );
    let [anonymous, _] = both;
    assert_eq!(
        EventSet::new([anonymous]).unwrap().select(&logs).rows,
        [[5]]
    );
}

#[test]
fn formats_names_and_types() {
    use Uint256Format::{Binary, Decimal, F64, String};
    let options = Options {
        uint256: vec![Binary, String, Decimal, F64],
        ..Options::default()
    };
    let signature =
        "event E(address indexed a, string indexed, uint128 value, uint64 value, (int256,bool)[])";
    let decoder = EventDecoder::parse(signature, &options).unwrap();
    let fields: Vec<_> = decoder
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    let expected = [
        "a",
        "_arg1",
        "value_binary",
        "value_string",
        "value_decimal",
        "value_f64",
        "value",
        "_arg4_binary",
        "_arg4_string",
        "_arg4_decimal",
        "_arg4_f64",
    ];
    assert_eq!(fields, expected);
    assert_eq!(
        decoder.fields()[1].data_type(),
        &DataType::FixedSizeBinary(32)
    );
    assert_eq!(decoder.fields()[1].metadata()["lydite.indexed"], "hash");
    assert_eq!(
        decoder.fields()[7].metadata()["lydite.solidity"],
        "(int256,bool)[]"
    );
    let same = EventDecoder::parse("E(bool a, bool a, bool a_2)", &Options::default()).unwrap();
    let fields: Vec<_> = same
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    assert_eq!(fields, ["a", "a_2", "a_2_2"]);
    let orders = "E((address to, (bool, bool ok, uint8 ok)[2] flags)[] orders)";
    let orders = EventDecoder::parse(orders, &Options::default()).unwrap();
    let text = orders.fields()[0].data_type().to_string();
    for name in ["\"to\"", "\"flags\"", "\"_arg0\"", "\"ok\"", "\"ok_2\""] {
        assert!(text.contains(name), "{text}");
    }

    let decoder = EventDecoder::parse(
        TRANSFER,
        &Options {
            uint256: vec![String, Decimal, F64],
            ..Options::default()
        },
    )
    .unwrap();
    let decoded = decoder.decode(&transfer_logs(), &[0, 2]);
    assert_eq!(
        decoded.columns[2]
            .as_string::<i32>()
            .iter()
            .collect::<Vec<_>>(),
        [Some("7"), None]
    );
    assert_eq!(
        decoded.columns[3]
            .as_primitive::<Decimal128Type>()
            .iter()
            .collect::<Vec<_>>(),
        [Some(7), None]
    );
    assert_eq!(
        decoded.columns[4]
            .as_primitive::<Float64Type>()
            .iter()
            .collect::<Vec<_>>(),
        [Some(7.0), None]
    );
}

/// Rows with such an integer, in a topic or inside a list, are reported apart from invalid rows, and keep their other values.
#[test]
fn decimals_of_more_than_38_digits() {
    let options = Options {
        uint256: vec![Uint256Format::Binary, Uint256Format::Decimal],
        ..Options::default()
    };
    let signature = "E(uint256 indexed a, (int256 b, bool)[] list)";
    let decoder = EventDecoder::parse(signature, &options).unwrap();
    let largest = U256::from(10u128.pow(38) - 1);
    let above = largest.wrapping_add(U256::ONE);
    let minus = U256::ZERO.wrapping_sub(largest);
    let below = U256::ZERO.wrapping_sub(above);
    let codec = decoder.codec().data();
    let list = |values: &[U256]| {
        let tuple = |value: &U256| Value::Tuple(vec![Value::Int(*value, 256), Value::Bool(true)]);
        let list = Value::Array(values.iter().map(tuple).collect());
        Some(codec.encode(&[list]).unwrap())
    };
    let data = column(&[
        list(&[largest, minus]),
        list(&[]),
        list(&[U256::ONE, below, largest]),
        Some(vec![1]),
        list(&[above, below]),
    ]);
    let word = |value: U256| Some(value.to_be_bytes().to_vec());
    let topic = Some(decoder.codec().topic().0.to_vec());
    let topics = [
        Some(column(&[(); 5].map(|()| topic.clone()))),
        Some(column(&[largest, above, largest, above, above].map(word))),
        None,
        None,
    ];
    let logs = Logs::try_new(topics, data).unwrap();
    let rows = |failures: &[Failure]| failures.iter().map(|one| one.row).collect::<Vec<_>>();
    let decoded = decoder.decode(&logs, &[0, 1, 2, 3, 4]);
    assert_eq!(rows(&decoded.failures), [3]);
    assert_eq!(rows(&decoded.overflows), [1, 2, 4]);
    assert_eq!(
        decoded.overflows[0].error.to_string(),
        "expected at most 38 digits"
    );
    let [binary, decimal, list, _] = &decoded.columns[..] else {
        panic!("{:?}", decoded.columns);
    };
    let null = |array: &ArrayRef| (0..5).filter(|row| array.is_null(*row)).collect::<Vec<_>>();
    assert_eq!((null(binary), null(decimal)), (vec![3], vec![1, 3, 4]));
    assert_eq!(null(list), [3]);
    // The positions are those of the rows, also of a selection.
    assert_eq!(rows(&decoder.decode(&logs, &[0, 4]).overflows), [4]);
    assert_eq!(rows(&decoder.decode_all(&logs).1), [1, 2, 3, 4]);
}

#[test]
fn topics_in_a_list() {
    let item = Arc::new(Field::new("item", DataType::Utf8, true));
    let topic = EventCodec::parse(TRANSFER).unwrap().topic().to_string();
    let word = format!("0x{:064x}", 1);
    let values: ArrayRef = Arc::new(StringArray::from(vec![&topic[..], &word, &word, &topic]));
    let offsets = OffsetBuffer::from_lengths([3, 0, 1]);
    let topics = ListArray::new(item, offsets, values, None);
    let data = StringArray::from(vec![&word[..]; 3]);
    let batch = RecordBatch::try_from_iter([
        ("DATA", Arc::new(data) as ArrayRef),
        ("topics", Arc::new(topics) as ArrayRef),
    ])
    .unwrap();
    let logs = Logs::from_batch(&batch, &ColumnMap::default()).unwrap();
    let decoder = EventDecoder::parse(TRANSFER, &Options::default()).unwrap();
    assert_eq!(decoder.select(&logs), [0]);
    assert_eq!(decoder.decode(&logs, &[0]).failures, []);

    let map: ColumnMap = "data=other".parse().unwrap();
    assert_eq!(
        Logs::from_batch(&batch, &map).unwrap_err(),
        Error::MissingColumn(Role::Data, "other".into())
    );
    let error = "nothing=x".parse::<ColumnMap>().unwrap_err();
    assert!(
        error.starts_with("expected role=column, with a role of block_number, "),
        "{error}"
    );
    let without = batch.project(&[0]).unwrap();
    let error = Logs::from_batch(&without, &ColumnMap::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no column for topic0; expected a column named topic0"
    );
}

/// The EIP-155 example.
const TRANSACTION: &str = "0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83";

#[test]
fn senders_and_hashes() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec![
        None,
        Some(TRANSACTION),
        Some("0xc0"),
        Some(TRANSACTION),
    ]));
    let raw = ByteColumn::try_new(&texts).unwrap();
    let (addresses, failures) = senders(&raw);
    let sender = hex::decode("0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F").unwrap();
    let sender = Some(&sender[..]);
    assert_eq!(
        addresses.iter().collect::<Vec<_>>(),
        [None, sender, None, sender]
    );
    assert_eq!(
        failures
            .iter()
            .map(|failure| failure.row)
            .collect::<Vec<_>>(),
        [2]
    );
    let (found, _) = hashes(&raw);
    let hash = lydite_hash::keccak256(&hex::decode(TRANSACTION).unwrap());
    assert_eq!(
        found.iter().collect::<Vec<_>>(),
        [None, Some(&hash[..]), None, Some(&hash[..])]
    );
}
