//! Points of curves y^2 = x^3 + a x + b with a = 0 or a = -3, for public data: variable-time.
//!
//! [`Jacobian`]: x = X / Z^2, y = Y / Z^3, infinity is Z = 0. The formulas branch on the exceptional cases.
//!
//! Source: \[EFD\] shortw/jacobian-0 (dbl-2009-l, madd-2004-hmv, add-2007-bl), shortw/jacobian-3 (dbl-2001-b).

use crate::field::Field;

/// A curve over F.
pub(crate) trait Curve: Copy {
    type Field: Field;
    /// Is a = -3? Else it is 0.
    const A_IS_MINUS_3: bool;
    const B: Self::Field;
}

/// A point other than infinity.
#[derive(Clone, Copy)]
pub(crate) struct Affine<C: Curve> {
    pub(crate) x: C::Field,
    pub(crate) y: C::Field,
}

impl<C: Curve> Affine<C> {
    pub(crate) fn is_on_curve(&self) -> bool {
        let xx = self.x.square();
        let factor = if C::A_IS_MINUS_3 {
            xx.sub(&three::<C::Field>())
        } else {
            xx
        };
        self.y.square() == factor.mul(&self.x).add(&C::B)
    }

    #[inline(always)]
    pub(crate) fn negate_if(&self, negate: bool) -> Self {
        Self {
            x: self.x,
            y: self.y.negate_if(negate),
        }
    }
}

fn three<F: Field>() -> F {
    F::ONE.double().add(&F::ONE)
}

/// The sum of two points, with one inversion; `None` is infinity.
pub(crate) fn add_affine<C: Curve>(
    p: Option<Affine<C>>,
    q: Option<Affine<C>>,
) -> Option<Affine<C>> {
    let (Some(p), Some(q)) = (p, q) else {
        return p.or(q);
    };
    let (numerator, denominator) = if p.x != q.x {
        (q.y.sub(&p.y), q.x.sub(&p.x))
    } else if p.y == q.y && !p.y.is_zero() {
        let xx = p.x.square();
        let slope = xx.double().add(&xx);
        let slope = if C::A_IS_MINUS_3 {
            slope.sub(&three::<C::Field>())
        } else {
            slope
        };
        (slope, p.y.double())
    } else {
        return None;
    };
    let slope = numerator.mul(&denominator.invert());
    let x = slope.square().sub(&p.x).sub(&q.x);
    let y = slope.mul(&p.x.sub(&x)).sub(&p.y);
    Some(Affine { x, y })
}

#[derive(Clone, Copy)]
pub(crate) struct Jacobian<C: Curve> {
    pub(crate) x: C::Field,
    pub(crate) y: C::Field,
    pub(crate) z: C::Field,
}

impl<C: Curve> From<Affine<C>> for Jacobian<C> {
    #[inline(always)]
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

    #[inline(always)]
    pub(crate) fn is_infinity(&self) -> bool {
        self.z.is_zero()
    }

    /// The point itself; `None` is infinity.
    pub(crate) fn to_affine(self) -> Option<Affine<C>> {
        if self.is_infinity() {
            return None;
        }
        let inverse = self.z.invert();
        let square = inverse.square();
        Some(Affine {
            x: self.x.mul(&square),
            y: self.y.mul(&square.mul(&inverse)),
        })
    }

    #[cfg(feature = "bls12-381")]
    pub(crate) fn negate(&self) -> Self {
        Self {
            y: self.y.negate(),
            ..*self
        }
    }

    #[inline]
    pub(crate) fn double(&self) -> Self {
        if C::A_IS_MINUS_3 {
            // dbl-2001-b: 3M + 5S.
            let delta = self.z.square();
            let gamma = self.y.square();
            let beta = self.x.mul(&gamma);
            let alpha = self.x.sub(&delta).mul(&self.x.add(&delta));
            let alpha = alpha.double().add(&alpha);
            let beta4 = beta.double().double();
            let x = alpha.square().sub(&beta4.double());
            let z = self.y.mul(&self.z).double();
            let gamma2 = gamma.double();
            let y = alpha.mul(&beta4.sub(&x)).sub(&gamma2.square().double());
            return Self { x, y, z };
        }
        // dbl-2009-l with Z3 = 2 Y Z: 3M + 4S.
        let a = self.x.square();
        let b = self.y.square();
        let d = self.x.mul(&b).double().double();
        let e = a.double().add(&a);
        let x = e.square().sub(&d.double());
        let z = self.y.mul(&self.z).double();
        let b2 = b.double();
        let y = e.mul(&d.sub(&x)).sub(&b2.square().double());
        Self { x, y, z }
    }

