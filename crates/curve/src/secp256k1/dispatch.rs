//! Backend selection. This is the only place that calls kernels with specific CPU instructions.

#[cfg(target_arch = "x86_64")]
use lydite_hash::cpu::{Adx, Avx2Fma, Avx512Ifma, AvxIfma, Ifma256};

#[cfg(target_arch = "x86_64")]
use super::x86_64::{adx, avx2fma_x8, avx512ifma_x8, ifma256_x8};
use super::{
    curve::Secp256k1,
    field::{FieldElement, FieldRepr, PortablePublic, PortableSecret},
    generator::{self, Digits},
    multiply::multiply_add_vartime,
    scalar::{Scalar, Signed128},
    secret_multiply, tables,
};
use crate::group::{Affine, Jacobian};
#[cfg(target_arch = "x86_64")]
use crate::lanes::LANES;

type Point = Affine<Secp256k1>;

/// Entries in the table of odd multiples of a variable point: window 5.
const POINT_ENTRIES: usize = 8;

/// A set of kernels for point arithmetic. A value exists only if the CPU supports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    /// One point at a time, on every target.
    Portable,
    /// One point at a time: BMI2 and ADX.
    #[cfg(target_arch = "x86_64")]
    Adx(Adx),
    /// Eight points at a time: AVX2 and FMA. Single ones as in `Adx`, or `Portable` without it.
    #[cfg(target_arch = "x86_64")]
    Avx2FmaX8(Option<Adx>, Avx2Fma),
    /// Eight points at a time: IFMA for vectors of 256 bits, in the form of AVX-IFMA if there is evidence of it. Single
    /// ones as in `Adx`.
    #[cfg(target_arch = "x86_64")]
    Ifma256X8(Adx, Ifma256, Option<AvxIfma>),
    /// Eight points at a time, and single ones as in `Adx`: AVX-512F and AVX-512IFMA, BMI2 and ADX.
    #[cfg(target_arch = "x86_64")]
    Avx512IfmaX8(Adx, Avx512Ifma),
}

