//! Wrappers that make blst's field elements implement this crate's field traits, and the curves over them.

use blst::{
    blst_bendian_from_fp, blst_fp, blst_fp_add, blst_fp_cneg, blst_fp_from_uint64, blst_fp_mul,
    blst_fp_sqr, blst_fp_sub, blst_fp2, blst_fp2_add, blst_fp2_cneg, blst_fp2_mul, blst_fp2_sqr,
    blst_fp2_sub,
};

use super::Error;
#[cfg(target_arch = "x86_64")]
use crate::words::sub_borrow;
use crate::{field::Field, group::Curve, lehmer, words::add_carry};

/// p, most significant word first.
pub(super) const P: [u64; 6] = [
    0x1a01_11ea_397f_e69a,
    0x4b1b_a7b6_434b_acd7,
    0x6477_4b84_f385_12bf,
    0x6730_d2a0_f6b0_f624,
    0x1eab_fffe_b153_ffff,
    0xb9fe_ffff_ffff_aaab,
];
/// 2^384 mod p: one in blst's form.
pub(super) const ONE: [u64; 6] = [
    0x7609_0000_0002_fffd,
    0xebf4_000b_c40c_0002,
    0x5f48_9857_53c7_58ba,
    0x77ce_5853_7052_5745,
    0x5c07_1a97_a256_ec6d,
    0x15f6_5ec3_fa80_e493,
];
/// 2^1152 mod p.
pub(super) const R3: [u64; 6] = [
    0xed48_ac6b_d94c_a1e0,
    0x315f_831e_03a7_adf8,
    0x9a53_352a_615e_29dd,
    0x34c0_4e5e_921e_1761,
    0x2512_d435_6572_4728,
    0x0aa6_3460_9175_5d4d,
];
/// 2 2^384 mod p.
#[cfg(target_arch = "x86_64")]
const TWO: [u64; 6] = [
    0x3213_0000_0006_554f,
    0xb93c_0018_d6c4_0005,
    0x5760_5e0d_b0dd_bb51,
    0x8b25_6521_ed1f_9bcb,
    0x6cf2_8d79_0162_2c03,
    0x11eb_ab9d_bb81_e28c,
];
/// 4 2^384 mod p.
const FOUR: [u64; 6] = [
    0xaa27_0000_000c_fff3,
    0x53cc_0032_fc34_000a,
    0x478f_e97a_6b0a_807f,
    0xb1d3_7ebe_e6ba_24d7,
    0x8ec9_733b_bf78_ab2f,
    0x09d6_4551_3d83_de7e,
];

/// An element of a field, by blst's functions.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Element<T>(pub(super) T);

/// An integer modulo p.
pub(super) type Fp = Element<blst_fp>;

/// `c0 + c1 u` with u^2 = -1.
pub(super) type Fp2 = Element<blst_fp2>;

impl Fp {
    pub(super) fn from_bytes(bytes: &[u8; 48]) -> Result<Self, Error> {
        let mut words = [0; 6];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_be_bytes(*bytes);
        }
        if words >= P {
            return Err(Error::FieldElementOutOfRange);
        }
        words.reverse();
        let mut element = blst_fp::default();
        // SAFETY: `words` has six words; the output is a valid field element.
        unsafe { blst_fp_from_uint64(&mut element, words.as_ptr()) };
        Ok(Self(element))
    }

    /// Reduces an element in blst's form that is below 2 p.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn from_below_2p(element: blst_fp) -> Self {
        let (mut reduced, mut borrow) = ([0; 6], false);
        for (i, out) in reduced.iter_mut().enumerate() {
            (*out, borrow) = sub_borrow(element.l[i], P[5 - i], borrow);
        }
        Self(if borrow {
            element
        } else {
            blst_fp { l: reduced }
        })
    }

    pub(super) fn to_bytes(self) -> [u8; 48] {
        let mut bytes = [0; 48];
        // SAFETY: `bytes` has room for the 48 bytes written; the input is a valid field element.
        unsafe { blst_bendian_from_fp(bytes.as_mut_ptr(), &self.0) };
        bytes
    }
}

