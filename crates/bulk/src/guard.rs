//! Panics of a reader on damaged files, turned into errors.

use std::{
    any::Any,
    cell::Cell,
    panic::{self, AssertUnwindSafe, catch_unwind},
    sync::Once,
};

use crate::error::ErrorKind;

thread_local! {
    /// Whether the panics of this thread become errors.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function. A panic becomes an error and prints nothing; those of other threads are printed as before.
pub(crate) fn guard<T>(call: impl FnOnce() -> Result<T, ErrorKind>) -> Result<T, ErrorKind> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |information| {
            // A thread whose local values are gone has no guard.
            if !GUARDED.try_with(Cell::get).unwrap_or_default() {
                print(information);
            }
        }));
    });
    let before = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(before);
    result.unwrap_or_else(|panic| Err(ErrorKind::Panic(text(panic.as_ref()))))
}

fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}
