//! The CPU features that kernels may use: detected once at run time, and limited to a [`Tier`] on request or to
//! [`Tier::DEFAULT`].
//!
//! Every run-time selection in Lydite's crates goes through this module, so that one limit applies to all of them. The
//! dependencies `sha2` and `blst` detect features themselves and ignore the limit.
//!
//! A limit only changes which kernels run. Results are the same, and what is documented as constant-time is so in every
//! tier.

use core::fmt;
use core::str::FromStr;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The environment variable that selects the tier in builds with the feature `std`. It is read at the first detection.
#[cfg(feature = "std")]
pub const VARIABLE: &str = "LYDITE_BACKEND";

/// A generation of instruction sets of the target's architecture. Each includes those before it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// The target's baseline, including SSE2 on x86-64. On AArch64, only scalar code.
    Portable,
    /// AVX2, FMA, BMI1 and BMI2, like Intel Haswell.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Also ADX, like AMD Zen 1 to 3, Intel Broadwell and Intel's clients.
    #[cfg(target_arch = "x86_64")]
    Adx,
    /// Also IFMA for vectors of 256 bits, like Intel Arrow Lake and Sierra Forest. A CPU with AVX-512VL and IFMA has the
    /// same instruction in another form.
    #[cfg(target_arch = "x86_64")]
    Ifma256,
    /// All that the CPU has: the subsets of AVX-512 that kernels use are detected one by one.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// NEON, which almost every AArch64 CPU has.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// Also the SHA-3 instructions, like Apple M1 and Arm Neoverse V1. All that the CPU has. See
    /// [`Tier::DEFAULT`].
    #[cfg(target_arch = "aarch64")]
    Sha3,
}

impl Tier {
    /// All tiers of the target's architecture, slowest first.
    pub const ALL: &[Self] = &[
        Self::Portable,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "x86_64")]
        Self::Adx,
        #[cfg(target_arch = "x86_64")]
        Self::Ifma256,
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
        #[cfg(target_arch = "aarch64")]
        Self::Neon,
        #[cfg(target_arch = "aarch64")]
        Self::Sha3,
    ];

    /// The highest tier that is used unless another is requested: the last, except on AArch64. There, only Apple's
    /// systems use `Sha3`: in the models of Arm Neoverse N2, V1 and V2, scalar code takes fewer cycles than the SHA-3
    /// instructions. Unit tests use all tiers.
    pub const DEFAULT: Self = {
        let skipped = cfg!(all(
            target_arch = "aarch64",
            not(any(target_vendor = "apple", test))
        )) as usize;
        Self::ALL[Self::ALL.len() - 1 - skipped]
    };

    /// The name, the features without which a CPU is in a lower tier, and those that the tier may use.
    const fn definition(self) -> (&'static str, Features, Features) {
        match self {
            Self::Portable => ("portable", Features(0), Features(0)),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => ("avx2", AVX2, AVX2.and(BMI2).and(FMA)),
            #[cfg(target_arch = "x86_64")]
            Self::Adx => ("adx", ADX.and(AVX2), AVX2.and(BMI2).and(FMA).and(ADX)),
            #[cfg(target_arch = "x86_64")]
            Self::Ifma256 => (
                "ifma256",
                IFMA256.and(ADX).and(AVX2),
                AVX2.and(BMI2).and(FMA).and(ADX).and(IFMA256).and(AVXIFMA),
            ),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => ("avx512", AVX512, Features(!0)),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => ("neon", NEON, NEON),
            #[cfg(target_arch = "aarch64")]
            Self::Sha3 => ("sha3", SHA3.and(NEON), Features(!0)),
        }
    }

    /// The name, as in the environment variable.
    pub const fn name(self) -> &'static str {
        self.definition().0
    }

    /// The highest tier that this CPU supports and this build may use.
    pub fn detect() -> Self {
        Self::highest(detect())
    }

    /// Whether this CPU has the tier's instruction sets and this build may use them.
    pub fn is_supported(self) -> bool {
        self.is_within(detect())
    }

    fn highest(features: Features) -> Self {
        let mut tiers = Self::ALL.iter().rev().copied();
        let highest = tiers.find(|tier| tier.is_within(features));
        highest.unwrap_or(Self::Portable)
    }

    fn is_within(self, features: Features) -> bool {
        features.contains(self.required())
    }

    const fn required(self) -> Features {
        self.definition().1
    }

    const fn features(self) -> Features {
        self.definition().2
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Tier {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let named = Self::ALL.iter().find(|tier| tier.name() == name);
        named.copied().ok_or(Error::UnknownName)
    }
}

