//! Malformed inputs of the `ethereum` decoders.

use anyhow::{Result, bail};
use num_bigint::BigUint;

use super::super::vectors::blocks;
use crate::random::Random;
use crate::truth::{abi, hex, rlp, unhex};
use crate::wire::be32;

/// Malformed inputs of a decoder, each a bare element (no length prefix, no array). All of them must be rejected.
pub fn malformed(name: &str) -> Result<Vec<Vec<u8>>> {
    let zeros = |count: usize| vec![0u8; count];
    let word = |low: u64| be32(&BigUint::from(low));
    Ok(match name {
        "neg:hex_decode_32b" => {
            let good = hex(&Random::new(1).bytes(32)).into_bytes();
            bad_digits(
                &good,
                0,
                &[good[..63].to_vec(), [good.as_slice(), b"a"].concat()],
            )
        }
        "neg:address_from_hex" => {
            let good = format!("0x{}", hex(&Random::new(2).bytes(20))).into_bytes();
            let wrong = [
                good[..41].to_vec(),
                good[..40].to_vec(),
                [good.as_slice(), b"a"].concat(),
                [good.as_slice(), b"ab"].concat(),
                b"0x".to_vec(),
                Vec::new(),
                [b"1x", &good[2..]].concat(),
                [b"0x0x", &good[4..]].concat(),
            ];
            bad_digits(&good, 2, &wrong)
        }
        "neg:abi_decode_dynamic_strict" => {
            let encode =
                |text: &[u8], data: &[u8]| abi::tuple(&[abi::bytes(text), abi::bytes(data)]);
            let good = encode(b"text", b"bytes");
            let with = |at: usize, byte: u8| {
                let mut bad = good.clone();
                bad[at] = byte;
                bad
            };
            let mut bad = malformed("neg:abi_decode_dynamic")?;
            // The first and last padding bytes of the string and the bytes.
            bad.extend([100, 127, 165, 191].map(|at| with(at, 1)));
            // Invalid UTF-8, also after several blocks of ASCII: stray, truncated, overlong, surrogate, above U+10FFFF.
            for text in [
                "80", "c3", "e9a6", "c0af", "e08080", "eda080", "f4908080", "ff",
            ] {
                let text = unhex(text.as_bytes())?;
                bad.push(encode(&text, b"bytes"));
                bad.push(encode(&[&[b'a'; 77], &text[..]].concat(), b""));
            }
            // Non-canonical offsets: both equal, in reverse order, with a gap.
            bad.push(with(63, 0x40));
            bad.push([word(0x80), word(0x40), good[64..].to_vec()].concat());
            bad.push([word(0x60), word(0xa0), word(0), good[64..].to_vec()].concat());
            bad
        }
        "neg:abi_decode_dynamic" => {
            let good = abi::tuple(&[abi::bytes(b"text"), abi::bytes(b"bytes")]);
            let with = |at: usize, value: &[u8]| {
                let mut bad = good.clone();
                bad[at..at + 32].copy_from_slice(value);
                bad
            };
            let huge = [0xff; 32];
            let mut above = zeros(32);
            above[23] = 1; // 2^64: a decoder that keeps 64 bits of it sees 0
            vec![
                Vec::new(),
                good[..31].to_vec(),
                good[..63].to_vec(),
                good[..64].to_vec(),
                good[..95].to_vec(),
                good[..good.len() - 33].to_vec(),
                with(0, &huge),
                with(32, &huge),
                with(64, &huge),
                with(128, &huge),
                with(0, &word(good.len() as u64)),
                with(0, &word(1 << 40)),
                with(32, &word(0x7fff_ffff_ffff_ffe0)),
                with(64, &word(1 << 40)),
                with(128, &word(u64::MAX)),
                with(64, &above),
                with(128, &above),
                with(0, &[above[..31].to_vec(), vec![0x40]].concat()),
            ]
        }
        "neg:rlp_decode_u256" => vec![
            Vec::new(),
            vec![0x00],                                     // zero must be 80
            vec![0x81, 0x05],                               // a byte below 0x80 with a length
            vec![0x82, 0x00, 0x01],                         // leading zero
            vec![0x88, 0, 0, 0, 0, 0, 0, 0, 1],             // leading zeros
            vec![0x88, 1, 2, 3],                            // truncated
            vec![0xb8, 0x01, 0xff],                         // long form of a short length
            [vec![0xb8, 0x20], vec![0xff; 32]].concat(),    // the same with 32 bytes
            [vec![0xb9, 0x00, 0x38], vec![1; 56]].concat(), // leading zero in the length
            [vec![0xa1, 0x01], zeros(32)].concat(),         // 2^256
            [vec![0xb8, 0x38], vec![1; 56]].concat(),       // 56 bytes
            vec![0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            vec![0xb8],
            vec![0xc0], // a list
            vec![0xc1, 0x01],
            vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        ],
        "neg:tx_decode" => malformed_transactions()?,
        other => bail!("no malformed inputs for {other}"),
    })
}

/// A valid text with a wrong character at various positions, followed by further invalid texts.
fn bad_digits(good: &[u8], first: usize, wrong: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut out = wrong.to_vec();
    for (at, bad) in b"g/:@G`{ \n\0\x80\xff\xb0x".iter().enumerate() {
        let mut text = good.to_vec();
        text[first + (at * 7) % (good.len() - first)] = *bad;
        out.push(text);
    }
    for at in [
        first,
        first + 1,
        good.len() / 2,
        good.len() - 2,
        good.len() - 1,
    ] {
        let mut text = good.to_vec();
        text[at] = b'g';
        out.push(text);
    }
    out
}

fn malformed_transactions() -> Result<Vec<Vec<u8>>> {
    let good = blocks()?.swap_remove(0);
    let number = |n: u64| rlp::number(&BigUint::from(n));
    // A type 2 transaction whose fields can be replaced individually.
    let fields = [
        number(1),
        number(7),
        number(1000),
        number(2000),
        number(21_000),
        rlp::text(&[0x11; 20]),
        number(5),
        rlp::text(b""),
        rlp::list(&[]),
        number(1),
        rlp::text(&[0x22; 32]),
        rlp::text(&[0x33; 32]),
    ];
    let with = |at: usize, field: Vec<u8>| {
        let mut fields = fields.to_vec();
        fields[at] = field;
        [vec![2], rlp::list(&fields)].concat()
    };
    let mut bad = vec![
        Vec::new(),
        vec![2],
        vec![2, 0xc0],
        vec![2, 0x80],
        good[..good.len() - 1].to_vec(),
        good[..good.len() / 2].to_vec(),
        [good.as_slice(), &[0]].concat(),
        [&[0x7f], &good[1..]].concat(),
        [&[2, 2], &good[1..]].concat(),
        with(1, vec![0x00]),
        with(1, vec![0x81, 0x07]),
        with(1, vec![0x82, 0x00, 0x07]),
        with(1, [vec![0x89, 1], vec![0; 8]].concat()),
        with(4, vec![0x82, 0x00, 0x07]),
        with(5, rlp::text(&[0x11; 19])),
        with(5, rlp::text(&[0x11; 21])),
        with(6, vec![0x82, 0x00, 0x07]),
        with(8, rlp::text(b"")),
        with(8, rlp::list(&[rlp::text(&[1; 20])])),
        with(8, rlp::list(&[rlp::list(&[rlp::text(&[1; 20])])])),
        with(10, vec![0x82, 0x00, 0x07]),
    ];
    for fields in [&fields[..11], &fields[..10], &fields[..1]] {
        bad.push([vec![2], rlp::list(fields)].concat());
    }
    bad.push([vec![2], rlp::list(&[&fields[..], &[number(1)]].concat())].concat());
    Ok(bad)
}
