//! Sums of many multiples: for each window of the multipliers, points with the same digit are added first, in buckets.
//!
//! Points are affine, because many sums share an inversion: those of all buckets, then those of all windows.
//!
//! Source: \[Pip76\], \[Mon87\] §10.3.1 (shared inversions).

use alloc::{vec, vec::Vec};
use core::iter;

use zeroize::Zeroize;

use crate::{
    field::{Field, invert_all},
    group::{Affine, Curve, Jacobian, add_with_slope, signed_digits, slope},
};

/// A point; `None` is infinity.
type Point<C> = Option<Affine<C>>;

/// Number of sums that share an inversion.
const CHUNK: usize = 128;
/// Number of points, of one or several windows, that are put into buckets at a time.
const AT_ONCE: usize = 1 << 10;

/// Adds `addends[i]` to `sums[i]` for each i.
fn add_all<C: Curve<Field: Field + Zeroize>>(sums: &mut [Point<C>], addends: &[Point<C>]) {
    for (sums, addends) in sums.chunks_mut(CHUNK).zip(addends.chunks(CHUNK)) {
        let (mut numerators, mut denominators) = ([None; CHUNK], [Field::ONE; CHUNK]);
        let mut count = 0;
        for (at, pair) in iter::zip(&mut numerators, iter::zip(&*sums, addends)) {
            if let (Some(p), Some(q)) = pair
                && let Some([numerator, denominator]) = slope(p, q)
            {
                (*at, denominators[count]) = (Some(numerator), denominator);
                count += 1;
            }
        }
        invert_all::<C::Field, CHUNK>(
            &mut denominators[..count],
            &Field::ONE,
            C::Field::mul,
            C::Field::invert,
        );
        let mut inverses = denominators.iter();
        for ((sum, addend), numerator) in iter::zip(sums, addends).zip(numerators) {
            *sum = match (*sum, *addend) {
                (Some(p), Some(q)) => numerator
                    .and_then(|numerator| Some(numerator.mul(inverses.next()?)))
                    .map(|slope| add_with_slope(&p, &q, &slope)),
                (sum, addend) => sum.or(addend),
            };
        }
    }
}

/// Adds the points of each bucket. Takes the points bucket by bucket, and the number in each.
fn sum_buckets<C: Curve<Field: Field + Zeroize>>(
    mut points: Vec<Point<C>>,
    mut lengths: Vec<usize>,
) -> impl Iterator<Item = Point<C>> {
    while lengths.iter().any(|&length| length > 1) {
        // Neighbours are added. A last one without a neighbour remains.
        let (mut sums, mut addends) = (Vec::new(), Vec::new());
        let mut rest = &*points;
        for length in &mut lengths {
            let bucket;
            (bucket, rest) = rest.split_at(*length);
            for pair in bucket.chunks(2) {
                sums.push(pair[0]);
                addends.push(pair.get(1).copied().flatten());
            }
            *length = length.div_ceil(2);
        }
        add_all(&mut sums, &addends);
        points = sums;
    }
    let mut points = points.into_iter();
    lengths
        .into_iter()
        .map(move |length| if length > 0 { points.next()? } else { None })
}

/// Returns the number of bits of the windows for which `count` multipliers need the fewest additions, and the number of
/// windows.
fn windows(count: usize, bits: usize) -> (usize, usize) {
    let windows = |width: usize| bits / width + 1; // the last one has the carry
    let width = (2..=16)
        .min_by_key(|&width| windows(width) * (count + (1 << width)))
        .unwrap_or(2);
    (width, windows(width))
}

/// Puts each point into the bucket of its digit. Returns the points bucket by bucket, and the number in each.
fn sort<C: Curve>(
    digits: impl Iterator<Item = (usize, Affine<C>)> + Clone,
    buckets: usize,
) -> (Vec<Point<C>>, Vec<usize>) {
    let mut lengths = vec![0; buckets];
    for (bucket, _) in digits.clone() {
        lengths[bucket] += 1;
    }
    let mut end = 0;
    let mut positions = Vec::with_capacity(buckets);
    for length in &lengths {
        positions.push(end);
        end += length;
    }
    let mut points = vec![None; end];
    for (bucket, point) in digits {
        points[positions[bucket]] = Some(point);
        positions[bucket] += 1;
    }
    (points, lengths)
}

/// Returns the sum of multiples.
pub(super) fn sum<C: Curve<Field: Field + Zeroize>>(terms: &[(Affine<C>, u128)]) -> Jacobian<C> {
    let bits = terms.iter().map(|(_, k)| u128::BITS - k.leading_zeros());
    let (width, windows) = windows(terms.len(), bits.max().unwrap_or(0) as usize);
    let per_window = 1 << (width - 1);
    let mut all_digits: Vec<_> = terms
        .iter()
        .map(|(_, k)| signed_digits(*k, width))
        .collect();

    // The sums of the buckets: window by window, by the absolute value of the digit.
    let mut buckets = Vec::with_capacity(windows * per_window);
    let at_once = (AT_ONCE / terms.len().max(1)).max(1);
    for first in (0..windows).step_by(at_once) {
        let count = at_once.min(windows - first);
        let digits: Vec<i32> = all_digits
            .iter_mut()
            .flat_map(|digits| digits.take(count))
            .collect();
        let digits = digits.iter().enumerate().filter(|(_, digit)| **digit != 0);
        let digits = digits.map(|(i, digit)| {
            let bucket = i % count * per_window + digit.unsigned_abs() as usize - 1;
            (bucket, terms[i / count].0.negate_if(*digit < 0))
        });
        let (points, lengths) = sort(digits, count * per_window);
        buckets.extend(sum_buckets(points, lengths));
    }

    // The sum of each bucket times its digit: from the highest digit, the sums of the buckets so far, and the sums of
    // these, in all windows at the same time.
    let mut sums = vec![None; 2 * windows];
    for digit in (0..per_window).rev() {
        let mut addends: Vec<_> = buckets[digit..]
            .iter()
            .step_by(per_window)
            .copied()
            .collect();
        addends.extend_from_slice(&sums[..windows]);
        add_all(&mut sums, &addends);
    }
    let (last, totals) = sums.split_at_mut(windows);
    add_all(totals, last);

    totals.iter().rev().fold(Jacobian::INFINITY, |sum, total| {
        let sum = (0..width).fold(sum, |sum, _| sum.double());
        total.map_or(sum, |total| sum.add_affine(&total))
    })
}
