//! Kernels of one column, on every array type, sliced and with nulls.

#![allow(clippy::unwrap_used)]

use std::{slice::from_ref, sync::Arc};

use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, FixedSizeBinaryArray,
    Int32Array, Int64Array, LargeBinaryArray, LargeStringArray, StringArray, StringViewArray,
    UInt8Array, cast::AsArray, types::Int64Type,
};
use k256::ecdsa::SigningKey;
use lydite_arrow::{
    ByteColumn, Error, Integers, RowError, Uint256Sum, checksum, create_addresses,
    create2_addresses, ecrecover, ecrecover_parts, format_units, functions, hex_decode, hex_encode,
    keccak256, parse_units, to_uint256, uint256_checked, uint256_mul_div, uint256_sum,
    uint256_to_decimal, uint256_to_f64, uint256_to_i64, uint256_to_text,
};
use lydite_bytes::{I256, U256, hex, mul_div};
use num_bigint::BigInt;
use proptest::prelude::*;

/// The values in every array type, each a slice of an array with one more row at both ends.
fn arrays(values: &[Option<Vec<u8>>]) -> Vec<ArrayRef> {
    let length = values.iter().flatten().next().map_or(0, Vec::len);
    let end = Some(vec![0xee; length]);
    let all: Vec<_> = [from_ref(&end), values, from_ref(&end)].concat();
    let all: Vec<Option<&[u8]>> = all.iter().map(Option::as_deref).collect();
    let texts: Vec<_> = all.iter().map(|value| value.map(hex::encode)).collect();
    let prefixed: Vec<_> = all
        .iter()
        .map(|value| value.map(hex::encode_prefixed))
        .collect();
    let keys = Int32Array::from_iter((0..all.len()).map(|row| all[row].map(|_| row as i32)));
    let mut arrays: Vec<ArrayRef> = vec![
        Arc::new(BinaryArray::from_iter(&all)),
        Arc::new(LargeBinaryArray::from_iter(&all)),
        Arc::new(BinaryViewArray::from_iter(all.iter().copied())),
        Arc::new(StringArray::from_iter(&texts)),
        Arc::new(LargeStringArray::from_iter(&prefixed)),
        Arc::new(StringViewArray::from_iter(prefixed.iter())),
        Arc::new(DictionaryArray::new(
            keys,
            Arc::new(BinaryArray::from_iter(&all)),
        )),
    ];
    if all.iter().flatten().all(|value| value.len() == length) {
        let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(
            all.iter().copied(),
            length as i32,
        );
        arrays.push(Arc::new(fixed.unwrap()));
    }
    arrays
        .iter()
        .map(|array| array.slice(1, values.len()))
        .collect()
}

fn columns(values: &[Option<Vec<u8>>]) -> Vec<ByteColumn> {
    let arrays = arrays(values);
    arrays
        .iter()
        .map(|array| ByteColumn::try_new(array).unwrap())
        .collect()
}

fn text(texts: &[Option<&str>]) -> ByteColumn {
    let array: ArrayRef = Arc::new(StringArray::from_iter(texts));
    ByteColumn::try_new(&array).unwrap()
}

#[test]
fn hashes_and_hexadecimal_text_of_every_array_type() {
    let values: Vec<Option<Vec<u8>>> = (0..300usize)
        .map(|n| (n % 5 != 3).then(|| vec![n as u8; n]))
        .collect();
    for column in columns(&values) {
        let (digests, failures) = keccak256(&column);
        let (texts, other) = hex_encode(&column);
        assert_eq!((failures, other), (vec![], vec![]));
        for (row, value) in values.iter().enumerate() {
            let digest = digests.is_valid(row).then(|| digests.value(row).to_vec());
            let hash = |value: &Vec<u8>| lydite_hash::keccak256(value).to_vec();
            assert_eq!(digest, value.as_ref().map(hash));
            let digits = texts.is_valid(row).then(|| texts.value(row).to_owned());
            let bytes = |value: &Vec<u8>| {
                value
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect::<String>()
            };
            let expected = value.as_ref().map(|value| format!("0x{}", bytes(value)));
            assert_eq!(digits, expected);
        }
    }
    // Yellow Paper, appendix B: the hash of the empty string.
    let (digests, failures) = keccak256(&text(&[Some("0x0g"), Some("0x")]));
    assert!(digests.is_null(0));
    assert_eq!((failures.len(), failures[0].row), (1, 0));
    assert_eq!(failures[0].error, RowError::Hexadecimal);
    let empty = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
    assert_eq!(hex::encode(digests.value(1)), empty);
}