    /// madd-2004-hmv: 8M + 3S. Also returns Z3 / Z1, of no meaning where either point or the sum is special.
    #[inline]
    pub(crate) fn add_affine_with_ratio(&self, other: &Affine<C>) -> (Self, C::Field) {
        if self.is_infinity() {
            return ((*other).into(), C::Field::ONE);
        }
        let zz = self.z.square();
        let h = other.x.mul(&zz).sub(&self.x);
        let r = other.y.mul(&zz.mul(&self.z)).sub(&self.y);
        if h.is_zero() {
            let sum = if r.is_zero() {
                self.double()
            } else {
                Self::INFINITY
            };
            return (sum, C::Field::ONE);
        }
        let hh = h.square();
        let v = self.x.mul(&hh);
        let hhh = h.mul(&hh);
        let x = r.square().sub(&hhh).sub(&v.double());
        let y = r.mul(&v.sub(&x)).sub(&self.y.mul(&hhh));
        let z = self.z.mul(&h);
        (Self { x, y, z }, h)
    }

    #[inline]
    pub(crate) fn add_affine(&self, other: &Affine<C>) -> Self {
        self.add_affine_with_ratio(other).0
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
        let (h, r) = (u2.sub(&u1), s2.sub(&s1));
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
        let x = r.square().sub(&hhh).sub(&v.double());
        let y = r.mul(&v.sub(&x)).sub(&s1.mul(&hhh));
        let z = self.z.mul(&other.z).mul(&h);
        Self { x, y, z }
    }

    /// Are both the same point?
    pub(crate) fn equals(&self, other: &Self) -> bool {
        if self.is_infinity() || other.is_infinity() {
            return self.is_infinity() == other.is_infinity();
        }
        let (zz1, zz2) = (self.z.square(), other.z.square());
        self.x.mul(&zz2) == other.x.mul(&zz1)
            && self.y.mul(&zz2.mul(&other.z)) == other.y.mul(&zz1.mul(&self.z))
    }
}

/// `P, 3 P, 5 P, ...`, affine on the curve isomorphic by the scale that is returned with them: a point there with Z is
/// the point with `Z * scale` here. An isomorphic curve has another a, unless a is 0.
///
/// `ENTRIES` must be below half of the order of P, so that no multiple is infinity.
///
/// Source: "effective affine", \[LIBSECP\] `ecmult_impl.h`.
pub(crate) fn odd_multiples<C: Curve, const ENTRIES: usize>(
    p: &Affine<C>,
) -> ([Affine<C>; ENTRIES], C::Field) {
    // On the curve isomorphic by the Z of 2 P, 2 P itself is affine.
    let double: Jacobian<C> = Jacobian::from(*p).double();
    let step: Affine<C> = Affine {
        x: double.x,
        y: double.y,
    };
    let zz = double.z.square();
    let first: Affine<C> = Affine {
        x: p.x.mul(&zz),
        y: p.y.mul(&zz.mul(&double.z)),
    };
    let mut sum = Jacobian::from(first);
    let mut table: [Affine<C>; ENTRIES] = [first; ENTRIES];
    let mut ratios = [C::Field::ONE; ENTRIES];
    for i in 1..ENTRIES {
        (sum, ratios[i]) = sum.add_affine_with_ratio(&step);
        table[i] = Affine { x: sum.x, y: sum.y };
    }
    // Bring all to the Z of the last: entry i has to be scaled by the product of the ratios after it.
    let mut scale = C::Field::ONE;
    for i in (0..ENTRIES - 1).rev() {
        scale = scale.mul(&ratios[i + 1]);
        let square = scale.square();
        table[i] = Affine {
            x: table[i].x.mul(&square),
            y: table[i].y.mul(&square.mul(&scale)),
        };
    }
    (table, sum.z.mul(&double.z))
}

/// Digits of `k` in window non-adjacent form, lowest first: zero, or odd and below `2^(window - 1)` in absolute value; and
/// how many there are up to the highest that is not zero. `LENGTH` is at least one more than the bits of k.
///
/// Source: \[HMV04\] algorithm 3.35.
pub(crate) fn wnaf<const LENGTH: usize>(k: &[u64; 4], window: u32) -> ([i8; LENGTH], usize) {
    let mut digits = [0; LENGTH];
    let (mut position, mut length, mut carry) = (0, 0, 0);
    let bits = |position: usize| {
        let (word, shift) = (position / 64, position % 64);
        let low = k.get(word).map_or(0, |word| word >> shift);
        let high = k.get(word + 1).map_or(0, |word| word << 1 << (63 - shift));
        (low | high) & ((1 << window) - 1)
    };
    while position < LENGTH {
        let low = bits(position) + carry;
        if low & 1 == 0 {
            // With a carry, an even sum is one bit 1 less far: the carry stays.
            position += 1;
            continue;
        }
        let negative = low >> (window - 1) & 1;
        digits[position] = (low as i64 - ((negative as i64) << window)) as i8;
        carry = negative;
        length = position + 1;
        position += window as usize;
    }
    (digits, length)
}
