//! RIPEMD-160 with BMI1 and BMI2.

use core::arch::asm;

use super::Functions;

#[target_feature(enable = "bmi1,bmi2")]
pub(super) fn digest(data: &[u8]) -> [u8; 20] {
    super::digest::<Bmi2>(data)
}

/// [`opaque`] prevents the compiler from reordering the additions so that more of them follow the computation of `x`.
/// `f1` is as fast without it, and `f5` is faster.
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

    // The two terms have no bit in common, so their sum is the usual form of `f4`. Only one operation and one addition
    // depend on `x`.
    #[inline(always)]
    fn f4(t: u32, x: u32, y: u32, z: u32) -> u32 {
        opaque(t.wrapping_add(y & !z)).wrapping_add(x & z)
    }
}

/// Returns `x`. The compiler cannot simplify or reorder operations across this call.
#[inline(always)]
fn opaque(mut x: u32) -> u32 {
    // SAFETY: the assembly is only a comment, so it changes neither registers nor memory.
    unsafe { asm!("/* {0:e} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags)) };
    x
}