#[test]
fn byte_strings_like_dune() {
    let call = |name: &str, columns: &[ArrayRef]| {
        let function = functions().find(|function| function.name == name).unwrap();
        function.call(columns, "").unwrap()
    };
    let bytes = [Some(&[0, 0, 7, 8][..]), Some(&[]), None, Some(&[0])];
    let array: ArrayRef = Arc::new(BinaryArray::from_iter(bytes));
    let integers = |number: i64| -> ArrayRef { Arc::new(Int64Array::from(vec![number; 4])) };
    let (rest, failures) = call("varbinary_ltrim", std::slice::from_ref(&array));
    let expected = [Some(&[7, 8][..]), Some(&[]), None, Some(&[])];
    assert_eq!(rest.as_binary::<i32>().iter().collect::<Vec<_>>(), expected);
    assert!(failures.is_empty());
    let (lengths, _) = call("varbinary_length", std::slice::from_ref(&array));
    let lengths: Vec<_> = lengths.as_primitive::<Int64Type>().iter().collect();
    assert_eq!(lengths, [Some(4), Some(0), None, Some(1)]);
    let both = [array.clone(), array.clone()];
    let (joined, _) = call("varbinary_concat", &both);
    assert_eq!(joined.as_binary::<i32>().value(0), [0, 0, 7, 8, 0, 0, 7, 8]);
    let (starts, _) = call("varbinary_starts_with", &both);
    let starts: Vec<_> = starts.as_boolean().iter().collect();
    assert_eq!(starts, [Some(true), Some(true), None, Some(true)]);

    for (start, length, expected) in [
        (1, Some(2), &[0, 0][..]),
        (3, None, &[7, 8]),
        (4, Some(i64::MAX), &[8]),
        (-2, Some(1), &[7]),
        (5, None, &[]),
        (0, None, &[]),
        (-5, None, &[]),
        (i64::MIN, None, &[]),
        (i64::MAX, Some(1), &[]),
    ] {
        let mut columns = vec![array.clone(), integers(start)];
        columns.extend(length.map(integers));
        let (parts, failures) = call("varbinary_substring", &columns);
        assert_eq!(
            parts.as_binary::<i32>().value(0),
            expected,
            "{start} {length:?}"
        );
        assert!(parts.is_null(2) && failures.is_empty());
    }
    let (parts, failures) = call("varbinary_substring", &[array, integers(1), integers(-1)]);
    assert!(parts.is_null(0));
    assert_eq!(failures.len(), 3);
}

#[test]
fn recovers_what_k256_signed() {
    let (mut hashes, mut signatures, mut expected) = (vec![], vec![], vec![]);
    for n in 1..40u8 {
        let key = SigningKey::from_slice(&[n; 32]).unwrap();
        let hash = lydite_hash::keccak256(&[n]);
        let (signature, id) = key.sign_prehash_recoverable(&hash);
        let mut bytes = signature.to_bytes().to_vec();
        bytes.push(id.to_byte() + 27 * (n % 2));
        let point = key.verifying_key().to_sec1_point(false);
        let address = lydite_hash::keccak256(&point.as_bytes()[1..])[12..].to_vec();
        hashes.push((n % 7 != 0).then(|| hash.to_vec()));
        signatures.push((n % 5 != 0).then_some(bytes));
        expected.push((n % 7 != 0 && n % 5 != 0).then_some(address));
    }
    for (hashes, signatures) in columns(&hashes)
        .iter()
        .zip(columns(&signatures).iter().rev())
    {
        let (addresses, failures) = ecrecover(hashes, signatures).unwrap();
        assert_eq!(failures, []);
        let part = |range: std::ops::Range<usize>| {
            let parts = (0..signatures.len()).map(|row| Some(&signatures.get(row)?[range.clone()]));
            ByteColumn::from(LargeBinaryArray::from_iter(parts))
        };
        let v: ArrayRef = Arc::new(Int32Array::from_iter(
            (0..signatures.len()).map(|row| Some(i32::from(signatures.get(row)?[64]))),
        ));
        let parts = ecrecover_parts(hashes, &v, &part(0..32), &part(32..64));
        assert_eq!(parts.unwrap(), (addresses.clone(), vec![]));
        let found: Vec<_> = addresses
            .iter()
            .map(|value| value.map(<[u8]>::to_vec))
            .collect();
        assert_eq!(found, expected);
    }
    // A wrong v, r = 0, and 31 bytes of hash, between valid rows.
    let valid = (hashes[0].clone(), signatures[0].clone());
    let mut wrong_v = signatures[0].clone().unwrap();
    wrong_v[64] = 29;
    let rows = [
        valid.clone(),
        (hashes[0].clone(), Some(wrong_v)),
        (hashes[0].clone(), Some(vec![0; 65])),
        (Some(vec![1; 31]), signatures[0].clone()),
        valid,
    ];
    let (hashes, signatures): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let hashes = ByteColumn::from(LargeBinaryArray::from_iter(hashes));
    let signatures = ByteColumn::from(LargeBinaryArray::from_iter(signatures));
    let (addresses, failures) = ecrecover(&hashes, &signatures).unwrap();
    let valid: Vec<bool> = addresses.iter().map(|address| address.is_some()).collect();
    assert_eq!(valid, [true, false, false, false, true]);
    assert_eq!(addresses.value(0), addresses.value(4));
    let rows: Vec<usize> = failures.iter().map(|failure| failure.row).collect();
    assert_eq!(rows, [1, 2, 3]);
    assert_eq!(failures[2].error.to_string(), "expected 32 bytes, found 31");
    let error = ecrecover(&hashes, &text(&[None])).unwrap_err();
    assert_eq!(error, Error::Length(5, 1));
}

