//! Client requests to valgrind's memcheck, for the programs in `checks/` (x86-64, only with
//! `--cfg lydite_constant_time_check`; never part of a normal build).
//!
//! Memory marked undefined represents a secret: memcheck tracks all values computed from it and reports each branch and
//! each address that depends on it. Outside valgrind a request has no effect.
//!
//! Source: `valgrind.h` and `memcheck.h` of valgrind 3.19: the request is a pointer to six words in rax, the result is
//! returned in rdx, and the marker is four rotations of rdi that add up to 128 bits, followed by `xchg rbx, rbx`.

/// `VG_USERREQ__RUNNING_ON_VALGRIND`.
const RUNNING: u64 = 0x1001;
/// `VG_USERREQ__MAKE_MEM_UNDEFINED`: base "MC" + 1.
const UNDEFINED: u64 = 0x4d43_0001;
/// `VG_USERREQ__MAKE_MEM_DEFINED`.
const DEFINED: u64 = 0x4d43_0002;

fn request<T: ?Sized>(code: u64, value: &T) -> u64 {
    let arguments = [
        code,
        (&raw const *value).addr() as u64,
        size_of_val(value) as u64,
        0,
        0,
        0,
    ];
    let mut answer = 0u64;
    // SAFETY: on the CPU these instructions only change flags: rdi is rotated by 3 + 13 + 61 + 51 = 128 bits, and rbx
    // is swapped with itself. Valgrind reads the six words at rax, which outlive the block, and writes rdx, which is
    // declared; the requests used here change valgrind's metadata about memory, not the memory itself.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") answer,
            options(nostack),
        );
    }
    answer
}

/// Whether the program runs under valgrind.
#[must_use]
pub fn is_running() -> bool {
    request(RUNNING, &()) != 0
}

/// Marks a value as secret.
pub fn set_undefined<T: ?Sized>(value: &T) {
    request(UNDEFINED, value);
}

/// Marks a value as public.
pub fn set_defined<T: ?Sized>(value: &T) {
    request(DEFINED, value);
}
