//! The points of two pairs in the Miller loop, with their products computed in parallel: four lanes per pair.
//!
//! Points of the twist are projective (x = X / Z, y = Y / Z). Lines are divided by -x of the point of G1, so that its
//! coordinates take only one more factor in one round of products.

use super::{
    super::{
        super::fields::{Fp2, G1, G2},
        endomorphism::Endomorphism,
    },
    field::{Extension, Lanes},
    products::{Factor, Loose, Operand},
};
use crate::{field::LazyField, group::Affine, lanes::LANES};

/// Maximum number of pairs.
pub(super) const PAIRS: usize = 2;
/// Lanes per pair.
pub(super) const WIDTH: usize = LANES / PAIRS;

/// Extends lane indices for the first pair to both pairs.
pub(super) const fn both(of: [u64; WIDTH]) -> [u64; LANES] {
    let (mut lanes, mut i) = ([0; LANES], 0);
    while i < LANES {
        lanes[i] = of[i % WIDTH] + (i - i % WIDTH) as u64;
        i += 1;
    }
    lanes
}

/// Returns the mask of this lane for both pairs.
pub(super) const fn mask(lane: u32) -> u8 {
    0x11 << lane
}

/// Offset of lane indices into the second factor of an [`Operand`].
pub(super) const OTHER: u64 = LANES as u64;

pub(super) struct Pairs {
    count: usize,
    /// X, Y, Z.
    point: Factor,
    /// x, y, 0, 0.
    q: Factor,
    /// 0, -y / x, -1 / x, 0 of the points of G1.
    p: Factor,
    /// x and y of the images of the points of G2 under the endomorphism.
    image: Factor,
}

/// Loads three elements into the four lanes of each pair.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn load<D: Extension>(pairs: impl Iterator<Item = [D::Element; 3]>) -> Lanes<D> {
    let mut lanes = [D::Element::ZERO; LANES];
    for (lanes, elements) in lanes.chunks_mut(WIDTH).zip(pairs) {
        lanes[..3].copy_from_slice(&elements);
    }
    Lanes::load(&lanes)
}