/// The examples of EIP-55.
#[test]
fn checksums_of_eip_55() {
    let expected = [
        Some("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
        None,
        Some("0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"),
        Some("0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"),
    ];
    let values: Vec<_> = expected
        .iter()
        .map(|text| text.map(|text| hex::decode(text).unwrap()))
        .collect();
    for column in columns(&values) {
        let (texts, failures) = checksum(&column);
        assert_eq!(
            (texts.iter().collect::<Vec<_>>(), failures),
            (expected.to_vec(), vec![])
        );
    }
}

/// More addresses than are hashed at a time, some of them invalid.
#[test]
fn checksums_of_many_addresses() {
    let zero = "0x0000000000000000000000000000000000000000";
    let values = [
        Some("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
        None,
        Some("0x00"),
        Some(zero),
    ];
    let rows: Vec<_> = values.into_iter().cycle().take(1500).collect();
    let (texts, failures) = checksum(&text(&rows));
    for (row, value) in rows.iter().enumerate() {
        let expected = value.filter(|value| value.len() == 42);
        assert_eq!(texts.is_valid(row).then(|| texts.value(row)), expected);
    }
    let found = failures.iter().map(|failure| (failure.row, &failure.error));
    let length = RowError::Length(20, 1);
    assert!(found.eq((2..1500).step_by(4).map(|row| (row, &length))));
}

/// The first two examples of EIP-1014, with init code `0x00`.
#[test]
fn create2_addresses_of_eip_1014() {
    let deployers = [
        Some(vec![0; 20]),
        None,
        Some(hex::decode("0xdeadbeef00000000000000000000000000000000").unwrap()),
    ];
    let salts = vec![Some(vec![0; 32]); 3];
    let hashes = vec![Some(lydite_hash::keccak256(&[0]).to_vec()); 3];
    let columns = columns(&deployers)
        .into_iter()
        .zip(columns(&salts))
        .zip(columns(&hashes));
    for ((deployers, salts), hashes) in columns {
        let (addresses, failures) = create2_addresses(&deployers, &salts, &hashes).unwrap();
        assert_eq!(failures, []);
        let found: Vec<_> = addresses
            .iter()
            .map(|address| address.map(hex::encode))
            .collect();
        let first = Some("4d1a2e2bb4f88f0250f26ffff098b0b30b26bf38".to_owned());
        let second = Some("b928f69bb1d91cd65274e3c79d8986362984fda3".to_owned());
        assert_eq!(found, [first, None, second]);
    }
    let short = text(&[None]);
    let error = create2_addresses(&text(&[None, None]), &short, &short).unwrap_err();
    assert_eq!(error, Error::Length(2, 1));
}

fn of_words(words: &FixedSizeBinaryArray) -> ByteColumn {
    ByteColumn::try_new(&(Arc::new(words.clone()) as ArrayRef)).unwrap()
}

#[test]
fn numbers_of_every_array_type_as_words() {
    use arrow_array::*;
    use arrow_buffer::i256;
    let decimal = |values: Vec<Option<i128>>| {
        Decimal128Array::from(values)
            .with_precision_and_scale(38, 0)
            .unwrap()
    };
    let wide = Decimal256Array::from(vec![Some(i256::from_i128(7)), None, Some(i256::MINUS_ONE)]);
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int8Array::from(vec![Some(7), None, Some(-1)])),
        Arc::new(Int16Array::from(vec![Some(7), None, Some(-1)])),
        Arc::new(Int32Array::from(vec![Some(7), None, Some(-1)])),
        Arc::new(Int64Array::from(vec![Some(7), None, Some(-1)])),
        Arc::new(decimal(vec![Some(7), None, Some(-1)])),
        Arc::new(wide.with_precision_and_scale(76, 0).unwrap()),
        Arc::new(StringArray::from(vec![Some("7"), None, Some("-1")])),
        Arc::new(LargeStringArray::from(vec![Some("0x7"), None, Some("-1")])),
        Arc::new(StringViewArray::from(vec![
            Some("0x07"),
            None,
            Some("-0x1"),
        ])),
    ];
    for array in arrays {
        let (words, failures) = to_uint256(&array, Integers::Int256).unwrap();
        assert_eq!(failures, [], "{array:?}");
        let (texts, failures) = uint256_to_text(&of_words(&words), Integers::Int256);
        assert_eq!(
            (failures, texts),
            (vec![], StringArray::from(vec![Some("7"), None, Some("-1")]))
        );
        let (words, failures) = to_uint256(&array, Integers::Uint256).unwrap();
        assert_eq!(
            (words.null_count(), failures.len(), failures[0].row),
            (2, 1, 2)
        );
        let range = "expected an integer from 0 to 2^256 - 1";
        assert_eq!(failures[0].error.to_string(), range);
    }
    let unsigned: Vec<ArrayRef> = vec![
        Arc::new(UInt8Array::from(vec![255])),
        Arc::new(UInt64Array::from(vec![255])),
        Arc::new(BinaryArray::from(vec![&[0, 255][..]])),
    ];
    for array in unsigned {
        let (words, _) = to_uint256(&array, Integers::Uint256).unwrap();
        assert_eq!(
            uint256_to_text(&of_words(&words), Integers::Uint256)
                .0
                .value(0),
            "255"
        );
    }
    let other: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    assert!(matches!(
        to_uint256(&other, Integers::Uint256),
        Err(Error::NotIntegers(_))
    ));
    // The ends of both ranges, one beyond, and what is no number.
    let two_255 = format!("{}", U256::ONE.wrapping_shl(255));
    let ends: ArrayRef = Arc::new(StringArray::from(vec![
        U256::MAX.to_string(),
        two_255.clone(),
        format!("-{two_255}"),
        I256::MAX.to_string(),
        format!("{}0", U256::MAX),
        "seven".into(),
        "1.5".into(),
        String::new(),
    ]));
    let valid = |integers| {
        let (words, failures) = to_uint256(&ends, integers).unwrap();
        assert_eq!(failures.len(), words.null_count());
        (0..8)
            .filter(|&row| words.is_valid(row))
            .collect::<Vec<_>>()
    };
    assert_eq!(valid(Integers::Uint256), [0, 1, 3]);
    assert_eq!(valid(Integers::Int256), [2, 3]);
}

