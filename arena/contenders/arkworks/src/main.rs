//! arkworks as a contender: BN254 and BLS12-381, with the checks of EIP-196, 197 and 2537.

use arena_kit::{locked_version, precompile, run};
use ark_bls12_381::Bls12_381;
use ark_bn254::Bn254;
use ark_ec::hashing::{curve_maps::wb::WBMap, map_to_curve_hasher::MapToCurve};
use ark_ec::pairing::Pairing;
use ark_ec::short_weierstrass::{Affine, Projective, SWCurveConfig};
use ark_ec::{AffineRepr, CurveGroup, VariableBaseMSM};
use ark_ff::{AdditiveGroup, BigInt, Field, One, PrimeField};

/// A coordinate in an EIP's encoding.
trait Coordinate: Field {
    const LENGTH: usize;

    fn read(bytes: &[u8]) -> Option<Self>;
    fn write(&self, out: &mut Vec<u8>);
}

fn limbs<const N: usize>(bytes: &[u8]) -> BigInt<N> {
    let mut limbs = [0; N];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.rchunks(8)) {
        *limb = bytes
            .iter()
            .fold(0, |limb, byte| limb << 8 | u64::from(*byte));
    }
    BigInt::new(limbs)
}

/// An element of a prime field: big-endian, after the given number of zero bytes.
macro_rules! prime {
    ($field:ty, $length:literal, $zeros:literal) => {
        impl Coordinate for $field {
            const LENGTH: usize = $length;

            fn read(bytes: &[u8]) -> Option<Self> {
                let (zeros, bytes) = bytes.split_at($zeros);
                if zeros.iter().any(|byte| *byte != 0) {
                    return None;
                }
                Self::from_bigint(limbs(bytes))
            }

            fn write(&self, out: &mut Vec<u8>) {
                out.extend([0; $zeros]);
                let limbs = self.into_bigint().0;
                out.extend(limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()));
            }
        }
    };
}

/// An element of the quadratic extension, with its parts in the given order.
macro_rules! pair {
    ($field:ty, $first:ident, $second:ident) => {
        impl Coordinate for $field {
            const LENGTH: usize = 2 * <<Self as Field>::BasePrimeField as Coordinate>::LENGTH;

            fn read(bytes: &[u8]) -> Option<Self> {
                let (first, second) = bytes.split_at(Self::LENGTH / 2);
                Some(Self {
                    $first: Coordinate::read(first)?,
                    $second: Coordinate::read(second)?,
                })
            }

            fn write(&self, out: &mut Vec<u8>) {
                self.$first.write(out);
                self.$second.write(out);
            }
        }
    };
}

prime!(ark_bn254::Fq, 32, 0);
prime!(ark_bls12_381::Fq, 64, 16);
pair!(ark_bn254::Fq2, c1, c0);
pair!(ark_bls12_381::Fq2, c0, c1);

/// Reads the first point of `bytes`, which must be on its curve; two zeros are the point at infinity.
fn point<C: SWCurveConfig<BaseField: Coordinate>>(bytes: &mut &[u8]) -> Option<Affine<C>> {
    let length = <C::BaseField as Coordinate>::LENGTH;
    let (head, rest) = bytes.split_at_checked(2 * length)?;
    *bytes = rest;
    let (x, y) = head.split_at(length);
    let (x, y) = (C::BaseField::read(x)?, C::BaseField::read(y)?);
    if x == C::BaseField::ZERO && y == C::BaseField::ZERO {
        return Some(Affine::identity());
    }
    let point = Affine::new_unchecked(x, y);
    point.is_on_curve().then_some(point)
}

/// Like [`point`], but the point must also be in the subgroup.
fn member<C: SWCurveConfig<BaseField: Coordinate>>(bytes: &mut &[u8]) -> Option<Affine<C>> {
    point(bytes).filter(Affine::is_in_correct_subgroup_assuming_on_curve)
}

