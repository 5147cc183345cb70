//! The caller's memory.

use std::{ptr, slice};

use crate::status::{Failure, LYDITE_ERROR_ARGUMENT, LYDITE_ERROR_BUFFER_TOO_SMALL, failure};

fn check<T>(pointer: *const T, length: usize, what: &str) -> Result<(), Failure> {
    if pointer.is_null() && length != 0 {
        return Err(failure(
            LYDITE_ERROR_ARGUMENT,
            format_args!("{what} is NULL"),
        ));
    }
    if !pointer.is_aligned() {
        return Err(failure(
            LYDITE_ERROR_ARGUMENT,
            format_args!("{what} is not aligned"),
        ));
    }
    if length
        .checked_mul(size_of::<T>())
        .is_none_or(|bytes| bytes > isize::MAX as usize)
    {
        return Err(failure(
            LYDITE_ERROR_ARGUMENT,
            format_args!("{what} cannot be so long"),
        ));
    }
    Ok(())
}

/// `length` items of the caller.
///
/// # Safety
/// `pointer` is NULL or points to so many items, which nobody writes to meanwhile.
pub unsafe fn items<'a, T>(
    pointer: *const T,
    length: usize,
    what: &str,
) -> Result<&'a [T], Failure> {
    check(pointer, length, what)?;
    if length == 0 {
        return Ok(&[]);
    }
    // SAFETY: not NULL, aligned and not too long, as just checked; there and unchanged, as the caller promises.
    Ok(unsafe { slice::from_raw_parts(pointer, length) })
}

/// `length` places of the caller. Whatever type `T` is here is valid with any bits.
///
/// # Safety
/// `pointer` is NULL or points to so many items, which nobody else reads or writes meanwhile.
pub unsafe fn items_mut<'a, T>(
    pointer: *mut T,
    length: usize,
    what: &str,
) -> Result<&'a mut [T], Failure> {
    check(pointer, length, what)?;
    if length == 0 {
        return Ok(&mut []);
    }
    // SAFETY: as above, and nobody else's, as the caller promises.
    Ok(unsafe { slice::from_raw_parts_mut(pointer, length) })
}

/// One item of the caller.
///
/// # Safety
/// As [`items`] of one.
pub unsafe fn one<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller's promise.
    match unsafe { items(pointer, 1, what) }? {
        [item] => Ok(item),
        _ => Err(failure(LYDITE_ERROR_ARGUMENT, what)),
    }
}

/// One place of the caller.
///
/// # Safety
/// As [`items_mut`] of one.
pub unsafe fn one_mut<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller's promise.
    match unsafe { items_mut(pointer, 1, what) }? {
        [item] => Ok(item),
        _ => Err(failure(LYDITE_ERROR_ARGUMENT, what)),
    }
}

/// An array of the caller.
///
/// # Safety
/// As [`items`] of `N` bytes.
pub unsafe fn array<'a, const N: usize>(
    pointer: *const u8,
    what: &str,
) -> Result<&'a [u8; N], Failure> {
    // SAFETY: the caller's promise.
    unsafe { one(pointer.cast(), what) }
}

/// Places for an array of the caller.
///
/// # Safety
/// As [`items_mut`] of `N` bytes.
pub unsafe fn array_mut<'a, const N: usize>(
    pointer: *mut u8,
    what: &str,
) -> Result<&'a mut [u8; N], Failure> {
    // SAFETY: the caller's promise.
    unsafe { one_mut(pointer.cast(), what) }
}

/// Gives the caller an object, to be released with [`release`]; NULL where there is none.
///
/// # Safety
/// As [`one_mut`].
pub unsafe fn give<T>(
    out: *mut *mut T,
    make: impl FnOnce() -> Result<T, Failure>,
) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let out = unsafe { one_mut(out, "out") }?;
    *out = ptr::null_mut();
    *out = Box::into_raw(Box::new(make()?));
    Ok(())
}

/// Releases an object.
///
/// # Safety
/// It is NULL, or was made by [`give`] and is released once.
pub unsafe fn release<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: made by `Box::into_raw` and released once, as the caller promises.
        drop(unsafe { Box::from_raw(object) });
    }
}

/// Text of the caller.
///
/// # Safety
/// As [`items`].
pub unsafe fn text<'a>(pointer: *const u8, length: usize, what: &str) -> Result<&'a str, Failure> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { items(pointer, length, what) }?;
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        failure(
            LYDITE_ERROR_ARGUMENT,
            format_args!("byte {at}: {what} is not UTF-8"),
        )
    })
}

/// Items of one buffer that lie behind one another: item i from `offsets[i]` to `offsets[i + 1]`.
///
/// # Safety
/// As [`items`] of `offsets[count]` bytes and of `count + 1` offsets.
pub unsafe fn ragged<'a>(
    data: *const u8,
    offsets: *const usize,
    count: usize,
) -> Result<Vec<&'a [u8]>, Failure> {
    let wrong = |i| {
        failure(
            LYDITE_ERROR_ARGUMENT,
            format_args!("offsets[{i}] is below the one before it"),
        )
    };
    let places = count
        .checked_add(1)
        .ok_or_else(|| failure(LYDITE_ERROR_ARGUMENT, "too many items"))?;
    // SAFETY: the caller's promise.
    let offsets = unsafe { items(offsets, places, "offsets") }?;
    if let Some(i) = (1..places).find(|&i| offsets[i] < offsets[i - 1]) {
        return Err(wrong(i));
    }
    // SAFETY: the caller's promise.
    let data = unsafe { items(data, offsets[count], "data") }?;
    Ok(offsets
        .windows(2)
        .map(|range| &data[range[0]..range[1]])
        .collect())
}

/// A buffer of the caller for an output whose size depends on the input.
pub struct Output {
    pub out: *mut u8,
    pub capacity: usize,
    pub written: *mut usize,
}

impl Output {
    /// Sets the size and, if there is room for them, the bytes that `write` writes.
    ///
    /// # Safety
    /// As [`items_mut`] of `capacity` bytes and of one size.
    pub unsafe fn fill(
        self,
        size: usize,
        write: impl FnOnce(&mut [u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        // SAFETY: the caller's promise.
        *unsafe { one_mut(self.written, "written") }? = size;
        if self.out.is_null() {
            return Ok(());
        }
        if self.capacity < size {
            let capacity = self.capacity;
            return Err(failure(
                LYDITE_ERROR_BUFFER_TOO_SMALL,
                format_args!("{size} bytes needed, the buffer has {capacity}"),
            ));
        }
        // SAFETY: the caller's promise.
        write(unsafe { items_mut(self.out, size, "out") }?)
    }

    /// Gives these bytes.
    ///
    /// # Safety
    /// As [`fill`](Self::fill).
    pub unsafe fn copy(self, bytes: &[u8]) -> Result<(), Failure> {
        // SAFETY: the caller's promise.
        unsafe {
            self.fill(bytes.len(), |out| {
                out.copy_from_slice(bytes);
                Ok(())
            })
        }
    }
}
