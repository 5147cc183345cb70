//! Points of curves y^2 = x^3 + a x + b with a = 0 or a = -3: the group law of every curve here, over any form of its field.
//!
//! [`Jacobian`]: x = X / Z^2, y = Y / Z^3, infinity is Z = 0. Three additions of an affine point: [`Jacobian::add_affine`]
//! for public points branches on the exceptional cases; [`Jacobian::add_complete`] is right for all points without a branch;
//! [`Jacobian::add_incomplete`], the fastest, is for where no exceptional case can come or Z = 0, which it leaves in that
//! case and keeps, tells that there was one.
//!
//! The groups have odd order: no point has y = 0.
//!
//! Magnitudes ([`LazyField`]): X at most 6, Y at most 4, Z at most 1, of affine points x at most 6, y at most 2; those of
//! results are written at each formula. With a = -3 the field must be one that carries at once.
//! Constant time: `double`, `add_incomplete` and `add_complete` if the field's operations are; nothing else.
//!
//! Source: \[EFD\] shortw/jacobian-0 (dbl-2009-l, madd-2004-hmv, add-2007-bl), shortw/jacobian-3 (dbl-2001-b);
//! complete addition: \[LIBSECP\] `group_impl.h`, after \[BJ02\].

use crate::{
    field::{LazyField, SecretField},
    mask::Mask,
};

/// A curve over a field.
pub(crate) trait Curve: Copy {
    type Field: LazyField;
    /// Is a = -3? Else it is 0.
    const A_IS_MINUS_3: bool;

    fn b() -> Self::Field;
}

/// A point other than infinity.
#[derive(Clone, Copy)]
pub(crate) struct Affine<C: Curve> {
    pub(crate) x: C::Field,
    pub(crate) y: C::Field,
}

impl<C: Curve> Affine<C> {
    /// x^3 + a x + b, of magnitude 2 at most; x of magnitude 1.
    #[inline]
    pub(crate) fn right_side(x: &C::Field) -> C::Field {
        let mut factor = x.square();
        if C::A_IS_MINUS_3 {
            factor = factor.sub(&C::Field::ONE.triple(), 3);
        }
        factor.mul(x).add(&C::b())
    }

    /// x and y of magnitude 1.
    pub(crate) fn is_on_curve(&self) -> bool {
        Self::right_side(&self.x).sub(&self.y.square(), 1).is_zero()
    }

    /// The opposite where asked; y of magnitude 1.
    #[inline]
    pub(crate) fn negate_if(&self, negate: bool) -> Self {
        Self {
            x: self.x,
            y: if negate { self.y.negate(1) } else { self.y },
        }
    }
}

impl<C: Curve<Field: SecretField>> Affine<C> {
    /// The opposite where the mask is true, in constant time; y of magnitude 1.
    #[inline]
    pub(crate) fn negate_where(&self, mask: Mask) -> Self {
        Self {
            x: self.x,
            y: C::Field::select(mask, &self.y.negate(1), &self.y),
        }
    }

    /// `yes` where the mask is true, else `no`, in constant time.
    #[inline]
    pub(crate) fn select(mask: Mask, yes: &Self, no: &Self) -> Self {
        Self {
            x: C::Field::select(mask, &yes.x, &no.x),
            y: C::Field::select(mask, &yes.y, &no.y),
        }
    }
}

/// The sum of two points, with one inversion; `None` is infinity. All of magnitude 1.
pub(crate) fn add_affine<C: Curve>(
    p: Option<Affine<C>>,
    q: Option<Affine<C>>,
) -> Option<Affine<C>> {
    let (Some(p), Some(q)) = (p, q) else {
        return p.or(q);
    };
    let difference = q.x.sub(&p.x, 1);
    let (numerator, denominator) = if !difference.is_zero() {
        (q.y.sub(&p.y, 1), difference)
    } else if q.y.sub(&p.y, 1).is_zero() {
        let mut slope = p.x.square().triple();
        if C::A_IS_MINUS_3 {
            slope = slope.sub(&C::Field::ONE.triple(), 3);
        }
        (slope, p.y.double())
    } else {
        return None;
    };
    let slope = numerator.mul(&denominator.invert());
    let x = slope.square().sub(&p.x, 1).sub(&q.x, 1);
    let y = slope.mul(&p.x.sub(&x, 5)).sub(&p.y, 1);
    Some(Affine { x, y })
}

