//! One recovery or verification at a time: field elements in four words, multiplied by MULX, ADCX and ADOX.
//!
//! Layout: four little-endian words of 64 bits; any value below 2^256 stands for itself modulo p = 2^256 - FOLD. Every
//! operation takes and returns such values; only [`Field::reduced`] brings one below p.
//!
//! The formulas are incomplete, as in `avx512ifma_x8`: where a sum meets its own addend or its opposite, Z becomes 0
//! and stays 0, and the caller computes again by the portable way. Only crafted signatures get there.
//!
//! The two carry chains of ADCX and ADOX cannot be had from the compiler, hence the assembly. It reads its operands from
//! memory and touches nothing but registers; 13 are all there are, so they are named.
//!
//! Source: dbl-2009-l (halved) and madd-2004-hmv of [EFD] for a = 0; the interleaving and the table on an isomorphic
//! curve are those of `multiply`, with its sources.
//! Constant time: no, public data only.

use core::arch::asm;

use super::super::{
    POINT_ENTRIES,
    field::{FieldElement, square_root_chain},
    group::{Affine, BETA, Curve, Jacobian},
    multiply::{GeneratorTable, window, wnaf},
    scalar::Signed128,
};

/// 2^256 mod p.
const FOLD: u64 = 0x1_0000_03d1;

/// A value below 2^256 modulo p.
#[derive(Clone, Copy)]
struct Field([u64; 4]);

/// Adds `rdx * $operand` to `$low` (by the carry flag) and `$high` (by the overflow flag).
macro_rules! multiply_add_step {
    ($operand:literal, $low:literal, $high:literal) => {
        concat!(
            "mulx rcx, rax, ",
            $operand,
            "\n",
            "adcx ",
            $low,
            ", rax\n",
            "adox ",
            $high,
            ", rcx\n",
        )
    };
}

/// Adds word `$b` of the second factor times the first factor to five accumulators, the last of which is new.
macro_rules! multiply_row {
    ($b:literal, $t0:literal, $t1:literal, $t2:literal, $t3:literal, $t4:literal) => {
        concat!(
            "mov rdx, [rdi + ",
            $b,
            "]\n",
            "xor ",
            $t4,
            "d, ",
            $t4,
            "d\n", // clears both flags too
            multiply_add_step!("[rsi]", $t0, $t1),
            multiply_add_step!("[rsi + 8]", $t1, $t2),
            multiply_add_step!("[rsi + 16]", $t2, $t3),
            multiply_add_step!("[rsi + 24]", $t3, $t4),
            "mov eax, 0\n",
            "adcx ",
            $t4,
            ", rax\n",
        )
    };
}

/// Reduces r8 to r15 to r8 to r11.
macro_rules! reduce {
    () => {
        concat!(
            // 512 bits to 289: upper half times FOLD onto the lower.
            "mov rdx, {fold}\n",
            "xor eax, eax\n",
            multiply_add_step!("r12", "r8", "r9"),
            multiply_add_step!("r13", "r9", "r10"),
            multiply_add_step!("r14", "r10", "r11"),
            "mulx rcx, rax, r15\n",
            "adcx r11, rax\n",
            "mov eax, 0\n",
            "adox rcx, rax\n",
            "adcx rcx, rax\n",
            // What is above 2^256, at most FOLD, times FOLD: below 2^66.
            "mulx rcx, rax, rcx\n",
            "add r8, rax\n",
            "adc r9, rcx\n",
            "adc r10, 0\n",
            "adc r11, 0\n",
            // If that wrapped, what is left is below 2^66. It never does by chance, so nothing waits for it.
            "jnc 2f\n",
            "add r8, rdx\n",
            "adc r9, 0\n",
            "2:\n",
        )
    };
}

/// `a + b + carry` and the carry.
#[inline(always)]
fn add_carry(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum, first | second)
}

/// `a - b - borrow` and the borrow.
#[inline(always)]
fn sub_borrow(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (difference, first) = a.overflowing_sub(b);
    let (difference, second) = difference.overflowing_sub(u64::from(borrow));
    (difference, first | second)
}

/// FOLD or 0.
#[inline(always)]
fn fold_if(condition: bool) -> u64 {
    FOLD & u64::from(condition).wrapping_neg()
}

impl Field {
    const ONE: Self = Self([1, 0, 0, 0]);

