//! What fuzz targets share.

pub mod precompile;
pub mod typed_data;

/// The target of some precompiled contracts, of which the first byte of the input chooses one.
#[macro_export]
macro_rules! precompile_target {
    ($($name:ident),*) => {
        libfuzzer_sys::fuzz_target!(|data: &[u8]| {
            use lydite::evm::precompile::Precompile;
            $crate::precompile::call(&[$(Precompile::$name),*], data);
        });
    };
}
