//! blst as a contender: BLS12-381, with the checks of EIP-2537.

use arena_kit::{locked_version, precompile, run};
use blst::{
    MultiPoint, blst_bendian_from_fp, blst_fp, blst_fp_from_bendian, blst_fp2, blst_fp12,
    blst_map_to_g1, blst_map_to_g2, blst_p1, blst_p1_add_or_double_affine, blst_p1_affine,
    blst_p1_affine_in_g1, blst_p1_affine_on_curve, blst_p1_from_affine, blst_p1_mult,
    blst_p1_to_affine, blst_p2, blst_p2_add_or_double_affine, blst_p2_affine, blst_p2_affine_in_g2,
    blst_p2_affine_on_curve, blst_p2_from_affine, blst_p2_mult, blst_p2_to_affine,
};

/// The field prime, big-endian.
const PRIME: [u8; 48] = {
    let words: [u64; 6] = [
        0x1a01_11ea_397f_e69a,
        0x4b1b_a7b6_434b_acd7,
        0x6477_4b84_f385_12bf,
        0x6730_d2a0_f6b0_f624,
        0x1eab_fffe_b153_ffff,
        0xb9fe_ffff_ffff_aaab,
    ];
    let mut bytes = [0; 48];
    let mut at = 0;
    while at < 48 {
        bytes[at] = words[at / 8].to_be_bytes()[at % 8];
        at += 1;
    }
    bytes
};

/// A coordinate in the encoding of EIP-2537: 64 bytes per element of the prime field, of which the first 16 are zero.
trait Coordinate: Copy + Default {
    const LENGTH: usize;

    fn read(bytes: &[u8]) -> Option<Self>;
    fn write(&self, out: &mut Vec<u8>);
}

impl Coordinate for blst_fp {
    const LENGTH: usize = 64;

    fn read(bytes: &[u8]) -> Option<Self> {
        let (zeros, bytes) = bytes.split_at(16);
        let bytes: &[u8; 48] = bytes.try_into().ok()?;
        if zeros.iter().any(|byte| *byte != 0) || *bytes >= PRIME {
            return None;
        }
        let mut element = Self::default();
        // SAFETY: `bytes` is an array of 48 bytes, which is the number read; `element` is a valid `blst_fp` to write
        // to.
        unsafe { blst_fp_from_bendian(&mut element, bytes.as_ptr()) };
        Some(element)
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut bytes = [0; 64];
        // SAFETY: 48 of the 64 bytes follow offset 16, which is the number written; `self` is a valid `blst_fp`.
        unsafe { blst_bendian_from_fp(bytes[16..].as_mut_ptr(), self) };
        out.extend(bytes);
    }
}

impl Coordinate for blst_fp2 {
    const LENGTH: usize = 128;