impl Backend {
    /// Returns the fastest backend for this CPU.
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let adx = Adx::detect();
            if let Some((adx, ifma)) = adx.zip(Avx512Ifma::detect()) {
                return Self::Avx512IfmaX8(adx, ifma);
            }
            if let Some((adx, ifma)) = adx.zip(Ifma256::detect()) {
                return Self::Ifma256X8(adx, ifma, AvxIfma::detect());
            }
            if let Some(fma) = Avx2Fma::detect() {
                return Self::Avx2FmaX8(adx, fma);
            }
            if let Some(adx) = adx {
                return Self::Adx(adx);
            }
        }
        Self::Portable
    }

    /// Returns all backends that this CPU supports.
    #[cfg(test)]
    pub(super) fn available() -> impl Iterator<Item = Self> {
        [
            Some(Self::Portable),
            #[cfg(target_arch = "x86_64")]
            Adx::detect().map(Self::Adx),
            #[cfg(target_arch = "x86_64")]
            Avx2Fma::detect().map(|fma| Self::Avx2FmaX8(None, fma)),
            #[cfg(target_arch = "x86_64")]
            Avx2Fma::detect().map(|fma| Self::Avx2FmaX8(Adx::detect(), fma)),
            #[cfg(target_arch = "x86_64")]
            Adx::detect()
                .zip(Ifma256::detect())
                .map(|(adx, ifma)| Self::Ifma256X8(adx, ifma, AvxIfma::detect())),
            #[cfg(target_arch = "x86_64")]
            Adx::detect()
                .zip(Avx512Ifma::detect())
                .map(|(adx, ifma)| Self::Avx512IfmaX8(adx, ifma)),
        ]
        .into_iter()
        .flatten()
    }

    #[cfg(target_arch = "x86_64")]
    fn has_adx(self) -> bool {
        !matches!(self, Self::Portable | Self::Avx2FmaX8(None, _))
    }

    /// Minimum number of public points for which eight lanes pay off; `None` if this backend has no lanes.
    #[cfg(target_arch = "x86_64")]
    fn public_x8_from(self) -> Option<usize> {
        match self {
            Self::Portable | Self::Adx(_) => None,
            Self::Avx2FmaX8(None, _) => Some(4),
            Self::Avx2FmaX8(Some(_), _) => Some(6),
            Self::Ifma256X8(..) => Some(4),
            Self::Avx512IfmaX8(..) => Some(2),
        }
    }

    /// Minimum number of secret multiples of the generator for which eight lanes pay off; `None` if this backend has no
    /// lanes.
    #[cfg(target_arch = "x86_64")]
    fn secret_x8_from(self) -> Option<usize> {
        match self {
            Self::Portable | Self::Adx(_) => None,
            Self::Avx2FmaX8(None, _) => Some(4),
            Self::Avx2FmaX8(Some(_), _) => Some(6),
            Self::Ifma256X8(..) | Self::Avx512IfmaX8(..) => Some(4),
        }
    }

    /// Computes `k G` for each k, which must be at least 1. Constant-time.
    pub(super) fn multiply_generator(self, k: &[Scalar], out: &mut [Jacobian<Secp256k1>]) {
        debug_assert_eq!(k.len(), out.len());
        #[cfg(target_arch = "x86_64")]
        if let Some(least) = self.secret_x8_from() {
            for (k, out) in k.chunks(LANES).zip(out.chunks_mut(LANES)) {
                if k.len() < least {
                    for (k, out) in k.iter().zip(out) {
                        *out = self.multiply_generator_by_one(k);
                    }
                    continue;
                }
                // Unused lanes repeat the last item.
                let last = k.len() - 1;
                let digits = core::array::from_fn(|lane| Digits::new(&k[lane.min(last)]));
                let comb = tables::comb();
                let products = match self {
                    // SAFETY: the backend holds evidence of AVX-512F and IFMA.
                    Self::Avx512IfmaX8(..) => unsafe {
                        avx512ifma_x8::multiply_generator_x8(comb, &digits)
                    },
                    // SAFETY: the backend holds evidence of AVX2 and AVX-IFMA.
                    Self::Ifma256X8(.., Some(_)) => unsafe {
                        ifma256_x8::multiply_generator::<true>(comb, &digits)
                    },
                    // SAFETY: the backend holds evidence of AVX2 and IFMA, and not in the form of AVX-IFMA.
                    Self::Ifma256X8(.., None) => unsafe {
                        ifma256_x8::multiply_generator::<false>(comb, &digits)
                    },
                    // SAFETY: the other backend with lanes holds evidence of AVX2 and FMA.
                    _ => unsafe { avx2fma_x8::multiply_generator(comb, &digits) },
                };
                for ((out, product), digits) in out.iter_mut().zip(products).zip(&digits) {
                    *out = generator::complete(product, comb, digits);
                }
            }
            return;
        }
        for (k, out) in k.iter().zip(out) {
            *out = self.multiply_generator_by_one(k);
        }
    }

    /// Computes `k G`. k must be at least 1. Constant-time.
    fn multiply_generator_by_one(self, k: &Scalar) -> Jacobian<Secp256k1> {
        let (comb, digits) = (tables::comb(), Digits::new(k));
        #[cfg(target_arch = "x86_64")]
        if let Self::Avx512IfmaX8(..) = self {
            // SAFETY: the backend holds evidence of AVX-512F and IFMA.
            let product = unsafe { avx512ifma_x8::multiply_generator_x1(comb, &digits) };
            return generator::complete(product, comb, &digits);
        }
        #[cfg(target_arch = "x86_64")]
        if self.has_adx() {
            return Secp256k1::sum(&generator::multiply_generator::<Secp256k1<adx::Secret>>(
                comb, &digits,
            ));
        }
        Secp256k1::sum(&generator::multiply_generator::<Secp256k1<PortableSecret>>(
            comb, &digits,
        ))
    }

    /// Computes `k P`, with k given by its digits (`Scalar::split_for_digits`). Constant-time in k.
    pub(super) fn multiply_secret(
        self,
        point: &Point,
        digits: &[[u64; 3]; 2],
    ) -> Jacobian<Secp256k1> {
        #[cfg(target_arch = "x86_64")]
        if self.has_adx() {
            let point = Secp256k1::<adx::Secret>::point(point);
            return Secp256k1::sum(&secret_multiply::multiply_secret(&point, digits));
        }
        let point = Secp256k1::<PortableSecret>::point(point);
        Secp256k1::sum(&secret_multiply::multiply_secret(&point, digits))
    }

    /// For each pair, returns the point with this x and a y of this parity, if there is one. Variable-time.
    pub(super) fn lift_x(self, x: &[(FieldElement, bool)], out: &mut [Option<Point>]) {
        debug_assert_eq!(x.len(), out.len());
        #[cfg(target_arch = "x86_64")]
        if let Some(least) = self.public_x8_from() {
            for (x, out) in x.chunks(LANES).zip(out.chunks_mut(LANES)) {
                if x.len() < least {
                    for (x, out) in x.iter().zip(out) {
                        *out = self.lift_x_of_one(x);
                    }
                    continue;
                }
                let words =
                    core::array::from_fn(|lane| x[lane.min(x.len() - 1)].0.normalize().to_words());
                let roots = match self {
                    // SAFETY: the backend holds evidence of AVX-512F and IFMA.
                    Self::Avx512IfmaX8(..) => unsafe { avx512ifma_x8::lift_x(&words) },
                    // SAFETY: the backend holds evidence of AVX2 and AVX-IFMA.
                    Self::Ifma256X8(.., Some(_)) => unsafe { ifma256_x8::lift_x::<true>(&words) },
                    // SAFETY: the backend holds evidence of AVX2 and IFMA, and not in the form of AVX-IFMA.
                    Self::Ifma256X8(.., None) => unsafe { ifma256_x8::lift_x::<false>(&words) },
                    // SAFETY: the other backend with lanes holds evidence of AVX2 and FMA.
                    _ => unsafe { avx2fma_x8::lift_x(&words) },
                };
                for ((&(x, odd), root), out) in x.iter().zip(roots).zip(out) {
                    *out = Affine::from_root_vartime(x, root, odd);
                }
            }
            return;
        }
        for (x, out) in x.iter().zip(out) {
            *out = self.lift_x_of_one(x);
        }
    }

    /// Returns the point with this x and a y of this parity, if there is one. Variable-time.
    pub(super) fn lift_x_of_one(self, x: &(FieldElement, bool)) -> Option<Point> {
        #[cfg(target_arch = "x86_64")]
        if self.has_adx() {
            return lift_x_in::<adx::Public>(x);
        }
        lift_x_in::<PortablePublic>(x)
    }

    /// Computes `a P + b G` for each point and its (a, b). Variable-time.
    pub(super) fn multiply_add(
        self,
        points: &[Point],
        factors: &[(Scalar, Scalar)],
        out: &mut [Jacobian<Secp256k1>],
    ) {
        debug_assert!(points.len() == factors.len() && points.len() == out.len());
        #[cfg(target_arch = "x86_64")]
        if let Some(least) = self.public_x8_from() {
            for ((points, factors), out) in points
                .chunks(LANES)
                .zip(factors.chunks(LANES))
                .zip(out.chunks_mut(LANES))
            {
                if points.len() < least {
                    for ((point, factors), out) in points.iter().zip(factors).zip(out) {
                        *out = self.multiply_add_of_one(point, factors);
                    }
                    continue;
                }
                // Unused lanes repeat the last item.
                let last = points.len() - 1;
                let lanes = core::array::from_fn(|lane| points[lane.min(last)]);
                let a = core::array::from_fn(|lane| factors[lane.min(last)].0.split_vartime());
                let b = core::array::from_fn(|lane| factors[lane.min(last)].1.odd_halves_vartime());
                let generator = tables::generator();
                let sums = match self {
                    // SAFETY: the backend holds evidence of AVX-512F and IFMA.
                    Self::Avx512IfmaX8(..) => unsafe {
                        avx512ifma_x8::multiply_add(&lanes, &a, generator, &b)
                    },
                    // SAFETY: the backend holds evidence of AVX2 and AVX-IFMA.
                    Self::Ifma256X8(.., Some(_)) => unsafe {
                        ifma256_x8::multiply_add::<true>(&lanes, &a, generator, &b)
                    },
                    // SAFETY: the backend holds evidence of AVX2 and IFMA, and not in the form of AVX-IFMA.
                    Self::Ifma256X8(.., None) => unsafe {
                        ifma256_x8::multiply_add::<false>(&lanes, &a, generator, &b)
                    },
                    // SAFETY: the other backend with lanes holds evidence of AVX2 and FMA.
                    _ => unsafe { avx2fma_x8::multiply_add(&lanes, &a, generator, &b) },
                };
                for (lane, (sum, out)) in sums.into_iter().zip(out).enumerate() {
                    // Z = 0: infinity, or an exceptional case of the lanes' formulas.
                    *out = if sum.z.is_zero() {
                        self.multiply_add_of_one(&points[lane], &factors[lane])
                    } else {
                        sum
                    };
                }
            }
            return;
        }
        for ((point, factors), out) in points.iter().zip(factors).zip(out) {
            *out = self.multiply_add_of_one(point, factors);
        }
    }

    /// Computes `a P + b G`. Variable-time.
    pub(super) fn multiply_add_of_one(
        self,
        point: &Point,
        factors: &(Scalar, Scalar),
    ) -> Jacobian<Secp256k1> {
        #[cfg(target_arch = "x86_64")]
        if self.has_adx() {
            return multiply_add_in::<adx::Public>(point, factors);
        }
        multiply_add_in::<PortablePublic>(point, factors)
    }
}

