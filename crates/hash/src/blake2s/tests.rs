use proptest::prelude::*;

use super::*;

fn hex(digits: &str) -> [u8; 32] {
    core::array::from_fn(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap_or_default())
}

/// "abc" is from RFC 7693, appendix B; all are in `tests/xmss/blake2s` of ethereum/cryptography-specs at c98bebb1 and
/// 785e5e0e.
#[test]
fn published_vectors() {
    let bytes: [u8; 65] = core::array::from_fn(|i| i as u8);
    for (data, digest) in [
        (
            &b"abc"[..],
            "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982",
        ),
        (
            b"",
            "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9",
        ),
        (
            &bytes[..63],
            "e57cb79487dd57902432b250733813bd96a84efce59f650fac26e6696aefafc3",
        ),
        (
            &bytes[..64],
            "56f34e8b96557e90c1f24b52d0c89d51086acf1b00f634cf1dde9233b8eaaa3e",
        ),
        (
            &bytes,
            "1b53ee94aaf34e4b159d48de352c7f0661d0a40edff95a0b1639b4090e974472",
        ),
    ] {
        assert_eq!(blake2s256(data), hex(digest));
        assert_eq!(reference::hash(data), hex(digest));
    }
}

#[test]
fn every_length_is_that_of_the_reference() {
    let data: std::vec::Vec<u8> = (0..400_u32).map(|i| (i * i / 8) as u8).collect();
    for length in (0..data.len()).step_by(if cfg!(miri) { 63 } else { 1 }) {
        assert_eq!(
            blake2s256(&data[..length]),
            reference::hash(&data[..length]),
            "{length}"
        );
    }
}

/// Hashes `count` inputs of `N` bytes with every backend.
fn batch<const N: usize>(count: usize) {
    let inputs: std::vec::Vec<[u8; N]> = (0..count)
        .map(|i| core::array::from_fn(|j| (i * 31 + j * 7) as u8))
        .collect();
    for backend in Backend::available() {
        let mut digests = std::vec![[0; 32]; count];
        assert_eq!(backend.blake2s256_batch(&inputs, &mut digests), Ok(()));
        for (input, digest) in inputs.iter().zip(&digests) {
            assert_eq!(*digest, reference::hash(input), "{backend:?} {N} {count}");
        }
    }
}

#[test]
fn batches_of_every_backend() {
    let counts: &[usize] = if cfg!(miri) {
        &[1, 17]
    } else {
        &[0, 1, 15, 16, 17, 40]
    };
    for &count in counts {
        batch::<0>(count);
        batch::<1>(count);
        batch::<63>(count);
        batch::<64>(count);
        batch::<65>(count);
        batch::<128>(count);
        batch::<704>(count);
    }
    let mut digests = [[0; 32]; 2];
    assert_eq!(
        blake2s256_batch(&[[0; 3]], &mut digests),
        Err(Error::BatchLength {
            inputs: 1,
            outputs: 2
        })
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 1 } else { 256 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn any_block_is_that_of_the_reference(
        states: [[u32; 8]; LANES], blocks: [[u32; 16]; LANES], counter: u64, last: bool,
    ) {
        let mut theirs = states;
        for (state, block) in theirs.iter_mut().zip(&blocks) {
            reference::compress(state, block, counter, last);
        }
        let mut one = states;
        for (state, block) in one.iter_mut().zip(&blocks) {
            compress(state, block, counter, last);
        }
        prop_assert_eq!(one, theirs);
        let block: Columns<16> = core::array::from_fn(|i| core::array::from_fn(|l| blocks[l][i]));
        for backend in Backend::available() {
            let mut ours: Columns<8> = core::array::from_fn(|i| core::array::from_fn(|l| states[l][i]));
            backend.compress_lanes(&mut ours, block.each_ref(), counter, last);
            for (l, state) in theirs.iter().enumerate() {
                prop_assert_eq!(ours.map(|column| column[l]), *state, "{:?}", backend);
            }
            let [mut short, mut padded] = [ours; 2];
            let mut zeros = block;
            zeros[6..].fill([0; LANES]);
            let first_six: [&Column; 6] = core::array::from_fn(|i| &block[i]);
            backend.compress_lanes(&mut short, first_six, counter, last);
            backend.compress_lanes(&mut padded, zeros.each_ref(), counter, last);
            prop_assert_eq!(short, padded, "{:?}", backend);
            let mut initial = INITIAL.map(|word| [word; LANES]);
            backend.compress_lanes(&mut initial, first_six, counter, last);
            let mut first = [[0; LANES]; 5];
            backend.compress_first(first_six, counter, last, &mut first);
            prop_assert_eq!(&first[..], &initial[..5], "{:?}", backend);
        }
    }
}