#[derive(Clone, Copy)]
pub(crate) struct Jacobian<C: Curve> {
    pub(crate) x: C::Field,
    pub(crate) y: C::Field,
    pub(crate) z: C::Field,
}

impl<C: Curve> From<Affine<C>> for Jacobian<C> {
    #[inline]
    fn from(p: Affine<C>) -> Self {
        Self {
            x: p.x,
            y: p.y,
            z: C::Field::ONE,
        }
    }
}

impl<C: Curve> Jacobian<C> {
    pub(crate) const INFINITY: Self = Self {
        x: C::Field::ONE,
        y: C::Field::ONE,
        z: C::Field::ZERO,
    };

    #[inline]
    pub(crate) fn is_infinity(&self) -> bool {
        self.z.is_zero()
    }

    /// The point itself; `None` is infinity.
    pub(crate) fn to_affine(self) -> Option<Affine<C>> {
        (!self.is_infinity()).then(|| self.to_affine_with(&self.z.invert()))
    }

    /// The point itself, given 1 / Z: of magnitude 1. Constant-time.
    #[inline]
    pub(crate) fn to_affine_with(self, z_inverse: &C::Field) -> Affine<C> {
        let square = z_inverse.square();
        Affine {
            x: self.x.mul(&square),
            y: self.y.mul(&square.mul(z_inverse)),
        }
    }

    #[cfg(feature = "bls12-381")]
    pub(crate) fn negate(&self) -> Self {
        Self {
            y: self.y.negate(4),
            ..*self
        }
    }

    /// Twice the point; constant-time, infinity included.
    #[inline(always)]
    pub(crate) fn double(&self) -> Self {
        if C::A_IS_MINUS_3 {
            // dbl-2001-b: 3M + 5S.
            let delta = self.z.square();
            let gamma = self.y.square();
            let beta = self.x.mul(&gamma);
            let alpha = self.x.sub(&delta, 1).mul(&self.x.add(&delta)).triple();
            let beta4 = beta.double().double();
            let x = alpha.square().sub(&beta4.double(), 8);
            let z = self.y.mul(&self.z).double();
            let gamma2 = gamma.double();
            let y = alpha
                .mul(&beta4.sub(&x, 10))
                .sub(&gamma2.square().double(), 2);
            return Self { x, y, z };
        }
        // dbl-2009-l with Z halved: 3M + 4S.
        let z = self.y.mul(&self.z); // first, as an addition that follows starts with it
        let (xx, yy) = (self.x.square(), self.y.square());
        let e = xx.add(&xx.half()); // 3 X^2 / 2: 2
        let d = self.x.mul(&yy); // X Y^2: 1
        let x = e.square().sub(&d.double(), 2); // 4
        let y = C::Field::difference_of_products(&e, &d.sub(&x, 4), &yy, &yy); // 1
        Self { x, y, z }
    }

    /// madd-2004-hmv, 8M + 3S, where `z` is this point's Z as the addend's curve sees it; and Z3 / Z1. Constant-time.
    ///
    /// Where the points are equal or opposite, and where this one is infinity, Z3 is 0.
    #[inline(always)]
    pub(crate) fn add_incomplete(&self, other: &Affine<C>, z: &C::Field) -> (Self, C::Field) {
        let zz = z.square();
        let h = other.x.mul(&zz).sub(&self.x, 6); // 8
        let zzz = zz.mul(z);
        let hh = h.square();
        let r = other.y.mul(&zzz).sub(&self.y, 4); // 6
        let z = self.z.mul(&h); // 1
        let v = self.x.mul(&hh);
        let hhh = h.mul(&hh);
        let x = r.square().sub(&hhh, 1).sub(&v.double(), 2); // 6
        let y = C::Field::difference_of_products(&r, &v.sub(&x, 6), &hhh, &self.y); // 1
        (Self { x, y, z }, h)
    }

    #[inline(always)]
    pub(crate) fn add_affine(&self, other: &Affine<C>) -> Self {
        self.add_scaled(other, None)
    }

    /// The sum, where this point is on the isomorphic curve whose points have Z divided by `scale`, if there is one.
    #[inline(always)]
    pub(crate) fn add_scaled(&self, other: &Affine<C>, scale: Option<&C::Field>) -> Self {
        if self.is_infinity() {
            // Z = scale there is Z = 1 here.
            return scale
                .map_or(*other, |scale| Self::from(*other).to_affine_with(scale))
                .into();
        }
        let z = scale.map_or(self.z, |scale| self.z.mul(scale));
        let (sum, h) = self.add_incomplete(other, &z);
        if h.is_zero() {
            let s = other.y.mul(&z.square().mul(&z));
            return if s.sub(&self.y, 4).is_zero() {
                self.double()
            } else {
                Self::INFINITY
            };
        }
        sum
    }