impl Fp2 {
    #[cfg(target_arch = "x86_64")]
    pub(super) fn real(c0: Fp) -> Self {
        Self(blst_fp2 {
            fp: [c0.0, blst_fp { l: [0; 6] }],
        })
    }

    #[cfg(target_arch = "x86_64")]
    pub(super) const TWO_PLUS_U: Self = Self(blst_fp2 {
        fp: [blst_fp { l: TWO }, blst_fp { l: ONE }],
    });

    /// `c0 - c1 u`
    #[cfg(target_arch = "x86_64")]
    pub(super) fn conjugate(&self) -> Self {
        let [c0, c1] = self.0.fp;
        Self(blst_fp2 {
            fp: [c0, Field::negate(&Element(c1)).0],
        })
    }

    pub(super) fn from_bytes(bytes: &[u8; 96]) -> Result<Self, Error> {
        let halves = bytes.as_chunks::<48>().0;
        let (Element(c0), Element(c1)) = (Fp::from_bytes(&halves[0])?, Fp::from_bytes(&halves[1])?);
        Ok(Self(blst_fp2 { fp: [c0, c1] }))
    }

    pub(super) fn to_bytes(self) -> [u8; 96] {
        let mut bytes = [0; 96];
        bytes[..48].copy_from_slice(&Element(self.0.fp[0]).to_bytes());
        bytes[48..].copy_from_slice(&Element(self.0.fp[1]).to_bytes());
        bytes
    }
}

/// Returns x / 2, or (x + p) / 2 for odd x.
#[inline]
fn half(x: &blst_fp) -> blst_fp {
    let odd = (x.l[0] & 1).wrapping_neg();
    let (mut sum, mut carry) = ([0; 6], false);
    for (i, out) in sum.iter_mut().enumerate() {
        (*out, carry) = add_carry(x.l[i], P[5 - i] & odd, carry);
    }
    // The sum is below 2^382.
    let l = core::array::from_fn(|i| sum[i] >> 1 | sum.get(i + 1).map_or(0, |next| next << 63));
    blst_fp { l }
}

/// The inverse of an integer, or 0 for 0. In blst's form, its product with [`R3`] is the inverse of the element:
/// (x 2^384)^-1 2^1152 / 2^384 = x^-1 2^384. Variable-time.
pub(super) fn invert(x: &[u64; 6]) -> [u64; 6] {
    lehmer::invert_vartime(x, &core::array::from_fn(|i| P[5 - i]))
}

type Unary<T> = unsafe extern "C" fn(*mut T, *const T);
type Binary<T> = unsafe extern "C" fn(*mut T, *const T, *const T);

/// What blst has for a field.
///
/// # Safety
/// The functions must only read valid elements through the constant pointers, and only write one through the other.
pub(super) unsafe trait Functions: Copy + Default + PartialEq {
    const ZERO: Self;
    const ONE: Self;
    const ADD: Binary<Self>;
    const SUB: Binary<Self>;
    const NEGATE_IF: unsafe extern "C" fn(*mut Self, *const Self, bool);
    const MUL: Binary<Self>;
    const SQUARE: Unary<Self>;

    fn half(&self) -> Self;

    /// `1 / x`, or 0 for 0. Variable-time.
    fn invert(&self) -> Self;
}

// SAFETY: these functions of blst add, subtract, negate, multiply and square elements of Fp.
unsafe impl Functions for blst_fp {
    const ZERO: Self = Self { l: [0; 6] };
    const ONE: Self = Self { l: ONE };
    const ADD: Binary<Self> = blst_fp_add;
    const SUB: Binary<Self> = blst_fp_sub;
    const NEGATE_IF: unsafe extern "C" fn(*mut Self, *const Self, bool) = blst_fp_cneg;
    const MUL: Binary<Self> = blst_fp_mul;
    const SQUARE: Unary<Self> = blst_fp_sqr;

