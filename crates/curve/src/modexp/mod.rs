//! Modular exponentiation of integers of any length, for the EVM's precompile 0x05. Variable-time: inputs are public.
//!
//! Odd moduli use Montgomery form and sliding windows. Powers of two drop the bits above. Any other modulus is split
//! into a power of two times an odd number, and the results are combined with the Chinese remainder theorem.
//!
//! ```
//! let mut out = [0; 2];
//! lydite_curve::modexp::modexp(&[3], &[5], &[0, 100], &mut out);
//! assert_eq!(out, [0, 43]);
//! ```
//!
//! Source: \[Mon85\]; \[Koc94\] (even moduli); sliding windows: \[MOV96\] algorithm 14.85; \[Knuth2\] §4.3.1.

mod limbs;
mod short;
#[cfg(test)]
mod tests;
mod word;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use alloc::{vec, vec::Vec};
use core::marker::PhantomData;

use limbs::{
    MulKernel, Portable, compare, divide, low_inverse, multiply_low, negative_inverse_word,
    sub_in_place,
};
#[cfg(target_arch = "x86_64")]
use lydite_hash::cpu;
#[cfg(target_arch = "x86_64")]
use x86_64::Adx;

use crate::words::add_carry;

/// Computes `base^exponent mod modulus` into `out`, which must be as long as the modulus. All numbers are big-endian,
/// of any length, and may have leading zeros. Modulo 0 the result is 0. 0^0 is 1, except modulo 0 and 1.
///
/// # Panics
/// If the lengths of `modulus` and `out` differ.
pub fn modexp(base: &[u8], exponent: &[u8], modulus: &[u8], out: &mut [u8]) {
    assert_eq!(
        modulus.len(),
        out.len(),
        "the result is as long as the modulus"
    );
    Backend::detect().modexp(base, exponent, modulus, out);
}

/// An implementation of multiplication. A value exists only if the CPU supports it.
#[derive(Clone, Copy, Debug)]
enum Backend {
    /// On every target.
    Portable,
    /// BMI2 and ADX; for some moduli also AVX-512F and AVX-512IFMA, if the CPU has them.
    #[cfg(target_arch = "x86_64")]
    Adx(cpu::Adx),
}

impl Backend {
    /// Returns the fastest backend for this CPU.
    fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(adx) = cpu::Adx::detect() {
            return Self::Adx(adx);
        }
        Self::Portable
    }

    fn modexp(self, base: &[u8], exponent: &[u8], modulus: &[u8], out: &mut [u8]) {
        match self {
            Self::Portable => modexp_with::<Portable>(base, exponent, modulus, out),
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) => modexp_with::<Adx>(base, exponent, modulus, out),
        }
    }
}

fn modexp_with<R: MulKernel>(base: &[u8], exponent: &[u8], modulus: &[u8], out: &mut [u8]) {
    out.fill(0);
    let (base, modulus) = (without_zeros(base), without_zeros(modulus));
    if matches!(modulus, [] | [1]) {
        return;
    }
    let exponent = Exponent::new(exponent);
    if exponent.bits == 0 {
        return write_bytes(&[1], out);
    }
    if base.is_empty() {
        return;
    }
    if modulus.len() <= 8 {
        let base = base.rchunks(8).rev().map(word_from_be);
        let result = word::power(base, &exponent, word_from_be(modulus));
        return write_bytes(&[result], out);
    }
    let result = power::<R>(&words_from_be(base), &exponent, &words_from_be(modulus));
    write_bytes(&result, out);
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    &bytes[zeros..]
}

/// Converts at most eight big-endian bytes.
fn word_from_be(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Converts big-endian bytes to words, lowest first.
fn words_from_be(bytes: &[u8]) -> Vec<u64> {
    let (rest, words) = bytes.as_rchunks::<8>();
    let words = words.iter().rev().map(|word| u64::from_be_bytes(*word));
    let mut out: Vec<u64> = words.collect();
    if !rest.is_empty() {
        out.push(word_from_be(rest));
    }
    out
}

/// Writes big-endian bytes, truncated to the length of `out`.
fn write_bytes(words: &[u64], out: &mut [u8]) {
    for (bytes, word) in out.rchunks_mut(8).zip(words) {
        let word = word.to_be_bytes();
        bytes.copy_from_slice(&word[8 - bytes.len()..]);
    }
}

/// The bits of an exponent.
struct Exponent<'a> {
    bytes: &'a [u8],
    bits: usize,
}