    #[inline]
    #[target_feature(enable = "bmi2,adx")]
    fn mul(&self, other: &Self) -> Self {
        let (r0, r1, r2, r3);
        // SAFETY: reads 32 bytes behind each of two valid references, writes registers only.
        unsafe {
            asm!(
                "mov rdx, [rdi]",
                "mulx r9, r8, [rsi]",
                "mulx r10, rax, [rsi + 8]",
                "add r9, rax",
                "mulx r11, rax, [rsi + 16]",
                "adc r10, rax",
                "mulx r12, rax, [rsi + 24]",
                "adc r11, rax",
                "adc r12, 0",
                multiply_row!("8", "r9", "r10", "r11", "r12", "r13"),
                multiply_row!("16", "r10", "r11", "r12", "r13", "r14"),
                multiply_row!("24", "r11", "r12", "r13", "r14", "r15"),
                reduce!(),
                fold = const FOLD,
                in("rsi") self.0.as_ptr(),
                in("rdi") other.0.as_ptr(),
                out("rax") _, out("rcx") _, out("rdx") _,
                out("r8") r0, out("r9") r1, out("r10") r2, out("r11") r3,
                out("r12") _, out("r13") _, out("r14") _, out("r15") _,
                options(pure, readonly, nostack),
            );
        }
        Self([r0, r1, r2, r3])
    }

    #[inline]
    #[target_feature(enable = "bmi2,adx")]
    fn square(&self) -> Self {
        let (r0, r1, r2, r3);
        // SAFETY: reads 32 bytes behind a valid reference, writes registers only.
        unsafe {
            asm!(
                // The products of different words,
                "mov rdx, [rsi]",
                "mulx r10, r9, [rsi + 8]",
                "mulx r11, rax, [rsi + 16]",
                "add r10, rax",
                "mulx r12, rax, [rsi + 24]",
                "adc r11, rax",
                "adc r12, 0",
                "mov rdx, [rsi + 8]",
                "xor r13d, r13d",
                multiply_add_step!("[rsi + 16]", "r11", "r12"),
                multiply_add_step!("[rsi + 24]", "r12", "r13"),
                "mov eax, 0",
                "adcx r13, rax",
                "mov rdx, [rsi + 16]",
                "mulx r14, rax, [rsi + 24]",
                "add r13, rax",
                "adc r14, 0",
                // doubled in the carry flag's chain, the squares added in the overflow flag's.
                "xor r15d, r15d",
                "mov rdx, [rsi]",
                "mulx rcx, r8, rdx",
                "adcx r9, r9",
                "adox r9, rcx",
                "mov rdx, [rsi + 8]",
                "mulx rcx, rax, rdx",
                "adcx r10, r10",
                "adox r10, rax",
                "adcx r11, r11",
                "adox r11, rcx",
                "mov rdx, [rsi + 16]",
                "mulx rcx, rax, rdx",
                "adcx r12, r12",
                "adox r12, rax",
                "adcx r13, r13",
                "adox r13, rcx",
                "mov rdx, [rsi + 24]",
                "mulx rcx, rax, rdx",
                "adcx r14, r14",
                "adox r14, rax",
                "adcx r15, r15",
                "adox r15, rcx",
                reduce!(),
                fold = const FOLD,
                in("rsi") self.0.as_ptr(),
                out("rax") _, out("rcx") _, out("rdx") _,
                out("r8") r0, out("r9") r1, out("r10") r2, out("r11") r3,
                out("r12") _, out("r13") _, out("r14") _, out("r15") _,
                options(pure, readonly, nostack),
            );
        }
        Self([r0, r1, r2, r3])
    }

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        let (a, b) = (&self.0, &other.0);
        let (r0, carry) = a[0].overflowing_add(b[0]);
        let (r1, carry) = add_carry(a[1], b[1], carry);
        let (r2, carry) = add_carry(a[2], b[2], carry);
        let (r3, carry) = add_carry(a[3], b[3], carry);
        let (r0, carry) = r0.overflowing_add(fold_if(carry));
        let (r1, carry) = r1.overflowing_add(u64::from(carry));
        let (r2, carry) = r2.overflowing_add(u64::from(carry));
        let (r3, carry) = r3.overflowing_add(u64::from(carry));
        // A second carry leaves less than FOLD.
        Self([r0.wrapping_add(fold_if(carry)), r1, r2, r3])
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        let (a, b) = (&self.0, &other.0);
        let (r0, borrow) = a[0].overflowing_sub(b[0]);
        let (r1, borrow) = sub_borrow(a[1], b[1], borrow);
        let (r2, borrow) = sub_borrow(a[2], b[2], borrow);
        let (r3, borrow) = sub_borrow(a[3], b[3], borrow);
        let (r0, borrow) = r0.overflowing_sub(fold_if(borrow));
        let (r1, borrow) = r1.overflowing_sub(u64::from(borrow));
        let (r2, borrow) = r2.overflowing_sub(u64::from(borrow));
        let (r3, borrow) = r3.overflowing_sub(u64::from(borrow));
        // A second borrow leaves 2^256 - FOLD or more.
        Self([r0.wrapping_sub(fold_if(borrow)), r1, r2, r3])
    }

    #[inline(always)]
    fn negate_if(&self, negate: bool) -> Self {
        if negate {
            Self([0; 4]).sub(self)
        } else {
            *self
        }
    }

    #[inline(always)]
    fn half(&self) -> Self {
        let a = &self.0;
        // An odd x is halved as (x + p) / 2 = (x - 1) / 2 + 2^255 - (FOLD - 1) / 2, where nothing borrows beyond 2^255.
        let odd = a[0] << 63;
        let (r0, borrow) =
            (a[0] >> 1 | a[1] << 63).overflowing_sub((FOLD / 2) & (a[0] & 1).wrapping_neg());
        let (r1, borrow) = (a[1] >> 1 | a[2] << 63).overflowing_sub(u64::from(borrow));
        let (r2, borrow) = (a[2] >> 1 | a[3] << 63).overflowing_sub(u64::from(borrow));
        let r3 = (a[3] >> 1 | odd).wrapping_sub(u64::from(borrow));
        Self([r0, r1, r2, r3])
    }

    /// The value below p.
    #[inline(always)]
    fn reduced(&self) -> [u64; 4] {
        let (r0, carry) = self.0[0].overflowing_add(FOLD);
        let (r1, carry) = self.0[1].overflowing_add(u64::from(carry));
        let (r2, carry) = self.0[2].overflowing_add(u64::from(carry));
        let (r3, carry) = self.0[3].overflowing_add(u64::from(carry));
        // x + FOLD reaches 2^256 where x reaches p.
        if carry { [r0, r1, r2, r3] } else { self.0 }
    }
}

