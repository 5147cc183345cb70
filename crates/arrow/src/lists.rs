//! Columns of lists.

use std::ops::Range;

use arrow_array::{Array, ArrayRef, OffsetSizeTrait, cast::AsArray};
use arrow_schema::DataType;

/// The positions of a list's items in the values of a column; `None` if the list is null.
pub(crate) type Span = Option<Range<usize>>;

/// Returns the positions of each row's items in the values of a list, which are the second result. `None` if the array
/// is not a list.
pub(crate) fn split(array: &ArrayRef) -> Option<(Vec<Span>, ArrayRef)> {
    match array.data_type() {
        DataType::List(_) => Some(split_sized::<i32>(array)),
        DataType::LargeList(_) => Some(split_sized::<i64>(array)),
        _ => None,
    }
}

fn split_sized<O: OffsetSizeTrait>(array: &ArrayRef) -> (Vec<Span>, ArrayRef) {
    let list = array.as_list::<O>();
    let pairs = list.offsets().windows(2).enumerate();
    let spans = pairs.map(|(row, pair)| {
        let span = pair[0].as_usize()..pair[1].as_usize();
        list.is_valid(row).then_some(span)
    });
    (spans.collect(), list.values().clone())
}
