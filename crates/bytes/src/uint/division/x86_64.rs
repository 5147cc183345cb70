//! The division instruction of x86-64, which the language does not offer: 128 by 64 bits, quotient of 64 bits.
//!
//! Current CPUs need 10 to 20 cycles for it, less than a reciprocal takes to build.

use core::arch::asm;

/// `high * 2^64 + low` by `divisor`: quotient and remainder.
///
/// # Safety
/// `high < divisor`. Else the quotient does not fit and the CPU raises an exception.
#[inline(always)]
pub(super) unsafe fn div_2_by_1(high: u64, low: u64, divisor: u64) -> (u64, u64) {
    let (quotient, remainder);
    // SAFETY: reads and writes the named registers and flags only; it faults for a divisor of 0 or a quotient of
    // 2^64 or more, both of which `high < divisor` rules out.
    unsafe {
        asm!(
            "div {}",
            in(reg) divisor,
            inlateout("rax") low => quotient,
            inlateout("rdx") high => remainder,
            options(pure, nomem, nostack),
        );
    }
    (quotient, remainder)
}
