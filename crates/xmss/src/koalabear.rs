//! The KoalaBear field: integers modulo p = 2^31 - 2^24 + 1 = 127 * 2^24 + 1.
//!
//! Elements are `u32` below p wherever they leave a kernel: the form they have on the wire. No type wraps them, since the
//! kernels work on columns of them; what this module has is for constants and for the slow paths. Constant time: the
//! remainders are by a constant, which compilers make from multiplications.

/// The modulus p.
pub const MODULUS: u32 = 0x7f00_0001;

/// 2^32 mod p: what one Montgomery reduction divides by.
pub(crate) const R: u32 = ((1 << 32) % MODULUS as u64) as u32;

/// Whether `value` is the one representative that the wire allows.
#[inline]
pub const fn is_canonical(value: u32) -> bool {
    value < MODULUS
}

pub(crate) const fn add(a: u32, b: u32) -> u32 {
    subtract_modulus(a + b)
}

/// `x` or `x - p`, whichever is not negative; for x < 2 p.
#[inline(always)]
pub(crate) const fn subtract_modulus(x: u32) -> u32 {
    let difference = x.wrapping_sub(MODULUS);
    // `min`, which is not const.
    if x < difference { x } else { difference }
}

/// p - a
pub(crate) const fn minus(a: u32) -> u32 {
    MODULUS - a
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

/// The only x with x^3 = a: 3 does not divide p - 1.
pub(crate) const fn cube_root(a: u32) -> u32 {
    // 3^-1 mod p - 1: 3 * 1420470955 = 2 * (p - 1) + 1
    pow(a, (2 * (MODULUS as u64 - 1) + 1) / 3)
}

/// The two digits of a tweak, an integer below 2^56.
#[inline]
pub(crate) const fn tweak_digits(integer: u64) -> [u32; 2] {
    [
        (integer % MODULUS as u64) as u32,
        (integer / MODULUS as u64) as u32,
    ]
}

/// A 32-byte little-endian integer in base p, least significant digit first: nine digits hold it.
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
        // One long division by p.
        let mut remainder = 0_u64;
        for word in words.iter_mut().rev() {
            let dividend = remainder << 32 | u64::from(*word);
            *word = (dividend / u64::from(MODULUS)) as u32;
            remainder = dividend % u64::from(MODULUS);
        }
        remainder as u32
    })
}

/// A 128-bit big-endian integer modulo p.
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

/// An element from a random number generator as Plonky3 draws it: 31 bits below p, taken as the Montgomery form.
pub(crate) fn draw<G: rand_core::Rng + ?Sized>(rng: &mut G) -> u32 {
    const R_INVERSE: u32 = inverse(R);
    loop {
        let word = rng.next_u32() >> 1;
        if is_canonical(word) {
            return mul(word, R_INVERSE);
        }
    }
}
