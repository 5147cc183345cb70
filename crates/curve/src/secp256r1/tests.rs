#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn table_holds_odd_multiples() {
    let g = generator_multiple::<Portable>(0);
    assert!(g.is_on_curve());
    let double = Jacobian::from(g).double();
    let mut multiple = Jacobian::from(g);
    for i in 0..GENERATOR.len() {
        let entry = generator_multiple::<Portable>(i);
        assert!(multiple.equals(&entry.into()), "{i}");
        multiple = multiple.add(&double);
    }
    assert_eq!(GENERATOR.len(), 1 << (GENERATOR_WINDOW - 2));
    // [SEC2] §2.4.2.
    assert_eq!(
        g.x.to_bytes(),
        hex_literal::hex!("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
    );
}
