//! Compiles the calls to evmone and links with its libraries. Without `EVMONE_HOME`, only linking fails.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=src/evmone.cpp");
    println!("cargo:rerun-if-env-changed=EVMONE_HOME");
    let Ok(home) = env::var("EVMONE_HOME") else {
        return;
    };
    let mut calls = cc::Build::new();
    calls.cpp(true).std("c++20").file("src/evmone.cpp");
    calls.include(&home).include(format!("{home}/evmc/include"));
    calls.compile("arena_evmone");
    // In the order of linking: each library requires those after it.
    for (folder, library) in [
        ("test/state", "evmone-state"),
        ("lib/evmone_precompiles", "evmone_precompiles"),
        ("deps/src/blst", "blst"),
    ] {
        println!("cargo:rerun-if-changed={home}/build/{folder}/lib{library}.a");
        println!("cargo:rustc-link-search=native={home}/build/{folder}");
        println!("cargo:rustc-link-lib=static={library}");
    }
}