/// A square root of `x^3 + 7` if there is one, else anything.
#[target_feature(enable = "bmi2,adx")]
pub(crate) fn lift_x(x: &[u64; 4]) -> [u64; 4] {
    let x = Field(*x);
    let a = x.square().mul(&x).add(&Field([7, 0, 0, 0]));
    square_root_chain(a, |a, b| a.mul(b), |a| a.square()).reduced()
}

#[derive(Clone, Copy)]
struct Point {
    x: Field,
    y: Field,
}

/// x = X / Z^2, y = Y / Z^3.
#[derive(Clone, Copy)]
struct Sum {
    x: Field,
    y: Field,
    z: Field,
}

impl Sum {
    /// dbl-2009-l with Z3 = Y Z instead of 2 Y Z: 3M + 4S.
    #[inline]
    #[target_feature(enable = "bmi2,adx")]
    fn double(&self) -> Self {
        let xx = self.x.square();
        let b = self.y.square();
        let z = self.y.mul(&self.z); // early, as an addition that follows starts with it
        let e = xx.add(&xx.half()); // 3 X^2 / 2
        let d = self.x.mul(&b); // X Y^2
        let x = e.square().sub(&d.add(&d));
        let bb = b.square();
        let y = e.mul(&d.sub(&x)).sub(&bb);
        Self { x, y, z }
    }

    /// madd-2004-hmv: 8M + 3S. `z` is this point's Z as the addend's curve sees it. Also returns Z3 / Z1.
    #[inline]
    #[target_feature(enable = "bmi2,adx")]
    fn add_as(&self, other: &Point, z: &Field) -> (Self, Field) {
        let zz = z.square();
        let h = other.x.mul(&zz).sub(&self.x);
        let zzz = zz.mul(z);
        let hh = h.square();
        let r = other.y.mul(&zzz).sub(&self.y);
        let z = self.z.mul(&h);
        let v = self.x.mul(&hh);
        let hhh = h.mul(&hh);
        let rr = r.square();
        let yhhh = self.y.mul(&hhh);
        let x = rr.sub(&hhh).sub(&v.add(&v));
        let y = r.mul(&v.sub(&x)).sub(&yhhh);
        (Self { x, y, z }, h)
    }
}

