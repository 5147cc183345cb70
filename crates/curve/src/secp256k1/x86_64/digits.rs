//! Digits of multipliers for kernels in which all lanes take the same steps. Variable-time.
//!
//! lambda, a cube root of 1, multiplies a point by multiplying its x by beta. So the units 1, lambda, lambda^2 of
//! Z\[lambda\] and their negatives cost no addition. A multiplier of P, split into `k1 + k2 lambda`, has one digit for
//! three bits of both halves: the 63 residues modulo 8 other than 0 are the units times [`MULTIPLES`], which are only
//! eleven.

use super::super::{multiply::GENERATOR_ENTRIES, scalar::Signed128};

/// Distance in bits between the digits of a multiplier of P.
pub(super) const WINDOW: usize = 3;
/// The number of digits of a multiplier of P: 129 bits.
pub(super) const COUNT: usize = 43;
/// Points in the table of P.
pub(super) const ENTRIES: usize = 11;

/// Distance in bits between the digits of a multiplier of G: the static table's odd multiples are below
/// `2^GENERATOR_WINDOW`.
pub(super) const GENERATOR_WINDOW: usize = GENERATOR_ENTRIES.ilog2() as usize + 1;
/// The number of digits of a multiplier of G.
pub(super) const GENERATOR_COUNT: usize = 128_usize.div_ceil(GENERATOR_WINDOW);

/// `lambda^image`, or its negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// 0, 1 or 2.
    pub(super) image: u8,
    pub(super) negative: bool,
}

impl Unit {
    const fn new(image: u8, negative: bool) -> Self {
        Self { image, negative }
    }

    /// Returns the product.
    const fn times(self, [mut a, mut b]: [i8; 2]) -> [i8; 2] {
        let mut n = self.image;
        while n > 0 {
            // lambda^2 = -1 - lambda.
            (a, b) = (-b, a - b);
            n -= 1;
        }
        if self.negative { [-a, -b] } else { [a, b] }
    }
}

/// The table of P starts at 2 P; each next entry is the one before plus a step, and the last one is P, the last step.
/// The first step is P, and each is multiplied by one of these units before it is added.
pub(super) const TURNS: [Unit; ENTRIES - 2] = [
    Unit::new(0, false),
    Unit::new(0, false),
    Unit::new(1, false),
    Unit::new(0, false),
    Unit::new(1, false),
    Unit::new(1, true),
    Unit::new(2, false),
    Unit::new(0, false),
    Unit::new(1, true),
];

/// The multiples of P in its table, `a + b lambda` as `[a, b]`: 2, 3, 4, 4 + lambda, 4 + 2 lambda, 3 + lambda, 2 +
/// lambda, 3 + 2 lambda, 4 + 3 lambda, 5 + 3 lambda, and 1.
///
/// No number congruent to one of them modulo 8 has a smaller norm.
const MULTIPLES: [[i8; 2]; ENTRIES] = {
    let (mut multiples, mut step) = ([[2, 0]; ENTRIES], [1, 0]);
    let mut i = 0;
    while i < TURNS.len() {
        step = TURNS[i].times(step);
        let [a, b] = multiples[i];
        multiples[i + 1] = [a + step[0], b + step[1]];
        i += 1;
    }
    assert!(step[0] == 1 && step[1] == 0);
    multiples[i + 1] = step;
    multiples
};

/// A unit times one of [`MULTIPLES`].
#[derive(Clone, Copy)]
pub(super) struct Digit {
    pub(super) unit: Unit,
    /// The index in [`MULTIPLES`].
    pub(super) entry: u8,
    value: [i8; 2],
}

impl Digit {
    /// Some digit.
    pub(super) const ANY: Self = Self {
        unit: Unit::new(0, false),
        entry: 0,
        value: MULTIPLES[0],
    };
}

/// The digits of the residues `a + b lambda` modulo 8, at `a + 8 b`.
static RESIDUES: [Option<Digit>; 64] = {
    let mut residues = [None; 64];
    let (mut entry, mut found) = (0, 0);
    while entry < ENTRIES {
        let mut i = 0;
        while i < 6 {
            let unit = Unit::new(i % 3, i >= 3);
            let value = unit.times(MULTIPLES[entry]);
            let residue = index(value[0] as i32, value[1] as i32);
            if residues[residue].is_none() {
                found += 1;
                residues[residue] = Some(Digit {
                    unit,
                    entry: entry as u8,
                    value,
                });
            }
            i += 1;
        }
        entry += 1;
    }
    assert!(found == 63 && residues[0].is_none());
    residues
};

const fn index(a: i32, b: i32) -> usize {
    ((a & 7) | (b & 7) << 3) as usize
}