/// Returns the point with this x and a y of this parity, if there is one, using the field representation F.
/// Variable-time.
fn lift_x_in<F: FieldRepr>(&(x, odd): &(FieldElement, bool)) -> Option<Point> {
    let x = F::from_words(x.reduced());
    Affine::<Secp256k1<F>>::from_x_vartime(x, odd).map(|p| Secp256k1::point(&p))
}

/// Computes `a P + b G` using the field representation F. Variable-time.
fn multiply_add_in<F: FieldRepr>(point: &Point, (a, b): &(Scalar, Scalar)) -> Jacobian<Secp256k1> {
    let point = Secp256k1::<F>::point(point);
    let (a, b): ([Signed128; 2], [Signed128; 2]) = (a.split_vartime(), b.halves());
    let sum = multiply_add_vartime::<_, POINT_ENTRIES>(&point, &a, tables::generator(), &b);
    Secp256k1::sum(&sum)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use alloc::vec::Vec;

    use num_bigint::{BigInt, BigUint};

    #[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
    use super::super::field::saturated;
    use super::{
        super::{
            field::words32,
            generator::WINDOWS,
            scalar::ORDER,
            tests::{bytes32, to_big, to_words},
        },
        *,
    };

    fn scalar(seed: u64) -> Scalar {
        Scalar::from_bytes_reduced(&bytes32(seed))
    }

    fn small(k: u64) -> Scalar {
        let mut bytes = [0; 32];
        bytes[24..].copy_from_slice(&k.to_be_bytes());
        Scalar::from_bytes_reduced(&bytes)
    }

    fn affine(sum: Jacobian<Secp256k1>) -> Option<[[u64; 4]; 2]> {
        sum.to_affine().map(|p| [p.x.reduced(), p.y.reduced()])
    }

    fn multiple_of_generator(k: &Scalar) -> Point {
        multiply_add_in::<FieldElement>(&Point::generator(), &(small(0), *k))
            .to_affine()
            .unwrap()
            .normalize()
    }

    fn same_as_portable(points: &[Point], factors: &[(Scalar, Scalar)]) {
        for backend in Backend::available() {
            let mut sums = alloc::vec![Jacobian::<Secp256k1>::INFINITY; points.len()];
            backend.multiply_add(points, factors, &mut sums);
            for (i, sum) in sums.into_iter().enumerate() {
                assert_eq!(
                    affine(sum),
                    affine(multiply_add_in::<FieldElement>(&points[i], &factors[i])),
                    "{backend:?}, item {i}"
                );
            }
        }
        for (point, factors) in points.iter().zip(factors) {
            // The representations of other targets.
            let expected = affine(multiply_add_in::<FieldElement>(point, factors));
            let narrow = multiply_add_in::<words32::Element>(point, factors);
            assert_eq!(affine(narrow), expected);
            #[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
            assert_eq!(
                affine(multiply_add_in::<saturated::Public>(point, factors)),
                expected
            );
        }
    }

    #[test]
    fn every_backend_multiplies_like_one_by_one_at_every_length() {
        let points: Vec<Point> = (0..19).map(|i| multiple_of_generator(&scalar(i))).collect();
        let factors: Vec<_> = (0..19)
            .map(|i| (scalar(100 + i), scalar(200 + i)))
            .collect();
        for length in 0..=points.len() {
            same_as_portable(&points[..length], &factors[..length]);
        }
    }

    /// Factors and points for which a partial sum equals its addend or its opposite, or the result is infinity.
    #[test]
    fn every_backend_handles_exceptional_sums() {
        let lambda = Scalar::from_bytes_reduced(&[
            0x53, 0x63, 0xad, 0x4c, 0xc0, 0x5c, 0x30, 0xe0, 0xa5, 0x26, 0x1c, 0x02, 0x88, 0x12,
            0x64, 0x5a, 0x12, 0x2e, 0x22, 0xea, 0x20, 0x81, 0x66, 0x78, 0xdf, 0x02, 0x96, 0x7c,
            0x1b, 0x23, 0xbd, 0x72,
        ]);
        let mut bytes = [0; 32];
        bytes[15] = 1;
        let high = Scalar::from_bytes_reduced(&bytes); // 2^128
        let special = [
            small(0),
            small(1),
            small(2),
            small(15),
            small(16),
            small(4095),
            high,
            lambda,
        ];
        let special: Vec<Scalar> = special
            .iter()
            .flat_map(|k| [*k, k.negate(), k.add(&small(1))])
            .collect();
        let (mut points, mut factors) = (Vec::new(), Vec::new());
        for k in special.iter().filter(|k| !k.is_zero().declassify()) {
            let point = multiple_of_generator(k);
            for a in &special {
                // The last one cancels: a k G + b G = infinity.
                for b in [small(0), small(1), *a, a.mul(k), a.mul(k).negate()] {
                    points.push(point);
                    factors.push((*a, b));
                }
            }
        }
        same_as_portable(&points, &factors);
    }

    #[test]
    fn every_backend_multiplies_the_generator_at_every_length() {
        let k: Vec<Scalar> = (0..40)
            .flat_map(|i| [scalar(i), small(i + 1), small(i + 1).negate()])
            .collect();
        let expected: Vec<_> = k.iter().map(|k| Some(multiple_of_generator(k))).collect();
        let words = |p: &Option<Point>| p.map(|p| [p.x.to_words(), p.y.to_words()]);
        for backend in Backend::available() {
            for length in (0..=20).chain([k.len()]) {
                for start in [0, k.len() - length] {
                    let (k, expected) = (&k[start..][..length], &expected[start..][..length]);
                    let mut out = alloc::vec![Jacobian::<Secp256k1>::INFINITY; length];
                    backend.multiply_generator(k, &mut out);
                    for (i, (out, expected)) in out.iter().zip(expected).enumerate() {
                        assert_eq!(
                            affine(*out),
                            words(expected),
                            "{backend:?}, {i} of {length}"
                        );
                    }
                }
            }
        }
    }

    /// The multipliers for which the comb's last addition is exceptional, computed from the digits: an upper part B and
    /// a lower part A with B - A = n, so that k = A + B.
    #[test]
    fn every_backend_multiplies_exceptional_multiples() {
        let n = to_big(&ORDER);
        let sign = |digit: &BigInt, by: u32| digit << by;
        let mut found = 0;
        // The all-odd digits of +-n, recoded like those of k: from (n - 1) / 2 + 2^257.
        let bits = ((&n - 1u8) >> 1) + (BigUint::from(1u8) << 257);
        let digits: Vec<BigInt> = (0..WINDOWS)
            .map(|j| BigInt::from((&bits >> (6 * j)) & BigUint::from(63u8)) * 2 - 63)
            .collect();
        let total: BigInt = digits
            .iter()
            .enumerate()
            .map(|(j, d)| sign(d, 6 * j as u32))
            .sum();
        assert_eq!(total, n.clone().into());
        // The last additions of `multiply_generator_x8` and `_x1`: which windows are in one of the two addends.
        let uppers: [fn(usize) -> bool; 2] = [|j| j == WINDOWS - 1, |j| j / 6 % 2 == 1];
        for upper in uppers {
            for flip in [false, true] {
                let k: BigInt = digits
                    .iter()
                    .enumerate()
                    .map(|(j, d)| sign(d, 6 * j as u32) * if upper(j) == flip { -1 } else { 1 })
                    .sum();
                let Some(k) = k.to_biguint().filter(|k| *k < n && k.bit(0)) else {
                    continue;
                };
                found += 1;
                let k = Scalar::from_bytes_reduced(&crate::words::to_be(&to_words(&k)));
                for k in [k, k.negate()] {
                    let expected = multiple_of_generator(&k);
                    for backend in Backend::available() {
                        for length in [1, 8] {
                            let mut out = alloc::vec![Jacobian::<Secp256k1>::INFINITY; length];
                            backend.multiply_generator(&alloc::vec![k; length], &mut out);
                            for out in out {
                                let out = out.to_affine().unwrap().normalize();
                                assert_eq!(out.x.to_words(), expected.x.to_words());
                                assert_eq!(out.y.to_words(), expected.y.to_words());
                            }
                        }
                    }
                }
            }
        }
        assert!(found >= 2, "{found}");
    }

    #[test]
    fn every_backend_lifts_the_same_points() {
        let x: Vec<(FieldElement, bool)> = (0..21)
            .map(|i| {
                (
                    FieldElement::from_bytes(&bytes32(i)).unwrap_or(FieldElement::ONE),
                    i % 3 == 0,
                )
            })
            .chain([(FieldElement::ZERO, false), (FieldElement::ONE, true)])
            .collect();
        let expected: Vec<_> = x
            .iter()
            .map(|(x, odd)| Affine::from_x_vartime(*x, *odd))
            .collect();
        assert!(expected.iter().any(Option::is_some) && expected.iter().any(Option::is_none));
        for backend in Backend::available() {
            for length in 0..=x.len() {
                let mut points = alloc::vec![None; length];
                backend.lift_x(&x[..length], &mut points);
                let words = |p: &Option<Point>| p.map(|p| [p.x.to_words(), p.y.to_words()]);
                assert!(
                    points
                        .iter()
                        .map(words)
                        .eq(expected[..length].iter().map(words)),
                    "{backend:?}, {length}"
                );
            }
        }
    }
}