/// Words of every size, many near a power of two.
fn any_word() -> impl Strategy<Value = U256> {
    (any::<[u8; 32]>(), 0..257u32, any::<bool>()).prop_map(|(bytes, shift, ones)| {
        let word = U256::from_be_bytes(bytes).wrapping_shr(shift);
        if ones {
            U256::MAX.wrapping_shr(shift)
        } else {
            word
        }
    })
}

proptest! {
    #[test]
    fn words_convert_and_compute_like_one_by_one(
        rows in prop::collection::vec((any_word(), any_word(), 0..5u8), 0..40)
    ) {
        let column = |of: &dyn Fn(&(U256, U256, u8)) -> U256| {
            let words = rows.iter().map(|row| (row.2 > 0).then(|| of(row).to_be_bytes()));
            let words = FixedSizeBinaryArray::try_from_sparse_iter_with_size(words, 32);
            of_words(&words.unwrap())
        };
        let (left, right) = (column(&|row| row.0), column(&|row| row.1));
        for integers in [Integers::Uint256, Integers::Int256] {
            let text = |word: U256| match integers {
                Integers::Uint256 => word.to_string(),
                Integers::Int256 => I256(word).to_string(),
            };
            let (texts, _) = uint256_to_text(&left, integers);
            let (decimals, outside) = uint256_to_decimal(&left, integers);
            let (doubles, _) = uint256_to_f64(&left, integers);
            let (back, _) = to_uint256(&(Arc::new(texts.clone()) as ArrayRef), integers).unwrap();
            let (longs, _) = uint256_to_i64(&left, integers);
            let (mut sum, mut whole) = (BigInt::ZERO, Uint256Sum::default());
            let mut parts = [whole; 2];
            for (row, (word, _, kind)) in rows.iter().enumerate() {
                prop_assert_eq!(texts.is_valid(row), *kind > 0);
                if *kind == 0 {
                    prop_assert!(decimals.is_null(row) && doubles.is_null(row) && back.is_null(row));
                    continue;
                }
                prop_assert_eq!(texts.value(row), text(*word));
                prop_assert_eq!(doubles.value(row), text(*word).parse::<f64>().unwrap());
                prop_assert_eq!(back.value(row), word.to_be_bytes());
                let digits = text(*word).trim_start_matches('-').len();
                prop_assert_eq!(decimals.is_valid(row), digits <= 38);
                prop_assert_eq!(outside.iter().any(|failure| failure.row == row), digits > 38);
                if digits <= 38 {
                    prop_assert_eq!(decimals.value(row).to_string(), text(*word));
                }
                let long = i64::try_from(text(*word).parse::<i128>().unwrap_or(i128::MAX)).ok();
                prop_assert_eq!(longs.is_valid(row).then(|| longs.value(row)), long);
                sum += text(*word).parse::<BigInt>().unwrap();
                whole.add(*word, integers);
                parts[row % 2].add(*word, integers);
            }
            let two_255: BigInt = BigInt::from(1) << 255u32;
            let fits = match integers {
                Integers::Uint256 => sum < two_255.clone() << 1u32,
                Integers::Int256 => -two_255.clone() <= sum && sum < two_255,
            };
            let total = uint256_sum(&left, integers).unwrap();
            prop_assert_eq!(total.map(text), fits.then(|| sum.to_string()));
            let [mut merged, other] = parts;
            merged.merge(Uint256Sum::from_be_slice(&other.to_be_bytes()).unwrap());
            prop_assert_eq!(merged, whole);
            for (word, _, kind) in rows.iter().rev() {
                if *kind > 0 {
                    whole.remove(*word, integers);
                }
            }
            prop_assert_eq!(whole, Uint256Sum::default());
        }
        type Operation = fn(U256, U256) -> Option<U256>;
        let (quotients, _) = uint256_mul_div(&left, &right, &left).unwrap();
        let decimals = |decimals: fn(u8) -> u8| -> ArrayRef {
            Arc::new(UInt8Array::from_iter_values(rows.iter().map(|row| decimals(row.2))))
        };
        for decimals in [decimals(|kind| kind), decimals(|kind| 77 - kind)] {
            let (amounts, failures) = format_units(&left, &decimals).unwrap();
            let texts: ArrayRef = Arc::new(amounts.clone());
            let (back, other) = parse_units(&texts, &decimals).unwrap();
            prop_assert_eq!((failures, other), (vec![], vec![]));
            for (row, (word, _, kind)) in rows.iter().enumerate() {
                prop_assert_eq!(amounts.is_valid(row), *kind > 0);
                let expected = (*kind > 0).then_some(word.to_be_bytes().to_vec());
                prop_assert_eq!(back.iter().nth(row).unwrap(), expected.as_deref());
            }
        }
        for (row, (a, b, kind)) in rows.iter().enumerate() {
            let expected = if *kind == 0 { None } else { mul_div(*a, *b, *a) };
            let expected = expected.map(U256::to_be_bytes);
            prop_assert_eq!(quotients.iter().nth(row).unwrap(), expected.as_ref().map(|word| &word[..]));
        }
        let operations: [Operation; 5] = [
            U256::checked_add, U256::checked_sub, U256::checked_mul, U256::checked_div, U256::checked_rem,
        ];
        for operation in operations {
            let (results, failures) = uint256_checked(&left, &right, operation).unwrap();
            for (row, (a, b, kind)) in rows.iter().enumerate() {
                let expected = if *kind == 0 { None } else { operation(*a, *b) };
                let value = results.is_valid(row).then(|| results.value(row).to_vec());
                prop_assert_eq!(value, expected.map(|word| word.to_be_bytes().to_vec()));
                let failed = failures.iter().any(|failure| failure.row == row);
                prop_assert_eq!(failed, *kind > 0 && expected.is_none());
            }
        }
    }
}

