//! Code shared by the fuzz targets.

pub mod precompile;
pub mod session;
pub mod typed_data;

// The unit tests refer to these as modules of their crate.
use lydite::ocapn::{captp, syrup};

/// Defines the fuzz target for a set of precompiled contracts; the first byte of the input selects one.
#[macro_export]
macro_rules! precompile_target {
    ($($name:ident),*) => {
        libfuzzer_sys::fuzz_target!(|data: &[u8]| {
            use lydite::evm::precompile::Precompile;
            $crate::precompile::call(&[$(Precompile::$name),*], data);
        });
    };
}
