//! Arrays of views, which refer to bytes in shared buffers.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, cast::AsArray, make_array};
use arrow_schema::DataType;

/// Returns an array without the bytes to which none of its views refers, also in lists and structs. Views of selected
/// rows otherwise keep the bytes of all rows, which are written to Arrow files with them.
pub fn compact_views(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::BinaryView => Arc::new(array.as_binary_view().gc()),
        DataType::Utf8View => Arc::new(array.as_string_view().gc()),
        ty if has_views(ty) => {
            let data = array.to_data();
            let children = data.child_data().iter();
            let children =
                children.map(|child| compact_views(&make_array(child.clone())).to_data());
            let compact = data.clone().into_builder().child_data(children.collect());
            // Fails only if the array is not valid.
            compact.build().map_or_else(|_| array.clone(), make_array)
        }
        _ => array.clone(),
    }
}

fn has_views(ty: &DataType) -> bool {
    match ty {
        DataType::BinaryView | DataType::Utf8View => true,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => has_views(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_views(field.data_type())),
        _ => false,
    }
}