#[test]
fn words_of_another_length_are_failures() {
    for column in columns(&[Some(vec![1; 31]), None]) {
        let (texts, failures) = uint256_to_text(&column, Integers::Uint256);
        assert_eq!((texts.null_count(), failures.len()), (2, 1));
        assert_eq!(failures[0].error, RowError::Length(32, 31));
        assert_eq!(
            uint256_sum(&column, Integers::Uint256).unwrap_err(),
            failures[0]
        );
    }
    let one = columns(&[Some(vec![1; 32])]);
    let two = columns(&[Some(vec![1; 32]), None]);
    assert!(matches!(
        uint256_checked(&one[0], &two[0], U256::checked_add),
        Err(Error::Length(1, 2))
    ));
}

#[test]
fn parts_of_signatures_out_of_range_are_failures() {
    let hashes = ByteColumn::from(LargeBinaryArray::from_iter(vec![Some([1; 32]); 5]));
    let v: ArrayRef = Arc::new(Int32Array::from(vec![
        Some(29),
        Some(-1),
        Some(256 + 27),
        None,
        Some(27),
    ]));
    let (addresses, failures) = ecrecover_parts(&hashes, &v, &hashes, &hashes).unwrap();
    assert_eq!(addresses.null_count(), 4);
    let rows: Vec<usize> = failures.iter().map(|failure| failure.row).collect();
    assert_eq!(rows, [0, 1, 2]);
    let short: ArrayRef = Arc::new(Int32Array::from(vec![27]));
    assert_eq!(
        ecrecover_parts(&hashes, &short, &hashes, &hashes).unwrap_err(),
        Error::Length(5, 1)
    );
}

