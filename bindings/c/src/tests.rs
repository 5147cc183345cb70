//! Tests: the header is up to date, invalid arguments are rejected, and results match the shared vectors.

use std::{ffi::CStr, path::Path, ptr};

use lydite_core::{bytes::hex, evm::tx::TransactionRef};

use crate::{
    abi::*, ethereum::*, hash::*, precompile::*, secp256k1::*, status::*, syrup::*, xmss::*,
};

fn last_error() -> String {
    // SAFETY: the message is NUL-terminated, and valid until the next failure on this thread.
    unsafe { CStr::from_ptr(lydite_last_error()) }
        .to_str()
        .unwrap()
        .to_owned()
}

/// `UPDATE_HEADER=1 cargo test` regenerates the header.
#[test]
fn header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let mut made = Vec::new();
    cbindgen::generate_with_config(root, config)
        .unwrap()
        .write(&mut made);
    let path = root.join("include/lydite.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert!(
        std::fs::read(path).unwrap() == made,
        "include/lydite.h is not what src gives"
    );
}

#[test]
fn null_pointers_are_errors() {
    let mut out = [0; 65];
    let mut written = 7;
    // SAFETY: the functions must reject NULL; all other pointers are valid.
    unsafe {
        assert_eq!(lydite_keccak256(ptr::null(), 0, out.as_mut_ptr()), 0);
        assert_eq!(
            lydite_keccak256(ptr::null(), 1, out.as_mut_ptr()),
            LYDITE_ERROR_ARGUMENT
        );
        assert_eq!(last_error(), "data: expected a pointer, found NULL");
        assert_eq!(
            lydite_keccak256(out.as_ptr(), usize::MAX, out.as_mut_ptr()),
            LYDITE_ERROR_ARGUMENT
        );
        assert_eq!(
            last_error(),
            format!(
                "data: expected at most PTRDIFF_MAX bytes, found {} items",
                usize::MAX
            )
        );
        assert_eq!(
            lydite_keccak256(out.as_ptr(), 3, ptr::null_mut()),
            LYDITE_ERROR_ARGUMENT
        );
        assert_eq!(
            lydite_sign(ptr::null(), out.as_ptr(), out.as_mut_ptr()),
            LYDITE_ERROR_ARGUMENT
        );
        assert_eq!(
            lydite_codec_decode(
                ptr::null(),
                ptr::null(),
                0,
                ptr::null_mut(),
                0,
                &mut written
            ),
            LYDITE_ERROR_ARGUMENT
        );
        assert_eq!(
            lydite_codec_new(b"uint7".as_ptr(), 5, ptr::null_mut()),
            LYDITE_ERROR_ARGUMENT
        );
        assert_eq!(
            lydite_hex_encode(b"ab".as_ptr(), 2, out.as_mut_ptr(), 9, ptr::null_mut()),
            LYDITE_ERROR_ARGUMENT
        );
        lydite_codec_free(ptr::null_mut());
    }
}

#[test]
fn sizes_are_asked_for_in_a_first_call() {
    let mut written = 0;
    let mut out = [0; 4];
    // SAFETY: all pointers are valid.
    unsafe {
        assert_eq!(
            lydite_hex_encode(b"ab".as_ptr(), 2, ptr::null_mut(), 0, &mut written),
            0
        );
        assert_eq!(written, 4);
        let status = lydite_hex_encode(b"abc".as_ptr(), 3, out.as_mut_ptr(), 4, &mut written);
        assert_eq!((status, written), (LYDITE_ERROR_BUFFER_TOO_SMALL, 6));
        assert_eq!(last_error(), "out: expected capacity for 6 bytes, found 4");
        assert_eq!(
            lydite_hex_encode(b"ab".as_ptr(), 2, out.as_mut_ptr(), 4, &mut written),
            0
        );
        assert_eq!(&out, b"6162");
    }
}

#[test]
fn offsets_must_not_fall() {
    let mut out = [0; 64];
    // SAFETY: all pointers are valid.
    unsafe {
        let good = [0, 1, 3];
        assert_eq!(
            lydite_keccak256_batch(b"abc".as_ptr(), good.as_ptr(), 2, out.as_mut_ptr()),
            0
        );
        assert_eq!(&out[32..], &lydite_core::hash::keccak256(b"bc"));
        let bad = [0, 3, 1];
        let status = lydite_keccak256_batch(b"abc".as_ptr(), bad.as_ptr(), 2, out.as_mut_ptr());
        assert_eq!(status, LYDITE_ERROR_ARGUMENT);
        assert_eq!(
            last_error(),
            "offsets[2]: expected at least the previous offset, found a smaller one"
        );
        assert_eq!(
            lydite_keccak256_batch(b"abc".as_ptr(), bad.as_ptr(), usize::MAX, out.as_mut_ptr()),
            LYDITE_ERROR_ARGUMENT
        );
    }
}