impl Pairs {
    /// Takes one or two pairs of points, the first in G1, the second on the twist.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn new(pairs: &[(Affine<G1>, Affine<G2>)]) -> Self {
        let zero = Fp2::ZERO;
        Self {
            count: pairs.len(),
            point: Factor::new(&load(pairs.iter().map(|(_, q)| [q.x, q.y, Fp2::ONE]))),
            q: Factor::new(&load(pairs.iter().map(|(_, q)| [q.x, q.y, zero]))),
            p: Factor::new(&load(pairs.iter().map(|(p, _)| {
                let inverse = p.x.invert().negate(1);
                [zero, Fp2::real(p.y.mul(&inverse)), Fp2::real(inverse)]
            }))),
            image: Factor::new(&load(pairs.iter().map(|(_, q)| {
                let image = G2::image(q);
                [image.x, image.y, zero]
            }))),
        }
    }

    /// Returns the first lane of each line.
    pub(super) fn first_lanes(&self) -> impl Iterator<Item = usize> {
        (0..self.count).map(|pair| WIDTH * pair)
    }

    /// Doubles the points and returns the tangents: their coefficients of w^2, w^3 and 1.
    ///
    /// As in \[AKLGL11\] §4, with the point's coordinates four times as large: with `e = 3 b' Z^2`, `X' = 2 X Y (Y^2 -
    /// 3 e)`, `Y' = (Y^2 + 3 e)^2 - 12 e^2`, `Z' = 8 Y^3 Z`, and the line `3 X^2`, `-2 Y Z y_P / x_P`, `-(Y^2 - e) /
    /// x_P`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn double(&mut self) -> Factor {
        const X: [u64; LANES] = both([0, 1, 2, 1]);
        const Y: [u64; LANES] = both([1, 1, 2, 2]);
        let s = &self.point;
        let products =
            Loose::dot(&[Operand::new([s, s], &X)], &[Operand::new([s, s], &Y)]).factor::<1>(); // X Y, Y^2, Z^2, Y Z
        // b' = 4 xi; e is in -26 p .. 51 p.
        let e = |i: usize| {
            products
                .limb(i)
                .permuted(&const { both([2; 4]) })
                .times_xi::<1>()
                .times::<12>()
        };
        let yy = |i: usize| products.limb(i).permuted(&const { both([1; 4]) });
        let x = Loose::each(|i| {
            let limb = products.limb(i);
            let sum = yy(i).plus(e(i).times::<3>());
            limb.times::<2>()
                .select(mask(1), sum)
                .select(mask(2), e(i))
                .select(mask(3), yy(i).times::<8>())
        })
        .factor::<128>();
        let y = Loose::each(|i| {
            let (limb, yy, e3) = (products.limb(i), yy(i), e(i).times::<3>());
            limb.select(mask(0), yy.minus(e3))
                .select(mask(1), yy.plus(e3))
                .select(mask(2), e(i))
        })
        .factor::<256>();
        let line = Loose::each(|i| {
            let limb = products.limb(i);
            s.limb(i)
                .times::<3>()
                .select(mask(1), limb.permuted(&const { both([3; 4]) }).times::<2>())
                .select(mask(2), yy(i).minus(e(i)))
        })
        .factor::<64>();
        const AT: [u64; LANES] = both([0, OTHER + 1, OTHER + 2, OTHER + 3]);
        const ALL: [u64; LANES] = both([0, 1, 2, 3]);
        let line = Loose::dot(
            &[Operand::new([&line, &line], &ALL)],
            &[Operand::new([s, &self.p], &AT)],
        )
        .factor::<1>();

        let products = Loose::product(&x, &y);
        self.point = Loose::each(|i| {
            let limb = products.limb(i);
            let ee = limb.permuted(&const { both([2; 4]) });
            limb.permuted(&const { both([0, 1, 3, 3]) })
                .minus_where::<{ mask(1) }>(ee.times::<12>())
        })
        .factor::<16>();
        line
    }

    /// Adds q to the points and returns the lines through both, in the same form as [`Self::double`].
    ///
    /// As in \[AKLGL11\] §4: with `lambda = X - x_Q Z`, `theta = Y - y_Q Z`, `e = lambda^3`, `g = X lambda^2`, `h = e +
    /// Z theta^2 - 2 g`, `X' = lambda h`, `Y' = theta (g - h) - e Y`, `Z' = Z e`, and the line `theta`, `-lambda y_P /
    /// x_P`, `-(theta x_Q - lambda y_Q) / x_P`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn add(&mut self) -> Factor {
        const ALL: [u64; LANES] = both([0, 1, 2, 3]);
        const Z: [u64; LANES] = both([2; 4]);
        let (s, q) = (&self.point, &self.q);
        let round = |x: [&Factor; 2], x_lanes, y: [&Factor; 2], y_lanes| {
            Loose::dot(&[Operand::new(x, x_lanes)], &[Operand::new(y, y_lanes)])
        };
        let products = round([q, q], &ALL, [s, s], &Z);
        // lambda, theta.
        let d = Loose::each(|i| s.limb(i).minus(products.limb(i))).factor::<2>();

        // lambda^2, theta^2, lambda y_Q, theta x_Q.
        const AGAIN: [u64; LANES] = both([0, 1, 0, 1]);
        const WITH: [u64; LANES] = both([0, 1, OTHER + 1, OTHER]);
        let squares = round([&d, &d], &AGAIN, [&d, q], &WITH).factor::<1>();

        // e, Z theta^2, g, unused; then the second round of the line.
        const CUBE: [u64; LANES] = both([0, OTHER + 2, OTHER, 0]);
        const BY: [u64; LANES] = both([0, 1, 0, 0]);
        let cubes = round([&d, s], &CUBE, [&squares, &squares], &BY).factor::<1>();
        let line = Loose::each(|i| {
            let squares = squares.limb(i);
            let last = squares.permuted(&const { both([3; 4]) }).minus(squares);
            d.limb(i)
                .permuted(&const { both([0; 4]) })
                .select(mask(2), last)
        })
        .factor::<4>();
        let line = round([&line, &line], &ALL, [&self.p, &self.p], &ALL);
        let line = Loose::each(|i| {
            line.limb(i)
                .select(mask(0), d.limb(i).permuted(&const { both([1; 4]) }))
        })
        .factor::<1>();

        const FACTORS: [u64; LANES] = both([0, 1, OTHER, OTHER]);
        let y = Loose::each(|i| {
            let limb = cubes.limb(i);
            let g = limb.permuted(&const { both([2; 4]) });
            let h = limb
                .permuted(&const { both([0; 4]) })
                .plus(limb.permuted(&const { both([1; 4]) }))
                .minus(g.plus(g));
            // h, g - h, Y, Z.
            s.limb(i)
                .permuted(&const { both([0, 0, 1, 2]) })
                .select(mask(0), h)
                .select(mask(1), g.minus(h))
        })
        .factor::<8>();
        let products = round([&d, &cubes], &FACTORS, [&y, &y], &ALL);
        self.point = Loose::each(|i| {
            let limb = products.limb(i);
            let last = limb.permuted(&const { both([2; 4]) });
            limb.permuted(&const { both([0, 1, 3, 3]) })
                .minus_where::<{ mask(1) }>(last)
        })
        .factor::<4>();
        line
    }

    /// Whether all points of the twist are in G2. To be called after the Miller loop.
    ///
    /// They are if |x| times each is the opposite of its image. An exceptional addition leaves Z = 0, and later steps
    /// preserve it; this does not happen for points of the subgroup.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn are_in_subgroup(&self) -> bool {
        const ALL: [u64; LANES] = both([0, 1, 2, 3]);
        const Z: [u64; LANES] = both([2; 4]);
        let (s, image) = (&self.point, &self.image);
        let scaled = Loose::dot(
            &[Operand::new([image, image], &ALL)],
            &[Operand::new([s, s], &Z)],
        );
        let lanes = Loose::each(|i| {
            let (limb, scaled) = (s.limb(i), scaled.limb(i));
            limb.minus(scaled).select(mask(1), limb.plus(scaled))
        })
        .factor::<2>()
        .element()
        .store();
        self.first_lanes().all(|first| {
            let [x, y, z] = [0, 1, 2].map(|i| lanes[first + i].is_zero());
            x && y && !z
        })
    }
}
