//! Short Weierstrass curves over big integers, slow and readable: BN254 and BLS12-381 (both groups), P-256.
//!
//! The reference outputs of the precompile rows rely on algebra: points are drawn with known discrete logarithms, so
//! sums, products and pairings are known without a second implementation of them.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, ensure};
use num_bigint::BigUint;

/// A coordinate: an element of the prime field (one part) or of its quadratic extension (two parts, with `i^2 = -1`).
pub type Element = Vec<BigUint>;

/// A curve `y^2 = x^3 + a x + b` and a generator of its prime-order subgroup.
pub struct Curve {
    /// The field's prime.
    pub p: BigUint,
    /// Order of the generator.
    pub order: BigUint,
    a: Element,
    b: Element,
    /// `2^k` times the generator, for each `k`.
    powers: Vec<Point>,
}

/// An affine point, or infinity.
pub type Point = Option<(Element, Element)>;

/// Jacobian coordinates: the affine point is `(x / z^2, y / z^3)`; infinity has `z = 0`.
struct Jacobian(Element, Element, Element);

/// Parses a hexadecimal constant.
fn number(hex: &str) -> BigUint {
    BigUint::parse_bytes(hex.as_bytes(), 16).unwrap_or_default()
}

impl Curve {
    fn new(p: &str, order: &str, a: &[&str], b: &[&str], generator: [&[&str]; 2]) -> Self {
        let element =
            |parts: &[&str]| -> Element { parts.iter().map(|part| number(part)).collect() };
        let mut curve = Self {
            p: number(p),
            order: number(order),
            a: element(a),
            b: element(b),
            powers: Vec::new(),
        };
        let mut power = Some((element(generator[0]), element(generator[1])));
        for _ in 0..256 {
            let double = curve.add(&power, &power);
            curve.powers.push(power);
            power = double;
        }
        curve
    }

    fn plus(&self, x: &Element, y: &Element) -> Element {
        x.iter().zip(y).map(|(x, y)| (x + y) % &self.p).collect()
    }

    fn minus(&self, x: &Element, y: &Element) -> Element {
        x.iter()
            .zip(y)
            .map(|(x, y)| (x + &self.p - y) % &self.p)
            .collect()
    }

    fn times(&self, x: &Element, y: &Element) -> Element {
        match (x.as_slice(), y.as_slice()) {
            ([x], [y]) => vec![x * y % &self.p],
            ([x0, x1], [y0, y1]) => {
                let high = (x1 * y1) % &self.p;
                vec![
                    (x0 * y0 + &self.p - high) % &self.p,
                    (x0 * y1 + x1 * y0) % &self.p,
                ]
            }
            _ => unreachable!("elements of one curve have the same number of parts"),
        }
    }

    fn inverse(&self, x: &Element) -> Element {
        let one = |x: &BigUint| x.modinv(&self.p).unwrap_or_default();
        match x.as_slice() {
            [x] => vec![one(x)],
            [x0, x1] => {
                let norm = one(&((x0 * x0 + x1 * x1) % &self.p));
                vec![x0 * &norm % &self.p, (&self.p - x1) * norm % &self.p]
            }
            _ => unreachable!("an element has one part or two"),
        }
    }

    fn zero(&self) -> Element {
        vec![BigUint::ZERO; self.b.len()]
    }

    fn square_plus(&self, x: &Element) -> Element {
        let cube = self.times(&self.times(x, x), x);
        self.plus(&self.plus(&cube, &self.times(&self.a, x)), &self.b)
    }

    /// Whether an affine point is on the curve.
    pub fn contains(&self, x: &Element, y: &Element) -> bool {
        self.times(y, y) == self.square_plus(x)
    }

    /// A square root in the prime field (both primes are 3 modulo 4), or in its extension.
    fn root(&self, x: &Element) -> Option<Element> {
        let one = |x: &BigUint| {
            let root = x.modpow(&((&self.p + 1u8) >> 2), &self.p);
            (&root * &root % &self.p == *x).then_some(root)
        };
        match x.as_slice() {
            [x] => Some(vec![one(x)?]),
            // The complex method of Adj and Rodríguez-Henríquez: with n the square root of the norm, the square of the
            // root's first part is (x0 + n) / 2 or (x0 - n) / 2.
            [x0, x1] => {
                let norm = one(&((x0 * x0 + x1 * x1) % &self.p))?;
                let half = BigUint::from(2u8).modinv(&self.p)?;
                [&norm % &self.p, (&self.p - &norm) % &self.p]
                    .iter()
                    .find_map(|n| {
                        let first = one(&((x0 + n) * &half % &self.p))?;
                        let second = x1 * (&first * 2u8).modinv(&self.p)? % &self.p;
                        let root = vec![first, second];
                        (self.times(&root, &root) == *x).then_some(root)
                    })
            }
            _ => None,
        }
    }

