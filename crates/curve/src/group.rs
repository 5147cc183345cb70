//! Group law for short Weierstrass curves y^2 = x^3 + a x + b with a = 0 or a = -3, generic over the field
//! representation. All curves in this crate use it.
//!
//! [`Jacobian`]: x = X / Z^2, y = Y / Z^3; infinity has Z = 0. There are three ways to add an affine point:
//!
//! - [`Jacobian::add_scaled`], for public points, branches on the exceptional cases.
//! - [`Jacobian::add_complete`] is correct for all points and branch-free.
//! - [`Jacobian::add_incomplete`] is the fastest and requires that no exceptional case occurs. If one does, the result
//!   has Z = 0, and later additions preserve Z = 0, so the caller can detect it.
//!
//! The groups have odd order: no point has y = 0.
//!
//! The order of steps matters: one field product roughly fills the CPU's scheduler window, so an independent product is
//! placed between each product and its first use, also across formulas.
//!
//! Magnitudes ([`LazyField`]): X at most 6, Y at most 4, Z at most 1; affine x at most 6, affine y at most 4. The
//! magnitudes of results are noted at each formula. With a = -3 the field must be one that carries immediately.
//! Constant time: `double`, `add_incomplete` and `add_complete`, if the field operations are. Everything else is
//! variable-time.
//!
//! Source: \[EFD\] shortw/jacobian-0 (dbl-2009-l, madd-2004-hmv, add-2007-bl) and shortw/jacobian-3 (dbl-2001-b, for
//! its slope); co-Z points: \[Mel07\]; complete addition: \[LIBSECP\] `group_impl.h`, after \[BJ02\].

use zeroize::Zeroize;

use crate::{
    field::{LazyField, SecretField},
    mask::Mask,
};

/// A curve over a field.
pub(crate) trait Curve: Copy {
    type Field: LazyField;
    /// Whether a = -3; otherwise a = 0.
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
    /// x^3 + a x + b, with magnitude at most 2. x must have magnitude 1.
    #[inline]
    pub(crate) fn right_side(x: &C::Field) -> C::Field {
        let mut factor = x.square();
        if C::A_IS_MINUS_3 {
            factor = factor.sub(&C::Field::ONE.triple(), 3);
        }
        factor.mul(x).add(&C::b())
    }

    /// Returns the point with these coordinates, which must have magnitude 1.
    ///
    /// # Errors
    /// The given one if the point is not on the curve.
    #[inline]
    pub(crate) fn checked<E>(x: C::Field, y: C::Field, not_on_curve: E) -> Result<Self, E> {
        let point = Self { x, y };
        if point.is_on_curve() {
            Ok(point)
        } else {
            Err(not_on_curve)
        }
    }

    /// x and y must have magnitude 1.
    pub(crate) fn is_on_curve(&self) -> bool {
        Self::right_side(&self.x).sub(&self.y.square(), 1).is_zero()
    }

    /// Returns the negated point if `negate` is set. y of the result has magnitude 3.
    #[inline]
    pub(crate) fn negate_if(&self, negate: bool) -> Self {
        Self {
            x: self.x,
            y: if negate { self.y.negate(3) } else { self.y },
        }
    }

    /// Maps the point to the isomorphic curve whose points have Z divided by `scale`: (x scale^2, y scale^3), of
    /// magnitude 1.
    #[inline]
    pub(crate) fn scaled(&self, scale: &C::Field) -> Self {
        let square = scale.square();
        Self {
            x: self.x.mul(&square),
            y: self.y.mul(&square.mul(scale)),
        }
    }

    /// Returns `2 P` and `P` as X and Y with a common Z, which is y: 2M + 4S.
    ///
    /// `2 P` has magnitudes 4 and 3; `P` has magnitude 1.
    #[inline(always)]
    pub(crate) fn double_with_one_z(&self) -> [Self; 2] {
        let mut slope = self.x.square();
        if C::A_IS_MINUS_3 {
            slope = slope.sub(&C::Field::ONE, 1);
        }
        let (e, yy) = (slope.add(&slope.half()), self.y.square());
        let d = self.x.mul(&yy);
        let yyyy = yy.square();
        let x = e.square().sub(&d.double(), 2);
        let y = e.mul(&d.sub(&x, 4)).sub(&yyyy, 1);
        [Self { x, y }, Self { x: d, y: yyyy }]
    }