/// Why a tier cannot be used.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No tier of the target's architecture has this name.
    UnknownName,
    /// The CPU lacks an instruction set of the tier, or the build is without it.
    Unsupported(Tier),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName => {
                f.write_str("expected one of the tiers")?;
                list(f, |_| true)
            }
            Self::Unsupported(tier) => {
                f.write_str("expected one of the tiers that this CPU and build support,")?;
                list(f, Tier::is_supported)?;
                write!(f, "; found {tier}")
            }
        }
    }
}

/// Writes the names of the tiers that are included.
fn list(f: &mut fmt::Formatter<'_>, included: impl Fn(Tier) -> bool) -> fmt::Result {
    let tiers = Tier::ALL.iter().filter(|&&tier| included(tier));
    for (index, tier) in tiers.enumerate() {
        write!(f, "{} {tier}", if index == 0 { "" } else { "," })?;
    }
    Ok(())
}

impl core::error::Error for Error {}

/// Returns the tier in force: the requested one, or the highest up to [`Tier::DEFAULT`] that the CPU supports.
pub fn tier() -> Tier {
    Tier::highest(features())
}

/// Limits all kernels of this process to a tier. Operations that are running in other threads may finish in the tier
/// before.
///
/// ```
/// use lydite_hash::cpu::{self, Tier};
///
/// cpu::limit(Tier::Portable)?;
/// assert_eq!(cpu::tier(), Tier::Portable);
/// # Ok::<(), cpu::Error>(())
/// ```
///
/// # Errors
/// [`Error::Unsupported`] unless the tier [is supported](Tier::is_supported).
pub fn limit(tier: Tier) -> Result<(), Error> {
    let detected = detect();
    if !tier.is_within(detected) {
        return Err(Error::Unsupported(tier));
    }
    ALLOWED.store(detected.within(tier).and(DETECTED).0, Relaxed);
    Ok(())
}

/// Returns the tier that the environment variable [`VARIABLE`] requests; `None` if it is not set.
///
/// The library ignores a request that it cannot fulfil. A program calls this to report it.
///
/// # Errors
/// [`Error::UnknownName`] or [`Error::Unsupported`].
#[cfg(feature = "std")]
pub fn requested() -> Result<Option<Tier>, Error> {
    requested_within(detect())
}

#[cfg(feature = "std")]
fn requested_within(detected: Features) -> Result<Option<Tier>, Error> {
    let Some(name) = std::env::var_os(VARIABLE) else {
        return Ok(None);
    };
    let tier: Tier = name.to_str().unwrap_or_default().parse()?;
    if !tier.is_within(detected) {
        return Err(Error::Unsupported(tier));
    }
    Ok(Some(tier))
}

/// A set of CPU features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Features(u32);

impl Features {
    /// Returns the features of both sets.
    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn within(self, tier: Tier) -> Self {
        Self(self.0 & tier.features().0)
    }

