#![allow(clippy::unwrap_used)]

use lydite_hash::cpu;
use proptest::{
    array::{uniform2, uniform3, uniform6, uniform8},
    prelude::*,
};

use super::{
    super::super::{Fp, tower},
    field::Field,
    tower::{Factor, Fp2, Fp12, Loose},
};
use crate::{
    field::Field as _,
    lanes::LANES,
    montgomery::{Adx, Modulus},
    tower::Fp6,
};

type ScalarFp12 = tower::Fp12<Adx>;

/// Elements in Montgomery form, including edge values.
fn element() -> impl Strategy<Value = [u64; 4]> {
    let p = super::super::super::P::P;
    prop_oneof![
        4 => any::<[u8; 32]>().prop_map(|bytes| Fp::<Adx>::from_bytes_reduced(&bytes).to_montgomery()),
        1 => Just([0; 4]),
        1 => Just([1, 0, 0, 0]),
        1 => Just([p[0] - 1, p[1], p[2], p[3]]),
        1 => Just([u64::MAX, u64::MAX, u64::MAX, p[3] - 1]),
    ]
}

fn fp2([c0, c1]: [[u64; 4]; 2]) -> tower::Fp2<Adx> {
    tower::Fp2 {
        c0: Fp::from_montgomery(c0),
        c1: Fp::from_montgomery(c1),
    }
}

fn fp12(words: [[[u64; 4]; 2]; 6]) -> ScalarFp12 {
    let [f0, f1, f2, g0, g1, g2] = words.map(fp2);
    tower::Fp12 {
        c0: Fp6([f0, f1, f2]),
        c1: Fp6([g0, g1, g2]),
    }
}

fn has_lanes() -> bool {
    cpu::Adx::detect().is_some() && cpu::Avx512Ifma::detect().is_some()
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn products(a: &ScalarFp12, b: &ScalarFp12, line: &tower::Line<Adx>) {
    let (x, y) = (Fp12::load(a), Fp12::load(b));
    let same = |x: Fp12, a: ScalarFp12| assert!(x.store() == a);
    same(Fp12::one(), ScalarFp12::ONE);
    same(x, *a);
    same(x.mul(&y), a.mul(b));
    same(x.square(), a.square());
    // The formula is the same outside the subgroup.
    same(x.cyclotomic_square(), a.cyclotomic_square());
    same(x.conjugate(), a.conjugate());
    same(x.frobenius(), a.frobenius());
    let mut lanes = [None; LANES];
    lanes[..3].copy_from_slice(&line.map(Some));
    let factor = Factor::new(&Fp2::load(&lanes));
    same(
        x.mul_by_line([0, 1, 2].map(|lane| (&factor, lane))),
        a.mul_by_line::<1>(line),
    );
    // The result of each operation is the input of others, which tests the bounds.
    let (mut x, mut a) = (x, *a);
    for _ in 0..4 {
        (x, a) = (x.mul(&y).conjugate(), a.mul(b).conjugate());
        (x, a) = (x.square().mul(&x), a.square().mul(&a));
        (x, a) = (x.cyclotomic_square(), a.cyclotomic_square());
        same(x, a);
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn sums(a: &[Fp<Adx>; LANES], b: &[Fp<Adx>; LANES]) {
    let (x, y) = (Field::load(&a.map(Some)), Field::load(&b.map(Some)));
    let same = |x: Field, f: &dyn Fn(Fp<Adx>, Fp<Adx>) -> Fp<Adx>| {
        for (lane, x) in x.store().into_iter().enumerate() {
            assert!(x == f(a[lane], b[lane]));
        }
    };
    same(x, &|a, _| a);
    same(x.add(&y), &|a, b| a.add(&b));
    same(x.mul(&y), &|a, b| a.mul(&b));
    // Every multiple of p up to the allowed maximum, for the imaginary part as well.
    let (x, y) = (Fp2::new([x, y]), Fp2::new([y, x]));
    let sub = |a: Fp<Adx>, b| a.sub(&b);
    macro_rules! reduced {
        ($bits:literal, $($k:literal)+) => {$(
            let [re, im] = Loose::each(|i| x.limb(i).minus(y.limb(i)))
                .reduce::<$bits, $k>()
                .carried::<0>()
                .coefficients();
            same(re, &sub);
            same(im, &|a, b| sub(b, a));
        )+};
    }
    reduced!(254, 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18);
    reduced!(255, 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
        21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39);
    let zero = Loose::each(|i| x.limb(i).minus(x.limb(i))).reduce::<254, 0>();
    same(zero.carried::<0>().coefficients()[0], &|_, _| Fp::ZERO);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn tower_is_the_scalar_one(
        a in uniform6(uniform2(element())),
        b in uniform6(uniform2(element())),
        line in uniform3(uniform2(element())),
    ) {
        if has_lanes() {
            // SAFETY: `has_lanes` checked the CPU features.
            unsafe { products(&fp12(a), &fp12(b), &line.map(fp2)) };
        }
    }

    #[test]
    fn field_is_the_scalar_one(a in uniform8(element()), b in uniform8(element())) {
        if has_lanes() {
            // SAFETY: `has_lanes` checked the CPU features.
            unsafe { sums(&a.map(Fp::from_montgomery), &b.map(Fp::from_montgomery)) };
        }
    }
}