/// Returns the digits of `k[0] + k[1] lambda`, 3 bits apart, lowest first. `None` is 0. k must come from
/// `Scalar::split_vartime`.
///
/// No carry is left after the last digit: `docs/internals/eight-lane-field.md` derives that.
pub(super) fn point_digits(k: &[Signed128; 2]) -> [Option<Digit>; COUNT] {
    let sign = k.map(|k| if k.negative { -1 } else { 1 });
    let mut carry = [0; 2];
    let digits = core::array::from_fn(|i| {
        let [a, b] = core::array::from_fn(|half| {
            sign[half] * (k[half].magnitude >> (WINDOW * i) & 7) as i32 + carry[half]
        });
        let digit = RESIDUES[index(a, b)];
        let value = digit.map_or([0; 2], |digit| digit.value.map(i32::from));
        carry = [(a - value[0]) >> WINDOW, (b - value[1]) >> WINDOW];
        digit
    });
    debug_assert_eq!(carry, [0, 0]);
    digits
}

/// Returns the digits of an odd multiplier, 12 bits apart, lowest first. All are odd.
///
/// Source: [JT09] algorithm 6.
pub(super) fn generator_digits(k: &Signed128) -> [i16; GENERATOR_COUNT] {
    debug_assert!(k.magnitude & 1 == 1);
    let mut rest = k.magnitude;
    let digits: [i16; GENERATOR_COUNT] = core::array::from_fn(|i| {
        if i + 1 == GENERATOR_COUNT {
            return rest as i16;
        }
        // The low W + 1 bits minus 2^W; the rest stays odd.
        let digit = (rest & ((2 << GENERATOR_WINDOW) - 1)) as i16 - (1 << GENERATOR_WINDOW);
        rest = (rest >> GENERATOR_WINDOW) | 1;
        digit
    });
    digits.map(|digit| if k.negative { -digit } else { digit })
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use num_bigint::BigInt;

    use super::*;

    /// Checks that the digits are those of `k[0] + k[1] lambda`.
    fn check(k: [BigInt; 2]) {
        let halves = k.each_ref().map(|k| Signed128 {
            negative: k.sign() == num_bigint::Sign::Minus,
            magnitude: k.magnitude().try_into().expect("128 bits"),
        });
        let mut value = [BigInt::ZERO, BigInt::ZERO];
        for digit in point_digits(&halves).iter().rev() {
            let digit = digit.map_or([0; 2], |digit| {
                assert_eq!(
                    digit.unit.times(MULTIPLES[usize::from(digit.entry)]),
                    digit.value
                );
                digit.value
            });
            for half in 0..2 {
                value[half] = (&value[half] << WINDOW) + digit[half];
            }
        }
        assert_eq!(value, k);
    }

    #[test]
    fn digits_of_an_odd_multiplier_have_its_value() {
        for magnitude in [
            1,
            4095,
            4097,
            u128::MAX,
            u128::MAX / 3 * 2 + 1,
            1 << 127 | 1,
        ] {
            for negative in [false, true] {
                let digits = generator_digits(&Signed128 {
                    negative,
                    magnitude,
                });
                let value = digits.iter().rev().fold(BigInt::ZERO, |sum, digit| {
                    assert!(digit % 2 != 0 && digit.unsigned_abs() < 1 << GENERATOR_WINDOW);
                    (sum << GENERATOR_WINDOW) + digit
                });
                let magnitude = BigInt::from(magnitude);
                assert_eq!(value, if negative { -magnitude } else { magnitude });
            }
        }
    }

    #[test]
    fn digits_have_the_value_of_the_multiplier_also_at_the_corners_of_the_split() {
        // The lattice basis of `Scalar::split`.
        let hex = |digits: &[u8]| BigInt::parse_bytes(digits, 16).expect("hexadecimal");
        let a1 = hex(b"3086d221a7d46bcde86c90e49284eb15");
        let b1 = -hex(b"e4437ed6010e88286f547fa90abfe4c3");
        let a2 = hex(b"114ca50f7a8e2f3f657c1108d9d44cfd8");
        let half = BigInt::from(1) << 127;
        // From the centre to a corner, half of both vectors.
        let parts: Vec<BigInt> = (0..=128)
            .step_by(4)
            .map(|n| &half - (&half >> n))
            .flat_map(|part| [-&part, part])
            .collect();
        for (x, y) in parts.iter().flat_map(|x| parts.iter().map(move |y| (x, y))) {
            check([(x * &a1 + y * &a2) >> 128, (x * &b1 + y * &a1) >> 128]);
        }
    }
}
