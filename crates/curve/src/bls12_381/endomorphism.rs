//! The curve's parameter, the endomorphisms of G1 and G2, and the decomposition of multipliers: \[Scott21\], \[GLV01\],
//! \[GLS09\].

use blst::blst_fp;
#[cfg(target_arch = "x86_64")]
use blst::blst_fp2;

#[cfg(target_arch = "x86_64")]
use super::fields::Fp2;
use super::fields::{Element, Fp, G1};
use crate::{field::LazyField, group::Affine};

/// The absolute value of the curve's parameter: r = X^4 - X^2 + 1.
pub(super) const X: u64 = 0xd201_0000_0001_0000;

/// A cube root of 1 in Fp, in blst's form.
pub(super) const BETA: Fp = Element(blst_fp {
    l: [
        0x30f1_361b_798a_64e8,
        0xf3b8_ddab_7ece_5a2a,
        0x16a8_ca3a_c615_77f7,
        0xc26a_2ff8_74fd_029b,
        0x3636_b766_6070_1c6e,
        0x051b_a4ab_241b_6160,
    ],
});

/// The endomorphism of the curve. It equals -X^2 times the point exactly if the point is in the subgroup.
pub(super) fn g1_image(p: &Affine<G1>) -> Affine<G1> {
    Affine {
        x: p.x.mul(&BETA),
        y: p.y,
    }
}

/// The factor of x in the endomorphism of G2: (1 + u)^-((p - 1) / 3), in blst's form.
#[cfg(target_arch = "x86_64")]
pub(super) const G2_BY_X: Fp2 = Element(blst_fp2 {
    fp: [
        blst_fp { l: [0; 6] },
        blst_fp {
            l: [
                0x890d_c9e4_8675_45c3,
                0x2af3_2253_3285_a5d5,
                0x5088_0866_309b_7e2c,
                0xa20d_1b8c_7e88_1024,
                0x14e4_f04f_e2db_9068,
                0x14e5_6d3f_1564_853a,
            ],
        },
    ],
});

/// The factor of y: (1 + u)^-((p - 1) / 2), in blst's form.
#[cfg(target_arch = "x86_64")]
pub(super) const G2_BY_Y: Fp2 = Element(blst_fp2 {
    fp: [
        blst_fp {
            l: [
                0x3e2f_585d_a55c_9ad1,
                0x4294_213d_86c1_8183,
                0x3828_44c8_8b62_3732,
                0x92ad_2afd_1910_3e18,
                0x1d79_4e4f_ac7c_f0b9,
                0x0bd5_92fc_7d82_5ec8,
            ],
        },
        blst_fp {
            l: [
                0x7bcf_a7a2_5aa3_0fda,
                0xdc17_dec1_2a92_7e7c,
                0x2f08_8dd8_6b4e_bef1,
                0xd1ca_2087_da74_d4a7,
                0x2da2_5966_96ce_bc1d,
                0x0e2b_7eed_bbfd_87d2,
            ],
        },
    ],
});

/// Returns the four digits of a number below r to base X, lowest first.
pub(super) fn x_digits(mut k: [u64; 4]) -> [u64; 4] {
    core::array::from_fn(|_| {
        let mut rest = 0;
        for word in k.iter_mut().rev() {
            let dividend = u128::from(rest) << 64 | u128::from(*word);
            *word = (dividend / u128::from(X)) as u64;
            rest = (dividend % u128::from(X)) as u64;
        }
        rest
    })
}

/// Combines digits to base X into digits to base X^2.
pub(super) fn halves(digits: &[u64; 4]) -> [u128; 2] {
    let [d0, d1, d2, d3] = digits.map(u128::from);
    [d0 + d1 * u128::from(X), d2 + d3 * u128::from(X)]
}
