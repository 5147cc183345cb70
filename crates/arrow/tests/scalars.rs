//! Kernels of one column, on every array type, sliced and with nulls.

#![allow(clippy::unwrap_used)]

use std::{slice::from_ref, sync::Arc};

use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, FixedSizeBinaryArray,
    Int32Array, LargeBinaryArray, LargeStringArray, StringArray, StringViewArray,
};
use k256::ecdsa::SigningKey;
use lydite_arrow::{
    ByteColumn, Error, RowError, checksum, create2_addresses, ecrecover, hex_encode, keccak256,
};
use lydite_bytes::hex;

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
    let (texts, failures) = checksum(&text(&[Some("0x00")]));
    assert!(texts.is_null(0));
    assert_eq!(failures[0].error, RowError::Length(20, 1));
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