/// The odd multiples of P, and what replaces x in their images by the endomorphism.
struct Table {
    points: [Point; POINT_ENTRIES],
    beta_x: [Field; POINT_ENTRIES],
}

impl Table {
    /// The table on an isomorphic curve, and the scale: a point there with Z is the point with `Z * scale` here.
    #[inline]
    #[target_feature(enable = "bmi2,adx")]
    fn new(p: &Point) -> (Self, Field) {
        let double = Sum {
            x: p.x,
            y: p.y,
            z: Field::ONE,
        }
        .double();
        // On the curve isomorphic by the Z of 2 P, 2 P itself is affine.
        let step = Point {
            x: double.x,
            y: double.y,
        };
        let zz = double.z.square();
        let first = Point {
            x: p.x.mul(&zz),
            y: p.y.mul(&zz.mul(&double.z)),
        };
        let mut sum = Sum {
            x: first.x,
            y: first.y,
            z: Field::ONE,
        };
        let mut points = [first; POINT_ENTRIES];
        let mut ratios = [Field::ONE; POINT_ENTRIES];
        for i in 1..POINT_ENTRIES {
            (sum, ratios[i]) = sum.add_as(&step, &sum.z);
            points[i] = Point { x: sum.x, y: sum.y };
        }
        // Bring all to the Z of the last: entry i has to be scaled by the product of the ratios after it.
        let beta = Field(BETA.to_words());
        let mut beta_x = [sum.x.mul(&beta); POINT_ENTRIES];
        let mut scale = Field::ONE;
        for i in (0..POINT_ENTRIES - 1).rev() {
            scale = scale.mul(&ratios[i + 1]);
            let square = scale.square();
            points[i] = Point {
                x: points[i].x.mul(&square),
                y: points[i].y.mul(&square.mul(&scale)),
            };
            beta_x[i] = points[i].x.mul(&beta);
        }
        (Self { points, beta_x }, sum.z.mul(&double.z))
    }
}