    fn double(&self, Jacobian(x, y, z): &Jacobian) -> Jacobian {
        let yy = self.times(y, y);
        let s = self.times(x, &yy);
        let s = self.plus(&self.plus(&s, &s), &self.plus(&s, &s));
        let xx = self.times(x, x);
        let zz = self.times(z, z);
        let m = self.plus(
            &self.plus(&self.plus(&xx, &xx), &xx),
            &self.times(&self.a, &self.times(&zz, &zz)),
        );
        let x3 = self.minus(&self.times(&m, &m), &self.plus(&s, &s));
        let y4 = self.times(&yy, &yy);
        let y4 = self.plus(&self.plus(&y4, &y4), &self.plus(&y4, &y4));
        let y3 = self.minus(&self.times(&m, &self.minus(&s, &x3)), &self.plus(&y4, &y4));
        let z3 = self.times(y, z);
        Jacobian(x3, y3, self.plus(&z3, &z3))
    }

    /// The sum with an affine point.
    fn add_affine(&self, sum: &Jacobian, (x2, y2): &(Element, Element)) -> Jacobian {
        let Jacobian(x1, y1, z1) = sum;
        let one = || {
            let mut one = self.zero();
            one[0] = BigUint::from(1u8);
            one
        };
        if *z1 == self.zero() {
            return Jacobian(x2.clone(), y2.clone(), one());
        }
        let zz = self.times(z1, z1);
        let h = self.minus(&self.times(x2, &zz), x1);
        let r = self.minus(&self.times(y2, &self.times(&zz, z1)), y1);
        if h == self.zero() {
            return if r == self.zero() {
                self.double(sum)
            } else {
                Jacobian(one(), one(), self.zero())
            };
        }
        let hh = self.times(&h, &h);
        let hhh = self.times(&hh, &h);
        let v = self.times(x1, &hh);
        let x3 = self.minus(&self.minus(&self.times(&r, &r), &hhh), &self.plus(&v, &v));
        let y3 = self.minus(&self.times(&r, &self.minus(&v, &x3)), &self.times(y1, &hhh));
        Jacobian(x3, y3, self.times(z1, &h))
    }

    fn affine(&self, Jacobian(x, y, z): &Jacobian) -> Point {
        if *z == self.zero() {
            return None;
        }
        let inverse = self.inverse(z);
        let square = self.times(&inverse, &inverse);
        Some((
            self.times(x, &square),
            self.times(y, &self.times(&square, &inverse)),
        ))
    }

    fn infinity(&self) -> Jacobian {
        Jacobian(self.zero(), self.zero(), self.zero())
    }

    /// The sum of two points.
    pub fn add(&self, left: &Point, right: &Point) -> Point {
        let mut sum = self.infinity();
        for point in [left, right].into_iter().flatten() {
            sum = self.add_affine(&sum, point);
        }
        self.affine(&sum)
    }

    /// The negated point `(x, -y)`.
    pub fn negate(&self, point: &Point) -> Point {
        point
            .as_ref()
            .map(|(x, y)| (x.clone(), self.minus(&self.zero(), y)))
    }

    /// `scalar` times the generator; the scalar is taken modulo the order.
    pub fn generate(&self, scalar: &BigUint) -> Point {
        let scalar = scalar % &self.order;
        let mut sum = self.infinity();
        for (bit, power) in self.powers.iter().enumerate() {
            if let (true, Some(power)) = (scalar.bit(bit as u64), power) {
                sum = self.add_affine(&sum, power);
            }
        }
        self.affine(&sum)
    }