fn output<C: SWCurveConfig<BaseField: Coordinate>>(point: Projective<C>) -> Vec<u8> {
    let point = point.into_affine();
    let (x, y) = point.xy().unwrap_or_default();
    let mut out = Vec::with_capacity(2 * <C::BaseField as Coordinate>::LENGTH);
    x.write(&mut out);
    y.write(&mut out);
    out
}

fn scalar<F: PrimeField>(bytes: &mut &[u8]) -> Option<F> {
    let (head, rest) = bytes.split_at_checked(32)?;
    *bytes = rest;
    Some(F::from_be_bytes_mod_order(head))
}

fn add<C: SWCurveConfig<BaseField: Coordinate>>(mut input: &[u8]) -> Option<Vec<u8>> {
    let sum = point::<C>(&mut input)? + point::<C>(&mut input)?;
    input.is_empty().then(|| output(sum))
}

fn multiply(mut input: &[u8]) -> Option<Vec<u8>> {
    let point: ark_bn254::G1Affine = point(&mut input)?;
    let factor: ark_bn254::Fr = scalar(&mut input)?;
    Some(output(point * factor))
}

fn msm<C: SWCurveConfig<BaseField: Coordinate>>(mut input: &[u8]) -> Option<Vec<u8>> {
    let (mut points, mut scalars) = (Vec::new(), Vec::<C::ScalarField>::new());
    while !input.is_empty() {
        points.push(member::<C>(&mut input)?);
        scalars.push(scalar(&mut input)?);
    }
    match points.as_slice() {
        [] => None,
        [point] => Some(output(*point * scalars[0])),
        points => Some(output(Projective::<C>::msm(points, &scalars).ok()?)),
    }
}

fn pairing<E, C1, C2>(mut input: &[u8]) -> Option<Vec<u8>>
where
    C1: SWCurveConfig<BaseField: Coordinate>,
    C2: SWCurveConfig<BaseField: Coordinate>,
    E: Pairing<G1Affine = Affine<C1>, G2Affine = Affine<C2>>,
{
    let (mut left, mut right) = (Vec::new(), Vec::new());
    while !input.is_empty() {
        left.push(member::<C1>(&mut input)?);
        right.push(member::<C2>(&mut input)?);
    }
    let mut word = vec![0; 32];
    word[31] = u8::from(E::multi_pairing(left, right).0.is_one());
    Some(word)
}

fn map_g1(input: &[u8]) -> Option<Vec<u8>> {
    let element = Coordinate::read(input)?;
    let point = WBMap::<ark_bls12_381::g1::Config>::map_to_curve(element).ok()?;
    Some(output(point.clear_cofactor().into()))
}

fn map_g2(input: &[u8]) -> Option<Vec<u8>> {
    let element = Coordinate::read(input)?;
    let point = WBMap::<ark_bls12_381::g2::Config>::map_to_curve(element).ok()?;
    Some(output(point.clear_cofactor().into()))
}

fn main() {
    use ark_bls12_381::{g1, g2};
    let ops = vec![
        precompile("precompile_06", add::<ark_bn254::g1::Config>),
        precompile("precompile_07", multiply),
        precompile(
            "precompile_08",
            pairing::<Bn254, ark_bn254::g1::Config, ark_bn254::g2::Config>,
        ),
        precompile("precompile_0b", add::<g1::Config>),
        precompile("precompile_0c", msm::<g1::Config>),
        precompile("precompile_0d", add::<g2::Config>),
        precompile("precompile_0e", msm::<g2::Config>),
        precompile(
            "precompile_0f",
            pairing::<Bls12_381, g1::Config, g2::Config>,
        ),
        precompile("precompile_10", map_g1),
        precompile("precompile_11", map_g2),
    ];
    run(
        "arkworks",
        locked_version(include_str!("../../Cargo.lock"), "ark-ec"),
        ops,
    );
}