impl<'a> Exponent<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let bytes = without_zeros(bytes);
        let bits = bytes
            .first()
            .map_or(0, |first| bytes.len() * 8 - first.leading_zeros() as usize);
        Self { bytes, bits }
    }

    fn bit(&self, i: usize) -> usize {
        usize::from(self.bytes[self.bytes.len() - 1 - i / 8] >> (i % 8) & 1)
    }

    /// Returns the width of sliding windows that needs the fewest products.
    fn window(&self) -> usize {
        let window = match self.bits {
            0..=7 => 1,
            8..=35 => 2,
            36..=139 => 3,
            140..=449 => 4,
            450..=1303 => 5,
            _ => 6,
        };
        // With this few ones, as in 65537, the table costs more than it saves.
        let ones: u32 = self.bytes.iter().map(|byte| byte.count_ones()).sum();
        if ones as usize <= 1 << (window - 1) {
            1
        } else {
            window
        }
    }
}

/// Computes the power for a base other than 0, an exponent of at least one bit and a modulus above 1.
fn power<R: MulKernel>(base: &[u64], exponent: &Exponent<'_>, modulus: &[u64]) -> Vec<u64> {
    let zero_words = modulus.iter().take_while(|word| **word == 0).count();
    let zero_bits = modulus[zero_words].trailing_zeros();
    if zero_words == 0 && zero_bits == 0 {
        return odd_power::<R>(base, exponent, modulus);
    }
    // modulus = odd 2^k.
    let k = 64 * zero_words + zero_bits as usize;
    let odd = shift_right(&modulus[zero_words..], zero_bits);
    let words = k.div_ceil(64);
    let mask = u64::MAX >> (words * 64 - k);
    let mut low = power_of_two_power::<R>(base, exponent, k, words);
    low[words - 1] &= mask;
    if odd == [1] {
        return low;
    }
    let high = odd_power::<R>(base, exponent, &odd);
    // high + odd ((low - high) / odd mod 2^k).
    let mut difference = low;
    let mut high_low = high.clone();
    high_low.resize(words.max(high.len()), 0);
    sub_in_place(&mut difference, &high_low[..words]);
    let mut odd_low = odd.clone();
    odd_low.resize(words.max(odd.len()), 0);
    let mut factor = vec![0; words];
    multiply_low::<R>(
        &mut factor,
        &difference,
        &low_inverse::<R>(&odd_low[..words]),
    );
    factor[words - 1] &= mask;
    let mut sum = vec![0; words + odd.len() + 1];
    sum[..high.len()].copy_from_slice(&high);
    for (i, &word) in factor.iter().enumerate() {
        let carry = R::add_multiple(&mut sum[i..i + odd.len()], &odd, word, 0);
        let (top, _) = sum[i + odd.len()].overflowing_add(carry);
        sum[i + odd.len()] = top;
        debug_assert!(top >= carry);
    }
    sum
}

fn shift_right(words: &[u64], bits: u32) -> Vec<u64> {
    let mut out: Vec<u64> = (0..words.len())
        .map(|i| {
            let next = words.get(i + 1).copied().unwrap_or(0);
            words[i] >> bits | next << 1 << (63 - bits)
        })
        .collect();
    while out.last() == Some(&0) {
        out.pop();
    }
    out
}

/// Computes the power modulo 2^k bit by bit. Bits above 2^k in the highest word are arbitrary.
fn power_of_two_power<R: MulKernel>(
    base: &[u64],
    exponent: &Exponent<'_>,
    k: usize,
    words: usize,
) -> Vec<u64> {
    let mut power = vec![0; words];
    let odd = base[0] & 1 == 1;
    if !odd && exponent.bits > usize::BITS as usize - k.leading_zeros() as usize {
        // An even base to the power of k or more is 0 modulo 2^k.
        return power;
    }
    // The order of an odd base divides 2^(k - 1).
    let bits = if odd {
        exponent.bits.min(k)
    } else {
        exponent.bits
    };
    let Some(top) = (0..bits).rev().find(|&i| exponent.bit(i) == 1) else {
        power[0] = 1;
        return power;
    };
    let mut base = base.to_vec();
    base.resize(words, 0);
    power.copy_from_slice(&base);
    let mut product = vec![0; words];
    for i in (0..top).rev() {
        multiply_low::<R>(&mut product, &power, &power);
        core::mem::swap(&mut power, &mut product);
        if exponent.bit(i) == 1 {
            multiply_low::<R>(&mut product, &power, &base);
            core::mem::swap(&mut power, &mut product);
        }
    }
    power
}