    /// Adds two points given as X and Y with a common Z. Returns the sum, `self` rescaled to the Z of the sum, and the
    /// ratio of the new Z to the old: 4M + 2S, for any a. `magnitude` bounds the x of `self`; both x have magnitude at
    /// most 4, both y at most 3.
    ///
    /// If the points are equal or opposite, the ratio is 0.
    #[inline(always)]
    pub(crate) fn add_with_one_z(&self, other: &Self, magnitude: u32) -> ([Self; 2], C::Field) {
        let h = other.x.sub(&self.x, magnitude);
        let r = other.y.sub(&self.y, 3); // 7
        let hh = h.square();
        let (u1, u2) = (self.x.mul(&hh), other.x.mul(&hh));
        let x = r.square().sub(&u1.add(&u2), 2); // 4
        let s1 = self.y.mul(&u2.sub(&u1, 1)); // 1
        let y = r.mul(&u1.sub(&x, 4)).sub(&s1, 1); // 3
        ([Self { x, y }, Self { x: u1, y: s1 }], h)
    }
}

impl<C: Curve<Field: SecretField>> Affine<C> {
    /// Returns the negated point if the mask is true, in constant time. y of the result has magnitude 3.
    #[inline]
    pub(crate) fn negate_where(&self, mask: Mask) -> Self {
        Self {
            x: self.x,
            y: C::Field::select(mask, &self.y.negate(3), &self.y),
        }
    }

    /// Returns `yes` if the mask is true, else `no`, in constant time.
    #[inline]
    pub(crate) fn select(mask: Mask, yes: &Self, no: &Self) -> Self {
        Self {
            x: C::Field::select(mask, &yes.x, &no.x),
            y: C::Field::select(mask, &yes.y, &no.y),
        }
    }
}

/// Numerator and denominator of the slope of the line through two points, for [`add_with_slope`]. Returns `None` if the
/// points are opposite. All coordinates have magnitude 1.
#[inline(always)]
pub(crate) fn slope<C: Curve>(p: &Affine<C>, q: &Affine<C>) -> Option<[C::Field; 2]> {
    let difference = q.x.sub(&p.x, 1);
    if !difference.is_zero() {
        return Some([q.y.sub(&p.y, 1), difference]);
    }
    q.y.sub(&p.y, 1).is_zero().then(|| {
        let mut numerator = p.x.square().triple();
        if C::A_IS_MINUS_3 {
            numerator = numerator.sub(&C::Field::ONE.triple(), 3);
        }
        [numerator, p.y.double()]
    })
}

/// Adds two points, given the slope of the line through them.
#[inline(always)]
pub(crate) fn add_with_slope<C: Curve>(
    p: &Affine<C>,
    q: &Affine<C>,
    slope: &C::Field,
) -> Affine<C> {
    let x = slope.square().sub(&p.x, 1).sub(&q.x, 1);
    let y = slope.mul(&p.x.sub(&x, 5)).sub(&p.y, 1);
    Affine { x, y }
}

/// Adds two points with one inversion. `None` is infinity. All coordinates have magnitude 1.
pub(crate) fn add_affine<C: Curve>(
    p: Option<Affine<C>>,
    q: Option<Affine<C>>,
) -> Option<Affine<C>> {
    let (Some(p), Some(q)) = (p, q) else {
        return p.or(q);
    };
    let [numerator, denominator] = slope(&p, &q)?;
    Some(add_with_slope(
        &p,
        &q,
        &numerator.mul(&denominator.invert()),
    ))
}

#[derive(Clone, Copy)]
pub(crate) struct Jacobian<C: Curve> {
    pub(crate) x: C::Field,
    pub(crate) y: C::Field,
    pub(crate) z: C::Field,
}

/// The Jacobian form of a secret multiple reveals more about the multiplier than the point itself: its Z depends on all
/// additions.
impl<C: Curve<Field: Zeroize>> Zeroize for Jacobian<C> {
    fn zeroize(&mut self) {
        self.x.zeroize();
        self.y.zeroize();
        self.z.zeroize();
    }
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

