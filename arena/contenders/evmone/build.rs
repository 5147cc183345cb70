//! Compiles the call into evmone, and links with what its build has made. Without `EVMONE_HOME`, only linking fails.

use std::{env, path::Path, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=src/evmone.cpp");
    println!("cargo:rerun-if-env-changed=EVMONE_HOME");
    let Ok(home) = env::var("EVMONE_HOME") else {
        return;
    };
    let home = Path::new(&home);
    let describe = ["describe", "--tags", "--always"];
    let mut git = Command::new("git");
    if let Ok(output) = git.arg("-C").arg(home).args(describe).output()
        && output.status.success()
    {
        let version = String::from_utf8_lossy(&output.stdout);
        println!("cargo:rustc-env=EVMONE_VERSION={}", version.trim());
    }
    let mut call = cc::Build::new();
    call.cpp(true).std("c++20").file("src/evmone.cpp");
    call.include(home).include(home.join("evmc/include"));
    call.compile("arena_evmone");
    // Each library needs those after it.
    for (folder, library) in [
        ("build/lib", "evmone-state"),
        ("build/lib", "evmone_precompiles"),
        ("build/deps/src/blst", "blst"),
    ] {
        let folder = home.join(folder);
        println!("cargo:rerun-if-changed={}/lib{library}.a", folder.display());
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=static={library}");
    }
}
