//! One of the functions of columns: number, form and array types, a line with the literal, then values for a few rows.
//! Each row gives what it gives alone; byte strings of any array type give the same; a failed row is null.
#![no_main]

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, DictionaryArray, Int32Array,
    Int64Array, LargeBinaryArray, LargeStringArray, StringArray, StringViewArray, StructArray,
    builder::{BinaryBuilder, ListBuilder},
};
use libfuzzer_sys::fuzz_target;
use lydite_arrow::{Parameter, functions};
use lydite_bytes::hex;
use lydite_evm::abi::EventCodec;

/// Maximum number of rows.
const ROWS: usize = 64;
/// Functions that the seeds call.
const FUNCTIONS: usize = 64;

type Values = Vec<Option<Vec<u8>>>;

/// Takes a value: null, a small number as a word, the topic, or bytes after their number.
fn value(input: &mut &[u8], topic: &[u8]) -> Option<Option<Vec<u8>>> {
    let (&control, rest) = input.split_first()?;
    *input = rest;
    Some(match control {
        0xff => None,
        0xfe => Some(topic.to_vec()),
        0xc0.. => {
            let mut word = vec![0; 32];
            word[31] = control - 0xc0;
            Some(word)
        }
        _ => {
            // Data of calls and events can be long.
            let len = usize::from(control % 128) * if control < 128 { 1 } else { 32 };
            let (bytes, rest) = input.split_at_checked(len)?;
            *input = rest;
            Some(bytes.to_vec())
        }
    })
}

fn texts(values: &Values) -> Vec<Option<String>> {
    let texts = values.iter();
    texts
        .map(|value| Some(String::from_utf8_lossy(value.as_ref()?).into_owned()))
        .collect()
}

/// Byte strings in an array type, in the middle of a longer array.
fn bytes(values: &Values, kind: u8) -> ArrayRef {
    let padding = [Some(vec![7])];
    let rows = || padding.iter().chain(values).chain(&padding);
    let digits = || rows().map(|value| value.as_ref().map(hex::encode));
    let array: ArrayRef = match kind % 7 {
        0 => Arc::new(rows().map(Option::as_ref).collect::<BinaryArray>()),
        1 => Arc::new(rows().map(Option::as_ref).collect::<LargeBinaryArray>()),
        2 => Arc::new(rows().map(Option::as_ref).collect::<BinaryViewArray>()),
        3 => Arc::new(digits().collect::<StringArray>()),
        4 => Arc::new(digits().collect::<LargeStringArray>()),
        5 => Arc::new(digits().collect::<StringViewArray>()),
        _ => {
            let keys: Int32Array = (0..values.len() as i32 + 2).rev().collect();
            let values: Vec<_> = rows().map(Option::as_ref).collect();
            let values: BinaryArray = values.into_iter().rev().collect();
            Arc::new(DictionaryArray::new(keys, Arc::new(values)))
        }
    };
    array.slice(1, values.len())
}

fn integers(values: &Values, kind: u8) -> ArrayRef {
    match kind % 3 {
        0 => bytes(values, kind / 3),
        1 => Arc::new(StringArray::from(texts(values))),
        _ => {
            let number = |value: &Vec<u8>| {
                let mut bytes = [0; 8];
                bytes
                    .iter_mut()
                    .zip(value)
                    .for_each(|(to, from)| *to = *from);
                i64::from_le_bytes(bytes)
            };
            let numbers = values.iter().map(|value| value.as_ref().map(number));
            Arc::new(numbers.collect::<Int64Array>())
        }
    }
}

/// Lists of up to five values of the next rows.
fn lists(values: &Values) -> ArrayRef {
    let mut lists = ListBuilder::new(BinaryBuilder::new());
    for (row, value) in values.iter().enumerate() {
        let len = value
            .as_ref()
            .map(|value| value.first().map_or(0, |len| len % 6));
        for value in values
            .iter()
            .cycle()
            .skip(row)
            .take(len.unwrap_or(0).into())
        {
            lists.values().append_option(value.as_ref());
        }
        lists.append(len.is_some());
    }
    Arc::new(lists.finish())
}

