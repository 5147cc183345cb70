//! Values with references, as trees.
use std::vec;

use super::super::{Config, Payload, Ref, Vat};
use crate::syrup::{Value, encode};

fn reference(index: u64) -> Value {
    Value::record("desc:ref", [index.into()])
}

fn refs() -> [Ref; 2] {
    let mut vat = Vat::new(Config::new(vec![]), [1; 32]);
    [vat.object(), vat.object()]
}

#[test]
fn a_tree_becomes_a_payload_in_the_order_of_its_encoding() {
    let refs = refs();
    let tree = Value::List(vec![
        Value::record("pair", [reference(1), 7.into()]),
        // The keys are sorted, and the references in the values with them.
        Value::Dictionary(vec![
            (Value::String("bb".into()), reference(1)),
            (Value::String("a".into()), Value::List(vec![reference(0)])),
        ]),
        Value::String("<8'desc:ref0+>".into()),
    ]);
    let payload = Payload::from_tree(&tree, &refs).unwrap();
    let expected =
        "[<4'pair<8'desc:ref0+>7+>{1\"a[<8'desc:ref1+>]2\"bb<8'desc:ref2+>}14\"<8'desc:ref0+>]";
    assert_eq!(std::str::from_utf8(payload.data()), Ok(expected));
    assert_eq!(payload.refs(), [refs[1], refs[0], refs[1]]);
    // It is what a builder makes of it.
    let items = payload.items().unwrap();
    assert_eq!(items[1].refs(), [refs[0], refs[1]]);
    for (index, (item, before)) in items.iter().zip([0, 1, 3]).enumerate() {
        assert_eq!(payload.item(index), Some((item.clone(), before)));
    }
    assert_eq!(payload.item(3), None);
    assert_eq!(items[0].item(0), None);
    let again = Payload::from_tree(&payload.decode().unwrap(), payload.refs()).unwrap();
    assert_eq!(again, payload);
    let plain = Value::List(vec![1.into(), Value::Set(vec![2.into(), 1.into()])]);
    let payload = Payload::from_tree(&plain, &[]).unwrap();
    assert_eq!(payload.data(), encode(&plain).unwrap());
}

#[test]
fn trees_without_a_form() {
    let refs = refs();
    let mut deep = Value::List(vec![]);
    for _ in 1..crate::syrup::Limits::DEFAULT.depth {
        deep = Value::List(vec![deep]);
    }
    assert!(Payload::from_tree(&deep, &refs).is_ok());
    let key = Value::String("a".into());
    for tree in [
        Value::List(vec![deep]),
        reference(2),
        Value::record("desc:ref", []),
        Value::record("desc:ref", [Value::String("0".into())]),
        Value::Set(vec![Value::List(vec![reference(0)])]),
        Value::Dictionary(vec![(reference(0), 1.into())]),
        Value::Dictionary(vec![(key.clone(), 1.into()), (key, 2.into())]),
        Value::Record(std::boxed::Box::new(crate::syrup::Record {
            label: reference(0),
            fields: vec![],
        })),
    ] {
        assert!(Payload::from_tree(&tree, &refs).is_err(), "{tree:?}");
    }
}
