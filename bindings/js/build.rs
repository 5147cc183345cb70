//! Linker options for a Node-API module.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(not(target_family = "wasm"))]
    if std::env::var("CARGO_CFG_TARGET_FAMILY").as_deref() != Ok("wasm") {
        napi_build::setup();
    }
}