    #[inline]
    fn half(&self) -> Self {
        half(self)
    }

    fn invert(&self) -> Self {
        let inverse = Element(Self { l: invert(&self.l) });
        inverse.mul(&Element(Self { l: R3 })).0
    }
}

// SAFETY: these functions of blst add, subtract, negate, multiply and square elements of Fp2.
unsafe impl Functions for blst_fp2 {
    const ZERO: Self = Self {
        fp: [blst_fp::ZERO; 2],
    };
    const ONE: Self = Self {
        fp: [blst_fp::ONE, blst_fp::ZERO],
    };
    const ADD: Binary<Self> = blst_fp2_add;
    const SUB: Binary<Self> = blst_fp2_sub;
    const NEGATE_IF: unsafe extern "C" fn(*mut Self, *const Self, bool) = blst_fp2_cneg;
    const MUL: Binary<Self> = blst_fp2_mul;
    const SQUARE: Unary<Self> = blst_fp2_sqr;

    #[inline]
    fn half(&self) -> Self {
        Self {
            fp: [half(&self.fp[0]), half(&self.fp[1])],
        }
    }

    /// By the norm.
    fn invert(&self) -> Self {
        let [c0, c1] = self.fp.map(Element);
        let inverse = Field::invert(&c0.square().add(&c1.square()));
        let parts = [c0.mul(&inverse), Field::negate(&c1).mul(&inverse)];
        Self {
            fp: parts.map(|part| part.0),
        }
    }
}

impl<T: Functions> Field for Element<T> {
    const ZERO: Self = Self(T::ZERO);
    const ONE: Self = Self(T::ONE);

    #[inline]
    fn add(&self, other: &Self) -> Self {
        let mut out = T::default();
        // SAFETY: the pointers come from references to two field elements to read and one to write.
        unsafe { T::ADD(&mut out, &self.0, &other.0) };
        Self(out)
    }

    #[inline]
    fn sub(&self, other: &Self) -> Self {
        let mut out = T::default();
        // SAFETY: the pointers come from references to two field elements to read and one to write.
        unsafe { T::SUB(&mut out, &self.0, &other.0) };
        Self(out)
    }

    #[inline]
    fn negate(&self) -> Self {
        let mut out = T::default();
        // SAFETY: the pointers come from references to one field element to read and one to write.
        unsafe { T::NEGATE_IF(&mut out, &self.0, true) };
        Self(out)
    }

    #[inline]
    fn mul(&self, other: &Self) -> Self {
        let mut out = T::default();
        // SAFETY: the pointers come from references to two field elements to read and one to write.
        unsafe { T::MUL(&mut out, &self.0, &other.0) };
        Self(out)
    }

    #[inline]
    fn square(&self) -> Self {
        let mut out = T::default();
        // SAFETY: the pointers come from references to one field element to read and one to write.
        unsafe { T::SQUARE(&mut out, &self.0) };
        Self(out)
    }

    #[inline]
    fn half(&self) -> Self {
        Self(self.0.half())
    }

    fn invert(&self) -> Self {
        Self(self.0.invert())
    }
}

/// y^2 = x^3 + 4.
#[derive(Clone, Copy)]
pub(super) struct G1;

impl Curve for G1 {
    type Field = Fp;
    const A_IS_MINUS_3: bool = false;

    fn b() -> Fp {
        Element(blst_fp { l: FOUR })
    }
}

/// y^2 = x^3 + 4 (1 + u).
#[derive(Clone, Copy)]
pub(super) struct G2;

impl Curve for G2 {
    type Field = Fp2;
    const A_IS_MINUS_3: bool = false;

    fn b() -> Fp2 {
        Element(blst_fp2 {
            fp: [blst_fp { l: FOUR }; 2],
        })
    }
}