#[test]
fn errors_say_where_and_are_cut_to_fit() {
    let mut out = [0; 32];
    // SAFETY: all pointers are valid.
    unsafe {
        assert_eq!(
            lydite_tx_hash([5].as_ptr(), 1, out.as_mut_ptr()),
            LYDITE_ERROR_DECODE
        );
        assert_eq!(last_error(), "byte 0: unknown transaction type 0x05");
        let message = "é".repeat(500);
        failure(LYDITE_ERROR_DECODE, &message);
        assert_eq!(last_error(), message[..254]);
        let status = guard(|| panic!("on purpose"));
        assert_eq!(
            (status, last_error().as_str()),
            (LYDITE_ERROR_INTERNAL, "internal error: panic")
        );
    }
}

#[test]
fn precompiles_charge_gas() {
    let (mut out, mut written, mut gas) = ([0; 32], 0, 0);
    // SAFETY: all pointers are valid.
    unsafe {
        let mut run = |number, fork, limit| {
            let out = out.as_mut_ptr();
            lydite_precompile(
                number,
                fork,
                b"abc".as_ptr(),
                3,
                limit,
                &mut gas,
                out,
                32,
                &mut written,
            )
        };
        assert_eq!(run(2, 14, 100), 0);
        assert_eq!(run(2, 14, 71), LYDITE_ERROR_PRECOMPILE);
        assert_eq!(last_error(), "out of gas");
        assert_eq!(run(5, 0, 100), LYDITE_ERROR_PRECOMPILE);
        assert_eq!(run(2, 99, 100), LYDITE_ERROR_ARGUMENT);
        assert_eq!(run(2, 14, 100), 0);
    }
    assert_eq!(
        (gas, written, out),
        (72, 32, lydite_core::hash::sha256(b"abc"))
    );
}

fn vectors(name: &str) -> serde_json::Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../vectors/{name}.json"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn unhex(text: &serde_json::Value) -> Vec<u8> {
    hex::decode(text.as_str().unwrap()).unwrap()
}

#[test]
fn transactions_of_the_shared_vectors_are_signed_again() {
    let mut types = [0; 5];
    for case in vectors("tx/generated")["transactions"].as_array().unwrap() {
        let raw = unhex(&case["raw"]);
        if case["sender"].is_null() {
            continue;
        }
        let tx = TransactionRef::decode(&raw).unwrap();
        let keys: Vec<Vec<[u8; 32]>> = tx
            .access_list
            .iter()
            .map(|item| item.storage_keys.iter().map(|key| key.0).collect())
            .collect();
        let access_list: Vec<_> = tx
            .access_list
            .iter()
            .zip(&keys)
            .map(|(item, keys)| lydite_access_list_item {
                address: item.address.0,
                storage_keys: keys.as_flattened().as_ptr(),
                storage_key_count: keys.len(),
            })
            .collect();
        let hashes: Vec<[u8; 32]> = tx.blob_versioned_hashes.iter().map(|hash| hash.0).collect();
        let authorizations: Vec<_> = tx
            .authorization_list
            .iter()
            .map(|item| lydite_authorization {
                chain_id: item.chain_id.to_be_bytes(),
                address: item.address.0,
                nonce: item.nonce,
                y_parity: item.y_parity,
                r: item.r.to_be_bytes(),
                s: item.s.to_be_bytes(),
            })
            .collect();
        let kind = tx.kind as u8;
        types[usize::from(kind)] += 1;
        let fee = tx.max_fee_per_gas.to_be_bytes();
        let typed = |fee: [u8; 16]| if kind > 1 { fee } else { [0; 16] };
        let mut given = lydite_tx {
            type_: kind,
            chain_id: tx.chain_id.unwrap_or(0),
            nonce: tx.nonce,
            gas_price: if kind > 1 { [0; 16] } else { fee },
            max_priority_fee_per_gas: typed(tx.max_priority_fee_per_gas.to_be_bytes()),
            max_fee_per_gas: typed(fee),
            gas_limit: tx.gas_limit,
            to: tx.to.as_ref().map_or(ptr::null(), |to| to.0.as_ptr()),
            value: tx.value.to_be_bytes(),
            data: tx.data.as_ptr(),
            data_length: tx.data.len(),
            access_list: access_list.as_ptr(),
            access_list_length: access_list.len(),
            max_fee_per_blob_gas: tx.max_fee_per_blob_gas.to_be_bytes(),
            blob_versioned_hashes: hashes.as_flattened().as_ptr(),
            blob_versioned_hash_count: hashes.len(),
            authorization_list: authorizations.as_ptr(),
            authorization_list_length: authorizations.len(),
        };
        let key = unhex(&case["private_key"]);
        let (mut out, mut written) = (vec![0; raw.len()], 0);
        let mut sign = |given: &lydite_tx| {
            // SAFETY: all pointers are valid.
            unsafe {
                lydite_tx_sign(
                    given,
                    key.as_ptr(),
                    out.as_mut_ptr(),
                    out.len(),
                    &mut written,
                )
            }
        };
        assert_eq!(sign(&given), 0, "{}", last_error());
        if kind > 2 {
            given.to = ptr::null();
            assert_eq!(sign(&given), LYDITE_ERROR_ENCODE);
        }
        if kind != 4 {
            given.authorization_list_length = 1;
            assert_eq!(sign(&given), LYDITE_ERROR_ENCODE);
            assert_eq!(
                last_error(),
                format!("authorization_list: not a field of transaction type {kind}")
            );
        }
        given.type_ = 5;
        assert_eq!(sign(&given), LYDITE_ERROR_ENCODE);
        assert_eq!((out, written), (raw.clone(), raw.len()), "{}", case["name"]);
        let mut sender = [0; 20];
        // SAFETY: all pointers are valid.
        assert_eq!(
            unsafe { lydite_tx_sender(raw.as_ptr(), raw.len(), sender.as_mut_ptr()) },
            0
        );
        assert_eq!(sender.as_slice(), unhex(&case["sender"]));
    }
    assert!(types.iter().all(|count| *count > 0), "{types:?}");
}

