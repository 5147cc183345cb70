use sha2::Digest as _;

use super::*;

fn streaming(backend: Backend, parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::with_backend(backend);
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}

#[test]
fn every_length_one_shot_and_streaming() {
    let data: [u8; 400] = core::array::from_fn(|i| (i * 7) as u8);
    for length in (0..data.len()).step_by(if cfg!(miri) { 111 } else { 1 }) {
        let message = &data[400 - length..];
        let expected: [u8; 32] = sha2::Sha256::digest(message).into();
        assert_eq!(sha256(message), expected, "{length} bytes");
        // Bytes after the message must not matter, nor whether there is room for the padding.
        for room in [0, 71, 72, 100] {
            let mut buffer = message.to_vec();
            buffer.resize(length + room, 0xa5);
            let digest = sha256_in_place(&mut buffer, length);
            assert_eq!(digest, expected, "{length} bytes in place");
        }
        for backend in Backend::available() {
            let mut padded = message.to_vec();
            padded.push(0x80);
            padded.resize((length + 9).next_multiple_of(64) - 8, 0);
            padded.extend_from_slice(&(8 * length as u64).to_be_bytes());
            let digest = backend.padded(&SHA256_INITIAL, padded.as_chunks().0);
            assert_eq!(digest, expected, "{backend:?}, {length} bytes, padded");
        }
        for backend in Backend::available() {
            let digest = backend.finish(&SHA256_INITIAL, message, length as u64);
            assert_eq!(digest, expected, "{backend:?}, {length} bytes");
            for split in (0..=length).step_by(if cfg!(miri) { 400 } else { 13 }) {
                let (a, b) = message.split_at(split);
                let (b, c) = b.split_at(b.len() / 2);
                let digest = streaming(backend, &[a, b, c]);
                assert_eq!(digest, expected, "{backend:?}, {length} bytes at {split}");
            }
        }
    }
}

/// FIPS 180-2, appendices B.1 to B.3, and the empty message of NIST's examples.
#[test]
fn published_examples() {
    let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    let million = std::vec![b'a'; if cfg!(miri) { 0 } else { 1_000_000 }];
    let examples: [(&[u8], [u32; 8]); 4] = [
        (
            b"",
            [
                0xe3b0_c442,
                0x98fc_1c14,
                0x9afb_f4c8,
                0x996f_b924,
                0x27ae_41e4,
                0x649b_934c,
                0xa495_991b,
                0x7852_b855,
            ],
        ),
        (
            b"abc",
            [
                0xba78_16bf,
                0x8f01_cfea,
                0x4141_40de,
                0x5dae_2223,
                0xb003_61a3,
                0x9617_7a9c,
                0xb410_ff61,
                0xf200_15ad,
            ],
        ),
        (
            two_blocks,
            [
                0x248d_6a61,
                0xd206_38b8,
                0xe5c0_2693,
                0x0c3e_6039,
                0xa33c_e459,
                0x64ff_2167,
                0xf6ec_edd4,
                0x19db_06c1,
            ],
        ),
        (
            &million,
            [
                0xcdc7_6e5c,
                0x9914_fb92,
                0x81a1_c7e2,
                0x84d7_3e67,
                0xf180_9a48,
                0xa497_200e,
                0x046d_39cc,
                0xc711_2cd0,
            ],
        ),
    ];
    let count = if cfg!(miri) { 3 } else { 4 };
    for (message, words) in &examples[..count] {
        let mut expected = [0; 32];
        for (bytes, word) in expected.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_be_bytes();
        }
        assert_eq!(sha256(message), expected);
        for backend in Backend::available() {
            let digest = backend.finish(&SHA256_INITIAL, message, message.len() as u64);
            assert_eq!(digest, expected, "{backend:?}");
        }
    }
}