/// Values to be encoded: also the members of a tuple, which all have the same values.
fn any(values: &Values, kind: u8) -> ArrayRef {
    match kind % 5 {
        0 => lists(values),
        1 => {
            let booleans = values.iter().map(|value| Some(value.as_ref()?.len() == 32));
            Arc::new(booleans.collect::<BooleanArray>())
        }
        2 => {
            let members = [("number", integers(values, 0)), ("bytes", bytes(values, 0))];
            Arc::new(StructArray::try_from(members.to_vec()).expect("equal lengths"))
        }
        _ => integers(values, kind / 5),
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&[number, form, kind], rest)) = input.split_first_chunk() else {
        return;
    };
    let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
        return;
    };
    let (Ok(literal), mut rest) = (str::from_utf8(&rest[..end]), &rest[end + 1..]) else {
        return;
    };
    let count = functions().count();
    assert!(count <= FUNCTIONS, "also in `seeds`");
    let Some(function) = functions().nth(usize::from(number) % count) else {
        return;
    };
    let form = &function.forms[usize::from(form) % function.forms.len()];
    // Some calls with one more or two more than the fewest arguments, if the function takes them.
    let several = form
        .parameters
        .iter()
        .any(|one| matches!(one, Parameter::Several(_)));
    let more = if several {
        usize::from(kind / 7 % 3)
    } else {
        0
    };
    let parameters: Vec<Parameter> = form
        .parameters(form.parameters.len() + more)
        .filter(|parameter| !matches!(parameter, Parameter::Literal(_)))
        .collect();
    let topic = EventCodec::parse(literal).map(|event| event.topic().0);
    let topic = topic.map_or(vec![], |topic| topic.to_vec());

    let mut columns: Vec<Values> = vec![vec![]; parameters.len()];
    'rows: for _ in 0..ROWS {
        let mut row = Vec::new();
        for _ in &parameters {
            match value(&mut rest, &topic) {
                Some(value) => row.push(value),
                None => break 'rows,
            }
        }
        columns
            .iter_mut()
            .zip(row)
            .for_each(|(column, value)| column.push(value));
    }
    let arrays = |bytes_kind: u8| -> Vec<ArrayRef> {
        let columns = parameters.iter().zip(&columns).enumerate();
        columns
            .map(|(index, (parameter, values))| match parameter {
                Parameter::Bytes(_) => bytes(values, bytes_kind.wrapping_add(index as u8)),
                Parameter::List(_) => lists(values),
                // The meaning depends on the array type, which is the same in all calls.
                Parameter::Integer(_) => integers(values, number),
                Parameter::Any(_) | Parameter::Several(_) => {
                    any(values, kind.wrapping_add(index as u8))
                }
                Parameter::Text(_) | Parameter::Literal(_) => {
                    Arc::new(StringArray::from(texts(values)))
                }
            })
            .collect()
    };
    let columns = arrays(kind);
    let Ok((results, failures)) = function.call(&columns, literal) else {
        return;
    };
    assert_eq!(
        results.data_type(),
        &function.result(literal).expect("accepted")
    );
    for failure in &failures {
        assert!(results.is_null(failure.row), "{failure:?}");
    }
    let (others, other_failures) = function.call(&arrays(0), literal).expect("accepted");
    assert_eq!((&results, failures.len()), (&others, other_failures.len()));
    for row in 0..columns.first().map_or(0, |column| column.len()) {
        let alone: Vec<ArrayRef> = columns.iter().map(|column| column.slice(row, 1)).collect();
        let (result, failed) = function.call(&alone, literal).expect("accepted");
        assert_eq!(*result, *results.slice(row, 1));
        assert_eq!(
            failed.is_empty(),
            failures.iter().all(|failure| failure.row != row)
        );
    }
});
