//! Processors for which the instruction sets do not determine the fastest kernel.

use core::arch::x86_64::__cpuid;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// What kernels need to know about the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// AMD's family 19h: executes 512-bit instructions in two halves if it has them (Zen 4).
    AmdFamily19,
    /// Any processor of Intel.
    Intel,
    /// Any other.
    Other,
}

/// Returns the model of this processor, which is read once.
#[inline]
pub(crate) fn model() -> Model {
    static MODEL: AtomicU8 = AtomicU8::new(0);
    match MODEL.load(Relaxed) {
        1 => Model::AmdFamily19,
        2 => Model::Intel,
        3 => Model::Other,
        _ => {
            let model = read();
            MODEL.store(
                match model {
                    Model::AmdFamily19 => 1,
                    Model::Intel => 2,
                    Model::Other => 3,
                },
                Relaxed,
            );
            model
        }
    }
}

#[cold]
fn read() -> Model {
    // SAFETY: every x86-64 CPU has `cpuid`.
    #[allow(unused_unsafe, reason = "safe to call in later versions of Rust")]
    let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1)) };
    let vendor = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
    let family = (version.eax >> 8 & 0xf) + (version.eax >> 20 & 0xff);
    match vendor.as_flattened() {
        b"AuthenticAMD" if family == 0x19 => Model::AmdFamily19,
        b"GenuineIntel" => Model::Intel,
        _ => Model::Other,
    }
}
