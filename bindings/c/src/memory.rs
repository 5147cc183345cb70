//! Access to the caller's memory.

use std::{ptr, slice};

use crate::status::{Failure, LYDITE_ERROR_ARGUMENT, LYDITE_ERROR_BUFFER_TOO_SMALL, failure};

fn check<T>(pointer: *const T, length: usize, what: &str) -> Result<(), Failure> {
    if pointer.is_null() && length != 0 {
        return Err(failure(
            LYDITE_ERROR_ARGUMENT,
            format_args!("{what}: expected a pointer, found NULL"),
        ));
    }
    if !pointer.is_aligned() {
        return Err(failure(
            LYDITE_ERROR_ARGUMENT,
            format_args!(
                "{what}: expected a pointer aligned to {} bytes, found {pointer:p}",
                align_of::<T>()
            ),
        ));
    }
    if length
        .checked_mul(size_of::<T>())
        .is_none_or(|bytes| bytes > isize::MAX as usize)
    {
        return Err(failure(
            LYDITE_ERROR_ARGUMENT,
            format_args!("{what}: expected at most PTRDIFF_MAX bytes, found {length} items"),
        ));
    }
    Ok(())
}

/// Borrows `length` items from the caller.
///
/// # Safety
/// `pointer` must be NULL or point to `length` items that nobody writes during the borrow.
pub unsafe fn items<'a, T>(
    pointer: *const T,
    length: usize,
    what: &str,
) -> Result<&'a [T], Failure> {
    check(pointer, length, what)?;
    if length == 0 {
        return Ok(&[]);
    }
    // SAFETY: `check` has ensured that the pointer is not NULL and is aligned, and that the slice has at most
    // `isize::MAX` bytes. The caller guarantees that the items are valid and unchanged during the borrow.
    Ok(unsafe { slice::from_raw_parts(pointer, length) })
}

/// Borrows `length` items mutably from the caller. Every type `T` used here is valid for any bit pattern.
///
/// # Safety
/// `pointer` must be NULL or point to `length` items that nobody else reads or writes during the borrow.
pub unsafe fn items_mut<'a, T>(
    pointer: *mut T,
    length: usize,
    what: &str,
) -> Result<&'a mut [T], Failure> {
    check(pointer, length, what)?;
    if length == 0 {
        return Ok(&mut []);
    }
    // SAFETY: `check` has ensured that the pointer is not NULL and is aligned, and that the slice has at most
    // `isize::MAX` bytes. The caller guarantees that the items are valid and that nobody else accesses them during the
    // borrow.
    Ok(unsafe { slice::from_raw_parts_mut(pointer, length) })
}

/// Borrows one item from the caller.
///
/// # Safety
/// Like [`items`] for one item.
pub unsafe fn one<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: guaranteed by the caller.
    match unsafe { items(pointer, 1, what) }? {
        [item] => Ok(item),
        _ => Err(failure(LYDITE_ERROR_ARGUMENT, what)),
    }
}

/// Borrows one item mutably from the caller.
///
/// # Safety
/// Like [`items_mut`] for one item.
pub unsafe fn one_mut<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: guaranteed by the caller.
    match unsafe { items_mut(pointer, 1, what) }? {
        [item] => Ok(item),
        _ => Err(failure(LYDITE_ERROR_ARGUMENT, what)),
    }
}

/// Borrows an array from the caller.
///
/// # Safety
/// Like [`items`] for `N` bytes.
pub unsafe fn array<'a, const N: usize>(
    pointer: *const u8,
    what: &str,
) -> Result<&'a [u8; N], Failure> {
    // SAFETY: guaranteed by the caller.
    unsafe { one(pointer.cast(), what) }
}

/// Borrows an array mutably from the caller.
///
/// # Safety
/// Like [`items_mut`] for `N` bytes.
pub unsafe fn array_mut<'a, const N: usize>(
    pointer: *mut u8,
    what: &str,
) -> Result<&'a mut [u8; N], Failure> {
    // SAFETY: guaranteed by the caller.
    unsafe { one_mut(pointer.cast(), what) }
}