    /// `scalar` times an arbitrary point.
    pub fn multiply(&self, scalar: &BigUint, point: &Point) -> Point {
        let mut sum = self.infinity();
        for bit in (0..scalar.bits()).rev() {
            sum = self.double(&sum);
            if let (true, Some(point)) = (scalar.bit(bit), point) {
                sum = self.add_affine(&sum, point);
            }
        }
        self.affine(&sum)
    }

    /// The first curve point with an x coordinate of at least `x`. If the curve has a cofactor, it is not in the
    /// subgroup.
    pub fn outside_subgroup(&self, x: &BigUint) -> Result<Point> {
        let mut at = self.zero();
        at[0] = x % &self.p;
        for _ in 0..256 {
            if let Some(y) = self.root(&self.square_plus(&at)) {
                let point = Some((at.clone(), y));
                ensure!(
                    self.multiply(&self.order, &point).is_some(),
                    "in the subgroup"
                );
                return Ok(point);
            }
            at[0] = (&at[0] + 1u8) % &self.p;
        }
        None.context("no point near")
    }
}

/// alt_bn128 of EIP-196: `y^2 = x^3 + 3`.
pub static BN254_G1: LazyLock<Curve> = LazyLock::new(|| {
    Curve::new(
        "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47",
        "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001",
        &["0"],
        &["3"],
        [&["1"], &["2"]],
    )
});

/// The twist of BN254, EIP-197: `y^2 = x^3 + 3 / (9 + i)`.
pub static BN254_G2: LazyLock<Curve> = LazyLock::new(|| {
    Curve::new(
        "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47",
        "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001",
        &["0", "0"],
        &[
            "2b149d40ceb8aaae81be18991be06ac3b5b4c5e559dbefa33267e6dc24a138e5",
            "009713b03af0fed4cd2cafadeed8fdf4a74fa084e52d1852e4a2bd0685c315d2",
        ],
        [
            &[
                "1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed",
                "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2",
            ],
            &[
                "12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa",
                "090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b",
            ],
        ],
    )
});

const BLS_P: &str = "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";
const BLS_ORDER: &str = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";

/// BLS12-381, EIP-2537: `y^2 = x^3 + 4`.
pub static BLS_G1: LazyLock<Curve> = LazyLock::new(|| {
    Curve::new(
        BLS_P,
        BLS_ORDER,
        &["0"],
        &["4"],
        [
            &[
                "17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb",
            ],
            &[
                "08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1",
            ],
        ],
    )
});

/// The twist of BLS12-381: `y^2 = x^3 + 4 (1 + i)`.
pub static BLS_G2: LazyLock<Curve> = LazyLock::new(|| {
    Curve::new(
        BLS_P,
        BLS_ORDER,
        &["0", "0"],
        &["4", "4"],
        [
            &[
                "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8",
                "13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e",
            ],
            &[
                "0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801",
                "0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be",
            ],
        ],
    )
});

/// P-256 (SEC 2, EIP-7951).
pub static P256: LazyLock<Curve> = LazyLock::new(|| {
    Curve::new(
        "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
        "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
        &["ffffffff00000001000000000000000000000000fffffffffffffffffffffffc"],
        &["5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b"],
        [
            &["6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"],
            &["4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"],
        ],
    )
});

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn groups_are_groups() {
        for curve in [&BN254_G1, &BN254_G2, &BLS_G1, &BLS_G2, &P256] {
            let one = curve.generate(&BigUint::from(1u8));
            let (x, y) = one.clone().unwrap();
            assert!(curve.contains(&x, &y));
            assert_eq!(curve.generate(&curve.order), None);
            assert_eq!(curve.multiply(&curve.order, &one), None);
            assert_eq!(curve.add(&one, &curve.negate(&one)), None);
            let (a, b) = (
                BigUint::from(0xdead_beef_u64),
                BigUint::from(0x1234_5678_9abc_u64),
            );
            let sum = curve.add(&curve.generate(&a), &curve.generate(&b));
            assert_eq!(sum, curve.generate(&(&a + &b)));
            assert_eq!(
                curve.multiply(&a, &curve.generate(&b)),
                curve.generate(&(&a * &b))
            );
        }
        for curve in [&BN254_G2, &BLS_G1, &BLS_G2] {
            let (x, y) = curve
                .outside_subgroup(&BigUint::from(77u8))
                .unwrap()
                .unwrap();
            assert!(curve.contains(&x, &y));
        }
    }
}