    const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

const BMI2: Features = Features(1);
const AVX2: Features = Features(1 << 1);
const ADX: Features = Features(1 << 2);
const AVX512: Features = Features(1 << 3);
const AVX512VL: Features = Features(1 << 4);
const AVX512VBMI: Features = Features(1 << 5);
const AVX512IFMA: Features = Features(1 << 6);
const SHA: Features = Features(1 << 7);
const FMA: Features = Features(1 << 8);
const NEON: Features = Features(1 << 9);
const SHA3: Features = Features(1 << 10);
/// IFMA for vectors of 256 bits, in either form.
const IFMA256: Features = Features(1 << 11);
/// The form without AVX-512.
const AVXIFMA: Features = Features(1 << 12);
/// Set once detection has run.
const DETECTED: Features = Features(1 << 31);

macro_rules! proofs {
    ($architecture:literal: $($(#[$instructions:meta])* $name:ident = $features:expr;)*) => {
        $(
            $(#[$instructions])*
            ///
            /// A value is evidence that the CPU has them: only [`Self::detect`] makes one.
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $name(());

            impl $name {
                /// Returns the evidence if the CPU has the instructions and the tier in force includes them.
                #[inline(always)]
                pub fn detect() -> Option<Self> {
                    (cfg!(target_arch = $architecture) && has($features)).then_some(Self(()))
                }
            }
        )*
    };
}

proofs! { "x86_64":
    /// BMI1 and BMI2.
    Bmi2 = BMI2;
    /// AVX2, BMI1 and BMI2.
    Avx2 = AVX2.and(BMI2);
    /// AVX2, FMA, BMI1 and BMI2.
    Avx2Fma = AVX2.and(FMA).and(BMI2);
    /// ADX and BMI2.
    Adx = ADX;
    /// AVX-512F and BW.
    Avx512 = AVX512;
    /// AVX-512F, BW and VL.
    Avx512Vl = AVX512VL;
    /// AVX-512F, BW, VL and VBMI.
    Avx512Vbmi = AVX512VBMI;
    /// AVX-512F and IFMA.
    Avx512Ifma = AVX512IFMA;
    /// AVX2 and IFMA for vectors of 256 bits: AVX-IFMA, or AVX-512VL and IFMA.
    Ifma256 = AVX2.and(IFMA256);
    /// AVX2 and AVX-IFMA.
    AvxIfma = AVX2.and(AVXIFMA);
    /// SHA-NI, SSE4.1, and AVX-512F, BW and VL.
    ShaAvx512 = SHA.and(AVX512VL);
}

proofs! { "aarch64":
    /// NEON.
    Neon = NEON;
    /// The SHA-3 instructions and NEON.
    Sha3 = SHA3.and(NEON);
}

/// The features that kernels may use, and [`DETECTED`]; 0 before the first detection.
static ALLOWED: AtomicU32 = AtomicU32::new(0);

/// Whether kernels may use a set of features, which is not empty. If so, this takes one test.
#[inline(always)]
fn has(wanted: Features) -> bool {
    let features = Features(ALLOWED.load(Relaxed));
    features.contains(wanted) || features == Features(0) && first().contains(wanted)
}

fn features() -> Features {
    match Features(ALLOWED.load(Relaxed)) {
        Features(0) => first(),
        features => features,
    }
}

#[cold]
#[inline(never)]
fn first() -> Features {
    let detected = detect();
    let tier = Tier::DEFAULT;
    #[cfg(feature = "std")]
    let tier = requested_within(detected).ok().flatten().unwrap_or(tier);
    let features = detected.within(tier).and(DETECTED);
    // Keeps a limit that another thread has set in the meantime.
    match ALLOWED.compare_exchange(0, features.0, Relaxed, Relaxed) {
        Ok(_) => features,
        Err(limited) => Features(limited),
    }
}

/// Returns the features that the CPU has and this build may use. Miri cannot execute CPU-specific instructions.
fn detect() -> Features {
    #[cfg(all(target_arch = "x86_64", not(any(miri, lydite_backend = "portable"))))]
    {
        cpufeatures::new!(bmi2, "bmi1", "bmi2");
        cpufeatures::new!(avx2, "avx2");
        cpufeatures::new!(fma, "fma");
        cpufeatures::new!(adx, "bmi2", "adx");
        cpufeatures::new!(avx512, "avx512f", "avx512bw");
        cpufeatures::new!(avx512vl, "avx512f", "avx512bw", "avx512vl");
        cpufeatures::new!(avx512vbmi, "avx512f", "avx512bw", "avx512vl", "avx512vbmi");
        cpufeatures::new!(avx512ifma, "avx512f", "avx512ifma");
        cpufeatures::new!(ifma256, "avx512f", "avx512vl", "avx512ifma");
        cpufeatures::new!(sha, "sha", "sse4.1");
        // Valgrind executes MULX, ADCX and ADOX, but its CPUID does not report them.
        let adx = cfg!(lydite_constant_time_check) || adx::get();
        let avx_ifma = avx2::get() && has_avx_ifma();
        [
            (bmi2::get(), BMI2),
            (avx2::get(), AVX2),
            (fma::get(), FMA),
            (adx, ADX),
            (avx512::get(), AVX512),
            (avx512vl::get(), AVX512VL),
            (avx512vbmi::get(), AVX512VBMI),
            (avx512ifma::get(), AVX512IFMA),
            (sha::get(), SHA),
            (avx_ifma, AVXIFMA),
            (avx_ifma || ifma256::get(), IFMA256),
        ]
        .into_iter()
        .filter(|(present, _)| *present)
        .fold(Features(0), |all, (_, feature)| all.and(feature))
    }
    #[cfg(all(target_arch = "aarch64", not(any(miri, lydite_backend = "portable"))))]
    {
        cpufeatures::new!(sha3, "sha3");
        // The kernels' vectors have little-endian lanes.
        let neon = cfg!(all(target_feature = "neon", target_endian = "little"));
        match (neon, neon && sha3::get()) {
            (false, _) => Features(0),
            (true, false) => NEON,
            (true, true) => NEON.and(SHA3),
        }
    }
    #[cfg(not(all(
        any(target_arch = "x86_64", target_arch = "aarch64"),
        not(any(miri, lydite_backend = "portable"))
    )))]
    Features(0)
}

