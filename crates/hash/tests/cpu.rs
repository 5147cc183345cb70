//! Tests the limit on kernels in a separate process, since the limit applies to the whole process.

use lydite_hash::cpu::{self, Error, Tier};
use lydite_hash::keccak::Backend;
use lydite_hash::{keccak256_batch, sha256};

#[test]
fn limits() {
    #[cfg(target_arch = "aarch64")]
    assert_eq!(Tier::DEFAULT == Tier::Sha3, cfg!(target_vendor = "apple"));
    #[cfg(feature = "std")]
    {
        let requested = cpu::requested().expect(cpu::VARIABLE);
        let default = Tier::detect().min(Tier::DEFAULT);
        assert_eq!(cpu::tier(), requested.unwrap_or(default));
    }
    let digests = || {
        let inputs: [&[u8]; 9] = core::array::from_fn(|i| &b"one more message than lanes"[..i]);
        let mut keccak = [[0; 32]; 9];
        keccak256_batch(&inputs, &mut keccak).expect("equal lengths");
        (keccak, sha256(&[7; 200]))
    };
    let expected = digests();
    for &tier in Tier::ALL {
        if !tier.is_supported() {
            assert_eq!(cpu::limit(tier), Err(Error::Unsupported(tier)));
            continue;
        }
        assert_eq!(cpu::limit(tier), Ok(()));
        assert_eq!(cpu::tier(), tier);
        #[cfg(target_arch = "x86_64")]
        let lowest = {
            assert_eq!(cpu::Avx512::detect().is_some(), tier == Tier::Avx512);
            assert_eq!(
                cpu::Ifma256::detect().is_some(),
                tier >= Tier::Ifma256 && Tier::Ifma256.is_supported()
            );
            assert!(tier >= Tier::Adx || cpu::Adx::detect().is_none());
            assert!(tier >= Tier::Avx2 || cpu::Avx2::detect().is_none());
            Tier::Avx2
        };
        #[cfg(target_arch = "aarch64")]
        let lowest = {
            assert_eq!(cpu::Neon::detect().is_some(), tier >= Tier::Neon);
            assert_eq!(cpu::Sha3::detect().is_some(), tier == Tier::Sha3);
            Tier::Sha3
        };
        // Keccak's kernels start at this tier.
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        {
            assert_eq!(Backend::detect() == Backend::Portable, tier < lowest);
            assert_eq!(Backend::available().count() == 1, tier < lowest);
        }
        assert_eq!(digests(), expected);
    }
}
