//! Kernels for WebAssembly, which has vectors or has not as it is compiled.

pub(super) mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) mod simd128_x2;
