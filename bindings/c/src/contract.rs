//! Tests of the header's promises for every function: it rejects NULL, and allocates only if its comment says so.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    collections::BTreeMap,
    ffi::CStr,
    path::Path,
    ptr,
};

use crate::{
    abi::*, ethereum::*, hash::*, precompile::*, secp256k1::*, status::*, syrup::*, xmss::*,
};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Index of the pointer of a call that is NULL, from 0; no pointer if it is [`NONE`].
#[derive(Clone, Copy)]
struct Null(usize);

const NONE: Null = Null(usize::MAX);

impl Null {
    fn of<T>(self, index: usize, item: &T) -> *const T {
        self.from(index, item)
    }

    fn to<T>(self, index: usize, item: &mut T) -> *mut T {
        self.from(index, item).cast_mut()
    }

    fn from<T>(self, index: usize, pointer: *const T) -> *const T {
        if self.0 == index {
            ptr::null()
        } else {
            pointer
        }
    }
}

/// Receives a function's name, the number of its pointers that must not be NULL, and a valid call of it.
type Visitor<'a> = &'a mut dyn FnMut(&str, usize, &mut dyn FnMut(Null) -> lydite_status);

/// Calls `visit` for every function that returns a status.
fn every_function(visit: Visitor<'_>) {
    let name = format!(
        "lydite-c-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    );
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let place = |name: usize| folder.join(name.to_string()).to_str().unwrap().to_owned();
    let fresh = Cell::new(0);
    let next = || {
        fresh.set(fresh.get() + 1);
        fresh.get()
    };
    let (hash, secret) = ([0x17_u8; 32], [0x46_u8; 32]);
    let (mut signature, mut key, mut out, mut room) = ([0_u8; 65], [0_u8; 64], [0_u8; 64], 0_usize);
    let (mut signed, mut size) = ([0_u8; 512], 0_usize);
    let (address, word) = ([0x11_u8; 20], [0_u8; 32]);
    let offsets = [0_usize, 3, 7];
    // With an access list, to check that decoding does not copy it.
    let access = lydite_access_list_item {
        address,
        storage_keys: word.as_ptr(),
        storage_key_count: 1,
    };
    // SAFETY: all zeros are a valid value: integers, and pointers that are NULL.
    let mut transaction: lydite_tx = unsafe { std::mem::zeroed() };
    (transaction.type_, transaction.to) = (2, address.as_ptr());
    (transaction.access_list, transaction.access_list_length) = (&access, 1);
    let scheme = LYDITE_XMSS_LEANSIG_TEST;
    let (mut key_size, mut signature_size) = (0, 0);
    let (mut codec, mut event, mut file) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let transfer = b"Transfer(address indexed from, uint256 value)";
    let mut topics = [[0_u8; 32]; 2];
    // SAFETY: all pointers are valid, or NULL, which the functions must reject.
    unsafe {
        assert_eq!(
            lydite_sign(secret.as_ptr(), hash.as_ptr(), signature.as_mut_ptr()),
            0
        );
        assert_eq!(lydite_public_key(secret.as_ptr(), key.as_mut_ptr()), 0);
        let (pointer, capacity) = (signed.as_mut_ptr(), signed.len());
        assert_eq!(
            lydite_tx_sign(&transaction, secret.as_ptr(), pointer, capacity, &mut size),
            0
        );
        assert_eq!(
            lydite_codec_new(b"(uint8,string)".as_ptr(), 14, &mut codec),
            0
        );
        assert_eq!(
            lydite_event_new(transfer.as_ptr(), transfer.len(), &mut event),
            0
        );
        assert_eq!(
            lydite_xmss_sizes(scheme, &mut key_size, &mut signature_size),
            0
        );
        let (mut xmss_key, mut xmss_signature) = (vec![0; key_size], vec![0; signature_size]);
        let path = place(0);
        let made = xmss_key.as_mut_ptr();
        assert_eq!(
            lydite_xmss_generate(
                scheme,
                path.as_ptr(),
                path.len(),
                secret.as_ptr(),
                0,
                256,
                made
            ),
            0
        );
        assert_eq!(
            lydite_xmss_key_new(scheme, path.as_ptr(), path.len(), &mut file),
            0
        );
        let text = b"(7,\"text\")";
        let mut encoded = [0_u8; 128];
        let end = encoded.as_mut_ptr();
        assert_eq!(
            lydite_codec_encode(codec, text.as_ptr(), 10, end, 128, &mut room),
            0
        );
        assert_eq!(
            lydite_event_topic(
                b"Transfer(address,uint256)".as_ptr(),
                25,
                topics[0].as_mut_ptr()
            ),
            0
        );

        let raw = &signed[..size];
        let data = b"message";
        let o = out.as_mut_ptr();
        visit("lydite_keccak256", 2, &mut |n| {
            lydite_keccak256(n.from(0, data.as_ptr()), 7, n.from(1, o).cast_mut())
        });
        visit("lydite_keccak256_batch", 3, &mut |n| {
            let out = n.from(2, o).cast_mut();
            lydite_keccak256_batch(
                n.from(0, data.as_ptr()),
                n.from(1, offsets.as_ptr()),
                2,
                out,
            )
        });
        visit("lydite_sha256", 2, &mut |n| {
            lydite_sha256(n.from(0, data.as_ptr()), 7, n.from(1, o).cast_mut())
        });
        visit("lydite_hex_encode", 2, &mut |n| {
            lydite_hex_encode(n.from(0, data.as_ptr()), 7, o, 64, n.to(1, &mut room))
        });
        visit("lydite_hex_decode", 2, &mut |n| {
            lydite_hex_decode(n.from(0, b"0xab".as_ptr()), 4, o, 64, n.to(1, &mut room))
        });
        visit("lydite_address_checksum", 2, &mut |n| {
            lydite_address_checksum(n.from(0, address.as_ptr()), n.from(1, o).cast_mut())
        });
        let digits = b"0x1111111111111111111111111111111111111111";
        visit("lydite_address_parse", 2, &mut |n| {
            lydite_address_parse(n.from(0, digits.as_ptr()), 42, 1, n.from(1, o).cast_mut())
        });
        visit("lydite_create_address", 2, &mut |n| {
            lydite_create_address(n.from(0, address.as_ptr()), 9, n.from(1, o).cast_mut())
        });
        visit("lydite_create2_address", 4, &mut |n| {
            let [salt, code] = [1, 2].map(|i| n.from(i, hash.as_ptr()));
            lydite_create2_address(
                n.from(0, address.as_ptr()),
                salt,
                code,
                n.from(3, o).cast_mut(),
            )
        });

        let (hash, signature) = (hash.as_ptr(), signature.as_ptr());
        visit("lydite_ecrecover", 3, &mut |n| {
            lydite_ecrecover(
                n.from(0, hash),
                n.from(1, signature),
                n.from(2, o).cast_mut(),
            )
        });
        visit("lydite_ecrecover_batch", 4, &mut |n| {
            let ok = n.to(3, &mut 0_u8);
            lydite_ecrecover_batch(
                n.from(0, hash),
                n.from(1, signature),
                1,
                n.from(2, o).cast_mut(),
                ok,
            )
        });
        visit("lydite_recover_public_key", 3, &mut |n| {
            lydite_recover_public_key(
                n.from(0, hash),
                n.from(1, signature),
                n.from(2, o).cast_mut(),
            )
        });
        visit("lydite_sign", 3, &mut |n| {
            let mut out = [0_u8; 65];
            let out = n.from(2, out.as_mut_ptr()).cast_mut();
            lydite_sign(n.from(0, secret.as_ptr()), n.from(1, hash), out)
        });
        visit("lydite_verify", 3, &mut |n| {
            lydite_verify(
                n.from(0, key.as_ptr()),
                n.from(1, hash),
                n.from(2, signature),
            )
        });
        visit("lydite_public_key", 2, &mut |n| {
            lydite_public_key(n.from(0, secret.as_ptr()), n.from(1, o).cast_mut())
        });
        visit("lydite_address_from_public_key", 2, &mut |n| {
            lydite_address_from_public_key(n.from(0, key.as_ptr()), n.from(1, o).cast_mut())
        });

        visit("lydite_selector", 2, &mut |n| {
            lydite_selector(n.from(0, b"f(uint8)".as_ptr()), 8, n.from(1, o).cast_mut())
        });
        visit("lydite_event_topic", 2, &mut |n| {
            lydite_event_topic(n.from(0, b"f(uint8)".as_ptr()), 8, n.from(1, o).cast_mut())
        });
        visit("lydite_codec_new", 2, &mut |n| {
            let mut made = ptr::null_mut();
            let status = lydite_codec_new(n.from(0, b"uint8".as_ptr()), 5, n.to(1, &mut made));
            lydite_codec_free(made);
            status
        });
        visit("lydite_codec_encode", 3, &mut |n| {
            let (codec, text) = (n.from(0, codec), n.from(1, text.as_ptr()));
            lydite_codec_encode(codec, text, 10, ptr::null_mut(), 0, n.to(2, &mut room))
        });
        visit("lydite_codec_decode", 3, &mut |n| {
            let (codec, data) = (n.from(0, codec), n.from(1, encoded.as_ptr()));
            lydite_codec_decode(codec, data, 128, ptr::null_mut(), 0, n.to(2, &mut room))
        });
        visit("lydite_event_new", 2, &mut |n| {
            let mut made = ptr::null_mut();
            let signature = n.from(0, transfer.as_ptr());
            let status = lydite_event_new(signature, transfer.len(), n.to(1, &mut made));
            lydite_event_free(made);
            status
        });
        visit("lydite_event_decode", 4, &mut |n| {
            let (event, topics) = (n.from(0, event), n.from(1, topics.as_ptr()));
            let (data, nowhere) = (n.from(2, word.as_ptr()), ptr::null_mut());
            lydite_event_decode(
                event,
                topics.cast(),
                2,
                data,
                32,
                nowhere,
                0,
                n.to(3, &mut room),
            )
        });

        visit("lydite_tx_hash", 2, &mut |n| {
            lydite_tx_hash(n.from(0, raw.as_ptr()), raw.len(), n.from(1, o).cast_mut())
        });
        visit("lydite_tx_sender", 2, &mut |n| {
            lydite_tx_sender(n.from(0, raw.as_ptr()), raw.len(), n.from(1, o).cast_mut())
        });
        visit("lydite_tx_sender_batch", 4, &mut |n| {
            let offsets = [0, raw.len()];
            let (data, offsets) = (n.from(0, raw.as_ptr()), n.from(1, offsets.as_ptr()));
            lydite_tx_sender_batch(data, offsets, 1, n.from(2, o).cast_mut(), n.to(3, &mut 0))
        });
        visit("lydite_tx_sign", 3, &mut |n| {
            let (transaction, secret) = (n.of(0, &transaction), n.from(1, secret.as_ptr()));
            lydite_tx_sign(transaction, secret, ptr::null_mut(), 0, n.to(2, &mut room))
        });
        visit("lydite_authorization_sign", 2, &mut |n| {
            let mut authorization = std::mem::zeroed();
            lydite_authorization_sign(n.to(0, &mut authorization), n.from(1, secret.as_ptr()))
        });
        visit("lydite_hash_message", 2, &mut |n| {
            lydite_hash_message(n.from(0, data.as_ptr()), 7, n.from(1, o).cast_mut())
        });
        let json =
            br#"{"types":{"EIP712Domain":[],"A":[]},"primaryType":"A","domain":{},"message":{}}"#;
        visit("lydite_hash_typed_data", 2, &mut |n| {
            lydite_hash_typed_data(
                n.from(0, json.as_ptr()),
                json.len(),
                n.from(1, o).cast_mut(),
            )
        });
        visit("lydite_precompile", 3, &mut |n| {
            let (data, gas) = (n.from(0, data.as_ptr()), n.to(1, &mut 0));
            let room = n.to(2, &mut room);
            lydite_precompile(4, 14, data, 7, 1000, gas, ptr::null_mut(), 0, room)
        });
        visit("lydite_syrup_check", 1, &mut |n| {
            lydite_syrup_check(n.from(0, b"1+".as_ptr()), 2)
        });
        visit("lydite_syrup_content_id", 2, &mut |n| {
            lydite_syrup_content_id(n.from(0, b"1+".as_ptr()), 2, n.from(1, o).cast_mut())
        });

        visit("lydite_xmss_sizes", 2, &mut |n| {
            lydite_xmss_sizes(scheme, n.to(0, &mut key_size), n.to(1, &mut signature_size))
        });
        let (message, made) = (&[1_u8; 32], xmss_signature.as_mut_ptr());
        assert_eq!(
            lydite_xmss_key_sign(file, 0, message.as_ptr(), made, signature_size, &mut room),
            0
        );
        visit("lydite_xmss_key_sign", 3, &mut |n| {
            let mut signature = vec![0; signature_size];
            let (file, message, room) = (n.of(0, &*file), n.of(1, message), n.to(2, &mut room));
            let out = signature.as_mut_ptr();
            lydite_xmss_key_sign(
                file,
                next() as u32,
                message.cast(),
                out,
                signature_size,
                room,
            )
        });
        visit("lydite_xmss_verify", 3, &mut |n| {
            let key = n.from(0, xmss_key.as_ptr());
            let (message, signature) = (
                n.from(1, message.as_ptr()),
                n.from(2, xmss_signature.as_ptr()),
            );
            lydite_xmss_verify(scheme, key, key_size, 0, message, signature, signature_size)
        });
        visit("lydite_xmss_verify_batch", 5, &mut |n| {
            let (key, epoch) = (n.from(0, xmss_key.as_ptr()), n.of(1, &0));
            let (message, signature) = (
                n.from(2, message.as_ptr()),
                n.from(3, xmss_signature.as_ptr()),
            );
            lydite_xmss_verify_batch(scheme, 1, key, epoch, message, signature, n.to(4, &mut 0))
        });
        visit("lydite_xmss_generate", 3, &mut |n| {
            let (path, mut key) = (place(next()), vec![0_u8; key_size]);
            let (pointer, seed) = (n.from(0, path.as_ptr()), n.from(1, secret.as_ptr()));
            let key = n.from(2, key.as_mut_ptr()).cast_mut();
            lydite_xmss_generate(scheme, pointer, path.len(), seed, 0, 1, key)
        });
        visit("lydite_xmss_adopt", 1, &mut |n| {
            let path = place(next());
            std::fs::copy(place(0), &path).unwrap();
            lydite_xmss_adopt(scheme, n.from(0, path.as_ptr()), path.len(), 3)
        });
        visit("lydite_xmss_key_new", 2, &mut |n| {
            let (path, mut opened) = (place(next()), ptr::null_mut());
            std::fs::copy(place(0), &path).unwrap();
            assert_eq!(lydite_xmss_adopt(scheme, path.as_ptr(), path.len(), 0), 0);
            let pointer = n.from(0, path.as_ptr());
            let status = lydite_xmss_key_new(scheme, pointer, path.len(), n.to(1, &mut opened));
            lydite_xmss_key_free(opened);
            status
        });
        let mut key = vec![0_u8; key_size];
        visit("lydite_xmss_key_public_key", 2, &mut |n| {
            lydite_xmss_key_public_key(n.from(0, file), n.from(1, key.as_mut_ptr()).cast_mut())
        });
        visit("lydite_xmss_key_epochs", 2, &mut |n| {
            lydite_xmss_key_epochs(n.from(0, file), n.to(1, &mut std::mem::zeroed()))
        });
        visit("lydite_xmss_key_prepare", 1, &mut |n| {
            lydite_xmss_key_prepare(n.from(0, file), 100)
        });
        visit("lydite_xmss_key_prepare_ahead", 1, &mut |n| {
            lydite_xmss_key_prepare_ahead(n.from(0, file), 1_000_000_000)
        });
        lydite_xmss_key_free(file);
        lydite_event_free(event);
        lydite_codec_free(codec);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// The functions in the header that return a status, and whether their comments say that they allocate.
fn of_the_header() -> BTreeMap<String, bool> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/lydite.h");
    let header = std::fs::read_to_string(path).unwrap();
    let (mut found, mut comment) = (BTreeMap::new(), String::new());
    for line in header.lines() {
        if let Some(text) = line.strip_prefix("//") {
            comment += text;
        } else {
            if let Some(rest) = line.strip_prefix("lydite_status ") {
                let name = rest.split('(').next().unwrap();
                let allocates =
                    comment.to_lowercase().contains("allocates") || name.ends_with("_new");
                found.insert(name.to_owned(), allocates);
            }
            comment.clear();
        }
    }
    found
}

#[test]
fn null_is_refused_by_every_function() {
    let mut visited = Vec::new();
    every_function(&mut |name, pointers, call| {
        visited.push(name.to_owned());
        for pointer in 0..pointers {
            assert_eq!(
                call(Null(pointer)),
                LYDITE_ERROR_ARGUMENT,
                "{name}, pointer {pointer}"
            );
            // SAFETY: the message is NUL-terminated, and valid until the next failure on this thread.
            let message = unsafe { CStr::from_ptr(lydite_last_error()) };
            assert!(
                message
                    .to_str()
                    .unwrap()
                    .ends_with(": expected a pointer, found NULL"),
                "{name}: {message:?}"
            );
        }
        assert_eq!(call(NONE), 0, "{name}");
    });
    visited.sort();
    assert!(visited.iter().eq(of_the_header().keys()), "{visited:?}");
}

#[test]
fn nothing_is_allocated_that_is_not_named() {
    let header = of_the_header();
    let mut wrong = Vec::new();
    every_function(&mut |name, _, call| {
        let before = ALLOCATIONS.get();
        assert_eq!(call(NONE), 0, "{name}");
        let count = ALLOCATIONS.get() - before;
        if (count != 0) != header[name] {
            wrong.push((name.to_owned(), count));
        }
    });
    assert!(wrong.is_empty(), "{wrong:?}");
}
