//! RIPEMD-160 with BMI1 and BMI2.

use core::arch::asm;

use super::Functions;

#[target_feature(enable = "bmi1,bmi2")]
pub(super) fn digest(data: &[u8]) -> [u8; 20] {
    super::digest::<Bmi2>(data)
}

/// The compiler adds in another order, in which more operations depend on `x`; [`opaque`] keeps it from that.
struct Bmi2;

impl Functions for Bmi2 {
    #[inline(always)]
    fn f2(t: u32, x: u32, y: u32, z: u32) -> u32 {
        opaque(t).wrapping_add(((y ^ z) & x) ^ z)
    }

    #[inline(always)]
    fn f3(t: u32, x: u32, y: u32, z: u32) -> u32 {
        opaque(t).wrapping_add((x | !y) ^ z)
    }

    // Both terms have no common bit, so that their sum is that of the usual form, and only one operation and one
    // addition depend on x.
    #[inline(always)]
    fn f4(t: u32, x: u32, y: u32, z: u32) -> u32 {
        opaque(t.wrapping_add(y & !z)).wrapping_add(x & z)
    }
}

/// Returns `x`, of which the compiler then knows nothing.
#[inline(always)]
fn opaque(mut x: u32) -> u32 {
    // SAFETY: there is no instruction.
    unsafe { asm!("/* {0:e} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags)) };
    x
}