/// `a[0] P + a[1] lambda P + b[0] G + b[1] 2^128 G`. If Z is 0, an exceptional case was met or the sum is infinity: it
/// has to be computed in another way.
#[target_feature(enable = "bmi2,adx")]
pub(crate) fn multiply_add<C: Curve>(
    p: &Affine<C>,
    a: &[Signed128; 2],
    generator: GeneratorTable<'_>,
    b: &[Signed128; 2],
) -> Jacobian<C> {
    let (table, scale) = Table::new(&Point {
        x: Field(p.x.normalize().to_words()),
        y: Field(p.y.normalize().to_words()),
    });
    let (a0, length_a0) = wnaf(&a[0], window(POINT_ENTRIES));
    let (a1, length_a1) = wnaf(&a[1], window(POINT_ENTRIES));
    let (b0, length_b0) = wnaf(&b[0], window(generator.entries()));
    let (b1, length_b1) = wnaf(&b[1], window(generator.entries()));

    let mut sum: Option<Sum> = None;
    for i in (0..length_a0.max(length_a1).max(length_b0).max(length_b1)).rev() {
        sum = sum.map(|sum| sum.double());
        for (x, digit) in [(None, a0[i]), (Some(&table.beta_x), a1[i])] {
            if digit != 0 {
                let index = usize::from(digit.unsigned_abs() / 2);
                let entry = &table.points[index];
                let entry = Point {
                    x: x.map_or(entry.x, |x| x[index]),
                    y: entry.y.negate_if(digit < 0),
                };
                sum = Some(match sum {
                    Some(sum) => sum.add_as(&entry, &sum.z).0,
                    None => Sum {
                        x: entry.x,
                        y: entry.y,
                        z: Field::ONE,
                    },
                });
            }
        }
        for (half, digit) in [(0, b0[i]), (1, b1[i])] {
            if digit != 0 {
                let [x0, x1, x2, x3, y @ ..] = generator.words(half, digit);
                let entry = Point {
                    x: Field([x0, x1, x2, x3]),
                    y: Field(y).negate_if(digit < 0),
                };
                sum = Some(match sum {
                    Some(sum) => sum.add_as(&entry, &sum.z.mul(&scale)).0,
                    None => {
                        // Z = scale there is Z = 1 here.
                        let square = scale.square();
                        Sum {
                            x: entry.x.mul(&square),
                            y: entry.y.mul(&square.mul(&scale)),
                            z: Field::ONE,
                        }
                    }
                });
            }
        }
    }
    let Some(sum) = sum else {
        return Jacobian::INFINITY;
    };
    let [x, y, z] = [sum.x, sum.y, sum.z.mul(&scale)]
        .map(|coordinate| FieldElement::from_words(coordinate.reduced()));
    Jacobian::new(x, y, z)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use alloc::vec::Vec;

    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::{
        super::super::{
            dispatch::Backend,
            tests::{config, to_big, to_words, words},
        },
        *,
    };

    const P: [u64; 4] = [FOLD.wrapping_neg(), u64::MAX, u64::MAX, u64::MAX];

    /// Checks every operation on these two against integers.
    fn check(a: [u64; 4], b: [u64; 4]) {
        let p = to_big(&P);
        let (x, y) = (to_big(&a), to_big(&b));
        let (a, b) = (Field(a), Field(b));
        let same = |name: &str, got: Field, expected: BigUint| {
            assert_eq!(
                got.reduced(),
                to_words(&(expected % &p)),
                "{name} {x:x} {y:x}"
            );
        };
        // SAFETY: only called where the backend is there.
        let (product, square) = unsafe { (a.mul(&b), a.square()) };
        same("mul", product, &x * &y);
        same("square", square, &x * &x);
        same("add", a.add(&b), &x + &y);
        same("sub", a.sub(&b), &x + &p + &p - &y);
        same("half", a.half(), &x * ((&p + 1u8) >> 1));
        same("negate", a.negate_if(true), &p + &p - &x);
        same("keep", a.negate_if(false), x.clone());
        same("reduced", a, x.clone());
    }

    #[test]
    fn edges() {
        if Backend::detect() == Backend::Portable {
            return;
        }
        let max = [u64::MAX; 4];
        let near = |words: [u64; 4], by: u64| {
            let mut words = words;
            words[0] = words[0].wrapping_sub(by);
            words
        };
        let mut all: Vec<[u64; 4]> = (0..4).map(|i| [i, 0, 0, 0]).collect();
        all.extend((0..4).flat_map(|i| [near(max, i), near(P, i), near(P, i.wrapping_neg())]));
        // Around FOLD, around 2^255 and multiples of FOLD^-1, where the two folds carry.
        all.extend((0..3).flat_map(|i| [[FOLD - i, 0, 0, 0], [FOLD + i, 0, 0, 0]]));
        all.extend((0..4).flat_map(|i| {
            let mut single = [0; 4];
            single[i] = u64::MAX;
            let mut missing = max;
            missing[i] = 0;
            let mut top = [0; 4];
            top[i] = 1 << 63;
            [single, missing, top]
        }));
        for a in &all {
            for b in &all {
                check(*a, *b);
            }
        }
    }

    /// Products whose 512 bits are chosen, so that each fold wraps: `a b = t 2^256 + u` for edge t, as far as it divides.
    #[test]
    fn products_that_wrap() {
        if Backend::detect() == Backend::Portable {
            return;
        }
        let one = BigUint::from(1u8);
        let modulus = &one << 256;
        let (mut first, mut second) = (0, 0);
        for i in 1u64..4000 {
            // The upper half h of the product is floor(a b / 2^256); a close to 2^256 makes h = b - 1 or so, and the low
            // half the complement of a multiple of b: both all ones at times.
            let a = &modulus - i;
            for b in [
                &modulus - 1u8,
                &modulus - i,
                &modulus - FOLD * i,
                &modulus / i,
            ] {
                let product = &a * &b;
                let fold = BigUint::from(FOLD);
                let once = (&product >> 256) * &fold + (&product % &modulus);
                let twice = (&once >> 256) * &fold + (&once % &modulus);
                first += u32::from(&once >> 256 != BigUint::ZERO);
                second += u32::from(&twice >> 256 != BigUint::ZERO);
                check(to_words(&a), to_words(&b));
            }
        }
        // The last wrap is met too, not only the usual one.
        assert!(first > 0 && second > 0, "{first} {second}");
    }

    proptest! {
        #![proptest_config(config())]
        #[test]
        fn operations_are_those_of_integers(a in words(P), b in words(P)) {
            if Backend::detect() != Backend::Portable {
                check(a, b);
            }
        }
    }
}
