//! Rows with an integer that a decimal column cannot hold.

use arrow_array::{Array as _, ArrayRef, cast::AsArray as _};
use arrow_schema::DataType;

/// Returns the positions of these rows, in order. Decimals are null for no other reason, except in the rows `null`, which
/// are null in all columns.
pub(crate) fn overflows(columns: &[ArrayRef], rows: usize, null: &[usize]) -> Vec<usize> {
    if !columns.iter().any(has_null) {
        return Vec::new();
    }
    let mut found = vec![false; rows];
    let all: Vec<usize> = (0..rows).collect();
    columns
        .iter()
        .for_each(|column| mark(column, &all, &mut found));
    null.iter().for_each(|row| found[*row] = false);
    all.into_iter().filter(|row| found[*row]).collect()
}

fn has_null(array: &ArrayRef) -> bool {
    match array.data_type() {
        DataType::Decimal128(..) => array.null_count() > 0,
        DataType::List(_) => has_null(array.as_list::<i32>().values()),
        DataType::Struct(_) => array.as_struct().columns().iter().any(has_null),
        _ => false,
    }
}

/// Marks the rows with a null. `rows` has the row of each item of the array.
fn mark(array: &ArrayRef, rows: &[usize], found: &mut [bool]) {
    match array.data_type() {
        DataType::Decimal128(..) => {
            let nulls = rows.iter().enumerate().filter(|(i, _)| array.is_null(*i));
            nulls.for_each(|(_, row)| found[*row] = true);
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let lengths = list.offsets().lengths().zip(rows);
            let rows = lengths.flat_map(|(length, row)| std::iter::repeat_n(*row, length));
            mark(list.values(), &rows.collect::<Vec<_>>(), found);
        }
        DataType::Struct(_) => {
            let columns = array.as_struct().columns().iter();
            columns.for_each(|column| mark(column, rows, found));
        }
        _ => {}
    }
}