/// Stores a new object in `*out`, to be released with [`release`], or NULL if `make` fails.
///
/// # Safety
/// Like [`one_mut`].
pub unsafe fn put<T>(
    out: *mut *mut T,
    make: impl FnOnce() -> Result<T, Failure>,
) -> Result<(), Failure> {
    // SAFETY: guaranteed by the caller.
    let out = unsafe { one_mut(out, "out") }?;
    *out = ptr::null_mut();
    *out = Box::into_raw(Box::new(make()?));
    Ok(())
}

/// Releases an object.
///
/// # Safety
/// `object` must be NULL or come from [`put`], and must be released only once.
pub unsafe fn release<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: the caller guarantees that `put` made the object, with `Box::into_raw`, and that this is its only
        // release.
        drop(unsafe { Box::from_raw(object) });
    }
}

/// Borrows UTF-8 text from the caller.
///
/// # Safety
/// Like [`items`].
pub unsafe fn text<'a>(pointer: *const u8, length: usize, what: &str) -> Result<&'a str, Failure> {
    // SAFETY: guaranteed by the caller.
    let bytes = unsafe { items(pointer, length, what) }?;
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        failure(
            LYDITE_ERROR_ARGUMENT,
            format_args!(
                "byte {at}: expected UTF-8 in {what}, found {:#04x}",
                bytes[at]
            ),
        )
    })
}

/// Borrows `count` consecutive items of one buffer: item `i` is the bytes from `offsets[i]` to `offsets[i + 1]`.
///
/// # Safety
/// Like [`items`] for `offsets[count]` bytes and for `count + 1` offsets.
pub unsafe fn split_at_offsets<'a>(
    data: *const u8,
    offsets: *const usize,
    count: usize,
) -> Result<Vec<&'a [u8]>, Failure> {
    let wrong = |i| {
        failure(
            LYDITE_ERROR_ARGUMENT,
            format_args!(
                "offsets[{i}]: expected at least the previous offset, found a smaller one"
            ),
        )
    };
    let places = count
        .checked_add(1)
        .ok_or_else(|| failure(LYDITE_ERROR_ARGUMENT, "count: expected less than SIZE_MAX"))?;
    // SAFETY: guaranteed by the caller.
    let offsets = unsafe { items(offsets, places, "offsets") }?;
    if let Some(i) = (1..places).find(|&i| offsets[i] < offsets[i - 1]) {
        return Err(wrong(i));
    }
    // SAFETY: guaranteed by the caller.
    let data = unsafe { items(data, offsets[count], "data") }?;
    Ok(offsets
        .windows(2)
        .map(|range| &data[range[0]..range[1]])
        .collect())
}

/// The caller's buffer for an output whose size depends on the input.
pub struct Output {
    pub out: *mut u8,
    pub capacity: usize,
    pub written: *mut usize,
}

impl Output {
    /// Sets `*written` to `size`, and calls `write` with the buffer if there is one and it is large enough.
    ///
    /// # Safety
    /// Like [`items_mut`] for `capacity` bytes, and [`one_mut`] for `written`.
    pub unsafe fn fill(
        self,
        size: usize,
        write: impl FnOnce(&mut [u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        // SAFETY: guaranteed by the caller.
        *unsafe { one_mut(self.written, "written") }? = size;
        if self.out.is_null() {
            return Ok(());
        }
        if self.capacity < size {
            let capacity = self.capacity;
            return Err(failure(
                LYDITE_ERROR_BUFFER_TOO_SMALL,
                format_args!("out: expected capacity for {size} bytes, found {capacity}"),
            ));
        }
        // SAFETY: guaranteed by the caller.
        write(unsafe { items_mut(self.out, size, "out") }?)
    }

    /// Copies bytes to the buffer like [`fill`](Self::fill).
    ///
    /// # Safety
    /// Like [`fill`](Self::fill).
    pub unsafe fn copy(self, bytes: &[u8]) -> Result<(), Failure> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.fill(bytes.len(), |out| {
                out.copy_from_slice(bytes);
                Ok(())
            })
        }
    }
}