    /// 12M + 4S.
    pub(crate) fn add(&self, other: &Self) -> Self {
        if self.is_infinity() {
            return *other;
        }
        if other.is_infinity() {
            return *self;
        }
        let (zz1, zz2) = (self.z.square(), other.z.square());
        let (u1, u2) = (self.x.mul(&zz2), other.x.mul(&zz1));
        let s1 = self.y.mul(&other.z.mul(&zz2));
        let s2 = other.y.mul(&self.z.mul(&zz1));
        let (h, r) = (u2.sub(&u1, 1), s2.sub(&s1, 1));
        if h.is_zero() {
            return if r.is_zero() {
                self.double()
            } else {
                Self::INFINITY
            };
        }
        let hh = h.square();
        let hhh = h.mul(&hh);
        let v = u1.mul(&hh);
        let x = r.square().sub(&hhh, 1).sub(&v.double(), 2); // 6
        let y = C::Field::difference_of_products(&r, &v.sub(&x, 6), &hhh, &s1); // 1
        let z = self.z.mul(&other.z).mul(&h);
        Self { x, y, z }
    }

    /// Are both the same point?
    pub(crate) fn equals(&self, other: &Self) -> bool {
        if self.is_infinity() || other.is_infinity() {
            return self.is_infinity() == other.is_infinity();
        }
        let (zz1, zz2) = (self.z.square(), other.z.square());
        let x = self.x.mul(&zz2).sub(&other.x.mul(&zz1), 1);
        let y = self
            .y
            .mul(&zz2.mul(&other.z))
            .sub(&other.y.mul(&zz1.mul(&self.z)), 1);
        x.is_zero() && y.is_zero()
    }
}

impl<C: Curve<Field: SecretField>> Jacobian<C> {
    /// The sum, for all points or where [`Self::add_incomplete`] will do. Constant-time.
    #[inline]
    pub(crate) fn add_secret<const COMPLETE: bool>(&self, other: &Affine<C>) -> Self {
        if COMPLETE {
            self.add_complete(other)
        } else {
            self.add_incomplete(other, &self.z).0
        }
    }

    /// The sum, without an exceptional case: 7M + 5S. Constant-time.
    ///
    /// With U = X1 and x2 Z1^2, S = Y1 and y2 Z1^3, the slope is (U1^2 + U1 U2 + U2^2) / (S1 + S2), or, where S1 + S2 = 0, so
    /// that U1 and U2 differ by a cube root of 1 or not at all, 2 S1 / (U1 - U2).
    pub(crate) fn add_complete(&self, other: &Affine<C>) -> Self {
        let select = C::Field::select;
        let zz = self.z.square();
        let u2 = other.x.mul(&zz);
        let s2 = other.y.mul(&zz.mul(&self.z));
        let t = self.x.add(&u2); // 7
        let m = self.y.add(&s2); // 5
        let minus_u2 = u2.negate(1); // 2
        let degenerate = m.is_zero_mask();
        let r = t.square().add(&self.x.mul(&minus_u2)); // 2
        let r = select(degenerate, &self.y.double(), &r); // 8
        let divisor = select(degenerate, &self.x.add(&minus_u2), &m); // 8
        let square = divisor.square();
        let q = t.negate(7).mul(&square);
        // The divisor's square times M's: M is 0 where they are not the same.
        let n = select(degenerate, &m, &square.square()); // 5
        let x = r.square().add(&q); // 2
        let y = x.double().add(&q).mul(&r).add(&n).negate(6).half(); // 4
        let sum = Self {
            x,
            y,
            z: self.z.mul(&divisor),
        };
        Self::select(self.z.is_zero_mask(), &(*other).into(), &sum)
    }

    /// The opposite where the mask is true, in constant time.
    #[inline]
    pub(crate) fn negate_where(&self, mask: Mask) -> Self {
        Self {
            y: C::Field::select(mask, &self.y.negate(4), &self.y),
            ..*self
        }
    }