/// Returns whether the CPU has AVX-IFMA, which the crate `cpufeatures` does not know.
#[cfg(all(target_arch = "x86_64", not(any(miri, lydite_backend = "portable"))))]
fn has_avx_ifma() -> bool {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    // SAFETY: every x86-64 CPU has `cpuid`.
    #[allow(unused_unsafe, reason = "safe to call in later versions of Rust")]
    let eax = unsafe {
        if __cpuid(0).eax < 7 {
            return false;
        }
        __cpuid_count(7, 1).eax
    };
    eax & 1 << 23 != 0
}

/// What kernels need to know about the processor beyond its instruction sets.
#[cfg(target_arch = "x86_64")]
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
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn model() -> Model {
    static MODEL: AtomicU32 = AtomicU32::new(0);
    match MODEL.load(Relaxed) {
        1 => Model::AmdFamily19,
        2 => Model::Intel,
        3 => Model::Other,
        _ => {
            let model = read_model();
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

#[cfg(target_arch = "x86_64")]
#[cold]
fn read_model() -> Model {
    use core::arch::x86_64::__cpuid;
    if cfg!(miri) {
        // It does not run the assembly of `cpuid`.
        return Model::Other;
    }
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

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn tiers_by_name() {
        for tier in Tier::ALL {
            assert_eq!(tier.to_string().parse(), Ok(*tier));
        }
        assert_eq!("AVX2".parse::<Tier>(), Err(Error::UnknownName));
        assert_eq!(
            Error::UnknownName.to_string(),
            if cfg!(target_arch = "x86_64") {
                "expected one of the tiers portable, avx2, adx, ifma256, avx512"
            } else if cfg!(target_arch = "aarch64") {
                "expected one of the tiers portable, neon, sha3"
            } else {
                "expected one of the tiers portable"
            }
        );
    }

    #[test]
    fn each_tier_includes_those_before() {
        assert!(Tier::ALL.is_sorted());
        for pair in Tier::ALL.windows(2) {
            assert!(pair[1].features().contains(pair[0].features()));
        }
        for tier in Tier::ALL {
            assert_eq!(Tier::highest(tier.features()), *tier);
        }
    }
}
