//! Rows of products with MULX. The upper halves use the carry flag chain (ADCX), the sum uses the overflow flag chain
//! (ADOX), so that a word takes about one cycle.

use core::arch::asm;

use alloc::vec::Vec;

use lydite_hash::cpu::Avx512Ifma;

use super::{
    super::{
        Exponent,
        limbs::{MulKernel, Portable},
        power_in, short,
    },
    avx512ifma::Ifma,
    few::Few,
    four::Four,
};

/// For exponents of at most this many bits, [`Few`] is faster for eight words than the vector kernel.
const FEW_BITS: usize = 32;

/// The implementation with BMI2 and ADX. [`Four`] and [`Few`] compute whole powers of four to eight words; AVX-512
/// IFMA, if detected, those of eight or more. `modexp` uses this type only after detecting BMI2 and ADX.
#[derive(Clone, Copy)]
pub(in super::super) struct Adx;

/// Processes a word. `$high` is the upper half of the previous product; `$next` becomes the upper half of this one.
macro_rules! word {
    ($offset:literal, $high:literal, $next:literal) => {
        concat!(
            "mulx ",
            $next,
            ", {low}, [{a} + ",
            $offset,
            "]\n",
            "adcx {low}, ",
            $high,
            "\n",
            "adox {low}, [{t} + ",
            $offset,
            "]\n",
            "mov [{t} + ",
            $offset,
            "], {low}\n",
        )
    };
}

impl MulKernel for Adx {
    #[inline]
    fn add_multiple(t: &mut [u64], a: &[u64], factor: u64, carry: u64) -> u64 {
        assert_eq!(t.len(), a.len());
        let odd = t.len() % 4;
        let (t_first, t) = t.split_at_mut(odd);
        let (a_first, a) = a.split_at(odd);
        let mut carry = Portable::add_multiple(t_first, a_first, factor, carry);
        if t.is_empty() {
            return carry;
        }
        // SAFETY: reads `t.len()` words at `a` and updates as many at `t`; both slices have this length, a non-zero
        // multiple of four. `modexp` uses `Adx` only after checking that the CPU has the instructions.
        unsafe {
            asm!(
                // Clears both flags; in the loop only the two chains change them. For an odd number of fours it starts
                // in the middle.
                "test cl, 1",
                "jz 2f",
                "lea rcx, [rcx + 1]",
                "lea {a}, [{a} - 32]",
                "lea {t}, [{t} - 32]",
                "jmp 4f",
                "2:",
                word!("0", "{carry}", "{other}"),
                word!("8", "{other}", "{carry}"),
                word!("16", "{carry}", "{other}"),
                word!("24", "{other}", "{carry}"),
                "4:",
                word!("32", "{carry}", "{other}"),
                word!("40", "{other}", "{carry}"),
                word!("48", "{carry}", "{other}"),
                word!("56", "{other}", "{carry}"),
                "lea {a}, [{a} + 64]",
                "lea {t}, [{t} + 64]",
                "lea rcx, [rcx - 2]",
                "jrcxz 3f",
                "jmp 2b",
                "3:",
                "mov {low:e}, 0",
                "adcx {carry}, {low}",
                "adox {carry}, {low}",
                low = out(reg) _,
                other = out(reg) _,
                carry = inout(reg) carry,
                a = inout(reg) a.as_ptr() => _,
                t = inout(reg) t.as_mut_ptr() => _,
                inout("rcx") t.len() / 4 => _,
                in("rdx") factor,
                options(nostack),
            );
        }
        carry
    }

    fn power(base: &[u64], exponent: &Exponent<'_>, modulus: &[u64]) -> Option<Vec<u64>> {
        match modulus.len() {
            0..4 => return None,
            4 => return Some(short::power_with::<Self, Four, 4>(base, exponent, modulus)),
            5 => {
                return Some(short::power_with::<Self, Few<5>, 5>(
                    base, exponent, modulus,
                ));
            }
            6 => {
                return Some(short::power_with::<Self, Few<6>, 6>(
                    base, exponent, modulus,
                ));
            }
            7 => {
                return Some(short::power_with::<Self, Few<7>, 7>(
                    base, exponent, modulus,
                ));
            }
            8 if exponent.bits <= FEW_BITS || Avx512Ifma::detect().is_none() => {
                return Some(short::power_with::<Self, Few<8>, 8>(
                    base, exponent, modulus,
                ));
            }
            _ => {}
        }
        let field = Ifma::new(Avx512Ifma::detect()?, modulus)?;
        Some(power_in::<Self, _>(field, base, exponent))
    }
}
