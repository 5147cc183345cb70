//! The header against the source, and pointers that are not what they should be.

use std::{ffi::CStr, path::Path, ptr};

use crate::{abi::*, ethereum::*, hash::*, precompile::*, secp256k1::*, status::*};

fn last_error() -> String {
    // SAFETY: text with a NUL behind it, of this thread.
    unsafe { CStr::from_ptr(lydite_last_error()) }
        .to_str()
        .unwrap()
        .to_owned()
}

/// `UPDATE_HEADER=1 cargo test` writes it anew.
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
    // SAFETY: NULL is what is tried; the others are right.
    unsafe {
        assert_eq!(lydite_keccak256(ptr::null(), 0, out.as_mut_ptr()), 0);
        assert_eq!(
            lydite_keccak256(ptr::null(), 1, out.as_mut_ptr()),
            LYDITE_ERROR_ARGUMENT
        );
        assert_eq!(last_error(), "data is NULL");
        assert_eq!(
            lydite_keccak256(out.as_ptr(), usize::MAX, out.as_mut_ptr()),
            LYDITE_ERROR_ARGUMENT
        );
        assert_eq!(last_error(), "data cannot be so long");
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
    // SAFETY: all pointers are right.
    unsafe {
        assert_eq!(
            lydite_hex_encode(b"ab".as_ptr(), 2, ptr::null_mut(), 0, &mut written),
            0
        );
        assert_eq!(written, 4);
        let status = lydite_hex_encode(b"abc".as_ptr(), 3, out.as_mut_ptr(), 4, &mut written);
        assert_eq!((status, written), (LYDITE_ERROR_BUFFER_TOO_SMALL, 6));
        assert_eq!(last_error(), "6 bytes needed, the buffer has 4");
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
    // SAFETY: all pointers are right.
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
        assert_eq!(last_error(), "offsets[2] is below the one before it");
        assert_eq!(
            lydite_keccak256_batch(b"abc".as_ptr(), bad.as_ptr(), usize::MAX, out.as_mut_ptr()),
            LYDITE_ERROR_ARGUMENT
        );
    }
}

#[test]
fn errors_say_where_and_are_cut_to_fit() {
    let mut out = [0; 32];
    // SAFETY: all pointers are right.
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
            (LYDITE_ERROR_INTERNAL, "panic")
        );
    }
}

#[test]
fn precompiles_charge_gas() {
    let (mut out, mut written, mut gas) = ([0; 32], 0, 0);
    // SAFETY: all pointers are right.
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