/// Computes the power modulo an odd number above 1.
fn odd_power<R: MulKernel>(base: &[u64], exponent: &Exponent<'_>, modulus: &[u64]) -> Vec<u64> {
    if exponent.bits == 1 {
        return divide::<R>(base.to_vec(), modulus);
    }
    let words = modulus.len();
    if words > 8 && exponent.bits <= DIRECT_BITS {
        return direct_power::<R>(base, exponent, modulus);
    }
    if let Some(power) = R::power(base, exponent, modulus) {
        return power;
    }
    match words {
        1 => vec![word::power(
            base.iter().rev().copied(),
            exponent,
            modulus[0],
        )],
        2 => short::power::<R, 2>(base, exponent, modulus),
        3 => short::power::<R, 3>(base, exponent, modulus),
        4 => short::power::<R, 4>(base, exponent, modulus),
        5 => short::power::<R, 5>(base, exponent, modulus),
        6 => short::power::<R, 6>(base, exponent, modulus),
        7 => short::power::<R, 7>(base, exponent, modulus),
        8 => short::power::<R, 8>(base, exponent, modulus),
        _ => power_in::<R, _>(Montgomery::<R>::new(modulus), base, exponent),
    }
}

/// For exponents of at most this many bits, conversion to Montgomery form does not pay off for many words.
const DIRECT_BITS: usize = 2;

/// Computes the power bit by bit, with one division per product.
fn direct_power<R: MulKernel>(base: &[u64], exponent: &Exponent<'_>, modulus: &[u64]) -> Vec<u64> {
    let n = modulus.len();
    let base = divide::<R>(base.to_vec(), modulus);
    let mut power = base.clone();
    for i in (0..exponent.bits - 1).rev() {
        let mut product = vec![0; 2 * n];
        limbs::square::<R>(&mut product, &power);
        power = divide::<R>(product, modulus);
        if exponent.bit(i) == 1 {
            let mut product = vec![0; 2 * n];
            limbs::multiply::<R>(&mut product, &power, &base);
            power = divide::<R>(product, modulus);
        }
    }
    power
}

/// Arithmetic modulo an odd number, with elements in an implementation-defined form.
trait Reduction {
    type Digit: Copy + Default;

    /// Converts a number of any length to an element.
    fn to_montgomery<R: MulKernel>(&self, number: &[u64]) -> Vec<Self::Digit>;
    /// Converts an element to a number below the modulus, as long as the modulus.
    #[expect(clippy::wrong_self_convention, reason = "the usual name")]
    fn from_montgomery(&mut self, element: &[Self::Digit]) -> Vec<u64>;
    /// Computes the product. All slices have the length of elements.
    fn multiply(&mut self, out: &mut [Self::Digit], a: &[Self::Digit], b: &[Self::Digit]);
    fn square(&mut self, out: &mut [Self::Digit], a: &[Self::Digit]);

    /// Computes the product of an element and a number of any length, as [`Self::from_montgomery`] returns it. `None`
    /// if a product of elements and that function cost less.
    fn multiply_by_number<R: MulKernel>(
        &mut self,
        _element: &[Self::Digit],
        _number: &[u64],
    ) -> Option<Vec<u64>> {
        None
    }
}

