//! Links with the static library of a checkout of Constantine. Without `CONSTANTINE_HOME`, only linking fails.

use std::env;

fn main() {
    println!("cargo:rerun-if-env-changed=CONSTANTINE_HOME");
    let Ok(home) = env::var("CONSTANTINE_HOME") else {
        return;
    };
    println!("cargo:rerun-if-changed={home}/lib/libconstantine.a");
    println!("cargo:rustc-link-search=native={home}/lib");
    println!("cargo:rustc-link-lib=static=constantine");
}
