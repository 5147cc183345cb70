//! Links with the static library of a checkout of Constantine. Without `CONSTANTINE_HOME`, only linking fails.

use std::{env, path::Path, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CONSTANTINE_HOME");
    let Ok(home) = env::var("CONSTANTINE_HOME") else {
        return;
    };
    let home = Path::new(&home);
    let version = Command::new("git")
        .arg("-C")
        .arg(home)
        .args(["describe", "--tags", "--always"])
        .output();
    if let Ok(version) = version
        && version.status.success()
    {
        println!(
            "cargo:rustc-env=CONSTANTINE_VERSION={}",
            String::from_utf8_lossy(&version.stdout).trim()
        );
    }
    let folder = home.join("lib");
    println!(
        "cargo:rerun-if-changed={}",
        folder.join("libconstantine.a").display()
    );
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=static=constantine");
}