    /// Returns the affine point; `None` is infinity.
    pub(crate) fn to_affine(self) -> Option<Affine<C>> {
        (!self.is_infinity()).then(|| self.to_affine_with(&self.z.invert()))
    }

    /// Returns the affine point, given 1 / Z. Magnitude 1. Constant-time.
    #[inline]
    pub(crate) fn to_affine_with(self, z_inverse: &C::Field) -> Affine<C> {
        let Self { x, y, .. } = self;
        Affine { x, y }.scaled(z_inverse)
    }

    #[cfg(all(feature = "bls12-381", any(test, target_arch = "x86_64")))]
    pub(crate) fn negate(&self) -> Self {
        Self {
            y: self.y.negate(4),
            ..*self
        }
    }

    /// Doubles the point. Constant-time, including for infinity.
    #[inline(always)]
    pub(crate) fn double(&self) -> Self {
        let mut point = *self;
        if point.doubled_by_field() {
            return point;
        }
        // dbl-2009-l with Z halved: 3M + 4S. If a = -3, X^2 is replaced by X^2 - Z^4: 4M + 4S.
        let slope = if C::A_IS_MINUS_3 {
            let zz = self.z.square();
            self.x.sub(&zz, 1).mul(&self.x.add(&zz))
        } else {
            self.x.square()
        };
        let yy = self.y.square();
        let z = self.y.mul(&self.z);
        let e = slope.add(&slope.half()); // 3 X^2 / 2: 2
        let ee = e.square();
        let d = self.x.mul(&yy); // X Y^2: 1
        let x = ee.sub(&d.double(), 2); // 4
        let y = C::Field::product_minus_square(&e, &d, &x, &yy); // 2
        Self { x, y, z }
    }

    /// Doubles in place.
    #[inline(always)]
    pub(crate) fn double_assign(&mut self) {
        if !self.doubled_by_field() {
            *self = self.double();
        }
    }

    #[inline(always)]
    fn doubled_by_field(&mut self) -> bool {
        !C::A_IS_MINUS_3 && C::Field::double_point([&mut self.x, &mut self.y, &mut self.z])
    }

    /// madd-2004-hmv, 8M + 3S. `z` is the Z of this point on the addend's curve. Returns the sum and Z3 / Z1.
    /// Constant-time.
    ///
    /// Z3 is 0 if the points are equal or opposite, or if this point is infinity.
    #[inline(always)]
    pub(crate) fn add_incomplete(&self, other: &Affine<C>, z: &C::Field) -> (Self, C::Field) {
        let mut point = *self;
        if let Some(h) = point.added_by_field(other, Some(z)) {
            return (point, h);
        }
        let zz = z.square();
        let u = other.x.mul(&zz);
        let zzz = zz.mul(z);
        let h = u.sub(&self.x, 6); // 8
        let hh = h.square();
        let s = other.y.mul(&zzz);
        let v = self.x.mul(&hh);
        let hhh = h.mul(&hh);
        let r = s.sub(&self.y, 4); // 6
        let rr = r.square();
        let z = self.z.mul(&h); // 1
        let x = rr.sub(&hhh, 1).sub(&v.double(), 2); // 6
        let y = C::Field::difference_of_products(&r, &v.sub(&x, 6), &hhh, &self.y); // 1
        (Self { x, y, z }, h)
    }

    /// [`Self::add_incomplete`] in place. With a `scale`, this point is on the isomorphic curve whose points have Z
    /// divided by it.
    #[inline(always)]
    pub(crate) fn add_assign_incomplete(&mut self, other: &Affine<C>, scale: Option<&C::Field>) {
        let z = scale.map(|scale| self.z.mul(scale));
        if self.added_by_field(other, z.as_ref()).is_none() {
            *self = self.add_incomplete(other, &z.unwrap_or(self.z)).0;
        }
    }

    #[inline(always)]
    fn added_by_field(&mut self, other: &Affine<C>, z: Option<&C::Field>) -> Option<C::Field> {
        let point = [&mut self.x, &mut self.y, &mut self.z];
        C::Field::add_point(point, [&other.x, &other.y], z)
    }

    pub(crate) fn add_affine(&self, other: &Affine<C>) -> Self {
        self.add_scaled(other, None)
    }