#[test]
fn authorizations_have_their_authority() {
    let (key, mut address) = ([0x46; 32], [0; 20]);
    let mut item = lydite_authorization {
        chain_id: [0; 32],
        address: [7; 20],
        nonce: 3,
        y_parity: 0,
        r: [0; 32],
        s: [0; 32],
    };
    let mut public_key = [0; 64];
    // SAFETY: all pointers are valid.
    unsafe {
        assert_eq!(lydite_authorization_sign(&mut item, key.as_ptr()), 0);
        assert_eq!(lydite_public_key(key.as_ptr(), public_key.as_mut_ptr()), 0);
    }
    address.copy_from_slice(&lydite_core::hash::keccak256(&public_key)[12..]);
    assert_eq!(read_authorization(&item).authority().unwrap().0, address);
}

#[test]
fn logs_are_decoded() {
    let signature = "event Transfer(address indexed from, string indexed memo, uint256 value)";
    let mut event = ptr::null_mut();
    // SAFETY: all pointers are valid.
    unsafe {
        let pointer = signature.as_ptr();
        assert_eq!(lydite_event_new(pointer, signature.len(), &mut event), 0);
        let mut topics = [[0; 32]; 3];
        let canonical = "Transfer(address,string,uint256)";
        let status =
            lydite_event_topic(canonical.as_ptr(), canonical.len(), topics[0].as_mut_ptr());
        assert_eq!(status, 0);
        topics[1][31] = 5;
        topics[2] = [0xab; 32];
        let (mut out, mut written) = ([0; 200], 0);
        let mut value = [0; 32];
        value[31] = 9;
        let mut decode = |count, length| {
            let (topics, value) = (topics.as_flattened().as_ptr(), value.as_ptr());
            let out = out.as_mut_ptr();
            lydite_event_decode(event, topics, count, value, length, out, 200, &mut written)
        };
        assert_eq!(decode(3, 31), LYDITE_ERROR_DECODE);
        assert_eq!(decode(2, 32), LYDITE_ERROR_DECODE);
        assert_eq!(decode(3, 32), 0);
        let hash = "ab".repeat(32);
        assert_eq!(
            std::str::from_utf8(&out[..written]).unwrap(),
            format!("(0x0000000000000000000000000000000000000005,0x{hash},9)")
        );
        lydite_event_free(event);
        lydite_event_free(ptr::null_mut());
    }
}

