//! Columns of lists.

use std::ops::Range;

use arrow_array::{Array, ArrayRef, OffsetSizeTrait, cast::AsArray};
use arrow_schema::DataType;

/// Returns the positions of each row's items in the values of a list, which are the second result. A null list is empty.
/// `None` if the array is not a list.
pub(crate) fn split(array: &ArrayRef) -> Option<(Vec<Range<usize>>, ArrayRef)> {
    match array.data_type() {
        DataType::List(_) => Some(split_sized::<i32>(array)),
        DataType::LargeList(_) => Some(split_sized::<i64>(array)),
        _ => None,
    }
}

fn split_sized<O: OffsetSizeTrait>(array: &ArrayRef) -> (Vec<Range<usize>>, ArrayRef) {
    let list = array.as_list::<O>();
    let pairs = list.offsets().windows(2).enumerate();
    let spans = pairs.map(|(row, pair)| match list.is_valid(row) {
        true => pair[0].as_usize()..pair[1].as_usize(),
        false => 0..0,
    });
    (spans.collect(), list.values().clone())
}
