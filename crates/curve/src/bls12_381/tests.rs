#![allow(clippy::unwrap_used)]

use blst::{
    blst_fp6, blst_p1_affine_generator, blst_p2_affine, blst_p2_affine_generator,
    blst_p2_uncompress, blst_precompute_lines,
};
use hex_literal::hex;
use proptest::prelude::*;

use super::*;

/// tau G2 of the ceremony, compressed. Source: [EIP-4844], the trusted setup's `g2_monomial[1]`.
const TAU: [u8; 96] = hex!(
    "b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72"
    "185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2"
);

/// What the tables of [`kzg`] hold, from the library's own function, as `examples/generate_tables.rs` writes them.
#[test]
fn tables_of_lines_are_those_of_the_points() {
    let mut tau = blst_p2_affine::default();
    // SAFETY: reads 96 bytes, writes a point.
    let read = unsafe { blst_p2_uncompress(&mut tau, TAU.as_ptr()) };
    assert_eq!(read, blst::BLST_ERROR::BLST_SUCCESS);
    // SAFETY: the pointer is to a static of the library.
    let mut negated = unsafe { *blst_p2_affine_generator() };
    negated.y = Fp2(negated.y).negate(1).0;
    for (point, name) in [(negated, "negated_generator"), (tau, "tau")] {
        let mut lines = [blst_fp6::default(); 68];
        // SAFETY: reads a point, writes 68 lines.
        unsafe { blst_precompute_lines(lines.as_mut_ptr(), &point) };
        let bytes: Vec<u8> = lines
            .iter()
            .flat_map(|line| line.fp2)
            .flat_map(|c| c.fp)
            .flat_map(|c| c.l)
            .flat_map(u64::to_le_bytes)
            .collect();
        let path = std::format!("{}/src/bls12_381/{name}.bin", env!("CARGO_MANIFEST_DIR"));
        assert!(std::fs::read(&path).unwrap() == bytes, "{name}");
    }
}

fn generator() -> [u8; G1_LENGTH] {
    // SAFETY: the pointer is to a static of the library.
    let point = unsafe { *blst_p1_affine_generator() };
    write_g1(Some(Affine {
        x: Fp(point.x),
        y: Fp(point.y),
    }))
}

fn scalar(k: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[24..].copy_from_slice(&k.to_be_bytes());
    bytes
}

/// The affine sum against the library's Jacobian one.
#[test]
fn special_sums() {
    let g = generator();
    let mut minus = g;
    minus[48..].copy_from_slice(
        &Fp::from_bytes(g.last_chunk().unwrap())
            .unwrap()
            .negate(1)
            .to_bytes(),
    );
    let zero = [0; G1_LENGTH];
    assert_eq!(g1_add(&g, &minus), Ok(zero));
    assert_eq!(g1_add(&g, &zero), Ok(g));
    assert_eq!(g1_add(&zero, &zero), Ok(zero));
    let mut sum = zero;
    for k in 0..40 {
        assert_eq!(g1_msm([(g, scalar(k))]), Ok(sum), "{k}");
        sum = g1_add(&sum, &g).unwrap();
    }
    let mut order = kzg::ORDER;
    assert_eq!(g1_msm([(g, order)]), Ok(zero));
    order[31] += 3;
    assert_eq!(g1_msm([(g, order)]), g1_msm([(g, scalar(3))]));
    assert_eq!(
        g1_msm([(g, [0xff; 32]), (zero, [1; 32])]),
        g1_msm([(g, [0xff; 32])])
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Sums of every size by the buckets against sums one by one.
    #[test]
    fn msm_is_the_sum_of_products(scalars in proptest::collection::vec(any::<[u8; 32]>(), 0..40)) {
        let pairs: Vec<_> = scalars
            .iter()
            .enumerate()
            .map(|(i, k)| (g1_msm([(generator(), scalar(i as u64 % 7))]).unwrap(), *k))
            .collect();
        let mut sum = [0; G1_LENGTH];
        for pair in &pairs {
            sum = g1_add(&sum, &g1_msm([*pair]).unwrap()).unwrap();
        }
        prop_assert_eq!(g1_msm(pairs), Ok(sum));
    }
}