/// The contracts of an account with nonces 0 to 3: go-ethereum's `TestNewContractAddress`, crypto/crypto_test.go.
#[test]
fn create_addresses_of_an_account() {
    let sender = hex::decode("0x970e8128ab834e8eac17ab8e3812f010678cf791").unwrap();
    let senders = vec![Some(sender); 5];
    let nonces: ArrayRef = Arc::new(StringArray::from(vec![
        Some("0"),
        Some("0x1"),
        Some("2"),
        None,
        Some("18446744073709551616"),
    ]));
    for senders in columns(&senders) {
        let (addresses, failures) = create_addresses(&senders, &nonces).unwrap();
        let found: Vec<_> = addresses
            .iter()
            .map(|address| address.map(hex::encode))
            .collect();
        let expected = [
            "333c3310824b7c685133f2bedb2ca4b8b4df633d",
            "8bda78331c916a08481428e4b07c96d3e916d165",
            "c9ddedf451bc62ce88bf9292afb13df35b670699",
        ];
        assert_eq!(found[..3], expected.map(|text| Some(text.to_owned())));
        assert_eq!(
            (found[3].is_none(), found[4].is_none(), failures.len()),
            (true, true, 1)
        );
        let error = failures[0].error.to_string();
        assert_eq!(
            (failures[0].row, &*error),
            (4, "expected a nonce from 0 to 2^64 - 1")
        );
    }
}

#[test]
fn hexadecimal_text_to_bytes() {
    let (bytes, failures) = hex_decode(&text(&[
        Some("0x00ff"),
        Some("Ab"),
        None,
        Some("0xg0"),
        Some(""),
    ]));
    let found: Vec<_> = bytes.iter().collect();
    assert_eq!(
        found,
        [Some(&[0, 255][..]), Some(&[0xab]), None, None, Some(&[])]
    );
    assert_eq!(
        (failures.len(), failures[0].row, &failures[0].error),
        (1, 3, &RowError::Hexadecimal)
    );
}