    #[inline]
    fn select(mask: Mask, yes: &Self, no: &Self) -> Self {
        Self {
            x: C::Field::select(mask, &yes.x, &no.x),
            y: C::Field::select(mask, &yes.y, &no.y),
            z: C::Field::select(mask, &yes.z, &no.z),
        }
    }
}

/// `P, 3 P, 5 P, ...`, affine on the curve isomorphic by the scale that is returned with them: a point there with Z is
/// the point with `Z * scale` here. An isomorphic curve has another a, unless a is 0.
///
/// `ENTRIES` must be below half of the order of P, so that no multiple is infinity.
pub(crate) fn odd_multiples<C: Curve, const ENTRIES: usize>(
    p: &Affine<C>,
) -> ([Affine<C>; ENTRIES], C::Field) {
    let jacobian = |[x, y, z]: [C::Field; 3]| Jacobian::<C> { x, y, z };
    let (table, scale) = odd_multiples_by(
        [p.x, p.y],
        C::Field::ONE,
        C::Field::mul,
        C::Field::square,
        |p| {
            let double = jacobian(p).double();
            [double.x, double.y, double.z]
        },
        |p, [x, y]| {
            let (sum, ratio) = jacobian(p).add_incomplete(&Affine { x, y }, &p[2]);
            ([sum.x, sum.y, sum.z], ratio)
        },
    );
    (table.map(|[x, y]| Affine { x, y }), scale)
}

/// [`odd_multiples`] for a field F with this arithmetic: a product, a square, twice a point (X, Y, Z), and the sum of such a
/// point and (x, y), with its Z divided by that of the point. Of the last entry, x and y are as the sum left them.
///
/// Source: "effective affine", \[LIBSECP\] `ecmult_impl.h`.
#[inline(always)]
pub(crate) fn odd_multiples_by<F: Copy, const ENTRIES: usize>(
    [x, y]: [F; 2],
    one: F,
    mul: impl Fn(&F, &F) -> F,
    square: impl Fn(&F) -> F,
    double: impl Fn([F; 3]) -> [F; 3],
    add: impl Fn([F; 3], [F; 2]) -> ([F; 3], F),
) -> ([[F; 2]; ENTRIES], F) {
    // On the curve isomorphic by the Z of 2 P, 2 P itself is affine.
    let [step_x, step_y, step_z] = double([x, y, one]);
    let zz = square(&step_z);
    let first = [mul(&x, &zz), mul(&y, &mul(&zz, &step_z))];
    let mut sum = [first[0], first[1], one];
    let mut table = [first; ENTRIES];
    let mut ratios = [one; ENTRIES];
    for i in 1..ENTRIES {
        (sum, ratios[i]) = add(sum, [step_x, step_y]);
        table[i] = [sum[0], sum[1]];
    }
    // Bring all to the Z of the last: entry i has to be scaled by the product of the ratios after it.
    let mut scale = one;
    for i in (0..ENTRIES - 1).rev() {
        scale = mul(&scale, &ratios[i + 1]);
        let square = square(&scale);
        let [x, y] = &table[i];
        table[i] = [mul(x, &square), mul(y, &mul(&square, &scale))];
    }
    (table, mul(&sum[2], &step_z))
}

/// Digits of `k` in window non-adjacent form, lowest first: zero, or odd and below `2^(window - 1)` in absolute value; and
/// how many there are up to the highest that is not zero. `LENGTH` is at least one more than the bits of k.
///
/// Source: \[HMV04\] algorithm 3.35.
pub(crate) fn wnaf<const LENGTH: usize>(k: &[u64; 4], window: u32) -> ([i16; LENGTH], usize) {
    let mut digits = [0; LENGTH];
    let (mut position, mut length, mut carry) = (0, 0, 0);
    let bits = |position: usize| {
        let (word, shift) = (position / 64, position % 64);
        let low = k.get(word).map_or(0, |word| word >> shift);
        low | k.get(word + 1).map_or(0, |word| word << 1 << (63 - shift))
    };
    loop {
        // With a carry, bits 1 become 0 and carry on.
        let next = bits(position);
        position += (if carry == 1 { !next } else { next }).trailing_zeros() as usize;
        if position >= LENGTH {
            return (digits, length);
        }
        let low = (bits(position) & ((1 << window) - 1)) + carry;
        if low & 1 == 0 {
            continue; // 64 bits were not enough to find the next
        }
        carry = low >> (window - 1) & 1;
        digits[position] = (low as i64 - ((carry as i64) << window)) as i16;
        length = position + 1;
        position += window as usize;
    }
}
