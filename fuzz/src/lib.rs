//! What fuzz targets share.

pub mod precompile;

/// The target of one precompiled contract.
#[macro_export]
macro_rules! precompile_target {
    ($name:ident) => {
        libfuzzer_sys::fuzz_target!(|data: &[u8]| {
            use lydite::evm::precompile::Precompile;
            $crate::precompile::call(Precompile::$name, data);
        });
    };
}