#[test]
fn syrup_of_the_shared_vectors() {
    for case in vectors("syrup/vectors").as_array().unwrap() {
        let data = unhex(&case["hex"]);
        let class = case["cls"].as_str().unwrap();
        let mut id = [0; 32];
        // SAFETY: all pointers are valid.
        let status = unsafe { lydite_syrup_content_id(data.as_ptr(), data.len(), id.as_mut_ptr()) };
        match class {
            "invalid" | "noncanonical" | "truncated" | "trailing" => {
                assert_eq!(status, LYDITE_ERROR_DECODE, "{}", case["id"]);
            }
            "canonical" | "canonical-disputed" | "syrup-only" => {
                assert_eq!(
                    (status, id.to_vec()),
                    (0, unhex(&case["sha256"])),
                    "{}",
                    case["id"]
                );
            }
            _ => {}
        }
    }
}

#[test]
fn xmss_of_leanvm() {
    let vectors = vectors("xmss/leanvm");
    for case in vectors["verify"].as_array().unwrap() {
        let input = &case["input"];
        let [key, message, signature] =
            ["public_key", "message", "signature"].map(|name| unhex(&input[name]));
        let epoch = u32::try_from(input["epoch"].as_u64().unwrap()).unwrap();
        // SAFETY: all pointers are valid.
        let status = unsafe {
            lydite_xmss_verify(
                LYDITE_XMSS_LEANVM,
                key.as_ptr(),
                key.len(),
                epoch,
                message.as_ptr(),
                signature.as_ptr(),
                signature.len(),
            )
        };
        let expected = match case["output"].as_bool() {
            Some(true) => 0,
            Some(false) => LYDITE_ERROR_SIGNATURE,
            None => LYDITE_ERROR_DECODE,
        };
        assert_eq!(status, expected, "{}", case["name"]);
    }
}

#[test]
fn xmss_of_the_shared_vectors() {
    for (name, scheme) in [
        ("xmss/test_2e8_dim4_full", LYDITE_XMSS_LEANSIG_TEST),
        ("xmss/prod_2e32_offset", LYDITE_XMSS_LEANSIG_PROD),
    ] {
        let vectors = vectors(name);
        let key = unhex(&vectors["pk_ssz"]);
        let cases = &vectors["signatures"].as_array().unwrap()[..6];
        let (mut sizes, count) = ([0; 2], cases.len());
        let (mut epochs, mut messages, mut signatures) = (vec![], vec![], vec![]);
        for case in cases {
            epochs.push(u32::try_from(case["epoch"].as_u64().unwrap()).unwrap());
            messages.extend(unhex(&case["message"]));
            signatures.extend(unhex(&case["sig_ssz"]));
        }
        messages[32] ^= 1;
        let (keys, mut valid) = (key.repeat(count), vec![7; count]);
        // SAFETY: all pointers are valid.
        unsafe {
            let [key_size, signature_size] = &mut sizes;
            assert_eq!(lydite_xmss_sizes(scheme, key_size, signature_size), 0);
            assert_eq!(
                (*key_size, *signature_size),
                (key.len(), signatures.len() / count)
            );
            let verify = |i: usize, length| {
                let (message, signature) =
                    (&messages[32 * i..], &signatures[*signature_size * i..]);
                lydite_xmss_verify(
                    scheme,
                    key.as_ptr(),
                    key.len(),
                    epochs[i],
                    message.as_ptr(),
                    signature.as_ptr(),
                    length,
                )
            };
            assert_eq!(verify(0, *signature_size), 0);
            assert_eq!(verify(1, *signature_size), LYDITE_ERROR_SIGNATURE);
            assert_eq!(verify(0, *signature_size - 1), LYDITE_ERROR_DECODE);
            let status = lydite_xmss_verify_batch(
                scheme,
                count,
                keys.as_ptr(),
                epochs.as_ptr(),
                messages.as_ptr(),
                signatures.as_ptr(),
                valid.as_mut_ptr(),
            );
            assert_eq!((status, valid), (0, vec![1, 0, 1, 1, 1, 1]));
            let status = lydite_xmss_verify_batch(
                scheme,
                usize::MAX,
                keys.as_ptr(),
                epochs.as_ptr(),
                messages.as_ptr(),
                signatures.as_ptr(),
                ptr::null_mut(),
            );
            assert_eq!(status, LYDITE_ERROR_ARGUMENT);
        }
    }
}

