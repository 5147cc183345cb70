//! Loops over independent pieces. With the feature `rayon` they run on the threads of the current pool. Without it, or
//! with a single piece or thread, they run sequentially, since handing work to a pool and waiting for it takes about 10
//! us.

use alloc::vec::Vec;

/// Calls `f` with the index and the elements of every chunk of `size`.
#[cfg(feature = "rayon")]
pub(crate) fn for_chunks<T: Send>(
    items: &mut [T],
    size: usize,
    // By pointer, so that rayon's code is compiled once and not for each scheme.
    f: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    use rayon::prelude::*;
    if items.len() <= size || rayon::current_num_threads() == 1 {
        for (index, chunk) in items.chunks_mut(size).enumerate() {
            f(index, chunk);
        }
        return;
    }
    items
        .par_chunks_mut(size)
        .enumerate()
        .for_each(|(index, chunk)| f(index, chunk));
}

/// Calls `f` with the index and the elements of every chunk of `size`.
#[cfg(not(feature = "rayon"))]
pub(crate) fn for_chunks<T>(items: &mut [T], size: usize, f: &dyn Fn(usize, &mut [T])) {
    for (index, chunk) in items.chunks_mut(size).enumerate() {
        f(index, chunk);
    }
}

/// Collects the results of `f` for 0, 1, ...
#[cfg(feature = "rayon")]
pub(crate) fn collect<T: Send>(count: usize, f: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    use rayon::prelude::*;
    (0..count).into_par_iter().map(f).collect()
}

/// Collects the results of `f` for 0, 1, ...
#[cfg(not(feature = "rayon"))]
pub(crate) fn collect<T>(count: usize, f: &dyn Fn(usize) -> T) -> Vec<T> {
    (0..count).map(f).collect()
}