fn power_in<R: MulKernel, F: Reduction>(
    mut field: F,
    base: &[u64],
    exponent: &Exponent<'_>,
) -> Vec<u64> {
    let window = exponent.window();
    // Consecutive odd powers of the base.
    let mut table = field.to_montgomery::<R>(base);
    let n = table.len();
    if window > 1 {
        let mut square = vec![F::Digit::default(); n];
        field.square(&mut square, &table);
        for i in 1..1 << (window - 1) {
            let mut next = vec![F::Digit::default(); n];
            field.multiply(&mut next, &table[(i - 1) * n..], &square);
            table.extend(next);
        }
    }

    let mut power: Option<Vec<F::Digit>> = None;
    let mut product = vec![F::Digit::default(); n];
    let mut i = exponent.bits;
    while i > 0 {
        // A run of bits that ends in a one, or a single zero.
        let (mut length, mut value) = (1, exponent.bit(i - 1));
        if value == 1 {
            let (mut run, mut from) = (0, i);
            while from > 0 && i - from < window {
                from -= 1;
                run = run << 1 | exponent.bit(from);
                if run & 1 == 1 {
                    (length, value) = (i - from, run);
                }
            }
        }
        i -= length;
        let Some(power) = &mut power else {
            // The highest bit is a one.
            let from = (value / 2) * n;
            power = Some(table[from..from + n].to_vec());
            continue;
        };
        for _ in 0..length {
            field.square(&mut product, power);
            core::mem::swap(power, &mut product);
        }
        if i == 0
            && value == 1
            && let Some(power) = field.multiply_by_number::<R>(power, base)
        {
            return power;
        }
        if value != 0 {
            let from = (value / 2) * n;
            field.multiply(&mut product, power, &table[from..from + n]);
            core::mem::swap(power, &mut product);
        }
    }
    field.from_montgomery(&power.unwrap_or_default())
}

/// Montgomery form in n words: x is stored as `x 2^(64 n)`, below the modulus.
struct Montgomery<'a, R> {
    modulus: &'a [u64],
    /// -1 / modulus mod 2^64.
    inverse: u64,
    /// Has 2 n words.
    product: Vec<u64>,
    rows: PhantomData<R>,
}

impl<'a, R: MulKernel> Montgomery<'a, R> {
    fn new(modulus: &'a [u64]) -> Self {
        Self {
            modulus,
            inverse: negative_inverse_word(modulus[0]),
            product: vec![0; 2 * modulus.len()],
            rows: PhantomData,
        }
    }

    /// Computes `product / 2^(64 n)`, below the modulus.
    fn reduce(&mut self, out: &mut [u64]) {
        let (n, t) = (self.modulus.len(), &mut self.product);
        let mut carry = false;
        for i in 0..n {
            let factor = t[i].wrapping_mul(self.inverse);
            let high = R::add_multiple(&mut t[i..i + n], self.modulus, factor, 0);
            (t[i + n], carry) = add_carry(t[i + n], high, carry);
        }
        out.copy_from_slice(&t[n..2 * n]);
        if carry || compare(out, self.modulus).is_ge() {
            sub_in_place(out, self.modulus);
        }
    }
}

impl<R: MulKernel> Reduction for Montgomery<'_, R> {
    type Digit = u64;

    fn to_montgomery<S: MulKernel>(&self, number: &[u64]) -> Vec<u64> {
        // number 2^(64 n) mod modulus, with a division.
        let n = self.modulus.len();
        let mut dividend = vec![0; n + number.len()];
        dividend[n..].copy_from_slice(number);
        divide::<S>(dividend, self.modulus)
    }

    fn from_montgomery(&mut self, element: &[u64]) -> Vec<u64> {
        let n = self.modulus.len();
        self.product[..n].copy_from_slice(element);
        self.product[n..].fill(0);
        let mut out = vec![0; n];
        self.reduce(&mut out);
        out
    }

    fn multiply(&mut self, out: &mut [u64], a: &[u64], b: &[u64]) {
        let n = self.modulus.len();
        limbs::multiply::<R>(&mut self.product, &a[..n], &b[..n]);
        self.reduce(out);
    }

    fn square(&mut self, out: &mut [u64], a: &[u64]) {
        limbs::square::<R>(&mut self.product, a);
        self.reduce(out);
    }

    fn multiply_by_number<S: MulKernel>(
        &mut self,
        element: &[u64],
        number: &[u64],
    ) -> Option<Vec<u64>> {
        // The product of `x 2^(64 n)` and y is `x y 2^(64 n)`, which the reduction divides.
        let n = self.modulus.len();
        if number.len() > n {
            return None;
        }
        let number = divide::<S>(number.to_vec(), self.modulus);
        let mut out = vec![0; n];
        self.multiply(&mut out, element, &number);
        Some(out)
    }
}
