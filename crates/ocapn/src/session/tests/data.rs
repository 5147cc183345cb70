//! Memory that payloads share.
use std::vec::Vec;

use super::super::data::{Data, LONG};

fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i % 251) as u8).collect()
}

#[test]
fn parts_share_at_least_half_of_the_memory() {
    let bytes = bytes(4 * LONG);
    let data = Data::from(bytes.clone());
    let part = data.part(100..4 * LONG - 100).unwrap();
    assert_eq!(*part, bytes[100..4 * LONG - 100]);
    assert_eq!(part.as_ptr(), data[100..].as_ptr());
    let half = part.part(7..7 + 2 * LONG).unwrap();
    assert_eq!(half.as_ptr(), data[107..].as_ptr());
    assert!(data.part(0..2 * LONG - 1).is_none());
    assert!(half.part(0..2 * LONG - 1).is_none());
    assert!(data.part(LONG..4 * LONG + 1).is_none());
    let Data::Shared(shared) = &data else {
        panic!("not shared");
    };
    let found = shared.part_of(&part).unwrap();
    assert_eq!((found.as_ptr(), found.len()), (part.as_ptr(), part.len()));
    assert!(shared.part_of(&bytes[100..]).is_none());
}

#[test]
fn other_data_have_their_own_memory() {
    assert!(Data::from(bytes(LONG)).part(0..LONG).is_some());
    assert!(Data::from(bytes(LONG - 1)).part(0..LONG - 1).is_none());
    let mut with_room = bytes(LONG);
    with_room.reserve_exact(LONG + 2);
    assert_eq!(Data::from(with_room).capacity(), 2 * LONG + 2);
}

#[test]
fn reduced() {
    for (length, range) in [(100, 3..97), (3 * LONG, 9..3 * LONG), (3 * LONG, 9..LONG)] {
        let bytes = bytes(length);
        let mut data = Data::from(bytes.clone());
        let copy = data.clone();
        data.reduce(range.clone());
        assert_eq!((&*data, &*copy), (&bytes[range], &*bytes));
    }
}
