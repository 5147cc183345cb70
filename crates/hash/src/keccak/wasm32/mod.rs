//! Kernels for WebAssembly, with or without vectors, depending on the target features.

pub(super) mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) mod simd128_x2;