    /// Adds `other`, for all points. With a `scale`, this point is on the isomorphic curve whose points have Z divided
    /// by it.
    #[inline(always)]
    pub(crate) fn add_scaled(&self, other: &Affine<C>, scale: Option<&C::Field>) -> Self {
        if self.is_infinity() {
            // Z = 1 on the addend's curve is Z = 1 / scale here.
            return scale.map_or(*other, |scale| other.scaled(scale)).into();
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

    /// Adds two Jacobian points: 12M + 4S.
    #[cfg(any(test, all(feature = "bls12-381", target_arch = "x86_64")))]
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

    /// Whether both are the same point.
    #[cfg(test)]
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
    /// Adds `other`: completely, or with [`Self::add_incomplete`]. Constant-time.
    #[inline]
    pub(crate) fn add_secret<const COMPLETE: bool>(&self, other: &Affine<C>) -> Self {
        if COMPLETE {
            self.add_complete(other)
        } else {
            self.add_incomplete(other, &self.z).0
        }
    }

    /// Adds `other` without exceptional cases: 7M + 5S. Constant-time.
    ///
    /// With U1 = X1, U2 = x2 Z1^2, S1 = Y1 and S2 = y2 Z1^3, the slope is (U1^2 + U1 U2 + U2^2) / (S1 + S2). If S1 + S2
    /// = 0, U1 and U2 are equal or differ by a cube root of unity, and the slope is 2 S1 / (U1 - U2).
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
        // divisor^2 * m^2: either m = divisor, or m = 0 in the degenerate case.
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

    /// Returns the negated point if the mask is true, in constant time.
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

/// Returns `P, 3 P, 5 P, ...`, affine on an isomorphic curve, and the scale of that curve: a point with Z there is the
/// point with `Z * scale` here. The isomorphic curve has a different a, unless a is 0.
///
/// `ENTRIES` must be below half the order of P, so that no multiple is infinity. x has magnitude 4, y has magnitude 3.
pub(crate) fn odd_multiples<C: Curve, const ENTRIES: usize>(
    p: &Affine<C>,
) -> ([Affine<C>; ENTRIES], C::Field) {
    let mut table = [*p; ENTRIES];
    let (_, scale) = sums_with_one_z(
        &mut table,
        p.double_with_one_z(),
        p.y,
        C::Field::mul,
        Affine::scaled,
        |i, step, sum| step.add_with_one_z(sum, if i == 1 { 4 } else { 1 }),
    );
    (table, scale)
}

/// Fills a table with sums: the first entry is `first`, and each of the others is the one before plus a step. All are
/// affine on one isomorphic curve. Returns the last step on that curve, and its scale.
///
/// Generic over the point type P and the field F. Takes the first step and `first` as X and Y with the common Z `z`,
/// and three operations: the field product, [`Affine::scaled`], and for entry i the sum of the step and the entry
/// before it, which have a common Z. That sum also returns the step rescaled to the new Z, and the ratio of the new Z
/// to the old.
///
/// Source: "effective affine", \[LIBSECP\] `ecmult_impl.h`; additions as in \[Mel07\] §3.
#[inline(always)]
pub(crate) fn sums_with_one_z<P: Copy, F: Copy, const ENTRIES: usize>(
    table: &mut [P; ENTRIES],
    [mut step, first]: [P; 2],
    z: F,
    mul: impl Fn(&F, &F) -> F,
    scaled: impl Fn(&P, &F) -> P,
    add: impl Fn(usize, &P, &P) -> ([P; 2], F),
) -> (P, F) {
    table[0] = first;
    let mut ratios = [z; ENTRIES];
    for i in 1..ENTRIES {
        ([table[i], step], ratios[i]) = add(i, &step, &table[i - 1]);
    }
    // Rescale all entries to the Z of the last: entry i must be scaled by the product of the ratios after it.
    let mut scale = ratios[ENTRIES - 1];
    for i in (0..ENTRIES - 1).rev() {
        table[i] = scaled(&table[i], &scale);
        scale = mul(&scale, &ratios[i]);
    }
    (step, scale)
}

/// Digits of a multiplier, lowest first, and their number up to the highest non-zero digit.
pub(crate) type Digits<const LENGTH: usize> = ([i16; LENGTH], usize);

/// Computes the sum over all i and j of `2^i entry(j, digit)`, for each non-zero digit i of multiplier j. If an entry
/// has a scale, the sums are on the isomorphic curve described at [`Jacobian::add_scaled`]. Variable-time.
///
/// Additions are incomplete. One that results in Z = 0, which means infinity or an exceptional case, is repeated exactly.
/// Whoever knows the logarithms of the points can cause these, so they must not cost much.
///
/// Source: Strauss' interleaving, \[HMV04\] algorithm 3.51.
#[inline(always)]
pub(crate) fn interleave<'a, C: Curve<Field: 'a>, const LENGTH: usize>(
    digits: &mut [Digits<LENGTH>],
    entry: impl Fn(usize, i16) -> (Affine<C>, Option<&'a C::Field>),
) -> Jacobian<C> {
    let (mut highest, mut length) = (0, 0);
    for (j, digits) in digits.iter().enumerate() {
        if digits.1 > length {
            (highest, length) = (j, digits.1);
        }
    }
    if length == 0 {
        return Jacobian::INFINITY;
    }
    // The sum starts with the highest digit, not with infinity.
    let digit = core::mem::take(&mut digits[highest].0[length - 1]);
    let (point, scale) = entry(highest, digit);
    let mut sum: Jacobian<C> = scale.map_or(point, |scale| point.scaled(scale)).into();
    for position in (0..length).rev() {
        if position + 1 < length {
            sum.double_assign();
        }
        // A single call site of the addition keeps the code small for the instruction cache.
        for (j, (digits, _)) in digits.iter().enumerate() {
            let digit = digits[position];
            if digit != 0 {
                let (point, scale) = entry(j, digit);
                let before = sum;
                sum.add_assign_incomplete(&point, scale);
                if sum.is_infinity() {
                    sum = add_exact(&before, &point, scale);
                }
            }
        }
    }
    sum
}

#[cold]
#[inline(never)]
fn add_exact<C: Curve>(
    sum: &Jacobian<C>,
    point: &Affine<C>,
    scale: Option<&C::Field>,
) -> Jacobian<C> {
    sum.add_scaled(point, scale)
}

/// Returns `k` in width-`window` non-adjacent form: each digit is zero, or odd and below `2^(window - 1)` in absolute
/// value. `LENGTH` must be at least one more than the number of bits of k.
///
/// Source: \[HMV04\] algorithm 3.35.
pub(crate) fn wnaf<const LENGTH: usize>(k: &[u64; 4], window: u32) -> Digits<LENGTH> {
    let mut digits = [0; LENGTH];
    let (mut position, mut length, mut carry) = (0, 0, 0);
    let bits = |position: usize| {
        let (word, shift) = (position / 64, position % 64);
        let low = k.get(word).map_or(0, |word| word >> shift);
        low | k.get(word + 1).map_or(0, |word| word << 1 << (63 - shift))
    };
    loop {
        // With a carry, ones become zeros and the carry propagates.
        let next = bits(position);
        position += (if carry == 1 { !next } else { next }).trailing_zeros() as usize;
        if position >= LENGTH {
            return (digits, length);
        }
        let low = (bits(position) & ((1 << window) - 1)) + carry;
        if low & 1 == 0 {
            continue; // no set bit within these 64 bits
        }
        carry = low >> (window - 1) & 1;
        digits[position] = (low as i64 - ((carry as i64) << window)) as i16;
        length = position + 1;
        position += window as usize;
    }
}

/// Returns the signed digits of `k` in windows of `width` bits, lowest first: from `-2^(width - 1) + 1` to
/// `2^(width - 1)`.
#[cfg(all(feature = "bls12-381", target_arch = "x86_64"))]
pub(crate) fn signed_digits(k: u128, width: usize) -> impl Iterator<Item = i32> {
    let mut carry = 0;
    (0..).step_by(width).map(move |bit| {
        let low = k.checked_shr(bit).unwrap_or(0) as i32 & ((1 << width) - 1);
        let digit = low + carry;
        carry = i32::from(digit > 1 << (width - 1));
        digit - (carry << width)
    })
}