#[test]
fn xmss_keys_sign_an_epoch_once() {
    let sign_at = |key, epoch| {
        let (mut out, mut written) = ([0; 1024], 0);
        // SAFETY: all pointers are valid.
        unsafe {
            let (message, room) = ([2; 32], out.as_mut_ptr());
            lydite_xmss_key_sign(key, epoch, message.as_ptr(), room, out.len(), &mut written)
        }
    };
    let folder = std::env::temp_dir().join(format!("lydite-c-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("key");
    let path = path.to_str().unwrap();
    let (scheme, seed) = (LYDITE_XMSS_LEANSIG_TEST, [7; 32]);
    let (mut key_size, mut size, mut written) = (0, 0, 0);
    // SAFETY: all pointers are valid.
    unsafe {
        assert_eq!(lydite_xmss_sizes(scheme, &mut key_size, &mut size), 0);
        let mut public_key = vec![0; key_size];
        let mut generate = || {
            let out = public_key.as_mut_ptr();
            lydite_xmss_generate(
                scheme,
                path.as_ptr(),
                path.len(),
                seed.as_ptr(),
                0,
                256,
                out,
            )
        };
        assert_eq!(generate(), 0);
        assert_eq!(generate(), LYDITE_ERROR_KEY_FILE);
        assert!(last_error().ends_with("exists"));
        let mut key = ptr::null_mut();
        let status = lydite_xmss_key_new(99, path.as_ptr(), path.len(), &mut key);
        assert_eq!((status, key.is_null()), (LYDITE_ERROR_ARGUMENT, true));
        let status = lydite_xmss_key_new(0, path.as_ptr(), path.len(), &mut key);
        assert_eq!((status, key.is_null()), (LYDITE_ERROR_KEY_FILE, true));
        assert_eq!(
            lydite_xmss_key_new(scheme, path.as_ptr(), path.len(), &mut key),
            0
        );
        let mut again = vec![0; key_size];
        assert_eq!(lydite_xmss_key_public_key(key, again.as_mut_ptr()), 0);
        assert_eq!(again, public_key);
        let (message, mut out) = ([1; 32], vec![0; size]);
        // Asking for the size, or passing too small a buffer, does not spend the epoch.
        let mut sign = |out: *mut u8, capacity| {
            lydite_xmss_key_sign(key, 5, message.as_ptr(), out, capacity, &mut written)
        };
        assert_eq!(sign(ptr::null_mut(), 0), 0);
        assert_eq!(
            sign(out.as_mut_ptr(), size - 1),
            LYDITE_ERROR_BUFFER_TOO_SMALL
        );
        assert_eq!(sign(out.as_mut_ptr(), size), 0);
        assert_eq!(sign(out.as_mut_ptr(), size), LYDITE_ERROR_KEY_FILE);
        assert_eq!(
            last_error(),
            "epoch 5 is spent: the lowest that can still be signed is 6"
        );
        assert_eq!(written, size);
        let status = lydite_xmss_verify(
            scheme,
            public_key.as_ptr(),
            key_size,
            5,
            message.as_ptr(),
            out.as_ptr(),
            size,
        );
        assert_eq!(status, 0);
        assert_eq!(lydite_xmss_key_prepare(key, 100), 0);
        let mut epochs = std::mem::zeroed::<lydite_xmss_epochs>();
        assert_eq!(lydite_xmss_key_epochs(key, &mut epochs), 0);
        assert_eq!((epochs.active_first, epochs.active_end), (0, 256));
        assert!((epochs.prepared_first..epochs.prepared_end).contains(&100));
        assert_eq!(epochs.unspent_end, 256);
        assert_eq!(lydite_xmss_key_prepare_ahead(key, 1_000_000), 0);
        assert_eq!(sign_at(key, 120), 0);
        lydite_xmss_key_free(key);
        lydite_xmss_key_free(ptr::null_mut());
        // A key made elsewhere has no record of the epochs it signed: the caller must provide them.
        let other = folder.join("other");
        std::fs::copy(path, &other).unwrap();
        let other = other.to_str().unwrap();
        let open = |key: &mut _| lydite_xmss_key_new(scheme, other.as_ptr(), other.len(), key);
        assert_eq!(open(&mut key), LYDITE_ERROR_KEY_FILE);
        let adopt = || lydite_xmss_adopt(scheme, other.as_ptr(), other.len(), 130);
        assert_eq!((adopt(), adopt()), (0, LYDITE_ERROR_KEY_FILE));
        assert_eq!(open(&mut key), 0);
        assert_eq!(sign_at(key, 129), LYDITE_ERROR_KEY_FILE);
        assert_eq!(sign_at(key, 130), 0);
        lydite_xmss_key_free(key);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Calls a function with a buffer that is large enough for any output here, and returns the output.
fn roomy(call: impl FnOnce(*mut u8, usize, *mut usize) -> lydite_status) -> Vec<u8> {
    let (mut out, mut written) = (vec![0; 1 << 16], 0);
    let status = call(out.as_mut_ptr(), out.len(), &mut written);
    assert_eq!(status, 0, "{}", last_error());
    out.truncate(written);
    out
}

#[test]
fn abi_of_the_shared_vectors() {
    for case in vectors("abi/encode").as_array().unwrap() {
        let (types, encoded) = (case["type"].as_str().unwrap(), unhex(&case["encoded"]));
        let mut codec = ptr::null_mut();
        // SAFETY: all pointers are valid.
        let (text, again) = unsafe {
            assert_eq!(lydite_codec_new(types.as_ptr(), types.len(), &mut codec), 0);
            let text = roomy(|out, capacity, written| {
                lydite_codec_decode(
                    codec,
                    encoded.as_ptr(),
                    encoded.len(),
                    out,
                    capacity,
                    written,
                )
            });
            let again = roomy(|out, capacity, written| {
                lydite_codec_encode(codec, text.as_ptr(), text.len(), out, capacity, written)
            });
            // Data one word too short is rejected, with the offset in the message.
            let (mut small, mut written) = ([0; 8], 0);
            let status = lydite_codec_decode(
                codec,
                encoded.as_ptr(),
                encoded.len() - 32,
                small.as_mut_ptr(),
                small.len(),
                &mut written,
            );
            assert_eq!(status, LYDITE_ERROR_DECODE, "{types}");
            assert!(last_error().starts_with("byte "), "{}", last_error());
            lydite_codec_free(codec);
            (text, again)
        };
        assert!(
            again == encoded,
            "{types}: {}",
            String::from_utf8_lossy(&text)
        );
    }
}

/// Whether serde_json has represented every number exactly. It rounds those beyond 64 bits.
fn exact(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Number(number) => !number.is_f64(),
        serde_json::Value::Array(items) => items.iter().all(exact),
        serde_json::Value::Object(fields) => fields.values().all(exact),
        _ => true,
    }
}

#[test]
fn typed_data_of_the_shared_vectors() {
    let all = vectors("eip712/documents");
    let documents: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| exact(&case["document"]))
        .collect();
    assert!(documents.len() > 80);
    for case in documents {
        let (json, mut hash) = (case["document"].to_string(), [0; 32]);
        // SAFETY: all pointers are valid.
        let status =
            unsafe { lydite_hash_typed_data(json.as_ptr(), json.len(), hash.as_mut_ptr()) };
        assert_eq!(status, 0, "{}", last_error());
        assert_eq!(
            hash[..],
            unhex(&case["signing_hash"])[..],
            "{}",
            case["name"]
        );
    }
}

#[test]
fn precompiles_of_the_shared_vectors() {
    for case in vectors("precompiles/report").as_array().unwrap() {
        let (input, number) = (unhex(&case["input"]), case["addr"].as_u64().unwrap());
        let (mut out, mut written, mut gas) = (vec![0; 4096], 0, 0);
        // SAFETY: all pointers are valid.
        let status = unsafe {
            lydite_precompile(
                number as u16,
                14,
                input.as_ptr(),
                input.len(),
                10_000_000,
                &mut gas,
                out.as_mut_ptr(),
                out.len(),
                &mut written,
            )
        };
        if case["expected"] == "FAIL" {
            assert_eq!(status, LYDITE_ERROR_PRECOMPILE, "{}", case["name"]);
            continue;
        }
        assert_eq!(status, 0, "{}: {}", case["name"], last_error());
        assert_eq!(
            out[..written],
            unhex(&case["expected"])[..],
            "{}",
            case["name"]
        );
        assert_eq!(gas, case["gas"].as_u64().unwrap(), "{}", case["name"]);
    }
}

#[test]
fn known_answers_of_the_report() {
    let cases = vectors("eth-ops/vectors");
    for (name, size) in [("256b", 256), ("1kb", 1024), ("4kb", 4096)] {
        let (data, mut hash) = (vec![0xab; size], [0; 32]);
        // SAFETY: all pointers are valid.
        assert_eq!(
            unsafe { lydite_keccak256(data.as_ptr(), size, hash.as_mut_ptr()) },
            0
        );
        assert_eq!(
            hash[..],
            unhex(&cases[format!("keccak256_{name}")]["expected"])[..]
        );
    }
    let case = &cases["secp256k1_sign"];
    let (key, hash) = (
        unhex(&case["input"]["privkey"]),
        unhex(&case["input"]["msg_hash"]),
    );
    let mut signature = [0; 65];
    // SAFETY: all pointers are valid.
    unsafe {
        assert_eq!(
            lydite_sign(key.as_ptr(), hash.as_ptr(), signature.as_mut_ptr()),
            0
        )
    };
    let [r, s] = ["r", "s"].map(|name| unhex(&case["expected"][name]));
    assert_eq!(signature[..64], [r, s].concat());
    assert_eq!(
        u64::from(signature[64]),
        case["expected"]["v"].as_u64().unwrap()
    );
}

#[test]
fn errors_have_the_messages_of_every_language() {
    let cases = vectors("errors/messages");
    let cases = cases.as_array().unwrap();
    assert!(cases.len() >= 36, "{}", cases.len());
    for case in cases {
        let text = |name: &str| case[name].as_str().unwrap();
        let bytes = |name: &str| hex::decode(text(name)).unwrap();
        let mut out = [0; 256];
        let (room, mut written, mut gas) = (out.as_mut_ptr(), 0, 0);
        // SAFETY: all pointers are valid.
        let status = unsafe {
            match text("operation") {
                "address" => {
                    let text = text("text");
                    lydite_address_parse(text.as_ptr(), text.len(), 1, room)
                }
                "codec" => {
                    let mut codec = ptr::null_mut();
                    lydite_codec_new(text("type").as_ptr(), text("type").len(), &mut codec)
                }
                "event" => {
                    let (signature, mut event) = (text("signature"), ptr::null_mut());
                    lydite_event_new(signature.as_ptr(), signature.len(), &mut event)
                }
                "abi_decode" => {
                    let (types, data, mut codec) = (text("type"), bytes("data"), ptr::null_mut());
                    assert_eq!(lydite_codec_new(types.as_ptr(), types.len(), &mut codec), 0);
                    let (start, length) = (data.as_ptr(), data.len());
                    let status = lydite_codec_decode(codec, start, length, room, 256, &mut written);
                    lydite_codec_free(codec);
                    status
                }
                "tx" => lydite_tx_hash(bytes("raw").as_ptr(), bytes("raw").len(), room),
                "ecrecover" => {
                    let (hash, signature) = (bytes("hash"), bytes("signature"));
                    lydite_ecrecover(hash.as_ptr(), signature.as_ptr(), room)
                }
                "sign" => lydite_sign(bytes("key").as_ptr(), bytes("hash").as_ptr(), room),
                "typed_data" => {
                    let json = text("json");
                    lydite_hash_typed_data(json.as_ptr(), json.len(), room)
                }
                "syrup" => {
                    let data = bytes("data");
                    lydite_syrup_content_id(data.as_ptr(), data.len(), room)
                }
                "precompile" => {
                    let (number, input) = (case["number"].as_u64().unwrap(), bytes("data"));
                    let fork = match text("fork") {
                        "frontier" => 0,
                        "osaka" => 14,
                        other => panic!("{other}"),
                    };
                    lydite_precompile(
                        number as u16,
                        fork,
                        input.as_ptr(),
                        input.len(),
                        case["gas"].as_u64().unwrap(),
                        &mut gas,
                        room,
                        256,
                        &mut written,
                    )
                }
                "xmss_verify" => {
                    let (key, signature) = (bytes("public_key"), bytes("signature"));
                    assert_eq!(text("scheme"), "leansig-test");
                    lydite_xmss_verify(
                        LYDITE_XMSS_LEANSIG_TEST,
                        key.as_ptr(),
                        key.len(),
                        0,
                        [0; 32].as_ptr(),
                        signature.as_ptr(),
                        signature.len(),
                    )
                }
                other => panic!("{other}"),
            }
        };
        assert!(status < 0, "{case}");
        assert_eq!(last_error(), text("message"), "{case}");
    }
}

/// Runs every decoder on inputs from the shared vectors, randomly truncated, extended and altered with a fixed seed.
/// Each call must succeed or return an error with a message, never an internal error.
#[test]
fn damaged_input_is_an_answer_or_an_error() {
    let mut state = 8_u64;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % bound.max(1)
    };
    let mut damaged = |data: &[u8]| {
        let mut data = data.to_vec();
        for _ in 0..=below(3) {
            match (below(4), data.len()) {
                (0, length) => data.truncate(below(length)),
                (1, _) => data.extend([below(256) as u8; 33]),
                (_, 0) => {}
                (_, length) => data[below(length)] = [0, 0xff, 0x80, below(256) as u8][below(4)],
            }
        }
        data
    };
    type Call<'a> = &'a dyn Fn(&[u8], *mut u8, &mut usize) -> lydite_status;
    let mut failed = 0;
    let mut try_out = |data: &[u8], calls: &[Call<'_>]| {
        for _ in 0..20 {
            let data = damaged(data);
            for call in calls {
                let (mut out, mut written) = (vec![0; 1 << 12], 0);
                let status = call(&data, out.as_mut_ptr(), &mut written);
                assert_ne!(status, LYDITE_ERROR_INTERNAL, "{data:02x?}");
                assert!(status == 0 || !last_error().is_empty());
                failed += usize::from(status != 0);
            }
        }
    };
    // SAFETY: in all calls below, the data is a slice, and `out` has 4096 bytes, more than any fixed-size output.
    for case in vectors("tx/generated")["transactions"].as_array().unwrap() {
        try_out(
            &unhex(&case["raw"]),
            &[
                &|data, out, _| unsafe { lydite_tx_hash(data.as_ptr(), data.len(), out) },
                &|data, out, _| unsafe { lydite_tx_sender(data.as_ptr(), data.len(), out) },
            ],
        );
    }
    for case in vectors("abi/encode").as_array().unwrap().iter().take(100) {
        let (types, mut codec) = (case["type"].as_str().unwrap(), ptr::null_mut());
        // SAFETY: the type is a slice, and `codec` is a local variable.
        assert_eq!(
            unsafe { lydite_codec_new(types.as_ptr(), types.len(), &mut codec) },
            0
        );
        try_out(
            &unhex(&case["encoded"]),
            &[&|data, out, written| unsafe {
                lydite_codec_decode(codec, data.as_ptr(), data.len(), out, 1 << 12, written)
            }],
        );
        try_out(
            types.as_bytes(),
            &[&|data, _, _| unsafe {
                let mut codec = ptr::null_mut();
                let status = lydite_codec_new(data.as_ptr(), data.len(), &mut codec);
                lydite_codec_free(codec);
                status
            }],
        );
        // SAFETY: `codec` was created above and is not used again.
        unsafe { lydite_codec_free(codec) };
    }
    for case in vectors("syrup/vectors").as_array().unwrap() {
        try_out(
            &unhex(&case["hex"]),
            &[&|data, out, _| unsafe { lydite_syrup_content_id(data.as_ptr(), data.len(), out) }],
        );
    }
    for case in vectors("eip712/documents")
        .as_array()
        .unwrap()
        .iter()
        .take(20)
    {
        try_out(
            case["document"].to_string().as_bytes(),
            &[&|data, out, _| unsafe { lydite_hash_typed_data(data.as_ptr(), data.len(), out) }],
        );
    }
    for case in vectors("precompiles/report").as_array().unwrap() {
        let (input, number) = (unhex(&case["input"]), case["addr"].as_u64().unwrap() as u16);
        try_out(
            &input,
            &[&|data, out, written| unsafe {
                let (start, length, mut gas) = (data.as_ptr(), data.len(), 0);
                let room = 1 << 12;
                lydite_precompile(
                    number, 14, start, length, 300_000, &mut gas, out, room, written,
                )
            }],
        );
    }
    let xmss = vectors("xmss/test_2e8_dim4_full");
    let key = unhex(&xmss["pk_ssz"]);
    for case in &xmss["signatures"].as_array().unwrap()[..6] {
        let verify = |key: &[u8], signature: &[u8]| {
            let (message, epoch) = (unhex(&case["message"]), case["epoch"].as_u64().unwrap());
            let (message, scheme) = (message.as_ptr(), LYDITE_XMSS_LEANSIG_TEST);
            let (start, length) = (signature.as_ptr(), signature.len());
            // SAFETY: the key, message and signature are slices of the stated lengths.
            unsafe {
                lydite_xmss_verify(
                    scheme,
                    key.as_ptr(),
                    key.len(),
                    epoch as u32,
                    message,
                    start,
                    length,
                )
            }
        };
        let signature = unhex(&case["sig_ssz"]);
        try_out(&signature, &[&|data, _, _| verify(&key, data)]);
        try_out(&key, &[&|data, _, _| verify(data, &signature)]);
    }
    assert!(failed > 5000, "{failed}");
}
