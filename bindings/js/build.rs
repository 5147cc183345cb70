//! Linker options for a Node-API module.

fn main() {
    #[cfg(not(target_family = "wasm"))]
    if std::env::var("CARGO_CFG_TARGET_FAMILY").as_deref() != Ok("wasm") {
        napi_build::setup();
    }
}
