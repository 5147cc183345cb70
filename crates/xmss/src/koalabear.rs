//! The KoalaBear field: integers modulo p = 2^31 - 2^24 + 1 = 127 * 2^24 + 1.
//!
//! Outside the kernels, elements are `u32` below p, which is also their wire format. There is no wrapper type, since
//! the kernels work on columns of elements; this module is for constants and slow paths. Constant time: all divisors
//! are constants, so compilers use multiplications instead of divisions.

/// The modulus p.
pub const MODULUS: u32 = 0x7f00_0001;

/// 2^32 mod p, the divisor of a Montgomery reduction.
pub(crate) const R: u32 = ((1 << 32) % MODULUS as u64) as u32;

/// Whether `value` is the canonical representative, the only one allowed in encodings.
#[inline]
pub const fn is_canonical(value: u32) -> bool {
    value < MODULUS
}

pub(crate) const fn add(a: u32, b: u32) -> u32 {
    subtract_modulus(a + b)
}

/// Returns whichever of `x` and `x - p` is not negative. Requires x < 2 p.
#[inline(always)]
pub(crate) const fn subtract_modulus(x: u32) -> u32 {
    let difference = x.wrapping_sub(MODULUS);
    // `min` is not const.
    if x < difference { x } else { difference }
}

/// p - a
pub(crate) const fn minus(a: u32) -> u32 {
    MODULUS - a
}

/// The representative of least magnitude.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
pub(crate) const fn signed(a: u32) -> i64 {
    if a > MODULUS / 2 {
        a as i64 - MODULUS as i64
    } else {
        a as i64
    }
}

pub(crate) const fn mul(a: u32, b: u32) -> u32 {
    (a as u64 * b as u64 % MODULUS as u64) as u32
}

pub(crate) const fn pow(mut base: u32, mut exponent: u64) -> u32 {
    let mut power = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = mul(power, base);
        }
        base = mul(base, base);
        exponent >>= 1;
    }
    power
}

pub(crate) const fn inverse(a: u32) -> u32 {
    pow(a, MODULUS as u64 - 2)
}

/// The unique x with x^3 = a, since 3 does not divide p - 1.
pub(crate) const fn cube_root(a: u32) -> u32 {
    // 3^-1 mod p - 1: 3 * 1420470955 = 2 * (p - 1) + 1
    pow(a, (2 * (MODULUS as u64 - 1) + 1) / 3)
}

/// The two base-p digits of a tweak, an integer below 2^56.
#[inline]
pub(crate) const fn tweak_digits(integer: u64) -> [u32; 2] {
    [
        (integer % MODULUS as u64) as u32,
        (integer / MODULUS as u64) as u32,
    ]
}

/// Converts a 32-byte little-endian integer to nine digits in base p, least significant first.
pub(crate) fn message_digits(message: &[u8; 32]) -> [u32; 9] {
    let mut words: [u32; 8] = core::array::from_fn(|i| {
        u32::from_le_bytes([
            message[4 * i],
            message[4 * i + 1],
            message[4 * i + 2],
            message[4 * i + 3],
        ])
    });
    core::array::from_fn(|_| {
        // One step of long division by p.
        let mut remainder = 0_u64;
        for word in words.iter_mut().rev() {
            let dividend = remainder << 32 | u64::from(*word);
            *word = (dividend / u64::from(MODULUS)) as u32;
            remainder = dividend % u64::from(MODULUS);
        }
        remainder as u32
    })
}

/// Reduces a 128-bit big-endian integer modulo p.
#[inline]
pub(crate) fn reduce_wide(bytes: [u8; 16]) -> u32 {
    const R2: u64 = mul(R, R) as u64;
    const R3: u64 = mul(mul(R, R), R) as u64;
    let integer = u128::from_be_bytes(bytes);
    let word = |i: u32| (integer >> (32 * i)) as u32 as u64;
    // Below 2^57 + 2^32 + 2^63, then below 2^31 + 2^63.
    let low = (word(0) + word(1) * u64::from(R) + word(2) * R2) % u64::from(MODULUS);
    ((low + word(3) * R3) % u64::from(MODULUS)) as u32
}

/// Draws an element from a random number generator like Plonky3: 31 bits, rejected unless below p, interpreted in
/// Montgomery form.
pub(crate) fn draw<G: rand_core::Rng + ?Sized>(rng: &mut G) -> u32 {
    const R_INVERSE: u32 = inverse(R);
    loop {
        let word = rng.next_u32() >> 1;
        if is_canonical(word) {
            return mul(word, R_INVERSE);
        }
    }
}
