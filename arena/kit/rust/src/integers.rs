//! The rows `u256_*`: 256-bit integers.

use crate::change::set_upper_half;
use crate::operation::{Op, array};
use crate::output::Output;
use crate::reader::Reader;

/// A library's 256-bit integers.
pub trait Integers: 'static {
    /// The integer.
    type Number: Copy + 'static;

    /// The number of these limbs, lowest first.
    fn number(limbs: [u64; 4]) -> Self::Number;

    /// The limbs of a number, lowest first.
    fn limbs(number: Self::Number) -> [u64; 4];

    /// A row on arrays of `N` numbers, of which the rule changes the first. `call` returns limbs.
    fn row<const N: usize, O: Output + 'static>(
        name: &'static str,
        call: impl Fn(&[Self::Number; N]) -> O + Copy + 'static,
    ) -> Op {
        array(name, |r: &mut Reader| {
            let mut numbers = [Self::number([0; 4]); N];
            for number in &mut numbers {
                *number = Self::number(r.limbs()?);
            }
            Some(numbers)
        })
        .change("le@4", |numbers, word| {
            let mut limbs = Self::limbs(numbers[0]);
            set_upper_half(&mut limbs, word);
            numbers[0] = Self::number(limbs);
        })
        .call(call)
    }
}