    fn read(bytes: &[u8]) -> Option<Self> {
        let (c0, c1) = bytes.split_at(64);
        Some(Self {
            fp: [Coordinate::read(c0)?, Coordinate::read(c1)?],
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.fp.iter().for_each(|part| part.write(out));
    }
}

/// The same functions for G1 and G2. A point of zeros is the point at infinity, also in blst.
macro_rules! group {
    ($name:ident, $field:ty, $affine:ident, $point:ident, $on_curve:ident, $in_group:ident, $from_affine:ident,
     $to_affine:ident, $add:ident, $multiply:ident) => {
        mod $name {
            use super::*;

            const LENGTH: usize = 2 * <$field as Coordinate>::LENGTH;

            /// Reads the first point of `bytes`, which must be on its curve.
            fn point(bytes: &mut &[u8]) -> Option<$affine> {
                let (head, rest) = bytes.split_at_checked(LENGTH)?;
                *bytes = rest;
                let (x, y) = head.split_at(LENGTH / 2);
                let (x, y) = (Coordinate::read(x)?, Coordinate::read(y)?);
                let point = $affine { x, y };
                // SAFETY: the pointer is derived from a reference to a point, which is only read.
                (point == $affine::default() || unsafe { $on_curve(&point) }).then_some(point)
            }

            /// Like [`point`], but the point must also be in the subgroup.
            pub fn member(bytes: &mut &[u8]) -> Option<$affine> {
                // SAFETY: the pointer is derived from a reference to a point, which is only read.
                point(bytes)
                    .filter(|point| *point == $affine::default() || unsafe { $in_group(point) })
            }

            pub fn output(point: &$point) -> Vec<u8> {
                let mut affine = $affine::default();
                // SAFETY: both pointers are derived from references to points; only `affine`, a local variable, is
                // written.
                unsafe { $to_affine(&mut affine, point) };
                let mut out = Vec::with_capacity(LENGTH);
                affine.x.write(&mut out);
                affine.y.write(&mut out);
                out
            }

            pub fn add(mut input: &[u8]) -> Option<Vec<u8>> {
                let (p, q) = (point(&mut input)?, point(&mut input)?);
                let (mut jacobian, mut sum) = ($point::default(), $point::default());
                // SAFETY: all pointers are derived from references to points; only `jacobian` and `sum`, local
                // variables, are written.
                unsafe {
                    $from_affine(&mut jacobian, &p);
                    $add(&mut sum, &jacobian, &q);
                }
                input.is_empty().then(|| output(&sum))
            }

            pub fn msm(mut input: &[u8]) -> Option<Vec<u8>> {
                let (mut points, mut scalars) = (Vec::new(), Vec::new());
                while !input.is_empty() {
                    let point = member(&mut input)?;
                    let (scalar, rest) = input.split_at_checked(32)?;
                    input = rest;
                    // blst's multi-scalar multiplication does not accept the point at infinity.
                    if point != $affine::default() {
                        points.push(point);
                        scalars.extend(scalar.iter().rev());
                    }
                }
                Some(match points.as_slice() {
                    [] => vec![0; LENGTH],
                    [point] => {
                        let (mut jacobian, mut product) = ($point::default(), $point::default());
                        // SAFETY: all point pointers are derived from references, of which the two written are local
                        // variables. `scalars` has the 32 bytes of one scalar, so 256 bits can be read.
                        unsafe {
                            $from_affine(&mut jacobian, point);
                            $multiply(&mut product, &jacobian, scalars.as_ptr(), 256);
                        }
                        output(&product)
                    }
                    points => output(&points.mult(&scalars, 256)),
                })
            }
        }
    };
}

group!(
    g1,
    blst_fp,
    blst_p1_affine,
    blst_p1,
    blst_p1_affine_on_curve,
    blst_p1_affine_in_g1,
    blst_p1_from_affine,
    blst_p1_to_affine,
    blst_p1_add_or_double_affine,
    blst_p1_mult
);
group!(
    g2,
    blst_fp2,
    blst_p2_affine,
    blst_p2,
    blst_p2_affine_on_curve,
    blst_p2_affine_in_g2,
    blst_p2_from_affine,
    blst_p2_to_affine,
    blst_p2_add_or_double_affine,
    blst_p2_mult
);

fn pairing(mut input: &[u8]) -> Option<Vec<u8>> {
    if input.is_empty() {
        return None;
    }
    let (mut left, mut right) = (Vec::new(), Vec::new());
    while !input.is_empty() {
        let (p, q) = (g1::member(&mut input)?, g2::member(&mut input)?);
        if p != blst_p1_affine::default() && q != blst_p2_affine::default() {
            left.push(p);
            right.push(q);
        }
    }
    let one = left.is_empty()
        || blst_fp12::miller_loop_n(&right, &left).final_exp() == blst_fp12::default();
    let mut word = vec![0; 32];
    word[31] = u8::from(one);
    Some(word)
}

fn map_g1(input: &[u8]) -> Option<Vec<u8>> {
    let element = blst_fp::read(input)?;
    let mut point = blst_p1::default();
    // SAFETY: `element` is valid to read and `point` to write; blst accepts a null pointer for the optional second
    // element.
    unsafe { blst_map_to_g1(&mut point, &element, std::ptr::null()) };
    Some(g1::output(&point))
}

fn map_g2(input: &[u8]) -> Option<Vec<u8>> {
    let element = blst_fp2::read(input)?;
    let mut point = blst_p2::default();
    // SAFETY: `element` is valid to read and `point` to write; blst accepts a null pointer for the optional second
    // element.
    unsafe { blst_map_to_g2(&mut point, &element, std::ptr::null()) };
    Some(g2::output(&point))
}

fn main() {
    let ops = vec![
        precompile("precompile_0b", g1::add),
        precompile("precompile_0c", g1::msm),
        precompile("precompile_0d", g2::add),
        precompile("precompile_0e", g2::msm),
        precompile("precompile_0f", pairing),
        precompile("precompile_10", map_g1),
        precompile("precompile_11", map_g2),
    ];
    run(
        "blst",
        locked_version(include_str!("../../Cargo.lock"), "blst"),
        ops,
    );
}
